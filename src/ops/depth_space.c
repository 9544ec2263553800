/* src/ops/depth_space.c - DepthToSpace and SpaceToDepth: blocks of pixels to channels and back */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <string.h>

typedef struct block_params {
    int64_t size;
    bool crd;  /* DepthToSpace: channels are [C][block][block], not [block][block][C] */
    int at[4]; /* where the axes N, C, H, W are stored */
} block_params;

static px_status block_common(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(block_params), err));
    block_params *params = ctx->params;
    params->size = px_node_int(ctx->node, "blocksize", 0);
    if (ctx->in[0].shape.rank != 4)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "takes [N,C,H,W], not a tensor of rank %d",
                           ctx->in[0].shape.rank);
    if (params->size < 1 || params->size > 1 << 20)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "'blocksize' is %lld", (long long)params->size);
    for (int i = 0; i < 4; i++)
        params->at[i] = i;
    ctx->out[0].dtype = ctx->in[0].dtype;
    return PX_OK;
}

static px_status block_refuse(const px_op_ctx *ctx, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    return pxi_op_fail(ctx, err, PX_E_INPUT, "'blocksize' %lld does not fit the input %s",
                       (long long)px_node_int(ctx->node, "blocksize", 0),
                       px_shape_text(&ctx->in[0].shape, text));
}

static px_status depthtospace_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(block_common(ctx, err));
    block_params *params = ctx->params;
    const char *mode = px_node_string(ctx->node, "mode", "DCR");
    params->crd = strcmp(mode, "CRD") == 0;
    if (!params->crd && strcmp(mode, "DCR") != 0)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its mode '%.40s' is not supported", mode);
    const int64_t *in = ctx->in[0].shape.dim, size = params->size;
    px_shape out = {.rank = 4, .dim = {in[0], in[1] / (size * size)}};
    if (in[1] % (size * size) != 0 || __builtin_mul_overflow(in[2], size, &out.dim[2]) ||
        __builtin_mul_overflow(in[3], size, &out.dim[3]))
        return block_refuse(ctx, err);
    ctx->out[0].shape = out;
    return PX_OK;
}

static px_status spacetodepth_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(block_common(ctx, err));
    const int64_t *in = ctx->in[0].shape.dim, size = ((block_params *)ctx->params)->size;
    px_shape out = {.rank = 4, .dim = {in[0], 0, in[2] / size, in[3] / size}};
    if (in[2] % size != 0 || in[3] % size != 0 ||
        __builtin_mul_overflow(in[1], size * size, &out.dim[1]))
        return block_refuse(ctx, err);
    ctx->out[0].shape = out;
    return PX_OK;
}

typedef struct block_loop {
    int64_t extent, wide, deep; /* steps in the one and in the other */
} block_loop;

/* The loops N, C, H, block row, W, block column over the side with wide space and the one with
 * deep channels; `to_space` says which one is written. */
static pxi_nest block_nest(const px_op_ctx *ctx, const px_shape *space, const px_shape *depth,
                           bool to_space)
{
    const block_params *params = ctx->params;
    const int n = params->at[0], c = params->at[1], h = params->at[2], w = params->at[3];
    int64_t wide[PX_MAX_RANK], deep[PX_MAX_RANK];
    pxi_strides(space, wide);
    pxi_strides(depth, deep);
    const int64_t size = params->size, channels = space->dim[c];
    const int64_t channel_step = deep[c] * (params->crd ? size * size : 1);
    const int64_t block_step = deep[c] * (params->crd ? 1 : channels);
    block_loop loop[6] = {
        {depth->dim[n], wide[n], deep[n]},        {channels, wide[c], channel_step},
        {depth->dim[h], wide[h] * size, deep[h]}, {size, wide[h], block_step * size},
        {depth->dim[w], wide[w] * size, deep[w]}, {size, wide[w], block_step},
    };
    /* in the written side's order: large steps outside */
    for (int i = 1; i < 6; i++)
        for (int j = i; j > 0; j--) {
            const int64_t a = to_space ? loop[j - 1].wide : loop[j - 1].deep;
            const int64_t b = to_space ? loop[j].wide : loop[j].deep;
            if (a >= b)
                break;
            const block_loop swap = loop[j];
            loop[j] = loop[j - 1];
            loop[j - 1] = swap;
        }
    pxi_nest nest = {0};
    for (int i = 0; i < 6; i++)
        pxi_nest_axis(&nest, loop[i].extent, to_space ? loop[i].wide : loop[i].deep,
                      to_space ? loop[i].deep : loop[i].wide);
    return nest;
}

static px_status depthtospace_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_nest nest =
        block_nest(ctx, &ctx->out[0].shape, &ctx->in[0].shape, /* to_space= */ true);
    pxi_nest_copy(&nest, px_dtype_size(ctx->in[0].dtype), ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void depthtospace_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const pxi_nest nest =
        block_nest(ctx, &ctx->out[0].shape, &ctx->in[0].shape, /* to_space= */ false);
    pxi_nest_add(&nest, PXI_F32(ctx->in_grad[0]), PXI_F32(ctx->out_grad[0]));
}

static px_status spacetodepth_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_nest nest =
        block_nest(ctx, &ctx->in[0].shape, &ctx->out[0].shape, /* to_space= */ false);
    pxi_nest_copy(&nest, px_dtype_size(ctx->in[0].dtype), ctx->out[0].data, ctx->in[0].data);
    return PX_OK;
}

static void spacetodepth_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const pxi_nest nest =
        block_nest(ctx, &ctx->in[0].shape, &ctx->out[0].shape, /* to_space= */ true);
    pxi_nest_add(&nest, PXI_F32(ctx->in_grad[0]), PXI_F32(ctx->out_grad[0]));
}

static px_status block_permute(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)err;
    block_params *params = ctx->params;
    for (int i = 0; i < 4; i++)
        params->at[i] = pxi_permute_axis(params->at[i], perm, rank);
    return PX_OK;
}

const px_op px_op_depthtospace_1 = {
    .name = "DepthToSpace",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = depthtospace_setup,
    .forward = depthtospace_forward,
    .backward = depthtospace_backward,
    .permute = block_permute,
};

const px_op px_op_spacetodepth_1 = {
    .name = "SpaceToDepth",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = spacetodepth_setup,
    .forward = spacetodepth_forward,
    .backward = spacetodepth_backward,
    .permute = block_permute,
};
