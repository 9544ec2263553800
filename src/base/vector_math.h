/* src/base/vector_math.h - exp, tanh and erf of float that a compiler can put into vector registers
 *
 *     PXI_WIDE static void exps(const float *x, float *y, size_t count)
 *     {
 *         for (size_t i = 0; i < count; i++)
 *             y[i] = pxi_exp(x[i]);
 *     }
 *
 * libm's functions branch and are called once per element, which takes five to ten times as long;
 * networks with SiLU, GELU or attention spent a third of their time there. These have no branches:
 * ranges are chosen by selection. Polynomials are those of Cephes (Moshier, expf.c, tanhf.c,
 * ndtrf.c); errors stay below 3 units in the last place, over- and underflow are IEEE's, NaN stays
 * NaN. double goes to libm.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_VECTOR_MATH_H
#define PXI_BASE_VECTOR_MATH_H

#include "base/wide.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float pxi_power_of_two(int32_t n) /* -126..127 */
{
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static inline float pxi_exp_float(float x)
{
    /* exp() is 0 below the one bound and infinite above the other */
    const float low = x < -104.0f ? -104.0f : x, in = low > 89.0f ? 89.0f : low;
    const float magic = 0x1.8p23f; /* adding it leaves the nearest integer in the last bits */
    const float shifted = in * 1.44269504088896341f + magic;
    int32_t n;
    memcpy(&n, &shifted, sizeof n);
    n -= 0x4b400000; /* the bits of `magic` */
    const float k = shifted - magic;
    const float r = in - k * 0.693359375f - k * -2.12194440e-4f; /* log(2) in two parts */
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const int32_t half = n >> 1; /* two steps: subnormal results, and up to infinity */
    return p * pxi_power_of_two(half) * pxi_power_of_two(n - half);
}

static inline float pxi_tanh_float(float x)
{
    const float size = x < 0.0f ? -x : x, z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const float near = p * z * x + x;
    const float far = 1.0f - 2.0f / (pxi_exp_float(2.0f * size) + 1.0f);
    return size < 0.625f ? near : x < 0.0f ? -far : far; /* NaN: far, which is NaN too */
}

static inline float pxi_erf_float(float x)
{
    const float size = x < 0.0f ? -x : x, z = x * x;
    float p = 7.853861353153693e-5f; /* |x| < 1: x P(x^2) */
    p = p * z - 8.010193625184903e-4f;
    p = p * z + 5.188327685732524e-3f;
    p = p * z - 2.685381193529856e-2f;
    p = p * z + 1.128358514861418e-1f;
    p = p * z - 3.761262582423300e-1f;
    p = p * z + 1.128379165726710e+0f;
    const float beyond = size < 1.0f ? 1.0f : size > 5.0f ? 5.0f : size; /* 1 - erf(5) < 2^-24 */
    const float q = 1.0f / beyond, w = q * q;
    float a = 2.326819970068386e-2f; /* 1 <= |x| < 2: 1 - exp(-x^2) / |x| A(1 / x^2) */
    a = a * w - 1.387039388740657e-1f;
    a = a * w + 3.687424674597105e-1f;
    a = a * w - 5.824733027278666e-1f;
    a = a * w + 6.210004621745983e-1f;
    a = a * w - 4.944515323274145e-1f;
    a = a * w + 3.404879937665872e-1f;
    a = a * w - 2.741127028184656e-1f;
    a = a * w + 5.638259427386472e-1f;
    float b = -1.047766399936249e+1f; /* 2 <= |x|: likewise */
    b = b * w + 1.297719955372516e+1f;
    b = b * w - 7.495518717768503e+0f;
    b = b * w + 2.921019019210786e+0f;
    b = b * w - 1.015265279202700e+0f;
    b = b * w + 4.218463358204948e-1f;
    b = b * w - 2.820767439740514e-1f;
    b = b * w + 5.641895067754075e-1f;
    const float tail = pxi_exp_float(-beyond * beyond) * q * (beyond < 2.0f ? a : b);
    const float far = x < 0.0f ? tail - 1.0f : 1.0f - tail;
    return size >= 1.0f ? far : x * p; /* NaN: x p */
}

/* Whether no value is NaN or infinite. */
static inline bool pxi_all_finite(const float *values, int64_t count)
{
    uint32_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return bad == 0;
}

#define pxi_exp(x) _Generic((x), float : pxi_exp_float, default : exp)(x)
#define pxi_tanh(x) _Generic((x), float : pxi_tanh_float, default : tanh)(x)
#define pxi_erf(x) _Generic((x), float : pxi_erf_float, default : erf)(x)

#endif
