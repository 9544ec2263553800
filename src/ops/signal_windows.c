/* src/ops/signal_windows.c - HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix (opset 17)
 *
 * A window's N points, N - 1 in the divisor when it is symmetric:
 *
 *     w(i) = a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N)
 *
 * MelWeightMatrix: triangles over the bins of a spectrum, evenly spaced in mel = 2595 log10(1 + f /
 * 700), their edges rounded down to bins as in the reference.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <math.h>

typedef struct window_params {
    int64_t size;
    bool periodic;
} window_params;

static px_status scalar_input(px_op_ctx *ctx, int input, int64_t *out, px_error *err)
{
    const int64_t *values;
    int64_t count;
    PX_TRY(pxi_op_const_ints(ctx, input, &values, &count, err));
    if (count != 1 || values[0] < 0 || values[0] > INT32_MAX)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d should be one positive number",
                           input);
    *out = values[0];
    return PX_OK;
}

/* output_datatype; half precision is float32 inside, as everywhere. */
static px_status real_type(px_op_ctx *ctx, px_error *err)
{
    const int64_t dtype = px_node_int(ctx->node, "output_datatype", PX_FLOAT32);
    if (dtype != PX_FLOAT32 && dtype != PX_FLOAT64 && dtype != PX_FLOAT16 && dtype != PX_BFLOAT16)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "numbers of data type %lld are not supported", (long long)dtype);
    ctx->out[0].dtype = dtype == PX_FLOAT64 ? PX_FLOAT64 : PX_FLOAT32;
    return PX_OK;
}

static void real_store(const px_tensor *out, int64_t i, double value)
{
    if (out->dtype == PX_FLOAT64)
        ((double *)out->data)[i] = value;
    else
        PXI_F32(*out)[i] = (px_real)value;
}

static px_status window_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(window_params), err));
    window_params *p = ctx->params;
    PX_TRY(scalar_input(ctx, 0, &p->size, err));
    p->periodic = px_node_int(ctx->node, "periodic", 1) != 0;
    ctx->out[0].shape = (px_shape){.rank = 1, .dim = {p->size}};
    return real_type(ctx, err);
}

static px_status window_fill(const px_op_ctx *ctx, double a0, double a1, double a2)
{
    const window_params *p = ctx->params;
    const int64_t divisor = p->periodic ? p->size : p->size - 1;
    for (int64_t i = 0; i < p->size; i++) {
        const double angle = divisor > 0 ? 2.0 * M_PI * (double)i / (double)divisor : M_PI;
        real_store(&ctx->out[0], i, a0 - a1 * cos(angle) + a2 * cos(2.0 * angle));
    }
    return PX_OK;
}

static px_status hann_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return window_fill(ctx, 0.5, 0.5, 0.0);
}

static px_status hamming_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return window_fill(ctx, 25.0 / 46.0, 1.0 - 25.0 / 46.0, 0.0);
}

static px_status blackman_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return window_fill(ctx, 0.42, 0.5, 0.08);
}

typedef struct mel_params {
    int64_t bands, dft_length, sample_rate, bins;
} mel_params;

static px_status mel_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 5, 5, 1, 1, err));
    PX_TRY(pxi_nn_float(ctx, 3, 4, err));
    PX_TRY(pxi_op_params(ctx, sizeof(mel_params), err));
    mel_params *p = ctx->params;
    PX_TRY(scalar_input(ctx, 0, &p->bands, err));
    PX_TRY(scalar_input(ctx, 1, &p->dft_length, err));
    PX_TRY(scalar_input(ctx, 2, &p->sample_rate, err));
    for (int i = 3; i <= 4; i++)
        if (px_shape_count(&ctx->in[i].shape) != 1)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d should be one number", i);
    if (p->sample_rate == 0)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its sample rate is 0");
    p->bins = p->dft_length / 2 + 1;
    ctx->out[0].shape = (px_shape){.rank = 2, .dim = {p->bins, p->bands}};
    return real_type(ctx, err);
}

static double mel_of(double hertz)
{
    return 2595.0 * log10(1.0 + hertz / 700.0);
}

/* The bin of edge `i` of bands + 2 edges; outside the spectrum: its nearest end. */
static int64_t mel_bin(const mel_params *p, double low, double high, int64_t i)
{
    const double step = (high - low) / (double)(p->bands + 2);
    const double hertz = 700.0 * (pow(10.0, ((double)i * step + low) / 2595.0) - 1.0);
    const double bin = floor((double)(p->dft_length + 1) * hertz / (double)p->sample_rate);
    return !(bin > 0.0) ? 0 : bin > (double)(p->bins - 1) ? p->bins - 1 : (int64_t)bin;
}

static px_status mel_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const mel_params *p = ctx->params;
    const double low = mel_of((double)PXI_F32(ctx->in[3])[0]);
    const double high = mel_of((double)PXI_F32(ctx->in[4])[0]);
    for (int64_t i = 0; i < p->bins * p->bands; i++)
        real_store(&ctx->out[0], i, 0.0);
    for (int64_t band = 0; band < p->bands; band++) {
        const int64_t left = mel_bin(p, low, high, band), middle = mel_bin(p, low, high, band + 1);
        const int64_t right = mel_bin(p, low, high, band + 2);
        if (left == middle)
            real_store(&ctx->out[0], middle * p->bands + band, 1.0);
        for (int64_t j = left; left < middle && j <= middle; j++)
            real_store(&ctx->out[0], j * p->bands + band,
                       (double)(j - left) / (double)(middle - left));
        for (int64_t j = middle; j < right; j++)
            real_store(&ctx->out[0], j * p->bands + band,
                       (double)(right - j) / (double)(right - middle));
    }
    return PX_OK;
}

const px_op px_op_hannwindow_17 = {
    .name = "HannWindow",
    .since = 17,
    .diff = PX_DIFF_ZERO,
    .setup = window_setup,
    .forward = hann_forward,
};

const px_op px_op_hammingwindow_17 = {
    .name = "HammingWindow",
    .since = 17,
    .diff = PX_DIFF_ZERO,
    .setup = window_setup,
    .forward = hamming_forward,
};

const px_op px_op_blackmanwindow_17 = {
    .name = "BlackmanWindow",
    .since = 17,
    .diff = PX_DIFF_ZERO,
    .setup = window_setup,
    .forward = blackman_forward,
};

const px_op px_op_melweightmatrix_17 = {
    .name = "MelWeightMatrix",
    .since = 17,
    .setup = mel_setup,
    .forward = mel_forward,
};
