/* src/generate/swarm_corner.h - the share of boundaries that an input is beyond
 *
 * NBC of one input, as the published DeepSensor code adds it to its objective (LGR B.3): every
 * neuron has a lowest and a highest value among what was learned from; one that is below or above
 * is one of two boundaries of that neuron crossed. The code leaves its boundaries unset.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SWARM_CORNER_H
#define PXI_GENERATE_SWARM_CORNER_H

#include "generate/fuzz_internal.h"

typedef struct pxi_corner pxi_corner;

/* `probe` outlives it. */
px_status pxi_corner_open(px_fuzz *fuzz, const px_probe *probe, pxi_corner **out, px_error *err);
void pxi_corner_close(pxi_corner *corner); /* NULL is fine */

/* `inputs` are rows as the network takes them. */
px_status pxi_corner_learn(pxi_corner *corner, const float *inputs, int64_t count, px_error *err);
px_status pxi_corner_measure(pxi_corner *corner, const float *inputs, int64_t count, double *out,
                             px_error *err);

#endif
