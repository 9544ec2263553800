/* src/generate/fuzz_internal.h - the frame that the engines of px_fuzz work in
 *
 * The frame owns all that engines have in common: the campaign, the seeds, the guide's coverage,
 * the workers, the clock and the counters. An engine only knows how to make a turn. It is a
 * descriptor in a file of its own, listed in engines.h:
 *
 *     static px_status dlfuzz_turn(void *state, px_error *err)
 *     {
 *         ...                                              // makes some pixels, rounds them
 *         PX_TRY(pxi_fuzz_judge(fuzz, pixels, rows, count, verdicts, err));
 *         PX_TRY(pxi_fuzz_put(fuzz, &find, &id, err));     // a fault, or one that was kept
 *     }
 *
 * What a turn does may depend on the campaign's seed, the turn's number (fuzz->turn), the rows that
 * are in the campaign, and what save() wrote; never on the clock or the number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_FUZZ_INTERNAL_H
#define PXI_GENERATE_FUZZ_INTERNAL_H

#include <internal/pass.h>

#include <plexor/fuzz.h>
#include <plexor/json.h>

typedef struct pxi_fuzz_engine {
    px_fuzz_engine shown;
    const char *policy; /* the one it has unless told otherwise; NULL: it takes none */
    /* Makes a state. The frame has everything but the seeds. Refuses what does not fit. */
    px_status (*open)(px_fuzz *fuzz, void **state, px_error *err);
    /* The seeds are there. `saved` is what save() wrote with the last committed turn; NULL: the
     * campaign begins. Bytes may lie: everything is checked. */
    px_status (*begin)(void *state, const void *saved, size_t size, px_error *err);
    px_status (*turn)(void *state, px_error *err); /* number fuzz->turn */
    /* All that the rows of the campaign do not tell; committed together with them. */
    px_status (*save)(const void *state, px_text *bytes, px_error *err);
    /* Fills queue, pending, current, depth, cycles, stage, yields and notes. NULL: has none. */
    void (*report)(const void *state, px_fuzz_report *report);
    void (*close)(void *state); /* NULL is fine */
    bool waves; /* turns may have none: ranks meet after one that had; else after each */
    /* Where it has no guide but measures coverage itself: the criterion's name, and its value. */
    const char *criterion;
    px_coverage (*coverage)(const void *state);
    /* And a second one; NULL: it has none. */
    const char *second;
    double (*second_value)(const void *state);
} pxi_fuzz_engine;

typedef struct pxi_fuzz_seed {
    int64_t id, data_index, label;
    int64_t row; /* in the data; -1: it was loaded from the campaign */
    double confidence;
    const void *pixels; /* in the campaign's type */
} pxi_fuzz_seed;

typedef struct pxi_fuzz_verdict {
    int64_t prediction; /* -1: the scores are not numbers */
    double confidence;
} pxi_fuzz_verdict;

typedef struct pxi_fuzz_find { /* something for the campaign */
    px_input_kind kind;        /* kept or fault */
    int64_t parent;            /* id */
    size_t seed;               /* its root: place among fuzz->seeds */
    int64_t prediction;
    double confidence;
    const char *chain;  /* JSON; copied */
    const void *pixels; /* in the campaign's type; copied */
    /* Of faults, how near to the root: NULL: it is measured, with nothing moved. */
    const px_closeness *near;
    bool needed; /* it is stored whatever it repeats: later turns start from it */
} pxi_fuzz_find;

typedef struct pxi_fuzz_twins pxi_fuzz_twins;     /* fuzz_twins.c */
typedef struct pxi_fuzz_pending pxi_fuzz_pending; /* fuzz_rows.c */
typedef struct pxi_fuzz_modes pxi_fuzz_modes;     /* fuzz_modes.c */
typedef struct pxi_fuzz_guide pxi_fuzz_guide;     /* fuzz_guide.c */

typedef struct pxi_fuzz_common { /* settings that all engines have (fuzz_settings.c) */
    int64_t twins;
    double near;
    int64_t reset;
} pxi_fuzz_common;

struct px_fuzz {
    px_fuzz_options options; /* texts and lists are borrowed during px_fuzz_new() only */
    const pxi_fuzz_engine *engine;
    const px_fuzz_policy *policy; /* NULL: the engine has none */
    void *state;
    void *config; /* the engine's settings, as its table describes them */
    const pxi_fuzz_common *common;
    px_mutations mutations;
    bool has_mutations;
    px_styles *styles; /* the campaign's own, for `mutations`; NULL: given, or generated */
    const char *guide; /* a criterion's id, or "random" */
    char *mutation_text, *setting_text, *command;

    /* What is fuzzed. */
    px_campaign *campaign;
    const px_model **models; /* the network, then its rivals */
    size_t model_count;
    px_scores scores; /* of models[0] */
    int classes;
    int64_t polluted_class;     /* -1: unknown */
    px_shape shape;             /* of an input without the batch, CHW for pictures */
    px_shape feed_shape;        /* of the network's input, batch 1 */
    size_t size, pixel_bytes;   /* values of an input, and its bytes in the campaign */
    size_t samples;             /* of recordings that are mutated as such; 0: inputs are pictures */
    bool rounds;                /* the campaign's pixels are bytes; else float */
    double unit;                /* distances are told in units; a stored value is so many of them */
    double low, high;           /* of stored values: 0 and 255 for bytes */
    px_preprocess pre;          /* from stored values */
    pxi_fuzz_guide *own_guide;  /* NULL: the caller's, or the engine's */
    px_cover *cover;            /* the guide's; NULL: none */
    const px_fuzz_paths *paths; /* the guide, where it reads decision paths; NULL: it does not */
    uint64_t seed;

    /* Running models[0], and as many readers as batches are looked at together (fuzz_forward.c). */
    pxi_pass *pass;
    int workers; /* of all ranks */
    int64_t batch;
    px_reader **readers; /* NULL entries: there is no guide */
    size_t slots;
    int64_t waves; /* so far, of an engine that has them */

    pxi_fuzz_seed *seeds;
    size_t seed_count;
    uint8_t *seed_pixels;

    /* How far it is: with what is not committed yet. */
    int64_t turn;             /* the number of the turn at work, from 0; then of turns done */
    int64_t executions;       /* of the network, that decided something */
    px_fuzz_report now;       /* counters */
    px_fuzz_report shown;     /* what is committed: a copy of `now` at the last commit */
    px_fuzz_yield yields[32]; /* that belong to it */
    int64_t last_output;      /* turn, for stalling */
    int64_t last_fault;       /* executions at the last fault */
    int64_t reset_after;      /* the guide has seen inputs with higher ids only */
    int64_t point_step;       /* executions at the last point of coverage */
    int64_t unstored;         /* twins that were counted, not stored */
    double run_before;        /* seconds of earlier runs */
    double run_from;          /* clock at the start of this one; NaN: it does not run */
    double rate_clock[2];     /* where the present rate counts from, and a later moment */
    int64_t rate_count[2];    /* executions then */
    pxi_fuzz_twins *twins;
    pxi_fuzz_pending *pending;
    pxi_fuzz_modes *modes;      /* NULL: nothing is mutated */
    bool *class_hit, *type_hit; /* [classes], [classes][classes]; the latter NULL: too many */
    bool broken;                /* memory is ahead of the campaign: only good for px_fuzz_free() */
    bool late;                  /* the time is over */
    bool exhausted;             /* set by the engine: there is nothing left to do */
    char stopped[64];
};

/* fuzz_guide.c: makes the guide that fuzz->options asks for, where the caller brought none, and
 * takes its settings out of theirs. The engine is known, nothing else. */
px_status pxi_fuzz_guide_open(px_fuzz *fuzz, px_error *err);
void pxi_fuzz_guide_close(pxi_fuzz_guide *guide); /* NULL is fine */

/* --- what engines call ----------------------------------------------------------------------- */

/* Seconds since the campaign began, without pauses. For rows only, never for a decision. */
double pxi_fuzz_seconds(const px_fuzz *fuzz);

/* Stored pixels into a network's input (one sample), as px_dataset_input() would. */
px_status pxi_fuzz_input(const px_fuzz *fuzz, const void *pixels, float *input, px_error *err);

/* Whole levels for bytes: `levels` (0..255, float) are rounded towards `original` where it is not
 * NULL and to the nearest else, then clipped. Campaigns of float values: clipped copies. */
void pxi_fuzz_round(const px_fuzz *fuzz, const float *levels, const void *original, void *pixels);

/* Stored pixels as levels: 0..255 for bytes, as they are for float values. */
void pxi_fuzz_levels(const px_fuzz *fuzz, const void *pixels, float *levels);

/* The network's answers for `count` inputs that lie one behind the other; all workers take part.
 * rows[i] is the input of the data set whose target it has (NULL, or -1: none). Not counted as
 * executions: that is the engine's, by pxi_fuzz_count(). */
px_status pxi_fuzz_judge(px_fuzz *fuzz, const void *pixels, const int64_t *rows, int64_t count,
                         pxi_fuzz_verdict *out, px_error *err);

/* The same in parts, for who has jobs of their own: fill samples of a lane's batch, then run it;
 * `slot` is the reader that keeps the rows. One batch per slot and call of pxi_pass_each(). */
px_status pxi_fuzz_forward(px_fuzz *fuzz, pxi_lane *lane, size_t slot, int64_t samples,
                           pxi_fuzz_verdict *out, px_error *err);

/* Recordings (fuzz_recording.c): how many samples each has, 0 where they are not mutated as such;
 * those of an input of the data; the stored values of samples; the samples of all seeds. */
size_t pxi_fuzz_sample_count(const px_fuzz *fuzz);
px_status pxi_fuzz_samples(const px_fuzz *fuzz, int64_t row, int16_t *out, px_error *err);
px_status pxi_fuzz_features(const px_fuzz *fuzz, const int16_t *samples, float *features,
                            px_error *err);
px_status pxi_fuzz_seed_samples(const px_fuzz *fuzz, int16_t *out, px_error *err);

/* Adds to executions; to be called before what they led to is put. */
void pxi_fuzz_count(px_fuzz *fuzz, int64_t executions);
/* An answer that was no number. */
void pxi_fuzz_count_not_finite(px_fuzz *fuzz);

/* How near to its root an output is, `links` being how it came from there. */
px_status pxi_fuzz_measure(const px_fuzz *fuzz, size_t seed, const void *pixels,
                           const px_drawn *links, size_t count, px_closeness *out, px_error *err);
/* Whether a fault is near enough to count; else it is counted as rejected. */
bool pxi_fuzz_accepts(px_fuzz *fuzz, const px_closeness *near);
/* A mutant that was judged: entry and draw of its last mutation, its root's label. */
void pxi_fuzz_modes_count(px_fuzz *fuzz, size_t entry, const px_drawn *drawn, int64_t label,
                          bool fault, bool close);

/* Puts an output. Ids are known at once; writing may happen later, at the latest with the commit.
 * *id is 0 where a fault repeats another one once too often and is not stored. */
px_status pxi_fuzz_put(px_fuzz *fuzz, const pxi_fuzz_find *find, int64_t *id, px_error *err);
/* Writes what was put; for the one job of a pool run that does so beside others. */
px_status pxi_fuzz_write(px_fuzz *fuzz, px_error *err);
/* The stored pixels of an input that was put, from wherever they are. */
px_status pxi_fuzz_read(px_fuzz *fuzz, int64_t id, void *pixels, px_error *err);

int64_t pxi_fuzz_last(const px_fuzz *fuzz); /* the highest id that was put */

/* Shows the guide (and its coverage) all inputs of these kinds with ids above `after`, in order. */
px_status pxi_fuzz_observe(px_fuzz *fuzz, unsigned kinds, int64_t after, px_error *err);

/* Bytes of save(), in little endian, and their reading; false: there are not so many. */
void pxi_fuzz_save_int(px_text *bytes, int64_t value);
void pxi_fuzz_save_real(px_text *bytes, double value);
typedef struct pxi_fuzz_bytes {
    const uint8_t *at, *end;
} pxi_fuzz_bytes;
bool pxi_fuzz_load_int(pxi_fuzz_bytes *from, int64_t least, int64_t most, int64_t *out);
bool pxi_fuzz_load_real(pxi_fuzz_bytes *from, double *out);
px_status pxi_fuzz_bad_state(const px_fuzz *fuzz, px_error *err);

/* --- between the frame's own files ----------------------------------------------------------- */

px_status pxi_fuzz_settings_read(px_fuzz *fuzz, px_error *err); /* fuzz_settings.c */
px_status pxi_fuzz_settings_json(const px_fuzz *fuzz, char **out, px_error *err);
px_status pxi_fuzz_seeds_choose(px_fuzz *fuzz, px_error *err); /* fuzz_seeds.c */
px_status pxi_fuzz_seeds_load(px_fuzz *fuzz, px_error *err);
px_status pxi_fuzz_forward_open(px_fuzz *fuzz, px_error *err); /* fuzz_forward.c */
void pxi_fuzz_forward_close(px_fuzz *fuzz);
px_status pxi_fuzz_rows_open(px_fuzz *fuzz, px_error *err); /* fuzz_rows.c */
px_status pxi_fuzz_rows_load(px_fuzz *fuzz, px_error *err);
px_status pxi_fuzz_state_load(px_fuzz *fuzz, void **bytes, pxi_fuzz_bytes *rest, px_error *err);
px_status pxi_fuzz_modes_open(px_fuzz *fuzz, px_error *err); /* fuzz_modes.c */
px_status pxi_fuzz_modes_put(px_fuzz *fuzz, px_error *err);
void pxi_fuzz_modes_close(px_fuzz *fuzz);
px_status pxi_fuzz_put_seed(px_fuzz *fuzz, pxi_fuzz_seed *seed, px_error *err);
px_status pxi_fuzz_put_point(px_fuzz *fuzz, px_error *err); /* of coverage, where one is due */
px_status pxi_fuzz_commit(px_fuzz *fuzz, px_error *err);
void pxi_fuzz_show(px_fuzz *fuzz); /* fuzz.c: what is committed becomes what is shown */
void pxi_fuzz_rows_close(px_fuzz *fuzz);
typedef struct pxi_twins_rule { /* of inputs in a campaign's type, with values from low to high */
    px_shape shape;
    bool bytes;
    double low, high, near; /* near: in levels of 0..255 */
} pxi_twins_rule;
px_status pxi_fuzz_twins_new(const pxi_twins_rule *rule, pxi_fuzz_twins **out, px_error *err);
void pxi_fuzz_twins_free(pxi_fuzz_twins *twins);
/* The fault that `pixels` nearly repeat, 0: none; *count (may be NULL): how many do already. */
int64_t pxi_fuzz_twins_find(const pxi_fuzz_twins *twins, const void *pixels, size_t seed,
                            int64_t prediction, int64_t *count);
/* Remembers fault `id`, which repeats `twin` (0: none). */
px_status pxi_fuzz_twins_add(pxi_fuzz_twins *twins, int64_t id, int64_t twin, const void *pixels,
                             size_t seed, int64_t prediction, px_error *err);

#endif
