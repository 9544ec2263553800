/* src/check/label_suspects.c - inputs whose label may be wrong, or that are broken
 *
 * Confident learning (Northcutt, Jiang, Chuang: Confident Learning: Estimating Uncertainty in
 * Dataset Labels, JAIR 70, 2021, section 3.1): the threshold of class j is the mean probability
 * that the network gives j on inputs labelled j, and an input with another label whose probability
 * of j reaches it counts as one of j. So a class that the network is never sure of needs less, and
 * an overconfident network does not suspect everything it gets wrong. Here only the network's own
 * answer is taken for j. The order is by margin, p(answer) - p(label), largest first.
 */
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

static void suspects_json(const px_check *c, const pxi_judged *list, size_t count, px_json *out)
{
    char name[256];
    px_json_object(out, "label_suspects");
    px_json_int(out, "total", (int64_t)count);
    px_json_string(out, "rule",
                   "An input is listed where the network answers another class at least as surely "
                   "as it does, on average, on inputs that are labelled so (confident learning).");
    px_json_array(out, "items");
    for (size_t i = 0; i < count && i < SUSPECTS_LISTED; i++) {
        px_json_object(out, NULL);
        px_json_int(out, "input", list[i].input);
        px_json_string(out, "name", px_dataset_name(c->set, list[i].input, name, sizeof name));
        px_json_int(out, "label", list[i].label);
        px_json_string(out, "label_name", c->names[list[i].label]);
        px_json_int(out, "prediction", list[i].prediction);
        px_json_string(out, "prediction_name", c->names[list[i].prediction]);
        px_json_real(out, "confidence", list[i].confidence);
        px_json_real(out, "given", list[i].given);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_end(out);
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
                                 ? pxi_check_nomem(err)
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
    px_status status = inputs && thresholds ? PX_OK : pxi_check_nomem(err);
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
