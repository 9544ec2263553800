/* src/base/arena.c - many small things that die together */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_GAP 64 /* poisoned bytes behind every block, so that overruns are seen */
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)0)
#define ARENA_GAP 0
#endif

enum { ARENA_CHUNK_BYTES = 64 * 1024 };

typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size; /* of data */
    char *data;
} arena_chunk;

struct px_arena {
    arena_chunk *chunks; /* newest first */
    bool failed;
};

px_arena *pxi_arena_new(void)
{
    return pxi_calloc(1, sizeof(px_arena));
}

void pxi_arena_free(px_arena *arena)
{
    if (!arena)
        return;
    for (arena_chunk *chunk = arena->chunks; chunk;) {
        arena_chunk *next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
        free(chunk->data);
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static arena_chunk *arena_add_chunk(px_arena *arena, size_t bytes)
{
    arena_chunk *chunk = pxi_calloc(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->size = PX_MAX(bytes, (size_t)ARENA_CHUNK_BYTES);
    chunk->data = pxi_alloc_aligned(chunk->size);
    if (!chunk->data) {
        free(chunk);
        return NULL;
    }
    ASAN_POISON_MEMORY_REGION(chunk->data, chunk->size);
    /* A block larger than a chunk goes behind the current one, which still has room. */
    if (bytes >= ARENA_CHUNK_BYTES && arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

static void *arena_take(px_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    const size_t align = bytes >= 64 ? 64 : 16;
    const size_t need = bytes + ARENA_GAP;
    arena_chunk *chunk = arena->chunks;
    size_t start = chunk ? (chunk->used + align - 1) / align * align : 0;
    if (!chunk || start > chunk->size || need > chunk->size - start) {
        chunk = arena_add_chunk(arena, need);
        if (!chunk)
            return NULL;
        start = 0;
    }
    chunk->used = start + need;
    ASAN_UNPOISON_MEMORY_REGION(chunk->data + start, bytes);
    memset(chunk->data + start, 0, bytes);
    return chunk->data + start;
}

void *pxi_arena_alloc(px_arena *arena, size_t count, size_t size)
{
    void *taken = arena ? arena_take(arena, count, size) : NULL;
    if (arena)
        arena->failed |= !taken;
    return taken;
}

bool pxi_arena_whole(const px_arena *arena)
{
    return arena && !arena->failed;
}

char *pxi_arena_strndup(px_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = pxi_arena_alloc(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *pxi_arena_strdup(px_arena *arena, const char *text)
{
    return pxi_arena_strndup(arena, text, strlen(text));
}
