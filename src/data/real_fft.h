/* src/data/real_fft.h - the power spectrum of real numbers, a power of 2 of them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_REAL_FFT_H
#define PXI_DATA_REAL_FFT_H

#include <plexor/error.h>

typedef struct pxi_real_fft pxi_real_fft; /* immutable */

/* `points` is a power of 2, at least 2. */
px_status pxi_real_fft_new(int points, pxi_real_fft **out, px_error *err);
void pxi_real_fft_free(pxi_real_fft *fft); /* NULL is fine */
/* power[k] = |sum over t of x[t] exp(-2 pi i k t / points)|^2, k from 0 to points / 2. `x` is used
 * as scratch. */
void pxi_real_fft_power(const pxi_real_fft *fft, double *x, double *power);

#endif
