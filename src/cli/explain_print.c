/* src/cli/explain_print.c - what plexor explain found, for people, programs and the eye */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain_print.h"

#include "base/memory.h"

#include <internal/bank.h>
#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/field.h>
#include <internal/picture.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- words ----------------------------------------------------------------------------------- */

static const char *class_name(const px_path_tools *tools, int64_t c, char buffer[CLI_NUMBER_TEXT])
{
    snprintf(buffer, CLI_NUMBER_TEXT, "%" PRId64, c);
    return c >= 0 && (size_t)c < tools->name_count && tools->names[c] ? tools->names[c] : buffer;
}

/* What the bank calls the critical unit of a layer; NULL: there is no bank, or no unit. */
static const char *step_words(const explain_result *r, const px_path *path, size_t layer)
{
    const int32_t unit = path->step[layer].unit;
    if (!r->tools->bank || unit < 0)
        return NULL;
    const px_bank_unit *known =
        px_bank_find(r->tools->bank, px_paths_layer(r->tools->paths, layer)->name, unit);
    return known ? px_bank_shown(known) : NULL;
}

/* --- for people ------------------------------------------------------------------------------ */

static void print_image(const explain_result *r, const explain_image *image)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_path *path = &image->path;
    cli_print("%s: ", image->name);
    if (path->target < 0) {
        cli_print("no class: its scores are no numbers\n");
        return;
    }
    cli_print("predicted %s", class_name(r->tools, path->classes[0], a));
    if (image->label >= 0)
        cli_print(", labelled %s", class_name(r->tools, image->label, b));
    cli_print("\n  %s\n", px_text_get(&image->text));
    cli_print("  score of %s %.4g, of the baseline %.4g; %d steps",
              class_name(r->tools, path->target, a), path->score, path->baseline, path->steps);
    if (path->gap < 5e-4)
        cli_print(", contributions add up");
    else if (!isnan(path->gap))
        cli_print(", contributions off by %.2g%%", 100.0 * path->gap);
    cli_print("\n");
}

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct step_row { /* a layer of one image's path */
    const px_path_layer *layer;
    int32_t unit; /* -1: the layer is left out */
    double contribution, shown;
    const char *words;
    bool has_words;
    const double *contributions;
} step_row;

static void step_fill(step_row *row, const explain_result *r, const explain_image *image, size_t l)
{
    const px_path_step *step = &image->path.step[l];
    *row = (step_row){.layer = px_paths_layer(r->tools->paths, l),
                      .unit = step->unit,
                      .contribution = step->contribution,
                      .shown = step->unit < 0 ? (double)NAN : step->contribution,
                      .words = step_words(r, &image->path, l),
                      .has_words = r->tools->bank != NULL};
    row->contributions = image->contributions + row->layer->offset;
}

typedef struct image_row {
    const explain_result *r;
    const explain_image *image;
    const char *text;
    int64_t index;
} image_row;

static const void *image_get(const void *of, size_t i, void *place)
{
    const explain_result *r = of;
    image_row *row = place;
    if (i >= (size_t)r->count)
        return NULL;
    const explain_image *image = &r->image[i];
    *row = (image_row){.r = r,
                       .image = image,
                       .text = px_text_get(&image->text),
                       .index = px_dataset_index(image->inputs.set, image->index)};
    return row;
}

static const void *path_step_get(const void *of, size_t l, void *place)
{
    const image_row *row = of;
    if (l >= px_paths_layer_count(row->r->tools->paths))
        return NULL;
    step_fill(place, row->r, row->image, l);
    return place;
}

static const px_field place_fields[] = {
    PX_FIELD(px_path_layer, units, "units", "of the layer"),
    PX_FIELD(px_path_layer, described, "described", "units that compete"),
    PX_FIELD(px_path_layer, cut, "cut", "every way to the scores leads through the layer"),
    PX_FIELDS_END,
};

static const px_field name_fields[] = {
    PX_FIELD(px_path_layer, name, "layer", "its name"),
    PX_FIELDS_END,
};

static const void *contribution_get(const void *of, size_t i, void *place)
{
    const step_row *row = of;
    (void)place;
    return i < (size_t)row->layer->units ? &row->contributions[i] : NULL;
}

static const px_field step_fields[] = {
    PX_OBJECT_AT(step_row, layer, name_fields, ""),
    PX_INDEX(step_row, unit, "unit", "that contributes most; null: the layer is left out",
             .title = "UNIT"),
    PX_FIELD(step_row, contribution, "contribution", "of this unit to the score"),
    PX_FIELD(step_row, shown, NULL, NULL, .title = "CONTRIBUTION", .format = "%.4g"),
    PX_FIELD(step_row, words, "description", "of the unit; null: there is none"),
    PX_FIELD(step_row, words, NULL, NULL, .title = "DESCRIPTION", .none = "(left out)",
             PX_IF(step_row, has_words)),
    PX_OBJECT_AT(step_row, layer, place_fields, ""),
    PX_VALUES_MADE(contribution_get, double, "contributions", "of all units of the layer"),
    PX_FIELDS_END,
};

static const void *class_get(const void *of, size_t i, void *place)
{
    const px_path *path = &((const image_row *)of)->image->path;
    (void)place;
    return i < PX_PATH_CLASSES_MOST && path->classes[i] >= 0 ? &path->classes[i] : NULL;
}

static const px_field image_facts[] = {
    PX_CHARS(explain_image, name, "name", "of the image"),
    PX_FIELDS_END,
};

static const px_field path_facts[] = {
    PX_FIELD(explain_image, path.target, "target", "class whose score is contributed to"),
    PX_FIELD(explain_image, path.score, "score", "of that class"),
    PX_FIELD(explain_image, path.baseline, "baseline", "score of the baseline"),
    PX_FIELD(explain_image, path.steps, "steps", "from the baseline to the image"),
    PX_FIELD(explain_image, path.gap, "gap", "how far contributions are from adding up"),
    PX_FIELD(explain_image, path.incomplete, "incomplete", "that is above the tolerance"),
    PX_FIELDS_END,
};

static const px_field label_fields[] = {
    PX_FIELD(explain_image, label, "label", "-1: none"),
    PX_FIELD(explain_image, path.classes[0], "prediction", "of the network; -1: no number"),
    PX_FIELDS_END,
};

static const px_field image_fields[] = {
    PX_OBJECT_AT(image_row, image, image_facts, ""),
    PX_FIELD(image_row, index, "index", "in its data"),
    PX_OBJECT_AT(image_row, image, label_fields, ""),
    PX_VALUES_MADE(class_get, int32_t, "classes", "by score, best first"),
    PX_OBJECT_AT(image_row, image, path_facts, ""),
    PX_FIELD(image_row, text, "text", "the path as a sentence"),
    PX_LIST_MADE(path_step_get, step_fields, "path", "from the input"),
    PX_FIELDS_END,
};

/* For people a row per layer, with the images beside each other. */
typedef struct layer_row {
    const explain_result *r;
    size_t layer;
    const char *name;
} layer_row;

static const void *layer_get(const void *of, size_t l, void *place)
{
    const explain_result *r = of;
    if (l >= px_paths_layer_count(r->tools->paths))
        return NULL;
    *(layer_row *)place = (layer_row){r, l, px_paths_layer(r->tools->paths, l)->name};
    return place;
}

static const void *layer_step_get(const void *of, size_t i, void *place)
{
    const layer_row *row = of;
    if (i >= (size_t)row->r->count)
        return NULL;
    step_fill(place, row->r, &row->r->image[i], row->layer);
    return place;
}

static const px_field layer_fields[] = {
    PX_FIELD(layer_row, name, NULL, NULL, .title = "LAYER"),
    PX_LIST_MADE(layer_step_get, step_fields, NULL, NULL, .title = ""),
    PX_FIELDS_END,
};

typedef struct mode_row { /* how alike two paths are in one way of comparing them */
    const char *mode, *verdict;
    double similarity, tau;
    bool known, differs;
} mode_row;

static const void *mode_get(const void *of, size_t i, void *place)
{
    const explain_result *r = of;
    mode_row *row = place;
    int m = 0;
    while (m < PX_PATH_MODE_COUNT && (r->count < 2 || !r->compared[m] || i-- > 0))
        m++;
    if (m == PX_PATH_MODE_COUNT)
        return NULL;
    const px_tau *tau = r->threshold ? &r->threshold->of[m] : NULL;
    *row = (mode_row){.mode = px_path_mode_name((px_path_mode)m),
                      .similarity = r->similarity[m],
                      .tau = (double)NAN,
                      .verdict = "not calibrated"};
    if (tau && tau->known) {
        row->known = true;
        row->tau = tau->tau;
        row->differs = px_tau_keeps(tau, row->similarity);
        row->verdict = row->differs ? "another path" : "the same path";
    }
    return row;
}

static px_datum mode_differs(const void *of, char *text)
{
    const mode_row *row = of;
    (void)text;
    return row->known ? px_datum_bool(row->differs) : px_datum_none();
}

static const px_field mode_fields[] = {
    PX_FIELD(mode_row, mode, "mode", "of comparing paths", .title = "MODE"),
    PX_FIELD(mode_row, similarity, "value", "similarity", .title = "SIMILARITY", .format = "%.4f"),
    PX_FIELD(mode_row, tau, "tau", "paths differ below this; null: not calibrated", .title = "TAU",
             .format = "%.4f"),
    PX_MADE(BOOL, mode_differs, "differs", "null: not calibrated"),
    PX_FIELD(mode_row, verdict, NULL, NULL, .title = ""),
    PX_FIELDS_END,
};

const px_field explain_fields[] = {
    PX_OBJECT(explain_result, origin, cli_origin_fields, ""),
    PX_OBJECT(explain_result, image[0].inputs, cli_inputs_fields, ""),
    PX_OBJECT_AT(explain_result, tools, cli_paths_fields, ""),
    PX_LIST_MADE(image_get, image_fields, "images", "one, or two that are compared"),
    PX_MAP_MADE(mode_get, mode_fields, "similarity", "of the two paths"),
    PX_LIST_MADE(layer_get, layer_fields, NULL, NULL, .title = "layers"),
    PX_FIELD(explain_result, picture, "picture", "file with maps; null: none"),
    PX_FIELDS_END,
};

void explain_print(const void *of)
{
    const explain_result *r = of;
    cli_print("%s\n", px_paths_describe(r->tools->paths));
    if (r->tools->bank)
        cli_print("bank: %s\n", px_bank_validation(r->tools->bank));
    for (int i = 0; i < r->count; i++)
        print_image(r, &r->image[i]);
    cli_print("\n");
    cli_print_list(explain_fields, "layers", r, "", 0);
    if (r->count > 1) {
        cli_print("\n");
        cli_print_list(explain_fields, "similarity", r, "", 0);
    }
    if (r->picture)
        cli_print("%s\n", r->picture);
}

/* --- for the eye ----------------------------------------------------------------------------- */

/* A picture's side by side channels from planes; the caller frees it. */
static px_status image_pixels(const explain_image *image, px_pixels *out, px_error *err)
{
    const px_shape shape = px_dataset_shape(image->inputs.set);
    if (shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3) ||
        px_dataset_audio(image->inputs.set))
        return px_fail(err, PX_E_MISMATCH,
                       "'%.100s' is no picture of 1 or 3 channels: -o cannot draw it", image->name);
    const size_t plane = (size_t)(shape.dim[1] * shape.dim[2]), channels = (size_t)shape.dim[0];
    const float scale = px_dataset_is_8bit(image->inputs.set) ? 1.0f : 255.0f;
    uint8_t *bytes = calloc(plane, channels);
    if (!bytes)
        return pxi_no_memory(err);
    for (size_t i = 0; i < plane; i++)
        for (size_t k = 0; k < channels; k++) {
            const float v = image->pixels[k * plane + i] * scale + 0.5f;
            bytes[i * channels + k] = (uint8_t)(v >= 255.0f ? 255.0f : v > 0.0f ? v : 0.0f);
        }
    *out = (px_pixels){.width = (int)shape.dim[2],
                       .height = (int)shape.dim[1],
                       .channels = (int)channels,
                       .data = bytes};
    return PX_OK;
}

static px_status sheet_map(const explain_result *r, const explain_image *image, size_t l,
                           const px_pixels *picture, px_sheet *sheet, px_error *err)
{
    const px_path_layer *layer = px_paths_layer(r->tools->paths, l);
    const size_t pixels = (size_t)picture->width * (size_t)picture->height;
    const int32_t unit = image->path.step[l].unit;
    float *map = calloc((size_t)(layer->height * layer->width), sizeof *map);
    uint8_t *drawn = calloc(pixels, 3);
    px_text caption = {0};
    px_status status = map && drawn ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, px_paths_map(r->tools->paths, image->row, &image->path, l, r->map, map, err));
    PX_THEN(status,
            px_path_map_render(map, layer->height, layer->width, picture->data, picture->height,
                               picture->width, picture->channels, drawn, err));
    const char *words = step_words(r, &image->path, l);
    if (unit < 0)
        px_text_format(&caption, "%s\n(left out)", layer->name);
    else
        px_text_format(&caption, "%s\nunit %d\n%s", layer->name, unit, words ? words : "");
    if (status == PX_OK && px_text_failed(&caption))
        status = pxi_no_memory(err);
    PX_THEN(status, px_sheet_add(sheet,
                                 &(px_sheet_item){.picture = {.width = picture->width,
                                                              .height = picture->height,
                                                              .channels = 3,
                                                              .data = drawn},
                                                  .caption = px_text_get(&caption)},
                                 err));
    px_text_done(&caption);
    free(map);
    free(drawn);
    return status;
}

static px_status sheet_row(const explain_result *r, const explain_image *image, px_sheet *sheet,
                           px_error *err)
{
    px_pixels picture = {0};
    px_text caption = {0};
    char a[CLI_NUMBER_TEXT];
    PX_TRY(image_pixels(image, &picture, err));
    px_text_format(&caption, "%s\npredicted %s", image->name,
                   image->path.target < 0 ? "nothing"
                                          : class_name(r->tools, image->path.classes[0], a));
    px_status status = px_sheet_add(
        sheet, &(px_sheet_item){.picture = picture, .caption = px_text_get(&caption)}, err);
    for (size_t l = 0; l < px_paths_layer_count(r->tools->paths) && status == PX_OK; l++)
        status = sheet_map(r, image, l, &picture, sheet, err);
    px_text_done(&caption);
    free((void *)(uintptr_t)picture.data);
    return status;
}

px_status explain_sheet(const explain_result *r, const char *path, px_error *err)
{
    px_sheet *sheet = NULL;
    const px_sheet_options options = {.title = r->map == PX_PATH_MAP_UNIT
                                                   ? "Decision path: where the critical units are "
                                                     "active"
                                                   : "Decision path: Grad-CAM of the target class",
                                      .columns = 1 + (int)px_paths_layer_count(r->tools->paths)};
    PX_TRY(px_sheet_new(&options, &sheet, err));
    px_status status = PX_OK;
    for (int i = 0; i < r->count && status == PX_OK; i++)
        status = sheet_row(r, &r->image[i], sheet, err);
    PX_THEN(status, px_sheet_save(sheet, path, err));
    px_sheet_free(sheet);
    return status;
}

bool explain_is_grey(const explain_image *image)
{
    const px_shape shape = px_dataset_shape(image->inputs.set);
    if (shape.rank != 3 || shape.dim[0] != 3)
        return false;
    const size_t plane = (size_t)(shape.dim[1] * shape.dim[2]);
    for (size_t i = 0; i < plane; i++)
        if (image->pixels[i] != image->pixels[plane + i] ||
            image->pixels[i] != image->pixels[2 * plane + i])
            return false;
    return true;
}
