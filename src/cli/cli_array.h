/* src/cli/cli_array.h - arrays from .npy files as a network's own inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_ARRAY_H
#define PLEXOR_CLI_ARRAY_H

#include "cli/cli_net.h"

/* One tensor per graph input, in the graph's order, of the type the network wants. `given` holds
 * FILE for a network with one input and NAME=FILE otherwise. The caller frees each tensor and the
 * array. */
px_status cli_arrays_load(const px_model *model, const cli_list *given, px_tensor **out,
                          px_error *err);
void cli_arrays_free(const px_model *model, px_tensor *arrays);

/* A file of whole numbers, one per sample. The caller frees *out. */
px_status cli_labels_load(const char *path, int64_t count, int64_t **out, px_error *err);

/* Converts in place to another type: any number to any other, floats to whole numbers only where
 * they are whole. `where` is for the message. */
px_status cli_array_cast(px_tensor *tensor, px_dtype dtype, const char *where, px_error *err);

#endif
