/* src/engine/panel.h - products of matrices of our own
 *
 *     c (rows, n) = act(a (rows, k) b (k, n) + bias, or + what c holds)
 *
 * A tile of c has its sums in registers while all of k goes by, so that a result is one sum in the
 * order of k, whatever rows and columns lie beside it: samples do not depend on their batch. NaN
 * and infinity stay what they are. A convolution is such a product whose rows of a are gathered
 * from several places, its taps.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PANEL_H
#define PXI_ENGINE_PANEL_H

#include "engine/plan.h"

enum { PXI_PANEL_COLUMNS = 48 /* of a panel, at most */ };

/* b in the order in which tiles read it: columns in panels, filled up with zeros. */
size_t pxi_panel_floats(int64_t k, int64_t n);
/* b's element (i, j) lies at b[i * row + j * column]; one of the two strides is 1. */
void pxi_panel_pack(int64_t k, int64_t n, const float *b, int64_t row, int64_t column,
                    float *packed);

/* Where in the packed b column j, a multiple of 16, begins, and how many elements it is from a row
 * to the next. */
typedef struct pxi_panel_place {
    size_t offset, row;
} pxi_panel_place;

pxi_panel_place pxi_panel_find(int64_t k, int64_t n, int64_t j);

/* Rows of a convolution: each begins at its own place, and has parts, the same for all rows of a
 * job, from several places relative to that. */
typedef struct pxi_panel_gather {
    const int64_t *a_at, *c_at; /* where row r of a, and of c, begins: instead of a_row and c_row */
    int64_t tap_count;
    const int64_t *taps; /* where the parts begin; each is k long */
    const int64_t *rows; /* of b, from which on they are multiplied: b has more than k of them */
} pxi_panel_gather;

typedef struct pxi_panel_job {
    int64_t rows, k, n;
    const float *a; /* a row's numbers lie side by side */
    int64_t a_row;
    const pxi_panel_gather
        *gather;         /* NULL: rows lie a_row and c_row apart. b is packed, one panel */
    const float *packed; /* b from pxi_panel_pack(); NULL: as it lies, at `b` */
    const float *b;
    int64_t b_row, b_column;
    float *c;
    int64_t c_row;
    const float *bias;  /* NULL: zeros */
    bool adds;          /* to what c holds, before the activation */
    const pxi_act *act; /* NULL: none */
    float *scratch;     /* pxi_panel_scratch() floats where b is not packed */
    const float
        *next; /* what will be read after b, and is brought nearer meanwhile; NULL: nothing */
    int64_t next_floats;
} pxi_panel_job;

bool pxi_panel_takes(void); /* whether this machine has the vectors */
size_t pxi_panel_scratch(int64_t k);
void pxi_panel_run(const pxi_panel_job *job);

/* SiLU and GELU as they are behind a product, y = act(y), on this machine; oneDNN takes twice as
 * long behind a convolution. */
bool pxi_panel_acts(const pxi_act *act);
void pxi_panel_act(const pxi_act *act, float *y, int64_t count);

#endif
