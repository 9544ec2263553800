/* src/cover/profile.c - profiles in memory and as files
 *
 * In the file, `meta` is JSON and every array is a member of its own. The arrays of the first
 * "ranges" section are called LAYER/min, LAYER/max, LAYER/mean and LAYER/m2, those of the first
 * "traces" section traces, labels and predictions; those of further sections have "N:" before.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/profile_internal.h"

#include "base/memory.h"
#include <internal/npz_meta.h>

#include <assert.h>
#include <internal/data.h>
#include <internal/profile.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PROFILE_FORMAT "plexor profile"
enum { PROFILE_VERSION = 1, PROFILE_MOST_SECTIONS = 256, PROFILE_MOST_CLASSES = 1 << 20 };
static const int64_t PROFILE_MOST_INPUTS = (int64_t)1 << 50;

void px_profile_free(px_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->section_count; i++) {
        free(profile->sections[i].key);
        free(profile->sections[i].definition);
        free(profile->sections[i].prefix);
    }
    for (size_t i = 0; i < profile->array_count; i++) {
        free(profile->arrays[i].name);
        px_tensor_done(&profile->arrays[i].tensor);
    }
    free(profile->sections);
    free(profile->arrays);
    free(profile->by_label);
    free(profile->by_prediction);
    free(profile->path);
    free(profile);
}

px_status pxi_profile_set_classes(px_profile *profile, int classes, px_error *err)
{
    assert(classes >= 0);
    profile->classes = classes;
    profile->by_label = pxi_calloc((size_t)classes + 1, sizeof *profile->by_label);
    profile->by_prediction = pxi_calloc((size_t)classes + 1, sizeof *profile->by_prediction);
    return profile->by_label && profile->by_prediction
               ? PX_OK
               : pxi_no_memory_for(err, "%d classes", classes);
}

static px_status profile_section_put(px_profile *profile, const char *key, const char *definition,
                                     const char *prefix, px_error *err)
{
    pxi_profile_section section = {
        .key = pxi_strdup(key), .definition = pxi_strdup(definition), .prefix = pxi_strdup(prefix)};
    if (!section.key || !section.definition || !section.prefix ||
        pxi_grow(&profile->sections, &profile->section_capacity, profile->section_count + 1,
                 sizeof *profile->sections) != 0) {
        free(section.key);
        free(section.definition);
        free(section.prefix);
        return pxi_no_memory(err);
    }
    profile->sections[profile->section_count++] = section;
    return PX_OK;
}

static bool profile_has_learner(const px_profile *profile, const char *learner)
{
    const size_t length = strlen(learner);
    for (size_t i = 0; i < profile->section_count; i++)
        if (strncmp(profile->sections[i].key, learner, length) == 0 &&
            profile->sections[i].key[length] == ' ')
            return true;
    return false;
}

px_status pxi_profile_add_section(px_profile *profile, const char *learner, const char *key,
                                  const char *definition, const char **prefix, px_error *err)
{
    char number[32] = "";
    const bool plain =
        strcmp(learner, px_learner_ranges.id) == 0 || strcmp(learner, px_learner_traces.id) == 0;
    if (!plain || profile_has_learner(profile, learner))
        snprintf(number, sizeof number, "%zu:", profile->section_count);
    PX_TRY(profile_section_put(profile, key, definition, number, err));
    *prefix = profile->sections[profile->section_count - 1].prefix;
    return PX_OK;
}

/* --- arrays ---------------------------------------------------------------------------------- */

static px_status profile_array_put(px_profile *profile, char *name, px_tensor *tensor,
                                   px_error *err)
{
    if (!name || pxi_grow(&profile->arrays, &profile->array_capacity, profile->array_count + 1,
                          sizeof *profile->arrays) != 0) {
        free(name);
        px_tensor_done(tensor);
        return pxi_no_memory(err);
    }
    profile->arrays[profile->array_count++] = (pxi_profile_array){.name = name, .tensor = *tensor};
    *tensor = (px_tensor){0};
    return PX_OK;
}

static char *profile_array_name(const char *section, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s%s", section, name);
    return px_text_take(&text);
}

px_status px_profile_put(px_profile *profile, const char *section, const char *name,
                         px_tensor *tensor, px_error *err)
{
    return profile_array_put(profile, profile_array_name(section, name), tensor, err);
}

static bool profile_shape_fits(const px_shape *shape, const px_shape *wanted)
{
    bool fits = shape->rank == wanted->rank;
    for (int d = 0; fits && d < shape->rank; d++)
        fits = wanted->dim[d] < 0 || wanted->dim[d] == shape->dim[d];
    return fits;
}

px_status px_profile_get(const px_profile *profile, const char *section, const char *name,
                         px_dtype dtype, const px_shape *shape, const px_tensor **out,
                         px_error *err)
{
    char *full = profile_array_name(section, name);
    if (!full)
        return pxi_no_memory(err);
    const px_tensor *found = NULL;
    for (size_t i = 0; i < profile->array_count && !found; i++)
        if (strcmp(profile->arrays[i].name, full) == 0)
            found = &profile->arrays[i].tensor;
    char is[PX_SHAPE_TEXT], wanted[PX_SHAPE_TEXT];
    px_status status = PX_OK;
    if (!found)
        status = px_fail(err, PX_E_INPUT, "'%.200s' lacks the array '%.100s'; make it again",
                         px_profile_name(profile), full);
    else if (found->dtype != dtype || !profile_shape_fits(&found->shape, shape))
        status = px_fail(
            err, PX_E_INPUT, "'%.150s': array '%.60s' is %s %s instead of %s %s; make it again",
            px_profile_name(profile), full, px_dtype_name(found->dtype),
            px_shape_text(&found->shape, is), px_dtype_name(dtype), px_shape_text(shape, wanted));
    free(full);
    if (status == PX_OK)
        *out = found;
    return status;
}

/* --- files ----------------------------------------------------------------------------------- */

static void profile_json(const px_profile *profile, px_json *json)
{
    px_json_object(json, NULL);
    px_json_string(json, "format", PROFILE_FORMAT);
    px_json_int(json, "version", PROFILE_VERSION);
    pxi_meta_put_hash(json, "model", profile->model_hash);
    pxi_meta_put_hash(json, "data", profile->data_hash);
    pxi_meta_put_hash(json, "seed", profile->seed);
    px_json_int(json, "count", profile->count);
    px_json_int(json, "rejected", profile->rejected);
    px_json_int(json, "classes", profile->classes);
    px_json_bool(json, "labelled", profile->labelled);
    px_json_array(json, "sections");
    for (size_t i = 0; i < profile->section_count; i++) {
        px_json_object(json, NULL);
        px_json_string(json, "learned", profile->sections[i].key);
        px_json_string(json, "neurons", profile->sections[i].definition);
        px_json_string(json, "prefix", profile->sections[i].prefix);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_end(json);
}

static uint64_t array_hash(const char *name, px_dtype dtype, const px_shape *shape,
                           const void *data)
{
    const px_tensor tensor = {.dtype = dtype, .shape = *shape};
    uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), (uint64_t)dtype);
    hash = XXH3_64bits_withSeed(shape->dim, (size_t)shape->rank * sizeof *shape->dim, hash);
    return XXH3_64bits_withSeed(data, px_tensor_bytes(&tensor), hash);
}

/* A sum over the arrays: files have them in another order than the one they were made in. */
px_status pxi_profile_seal(px_profile *profile, px_error *err)
{
    const px_shape classes = {.rank = 1, .dim = {profile->classes}};
    px_json json = {0};
    profile_json(profile, &json);
    const char *text = px_json_text(&json);
    uint64_t hash = text ? XXH3_64bits(text, strlen(text)) : 0;
    const bool failed = !text;
    px_json_done(&json);
    if (failed)
        return pxi_no_memory(err);
    hash += array_hash("class_labels", PX_INT64, &classes, profile->by_label);
    hash += array_hash("class_predictions", PX_INT64, &classes, profile->by_prediction);
    for (size_t i = 0; i < profile->array_count; i++) {
        const pxi_profile_array *a = &profile->arrays[i];
        hash += array_hash(a->name, a->tensor.dtype, &a->tensor.shape, a->tensor.data);
    }
    profile->hash = hash;
    return PX_OK;
}

static px_status profile_write(const px_profile *profile, px_npz_writer *to, px_error *err)
{
    px_json json = {0};
    profile_json(profile, &json);
    PX_TRY(pxi_meta_put(to, &json, err));
    const px_shape classes = {.rank = 1, .dim = {profile->classes}};
    const px_tensor by_label = {PX_INT64, classes, profile->by_label};
    const px_tensor by_prediction = {PX_INT64, classes, profile->by_prediction};
    PX_TRY(px_npz_add(to, "class_labels", &by_label, err));
    PX_TRY(px_npz_add(to, "class_predictions", &by_prediction, err));
    for (size_t i = 0; i < profile->array_count; i++)
        PX_TRY(px_npz_add(to, profile->arrays[i].name, &profile->arrays[i].tensor, err));
    return PX_OK;
}

px_status px_profile_save(const px_profile *profile, const char *path, px_error *err)
{
    px_npz_writer *to = NULL;
    PX_TRY(px_npz_create(path, &to, err));
    const px_status status = profile_write(profile, to, err);
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

static px_status profile_read_meta(px_profile *profile, const px_json_value *root, px_error *err)
{
    int64_t classes = 0;
    PX_TRY(pxi_meta_hash(root, "model", &profile->model_hash, err));
    PX_TRY(pxi_meta_hash(root, "data", &profile->data_hash, err));
    PX_TRY(pxi_meta_hash(root, "seed", &profile->seed, err));
    PX_TRY(pxi_meta_int(root, "count", PROFILE_MOST_INPUTS, &profile->count, err));
    PX_TRY(pxi_meta_int(root, "rejected", PROFILE_MOST_INPUTS, &profile->rejected, err));
    PX_TRY(pxi_meta_int(root, "classes", PROFILE_MOST_CLASSES, &classes, err));
    const px_json_value *labelled = px_json_member(root, "labelled"), *sections = NULL;
    profile->labelled = labelled && labelled->kind == PX_JSON_BOOL && labelled->boolean;
    PX_TRY(pxi_profile_set_classes(profile, (int)classes, err));
    PX_TRY(pxi_meta_array(root, "sections", &sections, err));
    if (sections->count > PROFILE_MOST_SECTIONS)
        return px_fail(err, PX_E_INPUT, "has %zu sections; %d are the most", sections->count,
                       PROFILE_MOST_SECTIONS);
    for (size_t i = 0; i < sections->count; i++) {
        const char *key = NULL, *definition = NULL, *prefix = NULL;
        PX_TRY(pxi_meta_string(&sections->items[i], "learned", &key, err));
        PX_TRY(pxi_meta_string(&sections->items[i], "neurons", &definition, err));
        PX_TRY(pxi_meta_string(&sections->items[i], "prefix", &prefix, err));
        PX_TRY(profile_section_put(profile, key, definition, prefix, err));
    }
    return PX_OK;
}

static px_status profile_read_counts(px_profile *profile, px_npz *npz, px_error *err)
{
    int64_t *const to[] = {profile->by_label, profile->by_prediction};
    static const char *const names[] = {"class_labels", "class_predictions"};
    for (size_t i = 0; i < PX_LEN(names); i++) {
        const px_tensor *from = px_npz_get(npz, names[i]);
        if (!from || from->dtype != PX_INT64 || from->shape.rank != 1 ||
            from->shape.dim[0] != profile->classes)
            return px_fail(err, PX_E_INPUT, "array '%s' is missing or not one count per class",
                           names[i]);
        memcpy(to[i], from->data, px_tensor_bytes(from));
        for (int c = 0; c < profile->classes; c++)
            if (to[i][c] < 0 || to[i][c] > profile->count)
                return px_fail(err, PX_E_INPUT, "array '%s' has impossible counts", names[i]);
    }
    return PX_OK;
}

static px_status profile_read(px_profile *profile, px_npz *npz, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    PX_TRY(pxi_meta_take(npz, PROFILE_FORMAT, PROFILE_VERSION, &document, &root, err));
    px_status status = profile_read_meta(profile, root, err);
    px_json_free(document);
    PX_TRY(status);
    PX_TRY(profile_read_counts(profile, npz, err));
    for (size_t i = 0; i < px_npz_count(npz); i++) {
        const char *name = px_npz_name(npz, i);
        if (strcmp(name, "meta") == 0 || strcmp(name, "class_labels") == 0 ||
            strcmp(name, "class_predictions") == 0)
            continue;
        px_tensor tensor = px_npz_move(npz, i);
        PX_TRY(profile_array_put(profile, pxi_strdup(name), &tensor, err));
    }
    return pxi_profile_seal(profile, err);
}

px_status pxi_profile_read(px_npz *npz, const char *path, px_profile **out, px_error *err)
{
    px_profile *profile = pxi_calloc(1, sizeof *profile);
    px_status status = PX_OK;
    if (!profile || !(profile->path = pxi_strdup(path)))
        status = pxi_no_memory(err);
    PX_THEN(status, profile_read(profile, npz, err));
    return PX_GIVE(status, profile, out, px_profile_free);
}

px_status px_profile_open(const char *path, px_profile **out, px_error *err)
{
    px_npz *npz = NULL;
    PX_TRY(px_npz_open(path, &npz, err));
    const px_status status = pxi_profile_read(npz, path, out, err);
    px_npz_close(npz);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

/* --- asking ---------------------------------------------------------------------------------- */

px_status px_profile_check(const px_profile *profile, const px_model *model, px_error *err)
{
    if (profile->model_hash == px_model_hash(model))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "'%.150s' was made from another network (%016" PRIx64 ") than '%.150s' "
                   "(%016" PRIx64 "); make one with 'plexor profile'",
                   px_profile_name(profile), profile->model_hash, px_model_path(model),
                   px_model_hash(model));
}

px_status px_profile_find(const px_profile *profile, const char *key, const char **section,
                          px_error *err)
{
    for (size_t i = 0; i < profile->section_count; i++)
        if (strcmp(profile->sections[i].key, key) == 0) {
            *section = profile->sections[i].prefix;
            return PX_OK;
        }
    const size_t learner = strcspn(key, " ");
    px_text has = {0};
    for (size_t i = 0; i < profile->section_count; i++)
        if (strncmp(profile->sections[i].key, key, learner + 1) == 0)
            px_text_format(&has, "%s%.100s", has.length ? "; " : "",
                           profile->sections[i].definition);
    const px_status status =
        px_fail(err, PX_E_MISMATCH, "'%.100s' does not have the %.60s that are needed%s%.200s; %s",
                px_profile_name(profile), key, has.length ? ", but for " : "", px_text_get(&has),
                "make a profile with the same criteria, settings and neurons");
    px_text_done(&has);
    return status;
}

const char *px_profile_name(const px_profile *profile)
{
    return profile->path ? profile->path : "the profile";
}

uint64_t px_profile_hash(const px_profile *profile)
{
    return profile->hash;
}

int64_t px_profile_count(const px_profile *profile)
{
    return profile->count;
}

int px_profile_classes(const px_profile *profile)
{
    return profile->classes;
}

int64_t px_profile_labelled(const px_profile *profile, int c)
{
    return profile->labelled && c >= 0 && c < profile->classes ? profile->by_label[c] : -1;
}

int64_t px_profile_predicted(const px_profile *profile, int c)
{
    return c >= 0 && c < profile->classes ? profile->by_prediction[c] : 0;
}

int64_t px_profile_rejected(const px_profile *profile)
{
    return profile->rejected;
}

size_t px_profile_section_count(const px_profile *profile)
{
    return profile->section_count;
}

const char *px_profile_section(const px_profile *profile, size_t i)
{
    return i < profile->section_count ? profile->sections[i].key : NULL;
}

const char *px_profile_definition(const px_profile *profile, size_t i)
{
    return i < profile->section_count ? profile->sections[i].definition : NULL;
}
