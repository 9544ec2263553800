/* include/internal/bytes.h - random access to the bytes of a file, wherever they are
 *
 * A reader sees one thing whether the bytes lie in a file (read with pread, so that resident memory
 * does not grow with the file and many threads can read at once), in memory (an unpacked archive,
 * a fuzzer's input), or in a slice of either. `name` in all functions is what messages quote.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_BYTES_H
#define PXI_INTERNAL_BYTES_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

/* What decompression may make of one file or archive. */
#define PXI_UNPACK_MAX ((uint64_t)4 << 30)

typedef struct pxi_bytes { /* {0} is empty and valid */
    const uint8_t *data;   /* NULL: in the file */
    uint8_t *owned;        /* freed by pxi_bytes_done() */
    int fd;                /* with `in_file` only */
    bool in_file, owns_fd;
    uint64_t start, size;
} pxi_bytes;

/* Regular files only: a name from a manifest may be a device or a pipe that never ends. */
px_status pxi_bytes_open(pxi_bytes *out, const char *path, px_error *err);
/* The same for a path that is relative to an open folder. */
px_status pxi_bytes_open_at(pxi_bytes *out, int folder, const char *path, const char *name,
                            px_error *err);
pxi_bytes pxi_bytes_view(const void *data, size_t size);
/* A borrowed part; the range must lie inside. */
pxi_bytes pxi_bytes_slice(const pxi_bytes *bytes, uint64_t offset, uint64_t size);
/* Fails when the range is not inside or the file has shrunk. */
px_status pxi_bytes_read(const pxi_bytes *bytes, uint64_t offset, void *to, size_t size,
                         const char *name, px_error *err);
/* PX_E_INPUT where a file says that it is larger than what is accepted. */
px_status pxi_bytes_check_size(uint64_t size, uint64_t cap, const char *name, px_error *err);
/* Brings everything into memory; refuses more than `cap` bytes. */
px_status pxi_bytes_load(pxi_bytes *bytes, uint64_t cap, const char *name, px_error *err);
const uint8_t *pxi_bytes_data(const pxi_bytes *bytes); /* after pxi_bytes_load() */
/* Makes borrowed bytes independent of what they were borrowed from. */
px_status pxi_bytes_detach(pxi_bytes *bytes, const char *name, px_error *err);
/* The first bytes of what is in gzip data, or of anything else as it is; *got may be less than
 * `size`. Nothing else is unpacked. */
px_status pxi_bytes_peek(const pxi_bytes *bytes, uint8_t *to, size_t size, size_t *got,
                         const char *name, px_error *err);
/* The same of raw deflate data. */
px_status pxi_bytes_peek_deflated(const pxi_bytes *bytes, uint8_t *to, size_t size, size_t *got,
                                  const char *name, px_error *err);
/* Replaces gzip data by what is in it; leaves anything else alone. */
px_status pxi_bytes_gunzip(pxi_bytes *bytes, uint64_t cap, const char *name, px_error *err);
/* Raw deflate data that must unpack to exactly `size` bytes. */
px_status pxi_bytes_inflate(const pxi_bytes *bytes, uint64_t size, pxi_bytes *out, const char *name,
                            px_error *err);
void pxi_bytes_done(pxi_bytes *bytes);

#endif
