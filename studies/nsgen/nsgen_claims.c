/* studies/nsgen/nsgen_claims.c - what the NSGen paper says, and whether it came out
 *
 * Each is looked at for every network that was run, by picks where there are such cells, else in
 * equal time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"
#include "nsgen/nsgen_study.h"

#include <math.h>
#include <plexor/text.h>
#include <string.h>

typedef struct ng_question {
    const char *name;        /* what is compared */
    int digits;              /* of it */
    size_t one, first, last; /* guide `one` against each of these */
    fz_measure measure;      /* FZ_MEASURES: the subject's */
    bool outputs;            /* guides with fewer than 50 outputs have no share to speak of */
    const char *claim;
} ng_question;

/* A guide against others: a case each, the best of the others in the evidence. */
static void claim_more(const px_study *study, study_document *doc, const ng_question *q)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const fz_measure m = q->measure == FZ_BY_OUTPUTS ? FZ_BY_OUTPUTS : fz_measure_of(study, s);
        size_t guides[FZ_ALL_GUIDES + 1] = {q->one}, count = 1;
        for (size_t g = q->first; g <= q->last; g++)
            guides[count++] = g;
        const int64_t n = fz_common_size(study, s, m, guides, count);
        const double own = fz_value_of(study, s, q->one, m, n, q->name);
        size_t best = FZ_ALL_GUIDES;
        double most = -INFINITY;
        int held = 0, run = 0;
        for (size_t g = q->first; g <= q->last && !isnan(own); g++) {
            const double value = fz_value_of(study, s, g, m, n, q->name);
            const bool few = q->outputs && !(fz_value_of(study, s, g, m, n, "outputs") >= 50.0);
            if (g == q->one || isnan(value) || few)
                continue;
            run++;
            held += own > value;
            if (value > most) {
                most = value;
                best = g;
            }
        }
        if (best == FZ_ALL_GUIDES)
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence, "%s %.*f, above %d of %d, the highest of which is %s %.*f",
                       fz_guides[q->one].title, q->digits, own, held, run, fz_guides[best].title,
                       q->digits, most);
        c.run += run;
        c.held += held;
    }
    pxi_claim_end(&c, doc, q->claim);
}

/* What words add to the class: the share of kept mutants that the class alone keeps, too. */
static void claim_words(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const fz_measure m = fz_measure_of(study, s);
        const double both = fz_value(study, s, FZ_NSGEN, m, "as_label_percent");
        if (isnan(both))
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence,
                       "of what NSGen or the class alone keep of the same mutants both keep %.1f%%",
                       both);
        c.run++;
        c.held += both < 50.0;
    }
    pxi_claim_end(&c, doc,
                  "plexor's own question: words decide what NSGen keeps (read as: it and the class "
                  "alone agree on less than half of what either keeps)");
}

void ng_claims(const px_study *study, study_document *doc)
{
    static const ng_question questions[] = {
        {"faults", 0, FZ_NSGEN, 0, FZ_NSGEN - 1, FZ_MEASURES, false,
         "NSGen finds more faults than every criterion at equal picks (Table 3)"},
        {"rft", 4, FZ_NSGEN, 0, FZ_NSGEN - 1, FZ_MEASURES, true,
         "and more of its outputs are faults (Table 3; criteria with 50 outputs or more)"},
        {"classes", 0, FZ_NSGEN, 0, FZ_NSGEN - 1, FZ_MEASURES, false,
         "and they are of more classes (Table 4: mostly as many, 10)"},
        {"faults", 0, FZ_NSGEN, FZ_RANDOM, FZ_RANDOM, FZ_MEASURES, false,
         "plexor's own question: NSGen finds more faults than no guide at all"},
        {"faults", 0, FZ_NSGEN, FZ_LABEL_ONLY, FZ_LABEL_ONLY, FZ_MEASURES, false,
         "plexor's own question: NSGen finds more faults than the class alone as a guide"},
        {"pairs", 0, FZ_NSGEN, FZ_LABEL_ONLY, FZ_LABEL_ONLY, FZ_MEASURES, false,
         "plexor's own question: and more pairs of a root and a wrong class"},
        {"rft", 4, FZ_NSGEN, FZ_LABEL_ONLY, FZ_LABEL_ONLY, FZ_MEASURES, true,
         "plexor's own question: and more of its outputs are faults"},
        {"faults", 0, FZ_NSGEN, FZ_NO_CNS, FZ_NO_NLDG, FZ_MEASURES, false,
         "NSGen finds more faults than without critical neurons, and than without words (Table "
         "11)"},
        {"faults", 0, FZ_NO_NLDG, FZ_NO_CNS, FZ_NO_CNS, FZ_MEASURES, false,
         "critical neurons matter more than words (Table 11: fewer faults without the former)"},
        {"faults", 0, FZ_NSGEN, 0, FZ_NSGEN - 1, FZ_BY_OUTPUTS, false,
         "of equal outputs, more are faults (Table 12; the paper's CIFAR-10: all but DSC, and once "
         "LSC and MDSC)"},
        {"faults", 0, FZ_NSGEN, FZ_LAYERS_FIRST, FZ_LAYERS_LAST, FZ_MEASURES, false,
         "more layers find more faults (Figure 6: all against fewer)"},
        {"faults", 0, FZ_NSGEN, FZ_TOP_FIRST, FZ_TOP_LAST, FZ_MEASURES, false,
         "on CIFAR-10 one class in the text is better than more (Table 8)"},
        {"faults", 0, FZ_NSGEN, FZ_ENCODER_FIRST, FZ_ENCODER_LAST, FZ_MEASURES, false,
         "faults depend on the text encoder (Table 5; read as: the default's are more than each "
         "other's)"},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        claim_more(study, doc, &questions[i]);
        if (i == 6)
            claim_words(study, doc);
    }
}
