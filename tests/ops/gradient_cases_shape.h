/* tests/ops/gradient_cases_shape.h - op_case rows for the operators of op_list_shape.h
 *
 * One line per row and a comma after each, as in
 *     {.type = "Transpose", .opset = 13, .attrs = "perm=[1,0]", .in = {{.shape = "2,3"}}},
 * Values stay away from kinks: ties of a maximum, cell borders of a grid.
 */
/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#define S_(SHAPE) {.shape = SHAPE}
#define POSITIVE_(SHAPE) {.shape = SHAPE, .low = 0.2, .high = 2}
#define DISTINCT_(SHAPE) {.shape = SHAPE, .distinct = true}
#define AWAY_(SHAPE) {.shape = SHAPE, .gap = 0.1}
#define INTS_(SHAPE, VALUES) {.shape = SHAPE, .dtype = PX_INT64, .constant = true, .values = VALUES}
#define INDEX_(SHAPE, VALUES) {.shape = SHAPE, .dtype = PX_INT64, .values = VALUES}
#define FLOATS_(SHAPE, VALUES) {.shape = SHAPE, .constant = true, .values = VALUES}
#define NONE_ {.shape = "-"}

{.type = "Reshape", .opset = 1, .attrs = "shape=[3,-1]", .in = {S_("2,3")}},
{.type = "Reshape", .opset = 13, .in = {S_("2,3,4"), INTS_("3", "0 -1 2")}},
{.type = "Flatten", .opset = 13, .attrs = "axis=2", .in = {S_("2,3,4")}},
{.type = "Squeeze", .opset = 11, .attrs = "axes=[0,-1]", .in = {S_("1,3,1")}},
{.type = "Squeeze", .opset = 13, .in = {S_("1,3,1")}},
{.type = "Unsqueeze", .opset = 11, .attrs = "axes=[0,-1]", .in = {S_("2,3")}},
{.type = "Unsqueeze", .opset = 13, .in = {S_("2,3"), INTS_("1", "1")}},
{.type = "Transpose", .opset = 13, .in = {S_("2,3")}},
{.type = "Transpose", .opset = 13, .attrs = "perm=[0,2,3,1]", .in = {S_("2,3,4,5")}},
{.type = "Transpose", .opset = 13, .attrs = "perm=[0,2,1]", .name = "Transpose, whole blocks", .in = {S_("1,17,34")}},
{.type = "Transpose", .opset = 13, .attrs = "perm=[2,0,3,1]", .in = {S_("2,3,4,5")}},

{.type = "Concat", .opset = 1, .in = {S_("2,3"), S_("2,1")}},
{.type = "Concat", .opset = 13, .attrs = "axis=-2", .in = {S_("2,3,2"), S_("2,1,2"), S_("2,2,2")}},
{.type = "Split", .opset = 2, .attrs = "axis=1 split=[1,3]", .in = {S_("2,4,2")}, .outputs = 2},
{.type = "Split", .opset = 13, .attrs = "axis=0", .in = {S_("4,2")}, .outputs = 2},
{.type = "Split", .opset = 13, .attrs = "axis=1", .in = {S_("2,4"), INTS_("3", "1 0 3")}, .outputs = 3},
{.type = "Split", .opset = 13, .attrs = "axis=1", .in = {S_("2,4,3")}, .outputs = 2, .left_out = 1},
{.type = "Split", .opset = 18, .attrs = "num_outputs=3", .in = {S_("7,2")}, .outputs = 3},
{.type = "Slice", .opset = 1, .attrs = "starts=[1,-3] ends=[9,-1] axes=[0,2]", .in = {S_("3,2,4")}},
{.type = "Slice", .opset = 13, .in = {S_("4,5"), INTS_("2", "-1 0"), INTS_("2", "-9 5"), INTS_("2", "0 1"), INTS_("2", "-2 3")}},
{.type = "Pad", .opset = 1, .attrs = "paddings=[0,1,2,0]", .in = {S_("2,3")}},
{.type = "Pad", .opset = 2, .attrs = "pads=[0,0,1,2,0,0,2,1] mode=reflect", .in = {S_("2,2,3,4")}},
{.type = "Pad", .opset = 2, .attrs = "pads=[1,3,5,2] mode=reflect", .name = "Pad, reflected twice", .in = {S_("2,3")}},
{.type = "Pad", .opset = 13, .in = {S_("2,3"), INTS_("4", "1 -1 0 2"), S_("")}},
{.type = "Pad", .opset = 13, .attrs = "mode=edge", .in = {S_("2,3,2"), INTS_("6", "1 2 0 0 1 0")}},
{.type = "Pad", .opset = 18, .in = {S_("2,3,2"), INTS_("2", "1 1"), S_("1"), INTS_("1", "-2")}},
{.type = "Pad", .opset = 19, .attrs = "mode=wrap", .in = {S_("2,3"), INTS_("4", "3 1 0 5")}},
{.type = "Expand", .opset = 13, .in = {S_("3,1"), INTS_("3", "2 1 4")}},
{.type = "Expand", .opset = 13, .in = {S_("2,1,1,3"), INTS_("4", "2 4 2 3")}},
{.type = "Tile", .opset = 1, .in = {S_("2,3"), FLOATS_("1", "2"), FLOATS_("1", "1")}},
{.type = "Tile", .opset = 13, .in = {S_("2,3,2"), INTS_("3", "2 1 3")}},

{.type = "Gather", .opset = 13, .in = {S_("4,3"), INDEX_("2,2", "0 -1 1 0")}},
{.type = "Gather", .opset = 13, .attrs = "axis=1", .in = {S_("2,4,3"), INDEX_("3", "3 3 0")}},
{.type = "Gather", .opset = 13, .attrs = "axis=-1", .in = {S_("2,4"), INDEX_("", "2")}},
{.type = "GatherElements", .opset = 13, .attrs = "axis=1", .in = {S_("2,3"), INDEX_("2,2", "0 0 -1 1")}},
{.type = "GatherND", .opset = 13, .in = {S_("2,3,2"), INDEX_("2,2", "0 1 1 -1")}},
{.type = "GatherND", .opset = 13, .attrs = "batch_dims=1", .in = {S_("2,3,2"), INDEX_("2,2,1", "2 0 1 1")}},
{.type = "Scatter", .opset = 10, .in = {S_("3,3"), INDEX_("2,3", "1 0 2 0 2 1"), S_("2,3")}},
{.type = "ScatterElements", .opset = 13, .attrs = "axis=1", .in = {S_("2,4"), INDEX_("2,2", "1 -1 0 2"), S_("2,2")}},
{.type = "ScatterElements", .opset = 16, .attrs = "axis=1 reduction=add", .in = {S_("2,4"), INDEX_("2,2", "1 1 0 2"), S_("2,2")}},
{.type = "ScatterElements", .opset = 16, .attrs = "axis=1 reduction=mul", .in = {S_("2,4"), INDEX_("2,2", "1 1 0 2"), S_("2,2")}},
{.type = "ScatterElements", .opset = 16, .attrs = "axis=1 reduction=mul", .name = "ScatterElements, one zero factor", .in = {{.shape = "2,4", .values = "0"}, INDEX_("2,2", "1 1 0 2"), S_("2,2")}},
{.type = "ScatterElements", .opset = 18, .attrs = "axis=1 reduction=max", .in = {S_("2,4"), INDEX_("2,2", "1 1 0 2"), S_("2,2")}},
{.type = "ScatterElements", .opset = 18, .attrs = "axis=1 reduction=min", .in = {S_("2,4"), INDEX_("2,2", "1 1 0 2"), S_("2,2")}},
{.type = "ScatterND", .opset = 13, .in = {S_("3,2,2"), INDEX_("2,1", "2 0"), S_("2,2,2")}},
{.type = "ScatterND", .opset = 16, .attrs = "reduction=add", .in = {S_("3,2"), INDEX_("2,1", "2 2"), S_("2,2")}},
{.type = "ScatterND", .opset = 16, .attrs = "reduction=mul", .in = {S_("3,2"), INDEX_("2,2", "2 1 0 0"), S_("2")}},

{.type = "OneHot", .opset = 11, .attrs = "axis=1", .in = {INDEX_("2,3", "0 -1 2 7 1 1"), INTS_("", "4"), S_("2")}},
{.type = "CumSum", .opset = 14, .in = {S_("2,3,2"), INTS_("", "1")}},
{.type = "CumSum", .opset = 14, .attrs = "exclusive=1 reverse=1", .in = {S_("4,2"), INTS_("", "-2")}},
{.type = "Trilu", .opset = 14, .in = {S_("2,3,4"), INTS_("", "1")}},
{.type = "Trilu", .opset = 14, .attrs = "upper=0", .in = {S_("4,3")}},
{.type = "Compress", .opset = 11, .attrs = "axis=1", .in = {S_("2,4,2"), {.shape = "3", .dtype = PX_BOOL, .constant = true, .values = "1 0 1"}}},
{.type = "Compress", .opset = 11, .in = {S_("2,4"), {.shape = "5", .dtype = PX_BOOL, .constant = true, .values = "0 1 0 0 1"}}},
{.type = "ReverseSequence", .opset = 10, .in = {S_("4,3,2"), INDEX_("3", "1 3 4")}},
{.type = "ReverseSequence", .opset = 10, .attrs = "time_axis=1 batch_axis=0", .in = {S_("3,4,2"), INDEX_("3", "2 0 4")}},
{.type = "TopK", .opset = 1, .attrs = "k=2", .in = {DISTINCT_("3,5")}, .outputs = 2},
{.type = "TopK", .opset = 11, .attrs = "axis=0 largest=0", .in = {DISTINCT_("5,3"), INTS_("1", "3")}, .outputs = 2},
{.type = "TopK", .opset = 11, .in = {DISTINCT_("5,3"), INTS_("1", "2")}, .outputs = 2, .left_out = 2},

{.type = "ReduceSum", .opset = 11, .attrs = "axes=[1]", .in = {S_("2,3,4")}},
{.type = "ReduceSum", .opset = 13, .attrs = "keepdims=0", .in = {S_("2,3,4"), INTS_("2", "0 2")}},
{.type = "ReduceSum", .opset = 13, .attrs = "noop_with_empty_axes=1", .in = {S_("2,3")}},
{.type = "ReduceMean", .opset = 13, .attrs = "axes=[2,3]", .in = {S_("2,3,4,5")}},
{.type = "ReduceMean", .opset = 13, .attrs = "axes=[1,2]", .name = "ReduceMean in NHWC", .in = {S_("2,3,3,70")}},
{.type = "ReduceMean", .opset = 18, .in = {S_("2,3,4"), INTS_("1", "-1")}},
{.type = "ReduceMax", .opset = 13, .attrs = "axes=[1]", .in = {DISTINCT_("2,3,4")}},
{.type = "ReduceMax", .opset = 18, .in = {DISTINCT_("2,3,4"), INTS_("2", "1 2")}},
{.type = "ReduceMin", .opset = 13, .attrs = "axes=[0]", .in = {DISTINCT_("2,3,4")}},
{.type = "ReduceMin", .opset = 18, .in = {DISTINCT_("2,3")}},
{.type = "ReduceProd", .opset = 13, .attrs = "axes=[1]", .in = {S_("2,3,4")}},
{.type = "ReduceProd", .opset = 13, .attrs = "axes=[1]", .name = "ReduceProd, one zero", .in = {{.shape = "1,3", .values = "2 0 -3"}}},
{.type = "ReduceProd", .opset = 13, .attrs = "axes=[1]", .name = "ReduceProd, two zeros", .in = {{.shape = "1,3", .values = "0 0 -3"}}},
{.type = "ReduceProd", .opset = 18, .in = {S_("2,3")}},
{.type = "ReduceL1", .opset = 13, .attrs = "axes=[1]", .in = {AWAY_("2,3,4")}},
{.type = "ReduceL1", .opset = 18, .in = {AWAY_("2,3"), INTS_("1", "0")}},
{.type = "ReduceL2", .opset = 13, .attrs = "axes=[-1]", .in = {AWAY_("2,3,4")}},
{.type = "ReduceL2", .opset = 18, .in = {AWAY_("2,3"), INTS_("1", "0")}},
{.type = "ReduceLogSum", .opset = 13, .attrs = "axes=[1]", .in = {POSITIVE_("2,3,4")}},
{.type = "ReduceLogSum", .opset = 18, .in = {POSITIVE_("2,3")}},
{.type = "ReduceLogSumExp", .opset = 13, .attrs = "axes=[1]", .in = {S_("2,3,4")}},
{.type = "ReduceLogSumExp", .opset = 18, .in = {{.shape = "2,3", .low = 700, .high = 720}, INTS_("1", "1")}},
{.type = "ReduceSumSquare", .opset = 13, .attrs = "axes=[0,2]", .in = {S_("2,3,4")}},
{.type = "ReduceSumSquare", .opset = 18, .in = {S_("2,3"), INTS_("1", "1")}},

{.type = "Upsample", .opset = 1, .attrs = "height_scale=2.0 width_scale=3.0", .in = {S_("1,2,2,2")}},
{.type = "Upsample", .opset = 7, .attrs = "scales=[1.0,1.0,2.0,1.5] mode=linear", .in = {S_("1,2,2,4")}},
{.type = "Upsample", .opset = 9, .in = {S_("1,2,2,2"), FLOATS_("4", "1 1 2 2")}},
{.type = "Resize", .opset = 10, .attrs = "mode=linear", .in = {S_("1,1,4,5"), FLOATS_("4", "1 1 0.6 1.7")}},
{.type = "Resize", .opset = 13, .in = {S_("1,1,4,5"), NONE_, FLOATS_("4", "1 1 0.6 1.7")}},
{.type = "Resize", .opset = 13, .attrs = "mode=linear", .in = {S_("2,2,4,5"), NONE_, FLOATS_("4", "1 1 0.6 2")}},
{.type = "Resize", .opset = 13, .attrs = "mode=linear coordinate_transformation_mode=align_corners", .in = {S_("1,1,3,4"), NONE_, NONE_, INTS_("4", "1 1 5 2")}},
{.type = "Resize", .opset = 13, .attrs = "mode=cubic coordinate_transformation_mode=pytorch_half_pixel", .in = {S_("1,2,4,5"), NONE_, NONE_, INTS_("4", "1 2 7 3")}},
{.type = "Resize", .opset = 13, .attrs = "mode=cubic exclude_outside=1 cubic_coeff_a=-0.5", .in = {S_("1,1,4,4"), NONE_, FLOATS_("4", "1 1 2 0.8")}},
{.type = "Resize", .opset = 13, .attrs = "mode=linear coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9.0", .in = {S_("1,1,4,4"), FLOATS_("8", "0 0 0.4 -0.3 1 1 1.2 0.7"), NONE_, INTS_("4", "1 1 3 5")}},
{.type = "Resize", .opset = 18, .attrs = "mode=linear antialias=1 axes=[2,3]", .in = {S_("1,1,6,5"), NONE_, NONE_, INTS_("2", "3 7")}},
{.type = "Resize", .opset = 18, .attrs = "mode=cubic antialias=1 axes=[2] keep_aspect_ratio_policy=not_larger", .in = {S_("1,1,6,3"), NONE_, NONE_, INTS_("1", "3")}},
{.type = "DepthToSpace", .opset = 13, .attrs = "blocksize=2", .in = {S_("2,8,2,3")}},
{.type = "DepthToSpace", .opset = 13, .attrs = "blocksize=2 mode=CRD", .in = {S_("2,8,2,3")}},
{.type = "SpaceToDepth", .opset = 13, .attrs = "blocksize=2", .in = {S_("2,3,4,6")}},

{.type = "GridSample", .opset = 16, .in = {S_("2,2,3,4"), {.shape = "2,2,2,2", .values = "-1.39 0.43 -0.91 -0.47 0.13 0.41 0.57 -1.11 0.83 0.91 1.21 1.27 0.03 0.07 -0.33 -0.77"}}},
{.type = "GridSample", .opset = 16, .attrs = "align_corners=1 padding_mode=border", .in = {S_("1,2,3,4"), {.shape = "1,2,3,2", .values = "-1.39 -1.13 -0.91 -0.47 0.13 0.41 0.57 0.71 0.83 0.91 1.21 1.33"}}},
{.type = "GridSample", .opset = 16, .attrs = "padding_mode=reflection", .in = {S_("1,2,3,4"), {.shape = "1,2,3,2", .values = "-2.9 -1.83 -1.1 -0.47 0.13 0.41 0.77 1.21 1.63 1.91 2.41 2.83"}}},
{.type = "GridSample", .opset = 16, .attrs = "mode=bicubic", .in = {S_("1,2,3,4"), {.shape = "1,2,3,2", .values = "-1.29 0.43 -0.91 -0.47 0.13 0.41 0.57 -1.11 0.83 0.91 1.21 1.27"}}},
{.type = "GridSample", .opset = 16, .attrs = "mode=bicubic padding_mode=reflection align_corners=1", .in = {S_("1,2,3,4"), {.shape = "1,2,3,2", .values = "-1.29 0.43 -0.91 -0.47 0.13 0.41 0.57 -1.11 0.83 0.91 1.21 1.27"}}},
{.type = "GridSample", .opset = 20, .name = "GridSample of a volume", .attrs = "mode=linear", .in = {S_("1,2,2,3,4"), {.shape = "1,1,2,2,3", .values = "-1.29 0.43 0.11 -0.91 -0.47 0.13 0.41 0.57 -0.31 0.83 0.91 0.27"}}},
{.type = "AffineGrid", .opset = 20, .in = {S_("2,2,3"), INTS_("4", "2 1 3 4")}},
{.type = "AffineGrid", .opset = 20, .attrs = "align_corners=1", .in = {S_("1,3,4"), INTS_("5", "1 1 2 3 2")}},
{.type = "Col2Im", .opset = 18, .attrs = "pads=[1,0,1,1] strides=[2,1] dilations=[1,2]", .in = {S_("2,8,12"), INTS_("2", "4 5"), INTS_("2", "2 2")}},
{.type = "CenterCropPad", .opset = 18, .in = {S_("4,3,5"), INTS_("3", "7 3 2")}},
{.type = "CenterCropPad", .opset = 18, .attrs = "axes=[-1,0]", .in = {S_("4,3,5"), INTS_("2", "8 1")}},
{.type = "CumProd", .opset = 26, .in = {S_("2,3,2"), INTS_("", "1")}},
{.type = "CumProd", .opset = 26, .attrs = "exclusive=1 reverse=1", .in = {{.shape = "4,2", .values = "0.5 -1 0 2 1.5 0 0.7 3"}, INTS_("", "-2")}},
{.type = "GridSample", .opset = 16, .attrs = "mode=nearest", .in = {S_("1,2,3,4"), {.shape = "1,2,3,2", .values = "-1.29 0.43 -0.91 -0.47 0.13 0.41 0.57 -1.11 0.83 0.91 1.21 1.27"}}},
{.type = "RoiAlign", .opset = 10, .attrs = "output_height=2 output_width=3 spatial_scale=0.5", .in = {S_("2,2,5,6"), FLOATS_("2,4", "1 2 7 9 0 0 11 4"), INDEX_("2", "1 0")}},
{.type = "RoiAlign", .opset = 16, .attrs = "output_height=2 output_width=2 sampling_ratio=2", .in = {S_("1,2,5,6"), FLOATS_("2,4", "1 2 4 4 -3 0 5 3"), INDEX_("2", "0 0")}},
{.type = "RoiAlign", .opset = 16, .attrs = "output_height=2 output_width=2 mode=max", .in = {DISTINCT_("1,2,5,6"), FLOATS_("1,4", "1.2 1.3 4.1 4.4"), INDEX_("1", "0")}},
{.type = "Det", .opset = 11, .in = {S_("2,3,3")}},
{.type = "Det", .opset = 11, .name = "Det, singular", .in = {{.shape = "3,3", .values = "1 2 3 2 4 6 0 1 5"}}},
{.type = "MaxUnpool", .opset = 11, .attrs = "kernel_shape=[2,2] strides=[2,2]", .in = {S_("1,1,2,2"), INDEX_("1,1,2,2", "5 7 13 15"), INTS_("4", "1 1 5 5")}},

#undef S_
#undef POSITIVE_
#undef DISTINCT_
#undef AWAY_
#undef INTS_
#undef INDEX_
#undef FLOATS_
#undef NONE_
    /* clang-format on */
