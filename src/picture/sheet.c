/* src/picture/sheet.c - contact sheets: many small pictures with captions in one */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/picture.h>

#include "base/arena.h"
#include "base/memory.h"
#include "picture/palette.h"
#include "picture/scene.h"
#include "picture/stroke_font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHEET_TEXT = 12,
    SHEET_TITLE = 16,
    SHEET_MARGIN = 14,
    SHEET_GAP = 12,  /* between places */
    SHEET_LINE = 15, /* of a caption */
    SHEET_LINES_MOST = 3,
    SHEET_TEXT_MOST = 1000,    /* bytes */
    SHEET_CAPTION_WIDTH = 130, /* pixels that a caption may widen its place to */
    SHEET_ENLARGE_MOST = 64,
    SHEET_COLUMNS_MOST = 1000,
    SHEET_SIDE = 84, /* what small pictures are enlarged to, about */
};

typedef struct sheet_place {
    int width, height;
    const uint8_t *rgb;
    const char *lines[SHEET_LINES_MOST]; /* NULL: no more */
    bool marked;
} sheet_place;

struct px_sheet {
    px_arena *arena;
    px_sheet_options options;
    sheet_place *places;
    size_t count, capacity;
    int64_t pixels; /* of all pictures */
};

px_status px_sheet_new(const px_sheet_options *options, px_sheet **out, px_error *err)
{
    const px_sheet_options defaults = {0};
    if (!options)
        options = &defaults;
    if (options->columns < 0 || options->columns > SHEET_COLUMNS_MOST)
        return px_fail(err, PX_E_USAGE, "a contact sheet has 1 to %d columns, not %d",
                       SHEET_COLUMNS_MOST, options->columns);
    if (options->enlarge < 0 || options->enlarge > SHEET_ENLARGE_MOST)
        return px_fail(err, PX_E_USAGE, "pictures can be enlarged 1 to %d times, not %d",
                       SHEET_ENLARGE_MOST, options->enlarge);
    px_sheet *sheet = pxi_calloc(1, sizeof *sheet);
    px_arena *arena = pxi_arena_new();
    const char *title = NULL;
    if (arena && options->title)
        title = pxi_arena_strndup(arena, options->title, strnlen(options->title, SHEET_TEXT_MOST));
    if (!sheet || !arena || (options->title && !title)) {
        pxi_arena_free(arena);
        free(sheet);
        return pxi_no_memory(err);
    }
    *sheet = (px_sheet){.arena = arena, .options = *options};
    sheet->options.title = title;
    *out = sheet;
    return PX_OK;
}

void px_sheet_free(px_sheet *sheet)
{
    if (!sheet)
        return;
    free(sheet->places);
    pxi_arena_free(sheet->arena);
    free(sheet);
}

/* --- pictures in ----------------------------------------------------------------------------- */

static px_status sheet_check(const px_pixels *p, const char *what, px_error *err)
{
    if (p->width < 1 || p->height < 1 || p->width > PX_SHEET_SIDE_MOST ||
        p->height > PX_SHEET_SIDE_MOST || (p->channels != 1 && p->channels != 3) || !p->data)
        return px_fail(
            err, PX_E_USAGE,
            "a contact sheet cannot show %s of %d x %d pixels and %d channels; sides are 1 "
            "to %d, channels 1 or 3",
            what, p->width, p->height, p->channels, PX_SHEET_SIDE_MOST);
    return PX_OK;
}

/* Three times the mean over channels, so that it is whole. */
static int sheet_grey3(const px_pixels *p, size_t i)
{
    const uint8_t *at = p->data + i * (size_t)p->channels;
    return p->channels == 1 ? 3 * at[0] : at[0] + at[1] + at[2];
}

static void sheet_plain(const px_pixels *p, size_t count, uint8_t *rgb)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = p->channels == 3 ? p->data[3 * i + c] : p->data[i];
}

static void sheet_difference(const px_sheet_item *item, size_t count, uint8_t *rgb)
{
    int most = 1;
    for (size_t i = 0; i < count; i++)
        most = PX_MAX(most, abs(sheet_grey3(&item->other, i) - sheet_grey3(&item->picture, i)));
    for (size_t i = 0; i < count; i++) {
        const int more = sheet_grey3(&item->other, i) - sheet_grey3(&item->picture, i);
        pxi_colour colour = pxi_palette_diverging(0.5 + 0.5 * more / most);
        if (more == 0)
            colour = PXI_WHITE;
        memcpy(rgb + 3 * i, (const uint8_t[]){colour.r, colour.g, colour.b}, 3);
    }
}

static void sheet_mask(const px_sheet_item *item, size_t count, uint8_t *rgb)
{
    const pxi_colour tint = pxi_palette(1);
    const uint8_t ink[] = {tint.r, tint.g, tint.b};
    sheet_plain(&item->picture, count, rgb);
    for (size_t i = 0; i < count; i++) {
        const double share = 0.65 * sheet_grey3(&item->other, i) / (3 * 255);
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t)((1 - share) * rgb[3 * i + c] + share * ink[c] + 0.5);
    }
}

/* Parts a caption into lines; what is beyond the third is left out. False: out of memory. */
static bool sheet_caption(px_sheet *sheet, const char *caption, sheet_place *place)
{
    for (int i = 0; i < SHEET_LINES_MOST && caption && *caption; i++) {
        const size_t length = strcspn(caption, "\n");
        place->lines[i] =
            pxi_arena_strndup(sheet->arena, caption, PX_MIN(length, (size_t)SHEET_TEXT_MOST));
        if (!place->lines[i])
            return false;
        caption += length;
        caption += *caption == '\n';
    }
    return true;
}

px_status px_sheet_add(px_sheet *sheet, const px_sheet_item *item, px_error *err)
{
    const px_pixels *p = &item->picture;
    PX_TRY(sheet_check(p, "a picture", err));
    if (item->overlay != PX_SHEET_PLAIN) {
        PX_TRY(sheet_check(&item->other, "an overlay", err));
        if (item->other.width != p->width || item->other.height != p->height)
            return px_fail(err, PX_E_USAGE,
                           "an overlay of %d x %d pixels does not fit a picture of %d x %d",
                           item->other.width, item->other.height, p->width, p->height);
    }
    const int64_t pixels = (int64_t)p->width * p->height;
    if (sheet->count == PX_SHEET_ITEMS_MOST || pixels > PX_SHEET_PIXELS_MOST - sheet->pixels)
        return px_fail(err, PX_E_USAGE,
                       "a contact sheet has room for %d pictures of %lld pixels in all",
                       PX_SHEET_ITEMS_MOST, (long long)PX_SHEET_PIXELS_MOST);
    sheet_place place = {.width = p->width, .height = p->height, .marked = item->marked};
    uint8_t *rgb = pxi_arena_alloc(sheet->arena, (size_t)pixels, 3);
    if (!rgb || !sheet_caption(sheet, item->caption, &place) ||
        pxi_grow(&sheet->places, &sheet->capacity, sheet->count + 1, sizeof *sheet->places) != 0)
        return pxi_no_memory(err);
    place.rgb = rgb;
    if (item->overlay == PX_SHEET_DIFFERENCE)
        sheet_difference(item, (size_t)pixels, rgb);
    else if (item->overlay == PX_SHEET_MASK)
        sheet_mask(item, (size_t)pixels, rgb);
    else
        sheet_plain(p, (size_t)pixels, rgb);
    sheet->places[sheet->count++] = place;
    sheet->pixels += pixels;
    return PX_OK;
}

/* --- the sheet out --------------------------------------------------------------------------- */

typedef struct sheet_layout {
    int enlarge, columns, rows;
    int cell_width, picture_height, lines; /* of every place */
    int top;
    int64_t width, height;
} sheet_layout;

static sheet_layout sheet_arrange(const px_sheet *sheet)
{
    sheet_layout l = {.enlarge = sheet->options.enlarge};
    int widest = 1, highest = 1;
    double caption = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        const sheet_place *place = &sheet->places[i];
        widest = PX_MAX(widest, place->width);
        highest = PX_MAX(highest, place->height);
        for (int k = 0; k < SHEET_LINES_MOST && place->lines[k]; k++) {
            caption = fmax(caption, pxi_font_width(place->lines[k], SHEET_TEXT));
            l.lines = PX_MAX(l.lines, k + 1);
        }
    }
    if (l.enlarge == 0)
        l.enlarge = PX_MIN(PX_MAX(SHEET_SIDE / PX_MAX(widest, highest), 1), 8);
    l.picture_height = highest * l.enlarge;
    l.cell_width = PX_MAX(widest * l.enlarge, (int)ceil(fmin(caption, SHEET_CAPTION_WIDTH)));
    const int cell_height = l.picture_height + (l.lines ? 5 + l.lines * SHEET_LINE : 0);
    const int count = PX_MAX((int)sheet->count, 1);
    l.columns = sheet->options.columns;
    if (l.columns == 0)
        l.columns =
            (int)ceil(sqrt(1.3 * count * (cell_height + SHEET_GAP) / (l.cell_width + SHEET_GAP)));
    l.columns = PX_MIN(PX_MAX(l.columns, 1), PX_MIN(count, SHEET_COLUMNS_MOST));
    l.rows = (count + l.columns - 1) / l.columns;
    l.top = SHEET_MARGIN + (sheet->options.title ? 28 : 0);
    l.width = 2 * SHEET_MARGIN - SHEET_GAP + (int64_t)l.columns * (l.cell_width + SHEET_GAP);
    l.height = l.top + SHEET_MARGIN - SHEET_GAP + (int64_t)l.rows * (cell_height + SHEET_GAP);
    return l;
}

static void sheet_draw_place(pxi_scene *scene, const sheet_place *place, const sheet_layout *l,
                             int x, int y)
{
    const int width = place->width * l->enlarge, height = place->height * l->enlarge;
    const int left = x + (l->cell_width - width) / 2, top = y + (l->picture_height - height) / 2;
    const int edge = place->marked ? 3 : 1;
    pxi_scene_rect(scene, left - edge, top - edge, width + 2 * edge, height + 2 * edge,
                   place->marked ? pxi_palette(1) : PXI_RGB(0xc8c8c8));
    pxi_scene_image(scene, left, top, width, height, place->width, place->height, place->rgb);
    for (int k = 0; k < SHEET_LINES_MOST && place->lines[k]; k++) {
        const pxi_text_style style = {.x = x + l->cell_width / 2,
                                      .y = y + l->picture_height + 16 + k * SHEET_LINE,
                                      .size = SHEET_TEXT,
                                      .colour = PXI_INK,
                                      .anchor = PXI_ANCHOR_MIDDLE};
        pxi_scene_text_fit(scene, &style, place->lines[k], l->cell_width + SHEET_GAP - 4);
    }
}

static px_status sheet_draw(const px_sheet *sheet, pxi_scene **out, px_error *err)
{
    const sheet_layout l = sheet_arrange(sheet);
    if (l.width > INT32_MAX || l.height > INT32_MAX || l.width * l.height > PX_SHEET_PIXELS_MOST)
        return px_fail(
            err, PX_E_USAGE,
            "a contact sheet of %lld x %lld pixels is too large; take fewer pictures, or "
            "enlarge them less",
            (long long)l.width, (long long)l.height);
    pxi_scene *scene = pxi_scene_new((int)l.width, (int)l.height);
    if (!scene)
        return pxi_no_memory(err);
    if (sheet->options.title) {
        const pxi_text_style style = {
            .x = SHEET_MARGIN, .y = SHEET_MARGIN + 14, .size = SHEET_TITLE, .colour = PXI_INK};
        pxi_scene_set_title(scene, sheet->options.title);
        pxi_scene_text_fit(scene, &style, sheet->options.title, (double)l.width - 2 * SHEET_MARGIN);
    }
    const int step_x = l.cell_width + SHEET_GAP;
    const int step_y = l.picture_height + (l.lines ? 5 + l.lines * SHEET_LINE : 0) + SHEET_GAP;
    for (size_t i = 0; i < sheet->count; i++)
        sheet_draw_place(scene, &sheet->places[i], &l, SHEET_MARGIN + (int)i % l.columns * step_x,
                         l.top + (int)i / l.columns * step_y);
    *out = scene;
    return PX_OK;
}

px_status px_sheet_png(const px_sheet *sheet, uint8_t **out, size_t *size, px_error *err)
{
    pxi_scene *scene = NULL;
    PX_TRY(sheet_draw(sheet, &scene, err));
    const px_status status = pxi_scene_png(scene, out, size, err);
    pxi_scene_free(scene);
    return status;
}

px_status px_sheet_save(const px_sheet *sheet, const char *path, px_error *err)
{
    pxi_scene *scene = NULL;
    PX_TRY(sheet_draw(sheet, &scene, err));
    const px_status status = pxi_scene_save(scene, /* png= */ true, path, err);
    pxi_scene_free(scene);
    return status;
}
