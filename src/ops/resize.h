/* src/ops/resize.h - what Resize and Upsample are, apart from reading their attributes */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_RESIZE_H
#define PXI_OPS_RESIZE_H

#include "ops/nest.h"

typedef enum pxi_resize_mode {
    PXI_RESIZE_NEAREST,
    PXI_RESIZE_LINEAR,
    PXI_RESIZE_CUBIC
} pxi_resize_mode;

/* X(enumerator, ONNX's name) */
#define PXI_RESIZE_COORDINATES(X)                              \
    X(PXI_RESIZE_HALF_PIXEL, "half_pixel")                     \
    X(PXI_RESIZE_PYTORCH_HALF_PIXEL, "pytorch_half_pixel")     \
    X(PXI_RESIZE_ALIGN_CORNERS, "align_corners")               \
    X(PXI_RESIZE_ASYMMETRIC, "asymmetric")                     \
    X(PXI_RESIZE_TF_HALF_PIXEL_FOR_NN, "tf_half_pixel_for_nn") \
    X(PXI_RESIZE_TF_CROP, "tf_crop_and_resize")                \
    X(PXI_RESIZE_HALF_PIXEL_SYMMETRIC, "half_pixel_symmetric")
typedef enum pxi_resize_coordinate {
#define PXI_RESIZE_ENUM(enumerator, name) enumerator,
    PXI_RESIZE_COORDINATES(PXI_RESIZE_ENUM)
#undef PXI_RESIZE_ENUM
} pxi_resize_coordinate;

#define PXI_RESIZE_ROUNDINGS(X)                      \
    X(PXI_RESIZE_PREFER_FLOOR, "round_prefer_floor") \
    X(PXI_RESIZE_PREFER_CEIL, "round_prefer_ceil")   \
    X(PXI_RESIZE_FLOOR, "floor")                     \
    X(PXI_RESIZE_CEIL, "ceil")                       \
    X(PXI_RESIZE_SIMPLE, "") /* before opset 11: floor, ceil when shrinking */
typedef enum pxi_resize_rounding {
#define PXI_RESIZE_ENUM(enumerator, name) enumerator,
    PXI_RESIZE_ROUNDINGS(PXI_RESIZE_ENUM)
#undef PXI_RESIZE_ENUM
} pxi_resize_rounding;

typedef struct pxi_resize_params {
    pxi_resize_mode mode;
    pxi_resize_coordinate coordinate;
    pxi_resize_rounding rounding;
    double cubic_a, extrapolation;
    bool exclude_outside, antialias;
    double scale[PX_MAX_RANK]; /* per axis */
    double roi_start[PX_MAX_RANK], roi_end[PX_MAX_RANK];
    int order[PX_MAX_RANK]; /* axes that change, what shrinks first */
    int passes;
    bool crops; /* an output may lie outside of the input */
} pxi_resize_params;

/* Fills in crops, order, passes and the scratch that the kernels need, once in and out shapes and
 * all other fields are there. */
px_status pxi_resize_plan(px_op_ctx *ctx, px_error *err);
px_status pxi_resize_forward(const px_op_ctx *ctx, px_error *err);
void pxi_resize_backward(const px_op_ctx *ctx);
px_status pxi_resize_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err);

/* The elements along an axis that one output entry is made of. */
typedef struct pxi_taps {
    int64_t count;    /* per output entry */
    int64_t *index;   /* [out][count], all inside the input */
    double *weight;   /* [out][count]; all zero for an entry outside of the input */
    uint8_t *outside; /* [out] */
} pxi_taps;

int64_t pxi_taps_count(const pxi_resize_params *params, int axis); /* -1: too many */
/* Bytes of memory for `out` entries; -1 when that does not fit. */
int64_t pxi_taps_bytes(int64_t count, int64_t out);
void pxi_taps_fill(pxi_taps *taps, void *memory, const pxi_resize_params *params, int axis,
                   int64_t in, int64_t out);

#endif
