/* src/describe/describe_learn.c - a describer for these pictures: virtual units, their features, a
 * captioner (LGR C.12.2)
 *
 * Captions of units that are held out, and of pairs of attribute and position that training never
 * sees, are then compared with what the captioner says: gate g1. People's captions of units
 * (MILANNOTATIONS) are simply added to what it learns from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/describe_internal.h"

#include "base/memory.h"
#include "describe/exemplar_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct corpus {
    px_virtual_units *units;
    int height, width; /* of their masks */
    px_exemplars *milan;
    px_milan_annotations *annotations;
    struct {
        size_t layer;
        int64_t unit;
    } * people; /* annotated units, each once */
    size_t people_count;
    px_caption *captions;
    size_t caption_count, caption_capacity;
    float *features; /* [virtual units, then people's][k][size] */
} corpus;

static void corpus_done(corpus *c)
{
    px_virtual_units_free(c->units);
    px_exemplars_free(c->milan);
    px_milan_annotations_free(c->annotations);
    free(c->people);
    free(c->captions);
    free(c->features);
}

static px_status corpus_caption(corpus *c, size_t unit, const char *text, px_error *err)
{
    if (pxi_grow(&c->captions, &c->caption_capacity, c->caption_count + 1, sizeof *c->captions) !=
        0)
        return pxi_no_memory(err);
    c->captions[c->caption_count++] = (px_caption){.unit = unit, .text = text};
    return PX_OK;
}

/* --- virtual units --------------------------------------------------------------------------- */

static px_status virtual_fill(void *context, size_t unit, size_t j, px_annotated_pair *pair,
                              uint8_t *mask, uint8_t *pixels, bool *there, px_error *err)
{
    const corpus *c = context;
    const px_virtual_unit *u = px_virtual_units_get(c->units, unit);
    (void)pixels;
    (void)err;
    *there = (int64_t)j < u->exemplar_count;
    if (!*there)
        return PX_OK;
    pair->index = u->images[j];
    pair->pixels = px_virtual_units_picture(c->units, unit, (int64_t)j);
    pair->height = c->height;
    pair->width = c->width;
    px_virtual_units_mask(c->units, unit, (int64_t)j, mask);
    return PX_OK;
}

static px_status corpus_virtual(pxi_describe *job, corpus *c, px_error *err)
{
    px_virtual_options options = job->options.virtual_units;
    options.exemplars = (int64_t)job->k;
    options.quantile = job->options.exemplars.quantile;
    options.seed = job->options.seed;
    options.threads = job->options.threads;
    options.progress = job->options.progress;
    options.progress_context = job->options.context;
    pxi_describe_stage(job, "virtual units");
    PX_TRY(px_virtual_units_make(job->out->concepts, job->set, &options, &c->units, err));
    c->height = px_concepts_height(job->out->concepts);
    c->width = px_concepts_width(job->out->concepts);
    for (size_t i = 0; i < px_virtual_units_count(c->units); i++) {
        const px_virtual_unit *u = px_virtual_units_get(c->units, i);
        for (int k = 0; k < PX_VIRTUAL_CAPTIONS && u->split == PX_VIRTUAL_TRAIN; k++)
            if (u->captions[k])
                PX_TRY(corpus_caption(c, i, u->captions[k], err));
    }
    return PX_OK;
}

/* --- people's captions ----------------------------------------------------------------------- */

static px_status people_fill(void *context, size_t unit, size_t j, px_annotated_pair *pair,
                             uint8_t *mask, uint8_t *pixels, bool *there, px_error *err)
{
    const corpus *c = context;
    const px_exemplar_facts f = px_exemplars_facts(c->milan);
    const size_t layer = c->people[unit].layer;
    const int64_t number = c->people[unit].unit;
    *there = (int64_t)j < px_exemplars_unit(c->milan, layer, number).count;
    if (!*there)
        return PX_OK;
    pair->height = f.height;
    pair->width = f.width;
    PX_TRY(px_exemplars_mask(c->milan, layer, number, (int64_t)j, f.height, f.width, mask, err));
    return px_exemplars_picture(c->milan, layer, number, (int64_t)j, pixels, err);
}

/* Where an annotation's unit is among the exemplars of its folder; false: it has none. */
static bool people_find(const corpus *c, const px_milan_annotation *a, size_t *layer, int64_t *unit)
{
    for (size_t l = 0; l < px_exemplars_layer_count(c->milan); l++) {
        const px_exemplar_layer *info = px_exemplars_layer(c->milan, l);
        if (strcmp(info->name, a->layer) != 0)
            continue;
        *layer = l;
        *unit = a->unit;
        for (int64_t i = 0; info->numbers && i < info->units; i++)
            if (info->numbers[i] == a->unit) {
                *unit = i;
                return true;
            }
        return !info->numbers && a->unit < info->units;
    }
    return false;
}

static px_status corpus_people(pxi_describe *job, corpus *c, px_error *err)
{
    const size_t first = px_virtual_units_count(c->units);
    char *path = pxi_exemplar_path(job->options.milan, "annotations.csv");
    size_t capacity = 0;
    px_status status =
        path ? px_milan_annotations_load(path, &c->annotations, err) : pxi_no_memory(err);
    free(path);
    PX_THEN(status, px_exemplars_load(job->options.milan, &c->milan, err));
    for (size_t i = 0; status == PX_OK && i < px_milan_annotations_count(c->annotations); i++) {
        const px_milan_annotation *a = px_milan_annotations_get(c->annotations, i);
        size_t layer = 0, at = 0;
        int64_t unit = 0;
        if (!people_find(c, a, &layer, &unit))
            continue;
        while (at < c->people_count && (c->people[at].layer != layer || c->people[at].unit != unit))
            at++;
        if (at == c->people_count) {
            PX_TRY(PX_GROW(c->people, capacity, c->people_count + 1, err));
            c->people[at].layer = layer;
            c->people[at].unit = unit;
            c->people_count++;
        }
        status = corpus_caption(c, first + at, a->summary, err);
        job->out->facts.annotated++;
    }
    if (status == PX_OK && c->people_count == 0)
        return px_fail(
            err, PX_E_INPUT,
            "'%s': no annotated unit has exemplars; expected a folder for each layer that "
            "annotations.csv names",
            job->options.milan);
    return status;
}

/* --- features -------------------------------------------------------------------------------- */

static px_status corpus_encode(pxi_describe *job, corpus *c, px_error *err)
{
    const size_t size = (size_t)px_annotator_size(job->annotator);
    const size_t virtual_count = px_virtual_units_count(c->units);
    const size_t units = virtual_count + c->people_count;
    c->features = pxi_calloc(units, job->k * size * sizeof *c->features);
    if (!c->features)
        return pxi_no_memory_for(err, "the features of %zu units", units);
    pxi_describe_stage(job, "what the encoder sees of them");
    const pxi_encode made = {.units = virtual_count,
                             .k = job->k,
                             .mask_bytes = (size_t)c->height * (size_t)c->width,
                             .fill = virtual_fill,
                             .context = c};
    PX_TRY(pxi_describe_encode(job->annotator, &made, c->features, err));
    if (c->people_count == 0)
        return PX_OK;
    const px_exemplar_facts f = px_exemplars_facts(c->milan);
    const size_t plane = (size_t)f.height * (size_t)f.width;
    const pxi_encode people = {.units = c->people_count,
                               .k = job->k,
                               .mask_bytes = plane,
                               .picture_bytes = 3 * plane,
                               .fill = people_fill,
                               .context = c};
    return pxi_describe_encode(job->annotator, &people, c->features + virtual_count * job->k * size,
                               err);
}

/* --- g1 -------------------------------------------------------------------------------------- */

static px_status score_held_out(pxi_describe *job, const corpus *c, px_error *err)
{
    px_description *d = job->out;
    const size_t count = px_virtual_units_count(c->units);
    const size_t row = job->k * (size_t)px_annotator_size(job->annotator);
    px_status status = PX_OK;
    char **texts = NULL;
    PX_TRY(PX_NEW(texts, count, err));
    pxi_describe_stage(job, "captions that were held out");
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        /* runs of units that are not trained on, described together */
        size_t end = i;
        while (end < count && px_virtual_units_get(c->units, end)->split != PX_VIRTUAL_TRAIN)
            end++;
        if (end > i)
            status = px_captioner_describe(d->captioner, c->features + i * row, end - i,
                                           &job->options.captioner.decoding, texts + i, NULL, err);
        i = end;
        if (job->options.progress &&
            !job->options.progress(job->options.context, (int64_t)PX_MIN(end, count),
                                   (int64_t)count) &&
            status == PX_OK)
            status = px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    const char *const *said = (const char *const *)texts;
    PX_THEN(status, px_virtual_units_score(c->units, d->concepts, PX_VIRTUAL_HELD_OUT, said,
                                           &d->held_out, err));
    PX_THEN(status, px_virtual_units_score(c->units, d->concepts, PX_VIRTUAL_UNSEEN, said,
                                           &d->unseen, err));
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status learn_train(pxi_describe *job, corpus *c, px_error *err)
{
    px_description *d = job->out;
    PX_TRY(corpus_virtual(job, c, err));
    if (job->options.describer == PX_DESCRIBER_MILAN)
        PX_TRY(corpus_people(job, c, err));
    PX_TRY(corpus_encode(job, c, err));
    const px_caption_data data = {.features = c->features,
                                  .units = px_virtual_units_count(c->units) + c->people_count,
                                  .k = job->k,
                                  .size = (size_t)px_annotator_size(job->annotator),
                                  .captions = c->captions,
                                  .caption_count = c->caption_count};
    px_captioner_options options = job->options.captioner;
    options.seed = job->options.seed;
    options.threads = job->options.threads;
    options.progress = job->options.progress;
    options.progress_context = job->options.context;
    pxi_describe_stage(job, "training the describer");
    PX_TRY(px_captioner_train(&data, &options, &d->captioner, &d->facts.report, err));
    d->facts.trained = true;
    d->facts.virtual_units = (int64_t)px_virtual_units_count(c->units);
    PX_TRY(score_held_out(job, c, err));
    return pxi_describe_save(job, err);
}

px_status pxi_describe_learn(pxi_describe *job, px_error *err)
{
    const px_describe_options *o = &job->options;
    const bool there = o->captioner_file && access(o->captioner_file, F_OK) == 0;
    if (there || (o->never_train && o->captioner_file)) {
        const px_status status = pxi_describe_load(job, err);
        if (status == PX_OK || o->never_train || status != PX_E_MISMATCH)
            return status;
    }
    if (o->never_train)
        return px_fail(err, PX_E_INPUT,
                       "there is no trained describer for this network and these data");
    corpus c = {0};
    const px_status status = learn_train(job, &c, err);
    corpus_done(&c);
    return status;
}
