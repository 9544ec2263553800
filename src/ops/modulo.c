/* src/ops/modulo.c - Mod: the remainder of a / b with broadcasting
 *
 * fmod = 0: integers, the sign of the divisor, as in Python; fmod = 1: the sign of the dividend, as
 * C's fmod(). x mod 0 is 0 for integers and NaN for floats. Almost everywhere y = a - b trunc(a /
 * b) with a locally constant quotient, which gives the gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/broadcast.h"

#include <tgmath.h>

/* r has the sign of a: bring it to b's side. r + b cannot overflow, the signs differ. */
#define MOD_FLOOR(T, r, b) ((T)((r) != 0 && ((r) < (T)1) != ((b) < (T)1) ? (T)((r) + (b)) : (r)))

#define MOD_INT(op, dtype, T, tag)                                \
    PXI_BINARY_KERNEL(mod_c_##tag, T, T, T, PXI_INT_REM(T, a, b)) \
    PXI_BINARY_KERNEL(mod_python_##tag, T, T, T, MOD_FLOOR(T, PXI_INT_REM(T, a, b), b))
#define MOD_REAL(op, dtype, T, tag)                     \
    PXI_BINARY_KERNEL(mod_c_##tag, T, T, T, fmod(a, b)) \
    PXI_GRADIENT_KERNEL(mod_da_##tag, T, T, dy)         \
    PXI_GRADIENT_KERNEL(mod_db_##tag, T, T, (-dy * trunc(b / a))) /* here b / a is a / b */
PXI_INT_TYPES(MOD_INT, )
PXI_REAL_TYPES(MOD_REAL, )

static pxi_binary_fn *const mod_c[] = {PXI_NUMBER_TYPES(PXI_KERNEL_ENTRY, mod_c)};
static pxi_binary_fn *const mod_python[] = {PXI_INT_TYPES(PXI_KERNEL_ENTRY, mod_python)};

static px_status mod_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_binary_setup(ctx, PXI_TYPES_NUMBER, /* old= */ false, err));
    const int64_t fmod_attr = px_node_int(ctx->node, "fmod", 0);
    if (fmod_attr == 0 && pxi_type_in(ctx->in[0].dtype, PXI_TYPES_REAL))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its inputs are %s, for which fmod must be 1",
                           px_dtype_name(ctx->in[0].dtype));
    ((pxi_binary_params *)ctx->params)->mode = fmod_attr != 0;
    return PX_OK;
}

static px_status mod_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const int mode = ((const pxi_binary_params *)ctx->params)->mode;
    const px_dtype dtype = ctx->in[0].dtype;
    pxi_binary_forward(ctx, mode ? mod_c[dtype] : mod_python[dtype], ctx->in[0].data,
                       ctx->in[1].data);
    return PX_OK;
}

static void mod_backward(const px_op_ctx *ctx)
{
    if (ctx->in[0].dtype == PX_FLOAT64)
        pxi_binary_backward(ctx, mod_da_f64, mod_db_f64, ctx->in[0].data, ctx->in[1].data);
    else if (ctx->in[0].dtype == PX_FLOAT32)
        pxi_binary_backward(ctx, mod_da_f32, mod_db_f32, ctx->in[0].data, ctx->in[1].data);
}

const px_op px_op_mod_10 = {
    .name = "Mod",
    .since = 10,
    .diff = PX_DIFF_YES,
    .setup = mod_setup,
    .forward = mod_forward,
    .backward = mod_backward,
    .permute = pxi_permute_nothing,
    .elementwise = true,
    .inplace = true,
};
