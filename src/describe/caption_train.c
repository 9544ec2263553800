/* src/describe/caption_train.c - a captioner from units and captions
 *
 * Units are split, never captions: paraphrases of one unit on both sides would tell the decoder
 * what it is examined on. Training stops when the held-out units have not been told better for a
 * while, and the weights that told them best are kept (as a copy: the published code keeps a
 * reference, so that its "best" weights are the last ones).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/worker_pool.h"
#include "describe/beam.h"
#include "describe/caption_course.h"
#include "describe/captioner_internal.h"

#include <internal/rng.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN_LANGUAGE_ITEM = 64 }; /* where the language model's random numbers begin */

typedef enum train_side { TRAIN_NONE, TRAIN_LEARNT, TRAIN_HELD } train_side;

typedef struct training {
    const px_caption_data *data;
    const px_captioner_options *options;
    px_captioner *captioner;
    px_pool *pool;
    pxi_tokens *tokens;      /* per caption */
    uint8_t *sides;          /* per unit */
    int32_t *words;          /* of all samples */
    pxi_sample *samples;     /* those that are learnt, then those held out */
    size_t learnt, held;     /* samples */
    size_t steps;            /* of the longest */
    size_t *held_units;      /* numbers */
    size_t held_count;       /* units */
    const char **references; /* captions of held-out units, unit by unit */
    size_t *reference_first; /* [held_count + 1] */
    int32_t *said;           /* [held_count][decoding.steps] */
    float *best;             /* weights */
    px_captioner_report report;
} training;

/* --- options --------------------------------------------------------------------------------- */

static px_status check_whole(const char *name, int value, int most, px_error *err)
{
    return value >= 1 && value <= most
               ? PX_OK
               : px_fail(err, PX_E_USAGE, "%s is %d, which is not within 1 to %d", name, value,
                         most);
}

static px_status check_real(const char *name, double value, double most, bool below, px_error *err)
{
    return value >= 0.0 && (below ? value < most : value <= most)
               ? PX_OK
               : px_fail(err, PX_E_USAGE, "%s is %g, which is not within 0 to %g", name, value,
                         most);
}

static px_status train_check_options(const px_captioner_options *o, px_error *err)
{
    const int wide = PXI_CAPTION_MOST_SIZE;
    PX_TRY(check_whole("the size of word vectors", o->embedding, wide, err));
    PX_TRY(check_whole("the size of the hidden state", o->hidden, wide, err));
    PX_TRY(check_whole("the size of the attention", o->attention, wide, err));
    PX_TRY(check_whole("the number of epochs", o->epochs, 1 << 20, err));
    PX_TRY(check_whole("the batch", o->batch, 1 << 20, err));
    PX_TRY(check_whole("the language model's batch", o->language_batch, 1 << 20, err));
    PX_TRY(check_real("the rate", o->rate, 1e6, false, err));
    PX_TRY(check_real("the decay", o->decay, 1e6, false, err));
    PX_TRY(check_real("the dropout", o->dropout, 1.0, true, err));
    PX_TRY(check_real("the regularizer", o->regularizer, 1e6, false, err));
    PX_TRY(check_real("the share held out", o->held_out, 1.0, true, err));
    PX_TRY(check_real("the largest norm", o->clip, HUGE_VAL, false, err));
    if (o->patience < 0)
        return px_fail(err, PX_E_USAGE, "a patience of %d epochs is below 0", o->patience);
    return pxi_decoding_check(&o->decoding, err);
}

static px_status train_check_data(const px_caption_data *d, px_error *err)
{
    if (d->size < 1 || d->size > PXI_CAPTION_MOST_SIZE)
        return px_fail(err, PX_E_USAGE, "vectors of %zu numbers; 1 to %d can be read", d->size,
                       (int)PXI_CAPTION_MOST_SIZE);
    if (d->k < 1 || d->k > PXI_CAPTION_MOST_K)
        return px_fail(err, PX_E_USAGE, "%zu vectors per unit; 1 to %d can be read", d->k,
                       (int)PXI_CAPTION_MOST_K);
    if (d->caption_count < 1 || d->caption_count >= UINT32_MAX / 2)
        return px_fail(err, PX_E_INPUT, "there are %zu captions to learn from", d->caption_count);
    if (d->units >= UINT32_MAX / 2)
        return px_fail(err, PX_E_UNSUPPORTED, "%zu units are too many", d->units);
    for (size_t i = 0; i < d->caption_count; i++)
        if (d->captions[i].unit >= d->units)
            return px_fail(err, PX_E_INPUT, "caption %zu is of unit %zu; there are %zu units", i,
                           d->captions[i].unit, d->units);
    return PX_OK;
}

/* --- what is learnt, what is held out -------------------------------------------------------- */

static px_status train_split(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    int64_t *order = pxi_calloc(d->units, 2 * sizeof *order), *with = order + d->units;
    if (!order)
        return pxi_no_memory(err);
    for (size_t i = 0; i < d->caption_count; i++)
        tr->sides[d->captions[i].unit] = TRAIN_LEARNT;
    size_t count = 0, held = 0;
    for (size_t u = 0; u < d->units; u++)
        if (tr->sides[u] != TRAIN_NONE)
            with[count++] = (int64_t)u;
    if (tr->options->held_out > 0.0 && count >= 2) {
        held = (size_t)llround(tr->options->held_out * (double)count);
        held = PX_MIN(PX_MAX(held, (size_t)1), count - 1);
    }
    px_random random = px_rng(tr->options->seed, PX_RNG_SAMPLE, 0, 0);
    px_rng_permutation(&random, order, (uint32_t)count);
    for (size_t i = 0; i < held; i++)
        tr->sides[with[order[i]]] = TRAIN_HELD;
    free(order);
    tr->report.units = count;
    tr->report.held_out_units = held;
    return PX_OK;
}

static px_status train_tokenize(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    for (size_t i = 0; i < d->caption_count; i++) {
        PX_TRY(pxi_tokens_init(d->captions[i].text, &tr->tokens[i], err));
        if (tr->tokens[i].count == 0)
            return px_fail(err, PX_E_INPUT, "caption %zu, of unit %zu, has no words", i,
                           d->captions[i].unit);
        tr->tokens[i].count = PX_MIN(tr->tokens[i].count, (size_t)PX_CAPTION_MOST_STEPS - 1);
    }
    return PX_OK;
}

/* The words of what is learnt. */
static px_status train_vocabulary(training *tr, pxi_wordlist *out, px_error *err)
{
    const px_caption_data *d = tr->data;
    pxi_tokens *learnt = NULL;
    PX_TRY(PX_NEW(learnt, d->caption_count, err));
    size_t count = 0;
    for (size_t i = 0; i < d->caption_count; i++)
        if (tr->sides[d->captions[i].unit] == TRAIN_LEARNT)
            learnt[count++] = tr->tokens[i]; /* borrowed */
    const px_status status = pxi_wordlist_init(learnt, count, out, err);
    free(learnt);
    return status;
}

/* Captions of one side as samples behind those that are there. */
static void train_add_samples(training *tr, train_side side, int32_t **at)
{
    const px_caption_data *d = tr->data;
    const pxi_wordlist *v = &tr->captioner->vocabulary;
    pxi_sample *to = tr->samples + (side == TRAIN_HELD ? tr->learnt : 0);
    for (size_t i = 0; i < d->caption_count; i++) {
        if (tr->sides[d->captions[i].unit] != (uint8_t)side)
            continue;
        const size_t count = tr->tokens[i].count;
        *to++ = (pxi_sample){.unit = d->captions[i].unit, .words = *at, .length = count + 1};
        for (size_t w = 0; w < count; w++)
            *(*at)++ = pxi_wordlist_find(v, tr->tokens[i].at[w]);
        *(*at)++ = pxi_wordlist_special(v, PXI_WORD_STOP);
        tr->steps = PX_MAX(tr->steps, count + 1);
        *(side == TRAIN_HELD ? &tr->held : &tr->learnt) += 1;
    }
}

static px_status train_samples(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    size_t words = 0;
    for (size_t i = 0; i < d->caption_count; i++)
        words += tr->tokens[i].count + 1;
    PX_TRY(PX_NEW(tr->words, words, err));
    PX_TRY(PX_NEW(tr->samples, d->caption_count, err));
    int32_t *at = tr->words;
    train_add_samples(tr, TRAIN_LEARNT, &at);
    train_add_samples(tr, TRAIN_HELD, &at);
    return PX_OK;
}

/* Held-out units with what may be said about them. */
static px_status train_references(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    const size_t held = tr->report.held_out_units, steps = (size_t)tr->options->decoding.steps;
    tr->held_units = pxi_calloc(held + 1, sizeof *tr->held_units);
    tr->reference_first = pxi_calloc(held + 1, sizeof *tr->reference_first);
    tr->references = pxi_calloc(tr->held + 1, sizeof *tr->references);
    tr->said = pxi_calloc(held + 1, steps * sizeof *tr->said);
    size_t *index = pxi_calloc(d->units, sizeof *index); /* of a unit: its place + 1 */
    if (!tr->held_units || !tr->reference_first || !tr->references || !tr->said || !index) {
        free(index);
        return pxi_no_memory(err);
    }
    for (size_t u = 0; u < d->units; u++)
        if (tr->sides[u] == TRAIN_HELD) {
            tr->held_units[tr->held_count++] = u;
            index[u] = tr->held_count;
        }
    for (size_t i = 0; i < d->caption_count; i++)
        if (index[d->captions[i].unit])
            tr->reference_first[index[d->captions[i].unit]]++;
    for (size_t i = 0; i < held; i++)
        tr->reference_first[i + 1] += tr->reference_first[i];
    for (size_t i = d->caption_count; i-- > 0;) { /* from the back of each unit's share */
        const size_t place = index[d->captions[i].unit];
        if (place)
            tr->references[--tr->reference_first[place]] = d->captions[i].text;
    }
    for (size_t i = 0; i < held; i++) /* which now hold the firsts, one further */
        tr->reference_first[i] = tr->reference_first[i + 1];
    tr->reference_first[held] = tr->held;
    free(index);
    return PX_OK;
}

/* Means and deviations over all vectors of the units that are learnt from. */
static px_status train_standardise(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    double *mean = pxi_calloc(d->size, 2 * sizeof *mean), *square = mean + d->size;
    if (!mean)
        return pxi_no_memory(err);
    const double count = (double)(tr->report.units - tr->report.held_out_units) * (double)d->k;
    px_status status = PX_OK;
    for (size_t u = 0; u < d->units && status == PX_OK; u++)
        if (tr->sides[u] != TRAIN_NONE)
            status = pxi_features_check(d->features, u, d->k, d->size, err);
    for (int pass = 0; pass < 2 && status == PX_OK; pass++) {
        for (size_t u = 0; u < d->units; u++) {
            const float *of = d->features + u * d->k * d->size;
            for (size_t i = 0; tr->sides[u] == TRAIN_LEARNT && i < d->k * d->size; i++) {
                const double x = (double)of[i], off = x - mean[i % d->size];
                if (pass == 0)
                    square[i % d->size] += x; /* the sum, of which the mean is made */
                else
                    square[i % d->size] += off * off;
            }
        }
        for (size_t i = 0; pass == 0 && i < d->size; i++) {
            mean[i] = square[i] / count;
            square[i] = 0.0;
        }
    }
    for (size_t i = 0; i < d->size && status == PX_OK; i++) {
        const double deviation = sqrt(square[i] / count);
        tr->captioner->standard.mean[i] = (float)mean[i];
        /* What never changes tells nothing, and its weights are not learnt: it is left out. */
        tr->captioner->standard.scale[i] =
            deviation > 1e-6 * fabs(mean[i]) && deviation > 1e-30 ? (float)(1.0 / deviation) : 0.0f;
    }
    free(mean);
    return status;
}

/* --- examinations ---------------------------------------------------------------------------- */

static px_status train_say(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    training *tr = context;
    const pxi_caption_sizes *sizes = &tr->captioner->sizes;
    const size_t numbers = sizes->k * sizes->size, first = (size_t)index * PXI_GREEDY_UNITS;
    const size_t units = PX_MIN((size_t)PXI_GREEDY_UNITS, tr->held_count - first);
    const size_t steps = (size_t)tr->options->decoding.steps;
    float *features = pxi_alloc_aligned(units * numbers * sizeof *features);
    if (!features)
        return pxi_no_memory(err);
    for (size_t i = 0; i < units; i++)
        pxi_standardise(&tr->captioner->standard, sizes,
                        tr->data->features + tr->held_units[first + i] * numbers,
                        features + i * numbers);
    const px_status status =
        pxi_greedy(tr->captioner, features, units, steps, tr->said + first * steps, err);
    free(features);
    return status;
}

static px_status train_bleu(training *tr, double *out, px_error *err)
{
    const size_t steps = (size_t)tr->options->decoding.steps;
    const size_t jobs = (tr->held_count + PXI_GREEDY_UNITS - 1) / PXI_GREEDY_UNITS;
    PX_TRY(pxi_pool_run(tr->pool, (int64_t)jobs, train_say, tr, NULL, NULL, err));
    px_bleu bleu = {0};
    for (size_t i = 0; i < tr->held_count; i++) {
        char *text = pxi_wordlist_text(&tr->captioner->vocabulary, tr->said + i * steps, steps);
        if (!text)
            return pxi_no_memory(err);
        const size_t first = tr->reference_first[i];
        const px_status status = px_bleu_add(&bleu, text, tr->references + first,
                                             tr->reference_first[i + 1] - first, err);
        free(text);
        PX_TRY(status);
    }
    *out = px_bleu_value(&bleu, NULL);
    return PX_OK;
}

/* --- the two courses ------------------------------------------------------------------------- */

typedef struct course_outcome {
    int epochs, best_epoch;
    double loss, merit; /* merit: BLEU, or less the held-out loss; larger is better */
} course_outcome;

static px_status train_epochs(training *tr, pxi_course *course, bool language, float *weights,
                              size_t count, course_outcome *out, px_error *err)
{
    const px_captioner_options *o = tr->options;
    *out = (course_outcome){.merit = -HUGE_VAL};
    for (int epoch = 0, waited = 0; epoch < o->epochs && waited <= o->patience; epoch++) {
        PX_TRY(pxi_course_epoch(course, epoch, &out->loss, err));
        out->epochs = epoch + 1;
        if (tr->held == 0)
            continue;
        double merit = 0.0;
        if (language)
            PX_TRY(pxi_course_judge(course, tr->samples + tr->learnt, tr->held, &merit, err));
        else
            PX_TRY(train_bleu(tr, &merit, err));
        merit = language ? -merit : merit;
        waited = merit > out->merit ? 0 : waited + 1;
        if (waited == 0) {
            out->merit = merit;
            out->best_epoch = epoch + 1;
            memcpy(tr->best, weights, count * sizeof *weights);
        }
    }
    if (tr->held == 0)
        out->best_epoch = out->epochs;
    else if (out->best_epoch)
        memcpy(weights, tr->best, count * sizeof *weights);
    return PX_OK;
}

static px_status train_course(training *tr, bool language, course_outcome *out, px_error *err)
{
    px_captioner *c = tr->captioner;
    const pxi_net *net = language ? &c->language : &c->decoder;
    float *weights = language ? c->language_weights : c->decoder_weights;
    const int64_t share = (int64_t)tr->options->epochs * (int64_t)tr->learnt;
    const pxi_course_plan plan = {
        .net = net,
        .language = language,
        .weights = weights,
        .start = pxi_wordlist_special(&c->vocabulary, PXI_WORD_START),
        .steps = tr->steps,
        .samples = tr->samples,
        .count = tr->learnt,
        .features = tr->data->features,
        .standard = &c->standard,
        .options = tr->options,
        .pool = tr->pool,
        .progress_base = language ? share : 0,
        .progress_total = 2 * share,
    };
    pxi_net_start(net, tr->options->seed, language ? TRAIN_LANGUAGE_ITEM : 0, weights);
    pxi_course *course = NULL;
    PX_TRY(pxi_course_new(&plan, &course, err));
    tr->best = pxi_alloc_aligned(net->count * sizeof *tr->best);
    px_status status = tr->best ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, train_epochs(tr, course, language, weights, net->count, out, err));
    free(tr->best);
    tr->best = NULL;
    pxi_course_free(course);
    return status;
}

static px_status train_both(training *tr, px_error *err)
{
    px_captioner_report *r = &tr->report;
    course_outcome decoder, language;
    const double begin = px_clock_s();
    PX_TRY(train_course(tr, /* language= */ false, &decoder, err));
    const double between = px_clock_s();
    PX_TRY(train_course(tr, /* language= */ true, &language, err));
    int64_t tokens = 0;
    for (size_t i = 0; i < tr->learnt; i++)
        tokens += (int64_t)tr->samples[i].length;
    r->epochs = decoder.epochs;
    r->best_epoch = decoder.best_epoch;
    r->loss = decoder.loss;
    r->bleu = tr->held ? decoder.merit : NAN;
    r->language_epochs = language.epochs;
    r->language_best_epoch = language.best_epoch;
    r->language_loss = tr->held ? -language.merit : language.loss;
    r->tokens = tokens * (decoder.epochs + language.epochs);
    r->words = tr->captioner->vocabulary.count;
    r->seconds = between - begin;
    r->language_seconds = px_clock_s() - between;
    return PX_OK;
}

static px_status train_run(training *tr, px_error *err)
{
    const px_caption_data *d = tr->data;
    const px_captioner_options *o = tr->options;
    pxi_wordlist vocabulary = {0};
    PX_TRY(PX_NEW(tr->tokens, d->caption_count, err));
    PX_TRY(PX_NEW(tr->sides, d->units, err));
    PX_TRY(train_split(tr, err));
    PX_TRY(train_tokenize(tr, err));
    PX_TRY(train_vocabulary(tr, &vocabulary, err));
    const pxi_caption_sizes sizes = {.words = vocabulary.count + PXI_WORD_SPECIALS,
                                     .embedding = (size_t)o->embedding,
                                     .hidden = (size_t)o->hidden,
                                     .attention = (size_t)o->attention,
                                     .size = d->size,
                                     .k = d->k};
    PX_TRY(pxi_captioner_new(&vocabulary, &sizes, &tr->captioner, err));
    tr->captioner->decoding = o->decoding;
    tr->captioner->decoding.threads = 0;
    PX_TRY(train_samples(tr, err));
    PX_TRY(train_references(tr, err));
    PX_TRY(train_standardise(tr, err));
    PX_TRY(pxi_pool_new(o->threads, &tr->pool, err));
    return train_both(tr, err);
}

px_status px_captioner_train(const px_caption_data *data, const px_captioner_options *options,
                             px_captioner **out, px_captioner_report *report, px_error *err)
{
    const px_captioner_options standard = px_captioner_options_default();
    training tr = {.data = data, .options = options ? options : &standard};
    PX_TRY(train_check_options(tr.options, err));
    PX_TRY(train_check_data(data, err));
    const px_status status = train_run(&tr, err);
    if (status == PX_OK) {
        *out = tr.captioner;
        if (report)
            *report = tr.report;
    } else {
        px_captioner_free(tr.captioner);
    }
    for (size_t i = 0; tr.tokens && i < data->caption_count; i++)
        pxi_tokens_done(&tr.tokens[i]);
    free(tr.tokens);
    free(tr.sides);
    free(tr.words);
    free(tr.samples);
    free(tr.held_units);
    free(tr.references);
    free(tr.reference_first);
    free(tr.said);
    pxi_pool_free(tr.pool);
    return status;
}
