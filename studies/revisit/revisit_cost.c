/* studies/revisit/revisit_cost.c - about how long the parts take, on two idle cores: for the plan,
 * and for rows of the report that were not run
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"

#include <stdio.h>

/* Retraining once, with what is measured after it: a pass backwards is two forward. */
static double once(const px_study *study, const rv_subject *s)
{
    const double parts = (double)rv_count(study) / 10000.0;
    return s->pass_s * parts * (3.0 * (double)RV_EPOCHS + 5.0) + 0.5 * parts;
}

double rv_seconds(const px_study *study, size_t subject, rv_part part, size_t a)
{
    const rv_subject *s = &rv_subjects[subject];
    const double steps = (double)s->steps, parts = (double)rv_count(study) / 10000.0;
    const double judging = s->pass_s * (3.0 * steps + 10.0);
    double passes = 0.0;
    switch (part) {
    case RV_NETWORK:
        return s->train_s;
    case RV_RQ1:
        return RV_STEPS * once(study, s);
    case RV_RQ2:
        return RV_ARMS * RV_STEPS * once(study, s);
    case RV_RQ3:
        return (a == RV_OF_PAPER ? judging : 20.0 * s->pass_s) + 2.0;
    case RV_RQ4: /* with mutants less than half as many inputs again; with attacks a pass per step
                  */
        passes = (double)rv_defence_epochs(study, a) * (a == RV_PGD    ? 3.0 * (1.0 + steps)
                                                        : a == RV_FGSM ? 6.0
                                                                       : 4.0);
        break;
    }
    return judging + passes * s->pass_s * parts;
}

const char *rv_cost_note(const px_study *study, size_t subject, rv_part part, size_t a, size_t jobs,
                         char buffer[STUDY_NOTE])
{
    char why[64], cost[STUDY_COST];
    double seconds = (double)jobs * rv_seconds(study, subject, part, a);
    if (part != RV_NETWORK)
        seconds += rv_seconds(study, subject, RV_NETWORK, 0);
    pxi_study_cost(seconds, cost);
    if (pxi_study_had(study, rv_subjects[subject].dataset))
        snprintf(buffer, STUDY_NOTE, "not run: about %s", cost);
    else
        snprintf(buffer, STUDY_NOTE, "%s; then about %s",
                 pxi_study_missing(study, rv_subjects[subject].dataset, why), cost);
    return buffer;
}
