/* src/describe/exemplars.c - units, their exemplars and masks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/memory.h"
#include "describe/mask.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_exemplar_options px_exemplar_options_default(void)
{
    return (px_exemplar_options){.count = 15, .quantile = 0.99};
}

px_status pxi_exemplar_units_init(pxi_exemplar_units *layer, int64_t count, bool with_maps,
                                  px_error *err)
{
    const size_t units = (size_t)layer->info.units, k = (size_t)count;
    const size_t places = (size_t)layer->info.h * (size_t)layer->info.w;
    layer->units = pxi_calloc(units, sizeof *layer->units);
    layer->top = pxi_calloc(units, k * sizeof *layer->top);
    if (with_maps)
        layer->maps = pxi_calloc(units, k * places * sizeof *layer->maps);
    if (!layer->units || !layer->top || (with_maps && !layer->maps))
        return pxi_no_memory_for(err, "the exemplars of layer '%s'", layer->info.name);
    for (size_t u = 0; u < units; u++) {
        layer->units[u] =
            (px_unit){.level = NAN, .most = NAN, .least = NAN, .top = layer->top + u * k};
        for (size_t j = 0; j < k && with_maps; j++)
            layer->top[u * k + j].map = layer->maps + (u * k + j) * places;
    }
    return PX_OK;
}

void px_exemplars_free(px_exemplars *exemplars)
{
    if (!exemplars)
        return;
    for (size_t i = 0; exemplars->layers && i < exemplars->layer_count; i++) {
        pxi_exemplar_units *layer = &exemplars->layers[i];
        free(layer->units);
        free(layer->top);
        free(layer->maps);
        free(layer->numbers);
        free(layer->images.path);
        free(layer->masks.path);
        pxi_bytes_done(&layer->images.bytes);
        pxi_bytes_done(&layer->masks.bytes);
    }
    free(exemplars->layers);
    pxi_arena_free(exemplars->arena);
    free(exemplars);
}

size_t px_exemplars_layer_count(const px_exemplars *exemplars)
{
    return exemplars->layer_count;
}

const px_exemplar_layer *px_exemplars_layer(const px_exemplars *exemplars, size_t layer)
{
    assert(layer < exemplars->layer_count);
    return &exemplars->layers[layer].info;
}

px_unit px_exemplars_unit(const px_exemplars *exemplars, size_t layer, int64_t unit)
{
    assert(layer < exemplars->layer_count && unit >= 0);
    return exemplars->layers[layer].units[unit];
}

px_exemplar_facts px_exemplars_facts(const px_exemplars *exemplars)
{
    return exemplars->facts;
}

/* A stored mask at another size: the nearest place. */
static px_status mask_stored(const px_exemplars *e, const pxi_exemplar_units *layer, int64_t unit,
                             int64_t j, int H, int W, uint8_t *out, px_error *err)
{
    const int h = e->facts.height, w = e->facts.width;
    const size_t places = (size_t)h * (size_t)w;
    uint8_t *mask = pxi_calloc(places, 1);
    if (!mask)
        return pxi_no_memory_for(err, "a mask of %d x %d", h, w);
    const uint64_t row = (uint64_t)unit * (uint64_t)e->facts.count + (uint64_t)j;
    const px_status status =
        pxi_bytes_read(&layer->masks.bytes, layer->masks.npy.offset + row * places, mask, places,
                       layer->masks.path, err);
    for (int y = 0; y < H && status == PX_OK; y++)
        for (int x = 0; x < W; x++) {
            const int64_t from_y = (int64_t)y * h / H, from_x = (int64_t)x * w / W;
            *out++ = mask[from_y * w + from_x] != 0;
        }
    free(mask);
    return status;
}

static px_status check_place(const px_exemplars *e, size_t layer, int64_t unit, int64_t j,
                             px_error *err)
{
    if (layer >= e->layer_count || unit < 0 || unit >= e->layers[layer].info.units || j < 0 ||
        j >= e->layers[layer].units[unit].count)
        return px_fail(err, PX_E_USAGE,
                       "there is no exemplar %" PRId64 " of unit %" PRId64 " in layer %zu", j, unit,
                       layer);
    return PX_OK;
}

px_status px_exemplars_mask(const px_exemplars *exemplars, size_t layer, int64_t unit, int64_t j,
                            int H, int W, uint8_t *out, px_error *err)
{
    PX_TRY(check_place(exemplars, layer, unit, j, err));
    if (H < 1 || W < 1 || H > PXI_MAP_SIDE_MOST || W > PXI_MAP_SIDE_MOST)
        return px_fail(err, PX_E_USAGE, "a mask of %d x %d is not possible", H, W);
    const pxi_exemplar_units *l = &exemplars->layers[layer];
    const px_unit *u = &l->units[unit];
    if (u->inactive) {
        memset(out, 0, (size_t)H * (size_t)W);
        return PX_OK;
    }
    if (!u->top[j].map)
        return mask_stored(exemplars, l, unit, j, H, W, out, err);
    (void)pxi_mask(u->top[j].map, l->info.h, l->info.w, (float)u->level, H, W,
                   exemplars->facts.zero_padded, out);
    return PX_OK;
}

px_status px_exemplars_picture(const px_exemplars *exemplars, size_t layer, int64_t unit, int64_t j,
                               uint8_t *out, px_error *err)
{
    PX_TRY(check_place(exemplars, layer, unit, j, err));
    if (!exemplars->loaded)
        return px_fail(err, PX_E_USAGE,
                       "the pictures of exemplars are in the data set that they "
                       "were collected from");
    const pxi_exemplar_file *file = &exemplars->layers[layer].images;
    const size_t size = 3 * (size_t)exemplars->facts.height * (size_t)exemplars->facts.width;
    const uint64_t row = (uint64_t)unit * (uint64_t)exemplars->facts.count + (uint64_t)j;
    return pxi_bytes_read(&file->bytes, file->npy.offset + row * size, out, size, file->path, err);
}
