/* include/internal/gradient_reach.h - which values a gradient can come to
 *
 * Flat and integer operators give no gradient: the engine runs them all the same, and what lies
 * behind them would get zeros without a word. Whoever wants gradients asks before the run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_GRADIENT_REACH_H
#define PXI_INTERNAL_GRADIENT_REACH_H

#include <plexor/graph.h>

typedef struct pxi_reach {
    const px_graph *graph;
    bool *passes;  /* per node: gradients come through it */
    bool *reached; /* per value: they come to it */
    bool *behind;
    int *stack;
} pxi_reach;

/* Gradients that start at the value `from`. pxi_reach_done() in any case. */
px_status pxi_reach_init(pxi_reach *reach, const px_model *model, int from, px_error *err);
void pxi_reach_done(pxi_reach *reach);

/* Of a value that is not reached: the operator without a gradient that stands between, the one
 * nearest to where gradients start. NULL: none does, `from` does not depend on the value. */
const px_node *pxi_reach_gap(pxi_reach *reach, int value);

/* PX_E_UNSUPPORTED, naming the operator in the way, where gradients of `scores` do not come to
 * `input`. */
px_status pxi_reach_require(const px_model *model, int scores, int input, px_error *err);

#endif
