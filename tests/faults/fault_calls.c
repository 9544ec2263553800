/* tests/faults/fault_calls.c - makes one system call fail, for programs that it is preloaded into
 *
 *     FAULT_CALL=pread FAULT_AT=12 FAULT_ERRNO=EIO LD_PRELOAD=libfault_calls.so plexor ...
 *
 * The call with the number FAULT_AT fails (with FAULT_ONWARDS=1 all from there on too); FAULT_LOG
 * names a file that gets the number of calls. FAULT_ERRNO is EIO, ENOSPC, or SHORT: half of what
 * was to be read or written. Only regular files are counted where a descriptor is given: a terminal
 * or a pipe is none of the program's results.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHORT = -1 };

static struct {
    const char *call, *log;
    long at;
    int number;
    bool onwards;
    atomic_long count;
} fault;

__attribute__((constructor(101))) static void fault_begin(void)
{
    const char *at = getenv("FAULT_AT"), *number = getenv("FAULT_ERRNO");
    fault.call = getenv("FAULT_CALL");
    fault.log = getenv("FAULT_LOG");
    fault.at = at ? atol(at) : 0;
    fault.onwards = getenv("FAULT_ONWARDS") != NULL;
    fault.number = number && strcmp(number, "ENOSPC") == 0  ? ENOSPC
                   : number && strcmp(number, "SHORT") == 0 ? SHORT
                                                            : EIO;
}

/* By system calls: those of libc are being counted. */
__attribute__((destructor)) static void fault_end(void)
{
    char text[32];
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

static bool fails(const char *call)
{
    if (!fault.call || strcmp(call, fault.call) != 0)
        return false;
    const long n = atomic_fetch_add(&fault.count, 1) + 1;
    return fault.at > 0 && (n == fault.at || (fault.onwards && n > fault.at));
}

static int failed(void)
{
    errno = fault.number == SHORT ? EIO : fault.number;
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

/* --- bytes --------------------------------------------------------------------------------------
 */

ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(write);
    if (!is_file(fd) || !fails("write"))
        return real(fd, bytes, size);
    return fault.number == SHORT ? real(fd, bytes, half(size)) : failed();
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    REAL(pwrite64);
    if (!fails("pwrite"))
        return real(fd, bytes, size, at);
    return fault.number == SHORT ? real(fd, bytes, half(size), at) : failed();
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
    return fault.number == SHORT ? real(fd, bytes, half(size)) : failed();
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    REAL(pread64);
    if (!fails("pread"))
        return real(fd, bytes, size, at);
    return fault.number == SHORT ? real(fd, bytes, half(size), at) : failed();
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

/* --- files --------------------------------------------------------------------------------------
 */

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
