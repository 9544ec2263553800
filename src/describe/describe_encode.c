/* src/describe/describe_encode.c - annotation vectors of many units, some at a time
 *
 * Masks of thousands of units do not fit into memory where pictures are large: as many units are
 * taken together as their masks and pictures have room in a fixed amount of it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/describe_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define ENCODE_BYTES ((size_t)256 << 20)

typedef struct encode_room {
    px_annotated_pair *pairs;
    size_t *slots; /* of the pairs: unit * k + j */
    uint8_t *masks, *pixels;
    float *rows; /* of the pairs */
} encode_room;

static px_status encode_some(px_annotator *annotator, const pxi_encode *what, encode_room *room,
                             size_t first, size_t units, float *features, px_error *err)
{
    const size_t size = (size_t)px_annotator_size(annotator);
    size_t count = 0;
    for (size_t u = first; u < first + units; u++)
        for (size_t j = 0; j < what->k; j++) {
            bool there = false;
            uint8_t *mask = room->masks + count * what->mask_bytes;
            uint8_t *pixels =
                what->picture_bytes ? room->pixels + count * what->picture_bytes : NULL;
            room->pairs[count] = (px_annotated_pair){.mask = mask, .pixels = pixels};
            PX_TRY(what->fill(what->context, u, j, &room->pairs[count], mask, pixels, &there, err));
            memset(features + (u * what->k + j) * size, 0, size * sizeof *features);
            if (there)
                room->slots[count++] = u * what->k + j;
        }
    PX_TRY(px_annotator_run(annotator, room->pairs, count, room->rows, err));
    for (size_t i = 0; i < count; i++)
        memcpy(features + room->slots[i] * size, room->rows + i * size, size * sizeof *features);
    return PX_OK;
}

px_status pxi_describe_encode(px_annotator *annotator, const pxi_encode *what, float *features,
                              px_error *err)
{
    const size_t size = (size_t)px_annotator_size(annotator);
    const size_t each =
        what->k * (what->mask_bytes + what->picture_bytes + size * sizeof *features);
    const size_t units = PX_MIN(PX_MAX(ENCODE_BYTES / PX_MAX(each, 1), 1), what->units);
    const size_t pairs = units * what->k;
    encode_room room = {.pairs = pxi_calloc(pairs, sizeof *room.pairs),
                        .slots = pxi_calloc(pairs, sizeof *room.slots),
                        .masks = pxi_calloc(pairs, what->mask_bytes),
                        .pixels = pxi_calloc(pairs, PX_MAX(what->picture_bytes, 1)),
                        .rows = pxi_calloc(pairs, size * sizeof *room.rows)};
    px_status status = room.pairs && room.slots && room.masks && room.pixels && room.rows
                           ? PX_OK
                           : pxi_no_memory_for(err, "the masks of %zu units", units);
    for (size_t u = 0; u < what->units && status == PX_OK; u += units)
        status =
            encode_some(annotator, what, &room, u, PX_MIN(units, what->units - u), features, err);
    free(room.pairs);
    free(room.slots);
    free(room.masks);
    free(room.pixels);
    free(room.rows);
    return status;
}
