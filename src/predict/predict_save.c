/* src/predict/predict_save.c - predictions as files: CSV for people, NPZ for programs */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <plexor/predict.h>

#include "base/csv_rows.h"
#include "base/memory.h"

#include <internal/classes.h>
#include <internal/eval.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *px_predict_class_name(const px_model *model, const px_dataset *set, int c,
                                  char buffer[PX_CLASS_NUMBER])
{
    const char *name = px_model_class_name(model, c);
    if (!name && set && c < px_dataset_class_count(set))
        name = px_dataset_class_name(set, c);
    snprintf(buffer, PX_CLASS_NUMBER, "%d", c);
    return name ? name : buffer;
}

static void csv_class(px_text *text, const px_model *model, const px_dataset *set, int64_t c)
{
    char number[PX_CLASS_NUMBER];
    px_text_add(text, ",");
    if (c >= 0)
        pxi_csv_put(text, px_predict_class_name(model, set, (int)c, number));
}

/* Of regression: a column for each number, and for what it was to be. */
static px_status csv_numbers(const px_predictions *said, const px_dataset *set, bool head,
                             px_text *text)
{
    char name[1024];
    for (int k = 0; head && k < 2 * said->outputs; k++)
        px_text_format(text, "%s%s_%d", k ? "," : "name,", k < said->outputs ? "output" : "target",
                       k % said->outputs);
    px_text_add(text, head ? "\n" : "");
    for (int64_t i = 0; i < said->count; i++) {
        pxi_csv_put(text, px_dataset_name(set, i, name, sizeof name));
        for (int k = 0; k < 2 * said->outputs; k++) {
            const double value =
                (double)(k < said->outputs ? said->output
                                           : said->target)[i * said->outputs + k % said->outputs];
            px_text_add(text, ",");
            if (!isnan(value))
                px_text_format(text, "%.9g", value);
        }
        px_text_add(text, "\n");
    }
    return px_text_failed(text) ? PX_E_NOMEM : PX_OK;
}

px_status px_predictions_csv(const px_predictions *said, const px_model *model,
                             const px_dataset *set, bool head, px_text *text)
{
    const int classes = said->scores.classes;
    char number[PX_CLASS_NUMBER], name[1024];
    if (said->outputs)
        return csv_numbers(said, set, head, text);
    if (head) {
        px_text_add(text, "name,label,predicted,confidence");
        for (int c = 0; c < classes; c++) {
            px_text_add(text, ",");
            pxi_csv_put(text, px_predict_class_name(model, set, c, number));
        }
        px_text_add(text, "\n");
    }
    for (int64_t i = 0; i < said->count; i++) {
        pxi_csv_put(text, px_dataset_name(set, i, name, sizeof name));
        csv_class(text, model, set, said->label[i]);
        csv_class(text, model, set, said->predicted[i]);
        px_text_add(text, ",");
        if (!isnan(said->confidence[i]))
            px_text_format(text, "%.7g", (double)said->confidence[i]);
        for (int c = 0; c < classes; c++)
            px_text_format(text, ",%.7g", (double)said->probabilities[i * classes + c]);
        px_text_add(text, "\n");
    }
    return px_text_failed(text) ? PX_E_NOMEM : PX_OK;
}

static px_status npz_names(px_npz_writer *to, const px_dataset *set, int64_t count, px_error *err)
{
    char name[1024];
    size_t width = 1;
    for (int64_t i = 0; i < count; i++)
        width = PX_MAX(width, strlen(px_dataset_name(set, i, name, sizeof name)));
    const px_shape shape = {2, {count, (int64_t)width}};
    PX_TRY(px_npz_begin(to, "names", PX_UINT8, &shape, err));
    for (int64_t i = 0; i < count; i++) {
        memset(name, 0, sizeof name);
        px_dataset_name(set, i, name, sizeof name);
        PX_TRY(px_npz_write(to, name, width, err));
    }
    return PX_OK;
}

static px_status npz_fill(px_npz_writer *to, const px_predictions *said, const px_dataset *set,
                          px_error *err)
{
    const px_shape line = {1, {said->count}}, table = {2, {said->count, said->scores.classes}};
    const px_tensor probabilities = {PX_FLOAT32, table, said->probabilities};
    const px_tensor predicted = {PX_INT64, line, said->predicted};
    const px_tensor label = {PX_INT64, line, said->label};
    if (said->outputs) {
        const px_shape numbers = {2, {said->count, said->outputs}};
        const px_tensor output = {PX_FLOAT32, numbers, said->output};
        const px_tensor target = {PX_FLOAT32, numbers, said->target};
        PX_TRY(px_npz_add(to, "output", &output, err));
        PX_TRY(px_npz_add(to, "target", &target, err));
        return npz_names(to, set, said->count, err);
    }
    PX_TRY(px_npz_add(to, "probabilities", &probabilities, err));
    PX_TRY(px_npz_add(to, "predicted", &predicted, err));
    PX_TRY(px_npz_add(to, "label", &label, err));
    return npz_names(to, set, said->count, err);
}

px_status px_predictions_npz(const px_predictions *said, const px_dataset *set, const char *path,
                             px_error *err)
{
    px_npz_writer *to = NULL;
    PX_TRY(px_npz_create(path, &to, err));
    const px_status status = npz_fill(to, said, set, err);
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- mistakes -------------------------------------------------------------------------------- */

/* x of those inputs: bytes for 8-bit sources, floats as they are for others. */
static px_status wrong_pixels(px_npz_writer *to, const px_dataset *set, const int64_t *wrong,
                              int64_t count, float *pixels, px_error *err)
{
    px_shape x = px_dataset_shape(set);
    const size_t floats = (size_t)px_shape_count(&x);
    const bool levels = px_dataset_is_8bit(set);
    uint8_t *bytes = (uint8_t *)pixels; /* each behind the float that it is made of */
    for (int d = x.rank++; d > 0; d--)
        x.dim[d] = x.dim[d - 1];
    x.dim[0] = count;
    PX_TRY(px_npz_begin(to, "x", levels ? PX_UINT8 : PX_FLOAT32, &x, err));
    for (int64_t i = 0; i < count; i++) {
        PX_TRY(px_dataset_pixels(set, wrong[i], pixels, err));
        for (size_t k = 0; levels && k < floats; k++)
            bytes[k] = (uint8_t)pixels[k];
        PX_TRY(px_npz_write(to, pixels, floats * (levels ? 1 : sizeof *pixels), err));
    }
    return PX_OK;
}

static px_status wrong_fill(px_npz_writer *to, const px_predictions *said, const px_dataset *set,
                            const int64_t *wrong, int64_t count, float *pixels, px_error *err)
{
    static const char *const names[] = {"y", "indices", "predictions"};
    const px_shape line = {1, {count}};
    PX_TRY(wrong_pixels(to, set, wrong, count, pixels, err));
    for (int column = 0; column < 3; column++) {
        PX_TRY(px_npz_begin(to, names[column], PX_INT64, &line, err));
        for (int64_t i = 0; i < count; i++) {
            const int64_t value = column == 0   ? px_dataset_label(set, wrong[i])
                                  : column == 1 ? px_dataset_index(set, wrong[i])
                                                : said->predicted[wrong[i]];
            PX_TRY(px_npz_write(to, &value, sizeof value, err));
        }
    }
    return PX_OK;
}

px_status px_predictions_save_wrong(const px_predictions *said, const px_dataset *set,
                                    const char *path, int64_t *count, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    int64_t *wrong = NULL;
    float *pixels = NULL;
    px_npz_writer *to = NULL;
    px_status status = PX_NEW(wrong, said->count, err);
    PX_THEN(status, PX_NEW(pixels, px_shape_count(&shape), err));
    PX_THEN(status, px_npz_create(path, &to, err));
    *count = 0;
    for (int64_t i = 0; status == PX_OK && i < said->count; i++)
        if (said->predicted[i] != px_dataset_label(set, i))
            wrong[(*count)++] = i;
    PX_THEN(status, wrong_fill(to, said, set, wrong, *count, pixels, err));
    if (status == PX_OK)
        status = px_npz_commit(to, err);
    else if (to)
        px_npz_abandon(to);
    free(wrong);
    free(pixels);
    return status;
}
