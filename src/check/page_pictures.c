/* src/check/page_pictures.c - thumbnails of inputs in one sprite sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include "base/arena.h"
#include "describe/mask.h"

#include <internal/data.h>
#include <stdlib.h>
#include <string.h>

enum { TILE_MOST = 64, TILE_MOST_AUDIO = 160, TILE_LEAST = 8 };

px_status pxi_page_pictures_open(pxi_page *p, px_error *err)
{
    const px_check *c = p->c;
    const px_shape shape = px_dataset_shape(c->set);
    PX_TRY(PX_NEW(p->values, c->floats, err));
    PX_TRY(PX_NEW(p->bytes, c->floats, err));
    PX_TRY(PX_NEW(p->shown, c->count, err));
    if (!(p->texts = pxi_arena_new()))
        return pxi_no_memory(err);
    p->pixels = pxi_calloc(c->floats, sizeof(float));
    if (!p->pixels)
        return pxi_no_memory(err);
    if (shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3) ||
        shape.dim[1] > PX_SHEET_SIDE_MOST || shape.dim[2] > PX_SHEET_SIDE_MOST)
        return PX_OK;
    p->channels = (int)shape.dim[0];
    p->height = (int)shape.dim[1];
    p->width = (int)shape.dim[2];
    p->spectrogram = px_dataset_audio(c->set) && p->channels == 1;
    if (p->spectrogram) {
        p->width = (int)shape.dim[1];
        p->height = (int)shape.dim[2];
        PX_TRY(pxi_page_audio_open(p, err));
    }
    const int longest = PX_MAX(p->width, p->height);
    const int side = PX_MIN(longest, p->spectrogram ? TILE_MOST_AUDIO : TILE_MOST);
    const int width = PX_MAX(p->width * side / longest, TILE_LEAST);
    const int height = PX_MAX(p->height * side / longest, TILE_LEAST);
    return px_sprites_new(width, height, &p->sprites, err);
}

void pxi_page_pictures_close(pxi_page *p)
{
    px_sprites_free(p->sprites);
    pxi_arena_free(p->texts);
    free(p->values);
    free(p->bytes);
    free(p->pixels);
    free(p->shown);
    free(p->chosen);
}

static const pxi_page_tile no_tile = {.at = {.rank = -1}};

static pxi_page_tile tile_of(int tile)
{
    return (pxi_page_tile){.at = {.rank = 2, .dim = {0, tile}}, .is = true};
}

/* Raw values, planes, as 8-bit pixels: floats are shown on their scaled range of 0 to 1. */
static px_status tile_add(const pxi_page *p, pxi_page_tile *out, px_error *err)
{
    const px_check *c = p->c;
    const size_t places = (size_t)p->width * (size_t)p->height, channels = (size_t)p->channels;
    const double unit = px_dataset_is_8bit(c->set) ? 1.0 : 255.0 * (double)c->pre.scale;
    int tile = 0;
    if (p->spectrogram)
        pxi_page_audio_picture(p);
    for (size_t k = 0; k < channels && !p->spectrogram; k++)
        for (size_t i = 0; i < places; i++) {
            const double value = (double)p->values[k * places + i] * unit;
            p->bytes[i * channels + k] =
                (uint8_t)(value > 0.0 ? value < 255.0 ? value + 0.5 : 255.0 : 0.0);
        }
    const px_pixels picture = {p->width, p->height, p->channels, p->bytes};
    PX_TRY(px_sprites_add(p->sprites, &picture, &tile, err));
    *out = tile_of(tile);
    return PX_OK;
}

/* As much of a text as a card can bear, in whole letters; frees `text`. */
static px_status text_add(const pxi_page *p, char *text, pxi_page_tile *out, px_error *err)
{
    enum { TEXT_MOST = 600 };
    size_t length = text ? strlen(text) : 0;
    if (length > TEXT_MOST)
        for (length = TEXT_MOST; length > 0 && (text[length] & 0xc0) == 0x80;)
            length--;
    const bool cut = text && text[length];
    char *kept = text ? pxi_arena_alloc(p->texts, length + 5, 1) : NULL;
    if (kept) {
        memcpy(kept, text, length);
        strcpy(kept + length, cut ? " ..." : "");
    }
    out->text = kept;
    free(text);
    return text && !kept ? pxi_no_memory(err) : PX_OK;
}

px_status pxi_page_input(const pxi_page *p, int64_t input, pxi_page_tile *out, px_error *err)
{
    *out = no_tile;
    if (input < 0 || input >= p->c->count)
        return PX_OK;
    if (!p->sprites) {
        char *text = NULL;
        PX_TRY(px_dataset_text(p->c->set, input, &text, err));
        return text_add(p, text, out, err);
    }
    PX_TRY(px_dataset_pixels(p->c->set, input, p->values, err));
    return tile_add(p, out, err);
}

px_status pxi_page_stored(const pxi_page *p, int64_t id, pxi_page_tile *out, px_error *err)
{
    px_campaign_input in;
    *out = no_tile;
    if (!p->campaign)
        return PX_OK;
    PX_TRY(px_campaign_read(p->campaign, id, &in, p->pixels, err));
    if (!p->sprites) {
        char *text = NULL;
        PX_TRY(px_dataset_words(p->c->set, p->pixels, &text, err));
        return text_add(p, text, out, err);
    }
    for (size_t i = 0; i < p->c->floats; i++)
        p->values[i] = px_dataset_is_8bit(p->c->set) ? (float)((const uint8_t *)p->pixels)[i]
                                                     : ((const float *)p->pixels)[i];
    return tile_add(p, out, err);
}

px_status pxi_page_map(const pxi_page *p, const uint8_t *map, int height, int width,
                       pxi_page_tile *out, px_error *err)
{
    const size_t places = (size_t)p->width * (size_t)p->height;
    int tile = 0;
    *out = no_tile;
    if (!p->sprites || p->spectrogram)
        return PX_OK;
    float *small = NULL;
    PX_TRY(PX_NEW(small, height * width, err));
    for (int i = 0; i < height * width; i++)
        small[i] = (float)map[i];
    pxi_upsample(small, height, width, p->height, p->width, /* zero_padded= */ false, p->values);
    free(small);
    for (size_t i = 0; i < places; i++)
        p->bytes[i] = (uint8_t)(p->values[i] < 255.0f ? p->values[i] + 0.5f : 255.0f);
    const px_pixels picture = {p->width, p->height, 1, p->bytes};
    PX_TRY(px_sprites_add(p->sprites, &picture, &tile, err));
    *out = tile_of(tile);
    return PX_OK;
}
