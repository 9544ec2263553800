/* src/describe/describe.c - a network's units in words, and how far the words may be believed */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/describe_internal.h"

#include "base/memory.h"
#include <internal/bank.h>
#include <internal/text_encoder.h>
#include <plexor/system.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

px_describe_options px_describe_options_default(void)
{
    px_describe_options o = {.describer = PX_DESCRIBER_DISSECT,
                             .exemplars = px_exemplar_options_default(),
                             .virtual_units = px_virtual_options_default(),
                             .captioner = px_captioner_options_default(),
                             .annotator = px_annotator_options_default(),
                             .concepts = PX_CONCEPTS_AUTO};
    o.captioner.hidden = 256; /* enough for the 60 to 150 words there are (LGR C.12.2) */
    o.captioner.attention = 256;
    o.captioner.epochs = 25;
    return o;
}

void px_description_free(px_description *description)
{
    if (!description)
        return;
    px_bank_free(description->bank);
    px_captioner_free(description->captioner);
    px_dissection_free(description->dissection);
    px_concepts_free(description->concepts);
    px_exemplars_free(description->exemplars);
    free(description);
}

const px_bank *px_description_bank(const px_description *description)
{
    return description->bank;
}

const px_exemplars *px_description_exemplars(const px_description *description)
{
    return description->exemplars;
}

const px_concepts *px_description_concepts(const px_description *description)
{
    return description->concepts;
}

px_description_facts px_description_facts_get(const px_description *description)
{
    return description->facts;
}

void pxi_describe_stage(const pxi_describe *job, const char *name)
{
    if (job->options.stage)
        job->options.stage(job->options.context, name);
}

/* --- what is measured ------------------------------------------------------------------------ */

static px_status describe_measure(pxi_describe *job, px_error *err)
{
    const px_describe_options *o = &job->options;
    px_description *d = job->out;
    px_exemplar_options e = o->exemplars;
    e.threads = o->threads;
    e.batch = o->batch;
    e.progress = o->progress;
    e.progress_context = o->context;
    pxi_describe_stage(job, "exemplars");
    PX_TRY(px_exemplars_collect(job->model, job->set, job->pre, &e, &d->exemplars, err));
    job->k = (size_t)px_exemplars_facts(d->exemplars).count;

    px_dissect_options s = {.layers = e.layers,
                            .limit = o->dissect_limit,
                            .threads = o->threads,
                            .batch = o->batch,
                            .progress = o->progress,
                            .progress_context = o->context};
    pxi_describe_stage(job, "dissection");
    return px_dissect(job->model, job->set, job->pre, d->exemplars, d->concepts, &s, &d->dissection,
                      err);
}

static px_status describe_concepts(pxi_describe *job, px_error *err)
{
    const px_describe_options *o = &job->options;
    px_concepts_options c = px_concepts_options_default();
    c.kind = o->concepts;
    c.classes = o->classes;
    c.class_count = o->class_count;
    c.threads = o->threads;
    c.progress = o->progress;
    c.progress_context = o->context;
    pxi_describe_stage(job, "attributes of the pictures");
    return px_concepts_new(job->set, job->pre, &c, &job->out->concepts, err);
}

/* --- what is said ---------------------------------------------------------------------------- */

typedef struct real_units { /* all units of all layers, one after the other */
    const px_exemplars *exemplars;
    size_t *layer;
    int64_t *unit;
    size_t count;
} real_units;

static px_status real_fill(void *context, size_t unit, size_t j, px_annotated_pair *pair,
                           uint8_t *mask, uint8_t *pixels, bool *there, px_error *err)
{
    const real_units *r = context;
    const px_exemplar_facts f = px_exemplars_facts(r->exemplars);
    const px_unit u = px_exemplars_unit(r->exemplars, r->layer[unit], r->unit[unit]);
    (void)pixels;
    *there = !u.inactive && (int64_t)j < u.count;
    if (!*there)
        return PX_OK;
    pair->index = u.top[j].index;
    pair->height = f.height;
    pair->width = f.width;
    return px_exemplars_mask(r->exemplars, r->layer[unit], r->unit[unit], (int64_t)j, f.height,
                             f.width, mask, err);
}

static px_status real_list(const px_exemplars *e, real_units *r, px_error *err)
{
    size_t count = 0;
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++)
        count += (size_t)px_exemplars_layer(e, l)->units;
    r->exemplars = e;
    PX_TRY(PX_NEW(r->layer, count, err));
    PX_TRY(PX_NEW(r->unit, count, err));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++)
        for (int64_t u = 0; u < px_exemplars_layer(e, l)->units; u++) {
            r->layer[r->count] = l;
            r->unit[r->count++] = u;
        }
    return PX_OK;
}

void pxi_describe_phrases_free(char **phrases, size_t count)
{
    for (size_t i = 0; phrases && i < count; i++)
        free(phrases[i]);
    free(phrases);
}

/* As many units at a time as the progress is shown for. */
static px_status phrases_tell(pxi_describe *job, const real_units *r, const float *features,
                              char **phrases, px_error *err)
{
    enum { together = 32 };
    const size_t row = job->k * (size_t)px_annotator_size(job->annotator);
    const px_describe_options *o = &job->options;
    for (size_t i = 0; i < r->count; i += together) {
        const size_t n = PX_MIN((size_t)together, r->count - i);
        PX_TRY(px_captioner_describe(job->out->captioner, features + i * row, n,
                                     &o->captioner.decoding, phrases + i, NULL, err));
        if (o->progress && !o->progress(o->context, (int64_t)(i + n), (int64_t)r->count))
            return px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    for (size_t i = 0; i < r->count; i++)
        if (px_exemplars_unit(r->exemplars, r->layer[i], r->unit[i]).inactive)
            phrases[i][0] = '\0';
    return PX_OK;
}

px_status pxi_describe_phrases(pxi_describe *job, char ***phrases, size_t *count, px_error *err)
{
    const px_exemplar_facts f = px_exemplars_facts(job->out->exemplars);
    const size_t size = (size_t)px_annotator_size(job->annotator);
    real_units r = {0};
    float *features = NULL;
    char **texts = NULL;
    px_status status = real_list(job->out->exemplars, &r, err);
    if (status == PX_OK) {
        features = pxi_calloc(r.count, job->k * size * sizeof *features);
        texts = pxi_calloc(r.count, sizeof *texts);
        if (!features || !texts)
            status = pxi_no_memory_for(err, "%zu units", r.count);
    }
    if (status == PX_OK) {
        const pxi_encode what = {.units = r.count,
                                 .k = job->k,
                                 .mask_bytes = (size_t)f.height * (size_t)f.width,
                                 .fill = real_fill,
                                 .context = &r};
        pxi_describe_stage(job, "what the encoder sees of the exemplars");
        status = pxi_describe_encode(job->annotator, &what, features, err);
    }
    if (status == PX_OK) {
        pxi_describe_stage(job, "words");
        status = phrases_tell(job, &r, features, texts, err);
    }
    if (status == PX_OK) {
        *phrases = texts;
        *count = r.count;
    } else {
        pxi_describe_phrases_free(texts, r.count);
    }
    free(features);
    free(r.layer);
    free(r.unit);
    return status;
}

static px_status describe_words(pxi_describe *job, char ***phrases, size_t *count, px_error *err)
{
    px_annotator_options a = job->options.annotator;
    a.threads = job->options.threads;
    a.batch = job->options.batch;
    a.progress = job->options.progress;
    a.progress_context = job->options.context;
    PX_TRY(px_annotator_new(job->model, job->set, job->pre, &a, &job->annotator, err));
    job->out->facts.features = px_annotator_size(job->annotator);
    PX_TRY(pxi_describe_learn(job, err));
    return pxi_describe_phrases(job, phrases, count, err);
}

/* --- gates ----------------------------------------------------------------------------------- */

static px_status similarity(void *context, const char *a, const char *b, double *out, px_error *err)
{
    px_text_encoder *encoder = context;
    const size_t size = px_text_encoder_size(encoder);
    float *x = NULL;
    PX_TRY(PX_NEW(x, 2 * size, err));
    px_status status = px_text_encoder_embed(encoder, a, x, NULL, err);
    PX_THEN(status, px_text_encoder_embed(encoder, b, x + size, NULL, err));
    const double cosine = status == PX_OK ? px_text_cosine(x, x + size, size) : NAN;
    *out = isnan(cosine) ? (double)(strcmp(a, b) == 0) : cosine;
    free(x);
    return status;
}

/* The default encoder, which learns from the phrases themselves, the terms and the classes. */
static px_status encoder_open(const px_description *d, px_text_encoder **out, px_error *err)
{
    const size_t units = px_bank_count(d->bank), terms = px_concepts_term_count(d->concepts);
    const char **texts = NULL;
    PX_TRY(PX_NEW(texts, units + 2 * terms, err));
    px_text_encoder_options options = px_text_encoder_options_default();
    size_t count = 0, classes = 0;
    for (size_t i = 0; i < units; i++)
        if (px_bank_described(px_bank_get(d->bank, i)))
            texts[count++] = px_bank_get(d->bank, i)->phrase;
    for (size_t i = 0; i < terms; i++)
        texts[count++] = px_concepts_term(d->concepts, i)->words;
    for (size_t i = 0; i < terms; i++)
        if (px_concepts_term(d->concepts, i)->kind == PX_TERM_CLASS)
            texts[count + classes++] = px_concepts_term(d->concepts, i)->words;
    options.captions = texts;
    options.caption_count = count;
    options.classes = texts + count;
    options.class_count = classes;
    const px_status status = px_text_encoder_open(&options, out, err);
    free(texts);
    return status;
}

static px_status describe_gates(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    px_text_encoder *encoder = NULL;
    px_gates_options options = px_gates_options_default();
    px_gates gates = px_gates_none();
    pxi_describe_stage(job, "gates");
    PX_TRY(encoder_open(d, &encoder, err));
    options.seed = job->options.seed;
    options.similarity = similarity;
    options.context = encoder;
    if (d->captioner) {
        gates.held_out = d->held_out;
        gates.unseen_pairs = d->unseen;
    }
    const px_status status = px_gates_measure(d->bank, d->concepts, &options, &gates, err);
    if (status == PX_OK)
        px_bank_set_gates(d->bank, &gates);
    px_text_encoder_free(encoder);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status describe_check(const px_describe_options *o, px_error *err)
{
    if (o->describer == PX_DESCRIBER_OTHER)
        return px_fail(err, PX_E_USAGE,
                       "there is no describer 'other'; expected dissect, virtual-units or milan");
    if (o->describer == PX_DESCRIBER_MILAN && !o->milan)
        return px_fail(err, PX_E_USAGE,
                       "the describer milan needs a folder of annotated units (--milan)");
    return PX_OK;
}

static px_status describe_work(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    char **phrases = NULL;
    size_t count = 0;
    const bool learned = job->options.describer != PX_DESCRIBER_DISSECT;
    PX_TRY(describe_check(&job->options, err));
    PX_TRY(describe_concepts(job, err));
    PX_TRY(describe_measure(job, err));
    px_status status = learned ? describe_words(job, &phrases, &count, err) : PX_OK;
    const px_bank_about about = {.model = px_model_hash(job->model),
                                 .data = px_dataset_hash(job->set),
                                 .images = px_dataset_count(job->set),
                                 .describer = job->options.describer,
                                 .encoder = learned ? job->options.annotator.encoder : NULL,
                                 .seed = job->options.seed};
    PX_THEN(status,
            px_dissection_bank(d->dissection, &about, learned ? (const char *const *)phrases : NULL,
                               &d->bank, err));
    pxi_describe_phrases_free(phrases, count);
    return status == PX_OK ? describe_gates(job, err) : status;
}

px_status px_describe(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                      const px_describe_options *options, px_description **out, px_error *err)
{
    pxi_describe job = {.model = model, .set = set, .pre = pre};
    const double start = px_clock_s();
    job.options = options ? *options : px_describe_options_default();
    PX_TRY(PX_NEW(job.out, 1, err));
    const px_status status = describe_work(&job, err);
    px_annotator_free(job.annotator);
    job.out->facts.seconds = px_clock_s() - start;
    if (status == PX_OK)
        *out = job.out;
    else
        px_description_free(job.out);
    return status;
}
