/* src/data/tar_members.c - where the members of a tar file lie, without unpacking it
 *
 * IEEE Std 1003.1-2001, pax: "ustar Interchange Format" and "pax Extended Header". Whatever is
 * not a regular file is stepped over.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/tar_members.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char not_tar[] = "not an uncompressed tar file";

enum { TAR_BLOCK = 512, TAR_EXTENDED_MAX = 1 << 20, TAR_PATH_MAX = 4096 };

typedef struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], changed[12], checksum[8], type, link[100],
        magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
} tar_header;

void pxi_tar_begin(pxi_tar *tar, const pxi_bytes *bytes, const char *name)
{
    memset(tar, 0, offsetof(pxi_tar, window));
    tar->bytes = bytes;
    tar->name = name;
}

void pxi_tar_end(pxi_tar *tar)
{
    px_text_done(&tar->path);
}

static px_status tar_damaged(const pxi_tar *tar, const char *what, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%.300s': damaged at byte %llu: %s", tar->name,
                   (unsigned long long)tar->at, what);
}

static px_status tar_read(pxi_tar *tar, uint64_t at, void *to, size_t size, px_error *err)
{
    if (at < tar->window_at || at + size > tar->window_at + tar->window_size) {
        const uint64_t left = tar->bytes->size - at;
        if (size > sizeof tar->window || size > left)
            return pxi_bytes_read(tar->bytes, at, to, size, tar->name, err);
        tar->window_size = 0;
        const size_t more = (size_t)PX_MIN(left, (uint64_t)sizeof tar->window);
        PX_TRY(pxi_bytes_read(tar->bytes, at, tar->window, more, tar->name, err));
        tar->window_at = at;
        tar->window_size = more;
    }
    memcpy(to, tar->window + (at - tar->window_at), size);
    return PX_OK;
}

/* Octal digits with blanks before and a blank or NUL behind, or, with the highest bit set, big
 * endian. */
static bool tar_number(const char *field, size_t size, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    if ((uint8_t)field[0] == 0x80) {
        for (i = 1; i < size; i++) {
            if (*out >> 55)
                return false;
            *out = *out << 8 | (uint8_t)field[i];
        }
        return true;
    }
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *out = *out << 3 | (uint64_t)(field[i] - '0'); /* at most 12 digits */
    return i == size || field[i] == ' ' || field[i] == '\0';
}

/* The sum of all bytes with the checksum itself as blanks; some programs took chars as signed. */
static bool tar_checksum_holds(const tar_header *header)
{
    const uint8_t *bytes = (const uint8_t *)header;
    const size_t from = offsetof(tar_header, checksum), to = from + sizeof header->checksum;
    uint64_t stated;
    int64_t plain = 0, with_sign = 0;
    for (size_t i = 0; i < sizeof *header; i++) {
        const uint8_t byte = i >= from && i < to ? ' ' : bytes[i];
        plain += byte;
        with_sign += (int8_t)byte;
    }
    return tar_number(header->checksum, sizeof header->checksum, &stated) &&
           ((int64_t)stated == plain || (int64_t)stated == with_sign);
}

static bool tar_is_zero(const tar_header *header)
{
    const char *bytes = (const char *)header;
    for (size_t i = 0; i < sizeof *header; i++)
        if (bytes[i])
            return false;
    return true;
}

/* "LENGTH key=value\n", again and again. */
static px_status tar_extended(pxi_tar *tar, char *text, size_t size, px_error *err)
{
    for (char *at = text, *end = text + size; at < end;) {
        char *blank = NULL;
        const unsigned long length = *at >= '1' && *at <= '9' ? strtoul(at, &blank, 10) : 0;
        if (length == 0 || length > (size_t)(end - at) || *blank != ' ' ||
            (size_t)(blank - at) + 2 > length || at[length - 1] != '\n')
            return tar_damaged(tar, "an extended header cannot be read", err);
        char *key = blank + 1, *equals = memchr(key, '=', (size_t)(at + length - 1 - key));
        if (!equals)
            return tar_damaged(tar, "an extended header cannot be read", err);
        char *value = equals + 1;
        const size_t value_size = (size_t)(at + length - 1 - value);
        *equals = at[length - 1] = '\0';
        if (strcmp(key, "path") == 0) {
            if (value_size == 0 || value_size >= TAR_PATH_MAX || memchr(value, 0, value_size))
                return tar_damaged(tar, "a name cannot be read", err);
            px_text_clear(&tar->path);
            px_text_add_bytes(&tar->path, value, value_size);
            tar->has_path = true;
        } else if (strcmp(key, "size") == 0) {
            char *rest = NULL;
            tar->size = *value >= '0' && *value <= '9' ? strtoull(value, &rest, 10) : 0;
            if (!rest || *rest)
                return tar_damaged(tar, "a size cannot be read", err);
            tar->has_size = true;
        } else if (strncmp(key, "GNU.sparse.", 11) == 0) {
            return px_fail(err, PX_E_UNSUPPORTED, "'%.300s': has members with holes; pack it anew",
                           tar->name);
        }
        at += length;
    }
    return px_text_failed(&tar->path) ? pxi_no_memory(err) : PX_OK;
}

/* A header that is about the member behind it. */
static px_status tar_before(pxi_tar *tar, char type, uint64_t place, uint64_t size, px_error *err)
{
    if (type != 'x' && type != 'L')
        return PX_OK; /* a long link, or what holds for all members: no names and no sizes */
    if (size > TAR_EXTENDED_MAX)
        return tar_damaged(tar, "an extended header is too long", err);
    char *text = NULL;
    PX_TRY(PX_NEW(text, size + 1, err));
    px_status status = tar_read(tar, place, text, (size_t)size, err);
    if (status == PX_OK && type == 'x') {
        status = tar_extended(tar, text, (size_t)size, err);
    } else if (status == PX_OK) {
        px_text_clear(&tar->path);
        px_text_add(&tar->path, text);
        tar->has_path = *text != '\0';
        status = px_text_failed(&tar->path)         ? pxi_no_memory(err)
                 : tar->path.length >= TAR_PATH_MAX ? tar_damaged(tar, "a name is too long", err)
                                                    : PX_OK;
    }
    free(text);
    return status;
}

static px_status tar_plain_path(pxi_tar *tar, const tar_header *header, px_error *err)
{
    px_text_clear(&tar->path);
    if (memcmp(header->magic, "ustar", 6) == 0 && header->prefix[0]) {
        px_text_add_bytes(&tar->path, header->prefix,
                          strnlen(header->prefix, sizeof header->prefix));
        px_text_add(&tar->path, "/");
    }
    px_text_add_bytes(&tar->path, header->name, strnlen(header->name, sizeof header->name));
    return px_text_failed(&tar->path) ? pxi_no_memory(err) : PX_OK;
}

px_status pxi_tar_next(pxi_tar *tar, pxi_tar_member *out, px_error *err)
{
    tar_header header;
    uint64_t size;
    tar->has_path = tar->has_size = false;
    *out = (pxi_tar_member){0};
    for (;;) {
        const uint64_t left = tar->bytes->size - tar->at;
        if (left == 0 && tar->at > 0)
            return PX_OK; /* without its end mark, as some writers leave it */
        if (left < sizeof header)
            return tar_damaged(tar, tar->at ? "a header is cut off" : not_tar, err);
        PX_TRY(tar_read(tar, tar->at, &header, sizeof header, err));
        if (tar_is_zero(&header))
            return PX_OK;
        if (!tar_checksum_holds(&header))
            return tar_damaged(tar, tar->at ? "no header is here" : not_tar, err);
        if (!tar_number(header.size, sizeof header.size, &size))
            return tar_damaged(tar, "a size cannot be read", err);
        const char type = header.type;
        const bool about_next = type == 'x' || type == 'L' || type == 'g' || type == 'K';
        if (tar->has_size && !about_next)
            size = tar->size;
        if (type >= '1' && type <= '6')
            size = 0; /* links, devices and folders have no bytes */
        if (type == 'S')
            return px_fail(err, PX_E_UNSUPPORTED, "'%.300s': has members with holes; pack it anew",
                           tar->name);
        const uint64_t place = tar->at + sizeof header, room = left - sizeof header;
        if (size > room || (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK > room - size)
            return tar_damaged(tar, "a member is cut off", err);
        if (about_next)
            PX_TRY(tar_before(tar, type, place, size, err));
        tar->at = place + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        if (about_next)
            continue;
        if (type == '0' || type == '\0' || type == '7') {
            if (!tar->has_path)
                PX_TRY(tar_plain_path(tar, &header, err));
            *out = (pxi_tar_member){px_text_get(&tar->path), place, size};
            return PX_OK;
        }
        tar->has_path = tar->has_size = false;
    }
}
