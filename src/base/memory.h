/* src/base/memory.h - overflow-checked allocation
 *
 *     float *row = pxi_calloc(n, sizeof *row);
 *
 * All return NULL when out of memory or when count * size overflows; free with free().
 */
#ifndef PXI_BASE_MEMORY_H
#define PXI_BASE_MEMORY_H

#include <stddef.h>

#define PX_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define PX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PX_MAX(a, b) ((a) > (b) ? (a) : (b))

void *pxi_calloc(size_t count, size_t size);
void *pxi_realloc(void *old, size_t count, size_t size);
void *pxi_alloc_aligned(size_t bytes); /* 64-byte aligned, not zeroed; at least one byte */
char *pxi_strdup(const char *text);

/* Grows *array (capacity *cap elements of `size` bytes) to hold at least `want`; amortised
 * doubling. Returns 0 on success, -1 when out of memory (the old array stays valid). */
int pxi_grow(void *array_pointer, size_t *cap, size_t want, size_t size);

#endif
