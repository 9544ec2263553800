/* src/ops/quantized.c - MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv (since opset 10)
 *
 * 8-bit operands less their zero points, products summed in 32 bits (wrapping, as the standard
 * allows). The QLinear operators then scale, round half to even, add the output's zero point and
 * saturate. A zero point or scale is one number, or one per row of A, per column of B, per output
 * channel of W. Padding holds the zero point, that is nothing. There is no gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "ops/conv.h"
#include <internal/gemm.h>
#include <internal/nn_check.h>

#include <math.h>

static px_status byte_input(const px_op_ctx *ctx, int input, px_error *err)
{
    if (!pxi_op_has_in(ctx, input) || ctx->in[input].dtype == PX_UINT8 ||
        ctx->in[input].dtype == PX_INT8)
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d is %s, expected uint8 or int8", input,
                       px_dtype_name(ctx->in[input].dtype));
}

static int32_t byte_at(const px_tensor *tensor, int64_t i)
{
    return tensor->dtype == PX_INT8 ? ((const int8_t *)tensor->data)[i]
                                    : ((const uint8_t *)tensor->data)[i];
}

/* A scale or zero point: one entry, one per line (row, column, channel), or one per line and
 * matrix. */
static px_status spread_input(const px_op_ctx *ctx, int input, int64_t lines, int64_t matrices,
                              px_error *err)
{
    if (!pxi_op_has_in(ctx, input))
        return PX_OK;
    const int64_t count = px_shape_count(&ctx->in[input].shape);
    if (count == 1 || count == lines || (count % lines == 0 && count / lines == matrices))
        return PX_OK;
    char text[PX_SHAPE_TEXT];
    return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its input %d has shape %s, which does not fit",
                       input, px_shape_text(&ctx->in[input].shape, text));
}

static int64_t spread_at(const px_tensor *tensor, int64_t line, int64_t lines, int64_t matrix)
{
    const int64_t count = px_shape_count(&tensor->shape);
    return count == 1 ? 0 : count == lines ? line : matrix * lines + line;
}

static int32_t zero_at(const px_op_ctx *ctx, int input, int64_t line, int64_t lines, int64_t matrix)
{
    if (!pxi_op_has_in(ctx, input))
        return 0;
    return byte_at(&ctx->in[input], spread_at(&ctx->in[input], line, lines, matrix));
}

static double scale_at(const px_op_ctx *ctx, int input, int64_t line, int64_t lines, int64_t matrix)
{
    return (double)PXI_F32(ctx->in[input])[spread_at(&ctx->in[input], line, lines, matrix)];
}

/* saturate(round(value) + zero point) in the type of `out`; NaN becomes the zero point. */
static void byte_store(const px_tensor *out, int64_t i, double value, int32_t zero)
{
    const double low = out->dtype == PX_INT8 ? INT8_MIN : 0;
    const double high = out->dtype == PX_INT8 ? INT8_MAX : UINT8_MAX;
    double rounded = (isnan(value) ? 0.0 : nearbyint(value)) + zero;
    rounded = rounded < low ? low : rounded > high ? high : rounded;
    if (out->dtype == PX_INT8)
        ((int8_t *)out->data)[i] = (int8_t)rounded;
    else
        ((uint8_t *)out->data)[i] = (uint8_t)rounded;
}

static int32_t wrapped(uint32_t sum)
{
    return sum <= INT32_MAX ? (int32_t)sum : -(int32_t)(UINT32_MAX - sum) - 1;
}

/* The inputs of both product operators; -1: has none. */
typedef struct matmul_inputs {
    int a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero;
} matmul_inputs;

static const matmul_inputs matmul_integer = {0, 1, 2, 3, -1, -1, -1, -1};
static const matmul_inputs qlinear_matmul = {0, 3, 2, 5, 1, 4, 6, 7};

static px_status matmul_setup(px_op_ctx *ctx, const matmul_inputs *in, px_error *err)
{
    PX_TRY(byte_input(ctx, in->a, err));
    PX_TRY(byte_input(ctx, in->b, err));
    PX_TRY(byte_input(ctx, in->a_zero, err));
    PX_TRY(byte_input(ctx, in->b_zero, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_matmul_params), err));
    pxi_matmul_params *p = ctx->params;
    PX_TRY(pxi_matmul_read(ctx, in->a, in->b, p, err));
    const int64_t a_size = PX_MAX(p->m * p->k, 1), b_size = PX_MAX(p->k * p->n, 1);
    const int64_t a_matrices = px_shape_count(&ctx->in[in->a].shape) / a_size;
    const int64_t b_matrices = px_shape_count(&ctx->in[in->b].shape) / b_size;
    PX_TRY(spread_input(ctx, in->a_zero, PX_MAX(p->m, 1), a_matrices, err));
    PX_TRY(spread_input(ctx, in->b_zero, PX_MAX(p->n, 1), b_matrices, err));
    if (in->a_scale < 0)
        return PX_OK;
    PX_TRY(pxi_nn_float(ctx, in->a_scale, in->a_scale, err));
    PX_TRY(pxi_nn_float(ctx, in->b_scale, in->b_scale, err));
    PX_TRY(pxi_nn_float(ctx, in->y_scale, in->y_scale, err));
    PX_TRY(byte_input(ctx, in->y_zero, err));
    PX_TRY(spread_input(ctx, in->a_scale, PX_MAX(p->m, 1), a_matrices, err));
    PX_TRY(spread_input(ctx, in->b_scale, PX_MAX(p->n, 1), b_matrices, err));
    PX_TRY(spread_input(ctx, in->y_scale, 1, 1, err));
    return spread_input(ctx, in->y_zero, 1, 1, err);
}

static px_status matmul_integer_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 4, 1, 1, err));
    ctx->out[0].dtype = PX_INT32;
    return matmul_setup(ctx, &matmul_integer, err);
}

static px_status qlinear_matmul_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 8, 8, 1, 1, err));
    ctx->out[0].dtype = ctx->in[7].dtype;
    return matmul_setup(ctx, &qlinear_matmul, err);
}

static void matmul_run(const px_op_ctx *ctx, const matmul_inputs *in)
{
    const pxi_matmul_params *p = ctx->params;
    const px_tensor *a = &ctx->in[in->a], *b = &ctx->in[in->b];
    int64_t to = 0;
    for (int64_t batch = 0; batch < p->batch_count; batch++) {
        int64_t a_at, b_at;
        pxi_matmul_at(p, batch, &a_at, &b_at);
        const int64_t a_matrix = a_at / PX_MAX(p->m * p->k, 1);
        const int64_t b_matrix = b_at / PX_MAX(p->k * p->n, 1);
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++, to++) {
                const int32_t a_zero = zero_at(ctx, in->a_zero, i, p->m, a_matrix);
                const int32_t b_zero = zero_at(ctx, in->b_zero, j, p->n, b_matrix);
                uint32_t sum = 0;
                for (int64_t q = 0; q < p->k; q++)
                    sum += (uint32_t)((byte_at(a, a_at + i * p->k + q) - a_zero) *
                                      (byte_at(b, b_at + q * p->n + j) - b_zero));
                if (in->a_scale < 0) {
                    ((int32_t *)ctx->out[0].data)[to] = wrapped(sum);
                    continue;
                }
                const double scale = scale_at(ctx, in->a_scale, i, p->m, a_matrix) *
                                     scale_at(ctx, in->b_scale, j, p->n, b_matrix) /
                                     (double)PXI_F32(ctx->in[in->y_scale])[0];
                byte_store(&ctx->out[0], to, wrapped(sum) * scale,
                           byte_at(&ctx->in[in->y_zero], 0));
            }
    }
}

static px_status matmul_integer_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    matmul_run(ctx, &matmul_integer);
    return PX_OK;
}

static px_status qlinear_matmul_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    matmul_run(ctx, &qlinear_matmul);
    return PX_OK;
}

static px_status conv_integer_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 4, 1, 1, err));
    for (int i = 0; i < 4; i++)
        PX_TRY(byte_input(ctx, i, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_conv_params), err));
    pxi_conv_params *p = ctx->params;
    PX_TRY(pxi_conv_read(ctx, 0, 1, p, err));
    PX_TRY(spread_input(ctx, 2, 1, 1, err));
    PX_TRY(spread_input(ctx, 3, PX_MAX(p->out_channels, 1), 1, err));
    ctx->out[0].dtype = PX_INT32;
    return PX_OK;
}

static px_status qlinear_conv_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 8, 9, 1, 1, err));
    static const int bytes[] = {0, 2, 3, 5, 7}, scales[] = {1, 4, 6};
    for (size_t i = 0; i < PX_LEN(bytes); i++)
        PX_TRY(byte_input(ctx, bytes[i], err));
    for (size_t i = 0; i < PX_LEN(scales); i++)
        PX_TRY(pxi_nn_float(ctx, scales[i], scales[i], err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_conv_params), err));
    pxi_conv_params *p = ctx->params;
    PX_TRY(pxi_conv_read(ctx, 0, 3, p, err));
    for (int i = 1; i <= 7; i++) /* those of W have one entry per output channel, or one */
        if (i != 3)
            PX_TRY(spread_input(ctx, i, i == 4 || i == 5 ? PX_MAX(p->out_channels, 1) : 1, 1, err));
    p->has_bias = pxi_op_has_in(ctx, 8);
    PX_TRY(pxi_nn_shape(ctx, 8, "the bias", 1, &p->out_channels, err));
    if (p->has_bias && ctx->in[8].dtype != PX_INT32)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its bias is %s, expected int32",
                           px_dtype_name(ctx->in[8].dtype));
    ctx->out[0].dtype = ctx->in[7].dtype;
    return PX_OK;
}

/* One output element: sample n, output channel m, place o. */
static int32_t conv_sum(const pxi_conv_sides *s, const px_tensor *x, const px_tensor *w,
                        int32_t x_zero, int32_t w_zero, int64_t n, int64_t m, const int64_t o[3])
{
    const pxi_window *win = &s->window;
    const int64_t group = m / s->narrow_channels;
    int64_t low[3], high[3], start[3];
    for (int i = 0; i < 3; i++) {
        pxi_window_taps(win, i, o[i], &low[i], &high[i]);
        start[i] = o[i] * win->stride[i] - win->pad_begin[i];
    }
    uint32_t sum = 0;
    for (int64_t c = 0; c < s->wide_channels; c++) {
        const int64_t plane = (n * s->group + group) * s->wide_channels + c;
        const int64_t kernel = m * s->wide_channels + c;
        for (int64_t kd = low[0]; kd < high[0]; kd++)
            for (int64_t kh = low[1]; kh < high[1]; kh++)
                for (int64_t kw = low[2]; kw < high[2]; kw++) {
                    const int64_t d = start[0] + kd * win->dilation[0];
                    const int64_t h = start[1] + kh * win->dilation[1];
                    const int64_t v = start[2] + kw * win->dilation[2];
                    const int64_t from =
                        ((plane * win->in[0] + d) * win->in[1] + h) * win->in[2] + v;
                    const int64_t tap =
                        ((kernel * win->kernel[0] + kd) * win->kernel[1] + kh) * win->kernel[2] +
                        kw;
                    sum += (uint32_t)((byte_at(x, from) - x_zero) * (byte_at(w, tap) - w_zero));
                }
    }
    return wrapped(sum);
}

static void conv_run(const px_op_ctx *ctx, bool qlinear)
{
    const pxi_conv_params *p = ctx->params;
    const pxi_conv_sides s = pxi_conv_sides_of(p);
    const int64_t *out = s.window.out, area = pxi_window_out_count(&s.window);
    const px_tensor *x = &ctx->in[0], *w = &ctx->in[qlinear ? 3 : 1];
    const int32_t x_zero = zero_at(ctx, 2, 0, 1, 0);
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t m = 0; m < p->out_channels; m++) {
            const int32_t w_zero = zero_at(ctx, qlinear ? 5 : 3, m, p->out_channels, 0);
            for (int64_t i = 0; i < area; i++) {
                const int64_t o[3] = {i / out[2] / out[1], i / out[2] % out[1], i % out[2]};
                const int64_t to = (n * p->out_channels + m) * area + i;
                const int32_t sum = conv_sum(&s, x, w, x_zero, w_zero, n, m, o);
                if (!qlinear) {
                    ((int32_t *)ctx->out[0].data)[to] = sum;
                    continue;
                }
                const double scale = scale_at(ctx, 1, 0, 1, 0) *
                                     scale_at(ctx, 4, m, p->out_channels, 0) /
                                     scale_at(ctx, 6, 0, 1, 0);
                const double bias = p->has_bias ? ((const int32_t *)ctx->in[8].data)[m] : 0.0;
                byte_store(&ctx->out[0], to, (sum + bias) * scale, byte_at(&ctx->in[7], 0));
            }
        }
}

static px_status conv_integer_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    conv_run(ctx, /* qlinear= */ false);
    return PX_OK;
}

static px_status qlinear_conv_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    conv_run(ctx, /* qlinear= */ true);
    return PX_OK;
}

const px_op px_op_matmulinteger_10 = {
    .name = "MatMulInteger",
    .since = 10,
    .setup = matmul_integer_setup,
    .forward = matmul_integer_forward,
};

const px_op px_op_qlinearmatmul_10 = {
    .name = "QLinearMatMul",
    .since = 10,
    .setup = qlinear_matmul_setup,
    .forward = qlinear_matmul_forward,
};

const px_op px_op_convinteger_10 = {
    .name = "ConvInteger",
    .since = 10,
    .setup = conv_integer_setup,
    .forward = conv_integer_forward,
    .flops = pxi_conv_flops,
};

const px_op px_op_qlinearconv_10 = {
    .name = "QLinearConv",
    .since = 10,
    .setup = qlinear_conv_setup,
    .forward = qlinear_conv_forward,
    .flops = pxi_conv_flops,
};
