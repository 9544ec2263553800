/* src/mutate/mut_audio.c - changes of a recording that leave alone what is said, and by whom
 *
 * Samples of 16 bits in and out, rounded to the nearest (halves away from zero) and clipped, so a
 * mutant can be listened to as it was judged, and a chain is: apply, keep the samples, apply to
 * those. Lengths are shares of the recording, so that they mean the same at every sample rate.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/plain_math.h"
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static const double LN10 = 2.302585092994046;

static int16_t audio_sample(double v)
{
    if (v >= 32767.0)
        return 32767;
    return v <= -32768.0 ? -32768 : (int16_t)(v < 0.0 ? v - 0.5 : v + 0.5);
}

/* 10^(decibels / 20); pxi_exp() is for arguments up to 0. */
static double audio_factor(double decibels)
{
    const double x = decibels * LN10 / 20.0;
    return x <= 0.0 ? pxi_exp(x) : 1.0 / pxi_exp(-x);
}

/* --- noise ----------------------------------------------------------------------------------- */

static const px_param noise_params[] = {
    PXI_DRAWN_REAL("snr", -20, 120, "decibels that the recording is louder than the noise"),
    PXI_DRAWN_INT("seed", 0, UINT32_MAX, "of the random numbers it uses"),
    PX_PARAM_END,
};

static px_status audio_noise_apply(const double *v, const int16_t *in, int16_t *out, size_t count,
                                   px_error *err)
{
    (void)err;
    double energy = 0.0;
    px_random random = px_rng((uint64_t)v[1], PX_RNG_MUTATE_NOISE, 0, 0);
    for (size_t i = 0; i < count; i++)
        energy += (double)in[i] * in[i]; /* whole numbers: exact in any order */
    const double sigma = sqrt(energy / (double)count) * audio_factor(-v[0]);
    for (size_t first = 0; first < count; first += PXI_NORMALS) {
        const size_t end = PX_MIN(count, first + PXI_NORMALS);
        double normals[PXI_NORMALS];
        pxi_normals(&random, normals, end - first);
        for (size_t i = first; i < end; i++)
            out[i] = audio_sample(in[i] + sigma * normals[i - first]);
    }
    return PX_OK;
}

const px_mutation px_mutation_audio_noise = {
    .entry = {.id = "audio-noise",
              .title = "white noise, so many decibels below the recording",
              .params = noise_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply_samples = audio_noise_apply,
};

/* --- gain ------------------------------------------------------------------------------------ */

static const px_param gain_params[] = {
    PXI_DRAWN_REAL("db", -60, 60, "decibels louder; negative: quieter"),
    PX_PARAM_END,
};

static px_status audio_gain_apply(const double *v, const int16_t *in, int16_t *out, size_t count,
                                  px_error *err)
{
    (void)err;
    const double factor = audio_factor(v[0]);
    for (size_t i = 0; i < count; i++)
        out[i] = audio_sample(factor * in[i]);
    return PX_OK;
}

const px_mutation px_mutation_audio_gain = {
    .entry = {.id = "audio-gain",
              .title = "louder or quieter; what is too loud is clipped",
              .params = gain_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply_samples = audio_gain_apply,
};

/* --- shift ----------------------------------------------------------------------------------- */

static const px_param shift_params[] = {
    PXI_DRAWN_REAL("by", -1, 1, "share of the recording that it begins later; negative: earlier"),
    PX_PARAM_END,
};

static px_status audio_shift_apply(const double *v, const int16_t *in, int16_t *out, size_t count,
                                   px_error *err)
{
    (void)err;
    const size_t steps = (size_t)(fabs(v[0]) * (double)count + 0.5);
    const size_t moved = PX_MIN(steps, count), kept = count - moved;
    memset(out, 0, count * sizeof *out);
    if (v[0] >= 0.0)
        memcpy(out + moved, in, kept * sizeof *out);
    else
        memcpy(out, in + moved, kept * sizeof *out);
    return PX_OK;
}

/* A frame more or less at the ends is not looked at: how long one is, the values do not say. */
static void audio_shift_source(const double *v, int height, int width, double map[6])
{
    (void)width;
    const double m[6] = {1, 0, 0, 0, 1, -v[0] * height};
    memcpy(map, m, sizeof m);
}

const px_mutation px_mutation_audio_shift = {
    .entry = {.id = "audio-shift",
              .title = "moved in time, silence where it came from",
              .params = shift_params},
    .group = PX_MUTATION_AFFINE,
    .apply_samples = audio_shift_apply,
    .source = audio_shift_source,
};

/* --- mask ------------------------------------------------------------------------------------ */

static const px_param mask_params[] = {
    PXI_DRAWN_REAL("at", 0, 1, "where it begins, as a share of the recording"),
    PXI_DRAWN_REAL("length", 0, 1, "as a share of the recording"),
    PX_PARAM_END,
};

static px_status audio_mask_apply(const double *v, const int16_t *in, int16_t *out, size_t count,
                                  px_error *err)
{
    (void)err;
    const size_t from = PX_MIN(count, (size_t)(v[0] * (double)count + 0.5));
    const size_t length = PX_MIN(count - from, (size_t)(v[1] * (double)count + 0.5));
    memcpy(out, in, count * sizeof *out);
    memset(out + from, 0, length * sizeof *out);
    return PX_OK;
}

const px_mutation px_mutation_audio_mask = {
    .entry = {.id = "audio-mask", .title = "silence for a moment", .params = mask_params},
    .group = PX_MUTATION_PIXEL,
    .apply_samples = audio_mask_apply,
};
