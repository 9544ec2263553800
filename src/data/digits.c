/* src/data/digits.c - procedural handwritten-looking digits, 28 x 28, grey
 *
 * Every sample is drawn when it is asked for: a glyph (a few smooth strokes through named points)
 * is chosen, its points are moved, the whole is bent, slanted, turned, stretched and shifted, and
 * then inked with a round pen. All of it follows from (seed, split, index), so any sample can be
 * drawn at any time on any thread. Sample i shows the digit i mod 10: prefixes are balanced.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/source.h>

#include "base/memory.h"
#include <internal/rng.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 28, POINTS_MAX = 16, SEGMENTS_MAX = 256, SEGMENTS_PER_SPAN = 8 };

typedef struct point {
    double x, y; /* in the unit square, y down */
} point;

typedef struct glyph {
    int digit;
    double weight;       /* how often, among the glyphs of its digit */
    const char *strokes; /* points by letter; blanks between strokes */
    point points[POINTS_MAX];
} glyph;

/* clang-format off */
static const glyph glyphs[] = {
    {0, 3, "abcdefghi",
     {{.52, .08}, {.28, .20}, {.20, .50}, {.28, .81}, {.50, .92}, {.73, .80}, {.80, .50},
      {.72, .19}, {.50, .08}}},
    {0, 1, "abcdefgh",
     {{.60, .12}, {.36, .16}, {.22, .48}, {.32, .84}, {.56, .90}, {.76, .62}, {.72, .26},
      {.48, .08}}},
    {1, 3, "ab",
     {{.50, .08}, {.50, .92}}},
    {1, 2, "abc cd",
     {{.34, .28}, {.44, .18}, {.53, .08}, {.50, .92}}},
    {1, 1, "ab bc de",
     {{.34, .26}, {.52, .08}, {.51, .91}, {.32, .92}, {.70, .91}}},
    {2, 2, "abcdefg ghi",
     {{.24, .28}, {.34, .12}, {.55, .08}, {.73, .20}, {.70, .40}, {.50, .64}, {.23, .90},
      {.50, .89}, {.79, .90}}},
    {2, 2, "abcdefghijk",
     {{.24, .27}, {.38, .10}, {.63, .10}, {.74, .28}, {.62, .54}, {.40, .82}, {.25, .88},
      {.21, .76}, {.35, .72}, {.56, .86}, {.81, .87}}},
    {3, 3, "abcdef fghijk",
     {{.25, .18}, {.45, .08}, {.68, .14}, {.71, .30}, {.58, .44}, {.41, .47}, {.65, .53},
      {.76, .71}, {.64, .88}, {.42, .93}, {.22, .84}}},
    {3, 1, "ab bc cdefgh",
     {{.24, .10}, {.74, .10}, {.44, .43}, {.69, .49}, {.77, .70}, {.62, .89}, {.40, .92},
      {.22, .83}}},
    {4, 3, "abc cde fgh",
     {{.32, .10}, {.25, .34}, {.20, .56}, {.50, .58}, {.81, .54}, {.66, .12}, {.63, .50},
      {.60, .92}}},
    {4, 2, "ab bc ad",
     {{.62, .08}, {.19, .62}, {.84, .62}, {.61, .92}}},
    {5, 3, "ab bc cdefgh",
     {{.73, .10}, {.33, .10}, {.28, .44}, {.48, .38}, {.70, .46}, {.77, .67}, {.64, .87},
      {.23, .84}}},
    {5, 1, "abcdefg ah",
     {{.35, .11}, {.28, .45}, {.47, .40}, {.70, .50}, {.74, .70}, {.58, .90}, {.24, .88},
      {.76, .08}}},
    {6, 2, "abcdefghijk",
     {{.68, .10}, {.46, .20}, {.28, .46}, {.24, .70}, {.36, .90}, {.58, .92}, {.73, .78},
      {.68, .60}, {.50, .53}, {.33, .60}, {.25, .73}}},
    {6, 2, "abcdefghi",
     {{.56, .06}, {.36, .34}, {.25, .64}, {.34, .88}, {.56, .92}, {.72, .76}, {.64, .58},
      {.44, .56}, {.28, .70}}},
    {7, 3, "abc cde",
     {{.22, .13}, {.50, .12}, {.78, .11}, {.60, .45}, {.44, .92}}},
    {7, 1, "abc cde fg",
     {{.22, .12}, {.50, .12}, {.78, .10}, {.60, .45}, {.46, .92}, {.36, .51}, {.72, .48}}},
    {7, 1, "fa abc cde",
     {{.23, .12}, {.50, .13}, {.77, .11}, {.62, .42}, {.50, .92}, {.22, .27}}},
    {8, 3, "abcdefghijklm",
     {{.69, .19}, {.50, .08}, {.30, .20}, {.36, .40}, {.56, .50}, {.75, .68}, {.68, .87},
      {.48, .93}, {.27, .84}, {.26, .66}, {.44, .50}, {.65, .38}, {.70, .20}}},
    {8, 1, "abcdefg hijklmn",
     {{.50, .08}, {.30, .18}, {.32, .38}, {.50, .46}, {.68, .38}, {.70, .18}, {.49, .08},
      {.50, .47}, {.27, .58}, {.25, .80}, {.50, .93}, {.75, .80}, {.73, .58}, {.51, .47}}},
    {9, 3, "abcdefg gh",
     {{.72, .22}, {.54, .08}, {.32, .16}, {.26, .36}, {.42, .50}, {.62, .43}, {.73, .21},
      {.64, .92}}},
    {9, 2, "abcdefg ghijk",
     {{.72, .22}, {.54, .08}, {.32, .17}, {.27, .36}, {.43, .49}, {.62, .42}, {.73, .20},
      {.75, .56}, {.64, .84}, {.42, .92}, {.27, .83}}},
};
/* clang-format on */

static const char *const digit_names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/* --- drawing --------------------------------------------------------------------------------- */

typedef struct segment {
    float x, y, dx, dy;
    float over; /* 1 / length^2 */
} segment;

typedef struct drawing {
    segment segments[SEGMENTS_MAX];
    int count;
} drawing;

static double uniform(px_random *r, double low, double high)
{
    return low + (high - low) * px_rng_u01(r);
}

static const glyph *glyph_choose(px_random *r, int digit)
{
    double total = 0.0;
    for (size_t i = 0; i < PX_LEN(glyphs); i++)
        total += glyphs[i].digit == digit ? glyphs[i].weight : 0.0;
    double left = px_rng_u01(r) * total;
    const glyph *chosen = NULL;
    for (size_t i = 0; i < PX_LEN(glyphs); i++) {
        if (glyphs[i].digit != digit)
            continue;
        chosen = &glyphs[i];
        if ((left -= chosen->weight) < 0.0)
            break;
    }
    return chosen;
}

typedef struct style {       /* how one hand, today, writes */
    double a, b, c, d, x, y; /* the affine map, in pixels */
    double bend, phase;      /* a slow wave across the strokes */
    double pen, ink;         /* half width in pixels, darkness */
} style;

static style style_draw(px_random *r)
{
    const double angle = uniform(r, -0.20, 0.20), slant = uniform(r, -0.12, 0.34);
    const double width = uniform(r, 14.5, 21.0), height = uniform(r, 18.0, 22.0);
    const double cosine = cos(angle), sine = sin(angle);
    style s = {.a = cosine * width,
               .b = -sine * height - slant * cosine * width,
               .c = sine * width,
               .d = cosine * height - slant * sine * width};
    s.x = SIDE / 2.0 + uniform(r, -1.6, 1.6);
    s.y = SIDE / 2.0 + uniform(r, -1.6, 1.6);
    s.bend = uniform(r, 0.0, 0.035);
    s.phase = uniform(r, 0.0, 6.283185307179586);
    s.pen = uniform(r, 0.75, 1.75);
    s.ink = uniform(r, 0.86, 1.12);
    return s;
}

static point style_place(const style *s, point p)
{
    const double x = p.x - 0.5 + s->bend * sin(5.0 * p.y + s->phase);
    const double y = p.y - 0.5 + s->bend * cos(5.0 * p.x + s->phase);
    return (point){s->x + s->a * x + s->b * y, s->y + s->c * x + s->d * y};
}

static void drawing_line(drawing *d, point from, point to)
{
    const double dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
    if (d->count == SEGMENTS_MAX)
        return;
    d->segments[d->count++] = (segment){(float)from.x, (float)from.y, (float)dx, (float)dy,
                                        square > 0.0 ? (float)(1.0 / square) : 0.0f};
}

/* A Catmull-Rom spline through the points: smooth, and it goes where the points say. */
static void drawing_stroke(drawing *d, const point *p, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const point p0 = p[i ? i - 1 : 0], p1 = p[i], p2 = p[i + 1],
                    p3 = p[i + 2 < count ? i + 2 : i + 1];
        const int steps = count == 2 ? 1 : SEGMENTS_PER_SPAN;
        point last = p1;
        for (int k = 1; k <= steps; k++) {
            const double t = (double)k / steps, t2 = t * t, t3 = t2 * t;
            const double w0 = -0.5 * t3 + t2 - 0.5 * t, w1 = 1.5 * t3 - 2.5 * t2 + 1.0,
                         w2 = -1.5 * t3 + 2.0 * t2 + 0.5 * t, w3 = 0.5 * t3 - 0.5 * t2;
            const point next = {w0 * p0.x + w1 * p1.x + w2 * p2.x + w3 * p3.x,
                                w0 * p0.y + w1 * p1.y + w2 * p2.y + w3 * p3.y};
            drawing_line(d, last, next);
            last = next;
        }
    }
}

static void drawing_glyph(drawing *d, const glyph *g, const style *s, px_random *r)
{
    point moved[POINTS_MAX], stroke[POINTS_MAX];
    for (int i = 0; i < POINTS_MAX; i++) {
        const point p = {g->points[i].x + 0.024 * px_rng_normal(r),
                         g->points[i].y + 0.024 * px_rng_normal(r)};
        moved[i] = style_place(s, p);
    }
    int count = 0;
    for (const char *at = g->strokes;; at++) {
        if (*at >= 'a') {
            stroke[count++] = moved[*at - 'a'];
            continue;
        }
        drawing_stroke(d, stroke, count);
        count = 0;
        if (*at == '\0')
            break;
    }
}

/* Lowers `nearest` (squared distances from pixel centres to strokes) around one segment; pixels
 * further away than `reach` get no ink and are left out. */
static void segment_near(const segment *s, float reach, float nearest[SIDE][SIDE])
{
    const float left = s->x + PX_MIN(s->dx, 0.0f) - reach,
                right = s->x + PX_MAX(s->dx, 0.0f) + reach;
    const float top = s->y + PX_MIN(s->dy, 0.0f) - reach, low = s->y + PX_MAX(s->dy, 0.0f) + reach;
    const int x0 = (int)PX_MAX(left, 0.0f), x1 = (int)PX_MIN(right, SIDE - 1.0f);
    const int y0 = (int)PX_MAX(top, 0.0f), y1 = (int)PX_MIN(low, SIDE - 1.0f);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            const float px = (float)x + 0.5f - s->x, py = (float)y + 0.5f - s->y;
            float t = (px * s->dx + py * s->dy) * s->over;
            t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
            const float ex = px - t * s->dx, ey = py - t * s->dy, square = ex * ex + ey * ey;
            nearest[y][x] = square < nearest[y][x] ? square : nearest[y][x];
        }
}

typedef struct digits_source {
    pxi_source base;
    uint64_t seed;
    uint32_t split;
} digits_source;

static px_status digits_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    (void)err;
    const digits_source *digits = (const digits_source *)source;
    px_random random = px_rng(digits->seed, PX_RNG_DIGITS, (uint32_t)index, digits->split);
    drawing d;
    d.count = 0;
    const glyph *g = glyph_choose(&random, (int)(index % 10));
    const style s = style_draw(&random);
    drawing_glyph(&d, g, &s, &random);
    const float reach = (float)s.pen + 0.5f;
    float nearest[SIDE][SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        nearest[i / SIDE][i % SIDE] = 1e6f;
    for (int i = 0; i < d.count; i++)
        segment_near(&d.segments[i], reach, nearest);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float edge = (reach - sqrtf(nearest[i / SIDE][i % SIDE])) * 0.8f; /* a soft edge */
        const float ink = (edge < 0.0f ? 0.0f : edge > 1.0f ? 1.0f : edge) * (float)s.ink;
        out[i] = floorf(255.0f * (ink > 1.0f ? 1.0f : ink) + 0.5f);
    }
    return PX_OK;
}

static int64_t digits_label(const pxi_source *source, int64_t index)
{
    (void)source;
    return index % 10;
}

static const char *digits_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const digits_source *digits = (const digits_source *)source;
    snprintf(buffer, size, "%s/%llu/%lld", digits->split ? "train" : "test",
             (unsigned long long)digits->seed, (long long)index);
    return buffer;
}

static void digits_free(pxi_source *source)
{
    free(source);
}

static const pxi_source_type digits_type = {
    .values = digits_values,
    .label = digits_label,
    .name = digits_name,
    .free = digits_free,
};

bool pxi_digits_is_name(const char *text)
{
    return strcmp(text, "digits") == 0 || strncmp(text, "digits:", 7) == 0;
}

px_status pxi_digits_open(const char *text, const char *split, pxi_source **out, px_error *err)
{
    static const char *const splits[] = {"test", "train"};
    static const int64_t counts[] = {10000, 60000};
    uint64_t seed = 0;
    if (text[6] == ':') {
        char *end;
        seed = strtoull(text + 7, &end, 10);
        if (text[7] < '0' || text[7] > '9' || *end != '\0')
            return px_fail(err, PX_E_USAGE, "'%.100s': expected digits or digits:SEED", text);
    }
    const int chosen = pxi_split_find(splits, PX_LEN(splits), split);
    if (chosen < 0)
        return pxi_split_fail(text, splits, PX_LEN(splits), split, err);
    digits_source *digits = NULL;
    PX_TRY(PX_NEW(digits, 1, err));
    digits->base = (pxi_source){.type = &digits_type,
                                .count = counts[chosen],
                                .is_8bit = true,
                                .shape = {.rank = 3, .dim = {1, SIDE, SIDE}},
                                .class_count = 10,
                                .class_names = digit_names,
                                .kind = "digits"};
    digits->seed = seed;
    digits->split = (uint32_t)chosen;
    *out = &digits->base;
    return PX_OK;
}
