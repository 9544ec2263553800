/* include/internal/shapley_tally.h - excitable neurons over many inputs, and a ranking of them
 *
 *     px_shapley_tally_options o = px_shapley_tally_options_default();
 *     px_shapley_tally_new(s, &o, &tally, &err);
 *     px_shapley_tally_add(tally, x, moved, labels, count, &err);      // any number of times
 *     px_shapley_rank(tally, 10, false, &list, &err);                  // as px_suspicious_rank()
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SHAPLEY_TALLY_H
#define PXI_INTERNAL_SHAPLEY_TALLY_H

#include <internal/shapley.h>
#include <plexor/localize.h>

PX_BEGIN_DECLS

#define PX_SHAPLEY_METHODS(X)                                                                 \
    X(PX_SHAPLEY_SAMPLED, "sampled",                                                          \
      "Shapley values of each layer: random orders, or all coalitions where those are fewer") \
    X(PX_SHAPLEY_AUMANN, "aumann", "Aumann-Shapley values, all layers in one pass")           \
    X(PX_SHAPLEY_AUMANN_LAYER, "aumann-layer", "Aumann-Shapley values, one layer at a time")  \
    X(PX_SHAPLEY_CODE, "code", "the published code's scaled differences; no Shapley values")

typedef enum px_shapley_method {
#define PX_SHAPLEY_METHOD_ENUM(enumerator, id, help) enumerator,
    PX_SHAPLEY_METHODS(PX_SHAPLEY_METHOD_ENUM)
#undef PX_SHAPLEY_METHOD_ENUM
} px_shapley_method;
const char *px_shapley_method_name(px_shapley_method method);

typedef struct px_shapley_tally px_shapley_tally;

typedef struct px_shapley_tally_options {
    px_shapley_method method;
    int nodes;                    /* of the Aumann-Shapley methods */
    px_shapley_sampling sampling; /* of `sampled` */
    px_shapley_norm norm;
    double lambda;
} px_shapley_tally_options;
px_shapley_tally_options px_shapley_tally_options_default(void); /* sampled, 100 orders */

/* `shapley` is borrowed and must outlive the tally. */
px_status px_shapley_tally_new(px_shapley *shapley, const px_shapley_tally_options *options,
                               px_shapley_tally **out, px_error *err);
void px_shapley_tally_free(px_shapley_tally *tally); /* NULL is fine */

/* Rows of the network's input before and after. Inputs that the network gets wrong before are left
 * out and counted. */
px_status px_shapley_tally_add(px_shapley_tally *tally, const float *x, const float *moved,
                               const int64_t *labels, int64_t count, px_error *err);

typedef struct px_shapley_sums { /* of everything that was added */
    int64_t seen;                /* pairs */
    int64_t used;                /* all but the next two */
    int64_t wrong_before;        /* the network errs on x already */
    int64_t odd;                 /* a loss or a value is no number */
    int64_t failed;              /* of those used: the network errs on x + dx */
    double change;               /* mean change of the loss */
    double fitness;              /* mean share of excitable neurons */
    double gap;    /* mean distance of a layer's sum from the change, of layers that are
                      cuts; NaN for methods without such a sum */
    double stated; /* mean of the errors that were stated for it */
} px_shapley_sums;
px_shapley_sums px_shapley_tally_sums(const px_shapley_tally *tally);

typedef struct px_shapley_neuron { /* of one class, or PX_POOLED */
    px_hits hits;                  /* active: excitable; failed: the network errs on x + dx */
    double score;                  /* mean normalised value; NaN: no inputs */
    double value, error;           /* mean value, and its standard error over inputs */
} px_shapley_neuron;
px_shapley_neuron px_shapley_tally_neuron(const px_shapley_tally *tally, int c, int64_t neuron);

/* The k neurons of the highest mean normalised value for each class that has inputs, or over all;
 * ties as in px_suspicious_rank(). The list's measure is "shapley", its theta is lambda. */
px_status px_shapley_rank(const px_shapley_tally *tally, int64_t k, bool pooled,
                          px_suspicious **out, px_error *err);

PX_END_DECLS
#endif
