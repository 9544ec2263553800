/* src/cover/covariance.c - covariances from exact moments, and what one more input makes of them
 *
 * n sum xy - sum x sum y cancels where means are large. The sums are read as pairs of doubles that
 * hold 106 bits, and the difference is formed from exact products, so what comes out is as good as
 * the sums are.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vector_math.h"
#include "cover/moments.h"

#include <math.h>

typedef struct pair { /* high + low, low being what high cannot hold */
    double high, low;
} pair;

static inline pair pair_plus(double a, double b) /* a + b without loss: Knuth */
{
    const double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

static inline pair pair_times(double a, double b) /* a b without loss: Dekker, Veltkamp */
{
    const double split = 0x1p27 + 1.0;
    const double as = split * a, ah = as - (as - a), al = a - ah;
    const double bs = split * b, bh = bs - (bs - b), bl = b - bh;
    const double product = a * b;
    return (pair){product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

/* Six pieces of 32 bits, largest first. */
static inline pair pair_of(const pxi_exact *sum)
{
    uint64_t limb[PXI_EXACT_LIMBS];
    const uint64_t sign = sum->limb[2] >> 63 ? ~UINT64_C(0) : 0;
    uint64_t carry = sign & 1;
    for (int i = 0; i < PXI_EXACT_LIMBS; i++) { /* magnitude */
        limb[i] = (sum->limb[i] ^ sign) + carry;
        carry = carry && limb[i] == 0;
    }
    static const double weight[PXI_EXACT_LIMBS] = {0x1p-96, 0x1p-32, 0x1p32};
    pair total = {0.0, 0.0};
    for (int i = PXI_EXACT_LIMBS - 1; i >= 0; i--) {
        const double upper = (double)(uint32_t)(limb[i] >> 32) * 0x1p32 * weight[i];
        const double lower = (double)(uint32_t)limb[i] * weight[i];
        pair next = pair_plus(total.high, upper);
        total = (pair){next.high, total.low + next.low};
        next = pair_plus(total.high, lower);
        total = (pair){next.high, total.low + next.low};
    }
    return sign ? (pair){-total.high, -total.low} : total;
}

/* (n xy - x y) / n^2 */
static inline double pair_covariance(pair xy, pair x, pair y, double n)
{
    const pair first = pair_times(n, xy.high), second = pair_times(x.high, y.high);
    const pair rest = pair_plus(first.high, -second.high);
    const double low = (first.low + n * xy.low) - (second.low + (x.high * y.low + x.low * y.high));
    return (rest.high + (rest.low + low)) / n / n;
}

double pxi_moments_covariance(const pxi_moments *moments, size_t layer, int64_t extra, double *mean,
                              double *cov)
{
    const pxi_moments_layer *which = &moments->layers[layer];
    const pxi_exact *sum = moments->sum + which->neuron;
    const pxi_exact *product = moments->product + which->product;
    const double n = (double)(moments->count + extra);
    const bool none = moments->count + extra < 1;
    double norm = 0.0;
    for (int64_t i = 0; i < which->width; i++) {
        const pair x = pair_of(&sum[i]);
        if (mean)
            mean[i] = none ? 0.0 : x.high / n;
        double row = 0.0;
        for (int64_t j = 0; j <= i; j++, product++) {
            const double c = none ? 0.0 : pair_covariance(pair_of(product), x, pair_of(&sum[j]), n);
            if (cov)
                *cov++ = c;
            row += (j < i ? 2.0 : 1.0) * fabs(c);
        }
        norm += row;
    }
    return norm;
}

PXI_WIDE static double row_norm(const double *restrict cov, const double *restrict d, int64_t count,
                                double keep, double scale)
{
    double lane[8] = {0}; /* sums of fixed shape: the same bits on any machine */
    int64_t j = 0;
    for (; j + 8 <= count; j += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += fabs(keep * cov[j + k] + scale * d[j + k]);
    for (; j < count; j++)
        lane[j & 7] += fabs(keep * cov[j] + scale * d[j]);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

double pxi_covariance_norm_with(const double *cov, int64_t m, const double *d, double w)
{
    double norm = 0.0;
    for (int64_t i = 0; i < m; cov += i + 1, i++) {
        const double keep = 1.0 - w, scale = w * (1.0 - w) * d[i];
        norm += 2.0 * row_norm(cov, d, i, keep, scale) + fabs(keep * cov[i] + scale * d[i]);
    }
    return norm;
}

void pxi_covariance_add(double *cov, int64_t m, const double *d, double w)
{
    for (int64_t i = 0; i < m; cov += i + 1, i++) {
        const double keep = 1.0 - w, scale = w * (1.0 - w) * d[i];
        for (int64_t j = 0; j <= i; j++)
            cov[j] = keep * cov[j] + scale * d[j];
    }
}
