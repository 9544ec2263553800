/* src/attribute/paths_internal.h - the inside of px_paths */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTRIBUTE_PATHS_INTERNAL_H
#define PXI_ATTRIBUTE_PATHS_INTERNAL_H

#include <plexor/decision_path.h>

#include "probe/probe_internal.h"
#include <internal/pass.h>

typedef struct pxi_path_tap { /* where a layer's values lie */
    const px_layer *layer;
    int value;
    pxi_neuron_layout values, grads; /* in the plan's memory */
    size_t value_span, grad_span;    /* floats from a sample's first to its last, all included */
    size_t carry;                    /* where a lane keeps a row of values; gradients follow */
} pxi_path_tap;

typedef struct pxi_path_lane { /* a lane's state */
    float *carry;              /* the point before, of all layers */
    double *sums;              /* [units]: over the places of a channel */
    float *scores;             /* [classes] */
    double *points;            /* [most rows] */
    double *along;             /* [most rows]: the score of the target class at each point */
    double *step;              /* [2 units]: scratch */
} pxi_path_lane;

struct px_paths {
    const px_model *model;
    px_paths_options options; /* texts are not kept */
    px_scores scores;
    px_probe *probe;
    px_feed input; /* one sample */
    size_t input_size;
    float *baseline; /* [input_size] */
    px_path_layer *layers;
    pxi_path_tap *taps;
    size_t layer_count;
    int64_t unit_count;
    bool *competes; /* [units] */
    pxi_pass *pass; /* keeps taps and scores, seeds the scores */
    px_progress_fn progress;
    void *progress_context;
    px_paths_sums sums;
    char *description;
    uint64_t id;
};

/* Points of a run of so many steps from w = 1 down to 0; the first is the input, the last the
 * baseline. *first and *last are those between which differences count. Returns how many. */
int pxi_path_points(px_path_rule rule, int steps, double *points, int *first, int *last);
int pxi_path_most_points(const px_paths_options *options);

/* After a forward run: backward from the score of class `target` in each of the first `rows`. */
px_status pxi_path_seed(const px_paths *paths, px_session *session, int64_t rows, int64_t target,
                        px_error *err);

/* sums[c] += sum over places of (h_from - h_to) * (both ? g_to + g_from : g_to), where `from` is
 * the point nearer to the input. Pointers are to the sample's first element. */
typedef struct pxi_point {
    const float *value, *grad;
} pxi_point;
void pxi_conductance_add(const pxi_path_tap *tap, pxi_point from, pxi_point to, bool both,
                         double *sums);

/* The same with both, and of a cut: what is added comes to twice `change`, the score at `from` less
 * that at `to`. `scratch` has room for twice the channels. */
void pxi_conductance_balance(const pxi_path_tap *tap, pxi_point from, pxi_point to, double change,
                             double *scratch, double *sums);

/* The unit with the largest contribution, the lowest of equals, of those that compete; -1: there is
 * none, or all contributions are zero. */
int32_t pxi_critical_unit(const double *contributions, const bool *competes, int64_t units);

/* The id of the encoder that a judge embeds with; 0: none. */
uint64_t pxi_path_judge_encoder(const px_path_judge *judge);

#endif
