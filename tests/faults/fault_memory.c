/* tests/faults/fault_memory.c - makes one allocation of plexor's own code fail
 *
 *     FAULT_AT=200 LD_PRELOAD=libfault_memory.so plexor ...
 *
 * Allocations are counted that are asked for by the program, libplexor and SQLite: those of other
 * libraries are not plexor's to survive. The variables are those of fault.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* dlsym() allocates; these names of glibc's do not need it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { CODE_MOST = 8 };

static struct { /* whose allocations count */
    struct {
        uintptr_t from, to;
    } code[CODE_MOST];
    int count;
} own;

static int note_code(struct dl_phdr_info *object, size_t size, void *context)
{
    bool *first = context; /* the program itself comes first */
    (void)size;
    const bool counts =
        *first || strstr(object->dlpi_name, "libplexor") || strstr(object->dlpi_name, "libsqlite");
    *first = false;
    for (int i = 0; counts && i < object->dlpi_phnum && own.count < CODE_MOST; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        const uintptr_t from = object->dlpi_addr + part->p_vaddr;
        own.code[own.count].from = from;
        own.code[own.count++].to = from + part->p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void memory_begin(void)
{
    bool first = true;
    dl_iterate_phdr(note_code, &first);
    fault_arm();
}

static bool fails(const void *caller)
{
    const uintptr_t from = (uintptr_t)caller;
    bool counts = false;
    for (int i = 0; i < own.count && !counts; i++)
        counts = from >= own.code[i].from && from < own.code[i].to;
    return counts && fault_is_due();
}

static void *nothing(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? nothing() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? nothing() : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return size && fails(__builtin_return_address(0)) ? nothing() : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? nothing() : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *got = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *out = got;
    return 0;
}

void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        (bytes && fails(__builtin_return_address(0))))
        return nothing();
    return __libc_realloc(old, bytes);
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = fails(__builtin_return_address(0)) ? nothing() : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
