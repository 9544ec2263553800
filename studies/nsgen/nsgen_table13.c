/* studies/nsgen/nsgen_table13.c - Table 13: accuracy of retrained networks, and what part faults
 * had */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;
enum { SHOWN = 3 }; /* the strength that stands beside the paper's */

enum { ON_S2, ON_PGD, ON_BIM, SETS };

static const double paper[FZ_SUBJECTS][2][SETS] = {
    /* before, after */
    {{0.9392, 0.0038, 0.8476}, {0.9382, 0.0088, 0.8766}},
    {{0.9392, 0.0196, 0.8288}, {0.9422, 0.0232, 0.8706}},
    {{0.9374, 0.0002, 0.7532}, {0.9386, 0.0052, 0.8372}},
    {{0.7436, 0.0016, 0.5910}, {0.7296, 0.0034, 0.6080}},
    {{0.7298, 0.0008, 0.5210}, {0.7196, 0.0050, 0.5818}},
    {{0.7394, 0.0, 0.4272}, {0.7354, 0.0008, 0.5306}},
    {{0.8277, 0.0, 0.1949}, {0.8806, 0.4356, 0.8306}},
    {{0.7383, 0.0, 0.0904}, {0.8299, 0.4072, 0.7593}},
    {{0.8319, 0.0, 0.1507}, {0.9093, 0.1626, 0.8109}},
    {{0.7606, 0.0002, 0.3204}, {0.7686, 0.0003, 0.4002}},
    {{0.7338, 0.0002, 0.2089}, {0.7404, 0.0002, 0.2549}},
    {{0.7208, 0.0002, 0.2223}, {0.7210, 0.0002, 0.2500}},
};

static const char *const arm_titles[NG_ARMS] = {"original", "more epochs alone", "NSGen's faults",
                                                "faults without a guide"};

static study_figure arm_figure(const px_study *study, size_t subject, size_t arm, const char *name,
                               double scale, double printed)
{
    char prefix[CELL_KEY];
    ng_retrain_prefix(subject, arm, prefix);
    return pxi_study_figure(study, prefix, name, scale, printed, FZ_SEEDS);
}

static bool arms_were_run(const px_study *study, size_t subject)
{
    return arm_figure(study, subject, NG_ARMS - 1, "s2", 1.0, UNKNOWN).n > 0;
}

/* --- tables ---------------------------------------------------------------------------------- */

static void set_name(char name[CELL_NAME], size_t set)
{
    if (set == ON_S2)
        snprintf(name, CELL_NAME, "s2");
    else
        snprintf(name, CELL_NAME, "%s_%d", ng_attacks[set - ON_PGD], ng_strengths[SHOWN]);
}

static void report_table(const px_study *study, study_document *doc)
{
    static const char *const columns[SETS] = {"S2", "PGD->S2", "BIM->S2"};
    char buffer[96], name[CELL_NAME];
    pxi_doc_table(doc, "Table 13: accuracy (%), ours at eps 8/255", columns, SETS, 2);
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const bool run = arms_were_run(study, s);
        const char *missing = run ? NULL : fz_missing(study, s, buffer);
        for (size_t arm = 0; arm < NG_ARMS; arm++) {
            const double *row = arm == NG_ORIGINAL ? paper[s][0]
                                : arm == NG_FAULTS ? paper[s][1]
                                                   : NULL;
            if (!row && !run)
                continue;
            pxi_doc_row(doc,
                        run       ? NULL
                        : missing ? missing
                                  : "not run",
                        "%s%s, %s", fz_subjects[s].title, ng_ours(s), arm_titles[arm]);
            for (size_t set = 0; set < SETS; set++) {
                set_name(name, set);
                pxi_doc_figure(
                    doc, arm_figure(study, s, arm, name, 100.0, row ? 100.0 * row[set] : UNKNOWN));
            }
        }
    }
}

/* One table of all strengths; `what` is what names of values begin with. */
static void report_strengths(const px_study *study, study_document *doc, size_t subject,
                             const char *what, const char *words)
{
    const char *columns[NG_STRENGTHS];
    char titles[NG_STRENGTHS][16], caption[240], name[CELL_NAME];
    for (size_t i = 0; i < NG_STRENGTHS; i++) {
        snprintf(titles[i], sizeof titles[i], "%d/255", ng_strengths[i]);
        columns[i] = titles[i];
    }
    snprintf(caption, sizeof caption, "%s%s: accuracy (%%) %s, by eps", fz_subjects[subject].title,
             ng_ours(subject), words);
    pxi_doc_table(doc, caption, columns, NG_STRENGTHS, 2);
    for (size_t a = 0; a < NG_ATTACKS; a++)
        for (size_t arm = 0; arm < NG_ARMS; arm++) {
            pxi_doc_row(doc, NULL, "%s, %s", a == NG_PGD ? "PGD" : "BIM", arm_titles[arm]);
            for (size_t i = 0; i < NG_STRENGTHS; i++) {
                snprintf(name, sizeof name, "%s%s_%d", what, ng_attacks[a], ng_strengths[i]);
                pxi_doc_figure(doc, arm_figure(study, subject, arm, name, 100.0, UNKNOWN));
            }
        }
}

static void report_subject(const px_study *study, study_document *doc, size_t s)
{
    const double added = arm_figure(study, s, NG_FAULTS, "added", 1.0, UNKNOWN).mean;
    const double control = arm_figure(study, s, NG_RANDOM, "added", 1.0, UNKNOWN).mean;
    const double trained = arm_figure(study, s, NG_FAULTS, "train_inputs", 1.0, UNKNOWN).mean;
    pxi_doc_paragraph(doc,
                      "%s%s: %.0f faults of NSGen, and %.0f that were found without a guide, were "
                      "added to %.0f training inputs; S2 has %.0f inputs, of which %.0f were "
                      "attacked anew.",
                      fz_subjects[s].title, ng_ours(s), added, control, trained,
                      arm_figure(study, s, NG_FAULTS, "inputs", 1.0, UNKNOWN).mean,
                      arm_figure(study, s, NG_FAULTS, "inputs_anew", 1.0, UNKNOWN).mean);
    report_strengths(study, doc, s, "", "on what attacks on the original network made of S2");
    report_strengths(study, doc, s, "anew_", "under attacks on each network itself, whole levels");
    report_strengths(study, doc, s, "exact_", "under attacks on each network itself, unrounded");
}

/* --- claims ---------------------------------------------------------------------------------- */

double ng_retrain_mean(const px_study *study, size_t subject, size_t arm, const char *what,
                       size_t attack)
{
    char name[CELL_NAME];
    double sum = 0.0;
    int count = 0;
    for (size_t a = 0; a < NG_ATTACKS; a++)
        for (size_t i = 0; i < NG_STRENGTHS; i++) {
            if (attack != NG_ATTACKS && a != attack)
                continue;
            snprintf(name, sizeof name, "%s%s_%d", what, ng_attacks[a], ng_strengths[i]);
            sum += arm_figure(study, subject, arm, name, 100.0, UNKNOWN).mean;
            count++;
        }
    return sum / count;
}

typedef struct comparison {
    size_t against;   /* the arm that NSGen's is compared with */
    const char *what; /* names of values begin so; NULL: accuracy on S2 */
    size_t attack;    /* NG_ATTACKS: both */
    const char *text;
} comparison;

/* Two standard errors of a difference between two accuracies (%) of n inputs, in points, at most:
 * as if the inputs were not the same ones for both, and right or wrong at all strengths alike. */
static double chance_points(double a, double b, double n)
{
    return 2.0 * sqrt((a * (100.0 - a) + b * (100.0 - b)) / n);
}

static void claim_more(const px_study *study, study_document *doc, const comparison *c)
{
    study_claim claim = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        double of[NG_ARMS];
        for (size_t arm = 0; arm < NG_ARMS; arm++)
            of[arm] = c->what ? ng_retrain_mean(study, s, arm, c->what, c->attack)
                              : arm_figure(study, s, arm, "s2", 100.0, UNKNOWN).mean;
        if (isnan(of[c->against]) || isnan(of[NG_FAULTS]))
            continue;
        fz_claim_subject(&claim.evidence, s);
        const bool anew = c->what && *c->what;
        const double n =
            arm_figure(study, s, NG_FAULTS, anew ? "inputs_anew" : "inputs", 1.0, UNKNOWN).mean;
        const double change = of[NG_FAULTS] - of[c->against];
        const double chance = chance_points(of[NG_FAULTS], of[c->against], n);
        px_text_format(&claim.evidence,
                       "from %.2f%% to %.2f%% (%s the %.1f points that a choice of %.0f inputs "
                       "alone may make, training aside)",
                       of[c->against], of[NG_FAULTS], fabs(change) > chance ? "beyond" : "within",
                       chance, n);
        claim.run++;
        claim.held += of[NG_FAULTS] > of[c->against];
    }
    pxi_claim_end(&claim, doc, c->text);
}

void ng_retrain_report(const px_study *study, study_document *doc)
{
    static const comparison claims[] = {
        {NG_ORIGINAL, NULL, 0,
         "retraining with NSGen's faults raises accuracy on S2 (the paper: in 8 of 12 cases, by "
         "1.76 points on average)"},
        {NG_ORIGINAL, "", NG_PGD,
         "and on PGD->S2, mean of all strengths (the paper: by 8.55 points on average)"},
        {NG_ORIGINAL, "", NG_BIM,
         "and on BIM->S2, mean of all strengths (the paper: by 20.45 points on average)"},
        {NG_NOTHING, "", NG_ATTACKS,
         "plexor's own question: by more than as many epochs without new inputs, mean of PGD->S2 "
         "and BIM->S2"},
        {NG_RANDOM, "", NG_ATTACKS,
         "plexor's own question: by more than as many faults that were found without a guide"},
        {NG_ORIGINAL, "anew_", NG_ATTACKS,
         "plexor's own question: the network also withstands more where it is attacked itself"},
    };
    pxi_doc_heading(doc, 2, "Retraining with faults (section 7.5, Table 13)");
    pxi_doc_paragraph(
        doc,
        "S1 and S2 are the first and the second half of the test set; the first %d images of S1 "
        "are the seeds of a campaign that ends with as many faults, or after ten times as many "
        "picks. These join the training set, and the network is trained further. The paper states "
        "neither how nor for how long, nor the strengths of its attacks: ours are 10 epochs of SGD "
        "(momentum 0.9, weight decay 5e-4, rate 0.001 falling as a cosine, batches of 128, nothing "
        "augmented), PGD with 40 steps of eps/30 from a random start and BIM with 10 of eps/5, all "
        "steps taken, at five strengths; the paper's 0%% and 85%% cannot be of the same one. With "
        "--limit there are fewer seeds, faults, inputs of S2, and training inputs in proportion. "
        "PGD->S2 and BIM->S2 are pictures of whole levels that were made once with the original "
        "network: another network, however it came about, falls for them less often. So two "
        "networks stand beside it that NSGen had no part in: one with as many faults of the same "
        "seeds, found without a guide and with no more executions than NSGen took, and one with "
        "as many epochs and nothing new; and every network is attacked anew with its own "
        "gradients.",
        FZ_SEEDS);
    report_table(study, doc);
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        if (arms_were_run(study, s))
            report_subject(study, doc, s);
    for (size_t i = 0; i < PX_LEN(claims); i++)
        claim_more(study, doc, &claims[i]);
}
