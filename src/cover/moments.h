/* src/cover/moments.h - sums and products of the neurons of each layer, for covariances
 *
 * Kept about zero and exactly (base/exact.h): sum x_i and sum x_i x_j. Within a block of rows the
 * products are added in double, row after row. A product of two floats has 48 bits and is exact in
 * double, so only additions of up to 256 such numbers round, by 2^-53 of the sum; float sums would
 * be twice as fast and lose what the subtraction of the squared mean needs. Blocks are then added
 * exactly, so neither threads nor shards show.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_MOMENTS_H
#define PXI_COVER_MOMENTS_H

#include <plexor/cover.h>

#include "base/exact.h"

#define PXI_MOMENTS_WIDEST 65535 /* neurons per layer: 48 GiB of products */

typedef struct pxi_moments_layer {
    int64_t width;   /* m */
    int64_t neuron;  /* where its values start in a row, and its sums */
    int64_t product; /* where its products start: (0,0), (1,0), (1,1), (2,0) ... */
} pxi_moments_layer;

typedef struct pxi_moments {
    size_t layer_count;
    pxi_moments_layer *layers;
    int64_t neurons, products, widest;
    int64_t count; /* of inputs */
    bool lost;     /* a sum did not fit: there are no moments */
    pxi_exact *sum, *product;
    double *panel; /* scratch: a layer's rows in double */
} pxi_moments;

/* Of these layers' widths, without inputs. `scratch`: will observe. */
px_status pxi_moments_init(pxi_moments *moments, const int64_t *widths, size_t layer_count,
                           bool scratch, px_error *err);
void pxi_moments_done(pxi_moments *moments);
void pxi_moments_observe(pxi_moments *moments, const px_rows *rows);
px_status pxi_moments_merge(pxi_moments *moments, const pxi_moments *other, px_error *err);
px_status pxi_moments_save(const pxi_moments *moments, px_npz_writer *to, const char *prefix,
                           px_error *err);
/* Into {0}: whatever the file has. Otherwise the same layers. */
px_status pxi_moments_load(pxi_moments *moments, const px_npz *from, const char *prefix,
                           px_error *err);

/* Population covariance of one layer, [m (m + 1) / 2], with `extra` more inputs that were all zero;
 * mean (may be NULL) gets [m]. Its relative error is about 2^-52 (mean / deviation)^2, all of it
 * from the sums within blocks. The sum of the absolute values of the whole matrix is returned; cov
 * may be NULL if only that is wanted. 0 inputs: all is 0. */
double pxi_moments_covariance(const pxi_moments *moments, size_t layer, int64_t extra, double *mean,
                              double *cov);

/* One more input, at distance d from the mean, with weight w = 1 / (inputs with it): the covariance
 * becomes (1 - w) cov + w (1 - w) d d^T (Chan). The first gives that matrix's sum of absolute
 * values, the second makes it. */
double pxi_covariance_norm_with(const double *cov, int64_t m, const double *d, double w);
void pxi_covariance_add(double *cov, int64_t m, const double *d, double w);

#endif
