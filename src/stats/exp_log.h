/* src/stats/exp_log.h - exp and log for loops that a compiler turns into vectors
 *
 * Good to about 2 ulp in their ranges; libm's are scalar calls.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_EXP_LOG_H
#define PXI_STATS_EXP_LOG_H

#include <stdint.h>
#include <string.h>

/* log(2) in two: the first times a small whole number is exact. */
#define PXI_LN2_HIGH 0x1.62e42feep-1
#define PXI_LN2_LOW 0x1.a39ef35793c76p-33

/* exp(x) for x <= 0; below -708 it stays at exp(-708), about 3e-308. */
static inline double pxi_exp_down(double x)
{
    const double magic = 0x1.8p52; /* adding it rounds to a whole number, in the low bits */
    const double bounded = x > -708.0 ? x : -708.0;
    const double t = bounded * 0x1.71547652b82fep0 + magic;
    const double k = t - magic;
    const double r = (bounded - k * PXI_LN2_HIGH) - k * PXI_LN2_LOW;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* log(x) for finite normal x > 0. */
static inline double pxi_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* exponent so that the mantissa is within [sqrt(1/2), sqrt(2)) */
    const uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;
    const uint64_t biased = ((shifted >> 52) ^ 0x800) | 0x4330000000000000u;
    double k;
    memcpy(&k, &biased, sizeof k); /* 2^52 + 2048 + exponent */
    k -= 0x1p52 + 2048.0;
    const uint64_t mantissa = bits - (shifted & 0xfff0000000000000u);
    double m;
    memcpy(&m, &mantissa, sizeof m);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return k * PXI_LN2_HIGH + (k * PXI_LN2_LOW + 2.0 * (s + s * z * p));
}

#endif
