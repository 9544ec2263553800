/* studies/nsgen/nsgen_study.h - the study of NSGen, between its files
 *
 * Its campaigns are cells of fuzz_cell.c with the same keys: what `study fuzz` has found in a
 * folder is not run again here. Guides beyond those of coverage are *settings* of decision paths;
 * what they need of a network (a bank, a text encoder, a threshold) is made once, by part `words`
 * or by whoever needs it first, and kept in FOLDER/words.
 *
 * A part that is no campaign has a file with three functions: NAME_plan() adds its jobs, of a kind
 * that begins with the part's name; NAME_run() does one; NAME_report() prints what its cells have.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSGEN_STUDY_H
#define PXI_STUDY_NSGEN_STUDY_H

#include "fuzz/fuzz_study.h"

#include <internal/describe.h>
#include <plexor/bank.h>
#include <plexor/decision_path.h>

enum {
    NG_PICTURES = 5000, /* training pictures that units are described by */
    NG_IMAGES = 50,     /* that tau is found from; the paper's 1% of each class are 500 */
    NG_STEPS = 16,      /* from the baseline to the input; the paper takes 50, which is three times
                           the work: part `words` measures what that changes */
    NG_COMPARED = 100,  /* pictures that it is measured by */
};

/* --- words of a network (nsgen_words.c) ------------------------------------------------------ */

typedef struct ng_words { /* {0} is none; ng_words_close() in any case */
    px_model *model;
    study_data train; /* pictures that units are described by, and tau is found from */
    px_bank *bank;
    char **names; /* of classes */
    size_t name_count;
    px_text_encoder *encoder;
    px_paths *paths;
    px_path_judge *judge;
    px_threshold threshold; /* after ng_words_threshold() */
} ng_words;

/* Network, training pictures, bank (described now where FOLDER/words has none, with its cell
 * "SUBJECT words run=1 n=5000": gates), class names. No encoder, no paths. */
px_status ng_words_bank(px_study *study, size_t subject, ng_words *out, px_error *err);
/* All of it, for one setting; NULL: NSGen as the paper has it. */
px_status ng_words_open(px_study *study, size_t subject, const fz_paths *setting, ng_words *out,
                        px_error *err);
/* The threshold: FOLDER/words/... where it is there, else found now and kept. */
px_status ng_words_threshold(px_study *study, size_t subject, const fz_paths *setting,
                             ng_words *words, px_error *err);
/* After ng_words_bank(): how far paths of `NG_STEPS` are those of the paper's 50, doubled where
 * contributions do not add up; a cell "SUBJECT steps run=1 n=100". */
px_status ng_words_steps(px_study *study, size_t subject, const ng_words *words, px_error *err);
void ng_words_close(ng_words *words);

/* FOLDER/words/DATASET_ARCH, made, with NAME behind it; the caller frees it. */
px_status ng_words_path(px_study *study, size_t subject, const char *name, char **out,
                        px_error *err);
/* The describer's settings of the study: virtual units, `NG_PICTURES`, seed, threads, progress. */
px_describe_options ng_describe_options(const px_study *study, const ng_words *words);

bool ng_words_done(const px_study *study, size_t subject);
void ng_words_report(const px_study *study, study_document *doc);

/* --- campaigns ------------------------------------------------------------------------------- */

/* Whether the subject is wanted and has its data and network: parts plan jobs for such only. */
bool ng_planned(const px_study *study, size_t subject);

/* --- parts ----------------------------------------------------------------------------------- */

#define NG_PARTS(X)                                                                        \
    X(threshold)   /* Table 9: tau of 1 to 5% of each class */                             \
    X(describers)  /* Tables 6 and 7: numbers of exemplars, sizes of the LSTM; Figure 2 */ \
    X(correlation) /* section 7.4, Figure 7: similarity and failure */                     \
    X(retrain)     /* Table 13: S1, S2, PGD, BIM */                                        \
    X(map)         /* Figure 8: faults that only NSGen finds */                            \
    X(mutants)     /* Figure 10: first mutants of guides, SSIM */

#define NG_PART_FUNCTIONS(name)                                                      \
    px_status ng_##name##_plan(px_study *study, px_error *err);                      \
    px_status ng_##name##_run(px_study *study, const study_job *job, px_error *err); \
    void ng_##name##_report(const px_study *study, study_document *doc);
NG_PARTS(NG_PART_FUNCTIONS)
#undef NG_PART_FUNCTIONS

void ng_report(const px_study *study, study_document *doc);
void ng_claims(const px_study *study, study_document *doc);

#endif
