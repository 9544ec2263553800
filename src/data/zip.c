/* src/data/zip.c - .zip files read in place (PKWARE APPNOTE 6.3.10: sections 4.3.7, 4.3.12
 * - 4.3.16)
 *
 * The central directory at the end of the file is believed, as Python's zipfile does; the local
 * header of a member only tells where its bytes begin.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/zip.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/npy.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_LOCAL = 30, ZIP_CENTRAL = 46, ZIP_END = 22 };
#define ZIP_DIRECTORY_MAX ((uint64_t)1 << 31)

static uint64_t little(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static px_status zip_damaged(const char *name, const char *what, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s': not a usable .zip file: %s", name, what);
}

typedef struct zip_directory {
    uint64_t count, size, offset;
} zip_directory;

static px_status zip_directory64(const pxi_bytes *zip, const char *name, uint64_t end,
                                 zip_directory *out, px_error *err)
{
    uint8_t locator[20], record[56];
    if (end < sizeof locator)
        return zip_damaged(name, "the zip64 locator is missing", err);
    PX_TRY(pxi_bytes_read(zip, end - sizeof locator, locator, sizeof locator, name, err));
    const uint64_t place = little(locator + 8, 8);
    if (little(locator, 4) != 0x07064b50 || zip->size < sizeof record ||
        place > zip->size - sizeof record)
        return zip_damaged(name, "the zip64 locator is damaged", err);
    PX_TRY(pxi_bytes_read(zip, place, record, sizeof record, name, err));
    if (little(record, 4) != 0x06064b50)
        return zip_damaged(name, "the zip64 record is damaged", err);
    *out = (zip_directory){little(record + 32, 8), little(record + 40, 8), little(record + 48, 8)};
    return PX_OK;
}

static px_status zip_find_directory(const pxi_bytes *zip, const char *name, zip_directory *out,
                                    px_error *err)
{
    const size_t size = (size_t)PX_MIN(zip->size, (uint64_t)(ZIP_END + 65535));
    if (size < ZIP_END)
        return zip_damaged(name, "it is too short", err);
    uint8_t *tail = pxi_calloc(size, 1);
    if (!tail)
        return pxi_no_memory(err);
    px_status status = pxi_bytes_read(zip, zip->size - size, tail, size, name, err);
    if (status != PX_OK)
        goto done;
    size_t at = size - ZIP_END; /* a comment of up to 65,535 bytes may follow the record */
    while (little(tail + at, 4) != 0x06054b50 && at > 0)
        at--;
    if (little(tail + at, 4) != 0x06054b50) {
        status = zip_damaged(name, "its directory is missing; is it truncated?", err);
        goto done;
    }
    *out = (zip_directory){little(tail + at + 10, 2), little(tail + at + 12, 4),
                           little(tail + at + 16, 4)};
    if (out->count == 0xffff || out->size == 0xffffffff || out->offset == 0xffffffff)
        status = zip_directory64(zip, name, zip->size - size + at, out, err);
    PX_THEN_IF(status,
               (out->size > zip->size || out->offset > zip->size - out->size ||
                out->size > ZIP_DIRECTORY_MAX || out->count > out->size / ZIP_CENTRAL),
               zip_damaged(name, "its directory lies outside of the file", err));
done:
    free(tail);
    return status;
}

/* Sizes that do not fit 32 bits are in the extra field with id 1, in this order. */
static bool zip_extra64(const uint8_t *extra, size_t size, uint64_t *unpacked, uint64_t *packed,
                        uint64_t *place)
{
    uint64_t *const wanted[3] = {unpacked, packed, place};
    while (size >= 4) {
        const size_t id = (size_t)little(extra, 2), length = (size_t)little(extra + 2, 2);
        if (length > size - 4)
            return false;
        if (id == 1) {
            size_t used = 0;
            for (size_t i = 0; i < 3; i++) {
                if (*wanted[i] != 0xffffffff)
                    continue;
                if (length - used < 8)
                    return false;
                *wanted[i] = little(extra + 4 + used, 8);
                used += 8;
            }
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static px_status zip_add(pxi_tree *tree, const uint8_t *at, const uint8_t *extra, size_t extra_size,
                         const char *path, uint64_t *room, px_error *err)
{
    uint64_t unpacked = little(at + 24, 4), packed = little(at + 20, 4), place = little(at + 42, 4);
    if (!zip_extra64(extra, extra_size, &unpacked, &packed, &place))
        return zip_damaged(tree->name, "an entry of its directory is damaged", err);
    if (place > tree->zip.size || packed > tree->zip.size - place)
        return zip_damaged(tree->name, "an entry lies outside of the file", err);
    if (packed > *room) /* or a small file could be a huge archive */
        return zip_damaged(tree->name, "its members overlap", err);
    *room -= packed;
    if (little(at + 8, 2) & 1)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': '%.100s' is encrypted", tree->name, path);
    pxi_entry *entry;
    PX_TRY(pxi_tree_add(tree, path, unpacked, &entry, err));
    entry->place = place;
    entry->packed = packed;
    entry->method = (uint32_t)little(at + 10, 2);
    entry->crc = (uint32_t)little(at + 16, 4);
    return PX_OK;
}

px_status pxi_zip_list(pxi_tree *tree, px_error *err)
{
    zip_directory directory = {0};
    char path[4096];
    PX_TRY(zip_find_directory(&tree->zip, tree->name, &directory, err));
    const size_t size = (size_t)directory.size;
    uint8_t *bytes = pxi_calloc(size, 1);
    if (!bytes)
        return pxi_no_memory(err);
    px_status status = pxi_bytes_read(&tree->zip, directory.offset, bytes, size, tree->name, err);
    uint64_t room = tree->zip.size;
    size_t at = 0;
    for (uint64_t i = 0; i < directory.count && status == PX_OK; i++) {
        if (size - at < ZIP_CENTRAL || little(bytes + at, 4) != 0x02014b50) {
            status = zip_damaged(tree->name, "an entry of its directory is damaged", err);
            break;
        }
        const size_t name = (size_t)little(bytes + at + 28, 2),
                     extra = (size_t)little(bytes + at + 30, 2),
                     comment = (size_t)little(bytes + at + 32, 2);
        if (size - at - ZIP_CENTRAL < name + extra + comment) {
            status = zip_damaged(tree->name, "an entry of its directory is damaged", err);
            break;
        }
        const uint8_t *text = bytes + at + ZIP_CENTRAL;
        if (name < sizeof path && !memchr(text, 0, name)) {
            memcpy(path, text, name);
            path[name] = '\0';
            const char *kept = path;
            if (!pxi_tree_skips(&kept))
                status = zip_add(tree, bytes + at, text + name, extra, kept, &room, err);
        }
        at += ZIP_CENTRAL + name + extra + comment;
    }
    free(bytes);
    return status;
}

px_status pxi_zip_bytes(const pxi_bytes *zip, const pxi_entry *entry, const char *name,
                        pxi_bytes *out, px_error *err)
{
    uint8_t local[ZIP_LOCAL];
    PX_TRY(pxi_bytes_read(zip, entry->place, local, sizeof local, name, err));
    const uint64_t start = entry->place + ZIP_LOCAL + little(local + 26, 2) + little(local + 28, 2);
    if (little(local, 4) != 0x04034b50 || start > zip->size || entry->packed > zip->size - start)
        return zip_damaged(name, "the member's header is damaged", err);
    const pxi_bytes packed = pxi_bytes_slice(zip, start, entry->packed);
    if (entry->method == ZIP_STORED) {
        if (entry->size != entry->packed)
            return zip_damaged(name, "a stored member has two sizes", err);
        *out = packed;
        return PX_OK;
    }
    if (entry->method != ZIP_DEFLATED)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': compression method %u is not supported; use deflate", name,
                       entry->method);
    pxi_bytes member = {0};
    if (pxi_has_suffix(entry->path, ".npy"))
        PX_TRY(pxi_npy_check_deflated(&packed, entry->size, name, err));
    PX_TRY(pxi_bytes_inflate(&packed, entry->size, &member, name, err));
    const px_status status = pxi_zip_check(&member, entry, name, err);
    if (status != PX_OK)
        pxi_bytes_done(&member);
    else
        *out = member;
    return status;
}

px_status pxi_zip_check(const pxi_bytes *member, const pxi_entry *entry, const char *name,
                        px_error *err)
{
    uint8_t buffer[1 << 14];
    uLong crc = crc32(0, NULL, 0);
    for (uint64_t at = 0; at < member->size;) {
        const size_t size = (size_t)PX_MIN(member->size - at, (uint64_t)sizeof buffer);
        PX_TRY(pxi_bytes_read(member, at, buffer, size, name, err));
        crc = crc32(crc, buffer, (uInt)size);
        at += size;
    }
    if (crc != entry->crc)
        return px_fail(err, PX_E_INPUT, "'%s': damaged: its checksum does not match", name);
    return PX_OK;
}
