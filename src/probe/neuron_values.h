/* src/probe/neuron_values.h - one sample's neuron values, read from a strided tensor
 *
 * The mean of a channel is summed in blocks of PXI_MEAN_BLOCK places, in NCHW order: a fixed tree
 * of float additions inside a block, double between blocks. The result therefore depends neither on
 * the layout nor on the vector width, and is as good as a double sum to about 2^-22.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_NEURON_VALUES_H
#define PXI_PROBE_NEURON_VALUES_H

#include "probe/probe_internal.h"

#define PXI_MEAN_BLOCK 16

/* `x` is the sample's first element; `out` has room for layout->channels. */
void pxi_neuron_means(const pxi_neuron_layout *layout, const float *x, float *out);
void pxi_neuron_maxima(const pxi_neuron_layout *layout, const float *x, float *out); /* NaN wins */

/* All scalars in the graph's own order. */
void pxi_neuron_units(const pxi_neuron_layout *layout, const float *x, float *out);

/* Smallest and largest scalar; NaN is skipped. */
void pxi_neuron_range(const pxi_neuron_layout *layout, const float *x, float *low, float *high);

/* Row-major index of the first maximum (a NaN counts as one) among a channel's places; `x` is the
 * channel's first element. */
int64_t pxi_neuron_argmax(const pxi_neuron_layout *layout, const float *x);

/* values[i] = (values[i] - low) / (high - low); all 0 where nothing lies between. */
void pxi_neuron_scale(float *values, int64_t count, float low, float high);

#endif
