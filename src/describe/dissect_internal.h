/* src/describe/dissect_internal.h - a dissection as its files see it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_DISSECT_INTERNAL_H
#define PXI_DESCRIBE_DISSECT_INTERNAL_H

#include "describe/concepts_internal.h"

typedef struct pxi_dissected_layer {
    const char *name;
    size_t first, count; /* its units among all */
} pxi_dissected_layer;

struct px_dissection {
    px_arena *arena; /* names and exemplars */
    pxi_dissected_layer *layers;
    size_t layer_count, unit_count, map_count;
    const char **words; /* [maps], of the arena */
    px_bank_unit *units;
    double *iou; /* [units][maps] */
};

/* All but the overlaps: levels, exemplars, and the class that most of them have. */
px_status pxi_dissection_new(const px_exemplars *exemplars, const px_concepts *concepts,
                             const px_dataset *set, px_dissection **out, px_error *err);
/* The best three words of each unit, from the overlaps. */
void pxi_dissection_rank(px_dissection *dissection);

#endif
