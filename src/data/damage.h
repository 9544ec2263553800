/* src/data/damage.h - samples of a data set that cannot be read */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_DAMAGE_H
#define PXI_DATA_DAMAGE_H

#include <plexor/data.h>

/* What was said about damage, once: many threads meet it at the same time. */
typedef struct pxi_damage_told pxi_damage_told;
px_status pxi_damage_told_new(pxi_damage_told **out, px_error *err);
void pxi_damage_told_free(pxi_damage_told *told);

/* Leaves out what is damaged among the chosen samples, and says so in the set's remarks. */
px_status pxi_dataset_skip_damaged(px_dataset *set, const px_data_options *options, px_error *err);

/* For a sample that could not be read: makes a sentence of `err` that names the first damaged one,
 * how many there are, and what to do. Other kinds of trouble are passed on as they are. */
px_status pxi_dataset_damage_fail(const px_dataset *set, int64_t index, px_status status,
                                  px_error *err);

#endif
