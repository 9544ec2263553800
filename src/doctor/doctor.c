/* src/doctor/doctor.c - an examination: its parts in order, and the list of findings */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "doctor/doctor_internal.h"

#include <internal/data.h>
#include <internal/rng.h>
#include <plexor/field.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000 }; /* inputs that are run where nobody has run them */

px_doctor_options px_doctor_options_default(void)
{
    return (px_doctor_options){.threads = 0};
}

static const char *const level_names[] = {"info", "warning", "error", NULL};

const char *px_finding_level_name(px_finding_level level)
{
    return level_names[level];
}

/* --- findings -------------------------------------------------------------------------------- */

px_status pxi_doctor_add(px_doctor *d, const char *id, px_finding_level level, int64_t count,
                         const char *advice, px_error *err, const char *sentence, ...)
{
    char words[512];
    va_list args;
    va_start(args, sentence);
    vsnprintf(words, sizeof words, sentence, args);
    va_end(args);
    PX_TRY(PX_GROW(d->findings, d->capacity, d->count + 1, err));
    px_finding *f = &d->findings[d->count];
    *f = (px_finding){.id = id, .level = level, .count = count};
    f->sentence = pxi_strdup(words);
    f->advice = advice ? pxi_strdup(advice) : NULL;
    d->count++;
    return f->sentence && (!advice || f->advice) ? PX_OK : pxi_no_memory(err);
}

px_status pxi_doctor_name(px_doctor *d, const char *name, px_error *err)
{
    px_finding *f = &d->findings[d->count - 1];
    const size_t room = (f->input_count + 1) * sizeof *f->inputs;
    const char **inputs = realloc((void *)(uintptr_t)f->inputs, room);
    if (!inputs)
        return pxi_no_memory(err);
    f->inputs = inputs;
    PX_TRY(PX_DUP(inputs[f->input_count], name, err));
    f->input_count++;
    return PX_OK;
}

/* Errors before warnings before remarks; otherwise in the order of the examination. */
static void doctor_sort(px_doctor *d)
{
    for (size_t i = 1; i < d->count; i++) {
        const px_finding f = d->findings[i];
        size_t at = i;
        for (; at > 0 && d->findings[at - 1].level < f.level; at--)
            d->findings[at] = d->findings[at - 1];
        d->findings[at] = f;
    }
}

/* --- what it examines ------------------------------------------------------------------------ */

int64_t pxi_doctor_index(const px_doctor *d, int64_t i)
{
    return d->sampled ? d->sampled[i] : i;
}

bool pxi_doctor_pictures(const px_doctor *d)
{
    const px_shape shape = px_dataset_shape(d->o.set);
    return !px_dataset_audio(d->o.set) && shape.rank == 3 &&
           (shape.dim[0] == 1 || shape.dim[0] == 3);
}

int64_t *pxi_doctor_spread(int64_t count, int64_t most, int64_t *made)
{
    const int64_t n = PX_MIN(count, most);
    int64_t *indices = pxi_calloc((size_t)PX_MAX(n, (int64_t)1), sizeof *indices);
    px_random r = px_rng(0, PX_RNG_SAMPLE, 0, 0);
    for (int64_t i = 0; indices && i < n; i++) {
        const int64_t low = (int64_t)((double)i * (double)count / (double)n);
        const int64_t high = (int64_t)((double)(i + 1) * (double)count / (double)n);
        indices[i] = low + (int64_t)(px_rng_u01(&r) * (double)(high - low));
    }
    *made = n;
    return indices;
}

static px_status doctor_predict(px_doctor *d, px_error *err)
{
    d->said = d->o.predictions;
    if (d->said)
        return PX_OK;
    px_predict_options how = px_predict_options_default();
    d->sample = pxi_doctor_spread(px_dataset_count(d->o.set), SAMPLE, &how.index_count);
    if (!d->sample)
        return pxi_no_memory(err);
    how.indices = d->sampled = d->sample;
    how.any_labels = true; /* that they are no classes is a finding */
    how.threads = d->o.threads;
    how.progress = d->o.progress;
    how.context = d->o.context;
    PX_TRY(px_predict(d->o.model, d->o.set, d->o.pre, &how, &d->own, err));
    d->said = &d->own;
    return PX_OK;
}

static px_status doctor_run(px_doctor *d, px_error *err)
{
    PX_TRY(doctor_predict(d, err));
    PX_TRY(px_eval_make(d->said, &d->eval, err));
    PX_TRY(pxi_doctor_classes(d, err));
    PX_TRY(pxi_doctor_values(d, err));
    PX_TRY(pxi_doctor_preprocess(d, err));
    PX_TRY(pxi_doctor_answers(d, err));
    return pxi_doctor_duplicates(d, err);
}

px_status px_doctor_new(const px_doctor_options *options, px_doctor **out, px_error *err)
{
    px_doctor *d = NULL;
    PX_TRY(PX_NEW(d, 1, err));
    d->o = *options;
    const px_status status = doctor_run(d, err);
    if (status != PX_OK) {
        px_doctor_free(d);
        return status;
    }
    doctor_sort(d);
    *out = d;
    return PX_OK;
}

void px_doctor_free(px_doctor *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++) {
        const px_finding *f = &d->findings[i];
        for (size_t k = 0; k < f->input_count; k++)
            free((char *)(uintptr_t)f->inputs[k]);
        free((void *)(uintptr_t)f->inputs);
        free((char *)(uintptr_t)f->sentence);
        free((char *)(uintptr_t)f->advice);
    }
    free(d->findings);
    free(d->sample);
    px_predictions_done(&d->own);
    px_eval_done(&d->eval);
    free(d);
}

/* --- what came of it ------------------------------------------------------------------------- */

size_t px_doctor_count(const px_doctor *doctor)
{
    return doctor->count;
}

const px_finding *px_doctor_get(const px_doctor *doctor, size_t i)
{
    return i < doctor->count ? &doctor->findings[i] : NULL;
}

const px_finding *px_doctor_find(const px_doctor *doctor, const char *id)
{
    for (size_t i = 0; i < doctor->count; i++)
        if (strcmp(doctor->findings[i].id, id) == 0)
            return &doctor->findings[i];
    return NULL;
}

const char *px_doctor_why_guessing(const px_doctor *doctor)
{
    static const char *const reasons[] = {"preprocess", "class-count", "class-names"};
    for (size_t i = 0; i < PX_LEN(reasons); i++) {
        const px_finding *found = px_doctor_find(doctor, reasons[i]);
        if (found)
            return found->sentence;
    }
    return "none of 'plexor list preprocess' does better: check whether labels and classes belong "
           "together";
}

const px_preprocess *px_doctor_preprocess(const px_doctor *doctor)
{
    return doctor->advised ? &doctor->advice : NULL;
}

static const px_field finding_fields[] = {
    PX_FIELD(px_finding, id, "id", "which finding it is"),
    PX_CHOICE(px_finding, level, level_names, "level", "how bad it is"),
    PX_FIELD(px_finding, sentence, "sentence", "what was found"),
    PX_FIELD(px_finding, advice, "advice", "what to do about it"),
    PX_FIELD(px_finding, count, "count", "inputs or classes that it is about"),
    PX_VALUES(px_finding, inputs, input_count, "inputs", "names of the first of them"),
    PX_FIELDS_END,
};

const px_field px_doctor_fields[] = {
    PX_LIST(px_doctor, findings, count, finding_fields, "findings", "the worst first"),
    PX_FIELDS_END,
};
