/* src/describe/attribute_map.c - attributes of one picture, pixel by pixel (LGR C.12.2)
 *
 * y is the mean of red, green and blue, between 0 and 1; G_s a Gaussian blur. Of one-channel data y
 * is the channel. Where the table of the specification leaves a choice: dark and bright regions of
 * glyphs are (1 - y)^2 and y^2 as in colour pictures, gray ones are where .3 < y < .7; ink is where
 * y is above (dark ink: below) a half; thin strokes are ink up to the median width, thick ones ink
 * beyond it, the median being that of all ink in the data.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/attribute_map.h"

#include "base/memory.h"
#include "describe/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_SCALE 3.0 /* the largest value of an edge map over the data */
#define INK_LEVEL 0.5f

enum { LOOK_PLANES = 11 };

struct pxi_look {
    int h, w;
    size_t count; /* pixels */
    pxi_look_facts facts;
    float *memory;
    float *rgb[3], *y;
    float *hue, *saturation, *value;  /* NaN hue is never within a window */
    float *magnitude, *cosine, *sine; /* of twice the gradient's angle */
    float *fine;                      /* 8 G_2 |y - G_1 y| */
    float *scratch, *plane;
    uint8_t *bytes, *ink, *skeleton, *marks, *spare;
    int32_t *numbers, *distance, *stack;
    bool has_hsv, has_gradient, has_fine, has_ink, has_skeleton, has_distance;
};

px_status pxi_look_new(int h, int w, const pxi_look_facts *facts, pxi_look **out, px_error *err)
{
    const size_t n = (size_t)h * (size_t)w;
    pxi_look *look = NULL;
    PX_TRY(PX_NEW(look, 1, err));
    look->h = h;
    look->w = w;
    look->count = n;
    look->facts = *facts;
    look->memory = pxi_calloc((LOOK_PLANES + 1) * n + pxi_smooth_scratch(h, w), sizeof(float));
    look->bytes = pxi_calloc(4, n);
    look->numbers = pxi_calloc(2 * n, sizeof *look->numbers);
    if (!look->memory || !look->bytes || !look->numbers) {
        pxi_look_free(look);
        return pxi_no_memory_for(err, "attribute maps of %d x %d pixels", h, w);
    }
    float **const planes[LOOK_PLANES + 1] = {
        &look->rgb[0], &look->rgb[1],    &look->rgb[2], &look->y,    &look->hue,  &look->saturation,
        &look->value,  &look->magnitude, &look->cosine, &look->sine, &look->fine, &look->plane};
    for (size_t i = 0; i <= LOOK_PLANES; i++)
        *planes[i] = look->memory + i * n;
    look->scratch = look->memory + (LOOK_PLANES + 1) * n;
    look->ink = look->bytes;
    look->skeleton = look->bytes + n;
    look->marks = look->bytes + 2 * n;
    look->spare = look->bytes + 3 * n;
    look->distance = look->numbers;
    look->stack = look->numbers + n;
    *out = look;
    return PX_OK;
}

void pxi_look_free(pxi_look *look)
{
    if (!look)
        return;
    free(look->memory);
    free(look->bytes);
    free(look->numbers);
    free(look);
}

void pxi_look_at(pxi_look *look, const float *values, int channels)
{
    const size_t n = look->count;
    for (int c = 0; c < 3; c++)
        memcpy(look->rgb[c], values + (channels == 3 ? (size_t)c * n : 0), n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        look->y[i] = channels == 3 ? (look->rgb[0][i] + look->rgb[1][i] + look->rgb[2][i]) / 3.0f
                                   : values[i];
    look->has_hsv = look->has_gradient = look->has_fine = false;
    look->has_ink = look->has_skeleton = look->has_distance = false;
}

/* --- what maps are made of ------------------------------------------------------------------- */

static void look_hsv(pxi_look *look)
{
    if (look->has_hsv)
        return;
    look->has_hsv = true;
    for (size_t i = 0; i < look->count; i++) {
        const float r = look->rgb[0][i], g = look->rgb[1][i], b = look->rgb[2][i];
        const float most = PX_MAX(r, PX_MAX(g, b)), least = PX_MIN(r, PX_MIN(g, b));
        const float range = most - least;
        look->value[i] = most;
        look->saturation[i] = most > 0.0f ? range / most : 0.0f;
        if (!(range > 0.0f))
            look->hue[i] = NAN; /* a gray has none */
        else if (most == r)
            look->hue[i] = 60.0f * ((g - b) / range) + (g < b ? 360.0f : 0.0f);
        else if (most == g)
            look->hue[i] = 60.0f * ((b - r) / range) + 120.0f;
        else
            look->hue[i] = 60.0f * ((r - g) / range) + 240.0f;
    }
}

/* Sobel's gradients with the border pixels repeated. */
static void look_gradient(pxi_look *look)
{
    if (look->has_gradient)
        return;
    look->has_gradient = true;
    const int h = look->h, w = look->w;
    for (int y = 0; y < h; y++) {
        const float *above = look->y + (size_t)PX_MAX(y - 1, 0) * (size_t)w;
        const float *row = look->y + (size_t)y * (size_t)w;
        const float *below = look->y + (size_t)PX_MIN(y + 1, h - 1) * (size_t)w;
        for (int x = 0; x < w; x++) {
            const int l = PX_MAX(x - 1, 0), r = PX_MIN(x + 1, w - 1);
            const float gx = above[r] - above[l] + 2.0f * (row[r] - row[l]) + below[r] - below[l];
            const float gy =
                below[l] - above[l] + 2.0f * (below[x] - above[x]) + below[r] - above[r];
            const float square = gx * gx + gy * gy;
            const size_t i = (size_t)y * (size_t)w + (size_t)x;
            look->magnitude[i] = sqrtf(square);
            look->cosine[i] = square > 0.0f ? (gx * gx - gy * gy) / square : 0.0f;
            look->sine[i] = square > 0.0f ? 2.0f * gx * gy / square : 0.0f;
        }
    }
}

static void look_fine(pxi_look *look)
{
    if (look->has_fine)
        return;
    look->has_fine = true;
    pxi_smooth(look->y, look->h, look->w, 1.0, look->scratch, look->plane);
    for (size_t i = 0; i < look->count; i++)
        look->plane[i] = fabsf(look->y[i] - look->plane[i]);
    pxi_smooth(look->plane, look->h, look->w, 2.0, look->scratch, look->fine);
    for (size_t i = 0; i < look->count; i++)
        look->fine[i] *= 8.0f;
}

static void look_ink(pxi_look *look)
{
    if (look->has_ink)
        return;
    look->has_ink = true;
    for (size_t i = 0; i < look->count; i++)
        look->ink[i] = look->facts.dark_ink ? look->y[i] < INK_LEVEL : look->y[i] > INK_LEVEL;
}

/* --- maps ------------------------------------------------------------------------------------ */

static void map_hue(pxi_look *look, const pxi_attribute *a, float *out)
{
    look_hsv(look);
    for (size_t i = 0; i < look->count; i++) {
        const double s = (double)look->saturation[i], v = (double)look->value[i];
        const double apart = fabs((double)look->hue[i] - a->hue);
        const bool near = PX_MIN(apart, 360.0 - apart) <= a->width; /* false without a hue */
        out[i] = near && s > a->least && v > a->low && v < a->high ? 1.0f : 0.0f;
    }
}

static void map_neutral(pxi_look *look, const pxi_attribute *a, float *out)
{
    look_hsv(look);
    for (size_t i = 0; i < look->count; i++) {
        const double s = (double)look->saturation[i], v = (double)look->value[i];
        out[i] = s < a->most && v > a->low && v < a->high ? 1.0f : 0.0f;
    }
}

static void map_between(pxi_look *look, const pxi_attribute *a, float *out)
{
    for (size_t i = 0; i < look->count; i++)
        out[i] = (double)look->y[i] > a->low && (double)look->y[i] < a->high ? 1.0f : 0.0f;
}

void pxi_look_edges(pxi_look *look, int which, float *out)
{
    look_gradient(look);
    const float *turn = which < 2 ? look->cosine : look->sine;
    const float sign = which % 2 == 0 ? 1.0f : -1.0f;
    for (size_t i = 0; i < look->count; i++) {
        const float part = PX_MAX(sign * turn[i], 0.0f);
        out[i] = look->magnitude[i] * part * part;
    }
}

static void map_edges(pxi_look *look, const pxi_attribute *a, float *out)
{
    const double most = look->facts.edge_most[a->which];
    const float scale = most > 0.0 ? (float)(EDGE_SCALE / most) : 1.0f;
    pxi_look_edges(look, a->which, out);
    for (size_t i = 0; i < look->count; i++)
        out[i] *= scale;
}

static void map_spots(pxi_look *look, const pxi_attribute *a, float *out)
{
    (void)a;
    pxi_smooth(look->y, look->h, look->w, 1.2, look->scratch, out);
    pxi_smooth(look->y, look->h, look->w, 2.4, look->scratch, look->plane);
    for (size_t i = 0; i < look->count; i++)
        out[i] = 6.0f * PX_MAX(0.0f, out[i] - look->plane[i]);
}

static void map_fine(pxi_look *look, const pxi_attribute *a, float *out)
{
    (void)a;
    look_fine(look);
    memcpy(out, look->fine, look->count * sizeof *out);
}

static void map_flat(pxi_look *look, const pxi_attribute *a, float *out)
{
    (void)a;
    look_fine(look);
    for (size_t i = 0; i < look->count; i++)
        out[i] = PX_MAX(0.0f, 0.5f - look->fine[i]);
}

static void map_bright(pxi_look *look, const pxi_attribute *a, float *out)
{
    for (size_t i = 0; i < look->count; i++) {
        const float v = a->which ? 1.0f - look->y[i] : look->y[i];
        out[i] = v * v;
    }
}

const float *pxi_look_brightness(const pxi_look *look)
{
    return look->y;
}

const int32_t *pxi_look_distance(pxi_look *look)
{
    look_ink(look);
    if (!look->has_distance)
        pxi_ink_distance(look->ink, look->h, look->w, look->stack, look->distance);
    look->has_distance = true;
    return look->distance;
}

static void map_width(pxi_look *look, const pxi_attribute *a, float *out)
{
    const int32_t *distance = pxi_look_distance(look);
    for (size_t i = 0; i < look->count; i++) {
        const bool thick = sqrt((double)distance[i]) > look->facts.stroke_median;
        out[i] = look->ink[i] && thick == (a->which == 0) ? 1.0f : 0.0f;
    }
}

static void map_nodes(pxi_look *look, const pxi_attribute *a, float *out)
{
    look_ink(look);
    if (!look->has_skeleton)
        pxi_ink_skeleton(look->ink, look->h, look->w, look->spare, look->skeleton);
    look->has_skeleton = true;
    pxi_skeleton_nodes(look->skeleton, look->h, look->w, a->which, a->which >= 4 ? 8 : a->which,
                       look->marks);
    pxi_ink_dilate(look->marks, look->h, look->w, 1, out);
}

static void map_loops(pxi_look *look, const pxi_attribute *a, float *out)
{
    (void)a;
    look_ink(look);
    pxi_ink_holes(look->ink, look->h, look->w, look->stack, look->marks);
    pxi_ink_dilate(look->marks, look->h, look->w, 2, out);
}

/* --- the table ------------------------------------------------------------------------------- */

#define HUE(name, middle, around)                                                               \
    {                                                                                           \
        .words = name " regions", .group = PX_GROUP_COLOUR, .two_valued = true, .map = map_hue, \
        .hue = middle, .width = around, .least = 0.25, .low = 0.2, .high = INFINITY             \
    }
#define NEUTRAL(name, from, to, saturation)                                     \
    {                                                                           \
        .words = name " regions", .group = PX_GROUP_COLOUR, .two_valued = true, \
        .map = map_neutral, .most = saturation, .low = from, .high = to         \
    }
#define EDGES(name, number)                                                                \
    {                                                                                      \
        .words = name " edges", .group = PX_GROUP_EDGES, .map = map_edges, .which = number \
    }
#define TEXTURES                                                               \
    {.words = "bright spots", .group = PX_GROUP_TEXTURE, .map = map_spots},    \
        {.words = "fine texture", .group = PX_GROUP_TEXTURE, .map = map_fine}, \
    {                                                                          \
        .words = "flat regions", .group = PX_GROUP_TEXTURE, .map = map_flat    \
    }
#define BRIGHTNESS                                                                           \
    {.words = "bright regions", .group = PX_GROUP_BRIGHTNESS, .map = map_bright},            \
    {                                                                                        \
        .words = "dark regions", .group = PX_GROUP_BRIGHTNESS, .map = map_bright, .which = 1 \
    }
#define ALL_EDGES \
    EDGES("vertical", 0), EDGES("horizontal", 1), EDGES("diagonal", 2), EDGES("diagonal", 3)
#define STROKES(name, function, number)                                                \
    {                                                                                  \
        .words = name, .group = PX_GROUP_STROKES, .two_valued = true, .map = function, \
        .which = number                                                                \
    }

static const pxi_attribute colour_attributes[] = {
    HUE("red", 0.0, 18.0),
    HUE("orange", 30.0, 14.0),
    HUE("yellow", 56.0, 12.0),
    HUE("green", 110.0, 42.0),
    HUE("blue", 215.0, 40.0),
    HUE("purple", 290.0, 35.0),
    NEUTRAL("white", 0.8, INFINITY, 0.15),
    NEUTRAL("black", -INFINITY, 0.15, INFINITY),
    NEUTRAL("gray", 0.3, 0.7, 0.15),
    {.words = "brown regions",
     .group = PX_GROUP_COLOUR,
     .two_valued = true,
     .map = map_hue,
     .hue = 25.0,
     .width = 18.0,
     .least = 0.25,
     .low = 0.15,
     .high = 0.5},
    ALL_EDGES,
    TEXTURES,
    BRIGHTNESS,
};

static const pxi_attribute glyph_attributes[] = {
    BRIGHTNESS,
    {.words = "gray regions",
     .group = PX_GROUP_BRIGHTNESS,
     .two_valued = true,
     .map = map_between,
     .low = 0.3,
     .high = 0.7},
    ALL_EDGES,
    TEXTURES,
    STROKES("thick strokes", map_width, 0),
    STROKES("thin strokes", map_width, 1),
    STROKES("stroke ends", map_nodes, 1),
    STROKES("junctions", map_nodes, 3),
    STROKES("crossings", map_nodes, 4),
    STROKES("loops", map_loops, 0),
};

const pxi_attribute *pxi_attributes_of(px_concept_kind kind, size_t *count)
{
    *count = kind == PX_CONCEPTS_COLOUR ? PX_LEN(colour_attributes) : PX_LEN(glyph_attributes);
    return kind == PX_CONCEPTS_COLOUR ? colour_attributes : glyph_attributes;
}

void pxi_look_map(pxi_look *look, const pxi_attribute *attribute, float *out)
{
    attribute->map(look, attribute, out);
}
