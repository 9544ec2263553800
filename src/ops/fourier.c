/* src/ops/fourier.c - DFT (ONNX, since opset 17) and STFT (since 17)
 *
 *     X(k) = sum over j of x(j) * exp(-2 pi i j k / n)         DFT; the inverse has + and 1 / n
 *
 * Complex numbers are pairs in the last axis; a real signal has one number there. Sums are direct,
 * in double, with a table of the n roots of unity: short windows are what networks have. Opset 20
 * made DFT's axis an input. Both are linear, so backward is the transposed sum.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <math.h>

typedef struct fourier_params {
    int64_t outer, length, inner; /* DFT: the input as (outer, length, inner, parts) */
    int64_t size, bins;           /* n, and how many k are wanted */
    int64_t parts;                /* 1: real input, 2: complex */
    int64_t frames, step;         /* STFT */
    bool inverse, has_window;
} fourier_params;

typedef struct fourier_root {
    double cosine, sine;
} fourier_root;

/* One transform: where its numbers lie. Steps count pairs or singles. */
typedef struct fourier_line {
    const fourier_params *p;
    const fourier_root *roots;
    int64_t count;         /* input elements, at most n; those missing are 0 */
    int64_t in_step, step; /* of input and output */
    const px_real *window; /* NULL: none */
} fourier_line;

static px_status fourier_size(px_op_ctx *ctx, fourier_params *p, px_error *err)
{
    if (p->size < 1 || p->size > INT32_MAX)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "a transform of %lld numbers is not possible",
                           (long long)p->size);
    return pxi_nn_bytes(ctx, p->size, sizeof(fourier_root), &ctx->scratch_bytes, err);
}

/* A constant scalar input. */
static px_status fourier_scalar(px_op_ctx *ctx, int input, int64_t *out, px_error *err)
{
    const int64_t *values;
    int64_t count;
    PX_TRY(pxi_op_const_ints(ctx, input, &values, &count, err));
    if (count != 1)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d has %lld elements, expected one",
                           input, (long long)count);
    *out = values[0];
    return PX_OK;
}

static px_status dft_setup(px_op_ctx *ctx, int64_t axis, px_error *err)
{
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_rank(ctx, 0, 2, PX_MAX_RANK, err));
    PX_TRY(pxi_op_params(ctx, sizeof(fourier_params), err));
    fourier_params *p = ctx->params;
    const px_shape *x = &ctx->in[0].shape;
    int at = 0;
    PX_TRY(pxi_op_axis(ctx, axis, x->rank, &at, err));
    p->parts = x->dim[x->rank - 1];
    if (at == x->rank - 1 || p->parts < 1 || p->parts > 2)
        return pxi_op_fail(
            ctx, err, PX_E_INPUT,
            "its last axis should hold one number or a pair, and is not transformed");
    p->inverse = px_node_int(ctx->node, "inverse", 0) != 0;
    const bool onesided = px_node_int(ctx->node, "onesided", 0) != 0;
    if (onesided && (p->inverse || p->parts == 2))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "half a spectrum of anything but a real signal's DFT is not supported");
    p->outer = p->inner = 1;
    for (int i = 0; i < x->rank - 1; i++)
        if (i != at)
            *(i < at ? &p->outer : &p->inner) *= x->dim[i];
    p->size = p->length = x->dim[at];
    if (pxi_op_has_in(ctx, 1))
        PX_TRY(fourier_scalar(ctx, 1, &p->size, err));
    PX_TRY(fourier_size(ctx, p, err));
    p->bins = onesided ? p->size / 2 + 1 : p->size;
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = *x};
    ctx->out[0].shape.dim[at] = p->bins;
    ctx->out[0].shape.dim[x->rank - 1] = 2;
    return PX_OK;
}

static px_status dft_setup_17(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 2, 1, 1, err));
    return dft_setup(ctx, px_node_int(ctx->node, "axis", 1), err);
}

static px_status dft_setup_20(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 3, 1, 1, err));
    int64_t axis = -2;
    if (pxi_op_has_in(ctx, 2))
        PX_TRY(fourier_scalar(ctx, 2, &axis, err));
    return dft_setup(ctx, axis, err);
}

static px_status stft_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 4, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_float(ctx, 2, 2, err));
    PX_TRY(pxi_op_params(ctx, sizeof(fourier_params), err));
    fourier_params *p = ctx->params;
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_nn_rank(ctx, 0, 2, 3, err)); /* (batch, length) too: the text's own example */
    p->outer = x->dim[0];
    p->length = x->dim[1];
    p->parts = x->rank == 3 ? x->dim[2] : 1;
    p->inner = 1;
    const bool onesided = px_node_int(ctx->node, "onesided", 1) != 0;
    if (p->parts < 1 || p->parts > 2 || (onesided && p->parts == 2))
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its signal should be real, or complex with onesided = 0");
    PX_TRY(fourier_scalar(ctx, 1, &p->step, err));
    p->has_window = pxi_op_has_in(ctx, 2);
    if (pxi_op_has_in(ctx, 3))
        PX_TRY(fourier_scalar(ctx, 3, &p->size, err));
    else if (p->has_window)
        p->size = ctx->in[2].shape.rank == 1 ? ctx->in[2].shape.dim[0] : 0;
    PX_TRY(pxi_nn_shape(ctx, 2, "the window", 1, &p->size, err));
    PX_TRY(fourier_size(ctx, p, err));
    if (p->step < 1 || p->size > p->length)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "frames of %lld every %lld do not fit a signal of %lld",
                           (long long)p->size, (long long)p->step, (long long)p->length);
    p->frames = (p->length - p->size) / p->step + 1;
    p->bins = onesided ? p->size / 2 + 1 : p->size;
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32,
                              .shape = {.rank = 4, .dim = {p->outer, p->frames, p->bins, 2}}};
    return PX_OK;
}

static const fourier_root *fourier_roots(const px_op_ctx *ctx)
{
    const fourier_params *p = ctx->params;
    fourier_root *roots = ctx->scratch;
    for (int64_t i = 0; i < p->size; i++) {
        const double angle = 2.0 * M_PI * (double)i / (double)p->size;
        roots[i] = (fourier_root){cos(angle), p->inverse ? -sin(angle) : sin(angle)};
    }
    return roots;
}

static double line_scale(const fourier_line *l, int64_t j)
{
    return (l->p->inverse ? 1.0 / (double)l->p->size : 1.0) *
           (l->window ? (double)l->window[j] : 1.0);
}

static void line_forward(const fourier_line *l, const px_real *x, px_real *y)
{
    const fourier_params *p = l->p;
    for (int64_t k = 0; k < p->bins; k++) {
        double re = 0.0, im = 0.0;
        for (int64_t j = 0; j < l->count; j++) {
            const fourier_root root = l->roots[j * k % p->size];
            const px_real *from = x + j * l->in_step * p->parts;
            const double a = (double)from[0] * line_scale(l, j);
            const double b = p->parts == 2 ? (double)from[1] * line_scale(l, j) : 0.0;
            re += a * root.cosine + b * root.sine;
            im += b * root.cosine - a * root.sine;
        }
        y[2 * k * l->step] = (px_real)re;
        y[2 * k * l->step + 1] = (px_real)im;
    }
}

/* dx and dwindow may be NULL. */
static void line_backward(const fourier_line *l, const px_real *x, const px_real *dy, px_real *dx,
                          px_real *dwindow)
{
    const fourier_params *p = l->p;
    for (int64_t j = 0; j < l->count; j++) {
        const int64_t at = j * l->in_step * p->parts;
        double da = 0.0, db = 0.0;
        for (int64_t k = 0; k < p->bins; k++) {
            const fourier_root root = l->roots[j * k % p->size];
            const double re = (double)dy[2 * k * l->step], im = (double)dy[2 * k * l->step + 1];
            da += re * root.cosine - im * root.sine;
            db += re * root.sine + im * root.cosine;
        }
        if (dwindow)
            dwindow[j] +=
                (px_real)((double)x[at] * da + (p->parts == 2 ? (double)x[at + 1] * db : 0.0));
        if (dx)
            dx[at] += (px_real)(da * line_scale(l, j));
        if (dx && p->parts == 2)
            dx[at + 1] += (px_real)(db * line_scale(l, j));
    }
}

static fourier_line dft_line(const px_op_ctx *ctx)
{
    const fourier_params *p = ctx->params;
    return (fourier_line){.p = p,
                          .roots = fourier_roots(ctx),
                          .count = p->length < p->size ? p->length : p->size,
                          .in_step = p->inner,
                          .step = p->inner};
}

static px_status dft_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const fourier_params *p = ctx->params;
    const fourier_line line = dft_line(ctx);
    for (int64_t o = 0; o < p->outer; o++)
        for (int64_t i = 0; i < p->inner; i++)
            line_forward(&line, PXI_F32(ctx->in[0]) + (o * p->length * p->inner + i) * p->parts,
                         PXI_F32(ctx->out[0]) + (o * p->bins * p->inner + i) * 2);
    return PX_OK;
}

static void dft_backward(const px_op_ctx *ctx)
{
    const fourier_params *p = ctx->params;
    if (!ctx->out_grad[0].data || !pxi_op_wants_grad(ctx, 0))
        return;
    const fourier_line line = dft_line(ctx);
    for (int64_t o = 0; o < p->outer; o++)
        for (int64_t i = 0; i < p->inner; i++) {
            const int64_t from = (o * p->length * p->inner + i) * p->parts;
            line_backward(&line, PXI_F32(ctx->in[0]) + from,
                          PXI_F32(ctx->out_grad[0]) + (o * p->bins * p->inner + i) * 2,
                          PXI_F32(ctx->in_grad[0]) + from, NULL);
        }
}

static fourier_line stft_line(const px_op_ctx *ctx)
{
    const fourier_params *p = ctx->params;
    return (fourier_line){.p = p,
                          .roots = fourier_roots(ctx),
                          .count = p->size,
                          .in_step = 1,
                          .step = 1,
                          .window = p->has_window ? PXI_F32(ctx->in[2]) : NULL};
}

static px_status stft_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const fourier_params *p = ctx->params;
    const fourier_line line = stft_line(ctx);
    for (int64_t b = 0; b < p->outer; b++)
        for (int64_t f = 0; f < p->frames; f++)
            line_forward(&line, PXI_F32(ctx->in[0]) + (b * p->length + f * p->step) * p->parts,
                         PXI_F32(ctx->out[0]) + (b * p->frames + f) * p->bins * 2);
    return PX_OK;
}

static void stft_backward(const px_op_ctx *ctx)
{
    const fourier_params *p = ctx->params;
    if (!ctx->out_grad[0].data)
        return;
    const fourier_line line = stft_line(ctx);
    px_real *dx = pxi_op_wants_grad(ctx, 0) ? PXI_F32(ctx->in_grad[0]) : NULL;
    px_real *dwindow = p->has_window && pxi_op_wants_grad(ctx, 2) ? PXI_F32(ctx->in_grad[2]) : NULL;
    for (int64_t b = 0; b < p->outer; b++)
        for (int64_t f = 0; f < p->frames; f++) {
            const int64_t from = (b * p->length + f * p->step) * p->parts;
            line_backward(&line, PXI_F32(ctx->in[0]) + from,
                          PXI_F32(ctx->out_grad[0]) + (b * p->frames + f) * p->bins * 2,
                          dx ? dx + from : NULL, dwindow);
        }
}

const px_op px_op_dft_17 = {
    .name = "DFT",
    .since = 17,
    .diff = PX_DIFF_YES,
    .setup = dft_setup_17,
    .forward = dft_forward,
    .backward = dft_backward,
};

const px_op px_op_dft_20 = {
    .name = "DFT",
    .since = 20,
    .diff = PX_DIFF_YES,
    .setup = dft_setup_20,
    .forward = dft_forward,
    .backward = dft_backward,
};

const px_op px_op_stft_17 = {
    .name = "STFT",
    .since = 17,
    .diff = PX_DIFF_YES,
    .setup = stft_setup,
    .forward = stft_forward,
    .backward = stft_backward,
};
