/* src/ops/normalize.h - (x - mean) / sqrt(var + epsilon) of one run of numbers, and its gradient */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_NORMALIZE_H
#define PXI_OPS_NORMALIZE_H

#include <internal/op.h>

#include <tgmath.h>

typedef struct pxi_moments {
    double mean, inverse; /* inverse: 1 / sqrt(population variance + epsilon) */
} pxi_moments;

static inline pxi_moments pxi_moments_of(const px_real *x, int64_t count, double epsilon)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i];
    const double mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    return (pxi_moments){mean, 1.0 / sqrt(squares / (double)count + epsilon)};
}

#endif
