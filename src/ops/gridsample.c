/* src/ops/gridsample.c - GridSample: an image read at given places, as torch.grid_sample does
 *
 * x is (N, C, H, W), the grid (N, H', W', 2) with x before y in -1..1; with a depth, x is (N, C, D,
 * H, W), the grid (N, D', H', W', 3). Backward reaches both. nearest rounds half to even and gives
 * the grid no gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
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
    const int axes = x->rank - 2;
    if (x->rank > 5 && grid->rank == x->rank)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "sampling in %d dimensions is not supported",
                           axes);
    if (x->rank < 4 || grid->rank != x->rank || grid->dim[x->rank - 1] != axes ||
        x->dim[0] != grid->dim[0]) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "image %s and grid %s do not fit",
                           px_shape_text(x, a), px_shape_text(grid, b));
    }
    if (params->mode == GRID_CUBIC && axes > 2)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "cubic sampling in %d dimensions is not supported", axes);
    px_shape out = {.rank = x->rank, .dim = {x->dim[0], x->dim[1]}};
    for (int i = 0; i < axes; i++)
        out.dim[2 + i] = grid->dim[1 + i];
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = out};
    if (pxi_mul_all(x->dim + 2, axes) == 0 && pxi_mul_all(out.dim, out.rank) != 0)
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

/* Where one sample is read: taps along depth (one of weight 1 in two dimensions), height, width. */
typedef struct grid_point {
    grid_taps taps[3];
    int64_t width, area; /* of the image: a row, a slice */
} grid_point;

/* The sum of pixels, weighed along every axis; along axis `slope` by the slopes. -1: none. */
static double grid_read(const grid_point *g, int slope, const px_real *image)
{
    const double *w[3];
    for (int i = 0; i < 3; i++)
        w[i] = i == slope ? g->taps[i].slope : g->taps[i].weight;
    double sum = 0.0;
    for (int d = 0; d < g->taps[0].count; d++)
        for (int r = 0; r < g->taps[1].count; r++)
            for (int c = 0; c < g->taps[2].count; c++) {
                const int64_t z = g->taps[0].at[d], y = g->taps[1].at[r], x = g->taps[2].at[c];
                if (z >= 0 && y >= 0 && x >= 0)
                    sum +=
                        w[0][d] * w[1][r] * w[2][c] * (double)image[z * g->area + y * g->width + x];
            }
    return sum;
}

/* What grid_read() is the transpose of: image += d times the weights. */
static void grid_spread(const grid_point *g, double d, px_real *image)
{
    for (int k = 0; k < g->taps[0].count; k++)
        for (int r = 0; r < g->taps[1].count; r++)
            for (int c = 0; c < g->taps[2].count; c++) {
                const int64_t z = g->taps[0].at[k], y = g->taps[1].at[r], x = g->taps[2].at[c];
                if (z >= 0 && y >= 0 && x >= 0)
                    image[z * g->area + y * g->width + x] +=
                        (px_real)(d * g->taps[0].weight[k] * g->taps[1].weight[r] *
                                  g->taps[2].weight[c]);
            }
}

/* The taps of grid point `i` of all samples; the grid has the last axis first. */
static void grid_point_at(const px_op_ctx *ctx, int64_t i, grid_point *point)
{
    const px_shape *x = &ctx->in[0].shape;
    const int axes = x->rank - 2;
    const px_real *g = PXI_F32(ctx->in[1]) + i * axes;
    point->taps[0] = (grid_taps){.count = 1, .weight = {1.0}};
    for (int a = 0; a < axes; a++)
        grid_taps_at(&point->taps[2 - a], ctx->params, (double)g[a],
                     (double)x->dim[x->rank - 1 - a]);
    point->width = x->dim[x->rank - 1];
    point->area = x->dim[x->rank - 2] * point->width;
}

static px_status gridsample_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const int64_t pixels = pxi_mul_all(out->dim + 2, out->rank - 2);
    const int64_t size = pxi_mul_all(x->dim + 2, x->rank - 2);
    for (int64_t n = 0; n < out->dim[0]; n++)
        for (int64_t i = 0; i < pixels; i++) {
            grid_point point;
            grid_point_at(ctx, n * pixels + i, &point);
            for (int64_t plane = n * out->dim[1]; plane < (n + 1) * out->dim[1]; plane++)
                PXI_F32(ctx->out[0])
            [plane * pixels + i] =
                (px_real)grid_read(&point, -1, PXI_F32(ctx->in[0]) + plane * size);
        }
    return PX_OK;
}

static void gridsample_backward(const px_op_ctx *ctx)
{
    const px_shape *x = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    const int axes = x->rank - 2;
    const int64_t pixels = pxi_mul_all(out->dim + 2, axes);
    const int64_t size = pxi_mul_all(x->dim + 2, axes);
    const bool image = pxi_op_wants_grad(ctx, 0), grid = pxi_op_wants_grad(ctx, 1);
    const px_real *dy = PXI_F32(ctx->out_grad[0]);
    for (int64_t n = 0; dy && n < out->dim[0]; n++)
        for (int64_t i = 0; i < pixels; i++) {
            grid_point point;
            grid_point_at(ctx, n * pixels + i, &point);
            double pull[3] = {0.0};
            for (int64_t plane = n * out->dim[1]; plane < (n + 1) * out->dim[1]; plane++) {
                const double d = (double)dy[plane * pixels + i];
                for (int a = 0; grid && a < axes; a++)
                    pull[a] += d * grid_read(&point, 2 - a, PXI_F32(ctx->in[0]) + plane * size);
                if (image)
                    grid_spread(&point, d, PXI_F32(ctx->in_grad[0]) + plane * size);
            }
            for (int a = 0; grid && a < axes; a++)
                PXI_F32(ctx->in_grad[1])[(n * pixels + i) * axes + a] += (px_real)pull[a];
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
