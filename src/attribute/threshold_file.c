/* src/attribute/threshold_file.c - tau with what it belongs to, as JSON */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/field.h>
#include <internal/text_encoder.h>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "plexor-threshold";
enum { format_version = 1, threshold_bytes_most = 1 << 16, id_text = 17 };

/* --- members --------------------------------------------------------------------------------- */

typedef struct mode_row {
    const char *name;
    const px_tau *tau;
} mode_row;

static const void *mode_get(const void *of, size_t i, void *place)
{
    const px_threshold *threshold = of;
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        if (threshold->of[m].known && i-- == 0) {
            *(mode_row *)place = (mode_row){px_path_mode_name((px_path_mode)m), &threshold->of[m]};
            return place;
        }
    return NULL;
}

static const px_field tau_fields[] = {
    PX_FIELD(px_tau, tau, "tau", "the lower quartile: paths that are less alike differ"),
    PX_FIELD(px_tau, least, "least", "similarity"),
    PX_FIELD(px_tau, median, "median", "similarity"),
    PX_FIELD(px_tau, upper, "upper", "quartile of the similarities"),
    PX_FIELD(px_tau, most, "most", "similarity"),
    PX_FIELD(px_tau, mean, "mean", "similarity"),
    PX_FIELD(px_tau, at_most, "at_most", "tau is the least seen: at tau counts, too"),
    PX_FIELDS_END,
};

static const px_field mode_fields[] = {
    PX_FIELD(mode_row, name, "mode", "of comparing paths"),
    PX_OBJECT_AT(mode_row, tau, tau_fields, ""),
    PX_FIELDS_END,
};

const px_field px_threshold_fields[] = {
    PX_HASH(px_threshold, model, "model", "hash of the network"),
    PX_HASH(px_threshold, bank, "bank", "hash of the descriptions; 0: none"),
    PX_HASH(px_threshold, encoder, "encoder", "hash of the text encoder; 0: none"),
    PX_HASH(px_threshold, paths, "paths", "hash of how they are found"),
    PX_HASH(px_threshold, data, "data", "hash of the data"),
    PX_HASH(px_threshold, seed, "seed", "of which images"),
    PX_FIELD(px_threshold, images, "images", "of the data"),
    PX_FIELD(px_threshold, rules, "rules", "mutations of each"),
    PX_FIELD(px_threshold, pairs, "pairs", "of an image and a mutant"),
    PX_MAP_MADE(mode_get, mode_fields, "modes", "of comparing paths"),
    PX_FIELDS_END,
};

typedef struct threshold_file {
    const char *format;
    int64_t version;
    px_threshold of;
} threshold_file;

static const px_field form_fields[] = {
    PX_FIELD(threshold_file, format, "format", "plexor-threshold"),
    PX_FIELD(threshold_file, version, "version", "of the format"),
    PX_FIELDS_END,
};

static const px_field file_fields[] = {
    PX_OBJECT_OF(form_fields, ""),
    PX_OBJECT(threshold_file, of, px_threshold_fields, ""),
    PX_FIELDS_END,
};

px_status px_threshold_save(const px_threshold *threshold, const char *path, px_error *err)
{
    px_json json = {0};
    const threshold_file file = {format_name, format_version, *threshold};
    px_fields_object(file_fields, &file, NULL, &json);
    const char *text = px_json_text(&json);
    px_text lines = {0};
    px_text_add(&lines, text ? text : "");
    px_text_add(&lines, "\n");
    const px_status status = text && !px_text_failed(&lines)
                                 ? pxi_file_write(path, px_text_get(&lines), lines.length, err)
                                 : pxi_no_memory(err);
    px_text_done(&lines);
    px_json_done(&json);
    return status;
}

/* Cosines and shares; a cosine may be beyond 1 by rounding. */
static px_status read_tau(const px_json_value *object, px_tau *out, px_error *err)
{
    if (object->kind != PX_JSON_OBJECT)
        return px_fail(err, PX_E_INPUT, "'modes' has what is no object");
    PX_TRY(px_fields_read(tau_fields, object, out, err));
    const double reals[] = {out->tau, out->least, out->median, out->upper, out->most, out->mean};
    for (size_t i = 0; i < PX_LEN(reals); i++)
        if (!(fabs(reals[i]) <= 1.0 + 1e-6))
            return px_fail(err, PX_E_INPUT, "'tau' or another similarity is beyond 1");
    out->known = true;
    return PX_OK;
}

static px_status threshold_read(const px_json_value *root, px_threshold *out, px_error *err)
{
    threshold_file file = {0};
    if (px_fields_read(form_fields, root, &file, NULL) != PX_OK ||
        strcmp(file.format, format_name) != 0)
        return px_fail(err, PX_E_INPUT, "is no threshold; 'plexor calibrate' makes one");
    if (file.version != format_version)
        return px_fail(err, PX_E_UNSUPPORTED, "has version %" PRId64 ", this program reads %d",
                       file.version, format_version);
    PX_TRY(px_fields_read(file_fields, root, &file, err));
    if (file.of.images < 1 || file.of.rules < 1 || file.of.pairs < 1)
        return px_fail(err, PX_E_INPUT, "'images', 'rules' or 'pairs' is 0");
    const px_json_value *modes = px_json_member(root, "modes");
    if (!modes || modes->kind != PX_JSON_OBJECT || modes->count == 0)
        return px_fail(err, PX_E_INPUT, "'modes' is missing or not an object");
    for (size_t i = 0; i < modes->count; i++) {
        px_path_mode mode;
        PX_TRY(px_path_mode_parse(modes->keys[i], &mode, err));
        PX_TRY(read_tau(&modes->items[i], &file.of.of[mode], err));
    }
    *out = file.of;
    return PX_OK;
}

px_status px_threshold_load(const char *path, px_threshold *out, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    px_json_document *document = NULL;
    px_threshold made = {0};
    px_error why = {0};
    PX_TRY(pxi_file_read(path, threshold_bytes_most, &text, &size, err));
    px_status status = px_json_parse(text, size, &document, &why);
    PX_THEN(status, threshold_read(px_json_root(document), &made, &why));
    if (status == PX_OK)
        *out = made;
    else
        px_fail(err, status, "'%.200s': %.250s", path, why.message);
    px_json_free(document);
    free(text);
    return status;
}

char *px_threshold_path(const px_paths *paths, const px_text_encoder *encoder)
{
    const px_bank *bank = px_paths_bank(paths);
    const uint64_t ids[] = {px_model_hash(px_paths_model(paths)), bank ? px_bank_id(bank) : 0,
                            encoder ? px_text_encoder_id(encoder) : 0, px_paths_id(paths)};
    char name[32 + PX_LEN(ids) * (id_text + 1)] = "tau";
    for (size_t i = 0, at = 3; i < PX_LEN(ids); i++, at += id_text)
        snprintf(name + at, sizeof name - at, "-%016" PRIx64, ids[i]);
    strcat(name, ".json");
    return pxi_cache_path(name);
}

/* --- whose it is ----------------------------------------------------------------------------- */

px_status px_threshold_check(const px_threshold *threshold, const px_paths *paths,
                             const px_text_encoder *encoder, px_path_mode mode, px_error *err)
{
    const px_bank *bank = px_paths_bank(paths);
    const bool words = mode != PX_PATH_NO_NLDG;
    const char *other = threshold->model != px_model_hash(px_paths_model(paths)) ? "network"
                        : threshold->bank != (bank ? px_bank_id(bank) : 0) ? "bank of descriptions"
                        : threshold->paths != px_paths_id(paths)           ? "way of finding paths"
                        : words && threshold->encoder != (encoder ? px_text_encoder_id(encoder) : 0)
                            ? "text encoder"
                            : NULL;
    if (other)
        return px_fail(err, PX_E_MISMATCH,
                       "the threshold was calibrated with another %s; similarities of one mean "
                       "nothing with another: 'plexor calibrate' makes a new one",
                       other);
    if ((size_t)mode >= PX_PATH_MODE_COUNT || !threshold->of[mode].known)
        return px_fail(err, PX_E_MISMATCH, "the threshold has no tau for mode '%s'",
                       px_path_mode_name(mode));
    return PX_OK;
}
