/* src/data/index.c - where indexes are kept, how they are found again, and when they are not used
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index.h"

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/index_source.h"

#include <errno.h>
#include <fcntl.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define INDEX_ENDING ".plexor-index"

/* --- where ----------------------------------------------------------------------------------- */

void pxi_index_place_done(pxi_index_place *place)
{
    free(place->folder);
    free(place->beside);
    free(place->cached);
    *place = (pxi_index_place){0};
}

px_status pxi_index_place_of(const char *folder, const char *stem, const char *split, bool make,
                             pxi_index_place *out, px_error *err)
{
    px_text path = {0};
    char name[64];
    pxi_index_place place = {.folder = realpath(folder, NULL)};
    if (!place.folder)
        return pxi_file_fail(err, folder, "open");
    px_text_format(&path, "%s%s%s%s%s%s", place.folder, *stem ? "/" : "", stem, split ? "." : "",
                   split ? split : "", INDEX_ENDING);
    place.beside = px_text_take(&path);
    if (!place.beside) {
        pxi_index_place_done(&place);
        return pxi_no_memory(err);
    }
    snprintf(name, sizeof name, "%016llx%s",
             (unsigned long long)XXH3_64bits(place.beside, strlen(place.beside)), INDEX_ENDING);
    place.cached = make ? pxi_cache_path(name) : pxi_cache_find(name);
    *out = place;
    return PX_OK;
}

/* --- whether it is still right --------------------------------------------------------------- */

static bool part_is_same(int folder, const pxi_index_part *part, pxi_index_kind kind)
{
    struct stat info;
    if (fstatat(folder, *part->name ? part->name : ".", &info, 0) != 0)
        return false;
    const bool file = S_ISREG(info.st_mode);
    return (file ? kind == PXI_INDEX_SHARDS && (uint64_t)info.st_size == part->size
                 : S_ISDIR(info.st_mode) != 0) &&
           info.st_mtim.tv_sec == part->changed_s && info.st_mtim.tv_nsec == part->changed_ns;
}

static bool index_fits(const pxi_index *index, int folder, const char *split, const char *path,
                       char *why, size_t size)
{
    const pxi_index_about *about = pxi_index_tell(index);
    if (strcmp(about->split, split ? split : "") != 0) {
        snprintf(why, size, "the index '%.200s' is of another split and is not used", path);
        return false;
    }
    for (size_t i = 0; i < about->part_count; i++)
        if (!part_is_same(folder, &about->parts[i], about->kind)) {
            snprintf(why, size,
                     "the index '%.120s' is older than '%.60s' and is not used: 'plexor index' "
                     "makes it anew",
                     path, *about->parts[i].name ? about->parts[i].name : "the folder");
            return false;
        }
    return true;
}

static px_status index_try(const pxi_index_place *place, const char *path, const char *folder,
                           const char *split, pxi_source **out, char *why, size_t size,
                           px_error *err)
{
    px_error trouble = {0};
    pxi_bytes bytes = {0};
    pxi_index *index = NULL;
    struct stat info;
    if (!path || stat(path, &info) != 0)
        return PX_OK;
    px_status status = pxi_bytes_open(&bytes, path, &trouble);
    PX_THEN(status, pxi_index_open(&bytes, path, &index, &trouble));
    if (status == PX_E_NOMEM)
        return pxi_no_memory(err);
    if (status != PX_OK) {
        snprintf(why, size, "%.300s; it is not used", trouble.message);
        return PX_OK;
    }
    const int at = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 || !index_fits(index, at, split, path, why, size)) {
        if (at >= 0)
            close(at);
        pxi_index_free(index);
        return PX_OK;
    }
    *why = '\0';
    const bool shards = pxi_index_tell(index)->kind == PXI_INDEX_SHARDS;
    return pxi_index_source_new(index, at, folder, shards ? "shards" : "pictures", out, err);
}

px_status pxi_index_find(const char *folder, const char *stem, const char *split, pxi_source **out,
                         char *why, size_t size, px_error *err)
{
    pxi_index_place place = {0};
    *out = NULL;
    *why = '\0';
    PX_TRY(pxi_index_place_of(folder, stem, split, /* make= */ false, &place, err));
    px_status status = index_try(&place, place.beside, folder, split, out, why, size, err);
    if (status == PX_OK && !*out)
        status = index_try(&place, place.cached, folder, split, out, why, size, err);
    pxi_index_place_done(&place);
    return status;
}

void pxi_source_remark(pxi_source *source, const char *sentence)
{
    const size_t used = strlen(source->remark);
    if (*sentence)
        snprintf(source->remark + used, sizeof source->remark - used, "%s%s", used ? "; " : "",
                 sentence);
}

/* --- shards ---------------------------------------------------------------------------------- */

/* A file without a name, that is gone with its last descriptor. */
static FILE *index_stream(void)
{
    const char *folder = getenv("TMPDIR");
    const int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *stream = fd >= 0 ? fdopen(fd, "w+b") : tmpfile(); /* not all disks have such files */
    if (!stream && fd >= 0)
        close(fd);
    return stream;
}

static px_status shards_index_now(const pxi_shards *shards, const char *spec, const char *split,
                                  pxi_index **out, px_error *err)
{
    pxi_bytes bytes = {0};
    struct stat info;
    FILE *stream = index_stream();
    if (!stream)
        return pxi_file_fail(err, "a temporary file", "write");
    px_status status = pxi_shards_index(shards, split, stream, NULL, NULL, err);
    if (status == PX_OK) {
        errno = 0;
        if (fflush(stream) != 0 || ferror(stream) || fstat(fileno(stream), &info) != 0)
            status = pxi_file_fail(err, "a temporary file", "write");
    }
    if (status == PX_OK) {
        bytes = (pxi_bytes){.fd = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0),
                            .in_file = true,
                            .owns_fd = true,
                            .size = (uint64_t)info.st_size};
        status = bytes.fd >= 0 ? pxi_index_open(&bytes, spec, out, err)
                               : pxi_file_fail(err, "a temporary file", "read");
    }
    fclose(stream);
    return status;
}

px_status pxi_shards_open(const pxi_shards *shards, const char *spec, const char *split,
                          pxi_source **out, px_error *err)
{
    char why[320] = "";
    pxi_index *index = NULL;
    pxi_source *source = NULL;
    if (*shards->stem) /* a folder's was looked for before its files were listed */
        PX_TRY(pxi_index_find(shards->folder, shards->stem, split, &source, why, sizeof why, err));
    if (source) {
        *out = source;
        return PX_OK;
    }
    PX_TRY(shards_index_now(shards, spec, split, &index, err));
    const int folder = open(shards->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        pxi_index_free(index);
        return pxi_file_fail(err, shards->folder, "open");
    }
    PX_TRY(pxi_index_source_new(index, folder, shards->folder, "shards", out, err));
    pxi_source_remark(*out, why);
    return PX_OK;
}
