/* src/check/label_suspects.c - inputs whose label may be wrong, or that are broken
 *
 * Confident learning (Northcutt, Jiang, Chuang: Confident Learning: Estimating Uncertainty in
 * Dataset Labels, JAIR 70, 2021, section 3.1): the threshold of class j is the mean probability
 * that the network gives j on inputs labelled j, and an input with another label whose probability
 * of j reaches it counts as one of j. So a class that the network is never sure of needs less, and
 * an overconfident network does not suspect everything it gets wrong. Here only the network's own
 * answer is taken for j. The order is by margin, p(answer) - p(label), largest first.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/label_suspects.h"

#include "base/csv_rows.h"
#include "base/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SUSPECTS_LISTED = 200 }; /* in the result; the file has all */

static double suspect_margin(const pxi_judged *s)
{
    return s->confidence - s->given;
}

static int suspect_order(const void *left, const void *right)
{
    const pxi_judged *a = left, *b = right;
    const double x = suspect_margin(a), y = suspect_margin(b);
    if (x != y)
        return x > y ? -1 : 1;
    return (a->input > b->input) - (a->input < b->input);
}

size_t pxi_label_suspects(pxi_judged *inputs, size_t count, int classes, double *thresholds)
{
    size_t found = 0;
    for (int c = 0; c < classes; c++) {
        double sum = 0.0;
        int64_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (inputs[i].label == c && isfinite(inputs[i].given)) {
                sum += inputs[i].given;
                n++;
            }
        thresholds[c] = n ? sum / (double)n : (double)NAN;
    }
    for (size_t i = 0; i < count; i++) {
        const pxi_judged s = inputs[i];
        if (s.prediction < 0 || s.prediction >= classes || s.prediction == s.label ||
            !(s.confidence >= thresholds[s.prediction])) /* NaN: nothing to compare with */
            continue;
        inputs[i] = inputs[found];
        inputs[found++] = s;
    }
    qsort(inputs, found, sizeof *inputs, suspect_order);
    return found;
}

typedef struct suspect_list {
    const px_check *c;
    const pxi_judged *inputs;
    int64_t total;
    const char *rule;
} suspect_list;

typedef struct suspect_row {
    pxi_judged judged;
    const char *name, *label_name, *prediction_name;
    char buffer[256];
} suspect_row;

static const void *suspect_item(const void *at, size_t i, void *row)
{
    const suspect_list *list = at;
    suspect_row *r = row;
    if ((int64_t)i >= list->total || i >= SUSPECTS_LISTED)
        return NULL;
    r->judged = list->inputs[i];
    r->name = px_dataset_name(list->c->set, r->judged.input, r->buffer, sizeof r->buffer);
    r->label_name = list->c->names[r->judged.label];
    r->prediction_name = list->c->names[r->judged.prediction];
    return r;
}

static const px_field suspect_fields[] = {
    PX_FIELD(suspect_row, judged.input, "input", "its place in the data"),
    PX_FIELD(suspect_row, name, "name", "its file, or what else the data call it"),
    PX_FIELD(suspect_row, judged.label, "label", "that it has"),
    PX_FIELD(suspect_row, label_name, "label_name", "the name of that"),
    PX_FIELD(suspect_row, judged.prediction, "prediction", "the network's answer"),
    PX_FIELD(suspect_row, prediction_name, "prediction_name", "the name of that"),
    PX_FIELD(suspect_row, judged.confidence, "confidence", "probability of the answer",
             .unit = PX_SHARE),
    PX_FIELD(suspect_row, judged.given, "given", "probability of the label", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field list_fields[] = {
    PX_FIELD(suspect_list, total, "total", "inputs whose label may be wrong"),
    PX_FIELD(suspect_list, rule, "rule", "by which they were found"),
    PX_LIST_MADE(suspect_item, suspect_fields, "items", "the most likely ones first"),
    PX_FIELDS_END,
};

static const px_field suspects_fields[] = {
    PX_OBJECT_OF(list_fields, "label_suspects", "inputs whose label may be wrong"),
    PX_FIELDS_END,
};

static void suspects_json(const px_check *c, const pxi_judged *inputs, size_t count, px_json *out)
{
    const suspect_list list = {
        .c = c,
        .inputs = inputs,
        .total = (int64_t)count,
        .rule = "An input is listed where the network answers another class at least as surely as "
                "it does, on average, on inputs that are labelled so (confident learning).",
    };
    px_fields_json(suspects_fields, &list, out);
}

static px_status suspects_save(const px_check *c, const pxi_judged *list, size_t count,
                               px_error *err)
{
    char name[256];
    px_text text = {0};
    px_text_add(&text, "rank,input,name,label,prediction,p_prediction,p_label\n");
    for (size_t i = 0; i < count; i++) {
        const char *file = px_dataset_name(c->set, list[i].input, name, sizeof name);
        px_text_format(&text, "%zu,%" PRId64 ",", i + 1, px_dataset_index(c->set, list[i].input));
        pxi_csv_put(&text, file ? file : "");
        px_text_add(&text, ",");
        pxi_csv_put(&text, c->names[list[i].label]);
        px_text_add(&text, ",");
        pxi_csv_put(&text, c->names[list[i].prediction]);
        px_text_format(&text, ",%.6f,%.6f\n", list[i].confidence, list[i].given);
    }
    char *path = pxi_check_path(c, PXI_SUSPECTS_FILE);
    const px_status status = !path || px_text_failed(&text)
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, text.data, text.length, err);
    free(path);
    px_text_done(&text);
    return status;
}

px_status pxi_label_suspects_write(const px_check *c, const int64_t *predictions,
                                   const float *confidence, const float *given, px_json *out,
                                   px_error *err)
{
    pxi_judged *inputs = pxi_calloc((size_t)c->count, sizeof *inputs);
    double *thresholds = pxi_calloc((size_t)c->scores.classes, sizeof *thresholds);
    px_status status = inputs && thresholds ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK) {
        for (int64_t i = 0; i < c->count; i++)
            inputs[i] = (pxi_judged){i, px_dataset_label(c->set, i), predictions[i],
                                     (double)confidence[i], (double)given[i]};
        const size_t found =
            pxi_label_suspects(inputs, (size_t)c->count, c->scores.classes, thresholds);
        status = suspects_save(c, inputs, found, err);
        if (status == PX_OK)
            suspects_json(c, inputs, found, out);
    }
    free(thresholds);
    free(inputs);
    return status;
}
