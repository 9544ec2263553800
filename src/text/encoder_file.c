/* src/text/encoder_file.c - encoders over files of word vectors
 *
 * Files of text have no counts, but their rows are sorted by them: a word's probability goes by
 * Zipf, 1/rank. An unknown word is the row <unk>, or else the mean of the 100 rarest rows.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "text/encoder.h"
#include "text/mapped_file.h"
#include "text/vector_text.h"
#include "text/word_split.h"

#include <stdlib.h>
#include <string.h>

enum { RAREST = 100 };

typedef struct file_words {
    px_vectors vectors;
    double *unknown; /* [size] */
    double harmonic; /* sum of 1/rank */
} file_words;

static void file_free(void *self)
{
    file_words *f = self;
    if (!f)
        return;
    pxi_vectors_done(&f->vectors);
    free(f->unknown);
    free(f);
}

static int32_t file_find(const void *self, const char *word, size_t length)
{
    return pxi_words_find(&((const file_words *)self)->vectors.words, word, length);
}

static double file_probability(const void *self, int32_t index)
{
    const file_words *f = self;
    const size_t rank = index < 0 ? f->vectors.words.count : (size_t)index + 1;
    return 1.0 / ((double)rank * f->harmonic);
}

static void file_add(const void *self, int32_t index, const char *word, size_t length, double share,
                     double *sum)
{
    (void)word;
    (void)length;
    const file_words *f = self;
    const size_t size = f->vectors.size;
    for (size_t d = 0; d < size; d++)
        sum[d] +=
            share * (index < 0 ? f->unknown[d] : (double)f->vectors.rows[(size_t)index * size + d]);
}

static px_status file_unknown(file_words *f, px_error *err)
{
    const px_vectors *v = &f->vectors;
    const size_t count = v->words.count;
    const int32_t row = pxi_words_find(&v->words, "<unk>", 5);
    const size_t first = row >= 0 ? (size_t)row : count > RAREST ? count - RAREST : 0;
    const size_t rows = row >= 0 ? 1 : count - first;
    PX_TRY(PX_NEW(f->unknown, v->size, err));
    for (size_t i = first; i < first + rows; i++)
        for (size_t d = 0; d < v->size; d++)
            f->unknown[d] += (double)v->rows[i * v->size + d] / (double)rows;
    for (size_t i = 0; i < count; i++)
        f->harmonic += 1.0 / (double)(i + 1);
    return PX_OK;
}

/* Whether one of the words at hand is in the vocabulary. */
static px_status file_knows(const pxi_word_source *source, const char *const *texts, size_t count,
                            size_t *words, bool *any, px_error *err)
{
    for (size_t i = 0; i < count && !*any; i++) {
        px_word_reader r = pxi_word_reader(texts[i], strlen(texts[i]));
        while (!*any && pxi_word_next(&r)) {
            *any = source->find(source->self, px_text_get(&r.word), r.word.length) >= 0 ||
                   source->find(source->self, px_text_get(&r.lower), r.lower.length) >= 0;
            ++*words;
        }
        const bool failed = r.word.failed || r.lower.failed;
        pxi_word_reader_done(&r);
        if (failed)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

static px_status file_check(const px_text_encoder_options *o, const char *path,
                            const pxi_word_source *source, px_error *err)
{
    size_t words = 0;
    bool any = false;
    PX_TRY(file_knows(source, o->captions, o->caption_count, &words, &any, err));
    PX_TRY(file_knows(source, o->classes, o->class_count, &words, &any, err));
    if (any || !words)
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "'%s': not one of the %zu words of the captions and class names is in its "
                   "vocabulary; is it of another language, or another alphabet",
                   path, words);
}

/* Takes the source over, as pxi_words_encoder() does. */
static px_status file_encoder(const px_text_encoder_options *options, const char *path,
                              const pxi_word_source *source, void (*free_self)(void *self),
                              px_text_encoder *out, px_error *err)
{
    px_corpus corpus = {0};
    px_status status = file_check(options, path, source, err);
    PX_THEN(status, pxi_corpus_build(options, &corpus, err));
    if (status != PX_OK) {
        free_self((void *)(uintptr_t)source->self);
        return status;
    }
    status = pxi_words_encoder(options, source, free_self, &corpus, out, err);
    pxi_corpus_done(&corpus);
    return status;
}

px_status pxi_encoder_vectors(const px_text_encoder_options *options, const char *path,
                              px_text_encoder *out, px_error *err)
{
    px_mapped mapped = {0};
    if (options->most_words < 0)
        return px_fail(err, PX_E_USAGE, "%lld words of a file", (long long)options->most_words);
    PX_TRY(pxi_map_file(path, &mapped, err));
    file_words *f = pxi_calloc(1, sizeof *f);
    px_status status = f ? pxi_vectors_parse(mapped.bytes, mapped.size, path,
                                             (size_t)options->most_words, &f->vectors, err)
                         : pxi_no_memory(err);
    PX_THEN(status, file_unknown(f, err));
    pxi_unmap_file(&mapped);
    if (status != PX_OK) {
        file_free(f);
        return status;
    }
    const px_vectors *v = &f->vectors;
    out->id = pxi_id_mix(out->id, v->words.bytes, v->words.used);
    out->id = pxi_id_mix(out->id, v->rows, v->words.count * v->size * sizeof *v->rows);
    out->needs_words = true;
    px_text_format(&out->about, "%s: %zu dimensions, %s%zu words", path, v->size,
                   v->cut ? "the first " : "", v->words.count);
    const pxi_word_source source = {.self = f,
                                    .size = v->size,
                                    .cased = true,
                                    .find = file_find,
                                    .add = file_add,
                                    .probability = file_probability};
    return file_encoder(options, path, &source, file_free, out, err);
}
