/* include/plexor/profile.h - what is learned from training data once and used again and again
 *
 *     px_lessons lessons = {0};
 *     px_cover_lessons(model, &shape, &cover_options, &lessons, &err);     // what is to be learned
 *     px_profile_make(model, &lessons, train_set, &pre, &options, &profile, &err);
 *     px_profile_save(profile, "net.profile", &err);
 *     ...
 *     px_profile_open("net.profile", &profile, &err);
 *     px_profile_check(profile, model, &err);
 *
 * A profile is a list of *sections*: what one learner (neuron ranges, traces, ...) learned of the
 * rows of one extractor. In memory it is named arrays; as a file an NPZ with `meta` (JSON: version,
 * hashes of the network and the data, counts per class, the sections). docs/cover.md has the
 * format.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PROFILE_H
#define PLEXOR_PROFILE_H

#include <plexor/data.h>
#include <plexor/param.h>
#include <plexor/probe.h>
#include <plexor/text.h>

PX_BEGIN_DECLS

/* --- rows: what is read of inputs ------------------------------------------------------------ */

typedef struct px_rows {
    int64_t count, width;
    const float *values;         /* [count][width] */
    const px_input_facts *facts; /* one per row */
    const bool *rejected;        /* per row: a NaN or an infinity is in it; not to be observed */
} px_rows;

typedef struct px_row_layer { /* a piece of a row */
    const char *name;
    int64_t offset, count;
} px_row_layer;

typedef struct px_extractor px_extractor;

typedef struct px_extractor_kind {
    /* A worker's private scratch for plans of up to `batch` samples; NULL: needs none. */
    px_status (*scratch_new)(const px_extractor *self, int64_t batch, void **scratch,
                             px_error *err);
    void (*scratch_free)(void *scratch);
    /* Called while the network runs, for each value in `observe`: fills a part of the rows of the
     * first `samples` samples. NULL where there is nothing to observe. */
    px_status (*look)(const px_extractor *self, void *scratch, int value, const px_view *view,
                      int64_t samples, float *rows, px_error *err);
    /* Called after the network ran, with all values in `keep` readable: fills the rest. `facts`
     * have the predicted classes by then. NULL: nothing is left to do. */
    px_status (*finish)(const px_extractor *self, void *scratch, const px_session *session,
                        int64_t samples, const px_input_facts *facts, float *rows, px_error *err);
    void (*free)(px_extractor *self);
} px_extractor_kind;

/* The base of every extractor; immutable, shared by all threads. */
struct px_extractor {
    const px_extractor_kind *kind;
    const char *key;        /* names all that its rows depend on besides the network; equal: same */
    const char *definition; /* for people; printed with every number */
    int64_t width;
    const px_row_layer *layers;
    size_t layer_count;
    const int *observe; /* values it looks at while they are hot in the cache */
    size_t observe_count;
    const int *keep; /* values it reads afterwards */
    size_t keep_count;
    const px_probe *probe; /* whose neurons the rows are; NULL: they are something else */
};

/* --- learners -------------------------------------------------------------------------------- */

typedef struct px_profile px_profile;

typedef struct px_learner_request {
    const px_model *model;
    const px_extractor *extractor;
    const void *config; /* of the criterion that wants it */
    int classes;        /* 0: the network is no classifier */
    int64_t count;      /* inputs that will come */
    uint64_t seed;
    int threads; /* that finish() may use */
} px_learner_request;

/* A static const descriptor. States are private to workers and merged in any order, so the result
 * must not depend on it: see base/exact.h; per-input results are kept with facts.index and sorted
 * in finish(). */
typedef struct px_learner {
    const char *id, *help; /* "ranges" */
    /* Bytes that learning `count` rows of `width` will hold in the end; NULL: a few per neuron. */
    int64_t (*bytes)(const px_learner_request *request);
    /* "" or the settings that it depends on, so that lessons that differ are kept apart; NULL: "".
     */
    void (*key)(const void *config, px_text *text);
    px_status (*open)(const px_learner_request *request, void **state, px_error *err);
    void (*close)(void *state); /* NULL is fine */
    px_status (*observe)(void *state, const px_rows *rows, px_error *err);
    px_status (*merge)(void *state, void *other, px_error *err); /* may take things from `other` */
    /* What it has seen, with px_npz_put() and px_npz_take(), for other ranks: load() is given a
     * state that was just opened. Both NULL: it cannot be sent, and every rank learns by itself. */
    px_status (*save)(const void *state, px_npz_writer *to, const char *prefix, px_error *err);
    px_status (*load)(void *state, const px_npz *from, const char *prefix, px_error *err);
    /* Puts its arrays with px_profile_put(). */
    px_status (*finish)(void *state, px_profile *to, const char *section, px_error *err);
} px_learner;

/* min, max (float32) and mean, m2 (float64) per neuron: [width] each, kept per layer in the file.
 */
PX_API extern const px_learner px_learner_ranges;
/* The rows themselves with labels and predictions; rejected rows are left out. */
PX_API extern const px_learner px_learner_traces;

typedef struct px_lesson {
    const px_learner *learner;
    px_extractor *extractor; /* shared by lessons with the same key */
    char *key;               /* learner, its settings, extractor */
    void *config;            /* a copy of that of who wants it */
} px_lesson;
typedef struct px_lessons { /* {0}: none */
    px_lesson *lesson;
    size_t count, capacity;
    px_extractor **extractors;
    size_t extractor_count, extractor_capacity;
} px_lessons;
/* Takes over the extractor (on failure too), which is freed if an equal one is there already; the
 * very same one may be given again. */
PX_API px_status px_lessons_add(px_lessons *lessons, const px_learner *learner,
                                px_extractor *extractor, const void *config, size_t config_size,
                                px_error *err);
PX_API void px_lessons_free(px_lessons *lessons);

/* --- profiles -------------------------------------------------------------------------------- */

typedef struct px_profile_options {
    int64_t batch; /* micro-batch; 0: chosen */
    int threads;   /* <= 0: one per core */
    uint64_t seed;
    int64_t memory_bytes; /* refuse lessons that would hold more; <= 0: no limit */
    px_progress_fn progress;
    void *progress_context;
} px_profile_options;
PX_API px_profile_options px_profile_options_default(void);

/* Runs the network over `set` and learns. On PX_OK the caller owns *out. */
PX_API px_status px_profile_make(const px_model *model, const px_lessons *lessons,
                                 const px_dataset *set, const px_preprocess *pre,
                                 const px_profile_options *options, px_profile **out,
                                 px_error *err);
PX_API px_status px_profile_open(const char *path, px_profile **out, px_error *err);
PX_API px_status px_profile_save(const px_profile *profile, const char *path, px_error *err);
PX_API void px_profile_free(px_profile *profile); /* NULL is fine */

/* PX_E_MISMATCH, in plain words, if it was made from another network. */
PX_API px_status px_profile_check(const px_profile *profile, const px_model *model, px_error *err);

PX_API int px_profile_classes(const px_profile *profile); /* 0: no classifier */

typedef struct px_ranges {    /* of px_learner_ranges; [width] each, owned */
    int64_t count;            /* of inputs they come from */
    float *low, *high;        /* low > high: no input at all */
    double *mean, *deviation; /* population: sqrt(m2 / count) */
} px_ranges;
PX_API px_status px_profile_ranges(const px_profile *profile, const char *section,
                                   const px_extractor *extractor, px_ranges *out, px_error *err);
PX_API void px_ranges_done(px_ranges *ranges);

typedef struct px_traces { /* of px_learner_traces; borrowed from the profile */
    int64_t count, width;
    const float *values;        /* [count][width], in the order of the data set */
    const int64_t *labels;      /* -1: none */
    const int64_t *predictions; /* -1: none */
} px_traces;
PX_END_DECLS
#endif
