/* src/data/tar.c - .tar archives, compressed or not, unpacked into memory once (libarchive)
 *
 * Only the tar format and the filters named below are switched on. Nothing is ever written to disk,
 * so links, devices and paths with ".." are harmless: only regular files are kept, by name.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tree.h>

#include "base/memory.h"
#include "data/picture_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

static px_status tar_fail(const pxi_tree *tree, struct archive *a, px_error *err)
{
    const char *why = archive_error_string(a);
    return px_fail(err, PX_E_INPUT, "'%s': not a usable archive: %s", tree->name,
                   why ? why : "damaged");
}

/* Sizes that an entry states are believed before it is unpacked; the bytes are counted all the
 * same. */
static px_status tar_check_size(const pxi_tree *tree, struct archive_entry *entry, const char *path,
                                size_t used, px_error *err)
{
    char text[PXI_TREE_TEXT];
    const uint64_t size = archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0
                              ? (uint64_t)archive_entry_size(entry)
                              : 0;
    if (pxi_image_is_name(path))
        PX_TRY(
            pxi_bytes_check_size(size, PXI_IMAGE_FILE_MAX, pxi_tree_text(tree, path, text), err));
    if (size > PXI_UNPACK_MAX - PX_MIN((uint64_t)used, PXI_UNPACK_MAX))
        return px_fail(err, PX_E_INPUT,
                       "'%s': unpacks to more than %llu bytes; unpack it into a folder", tree->name,
                       (unsigned long long)PXI_UNPACK_MAX);
    return PX_OK;
}

/* Appends the member's bytes to the tree's memory. */
static px_status tar_member(pxi_tree *tree, struct archive *a, const char *path, size_t *used,
                            px_error *err)
{
    pxi_entry *entry;
    const size_t place = *used;
    for (;;) {
        const size_t room = tree->memory_capacity - *used;
        if (room < 4096) {
            if (tree->memory_capacity >= PXI_UNPACK_MAX)
                return px_fail(err, PX_E_INPUT,
                               "'%s': unpacks to more than %llu bytes; unpack it into a folder",
                               tree->name, (unsigned long long)PXI_UNPACK_MAX);
            if (pxi_grow(&tree->memory, &tree->memory_capacity,
                         PX_MAX(tree->memory_capacity * 2, (size_t)1 << 20), 1) != 0)
                return px_fail_in(err, pxi_no_memory(err), "'%s'", tree->name);
            continue;
        }
        const la_ssize_t got = archive_read_data(a, tree->memory + *used, room);
        if (got < 0)
            return tar_fail(tree, a, err);
        if (got == 0)
            break;
        *used += (size_t)got;
    }
    PX_TRY(pxi_tree_add(tree, path, *used - place, &entry, err));
    entry->place = place;
    return PX_OK;
}

static const char *tar_path(struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry); /* NULL: not in this locale's encoding */
    return path ? path : archive_entry_pathname_utf8(entry);
}

px_status pxi_tree_read_tar(pxi_tree *tree, const char *path, px_error *err)
{
    pxi_bytes probe = {0}; /* for our message when it is not there or not a file */
    PX_TRY(pxi_bytes_open(&probe, path, err));
    pxi_bytes_done(&probe);

    struct archive *a = archive_read_new();
    if (!a)
        return pxi_no_memory(err);
    archive_read_support_format_tar(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    px_status status = PX_OK;
    size_t used = 0;
    if (archive_read_open_filename(a, path, 1 << 16) != ARCHIVE_OK) {
        status = tar_fail(tree, a, err);
        goto done;
    }
    while (status == PX_OK) {
        struct archive_entry *entry = NULL;
        const int code = archive_read_next_header(a, &entry);
        if (code == ARCHIVE_EOF)
            break;
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
            status = tar_fail(tree, a, err);
            break;
        }
        const char *name = tar_path(entry);
        if (archive_entry_filetype(entry) != AE_IFREG || !name || pxi_tree_skips(&name))
            continue;
        status = tar_check_size(tree, entry, name, used, err);
        PX_THEN(status, tar_member(tree, a, name, &used, err));
    }
done:
    archive_read_free(a);
    return status;
}
