/* src/ops/roialign.c - RoiAlign: regions of a feature map pooled to one size by bilinear sampling
 *
 * He et al., Mask R-CNN, ICCV 2017. mode max takes the largest weighted neighbour of all sampling
 * points, as ONNX Runtime does. Backward reaches the feature map; regions get no gradient, as in
 * torchvision.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct roialign_params {
    int64_t ratio;
    double scale, offset;
    bool max;
} roialign_params;

static px_status roialign_apply(px_op_ctx *ctx, bool half_pixel, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_ONLY(PX_FLOAT32), err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_ONLY(PX_FLOAT32), err));
    PX_TRY(pxi_op_type(ctx, 2, PXI_ONLY(PX_INT64), err));
    PX_TRY(pxi_op_params(ctx, sizeof(roialign_params), err));
    roialign_params *params = ctx->params;
    const px_shape *x = &ctx->in[0].shape, *rois = &ctx->in[1].shape;
    if (x->rank != 4 || rois->rank != 2 || rois->dim[1] != 4 || ctx->in[2].shape.rank != 1 ||
        ctx->in[2].shape.dim[0] != rois->dim[0]) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "input %s and regions %s do not fit",
                           px_shape_text(x, a), px_shape_text(rois, b));
    }
    const char *mode = px_node_string(ctx->node, "mode", "avg");
    params->max = strcmp(mode, "max") == 0;
    if (!params->max && strcmp(mode, "avg") != 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its mode '%.40s' is not supported", mode);
    params->ratio = px_node_int(ctx->node, "sampling_ratio", 0);
    params->scale = (double)px_node_float(ctx->node, "spatial_scale", 1.0f);
    params->offset = half_pixel ? 0.5 : 0.0;
    const int64_t height = px_node_int(ctx->node, "output_height", 1);
    const int64_t width = px_node_int(ctx->node, "output_width", 1);
    if (height < 1 || width < 1 || params->ratio < 0 || params->ratio > 1 << 16)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its output size or sampling ratio is not usable");
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape = (px_shape){.rank = 4, .dim = {rois->dim[0], x->dim[1], height, width}};
    return PX_OK;
}

static px_status roialign_setup_10(px_op_ctx *ctx, px_error *err)
{
    return roialign_apply(ctx, /* half_pixel= */ false, err);
}

static px_status roialign_setup_16(px_op_ctx *ctx, px_error *err)
{
    const char *mode = px_node_string(ctx->node, "coordinate_transformation_mode", "half_pixel");
    return roialign_apply(ctx, strcmp(mode, "output_half_pixel") != 0, err);
}

typedef struct roi_bins { /* one region: bin (h, w) samples rows x cols points */
    double y, x, bin_height, bin_width;
    int64_t rows, cols, image;
} roi_bins;

static roi_bins roi_bins_of(const px_op_ctx *ctx, int64_t r)
{
    const roialign_params *params = ctx->params;
    const px_real *roi = PXI_F32(ctx->in[1]) + r * 4;
    const int64_t height = ctx->out[0].shape.dim[2], width = ctx->out[0].shape.dim[3];
    roi_bins bins = {.image = PXI_I64(ctx->in[2])[r]};
    bins.x = (double)roi[0] * params->scale - params->offset;
    bins.y = (double)roi[1] * params->scale - params->offset;
    double w = (double)roi[2] * params->scale - params->offset - bins.x;
    double h = (double)roi[3] * params->scale - params->offset - bins.y;
    if (params->offset == 0.0) { /* before opset 16 a region has at least one pixel */
        w = PX_MAX(w, 1.0);
        h = PX_MAX(h, 1.0);
    }
    bins.bin_height = h / (double)height;
    bins.bin_width = w / (double)width;
    bins.rows = bins.cols = params->ratio;
    if (params->ratio == 0) { /* one point per pixel; no more than the feature map has */
        const double rows = ceil(bins.bin_height), cols = ceil(bins.bin_width);
        const double most_rows = (double)ctx->in[0].shape.dim[2] + 1.0;
        const double most_cols = (double)ctx->in[0].shape.dim[3] + 1.0;
        bins.rows = (int64_t)(rows >= 1.0 ? PX_MIN(rows, most_rows) : 0.0);
        bins.cols = (int64_t)(cols >= 1.0 ? PX_MIN(cols, most_cols) : 0.0);
    }
    return bins;
}

typedef struct roi_point { /* four neighbours of a sampling point */
    int64_t at[4];
    double weight[4];
} roi_point;

static bool roi_point_of(roi_point *p, double y, double x, int64_t height, int64_t width)
{
    if (!(y >= -1.0 && y <= (double)height && x >= -1.0 && x <= (double)width))
        return false;
    y = PX_MAX(y, 0.0);
    x = PX_MAX(x, 0.0);
    int64_t y0 = (int64_t)y, x0 = (int64_t)x, y1 = y0 + 1, x1 = x0 + 1;
    if (y0 >= height - 1) {
        y0 = y1 = height - 1;
        y = (double)y0;
    }
    if (x0 >= width - 1) {
        x0 = x1 = width - 1;
        x = (double)x0;
    }
    const double ly = y - (double)y0, lx = x - (double)x0;
    *p = (roi_point){{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
                     {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx}};
    return true;
}

/* One output: its value if `grad` is NULL; else `dy` is passed on to grad. */
static double roi_bin(const px_op_ctx *ctx, const roi_bins *bins, int64_t h, int64_t w,
                      const px_real *x, px_real *grad, double dy)
{
    const roialign_params *params = ctx->params;
    const int64_t height = ctx->in[0].shape.dim[2], width = ctx->in[0].shape.dim[3];
    const double points = (double)PX_MAX(bins->rows * bins->cols, 1);
    double sum = 0.0, best = 0.0, best_weight = 0.0;
    int64_t best_at = -1;
    bool first = true;
    for (int64_t r = 0; r < bins->rows; r++)
        for (int64_t c = 0; c < bins->cols; c++) {
            const double py =
                bins->y + bins->bin_height * ((double)h + ((double)r + 0.5) / (double)bins->rows);
            const double px =
                bins->x + bins->bin_width * ((double)w + ((double)c + 0.5) / (double)bins->cols);
            roi_point p;
            const bool inside = roi_point_of(&p, py, px, height, width);
            for (int i = 0; i < 4; i++) {
                const double value = inside ? p.weight[i] * (double)x[p.at[i]] : 0.0;
                sum += value;
                if (first || value > best) {
                    best = value;
                    best_at = inside ? p.at[i] : -1;
                    best_weight = inside ? p.weight[i] : 0.0;
                }
                first = false;
                if (grad && inside && !params->max)
                    grad[p.at[i]] += (px_real)(dy * p.weight[i] / points);
            }
        }
    if (grad && params->max && best_at >= 0)
        grad[best_at] += (px_real)(dy * best_weight);
    return params->max ? best : sum / points;
}

static px_status roialign_forward(const px_op_ctx *ctx, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    px_real *y = PXI_F32(ctx->out[0]);
    for (int64_t r = 0; r < out->dim[0]; r++) {
        const int64_t image = PXI_I64(ctx->in[2])[r];
        if (image < 0 || image >= x->dim[0])
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its batch index %lld is outside 0..%lld",
                               (long long)image, (long long)x->dim[0] - 1);
        const roi_bins bins = roi_bins_of(ctx, r);
        for (int64_t c = 0; c < out->dim[1]; c++) {
            const px_real *plane =
                PXI_F32(ctx->in[0]) + (image * x->dim[1] + c) * x->dim[2] * x->dim[3];
            for (int64_t i = 0; i < out->dim[2] * out->dim[3]; i++)
                *y++ = (px_real)roi_bin(ctx, &bins, i / out->dim[3], i % out->dim[3], plane, NULL,
                                        0.0);
        }
    }
    return PX_OK;
}

static void roialign_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    for (int64_t r = 0; r < out->dim[0]; r++) {
        const roi_bins bins = roi_bins_of(ctx, r);
        for (int64_t c = 0; c < out->dim[1]; c++) {
            const int64_t plane = (bins.image * x->dim[1] + c) * x->dim[2] * x->dim[3];
            for (int64_t i = 0; i < out->dim[2] * out->dim[3]; i++)
                roi_bin(ctx, &bins, i / out->dim[3], i % out->dim[3], PXI_F32(ctx->in[0]) + plane,
                        PXI_F32(ctx->in_grad[0]) + plane, (double)*dy++);
        }
    }
}

const px_op px_op_roialign_10 = {
    .name = "RoiAlign",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = roialign_setup_10,
    .forward = roialign_forward,
    .backward = roialign_backward,
};

const px_op px_op_roialign_16 = {
    .name = "RoiAlign",
    .since = 16,
    .diff = PX_DIFF_YES,
    .setup = roialign_setup_16,
    .forward = roialign_forward,
    .backward = roialign_backward,
};
