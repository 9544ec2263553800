/* src/data/index_make.c - what `plexor index` does */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/index_source.h"

#include <internal/data_index.h>
#include <internal/system.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct indexing {
    const char *spec, *split;
    bool (*progress)(void *, int64_t, int64_t);
    void *context;
    pxi_shards shards;     /* or */
    pxi_source *source;    /* class folders */
    struct timespec since; /* when listing them began */
} indexing;

static void indexing_done(indexing *job)
{
    pxi_shards_done(&job->shards);
    pxi_source_free(job->source);
}

static px_status indexing_folder(indexing *job, px_error *err)
{
    /* Clocks of file systems go in steps: what was changed before this is older than it. */
    const struct timespec step = {.tv_nsec = 20 * 1000 * 1000};
    pxi_tree *tree = NULL;
    nanosleep(&step, NULL);
    clock_gettime(CLOCK_REALTIME_COARSE, &job->since);
    PX_TRY(pxi_tree_open_folder(job->spec, job->split, &tree, err));
    const px_status status = pxi_shards_of_tree(tree, job->split, &job->shards, err);
    if (status != PX_OK || job->shards.count) {
        pxi_tree_free(tree);
        return status;
    }
    return pxi_source_of_tree(tree, job->split, &job->source, err);
}

static px_status indexing_look(indexing *job, px_error *err)
{
    struct stat info;
    if (pxi_shards_is_range(job->spec))
        return pxi_shards_of_range(job->spec, &job->shards, err);
    if (stat(job->spec, &info) != 0)
        return pxi_file_fail(err, job->spec, "open");
    if (S_ISDIR(info.st_mode))
        return indexing_folder(job, err);
    PX_TRY(pxi_shards_of_file(job->spec, &job->shards, err));
    return job->shards.count ? PX_OK
                             : px_fail(err, PX_E_UNSUPPORTED,
                                       "'%s': only class folders of pictures and tar shards "
                                       "(KEY.jpg and KEY.cls behind each other) are indexed",
                                       job->spec);
}

/* Where nobody may write beside the data, in the cache. */
static const char *indexing_to(const pxi_index_place *place)
{
    char folder[PATH_MAX];
    const size_t length = (size_t)(strrchr(place->beside, '/') - place->beside);
    if (!place->cached || length >= sizeof folder)
        return place->beside;
    memcpy(folder, place->beside, length);
    folder[length] = '\0';
    return access(length ? folder : "/", W_OK) == 0 ? place->beside : place->cached;
}

static px_status indexing_write(indexing *job, const pxi_index_place *place, px_index_made *out,
                                px_error *err)
{
    px_file_writer writer = {0};
    struct stat info;
    PX_TRY(pxi_file_create(indexing_to(place), &writer, err));
    snprintf(out->path, sizeof out->path, "%s", writer.path);
    const px_status status =
        job->source ? pxi_folder_index(job->source, job->split, &job->since, writer.stream, err)
                    : pxi_shards_index(&job->shards, job->split, writer.stream, job->progress,
                                       job->context, err);
    if (status != PX_OK) {
        pxi_file_abandon(&writer);
        return status;
    }
    PX_TRY(pxi_file_commit(&writer, err));
    out->bytes = stat(out->path, &info) == 0 ? (int64_t)info.st_size : 0;
    return PX_OK;
}

/* Whether what was written is found, and what is in it. */
static px_status indexing_check(const indexing *job, const char *folder, const char *stem,
                                px_index_made *out, px_error *err)
{
    char why[320];
    pxi_source *found = NULL;
    PX_TRY(pxi_index_find(folder, stem, job->split, &found, why, sizeof why, err));
    if (!found)
        return px_fail(err, PX_E_IO, "%s", *why ? why : "the index was not found again");
    snprintf(out->kind, sizeof out->kind, "%s", found->kind);
    out->count = found->count;
    out->class_count = found->class_count;
    out->parts = pxi_index_source_parts(found);
    pxi_source_free(found);
    return PX_OK;
}

px_status px_data_index(const char *spec, const char *split,
                        bool (*progress)(void *context, int64_t done, int64_t total), void *context,
                        px_index_made *out, px_error *err)
{
    indexing job = {.spec = spec, .split = split, .progress = progress, .context = context};
    pxi_index_place place = {0};
    const double start = px_clock_s();
    *out = (px_index_made){0};
    px_status status = indexing_look(&job, err);
    const char *folder = job.source ? spec : job.shards.folder,
               *stem = job.source ? "" : job.shards.stem;
    PX_THEN(status, pxi_index_place_of(folder, stem, split, /* make= */ true, &place, err));
    PX_THEN(status, indexing_write(&job, &place, out, err));
    PX_THEN(status, indexing_check(&job, folder, stem, out, err));
    out->seconds = px_clock_s() - start;
    pxi_index_place_done(&place);
    indexing_done(&job);
    return status;
}
