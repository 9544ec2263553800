/* src/mutate/style_bank.c - the styles of a user's pictures: measured, stored, found again
 *
 * Stored form: "PXSTYLE1", the count as 4 bytes, then of each style the 18 numbers of px_style in
 * the order of their declaration as IEEE 754 doubles; little endian.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/style.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <internal/mutate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char magic[8] = {'P', 'X', 'S', 'T', 'Y', 'L', 'E', '1'};
enum { STYLE_NUMBERS = 18, STYLE_HEADER = 12 };
static_assert(sizeof(px_style) == STYLE_NUMBERS * sizeof(double), "numbers and nothing else");

struct px_styles {
    size_t count;
    px_style style[];
};

const px_style *px_style_generated(size_t i)
{
    return i < PX_STYLE_GENERATED ? &pxi_style_table[i] : NULL;
}

size_t px_styles_count(const px_styles *styles)
{
    return styles->count;
}

const px_style *px_styles_get(const px_styles *styles, size_t i)
{
    return i < styles->count ? &styles->style[i] : NULL;
}

void px_styles_free(px_styles *styles)
{
    free(styles);
}

static px_styles *styles_new(size_t count) /* at most PX_STYLES_MOST */
{
    px_styles *styles = pxi_calloc(1, sizeof *styles + count * sizeof styles->style[0]);
    if (styles)
        styles->count = count;
    return styles;
}

/* --- from pictures --------------------------------------------------------------------------- */

typedef struct styles_room {
    float *values;
    uint8_t *levels;
} styles_room;

static px_status styles_measure(const px_dataset *set, int64_t i, styles_room *room, px_style *out,
                                px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const size_t count = (size_t)px_shape_count(&shape);
    const double scale = px_dataset_is_8bit(set) ? 1.0 : 255.0;
    char name[256];
    PX_TRY(px_dataset_pixels(set, i, room->values, err));
    for (size_t k = 0; k < count; k++) {
        const double v = (double)room->values[k] * scale;
        if (!(v >= 0.0 && v <= 255.0)) /* NaN too */
            return px_fail(err, PX_E_MISMATCH,
                           "style '%s' has a value of %g; styles are 8-bit pictures, or floats "
                           "from 0 to 1",
                           px_dataset_name(set, i, name, sizeof name), (double)room->values[k]);
        room->levels[k] = pxi_level(v);
    }
    return px_style_measure(room->levels, (int)shape.dim[1], (int)shape.dim[2], (int)shape.dim[0],
                            out, err);
}

static px_status styles_measure_all(const px_dataset *set, px_styles *styles, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const size_t count = (size_t)px_shape_count(&shape);
    styles_room room = {pxi_calloc(count, sizeof *room.values), pxi_calloc(count, 1)};
    px_status status = room.values && room.levels ? PX_OK : pxi_no_memory(err);
    for (size_t i = 0; i < styles->count && status == PX_OK; i++)
        status = styles_measure(set, (int64_t)i, &room, &styles->style[i], err);
    free(room.values);
    free(room.levels);
    return status;
}

static px_status styles_check(const px_dataset *set, const char *spec, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    const px_shape shape = px_dataset_shape(set);
    if (shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3) ||
        shape.dim[1] > PX_MUTATION_SIDE_MOST || shape.dim[2] > PX_MUTATION_SIDE_MOST)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': styles are grey or RGB pictures, these samples are %s", spec,
                       px_shape_text(&shape, text));
    if (px_dataset_count(set) > PX_STYLES_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s' has %lld pictures; as styles at most %d", spec,
                       (long long)px_dataset_count(set), PX_STYLES_MOST);
    return PX_OK;
}

px_status px_styles_open(const char *spec, px_styles **out, px_error *err)
{
    px_data_options options = px_data_options_default();
    options.height = options.width = PX_STYLE_SIDE;
    px_dataset *set = NULL;
    px_styles *styles = NULL;
    PX_TRY(px_dataset_open(spec, &options, &set, err));
    px_status status = styles_check(set, spec, err);
    if (status == PX_OK) {
        styles = styles_new((size_t)px_dataset_count(set));
        if (!styles)
            status = pxi_no_memory_for(err, "%lld styles", (long long)px_dataset_count(set));
    }
    PX_THEN(status, styles_measure_all(set, styles, err));
    px_dataset_close(set);
    return PX_GIVE(status, styles, out, px_styles_free);
}

/* --- as bytes -------------------------------------------------------------------------------- */

static void styles_put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t styles_take(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

px_status px_styles_save(const px_styles *styles, uint8_t **bytes, size_t *size, px_error *err)
{
    const size_t total = STYLE_HEADER + styles->count * sizeof(px_style);
    uint8_t *made = pxi_calloc(total, 1);
    if (!made)
        return pxi_no_memory_for(err, "%zu styles", styles->count);
    memcpy(made, magic, sizeof magic);
    styles_put(made + sizeof magic, styles->count, 4);
    const double *numbers = (const double *)(const void *)styles->style;
    for (size_t i = 0; i < styles->count * STYLE_NUMBERS; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        styles_put(made + STYLE_HEADER + 8 * i, bits, 8);
    }
    *bytes = made;
    *size = total;
    return PX_OK;
}

/* What no picture has. */
static bool styles_possible(const px_style *style)
{
    const double *numbers = (const double *)(const void *)style;
    for (int i = 0; i < STYLE_NUMBERS; i++)
        if (!(fabs(numbers[i]) <= 1e6)) /* NaN too */
            return false;
    if (style->covariance[0] < -1e-6 || style->covariance[2] < -1e-6 ||
        style->covariance[5] < -1e-6)
        return false;
    for (int k = 0; k < PX_STYLE_BANDS; k++)
        for (int c = 0; c < 3; c++)
            if (style->band[k][c] < 0.0)
                return false;
    return true;
}

px_status px_styles_load(const uint8_t *bytes, size_t size, px_styles **out, px_error *err)
{
    if (size < STYLE_HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return px_fail(err, PX_E_INPUT, "these are no stored styles");
    const size_t count = (size_t)styles_take(bytes + sizeof magic, 4);
    if (count < 1 || count > PX_STYLES_MOST || size != STYLE_HEADER + count * sizeof(px_style))
        return px_fail(err, PX_E_INPUT, "stored styles are damaged: %zu bytes for %zu of them",
                       size, count);
    px_styles *styles = styles_new(count);
    if (!styles)
        return pxi_no_memory_for(err, "%zu styles", count);
    double *numbers = (double *)(void *)styles->style;
    for (size_t i = 0; i < count * STYLE_NUMBERS; i++) {
        const uint64_t bits = styles_take(bytes + STYLE_HEADER + 8 * i, 8);
        memcpy(&numbers[i], &bits, sizeof bits);
    }
    for (size_t i = 0; i < count; i++)
        if (!styles_possible(&styles->style[i])) {
            px_styles_free(styles);
            return px_fail(err, PX_E_INPUT, "stored style %zu is damaged: no picture has it", i);
        }
    *out = styles;
    return PX_OK;
}

uint64_t px_styles_hash(const px_styles *styles)
{
    return XXH3_64bits(styles->style, styles->count * sizeof(px_style));
}
