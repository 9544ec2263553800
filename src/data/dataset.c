/* src/data/dataset.c - the samples that were asked for, in the shape that was asked for */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>

#include "base/memory.h"
#include "data/dataset_internal.h"
#include "data/inputs_source.h"
#include <internal/rng.h>

#include <stdio.h>
#include <stdlib.h>

px_data_options px_data_options_default(void)
{
    return (px_data_options){0};
}

/* --- opening --------------------------------------------------------------------------------- */

px_status pxi_dataset_say(px_dataset *set, const char *sentence, px_error *err)
{
    char *copy = pxi_strdup(sentence);
    if (!copy || pxi_grow(&set->remarks, &set->remark_capacity, set->remark_count + 1,
                          sizeof *set->remarks) != 0) {
        free(copy);
        return pxi_no_memory(err);
    }
    set->remarks[set->remark_count++] = copy;
    return PX_OK;
}

static px_status dataset_classes(px_dataset *set, const px_data_options *options, px_error *err)
{
    if (set->source->remark[0])
        PX_TRY(pxi_dataset_say(set, set->source->remark, err));
    PX_TRY(pxi_class_map_make(set->source, set->spec, options, &set->classes, err));
    return set->classes.absent[0] ? pxi_dataset_say(set, set->classes.absent, err) : PX_OK;
}

static px_status dataset_pick(px_dataset *set, const px_data_options *options, px_error *err)
{
    const int64_t all = set->source->count;
    if (options->offset < 0)
        return px_fail(err, PX_E_USAGE, "the offset %lld is negative", (long long)options->offset);
    if (options->offset >= all)
        return px_fail(err, PX_E_INPUT, "'%s': the offset %lld is beyond its %lld samples",
                       set->spec, (long long)options->offset, (long long)all);
    set->first = options->offset;
    set->count = all - options->offset;
    if (options->limit > 0)
        set->count = PX_MIN(set->count, options->limit);
    if (!options->shuffle)
        return PX_OK;
    if (all > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': too many samples to shuffle", set->spec);
    set->order = pxi_calloc((size_t)all, sizeof *set->order);
    if (!set->order)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", set->spec);
    px_random random = px_rng(options->seed, PX_RNG_SHUFFLE, 0, 0);
    px_rng_permutation(&random, set->order, (uint32_t)all);
    return PX_OK;
}

/* The stored shape: where files differ, that of the first one picked. */
static px_status dataset_stored_shape(px_dataset *set, px_shape *out, px_error *err)
{
    if (set->source->shape.rank) {
        *out = set->source->shape;
        return PX_OK;
    }
    pxi_image image = {0};
    const px_status status =
        set->source->type->image(set->source, pxi_dataset_at(set, 0), &image, err);
    if (status != PX_OK)
        return pxi_dataset_damage_fail(set, 0, status, err);
    *out = (px_shape){.rank = 3, .dim = {image.channels, image.height, image.width}};
    pxi_image_done(&image);
    return pxi_picture_sizes_new(set->count, (int)out->dim[2], (int)out->dim[1], &set->sizes, err);
}

static px_status dataset_reshape(px_dataset *set, const px_data_options *options, px_error *err)
{
    px_shape stored, wanted;
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    PX_TRY(dataset_stored_shape(set, &stored, err));
    const int asked[3] = {options->channels, options->height, options->width};
    wanted = stored;
    if (stored.rank == 3) {
        for (int i = 0; i < 3; i++)
            if (asked[i] > 0)
                wanted.dim[i] = asked[i];
    } else if (asked[0] > 0 && asked[1] > 0 && asked[2] > 0) {
        wanted = (px_shape){.rank = 3, .dim = {asked[0], asked[1], asked[2]}};
    }
    for (int i = 0; i < 3; i++)
        set->free_axis[i] = asked[i] <= 0;
    set->shape = wanted;
    set->converts = set->source->type->image != NULL;
    if (px_shape_equal(&stored, &wanted))
        return PX_OK;
    if (stored.rank != 3 && px_shape_count(&stored) == px_shape_count(&wanted))
        return PX_OK; /* the same numbers under another shape */
    if (!set->source->is_8bit || stored.rank != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': its samples are %s, %s is wanted; only 8-bit pictures are resized",
                       set->spec, px_shape_text(&stored, a), px_shape_text(&wanted, b));
    const int64_t c = stored.dim[0], w = wanted.dim[0];
    if (c != w && !((c == 1 && w == 3) || (c == 3 && w == 1)))
        return px_fail(err, PX_E_MISMATCH, "'%s': pictures of %lld channels cannot become %lld",
                       set->spec, (long long)c, (long long)w);
    if (wanted.dim[1] > PXI_IMAGE_SIDE_MAX || wanted.dim[2] > PXI_IMAGE_SIDE_MAX ||
        wanted.dim[1] * wanted.dim[2] > PXI_IMAGE_PIXELS_MAX)
        return px_fail(err, PX_E_USAGE, "pictures of %lld x %lld pixels are not made",
                       (long long)wanted.dim[1], (long long)wanted.dim[2]);
    set->converts = true;
    return PX_OK;
}

/* Recordings must be of one kind before a run starts, not half-way. */
static px_status dataset_ready(px_dataset *set, const px_data_options *options, px_error *err)
{
    pxi_source *source = set->source;
    if (!source->type->ready)
        return PX_OK;
    px_status status = source->type->ready(source, pxi_dataset_at(set, 0), options->audio,
                                           options->height, options->width, err);
    int64_t done = 0;
    for (; done < set->count && status == PX_OK; done++)
        status = source->type->check(source, pxi_dataset_at(set, done), err);
    return status == PX_E_INPUT
               ? pxi_dataset_damage_fail(set, PX_MAX(done - 1, (int64_t)0), status, err)
               : status;
}

px_status pxi_dataset_make(pxi_source *source, const char *spec, const px_data_options *options,
                           px_dataset **out, px_error *err)
{
    const px_data_options defaults = px_data_options_default();
    px_status status;
    if (!options)
        options = &defaults;
    px_dataset *set = pxi_calloc(1, sizeof *set);
    if (!set) {
        pxi_source_free(source);
        return pxi_no_memory(err);
    }
    set->source = source;
    set->targets = options->targets;
    if (!(set->spec = pxi_strdup(spec))) {
        status = pxi_no_memory(err);
        goto done;
    }
    if ((status = pxi_damage_told_new(&set->told, err)) != PX_OK ||
        (status = dataset_classes(set, options, err)) != PX_OK ||
        (status = dataset_pick(set, options, err)) != PX_OK ||
        (status = pxi_dataset_skip_damaged(set, options, err)) != PX_OK ||
        (status = dataset_ready(set, options, err)) != PX_OK ||
        (status = dataset_reshape(set, options, err)) != PX_OK)
        goto done;
    char shape[PX_SHAPE_TEXT], classes[64] = "";
    if (set->source->class_count) /* the data's own, however many the network has */
        snprintf(classes, sizeof classes, ", %d classes%s", set->source->class_count,
                 set->source->target_count ? ", soft targets" : "");
    if (set->targets)
        snprintf(classes, sizeof classes, ", %d target%s each", set->source->target_count,
                 set->source->target_count == 1 ? "" : "s");
    snprintf(set->describe, sizeof set->describe, "%s, %lld x %s %s%s", set->source->kind,
             (long long)set->count, px_shape_text(&set->shape, shape),
             set->source->is_8bit ? "uint8" : "float", classes);
    *out = set;
    set = NULL;
done:
    px_dataset_close(set);
    return status;
}

px_status px_dataset_open(const char *spec, const px_data_options *options, px_dataset **out,
                          px_error *err)
{
    pxi_source *source = NULL;
    const char *split = options ? options->split : NULL;
    const int targets = options ? options->targets : 0;
    PX_TRY(options && options->inputs
               ? pxi_inputs_source_open(spec, split, options->inputs, targets, &source, err)
               : pxi_source_open(spec, split, targets, &source, err));
    return pxi_dataset_make(source, spec, options, out, err);
}

void px_dataset_close(px_dataset *set)
{
    if (!set)
        return;
    pxi_source_free(set->source);
    pxi_class_map_done(&set->classes);
    px_damage_free(set->skipped, set->skipped_count);
    pxi_damage_told_free(set->told);
    pxi_picture_sizes_free(set->sizes);
    for (size_t i = 0; i < set->remark_count; i++)
        free(set->remarks[i]);
    free(set->remarks);
    free(set->order);
    free(set->spec);
    free(set);
}

/* --- what is in it --------------------------------------------------------------------------- */

int64_t px_dataset_count(const px_dataset *set)
{
    return set->count;
}

size_t px_dataset_remark_count(const px_dataset *set)
{
    return set->remark_count;
}

const char *px_dataset_remark(const px_dataset *set, size_t i)
{
    return set->remarks[i];
}

const char *px_dataset_spec(const px_dataset *set)
{
    return set->spec;
}

const char *px_dataset_describe(const px_dataset *set)
{
    return set->describe;
}

bool px_dataset_is_8bit(const px_dataset *set)
{
    return set->source->is_8bit;
}

px_shape px_dataset_shape(const px_dataset *set)
{
    return set->shape;
}

int64_t px_dataset_index(const px_dataset *set, int64_t index)
{
    const pxi_source *source = set->source;
    const int64_t at = pxi_dataset_at(set, index);
    return source->type->origin ? source->type->origin(source, at) : at;
}

const char *px_dataset_name(const px_dataset *set, int64_t index, char *buffer, size_t size)
{
    const pxi_source *source = set->source;
    const int64_t at = pxi_dataset_at(set, index);
    if (source->type->name)
        return source->type->name(source, at, buffer, size);
    snprintf(buffer, size, "%lld", (long long)at);
    return buffer;
}

const px_audio *px_dataset_audio(const px_dataset *set)
{
    return set->source->audio;
}

px_status px_dataset_clip(const px_dataset *set, int64_t index, float **samples, size_t *count,
                          px_error *err)
{
    pxi_clip clip = {0};
    if (!set->source->type->clip)
        return px_fail(err, PX_E_MISMATCH, "'%s': its samples are not recordings", set->spec);
    PX_TRY(set->source->type->clip(set->source, pxi_dataset_at(set, index), &clip, err));
    *samples = clip.samples;
    *count = (size_t)clip.count;
    return PX_OK;
}

px_status px_dataset_features(const px_dataset *set, const float *samples, size_t count,
                              float *features, px_error *err)
{
    if (!set->source->type->features)
        return px_fail(err, PX_E_MISMATCH, "'%s': its samples are not recordings", set->spec);
    return set->source->type->features(set->source, samples, count, features, err);
}

px_status px_dataset_words(const px_dataset *set, const float *rows, char **out, px_error *err)
{
    *out = NULL;
    return set->source->type->words ? set->source->type->words(set->source, rows, out, err) : PX_OK;
}

px_status px_dataset_beside(const px_dataset *set, int64_t index, float *out, px_error *err)
{
    const pxi_source *source = set->source;
    if (!source->type->beside)
        return px_fail(err, PX_E_MISMATCH, "'%s': its samples are not those of an embedding",
                       set->spec);
    return source->type->beside(source, pxi_dataset_at(set, index), out, err);
}

px_status px_dataset_text(const px_dataset *set, int64_t index, char **out, px_error *err)
{
    *out = NULL;
    return set->source->type->text
               ? set->source->type->text(set->source, pxi_dataset_at(set, index), out, err)
               : PX_OK;
}

px_audio_flaws px_dataset_audio_flaws(const px_dataset *set)
{
    px_audio_flaws flaws = {.first_silent = -1, .first_clipped = -1};
    for (int64_t i = set->count - 1; set->source->type->flaws && i >= 0; i--) {
        const int found = set->source->type->flaws(set->source, pxi_dataset_at(set, i));
        if (found & PXI_CLIP_SILENT) {
            flaws.silent++;
            flaws.first_silent = i;
        }
        if (found & PXI_CLIP_CLIPPED) {
            flaws.clipped++;
            flaws.first_clipped = i;
        }
    }
    return flaws;
}

/* --- pixels ---------------------------------------------------------------------------------- */

static px_status dataset_image(const px_dataset *set, int64_t at, pxi_image *image, px_error *err)
{
    const pxi_source *source = set->source;
    if (source->type->image)
        return source->type->image(source, at, image, err);
    const px_shape *shape = &source->shape;
    float *planes = NULL;
    PX_TRY(PX_NEW(planes, (size_t)px_shape_count(shape), err));
    px_status status = source->type->values(source, at, planes, err);
    PX_THEN(status,
            pxi_image_init(image, (int)shape->dim[2], (int)shape->dim[1], (int)shape->dim[0], err));
    if (status == PX_OK)
        pxi_image_from_planes(image, planes);
    free(planes);
    return status;
}

static px_status dataset_check_size(const px_dataset *set, int64_t index, const pxi_image *image,
                                    px_error *err)
{
    const int has[3] = {image->channels, image->height, image->width};
    char name[256], shape[PX_SHAPE_TEXT];
    for (int i = 0; i < 3; i++)
        if (set->free_axis[i] && has[i] != set->shape.dim[i])
            return px_fail(err, PX_E_MISMATCH,
                           "'%s': '%s' is [%d,%d,%d], others are %s; give --size HxW", set->spec,
                           px_dataset_name(set, index, name, sizeof name), has[0], has[1], has[2],
                           px_shape_text(&set->shape, shape));
    return PX_OK;
}

px_status px_dataset_pixels(const px_dataset *set, int64_t index, float *pixels, px_error *err)
{
    const int64_t at = pxi_dataset_at(set, index);
    px_status status;
    if (!set->converts) {
        status = set->source->type->values(set->source, at, pixels, err);
        return status == PX_OK ? PX_OK : pxi_dataset_damage_fail(set, index, status, err);
    }
    pxi_image image = {0};
    status = dataset_image(set, at, &image, err);
    if (status != PX_OK)
        return pxi_dataset_damage_fail(set, index, status, err);
    if (set->sizes)
        pxi_picture_sizes_see(set->sizes, index, image.width, image.height);
    status = dataset_check_size(set, index, &image, err);
    PX_THEN(status, pxi_image_set_channels(&image, (int)set->shape.dim[0], err));
    PX_THEN(status, pxi_image_resize(&image, (int)set->shape.dim[2], (int)set->shape.dim[1], err));
    if (status == PX_OK)
        pxi_image_to_planes(&image, pixels);
    pxi_image_done(&image);
    return status;
}
