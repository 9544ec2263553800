/* src/graph/names.c - from names to indices */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/names.h>

#include "base/memory.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct pxi_name {
    const char *text; /* NULL: a free slot */
    uint64_t hash;
    int index;
} pxi_name;

static uint64_t names_hash(const pxi_names *names, const char *text)
{
    return XXH3_64bits_withSeed(text, strlen(text), names->seed);
}

/* The slot that holds `text`, or the free one where it belongs. */
static pxi_name *names_slot(const pxi_names *names, const char *text, uint64_t hash)
{
    size_t at = hash & (names->capacity - 1);
    while (names->slots[at].text &&
           (names->slots[at].hash != hash || strcmp(names->slots[at].text, text) != 0))
        at = (at + 1) & (names->capacity - 1);
    return &names->slots[at];
}

static bool names_grow(pxi_names *names)
{
    pxi_names next = {.capacity = names->capacity ? names->capacity * 2 : 64,
                      .used = names->used,
                      .seed = names->seed};
    next.slots = pxi_calloc(next.capacity, sizeof *next.slots);
    if (!next.slots)
        return false;
    if (!names->slots) /* where the allocator put it is not known to who wrote the file */
        next.seed = (uint64_t)(uintptr_t)next.slots;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].text)
            *names_slot(&next, names->slots[i].text, names->slots[i].hash) = names->slots[i];
    free(names->slots);
    *names = next;
    return true;
}

int pxi_names_add(pxi_names *names, const char *name, int index)
{
    assert(index >= 0);
    if (names->used >= names->capacity / 2 && !names_grow(names))
        return -1;
    const uint64_t hash = names_hash(names, name);
    pxi_name *slot = names_slot(names, name, hash);
    if (slot->text)
        return slot->index;
    *slot = (pxi_name){.text = name, .hash = hash, .index = index};
    names->used++;
    return index;
}

int pxi_names_find(const pxi_names *names, const char *name)
{
    if (!names->slots)
        return -1;
    const pxi_name *slot = names_slot(names, name, names_hash(names, name));
    return slot->text ? slot->index : -1;
}

void pxi_names_done(pxi_names *names)
{
    free(names->slots);
    *names = (pxi_names){0};
}
