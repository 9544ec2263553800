/* src/base/file.c - files read whole, and files that appear whole or not at all */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/folder_mark.h"
#include "base/mem_names.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <internal/folder.h>
#include <internal/ranks.h>
#include <plexor/text.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

px_status pxi_errno_status(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY:
    case ENAMETOOLONG:
    case ELOOP:
    case EPERM:
    case EROFS:
        return PX_E_INPUT;
    case ENOMEM:
        return PX_E_NOMEM;
    default:
        return PX_E_IO;
    }
}

px_status pxi_file_fail(px_error *err, const char *path, const char *what)
{
    const int number = errno;
    return px_fail(err, pxi_errno_status(number), "'%s': cannot %s: %s", path, what,
                   strerror(number));
}

/* Pipes have no size, so the buffer grows with what comes. */
static px_status file_drain(int fd, const char *path, size_t cap, size_t expected, char **out,
                            size_t *size, px_error *err)
{
    char *bytes = NULL;
    size_t used = 0, room = 0;
    px_status status = PX_OK;
    if (pxi_grow(&bytes, &room, PX_MIN(expected, cap) + 1, 1) != 0)
        goto nomem;
    for (;;) {
        if (used + 1 >= room && pxi_grow(&bytes, &room, used + 65536, 1) != 0)
            goto nomem;
        const ssize_t got = read(fd, bytes + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = pxi_file_fail(err, path, "read");
            goto done;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > cap) {
            status =
                px_fail(err, PX_E_INPUT, "'%s': larger than the limit of %zu bytes", path, cap);
            goto done;
        }
    }
    bytes[used] = '\0';
    *out = bytes;
    *size = used;
    return PX_OK;
nomem:
    status = px_fail_in(err, pxi_no_memory(err), "'%s'", path);
done:
    free(bytes);
    return status;
}

px_status pxi_file_read(const char *path, size_t cap, char **out, size_t *size, px_error *err)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pxi_file_fail(err, path, "open");
    px_status status = PX_OK;
    if (fstat(fd, &info) != 0)
        status = pxi_file_fail(err, path, "read");
    else if (S_ISDIR(info.st_mode))
        status = px_fail(err, PX_E_INPUT, "'%s': is a folder, a file was expected", path);
    else if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > cap)
        status = px_fail(err, PX_E_INPUT, "'%s': has %jd bytes, the limit is %zu", path,
                         (intmax_t)info.st_size, cap);
    else
        status = file_drain(fd, path, cap, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0, out,
                            size, err);
    close(fd);
    return status;
}

/* Opens a fresh file beside `path`. The name tells processes and writers of one process apart. */
static int file_open_temp(const char *path, char **temp)
{
    static atomic_uint serial;
    for (int attempt = 0; attempt < 100; attempt++) {
        px_text name = {0};
        px_text_format(&name, "%s.tmp-%ld-%u", path, (long)getpid(), atomic_fetch_add(&serial, 1));
        char *made = px_text_take(&name);
        if (!made) {
            errno = ENOMEM;
            return -1;
        }
        const int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *temp = made;
            return fd;
        }
        free(made);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* What is under the stream. stdio drops the number of a failed write: whoever looks at the end
 * would not know a full disk from a broken one. */
struct pxi_file_sink {
    int fd;
    int number;   /* errno of the first write that failed; 0: none did */
    off_t place;  /* where there is no file: of a rank that writes none */
    char *memory; /* of a file that is given to somebody, not written */
    size_t memory_size;
    char buffer[1 << 16];
};

static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
    pxi_file_sink *sink = cookie;
    if (sink->fd < 0) {
        sink->place += (off_t)size;
        return (ssize_t)size;
    }
    for (size_t done = 0; done < size;) {
        const ssize_t put = write(sink->fd, bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            if (sink->number == 0)
                sink->number = put < 0 ? errno : EIO;
            return 0; /* as fopencookie() wants it */
        }
        done += (size_t)put;
    }
    return (ssize_t)size;
}

static int sink_seek(void *cookie, off64_t *offset, int whence)
{
    pxi_file_sink *sink = cookie;
    if (sink->fd < 0)
        *offset = sink->place = whence == SEEK_SET ? *offset : sink->place + *offset;
    else
        *offset = lseek(sink->fd, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int sink_close(void *cookie)
{
    pxi_file_sink *sink = cookie;
    const int failed = sink->fd < 0 ? 0 : close(sink->fd);
    if (failed && sink->number == 0)
        sink->number = errno;
    return failed;
}

static FILE *sink_open(int fd, pxi_file_sink **out)
{
    const cookie_io_functions_t calls = {
        .write = sink_write, .seek = sink_seek, .close = sink_close};
    pxi_file_sink *sink = pxi_calloc(1, sizeof *sink);
    FILE *stream = NULL;
    errno = ENOMEM;
    if (sink) {
        sink->fd = fd;
        stream = fopencookie(sink, "wb", calls);
    }
    if (!stream) {
        free(sink);
        return NULL;
    }
    setvbuf(stream, sink->buffer, _IOFBF, sizeof sink->buffer);
    *out = sink;
    return stream;
}

px_status pxi_file_create_bytes(const char *name, px_file_writer *out, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(PX_NEW(writer.sink, 1, err));
    px_status status = PX_DUP(writer.path, name, err);
    if (status == PX_OK &&
        !(writer.stream = open_memstream(&writer.sink->memory, &writer.sink->memory_size)))
        status = pxi_no_memory(err);
    if (status == PX_OK)
        *out = writer;
    else
        pxi_file_abandon(&writer);
    return status;
}

px_status pxi_file_take(px_file_writer *writer, char **bytes, size_t *size, px_error *err)
{
    px_status status = fclose(writer->stream) == 0 ? PX_OK : pxi_no_memory(err);
    writer->stream = NULL;
    if (status == PX_OK) {
        *bytes = writer->sink->memory;
        *size = writer->sink->memory_size;
        writer->sink->memory = NULL;
    }
    pxi_file_abandon(writer);
    return status;
}

/* A name like any other, but nobody has it: "mem:NAME". */
static px_status file_give(px_file_writer *writer, px_error *err)
{
    char *name = NULL, *bytes = NULL;
    size_t size = 0;
    px_status status = PX_DUP(name, writer->path, err);
    if (status == PX_OK)
        status = pxi_file_take(writer, &bytes, &size, err);
    else
        pxi_file_abandon(writer);
    if (status == PX_OK) {
        px_tensor tensor = {
            .dtype = PX_UINT8, .shape = {.rank = 1, .dim = {(int64_t)size}}, .data = bytes};
        status = pxi_mem_give(name, "", &tensor, err);
    }
    free(name);
    return status;
}

/* The first rank looks at the name, and says for all what is wrong with it. */
static px_status file_create_mute(const char *path, px_file_writer *out, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(PX_DUP(writer.path, path, err));
    if (!(writer.stream = sink_open(-1, &writer.sink))) {
        pxi_file_abandon(&writer);
        return pxi_no_memory(err);
    }
    *out = writer;
    return PX_OK;
}

px_status pxi_file_create(const char *path, px_file_writer *out, px_error *err)
{
    if (pxi_mem_is_name(path)) {
        PX_TRY(pxi_mem_check(path, err));
        return pxi_file_create_bytes(path, out, err);
    }
    const bool meets = pxi_ranks_together() && !pxi_folder_is_making(path);
    if (pxi_ranks_mute()) {
        PX_TRY(file_create_mute(path, out, err));
        out->meets = meets;
        return PX_OK;
    }
    px_file_writer writer = {.meets = meets};
    struct stat info;
    int fd = -1;
    const bool link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    if (link && pxi_mark_is_own(path))
        return px_fail(err, PX_E_INPUT,
                       "'%.200s': is a symbolic link, and plexor does not write through links in "
                       "its folders; remove it",
                       path);
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return px_fail(err, PX_E_INPUT, "'%s': is a folder, give the name of a file", path);
    if (*path == '\0')
        return px_fail(err, PX_E_USAGE, "the name of the file to write is empty");
    errno = ENOMEM; /* pxi_strdup() says nothing */
    writer.path = exists ? realpath(path, NULL) : pxi_strdup(path);
    if (!writer.path)
        return pxi_file_fail(err, path, "write");
    if (exists && !S_ISREG(info.st_mode)) { /* /dev/null, a pipe: nothing to rename */
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        fd = file_open_temp(writer.path, &writer.temp);
        if (fd >= 0 && exists)
            (void)fchmod(fd, info.st_mode & 07777); /* as it was; if not allowed, the default */
    }
    writer.stream = fd >= 0 ? sink_open(fd, &writer.sink) : NULL;
    if (!writer.stream) {
        const px_status status = pxi_file_fail(err, path, "write");
        if (fd >= 0)
            close(fd);
        pxi_file_abandon(&writer);
        return status;
    }
    *out = writer;
    return PX_OK;
}

px_status pxi_file_commit(px_file_writer *writer, px_error *err)
{
    if (pxi_mem_is_name(writer->path))
        return file_give(writer, err);
    const bool meets = writer->meets && pxi_ranks_together();
    px_status status = PX_OK;
    if (meets)
        status = pxi_ranks_agree("a file that is written", 0, err);
    if (status != PX_OK) {
        pxi_file_abandon(writer);
        return status;
    }
    int number = 0;
    errno = 0;
    bool good = fflush(writer->stream) == 0 && !ferror(writer->stream);
    if (good && writer->temp)
        good = fsync(writer->sink->fd) == 0;
    number = errno;
    if (fclose(writer->stream) != 0)
        good = false;
    writer->stream = NULL;
    if (writer->sink->number)
        number = writer->sink->number; /* the first that failed, and why */
    if (good && writer->temp) {
        good = rename(writer->temp, writer->path) == 0;
        number = errno;
    }
    if (!good) {
        errno = number ? number : EIO;
        status = px_fail(err, PX_E_IO, "'%s': cannot write: %s", writer->path, strerror(errno));
    } else {
        free(writer->temp); /* it is not there any more under this name */
        writer->temp = NULL;
    }
    pxi_file_abandon(writer);
    /* Others may read it from now on. */
    return meets ? pxi_ranks_meet("a file that was written", 0, status, 0, err) : status;
}

void pxi_file_abandon(px_file_writer *writer)
{
    if (!writer)
        return;
    if (writer->stream)
        fclose(writer->stream);
    if (writer->temp)
        unlink(writer->temp);
    if (writer->sink)
        free(writer->sink->memory);
    free(writer->sink);
    free(writer->temp);
    free(writer->path);
    *writer = (px_file_writer){0};
}

px_status pxi_file_write(const char *path, const void *bytes, size_t size, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    fwrite(bytes, 1, size, writer.stream);
    return pxi_file_commit(&writer, err);
}

bool pxi_has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && strcasecmp(path + length - n, suffix) == 0;
}

const char *pxi_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
