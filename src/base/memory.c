/* src/base/memory.c - overflow-checked allocation */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

px_status pxi_no_memory_for(px_error *err, const char *what, ...)
{
    px_error reason = {0};
    va_list args;
    va_start(args, what);
    vsnprintf(reason.message, sizeof reason.message, what, args);
    va_end(args);
    return px_fail(err, PX_E_NOMEM, "out of memory%s%s", reason.message[0] ? " for " : "",
                   reason.message);
}

px_status pxi_no_memory(px_error *err)
{
    return pxi_no_memory_for(err, "%s", "");
}

void *pxi_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *pxi_realloc(void *old, size_t count, size_t size)
{
    return reallocarray(old, count ? count : 1, size ? size : 1);
}

void *pxi_alloc_aligned(size_t bytes)
{
    if (bytes > SIZE_MAX - 64)
        return NULL;
    const size_t rounded = bytes ? (bytes + 63) / 64 * 64 : 64, huge = (size_t)2 << 20;
    if (bytes < huge)
        return aligned_alloc(64, rounded);
    void *made = aligned_alloc(huge, rounded);
#ifdef MADV_HUGEPAGE
    if (made) /* networks stride through megabytes: fewer places to look addresses up in */
        madvise(made, rounded / huge * huge, MADV_HUGEPAGE);
#endif
    return made;
}

char *pxi_strdup(const char *text)
{
    const size_t length = strlen(text) + 1;
    char *copy = malloc(length);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

int pxi_grow(void *array_pointer, size_t *cap, size_t want, size_t size)
{
    if (want <= *cap)
        return 0;
    size_t next = *cap ? *cap : 16;
    while (next < want)
        next = next > SIZE_MAX / 2 ? want : next * 2;
    void *old;
    memcpy(&old, array_pointer, sizeof old);
    void *grown = pxi_realloc(old, next, size);
    if (!grown)
        return -1;
    memcpy(array_pointer, &grown, sizeof grown);
    *cap = next;
    return 0;
}
