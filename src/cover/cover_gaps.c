/* src/cover/cover_gaps.c - neurons that no input set in motion */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/cover.h>

#include "base/memory.h"

#include <stdlib.h>

/* One piece of memory has the neurons of all layers. */
static px_status gap_fill(px_cover *cover, size_t i, px_cover_gap *gap, px_error *err)
{
    const px_extractor *rows = px_cover_extractor(cover, i);
    bool *covered = NULL;
    int64_t *neurons = NULL;
    gap->id = px_cover_criterion(cover, i)->entry.id;
    gap->neurons = rows->width;
    PX_TRY(PX_NEW(gap->layers, rows->layer_count + 1, err));
    PX_TRY(PX_NEW(neurons, rows->width + 1, err));
    gap->layers[0].neurons = neurons; /* to be freed, even where there are no layers */
    PX_TRY(PX_NEW(covered, rows->width + 1, err));
    px_cover_criterion(cover, i)->neurons_covered(px_cover_state(cover, i), covered);
    for (size_t l = 0; l < rows->layer_count; l++) {
        px_cover_gap_layer *layer = &gap->layers[l];
        *layer = (px_cover_gap_layer){rows->layers[l].name, neurons + gap->missing, 0};
        for (int64_t n = 0; n < rows->layers[l].count; n++)
            if (!covered[rows->layers[l].offset + n])
                layer->neurons[layer->count++] = n;
        gap->missing += layer->count;
    }
    gap->layer_count = rows->layer_count;
    free(covered);
    return PX_OK;
}

px_status px_cover_gaps(px_cover *cover, px_cover_gap **out, size_t *count, px_error *err)
{
    px_cover_gap *gaps = NULL;
    size_t used = 0;
    px_status status = PX_NEW(gaps, px_cover_count(cover) + 1, err);
    for (size_t i = 0; i < px_cover_count(cover) && status == PX_OK; i++)
        if (px_cover_criterion(cover, i)->neurons_covered && px_cover_extractor(cover, i))
            status = gap_fill(cover, i, &gaps[used++], err);
    if (status != PX_OK) {
        px_cover_gaps_free(gaps, used);
        return status;
    }
    *out = gaps;
    *count = used;
    return PX_OK;
}

void px_cover_gaps_free(px_cover_gap *gaps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (gaps[i].layers)
            free(gaps[i].layers[0].neurons);
        free(gaps[i].layers);
    }
    free(gaps);
}
