/* src/data/preprocess_source.c - what --preprocess NAME|FILE stands for
 *
 * A file is the `preprocessor_config.json` that lies beside networks of Hugging Face. Its steps are
 * resize, crop, rescale, normalize, each with a switch do_STEP; older files lack do_rescale, and
 * their pictures were between 0 and 1 all the same. What plexor does otherwise becomes a note.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/preprocess_source.h"

#include "base/file.h"
#include "base/memory.h"
#include <internal/preprocess.h>
#include <internal/text.h>
#include <plexor/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 20 };

static bool file_flag(const px_json_value *root, const char *key, bool otherwise)
{
    const px_json_value *value = px_json_member(root, key);
    return value && value->kind == PX_JSON_BOOL ? value->boolean : otherwise;
}

static double file_number(const px_json_value *value, double otherwise)
{
    return value && value->kind == PX_JSON_NUMBER ? value->number : otherwise;
}

/* A number or a list of them, each plus `add`, as a comma list. */
static bool file_list(const px_json_value *value, double add, char *out, size_t size)
{
    const px_json_value one = value ? *value : (px_json_value){.kind = PX_JSON_NULL};
    const px_json_value *items = one.kind == PX_JSON_ARRAY ? one.items : &one;
    const size_t count = one.kind == PX_JSON_ARRAY ? one.count : 1;
    size_t used = 0;
    if (count < 1 || count > PX_PREPROCESS_CHANNELS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind != PX_JSON_NUMBER)
            return false;
        used += (size_t)snprintf(out + used, size - used, "%s%.10g", i ? "," : "",
                                 items[i].number + add);
        if (used >= size)
            return false;
    }
    return true;
}

/* {"height": H, "width": W}, {"shortest_edge": N} or N; false: no size. */
static bool file_size(const px_json_value *value, int *height, int *width)
{
    double h = file_number(value, 0.0), w = h;
    if (value && value->kind == PX_JSON_OBJECT) {
        h = w = file_number(px_json_member(value, "shortest_edge"), 0.0);
        h = file_number(px_json_member(value, "height"), h);
        w = file_number(px_json_member(value, "width"), w);
    }
    if (!(h >= 1.0 && h <= 65500.0 && w >= 1.0 && w <= 65500.0))
        return false;
    *height = (int)h;
    *width = (int)w;
    return true;
}

static void file_note(pxi_preprocess_source *out, const char *path, const char *what)
{
    const size_t used = strlen(out->note);
    if (used)
        snprintf(out->note + used, sizeof out->note - used, "; %s", what);
    else
        snprintf(out->note, sizeof out->note, "'%.80s': %s", path, what);
}

/* Which part of a picture, in which size, resampled how. */
static void file_geometry(const px_json_value *root, const char *path, pxi_preprocess_source *out)
{
    char words[160];
    int height = 0, width = 0, before_h = 0, before_w = 0;
    const px_json_value *size = px_json_member(root, "size");
    const bool resize = file_flag(root, "do_resize", true);
    const bool sized = file_size(size, &before_h, &before_w);
    const bool crop = file_flag(root, "do_center_crop", false) &&
                      file_size(px_json_member(root, "crop_size"), &height, &width);
    if (!crop && sized && resize) {
        height = before_h;
        width = before_w;
    }
    if (!height)
        return;
    snprintf(out->size, sizeof out->size, "%dx%d", height, width);
    if (crop && (!sized || before_h != height || before_w != width)) {
        snprintf(words, sizeof words,
                 "asks for the middle %dx%d of a resized picture; plexor resizes the whole picture",
                 height, width);
        file_note(out, path, words);
    } else if (!crop && size->kind == PX_JSON_OBJECT && px_json_member(size, "shortest_edge")) {
        file_note(out, path, "keeps the proportions of a picture; plexor resizes both sides");
    }
    const int method = (int)file_number(px_json_member(root, "resample"), 2.0); /* of PIL */
    if (resize && method != 2) {
        static const char *const methods[] = {"nearest", "Lanczos", "bilinear", "bicubic"};
        snprintf(words, sizeof words, "asks for %s resampling; plexor's is bilinear",
                 method >= 0 && method < 4 ? methods[method] : "another");
        file_note(out, path, words);
    }
}

static px_status file_read(const px_json_value *root, const char *path, pxi_preprocess_source *out,
                           px_error *err)
{
    static const char *const known[] = {"image_mean", "image_std", "do_normalize", "do_rescale",
                                        "rescale_factor"};
    bool any = false;
    for (size_t i = 0; i < PX_LEN(known); i++)
        any |= root->kind == PX_JSON_OBJECT && px_json_member(root, known[i]);
    if (!any)
        return px_fail(err, PX_E_INPUT,
                       "--preprocess '%.200s': is no preprocessor_config.json of pictures; it has "
                       "neither image_mean nor do_normalize nor do_rescale",
                       path);
    const double factor = file_number(px_json_member(root, "rescale_factor"), 1.0 / 255.0);
    out->range = file_flag(root, "do_rescale", true) ? 255.0 * factor : 255.0;
    if (!(out->range > 0.0) || !isfinite(out->range))
        return px_fail(err, PX_E_INPUT, "--preprocess '%.200s': rescale_factor must be above 0",
                       path);
    if (fabs(out->range - 1.0) < 1e-6) /* 0.00392156862745098 */
        out->range = 1.0;
    /* With an offset rescaled pixels start at -1; mean comes after it. */
    const double offset = file_flag(root, "rescale_offset", false) ? 1.0 : 0.0;
    const px_json_value *mean = px_json_member(root, "image_mean");
    const px_json_value *std = px_json_member(root, "image_std");
    out->bgr = file_flag(root, "do_flip_channel_order", false);
    snprintf(out->mean, sizeof out->mean, "%g", offset);
    snprintf(out->std, sizeof out->std, "1");
    if (file_flag(root, "do_normalize", mean && std) &&
        (!file_list(mean, offset, out->mean, sizeof out->mean) ||
         !file_list(std, 0.0, out->std, sizeof out->std)))
        return px_fail(err, PX_E_INPUT,
                       "--preprocess '%.200s': image_mean and image_std must be numbers", path);
    file_geometry(root, path, out);
    return PX_OK;
}

static px_status source_file(const char *path, pxi_preprocess_source *out, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    px_json_document *document = NULL;
    PX_TRY(pxi_file_read(path, FILE_MOST, &text, &size, err));
    px_status status = px_json_parse(text, size, &document, err);
    if (status == PX_OK)
        status = file_read(px_json_root(document), path, out, err);
    else
        status = px_fail_in(err, status, "--preprocess '%.200s'", path);
    px_json_free(document);
    free(text);
    return status;
}

px_status pxi_preprocess_source_read(const char *text, pxi_preprocess_source *out, px_error *err)
{
    struct stat st;
    char name[64];
    const char *order = strrchr(text, ':'); /* imagenet:bgr */
    const bool ordered = order && (strcmp(order, ":bgr") == 0 || strcmp(order, ":rgb") == 0);
    snprintf(name, sizeof name, "%.*s", ordered ? (int)(order - text) : (int)strlen(text), text);
    const px_preprocess_preset *preset = px_preprocess_preset_named(name);
    *out = (pxi_preprocess_source){.range = 1.0};
    if (preset) {
        snprintf(out->mean, sizeof out->mean, "%s", preset->entry.id);
        snprintf(out->std, sizeof out->std, "%s", preset->entry.id);
        out->range = preset->range;
        out->bgr = ordered ? strcmp(order, ":bgr") == 0 : preset->bgr;
        return PX_OK;
    }
    if (strchr(text, '/') || stat(text, &st) == 0)
        return source_file(text, out, err);
    return px_registry_unknown(&pxi_preprocess_presets, text, strlen(text), err);
}
