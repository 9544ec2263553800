/* src/report/sprites.c - many thumbnails in one PNG */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/report.h>
#include <plexor/field.h>

#include "base/base64.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SPRITES_CHANNELS = 3, SPRITES_GROUND = 128 };

struct px_sprites {
    int width, height;
    size_t tile_bytes;
    uint8_t *tiles; /* RGB, one after the other */
    size_t count, capacity;
    bool coloured;
    int *places; /* by hash: tile + 1, or 0; a power of two, at most half full */
    size_t place_count;
};

px_status px_sprites_new(int width, int height, px_sprites **out, px_error *err)
{
    if (width < 1 || height < 1 || width > PX_SPRITES_SIDE_MOST || height > PX_SPRITES_SIDE_MOST)
        return px_fail(err, PX_E_USAGE, "thumbnails have sides of 1 to %d pixels, not %d x %d",
                       PX_SPRITES_SIDE_MOST, width, height);
    px_sprites *sprites = NULL;
    PX_TRY(PX_NEW(sprites, 1, err));
    sprites->width = width;
    sprites->height = height;
    sprites->tile_bytes = (size_t)width * (size_t)height * SPRITES_CHANNELS;
    *out = sprites;
    return PX_OK;
}

void px_sprites_free(px_sprites *sprites)
{
    if (!sprites)
        return;
    free(sprites->tiles);
    free(sprites->places);
    free(sprites);
}

int px_sprites_count(const px_sprites *sprites)
{
    return (int)sprites->count;
}

/* --- fitting --------------------------------------------------------------------------------- */

typedef struct sprite_fit {
    int left, top, width, height; /* in the tile */
} sprite_fit;

static sprite_fit sprites_fit(const px_sprites *sprites, const px_pixels *p)
{
    sprite_fit fit = {0};
    if (p->width <= sprites->width && p->height <= sprites->height) {
        const int steps = PX_MIN(sprites->width / p->width, sprites->height / p->height);
        fit.width = p->width * steps;
        fit.height = p->height * steps;
    } else {
        const double scale =
            fmin((double)sprites->width / p->width, (double)sprites->height / p->height);
        fit.width = PX_MIN(PX_MAX((int)lround(p->width * scale), 1), sprites->width);
        fit.height = PX_MIN(PX_MAX((int)lround(p->height * scale), 1), sprites->height);
    }
    fit.left = (sprites->width - fit.width) / 2;
    fit.top = (sprites->height - fit.height) / 2;
    return fit;
}

/* Mean of a rectangle of the picture whose borders may cut through pixels. */
static uint8_t sprites_area_mean(const px_pixels *p, int channel, double x0, double x1, double y0,
                                 double y1)
{
    double sum = 0.0, area = 0.0;
    for (int y = (int)y0; y < p->height && y < y1; y++) {
        const double high = fmin(y + 1.0, y1) - fmax(y, y0);
        for (int x = (int)x0; x < p->width && x < x1; x++) {
            const double part = high * (fmin(x + 1.0, x1) - fmax(x, x0));
            const size_t at = ((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels;
            sum += part * p->data[at + (size_t)channel];
            area += part;
        }
    }
    return area > 0.0 ? (uint8_t)(sum / area + 0.5) : SPRITES_GROUND;
}

static void sprites_draw(const px_sprites *sprites, const px_pixels *p, uint8_t *tile)
{
    const sprite_fit fit = sprites_fit(sprites, p);
    const double step_x = (double)p->width / fit.width, step_y = (double)p->height / fit.height;
    memset(tile, SPRITES_GROUND, sprites->tile_bytes);
    for (int y = 0; y < fit.height; y++)
        for (int x = 0; x < fit.width; x++) {
            const size_t row = (size_t)(fit.top + y) * (size_t)sprites->width;
            uint8_t *to = tile + (row + (size_t)(fit.left + x)) * SPRITES_CHANNELS;
            for (int c = 0; c < SPRITES_CHANNELS; c++)
                to[c] = c < p->channels ? sprites_area_mean(p, c, x * step_x, (x + 1) * step_x,
                                                            y * step_y, (y + 1) * step_y)
                                        : to[0];
        }
}

/* --- equal ones ------------------------------------------------------------------------------ */

static size_t sprites_hash(const px_sprites *sprites, const uint8_t *tile)
{
    return (size_t)XXH3_64bits(tile, sprites->tile_bytes);
}

static void sprites_place(int *places, size_t place_count, size_t hash, int tile)
{
    size_t at = hash & (place_count - 1);
    while (places[at])
        at = (at + 1) & (place_count - 1);
    places[at] = tile + 1;
}

static int sprites_find(const px_sprites *sprites, const uint8_t *tile)
{
    if (sprites->place_count == 0)
        return -1;
    const size_t mask = sprites->place_count - 1;
    for (size_t at = sprites_hash(sprites, tile) & mask; sprites->places[at];
         at = (at + 1) & mask) {
        const int known = sprites->places[at] - 1;
        if (memcmp(sprites->tiles + (size_t)known * sprites->tile_bytes, tile,
                   sprites->tile_bytes) == 0)
            return known;
    }
    return -1;
}

/* Room for one more tile; -1 when out of memory. */
static int sprites_reserve(px_sprites *sprites)
{
    if (pxi_grow(&sprites->tiles, &sprites->capacity, sprites->count + 1, sprites->tile_bytes) != 0)
        return -1;
    if (2 * (sprites->count + 1) <= sprites->place_count)
        return 0;
    const size_t wanted = sprites->place_count ? 2 * sprites->place_count : 64;
    int *places = pxi_calloc(wanted, sizeof *places);
    if (!places)
        return -1;
    for (size_t i = 0; i < sprites->count; i++)
        sprites_place(places, wanted,
                      sprites_hash(sprites, sprites->tiles + i * sprites->tile_bytes), (int)i);
    free(sprites->places);
    sprites->places = places;
    sprites->place_count = wanted;
    return 0;
}

px_status px_sprites_add(px_sprites *sprites, const px_pixels *picture, int *tile, px_error *err)
{
    if (picture->width < 1 || picture->height < 1 || picture->width > PX_SHEET_SIDE_MOST ||
        picture->height > PX_SHEET_SIDE_MOST || (picture->channels != 1 && picture->channels != 3))
        return px_fail(err, PX_E_USAGE,
                       "a picture of %d x %d pixels and %d channels cannot be a thumbnail",
                       picture->width, picture->height, picture->channels);
    const int64_t pixels = (int64_t)(sprites->count + 1) * sprites->width * sprites->height;
    if (sprites->count == PX_SPRITES_MOST || pixels > PX_SPRITES_PIXELS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "%zu thumbnails of %d x %d pixels are all that a sheet can hold; show fewer",
                       sprites->count, sprites->width, sprites->height);
    if (sprites_reserve(sprites) != 0)
        return pxi_no_memory(err);
    uint8_t *fresh = sprites->tiles + sprites->count * sprites->tile_bytes;
    sprites_draw(sprites, picture, fresh);
    int at = sprites_find(sprites, fresh);
    if (at < 0) {
        at = (int)sprites->count++;
        sprites_place(sprites->places, sprites->place_count, sprites_hash(sprites, fresh), at);
        sprites->coloured = sprites->coloured || picture->channels == 3;
    }
    *tile = at;
    return PX_OK;
}

/* --- out ------------------------------------------------------------------------------------- */

static size_t sprites_columns(const px_sprites *sprites) /* about a square */
{
    const double side = sqrt((double)sprites->count * sprites->height / sprites->width);
    return PX_MIN(PX_MAX((size_t)ceil(side), 1), PX_MAX(sprites->count, 1));
}

static px_status sprites_png(const px_sprites *sprites, uint8_t **png, size_t *size, px_error *err)
{
    const size_t columns = sprites_columns(sprites), channels = sprites->coloured ? 3 : 1;
    const size_t rows = PX_MAX((sprites->count + columns - 1) / columns, 1);
    const size_t width = columns * (size_t)sprites->width, height = rows * (size_t)sprites->height;
    uint8_t *pixels = pxi_calloc(width * height, channels);
    if (!pixels)
        return pxi_no_memory(err);
    for (size_t i = 0; i < sprites->count; i++) {
        const uint8_t *from = sprites->tiles + i * sprites->tile_bytes;
        for (size_t y = 0; y < (size_t)sprites->height; y++) {
            const size_t row = i / columns * (size_t)sprites->height + y;
            uint8_t *to = pixels + (row * width + i % columns * (size_t)sprites->width) * channels;
            for (size_t x = 0; x < (size_t)sprites->width; x++, from += SPRITES_CHANNELS)
                memcpy(to + x * channels, from, channels);
        }
    }
    const px_status status =
        px_png_encode((int)width, (int)height, (int)channels, pixels, png, size, err);
    free(pixels);
    return status;
}

typedef struct sheet_row {
    const char *png;
    int width, height;
    size_t columns, count;
} sheet_row;

static const px_field sheet_fields[] = {
    PX_FIELD(sheet_row, png, "png", "the sheet"),
    PX_FIELD(sheet_row, width, "width", "of a tile"),
    PX_FIELD(sheet_row, height, "height", "of a tile"),
    PX_FIELD(sheet_row, columns, "columns", "of tiles"),
    PX_FIELD(sheet_row, count, "count", "of tiles"),
    PX_FIELDS_END,
};

px_status px_sprites_json(const px_sprites *sprites, px_json *json, px_error *err)
{
    uint8_t *png = NULL;
    size_t size = 0;
    px_text uri = {0};
    PX_TRY(sprites_png(sprites, &png, &size, err));
    px_text_add(&uri, "data:image/png;base64,");
    pxi_base64_add(&uri, png, size);
    free(png);
    if (px_text_failed(&uri)) {
        px_text_done(&uri);
        return pxi_no_memory(err);
    }
    const sheet_row row = {px_text_get(&uri), sprites->width, sprites->height,
                           sprites_columns(sprites), sprites->count};
    px_fields_json(sheet_fields, &row, json);
    px_text_done(&uri);
    return PX_OK;
}
