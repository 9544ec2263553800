/* src/data/bytes.c - random access to the bytes of a file, wherever they are */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/bytes.h>

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

px_status pxi_bytes_open_at(pxi_bytes *out, int folder, const char *path, const char *name,
                            px_error *err)
{
    /* O_NONBLOCK: opening a pipe must not wait for a writer. */
    const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return px_fail(err, pxi_errno_status(errno), "'%s': cannot be opened: %s", name,
                       strerror(errno));
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return px_fail(err, PX_E_INPUT, "'%s': not a regular file", name);
    }
    *out = (pxi_bytes){.fd = fd, .in_file = true, .owns_fd = true, .size = (uint64_t)info.st_size};
    return PX_OK;
}

px_status pxi_bytes_open(pxi_bytes *out, const char *path, px_error *err)
{
    return pxi_bytes_open_at(out, AT_FDCWD, path, path, err);
}

pxi_bytes pxi_bytes_view(const void *data, size_t size)
{
    return (pxi_bytes){.data = data, .size = size};
}

pxi_bytes pxi_bytes_slice(const pxi_bytes *bytes, uint64_t offset, uint64_t size)
{
    assert(offset <= bytes->size && size <= bytes->size - offset);
    pxi_bytes part = *bytes;
    part.owned = NULL;
    part.owns_fd = false;
    part.start += offset;
    part.size = size;
    return part;
}

px_status pxi_bytes_read(const pxi_bytes *bytes, uint64_t offset, void *to, size_t size,
                         const char *name, px_error *err)
{
    if (offset > bytes->size || size > bytes->size - offset)
        return px_fail(err, PX_E_INPUT, "'%s': truncated: bytes %llu to %llu of %llu are missing",
                       name, (unsigned long long)offset, (unsigned long long)(offset + size),
                       (unsigned long long)bytes->size);
    if (size == 0)
        return PX_OK;
    if (!bytes->in_file) {
        memcpy(to, bytes->data + bytes->start + offset, size);
        return PX_OK;
    }
    uint8_t *at = to;
    uint64_t place = bytes->start + offset;
    while (size) {
        const ssize_t got = pread(bytes->fd, at, size, (off_t)place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return px_fail(err, PX_E_IO, "'%s': cannot be read: %s", name, strerror(errno));
        if (got == 0)
            return px_fail(err, PX_E_INPUT, "'%s': became shorter while it was read", name);
        at += got;
        place += (uint64_t)got;
        size -= (size_t)got;
    }
    return PX_OK;
}

static void bytes_replace(pxi_bytes *bytes, uint8_t *owned, uint64_t size)
{
    pxi_bytes_done(bytes);
    *bytes = (pxi_bytes){.data = owned, .owned = owned, .size = size};
}

px_status pxi_bytes_check_size(uint64_t size, uint64_t cap, const char *name, px_error *err)
{
    if (size > cap)
        return px_fail(err, PX_E_INPUT, "'%s': %llu bytes, more than the %llu that are accepted",
                       name, (unsigned long long)size, (unsigned long long)cap);
    return PX_OK;
}

px_status pxi_bytes_load(pxi_bytes *bytes, uint64_t cap, const char *name, px_error *err)
{
    PX_TRY(pxi_bytes_check_size(bytes->size, cap, name, err));
    if (!bytes->in_file)
        return PX_OK;
    uint8_t *memory = pxi_calloc((size_t)bytes->size, 1);
    if (!memory)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", name);
    const px_status status = pxi_bytes_read(bytes, 0, memory, (size_t)bytes->size, name, err);
    if (status != PX_OK) {
        free(memory);
        return status;
    }
    bytes_replace(bytes, memory, bytes->size);
    return PX_OK;
}

const uint8_t *pxi_bytes_data(const pxi_bytes *bytes)
{
    assert(!bytes->in_file);
    return bytes->data + bytes->start;
}

px_status pxi_bytes_detach(pxi_bytes *bytes, const char *name, px_error *err)
{
    if (bytes->in_file && !bytes->owns_fd) {
        const int fd = fcntl(bytes->fd, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return px_fail(err, PX_E_IO, "'%s': %s", name, strerror(errno));
        bytes->fd = fd;
        bytes->owns_fd = true;
    } else if (!bytes->in_file && !bytes->owned) {
        uint8_t *copy = pxi_calloc((size_t)bytes->size, 1);
        if (!copy)
            return px_fail_in(err, pxi_no_memory(err), "'%s'", name);
        if (bytes->size)
            memcpy(copy, pxi_bytes_data(bytes), (size_t)bytes->size);
        bytes_replace(bytes, copy, bytes->size);
    }
    return PX_OK;
}

/* --- decompression --------------------------------------------------------------------------- */

typedef struct bytes_feed { /* hands a pxi_bytes to zlib piece by piece */
    const pxi_bytes *bytes;
    const char *name;
    uint64_t offset;
    uint8_t buffer[1 << 16];
} bytes_feed;

static px_status feed_more(bytes_feed *feed, z_stream *stream, px_error *err)
{
    const size_t size =
        (size_t)PX_MIN(feed->bytes->size - feed->offset, (uint64_t)sizeof feed->buffer);
    PX_TRY(pxi_bytes_read(feed->bytes, feed->offset, feed->buffer, size, feed->name, err));
    feed->offset += size;
    stream->next_in = feed->buffer;
    stream->avail_in = (uInt)size;
    return PX_OK;
}

static px_status inflate_fail(const bytes_feed *feed, int code, px_error *err)
{
    if (code == Z_MEM_ERROR)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", feed->name);
    return px_fail(err, PX_E_INPUT, "'%s': the compressed data is damaged", feed->name);
}

/* True when another gzip member follows; skips the zero padding that tape tools leave. */
static bool feed_has_member(z_stream *stream)
{
    while (stream->avail_in && *stream->next_in == 0) {
        stream->next_in++;
        stream->avail_in--;
    }
    return stream->avail_in != 0;
}

/* Inflates all of `feed` into new memory of at first `guess` bytes. One byte more than `cap` is
 * made room for, so that too much is told from just enough. */
static px_status bytes_unpack(bytes_feed *feed, int window_bits, uint64_t guess, uint64_t cap,
                              uint8_t **memory, uint64_t *size, px_error *err)
{
    z_stream stream = {0};
    uint64_t room = 0, used = 0, want = guess + 1;
    uint8_t *out = NULL;
    px_status status = PX_OK;
    int code = inflateInit2(&stream, window_bits);
    if (code != Z_OK)
        return inflate_fail(feed, code, err);
    for (;;) {
        if (used == room) {
            uint8_t *grown = pxi_realloc(out, (size_t)want, 1);
            if (!grown) {
                status = px_fail_in(err, pxi_no_memory(err), "'%s'", feed->name);
                goto done;
            }
            out = grown;
            room = want;
            want = PX_MIN(room * 2, cap + 1);
        }
        if (stream.avail_in == 0 && (status = feed_more(feed, &stream, err)) != PX_OK)
            goto done;
        stream.next_out = out + used;
        stream.avail_out = (uInt)PX_MIN(room - used, (uint64_t)1 << 30);
        code = inflate(&stream, Z_NO_FLUSH);
        used = (uint64_t)(stream.next_out - out);
        if (used > cap) {
            status = px_fail(err, PX_E_INPUT, "'%s': unpacks to more than %llu bytes", feed->name,
                             (unsigned long long)cap);
            goto done;
        }
        if (code == Z_STREAM_END) {
            if (stream.avail_in == 0 && (status = feed_more(feed, &stream, err)) != PX_OK)
                goto done;
            if (window_bits < 0 || !feed_has_member(&stream))
                break;
            inflateReset(&stream);
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            status = inflate_fail(feed, code, err);
            goto done;
        } else if (stream.avail_out != 0 && stream.avail_in == 0 &&
                   feed->offset == feed->bytes->size) {
            status = px_fail(err, PX_E_INPUT, "'%s': truncated: the compressed data ends early",
                             feed->name);
            goto done;
        }
    }
    *memory = out;
    *size = used;
    out = NULL;
done:
    free(out);
    inflateEnd(&stream);
    return status;
}

static px_status bytes_is_gzip(const pxi_bytes *bytes, bool *out, const char *name, px_error *err)
{
    uint8_t magic[2] = {0};
    *out = false;
    if (bytes->size < 18)
        return PX_OK;
    PX_TRY(pxi_bytes_read(bytes, 0, magic, sizeof magic, name, err));
    *out = magic[0] == 0x1f && magic[1] == 0x8b;
    return PX_OK;
}

static px_status bytes_peek_packed(const pxi_bytes *bytes, int window_bits, uint8_t *to,
                                   size_t size, size_t *got, const char *name, px_error *err)
{
    z_stream stream = {.next_out = to, .avail_out = (uInt)size};
    bytes_feed *feed = NULL;
    PX_TRY(PX_NEW(feed, 1, err));
    feed->bytes = bytes;
    feed->name = name;
    int code = inflateInit2(&stream, window_bits);
    px_status status = code == Z_OK ? PX_OK : inflate_fail(feed, code, err);
    while (status == PX_OK && code == Z_OK && stream.avail_out) {
        if (stream.avail_in == 0 && feed->offset == bytes->size)
            break; /* ends early: whoever unpacks all of it says so */
        if (stream.avail_in == 0)
            status = feed_more(feed, &stream, err);
        if (status == PX_OK)
            code = inflate(&stream, Z_NO_FLUSH);
    }
    PX_THEN_IF(status, code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR,
               inflate_fail(feed, code, err));
    *got = size - stream.avail_out;
    inflateEnd(&stream);
    free(feed);
    return status;
}

px_status pxi_bytes_peek(const pxi_bytes *bytes, uint8_t *to, size_t size, size_t *got,
                         const char *name, px_error *err)
{
    bool packed = false;
    PX_TRY(bytes_is_gzip(bytes, &packed, name, err));
    if (packed)
        return bytes_peek_packed(bytes, 15 + 16, to, size, got, name, err);
    *got = (size_t)PX_MIN(bytes->size, (uint64_t)size);
    return pxi_bytes_read(bytes, 0, to, *got, name, err);
}

px_status pxi_bytes_peek_deflated(const pxi_bytes *bytes, uint8_t *to, size_t size, size_t *got,
                                  const char *name, px_error *err)
{
    return bytes_peek_packed(bytes, -15, to, size, got, name, err);
}

px_status pxi_bytes_gunzip(pxi_bytes *bytes, uint64_t cap, const char *name, px_error *err)
{
    uint8_t tail[4] = {0};
    bool packed = false;
    PX_TRY(bytes_is_gzip(bytes, &packed, name, err));
    if (!packed)
        return PX_OK;
    PX_TRY(pxi_bytes_read(bytes, bytes->size - 4, tail, sizeof tail, name, err));
    /* The trailer says how much will come out: believed as far as deflate could do it. */
    uint64_t guess =
        tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
    if (guess > bytes->size * 1032 || guess > cap)
        guess = PX_MIN(bytes->size * 2, cap);
    bytes_feed *feed = NULL;
    PX_TRY(PX_NEW(feed, 1, err));
    feed->bytes = bytes;
    feed->name = name;
    uint8_t *memory = NULL;
    uint64_t size = 0;
    const px_status status = bytes_unpack(feed, 15 + 16, guess, cap, &memory, &size, err);
    free(feed);
    if (status == PX_OK)
        bytes_replace(bytes, memory, size);
    return status;
}

px_status pxi_bytes_inflate(const pxi_bytes *bytes, uint64_t size, pxi_bytes *out, const char *name,
                            px_error *err)
{
    if (size / 1032 > bytes->size || size > PXI_UNPACK_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': %llu compressed bytes cannot hold %llu", name,
                       (unsigned long long)bytes->size, (unsigned long long)size);
    bytes_feed *feed = NULL;
    PX_TRY(PX_NEW(feed, 1, err));
    feed->bytes = bytes;
    feed->name = name;
    uint8_t *memory = NULL;
    uint64_t made = 0;
    px_status status = bytes_unpack(feed, -15, size, size, &memory, &made, err);
    free(feed);
    if (status == PX_OK && made != size) {
        status = px_fail(err, PX_E_INPUT, "'%s': unpacks to %llu bytes instead of %llu", name,
                         (unsigned long long)made, (unsigned long long)size);
        free(memory);
    } else if (status == PX_OK) {
        *out = (pxi_bytes){.data = memory, .owned = memory, .size = made};
    }
    return status;
}

void pxi_bytes_done(pxi_bytes *bytes)
{
    if (!bytes)
        return;
    free(bytes->owned);
    if (bytes->in_file && bytes->owns_fd)
        close(bytes->fd);
    *bytes = (pxi_bytes){0};
}
