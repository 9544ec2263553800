/* studies/nss/nss_claims.c - what the NSS paper says, one by one, and whether it came out */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nss/nss_study.h"

#include "frame/study_claim.h"

#include <math.h>
#include <plexor/text.h>
#include <stdio.h>
#include <string.h>

static double claim_mean(const px_study *study, size_t subject, const char *name, double scale,
                         const char *words)
{
    char prefix[CELL_KEY];
    nss_prefix(subject, prefix, "%s", words);
    return pxi_study_figure(study, prefix, name, scale, (double)NAN, 0).mean;
}

static double claim_of_method(const px_study *study, size_t subject, const char *id,
                              const char *name)
{
    char words[64];
    snprintf(words, sizeof words, "select %s", id);
    return claim_mean(study, subject, name, 100.0, words);
}

/* Whether a method's candidates are fewer than the protocol's. */
static bool claim_reduced(const px_study *study, size_t subject, const char *id)
{
    char prefix[CELL_KEY];
    nss_prefix(subject, prefix, "select %s", id);
    const long all = nss_subjects[subject].candidates;
    return pxi_study_figure(study, prefix, "fdr5", 1.0, (double)NAN, all).reduced;
}

/* The best of the paper's other methods by this value; NULL: none was run. Those that had fewer
 * candidates than NSS are not compared with it. */
static const char *claim_rival(const px_study *study, size_t subject, const char *name,
                               double *best)
{
    const char *title = NULL;
    for (size_t m = 1; m < NSS_METHODS; m++) {
        const double value = claim_of_method(study, subject, nss_methods[m].id, name);
        if (isnan(value) || (title && value <= *best) ||
            claim_reduced(study, subject, nss_methods[m].id) !=
                claim_reduced(study, subject, nss_methods[0].id))
            continue;
        *best = value;
        title = nss_methods[m].title;
    }
    return title;
}

static void claim_ahead(const px_study *study, study_document *doc, const char *name,
                        const char *text)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        double best = 0.0;
        const double nss = claim_of_method(study, s, "nss", name);
        const char *rival = claim_rival(study, s, name, &best);
        if (!isnan(nss) && rival)
            pxi_claim_case(&c, nss > best, "%s: %.1f against %s's %.1f", nss_subjects[s].title, nss,
                           rival, best);
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_detection(const px_study *study, study_document *doc, int rate)
{
    char name[16], text[120];
    snprintf(name, sizeof name, "fdr%d", rate);
    snprintf(text, sizeof text,
             "NSS finds more faults than every other method at %d%% (Table 7; pair=original)",
             rate);
    claim_ahead(study, doc, name, text);
}

/* How far our figures are from the paper's, over the four rates. */
static double claim_distance(const px_study *study, size_t subject, size_t method, double *most)
{
    double sum = 0.0;
    *most = 0.0;
    for (size_t r = 0; r < NSS_RATES; r++) {
        char name[16];
        snprintf(name, sizeof name, "fdr%d", nss_rates[r]);
        const double away = claim_of_method(study, subject, nss_methods[method].id, name) -
                            nss_table7[subject][r][method];
        sum += away;
        *most = fmax(*most, fabs(away));
    }
    return sum / NSS_RATES;
}

static void claim_same(const px_study *study, study_document *doc, bool others)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        bool near = true;
        px_text away = {0};
        for (size_t m = others ? 1 : 0; m < (others ? NSS_METHODS : 1); m++) {
            double most = 0.0;
            const double mean = claim_distance(study, s, m, &most);
            if (isnan(mean))
                continue;
            near = near && most <= 10.0;
            px_text_format(&away, "%s%s %+.1f", away.length ? ", " : "", nss_methods[m].title,
                           mean);
        }
        if (away.length) {
            pxi_claim_case(&c, near, "%s: %s", nss_subjects[s].title, px_text_get(&away));
        }
        c.evidence.failed = c.evidence.failed || px_text_failed(&away);
        px_text_done(&away);
    }
    pxi_claim_end(&c, doc,
                  others
                      ? "the paper's figures of the other methods come out within 10 points at "
                        "every rate (Table 7; mean difference over the rates)"
                      : "the paper's figures of NSS come out within 10 points at every rate (Table "
                        "7; mean difference over the rates)");
}

static void claim_twice(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const double nss = claim_of_method(study, s, "nss", "fdr5");
        const double rate = claim_of_method(study, s, "nss", "fault_rate");
        if (isnan(nss) || isnan(rate))
            continue;
        pxi_claim_case(&c, nss >= 2.0 * rate, "%s: %.1f, %.2f times %.1f", nss_subjects[s].title,
                       nss, nss / rate, rate);
    }
    pxi_claim_end(&c, doc,
                  "NSS with pair=original reaches twice the candidates' fault rate at 5% (our own "
                  "expectation)");
}

static void claim_fresh(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const double fresh = claim_mean(study, s, "fdr5", 100.0, "fresh");
        const double gini = claim_of_method(study, s, "gini", "fdr5");
        const double random = claim_of_method(study, s, "random", "fdr5");
        if (isnan(fresh) || isnan(gini) || isnan(random))
            continue;
        pxi_claim_case(&c, fresh > gini, "%s: %.1f, Gini %.1f, random %.1f", nss_subjects[s].title,
                       fresh, gini, random);
    }
    pxi_claim_end(
        &c, doc,
        "NSS by the letter of its algorithm (pair=fresh), which needs no originals, finds "
        "more faults than Gini at 5%");
}

static void claim_correlation(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const double pearson = claim_mean(study, s, "pearson", 1.0, "deciles");
        const double spearman = claim_mean(study, s, "spearman", 1.0, "deciles");
        if (isnan(pearson))
            continue;
        pxi_claim_case(&c, pearson < -0.9 && spearman < -0.9, "%s: Pearson %.3f, Spearman %.3f",
                       nss_subjects[s].title, pearson, spearman);
    }
    pxi_claim_end(
        &c, doc,
        "accuracy falls with the tenth of TNSScore, both correlations below -0.9 (Table 6)");
}

static void claim_kappa(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const double least = claim_mean(study, s, "kappa_least", 1.0, "deciles");
        if (isnan(least))
            continue;
        pxi_claim_case(&c, least > 0.95, "%s: %.3f", nss_subjects[s].title, least);
    }
    pxi_claim_end(&c, doc,
                  "the sensitive neurons of five seeds agree with kappa above 0.95 (least of ten "
                  "pairs, mean over runs)");
}

static void claim_internal(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s <= NSS_MNIST_L5; s++) {
        const double inner = claim_of_method(study, s, "internal-gini", "fdr5");
        const double random = claim_of_method(study, s, "random", "fdr5");
        if (isnan(inner) || isnan(random))
            continue;
        pxi_claim_case(&c, inner < random, "%s: %.1f, random %.1f", nss_subjects[s].title, inner,
                       random);
    }
    pxi_claim_end(&c, doc,
                  "Gini of an inner layer finds fewer faults than random choice (Table 1, at 5%)");
}

static void claim_layers(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        double value[NSS_LAYERS];
        for (size_t i = 0; i < NSS_LAYERS; i++)
            value[i] = claim_mean(study, s, "fdr20", 100.0, nss_variant_of(s, NSS_LAYER, i).words);
        if (isnan(value[0]) || isnan(value[3]))
            continue;
        pxi_claim_case(&c, value[3] > value[0] && value[3] > value[1],
                       "%s: %.1f and %.1f, last %.1f", nss_subjects[s].title, value[0], value[1],
                       value[3]);
    }
    pxi_claim_end(&c, doc,
                  "the last encoder layer serves better than the first two (Table 13, at 20%)");
}

static void claim_shares(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const double few = claim_mean(study, s, "fdr20", 100.0, "k=1");
        const double ten = claim_mean(study, s, "fdr20", 100.0, "k=10");
        const double all = claim_mean(study, s, "fdr20", 100.0, "k=100");
        if (isnan(few) || isnan(ten) || isnan(all))
            continue;
        pxi_claim_case(&c, few < ten && ten < all, "%s: %.1f, %.1f, %.1f", nss_subjects[s].title,
                       few, ten, all);
    }
    pxi_claim_end(&c, doc,
                  "more sensitive neurons find more faults: k = 1, 10, 100% (Table 12, at 20%)");
}

static void claim_repair(const px_study *study, study_document *doc)
{
    study_claim c = {.unit = "subjects"};
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        double gain[NSS_REPAIRERS];
        for (size_t i = 0; i < NSS_REPAIRERS; i++) {
            char words[80];
            snprintf(words, sizeof words, "repair %s rate=5 momentum=0.9", nss_repairers[i]);
            gain[i] = claim_mean(study, s, "mutants_gain", 100.0, words);
        }
        if (isnan(gain[0]) || isnan(gain[1]) || isnan(gain[2]))
            continue;
        pxi_claim_case(&c, gain[0] > gain[1] && gain[0] > gain[2],
                       "%s: %.2f, Gini %.2f, random %.2f", nss_subjects[s].title, gain[0], gain[1],
                       gain[2]);
    }
    pxi_claim_end(&c, doc,
                  "retraining with what NSS selects gains more than with Gini's or a random choice "
                  "(Table 10, at 5%, on new mutants, momentum 0.9)");
}

void nss_claims(const px_study *study, study_document *doc)
{
    for (size_t r = 0; r < NSS_RATES; r++)
        claim_detection(study, doc, nss_rates[r]);
    claim_same(study, doc, /* others= */ false);
    claim_same(study, doc, /* others= */ true);
    claim_twice(study, doc);
    claim_fresh(study, doc);
    claim_correlation(study, doc);
    claim_ahead(study, doc, "rauc",
                "NSS covers fault types faster than every other method (RAUC, Table 8)");
    claim_kappa(study, doc);
    claim_internal(study, doc);
    claim_shares(study, doc);
    claim_layers(study, doc);
    claim_repair(study, doc);
}
