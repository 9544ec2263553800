/* src/cover/sections.h - which of the k sections of its profiled range a neuron's value lies in */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_SECTIONS_H
#define PXI_COVER_SECTIONS_H

#include "cover/slots.h"

typedef enum pxi_section_rule {
    PXI_SECTION_FLOOR,      /* CSM A.2: the last section includes the upper end */
    PXI_SECTION_CEIL,       /* counted from the upper end: the lower end is in none */
    PXI_SECTION_HALF_OPEN,  /* the upper end is in none */
    PXI_SECTION_UPPER_OPEN, /* the upper end is a corner: in none here either */
    PXI_SECTION_DIGITIZE,   /* k edges: k - 1 sections between them, and two states outside */
} pxi_section_rule;

typedef struct pxi_sections {
    pxi_slots_plan plan; /* what kmnc prepares starts with it */
    pxi_section_rule rule;
    int32_t k;
    int64_t dead;      /* neurons without a range */
    float *low, *high; /* per neuron; dead ones: nothing lies between */
    double *inverse;   /* per neuron: sections per unit of value; 0: dead */
    bool *is_dead;
} pxi_sections;

/* What kmnc prepares, of ranges that are only read; released by pxi_sections_free(). */
px_status pxi_sections_new(const px_extractor *extractor, const px_ranges *ranges, int32_t k,
                           pxi_section_rule rule, bool exclude_dead, pxi_sections **out,
                           px_error *err);
void pxi_sections_free(void *sections); /* NULL is fine */

/* out[j] for neurons first + j, j < count: 0-based section; -1: none. x is the whole row. */
void pxi_sections_of(const pxi_sections *sections, const float *x, int64_t first, int64_t count,
                     int32_t *out);

#endif
