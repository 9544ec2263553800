/* src/engine/panel.h - products of matrices of our own
 *
 *     c (rows, n) = act(a (rows, k) b (k, n) + bias, or + what c holds)
 *
 * A tile of c has its sums in registers while all of k goes by, so that a result is one sum in the
 * order of k, whatever rows and columns lie beside it: samples do not depend on their batch. NaN
 * and infinity stay what they are. A convolution is such a product whose rows of a are gathered
 * from several places, its taps.
 */
#ifndef PXI_ENGINE_PANEL_H
#define PXI_ENGINE_PANEL_H

#include "engine/plan.h"

/* b in the order in which tiles read it: columns in panels of up to 48, filled up with zeros. */
size_t pxi_panel_floats(int64_t k, int64_t n);
/* b's element (i, j) lies at b[i * row + j * column]; one of the two strides is 1. */
void pxi_panel_pack(int64_t k, int64_t n, const float *b, int64_t row, int64_t column,
                    float *packed);

typedef struct pxi_panel_job {
    int64_t rows, k, n;
    const float *a;
    int64_t a_row, a_column;
    const int64_t
        *taps;         /* where the row's parts begin, relative to its own place; NULL: one at 0 */
    int64_t tap_count; /* each part is k long, b has tap_count * k rows; 0 without taps */
    const float *packed; /* b from pxi_panel_pack(); NULL: as it lies, at `b` */
    const float *b;
    int64_t b_row, b_column;
    float *c;
    int64_t c_row;
    const float *bias;  /* NULL: zeros */
    bool adds;          /* to what c holds, before the activation */
    const pxi_act *act; /* NULL: none */
    float *scratch;     /* pxi_panel_scratch() floats where b is not packed */
} pxi_panel_job;

bool pxi_panel_takes(void); /* whether this machine has the vectors */
size_t pxi_panel_scratch(int64_t k);
void pxi_panel_run(const pxi_panel_job *job);

#endif
