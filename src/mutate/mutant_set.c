/* src/mutate/mutant_set.c - a data set of mutants, one of each input of another */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"
#include <internal/source.h>

#include <internal/data.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <stdio.h>
#include <stdlib.h>

/* --- values ---------------------------------------------------------------------------------- */

uint8_t px_value_level(double value, double low, double high)
{
    return pxi_level((value - low) * (255.0 / (high - low)));
}

float px_level_value(uint8_t level, double low, double high)
{
    return (float)(low + (double)level * (high - low) / 255.0);
}

static px_status values_to_levels(const float *values, size_t count, double low, double high,
                                  uint8_t *levels, px_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const double v = (double)values[i];
        if (!(v >= low && v <= high)) /* NaN too */
            return px_fail(err, PX_E_MISMATCH,
                           "mutations are for pictures with values from %g to %g; there is a %g",
                           low, high, v);
        levels[i] = px_value_level(v, low, high);
    }
    return PX_OK;
}

static void values_from_levels(const uint8_t *levels, size_t count, double low, double high,
                               float *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = px_level_value(levels[i], low, high);
}

static px_status values_check_shape(const px_shape *shape, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    for (int d = 0; d < 3; d++)
        if (shape->rank != 3 || shape->dim[d] < 1 || shape->dim[d] > PX_MUTATION_SIDE_MOST)
            return px_fail(err, PX_E_MISMATCH,
                           "mutations are for pictures, [channels,height,width] of up to %d each; "
                           "the samples are %s",
                           PX_MUTATION_SIDE_MOST, px_shape_text(shape, text));
    return PX_OK;
}

px_status px_mutation_apply_values_near(const px_drawn *drawn, const px_shape *shape, double low,
                                        double high, const float *origin, const float *in,
                                        float *out, px_error *err)
{
    PX_TRY(values_check_shape(shape, err));
    const size_t count = (size_t)px_shape_count(shape);
    uint8_t *levels = pxi_alloc_aligned(3 * count);
    if (!levels)
        return pxi_no_memory(err);
    px_status status = values_to_levels(in, count, low, high, levels, err);
    PX_THEN(status, values_to_levels(origin, count, low, high, levels + 2 * count, err));
    PX_THEN(status, px_mutation_apply_near(drawn, levels + 2 * count, levels, levels + count,
                                           (int)shape->dim[1], (int)shape->dim[2],
                                           (int)shape->dim[0], err));
    if (status == PX_OK)
        values_from_levels(levels + count, count, low, high, out);
    free(levels);
    return status;
}

px_status px_mutation_apply_values(const px_drawn *drawn, const px_shape *shape, bool unit,
                                   const float *in, float *out, px_error *err)
{
    return px_mutation_apply_values_near(drawn, shape, 0.0, unit ? 1.0 : 255.0, in, in, out, err);
}

/* --- the source ------------------------------------------------------------------------------ */

typedef struct mutant_source {
    pxi_source base;
    const px_dataset *parents;
    px_mutations from;
    uint64_t seed;
    uint32_t iteration;
    const char **class_names;
} mutant_source;

static px_drawn mutant_drawn(const mutant_source *mutants, int64_t index)
{
    const int64_t origin = px_dataset_index(mutants->parents, index);
    px_random random = px_rng(mutants->seed, PX_RNG_MUTATE, (uint32_t)origin, mutants->iteration);
    return px_mutation_draw(&mutants->from, &random);
}

/* The mutant of a recording. */
static px_status mutant_clip(const pxi_source *source, int64_t index, pxi_clip *out, px_error *err)
{
    const mutant_source *mutants = (const mutant_source *)source;
    const px_drawn drawn = mutant_drawn(mutants, index);
    float *samples = NULL;
    size_t count = 0;
    PX_TRY(px_dataset_clip(mutants->parents, index, &samples, &count, err));
    int16_t *levels = NULL;
    px_status status = PX_NEW(levels, 2 * count, err);
    if (status == PX_OK) {
        px_samples_round(samples, levels, count);
        status = px_mutation_apply_samples(&drawn, levels, levels + count, count, err);
    }
    if (status == PX_OK)
        px_samples_widen(levels + count, samples, count);
    free(levels);
    if (status != PX_OK) {
        free(samples);
        return status;
    }
    *out = (pxi_clip){source->audio->sample_rate, (int64_t)count, samples};
    return PX_OK;
}

static px_status mutant_features(const pxi_source *source, const float *samples, size_t count,
                                 float *out, px_error *err)
{
    return px_dataset_features(((const mutant_source *)source)->parents, samples, count, out, err);
}

static px_status mutant_recording_values(const pxi_source *source, int64_t index, float *out,
                                         px_error *err)
{
    pxi_clip clip = {0};
    PX_TRY(mutant_clip(source, index, &clip, err));
    const px_status status = mutant_features(source, clip.samples, (size_t)clip.count, out, err);
    pxi_clip_done(&clip);
    return status;
}

static px_status mutant_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const mutant_source *mutants = (const mutant_source *)source;
    const px_drawn drawn = mutant_drawn(mutants, index);
    PX_TRY(px_dataset_pixels(mutants->parents, index, out, err));
    const px_status status =
        px_mutation_apply_values(&drawn, &source->shape, !source->is_8bit, out, out, err);
    char name[256];
    return status == PX_OK
               ? PX_OK
               : px_fail_in(err, status, "input '%s'",
                            px_dataset_name(mutants->parents, index, name, sizeof name));
}

static int64_t mutant_label(const pxi_source *source, int64_t index)
{
    return px_dataset_label(((const mutant_source *)source)->parents, index);
}

static const char *mutant_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const mutant_source *mutants = (const mutant_source *)source;
    const px_drawn drawn = mutant_drawn(mutants, index);
    char text[PX_DRAWN_TEXT], name[4096];
    snprintf(buffer, size, "%s|%s", px_dataset_name(mutants->parents, index, name, sizeof name),
             px_drawn_text(&drawn, text));
    return buffer;
}

static int64_t mutant_origin(const pxi_source *source, int64_t index)
{
    return px_dataset_index(((const mutant_source *)source)->parents, index);
}

static void mutant_free(pxi_source *source)
{
    free(((mutant_source *)source)->class_names);
    free(source);
}

static const pxi_source_type mutant_type = {
    .values = mutant_values,
    .label = mutant_label,
    .name = mutant_name,
    .origin = mutant_origin,
    .free = mutant_free,
};

static const pxi_source_type mutant_recording_type = {
    .values = mutant_recording_values,
    .label = mutant_label,
    .name = mutant_name,
    .origin = mutant_origin,
    .clip = mutant_clip,
    .features = mutant_features,
    .free = mutant_free,
};

/* --- the set --------------------------------------------------------------------------------- */

struct px_mutant_set {
    px_dataset *data;
    const mutant_source *source; /* belongs to the data set */
};

static px_status mutant_source_new(const px_dataset *parents, const px_mutations *from,
                                   uint64_t seed, uint32_t iteration, mutant_source **out,
                                   px_error *err)
{
    const int classes = px_dataset_class_count(parents);
    mutant_source *mutants = NULL;
    PX_TRY(PX_NEW(mutants, 1, err));
    const px_audio *audio = px_dataset_audio(parents);
    mutants->base = (pxi_source){.type = audio ? &mutant_recording_type : &mutant_type,
                                 .audio = audio,
                                 .count = px_dataset_count(parents),
                                 .is_8bit = px_dataset_is_8bit(parents),
                                 .shape = px_dataset_shape(parents),
                                 .class_count = classes};
    snprintf(mutants->base.kind, sizeof mutants->base.kind, "%s mutants", from->set->entry.id);
    mutants->parents = parents;
    mutants->from = *from;
    mutants->seed = seed;
    mutants->iteration = iteration;
    if (classes > 0 && px_dataset_class_name(parents, 0)) {
        mutants->class_names = pxi_calloc((size_t)classes, sizeof *mutants->class_names);
        if (!mutants->class_names) {
            mutant_free(&mutants->base);
            return pxi_no_memory(err);
        }
        for (int c = 0; c < classes; c++)
            mutants->class_names[c] = px_dataset_class_name(parents, c);
        mutants->base.class_names = mutants->class_names;
    }
    *out = mutants;
    return PX_OK;
}

px_status px_mutant_set_new(const px_dataset *parents, const px_mutations *from, uint64_t seed,
                            uint32_t iteration, px_mutant_set **out, px_error *err)
{
    const px_shape shape = px_dataset_shape(parents);
    PX_TRY(values_check_shape(&shape, err));
    PX_TRY(px_mutations_check(from, parents, err));
    px_mutant_set *set = NULL;
    PX_TRY(PX_NEW(set, 1, err));
    mutant_source *source = NULL;
    px_status status = mutant_source_new(parents, from, seed, iteration, &source, err);
    if (status == PX_OK) {
        set->source = source;
        status =
            pxi_dataset_make(&source->base, px_dataset_describe(parents), NULL, &set->data, err);
    }
    return PX_GIVE(status, set, out, free);
}

void px_mutant_set_free(px_mutant_set *set)
{
    if (!set)
        return;
    px_dataset_close(set->data);
    free(set);
}

const px_dataset *px_mutant_set_data(const px_mutant_set *set)
{
    return set->data;
}

px_drawn px_mutant_set_drawn(const px_mutant_set *set, int64_t index)
{
    return mutant_drawn(set->source, index);
}
