/* src/data/index_source.c - pictures whose places an index says, in class folders or tar shards
 *
 * Inputs that follow each other mostly lie in one shard, and opening a file on another machine's
 * disk takes longer than reading from it: some shards stay open.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index_source.h"

#include "base/memory.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_SHARDS = 16 };

typedef struct open_shard {
    pxi_bytes bytes;
    uint32_t part;
    int readers; /* at work; only without any it may be closed */
    bool is_open;
} open_shard;

typedef struct index_source {
    pxi_source base;
    pxi_index *index;
    char *name;
    int folder;
    pthread_mutex_t lock; /* of the shards */
    open_shard shards[OPEN_SHARDS];
} index_source;

static const char *index_source_text(const index_source *source, const char *part, const char *name,
                                     char buffer[PXI_TREE_TEXT])
{
    const char *slash = *part ? "/" : "";
    snprintf(buffer, PXI_TREE_TEXT, "%.200s/%.150s%s%.150s", source->name, part, slash, name);
    return buffer;
}

/* --- shards ---------------------------------------------------------------------------------- */

static px_status shard_open(const index_source *source, uint32_t part, pxi_bytes *out,
                            px_error *err)
{
    char text[PXI_TREE_TEXT];
    const pxi_index_part *p = &pxi_index_tell(source->index)->parts[part];
    index_source_text(source, "", p->name, text);
    PX_TRY(pxi_bytes_open_at(out, source->folder, p->name, text, err));
    if (out->size == p->size)
        return PX_OK;
    pxi_bytes_done(out);
    return px_fail(err, PX_E_INPUT, "'%s': was changed since it was indexed", text);
}

/* The shard's bytes, from the one slot where they may stay open, or, where others read another one
 * from that, for this reader alone: then *slot is NULL. */
static px_status shard_take(index_source *source, uint32_t part, open_shard **slot,
                            pxi_bytes *bytes, px_error *err)
{
    open_shard *shard = &source->shards[part % OPEN_SHARDS];
    px_status status = PX_OK;
    *slot = NULL;
    pthread_mutex_lock(&source->lock);
    if (!shard->is_open || shard->part != part) {
        if (shard->readers == 0) {
            pxi_bytes_done(&shard->bytes);
            status = shard_open(source, part, &shard->bytes, err);
            shard->is_open = status == PX_OK;
            shard->part = part;
        } else {
            pthread_mutex_unlock(&source->lock);
            return shard_open(source, part, bytes, err);
        }
    }
    if (status == PX_OK) {
        shard->readers++;
        *slot = shard;
        *bytes = pxi_bytes_slice(&shard->bytes, 0, shard->bytes.size);
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

static void shard_give(index_source *source, open_shard *slot, pxi_bytes *bytes)
{
    pxi_bytes_done(bytes);
    if (!slot)
        return;
    pthread_mutex_lock(&source->lock);
    slot->readers--;
    pthread_mutex_unlock(&source->lock);
}

static px_status shard_read(index_source *source, const pxi_index_item *item, pxi_bytes *out,
                            const char *text, px_error *err)
{
    open_shard *slot;
    pxi_bytes shard = {0};
    PX_TRY(shard_take(source, item->part, &slot, &shard, err));
    *out = pxi_bytes_slice(&shard, item->place, item->size);
    const px_status status = pxi_bytes_load(out, PXI_IMAGE_FILE_MAX, text, err);
    shard_give(source, slot, &shard);
    return status;
}

/* --- class folders --------------------------------------------------------------------------- */

static px_status file_read(const index_source *source, const char *path, pxi_bytes *out,
                           const char *text, px_error *err)
{
    PX_TRY(pxi_bytes_open_at(out, source->folder, path, text, err));
    const px_status status = pxi_bytes_load(out, PXI_IMAGE_FILE_MAX, text, err);
    if (status != PX_OK)
        pxi_bytes_done(out);
    return status;
}

/* --- a source -------------------------------------------------------------------------------- */

static px_status index_source_image(const pxi_source *source, int64_t index, pxi_image *out,
                                    px_error *err)
{
    index_source *s = (index_source *)(uintptr_t)source; /* its shards are under a lock */
    const pxi_index_about *about = pxi_index_tell(s->index);
    char text[PXI_TREE_TEXT], path[2 * PATH_MAX];
    pxi_index_item item;
    pxi_bytes bytes = {0};
    PX_TRY(pxi_index_get(s->index, index, &item, err));
    const char *part = about->parts[item.part].name;
    index_source_text(s, part, item.name, text);
    if (about->kind == PXI_INDEX_SHARDS) {
        PX_TRY(shard_read(s, &item, &bytes, text, err));
    } else {
        snprintf(path, sizeof path, "%s%s%s", part, *part ? "/" : "", item.name);
        PX_TRY(file_read(s, path, &bytes, text, err));
    }
    const px_status status =
        pxi_image_decode(pxi_bytes_data(&bytes), (size_t)bytes.size, text, out, err);
    pxi_bytes_done(&bytes);
    return status;
}

static px_status index_source_verify(const pxi_source *source, int64_t index, px_error *err)
{
    pxi_image image = {0};
    const px_status status = index_source_image(source, index, &image, err);
    pxi_image_done(&image);
    return status;
}

static int64_t index_source_label(const pxi_source *source, int64_t index)
{
    return pxi_index_label(((const index_source *)source)->index, index);
}

/* What cannot be read has its number as a name: whoever reads the picture says why. */
static const char *index_source_name(const pxi_source *source, int64_t index, char *buffer,
                                     size_t size)
{
    const index_source *s = (const index_source *)source;
    pxi_index_item item;
    px_error ignored = {0};
    if (pxi_index_get(s->index, index, &item, &ignored) != PX_OK) {
        snprintf(buffer, size, "%lld", (long long)index);
        return buffer;
    }
    const char *part = pxi_index_tell(s->index)->parts[item.part].name;
    snprintf(buffer, size, "%s%s%s", part, *part ? "/" : "", item.name);
    return buffer;
}

static uint64_t index_source_size(const pxi_source *source, int64_t index)
{
    pxi_index_item item;
    px_error ignored = {0};
    return pxi_index_get(((const index_source *)source)->index, index, &item, &ignored) == PX_OK
               ? item.size
               : 0;
}

static void index_source_free(pxi_source *source)
{
    index_source *s = (index_source *)source;
    for (size_t i = 0; i < OPEN_SHARDS; i++)
        pxi_bytes_done(&s->shards[i].bytes);
    pthread_mutex_destroy(&s->lock);
    pxi_index_free(s->index);
    if (s->folder >= 0)
        close(s->folder);
    free(s->name);
    free(s);
}

static const pxi_source_type index_source_type = {
    .image = index_source_image,
    .verify = index_source_verify,
    .label = index_source_label,
    .name = index_source_name,
    .size = index_source_size,
    .free = index_source_free,
};

px_status pxi_index_source_new(pxi_index *index, int folder, const char *name, const char *kind,
                               pxi_source **out, px_error *err)
{
    const pxi_index_about *about = pxi_index_tell(index);
    index_source *source = pxi_calloc(1, sizeof *source);
    if (!source || !(source->name = pxi_strdup(name))) {
        free(source);
        pxi_index_free(index);
        close(folder);
        return pxi_no_memory(err);
    }
    source->base.type = &index_source_type;
    source->base.count = pxi_index_count(index);
    source->base.is_8bit = true;
    source->base.class_count = about->class_count;
    source->base.class_names = about->class_names;
    snprintf(source->base.kind, sizeof source->base.kind, "%s", kind);
    snprintf(source->base.remark, sizeof source->base.remark, "%s", about->remark);
    source->index = index;
    source->folder = folder;
    pthread_mutex_init(&source->lock, NULL);
    *out = &source->base;
    return PX_OK;
}

int64_t pxi_index_source_parts(const pxi_source *source)
{
    assert(source->type == &index_source_type);
    return (int64_t)pxi_index_tell(((const index_source *)source)->index)->part_count;
}
