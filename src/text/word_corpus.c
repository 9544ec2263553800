/* src/text/word_corpus.c - sentences as numbers: what word vectors are learnt from */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/word_corpus.h"

#include "base/memory.h"
#include "text/glosses.h"
#include "text/unicode_class.h"
#include "text/word_split.h"

#include <assert.h>
#include <internal/rng.h>
#include <internal/text_encoder.h>
#include <stdlib.h>
#include <string.h>

enum {
    CAPTIONS_MOST = 20000,
    TEXTS_WHOLE = 1000, /* class with captions */
    TEXTS_BARE = 1000,  /* a caption alone */
    TEXT_CAPTIONS_MOST = 5,
};

void pxi_corpus_done(px_corpus *corpus)
{
    pxi_words_done(&corpus->words);
    free(corpus->counts);
    free(corpus->tokens);
    free(corpus->ends);
    *corpus = (px_corpus){0};
}

const int32_t *pxi_corpus_sentence(const px_corpus *corpus, size_t i, size_t *count)
{
    assert(i < corpus->sentence_count);
    const size_t start = i ? corpus->ends[i - 1] : 0;
    *count = corpus->ends[i] - start;
    return corpus->tokens + start;
}

static bool corpus_word(px_corpus *c, const px_text *word, bool counted)
{
    const size_t before = c->words.count;
    const int32_t index = pxi_words_add(&c->words, px_text_get(word), word->length);
    if (index < 0 || pxi_grow(&c->counts, &c->count_cap, c->words.count, sizeof *c->counts) != 0 ||
        pxi_grow(&c->tokens, &c->token_cap, c->token_count + 1, sizeof *c->tokens) != 0)
        return false;
    if ((size_t)index == before)
        c->counts[index] = 0;
    c->counts[index] += counted;
    c->counted += counted;
    c->tokens[c->token_count++] = index;
    return true;
}

px_status pxi_corpus_add(px_corpus *c, const char *sentence, size_t size, pxi_sentence kind,
                         px_error *err)
{
    PX_TRY(pxi_text_check(sentence, size, err));
    px_word_reader r = pxi_word_reader(sentence, size);
    bool fits = true;
    while (fits && pxi_word_next(&r))
        fits = corpus_word(c, &r.lower, kind != PXI_SENTENCE_GLOSS);
    fits = fits && !r.word.failed && !r.lower.failed &&
           pxi_grow(&c->ends, &c->sentence_cap, c->sentence_count + 1, sizeof *c->ends) == 0;
    pxi_word_reader_done(&r);
    if (!fits)
        return pxi_no_memory(err);
    c->ends[c->sentence_count++] = c->token_count;
    if (kind != PXI_SENTENCE_TEXT)
        c->learnt = c->sentence_count;
    return PX_OK;
}

/* --- building one ---------------------------------------------------------------------------- */

typedef struct corpus_job {
    const px_text_encoder_options *options;
    px_corpus *corpus;
    const char **captions; /* those that take part */
    size_t caption_count, caption_cap;
    char **classes; /* in words */
    px_text stock;  /* stock captions, each with a NUL behind it */
    px_text text;
} corpus_job;

static void corpus_job_done(corpus_job *job)
{
    for (size_t i = 0; job->classes && i < job->options->class_count; i++)
        free(job->classes[i]);
    free(job->classes);
    free(job->captions);
    px_text_done(&job->stock);
    px_text_done(&job->text);
}

/* The captions that take part, in their own order. */
static px_status corpus_sample(corpus_job *job, px_error *err)
{
    const px_text_encoder_options *o = job->options;
    const size_t count = PX_MIN(o->caption_count, (size_t)CAPTIONS_MOST);
    if (o->caption_count > UINT32_MAX)
        return px_fail(err, PX_E_INPUT, "%zu captions are too many", o->caption_count);
    PX_TRY(PX_GROW(job->captions, job->caption_cap, count + 1, err));
    if (o->caption_count <= count) {
        for (size_t i = 0; i < count; i++)
            job->captions[i] = o->captions[i];
        job->caption_count = count;
        return PX_OK;
    }
    int64_t *order = pxi_calloc(o->caption_count, sizeof *order);
    unsigned char *taken = pxi_calloc(o->caption_count, 1);
    if (order && taken) {
        px_random r = px_rng(o->seed, PX_RNG_SAMPLE, 0, 0);
        px_rng_permutation(&r, order, (uint32_t)o->caption_count);
        for (size_t i = 0; i < count; i++)
            taken[order[i]] = 1;
        for (size_t i = 0; i < o->caption_count; i++)
            if (taken[i])
                job->captions[job->caption_count++] = o->captions[i];
    }
    free(order);
    free(taken);
    return job->caption_count ? PX_OK : pxi_no_memory(err);
}

static px_status corpus_stock(corpus_job *job, const px_glosses *glosses, px_error *err)
{
    if (job->caption_count)
        return PX_OK;
    size_t count = 0;
    pxi_glosses_captions(glosses, &job->stock, &count);
    if (job->stock.failed || pxi_grow(&job->captions, &job->caption_cap, job->caption_count + count,
                                      sizeof *job->captions) != 0)
        return pxi_no_memory(err);
    const char *p = px_text_get(&job->stock);
    for (size_t i = 0; i < count; i++, p += strlen(p) + 1)
        job->captions[job->caption_count++] = p;
    return PX_OK;
}

static px_status corpus_classes(corpus_job *job, px_error *err)
{
    const px_text_encoder_options *o = job->options;
    PX_TRY(PX_NEW(job->classes, o->class_count + 1, err));
    for (size_t i = 0; i < o->class_count; i++) {
        PX_TRY(pxi_text_check(o->classes[i], strlen(o->classes[i]), err));
        job->classes[i] = px_class_words(o->classes[i]);
        if (!job->classes[i])
            return pxi_no_memory(err);
        px_text_clear(&job->text);
        px_text_format(&job->text, "a photo of a %s with", job->classes[i]);
        if (job->text.failed)
            return pxi_no_memory(err);
        PX_TRY(pxi_corpus_add(job->corpus, job->text.data, job->text.length, PXI_SENTENCE_CAPTION,
                              err));
    }
    return PX_OK;
}

/* Decision paths as they might come: their classes in turn, their captions at random. */
static px_status corpus_texts(corpus_job *job, px_error *err)
{
    const uint32_t captions = (uint32_t)job->caption_count;
    const size_t classes = job->options->class_count;
    for (uint32_t i = 0; i < TEXTS_WHOLE; i++) {
        px_random r = px_rng(job->options->seed, PX_RNG_SAMPLE, i, 1);
        px_text_clear(&job->text);
        px_text_format(&job->text, "a photo of a %s with",
                       classes ? job->classes[i % classes] : "thing");
        const uint32_t parts = 1 + px_rng_below(&r, TEXT_CAPTIONS_MOST);
        for (uint32_t k = 0; k < parts; k++)
            px_text_format(&job->text, " %s,", job->captions[px_rng_below(&r, captions)]);
        if (job->text.failed)
            return pxi_no_memory(err);
        PX_TRY(
            pxi_corpus_add(job->corpus, job->text.data, job->text.length, PXI_SENTENCE_TEXT, err));
    }
    for (uint32_t i = 0; i < TEXTS_BARE; i++) {
        px_random r = px_rng(job->options->seed, PX_RNG_SAMPLE, i, 2);
        const char *caption = job->captions[px_rng_below(&r, captions)];
        PX_TRY(pxi_corpus_add(job->corpus, caption, strlen(caption), PXI_SENTENCE_TEXT, err));
    }
    return PX_OK;
}

static px_status corpus_work(corpus_job *job, const px_glosses *glosses, px_error *err)
{
    PX_TRY(corpus_sample(job, err));
    PX_TRY(corpus_stock(job, glosses, err));
    for (size_t i = 0; i < job->caption_count; i++)
        PX_TRY(pxi_corpus_add(job->corpus, job->captions[i], strlen(job->captions[i]),
                              PXI_SENTENCE_CAPTION, err));
    PX_TRY(corpus_classes(job, err));
    const bool known_only = job->options->caption_count > 0;
    PX_TRY(pxi_glosses_sentences(glosses, known_only, job->corpus, err));
    return corpus_texts(job, err);
}

px_status pxi_corpus_build(const px_text_encoder_options *options, px_corpus *out, px_error *err)
{
    px_corpus corpus = {0};
    px_glosses *glosses = NULL;
    PX_TRY(pxi_glosses_open(options->glosses, &glosses, err));
    corpus_job job = {.options = options, .corpus = &corpus};
    const px_status status = corpus_work(&job, glosses, err);
    corpus_job_done(&job);
    pxi_glosses_free(glosses);
    if (status != PX_OK) {
        pxi_corpus_done(&corpus);
        return status;
    }
    *out = corpus;
    return PX_OK;
}
