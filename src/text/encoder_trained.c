/* src/text/encoder_trained.c - encoders that learn their words from the captions at hand
 *
 * A word that no sentence has gets a direction by a hash of its letters, so that two texts with
 * the same strange word are alike and two strange words are not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "text/encoder.h"
#include "text/ppmi.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 5, WORDS_MOST = 1000 };

typedef struct trained_words {
    px_word_table words;
    float *vectors;      /* [words][size] */
    double *probability; /* per word */
    double unknown;      /* probability of the others */
    size_t size;
} trained_words;

static void trained_free(void *self)
{
    trained_words *t = self;
    if (!t)
        return;
    pxi_words_done(&t->words);
    free(t->vectors);
    free(t->probability);
    free(t);
}

static int32_t trained_find(const void *self, const char *word, size_t length)
{
    return pxi_words_find(&((const trained_words *)self)->words, word, length);
}

static double trained_probability(const void *self, int32_t index)
{
    const trained_words *t = self;
    return index < 0 ? t->unknown : t->probability[index];
}

/* A unit vector keyed by the word's letters. */
static void trained_add_unknown(const trained_words *t, const char *word, size_t length,
                                double share, double *sum)
{
    const uint64_t key = pxi_fnv1a(word, length);
    double power = 0.0;
    px_random r = px_rng(key, PX_RNG_WORDS, 0, 0);
    for (size_t d = 0; d < t->size; d++) {
        const double z = px_rng_normal(&r);
        power += z * z;
    }
    r = px_rng(key, PX_RNG_WORDS, 0, 0);
    for (size_t d = 0; d < t->size && power > 0.0; d++)
        sum[d] += share * px_rng_normal(&r) / sqrt(power);
}

static void trained_add(const void *self, int32_t index, const char *word, size_t length,
                        double share, double *sum)
{
    const trained_words *t = self;
    if (index < 0) {
        trained_add_unknown(t, word, length, share, sum);
        return;
    }
    const float *vector = t->vectors + (size_t)index * t->size;
    for (size_t d = 0; d < t->size; d++)
        sum[d] += share * (double)vector[d];
}

/* --- training -------------------------------------------------------------------------------- */

typedef struct word_rank {
    int64_t count;
    int32_t word;
} word_rank;

static int rank_compare(const void *a, const void *b)
{
    const word_rank *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : (x->word > y->word) - (x->word < y->word);
}

/* rank[word]: its row, or -1 beyond the most frequent WORDS_MOST. Rows are in the order in which
 * words came. Glosses count here: a word may have nothing else. */
static px_status trained_choose(const px_corpus *corpus, int32_t *rank, size_t *rows, px_error *err)
{
    const size_t count = corpus->words.count;
    word_rank *order = NULL;
    PX_TRY(PX_NEW(order, count + 1, err));
    for (size_t i = 0; i < count; i++)
        order[i].word = (int32_t)i;
    for (size_t i = 0; i < corpus->token_count; i++)
        order[corpus->tokens[i]].count++;
    qsort(order, count, sizeof *order, rank_compare);
    for (size_t i = 0; i < count; i++)
        rank[order[i].word] = i < WORDS_MOST ? 0 : -1;
    *rows = 0;
    for (size_t i = 0; i < count; i++)
        if (rank[i] == 0)
            rank[i] = (int32_t)(*rows)++;
    free(order);
    return PX_OK;
}

/* The words' table and probabilities, from those that were chosen. */
static px_status trained_table(trained_words *t, const px_corpus *corpus, const int32_t *rank,
                               size_t rows, px_error *err)
{
    PX_TRY(PX_NEW(t->probability, rows + 1, err));
    PX_TRY(PX_NEW(t->vectors, rows * t->size + 1, err));
    const double total = (double)PX_MAX(corpus->counted, 1);
    t->unknown = 1.0 / total;
    for (size_t i = 0; i < corpus->words.count; i++) {
        if (rank[i] < 0)
            continue;
        const char *word = pxi_words_get(&corpus->words, i);
        if (pxi_words_add(&t->words, word, strlen(word)) < 0)
            return pxi_no_memory(err);
        t->probability[rank[i]] = (double)PX_MAX(corpus->counts[i], 1) / total;
    }
    return PX_OK;
}

static px_status trained_vectors(trained_words *t, const double *counts, size_t rows, px_error *err)
{
    double *m = NULL;
    PX_TRY(PX_NEW(m, rows * rows + 1, err));
    px_status status = pxi_ppmi(counts, rows, 0.75, m, err);
    PX_THEN(status, pxi_ppmi_vectors(m, rows, t->size, t->vectors, err));
    free(m);
    return status;
}

static px_status trained_learn(trained_words *t, const px_corpus *corpus, px_error *err)
{
    size_t rows = 0;
    int32_t *rank = pxi_calloc(corpus->words.count + 1, sizeof *rank);
    double *counts = NULL;
    px_status status = rank ? trained_choose(corpus, rank, &rows, err) : pxi_no_memory(err);
    PX_THEN(status, trained_table(t, corpus, rank, rows, err));
    if (status != PX_OK)
        goto done;
    if ((status = PX_NEW(counts, rows * rows + 1, err)) != PX_OK)
        goto done;
    pxi_cooccur(corpus, rank, rows, WINDOW, counts);
    status = trained_vectors(t, counts, rows, err);
done:
    free(counts);
    free(rank);
    return status;
}

px_status pxi_encoder_ppmi(const px_text_encoder_options *options, const char *path,
                           px_text_encoder *out, px_error *err)
{
    (void)path;
    px_corpus corpus = {0};
    PX_TRY(pxi_corpus_build(options, &corpus, err));
    px_status status = PX_OK;
    trained_words *t = NULL;
    if ((status = PX_NEW(t, 1, err)) != PX_OK)
        goto done;
    t->size = (size_t)options->dimensions;
    status = trained_learn(t, &corpus, err);
    if (status != PX_OK) {
        trained_free(t);
        goto done;
    }
    out->id = pxi_id_corpus(out->id, &corpus); /* even where pool=mean needs no corpus */
    out->id = pxi_id_mix(out->id, &t->size, sizeof t->size);
    out->id = pxi_id_mix(out->id, &options->seed, sizeof options->seed);
    px_text_format(&out->about, "ppmi: %zu dimensions, %zu words of %zu sentences", t->size,
                   t->words.count, corpus.learnt);
    const pxi_word_source source = {.self = t,
                                    .size = t->size,
                                    .find = trained_find,
                                    .add = trained_add,
                                    .probability = trained_probability};
    status = pxi_words_encoder(options, &source, trained_free, &corpus, out, err);
done:
    pxi_corpus_done(&corpus);
    return status;
}
