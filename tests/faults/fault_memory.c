/* tests/faults/fault_memory.c - makes one allocation of plexor's own code fail
 *
 *     FAULT_AT=200 LD_PRELOAD=libfault_memory.so plexor ...
 *
 * Allocations are counted that are asked for by the program, libplexor and SQLite: those of other
 * libraries are not plexor's to survive. FAULT_ONWARDS and FAULT_LOG as in fault_calls.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* dlsym() allocates; these names of glibc's do not need it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { CODE_MOST = 8 };

static struct {
    struct {
        uintptr_t from, to;
    } code[CODE_MOST]; /* whose allocations count */
    int code_count;
    const char *log;
    long at;
    bool onwards, armed;
    atomic_long count;
} fault;

static int note_code(struct dl_phdr_info *object, size_t size, void *context)
{
    bool *first = context; /* the program itself comes first */
    (void)size;
    const bool counts =
        *first || strstr(object->dlpi_name, "libplexor") || strstr(object->dlpi_name, "libsqlite");
    *first = false;
    for (int i = 0; counts && i < object->dlpi_phnum && fault.code_count < CODE_MOST; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        const uintptr_t from = object->dlpi_addr + part->p_vaddr;
        fault.code[fault.code_count].from = from;
        fault.code[fault.code_count++].to = from + part->p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void fault_begin(void)
{
    const char *at = getenv("FAULT_AT");
    bool first = true;
    fault.at = at ? atol(at) : 0;
    fault.onwards = getenv("FAULT_ONWARDS") != NULL;
    fault.log = getenv("FAULT_LOG");
    dl_iterate_phdr(note_code, &first);
    fault.armed = true;
}

__attribute__((destructor)) static void fault_end(void)
{
    char text[32];
    fault.armed = false;
    if (!fault.log)
        return;
    const int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&fault.count));
    const long fd =
        syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        syscall(SYS_write, fd, text, (size_t)size);
        syscall(SYS_close, fd);
    }
}

static bool fails(const void *caller)
{
    const uintptr_t from = (uintptr_t)caller;
    bool counts = false;
    for (int i = 0; fault.armed && i < fault.code_count; i++)
        counts = counts || (from >= fault.code[i].from && from < fault.code[i].to);
    if (!counts)
        return false;
    const long n = atomic_fetch_add(&fault.count, 1) + 1;
    return fault.at > 0 && (n == fault.at || (fault.onwards && n > fault.at));
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
