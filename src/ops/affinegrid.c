/* src/ops/affinegrid.c - AffineGrid (ONNX, since opset 20): where an affine map reads an image
 *
 * theta is (N, 2, 3) or (N, 3, 4), the size (N, C, [D,] H, W); y(n, [d,] h, w) = theta(n) times the
 * place (x, y, [z,] 1), whose coordinates run from -1 to 1 between the outermost pixels' centres
 * (align_corners) or edges. GridSample takes it from there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"
#include <internal/nn_check.h>

typedef struct affine_params {
    int axes;          /* 2 or 3 */
    int64_t extent[3]; /* of the axes, in the size's order */
    bool align;
} affine_params;

static px_status affine_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *size;
    int64_t count;
    PX_TRY(pxi_op_arity(ctx, 2, 2, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &size, &count, err));
    if (count != 4 && count != 5)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its size has %lld numbers, expected 4 or 5",
                           (long long)count);
    PX_TRY(pxi_op_params(ctx, sizeof(affine_params), err));
    affine_params *p = ctx->params;
    p->axes = (int)count - 2;
    p->align = px_node_int(ctx->node, "align_corners", 0) != 0;
    const int64_t want[] = {size[0], p->axes, p->axes + 1};
    PX_TRY(pxi_nn_shape(ctx, 0, "theta", 3, want, err));
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape = (px_shape){.rank = p->axes + 2, .dim = {size[0]}};
    for (int i = 0; i < p->axes; i++)
        ctx->out[0].shape.dim[1 + i] = p->extent[i] = size[2 + i];
    ctx->out[0].shape.dim[1 + p->axes] = p->axes;
    return PX_OK;
}

static double affine_place(const affine_params *p, int axis, int64_t i)
{
    const double n = (double)p->extent[axis];
    if (!p->align)
        return (2.0 * (double)i + 1.0) / n - 1.0;
    return n > 1.0 ? 2.0 * (double)i / (n - 1.0) - 1.0 : -1.0;
}

/* (x, y, [z,] 1) of a pixel: the last axis first. */
static void affine_point(const affine_params *p, int64_t pixel, double point[4])
{
    for (int i = p->axes - 1; i >= 0; i--) {
        point[p->axes - 1 - i] = affine_place(p, i, pixel % p->extent[i]);
        pixel /= p->extent[i];
    }
    point[p->axes] = 1.0;
}

static px_status affine_forward(const px_op_ctx *ctx, px_error *err)
{
    const affine_params *p = ctx->params;
    const int64_t batch = ctx->out[0].shape.dim[0], area = pxi_mul_all(p->extent, p->axes);
    const px_real *theta = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    (void)err;
    for (int64_t n = 0; n < batch; n++, theta += p->axes * (p->axes + 1))
        for (int64_t i = 0; i < area; i++) {
            double point[4];
            affine_point(p, i, point);
            for (int r = 0; r < p->axes; r++) {
                double sum = 0.0;
                for (int c = 0; c <= p->axes; c++)
                    sum += (double)theta[r * (p->axes + 1) + c] * point[c];
                *y++ = (px_real)sum;
            }
        }
    return PX_OK;
}

static void affine_backward(const px_op_ctx *ctx)
{
    const affine_params *p = ctx->params;
    const int64_t batch = ctx->out[0].shape.dim[0], area = pxi_mul_all(p->extent, p->axes);
    const px_real *dy = ctx->out_grad[0].data;
    if (!pxi_op_wants_grad(ctx, 0) || !dy)
        return;
    px_real *dtheta = PXI_F32(ctx->in_grad[0]);
    for (int64_t n = 0; n < batch; n++, dtheta += p->axes * (p->axes + 1)) {
        double sum[12] = {0.0};
        for (int64_t i = 0; i < area; i++, dy += p->axes) {
            double point[4];
            affine_point(p, i, point);
            for (int r = 0; r < p->axes; r++)
                for (int c = 0; c <= p->axes; c++)
                    sum[r * (p->axes + 1) + c] += (double)dy[r] * point[c];
        }
        for (int i = 0; i < p->axes * (p->axes + 1); i++)
            dtheta[i] += (px_real)sum[i];
    }
}

const px_op px_op_affinegrid_20 = {
    .name = "AffineGrid",
    .since = 20,
    .diff = PX_DIFF_YES,
    .setup = affine_setup,
    .forward = affine_forward,
    .backward = affine_backward,
};
