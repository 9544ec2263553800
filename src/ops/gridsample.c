/* src/ops/gridsample.c - GridSample: an image read at given places, as torch.grid_sample does
 *
 * x is (N, C, H, W), the grid (N, H', W', 2) with x before y in -1..1. Backward reaches both.
 * nearest rounds half to even and gives the grid no gradient.
 */
#include "ops/nest.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef enum grid_mode { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC } grid_mode;
typedef enum grid_padding { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION } grid_padding;

typedef struct grid_params {
    grid_mode mode;
    grid_padding padding;
    bool align;
} grid_params;

static px_status grid_name(const px_op_ctx *ctx, const char *attr, const char *fallback,
                           const char *const names[5], int *out, px_error *err)
{
    const char *text = px_node_string(ctx->node, attr, fallback);
    for (*out = 0; *out < 5 && names[*out]; ++*out)
        if (strcmp(text, names[*out]) == 0)
            return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its %s '%.40s' is not supported", attr, text);
}

static px_status gridsample_setup(px_op_ctx *ctx, px_error *err)
{
    static const char *const modes[5] = {"bilinear", "nearest", "bicubic", "linear", "cubic"};
    static const char *const paddings[5] = {"zeros", "border", "reflection"};
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_ONLY(PX_FLOAT32), err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_ONLY(PX_FLOAT32), err));
    PX_TRY(pxi_op_params(ctx, sizeof(grid_params), err));
    grid_params *params = ctx->params;
    int mode, padding;
    PX_TRY(grid_name(ctx, "mode", "bilinear", modes, &mode, err));
    PX_TRY(grid_name(ctx, "padding_mode", "zeros", paddings, &padding, err));
    params->mode = mode == 3 ? GRID_LINEAR : mode == 4 ? GRID_CUBIC : (grid_mode)mode;
    params->padding = (grid_padding)padding;
    params->align = px_node_int(ctx->node, "align_corners", 0) != 0;
    const px_shape *x = &ctx->in[0].shape, *grid = &ctx->in[1].shape;
    if (x->rank > 4 && grid->rank == x->rank)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "sampling in %d dimensions is not supported",
                           x->rank - 2);
    if (x->rank != 4 || grid->rank != 4 || grid->dim[3] != 2 || x->dim[0] != grid->dim[0]) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "image %s and grid %s do not fit",
                           px_shape_text(x, a), px_shape_text(grid, b));
    }
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape =
        (px_shape){.rank = 4, .dim = {x->dim[0], x->dim[1], grid->dim[1], grid->dim[2]}};
    if ((x->dim[2] == 0 || x->dim[3] == 0) && pxi_mul_all(ctx->out[0].shape.dim, 4) != 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "reads an image without pixels");
    return PX_OK;
}

/* Puts x back into the image as the padding mode says; *slope gets its derivative. */
static double grid_pad(const grid_params *p, double x, double extent, double *slope)
{
    *slope = 1.0;
    if (p->padding == GRID_REFLECTION) {
        const double low = p->align ? 0.0 : -0.5, span = p->align ? extent - 1.0 : extent;
        if (span <= 0.0) {
            *slope = 0.0;
            return 0.0;
        }
        const double way = fabs(x - low), turns = floor(way / span), rest = way - turns * span;
        const bool back = fmod(turns, 2.0) != 0.0;
        *slope = (x < low ? -1.0 : 1.0) * (back ? -1.0 : 1.0);
        x = (back ? span - rest : rest) + low;
    }
    if (p->padding != GRID_ZEROS) {
        if (!(x > 0.0)) { /* NaN too */
            *slope = 0.0;
            return 0.0;
        }
        if (x >= extent - 1.0) {
            *slope = 0.0;
            return extent - 1.0;
        }
    }
    return x;
}

/* Up to four elements along one axis; at -1: outside, worth nothing. */
typedef struct grid_taps {
    int count;
    int64_t at[4];
    double weight[4], slope[4]; /* slope: d weight / d grid coordinate */
} grid_taps;

static int64_t grid_index(double at, double extent)
{
    return at >= 0.0 && at <= extent - 1.0 ? (int64_t)at : -1;
}

static double cubic_slope(double x) /* derivative of the kernel below at |x|, times sign(x) */
{
    const double a = -0.75, t = fabs(x);
    const double d = t <= 1.0  ? 3.0 * (a + 2.0) * t * t - 2.0 * (a + 3.0) * t
                     : t < 2.0 ? 3.0 * a * t * t - 10.0 * a * t + 8.0 * a
                               : 0.0;
    return x < 0.0 ? -d : d;
}

static double cubic_weight(double x) /* Keys' kernel with PyTorch's coefficient */
{
    const double a = -0.75, t = fabs(x);
    if (t <= 1.0)
        return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    return t < 2.0 ? ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a : 0.0;
}

static void grid_taps_at(grid_taps *taps, const grid_params *p, double g, double extent)
{
    const double unit = p->align ? (extent - 1.0) / 2.0 : extent / 2.0; /* d pixel / d g */
    double x = p->align ? (g + 1.0) * unit : (g + 1.0) * unit - 0.5, slope = 1.0;
    if (!(fabs(x) < 0x1p40)) /* infinities and NaN: far outside */
        x = -0x1p40;
    if (p->mode != GRID_CUBIC) /* a cubic pads each of its elements instead */
        x = grid_pad(p, x, extent, &slope);
    if (p->mode == GRID_NEAREST) {
        *taps = (grid_taps){.count = 1, .at = {grid_index(nearbyint(x), extent)}, .weight = {1.0}};
        return;
    }
    const double low = floor(x), rest = x - low;
    if (p->mode == GRID_LINEAR) {
        *taps = (grid_taps){.count = 2,
                            .at = {grid_index(low, extent), grid_index(low + 1.0, extent)},
                            .weight = {1.0 - rest, rest},
                            .slope = {-unit * slope, unit * slope}};
        return;
    }
    taps->count = 4;
    for (int i = 0; i < 4; i++) {
        const double offset = (double)(i - 1);
        double unused;
        taps->at[i] = grid_index(nearbyint(grid_pad(p, low + offset, extent, &unused)), extent);
        taps->weight[i] = cubic_weight(offset - rest);
        taps->slope[i] = -unit * cubic_slope(offset - rest);
    }
}

static double grid_read(const grid_taps *ty, const grid_taps *tx, const double *wy,
                        const double *wx, const px_real *plane, int64_t width)
{
    double sum = 0.0;
    for (int r = 0; r < ty->count; r++)
        for (int c = 0; c < tx->count; c++)
            if (ty->at[r] >= 0 && tx->at[c] >= 0)
                sum += wy[r] * wx[c] * (double)plane[ty->at[r] * width + tx->at[c]];
    return sum;
}

static void grid_point(const px_op_ctx *ctx, int64_t n, int64_t i, grid_taps *ty, grid_taps *tx)
{
    const px_shape *x = &ctx->in[0].shape, *grid = &ctx->in[1].shape;
    const px_real *g = PXI_F32(ctx->in[1]) + (n * grid->dim[1] * grid->dim[2] + i) * 2;
    grid_taps_at(tx, ctx->params, (double)g[0], (double)x->dim[3]);
    grid_taps_at(ty, ctx->params, (double)g[1], (double)x->dim[2]);
}

static px_status gridsample_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const int64_t pixels = out->dim[2] * out->dim[3], area = x->dim[2] * x->dim[3];
    for (int64_t n = 0; n < out->dim[0]; n++)
        for (int64_t i = 0; i < pixels; i++) {
            grid_taps ty, tx;
            grid_point(ctx, n, i, &ty, &tx);
            for (int64_t c = 0; c < out->dim[1]; c++) {
                const int64_t plane = n * out->dim[1] + c;
                PXI_F32(ctx->out[0])
                [plane * pixels + i] = (px_real)grid_read(
                    &ty, &tx, ty.weight, tx.weight, PXI_F32(ctx->in[0]) + plane * area, x->dim[3]);
            }
        }
    return PX_OK;
}

static void gridsample_backward(const px_op_ctx *ctx)
{
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const int64_t pixels = out->dim[2] * out->dim[3], area = x->dim[2] * x->dim[3];
    const bool image = pxi_op_wants_grad(ctx, 0), grid = pxi_op_wants_grad(ctx, 1);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    for (int64_t n = 0; dy && n < out->dim[0]; n++)
        for (int64_t i = 0; i < pixels; i++) {
            grid_taps ty, tx;
            grid_point(ctx, n, i, &ty, &tx);
            double gx = 0.0, gy = 0.0;
            for (int64_t c = 0; c < out->dim[1]; c++) {
                const int64_t plane = n * out->dim[1] + c;
                const double d = (double)dy[plane * pixels + i];
                const px_real *from = PXI_F32(ctx->in[0]) + plane * area;
                gx += d * grid_read(&ty, &tx, ty.weight, tx.slope, from, x->dim[3]);
                gy += d * grid_read(&ty, &tx, ty.slope, tx.weight, from, x->dim[3]);
                for (int r = 0; image && r < ty.count; r++)
                    for (int k = 0; k < tx.count; k++)
                        if (ty.at[r] >= 0 && tx.at[k] >= 0)
                            PXI_F32(ctx->in_grad[0])
                [plane * area + ty.at[r] * x->dim[3] + tx.at[k]] +=
                    (px_real)(d * ty.weight[r] * tx.weight[k]);
            }
            if (grid) {
                PXI_F32(ctx->in_grad[1])[(n * pixels + i) * 2] += (px_real)gx;
                PXI_F32(ctx->in_grad[1])[(n * pixels + i) * 2 + 1] += (px_real)gy;
            }
        }
}

const px_op px_op_gridsample_16 = {
    .name = "GridSample",
    .since = 16,
    .diff = PX_DIFF_YES,
    .setup = gridsample_setup,
    .forward = gridsample_forward,
    .backward = gridsample_backward,
};
