/* src/base/memory.h - overflow-checked allocation
 *
 *     float *row = NULL;
 *     PX_TRY(PX_NEW(row, n, err));
 *     ...
 *     free(row);
 *
 * Memory that is not to be had and a count * size that overflows are one failure, PX_E_NOMEM, with
 * one sentence, which is written here and nowhere else.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_MEMORY_H
#define PXI_BASE_MEMORY_H

#include <plexor/error.h>
#include <stddef.h>

#define PX_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define PX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PX_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Each is a px_status: memory for `p`, to be returned by free(). On failure `p` is NULL.
 * PX_NEW: `count` zeroed elements. PX_DUP: a copy of a text. */
#define PX_NEW(p, count, err) \
    (((p) = pxi_calloc((size_t)(count), sizeof *(p))) ? PX_OK : pxi_no_memory(err))
#define PX_DUP(p, text, err) (((p) = pxi_strdup(text)) ? PX_OK : pxi_no_memory(err))
/* The same for room for `want` elements in an array that grows; on failure it stays as it is. */
#define PX_GROW(array, capacity, want, err) \
    (pxi_grow(&(array), &(capacity), want, sizeof *(array)) == 0 ? PX_OK : pxi_no_memory(err))

/* How what makes something ends: it is the caller's, or gone. A px_status. */
#define PX_GIVE(status, made, out, free_made) \
    ((status) == PX_OK ? (*(out) = (made), (status)) : (free_made(made), (status)))

/* What PX_E_NOMEM says: "out of memory", or "out of memory for WHAT", where WHAT has numbers or
 * tells what to do. */
px_status pxi_no_memory(px_error *err);
px_status pxi_no_memory_for(px_error *err, const char *what, ...) PX_PRINTF(2, 3);

/* These return NULL, and say nothing. */
void *pxi_calloc(size_t count, size_t size);
void *pxi_realloc(void *old, size_t count, size_t size);
void *pxi_alloc_aligned(size_t bytes); /* 64-byte aligned, not zeroed; at least one byte */
char *pxi_strdup(const char *text);

/* Grows *array (capacity *cap elements of `size` bytes) to hold at least `want`; amortised
 * doubling. Returns 0 on success, -1 when out of memory (the old array stays valid). */
int pxi_grow(void *array_pointer, size_t *cap, size_t want, size_t size);

#endif
