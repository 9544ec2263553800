/* include/internal/shapley.h - which neurons a change of the loss comes from
 *
 *     px_shapley_options options = px_shapley_options_default();    // hidden layers, channels
 *     px_shapley_new(model, NULL, &options, &s, &err);
 *     px_shapley_integrate(s, &diagonal, x, &label, 1, before, &err);          // once per input
 *     px_shapley_integrate(s, &diagonal, moved, labels, 100, after, &err);     // many at once
 *     for (n = 0; n < px_shapley_neuron_count(s); n++)
 *         psi[n] = after[n] - before[n];                            // Aumann-Shapley values
 *     share = px_shapley_fitness(s, PX_SHAPLEY_LAYER_MINMAX, 0.5, psi);
 *
 * Jin, Chen, Zheng, Chen, Cheng, Yu, Liu: *Excitement Surfeited Turns to Errors: Deep Learning
 * Testing Framework Based on Excitable Neurons* (DeepSensor). Players are the channels of hidden
 * layers; a coalition s keeps its own channels and sets the others to zero; its utility is
 * the change of the cross-entropy that the masked network sees,
 *
 *     u(s) = L(x + dx, y; s) - L(x, y; s).
 *
 * Three estimators. *Exact* sums over all coalitions of a layer. *Sampling* takes channels out in
 * random orders and reports standard errors. The *diagonal* integrates the gradient of u by a mask
 * that grows from 0 to 1 everywhere at once: Aumann-Shapley values, which equal Shapley values
 * where u is multilinear and approximate them elsewhere. Where a layer is a cut of the graph its
 * values add up to the change of the loss; where it is none (px_shapley_layer.cut) no such sum is
 * claimed.
 *
 * Inputs are rows of the network's own input, preprocessed, in NCHW order. An object belongs to one
 * thread and keeps its workers, plans and sessions from call to call; results do not depend on the
 * number of workers, nor on which inputs are handed over together.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SHAPLEY_H
#define PXI_INTERNAL_SHAPLEY_H

#include <plexor/probe.h>

PX_BEGIN_DECLS

typedef struct px_shapley px_shapley;

typedef struct px_shapley_options {
    const char *layers, *tap; /* texts of the neuron options; NULL: hidden, post */
    int threads;              /* <= 0: one per core */
} px_shapley_options;
px_shapley_options px_shapley_options_default(void);

/* Finds the players. input_shape is that of one input with a batch axis, for networks that leave it
 * open (NULL: as declared). `model` is borrowed and must outlive the object. PX_E_USAGE for layers
 * that are not hidden, PX_E_UNSUPPORTED where gradients do not come to the layers. */
px_status px_shapley_new(const px_model *model, const px_shape *input_shape,
                         const px_shapley_options *options, px_shapley **out, px_error *err);
void px_shapley_free(px_shapley *shapley); /* NULL is fine */

typedef struct px_shapley_layer {
    const char *name;
    int position;          /* px_layer.position */
    int64_t offset, count; /* its neurons among all */
    bool cut;              /* every way from the input to the scores leads through it */
} px_shapley_layer;
size_t px_shapley_layer_count(const px_shapley *shapley);
const px_shapley_layer *px_shapley_layer_get(const px_shapley *shapley, size_t i);
int64_t px_shapley_neuron_count(const px_shapley *shapley);
int64_t px_shapley_input_size(const px_shapley *shapley); /* numbers per input */
const px_scores *px_shapley_scores(const px_shapley *shapley);
const px_probe *px_shapley_probe(const px_shapley *shapley);

/* Predictions and losses of the whole network; either may be NULL, labels too without losses. */
px_status px_shapley_judge(px_shapley *shapley, const float *inputs, const int64_t *labels,
                           int64_t count, int64_t *predictions, double *losses, px_error *err);

/* --- the diagonal (Aumann-Shapley) ----------------------------------------------------------- */

enum { PX_SHAPLEY_MOST_NODES = 64 };

typedef struct px_diagonal {
    int nodes;      /* of Gauss and Legendre, 1 to PX_SHAPLEY_MOST_NODES */
    bool per_layer; /* scales one layer at a time, and the sum holds in each; otherwise all of them
                       in one pass, and the sum holds over all neurons together */
} px_diagonal;
px_diagonal px_diagonal_default(void); /* 8 nodes, all layers in one pass */

/* values[i][n] = the integral over q in [0, 1] of dL(input i; mask q)/dm_n. The value of neuron n
 * for (x, x + dx) is that of x + dx less that of x: what belongs to x alone is had once for any
 * number of dx. */
px_status px_shapley_integrate(px_shapley *shapley, const px_diagonal *diagonal,
                               const float *inputs, const int64_t *labels, int64_t count,
                               double *values, px_error *err);

/* --- exact, and by sampling ------------------------------------------------------------------ */

typedef struct px_shapley_pair { /* one input before and after, as rows of the network's input */
    const float *x, *moved;
    int64_t label;
    uint32_t item; /* addresses the random orders, with the seed */
} px_shapley_pair;

enum { PX_SHAPLEY_MOST_EXACT = 16 }; /* players of which all coalitions are tried */

/* All 2^n coalitions of one layer. values[n] per neuron of the layer; utilities (may be NULL) gets
 * u(s), s as bits: neuron i is in coalition s where s >> i & 1. PX_E_USAGE for larger layers. */
px_status px_shapley_exact(px_shapley *shapley, size_t layer, const px_shapley_pair *pair,
                           double *values, double *utilities, px_error *err);

/* How values are scaled before they are compared with lambda. */
#define PX_SHAPLEY_NORMS(X)                                                                   \
    X(PX_SHAPLEY_RAW, "raw", "as they are, in nats")                                          \
    X(PX_SHAPLEY_LAYER_MINMAX, "layer-minmax", "to 0..1 within the layer; 0 where all equal") \
    X(PX_SHAPLEY_LAYER_MAX, "layer-max", "by the layer's largest; 0 where none is above 0")   \
    X(PX_SHAPLEY_GLOBAL_MINMAX, "global-minmax", "to 0..1 over all neurons")

typedef enum px_shapley_norm {
#define PX_SHAPLEY_NORM_ENUM(enumerator, id, help) enumerator,
    PX_SHAPLEY_NORMS(PX_SHAPLEY_NORM_ENUM)
#undef PX_SHAPLEY_NORM_ENUM
} px_shapley_norm;
const char *px_shapley_norm_name(px_shapley_norm norm);

typedef enum px_shapley_goal {                       /* when a neuron needs no more samples */
                               PX_SHAPLEY_ALL,       /* never: every neuron gets all of them */
                               PX_SHAPLEY_EXCITABLE, /* on which side of lambda it lies is clear */
                               PX_SHAPLEY_TOP, /* whether it is among the `top` largest is clear */
} px_shapley_goal;

typedef struct px_shapley_sampling {
    int64_t permutations; /* an even number: each goes with its reverse */
    double truncation; /* a removal order ends when what is left of the change is below this share
                          of it, 5 times in a row; 0: never */
    px_shapley_goal goal;
    px_shapley_norm norm; /* of PX_SHAPLEY_EXCITABLE; within the layer */
    double lambda;
    int64_t top;
    double delta; /* of the confidence radius (empirical Bernstein) */
    uint64_t seed;
} px_shapley_sampling;
px_shapley_sampling px_shapley_sampling_default(void); /* 100, 0.01, all, delta 0.2 */

typedef struct px_shapley_estimate { /* `values`, `errors`, `counts`: the caller's, per neuron */
    double *values;
    double *errors;    /* standard errors over pairs of an order and its reverse; NaN: one pair */
    int64_t *counts;   /* pairs that were looked at; may be NULL */
    double change;     /* u(all) - u(none) */
    double sum;        /* of the values */
    double sum_error;  /* how far the sum may be off: 0 without truncation and goal */
    int64_t evaluated; /* masked pairs (x, x + dx) that were run */
    int64_t truncated; /* orders that ended early */
} px_shapley_estimate;

/* Random orders of the neurons of one layer. */
px_status px_shapley_sample(px_shapley *shapley, size_t layer, const px_shapley_sampling *options,
                            const px_shapley_pair *pair, px_shapley_estimate *estimate,
                            px_error *err);

/* Empirical Bernstein: sqrt(2 v ln(2/delta) / c) + 7 R ln(2/delta) / (3 (c - 1)) for `count`
 * samples of that variance, in a range R; infinite below two. */
double px_shapley_radius(double variance, int64_t count, double range, double delta);

/* --- excitable neurons ----------------------------------------------------------------------- */

/* PX_E_USAGE where no value of that norm can be compared with lambda: it is not a number, or
 * outside 0..1 with a norm that is not raw. */
px_status px_shapley_check_lambda(px_shapley_norm norm, double lambda, px_error *err);

/* All neurons of one input; `out` may be `values`. */
void px_shapley_normalise(const px_shapley *shapley, px_shapley_norm norm, const double *values,
                          double *out);

/* The share of neurons whose normalised value is above lambda. A layer with a value that is not a
 * number counts as none. */
double px_shapley_fitness(const px_shapley *shapley, px_shapley_norm norm, double lambda,
                          const double *values);

/* What the published code has in place of Shapley values: h(moved) - h(x), scaled to 0..1 within
 * the layer and then averaged over the places of a channel; 0 where all differences of the layer
 * are equal. `x` is one input for all of `moved`. Its threshold is 0.2, by px_shapley_fitness()
 * with PX_SHAPLEY_RAW; its objective adds the coverage criterion nbc. values[i][n]. */
#define PX_SHAPLEY_CODE_LAMBDA 0.2
px_status px_shapley_differences(px_shapley *shapley, const float *x, const float *moved,
                                 int64_t count, double *values, px_error *err);

PX_END_DECLS
#endif
