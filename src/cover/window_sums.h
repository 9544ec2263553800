/* src/cover/window_sums.h - channel means of a convolution's output, from its input
 *
 * The mean of output channel m is b_m + 1/(H'W') sum_{i,a,b} w[m,i,a,b] S_i(a,b), S_i(a,b) being
 * the sum of what kernel offset (a,b) meets of channel i (CSM A.10). Offsets differ only in which
 * rows and columns they miss, so rows that the same offsets meet are a class, columns likewise, and
 * one pass over the input adds up each pair of classes. That costs a reading of the input and a
 * product of the size of one output place, and the output itself need not exist: inside a plan,
 * convolution, normalisation and activation stay one kernel.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_WINDOW_SUMS_H
#define PXI_COVER_WINDOW_SUMS_H

#include <plexor/engine.h>

#include "ops/conv.h"

typedef struct pxi_window_axis { /* rows, or columns */
    int64_t extent, kernel;
    int classes;
    int *class_of;   /* per row: its class; -1: no offset meets it */
    int64_t *order;  /* rows by class, ascending within each */
    int64_t *start;  /* of each class in `order`, and where the last ends */
    uint64_t *meets; /* per class: bit a: offset a meets its rows */
} pxi_window_axis;

typedef struct pxi_window_sums {
    int64_t in_channels, out_channels, group, places; /* places: H'W' */
    pxi_window_axis y, x;
    int64_t terms;  /* kernel offsets times channels: what is multiplied by the weights */
    float *weights; /* group 1: [terms][out_channels], terms ordered (a, b, channel); else
                       [out_channels][offsets][channels per group] */
    double *bias;   /* [out_channels] */
} pxi_window_sums;

/* Whether means of that convolution can be had this way, at less cost than by its output. */
bool pxi_window_sums_fit(const pxi_conv_params *conv);
/* weights and bias (NULL: none) as in the file. */
px_status pxi_window_sums_init(pxi_window_sums *sums, const pxi_conv_params *conv,
                               const float *weights, const float *bias, px_error *err);
void pxi_window_sums_done(pxi_window_sums *sums);

/* Bytes of scratch for `samples` samples. */
size_t pxi_window_sums_scratch(const pxi_window_sums *sums, int64_t samples);

/* `view` is the convolution's input, in any layout; row s of the result is written to
 * out + s * row_stride. A row's bytes depend on its own sample alone. */
void pxi_window_sums_run(const pxi_window_sums *sums, const px_view *view, int64_t samples,
                         void *scratch, float *out, int64_t row_stride);

/* Only the sums S_i(a,b), ordered (a, b, channel): `terms` floats per sample, at out + s *
 * row_stride. Scratch as for one sample. */
void pxi_window_sums_terms(const pxi_window_sums *sums, const px_view *view, int64_t samples,
                           void *scratch, float *out, int64_t row_stride);

#endif
