/* studies/fuzz/fuzz_claims.c - what the NSGen paper says of its baselines, and whether it came out
 *
 * Each is looked at for every network that was run, by picks where there are such cells, else in
 * equal time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"
#include "fuzz/fuzz_study.h"

#include <math.h>
#include <plexor/text.h>
#include <stdio.h>
#include <string.h>

/* The size that guides are compared at. */
static int64_t size_of(const px_study *study, size_t subject)
{
    size_t guides[FZ_GUIDES];
    for (size_t g = 0; g < FZ_GUIDES; g++)
        guides[g] = g;
    return fz_common_size(study, subject, fz_measure_of(study, subject), guides, FZ_GUIDES);
}

static double value_of(const px_study *study, size_t subject, size_t guide, int64_t size,
                       const char *name)
{
    return fz_value_of(study, subject, guide, fz_measure_of(study, subject), size, name);
}

void fz_claim_subject(px_text *evidence, size_t subject)
{
    px_text_format(evidence, "%s%s %s: ", evidence->length ? "; " : "",
                   fz_subjects[subject].dataset, fz_subjects[subject].arch);
}

/* The guide with the highest value among those that were run; FZ_GUIDES: none was. Ones with
 * fewer outputs than `outputs` have no share to speak of. */
static size_t highest(const px_study *study, size_t subject, const char *name, double outputs)
{
    const int64_t size = size_of(study, subject);
    size_t best = FZ_GUIDES;
    double most = -INFINITY;
    for (size_t g = 0; g < FZ_RANDOM; g++) {
        const double value = value_of(study, subject, g, size, name);
        if (value > most && value_of(study, subject, g, size, "outputs") >= outputs) {
            most = value;
            best = g;
        }
    }
    return best;
}

/* KMNC and NLC are never saturated: they take most picks. */
static void claim_unsaturated(const px_study *study, study_document *doc)
{
    static const char *const ids[] = {"kmnc", "nlc"};
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        for (size_t i = 0; i < 2; i++) {
            const size_t g = fz_guide_find(ids[i]);
            const double outputs = value_of(study, s, g, size_of(study, s), "outputs");
            const double picks = value_of(study, s, g, size_of(study, s), "picks");
            if (isnan(outputs) || !(picks > 0.0))
                continue;
            fz_claim_subject(&c.evidence, s);
            px_text_format(&c.evidence, "%s %.1f%%", fz_guides[g].title, 100.0 * outputs / picks);
            c.run++;
            c.held += outputs >= 0.8 * picks;
        }
    pxi_claim_end(
        &c, doc,
        "KMNC and NLC give an output at four picks of five or more (the paper's CIFAR-10: "
        "at 85 to 100% of them)");
}

static void claim_most(const px_study *study, study_document *doc, const char *name, double outputs,
                       const char *const ids[2], const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const size_t g = highest(study, s, name, outputs);
        if (g == FZ_GUIDES)
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence, "%s, %.*f", fz_guides[g].title, outputs > 0.0 ? 4 : 0,
                       value_of(study, s, g, size_of(study, s), name));
        c.run++;
        c.held += strcmp(ids[0], fz_guides[g].id) == 0 || strcmp(ids[1], fz_guides[g].id) == 0;
    }
    pxi_claim_end(&c, doc, text);
}

/* Plexor's own question: the paper has no such baseline. */
static void claim_random(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const int64_t size = size_of(study, s);
        const double random = value_of(study, s, FZ_RANDOM, size, "pairs");
        int above = 0, all = 0;
        px_text names = {0};
        for (size_t g = 0; g < FZ_NSGEN && !isnan(random); g++) {
            const double value = value_of(study, s, g, size, "pairs");
            if (isnan(value))
                continue;
            all++;
            above += value > random;
            if (value > random)
                px_text_format(&names, "%s%s %.0f", names.length ? ", " : " (", fz_guides[g].title,
                               value);
        }
        if (all > 0) {
            fz_claim_subject(&c.evidence, s);
            px_text_format(&c.evidence, "%d of %d criteria%s%s; random %.0f", above, all,
                           px_text_get(&names), names.length ? ")" : "", random);
            c.run += all;
            c.held += above;
        }
        c.evidence.failed = c.evidence.failed || px_text_failed(&names);
        px_text_done(&names);
    }
    pxi_claim_end(
        &c, doc,
        "plexor's own question: a criterion finds more pairs of a root and a wrong class than "
        "no guide at all");
}

static void claim_patterns(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    const size_t g = fz_guide_find("tknp");
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const double outputs = value_of(study, s, g, size_of(study, s), "outputs");
        if (isnan(outputs))
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence, "%.0f", outputs);
        c.run++;
        c.held += outputs <= 1.0;
    }
    pxi_claim_end(&c, doc,
                  "TKNP has a single output (a slip of the published code; ours keeps its "
                  "patterns)");
}

void fz_claims(const px_study *study, study_document *doc)
{
    pxi_doc_claim(doc, STUDY_OPEN, "NSGen finds more faults than every criterion",
                  "Not run in this study; it is in 'plexor study nsgen'.");
    claim_unsaturated(study, doc);
    claim_most(study, doc, "faults", 0.0, (const char *const[]){"kmnc", "nlc"},
               "the most faults of all criteria are those of KMNC or NLC (the paper's CIFAR-10: "
               "KMNC, NLC, NLC; MDSC close to it on ResNet50)");
    claim_most(
        study, doc, "rft", 50.0, (const char *const[]){"dsc", "dsc"},
        "of criteria with 50 outputs or more, DSC has the highest share of faults among them "
        "(the paper's CIFAR-10: 0.99)");
    claim_patterns(study, doc);
    claim_random(study, doc);
}
