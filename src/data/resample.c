/* src/data/resample.c - another sample rate: a polyphase filter, a sinc under a Kaiser window
 *
 * From rate a to rate b, with b / a = up / down in lowest terms: the filter runs at a * up, its
 * cut-off a little below half of the lower rate, and only the outputs that are kept are computed,
 * each from every up-th coefficient. Both ends are as if silence surrounded the clip; outputs are
 * aligned with inputs (no delay), ceil(count * up / down) of them: scipy.signal.resample_poly().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/recording.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

enum {
    ZERO_CROSSINGS = 32, /* of the sinc, on each side */
    FACTOR_MAX = 16384,  /* of `up` and `down`: 44100 to 48000 Hz needs 160 */
};
static const double ROLL_OFF = 0.945; /* where the cut-off is, of half the lower rate */
static const double BETA = 8.6;       /* Kaiser: side lobes below -85 dB */

struct pxi_resampler {
    int64_t up, down, half; /* half: coefficients on each side of the middle */
    double *filter;         /* 2 * half + 1 */
};

/* The modified Bessel function of order 0, by its series, which ends soon for such arguments. */
static double bessel_0(double x)
{
    double sum = 1.0, term = 1.0;
    for (int k = 1; k < 64 && term > 1e-18 * sum; k++) {
        term *= x / 2.0 / k;
        term *= x / 2.0 / k;
        sum += term;
        /* term is ((x/2)^k / k!)^2 */
    }
    return sum;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

px_status pxi_resampler_new(int from, int to, pxi_resampler **out, px_error *err)
{
    const int64_t common = common_divisor(from, to), up = to / common, down = from / common;
    const int64_t larger = PX_MAX(up, down);
    if (larger > FACTOR_MAX)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "%d Hz cannot be made %d Hz: their ratio has no small terms; choose another "
                       "sample_rate",
                       from, to);
    pxi_resampler *r = NULL;
    PX_TRY(PX_NEW(r, 1, err));
    *r = (pxi_resampler){.up = up, .down = down, .half = ZERO_CROSSINGS * larger};
    r->filter = pxi_calloc(2 * (size_t)r->half + 1, sizeof *r->filter);
    if (!r->filter) {
        free(r);
        return pxi_no_memory(err);
    }
    double sum = 0.0;
    for (int64_t n = -r->half; n <= r->half; n++) {
        const double x = ROLL_OFF * (double)n / (double)larger, at = (double)n / (double)r->half;
        const double sinc = n ? sin(PI * x) / (PI * x) : 1.0;
        const double window = bessel_0(BETA * sqrt(PX_MAX(0.0, 1.0 - at * at))) / bessel_0(BETA);
        r->filter[n + r->half] = sinc * window;
        sum += sinc * window;
    }
    for (int64_t n = 0; n <= 2 * r->half; n++)
        r->filter[n] *= (double)up / sum; /* a constant stays what it is */
    *out = r;
    return PX_OK;
}

void pxi_resampler_free(pxi_resampler *resampler)
{
    if (resampler)
        free(resampler->filter);
    free(resampler);
}

px_status pxi_resampler_run(const pxi_resampler *r, pxi_clip *clip, px_error *err)
{
    const int64_t count = (clip->count * r->up + r->down - 1) / r->down;
    if (count > PXI_AUDIO_SAMPLES_MAX)
        return px_fail(err, PX_E_INPUT, "%lld samples are too many; at most %lld are made",
                       (long long)count, (long long)PXI_AUDIO_SAMPLES_MAX);
    float *made = NULL;
    PX_TRY(PX_NEW(made, count, err));
    for (int64_t m = 0; m < count; m++) {
        const int64_t middle = m * r->down; /* in the fast rate; input i lies at i * up */
        const int64_t reach = middle - r->half;
        const int64_t first = reach <= 0 ? 0 : (reach + r->up - 1) / r->up;
        const int64_t last = PX_MIN((middle + r->half) / r->up, clip->count - 1);
        double sum = 0.0;
        for (int64_t i = first; i <= last; i++)
            sum += (double)clip->samples[i] * r->filter[middle - i * r->up + r->half];
        made[m] = (float)sum;
    }
    free(clip->samples);
    *clip = (pxi_clip){(int)(clip->rate / r->down * r->up), count, made};
    return PX_OK;
}
