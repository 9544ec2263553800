/* src/ops/col2im.c - Col2Im (ONNX, since opset 18): columns of blocks, added up to images
 *
 * What torch.nn.Fold does: x (N, C * block, blocks) to y (N, C, image...), where block b of the
 * sliding window of Conv's strides, dilations and pads adds its elements at its place. Backward
 * takes the blocks out again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"
#include <internal/nn_check.h>

enum { COL_AXES = PX_MAX_RANK - 2 };

typedef struct col_params {
    int axes;
    int64_t image[COL_AXES], block[COL_AXES], blocks[COL_AXES]; /* per axis */
    int64_t stride[COL_AXES], dilation[COL_AXES], begin[COL_AXES];
    int64_t planes, block_count, element_count, area; /* N * C; products of the above */
} col_params;

static px_status col_window(const px_op_ctx *ctx, col_params *p, px_error *err)
{
    const int64_t most = INT32_MAX; /* keeps index arithmetic from overflowing */
    int64_t pads[2 * COL_AXES];
    PX_TRY(pxi_nn_ints(ctx, "strides", p->axes, 1, most, 1, p->stride, err));
    PX_TRY(pxi_nn_ints(ctx, "dilations", p->axes, 1, most, 1, p->dilation, err));
    PX_TRY(pxi_nn_ints(ctx, "pads", 2 * p->axes, 0, most, 0, pads, err));
    for (int i = 0; i < p->axes; i++) {
        if (p->image[i] < 1 || p->image[i] > most || p->block[i] < 1 || p->block[i] > most)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "blocks of %lld do not fit an image of %lld",
                               (long long)p->block[i], (long long)p->image[i]);
        p->begin[i] = pads[i];
        const int64_t room =
            p->image[i] + pads[i] + pads[i + p->axes] - p->dilation[i] * (p->block[i] - 1) - 1;
        p->blocks[i] = room < 0 ? 0 : room / p->stride[i] + 1;
    }
    return PX_OK;
}

static px_status col_setup(px_op_ctx *ctx, px_error *err)
{
    const int64_t *image, *block;
    int64_t axes, block_axes;
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 3, 3, err));
    PX_TRY(pxi_op_const_ints(ctx, 1, &image, &axes, err));
    PX_TRY(pxi_op_const_ints(ctx, 2, &block, &block_axes, err));
    if (axes < 1 || axes > COL_AXES || block_axes != axes)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "images of %lld and blocks of %lld dimensions",
                           (long long)axes, (long long)block_axes);
    PX_TRY(pxi_op_params(ctx, sizeof(col_params), err));
    col_params *p = ctx->params;
    p->axes = (int)axes;
    for (int i = 0; i < p->axes; i++) {
        p->image[i] = image[i];
        p->block[i] = block[i];
    }
    PX_TRY(col_window(ctx, p, err));
    const px_shape *x = &ctx->in[0].shape;
    p->block_count = pxi_mul_all(p->blocks, p->axes);
    p->element_count = pxi_mul_all(p->block, p->axes);
    p->area = pxi_mul_all(p->image, p->axes);
    if (p->element_count < 1 || p->area < 0 || x->dim[1] % p->element_count != 0 ||
        x->dim[2] != p->block_count) {
        char text[PX_SHAPE_TEXT];
        return pxi_op_fail(
            ctx, err, PX_E_MISMATCH, "columns %s are not those of %lld blocks of %lld elements",
            px_shape_text(x, text), (long long)p->block_count, (long long)p->element_count);
    }
    const int64_t channels = x->dim[1] / p->element_count;
    p->planes = x->dim[0] * channels;
    ctx->out[0].dtype = PX_FLOAT32;
    ctx->out[0].shape = (px_shape){.rank = 2 + p->axes, .dim = {x->dim[0], channels}};
    for (int i = 0; i < p->axes; i++)
        ctx->out[0].shape.dim[2 + i] = p->image[i];
    return PX_OK;
}

/* Where element `e` of block `b` lies in the image; -1: in the padding. */
static int64_t col_place(const col_params *p, int64_t e, int64_t b)
{
    int64_t at = 0, step = 1;
    for (int i = p->axes - 1; i >= 0; i--) {
        const int64_t x =
            b % p->blocks[i] * p->stride[i] + e % p->block[i] * p->dilation[i] - p->begin[i];
        if (x < 0 || x >= p->image[i])
            return -1;
        at += x * step;
        step *= p->image[i];
        b /= p->blocks[i];
        e /= p->block[i];
    }
    return at;
}

/* images += columns, or columns += images */
static void col_add(const col_params *p, px_real *images, px_real *columns, bool to_images)
{
    for (int64_t e = 0; e < p->element_count; e++)
        for (int64_t b = 0; b < p->block_count; b++) {
            const int64_t at = col_place(p, e, b);
            for (int64_t plane = 0; at >= 0 && plane < p->planes; plane++) {
                px_real *column = columns + (plane * p->element_count + e) * p->block_count + b;
                px_real *pixel = images + plane * p->area + at;
                if (to_images)
                    *pixel += *column;
                else
                    *column += *pixel;
            }
        }
}

static px_status col_forward(const px_op_ctx *ctx, px_error *err)
{
    const col_params *p = ctx->params;
    px_real *y = PXI_F32(ctx->out[0]);
    (void)err;
    for (int64_t i = 0; i < p->planes * p->area; i++)
        y[i] = 0;
    col_add(p, y, PXI_F32(ctx->in[0]), /* to_images= */ true);
    return PX_OK;
}

static void col_backward(const px_op_ctx *ctx)
{
    if (pxi_op_wants_grad(ctx, 0) && ctx->out_grad[0].data)
        col_add(ctx->params, PXI_F32(ctx->out_grad[0]), PXI_F32(ctx->in_grad[0]),
                /* to_images= */ false);
}

const px_op px_op_col2im_18 = {
    .name = "Col2Im",
    .since = 18,
    .diff = PX_DIFF_YES,
    .setup = col_setup,
    .forward = col_forward,
    .backward = col_backward,
};
