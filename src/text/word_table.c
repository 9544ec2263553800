/* src/text/word_table.c - words by number and numbers by word */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/word_table.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint64_t pxi_fnv1a(const char *bytes, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

const char *pxi_words_get(const px_word_table *table, size_t index)
{
    assert(index < table->count);
    return table->bytes + table->start[index];
}

static size_t words_length(const px_word_table *table, size_t index)
{
    const size_t end = index + 1 < table->count ? table->start[index + 1] : table->used;
    return end - table->start[index] - 1;
}

/* The slot with the word, or the free one where it belongs; slot_count is a power of two. */
static size_t words_slot(const px_word_table *table, const char *word, size_t length)
{
    assert(table->slot_count > 0 && (table->slot_count & (table->slot_count - 1)) == 0);
    size_t slot = (size_t)pxi_fnv1a(word, length) & (table->slot_count - 1);
    while (table->slots[slot] >= 0) {
        const size_t index = (size_t)table->slots[slot];
        if (words_length(table, index) == length &&
            memcmp(pxi_words_get(table, index), word, length) == 0)
            return slot;
        slot = (slot + 1) & (table->slot_count - 1);
    }
    return slot;
}

int32_t pxi_words_find(const px_word_table *table, const char *word, size_t length)
{
    return table->slot_count ? table->slots[words_slot(table, word, length)] : -1;
}

static int words_rehash(px_word_table *table)
{
    const size_t count = table->slot_count ? 2 * table->slot_count : 64;
    int32_t *slots = pxi_calloc(count, sizeof *slots);
    if (!slots)
        return -1;
    memset(slots, 0xff, count * sizeof *slots);
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (size_t i = 0; i < table->count; i++)
        table->slots[words_slot(table, pxi_words_get(table, i), words_length(table, i))] =
            (int32_t)i;
    return 0;
}

int32_t pxi_words_add(px_word_table *table, const char *word, size_t length)
{
    const int32_t found = pxi_words_find(table, word, length);
    if (found >= 0)
        return found;
    if (table->count >= PXI_WORDS_MOST ||
        (2 * (table->count + 1) > table->slot_count && words_rehash(table) != 0) ||
        pxi_grow(&table->start, &table->start_cap, table->count + 1, sizeof *table->start) != 0 ||
        length >= SIZE_MAX - table->used - 1 ||
        pxi_grow(&table->bytes, &table->byte_cap, table->used + length + 1, 1) != 0)
        return -1;
    const size_t slot = words_slot(table, word, length);
    table->start[table->count] = table->used;
    memcpy(table->bytes + table->used, word, length);
    table->bytes[table->used + length] = '\0';
    table->used += length + 1;
    table->slots[slot] = (int32_t)table->count;
    return (int32_t)table->count++;
}

void pxi_words_done(px_word_table *table)
{
    free(table->bytes);
    free(table->start);
    free(table->slots);
    *table = (px_word_table){0};
}
