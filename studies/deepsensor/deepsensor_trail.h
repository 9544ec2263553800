/* studies/deepsensor/deepsensor_trail.h - one example per seed and iteration, and what is counted
 * of them
 *
 * LGR B.6. The example of a swarm in iteration g is the best place found until then. Of other
 * methods it is the last fault found until then; before the first fault the last input that was
 * kept; before any, the seed itself. What an iteration is depends on the method (ds_clock).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPSENSOR_TRAIL_H
#define PXI_STUDY_DEEPSENSOR_TRAIL_H

#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/store.h>

typedef enum ds_clock {
    DS_BY_EXECUTION, /* equal shares of the campaign's executions */
    DS_BY_VISIT,     /* a visit of each seed */
    DS_BY_STEP,      /* a step of the first visit's first climb */
    DS_BY_SWARM,     /* an iteration of the seed's swarm */
} ds_clock;

typedef struct ds_example {
    int64_t id;     /* in the campaign; 0: the seed itself */
    int64_t answer; /* -1: no number */
} ds_example;

typedef struct ds_trail {
    int64_t seeds, iterations, classes;
    int64_t *roots, *labels; /* per seed: id, class */
    int64_t *indices;        /* where it is in its data set */
    ds_example *examples;    /* [seeds][iterations] */
    double fresh;            /* pairs (seed, iteration) in which a fault was found */
    double pairs;            /* pairs (seed, wrong class) among all faults */
    double place_categories; /* among all places that swarms looked at; NaN: none is told */
    double *fitness;         /* [iterations]: mean of the swarms' best; NaN: none told */
} ds_trail;

/* Only outputs of the first `iterations` count. */
px_status ds_trail_read(px_campaign *campaign, ds_clock clock, int64_t iterations, ds_trail *out,
                        px_error *err);
void ds_trail_free(ds_trail *trail); /* {0} is fine */

/* Pixels of an example. */
static inline int64_t ds_trail_id(const ds_trail *trail, int64_t seed, int64_t iteration)
{
    const ds_example *e = &trail->examples[seed * trail->iterations + iteration];
    return e->id ? e->id : trail->roots[seed];
}

typedef struct ds_counts {
    double errors;              /* #Test errors: examples that are misclassified */
    double categories;          /* #Error categories: distinct wrong labels of a seed, summed */
    double polluted;            /* errors with the polluted class as answer */
    double last, last_polluted; /* the same of the last examples: E_any, E_pol */
    double l2, linf;            /* means over misclassified examples, in scaled units; NaN: none */
    double ssim;                /* likewise, what moved being undone; of DS_CUT without a bound */
    double last_l2, last_linf;  /* over all last examples */
} ds_counts;
void ds_trail_count(const ds_trail *trail, int64_t polluted_class, ds_counts *out);

/* What becomes of an example. The last two are as far from the seed in L2 as it is, but for what is
 * cut to the range of pixels, wherever they lead: uniform noise, and its own changes at other
 * places. */
typedef enum ds_change { DS_CUT, DS_NOISE, DS_SHUFFLED } ds_change;

typedef struct ds_bound { /* how far examples may be from their seeds */
    ds_change change;
    uint64_t seed; /* of noise and places */
    const px_model *model;
    const px_preprocess *pre; /* of inputs as the campaign stores them */
    double linf;              /* DS_CUT: in scaled units, of features a share of the seeds' range;
                                 infinite: anywhere */
    const char *scratch;      /* a file that is written, read and removed */
    int threads;
} ds_bound;

/* Moves every example into the bound, rounding towards the seed, asks the network again, and fills
 * answers and distances of `counts`. With an infinite bound only the distances are new. */
px_status ds_trail_project(const ds_trail *trail, px_campaign *campaign, const ds_bound *bound,
                           int64_t polluted_class, ds_counts *counts, px_error *err);

/* The last examples, or the seeds, as an NPZ file: x, y, indices of the seeds. */
px_status ds_trail_save(const ds_trail *trail, px_campaign *campaign, bool seeds, const char *path,
                        px_error *err);

#endif
