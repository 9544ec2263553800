/* src/data/inputs_source.h - samples of several named arrays, as a network of several inputs has */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_INPUTS_SOURCE_H
#define PXI_DATA_INPUTS_SOURCE_H

#include <internal/inputs.h>
#include <internal/source.h>

/* pxi_source_open() for a network that takes `inputs`: an NPZ has an array for each of them, by
 * name. Data that are not of this kind are opened as others are: the rows of joined inputs, as
 * campaigns and `eval --wrong` write them. */
px_status pxi_inputs_source_open(const char *spec, const char *split, const px_inputs *inputs,
                                 int targets, pxi_source **out, px_error *err);

/* Texts, for the network's tokeniser. */
bool pxi_texts_claims(const char *spec);
px_status pxi_texts_open(const char *spec, const char *split, const px_inputs *inputs, int targets,
                         pxi_source **out, px_error *err);

#endif
