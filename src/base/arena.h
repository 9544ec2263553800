/* src/base/arena.h - many small things that die together
 *
 * A model's graph and strings, a program's operator parameters. Not thread-safe. Memory is
 * zeroed and 64-byte aligned for blocks of 64 bytes and more, 16-byte aligned otherwise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_ARENA_H
#define PXI_BASE_ARENA_H

#include "base/memory.h"

#include <stdbool.h>

typedef struct px_arena px_arena;

px_arena *pxi_arena_new(void); /* NULL when out of memory */
void pxi_arena_free(px_arena *arena);

/* NULL when out of memory or when count * size overflows, and of an arena that is NULL. A zero
 * count gives a valid pointer. */
void *pxi_arena_alloc(px_arena *arena, size_t count, size_t size);
/* Whether there is an arena and it never lacked anything: asked once, behind many arrays. */
bool pxi_arena_whole(const px_arena *arena);
/* The same as a px_status, with `p` the memory for `count` elements. */
#define PX_ARENA_NEW(p, arena, count, err) \
    (((p) = pxi_arena_alloc(arena, (size_t)(count), sizeof *(p))) ? PX_OK : pxi_no_memory(err))
char *pxi_arena_strdup(px_arena *arena, const char *text);
char *pxi_arena_strndup(px_arena *arena, const char *text, size_t length);

#endif
