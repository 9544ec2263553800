/* src/select/stochastic_cut.h - where a network stops being the same in every pass
 *
 * With Dropout at work, what lies before the first of them need run only once: its results at the
 * *cut* are fed to what lies behind, as often as one likes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_STOCHASTIC_CUT_H
#define PXI_SELECT_STOCHASTIC_CUT_H

#include <plexor/graph.h>

typedef struct pxi_stochastic_cut {
    int dropouts; /* Dropout nodes that `to` depends on; 0: there is none, and so the first of the
                     feeds, which the last dense layer reads, is where one has to be put */
    int dense;    /* that layer's node; -1: it was not needed */
    int *feeds;   /* values */
    size_t feed_count;
} pxi_stochastic_cut;

/* The cut before value `to`, the class scores. PX_E_UNSUPPORTED where there is neither Dropout nor
 * a dense layer. */
px_status pxi_stochastic_cut_find(const px_graph *graph, int to, pxi_stochastic_cut *out,
                                  px_error *err);
void pxi_stochastic_cut_done(pxi_stochastic_cut *cut);

#endif
