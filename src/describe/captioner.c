/* src/describe/captioner.c - the captioner as an object, and phrases for many units */
/* SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include "describe/captioner_internal.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include "describe/beam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CAPTIONER_MOST_NOTE = 1 << 16 };

px_caption_decoding px_caption_decoding_default(void)
{
    return (px_caption_decoding){.beam = 50, .steps = 15, .lambda = 0.2};
}

px_captioner_options px_captioner_options_default(void)
{
    return (px_captioner_options){
        .embedding = 128,
        .hidden = 512,
        .attention = 512,
        .epochs = 100,
        .batch = 64,
        .language_batch = 128,
        .rate = 1e-3,
        .decay = 0.01,
        .dropout = 0.5,
        .regularizer = 1.0,
        .patience = 4,
        .held_out = 0.05,
        .decoding = px_caption_decoding_default(),
    };
}

px_status pxi_decoding_check(const px_caption_decoding *decoding, px_error *err)
{
    if (decoding->beam < 1 || decoding->beam > PX_CAPTION_MOST_BEAM)
        return px_fail(err, PX_E_USAGE, "a beam of %d is not within 1 to %d", decoding->beam,
                       (int)PX_CAPTION_MOST_BEAM);
    if (decoding->steps < 1 || decoding->steps > PX_CAPTION_MOST_STEPS)
        return px_fail(err, PX_E_USAGE, "%d steps are not within 1 to %d", decoding->steps,
                       (int)PX_CAPTION_MOST_STEPS);
    if (!(fabs(decoding->lambda) <= 1e6))
        return px_fail(err, PX_E_USAGE, "lambda is %g, which is not a weight", decoding->lambda);
    return PX_OK;
}

px_status pxi_features_check(const float *features, size_t unit, size_t k, size_t size,
                             px_error *err)
{
    const float *of = features + unit * k * size;
    for (size_t i = 0; i < k * size; i++)
        if (!isfinite(of[i]))
            return px_fail(err, PX_E_INPUT,
                           "feature %zu of exemplar %zu of unit %zu is not a finite number",
                           i % size, i / size, unit);
    return PX_OK;
}

px_status pxi_captioner_new(pxi_wordlist *vocabulary, const pxi_caption_sizes *sizes,
                            px_captioner **out, px_error *err)
{
    px_captioner *c = pxi_calloc(1, sizeof *c);
    if (!c) {
        pxi_wordlist_done(vocabulary);
        return pxi_no_memory(err);
    }
    c->vocabulary = *vocabulary;
    *vocabulary = (pxi_wordlist){0};
    c->sizes = *sizes;
    px_status status = pxi_decoder_net(sizes, &c->decoder, err);
    PX_THEN(status, pxi_language_net(sizes, &c->language, err));
    if (status == PX_OK) {
        c->decoder_weights = pxi_alloc_aligned(c->decoder.count * sizeof(float));
        c->language_weights = pxi_alloc_aligned(c->language.count * sizeof(float));
        c->standard.mean = pxi_calloc(sizes->size, sizeof(float));
        c->standard.scale = pxi_calloc(sizes->size, sizeof(float));
        if (!c->decoder_weights || !c->language_weights || !c->standard.mean || !c->standard.scale)
            status = pxi_no_memory_for(err, "the %zu weights of a captioner",
                                       c->decoder.count + c->language.count);
    }
    return PX_GIVE(status, c, out, px_captioner_free);
}

void px_captioner_free(px_captioner *c)
{
    if (!c)
        return;
    pxi_wordlist_done(&c->vocabulary);
    free(c->decoder_weights);
    free(c->language_weights);
    free(c->standard.mean);
    free(c->standard.scale);
    free(c->note);
    free(c);
}

size_t px_captioner_k(const px_captioner *c)
{
    return c->sizes.k;
}

size_t px_captioner_size(const px_captioner *c)
{
    return c->sizes.size;
}

size_t px_captioner_word_count(const px_captioner *c)
{
    return c->vocabulary.count;
}

const char *px_captioner_word(const px_captioner *c, size_t i)
{
    return i < c->vocabulary.count ? c->vocabulary.words[i] : NULL;
}

px_caption_decoding px_captioner_decoding(const px_captioner *c)
{
    return c->decoding;
}

px_status px_captioner_set_note(px_captioner *c, const char *note, px_error *err)
{
    if (note && strlen(note) > CAPTIONER_MOST_NOTE)
        return px_fail(err, PX_E_USAGE, "a note has %zu bytes; %d are the most", strlen(note),
                       (int)CAPTIONER_MOST_NOTE);
    char *copy = note && *note ? pxi_strdup(note) : NULL;
    if (note && *note && !copy)
        return pxi_no_memory(err);
    free(c->note);
    c->note = copy;
    return PX_OK;
}

const char *px_captioner_note(const px_captioner *c)
{
    return c->note ? c->note : "";
}

uint64_t px_captioner_id(const px_captioner *c)
{
    const pxi_caption_sizes *s = &c->sizes;
    const uint64_t sizes[] = {s->words, s->embedding, s->hidden, s->attention, s->size, s->k};
    uint64_t id = XXH3_64bits(sizes, sizeof sizes);
    for (size_t i = 0; i < c->vocabulary.count; i++)
        id = XXH3_64bits_withSeed(c->vocabulary.words[i], strlen(c->vocabulary.words[i]), id);
    id = XXH3_64bits_withSeed(c->decoder_weights, c->decoder.count * sizeof(float), id);
    id = XXH3_64bits_withSeed(c->language_weights, c->language.count * sizeof(float), id);
    id = XXH3_64bits_withSeed(c->standard.mean, s->size * sizeof(float), id);
    id = XXH3_64bits_withSeed(c->standard.scale, s->size * sizeof(float), id);
    return XXH3_64bits_withSeed(px_captioner_note(c), strlen(px_captioner_note(c)), id);
}

/* --- phrases --------------------------------------------------------------------------------- */

typedef struct describe_job {
    const px_captioner *captioner;
    const float *features;
    pxi_beam *beams; /* per worker */
    char **texts;
    double *scores;
} describe_job;

static px_status describe_unit(void *context, int worker, int64_t index, px_error *err)
{
    const describe_job *job = context;
    const px_captioner *c = job->captioner;
    pxi_beam *beam = &job->beams[worker];
    size_t choice = 0;
    double score = 0.0;
    PX_TRY(pxi_features_check(job->features, (size_t)index, c->sizes.k, c->sizes.size, err));
    PX_TRY(pxi_beam_choose(beam, job->features + (size_t)index * c->sizes.k * c->sizes.size,
                           &choice, &score, err));
    const pxi_hypothesis *said = &beam->found[choice];
    job->texts[index] = pxi_wordlist_text(&c->vocabulary, said->words, said->length);
    if (!job->texts[index])
        return pxi_no_memory(err);
    if (job->scores)
        job->scores[index] = score;
    return PX_OK;
}

px_status px_captioner_describe(const px_captioner *c, const float *features, size_t units,
                                const px_caption_decoding *decoding, char **texts, double *scores,
                                px_error *err)
{
    const px_caption_decoding how = decoding ? *decoding : c->decoding;
    memset(texts, 0, units * sizeof *texts);
    PX_TRY(pxi_decoding_check(&how, err));
    px_pool *pool = NULL;
    PX_TRY(pxi_pool_new(how.threads, &pool, err));
    const int workers = pxi_pool_threads(pool);
    describe_job job = {.captioner = c,
                        .features = features,
                        .beams = pxi_calloc((size_t)workers, sizeof *job.beams),
                        .texts = texts,
                        .scores = scores};
    px_status status = job.beams ? PX_OK : pxi_no_memory(err);
    for (int i = 0; i < workers && status == PX_OK; i++)
        status = pxi_beam_init(&job.beams[i], c, &how, err);
    PX_THEN(status,
            pxi_pool_run(pool, (int64_t)units, describe_unit, &job, pxi_pool_unwatched, NULL, err));
    for (int i = 0; job.beams && i < workers; i++)
        pxi_beam_done(&job.beams[i]);
    free(job.beams);
    pxi_pool_free(pool);
    for (size_t i = 0; status != PX_OK && i < units; i++) {
        free(texts[i]);
        texts[i] = NULL;
    }
    return status;
}
