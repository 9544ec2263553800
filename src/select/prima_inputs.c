/* src/select/prima_inputs.c - pictures with one patch changed
 *
 * The sources do not say whether the N(0, 0.01) of Gauss names a variance; as in their other rules
 * it is taken for one, so that the standard deviation is 0.1. Shuffling moves pixels, with all
 * their channels.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/prima.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Streams of PX_RNG_PRIMA_INPUT: `iteration` for pictures, and an item of its own for the grid. */
enum { STREAM_NOISE, STREAM_SHUFFLE, STREAM_GRID };

static pxi_prima_patch patch_at(const px_shape *shape, int size, int64_t place)
{
    const int64_t across = (shape->dim[2] + size - 1) / size;
    const int64_t top = place / across * size, left = place % across * size;
    return (pxi_prima_patch){.top = (int)top,
                             .left = (int)left,
                             .height = (int)PX_MIN(shape->dim[1] - top, size),
                             .width = (int)PX_MIN(shape->dim[2] - left, size)};
}

static int64_t patch_total(const px_shape *shape, int size)
{
    return ((shape->dim[1] + size - 1) / size) * ((shape->dim[2] + size - 1) / size);
}

px_status pxi_prima_patches(const px_shape *shape, int size, int64_t most, uint64_t seed,
                            pxi_prima_patch **out, int64_t *count, px_error *err)
{
    if (shape->rank != 3)
        return px_fail(err, PX_E_INPUT, "changes pictures; these inputs have %d axes, not 3",
                       shape->rank);
    int64_t left = patch_total(shape, size);
    if (left >= (int64_t)UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "pictures of %" PRId64 " patches are too large",
                       left);
    int64_t wanted = PX_MIN(left, most), taken = 0;
    pxi_prima_patch *patches = NULL;
    PX_TRY(PX_NEW(patches, wanted, err));
    px_random random = px_rng(seed, PX_RNG_PRIMA_INPUT, 0, STREAM_GRID);
    for (int64_t place = 0; taken < wanted; place++, left--) /* each with the chance that is left */
        if ((int64_t)px_rng_below(&random, (uint32_t)left) < wanted - taken)
            patches[taken++] = patch_at(shape, size, place);
    *out = patches;
    *count = wanted;
    return PX_OK;
}

/* A permutation of the patch's pixels, the same in all channels. */
static void patch_shuffle(const px_shape *shape, const pxi_prima_patch *patch, px_random *random,
                          const float *from, float *to)
{
    const int64_t plane = shape->dim[1] * shape->dim[2];
    const int pixels = patch->height * patch->width;
    for (int i = 0; i < pixels; i++) {
        const int64_t at =
            (patch->top + i / patch->width) * shape->dim[2] + patch->left + i % patch->width;
        for (int64_t c = 0; c < shape->dim[0]; c++)
            to[c * plane + at] = from[c * plane + at];
    }
    for (int i = pixels - 1; i > 0; i--) {
        const int other = (int)px_rng_below(random, (uint32_t)i + 1);
        const int64_t a =
            (patch->top + i / patch->width) * shape->dim[2] + patch->left + i % patch->width;
        const int64_t b = (patch->top + other / patch->width) * shape->dim[2] + patch->left +
                          other % patch->width;
        for (int64_t c = 0; c < shape->dim[0]; c++) {
            const float kept = to[c * plane + a];
            to[c * plane + a] = to[c * plane + b];
            to[c * plane + b] = kept;
        }
    }
}

void pxi_prima_variants(const px_shape *shape, const float *pixels, int size, double noise,
                        float white, bool whole, uint64_t seed, uint32_t item, float *variants)
{
    const size_t count = (size_t)px_shape_count(shape);
    float *of[PXI_PRIMA_INPUT_RULES];
    for (int r = 0; r < PXI_PRIMA_INPUT_RULES; r++)
        of[r] = variants + (size_t)r * count;
    px_random random = px_rng(seed, PX_RNG_PRIMA_INPUT, item, STREAM_NOISE);
    float *gauss = of[PXI_PRIMA_GAUSS - PXI_PRIMA_MODEL_RULES];
    for (size_t i = 0; i < count; i++) {
        const double v = (double)pixels[i] + noise * (double)white * px_rng_normal(&random);
        gauss[i] = (float)fmax(0.0, fmin(whole ? floor(v + 0.5) : v, (double)white));
    }
    for (size_t i = 0; i < count; i++)
        of[PXI_PRIMA_REVERSE - PXI_PRIMA_MODEL_RULES][i] = white - pixels[i];
    memset(of[PXI_PRIMA_BLACK - PXI_PRIMA_MODEL_RULES], 0, count * sizeof *variants);
    for (size_t i = 0; i < count; i++)
        of[PXI_PRIMA_WHITE - PXI_PRIMA_MODEL_RULES][i] = white;
    random = px_rng(seed, PX_RNG_PRIMA_INPUT, item, STREAM_SHUFFLE);
    const int64_t patches = patch_total(shape, size);
    for (int64_t place = 0; place < patches; place++) {
        const pxi_prima_patch patch = patch_at(shape, size, place);
        patch_shuffle(shape, &patch, &random, pixels,
                      of[PXI_PRIMA_SHUFFLE - PXI_PRIMA_MODEL_RULES]);
    }
}

/* The runs of floats that make up a patch, in planes of rows. */
typedef struct patch_rows {
    int64_t planes, height, width, pixel; /* floats per pixel within a plane */
} patch_rows;

static patch_rows patch_layout(const px_shape *shape, bool channels_last)
{
    const int64_t channels = shape->dim[0];
    return (patch_rows){.planes = channels_last ? 1 : channels,
                        .height = shape->dim[1],
                        .width = shape->dim[2],
                        .pixel = channels_last ? channels : 1};
}

static int64_t patch_row(const patch_rows *rows, const pxi_prima_patch *patch, int64_t plane, int y)
{
    return ((plane * rows->height + patch->top + y) * rows->width + patch->left) * rows->pixel;
}

void pxi_prima_patch_copy(const px_shape *shape, bool channels_last, const pxi_prima_patch *patch,
                          const float *from, float *to)
{
    const patch_rows rows = patch_layout(shape, channels_last);
    for (int64_t c = 0; c < rows.planes; c++)
        for (int y = 0; y < patch->height; y++) {
            const int64_t at = patch_row(&rows, patch, c, y);
            memcpy(to + at, from + at, (size_t)(patch->width * rows.pixel) * sizeof *to);
        }
}

bool pxi_prima_patch_same(const px_shape *shape, bool channels_last, const pxi_prima_patch *patch,
                          const float *a, const float *b)
{
    const patch_rows rows = patch_layout(shape, channels_last);
    for (int64_t c = 0; c < rows.planes; c++)
        for (int y = 0; y < patch->height; y++) {
            const int64_t at = patch_row(&rows, patch, c, y);
            if (memcmp(a + at, b + at, (size_t)(patch->width * rows.pixel) * sizeof *a) != 0)
                return false;
        }
    return true;
}
