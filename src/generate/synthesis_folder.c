/* src/generate/synthesis_folder.c - a folder of synthesised inputs, whole or not at all */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/synthesis_internal.h"
#include "generate/synthesis_pictures.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <internal/data.h>
#include <internal/folder.h>
#include <internal/ranks.h>
#include <internal/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct px_synthesis_folder {
    px_folder *folder;
    char *title;
    const px_dataset *set;
    pxi_pixel_rule rule;
    bool rounds;        /* inputs are bytes */
    bool levels;        /* floats are raw values of float data, not scaled 8-bit ones */
    int64_t count, got; /* inputs */
    int64_t pictures;
    px_npz_writer *inputs, *originals;
    pxi_triples triples;
    uint8_t *triple; /* the pictures of one input; NULL: no pictures */
    float *floats;   /* the values of one input */
};

static const char *const picture_folders[TRIPLE] = {
    [TRIPLE_ORIGINAL] = "originals",
    [TRIPLE_INPUT] = "inputs",
    [TRIPLE_PERTURBATION] = "perturbations",
};

/* --- making it ------------------------------------------------------------------------------- */

static px_status folder_path(const px_synthesis_folder *folder, const char *name, char **out,
                             px_error *err)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", px_folder_path(folder->folder), name);
    *out = px_text_take(&text);
    return *out ? PX_OK : pxi_no_memory(err);
}

static px_status folder_npz(const px_synthesis_folder *folder, const char *name, bool bytes,
                            px_npz_writer **out, px_error *err)
{
    px_shape x = px_dataset_shape(folder->set);
    char *path = NULL;
    for (int d = x.rank++; d > 0; d--)
        x.dim[d] = x.dim[d - 1];
    x.dim[0] = folder->count;
    PX_TRY(folder_path(folder, name, &path, err));
    px_status status = px_npz_create(path, out, err);
    free(path);
    PX_THEN(status, px_npz_begin(*out, "x", bytes ? PX_UINT8 : PX_FLOAT32, &x, err));
    return status;
}

static px_status folder_open(px_synthesis_folder *folder, const char *path, bool fresh,
                             px_error *err)
{
    PX_TRY(px_folder_begin(path, "synthesize", fresh, &folder->folder, err));
    PX_TRY(PX_NEW(folder->floats, folder->rule.count, err));
    PX_TRY(folder_npz(folder, "inputs.npz", folder->rounds, &folder->inputs, err));
    PX_TRY(folder_npz(folder, "originals.npz", px_dataset_is_8bit(folder->set), &folder->originals,
                      err));
    if (folder->triples.form.channels == 0 || folder->count == 0)
        return PX_OK;
    folder->triple = pxi_calloc(TRIPLE, folder->rule.count);
    if (!folder->triple)
        return pxi_no_memory(err);
    for (int i = 0; i < TRIPLE && folder->pictures > 0; i++) {
        char *name = NULL;
        PX_TRY(folder_path(folder, picture_folders[i], &name, err));
        const px_status status = px_folder_make(name, err);
        free(name);
        PX_TRY(status);
    }
    return PX_OK;
}

px_status px_synthesis_folder_new(const char *path, const px_dataset *set, const px_preprocess *pre,
                                  const px_synthesis_options *options, int64_t count,
                                  const px_synthesis_folder_options *how, px_synthesis_folder **out,
                                  px_error *err)
{
    px_synthesis_options complete = *options;
    PX_TRY(px_synthesis_complete(&complete, set, pre, err));
    px_synthesis_folder *folder = NULL;
    PX_TRY(PX_NEW(folder, 1, err));
    folder->set = set;
    folder->rounds = px_dataset_is_8bit(set) && !options->keep_float;
    folder->levels = !px_dataset_is_8bit(set);
    folder->count = count;
    folder->pictures = how->pictures < 0 ? count : PX_MIN(how->pictures, count);
    const pxi_pixel_bounds bounds = pxi_synthesis_bounds(&complete);
    pxi_pixel_rule_init(&folder->rule, set, pre, &bounds);
    folder->triples = (pxi_triples){
        .set = set,
        .form = pxi_picture_form_of(set, pre, &complete, how->absolute),
        .most = PX_MIN(PX_MAX(how->sheet, 0), PX_SHEET_ITEMS_MOST / TRIPLE),
    };
    px_status status = PX_OK;
    if (how->title && !(folder->title = pxi_strdup(how->title)))
        status = pxi_no_memory(err);
    PX_THEN(status, folder_open(folder, path, how->fresh, err));
    return PX_GIVE(status, folder, out, px_synthesis_folder_abandon);
}

/* --- inputs as they come --------------------------------------------------------------------- */

/* No sync for each: the folder counts once it has its name. */
static px_status folder_png(const px_synthesis_folder *folder, int which, int64_t place,
                            px_error *err)
{
    const pxi_picture_form *form = &folder->triples.form;
    char name[64], *path = NULL;
    uint8_t *png = NULL;
    size_t size = 0;
    if (pxi_ranks_mute())
        return PX_OK;
    snprintf(name, sizeof name, "%s/%06" PRId64 ".png", picture_folders[which], place);
    PX_TRY(folder_path(folder, name, &path, err));
    px_status status =
        px_png_encode(form->width, form->height, form->channels,
                      folder->triple + (size_t)which * form->count, &png, &size, err);
    FILE *stream = status == PX_OK ? fopen(path, "wb") : NULL;
    if (status == PX_OK && !stream)
        status = px_fail(err, PX_E_IO, "'%s': %s", path, strerror(errno));
    if (stream) {
        const bool whole = fwrite(png, 1, size, stream) == size;
        if (fclose(stream) != 0 || !whole)
            status = px_fail(err, PX_E_IO, "'%s': %s", path, strerror(errno));
    }
    free(png);
    free(path);
    return status;
}

static px_status folder_write_x(px_synthesis_folder *folder, const px_synthesis_made *made,
                                px_error *err)
{
    const size_t count = folder->rule.count;
    uint8_t *bytes = (uint8_t *)folder->floats; /* one after the other */
    if (folder->rounds) {
        PX_TRY(px_npz_write(folder->inputs, made->bytes, count, err));
    } else {
        for (size_t i = 0; i < count; i++)
            folder->floats[i] = folder->levels
                                    ? made->exact[i]
                                    : (float)pxi_pixel_units(&folder->rule, (double)made->exact[i]);
        PX_TRY(px_npz_write(folder->inputs, folder->floats, count * sizeof(float), err));
    }
    if (folder->levels)
        return px_npz_write(folder->originals, made->original, count * sizeof(float), err);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)made->original[i];
    return px_npz_write(folder->originals, bytes, count, err);
}

px_status px_synthesis_folder_add(void *context, const px_synthesis_made *made, px_error *err)
{
    px_synthesis_folder *folder = context;
    PX_TRY(folder_write_x(folder, made, err));
    folder->got++;
    if (!folder->triple)
        return PX_OK;
    PX_TRY(pxi_picture_triple(&folder->triples.form, made, folder->triple, err));
    for (int i = 0; i < TRIPLE && made->place < folder->pictures; i++)
        PX_TRY(folder_png(folder, i, made->place, err));
    return pxi_triples_add(&folder->triples, made->row, folder->triple, err);
}

/* --- the end --------------------------------------------------------------------------------- */

static int64_t row_number(const px_dataset *set, const px_synthesis_row *row, int column,
                          bool original)
{
    return column == 0   ? row->label
           : column == 1 ? px_dataset_index(set, row->input)
           : original    ? row->before
                         : row->stored.predicted;
}

static px_status folder_close_npz(const px_synthesis_folder *folder, px_npz_writer **writer,
                                  const px_synthesis *synthesis, bool original, px_error *err)
{
    static const char *const names[] = {"y", "indices", "predictions"};
    const px_shape line = {1, {folder->count}};
    const px_synthesis_row *rows = px_synthesis_rows(synthesis);
    for (int column = 0; column < 3; column++) {
        PX_TRY(px_npz_begin(*writer, names[column], PX_INT64, &line, err));
        for (int64_t i = 0; i < folder->count; i++) {
            const int64_t value = row_number(folder->set, &rows[i], column, original);
            PX_TRY(px_npz_write(*writer, &value, sizeof value, err));
        }
    }
    px_npz_writer *done = *writer;
    *writer = NULL; /* commit frees it in any case */
    return px_npz_commit(done, err);
}

static void csv_form(FILE *stream, const px_synthesis_form *form)
{
    const double numbers[] = {form->loss, form->l1, form->l2, form->linf};
    char text[PX_REAL_TEXT];
    fprintf(stream, ",%" PRId64, form->predicted);
    for (size_t i = 0; i < PX_LEN(numbers); i++)
        fprintf(stream, ",%s", px_real_text(numbers[i], text));
    fprintf(stream, ",%" PRId64, form->rose);
}

static px_status folder_csv(const px_synthesis_folder *folder, const px_synthesis *synthesis,
                            px_error *err)
{
    px_file_writer writer = {0};
    px_text field = {0};
    char *path = NULL;
    PX_TRY(folder_path(folder, "index.csv", &path, err));
    const px_status status = pxi_file_create(path, &writer, err);
    free(path);
    PX_TRY(status);
    fputs("row,index,name,label,before,loss_before,neurons,predicted_float,loss_float,l1_float,"
          "l2_float,linf_float,rose_float,predicted,loss,l1,l2,linf,rose,unchanged\n",
          writer.stream);
    bool failed = false;
    for (int64_t i = 0; i < folder->count; i++) {
        const px_synthesis_row *row = &px_synthesis_rows(synthesis)[i];
        char name[512], text[PX_REAL_TEXT];
        fprintf(writer.stream, "%" PRId64 ",%" PRId64 ",", i,
                px_dataset_index(folder->set, row->input));
        px_text_clear(&field);
        pxi_csv_put(&field, px_dataset_name(folder->set, row->input, name, sizeof name));
        failed |= px_text_failed(&field);
        fputs(px_text_get(&field), writer.stream);
        fprintf(writer.stream, ",%" PRId64 ",%" PRId64 ",%s,%" PRId64, row->label, row->before,
                px_real_text(row->loss_before, text), row->neurons);
        csv_form(writer.stream, &row->exact);
        csv_form(writer.stream, &row->stored);
        fprintf(writer.stream, ",%d\n", row->unchanged_stored);
    }
    px_text_done(&field);
    if (!failed)
        return pxi_file_commit(&writer, err);
    pxi_file_abandon(&writer);
    return pxi_no_memory(err);
}

static px_status folder_finish(px_synthesis_folder *folder, const px_synthesis *synthesis,
                               const char *report, px_error *err)
{
    char *path = NULL;
    if (folder->got != folder->count || px_synthesis_count(synthesis) != folder->count)
        return px_fail(err, PX_E_INTERNAL, "%" PRId64 " of %" PRId64 " inputs came", folder->got,
                       folder->count);
    PX_TRY(folder_close_npz(folder, &folder->inputs, synthesis, false, err));
    PX_TRY(folder_close_npz(folder, &folder->originals, synthesis, true, err));
    PX_TRY(folder_csv(folder, synthesis, err));
    if (report) {
        PX_TRY(folder_path(folder, "report.json", &path, err));
        const px_status status = pxi_file_write(path, report, strlen(report), err);
        free(path);
        PX_TRY(status);
    }
    if (folder->triple && folder->triples.most > 0) {
        PX_TRY(folder_path(folder, "sheet.png", &path, err));
        const px_status status = pxi_triples_save(&folder->triples, folder->title, path, err);
        free(path);
        PX_TRY(status);
    }
    px_folder *whole = folder->folder;
    folder->folder = NULL; /* commit frees it in any case */
    return px_folder_commit(whole, err);
}

px_status px_synthesis_folder_commit(px_synthesis_folder *folder, const px_synthesis *synthesis,
                                     const char *report, px_error *err)
{
    const px_status status = folder_finish(folder, synthesis, report, err);
    px_synthesis_folder_abandon(folder);
    return status;
}

void px_synthesis_folder_abandon(px_synthesis_folder *folder)
{
    if (!folder)
        return;
    if (folder->inputs)
        px_npz_abandon(folder->inputs);
    if (folder->originals)
        px_npz_abandon(folder->originals);
    px_folder_abandon(folder->folder);
    pxi_triples_done(&folder->triples);
    free(folder->triple);
    free(folder->floats);
    free(folder->title);
    free(folder);
}
