/* include/plexor/check.h - the whole examination of a classifier in one call
 *
 *     px_check_options options = px_check_options_default();
 *     options.model = "net.onnx";
 *     options.data = "photos/";
 *     options.folder = "examined";                         // results, campaign and page go there
 *     options.gates = "accuracy=0.9,faults=100";           // what must hold; NULL: nothing
 *     if (px_check_new(&options, &check, &err) == PX_OK && px_check_run(check, &err) == PX_OK)
 *         printf("%s: %s\n", px_verdict_name(px_check_verdict(check)), px_check_page(check));
 *     px_check_free(check);
 *
 * An examination is a row of *stages*: profile, eval, cover, select, localize, synthesize, attack,
 * fuzz, assess, describe, cluster. Each leaves one result, a JSON object in FOLDER/STAGE.json, and
 * whoever prints, judges or draws reads those objects: whether a stage has just run or ran before
 * an interruption makes no difference to a byte. The verdict and the page come last.
 *
 * A stage that cannot run (no labels, no training data, a network without gradients) is left out
 * and says why; the others go on. Everything but clock times depends on the network, the data and
 * the seed alone, unless the time for failures was up before their number was reached, which the
 * results say. docs/check.md has the stages, their results, and the names of gates.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CHECK_H
#define PLEXOR_CHECK_H

#include <plexor/data.h>
#include <plexor/field.h>
#include <plexor/json.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

typedef struct px_check px_check;

/* --- stages ---------------------------------------------------------------------------------- */

typedef struct px_check_stage {
    px_entry entry; /* "cover", "Coverage" */
    const char *help;
    bool labels; /* is left out where the data have none */
} px_check_stage;

typedef enum px_check_state {
    PX_CHECK_WAITS,    /* not yet */
    PX_CHECK_DONE,     /* ran */
    PX_CHECK_KEPT,     /* had run before: its result was taken from the folder */
    PX_CHECK_LEFT_OUT, /* could not run */
    PX_CHECK_SKIPPED,  /* was not asked for */
} px_check_state;

/* --- what to do ------------------------------------------------------------------------------ */

typedef struct px_check_progress {
    const char *stage, *title; /* "train", "page" too, beside the stages */
    size_t index, count;       /* of the stages that run, from 0 */
    int64_t done, total;       /* within the stage; total 0: not known */
    double stage_share;        /* of the stage, 0..1; never falls */
    double share;              /* of everything, 0..1 */
    double seconds;            /* so far */
    double seconds_left;       /* estimated; NaN while nothing is known */
} px_check_progress;

typedef struct px_check_options { /* everything is borrowed until px_check_free() */
    const char *model; /* an ONNX file; NULL: a LeNet-5 is trained on the data's train part */
    const char *data;  /* a data SPEC; NULL (with model NULL): fashion-mnist, or digits where that
                          is not installed */
    px_data_options read; /* split, limit, offset, shuffle; not the seed, not the classes */
    /* Regression: how far a number may be from its target; NaN: it classifies. And what texts are
     * made tokens with, as px_model_set_tokenizer() has it. */
    double tolerance;
    const char *tokenizer;
    int64_t tokens;
    const char *classes;          /* as for px_model_set_classes(); NULL: what the metadata say */
    px_preprocess_options pixels; /* how they become inputs */
    const char *audio;            /* likewise of recordings, as px_preprocess_audio() has it */
    const char *train;   /* training data to learn ranges from; NULL: the data's own train part */
    int64_t train_limit; /* so many of them; 0: 1,000, and all to train the default network */
    const char *bank;    /* descriptions of units, <plexor/bank.h>; NULL: labels are measured */
    const char *folder;  /* is made, or gone on with; files of others in it are left alone */
    bool fresh;          /* what an earlier examination left there goes first */
    const char *page;    /* the report; NULL: FOLDER/report.html */
    const char *junit;   /* NULL: none is written */
    const char *only, *skip; /* ids of stages with commas between; NULL: all, none. What a chosen
                                stage reads of others is run too */
    const char *gates;       /* "accuracy=0.9,faults=100"; NULL: none */
    double low, high;        /* what a scaled value may be; both NaN: px_dataset_range() */
    double minutes;          /* at most so long for synthesize, attack and fuzz together */
    /* Failures that are less near to their originals do not count (0: all do): <plexor/closeness.h>
     */
    double min_similarity, min_inside;
    bool full;         /* the page has all findings, however large that makes it */
    bool allow_chance; /* go on where accuracy is that of guessing */
    uint64_t seed;
    int threads;         /* <= 0: one per core */
    int64_t batch;       /* micro-batch; 0: chosen */
    const char *command; /* as typed, for the page; NULL: made up from these options */
    /* A few times a second, on the calling thread; false: stop (PX_E_CANCELLED). NULL: nobody. */
    bool (*progress)(void *context, const px_check_progress *progress);
    /* A sentence that a user should read. NULL: nobody does. */
    void (*note)(void *context, const char *sentence);
    void *context;
} px_check_options;
PX_API px_check_options px_check_options_default(void); /* folder "plexor-check", one minute */

/* Opens the network and the data (or trains the default one), and the folder. Every option is
 * looked at before any work is done. PX_E_USAGE: files that plexor did not make have the names of
 * results there. PX_E_MISMATCH: the folder has the examination of another
 * network, data set or seed; shapes or classes do not fit. On PX_OK the caller owns *out. */
PX_API px_status px_check_new(const px_check_options *options, px_check **out, px_error *err);
PX_API void px_check_free(px_check *check); /* NULL is fine */

/* Runs the stages that have no result yet, judges, and writes the page and the JUnit file (which
 * after a failure, of px_check_new() too, has that as its only case). After
 * PX_E_CANCELLED or a failure what is done stays in the folder, and another px_check goes on from
 * there. */
PX_API px_status px_check_run(px_check *check, px_error *err);

/* --- what came of it ------------------------------------------------------------------------- */

/* What a stage came to, in a line without its end: for a terminal. */
PX_API void px_check_line(const px_check *check, size_t stage, px_text *out);
/* The result of a stage; NULL where it has none. Borrowed. */
PX_API const px_json_value *px_check_result(const px_check *check, const char *stage);
/* A number in a result by its path, "calibration.ece"; NaN where there is none. */
PX_API double px_check_number(const px_check *check, const char *stage, const char *path);

typedef enum px_verdict {
    PX_VERDICT_NONE, /* there are no gates */
    PX_VERDICT_PASS,
    PX_VERDICT_FAIL,
} px_verdict;
PX_API const char *px_verdict_name(px_verdict verdict); /* "none", "pass", "fail" */
PX_API px_verdict px_check_verdict(const px_check *check);

typedef struct px_gate_kind { /* what can be a gate: a static const table */
    px_entry entry;
    const char *stage, *path; /* where its number is */
    const char *unit;         /* of it: "share", "count", "real" */
    bool most;                /* holds at and below the threshold, else at and above */
} px_gate_kind;

typedef struct px_check_gate {
    const px_gate_kind *kind;
    double threshold, value; /* value NaN: was not measured, which does not hold */
    bool held;
} px_check_gate;

PX_API const char *px_check_page(const px_check *check); /* NULL: not written */
/* Of a px_check: what it looked at, verdict, gates, stages, and each stage's headline numbers. */
PX_API extern const px_field px_check_fields[];

PX_END_DECLS
#endif
