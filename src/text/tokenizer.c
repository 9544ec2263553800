/* src/text/tokenizer.c - texts as the token numbers of a language model */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/tokenizer.h"
#include "base/utf8.h"

#include "base/memory.h"
#include "text/unicode_class.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CLIP_MERGES = 48894 }; /* of the 262,144 in OpenAI's file */

static const char *const names[] = {"clip", "gpt2", "roberta", "wordpiece"};

struct px_tokenizer {
    pxi_tokenizer_kind kind;
    bool cased;
    px_vocabulary vocabulary;
    px_merges merges;
    int32_t byte_symbol[2][256]; /* in merges.symbols; [1]: the last of a word, with </w> (CLIP) */
    px_specials specials;
};

const char *pxi_tokenizer_name(pxi_tokenizer_kind kind)
{
    assert((size_t)kind < PX_LEN(names));
    return names[kind];
}

bool pxi_tokenizer_find(const char *name, pxi_tokenizer_kind *out)
{
    for (size_t i = 0; i < PX_LEN(names); i++)
        if (strcmp(names[i], name) == 0) {
            *out = (pxi_tokenizer_kind)i;
            return true;
        }
    return false;
}

px_specials pxi_tokenizer_specials(const px_tokenizer *t)
{
    return t->specials;
}

pxi_tokenizer_kind pxi_tokenizer_kind_of(const px_tokenizer *t)
{
    return t->kind;
}

size_t pxi_tokenizer_size(const px_tokenizer *t)
{
    return t->vocabulary.words.count;
}

const char *pxi_tokenizer_token(const px_tokenizer *t, int64_t id)
{
    const px_vocabulary *v = &t->vocabulary;
    if (id >= 0 && id < (int64_t)v->words.count && v->ids[id] == id) /* as files have them */
        return pxi_words_get(&v->words, (size_t)id);
    for (size_t i = 0; i < v->words.count; i++)
        if (v->ids[i] == id)
            return pxi_words_get(&v->words, i);
    return NULL;
}

bool pxi_ids_add(px_token_ids *ids, int64_t id)
{
    if (pxi_grow(&ids->id, &ids->cap, ids->count + 1, sizeof *ids->id) != 0)
        return false;
    ids->id[ids->count++] = id;
    return true;
}

/* --- making one ------------------------------------------------------------------------------ */

/* The bytes as symbols, without and with the mark of a word's end. */
static px_status tokenizer_bytes(px_tokenizer *t, px_error *err)
{
    char symbol[256][4], marked[16];
    int order[256];
    pxi_byte_symbols(symbol, order);
    for (int b = 0; b < 256; b++) {
        const size_t length = strlen(symbol[b]);
        memcpy(marked, symbol[b], length);
        memcpy(marked + length, "</w>", 5);
        t->byte_symbol[0][b] = pxi_words_add(&t->merges.symbols, symbol[b], length);
        t->byte_symbol[1][b] = pxi_words_add(&t->merges.symbols, marked, length + 4);
        if (t->byte_symbol[0][b] < 0 || t->byte_symbol[1][b] < 0)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

/* CLIP's vocabulary follows from its merges: bytes, bytes at the end of words, merges, specials. */
static px_status tokenizer_clip_vocabulary(px_tokenizer *t, px_error *err)
{
    char symbol[256][4], marked[16];
    int order[256], by_order[256];
    pxi_byte_symbols(symbol, order);
    for (int b = 0; b < 256; b++)
        by_order[order[b]] = b;
    bool fits = true;
    int32_t id = 0;
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < 256 && fits; i++) {
            const size_t length = strlen(symbol[by_order[i]]);
            memcpy(marked, symbol[by_order[i]], length);
            memcpy(marked + length, "</w>", 5);
            fits = pxi_vocabulary_add(&t->vocabulary, marked, length + (end ? 4 : 0), id++);
        }
    for (size_t i = 0; i < t->merges.count && fits; i++) {
        const char *joined = pxi_words_get(&t->merges.symbols, (size_t)t->merges.joined[i]);
        fits = pxi_vocabulary_add(&t->vocabulary, joined, strlen(joined), id++);
    }
    static const char *const specials[] = {"<|startoftext|>", "<|endoftext|>"};
    for (int i = 0; i < 2 && fits; i++)
        fits = pxi_vocabulary_add(&t->vocabulary, specials[i], strlen(specials[i]), id++);
    return fits ? PX_OK : pxi_no_memory(err);
}

typedef struct special_name {
    const char *name; /* NULL: the kind has none */
    bool needed;
} special_name;

static const special_name special_names[][4] = {
    /* start, end, pad, unknown */
    [PXI_TOKENIZER_CLIP] = {{"<|startoftext|>", true},
                            {"<|endoftext|>", true},
                            {NULL, false},
                            {NULL, false}},
    [PXI_TOKENIZER_GPT2] = {{NULL, false}, {NULL, false}, {NULL, false}, {"<|endoftext|>", false}},
    [PXI_TOKENIZER_ROBERTA] = {{"<s>", true}, {"</s>", true}, {"<pad>", true}, {"<unk>", false}},
    [PXI_TOKENIZER_WORDPIECE] = {{"[CLS]", true},
                                 {"[SEP]", true},
                                 {"[PAD]", true},
                                 {"[UNK]", true}},
};

static px_status tokenizer_specials(px_tokenizer *t, const px_bytes *file, px_error *err)
{
    int64_t *const out[] = {&t->specials.start, &t->specials.end, &t->specials.pad,
                            &t->specials.unknown};
    for (int i = 0; i < 4; i++) {
        const special_name *special = &special_names[t->kind][i];
        *out[i] = special->name
                      ? pxi_vocabulary_find(&t->vocabulary, special->name, strlen(special->name))
                      : -1;
        if (*out[i] < 0 && special->needed)
            return px_fail(err, PX_E_INPUT,
                           "'%s' has no token '%s', which %s texts need; is it of another kind",
                           file->name, special->name, names[t->kind]);
    }
    return PX_OK;
}

static px_status tokenizer_fill(px_tokenizer *t, const px_tokenizer_files *files, px_error *err)
{
    const px_bytes *vocabulary = &files->vocabulary, *merges = &files->merges;
    if (t->kind == PXI_TOKENIZER_WORDPIECE) {
        PX_TRY(pxi_vocabulary_lines(vocabulary, &t->vocabulary, err));
        return tokenizer_specials(t, vocabulary, err);
    }
    const bool clip = t->kind == PXI_TOKENIZER_CLIP;
    PX_TRY(pxi_merges_parse(merges, clip ? CLIP_MERGES : 0, &t->merges, err));
    PX_TRY(tokenizer_bytes(t, err));
    if (vocabulary->text)
        PX_TRY(pxi_vocabulary_json(vocabulary, &t->vocabulary, err));
    else
        PX_TRY(tokenizer_clip_vocabulary(t, err));
    return tokenizer_specials(t, vocabulary->text ? vocabulary : merges, err);
}

px_status pxi_tokenizer_new(pxi_tokenizer_kind kind, const px_tokenizer_files *files, bool cased,
                            px_tokenizer **out, px_error *err)
{
    const bool merges = kind != PXI_TOKENIZER_WORDPIECE;
    if (merges && !files->merges.text)
        return px_fail(err, PX_E_USAGE, "a %s tokeniser needs its merges (merges.txt)",
                       names[kind]);
    if (kind != PXI_TOKENIZER_CLIP && !files->vocabulary.text)
        return px_fail(err, PX_E_USAGE, "a %s tokeniser needs its vocabulary (%s)", names[kind],
                       merges ? "vocab.json" : "vocab.txt");
    px_tokenizer *t = NULL;
    PX_TRY(PX_NEW(t, 1, err));
    t->kind = kind;
    t->cased = cased;
    const px_status status = tokenizer_fill(t, files, err);
    return PX_GIVE(status, t, out, pxi_tokenizer_free);
}

void pxi_tokenizer_free(px_tokenizer *t)
{
    if (!t)
        return;
    pxi_vocabulary_done(&t->vocabulary);
    pxi_merges_done(&t->merges);
    free(t);
}

/* --- byte pairs ------------------------------------------------------------------------------ */

typedef struct bpe_job {
    const px_tokenizer *t;
    px_token_ids *ids;
    bool fits;
} bpe_job;

/* Joins the pair of the lowest rank wherever it is, from the left, until no pair has one. */
static size_t bpe_merge(const px_merges *m, int32_t *symbols, size_t count)
{
    for (;;) {
        int32_t best = -1;
        for (size_t i = 0; i + 1 < count; i++) {
            const int32_t rank = pxi_merges_rank(m, symbols[i], symbols[i + 1]);
            if (rank >= 0 && (best < 0 || rank < best))
                best = rank;
        }
        if (best < 0)
            return count;
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            if (i + 1 < count && pxi_merges_rank(m, symbols[i], symbols[i + 1]) == best) {
                symbols[kept++] = m->joined[best];
                i++;
            } else {
                symbols[kept++] = symbols[i];
            }
        }
        count = kept;
    }
}

static bool bpe_piece(void *context, const char *piece, size_t length)
{
    bpe_job *job = context;
    const px_tokenizer *t = job->t;
    int32_t symbols[PXI_PIECE_BYTES + 8];
    const bool clip = t->kind == PXI_TOKENIZER_CLIP;
    for (size_t i = 0; i < length; i++)
        symbols[i] = t->byte_symbol[clip && i + 1 == length][(unsigned char)piece[i]];
    const size_t count = bpe_merge(&t->merges, symbols, length);
    for (size_t i = 0; i < count && job->fits; i++) {
        const char *symbol = pxi_words_get(&t->merges.symbols, (size_t)symbols[i]);
        const int32_t id = pxi_vocabulary_find(&t->vocabulary, symbol, strlen(symbol));
        job->ids->unknown += id < 0;
        job->fits = pxi_ids_add(job->ids, id >= 0 ? id : PX_MAX(t->specials.unknown, 0));
    }
    return job->fits;
}

/* Lower case, one blank for every run of them. */
static void clip_clean(const char *text, size_t size, px_text *out)
{
    bool blank = false;
    for (const char *p = text, *end = text + size; p < end;) {
        const uint32_t code = pxi_utf8_next(&p, (size_t)(end - p));
        if (pxi_char_is_space(code)) {
            blank = true;
            continue;
        }
        if (blank && out->length)
            px_text_add_bytes(out, " ", 1);
        blank = false;
        pxi_char_put(out, pxi_char_lower(code));
        if (code == 0x130) /* the only letter whose lower case is two characters */
            pxi_char_put(out, 0x307);
    }
}

px_status pxi_tokenizer_encode(const px_tokenizer *t, const char *text, size_t size,
                               px_token_ids *ids, px_error *err)
{
    bpe_job job = {.t = t, .ids = ids, .fits = true};
    px_text clean = {0};
    if (t->kind == PXI_TOKENIZER_WORDPIECE) {
        job.fits =
            pxi_wordpiece_encode(&t->vocabulary, t->cased, t->specials.unknown, text, size, ids);
    } else if (t->kind == PXI_TOKENIZER_CLIP) {
        clip_clean(text, size, &clean);
        job.fits = !clean.failed;
        if (job.fits)
            pxi_bpe_split(px_text_get(&clean), clean.length, true, bpe_piece, &job);
    } else {
        pxi_bpe_split(text, size, false, bpe_piece, &job);
    }
    px_text_done(&clean);
    return job.fits ? PX_OK : pxi_no_memory(err);
}
