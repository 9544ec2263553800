/* src/text/encoder_words.c - texts by their words: smooth inverse frequency
 *
 * Arora, Liang, Ma, A Simple but Tough-to-Beat Baseline for Sentence Embeddings, ICLR 2017: words
 * weigh a / (a + p), and what is left of the sum is freed of the first principal direction of many
 * texts, which is what they have in common (here: the template's own words).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "text/encoder.h"
#include "text/jacobi_svd.h"
#include "text/word_split.h"

#include <stdlib.h>
#include <string.h>

static const double sif_a = 1e-3;

typedef struct words_state {
    pxi_word_source source;
    void (*free_self)(void *self);
    bool sif;
    double *direction; /* NULL: nothing is taken off */
    double *sum;
} words_state;

/* --- one text -------------------------------------------------------------------------------- */

static void words_add(const pxi_word_source *source, bool sif, int32_t index, const char *word,
                      size_t length, double *sum, px_text_facts *facts)
{
    const double share = sif ? sif_a / (sif_a + source->probability(source->self, index)) : 1.0;
    source->add(source->self, index, word, length, share, sum);
    facts->tokens++;
    facts->unknown += index < 0;
}

static int32_t words_find(const pxi_word_source *source, const px_text *word, const px_text *lower)
{
    int32_t index = -1;
    if (source->cased)
        index = source->find(source->self, px_text_get(word), word->length);
    return index >= 0 ? index : source->find(source->self, px_text_get(lower), lower->length);
}

/* The part before the hyphen at or after `from`, or the last one. */
static size_t words_part(const px_text *word, size_t from)
{
    const char *hyphen = memchr(word->data + from, '-', word->length - from);
    return hyphen ? (size_t)(hyphen - word->data) - from : word->length - from;
}

/* A word with hyphens that is not known, but some part of which is: its parts instead. */
static bool words_add_parts(const pxi_word_source *source, bool sif, const px_text *lower,
                            double *sum, px_text_facts *facts)
{
    bool any = false;
    if (!memchr(lower->data, '-', lower->length))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < lower->length;) {
            const size_t length = words_part(lower, at);
            const char *part = lower->data + at;
            const int32_t index = source->find(source->self, part, length);
            any |= index >= 0;
            if (pass && length)
                words_add(source, sif, index, part, length, sum, facts);
            at += length + 1;
        }
        if (!any)
            return false;
    }
    return true;
}

px_status pxi_words_pool(const pxi_word_source *source, bool sif, const char *text, size_t bytes,
                         double *sum, px_text_facts *facts, px_error *err)
{
    memset(sum, 0, source->size * sizeof *sum);
    px_word_reader r = pxi_word_reader(text, bytes);
    while (pxi_word_next(&r)) {
        const int32_t index = words_find(source, &r.word, &r.lower);
        if (index >= 0 || !words_add_parts(source, sif, &r.lower, sum, facts))
            words_add(source, sif, index, px_text_get(&r.lower), r.lower.length, sum, facts);
    }
    const bool failed = r.word.failed || r.lower.failed;
    pxi_word_reader_done(&r);
    if (failed)
        return pxi_no_memory(err);
    for (size_t d = 0; d < source->size && facts->tokens; d++)
        sum[d] /= (double)facts->tokens;
    return PX_OK;
}

static px_status words_embed(void *state, const char *text, size_t bytes, float *vector,
                             px_text_facts *facts, px_error *err)
{
    words_state *s = state;
    const size_t size = s->source.size;
    PX_TRY(pxi_words_pool(&s->source, s->sif, text, bytes, s->sum, facts, err));
    double along = 0.0;
    for (size_t d = 0; s->direction && d < size; d++)
        along += s->sum[d] * s->direction[d];
    for (size_t d = 0; d < size; d++)
        vector[d] = (float)(s->sum[d] - (s->direction ? along * s->direction[d] : 0.0));
    return PX_OK;
}

/* --- what all texts have in common ----------------------------------------------------------- */

/* gram += the outer product of each text's vector with itself. The words are in lower case. */
static px_status words_gram(const pxi_word_source *source, const px_corpus *corpus, double *gram,
                            px_error *err)
{
    const size_t size = source->size;
    px_status status = PX_OK;
    px_text text = {0};
    double *sum = NULL;
    PX_TRY(PX_NEW(sum, size, err));
    for (size_t s = corpus->learnt; s < corpus->sentence_count && status == PX_OK; s++) {
        size_t count;
        px_text_facts facts = {0};
        const int32_t *words = pxi_corpus_sentence(corpus, s, &count);
        px_text_clear(&text);
        for (size_t i = 0; i < count; i++)
            px_text_format(&text, "%s ", pxi_words_get(&corpus->words, (size_t)words[i]));
        status = text.failed ? pxi_no_memory(err)
                             : pxi_words_pool(source, /* sif= */ true, px_text_get(&text),
                                              text.length, sum, &facts, err);
        for (size_t i = 0; i < size && status == PX_OK; i++)
            for (size_t j = 0; j <= i; j++)
                gram[i * size + j] += sum[i] * sum[j];
    }
    px_text_done(&text);
    free(sum);
    return status;
}

px_status pxi_words_direction(const pxi_word_source *source, const px_corpus *corpus,
                              double *direction, px_error *err)
{
    const size_t size = source->size;
    double value;
    double *gram = NULL;
    PX_TRY(PX_NEW(gram, size * size, err));
    px_status status = words_gram(source, corpus, gram, err);
    for (size_t i = 0; i < size; i++)
        for (size_t j = i + 1; j < size; j++)
            gram[i * size + j] = gram[j * size + i];
    if (status == PX_OK) /* of a symmetric matrix: its eigenvectors */
        status = pxi_jacobi_svd(gram, size, size, 1, &value, direction, err);
    free(gram);
    return status;
}

/* --- an encoder ------------------------------------------------------------------------------ */

static void words_free(void *state)
{
    words_state *s = state;
    if (!s)
        return;
    s->free_self((void *)(uintptr_t)s->source.self);
    free(s->direction);
    free(s->sum);
    free(s);
}

static px_status words_fill(words_state *s, const px_corpus *corpus, px_error *err)
{
    s->sum = pxi_calloc(s->source.size, sizeof *s->sum);
    s->direction = s->sif ? pxi_calloc(s->source.size, sizeof *s->direction) : NULL;
    if (!s->sum || (s->sif && !s->direction))
        return pxi_no_memory(err);
    return s->sif ? pxi_words_direction(&s->source, corpus, s->direction, err) : PX_OK;
}

px_status pxi_words_encoder(const px_text_encoder_options *options, const pxi_word_source *source,
                            void (*free_self)(void *self), const px_corpus *corpus,
                            px_text_encoder *out, px_error *err)
{
    const char *pool = options->pool ? options->pool : "sif";
    words_state *s = pxi_calloc(1, sizeof *s);
    px_status status = PX_OK;
    if (!s) {
        free_self((void *)(uintptr_t)source->self);
        return pxi_no_memory(err);
    }
    *s = (words_state){.source = *source, .free_self = free_self, .sif = strcmp(pool, "sif") == 0};
    if (!s->sif && strcmp(pool, "mean") != 0)
        status = px_fail(err, PX_E_USAGE, "pool '%s': word encoders have sif and mean", pool);
    PX_THEN(status, words_fill(s, corpus, err));
    if (status != PX_OK) {
        words_free(s);
        return status;
    }
    out->size = source->size;
    out->embed = words_embed;
    out->free = words_free;
    out->state = s;
    out->id = pxi_id_mix(out->id, pool, strlen(pool));
    if (s->sif)
        out->id = pxi_id_corpus(out->id, corpus);
    px_text_format(&out->about, ", pool %s", pool);
    return PX_OK;
}
