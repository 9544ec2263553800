/* src/generate/seed_names.h - what inputs and classes of a campaign are called */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SEED_NAMES_H
#define PXI_GENERATE_SEED_NAMES_H

#include <plexor/graph.h>
#include <plexor/store.h>

enum { PXI_SEED_NAME = 1024 };

/* The name of an input, a path for one; NULL where the data have none but its number. */
const char *pxi_seed_name(const px_dataset *set, int64_t row, char buffer[PXI_SEED_NAME]);
/* The network's own names of its classes (`model` may be NULL), else the data's, into the batch. */
px_status pxi_put_classes(px_campaign *campaign, const px_model *model, const px_dataset *set,
                          px_error *err);

#endif
