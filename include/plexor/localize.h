/* include/plexor/localize.h - which neurons are active when a network is wrong
 *
 *     px_spectrum_options options = px_spectrum_options_default();
 *     px_spectrum_new(model, &input_shape, &options, &spectrum, &err);
 *     px_spectrum_run(spectrum, set, &pre, NULL, &err);       // any number of times, or shards
 *     px_rank_options rank = px_rank_options_default();       // ochiai, the first 10 of each class
 *     px_suspicious_rank(spectrum, &rank, &list, &err);
 *     px_suspicious_save(list, "suspicious.csv", &err);
 *
 * Spectrum-based fault localization on neurons (Eniser, Gerasimou, Sen: DeepFault, FASE 2019). A
 * neuron is *active* on an input when its value is above theta. The hit spectrum counts, for the
 * inputs of a class or for all of them (PX_POOLED), how often it was active or not while the
 * network was right or wrong; a *measure* makes one number of the four counts.
 *
 * Counts are whole numbers: threads and shards give the same bytes. docs/localize.md has the
 * formulas, the rules for ties and for zeros, and the file formats.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_LOCALIZE_H
#define PLEXOR_LOCALIZE_H

#include <plexor/data.h>
#include <plexor/field.h>
#include <plexor/probe.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

#define PX_POOLED (-1) /* in place of a class: the inputs of all classes together */

/* --- hit spectra ----------------------------------------------------------------------------- */

typedef struct px_hits { /* inputs on which a neuron was active / not, while the network was */
    int64_t as, af;      /* right (success), wrong (failure) */
    int64_t ns, nf;
} px_hits;

typedef struct px_spectrum px_spectrum;

typedef struct px_spectrum_options {
    const char *layers, *tap, *neurons; /* texts of the neuron options; NULL: hidden, post, chan */
    double theta;                       /* active: value > theta, strictly */
    int threads;                        /* <= 0: one per core */
} px_spectrum_options;
PX_API px_spectrum_options px_spectrum_options_default(void); /* theta 0 */

/* An empty spectrum of a classifier. `model` is borrowed and must outlive it; input_shape is that
 * of one input with a batch axis, for networks that leave it open (NULL: as declared). */
PX_API px_status px_spectrum_new(const px_model *model, const px_shape *input_shape,
                                 const px_spectrum_options *options, px_spectrum **out,
                                 px_error *err);
PX_API void px_spectrum_free(px_spectrum *spectrum); /* NULL is fine */

typedef struct px_spectrum_run_options {
    int64_t batch;         /* micro-batch; 0: chosen */
    int64_t shard, shards; /* this part of the data, along blocks; shards 0 or 1: all */
    px_progress_fn progress;
    void *progress_context;
} px_spectrum_run_options;

/* Counts the inputs of a data set in one pass. Every input needs a label below the network's class
 * count (PX_E_INPUT, PX_E_MISMATCH). A neuron value or a class score that is not a number ends the
 * run with PX_E_INPUT and names the layer and the input. After PX_E_CANCELLED the spectrum holds
 * the blocks that were done, which are the first ones; after any other failure it is only good for
 * px_spectrum_free(). `options` may be NULL. */
PX_API px_status px_spectrum_run(px_spectrum *spectrum, const px_dataset *set,
                                 const px_preprocess *pre, const px_spectrum_run_options *options,
                                 px_error *err);

/* Adds what `other` has counted. PX_E_MISMATCH, leaving it unchanged, where they are of different
 * networks, neurons or thresholds, or have seen the same inputs. */
PX_API px_status px_spectrum_merge(px_spectrum *spectrum, const px_spectrum *other, px_error *err);

/* An NPZ: `meta` (JSON) and the counts of the classes that were seen; the same inputs give the same
 * bytes. What is opened has no network: it can be merged, ranked and saved, and can run nothing. */
PX_API px_status px_spectrum_save(const px_spectrum *spectrum, const char *path, px_error *err);
PX_API px_status px_spectrum_open(const char *path, px_spectrum **out, px_error *err);

typedef struct px_spectrum_layer {
    const char *name;
    int position;          /* px_layer.position */
    int64_t offset, count; /* its neurons among all of the spectrum's */
} px_spectrum_layer;
PX_API int64_t px_spectrum_neuron_count(const px_spectrum *spectrum);
PX_API int px_spectrum_classes(const px_spectrum *spectrum);

/* Inputs of class c (PX_POOLED: all) on which the network was right and wrong; 0 outside. */
PX_API int64_t px_spectrum_passed(const px_spectrum *spectrum, int c);
PX_API int64_t px_spectrum_failed(const px_spectrum *spectrum, int c);
PX_API px_hits px_spectrum_hits(const px_spectrum *spectrum, int c, int64_t neuron);

/* --- measures: a static const table ---------------------------------------------------------- */

#define PX_STAR_DEFAULT 3.0 /* the exponent of D* */

typedef struct px_measure {
    px_entry entry;      /* "ochiai", "Ochiai" */
    const char *formula; /* F = af + nf, P = as + ns, N = F + P */
    double (*score)(const px_hits *hits, double star);
} px_measure;

PX_REGISTRY(px_measures, px_measure, px_measure)

/* --- what counts can tell -------------------------------------------------------------------- */

/* A neuron that is active on (almost) all inputs, or on (almost) none, tells right from wrong no
 * better than a constant does, whatever its score: all that are always active share one. */
#define PX_UNINFORMATIVE_SHARE 0.01 /* of the inputs that a neuron differs on, at most */
typedef enum px_activity {
    PX_ACTIVE_SOMETIMES, /* the only one that is informative */
    PX_ACTIVE_ALWAYS,    /* on more than 99% of the inputs */
    PX_ACTIVE_NEVER      /* on less than 1% */
} px_activity;
/* How many neurons are of each kind over the inputs of class c (or PX_POOLED). */
typedef struct px_activity_counts {
    int64_t sometimes, always, never;
} px_activity_counts;

/* Of the inputs on which a neuron was active, the share that failed: its 95% interval (Wilson). 0
 * to 1 where it was active on none. */
PX_API void px_hits_interval(const px_hits *hits, double *low, double *high);
/* Whether the network is wrong more often while the neuron is active than over all, beyond chance:
 * the low end of the interval is above F / N, and it was active on at least three failing inputs.
 * This is what makes a suspect of a neuron. */
#define PX_SUSPECT_FAILURES 3

/* --- suspicious neurons ---------------------------------------------------------------------- */

typedef struct px_suspect {
    int class_index;   /* or PX_POOLED */
    int64_t rank;      /* in its class, from 1 */
    const char *layer; /* its name; owned by the list */
    int position;      /* px_layer.position, "#i" */
    int64_t unit;      /* in its layer, under the list's neuron view */
    px_hits hits;
    double score; /* may be +infinity; the score of random neurons is NaN */
} px_suspect;

/* Neurons, class after class (PX_POOLED first), in each by rank. Open to read; made and freed by
 * the functions below. */
typedef struct px_suspicious {
    px_suspect *items;
    size_t count;
    const char *measure; /* id of a measure, or "random" */
    double star, theta;
    px_tap tap; /* of the neurons that were counted, and their view */
    px_neurons neurons;
    bool deepxplore;
    uint64_t model_hash;
    int64_t borrowed; /* of a random list: neurons that the measures chose too, for want of others;
                         and those that are missing since there are none at all */
    int64_t missing;
    void *inside;
} px_suspicious;

#define PX_RANK_INPUTS 10 /* that a ranked neuron is active on, at least */

typedef struct px_rank_options {
    const char *measure; /* "ochiai" */
    double star;
    int64_t k;   /* neurons per class; more than there are: all of them */
    bool pooled; /* one ranking over all classes, instead of one per class */
    /* Rank every neuron, as the papers do. Otherwise those are left out that are not
     * PX_ACTIVE_SOMETIMES, and those active on fewer than PX_RANK_INPUTS inputs of the class, or
     * than a tenth of its inputs if that is less. Scores are the same either way. */
    bool include_uninformative;
} px_rank_options;
PX_API px_rank_options px_rank_options_default(void); /* ochiai, star 3, k 10, per class */

/* By score descending, infinite scores among themselves by af descending; then the deeper layer,
 * then the lower unit. Classes without a ranking have no neurons; PX_E_INPUT, saying what to do,
 * where no class has one, or no neuron is informative. On PX_OK the caller owns *out. */
PX_API px_status px_suspicious_rank(const px_spectrum *spectrum, const px_rank_options *options,
                                    px_suspicious **out, px_error *err);

typedef struct px_baseline_options {
    int64_t k; /* per class */
    uint64_t seed;
    uint32_t run;     /* which repetition: other neurons for another one */
    bool compat_code; /* draw layers as the published code does, see docs/localize.md */
} px_baseline_options;

/* Random neurons for comparison, for each class that the lists have: as many from each layer as is
 * the layer's share in the lists (largest remainder), and none that any of the lists has. All lists
 * must be rankings of the spectrum. */
PX_API px_status px_suspicious_random(const px_spectrum *spectrum,
                                      const px_suspicious *const *lists, size_t list_count,
                                      const px_baseline_options *options, px_suspicious **out,
                                      px_error *err);
PX_API void px_suspicious_free(px_suspicious *list); /* NULL is fine */

/* A table with a row per neuron. Reading takes nothing on trust; every row must name the same
 * network, measure and neuron options. */
PX_API px_status px_suspicious_save(const px_suspicious *list, const char *path, px_error *err);
PX_API px_status px_suspicious_open(const char *path, px_suspicious **out, px_error *err);

/* --- rankings compared ----------------------------------------------------------------------- */

/* Neurons that both lists have in class c, over the longer one's length; NaN where one has none. */
PX_API px_status px_suspicious_overlap(const px_suspicious *a, const px_suspicious *b, int c,
                                       double *out, px_error *err);

typedef struct px_rankings { /* of all measures, compared; means over the classes with a ranking */
    px_suspicious **lists;   /* [px_measure_count()] */
    px_matrix overlap, spearman; /* [count][count]; NaN where it is undefined in all classes */
    double *beside;              /* [count]: overlap with the list at hand */
    void *inside;
} px_rankings;

PX_END_DECLS
#endif
