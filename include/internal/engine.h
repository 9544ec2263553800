/* include/internal/engine.h - <plexor/engine.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ENGINE_H
#define PXI_INTERNAL_ENGINE_H

#include <plexor/engine.h>

PX_BEGIN_DECLS

/* Where the class scores are, of a network whose classes mean something by themselves: one of
 * regression has verdicts in their place (px_model_scores), and is refused here by name. */
px_status px_model_classes(const px_model *model, px_scores *out, px_error *err);

/* To be called after the plan's weights have changed, while none of its sessions runs: kernels pack
 * them again. */
px_status px_plan_refresh(px_plan *plan, px_error *err);

/* Whether that is the file's own batch, because the network does not work with the wanted one. */
bool px_plan_batch_is_baked(const px_plan *plan);

size_t px_plan_feed_count(const px_plan *plan);

px_shape px_plan_feed_shape(const px_plan *plan, size_t feed); /* with the micro-batch */

px_dtype px_plan_dtype(const px_plan *plan, int value); /* PX_NONE: not in the plan */

size_t px_plan_arena_bytes(const px_plan *plan); /* memory per session */

int64_t px_plan_flops(const px_plan *plan); /* forward, whole micro-batch */

size_t px_plan_step_count(const px_plan *plan);

px_plan_step px_plan_step_get(const px_plan *plan, size_t step);

/* The factors of a gate, [extent of axis 0][extent of its axis], all 0 at first, for the caller to
 * fill before forward; they stay. And after backward, the gradient by each of them. NULL: there is
 * no such gate, or the plan has no seeds. */
float *px_session_gate(px_session *session, size_t gate);

const float *px_session_gate_grad(const px_session *session, size_t gate);

/* For plans in training that are run without a team: what Dropout draws its masks with. The sample
 * in row n of the micro-batch is number first + n. */
void px_session_draw(px_session *session, uint64_t seed, int64_t first, int64_t iteration);

px_run_options px_run_options_default(void);

px_status px_team_new(px_plan *plan, int threads, int64_t most_samples, px_team **out,
                      px_error *err);

void px_team_free(px_team *team);

px_status px_team_run(px_team *team, const px_team_step *step, px_error *err);

/* After px_team_run(): the sum over the batch, in the order in which the file has the weight. NULL:
 * not in wrt, or not a constant. */
const float *px_team_gradient(const px_team *team, int value);

/* Moves the running statistics of BatchNormalization in the plan's weights: by the unbiased
 * variance, as PyTorch does; ONNX's momentum is the part that stays. `share` (0..1) of that way: 1
 * unless they are to be slower. */
void px_team_commit(px_team *team, double share);

/* px_plan_refresh() on all workers. */
px_status px_team_refresh(px_team *team, px_error *err);

px_status px_team_each(px_team *team, int64_t count, px_team_fn work, void *context, px_error *err);

/* The same where a network gives only probabilities: -log p, guarded at the least positive float.
 */
double px_probability_loss(const float *probabilities, int classes, int64_t label, float *gradient);

/* A row of class scores as probabilities, in double: softmax with the maximum taken out; of
 * probabilities just a copy. */
void px_scores_probabilities(const px_scores *scores, const float *row, double *p);

size_t px_operator_count(void); /* sorted by name, then version */

px_operator px_operator_get(size_t i);

/* The machine's single-precision peak as dnnl_sgemm reaches it, in GFLOP/s, on `threads` threads
 * that each multiply on their own; the best of several rounds, about a third of a second. */
px_status px_peak_gflops(int threads, double *out, px_error *err);

PX_END_DECLS
#endif
