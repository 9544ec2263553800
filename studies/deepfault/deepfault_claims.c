/* studies/deepfault/deepfault_claims.c - what the DeepFault paper says, one by one, and whether it
 * came out
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepfault/deepfault_study.h"

#include "base/memory.h"
#include "frame/study_claim.h"

#include <math.h>
#include <plexor/text.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;

static double mean_of(const px_study *study, size_t subject, int choice, int k, double step,
                      const char *name)
{
    return df_one(study, subject, choice, k, step, name, 1.0, UNKNOWN).mean;
}

/* Every measure, k and step of a data set's networks that were run. */
static void claim_beats_random(const px_study *study, study_document *doc, int dataset, int measure,
                               const char *text)
{
    study_claim c = {.unit = "cells"};
    for (size_t n = 0; n < DF_NETWORKS; n++) {
        const size_t s = (size_t)dataset * DF_NETWORKS + n;
        double steps[DF_STEPS];
        const size_t count = df_steps(s, steps);
        int held = 0, run = 0;
        px_text lost = {0};
        for (size_t i = 0; df_was_run(study, s) && i < count; i++)
            for (int k = 0; k < DF_KS; k++)
                for (int m = 0; m < DF_MEASURES; m++) {
                    const int kk = df_ks[dataset][k];
                    const double loss = mean_of(study, s, m, kk, steps[i], "loss");
                    const double random = mean_of(study, s, DF_RANDOM, kk, steps[i], "loss");
                    const double right = mean_of(study, s, m, kk, steps[i], "accuracy");
                    const double chance = mean_of(study, s, DF_RANDOM, kk, steps[i], "accuracy");
                    if (isnan(loss) || isnan(random) || (measure >= 0 && m != measure))
                        continue;
                    const bool holds = loss > random && right < chance;
                    run++;
                    held += holds;
                    if (!holds)
                        px_text_format(&lost,
                                       "%s%s k=%d step %g (loss %.2f against %.2f, accuracy "
                                       "%.2f against %.2f)",
                                       lost.length ? ", " : " but not ", df_choices[m].title, kk,
                                       steps[i], loss, random, right, chance);
                }
        c.held += held;
        c.run += run;
        if (run)
            pxi_claim_say(&c, "%s: %d of %d%s", df_subjects[s].title, held, run,
                          px_text_get(&lost));
        c.evidence.failed = c.evidence.failed || px_text_failed(&lost);
        px_text_done(&lost);
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_significant(const px_study *study, study_document *doc, int dataset,
                              unsigned pairs, bool wanted, const char *text)
{
    study_claim c = {.unit = "tests"};
    for (size_t n = 0; n < DF_NETWORKS; n++) {
        const size_t s = (size_t)dataset * DF_NETWORKS + n;
        double steps[DF_STEPS], most = 0.0, floor = UNKNOWN;
        const size_t count = df_steps(s, steps);
        int held = 0, run = 0;
        for (size_t i = 0; df_was_run(study, s) && i < count; i++)
            for (int k = 0; k < DF_KS; k++)
                for (int p = 0; p < DF_PAIRS; p++) {
                    char prefix[CELL_KEY], name[CELL_NAME];
                    df_tests_prefix(s, df_ks[dataset][k], steps[i], prefix);
                    snprintf(name, sizeof name, "p_loss_%s", df_pairs[p].id);
                    const double value =
                        pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, 0).mean;
                    snprintf(name, sizeof name, "effect_loss_%s", df_pairs[p].id);
                    const double effect =
                        pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, 0).mean;
                    if (!(pairs >> p & 1u) || isnan(value))
                        continue;
                    floor = pxi_study_figure(study, prefix, "smallest_p", 1.0, UNKNOWN, 0).mean;
                    run++;
                    /* significant, and in the direction of more loss */
                    held += (value < 0.05 && effect > 0.5) == wanted;
                    most = fmax(most, value);
                }
        c.held += held;
        c.run += run;
        if (run)
            pxi_claim_say(&c, "%s: %d of %d, largest p %.2g, smallest reachable %.1g",
                          df_subjects[s].title, held, run, most, floor);
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_bound(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "networks"};
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        double steps[DF_STEPS], most = 0.0;
        const size_t count = df_steps(s, steps);
        const int dataset = df_dataset(s);
        bool run = false;
        for (size_t i = 0; df_was_run(study, s) && i < count; i++)
            for (int k = 0; k < DF_KS; k++)
                for (int m = 0; m < DF_CHOICES; m++) {
                    char prefix[CELL_KEY];
                    double values[256];
                    df_prefix(s, m, df_ks[dataset][k], steps[i], prefix);
                    const size_t n =
                        pxi_study_values(study, prefix, "linf_most", values, PX_LEN(values));
                    for (size_t v = 0; v < n; v++, run = true)
                        most = fmax(most, values[v]);
                }
        if (!run)
            continue;
        pxi_claim_case(&c, most <= 0.1, "%s: %.6f", df_subjects[s].title, most);
    }
    pxi_claim_end(
        &c, doc,
        "no value moves by more than a tenth of the range: the largest Linf of all inputs, "
        "before and after rounding, is at most 0.1");
}

static void claim_raised(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "networks"};
    for (size_t s = 0; s < DF_NETWORKS; s++) {
        double sum = 0.0;
        for (int m = 0; m < DF_MEASURES; m++)
            sum += mean_of(study, s, m, 10, 1.0, "raised");
        if (isnan(sum))
            continue;
        pxi_claim_case(&c, sum / DF_MEASURES >= 0.9, "%s: %.1f%%", df_subjects[s].title,
                       100.0 * sum / DF_MEASURES);
    }
    const study_figure all = df_average(study, DF_MNIST, (1u << DF_MEASURES) - 1, 1u << (DF_KS - 1),
                                        1.0, "raised", 100.0, UNKNOWN);
    if (c.run)
        pxi_claim_say(&c, "together %.1f%%", all.mean);
    pxi_claim_end(&c, doc,
                  "at k = 10 at least 90% of the suspicious neurons rise on MNIST (paper: 91%)");
}

static void claim_deep(const px_study *study, study_document *doc)
{
    enum { MNIST_3 = 2, FIRST = 4, LAST = 8 };
    study_claim c = {.unit = "measures"};
    for (int m = 0; m < DF_MEASURES; m++) {
        char prefix[CELL_KEY];
        double deep = 0.0, all = 0.0;
        df_layers_prefix(MNIST_3, m, prefix);
        for (int l = 1; l <= LAST; l++) {
            char name[CELL_NAME];
            snprintf(name, sizeof name, "layer%d", l);
            const double count = pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, 0).mean;
            all += count;
            deep += l >= FIRST ? count : 0.0;
        }
        if (isnan(all))
            continue;
        pxi_claim_case(&c, deep > 0.5 * all, "%s: %.0f of %.0f", df_choices[m].title, deep, all);
    }
    pxi_claim_end(&c, doc,
                  "suspicious neurons of MNIST_3 are mostly in layers 4 to 8 (more than half)");
}

static void claim_best(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "networks"};
    for (size_t s = 0; s < DF_NETWORKS; s += 2) { /* MNIST_1 and MNIST_3 */
        int first = 0, run = 0;
        for (int k = 0; k < DF_KS; k++) {
            double loss[DF_MEASURES];
            for (int m = 0; m < DF_MEASURES; m++)
                loss[m] = mean_of(study, s, m, df_ks[DF_MNIST][k], 1.0, "loss");
            if (isnan(loss[DF_OCHIAI]))
                continue;
            run++;
            first += loss[DF_OCHIAI] > loss[DF_TARANTULA] && loss[DF_OCHIAI] > loss[DF_DSTAR];
        }
        if (!run)
            continue;
        pxi_claim_case(&c, first >= 2, "%s: for %d of %d values of k", df_subjects[s].title, first,
                       run);
    }
    pxi_claim_end(
        &c, doc,
        "Ochiai leads to the highest loss on MNIST_1 and MNIST_3 for several k (two or more)");
}

void df_claims(const px_study *study, study_document *doc)
{
    enum { T_R = 1, O_R = 2, D_R = 4 };
    claim_beats_random(study, doc, DF_MNIST, -1,
                       "on MNIST, inputs from suspicious neurons have a higher loss and a lower "
                       "accuracy than those from random ones, for every measure and k (the paper "
                       "has one cell where D* does not: MNIST_2, k = 1)");
    claim_significant(study, doc, DF_MNIST, T_R | O_R | D_R, true,
                      "on MNIST the losses of all three measures are higher than random's at 95%, "
                      "for all networks and k");
    claim_beats_random(study, doc, DF_CIFAR, DF_TARANTULA,
                       "on CIFAR-10, Tarantula's inputs have a higher loss and a lower accuracy "
                       "than random's, for every k (ours: for every step too)");
    claim_significant(study, doc, DF_CIFAR, T_R | O_R, true,
                      "on CIFAR-10 the losses of Tarantula and Ochiai are higher than random's at "
                      "95%, for all networks and k (ours: for every step too)");
    claim_significant(study, doc, DF_CIFAR, D_R, false,
                      "on CIFAR-10 the losses of D* are not higher than random's at 95%");
    claim_best(study, doc);
    claim_deep(study, doc);
    claim_bound(study, doc);
    claim_raised(study, doc);
}
