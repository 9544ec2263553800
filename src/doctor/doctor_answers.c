/* src/doctor/doctor_answers.c - what the network says, over all: classes that take or get nothing
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { LEAST = 50 }; /* fewer inputs prove nothing */

static const char *class_name(const px_doctor *d, int c, char buffer[64])
{
    const char *name =
        c < px_dataset_class_count(d->o.set) ? px_dataset_class_name(d->o.set, c) : NULL;
    if (name)
        snprintf(buffer, 64, "'%.48s'", name);
    else
        snprintf(buffer, 64, "%d", c);
    return buffer;
}

/* A third of all answers, and three times as many as there are such labels. */
static px_status answers_one_class(px_doctor *d, px_error *err)
{
    const px_eval_class *of = d->eval.by_class;
    const int classes = d->eval.all.classes;
    int most = 0;
    char name[64];
    for (int c = 1; c < classes; c++)
        if (of[c].predicted > of[most].predicted)
            most = c;
    if (of[most].predicted * 3 <= d->said->count || of[most].predicted <= 3 * of[most].labelled ||
        classes < 3)
        return PX_OK;
    return pxi_doctor_add(
        d, "one-class", PX_FINDING_WARNING, of[most].predicted, NULL, err,
        "class %s gets %" PRId64 " of %" PRId64 " answers, and %" PRId64 " inputs have that label",
        class_name(d, most, name), of[most].predicted, d->said->count, of[most].labelled);
}

/* Classes with labels that are never the answer, or answers that are never a label. */
static px_status answers_never(px_doctor *d, px_error *err)
{
    const px_eval_class *of = d->eval.by_class;
    int64_t silent = 0, absent = 0;
    int first_silent = 0, first_absent = 0;
    char name[64];
    for (int c = d->eval.all.classes; c-- > 0;) {
        if (of[c].labelled >= 20 && of[c].predicted == 0) {
            silent++;
            first_silent = c;
        }
        if (of[c].labelled == 0) {
            absent++;
            first_absent = c;
        }
    }
    if (silent && !px_doctor_find(d, "one-class"))
        PX_TRY(pxi_doctor_add(d, "never-answered", PX_FINDING_WARNING, silent, NULL, err,
                              "%" PRId64 " %s never the answer, though inputs have the label: %s%s",
                              silent, silent == 1 ? "class is" : "classes are",
                              class_name(d, first_silent, name),
                              silent > 1 ? " is the first" : ""));
    if (absent && !d->o.quick && !px_doctor_find(d, "never-labelled")) /* by their names */
        PX_TRY(pxi_doctor_add(d, "never-labelled", PX_FINDING_INFO, absent, NULL, err,
                              "%" PRId64 " of the network's classes %s among the labels: %s%s",
                              absent, absent == 1 ? "does not come" : "do not come",
                              class_name(d, first_absent, name),
                              absent > 1 ? " is the first" : ""));
    return PX_OK;
}

px_status pxi_doctor_answers(px_doctor *d, px_error *err)
{
    if (d->eval.all.labelled < LEAST || d->o.failures)
        return PX_OK;
    PX_TRY(answers_one_class(d, err));
    return answers_never(d, err);
}
