/* tests/faults/fault_calls.c - makes one system call fail, for programs that it is preloaded into
 *
 *     FAULT_CALL=pread FAULT_AT=12 FAULT_ERRNO=EIO LD_PRELOAD=libfault_calls.so plexor ...
 *
 * FAULT_ERRNO is EIO, ENOSPC, or SHORT: half of what was to be read or written; the other variables
 * are those of fault.h. Only regular files are counted where a descriptor is given: a terminal or a
 * pipe is none of the program's results.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SHORT = -1 };

static const char *fault_call;
static int fault_errno;

__attribute__((constructor(101))) static void calls_begin(void)
{
    const char *number = getenv("FAULT_ERRNO");
    fault_call = getenv("FAULT_CALL");
    fault_errno = number && strcmp(number, "ENOSPC") == 0  ? ENOSPC
                  : number && strcmp(number, "SHORT") == 0 ? SHORT
                                                           : EIO;
    fault_arm();
}

static bool fails(const char *call)
{
    return fault_call && strcmp(call, fault_call) == 0 && fault_is_due();
}

static int failed(void)
{
    errno = fault_errno == SHORT ? EIO : fault_errno;
    return -1;
}

static bool is_file(int fd)
{
    struct stat info;
    return syscall(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode);
}

static size_t half(size_t size)
{
    return size > 1 ? size / 2 : size;
}

#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* --- bytes ----------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(write);
    if (!is_file(fd) || !fails("write"))
        return real(fd, bytes, size);
    return fault_errno == SHORT ? real(fd, bytes, half(size)) : failed();
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    REAL(pwrite64);
    if (!fails("pwrite"))
        return real(fd, bytes, size, at);
    return fault_errno == SHORT ? real(fd, bytes, half(size), at) : failed();
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return pwrite64(fd, bytes, size, at);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    REAL(read);
    if (!is_file(fd) || !fails("read"))
        return real(fd, bytes, size);
    return fault_errno == SHORT ? real(fd, bytes, half(size)) : failed();
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    REAL(pread64);
    if (!fails("pread"))
        return real(fd, bytes, size, at);
    return fault_errno == SHORT ? real(fd, bytes, half(size), at) : failed();
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    return pread64(fd, bytes, size, at);
}

void *mmap64(void *place, size_t size, int protection, int flags, int fd, off64_t at)
{
    REAL(mmap64);
    if (fd < 0 || !fails("mmap"))
        return real(place, size, protection, flags, fd, at);
    errno = ENOMEM;
    return MAP_FAILED;
}

void *mmap(void *place, size_t size, int protection, int flags, int fd, off_t at)
{
    return mmap64(place, size, protection, flags, fd, at);
}

/* --- files ----------------------------------------------------------------------------------- */

int fsync(int fd)
{
    REAL(fsync);
    return fails("fsync") ? failed() : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return fails("fdatasync") ? failed() : real(fd);
}

int ftruncate64(int fd, off64_t size)
{
    REAL(ftruncate64);
    return fails("ftruncate") ? failed() : real(fd, size);
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

int close(int fd)
{
    REAL(close);
    if (!is_file(fd) || !fails("close"))
        return real(fd);
    real(fd); /* as the kernel does: the descriptor is gone in any case */
    return failed();
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return fails("rename") ? failed() : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir);
    return fails("mkdir") ? failed() : real(path, mode);
}

int unlink(const char *path)
{
    REAL(unlink);
    return fails("unlink") ? failed() : real(path);
}

int open64(const char *path, int flags, ...)
{
    REAL(open64);
    va_list args;
    va_start(args, flags);
    const mode_t mode = va_arg(args, mode_t); /* whatever it is, where there is none */
    va_end(args);
    return fails("open") ? failed() : real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = va_arg(args, mode_t);
    va_end(args);
    return open64(path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    REAL(openat64);
    va_list args;
    va_start(args, flags);
    const mode_t mode = va_arg(args, mode_t);
    va_end(args);
    return fails("open") ? failed() : real(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = va_arg(args, mode_t);
    va_end(args);
    return openat64(folder, path, flags, mode);
}
