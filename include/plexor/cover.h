/* include/plexor/cover.h - how thoroughly a set of inputs exercises a network
 *
 *     px_cover_options options = px_cover_options_default();
 *     options.criteria = "nc,kmnc";
 *     options.profile = profile;                          // what kmnc measures against
 *     px_cover_new(model, &input_shape, &options, &cover, &err);
 *     px_cover_run(cover, set, &pre, &run, &tally, &err); // any number of times, or shards of one
 *     px_coverage now = px_cover_value(cover, 0);         // of the first criterion
 *
 * A criterion reads one row of floats per input. An *extractor* makes the rows: neuron values of a
 * probe, or whatever a criterion brings (relevance, windowed sums). All extractors of a run share
 * one plan and one forward pass; extractors with equal keys are one.
 *
 * Inputs go in blocks of PX_COVER_BLOCK in the order of the data set, and each block is observed as
 * a whole (very wide rows: in pieces that only the width decides) by the private state of whichever
 * worker took it; the states are merged at the end. So a criterion's state must not depend on how
 * blocks were shared out: sets, counts, maxima, and sums that are exact (base/exact.h). Criteria
 * that depend on the order say so (`ordered`) and see the blocks one by one. That is why threads,
 * and shards along block borders, give identical bytes.
 *
 * An input with a NaN or an infinity in its row is rejected: counted, never observed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_COVER_H
#define PLEXOR_COVER_H

#include <plexor/data.h>
#include <plexor/probe.h>
#include <plexor/profile.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

#define PX_COVER_BLOCK 256

/* --- what a criterion is: a static const descriptor, listed in src/cover/criteria.h ---------- */

/* What a criterion is made for. Borrowed during prepare(); the extractor and the model live as long
 * as what was prepared. */
typedef struct px_criterion_request {
    const px_model *model;
    const px_extractor *extractor;
    const void *config;         /* the criterion's settings, as its table describes them */
    const px_profile *profile;  /* NULL: none is needed */
    const char *const *learned; /* sections of the profile, one per entry of `learners` */
    int classes;                /* 0: the network is no classifier */
    uint64_t seed;
    int threads; /* that prepare() may use, at least 1 */
} px_criterion_request;

typedef struct px_coverage {
    double value;           /* a share 0..1, or an unbounded quantity where total is 0 */
    int64_t covered, total; /* total 0: a count without a bound, or no count at all */
} px_coverage;

typedef struct px_criterion {
    px_entry entry;   /* id, title, source, settings */
    const char *unit; /* what `covered` counts: "neurons", "sections", "patterns" */
    /* What it learns from training data, with its own extractor: NULL-terminated; NULL: nothing. */
    const px_learner *const *learners;
    /* Its own neurons; --layers, --tap and --neurons win. */
    const char *layers; /* NULL: "hidden" */
    px_tap tap;
    px_neurons neurons;
    bool ordered; /* depends on the order of inputs: observed block by block, on one state */
    bool classes; /* only for classifiers: rows' facts have a predicted class */

    /* Changes the defaults above as the settings ask (NULL: they stay), before the user's own
     * neuron options are applied. */
    void (*choose)(const void *config, px_probe_options *options);
    /* Makes the extractor; NULL: the neuron values of a probe with these options. */
    px_status (*extract)(const px_model *model, const px_probe_options *options, const void *config,
                         px_extractor **out, px_error *err);

    /* What does not change while inputs are observed: settings, ranges, fitted models. Shared by
     * all states and threads, so large things belong here. Refuses settings that do not fit. NULL:
     * there is nothing of the kind (then release is NULL too). */
    px_status (*prepare)(const px_criterion_request *request, void **prepared, px_error *err);
    void (*release)(void *prepared); /* NULL is fine */

    /* A state: empty, private to one thread, as small as can be. `prepared` outlives it. `plexor
     * merge` has no network and so nothing prepared: it opens states with NULL. Such a state takes
     * its sizes from load(), and then does merge(), value() and save(), nothing else. */
    px_status (*open)(const void *prepared, void **state, px_error *err);
    void (*close)(void *state); /* NULL is fine */
    px_status (*observe)(void *state, const px_rows *rows, px_error *err);
    /* What observing row i alone would add to value(): no copy, no commit; several threads may ask
     * a state that nobody changes. A rejected row gives 0. */
    double (*gain)(const void *state, const px_rows *rows, int64_t i);
    /* `other` was made for the same network, settings and profile; PX_E_MISMATCH if its sizes show
     * that files lied about that. */
    px_status (*merge)(void *state, const void *other, px_error *err);
    px_coverage (*value)(const void *state);
    /* Of one layer of the extractor; NULL: has no value per layer. */
    px_coverage (*layer_value)(const void *state, size_t layer);
    /* covered[n] for each of the extractor's width; NULL: is not about single neurons. */
    void (*neurons_covered)(const void *state, bool *covered);
    /* Adds sentences a user should read ("12 neurons never change ..."), each on a line of its own;
     * NULL: has none. */
    void (*remark)(const void *state, px_text *text);
    /* Arrays named by px_npz_put() and taken by px_npz_take() below; the same state gives the same
     * bytes. load() is given a state that was just opened, and bytes that may lie: it checks every
     * size and value before it uses them, against what was prepared where that is not NULL. Both
     * NULL: its state cannot be kept. */
    px_status (*save)(const void *state, px_npz_writer *to, const char *prefix, px_error *err);
    px_status (*load)(void *state, const px_npz *from, const char *prefix, px_error *err);
} px_criterion;

PX_REGISTRY(px_criteria, px_criterion, px_criterion)
/* One of the program's own, behind plexor's, for all that asks from then on. It is borrowed for
 * good, and does not change. PX_E_USAGE where the id is taken, or something is missing. */
PX_API px_status px_criterion_add(const px_criterion *criterion, px_error *err);

/* For languages whose functions cannot return a struct: px_criterion_told() is the value() of a
 * criterion whose states begin with this. */
typedef struct px_told_state {
    void (*tell)(const void *state, px_coverage *value);
} px_told_state;
PX_API px_coverage px_criterion_told(const void *state);

/* --- settings -----------------------------------------------------------------------------------
 *
 * Read from texts "kmnc.k=1000" in order, later ones win; a preset is a list of such texts that
 * comes first. Names of choices stand for their number.
 */
typedef struct px_preset {
    px_entry entry;           /* the source: "Neuron Sensitivity Guided Test Case Selection" */
    const char *const *texts; /* NULL-terminated */
} px_preset;
PX_REGISTRY(px_presets, px_preset, px_preset)

/* --- a run ----------------------------------------------------------------------------------- */

typedef struct px_cover px_cover;

typedef struct px_cover_options {
    const char *criteria; /* comma-separated ids, or "all" */
    const char *preset;   /* NULL: the canonical settings */
    const char *const *settings;
    size_t setting_count;
    const char *layers, *tap, *neurons; /* texts of the neuron options; NULL: the criterion's own */
    const px_profile *profile;          /* borrowed, outlives the run; NULL: none */
    uint64_t seed;
    int threads; /* <= 0: one per core */
} px_cover_options;
PX_API px_cover_options px_cover_options_default(void); /* every criterion */

/* Makes the criteria. `model` is borrowed and must outlive the cover; input_shape is that of one
 * input with a batch axis, for networks that leave it open (NULL: as declared). PX_E_MISMATCH where
 * the profile is of another network, or lacks what a criterion needs. */
PX_API px_status px_cover_new(const px_model *model, const px_shape *input_shape,
                              const px_cover_options *options, px_cover **out, px_error *err);
PX_API void px_cover_free(px_cover *cover); /* NULL is fine */
/* Forgets all inputs; what was prepared stays. */
PX_API px_status px_cover_reset(px_cover *cover, px_error *err);

/* What a profile must learn for these options: give it to px_profile_make(). `options->profile` is
 * not looked at. Free with px_lessons_free(). */
PX_API px_status px_cover_lessons(const px_model *model, const px_shape *input_shape,
                                  const px_cover_options *options, px_lessons *out, px_error *err);

PX_API size_t px_cover_count(const px_cover *cover);
PX_API const px_criterion *px_cover_criterion(const px_cover *cover, size_t i);
/* The first input it has seen, for putting shards into order; -1: none. */
PX_API int64_t px_cover_first(const px_cover *cover);
PX_API const char *px_cover_settings_text(const px_cover *cover, size_t i); /* "k=1000" */
/* Which neurons, or what else it reads; printed with every number. */
PX_API const char *px_cover_definition(const px_cover *cover, size_t i);

PX_API px_coverage px_cover_value(const px_cover *cover, size_t i);
PX_API int64_t px_cover_observed(const px_cover *cover, size_t i);
/* Time that went into it on all workers together: extraction (divided among those who share it) and
 * observing; and into preparing it. */
PX_API double px_cover_seconds(const px_cover *cover, size_t i, double *prepare);

typedef struct px_cover_point { /* of a growth curve */
    int64_t inputs;
    double *values; /* one per criterion */
} px_cover_point;

typedef struct px_cover_tally {                /* the inputs of a run, beside their coverage */
    int64_t inputs, labelled, wrong, unscored; /* unscored: scores that are not numbers */
    double forward_seconds;                    /* of running the network, on all workers together */
} px_cover_tally;

typedef struct px_cover_run_options {
    int64_t batch;         /* micro-batch; 0: chosen */
    int64_t shard, shards; /* this part of the blocks; shards 0 or 1: all */
    const bool *only;      /* per input of the data set: take part; NULL: all do */
    size_t curve_points;   /* how many to aim for; 0: no curve */
    px_progress_fn progress;
    void *progress_context;
} px_cover_run_options;
PX_API px_cover_run_options px_cover_run_options_default(void);

/* Observes a data set. After PX_E_CANCELLED the cover holds the blocks that were done, which are
 * the first ones; after any other failure it is only good for px_cover_free(). The tally (may be
 * NULL) is of this run. */
PX_API px_status px_cover_run(px_cover *cover, const px_dataset *set, const px_preprocess *pre,
                              const px_cover_run_options *options, px_cover_tally *tally,
                              px_error *err);

/* What no input set in motion, for each criterion that is about single neurons. */
typedef struct px_cover_gap_layer {
    const char *name;
    int64_t *neurons, count; /* in the layer, ascending */
} px_cover_gap_layer;
typedef struct px_cover_gap {
    const char *id; /* of the criterion */
    px_cover_gap_layer *layers;
    size_t layer_count;
    int64_t neurons, missing; /* that there are; that are not covered */
} px_cover_gap;

/* --- states as files, and their sum ---------------------------------------------------------- */

/* An NPZ: `meta` (JSON) and the criteria's own arrays. The same inputs give the same bytes. */
PX_API px_status px_cover_save(const px_cover *cover, const char *path, px_error *err);
/* A cover from a file alone, without its network: it can be merged, looked at and saved, and can
 * observe nothing. */
PX_API px_status px_cover_open(const char *path, px_cover **out, px_error *err);
/* Adds what `other` has observed. Both must be of the same network, criteria, settings and profile;
 * PX_E_MISMATCH otherwise, or where both have seen the same inputs. Ordered criteria take `other`'s
 * inputs as coming after. After a failure `cover` is only good for px_cover_free(). */
PX_API px_status px_cover_merge(px_cover *cover, const px_cover *other, px_error *err);

/* --- for those who run networks themselves: fuzzers, selectors ----------------------------------
 *
 *     plan_options.observe = px_cover_observe_values(cover, &plan_options.observe_count);
 *     plan_options.keep    = px_cover_keep_values(cover, &plan_options.keep_count);
 *     px_reader_new(cover, plan, &reader, &err);                          // one per worker
 *     px_reader_forward(reader, session, samples, index, labels, &err);   // runs, fills the rows
 *     double g = px_cover_gain(cover, i, reader, row);                    // millions of times
 *     px_cover_observe(cover, reader, row, 1, &err);                      // keeps that input
 */
typedef struct px_reader px_reader;
PX_API const int *px_cover_observe_values(const px_cover *cover, size_t *count);
PX_API px_status px_reader_new(const px_cover *cover, const px_plan *plan, px_reader **out,
                               px_error *err);
PX_API void px_reader_free(px_reader *reader);
/* Runs the session, whose inputs are filled, and reads the first `samples` rows. `index` and
 * `labels` (one per sample, NULL: numbered from 0, and none) become the rows' facts. */
PX_API px_status px_reader_forward(px_reader *reader, px_session *session, int64_t samples,
                                   const int64_t *index, const int64_t *labels, px_error *err);
/* What criterion i would gain by a row of the last forward. */
PX_API double px_cover_gain(const px_cover *cover, size_t i, const px_reader *reader, int64_t row);
/* Observes rows [first, first + count) in all criteria. One thread at a time. */
PX_API px_status px_cover_observe(px_cover *cover, const px_reader *reader, int64_t first,
                                  int64_t count, px_error *err);

PX_END_DECLS
#endif
