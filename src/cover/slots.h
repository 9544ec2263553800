/* src/cover/slots.h - what criteria share whose state is a set: so many slots per neuron
 *
 * Slot s of neuron n is bit n * per_neuron + s. A criterion brings prepare(), observe() and gain();
 * everything else is here. What it prepares starts with a pxi_slots_plan.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_SLOTS_H
#define PXI_COVER_SLOTS_H

#include <plexor/cover.h>

#include "cover/bitset.h"

typedef struct pxi_slots_plan {
    const px_extractor *extractor; /* borrowed: its width and layers */
    int64_t per_neuron;            /* slots */
    int64_t share;                 /* what a neuron adds to the total: its slots, mostly */
    const bool *left_out;          /* per neuron: is not in the total; NULL: all are */
} pxi_slots_plan;

typedef struct pxi_slots {
    const pxi_slots_plan *plan; /* NULL: from a file alone */
    pxi_bitset bits;
    int64_t total;
    float *low, *high; /* [width] each: scratch for pxi_rows_extremes() */
} pxi_slots;

/* PX_E_USAGE if there would be more slots than anything can hold. */
px_status pxi_slots_check(const char *id, int64_t neurons, int64_t per_neuron, px_error *err);

/* The members of px_criterion, by their names. */
px_status pxi_slots_open(const void *prepared, void **state, px_error *err);
void pxi_slots_close(void *state);
px_status pxi_slots_merge(void *state, const void *other, px_error *err);
px_coverage pxi_slots_value(const void *state);
px_coverage pxi_slots_layer_value(const void *state, size_t layer);
void pxi_slots_neurons_covered(const void *state, bool *covered); /* any of its slots */
px_status pxi_slots_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err);
px_status pxi_slots_load(void *state, const px_npz *from, const char *prefix, px_error *err);

/* Those that have to do with the state alone. */
#define PXI_SLOTS_STATE                                                                     \
    .open = pxi_slots_open, .close = pxi_slots_close, .merge = pxi_slots_merge,             \
    .value = pxi_slots_value, .layer_value = pxi_slots_layer_value, .save = pxi_slots_save, \
    .load = pxi_slots_load

static inline double pxi_slots_gain(const pxi_slots *slots, int64_t new_slots)
{
    return slots->total > 0 ? (double)new_slots / (double)slots->total : 0.0;
}

/* low[n] and high[n]: least and largest value of neuron n among the rows that are not rejected;
 * infinite, the wrong way round, where there is none. */
void pxi_rows_extremes(const px_rows *rows, float *low, float *high);

static inline const float *pxi_row(const px_rows *rows, int64_t i)
{
    return rows->values + i * rows->width;
}

#endif
