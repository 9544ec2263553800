/* src/data/dataset_labels.c - labels, classes and targets of a data set */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset_internal.h"

#include "base/memory.h"

#include <internal/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

bool px_dataset_has_labels(const px_dataset *set)
{
    return px_dataset_label(set, 0) >= 0;
}

int px_dataset_class_count(const px_dataset *set)
{
    return set->classes.count ? set->classes.count : set->source->class_count;
}

const char *px_dataset_class_name(const px_dataset *set, int c)
{
    const char *const *names = px_dataset_class_names(set);
    return names && c >= 0 && c < px_dataset_class_count(set) ? names[c] : NULL;
}

const char *const *px_dataset_class_names(const px_dataset *set)
{
    return set->classes.count ? (const char *const *)set->classes.names : set->source->class_names;
}

px_class_match px_dataset_class_match(const px_dataset *set)
{
    const pxi_class_map *map = &set->classes;
    return (px_class_match){.unknown = map->unknown.status != PX_OK ? map->unknown.message : NULL,
                            .absent = map->absent[0] ? map->absent : NULL,
                            .unknown_count = map->unknown_count,
                            .absent_count = map->absent_count};
}

int64_t px_dataset_label(const px_dataset *set, int64_t index)
{
    const pxi_source *source = set->source;
    if (set->targets && source->target_count != set->targets)
        return -1;
    const int64_t label =
        source->type->label ? source->type->label(source, pxi_dataset_at(set, index)) : -1;
    return set->classes.to && label >= 0 ? set->classes.to[label] : label;
}

int px_dataset_target_count(const px_dataset *set)
{
    return set->source->target_count;
}

px_status px_dataset_target(const px_dataset *set, int64_t index, float *target, px_error *err)
{
    assert(set->source->target_count > 0);
    return set->source->type->target(set->source, pxi_dataset_at(set, index), target, err);
}

/* --- do they fit a network? ------------------------------------------------------------------ */

/* The class with the fewest samples: a mistyped one is likely among these. */
static int smallest_class(const pxi_source *source, int64_t *samples)
{
    int64_t *counts = pxi_calloc((size_t)source->class_count, sizeof *counts);
    int smallest = -1;
    *samples = INT64_MAX;
    for (int64_t i = 0; counts && i < source->count; i++) {
        const int64_t label = source->type->label(source, i);
        if (label >= 0 && label < source->class_count)
            counts[label]++;
    }
    for (int c = 0; counts && c < source->class_count; c++)
        if (counts[c] > 0 && counts[c] < *samples) {
            *samples = counts[c];
            smallest = c;
        }
    free(counts);
    return smallest;
}

static px_status labels_fail(const px_dataset *set, int64_t index, int64_t label, int classes,
                             px_error *err)
{
    const pxi_source *source = set->source;
    char place[256], name[256], list[160];
    if (source->class_names && !set->classes.to) {
        int64_t samples = 0;
        const int smallest = smallest_class(source, &samples);
        return px_fail(
            err, PX_E_MISMATCH,
            "'%.100s': the data have %d classes (%s), the network %d; '%.60s' has the fewest "
            "inputs, %lld: is it mistyped? --classes LIST names the network's classes in its order",
            set->spec, source->class_count,
            pxi_class_list(source->class_names, (size_t)source->class_count, list, sizeof list),
            classes, smallest >= 0 ? source->class_names[smallest] : "", (long long)samples);
    }
    return px_fail(
        err, PX_E_MISMATCH,
        "%s: label %lld of sample '%s' is out of range: the network has %d classes, 0 to %d",
        pxi_label_place(source, set->spec, pxi_dataset_at(set, index), place, sizeof place),
        (long long)label, px_dataset_name(set, index, name, sizeof name), classes, classes - 1);
}

px_status px_dataset_check_labels(const px_dataset *set, int classes, px_error *err)
{
    if (set->targets && !px_dataset_has_labels(set))
        return px_fail(err, PX_E_INPUT,
                       "'%s' has no targets of regression; an array 'y' of %d number%s for each "
                       "input in an NPZ, or a CSV manifest path,target bring them",
                       set->spec, set->targets, set->targets == 1 ? "" : "s");
    if (!px_dataset_has_labels(set))
        return px_fail(err, PX_E_INPUT,
                       "'%s' has no labels; class sub-folders, a CSV manifest, FOLDER::PATTERN or "
                       "an array 'y' bring them",
                       set->spec);
    for (int64_t i = 0; i < set->count; i++) {
        const int64_t label = px_dataset_label(set, i);
        if (label < 0 || label >= classes)
            return labels_fail(set, i, label, classes, err);
    }
    return PX_OK;
}

const char *px_dataset_classes_doubt(const px_dataset *set, int classes,
                                     char buffer[PX_CLASSES_TEXT])
{
    const pxi_source *source = set->source;
    const int have = source->class_count, named = set->classes.count;
    char list[160];
    if (named && named != classes)
        snprintf(buffer, PX_CLASSES_TEXT,
                 "the network has %d classes and names for %d: its metadata 'plexor.classes' are "
                 "another network's",
                 classes, named);
    else if (set->classes.to || have == 0 || have == classes)
        return NULL;
    else if (source->class_names)
        snprintf(buffer, PX_CLASSES_TEXT,
                 "the data have %d classes (%s) and the network %d without names: labels go by the "
                 "order of the data's, which may not be the network's; --classes LIST names them",
                 have, pxi_class_list(source->class_names, (size_t)have, list, sizeof list),
                 classes);
    else
        snprintf(buffer, PX_CLASSES_TEXT,
                 "the data have %d classes and the network %d: it may be that they do not belong "
                 "together",
                 have, classes);
    return buffer;
}

/* --- what tells one data set from another ---------------------------------------------------- */

/* Of a sample's target; a target that cannot be read changes the hash too. */
static uint64_t dataset_target_hash(const px_dataset *set, int64_t index, float *row)
{
    px_error ignored = {0};
    const size_t size = (size_t)set->source->target_count * sizeof *row;
    return px_dataset_target(set, index, row, &ignored) == PX_OK ? XXH3_64bits(row, size) : 0;
}

uint64_t px_dataset_hash(const px_dataset *set)
{
    const pxi_source *source = set->source;
    char name[4096];
    float *row =
        source->target_count ? pxi_calloc((size_t)source->target_count, sizeof *row) : NULL;
    XXH3_state_t *state = XXH3_createState();
    if (!state || (source->target_count && !row)) {
        XXH3_freeState(state);
        free(row);
        return 0;
    }
    XXH3_64bits_reset(state);
    for (int64_t i = 0; i < set->count; i++) {
        const int64_t at = pxi_dataset_at(set, i);
        px_dataset_name(set, i, name, sizeof name);
        const uint64_t size = source->type->size ? source->type->size(source, at)
                                                 : (uint64_t)px_shape_count(&source->shape);
        const uint64_t numbers[2] = {size, (uint64_t)px_dataset_label(set, i)};
        XXH3_64bits_update(state, name, strlen(name) + 1);
        XXH3_64bits_update(state, numbers, sizeof numbers);
        if (row) {
            const uint64_t target = dataset_target_hash(set, i, row);
            XXH3_64bits_update(state, &target, sizeof target);
        }
    }
    const uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(row);
    return hash;
}
