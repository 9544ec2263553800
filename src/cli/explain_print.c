/* src/cli/explain_print.c - what plexor explain found, for people, programs and the eye */
#include "cli/explain_print.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/picture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words
 * --------------------------------------------------------------------------------------- */

static const char *class_name(const cli_path_tools *tools, int64_t c, char buffer[CLI_NUMBER_TEXT])
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

/* --- for people
 * ---------------------------------------------------------------------------------- */

static void print_image(const explain_result *r, const explain_image *image)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_path *path = &image->path;
    printf("%s: ", image->name);
    if (path->target < 0) {
        printf("no class: its scores are no numbers\n");
        return;
    }
    printf("predicted %s", class_name(r->tools, path->classes[0], a));
    if (image->label >= 0)
        printf(", labelled %s", class_name(r->tools, image->label, b));
    printf("\n  %s\n", px_text_get(&image->text));
    printf("  score of %s %.4g, of the baseline %.4g; %d steps",
           class_name(r->tools, path->target, a), path->score, path->baseline, path->steps);
    if (path->gap < 5e-4)
        printf(", contributions add up");
    else if (!isnan(path->gap))
        printf(", contributions off by %.2g%%", 100.0 * path->gap);
    printf("\n");
}

static void print_steps(const explain_result *r)
{
    const bool words = r->tools->bank != NULL;
    char columns[16] = "l";
    for (int i = 0; i < r->count; i++)
        strcat(columns, words ? "rrl" : "rr");
    cli_table *table = cli_table_new(columns);
    cli_table_cell(table, "LAYER");
    for (int i = 0; i < r->count; i++) {
        cli_table_cell(table, "UNIT");
        cli_table_cell(table, "CONTRIBUTION");
        if (words)
            cli_table_cell(table, "DESCRIPTION");
    }
    for (size_t l = 0; l < px_paths_layer_count(r->tools->paths); l++) {
        cli_table_cell(table, "%s", px_paths_layer(r->tools->paths, l)->name);
        for (int i = 0; i < r->count; i++) {
            const px_path_step *step = &r->image[i].path.step[l];
            const char *said = step_words(r, &r->image[i].path, l);
            if (step->unit < 0) {
                cli_table_cell(table, "-");
                cli_table_cell(table, "-");
            } else {
                cli_table_cell(table, "%d", step->unit);
                cli_table_cell(table, "%.4g", step->contribution);
            }
            if (words)
                cli_table_cell(table, "%s", said ? said : "(left out)");
        }
    }
    cli_table_print_free(table, "");
}

static void print_similarity(const explain_result *r)
{
    cli_table *table = cli_table_new("lrrl");
    cli_table_cell(table, "MODE");
    cli_table_cell(table, "SIMILARITY");
    cli_table_cell(table, "TAU");
    cli_table_cell(table, "%s", "");
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        if (!r->compared[m])
            continue;
        const px_tau *tau = r->threshold ? &r->threshold->of[m] : NULL;
        cli_table_cell(table, "%s", px_path_mode_name((px_path_mode)m));
        cli_table_cell(table, "%.4f", r->similarity[m]);
        if (tau && tau->known) {
            cli_table_cell(table, "%.4f", tau->tau);
            cli_table_cell(table, "%s",
                           px_tau_keeps(tau, r->similarity[m]) ? "another path" : "the same path");
        } else {
            cli_table_cell(table, "-");
            cli_table_cell(table, "not calibrated");
        }
    }
    cli_table_print_free(table, "");
}

void explain_print(const explain_result *r)
{
    printf("%s\n", px_paths_describe(r->tools->paths));
    if (r->tools->bank)
        printf("bank: %s\n", px_bank_validation(r->tools->bank));
    for (int i = 0; i < r->count; i++)
        print_image(r, &r->image[i]);
    printf("\n");
    print_steps(r);
    if (r->count > 1) {
        printf("\n");
        print_similarity(r);
    }
}

/* --- for programs
 * -------------------------------------------------------------------------------- */

static void json_image(const explain_result *r, const explain_image *image, px_json *json)
{
    const px_path *path = &image->path;
    px_json_object(json, NULL);
    px_json_string(json, "name", image->name);
    px_json_int(json, "index", px_dataset_index(image->inputs.set, image->index));
    px_json_int(json, "label", image->label);
    px_json_int(json, "prediction", path->classes[0]);
    px_json_array(json, "classes");
    for (int k = 0; k < PX_PATH_CLASSES_MOST && path->classes[k] >= 0; k++)
        px_json_int(json, NULL, path->classes[k]);
    px_json_end(json);
    px_json_int(json, "target", path->target);
    px_json_real(json, "score", path->score);
    px_json_real(json, "baseline", path->baseline);
    px_json_int(json, "steps", path->steps);
    px_json_real(json, "gap", path->gap);
    px_json_bool(json, "incomplete", path->incomplete);
    px_json_string(json, "text", px_text_get(&image->text));
    px_json_array(json, "path");
    for (size_t l = 0; l < px_paths_layer_count(r->tools->paths); l++) {
        const px_path_layer *layer = px_paths_layer(r->tools->paths, l);
        const int32_t unit = path->step[l].unit;
        px_json_object(json, NULL);
        px_json_string(json, "layer", layer->name);
        if (unit >= 0)
            px_json_int(json, "unit", unit);
        else
            px_json_null(json, "unit");
        px_json_real(json, "contribution", path->step[l].contribution);
        px_json_string(json, "description", step_words(r, path, l));
        px_json_int(json, "units", layer->units);
        px_json_int(json, "described", layer->described);
        px_json_bool(json, "cut", layer->cut);
        px_json_array(json, "contributions");
        for (int64_t u = 0; u < layer->units; u++)
            px_json_real(json, NULL, image->contributions[layer->offset + u]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_end(json);
}

void explain_json(const explain_result *r, px_json *json)
{
    px_json_array(json, "images");
    for (int i = 0; i < r->count; i++)
        json_image(r, &r->image[i], json);
    px_json_end(json);
    px_json_object(json, "similarity");
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        if (r->count < 2 || !r->compared[m])
            continue;
        const px_tau *tau = r->threshold ? &r->threshold->of[m] : NULL;
        px_json_object(json, px_path_mode_name((px_path_mode)m));
        px_json_real(json, "value", r->similarity[m]);
        if (tau && tau->known) {
            px_json_real(json, "tau", tau->tau);
            px_json_bool(json, "differs", px_tau_keeps(tau, r->similarity[m]));
        } else {
            px_json_null(json, "tau");
            px_json_null(json, "differs");
        }
        px_json_end(json);
    }
    px_json_end(json);
}

/* --- for the eye
 * --------------------------------------------------------------------------------- */

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
        return px_fail(err, PX_E_NOMEM, "out of memory");
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
    px_status status = map && drawn ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = px_paths_map(r->tools->paths, image->row, &image->path, l, r->map, map, err);
    if (status == PX_OK)
        status = px_path_map_render(map, layer->height, layer->width, picture->data,
                                    picture->height, picture->width, picture->channels, drawn, err);
    const char *words = step_words(r, &image->path, l);
    if (unit < 0)
        px_text_format(&caption, "%s\n(left out)", layer->name);
    else
        px_text_format(&caption, "%s\nunit %d\n%s", layer->name, unit, words ? words : "");
    if (status == PX_OK && px_text_failed(&caption))
        status = px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = px_sheet_add(sheet,
                              &(px_sheet_item){.picture = {.width = picture->width,
                                                           .height = picture->height,
                                                           .channels = 3,
                                                           .data = drawn},
                                               .caption = px_text_get(&caption)},
                              err);
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
    if (status == PX_OK)
        status = px_sheet_save(sheet, path, err);
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
