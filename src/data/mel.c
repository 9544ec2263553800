/* src/data/mel.c - log-mel features of a recording
 *
 * In the tradition of Deep Speaker and python_speech_features (LGR B.8): pre-emphasis, frames
 * without padding at either end, a symmetric window, the power spectrum |X|^2 / n_fft, triangles
 * that are straight in Hz between points that are equally far apart in mel, ln(max(., floor)).
 * Normalisation sees all frames of the clip, before some are left out or repeated. Everything is
 * computed in double; the same clip gives the same floats whatever the thread.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/audio.h>

#include "base/memory.h"
#include "data/real_fft.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;
static const double LEAST_DEVIATION = 1e-5; /* of features; below there is nothing to see */

typedef struct mel_filter {
    int first, count; /* bins */
    size_t weights;   /* where in px_frontend.weights */
} mel_filter;

struct px_frontend {
    px_audio audio;
    pxi_real_fft *fft;
    double *window;
    mel_filter *filters;
    double *weights;
    size_t weight_count, weight_capacity;
};

/* --- filters --------------------------------------------------------------------------------- */

/* Slaney's Auditory Toolbox: straight up to 1000 Hz, then 27 steps for a factor of 6.4. */
static const double SLANEY_LINEAR = 200.0 / 3.0, SLANEY_BREAK = 1000.0;

static double mel_from_hz(int scale, double hz)
{
    if (scale == PX_MEL_HTK)
        return 2595.0 * log10(1.0 + hz / 700.0);
    if (hz < SLANEY_BREAK)
        return hz / SLANEY_LINEAR;
    return SLANEY_BREAK / SLANEY_LINEAR + 27.0 * log(hz / SLANEY_BREAK) / log(6.4);
}

static double mel_to_hz(int scale, double mel)
{
    if (scale == PX_MEL_HTK)
        return 700.0 * (pow(10.0, mel / 2595.0) - 1.0);
    const double at_break = SLANEY_BREAK / SLANEY_LINEAR;
    if (mel < at_break)
        return mel * SLANEY_LINEAR;
    return SLANEY_BREAK * exp((mel - at_break) * log(6.4) / 27.0);
}

static px_status mel_filter_make(px_frontend *f, int index, const double edge[3], px_error *err)
{
    const px_audio *a = &f->audio;
    mel_filter *filter = &f->filters[index];
    const double height = a->mel_norm == PX_MEL_NORM_SLANEY ? 2.0 / (edge[2] - edge[0]) : 1.0;
    filter->weights = f->weight_count;
    for (int bin = 0; bin <= a->n_fft / 2; bin++) {
        const double hz = (double)bin * a->sample_rate / a->n_fft;
        const double up = (hz - edge[0]) / (edge[1] - edge[0]);
        const double down = (edge[2] - hz) / (edge[2] - edge[1]);
        const double weight = PX_MIN(up, down);
        if (!(weight > 0.0))
            continue;
        if (pxi_grow(&f->weights, &f->weight_capacity, f->weight_count + 1, sizeof *f->weights))
            return pxi_no_memory(err);
        if (!filter->count++)
            filter->first = bin;
        f->weights[f->weight_count++] = weight * height;
    }
    if (!filter->count)
        return px_fail(err, PX_E_USAGE,
                       "mel filter %d, from %.0f to %.0f Hz, lies between two points of the "
                       "spectrum; use fewer n_mels than %d, or a larger n_fft than %d",
                       index, edge[0], edge[2], a->n_mels, a->n_fft);
    return PX_OK;
}

static px_status mel_filters_make(px_frontend *f, px_error *err)
{
    const px_audio *a = &f->audio;
    const double low = mel_from_hz(a->mel_scale, a->f_min);
    const double high = mel_from_hz(a->mel_scale, a->f_max);
    for (int i = 0; i < a->n_mels; i++) {
        double edge[3];
        for (int k = 0; k < 3; k++)
            edge[k] = mel_to_hz(a->mel_scale, low + (high - low) * (i + k) / (a->n_mels + 1));
        PX_TRY(mel_filter_make(f, i, edge, err));
    }
    return PX_OK;
}

/* --- making ---------------------------------------------------------------------------------- */

static void window_fill(double *window, int length, int kind)
{
    for (int i = 0; i < length; i++) {
        const double c = cos(2.0 * PI * i / (length - 1));
        window[i] = kind == PX_WINDOW_HAMMING ? 0.54 - 0.46 * c
                    : kind == PX_WINDOW_HANN  ? 0.5 - 0.5 * c
                                              : 1.0;
    }
}

px_status px_frontend_new(const px_audio *audio, px_frontend **out, px_error *err)
{
    px_frontend *f = NULL;
    PX_TRY(PX_NEW(f, 1, err));
    f->audio = *audio;
    f->window = pxi_calloc((size_t)audio->win_length, sizeof *f->window);
    f->filters = pxi_calloc((size_t)audio->n_mels, sizeof *f->filters);
    px_status status = f->window && f->filters ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, pxi_real_fft_new(audio->n_fft, &f->fft, err));
    PX_THEN(status, mel_filters_make(f, err));
    if (status != PX_OK) {
        px_frontend_free(f);
        return status;
    }
    window_fill(f->window, audio->win_length, audio->window);
    *out = f;
    return PX_OK;
}

void px_frontend_free(px_frontend *f)
{
    if (!f)
        return;
    pxi_real_fft_free(f->fft);
    free(f->window);
    free(f->filters);
    free(f->weights);
    free(f);
}

/* --- running --------------------------------------------------------------------------------- */

/* One frame from `start` on; beyond the end is silence. `work` has room for n_fft, `power` for
 * n_fft / 2 + 1. */
static void frame_features(const px_frontend *f, const float *samples, size_t count, size_t start,
                           double *work, double *power, double *features)
{
    const px_audio *a = &f->audio;
    const int bins = a->n_fft / 2 + 1;
    for (int i = 0; i < a->n_fft; i++) {
        const size_t at = start + (size_t)i;
        work[i] = 0.0;
        if (i < a->win_length && at < count) {
            const double before = at ? (double)samples[at - 1] : 0.0;
            work[i] = ((double)samples[at] - a->preemphasis * before) * f->window[i];
        }
    }
    pxi_real_fft_power(f->fft, work, power);
    for (int b = 0; b < bins; b++)
        power[b] /= a->n_fft;
    for (int m = 0; m < a->n_mels; m++) {
        const mel_filter *filter = &f->filters[m];
        const double *weight = f->weights + filter->weights;
        double sum = 0.0;
        for (int b = 0; b < filter->count; b++)
            sum += weight[b] * power[filter->first + b];
        features[m] = log(sum < a->log_floor ? a->log_floor : sum); /* NaN goes through */
    }
}

/* Mean 0 and deviation 1 of `count` values that lie `step` apart. */
static void normalize_line(double *values, size_t count, size_t step)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += values[i * step];
    mean /= (double)count;
    for (size_t i = 0; i < count; i++)
        square += (values[i * step] - mean) * (values[i * step] - mean);
    const double deviation = sqrt(square / (double)count);
    const double by = deviation < LEAST_DEVIATION ? 0.0 : 1.0 / deviation;
    for (size_t i = 0; i < count; i++)
        values[i * step] = (values[i * step] - mean) * by;
}

static void normalize_all(int how, double *values, size_t frames, size_t bins)
{
    if (how == PX_NORMALIZE_UTTERANCE)
        normalize_line(values, frames * bins, 1);
    for (size_t b = 0; how == PX_NORMALIZE_BIN && b < bins; b++)
        normalize_line(values + b, frames, bins);
    for (size_t t = 0; how == PX_NORMALIZE_FRAME && t < frames; t++)
        normalize_line(values + t * bins, bins, 1);
}

static void frames_fit(const px_audio *a, const double *from, size_t have, float *to)
{
    const size_t want = (size_t)a->frames, bins = (size_t)a->n_mels;
    const size_t skip = have > want ? (have - want) / 2 : 0;
    const double blank = a->normalize == PX_NORMALIZE_NONE ? log(a->log_floor) : 0.0;
    for (size_t t = 0; t < want; t++)
        for (size_t b = 0; b < bins; b++)
            to[t * bins + b] =
                (float)(t < have || a->fit == PX_FIT_REPEAT ? from[(skip + t % have) * bins + b]
                                                            : blank);
}

px_status px_frontend_run(const px_frontend *f, const float *samples, size_t count, float *features,
                          px_error *err)
{
    const px_audio *a = &f->audio;
    const size_t win = (size_t)a->win_length, hop = (size_t)a->hop_length;
    const size_t bins = (size_t)a->n_mels, points = (size_t)a->n_fft;
    assert(count > 0);
    const size_t have = count > win ? 1 + (count - win) / hop : 1;
    double *work = pxi_calloc(have, bins * sizeof *work);
    double *scratch = pxi_calloc(2 * points + 2, sizeof *scratch);
    px_status status = PX_OK;
    if (!work || !scratch) {
        status = pxi_no_memory_for(err, "%zu frames", have);
        goto done;
    }
    for (size_t t = 0; t < have; t++)
        frame_features(f, samples, count, t * hop, scratch, scratch + points, work + t * bins);
    normalize_all(a->normalize, work, have, bins);
    frames_fit(a, work, have, features);
done:
    free(work);
    free(scratch);
    return status;
}
