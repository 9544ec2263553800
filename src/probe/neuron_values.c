/* src/probe/neuron_values.c - one sample's neuron values, read from a strided tensor
 *
 * Channels-last is the case that matters: a place is a row of channels, and all channels are summed
 * side by side. The compiler vectorises the inner loops over `lanes`; clones for wider machines
 * give the same bits, since every channel's additions keep their order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/neuron_values.h"

#include "base/memory.h"
#include "base/wide.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { values_lanes = 32 };

/* x[0] + ... + x[15], as ((x0+x8)+(x4+x12)) + ... : halves onto halves. */
static float block_sum(const float x[PXI_MEAN_BLOCK])
{
    float half[8];
    for (int i = 0; i < 8; i++)
        half[i] = x[i] + x[i + 8];
    for (int i = 0; i < 4; i++)
        half[i] += half[i + 4];
    for (int i = 0; i < 2; i++)
        half[i] += half[i + 2];
    return half[0] + half[1];
}

/* Goes through the places of a channel in NCHW order. */
typedef struct place_walk {
    const pxi_extent *space;
    int rank;
    int64_t at[PX_MAX_RANK + 1], offset;
} place_walk;

static void walk_next(place_walk *walk)
{
    for (int d = walk->rank - 1; d >= 0; d--) {
        walk->offset += walk->space[d].stride;
        if (++walk->at[d] < walk->space[d].count)
            return;
        walk->offset -= walk->space[d].count * walk->space[d].stride;
        walk->at[d] = 0;
    }
}

/* One channel in any layout. */
static float channel_mean(const pxi_neuron_layout *layout, const float *x)
{
    place_walk walk = {.space = layout->space, .rank = layout->space_rank};
    const bool run = layout->space_rank == 1 && layout->space[0].stride == 1;
    double sum = 0.0;
    int64_t p = 0;
    for (; p + PXI_MEAN_BLOCK <= layout->places; p += PXI_MEAN_BLOCK) {
        float block[PXI_MEAN_BLOCK];
        if (run)
            memcpy(block, x + p, sizeof block);
        else
            for (int i = 0; i < PXI_MEAN_BLOCK; i++, walk_next(&walk))
                block[i] = x[walk.offset];
        sum += (double)block_sum(block);
    }
    float tail = 0.0f;
    for (; p < layout->places; p++) {
        tail += x[run ? p : walk.offset];
        walk_next(&walk);
    }
    return (float)((sum + (double)tail) / (double)layout->places);
}

/* `lanes` neighbouring channels; `places` rows that are `stride` apart. Inlined with a constant
 * `lanes`. */
static inline __attribute__((always_inline)) void
rows_mean(const float *restrict x, int64_t places, int64_t stride, int lanes, float *restrict out)
{
    double sum[values_lanes] = {0};
    float part[4][values_lanes];
    int64_t p = 0;
    for (; p + PXI_MEAN_BLOCK <= places; p += PXI_MEAN_BLOCK) {
        const float *row = x + p * stride;
        for (int i = 0; i < 4; i++) /* two levels of the tree at once: fewer trips to memory */
            for (int c = 0; c < lanes; c++)
                part[i][c] = (row[i * stride + c] + row[(i + 8) * stride + c]) +
                             (row[(i + 4) * stride + c] + row[(i + 12) * stride + c]);
        for (int c = 0; c < lanes; c++)
            sum[c] += (double)((part[0][c] + part[2][c]) + (part[1][c] + part[3][c]));
    }
    float tail[values_lanes] = {0};
    for (; p < places; p++)
        for (int c = 0; c < lanes; c++)
            tail[c] += x[p * stride + c];
    for (int c = 0; c < lanes; c++)
        out[c] = (float)((sum[c] + (double)tail[c]) / (double)places);
}

PXI_WIDE static void rows_means(const float *x, int64_t channels, int64_t places, int64_t stride,
                                float *out)
{
    int64_t c = 0;
    for (; c + values_lanes <= channels; c += values_lanes)
        rows_mean(x + c, places, stride, values_lanes, out + c);
    for (; c + 16 <= channels; c += 16)
        rows_mean(x + c, places, stride, 16, out + c);
    for (; c + 8 <= channels; c += 8)
        rows_mean(x + c, places, stride, 8, out + c);
    for (; c + 4 <= channels; c += 4)
        rows_mean(x + c, places, stride, 4, out + c);
    for (; c + 2 <= channels; c += 2)
        rows_mean(x + c, places, stride, 2, out + c);
    if (c < channels)
        rows_mean(x + c, places, stride, 1, out + c);
}

static inline float larger(float a, float b) /* NaN wins */
{
    return b > a || b != b ? b : a;
}

static float channel_maximum(const pxi_neuron_layout *layout, const float *x)
{
    place_walk walk = {.space = layout->space, .rank = layout->space_rank};
    float best = x[0];
    for (int64_t p = 0; p < layout->places; p++, walk_next(&walk))
        best = larger(best, x[walk.offset]);
    return best;
}

PXI_WIDE static void rows_maxima(const float *x, int64_t channels, int64_t places, int64_t stride,
                                 float *out)
{
    memcpy(out, x, (size_t)channels * sizeof *out);
    for (int64_t p = 1; p < places; p++)
        for (int64_t c = 0; c < channels; c++)
            out[c] = larger(out[c], x[p * stride + c]);
}

/* Channels side by side in memory, places one regular run. */
static bool layout_is_rows(const pxi_neuron_layout *layout)
{
    return layout->channel_rank == 1 && layout->channel[0].stride == 1 && layout->space_rank <= 1;
}

typedef void (*rows_fn)(const float *x, int64_t channels, int64_t places, int64_t stride,
                        float *out);
typedef float (*channel_fn)(const pxi_neuron_layout *layout, const float *x);

static void neuron_channels(const pxi_neuron_layout *layout, const float *x, rows_fn rows,
                            channel_fn channel, float *out)
{
    if (layout_is_rows(layout)) {
        if (layout->places == 1)
            memcpy(out, x, (size_t)layout->channels * sizeof *out);
        else
            rows(x, layout->channels, layout->places, layout->space[0].stride, out);
        return;
    }
    for (int64_t c = 0; c < layout->channels; c++)
        out[c] = channel(layout, x + pxi_extent_offset(layout->channel, layout->channel_rank, c));
}

void pxi_neuron_means(const pxi_neuron_layout *layout, const float *x, float *out)
{
    assert(layout->channels > 0);
    neuron_channels(layout, x, rows_means, channel_mean, out);
}

void pxi_neuron_maxima(const pxi_neuron_layout *layout, const float *x, float *out)
{
    assert(layout->channels > 0);
    neuron_channels(layout, x, rows_maxima, channel_maximum, out);
}

/* out[i][k] = x[k * stride_k + i], `rows` by `columns`, in tiles that stay in the cache. */
static void units_transpose(const float *x, int64_t rows, int64_t columns, int64_t stride,
                            float *out)
{
    const int64_t tile = 16;
    for (int64_t k0 = 0; k0 < columns; k0 += tile)
        for (int64_t i0 = 0; i0 < rows; i0 += tile)
            for (int64_t i = i0; i < PX_MIN(i0 + tile, rows); i++)
                for (int64_t k = k0; k < PX_MIN(k0 + tile, columns); k++)
                    out[i * columns + k] = x[k * stride + i];
}

void pxi_neuron_units(const pxi_neuron_layout *layout, const float *x, float *out)
{
    const pxi_extent *unit = layout->unit;
    const int64_t count = layout->channels * layout->places;
    if (count == 1)
        out[0] = x[0];
    else if (layout->unit_rank == 1 && unit[0].stride == 1)
        memcpy(out, x, (size_t)count * sizeof *out);
    else if (layout->unit_rank == 2 && unit[0].stride == 1)
        units_transpose(x, unit[0].count, unit[1].count, unit[1].stride, out);
    else {
        place_walk walk = {.space = unit, .rank = layout->unit_rank};
        for (int64_t i = 0; i < count; i++, walk_next(&walk))
            out[i] = x[walk.offset];
    }
}

void pxi_neuron_range(const pxi_neuron_layout *layout, const float *x, float *low, float *high)
{
    place_walk walk = {.space = layout->unit, .rank = layout->unit_rank};
    float least = INFINITY, most = -INFINITY;
    int64_t left = layout->channels * layout->places;
    const int64_t run = layout->unit_rank > 0 && layout->unit[layout->unit_rank - 1].stride == 1
                            ? layout->unit[layout->unit_rank - 1].count
                            : 1;
    if (run > 1)
        walk.rank--; /* the innermost axis is read in one go */
    if (layout_is_rows(layout) && layout->places > 1 &&
        layout->space[0].stride == layout->channels) {
        walk.rank = 0; /* one block, in whatever order: a minimum does not mind */
        for (int64_t i = 0; i < left; i++) {
            least = x[i] < least ? x[i] : least;
            most = x[i] > most ? x[i] : most;
        }
        left = 0;
    }
    for (; left > 0; left -= run, walk_next(&walk))
        for (int64_t i = 0; i < run; i++) {
            const float value = x[walk.offset + i];
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    *low = least;
    *high = most;
}

int64_t pxi_neuron_argmax(const pxi_neuron_layout *layout, const float *x)
{
    assert(layout->channels > 0);
    place_walk walk = {.space = layout->space, .rank = layout->space_rank};
    int64_t best = 0;
    float value = x[0];
    for (int64_t p = 0; p < layout->places && value == value; p++, walk_next(&walk))
        if (x[walk.offset] > value || x[walk.offset] != x[walk.offset]) {
            value = x[walk.offset];
            best = p;
        }
    return best;
}

void pxi_neuron_scale(float *values, int64_t count, float low, float high)
{
    const double width = (double)high - (double)low;
    for (int64_t i = 0; i < count; i++) /* NaN stays: the sample is to be rejected, not zeroed */
        values[i] = width > 0.0              ? (float)(((double)values[i] - (double)low) / width)
                    : values[i] != values[i] ? values[i]
                                             : 0.0f;
}
