/* include/plexor/fuzz.h - a campaign that grows: pick an input, change it, judge it, keep it
 *
 *     px_fuzz_options options = px_fuzz_options_default();
 *     options.campaign = campaign;                  // opened for writing
 *     options.model = model, options.set = set, options.pre = &pre;
 *     options.guide.name = "nlc";                   // else kmnc, with ranges of training data
 *     px_fuzz_new(&options, &fuzz, &err);           // begins it, or goes on where it was left
 *     px_fuzz_run(fuzz, &limits, &err);             // PX_OK: a limit was reached
 *     px_fuzz_report report = px_fuzz_report_get(fuzz);
 *
 * An *engine* is the search: `loop` (coverage-guided mutation: DeepHunter, NLC, NSGen, TensorFuzz),
 * or one that follows gradients (DeepXplore, DLFuzz, ADAPT). Every engine works in *turns*, the
 * smallest piece of work that is whole, and writes what it finds into the campaign. Turns are
 * numbered from the campaign's beginning, and every random number is addressed by the turn: so the
 * same seed and number of turns give the same content, whatever the number of threads and however
 * often the run was interrupted. Inputs are committed before they are counted.
 *
 * What is judged is what is stored: 8-bit data are rounded before the network sees them.
 * docs/fuzz.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FUZZ_H
#define PLEXOR_FUZZ_H

#include <plexor/cover.h>
#include <plexor/decision_path.h>
#include <plexor/modes.h>
#include <plexor/mutate.h>
#include <plexor/training.h>

PX_BEGIN_DECLS

/* --- engines --------------------------------------------------------------------------------- */

typedef struct px_fuzz_engine { /* a static const descriptor, listed in src/generate/engines.h */
    px_entry entry;             /* id, title, source; settings beyond those that all engines have */
    size_t least_models, most_models; /* that it compares: 1 and 1 unless it is differential */
    bool guided;                      /* takes any criterion as its guide */
    const px_registry *presets;       /* of its own settings, of px_preset; NULL: it has none */
} px_fuzz_engine;
PX_REGISTRY(px_fuzz_engines, px_fuzz_engine, px_fuzz_engine)

/* A policy is a published choice of schedule, energy, validity and mutations for `loop`: texts as
 * in px_fuzz_options.settings that come first. */
typedef struct px_fuzz_policy {
    px_entry entry;
    const char *mutations;    /* a set, as in px_fuzz_options.mutations */
    const char *const *texts; /* NULL-terminated */
} px_fuzz_policy;
PX_REGISTRY(px_fuzz_policies, px_fuzz_policy, px_fuzz_policy)

/* --- a run ----------------------------------------------------------------------------------- */

typedef struct px_fuzz_report px_fuzz_report;

/* A guide that reads decision paths instead of coverage (NSGen, Algorithm 1), for `loop`: a mutant
 * is kept where its path is less similar to that of the input it was made from than tau. */
typedef struct px_fuzz_paths {
    px_paths *paths; /* borrowed, as is all here; nobody else uses them while it runs */
    px_path_judge *judge;
    const px_threshold *threshold; /* that px_threshold_check() found to fit */
    px_path_mode mode;
    bool root; /* the path of the seed is compared with, not that of the entry */
} px_fuzz_paths;

/* What must grow for a mutant to be kept. */
typedef struct px_fuzz_guide {
    /* A criterion; "random": everything is kept; "nsgen", ...: decision paths, as
     * px_fuzz_paths_parse() has them. NULL: kmnc, or cc with the policy tensorfuzz. */
    const char *name;
    const char *layers, *tap, *neurons; /* as px_cover_options has them; of paths layers and tap
                                           alone */
    const char *profile;                /* a file of px_profile_save(); NULL: learned first */
    const char *bank, *encoder;         /* of paths, as px_path_tools_options has them */
    const char *threshold; /* of paths: a file of px_threshold_save(); NULL: found first */
    bool root;             /* of paths: that of the seed is compared with, not of the parent */
    /* What is learned from where the campaign, which keeps profile and threshold, has none; `own`
     * and `pre` NULL: the set's. It tells what a user should know. */
    px_training training;
} px_fuzz_guide;

typedef struct px_fuzz_options {
    px_campaign *campaign;         /* borrowed, opened for writing */
    const px_model *model;         /* borrowed, as is all below */
    const px_model *const *rivals; /* further ones, for differential engines */
    size_t rival_count;
    const px_dataset *set; /* labelled; its inputs are the seeds */
    const px_preprocess *pre;
    double low, high;    /* what a scaled value may be; both NaN: px_dataset_range() */
    px_fuzz_guide guide; /* of engines that take one; not read where one of the next two is */
    px_cover *cover;     /* of one criterion; NULL: none */
    const px_fuzz_paths *paths;
    const px_profile *profile; /* of the cover, kept as blob "profile"; NULL: none */
    const char *engine;        /* "loop" */
    const char *policy;        /* NULL: the engine's own */
    const char *preset;        /* of the guide, as px_cover_options has it; of an engine that takes
                                  no guide, one of its own. NULL: none */
    const char *mutations;     /* of px_mutations_parse(); NULL: the policy's */
    /* What a set with `style` draws from, kept with the campaign by px_campaign_put_styles(); their
     * hash is part of its identity. NULL: those of the campaign, or else the generated ones. */
    const px_styles *styles;
    const char *const *settings; /* "energy=64", "valid=nsgen"; of the guide: "kmnc.k=100" */
    size_t setting_count;
    int64_t seeds; /* so many at random, of every class as many, that the network gets right; 0: all
                      that it gets right */
    int64_t polluted_class; /* that px_campaign_count_errors() looks for; -1: as the network's
                               plexor.train says, if it does */
    /* A failing mutant that is less near to its original than this (0: any) is none: it is counted
     * as rejected, not stored, and not mutated again. For engines that mutate. */
    px_closeness least;
    bool store_float; /* what is stored and judged is not rounded, whatever the data */
    uint64_t seed;
    int64_t batch;       /* micro-batch; 0: chosen */
    int threads;         /* <= 0: one per core */
    const char *command; /* as typed, for those who read the campaign; NULL: unknown */
    /* Told between turns, a few times a second; false: stop after this turn. NULL: nobody. */
    bool (*progress)(void *context, const px_fuzz_report *report);
    void *context;
} px_fuzz_options;
PX_API px_fuzz_options px_fuzz_options_default(void); /* loop, kmnc, 1,000 seeds, -1 */

/* When to stop: each counts from the campaign's beginning, resumed or not; 0: no limit. Looked at
 * between turns (outputs and faults: also within one, where the engine can). */
typedef struct px_fuzz_limits {
    int64_t turns, executions, faults, outputs;
    double seconds; /* of running */
    int64_t stall;  /* turns in a row without an output */
} px_fuzz_limits;

typedef struct px_fuzz px_fuzz;

/* Identifies the campaign, chooses and judges the seeds and puts those that the network gets right;
 * or, where it has content, checks that it is about the same and rebuilds what it had. *out is the
 * caller's on PX_OK. PX_E_MISMATCH: another model, data set, seed or setting. PX_E_INPUT: no seed
 * is classified correctly, or no labels. */
PX_API px_status px_fuzz_new(const px_fuzz_options *options, px_fuzz **out, px_error *err);
PX_API void px_fuzz_free(px_fuzz *fuzz); /* NULL is fine */
/* PX_OK: a limit was reached, `stopped` says which. PX_E_CANCELLED: the caller asked. PX_E_IO (full
 * disk): what was committed stays. In each case all that is counted is committed. May be called
 * again, with other limits. */
PX_API px_status px_fuzz_run(px_fuzz *fuzz, const px_fuzz_limits *limits, px_error *err);

/* --- what is going on ------------------------------------------------------------------------ */

typedef struct px_fuzz_yield { /* of one mutation, or of what else an engine tries */
    const char *name;
    int64_t tried, valid, kept, faults;
} px_fuzz_yield;

typedef struct px_fuzz_note { /* a figure that only this engine has: "fitness" "0.83" */
    const char *name;
    char value[24];
} px_fuzz_note;
#define PX_FUZZ_NOTES 4

typedef struct px_fuzz_path_figures { /* of a guide by decision paths; NaN: there is none */
    double tau;
    double similarity; /* mean over the mutants judged */
    double kept;       /* share of them */
    double as_label;   /* of what it or the class alone would keep, the share that both do */
} px_fuzz_path_figures;

struct px_fuzz_report { /* plain values; texts and lists are borrowed from the px_fuzz */
    const char *engine, *policy, *guide, *mutations;
    double run_s; /* since the campaign began, without pauses */
    int64_t turns, cycles, cycles_without_finds;
    int64_t executions;
    double executions_per_s, executions_per_s_now; /* the latter: of the last seconds */
    int64_t seeds, seeds_wrong;                    /* taken, and dropped as misclassified */
    int64_t queue, pending, current, depth;        /* as px_campaign_figures has them */
    int64_t outputs, kept, faults, unique_faults, fault_types, classes;
    int64_t close_faults;             /* of the faults, those close to their originals */
    int64_t rejected;                 /* failing mutants that are too far from theirs */
    int64_t class_count;              /* of the network */
    px_coverage coverage;             /* of the guide; value NaN: there is none */
    double coverage_seeds;            /* what the seeds alone had */
    int64_t resets;                   /* of the guide's coverage, when it was saturated */
    double last_find_s, last_fault_s; /* on the clock of run_s; negative: never */
    int64_t executions_since_fault;
    int64_t not_finite; /* outputs of the network that were no numbers */
    const char *stage;  /* "mutants of 1042" */
    int64_t stage_done, stage_total;
    const px_fuzz_yield *yields;
    size_t yield_count;
    px_fuzz_path_figures paths;
    px_fuzz_note notes[PX_FUZZ_NOTES];
    size_t note_count;
    const char *stopped; /* why it is not running: "10000 turns", "asked to"; NULL: it runs */
};
PX_API px_fuzz_report px_fuzz_report_get(const px_fuzz *fuzz);

PX_END_DECLS
#endif
