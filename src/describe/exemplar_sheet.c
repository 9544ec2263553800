/* src/describe/exemplar_sheet.c - exemplars of units as contact sheets, masks tinted */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/memory.h"
#include <internal/picture.h>
#include <plexor/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LETTERS = 17, LINES = 3 }; /* of a caption, at the width of a small picture */

typedef struct sheet_job {
    const px_exemplars *e;
    const px_dataset *set;
    bool blind; /* no title, no captions */
    px_sheet *sheet;
    uint8_t *planes, *pixels, *mask; /* [3][H][W], [H][W][3], [H][W] */
} sheet_job;

/* The unit's number and its text, parted at blanks into what a picture has room for. */
static void caption_wrap(px_text *out, int64_t unit, const char *text)
{
    size_t line = 0;
    int lines = 1;
    px_text_clear(out);
    px_text_format(out, "%" PRId64, unit);
    line = LINE_LETTERS; /* the text begins on the next one */
    while (text && *text) {
        const size_t word = strcspn(text, " ");
        if (line + 1 + word > LINE_LETTERS && lines < LINES) {
            px_text_add(out, "\n");
            line = 0;
            lines++;
        } else {
            px_text_add(out, " ");
        }
        px_text_add_bytes(out, text, word);
        line += word + 1;
        text += word;
        text += strspn(text, " ");
    }
}

static px_status sheet_cell(sheet_job *job, size_t layer, int64_t unit, int64_t j,
                            const char *caption, px_error *err)
{
    const px_exemplar_facts *f = &job->e->facts;
    const size_t plane = (size_t)f->height * (size_t)f->width;
    const px_unit u = px_exemplars_unit(job->e, layer, unit);
    memset(job->pixels, 255, 3 * plane);
    memset(job->mask, 0, plane);
    if (j < u.count) {
        if (job->e->loaded)
            PX_TRY(px_exemplars_picture(job->e, layer, unit, j, job->planes, err));
        else
            PX_TRY(pxi_exemplar_rgb(job->set, u.top[j].index, job->planes, err));
        for (size_t i = 0; i < plane; i++)
            for (size_t c = 0; c < 3; c++)
                job->pixels[3 * i + c] = job->planes[c * plane + i];
        PX_TRY(px_exemplars_mask(job->e, layer, unit, j, f->height, f->width, job->mask, err));
        for (size_t i = 0; i < plane; i++)
            job->mask[i] = job->mask[i] ? 255 : 0;
    }
    const px_sheet_item item = {.picture = {f->width, f->height, 3, job->pixels},
                                .other = {f->width, f->height, 1, job->mask},
                                .overlay = PX_SHEET_MASK,
                                .caption = caption};
    return px_sheet_add(job->sheet, &item, err);
}

static px_status sheet_rows(sheet_job *job, size_t layer, const int64_t *units, size_t count,
                            const char *const *texts, px_error *err)
{
    px_text caption = {0};
    px_status status = PX_OK;
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        caption_wrap(&caption, units[i], texts ? texts[i] : NULL);
        if (px_text_failed(&caption))
            status = pxi_no_memory(err);
        for (int64_t j = 0; j < job->e->facts.count && status == PX_OK; j++)
            status = sheet_cell(job, layer, units[i], j,
                                j == 0 && !job->blind ? px_text_get(&caption) : NULL, err);
    }
    px_text_done(&caption);
    return status;
}

static px_status sheet_make(sheet_job *job, size_t layer, const int64_t *units, size_t count,
                            const char *const *texts, const char *path, px_error *err)
{
    const px_exemplar_facts *f = &job->e->facts;
    const size_t plane = (size_t)f->height * (size_t)f->width;
    const px_sheet_options options = {.title = job->blind ? NULL : job->e->layers[layer].info.name,
                                      .columns = job->blind ? 0 : (int)f->count};
    px_status status = PX_OK;
    job->planes = pxi_calloc(plane, 3);
    job->pixels = pxi_calloc(plane, 3);
    job->mask = pxi_calloc(plane, 1);
    if (!job->planes || !job->pixels || !job->mask)
        status = pxi_no_memory(err);
    PX_THEN(status, px_sheet_new(&options, &job->sheet, err));
    PX_THEN(status, sheet_rows(job, layer, units, count, texts, err));
    PX_THEN(status, px_sheet_save(job->sheet, path, err));
    px_sheet_free(job->sheet);
    free(job->planes);
    free(job->pixels);
    free(job->mask);
    return status;
}

px_status px_exemplars_sheet(const px_exemplars *exemplars, const px_dataset *set, size_t layer,
                             const int64_t *units, size_t count, const char *const *texts,
                             const char *path, px_error *err)
{
    sheet_job job = {.e = exemplars, .set = set};
    if (layer >= exemplars->layer_count)
        return px_fail(err, PX_E_USAGE, "there is no layer %zu among the exemplars", layer);
    for (size_t i = 0; i < count; i++)
        if (units[i] < 0 || units[i] >= exemplars->layers[layer].info.units)
            return px_fail(err, PX_E_USAGE, "layer '%s' has no unit %" PRId64,
                           exemplars->layers[layer].info.name, units[i]);
    return sheet_make(&job, layer, units, count, texts, path, err);
}

px_status pxi_exemplar_blind_sheet(const px_exemplars *exemplars, const px_dataset *set,
                                   size_t layer, int64_t unit, const char *path, px_error *err)
{
    sheet_job job = {.e = exemplars, .set = set, .blind = true};
    return sheet_make(&job, layer, &unit, 1, NULL, path, err);
}
