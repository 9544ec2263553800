/* src/cover/extract_relevance.h - rows of relevance and activations, for NPC */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_EXTRACT_RELEVANCE_H
#define PXI_COVER_EXTRACT_RELEVANCE_H

#include <plexor/profile.h>

/* A row is the relevance of all neurons of the chosen layers (a channel's is its spatial sum; with
 * the `unit` view each scalar's), and behind it, in the same order, their values under the chosen
 * view: twice px_probe_neuron_count() numbers. `layers` are about the first half. An input whose
 * predicted class is not known has NaN for relevance. */
px_status pxi_extractor_relevance(const px_model *model, const px_probe_options *options,
                                  double beta, px_extractor **out, px_error *err);

#endif
