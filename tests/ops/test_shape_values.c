/* tests/ops/test_shape_values.c - results of shape operators, and what they must refuse
 *
 * ONNX's node tests cover the usual; here are old opsets, corners and hostile nodes. golden_shape.h
 * comes from numpy and PyTorch, the rest is worked by hand.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "op_case.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct value_case {
    op_case test;
    const char *shape, *values; /* of output 0 */
} value_case;

#define S_(SHAPE)      \
    {                  \
        .shape = SHAPE \
    }
#define V_(SHAPE, VALUES)                \
    {                                    \
        .shape = SHAPE, .values = VALUES \
    }
#define FIX_(SHAPE, VALUES)                                \
    {                                                      \
        .shape = SHAPE, .constant = true, .values = VALUES \
    }
#define I_(SHAPE, VALUES)                                                     \
    {                                                                         \
        .shape = SHAPE, .dtype = PX_INT64, .constant = true, .values = VALUES \
    }
#define INDEX_(SHAPE, VALUES)                               \
    {                                                       \
        .shape = SHAPE, .dtype = PX_INT64, .values = VALUES \
    }
#define TYPED_(TYPE, SHAPE, VALUES)                                       \
    {                                                                     \
        .shape = SHAPE, .dtype = TYPE, .constant = true, .values = VALUES \
    }
#define NONE_        \
    {                \
        .shape = "-" \
    }
#define LARGE "9223372036854774784" /* the largest double that fits an int64 */
#define LEAST "-9223372036854775808"

/* clang-format off */
static const value_case golden[] = {
#include "golden_shape.h"
};

static const value_case by_hand[] = {
    {{.type = "Reshape", .opset = 14, .attrs = "allowzero=1", .in = {S_("0,3"), I_("2", "5 0")}}, "5,0", ""},
    {{.type = "Reshape", .opset = 13, .in = {S_("0,3"), I_("2", "0 3")}}, "0,3", ""},
    {{.type = "Reshape", .opset = 13, .in = {V_("1", "4"), I_("0", "0")}}, "", "4"},
    {{.type = "Flatten", .opset = 9, .attrs = "axis=0", .in = {V_("2,2", "1 2 3 4")}}, "1,4", "1 2 3 4"},
    {{.type = "Concat", .opset = 13, .attrs = "axis=0", .in = {S_("0,2"), V_("1,2", "1 2")}}, "1,2", "1 2"},
    {{.type = "Split", .opset = 18, .attrs = "num_outputs=2", .in = {V_("3", "1 2 3")}, .outputs = 2}, "2", "1 2"},
    {{.type = "Slice", .opset = 10, .in = {V_("4", "1 2 3 4"), I_("1", LARGE), I_("1", LEAST), I_("1", "0"), I_("1", "-3")}}, "2", "4 1"},
    {{.type = "Slice", .opset = 10, .in = {V_("4", "1 2 3 4"), I_("1", "3"), I_("1", "1")}}, "0", ""},
    {{.type = "Slice", .opset = 10, .in = {TYPED_(PX_INT8, "4", "1 2 3 4"), I_("1", "0"), I_("1", "4"), NONE_, I_("1", "2")}}, "2", "1 3"},
    {{.type = "Pad", .opset = 13, .in = {TYPED_(PX_INT32, "2", "1 2"), I_("2", "-1 2"), TYPED_(PX_INT32, "", "7")}}, "3", "2 7 7"},
    {{.type = "Pad", .opset = 13, .in = {V_("2", "1 2"), I_("2", "-5 4")}}, "1", "0"},
    {{.type = "Gather", .opset = 13, .in = {TYPED_(PX_BOOL, "3", "1 0 1"), INDEX_("2", "-1 1")}}, "2", "1 0"},
    {{.type = "ConstantOfShape", .opset = 9, .in = {I_("2", "2 2")}}, "2,2", "0 0 0 0"},
    {{.type = "Range", .opset = 11, .in = {I_("", "10"), I_("", "4"), I_("", "-3")}}, "2", "10 7"},
    {{.type = "Range", .opset = 11, .in = {FIX_("", "1"), FIX_("", "2"), FIX_("", "0.3")}}, "4", "1 1.3 1.6 1.9"},
    {{.type = "Range", .opset = 11, .in = {I_("", LEAST), I_("", LARGE), I_("", LARGE)}}, "3", LEAST " -1024 9223372036854773760"},
    {{.type = "Range", .opset = 11, .in = {I_("", "1"), I_("", "0"), I_("", "1")}}, "0", ""},
    {{.type = "EyeLike", .opset = 9, .attrs = "k=-1", .in = {S_("3,2")}}, "3,2", "0 0 1 0 0 1"},
    {{.type = "EyeLike", .opset = 9, .attrs = "k=-9", .in = {S_("2,1")}}, "2,1", "0 0"},
    {{.type = "Shape", .opset = 15, .attrs = "start=-2 end=99", .in = {S_("2,3,4")}}, "2", "3 4"},
    {{.type = "Shape", .opset = 15, .attrs = "start=2 end=1", .in = {S_("2,3,4")}}, "0", ""},
    {{.type = "Constant", .opset = 13, .attrs = "value_ints=[3,4]"}, "2", "3 4"},
    {{.type = "Constant", .opset = 13, .attrs = "value_float=2.5"}, "", "2.5"},
    {{.type = "OneHot", .opset = 11, .attrs = "axis=0", .in = {INDEX_("2", "-1 5"), FIX_("", "2"), V_("2", "3 4")}}, "2,2", "3 3 4 3"},
    {{.type = "NonZero", .opset = 13, .in = {FIX_("2,2", "0 nan 0 -0.5")}}, "2,2", "0 1 1 1"},
    {{.type = "NonZero", .opset = 13, .in = {FIX_("", "3")}}, "0,1", ""},
    {{.type = "Unique", .opset = 11, .attrs = "sorted=0", .in = {FIX_("5", "3 1 3 2 1")}, .outputs = 4}, "3", "3 1 2"},
    {{.type = "Unique", .opset = 11, .attrs = "axis=1", .in = {FIX_("2,3", "2 1 2 0 5 0")}}, "2,2", "1 2 5 0"},
    {{.type = "Trilu", .opset = 14, .in = {V_("2,2", "1 2 3 4"), INDEX_("", LEAST)}}, "2,2", "1 2 3 4"},
    {{.type = "Trilu", .opset = 14, .attrs = "upper=0", .in = {V_("2,2", "1 2 3 4"), INDEX_("", LEAST)}}, "2,2", "0 0 0 0"},
    {{.type = "TopK", .opset = 11, .in = {V_("4", "1 nan 3 3"), I_("1", "3")}}, "3", "nan 3 3"},
    {{.type = "TopK", .opset = 11, .attrs = "largest=0", .in = {TYPED_(PX_UINT64, "3", "1 9e18 2"), I_("1", "2")}}, "2", "1 2"},
    {{.type = "ArgMax", .opset = 13, .in = {V_("4", "1 3 3 2")}}, "1", "1"},
    {{.type = "ArgMax", .opset = 13, .attrs = "select_last_index=1", .in = {V_("4", "1 3 3 2")}}, "1", "2"},
    {{.type = "ArgMin", .opset = 13, .in = {V_("4", "1 3 nan 0")}}, "1", "2"},
    {{.type = "ReduceMax", .opset = 13, .in = {V_("3", "1 nan 2")}}, "1", "nan"},
    {{.type = "ReduceMin", .opset = 13, .attrs = "keepdims=0", .in = {V_("3", "1 -inf 2")}}, "", "-inf"},
    {{.type = "ReduceMax", .opset = 13, .attrs = "axes=[0]", .in = {S_("0,2")}}, "1,2", "-inf -inf"},
    {{.type = "ReduceMean", .opset = 13, .attrs = "axes=[0]", .in = {S_("0,2")}}, "1,2", "nan nan"},
    {{.type = "ReduceProd", .opset = 13, .attrs = "axes=[0]", .in = {S_("0,2")}}, "1,2", "1 1"},
    {{.type = "ReduceSum", .opset = 13, .in = {TYPED_(PX_INT32, "2,2", "1 2 3 4"), I_("1", "0")}}, "1,2", "4 6"},
    {{.type = "ReduceMax", .opset = 13, .in = {TYPED_(PX_INT8, "3", "-5 -2 -9")}}, "1", "-2"},
    {{.type = "ReduceProd", .opset = 13, .attrs = "keepdims=0", .in = {TYPED_(PX_INT64, "3", "2 3 4")}}, "", "24"},
    {{.type = "ReduceMean", .opset = 13, .in = {TYPED_(PX_FLOAT64, "2", "1 2")}}, "1", "1.5"},
    {{.type = "ReduceLogSumExp", .opset = 13, .in = {V_("2", "-inf -inf")}}, "1", "-inf"},
    {{.type = "ReduceLogSumExp", .opset = 13, .in = {V_("2", "1000 1000")}}, "1", "1000.6931"},
    {{.type = "Upsample", .opset = 1, .attrs = "height_scale=1.0 width_scale=2.0", .in = {V_("1,1,1,2", "1 2")}}, "1,1,1,4", "1 1 2 2"},
    {{.type = "Resize", .opset = 10, .in = {V_("1,1,1,4", "1 2 3 4"), FIX_("4", "1 1 1 0.6")}}, "1,1,1,2", "1 3"},
    {{.type = "Resize", .opset = 18, .attrs = "keep_aspect_ratio_policy=not_larger axes=[1,0]", .in = {V_("2,4", "1 2 3 4 5 6 7 8"), NONE_, NONE_, I_("2", "2 9")}}, "1,2", "1 3"},
    {{.type = "Resize", .opset = 13, .attrs = "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9.0 mode=linear", .in = {V_("3", "1 2 3"), FIX_("2", "-0.5 1"), NONE_, I_("1", "4")}}, "4", "9 1 2 3"},
    {{.type = "RoiAlign", .opset = 10, .attrs = "sampling_ratio=1", .in = {V_("1,1,2,2", "1 2 3 4"), V_("1,4", "0 0 1 1"), INDEX_("1", "0")}}, "1,1,1,1", "2.5"},
    {{.type = "NonMaxSuppression", .opset = 11, .in = {FIX_("1,2,4", "0 0 1 1 0 0 1 1"), FIX_("1,1,2", "0.5 0.5"), I_("1", "2"), FIX_("1", "0.5")}}, "1,3", "0 0 0"},
    {{.type = "NonMaxSuppression", .opset = 11, .in = {FIX_("1,1,4", "0 0 1 1"), FIX_("1,1,1", "0.5")}}, "0,3", ""},
};

/* Nodes that a stranger may write: refused in setup(), or in forward() where values are to blame. */
static const struct {
    op_case test;
    px_status status;
    const char *says;
} refused[] = {
    {{.type = "Reshape", .opset = 13, .in = {S_("2,3"), INDEX_("1", "6")}}, PX_E_UNSUPPORTED, "must be constant"},
    {{.type = "Reshape", .opset = 13, .in = {S_("2,3"), I_("2", "4 -1")}}, PX_E_MISMATCH, "cannot reshape [2,3] to [4,?]"},
    {{.type = "Reshape", .opset = 13, .in = {S_("2,3"), I_("2", "-1 -1")}}, PX_E_INPUT, "more than one -1"},
    {{.type = "Reshape", .opset = 13, .in = {S_("2,3"), I_("3", "1 6 0")}}, PX_E_INPUT, "copies axis 2"},
    {{.type = "Reshape", .opset = 13, .in = {S_("2,3"), I_("2", "4294967296 4294967296")}}, PX_E_MISMATCH, "cannot reshape"},
    {{.type = "Reshape", .opset = 13, .in = {S_("1"), I_("9", "1")}}, PX_E_UNSUPPORTED, "rank 9"},
    {{.type = "Reshape", .opset = 14, .attrs = "allowzero=1", .in = {S_("0"), I_("2", "0 -1")}}, PX_E_MISMATCH, "cannot reshape"},
    {{.type = "Flatten", .opset = 13, .attrs = "axis=3", .in = {S_("2,3")}}, PX_E_INPUT, "axis 3"},
    {{.type = "Squeeze", .opset = 13, .in = {S_("2,1"), I_("1", "0")}}, PX_E_INPUT, "cannot drop axis 0"},
    {{.type = "Unsqueeze", .opset = 13, .in = {S_("2,3"), I_("2", "1 1")}}, PX_E_INPUT, "axis 1 twice"},
    {{.type = "Transpose", .opset = 13, .attrs = "perm=[0,0]", .in = {S_("2,3")}}, PX_E_INPUT, "axis 0 twice"},
    {{.type = "Transpose", .opset = 13, .attrs = "perm=[0]", .in = {S_("2,3")}}, PX_E_INPUT, "1 entries"},
    {{.type = "Concat", .opset = 13, .attrs = "axis=0", .in = {S_("2,3"), S_("2,4")}}, PX_E_MISMATCH, "cannot join"},
    {{.type = "Concat", .opset = 13, .attrs = "axis=0", .in = {S_("2,3"), NONE_}}, PX_E_MISMATCH, "cannot join"},
    {{.type = "Split", .opset = 13, .in = {S_("3"), I_("2", "1 1")}, .outputs = 2}, PX_E_INPUT, "cover 2 of the 3"},
    {{.type = "Split", .opset = 13, .in = {S_("3"), I_("2", "-1 4")}, .outputs = 2}, PX_E_INPUT, "does not fit"},
    {{.type = "Split", .opset = 13, .in = {S_("3")}, .outputs = 2}, PX_E_INPUT, "equal parts"},
    {{.type = "Slice", .opset = 13, .in = {S_("3"), I_("1", "0"), I_("1", "1"), I_("1", "0"), I_("1", "0")}}, PX_E_INPUT, "step on axis 0 is 0"},
    {{.type = "Slice", .opset = 13, .in = {S_("3"), I_("2", "0"), I_("2", "1")}}, PX_E_INPUT, "rank 1"},
    {{.type = "Pad", .opset = 13, .in = {S_("3"), I_("2", "-2 -2")}}, PX_E_INPUT, "do not fit axis 0"},
    {{.type = "Pad", .opset = 13, .in = {S_("3"), I_("2", LARGE " 0")}}, PX_E_INPUT, "do not fit axis 0"},
    {{.type = "Pad", .opset = 13, .in = {S_("3"), I_("3", "1")}}, PX_E_INPUT, "3 pads"},
    {{.type = "Pad", .opset = 13, .attrs = "mode=mirror", .in = {S_("3"), I_("2", "1")}}, PX_E_UNSUPPORTED, "'mirror'"},
    {{.type = "Pad", .opset = 13, .attrs = "mode=edge", .in = {S_("0"), I_("2", "1")}}, PX_E_INPUT, "nothing to repeat"},
    {{.type = "Expand", .opset = 13, .in = {S_("3"), I_("1", "2")}}, PX_E_MISMATCH, "do not broadcast"},
    {{.type = "Expand", .opset = 13, .in = {S_("1"), I_("3", LARGE)}}, PX_E_INPUT, "too large"},
    {{.type = "Tile", .opset = 13, .in = {S_("4"), I_("1", LARGE)}}, PX_E_INPUT, "cannot repeat axis 0"},
    {{.type = "Tile", .opset = 13, .in = {S_("4"), I_("1", "-1")}}, PX_E_INPUT, "cannot repeat axis 0"},
    {{.type = "Gather", .opset = 13, .in = {S_("3"), INDEX_("2", "0 3")}}, PX_E_INPUT, "index 3 (at position 1)"},
    {{.type = "Gather", .opset = 13, .in = {S_("3"), INDEX_("1", "-4")}}, PX_E_INPUT, "index -4"},
    {{.type = "Gather", .opset = 13, .in = {S_("3"), S_("1")}}, PX_E_UNSUPPORTED, "float32"},
    {{.type = "GatherElements", .opset = 13, .in = {S_("2,2"), INDEX_("1,3", "0")}}, PX_E_MISMATCH, "do not fit"},
    {{.type = "GatherElements", .opset = 13, .in = {S_("2,2"), INDEX_("1,2", "0 2")}}, PX_E_INPUT, "index 2"},
    {{.type = "GatherND", .opset = 13, .in = {S_("2,2"), INDEX_("1,3", "0")}}, PX_E_MISMATCH, "do not fit"},
    {{.type = "GatherND", .opset = 13, .attrs = "batch_dims=-1", .in = {S_("2,2"), INDEX_("1,1", "0")}}, PX_E_INPUT, "-1"},
    {{.type = "ScatterElements", .opset = 16, .in = {S_("2"), INDEX_("2", "0 5"), S_("2")}}, PX_E_INPUT, "index 5"},
    {{.type = "ScatterElements", .opset = 16, .in = {S_("2"), INDEX_("2", "0"), S_("1")}}, PX_E_MISMATCH, "updates are [1]"},
    {{.type = "ScatterND", .opset = 16, .attrs = "reduction=avg", .in = {S_("2"), INDEX_("1,1", "0"), S_("1")}}, PX_E_UNSUPPORTED, "'avg'"},
    {{.type = "ConstantOfShape", .opset = 9, .in = {I_("2", LARGE)}}, PX_E_INPUT, "too large"},
    {{.type = "ConstantOfShape", .opset = 9, .in = {I_("1", "-2")}}, PX_E_INPUT, "negative"},
    {{.type = "Constant", .opset = 13, .attrs = "value_string=abc"}, PX_E_UNSUPPORTED, "value_string"},
    {{.type = "Range", .opset = 11, .in = {I_("", "0"), I_("", "1"), I_("", "0")}}, PX_E_INPUT, "no end"},
    {{.type = "Range", .opset = 11, .in = {I_("", LEAST), I_("", LARGE), I_("", "1")}}, PX_E_INPUT, "too long"},
    {{.type = "Range", .opset = 11, .in = {FIX_("", "0"), FIX_("", "nan"), FIX_("", "1")}}, PX_E_INPUT, "no end"},
    {{.type = "OneHot", .opset = 11, .in = {INDEX_("1", "0"), I_("", "-3"), S_("2")}}, PX_E_INPUT, "depth is -3"},
    {{.type = "NonZero", .opset = 13, .in = {S_("2")}}, PX_E_UNSUPPORTED, "must be constant"},
    {{.type = "Compress", .opset = 11, .in = {S_("2"), TYPED_(PX_BOOL, "3", "1")}}, PX_E_MISMATCH, "3 conditions"},
    {{.type = "CumSum", .opset = 14, .in = {S_("2"), INDEX_("", "1")}}, PX_E_INPUT, "axis 1"},
    {{.type = "ReverseSequence", .opset = 10, .in = {S_("2,1"), INDEX_("1", "3")}}, PX_E_INPUT, "length 3"},
    {{.type = "TopK", .opset = 11, .in = {S_("2"), I_("1", "3")}}, PX_E_INPUT, "3 of 2"},
    {{.type = "ArgMax", .opset = 13, .in = {S_("0")}}, PX_E_INPUT, "no entries"},
    {{.type = "ReduceSum", .opset = 13, .in = {S_("2"), I_("2", "0 -1")}}, PX_E_INPUT, "axis 0 twice"},
    {{.type = "ReduceSum", .opset = 13, .in = {S_("2"), INDEX_("1", "0")}}, PX_E_UNSUPPORTED, "must be constant"},
    {{.type = "Resize", .opset = 13, .in = {S_("2"), NONE_, FIX_("1", "0")}}, PX_E_INPUT, "scale on axis 0"},
    {{.type = "Resize", .opset = 13, .in = {S_("2"), NONE_, FIX_("1", "nan")}}, PX_E_INPUT, "scale on axis 0"},
    {{.type = "Resize", .opset = 13, .in = {S_("2"), NONE_, FIX_("1", "1e30")}}, PX_E_INPUT, "too large"},
    {{.type = "Resize", .opset = 13, .in = {S_("0"), NONE_, NONE_, I_("1", "2")}}, PX_E_INPUT, "nothing to resize"},
    {{.type = "Resize", .opset = 13, .in = {S_("2"), NONE_, NONE_, I_("1", "1000000000000000000")}}, PX_E_INPUT, "too large"},
    {{.type = "Resize", .opset = 13, .in = {S_("2")}}, PX_E_INPUT, "either scales or sizes"},
    {{.type = "DepthToSpace", .opset = 13, .attrs = "blocksize=0", .in = {S_("1,4,1,1")}}, PX_E_INPUT, "'blocksize' is 0"},
    {{.type = "DepthToSpace", .opset = 13, .attrs = "blocksize=3", .in = {S_("1,4,1,1")}}, PX_E_INPUT, "does not fit"},
    {{.type = "SpaceToDepth", .opset = 13, .attrs = "blocksize=2", .in = {S_("1,1,3,2")}}, PX_E_INPUT, "does not fit"},
    {{.type = "GridSample", .opset = 16, .in = {S_("1,1,2,2"), S_("2,1,1,2")}}, PX_E_MISMATCH, "do not fit"},
    {{.type = "RoiAlign", .opset = 16, .in = {S_("1,1,2,2"), S_("1,4"), INDEX_("1", "1")}}, PX_E_INPUT, "batch index 1"},
    {{.type = "Det", .opset = 11, .in = {S_("2,3")}}, PX_E_INPUT, "square"},
    {{.type = "MaxUnpool", .opset = 11, .attrs = "kernel_shape=[2]", .in = {S_("1,1,1"), INDEX_("1,1,1", "2")}}, PX_E_INPUT, "index 2"},
    {{.type = "MaxUnpool", .opset = 11, .attrs = "kernel_shape=[0]", .in = {S_("1,1,1"), INDEX_("1,1,1", "0")}}, PX_E_INPUT, "axis 2"},
};
/* clang-format on */

static void check_value(const value_case *c)
{
    const char *name = op_case_name(&c->test);
    op_run run;
    px_error err = {0};
    if (op_run_init(&run, &c->test, 1, &err) != PX_OK || op_run_forward(&run, &err) != PX_OK)
        fail_msg("case '%s' (%s): %s", name, c->test.attrs ? c->test.attrs : "", err.message);
    double expected[1024];
    px_shape shape = {0};
    shape.rank = (int)op_numbers(c->shape, expected, PX_MAX_RANK);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = (int64_t)expected[i];
    char text[PX_SHAPE_TEXT];
    if (!px_shape_equal(&run.out[0].shape, &shape))
        fail_msg("case '%s' (%s): shape %s, expected [%s]", name,
                 c->test.attrs ? c->test.attrs : "", px_shape_text(&run.out[0].shape, text),
                 c->shape);
    const size_t count = op_numbers(c->values, expected, PX_LEN(expected));
    assert_int_equal(count, px_shape_count(&shape));
    for (size_t i = 0; i < count; i++) {
        const double got = op_get(&run.out[0], (int64_t)i), want = expected[i];
        if (!(fabs(got - want) <= 2e-5 * fmax(1.0, fabs(want))) && got != want &&
            !(isnan(got) && isnan(want)))
            fail_msg("case '%s' (%s): element %d is %.9g, expected %.9g", name,
                     c->test.attrs ? c->test.attrs : "", (int)i, got, want);
    }
    op_run_done(&run);
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(golden); i++)
        check_value(&golden[i]);
}

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(by_hand); i++)
        check_value(&by_hand[i]);
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        const op_case *test = &refused[i].test;
        op_run run;
        px_error err = {0};
        px_status status = op_run_init(&run, test, 1, &err);
        if (status == PX_OK)
            status = op_run_forward(&run, &err);
        if (status != refused[i].status || !strstr(err.message, refused[i].says))
            fail_msg("case %d, '%s' (%s): %s '%s', expected %s '%s'", (int)i, op_case_name(test),
                     test->attrs ? test->attrs : "", px_status_name(status), err.message,
                     px_status_name(refused[i].status), refused[i].says);
        op_run_done(&run);
    }
}

/* Torch's torch.amax: elements that tie share the gradient. */
static void test_ties_share_a_gradient(void **state)
{
    (void)state;
    static const op_case test = {
        .type = "ReduceMax", .opset = 13, .in = {V_("4", "2 5 5 1")}, .attrs = "keepdims=0"};
    op_run run;
    px_error err = {0};
    assert_int_equal(op_run_init(&run, &test, 1, &err), PX_OK);
    assert_int_equal(op_run_forward(&run, &err), PX_OK);
    assert_int_equal(px_tensor_init(&run.in_grad[0], PX_FLOAT32, &run.in[0].shape, &err), PX_OK);
    op_run_backward(&run, 1);
    const double dy = op_get(&run.out_grad[0], 0);
    const double share[] = {0, 0.5, 0.5, 0};
    for (int i = 0; i < 4; i++)
        assert_true(fabs(op_get(&run.in_grad[0], i) - share[i] * dy) < 1e-6);
    op_run_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ties_share_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
