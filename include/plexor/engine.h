/* include/plexor/engine.h - plans and sessions: run a network forward and backward
 *
 *     px_plan_options options = px_plan_options_default();
 *     options.input_grad = true;
 *     px_plan_new(model, &options, &plan, &err);          // once: immutable, shared
 *     px_session_new(plan, &session, &err);               // one per worker, never shared
 *     memcpy(px_session_input(session, 0), x, ...);       // NCHW, plan's micro-batch of samples
 *     px_session_forward(session, &err);
 *     px_view logits = px_session_view(session, value);
 *
 * A *view* says where a kept tensor lies: inside a plan 4-d activations are stored channels-last,
 * so readers use the strides. Gradients start at *seeds* (any set of values; cotangents add) and
 * reach every value in `wrt`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_ENGINE_H
#define PLEXOR_ENGINE_H

#include <plexor/weights.h>

PX_BEGIN_DECLS

typedef struct px_plan px_plan;
typedef struct px_session px_session;

typedef struct px_feed { /* a value given from outside, with its shape for the whole micro-batch */
    int value;
    px_shape shape;
} px_feed;

/* A value that is multiplied, right after it was computed, by a factor for each index of axis 0 and
 * of `axis` (the channels): whoever reads the value gets the product, kept and observed values are
 * products too. The session is given the factors, and backward their gradients. */
typedef struct px_gate {
    int value; /* made by a node, float32 */
    int axis;  /* from 1 */
} px_gate;

typedef struct px_plan_options {
    int64_t batch;        /* micro-batch; 0: chosen from the size of the activations */
    const px_feed *feeds; /* NULL: the graph's inputs, shapes as declared */
    size_t feed_count;
    const int *keep; /* values readable after forward, besides the graph's outputs */
    size_t keep_count;
    const int *observe;   /* values shown to the session's observer while they are hot in cache; */
    size_t observe_count; /* unlike `keep` this costs no memory */
    const int *seeds;     /* values where cotangents may be set; none: forward only */
    size_t seed_count;
    const int *wrt; /* values whose gradient is wanted: feeds, kept values, constants */
    size_t wrt_count;
    const px_gate *gates; /* each value once; where there are seeds, the gates are in wrt */
    size_t gate_count;
    bool input_grad; /* adds feed 0 to `wrt` and the logits to `seeds` */
    bool no_outputs; /* compute only `keep` and `seeds`, not the graph's outputs */
    bool repeat;     /* several backward runs may follow one forward run; costs memory */
    bool direct;     /* no kernels that cancel (Winograd): a sum of terms of one sign keeps it */
    bool reference;  /* plain C kernels only, no fusion: what fast paths are tested against */
    px_weights *weights; /* NULL, or this model's: constants are read there. Outlive the plan */
    bool training;       /* with weights: BatchNormalization by the batch, and Dropout drops */
    int64_t
        team_samples;  /* in training with batch 0: the size of the batches to come; 0: unknown */
    bool frozen_norms; /* in training, BatchNormalization by its running statistics after all */
} px_plan_options;

PX_API px_plan_options px_plan_options_default(void);

/* Refuses, naming every operator and node it cannot run, before anything runs. */
PX_API px_status px_plan_new(const px_model *model, const px_plan_options *options, px_plan **out,
                             px_error *err);
PX_API void px_plan_free(px_plan *plan);
PX_API const px_model *px_plan_model(const px_plan *plan);
PX_API int64_t px_plan_batch(const px_plan *plan);
PX_API px_shape px_plan_shape(const px_plan *plan, int value); /* logical, with batch */

/* One line per step for `info --plan` and the benchmarks: kind, kernel implementation, shapes. */
typedef struct px_plan_step {
    const char *node, *type, *kernel; /* kernel: oneDNN's implementation name, or "plain" */
    int64_t flops;
} px_plan_step;

PX_API px_status px_session_new(const px_plan *plan, px_session **out, px_error *err);
PX_API void px_session_free(px_session *session);

/* The feed's memory, in logical (NCHW) order, for the caller to fill before each forward run. It is
 * float32 (other types: as the graph declares) and is overwritten by no one. */
PX_API void *px_session_input(px_session *session, size_t feed);

PX_API px_status px_session_forward(px_session *session, px_error *err);

typedef struct px_view {
    const float *data;           /* NULL: the plan does not keep that value */
    px_shape shape;              /* logical order */
    int64_t stride[PX_MAX_RANK]; /* in elements, per logical axis */
} px_view;

/* Called inside px_session_forward() for each value in `observe`, right after it was computed and
 * in that order; the view is valid for the length of the call. NULL: nobody looks. */
typedef px_status (*px_observer)(void *context, int value, const px_view *view, px_error *err);
PX_API void px_session_observe(px_session *session, px_observer observer, void *context);

/* Copies a kept value to `out` in logical order, whatever its type; the first `samples` only where
 * the leading axis is the batch (samples < 0: everything). */
PX_API px_status px_session_read(const px_session *session, int value, int64_t samples, void *out,
                                 px_error *err);

/* Backward: clear, add cotangents at seeds through the strided pointer, run, read gradients. */
PX_API px_status px_session_seed_clear(px_session *session, px_error *err);
/* Zeroed on first use after a clear. Returns a writable strided place; data NULL: not a seed. */
typedef struct px_place {
    float *data;
    px_shape shape;
    int64_t stride[PX_MAX_RANK];
} px_place;
PX_API px_place px_session_seed(px_session *session, int value);
PX_API px_status px_session_backward(px_session *session, px_error *err);
PX_API px_view px_session_grad(const px_session *session, int value); /* data NULL: not in wrt */

/* Runs the whole graph once with plain C kernels, shapes taken from the inputs: the interpreter
 * behind `onnx-test`. `inputs` are one per graph input, in order; `outputs` (one per graph output)
 * are owned by the caller on PX_OK. Half types come back as float32. */
PX_API px_status px_model_interpret(const px_model *model, const px_tensor *inputs,
                                    px_tensor *outputs, px_error *err);

/* --- what a classifier needs on top ---------------------------------------------------------- */

/* Where the class scores are (Softmax/LogSoftmax input, else `logits`, else the only
 * [N, classes] output). */
typedef struct px_scores {
    int value; /* the logits' value index (or the probabilities', if `probabilities`) */
    int classes;
    bool probabilities; /* the network only gives probabilities */
    const char *why;    /* "input of Softmax node 'prob'" */
} px_scores;
PX_API px_status px_model_scores(const px_model *model, px_scores *out, px_error *err);

/* Every operator the engine cannot run, as "Type (node 'name') xCOUNT" lines in a string the caller
 * frees; NULL if there is none. */
PX_API char *px_model_unsupported(const px_model *model);

/* --- arrays in, arrays out (run_arrays.c) --------------------------------------------------------
 *
 *     px_tensor y = {0};
 *     px_run(model, &x, NULL, &logits, 1, &y, NULL, &err);     // all samples of x, on all cores
 */

/* Called from the calling thread with the number of samples done; returns false to cancel. */
typedef bool (*px_progress_fn)(void *context, int64_t done, int64_t total);

typedef struct px_run_options {
    int threads;   /* <= 0: one per core */
    int64_t batch; /* samples at a time; 0: chosen */
    px_progress_fn progress;
    void *progress_context;
} px_run_options;

typedef struct px_run_facts {
    int64_t count, batch; /* samples, and so many at a time */
    bool batch_baked;     /* because the file says so */
} px_run_facts;

/* `inputs` are one per graph input, in order, as px_session_input() takes them; their first axis is
 * samples. Where a value of `values` has no row per sample, or the network several inputs, all is
 * run at once. On PX_OK the caller owns outputs[count]; *facts (may be NULL) says how they ran. */
PX_API px_status px_run(const px_model *model, const px_tensor *inputs,
                        const px_run_options *options, const int *values, size_t count,
                        px_tensor *outputs, px_run_facts *facts, px_error *err);

/* Inputs per second of random inputs, forward or (`backward`) with the gradient of the loss by the
 * input: the best of `rounds` rounds of about `seconds` each. `open` (NULL or rank 0: as declared)
 * is the shape of an input with a batch axis, where the file leaves it open. */
typedef struct px_bench_options {
    const px_shape *open;
    bool backward;
    int threads;
    int64_t batch, rounds;
    double seconds;
} px_bench_options;

typedef struct px_bench_result {
    double per_s;
    int64_t batch; /* that the plan has */
    double flops;  /* per input, forward */
} px_bench_result;
PX_API px_status px_bench(const px_model *model, const px_bench_options *options,
                          px_bench_result *out, px_error *err);

/* --- one batch for an optimiser (team.c) ---------------------------------------------------------
 *
 *     px_team_new(plan, threads, batch, &team, &err);   // plan: training, seeds, weights in wrt
 *     px_team_run(team, &step, &err);                   // forward and backward of the whole batch
 *     ... px_team_gradient(team, value) ...             // change the weights
 *     px_team_commit(team, 1.0);                        // running statistics
 *     px_team_refresh(team, &err);
 *
 * The batch is spread over micro-batches of the plan's size, a session each, and those over the
 * workers, which meet at every BatchNormalization. All sums over the batch are joined in the order
 * of the micro-batches: the number of threads does not matter.
 */
typedef struct px_team px_team;
typedef px_status (*px_batch_fn)(void *context, px_session *session, int64_t first, int64_t samples,
                                 px_error *err);

typedef struct px_team_step {
    uint64_t seed; /* of Dropout, with the iteration */
    int64_t iteration;
    int64_t samples; /* 1 .. what the team was made for */
    bool apart; /* each micro-batch normalises by itself; running statistics follow the first */
    /* Fills the session's inputs with samples [first, first + samples) of the batch. */
    px_batch_fn load;
    /* After forward: reads the scores, and seeds the gradient of the loss. */
    px_batch_fn judge;
    void *context;
    /* What these two leave of each sample, in arrays by its place in the batch, so that all ranks
     * (internal/ranks.h) get it. */
    struct {
        void *base; /* NULL: no more */
        size_t size;
    } left[4];
} px_team_step;

/* Calls `work` for 0..count-1 on the team's workers, for who changes the weights in pieces. */
typedef px_status (*px_team_fn)(void *context, int64_t index, px_error *err);

/* --- class scores of one sample (loss.c) ----------------------------------------------------- */

/* The highest score's index, the lowest of equals; -1 where none is a number. */
PX_API int px_argmax(const float *scores, int classes);

/* Cross-entropy of one row of logits by log-sum-exp, in double. `gradient` (may be NULL) gets the
 * derivative by each logit; at the label it is minus the sum of the other probabilities, never
 * p - 1, which loses everything in float32 where the network is confident. 0 <= label < classes. */
PX_API double px_softmax_loss(const float *logits, int classes, int64_t label, float *gradient);

/* After a forward run: seeds the gradient of each sample's own loss at the class scores, for the
 * first `samples` rows; the other rows stay as they are. losses (may be NULL) gets one per sample.
 */
PX_API px_status px_session_seed_loss(px_session *session, const px_scores *scores,
                                      const int64_t *labels, int64_t samples, double *losses,
                                      px_error *err);

/* After a forward run: the predicted class (px_argmax) of the first `samples` rows, and their
 * losses where `labels` and `losses` are given (NaN at a negative label, which means: none). */
PX_API px_status px_session_judge(const px_session *session, const px_scores *scores,
                                  const int64_t *labels, int64_t samples, int64_t *predictions,
                                  double *losses, px_error *err);

/* --- what there is --------------------------------------------------------------------------- */

typedef struct px_operator {
    const char *name, *domain; /* domain "" for ai.onnx */
    int since;                 /* first opset that this version serves */
    const char *gradient;      /* "yes", "zero" (flat almost everywhere), "no" */
} px_operator;

/* A kept value, graph output or feed after forward. For values that are not float32, see
 * px_session_read(). */
PX_API px_view px_session_view(const px_session *session, int value);

PX_END_DECLS
#endif
