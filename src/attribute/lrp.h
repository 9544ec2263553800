/* src/attribute/lrp.h - LRP, layer-wise relevance: how much of a class score each value carries
 *
 *     pxi_lrp_new(model, feeds, count, layers, layer_count, 0.5, &lrp, &err);   // shared
 *     keep = pxi_lrp_keep(lrp, &keep_count);            // what a plan has to keep for it
 *     pxi_lrp_run_new(lrp, batch, &run, &err);          // one per worker
 *     pxi_lrp_run_go(run, session, samples, facts, sink, context, &err);
 *
 * Bach et al., On Pixel-Wise Explanations ..., PLoS ONE 2015: the alpha-beta rule (eq. 60) with
 * alpha = 1 + beta, as NPC uses it (Xie et al., TOSEM 2022). It starts with the predicted class's
 * score and goes back to the wanted values:
 *
 * - Conv, ConvTranspose, Gemm, MatMul with constant weights: with a = a+ + a-, w = w+ + w-,
 *       P = a+ w+ + a- w-,  N = a+ w- + a- w+,  S+ = (1 + beta) R / P,  S- = -beta R / N,
 *       R_in = a+ (S+ w+ + S- w-) + a- (S+ w- + S- w+);
 *   an output that receives one sign only uses the plain ratio of that sign, and the bias is left
 *   out. Denominators are moved away from zero by 1e-6.
 * - AveragePool, GlobalAveragePool, ReduceMean: linear, too, with equal positive weights.
 * - MaxPool, GlobalMaxPool: to the maximum, the first in scan order.
 * - Add and Sum of computed values: in proportion to the summands; equal parts where they add up to
 *   zero.
 * - Transpose, Reshape, Flatten, Squeeze, Unsqueeze, Concat, Split, Slice, Pad, Gather,
 *   DepthToSpace, SpaceToDepth: relevance goes where the number came from.
 * - Activations, normalisations, Dropout, Softmax, and arithmetic with a constant: unchanged.
 *
 * Anything else is refused by name. The products run on the engine: for each linear node there are
 * plans of the network with positive and with negative weights that begin before the node and end
 * behind it; the transposed product is their gradient.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTRIBUTE_LRP_H
#define PXI_ATTRIBUTE_LRP_H

#include <plexor/engine.h>
#include <plexor/probe.h>

#include "base/arena.h"
#include "engine/segments.h"

typedef enum pxi_lrp_kind {
    PXI_LRP_NONE = 0,
    PXI_LRP_PASS,   /* R_in = R */
    PXI_LRP_LINEAR, /* constant weights */
    PXI_LRP_MEAN,   /* equal positive weights */
    PXI_LRP_JOIN,   /* in proportion to the summands */
    PXI_LRP_SHAPE,  /* the same numbers in the same order */
    PXI_LRP_MOVE,   /* the gradient, which needs no forward run */
    PXI_LRP_CHOOSE, /* the gradient, which needs one */
} pxi_lrp_kind;

typedef struct pxi_lrp_step {
    pxi_lrp_kind kind;
    const px_node *node;
    int in_count, out_count;
    int *in, *out; /* values; in: those that are computed, out: those that lead to the scores */
    bool *carries; /* per `in`: a wanted value is behind it */
    bool mixed;    /* in[0] may be negative */
} pxi_lrp_step;

typedef struct pxi_lrp {
    const px_model *model;
    px_arena *arena;
    px_model *positive, *negative; /* the network with the parts of its weights; NULL: not needed */
    px_scores scores;
    px_feed *feeds; /* of the network, for one sample */
    size_t feed_count;
    double beta;
    pxi_lrp_step *steps; /* from the scores back */
    size_t step_count;
    bool *wanted; /* per value */
    int *keep;
    size_t keep_count;
    pxi_segments *segments; /* of the steps, two of each (lrp_run.c) */
} pxi_lrp;

/* `feeds` (NULL: as declared) gives the shape of inputs that the file leaves open. */
px_status pxi_lrp_new(const px_model *model, const px_feed *feeds, size_t feed_count,
                      const int *wanted, size_t wanted_count, double beta, pxi_lrp **out,
                      px_error *err);
void pxi_lrp_free(pxi_lrp *lrp);

/* Shapes for `batch` samples, from the feeds; the caller frees the program. */
struct pxi_program;
px_status pxi_lrp_program(const pxi_lrp *lrp, int64_t batch, struct pxi_program **out,
                          px_error *err);

/* --- running (lrp_run.c) --------------------------------------------------------------------- */

typedef struct pxi_lrp_run pxi_lrp_run;
/* Given each wanted value's relevance, for the whole micro-batch. */
typedef px_status (*pxi_lrp_sink)(void *context, int value, const px_view *relevance,
                                  px_error *err);

px_status pxi_lrp_run_new(const pxi_lrp *lrp, int64_t batch, pxi_lrp_run **out, px_error *err);
void pxi_lrp_run_free(pxi_lrp_run *run);
/* After a forward run of `session`, whose plan keeps what pxi_lrp.keep lists. Samples without a
 * prediction have no relevance. */
px_status pxi_lrp_run_go(pxi_lrp_run *run, const px_session *session, int64_t samples,
                         const px_input_facts *facts, pxi_lrp_sink sink, void *context,
                         px_error *err);

/* --- element by element (lrp_rules.c): all views have the same shape ------------------------- */

/* The part of `from` that is positive (sign 1), negative (-1), or all of it (0), to `to` in logical
 * order without gaps. */
void pxi_lrp_part(const px_view *from, int sign, float *to);
/* (S+, S-) from R and the sums; `n` NULL: there are no negative terms, and `minus` is not used. */
void pxi_lrp_ratios(double beta, const px_view *r, const px_view *p, const px_view *n,
                    const px_place *plus, const px_place *minus);
/* to (+)= a * g where a has the sign (0: everywhere). */
void pxi_lrp_weigh(const px_view *a, const px_view *g, int sign, bool adds, const px_place *to);
/* to (+)= r * part / (part + others), or r / count where that is zero; `others` is the sum of the
 * other count - 1 summands. */
void pxi_lrp_share(const px_view *r, const px_view *part, const px_view *others, int count,
                   bool adds, const px_place *to);
/* to (+)= from; the shapes may differ where the number of elements is the same: then in logical
 * order. */
void pxi_lrp_copy(const px_view *from, bool adds, const px_place *to);
/* A view of what is in a place. */
px_view pxi_lrp_view(const px_place *place);

#endif
