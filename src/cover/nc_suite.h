/* src/cover/nc_suite.h - neuron coverage with values scaled by what the whole suite reaches
 *
 * g = (phi - lo) / (hi - lo), lo and hi over all inputs and neurons of the layer. Neither a second
 * pass nor the traces are needed: g > t for some input iff the neuron's maximum is above
 * lo + t * (hi - lo), and maxima and minima can be kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_NC_SUITE_H
#define PXI_COVER_NC_SUITE_H

#include <plexor/cover.h>

typedef struct pxi_nc_suite {
    int64_t neurons, layers;
    int64_t *counts;   /* neurons per layer */
    float *low, *high; /* per layer */
    float *top;        /* per neuron: its maximum */
    double t;
} pxi_nc_suite;

px_status pxi_nc_suite_init(pxi_nc_suite *suite, const px_extractor *extractor, double t,
                            px_error *err);
void pxi_nc_suite_done(pxi_nc_suite *suite);
void pxi_nc_suite_observe(pxi_nc_suite *suite, const px_rows *rows);
/* How many neurons row i would cover on top; less than 0 where it stretches a layer's range. */
int64_t pxi_nc_suite_gain(const pxi_nc_suite *suite, const px_rows *rows, int64_t i);
px_status pxi_nc_suite_merge(pxi_nc_suite *suite, const pxi_nc_suite *other, px_error *err);
/* Of layer `layer`; -1: of all. */
int64_t pxi_nc_suite_covered(const pxi_nc_suite *suite, int64_t layer);
void pxi_nc_suite_neurons(const pxi_nc_suite *suite, bool *covered);
px_status pxi_nc_suite_save(const pxi_nc_suite *suite, px_npz_writer *to, const char *prefix,
                            px_error *err);
/* Into an empty one (then the file says what there is) or one that was made. */
px_status pxi_nc_suite_load(pxi_nc_suite *suite, const px_npz *from, const char *prefix,
                            px_error *err);

#endif
