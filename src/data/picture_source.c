/* src/data/picture_source.c - samples that are files of their own (class folders, manifests) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/picture_source.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static px_status picture_image(const pxi_source *source, int64_t index, pxi_image *out,
                               px_error *err)
{
    const pxi_picture_source *pictures = (const pxi_picture_source *)source;
    const char *path = pictures->items[index].path;
    char name[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    pxi_tree_text(pictures->tree, path, name);
    PX_TRY(pxi_tree_load(pictures->tree, path, PXI_IMAGE_FILE_MAX, &bytes, err));
    const px_status status =
        pxi_image_decode(pxi_bytes_data(&bytes), (size_t)bytes.size, name, out, err);
    pxi_bytes_done(&bytes);
    return status;
}

int64_t pxi_picture_source_label(const pxi_source *source, int64_t index)
{
    return ((const pxi_picture_source *)source)->items[index].label;
}

const char *pxi_picture_source_name(const pxi_source *source, int64_t index, char *buffer,
                                    size_t size)
{
    snprintf(buffer, size, "%s", ((const pxi_picture_source *)source)->items[index].path);
    return buffer;
}

bool pxi_picture_source_place(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const pxi_picture_source *pictures = (const pxi_picture_source *)source;
    const uint32_t line = pictures->items[index].line;
    if (pictures->manifest && line)
        snprintf(buffer, size, "'%.200s': line %u", pictures->manifest, line);
    return pictures->manifest && line;
}

uint64_t pxi_picture_source_size(const pxi_source *source, int64_t index)
{
    const pxi_picture_source *pictures = (const pxi_picture_source *)source;
    return pxi_tree_size(pictures->tree, pictures->items[index].path);
}

void pxi_picture_source_free(pxi_source *source)
{
    pxi_picture_source *pictures = (pxi_picture_source *)source;
    pxi_tree_free(pictures->tree);
    pxi_arena_free(pictures->arena);
    pxi_audio_part_free(pictures->recordings);
    if (pictures->coder.free)
        pictures->coder.free(pictures->coder.own);
    free(pictures->items);
    free(pictures);
}

static px_status picture_verify(const pxi_source *source, int64_t index, px_error *err)
{
    pxi_image image = {0};
    const px_status status = picture_image(source, index, &image, err);
    pxi_image_done(&image);
    return status;
}

static px_status picture_target(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_picture_source *pictures = (const pxi_picture_source *)source;
    (void)err;
    memcpy(out, pictures->items[index].target, (size_t)source->target_count * sizeof *out);
    return PX_OK;
}

static const pxi_source_type picture_type = {
    .image = picture_image,
    .verify = picture_verify,
    .label = pxi_picture_source_label,
    .target = picture_target,
    .name = pxi_picture_source_name,
    .place = pxi_picture_source_place,
    .size = pxi_picture_source_size,
    .free = pxi_picture_source_free,
};

const pxi_picture_source *pxi_picture_source_of(const pxi_source *source)
{
    return source->type == &picture_type ? (const pxi_picture_source *)source : NULL;
}

px_status pxi_picture_source_new(const char *kind, pxi_tree *tree, pxi_picture_source **out,
                                 px_error *err)
{
    pxi_picture_source *source = pxi_calloc(1, sizeof *source);
    if (!source || !(source->arena = pxi_arena_new())) {
        free(source);
        pxi_tree_free(tree);
        return pxi_no_memory(err);
    }
    source->base.type = &picture_type;
    source->base.is_8bit = true;
    source->tree = tree;
    snprintf(source->base.kind, sizeof source->base.kind, "%s", kind);
    *out = source;
    return PX_OK;
}

px_status pxi_picture_source_add(pxi_picture_source *source, pxi_picture_item item, px_error *err)
{
    const size_t count = (size_t)source->base.count;
    PX_TRY(PX_GROW(source->items, source->capacity, count + 1, err));
    source->items[count] = item;
    source->base.count++;
    return PX_OK;
}

px_status pxi_picture_source_set_classes(pxi_picture_source *source, const char *const *names,
                                         size_t count, px_error *err)
{
    const char **copies = NULL;
    PX_TRY(PX_ARENA_NEW(copies, source->arena, count, err));
    for (size_t i = 0; i < count; i++)
        if (!(copies[i] = pxi_arena_strdup(source->arena, names[i])))
            return pxi_no_memory(err);
    source->base.class_names = copies;
    source->base.class_count = (int)count;
    return PX_OK;
}

bool pxi_tree_is_sample(const pxi_tree *tree, const char *path)
{
    return tree->texts ? pxi_has_suffix(path, ".txt") : pxi_sample_is_name(path);
}

bool pxi_sample_is_name(const char *path)
{
    return pxi_image_is_name(path) || pxi_audio_is_name(path);
}

px_status pxi_picture_source_finish(pxi_picture_source *source, px_error *err)
{
    const int64_t count = source->base.count;
    if (source->coder.own || source->tree->texts)
        return PX_OK; /* whoever reads texts goes on */
    const bool audio = count > 0 && pxi_audio_is_name(source->items[0].path);
    for (int64_t i = 1; i < count; i++)
        if (pxi_audio_is_name(source->items[i].path) != audio)
            return px_fail(err, PX_E_INPUT,
                           "'%s': holds pictures and recordings, '%s' and '%s'; give one kind",
                           pxi_tree_name(source->tree), source->items[0].path,
                           source->items[i].path);
    return audio ? pxi_picture_source_record(source, err) : PX_OK;
}
