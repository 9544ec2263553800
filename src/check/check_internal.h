/* src/check/check_internal.h - an examination, its stages, and what they share
 *
 * A stage is one file: a function that writes its result into an open JSON object, and a descriptor
 * with all that others say of it (its line on the terminal, its gates, its command, its files). It
 * reads what came before from c->result[] (parsed objects, never its own memory) and from files in
 * the folder, so that a stage that ran in an earlier process is as good as one that just ran.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CHECK_INTERNAL_H
#define PXI_CHECK_INTERNAL_H

#include "base/memory.h"
#include <internal/pass.h>

#include <internal/classes.h>
#include <internal/pairs.h>
#include <plexor/bank.h>
#include <plexor/check.h>
#include <plexor/engine.h>
#include <plexor/field.h>
#include <plexor/profile.h>

/* X(id): the stages in the order in which they run; pxi_stage_<id> is in stage_<id>.c. */
#define PXI_STAGES(X) \
    X(profile)        \
    X(eval)           \
    X(cover)          \
    X(select)         \
    X(localize)       \
    X(synthesize)     \
    X(attack)         \
    X(fuzz)           \
    X(assess)         \
    X(describe)       \
    X(cluster)

enum {
#define PXI_STAGE_ENUM(id) PXI_STAGE_##id,
    PXI_STAGES(PXI_STAGE_ENUM)
#undef PXI_STAGE_ENUM
        PXI_STAGE_COUNT
};
#define PXI_AFTER(id) (1u << PXI_STAGE_##id)

/* What a stage leaves in the folder beside its result; of files, the result has the hashes. */
typedef struct pxi_stage_file {
    const char *name; /* "profile.npz"; "fuzz/" is a campaign */
    const char *what; /* for readers of the page; NULL: of no use to them */
    bool optional;    /* not there where it would say nothing */
} pxi_stage_file;

#define PXI_GATE(name, what, ...)                         \
    {                                                     \
        .entry = {.id = name, .title = what}, __VA_ARGS__ \
    }

typedef struct pxi_headline { /* a number of the result that `check --json` has by a key */
    const char *key, *path;
} pxi_headline;

enum { PXI_STAGE_FILES = 4, PXI_STAGE_GATES = 8, PXI_STAGE_HEADLINES = 8 }; /* an empty one ends */

typedef struct pxi_page pxi_page; /* check/page_internal.h */

typedef struct pxi_stage {
    px_check_stage public; /* what users see of it */
    int version;           /* of its result: others are not taken from a folder */
    unsigned after;        /* PXI_AFTER of the stages whose results it reads */
    unsigned needs;        /* PXI_AFTER of those that it cannot do without */
    double passes;         /* about how many runs over the data it costs */
    double thousands;      /* and over a thousand inputs, if there are as many */
    double covariances;    /* and of all neurons of a layer, over the data */
    double share;          /* of the time for failures, which ends it */
    double tries;          /* inputs that are run for a minute's worth of failures */
    int laps;              /* runs over the data that each count from 0 in its progress; 0: one */
    px_status (*run)(px_check *c, px_json *out, px_error *err);

    pxi_stage_file files[PXI_STAGE_FILES];
    px_gate_kind gates[PXI_STAGE_GATES];
    pxi_headline headlines[PXI_STAGE_HEADLINES];
    /* Of a result: what a terminal says in a line, and the command that does this part alone (NULL:
     * none does), begun with pxi_command_model(). */
    void (*line)(const px_check *c, const px_json_value *result, px_text *out);
    void (*command)(const px_check *c, const px_json_value *result, px_text *out);
    /* Members for its view on the page that the result does not have, and the inputs that it
     * shows; NULL: the result has all. */
    px_status (*page)(pxi_page *p, const px_json_value *result, px_error *err);
} pxi_stage;
extern const pxi_stage *const pxi_stages[PXI_STAGE_COUNT];
int pxi_stage_find(const char *id, size_t length); /* its number; -1: there is none */

enum { PXI_GATES_MOST = 32 };

struct px_check {
    px_check_options o;
    char *folder, *page;
    char *model_path, *data_spec, *command;
    px_text *remarks; /* sentences of pxi_check_note(), a line each */
    int lock;         /* of the folder; -1: none */

    px_model *model;
    px_scores scores;
    px_dataset *set;
    px_preprocess pre;
    px_shape shape; /* of one input, with a batch axis of 1 */
    int64_t count;
    size_t floats;    /* per input */
    double low, high; /* what scaled values may be; NaN: nobody has asked yet */
    bool labelled;    /* every input has a label that is one of the network's classes */
    char no_labels[256];
    char **names; /* of classes, scores.classes of them */
    px_json identity;
    uint64_t identity_hash;

    /* Of eval: [count] each, NULL before it. */
    int64_t *predictions;
    float *confidence;
    px_profile *profile; /* of profile; NULL: there is none */
    px_bank *bank;       /* of descriptions, as given; NULL: labels are measured */

    /* Stages */
    bool wanted[PXI_STAGE_COUNT];
    px_check_state state[PXI_STAGE_COUNT];
    char why[PXI_STAGE_COUNT][512];
    double seconds[PXI_STAGE_COUNT];
    uint64_t key[PXI_STAGE_COUNT];
    px_json_document *document[PXI_STAGE_COUNT];
    const px_json_value *result[PXI_STAGE_COUNT]; /* NULL: it has none */

    px_check_gate gates[PXI_GATES_MOST];
    size_t gate_count;
    bool page_written;

    /* Progress */
    double started, stage_started, stage_share;
    int64_t stage_done; /* of the run over the data that a stage is at */
    int stage_lap;      /* which one that is, from 0 */
    double pass_s;      /* of one run over the data, as measured; 0: unknown */
    double covariance_s;
    double covariances; /* neurons squared, of all hidden layers; 0: nobody has asked yet */
    const char *at, *at_title;
    size_t at_index, at_count;
    int at_stage; /* -1: before the first, PXI_STAGE_COUNT: behind the last */
};

/* --- for stages ------------------------------------------------------------------------------ */

/* Times a few inputs, once, so that it can be said how long all will take. */
px_status pxi_check_pilot(px_check *c, px_error *err);
/* Sum over hidden layers of their neurons squared: what covariances (nlc) cost an input. */
double pxi_check_covariances(px_check *c);
bool pxi_check_tell(px_check *c, int64_t done, int64_t total); /* false: stop */
/* The same, and whether the clock is past a moment, as the first rank has it. PX_E_CANCELLED, with
 * "stopped BEFORE", where it is to stop. */
px_status pxi_check_ask(px_check *c, int64_t done, int64_t total, double deadline, bool *late,
                        const char *before, px_error *err);
/* A px_progress_fn with the check as its context. */
bool pxi_check_tick(void *check, int64_t done, int64_t total);
/* Of what comes before a stage's own work: nothing of it is done yet, but it can be stopped. */
bool pxi_check_tick_before(void *check, int64_t done, int64_t total);
/* How the data are read: as asked for, with the network's class names. */
px_data_options pxi_check_read(const px_check *c);
/* What scaled values may be: as the user says, or as the data have it, which is told. */
px_status pxi_check_range(px_check *c, double *low, double *high, px_error *err);
void pxi_check_note(const px_check *c, const char *format, ...) PX_PRINTF(2, 3);
/* "FOLDER/NAME", to be freed; NULL when out of memory. */
char *pxi_check_path(const px_check *c, const char *name);
int pxi_check_threads(const px_check *c);

/* `count` items of the data through the network, with the check's own progress. */
pxi_task pxi_check_task(px_check *c, int64_t count);

/* Members of results; NaN, NULL or `otherwise` where there is none of that kind. */
const px_json_value *pxi_json_path(const px_json_value *from, const char *path);
double pxi_json_number(const px_json_value *from, const char *path);
int64_t pxi_json_int(const px_json_value *from, const char *path, int64_t otherwise);
int64_t pxi_json_whole(const px_json_value *value, int64_t otherwise); /* of the value itself */
const char *pxi_json_words(const px_json_value *from, const char *path);
const px_json_value *pxi_json_list(const px_json_value *from, const char *path); /* an array */
/* How many items a list has; 0: it is none. */
size_t pxi_json_count(const px_json_value *from, const char *path);

bool pxi_json_true(const px_json_value *from, const char *path); /* false where there is none */

/* --- numbers, paths and commands as people read them (page_words.c) -------------------------- */

/* "1/255", "8/255", "0.1"; "10,000". */
enum { PXI_FRACTION_TEXT = 32, PXI_COUNT_TEXT = 32 };
const char *pxi_fraction_text(double value, char text[PXI_FRACTION_TEXT]);
const char *pxi_count_text(int64_t count, char text[PXI_COUNT_TEXT]);
/* A path, or the SPEC of a data set, without the folders of this machine: part of its argument. */
const char *pxi_shown_path(const char *path);
/* "FOLDER/NAME" likewise, and a command; to be freed. */
char *pxi_page_path(const px_check *c, const char *name);
char *pxi_shown_command(const char *command);

/* The words of a command: its name and the network; where the inputs are; how they are scaled, and
 * with `range` what their values may be. pxi_command() has all three. */
void pxi_command_model(const px_check *c, const char *name, px_text *out);
void pxi_command_data(const px_check *c, px_text *out);
void pxi_command_values(const px_check *c, bool range, px_text *out);
void pxi_command(const px_check *c, const char *name, bool range, px_text *out);
void pxi_command_option(px_text *out, const char *name, const char *value); /* NULL: nothing */

/* --- opening (check_open.c, check_default.c, check_folder.c) --------------------------------- */

px_status pxi_check_open_data(px_check *c, px_error *err);
/* Training data in the network's form; PX_E_INPUT with advice where there are none. */
px_status pxi_check_open_train(const px_check *c, int64_t limit, px_preprocess *pre,
                               px_dataset **out, px_error *err);
px_status pxi_check_train_default(px_check *c, px_error *err);
/* Whether the folder can be this examination's, before any work: PX_E_USAGE where somebody else's
 * files are in the way. */
px_status pxi_check_folder_look(const px_check *c, px_error *err);
px_status pxi_check_folder_open(px_check *c, px_error *err);
px_status pxi_check_folder_identify(px_check *c, px_error *err);
/* FOLDER/STAGE.json as it is; to be freed. */
px_status pxi_check_result_text(const px_check *c, int stage, char **out, px_error *err);
/* Takes a stage's result from the folder if it is there and of the same key. */
bool pxi_check_recall(px_check *c, int stage);
px_status pxi_check_keep(px_check *c, int stage, const char *result, double seconds, px_error *err);
/* Adds "files": {NAME: hash} of a stage's files to its result. */
px_status pxi_check_files(const px_check *c, const pxi_stage *stage, px_json *out, px_error *err);
void pxi_check_forget(px_check *c, int stage);
/* What was found out about every input (predictions.npz). */
px_status pxi_check_predictions(px_check *c, px_error *err);

/* --- findings ------------------------------------------------------------------------------------
 *
 * FOLDER/synthesize, /attack and /fuzz are campaigns of their stages, /campaign has all failures */

typedef struct pxi_findings { /* {0}: closed */
    px_campaign *campaign;
    px_pairs *pairs;
} pxi_findings;

/* An empty campaign for a stage, in place of what an interrupted one left. `settings` is a JSON
 * object of what decides the content. */
px_status pxi_findings_begin(px_check *c, int stage, const char *settings, pxi_findings *out,
                             px_error *err);
px_status pxi_findings_finish(const px_check *c, pxi_findings *f, px_error *err); /* commits */
void pxi_findings_close(pxi_findings *f);
/* What an identity of such campaigns has, but for the settings. */
px_campaign_identity pxi_findings_identity(const px_check *c);
/* A campaign FOLDER/NAME of the examination's own, empty or gone on with; its folder is marked
 * before anything else is put there. */
px_status pxi_check_campaign_open(const px_check *c, const char *name, bool resume,
                                  px_campaign **out, px_error *err);
/* Removes it, as far as the mark says that the examination made it. */
px_status pxi_check_campaign_clear(const px_check *c, const char *name, px_error *err);

/* Puts the faults of all stages into FOLDER/campaign, unless they are there, and opens it; *out is
 * NULL where there are none. */
px_status pxi_findings_gather(px_check *c, px_campaign **out, px_error *err);
/* How a finding was made, by its chain: "synthesize", "attack", "fuzz". */
const char *pxi_finding_method(const char *chain);

/* Seconds on the clock at which a stage that has `share` of the time for failures must end. */
double pxi_check_deadline(const px_check *c);

/* --- views that need more than their result (page_inputs.c, page_neurons.c) ------------------ */

px_status pxi_page_eval(pxi_page *p, const px_json_value *eval, px_error *err);
px_status pxi_page_select(pxi_page *p, const px_json_value *select, px_error *err);
px_status pxi_page_localize(pxi_page *p, const px_json_value *localize, px_error *err);
px_status pxi_page_describe(pxi_page *p, const px_json_value *describe, px_error *err);

/* --- the end (gates.c, junit.c, check_page.c) ------------------------------------------------ */

px_status pxi_gates_parse(px_check *c, px_error *err);
/* Gates as JSON, the list with a px_check as its record; the page says what each measures, too. */
extern const px_field pxi_gate_fields[], pxi_gate_page_fields[];
const void *pxi_gate_item(const void *check, size_t i, void *row);
void pxi_gates_judge(px_check *c);
px_status pxi_junit_write(const px_check *c, const char *path, px_error *err);
/* Where nothing can be judged: the reason as one case. What cannot be written is left alone. */
void pxi_junit_write_failure(const px_check_options *options, const char *message);
px_status pxi_page_write(px_check *c, px_error *err);

#endif
