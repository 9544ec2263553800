/* src/data/foreign_files.c - pictures and recordings in formats that plexor does not read
 *
 * They are passed over like any other file, but not without a word: a user who sees them in the
 * folder takes them for inputs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tree.h>

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static const char *const foreign_suffixes[] = {
    ".webp", ".bmp",  ".gif", ".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".jxl",
    ".ppm",  ".pgm",  ".pnm", ".tga", ".ico",  ".svg",  ".dng",  ".exr",  ".mp3", ".ogg",
    ".oga",  ".opus", ".m4a", ".aac", ".wma",  ".aif",  ".aiff", ".mp4",  ".dcm",
};

bool pxi_foreign_is_name(const char *path)
{
    for (size_t i = 0; i < PX_LEN(foreign_suffixes); i++)
        if (pxi_has_suffix(path, foreign_suffixes[i]))
            return true;
    return false;
}

pxi_foreign pxi_tree_foreign(const pxi_tree *tree, const char *folder)
{
    pxi_foreign foreign = {.count = 0};
    size_t first, end;
    pxi_tree_range(tree, folder, &first, &end);
    for (size_t i = first; i < end; i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (!pxi_foreign_is_name(path))
            continue;
        if (foreign.count < PX_LEN(foreign.names))
            foreign.names[foreign.count] = path + strlen(folder);
        foreign.count++;
    }
    return foreign;
}

bool pxi_foreign_text(const pxi_foreign *foreign, char *to, size_t size)
{
    const size_t shown = PX_MIN(foreign->count, PX_LEN(foreign->names));
    size_t used = 0;
    to[0] = '\0';
    if (foreign->count == 0)
        return false;
    used += (size_t)snprintf(to, size, "%zu file%s of formats that are not read: ", foreign->count,
                             foreign->count == 1 ? " is" : "s are");
    for (size_t i = 0; i < shown && used < size; i++)
        used +=
            (size_t)snprintf(to + used, size - used, "%s%.60s", i ? ", " : "", foreign->names[i]);
    if (foreign->count > shown && used < size)
        snprintf(to + used, size - used, " and %zu more", foreign->count - shown);
    return true;
}
