/* src/generate/minimize_pictures.c - shrunk faults as a folder: NPZ, CSV, pictures */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"

#include <internal/data.h>
#include <internal/folder.h>
#include <internal/minimize.h>
#include <internal/picture.h>
#include <internal/text.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 10, PICTURES = 4 }; /* the difference is shown so many times as large */

typedef struct shrunk_folder {
    px_campaign *campaign;
    const char *folder;
    px_campaign_identity identity;
    size_t size; /* of an input, in values and bytes */
    bool pictures;
    const px_shrunk_fault **faults; /* those on which the network errs */
    size_t count;
    uint8_t *root, *planes, *together; /* together: PICTURES of them, channels last */
} shrunk_folder;

static char *folder_path(const shrunk_folder *f, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", f->folder, name);
    return px_text_take(&text);
}

/* --- pictures -------------------------------------------------------------------------------- */

static void planes_together(const px_shape *shape, const uint8_t *planes, uint8_t *together)
{
    const size_t channels = (size_t)shape->dim[0];
    const size_t plane = (size_t)shape->dim[1] * (size_t)shape->dim[2];
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < plane; i++)
            together[i * channels + c] = planes[c * plane + i];
}

/* Middle grey is no difference. */
static void planes_difference(const uint8_t *root, const uint8_t *pixels, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i++) {
        const int level = 128 + TIMES * ((int)pixels[i] - (int)root[i]);
        out[i] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
    }
}

static px_status picture_add(const shrunk_folder *f, px_sheet *sheet, int place,
                             const uint8_t *planes, const char *caption, px_error *err)
{
    const px_shape *shape = &f->identity.shape;
    uint8_t *together = f->together + (size_t)place * f->size;
    planes_together(shape, planes, together);
    const px_sheet_item item = {
        .picture = {(int)shape->dim[2], (int)shape->dim[1], (int)shape->dim[0], together},
        .caption = caption};
    return px_sheet_add(sheet, &item, err);
}

static px_status picture_fill(const shrunk_folder *f, const px_shrunk_fault *fault, px_sheet *sheet,
                              px_error *err)
{
    px_campaign_input in;
    char words[96];
    PX_TRY(px_campaign_read(f->campaign, fault->root, &in, f->root, err));
    snprintf(words, sizeof words, "seed %" PRId64 "\nlabel %" PRId64, fault->root, fault->label);
    PX_TRY(picture_add(f, sheet, 0, f->root, words, err));
    PX_TRY(px_campaign_read(f->campaign, fault->id, &in, f->planes, err));
    snprintf(words, sizeof words, "failure %" PRId64 "\nas %" PRId64 ", l2 %.3g", fault->id,
             fault->prediction_before, fault->before.l2);
    PX_TRY(picture_add(f, sheet, 1, f->planes, words, err));
    snprintf(words, sizeof words, "minimized\nas %" PRId64 ", l2 %.3g", fault->prediction,
             fault->after.l2);
    PX_TRY(picture_add(f, sheet, 2, fault->pixels, words, err));
    planes_difference(f->root, fault->pixels, f->size, f->planes);
    snprintf(words, sizeof words, "difference x%d\n%" PRId64 " of %zu values", TIMES,
             fault->after.l0, f->size);
    return picture_add(f, sheet, 3, f->planes, words, err);
}

static px_status folder_picture(const shrunk_folder *f, const px_shrunk_fault *fault, px_error *err)
{
    char name[48];
    px_sheet *sheet = NULL;
    snprintf(name, sizeof name, "%" PRId64 ".png", fault->id);
    char *path = folder_path(f, name);
    px_status status = path ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, px_sheet_new(&(px_sheet_options){.columns = PICTURES}, &sheet, err));
    PX_THEN(status, picture_fill(f, fault, sheet, err));
    PX_THEN(status, px_sheet_save(sheet, path, err));
    px_sheet_free(sheet);
    free(path);
    return status;
}

/* --- tables ---------------------------------------------------------------------------------- */

static void csv_distance(px_text *text, const px_distance *distance)
{
    char l2[PX_REAL_TEXT], linf[PX_REAL_TEXT];
    px_text_format(text, ",%" PRId64 ",%s,%s", distance->l0, px_real_text(distance->l2, l2),
                   px_real_text(distance->linf, linf));
}

static px_status folder_csv(const shrunk_folder *f, px_error *err)
{
    px_text text = {0};
    px_text_add(&text, "id,root,label,prediction_before,prediction,confidence,links_before,links,"
                       "l0_before,l2_before,linf_before,l0,l2,linf,executions,chain\n");
    for (size_t i = 0; i < f->count; i++) {
        const px_shrunk_fault *fault = f->faults[i];
        char confidence[PX_REAL_TEXT];
        px_text_format(
            &text, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%zu,%zu",
            fault->id, fault->root, fault->label, fault->prediction_before, fault->prediction,
            px_real_text(fault->confidence, confidence), fault->links_before, fault->links);
        csv_distance(&text, &fault->before);
        csv_distance(&text, &fault->after);
        px_text_format(&text, ",%" PRId64 ",\"", fault->executions);
        for (const char *p = fault->chain ? fault->chain : ""; *p; p++)
            px_text_add_bytes(&text, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
        px_text_add(&text, "\"\n");
    }
    char *path = folder_path(f, "index.csv");
    const px_status status = px_text_failed(&text) || !path
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, px_text_get(&text), text.length, err);
    free(path);
    px_text_done(&text);
    return status;
}

static px_status npz_column(const shrunk_folder *f, px_npz_writer *npz, const char *name,
                            size_t offset, px_error *err)
{
    int64_t *values = NULL;
    PX_TRY(PX_NEW(values, f->count, err));
    for (size_t i = 0; i < f->count; i++)
        memcpy(&values[i], (const char *)f->faults[i] + offset, sizeof *values);
    const px_tensor column = {
        .dtype = PX_INT64, .shape = {.rank = 1, .dim = {(int64_t)f->count}}, .data = values};
    const px_status status = px_npz_add(npz, name, &column, err);
    free(values);
    return status;
}

static px_status npz_fill(const shrunk_folder *f, px_npz_writer *npz, px_error *err)
{
    const px_shape *shape = &f->identity.shape;
    px_shape x = {.rank = shape->rank + 1, .dim = {(int64_t)f->count}};
    memcpy(x.dim + 1, shape->dim, (size_t)shape->rank * sizeof *x.dim);
    PX_TRY(px_npz_begin(npz, "x", PX_UINT8, &x, err));
    for (size_t i = 0; i < f->count; i++)
        PX_TRY(px_npz_write(npz, f->faults[i]->pixels, f->size, err));
    PX_TRY(npz_column(f, npz, "y", offsetof(px_shrunk_fault, label), err));
    PX_TRY(npz_column(f, npz, "predictions", offsetof(px_shrunk_fault, prediction), err));
    return npz_column(f, npz, "ids", offsetof(px_shrunk_fault, id), err);
}

static px_status folder_npz(const shrunk_folder *f, px_error *err)
{
    px_npz_writer *npz = NULL;
    char *path = folder_path(f, "inputs.npz");
    px_status status = path ? px_npz_create(path, &npz, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        status = npz_fill(f, npz, err);
        if (status == PX_OK)
            status = px_npz_commit(npz, err);
        else
            px_npz_abandon(npz);
    }
    free(path);
    return status;
}

/* --- the whole ------------------------------------------------------------------------------- */

static px_status folder_work(shrunk_folder *f, const px_shrunk_fault *faults, size_t count,
                             px_error *err)
{
    f->faults = pxi_calloc(count + 1, sizeof *f->faults);
    f->root = pxi_calloc(f->size, 1);
    f->planes = pxi_calloc(f->size, 1);
    f->together = pxi_calloc(PICTURES, f->size);
    if (!f->faults || !f->root || !f->planes || !f->together)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (faults[i].errs)
            f->faults[f->count++] = &faults[i];
    if (!f->count)
        return px_fail(err, PX_E_INPUT, "there are no failures to write");
    for (size_t i = 0; f->pictures && i < f->count; i++)
        PX_TRY(folder_picture(f, f->faults[i], err));
    PX_TRY(folder_npz(f, err));
    return folder_csv(f, err);
}

px_status px_shrunk_save(px_campaign *campaign, const px_shrunk_fault *faults, size_t count,
                         const char *folder, bool fresh, px_error *err)
{
    shrunk_folder f = {.campaign = campaign};
    px_folder *whole = NULL;
    if (!px_campaign_identity_get(campaign, &f.identity) || f.identity.dtype != PX_UINT8)
        return px_fail(err, PX_E_USAGE, "'%s': holds no 8-bit inputs",
                       px_campaign_folder(campaign));
    const px_shape *shape = &f.identity.shape;
    f.size = px_campaign_size(campaign);
    f.pictures = shape->rank == 3 && (shape->dim[0] == 1 || shape->dim[0] == 3) &&
                 shape->dim[1] <= PX_SHEET_SIDE_MOST / 8 && shape->dim[2] <= PX_SHEET_SIDE_MOST / 8;
    PX_TRY(px_folder_begin(folder, "minimize", fresh, &whole, err));
    f.folder = px_folder_path(whole);
    px_status status = folder_work(&f, faults, count, err);
    if (status == PX_OK)
        status = px_folder_commit(whole, err);
    else
        px_folder_abandon(whole);
    free(f.faults);
    free(f.root);
    free(f.planes);
    free(f.together);
    return status;
}
