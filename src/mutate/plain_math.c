/* src/mutate/plain_math.c - sine, cosine, exponential and logarithm from series */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/plain_math.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

/* Coefficients from the highest power down. */
static inline __attribute__((always_inline)) double plain_series(const double *c, size_t count,
                                                                 double x)
{
    double sum = c[0];
    for (size_t i = 1; i < count; i++)
        sum = sum * x + c[i];
    return sum;
}

/* Taylor in x^2; the terms left out are below half a unit in the last place at 45 degrees. */
static const double sine_series[] = {1.0 / 355687428096000,
                                     -1.0 / 1307674368000,
                                     1.0 / 6227020800,
                                     -1.0 / 39916800,
                                     1.0 / 362880,
                                     -1.0 / 5040,
                                     1.0 / 120,
                                     -1.0 / 6,
                                     1.0};
static const double cosine_series[] = {-1.0 / 6402373705728000,
                                       1.0 / 20922789888000,
                                       -1.0 / 87178291200,
                                       1.0 / 479001600,
                                       -1.0 / 3628800,
                                       1.0 / 40320,
                                       -1.0 / 720,
                                       1.0 / 24,
                                       -1.0 / 2,
                                       1.0};

/* Sine and cosine of what is left of an angle, -45 to 45 degrees, beside the nearest right one. */
static inline __attribute__((always_inline)) void plain_beside(double degrees, double *turns,
                                                               double *sine, double *cosine)
{
    static const double per_degree = 0.017453292519943295;
    *turns = floor(degrees / 90.0 + 0.5);
    const double x = (degrees - 90.0 * *turns) * per_degree;
    *sine = x * plain_series(sine_series, PX_LEN(sine_series), x * x);
    *cosine = plain_series(cosine_series, PX_LEN(cosine_series), x * x);
}

void pxi_sin_cos_degrees(double degrees, double *sine, double *cosine)
{
    double turns, sin_x, cos_x;
    plain_beside(degrees, &turns, &sin_x, &cos_x);
    switch ((long long)turns & 3) {
    case 0:
        *sine = sin_x;
        *cosine = cos_x;
        break;
    case 1:
        *sine = cos_x;
        *cosine = -sin_x;
        break;
    case 2:
        *sine = -sin_x;
        *cosine = -cos_x;
        break;
    default:
        *sine = -cos_x;
        *cosine = sin_x;
    }
}

static const double ln2_high = 0x1.62e42fefa38p-1; /* times a whole number below 2^11 is exact */
static const double ln2_low = 0x1.ef35793c7673p-45;

double pxi_exp(double x)
{
    assert(!(x > 0.0));
    static const double c[] = {1.0 / 6227020800,
                               1.0 / 479001600,
                               1.0 / 39916800,
                               1.0 / 3628800,
                               1.0 / 362880,
                               1.0 / 40320,
                               1.0 / 5040,
                               1.0 / 720,
                               1.0 / 120,
                               1.0 / 24,
                               1.0 / 6,
                               1.0 / 2,
                               1.0,
                               1.0};
    if (x < -700.0)
        return 0.0;
    const double power = floor(x / (ln2_high + ln2_low) + 0.5);
    const double rest = (x - power * ln2_high) - power * ln2_low;
    return ldexp(plain_series(c, PX_LEN(c), rest), (int)power);
}

static inline __attribute__((always_inline)) double plain_log(double x)
{
    /* log m = 2 artanh s with s = (m - 1) / (m + 1), m between sqrt(1/2) and sqrt(2) */
    static const double c[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                               1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    static const double root_half = 0x1.6a09e667f3bcdp-1;
    uint64_t bits;
    double half; /* x times a power of two, from 1/2 to below 1 */
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52) - 1022;
    bits = (bits & 0x000fffffffffffffu) | 0x3fe0000000000000u;
    memcpy(&half, &bits, sizeof half);
    const double m = half < root_half ? 2.0 * half : half;
    const double power = half < root_half ? exponent - 1 : exponent;
    const double s = (m - 1.0) / (m + 1.0);
    return power * ln2_high + (power * ln2_low + 2.0 * s * plain_series(c, PX_LEN(c), s * s));
}

double pxi_log(double x)
{
    assert(x > 0.0);
    return plain_log(x);
}

/* Box-Muller, cosine half. */
PXI_WIDE static void normals_from(const uint32_t *words, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double u = (double)(int32_t)(words[2 * i] >> 8) * 0x1p-24;
        const double v = (double)(int32_t)(words[2 * i + 1] >> 8) * 0x1p-24;
        double turns, sine, cosine;
        plain_beside(360.0 * v, &turns, &sine, &cosine);
        const int quarter = (int)turns & 3;
        const double size = quarter & 1 ? sine : cosine;
        const double radius = sqrt(-2.0 * plain_log(1.0 - u)); /* 1 - u is in (0, 1] */
        out[i] = radius * (quarter == 1 || quarter == 2 ? -size : size);
    }
}

void pxi_normals(px_random *random, double *out, size_t count)
{
    uint32_t words[2 * PXI_NORMALS];
    px_rng_fill(random, words, 2 * count);
    normals_from(words, out, count);
}
