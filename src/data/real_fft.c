/* src/data/real_fft.c - the power spectrum of real numbers, a power of 2 of them
 *
 * Even and odd values are the real and imaginary parts of half as many complex numbers; those go
 * through an iterative radix-2 transform, and one step tells the two halves apart again. Of 512
 * points this takes a few microseconds, less than what comes before and after it, so it is no more
 * clever than that.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/real_fft.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

struct pxi_real_fft {
    size_t half;   /* complex points */
    size_t *place; /* bits reversed */
    double *turn;  /* cos and sin of 2 pi k / points, k below half */
};

px_status pxi_real_fft_new(int points, pxi_real_fft **out, px_error *err)
{
    const size_t half = (size_t)points / 2;
    pxi_real_fft *fft = pxi_calloc(1, sizeof *fft);
    if (fft) {
        fft->half = half;
        fft->place = pxi_calloc(half, sizeof *fft->place);
        fft->turn = pxi_calloc(2 * half, sizeof *fft->turn);
    }
    if (!fft || !fft->place || !fft->turn) {
        pxi_real_fft_free(fft);
        return pxi_no_memory(err);
    }
    for (size_t i = 1; i < half; i++)
        fft->place[i] = fft->place[i / 2] / 2 + (i % 2 ? half / 2 : 0);
    for (size_t k = 0; k < half; k++) {
        fft->turn[2 * k] = cos(PI * (double)k / (double)half);
        fft->turn[2 * k + 1] = sin(PI * (double)k / (double)half);
    }
    *out = fft;
    return PX_OK;
}

void pxi_real_fft_free(pxi_real_fft *fft)
{
    if (!fft)
        return;
    free(fft->place);
    free(fft->turn);
    free(fft);
}

static void fft_complex(const pxi_real_fft *fft, double *z)
{
    for (size_t i = 0; i < fft->half; i++) {
        const size_t j = fft->place[i];
        for (size_t part = 0; i < j && part < 2; part++) {
            const double v = z[2 * i + part];
            z[2 * i + part] = z[2 * j + part];
            z[2 * j + part] = v;
        }
    }
    for (size_t length = 1; length < fft->half; length *= 2) {
        const size_t step = fft->half / length; /* in `turn`, which is for twice `half` */
        for (size_t start = 0; start < fft->half; start += 2 * length)
            for (size_t k = 0; k < length; k++) {
                const double c = fft->turn[2 * k * step], s = -fft->turn[2 * k * step + 1];
                double *a = z + 2 * (start + k), *b = a + 2 * length;
                const double re = b[0] * c - b[1] * s, im = b[0] * s + b[1] * c;
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
    }
}

void pxi_real_fft_power(const pxi_real_fft *fft, double *x, double *power)
{
    const size_t half = fft->half;
    fft_complex(fft, x);
    const double sum = x[0] + x[1], difference = x[0] - x[1];
    power[0] = sum * sum;
    power[half] = difference * difference;
    for (size_t k = 1; k < half; k++) { /* E is of the even values, O of the odd ones */
        const double *z = x + 2 * k, *w = x + 2 * (half - k);
        const double e_re = (z[0] + w[0]) / 2.0, e_im = (z[1] - w[1]) / 2.0;
        const double o_re = (z[1] + w[1]) / 2.0, o_im = (w[0] - z[0]) / 2.0;
        const double c = fft->turn[2 * k], s = -fft->turn[2 * k + 1];
        const double re = e_re + o_re * c - o_im * s, im = e_im + o_re * s + o_im * c;
        power[k] = re * re + im * im;
    }
}
