/* src/doctor/doctor_answers.c - what the network says, over all: classes that take or get nothing
 */
#include "doctor/doctor_inside.h"

#include <inttypes.h>
#include <plexor/graph.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 50 }; /* fewer inputs prove nothing */

typedef struct class_counts {
    int64_t *labelled, *answered;
} class_counts;

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
static px_status answers_one_class(px_doctor *d, const class_counts *n, px_error *err)
{
    const int classes = d->said->scores.classes;
    int most = 0;
    char name[64];
    for (int c = 1; c < classes; c++)
        if (n->answered[c] > n->answered[most])
            most = c;
    if (n->answered[most] * 3 <= d->said->count || n->answered[most] <= 3 * n->labelled[most] ||
        classes < 3)
        return PX_OK;
    return pxi_doctor_add(
        d, "one-class", PX_FINDING_WARNING, n->answered[most], NULL, err,
        "class %s gets %" PRId64 " of %" PRId64 " answers, and %" PRId64 " inputs have that label",
        class_name(d, most, name), n->answered[most], d->said->count, n->labelled[most]);
}

/* Classes with labels that are never the answer, or answers that are never a label. */
static px_status answers_never(px_doctor *d, const class_counts *n, px_error *err)
{
    int64_t silent = 0, absent = 0;
    int first_silent = 0, first_absent = 0;
    char name[64];
    for (int c = d->said->scores.classes; c-- > 0;) {
        if (n->labelled[c] >= 20 && n->answered[c] == 0) {
            silent++;
            first_silent = c;
        }
        if (n->labelled[c] == 0) {
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
    if (absent && !d->o.quick)
        PX_TRY(pxi_doctor_add(d, "never-labelled", PX_FINDING_INFO, absent, NULL, err,
                              "%" PRId64 " of the network's classes %s among the labels: %s%s",
                              absent, absent == 1 ? "does not come" : "do not come",
                              class_name(d, first_absent, name),
                              absent > 1 ? " is the first" : ""));
    return PX_OK;
}

px_status pxi_doctor_answers(px_doctor *d, px_error *err)
{
    const size_t classes = (size_t)d->said->scores.classes;
    class_counts n = {pxi_calloc(classes, sizeof(int64_t)), pxi_calloc(classes, sizeof(int64_t))};
    px_status status = n.labelled && n.answered ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; status == PX_OK && i < d->said->count; i++) {
        if (d->said->label[i] >= 0)
            n.labelled[d->said->label[i]]++;
        if (d->said->predicted[i] >= 0)
            n.answered[d->said->predicted[i]]++;
    }
    if (status == PX_OK && d->sum.labelled >= LEAST && !d->o.failures)
        status = answers_one_class(d, &n, err);
    if (status == PX_OK && d->sum.labelled >= LEAST && !d->o.failures)
        status = answers_never(d, &n, err);
    free(n.labelled);
    free(n.answered);
    return status;
}
