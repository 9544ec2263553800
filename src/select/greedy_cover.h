/* src/select/greedy_cover.h - orders by coverage: total (CTM) and additional (CAM)
 *
 * Rothermel et al., Prioritizing Test Cases for Regression Testing, TSE 2001; for networks Feng et
 * al., DeepGini, ISSTA 2020; CSM B.3. CTM goes by how many elements an input covers on its own. CAM
 * takes, again and again, the input that covers most of what no input before it covers.
 *
 * What an input covers is a row in one of two forms: a bit per element; or, where an input can be
 * in one section of a column only (KMNC: a neuron's), the number of that section, two bytes each.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_GREEDY_COVER_H
#define PXI_SELECT_GREEDY_COVER_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PXI_SECTIONS_MOST 65534 /* sections of a column */

typedef struct pxi_cover_rows {
    int64_t count; /* of inputs */
    /* Bits: words of a row; none beyond the elements is set. */
    int64_t words;
    uint64_t *bits; /* [count][words]; NULL: sections it is */
    /* Sections: of each column below `per`, which itself means: in none. Inputs of different groups
     * share no elements. */
    int64_t columns, groups;
    int32_t per;
    uint16_t *sections; /* [count][columns] */
    int32_t *group;     /* [count]; NULL: all of group 0 */
} pxi_cover_rows;

/* Rows that cover nothing yet. Both give PX_E_USAGE, naming the selector, where that is too much.
 */
px_status pxi_cover_rows_bits(pxi_cover_rows *rows, const char *id, int64_t count, int64_t elements,
                              px_error *err);
px_status pxi_cover_rows_sections(pxi_cover_rows *rows, const char *id, int64_t count,
                                  int64_t columns, int32_t per, int64_t groups, px_error *err);
int64_t pxi_cover_rows_bytes(int64_t count, int64_t columns_or_elements, bool sections);
void pxi_cover_rows_done(pxi_cover_rows *rows);

int64_t pxi_cover_rows_total(const pxi_cover_rows *rows, int64_t i); /* elements of row i */

typedef enum pxi_greedy_method { PXI_GREEDY_CAM, PXI_GREEDY_CTM } pxi_greedy_method;

typedef enum pxi_greedy_rest {                   /* those that add nothing */
                               PXI_REST_CTM,     /* dnn-tip */
                               PXI_REST_RANDOM,  /* DeepGini's code */
                               PXI_REST_RESTART, /* as if nothing were covered, again and again */
} pxi_greedy_rest;

typedef struct pxi_greedy_options {
    pxi_greedy_method method;
    pxi_greedy_rest rest;
    bool random_start; /* CAM begins with an input at random: DeepGini's and ATS's code */
    uint64_t seed;
} pxi_greedy_options;

/* The items (numbers of rows, ascending; NULL: all) in order; gains[count] by place: what each one
 * added, 0 for the rest; with CTM its own total. *useful (may be NULL) of them added something
 * before the rest began. */
px_status pxi_greedy_order(const pxi_cover_rows *rows, const int64_t *items, int64_t count,
                           const pxi_greedy_options *options, int64_t *order, int64_t *gains,
                           int64_t *useful, px_error *err);

#endif
