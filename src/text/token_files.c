/* src/text/token_files.c - vocabularies and merges, as language models come with them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_most.h"
#include "base/memory.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* --- vocabularies ---------------------------------------------------------------------------- */

void pxi_vocabulary_done(px_vocabulary *v)
{
    pxi_words_done(&v->words);
    free(v->ids);
    *v = (px_vocabulary){0};
}

int32_t pxi_vocabulary_find(const px_vocabulary *v, const char *word, size_t length)
{
    const int32_t index = pxi_words_find(&v->words, word, length);
    return index < 0 ? -1 : v->ids[index];
}

/* Of a token that comes twice the last number counts, as in a Python dictionary. */
bool pxi_vocabulary_add(px_vocabulary *v, const char *word, size_t length, int32_t id)
{
    const int32_t index = pxi_words_add(&v->words, word, length);
    if (index < 0 || pxi_grow(&v->ids, &v->id_cap, v->words.count, sizeof *v->ids) != 0)
        return false;
    v->ids[index] = id;
    return true;
}

static px_status vocabulary_nomem(const px_bytes *file, px_error *err)
{
    return px_fail_in(err, pxi_no_memory(err), "'%s'", file->name);
}

static px_status vocabulary_members(const px_bytes *file, const px_json_value *root,
                                    px_vocabulary *v, px_error *err)
{
    if (root->kind != PX_JSON_OBJECT || root->count == 0)
        return px_fail(err, PX_E_INPUT, "'%s' is no vocabulary: expected {\"token\": number, ...}",
                       file->name);
    for (size_t i = 0; i < root->count; i++) {
        const double id = root->items[i].number;
        if (root->items[i].kind != PX_JSON_NUMBER || !(id >= 0.0 && id < PXI_TOKENS_MOST) ||
            id != (double)(int32_t)id)
            return px_fail(err, PX_E_INPUT, "'%s': token '%.40s' has no number from 0 to %d",
                           file->name, root->keys[i], PXI_TOKENS_MOST - 1);
        if (!pxi_vocabulary_add(v, root->keys[i], strlen(root->keys[i]), (int32_t)id))
            return vocabulary_nomem(file, err);
    }
    return PX_OK;
}

px_status pxi_vocabulary_json(const px_bytes *file, px_vocabulary *out, px_error *err)
{
    px_json_document *document = NULL;
    px_vocabulary v = {0};
    px_status status =
        pxi_json_parse_most(file->text, file->size, PXI_TOKEN_FILE_BYTES, &document, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", file->name);
    status = vocabulary_members(file, px_json_root(document), &v, err);
    px_json_free(document);
    if (status != PX_OK)
        pxi_vocabulary_done(&v);
    else
        *out = v;
    return status;
}

/* The next line; *p moves behind it. */
static size_t next_line(const char **p, const char *end, const char **line)
{
    const char *stop = memchr(*p, '\n', (size_t)(end - *p));
    stop = stop ? stop : end;
    *line = *p;
    size_t length = (size_t)(stop - *p);
    *p = stop < end ? stop + 1 : end;
    if (length && (*line)[length - 1] == '\r')
        length--;
    return length;
}

px_status pxi_vocabulary_lines(const px_bytes *file, px_vocabulary *out, px_error *err)
{
    px_vocabulary v = {0};
    px_status status = PX_OK;
    const char *p = file->text, *end = file->text + file->size;
    if (memchr(file->text, '\0', file->size))
        return px_fail(err, PX_E_INPUT, "'%s' is no vocabulary: it is not text", file->name);
    for (int32_t id = 0; p < end && status == PX_OK; id++) {
        const char *line;
        const size_t length = next_line(&p, end, &line);
        if (id >= PXI_TOKENS_MOST)
            status = px_fail(err, PX_E_INPUT, "'%s' has more than %d tokens", file->name,
                             PXI_TOKENS_MOST);
        else if (length && !pxi_vocabulary_add(&v, line, length, id))
            status = vocabulary_nomem(file, err);
    }
    if (status == PX_OK && !v.words.count)
        status = px_fail(err, PX_E_INPUT, "'%s' is no vocabulary: it is empty", file->name);
    if (status != PX_OK)
        pxi_vocabulary_done(&v);
    else
        *out = v;
    return status;
}

/* --- merges ---------------------------------------------------------------------------------- */

void pxi_merges_done(px_merges *m)
{
    pxi_words_done(&m->symbols);
    free(m->keys);
    free(m->ranks);
    free(m->joined);
    *m = (px_merges){0};
}

static size_t merges_slot(const px_merges *m, uint64_t key)
{
    size_t slot = (size_t)(key * 0x9E3779B97F4A7C15u >> 20) & (m->slot_count - 1);
    while (m->keys[slot] != UINT64_MAX && m->keys[slot] != key)
        slot = (slot + 1) & (m->slot_count - 1);
    return slot;
}

int32_t pxi_merges_rank(const px_merges *m, int32_t left, int32_t right)
{
    if (left < 0 || right < 0 || !m->slot_count)
        return -1;
    const size_t slot = merges_slot(m, (uint64_t)left << 32 | (uint64_t)right);
    return m->keys[slot] == UINT64_MAX ? -1 : m->ranks[slot];
}

static bool merges_reserve(px_merges *m)
{
    if (2 * (m->count + 1) <= m->slot_count)
        return true;
    const size_t before = m->slot_count, count = before ? 2 * before : 64;
    uint64_t *keys = m->keys, *new_keys = pxi_calloc(count, sizeof *new_keys);
    int32_t *ranks = m->ranks, *new_ranks = pxi_calloc(count, sizeof *new_ranks);
    if (!new_keys || !new_ranks) {
        free(new_keys);
        free(new_ranks);
        return false;
    }
    memset(new_keys, 0xff, count * sizeof *new_keys);
    m->keys = new_keys;
    m->ranks = new_ranks;
    m->slot_count = count;
    for (size_t i = 0; i < before; i++)
        if (keys[i] != UINT64_MAX) {
            const size_t slot = merges_slot(m, keys[i]);
            m->keys[slot] = keys[i];
            m->ranks[slot] = ranks[i];
        }
    free(keys);
    free(ranks);
    return true;
}

/* One line: two symbols, and what they become. Of a pair that comes twice the first rank counts. */
static bool merges_add(px_merges *m, const char *line, size_t length, size_t split, px_text *text)
{
    const int32_t left = pxi_words_add(&m->symbols, line, split);
    const int32_t right = pxi_words_add(&m->symbols, line + split + 1, length - split - 1);
    px_text_clear(text);
    px_text_add_bytes(text, line, split);
    px_text_add_bytes(text, line + split + 1, length - split - 1);
    if (left < 0 || right < 0 || text->failed || !merges_reserve(m) ||
        pxi_grow(&m->joined, &m->joined_cap, m->count + 1, sizeof *m->joined) != 0)
        return false;
    const int32_t joined = pxi_words_add(&m->symbols, text->data, text->length);
    if (joined < 0)
        return false;
    const uint64_t key = (uint64_t)left << 32 | (uint64_t)right;
    const size_t slot = merges_slot(m, key);
    if (m->keys[slot] == UINT64_MAX) {
        m->keys[slot] = key;
        m->ranks[slot] = (int32_t)m->count;
    }
    m->joined[m->count++] = joined;
    return true;
}

px_status pxi_merges_parse(const px_bytes *file, size_t most, px_merges *out, px_error *err)
{
    px_merges m = {0};
    px_text text = {0};
    px_status status = PX_OK;
    const char *p = file->text, *end = file->text + file->size, *line;
    if (memchr(file->text, '\0', file->size))
        return px_fail(err, PX_E_INPUT, "'%s' has no merges: it is not text", file->name);
    next_line(&p, end, &line); /* "#version: 0.2" */
    most = most ? most : PXI_TOKENS_MOST;
    for (size_t number = 2; p < end && m.count < most && status == PX_OK; number++) {
        const size_t length = next_line(&p, end, &line);
        const char *blank = memchr(line, ' ', length);
        const size_t split = blank ? (size_t)(blank - line) : 0;
        if (!length)
            continue;
        if (split == 0 || split + 1 == length || memchr(blank + 1, ' ', length - split - 1))
            status = px_fail(err, PX_E_INPUT, "'%s' line %zu: expected two symbols, 'left right'",
                             file->name, number);
        else if (!merges_add(&m, line, length, split, &text))
            status = px_fail_in(err, pxi_no_memory(err), "'%s'", file->name);
    }
    px_text_done(&text);
    if (status == PX_OK && !m.count)
        status =
            px_fail(err, PX_E_INPUT,
                    "'%s' has no merges; they are expected from the second line on", file->name);
    if (status != PX_OK)
        pxi_merges_done(&m);
    else
        *out = m;
    return status;
}
