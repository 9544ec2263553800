/* src/text/encoder_open.c - a text encoder by its spec */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/utf8.h"
#include "text/encoder.h"
#include "text/unicode_class.h"

#include <internal/text_encoder.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

px_text_encoder_options px_text_encoder_options_default(void)
{
    return (px_text_encoder_options){.dimensions = 64, .most_words = 500000};
}

static const struct {
    const char *name;
    bool path; /* "name:FILE" */
    pxi_encoder_maker make;
} kinds[] = {
    {"ppmi", false, pxi_encoder_ppmi},
    {"glove", true, pxi_encoder_vectors},
    {"fasttext", true, pxi_encoder_vectors},
    {"onnx", true, pxi_encoder_onnx},
};

/* The kind's place in the list and the path behind the colon. */
static px_status open_kind(const char *spec, size_t *kind, const char **path, px_error *err)
{
    const char *colon = strchr(spec, ':');
    const size_t length = colon ? (size_t)(colon - spec) : strlen(spec);
    for (size_t i = 0; i < PX_LEN(kinds); i++) {
        if (strlen(kinds[i].name) != length || memcmp(kinds[i].name, spec, length) != 0)
            continue;
        if (kinds[i].path && !(colon && colon[1]))
            return px_fail(err, PX_E_USAGE, "encoder '%s' needs a file: '%s:FILE'", spec,
                           kinds[i].name);
        if (!kinds[i].path && colon)
            return px_fail(err, PX_E_USAGE, "encoder '%s': '%s' takes no file", spec,
                           kinds[i].name);
        *kind = i;
        *path = colon ? colon + 1 : NULL;
        return PX_OK;
    }
    return px_fail(
        err, PX_E_USAGE,
        "there is no encoder '%s'; there are ppmi, glove:FILE, fasttext:FILE and onnx:FILE", spec);
}

px_status px_text_encoder_open(const px_text_encoder_options *options, px_text_encoder **out,
                               px_error *err)
{
    const char *spec = options->spec ? options->spec : "ppmi", *path = NULL;
    size_t kind = 0;
    PX_TRY(open_kind(spec, &kind, &path, err));
    if (options->dimensions < 1 || options->dimensions > PXI_WORD_SIZE_MOST)
        return px_fail(err, PX_E_USAGE, "%d dimensions; there can be 1 to %d", options->dimensions,
                       PXI_WORD_SIZE_MOST);
    px_text_encoder *e = NULL;
    PX_TRY(PX_NEW(e, 1, err));
    e->id = pxi_id_mix(0, kinds[kind].name, strlen(kinds[kind].name));
    px_status status = kinds[kind].make(options, path, e, err);
    if (status == PX_OK && px_text_failed(&e->about))
        status = pxi_no_memory(err);
    return PX_GIVE(status, e, out, px_text_encoder_free);
}

void px_text_encoder_free(px_text_encoder *e)
{
    if (!e)
        return;
    if (e->free)
        e->free(e->state);
    px_text_done(&e->about);
    free(e);
}

size_t px_text_encoder_size(const px_text_encoder *e)
{
    return e->size;
}

const char *px_text_encoder_describe(const px_text_encoder *e)
{
    return px_text_get(&e->about);
}

uint64_t px_text_encoder_id(const px_text_encoder *e)
{
    return e->id;
}

px_status px_text_encoder_embed(px_text_encoder *e, const char *text, float *vector,
                                px_text_facts *facts, px_error *err)
{
    px_text_facts found = {0};
    const size_t bytes = strlen(text);
    PX_TRY(pxi_text_check(text, bytes, err));
    PX_TRY(e->embed(e->state, text, bytes, vector, &found, err));
    if (e->needs_words && found.tokens && found.unknown == found.tokens)
        return px_fail(err, PX_E_MISMATCH,
                       "not one of the %lld words of '%.60s' is in the vocabulary of %s",
                       (long long)found.tokens, text, px_text_encoder_describe(e));
    for (size_t i = 0; i < e->size; i++)
        if (!isfinite(vector[i]))
            return px_fail(err, PX_E_INPUT,
                           "the encoder's vector of '%.60s' is not finite at place %zu (%s)", text,
                           i, px_text_encoder_describe(e));
    if (facts)
        *facts = found;
    return PX_OK;
}

double px_text_cosine(const float *a, const float *b, size_t size)
{
    double dot = 0.0, aa = 0.0, bb = 0.0;
    for (size_t i = 0; i < size; i++) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0.0 && bb > 0.0 ? dot / (sqrt(aa) * sqrt(bb)) : (double)NAN;
}

char *px_class_words(const char *name)
{
    px_text text = {0};
    const char *end = strchr(name, ',');
    end = end ? end : name + strlen(name);
    for (const char *p = name; p < end;) {
        const uint32_t code = pxi_utf8_next(&p, (size_t)(end - p));
        pxi_char_put(&text, code == '_' ? ' ' : pxi_char_lower(code));
    }
    return px_text_take(&text);
}

/* --- ids ------------------------------------------------------------------------------------- */

uint64_t pxi_id_mix(uint64_t id, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, id);
}

uint64_t pxi_id_corpus(uint64_t id, const px_corpus *corpus)
{
    id = pxi_id_mix(id, corpus->words.bytes, corpus->words.used);
    id = pxi_id_mix(id, corpus->tokens, corpus->token_count * sizeof *corpus->tokens);
    return pxi_id_mix(id, corpus->ends, corpus->sentence_count * sizeof *corpus->ends);
}
