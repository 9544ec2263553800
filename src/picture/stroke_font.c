/* src/picture/stroke_font.c - a small sans-serif font made of strokes
 *
 * Glyphs are paths in units of 1/48 em, y up from the base line, centre lines at 2 (base), 26
 * (x-height) and 34 (capitals), stems at 4n + 2: on pixel centres when the em has 12 pixels.
 *     Mx y    start here
 *     Lx y    straight to there
 *     Vx y    a quarter of an ellipse that leaves vertically and arrives horizontally
 *     Hx y    one that leaves horizontally and arrives vertically
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/stroke_font.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FONT_EM = 48, FONT_CURVE_PIECES = 6, FONT_X_HEIGHT = 26, FONT_CAP_HEIGHT = 34 };

typedef struct glyph {
    uint32_t code;
    int advance;
    const char *path;
} glyph;

/* In order of code; the first 95 are ASCII. */
static const glyph glyphs[] = {
    {' ', 14, ""},
    {'!', 12, "M6 34L6 14M6 4L6 2"},
    {'"', 20, "M6 34L6 26M14 34L14 26"},
    {'#', 32, "M8 2L12 34M20 2L24 34M4 22L28 22M4 10L28 10"},
    {'$', 28, "M22 27V14 34H6 26V14 18H22 10V14 2H6 9M14 38L14 -2"},
    {'%', 44, "M6 26V12 34H18 26V12 18H6 26M26 10V32 18H38 10V32 2H26 10M10 2L34 34"},
    {'&', 32, "M28 2L10 25V16 34H22 27L9 16L6 11V14 2H27 15"},
    {'\'', 12, "M6 34L6 26"},
    {'(', 16, "M12 38L8 30L6 22L6 10L8 2L12 -6"},
    {')', 16, "M4 38L8 30L10 22L10 10L8 2L4 -6"},
    {'*', 20, "M10 34L10 18M3 30L17 22M17 30L3 22"},
    {'+', 28, "M14 4L14 24M4 14L24 14"},
    {',', 12, "M6 4L6 2L4 -4"},
    {'-', 16, "M4 14L12 14"},
    {'.', 12, "M6 2L6 4"},
    {'/', 16, "M2 -2L14 36"},
    {'0', 28, "M6 12L6 24V14 34H22 24L22 12V14 2H6 12"},
    {'1', 28, "M8 28L14 34L14 2M6 2L22 2"},
    {'2', 28, "M6 27V14 34H22 26L20 20L6 2L22 2"},
    {'3', 28, "M6 29V14 34H22 26V14 18L12 18M14 18H22 10V14 2H6 7"},
    {'4', 28, "M18 2L18 34L4 10L24 10"},
    {'5', 28, "M21 34L8 34L7 19V14 22H22 12V14 2H6 7"},
    {'6', 28, "M21 30V14 34H6 22L6 12V14 2H22 12V14 22H6 12"},
    {'7', 28, "M6 34L22 34L12 2"},
    {'8', 28, "M14 18H6 26V14 34H22 26V14 18H6 10V14 2H22 10V14 18"},
    {'9', 28, "M7 6V14 2H22 14L22 24V14 34H6 24V14 14H22 24"},
    {':', 12, "M6 22L6 24M6 2L6 4"},
    {';', 12, "M6 22L6 24M6 4L6 2L4 -4"},
    {'<', 28, "M23 24L5 14L23 4"},
    {'=', 28, "M4 18L24 18M4 10L24 10"},
    {'>', 28, "M5 24L23 14L5 4"},
    {'?', 24, "M6 28V13 34H20 27L18 22L14 18L14 12M14 2L14 4"},
    {'@', 48, "M32 4V24 -2H6 16V24 34H42 18L42 14V36 8H32 14L32 24M32 16V24 24H16 16V24 8H32 16"},
    {'A', 32, "M4 2L16 34L28 2M8 14L24 14"},
    {'B', 32, "M6 2L6 34L16 34H24 26V16 18L6 18M16 18H26 10V16 2L6 2"},
    {'C', 32, "M27 26V17 34H6 22L6 14V17 2H27 10"},
    {'D', 32, "M6 2L6 34L14 34H26 22L26 14V14 2L6 2"},
    {'E', 28, "M24 34L6 34L6 2L24 2M6 18L22 18"},
    {'F', 28, "M24 34L6 34L6 2M6 18L20 18"},
    {'G', 36, "M27 27V17 34H6 22L6 14V17 2H28 12L28 18L18 18"},
    {'H', 32, "M6 2L6 34M26 2L26 34M6 18L26 18"},
    {'I', 12, "M6 2L6 34"},
    {'J', 24, "M18 34L18 10V10 2H4 9"},
    {'K', 32, "M6 2L6 34M26 34L6 14M12 20L27 2"},
    {'L', 26, "M6 34L6 2L22 2"},
    {'M', 36, "M6 2L6 34L18 10L30 34L30 2"},
    {'N', 32, "M6 2L6 34L26 2L26 34"},
    {'O', 36, "M6 14L6 22V18 34H30 22L30 14V18 2H6 14"},
    {'P', 30, "M6 2L6 34L16 34H26 26V16 18L6 18"},
    {'Q', 36, "M6 14L6 22V18 34H30 22L30 14V18 2H6 14M20 10L32 -2"},
    {'R', 32, "M6 2L6 34L16 34H26 26V16 18L6 18M16 18L27 2"},
    {'S', 32, "M25 27V15 34H6 26V15 18H26 10V15 2H5 9"},
    {'T', 28, "M2 34L26 34M14 34L14 2"},
    {'U', 32, "M6 34L6 12V16 2H26 12L26 34"},
    {'V', 32, "M4 34L16 2L28 34"},
    {'W', 44, "M3 34L12 2L22 34L32 2L41 34"},
    {'X', 32, "M4 2L28 34M4 34L28 2"},
    {'Y', 28, "M2 34L14 18L14 2M14 18L26 34"},
    {'Z', 28, "M4 34L24 34L4 2L24 2"},
    {'[', 16, "M12 38L6 38L6 -6L12 -6"},
    {'\\', 16, "M2 36L14 -2"},
    {']', 16, "M4 38L10 38L10 -6L4 -6"},
    {'^', 24, "M5 20L12 34L19 20"},
    {'_', 28, "M2 -6L26 -6"},
    {'`', 16, "M5 36L10 30"},
    {'a', 28, "M7 22V14 26H22 19L22 2M22 14L13 14H6 8V12 2H22 9"},
    {'b', 28, "M6 34L6 2M6 16V14 26H22 16L22 12V14 2H6 12"},
    {'c', 24, "M20 20V13 26H6 16L6 12V13 2H20 8"},
    {'d', 28, "M22 34L22 2M22 16V14 26H6 16L6 12V14 2H22 12"},
    {'e', 28, "M6 14L22 14L22 17V14 26H6 16L6 12V14 2H21 8"},
    {'f', 16, "M14 34H6 27L6 2M1 26L13 26"},
    {'g', 28, "M22 26L22 2V14 -6H7 -2M22 16V14 26H6 16L6 12V14 2H22 12"},
    {'h', 28, "M6 34L6 2M6 16V14 26H22 17L22 2"},
    {'i', 12, "M6 26L6 2M6 33L6 35"},
    {'j', 12, "M6 26L6 -1V1 -6L0 -6M6 33L6 35"},
    {'k', 24, "M6 34L6 2M20 26L6 12M11 17L21 2"},
    {'l', 12, "M6 34L6 2"},
    {'m', 36, "M6 26L6 2M6 18V12 26H18 18L18 2M18 18V24 26H30 18L30 2"},
    {'n', 28, "M6 26L6 2M6 16V14 26H22 17L22 2"},
    {'o', 28, "M6 12L6 16V14 26H22 16L22 12V14 2H6 12"},
    {'p', 28, "M6 26L6 -6M6 16V14 26H22 16L22 12V14 2H6 12"},
    {'q', 28, "M22 26L22 -6M22 16V14 26H6 16L6 12V14 2H22 12"},
    {'r', 18, "M6 26L6 2M6 15V13 26L16 26"},
    {'s', 24, "M19 21V12 26H5 20V12 14H20 8V12 2H4 7"},
    {'t', 16, "M6 34L6 8V12 2L14 2M1 26L13 26"},
    {'u', 28, "M6 26L6 11V14 2H22 12M22 26L22 2"},
    {'v', 24, "M3 26L12 2L21 26"},
    {'w', 36, "M3 26L10 2L18 26L26 2L33 26"},
    {'x', 24, "M4 2L20 26M4 26L20 2"},
    {'y', 24, "M3 26L12 2M21 26L10 -4L8 -6L4 -6"},
    {'z', 24, "M4 26L20 26L4 2L20 2"},
    {'{', 16, "M13 38L10 38L8 36L8 20L4 16L8 12L8 -4L10 -6L13 -6"},
    {'|', 12, "M6 38L6 -6"},
    {'}', 16, "M3 38L6 38L8 36L8 20L12 16L8 12L8 -4L6 -6L3 -6"},
    {'~', 28, "M4 12L8 17L12 17L17 11L21 11L24 16"},
    {0xa0, 14, ""}, /* no-break space */
    {0xb0, 18, "M4 28V9 34H14 28V9 22H4 28"},
    {0xb1, 28, "M14 8L14 28M4 18L24 18M4 2L24 2"},
    {0xb2, 18, "M4 31V9 36H14 31L4 20L14 20"},
    {0xb5, 28, "M6 26L6 -6M6 11V14 2H22 12M22 26L22 2"},
    {0xb7, 12, "M6 13L6 15"},
    {0xc6, 44, "M4 2L20 34L40 34M22 34L22 2L40 2M10 14L22 14M22 18L38 18"},
    {0xd7, 28, "M6 6L22 22M6 22L22 6"},
    {0xd8, 36, "M6 14L6 22V18 34H30 22L30 14V18 2H6 14M6 0L30 36"},
    {0xdf, 28, "M6 2L6 25V13 34H21 26V13 19H22 10V14 2L11 2"},
    {0xe6, 44,
     "M7 22V14 26H22 19L22 12V30 2H37 8M22 14L13 14H6 8V12 2H22 9M22 14L38 14L38 17V30 26H22 17"},
    {0xf8, 28, "M6 12L6 16V14 26H22 16L22 12V14 2H6 12M5 0L23 28"},
    {0x131, 12, "M6 26L6 2"}, /* i without its dot */
    {0x152, 44, "M22 34L16 34H6 22L6 14V16 2L22 2M40 34L22 34L22 2L40 2M22 18L38 18"},
    {0x153, 44,
     "M6 12L6 16V14 26H22 16L22 12V14 2H6 12M22 12V30 2H37 8M22 14L38 14L38 17V30 26H22 16"},
    {0x394, 32, "M4 2L16 34L28 2L4 2"},
    {0x3b1, 28, "M22 26L20 12V13 2H5 14V13 26H20 12L23 2"},
    {0x3b2, 28, "M6 -6L6 25V13 34H21 26V13 19H22 10V14 2H6 8"},
    {0x3b5, 24, "M19 22V13 26H6 20V13 14H5 8V13 2H20 7"},
    {0x3bb, 24, "M4 34L7 34L20 2M12 21L4 2"},
    {0x3bc, 28, "M6 26L6 -6M6 11V14 2H22 12M22 26L22 2"},
    {0x3c3, 28, "M26 26L14 26H6 14V14 2H22 14V14 26"},
    {0x2013, 28, "M2 14L26 14"},
    {0x2014, 48, "M2 14L46 14"},
    {0x2018, 12, "M8 36L6 32L6 28"},
    {0x2019, 12, "M6 36L6 32L4 28"},
    {0x201c, 20, "M8 36L6 32L6 28M16 36L14 32L14 28"},
    {0x201d, 20, "M6 36L6 32L4 28M14 36L14 32L12 28"},
    {0x2022, 16, "M7 15L9 15L9 13L7 13L7 15"},
    {0x2026, 40, "M6 2L6 4M18 2L18 4M30 2L30 4"},
    {0x2192, 44, "M4 14L38 14M28 22L38 14L28 6"},
    {0x2212, 28, "M4 14L24 14"},
    {0x2260, 28, "M4 18L24 18M4 10L24 10M9 4L19 24"},
    {0x2264, 28, "M23 28L5 19L23 10M5 2L23 2"},
    {0x2265, 28, "M5 28L23 19L5 10M5 2L23 2"},
};
static const glyph glyph_unknown = {0xfffd, 28, "M6 2L6 34L22 34L22 2L6 2"};

/* Accents: about the middle of their letter, from its height up (the cedilla: from the base down).
 */
enum {
    MARK_NONE,
    MARK_GRAVE,
    MARK_ACUTE,
    MARK_HAT,
    MARK_TILDE,
    MARK_DOTS,
    MARK_RING,
    MARK_CEDILLA
};
static const char *const marks[] = {
    [MARK_NONE] = "",
    [MARK_GRAVE] = "M-3 11L2 5",
    [MARK_ACUTE] = "M3 11L-2 5",
    [MARK_HAT] = "M-5 5L0 11L5 5",
    [MARK_TILDE] = "M-6 6L-3 9L3 6L6 9",
    [MARK_DOTS] = "M-4 7L-4 9M4 7L4 9",
    [MARK_RING] = "M-4 8V0 12H4 8V0 4H-4 8",
    [MARK_CEDILLA] = "M0 2L2 -3L-3 -6",
};
/* U+00C0 to U+00FF: the letter and its mark; 0: none such, or a glyph of its own. */
static const struct {
    char letter;
    uint8_t mark;
} accented[64] = {
    {'A', 1}, {'A', 2}, {'A', 3}, {'A', 4}, {'A', 5}, {'A', 6}, {0, 0},   {'C', 7},
    {'E', 1}, {'E', 2}, {'E', 3}, {'E', 5}, {'I', 1}, {'I', 2}, {'I', 3}, {'I', 5},
    {0, 0},   {'N', 4}, {'O', 1}, {'O', 2}, {'O', 3}, {'O', 4}, {'O', 5}, {0, 0},
    {0, 0},   {'U', 1}, {'U', 2}, {'U', 3}, {'U', 5}, {'Y', 2}, {0, 0},   {0, 0},
    {'a', 1}, {'a', 2}, {'a', 3}, {'a', 4}, {'a', 5}, {'a', 6}, {0, 0},   {'c', 7},
    {'e', 1}, {'e', 2}, {'e', 3}, {'e', 5}, {'i', 1}, {'i', 2}, {'i', 3}, {'i', 5},
    {0, 0},   {'n', 4}, {'o', 1}, {'o', 2}, {'o', 3}, {'o', 4}, {'o', 5}, {0, 0},
    {0, 0},   {'u', 1}, {'u', 2}, {'u', 3}, {'u', 5}, {'y', 2}, {0, 0},   {'y', 5},
};

static int glyph_order(const void *key, const void *item)
{
    const uint32_t a = *(const uint32_t *)key, b = ((const glyph *)item)->code;
    return (a > b) - (a < b);
}

/* The glyph of a character, and the mark above it. */
static const glyph *glyph_find(uint32_t code, int *mark)
{
    *mark = MARK_NONE;
    if (code >= 0xc0 && code <= 0xff && accented[code - 0xc0].letter) {
        *mark = accented[code - 0xc0].mark;
        code = (uint32_t)accented[code - 0xc0].letter;
        if (code == 'i')
            code = 0x131;
    }
    const glyph *found = bsearch(&code, glyphs, PX_LEN(glyphs), sizeof glyphs[0], glyph_order);
    return found ? found : &glyph_unknown;
}

double pxi_font_width(const char *text, double size)
{
    int width = 0, mark;
    while (*text)
        width += glyph_find(pxi_utf8_next(&text, 4), &mark)->advance;
    return (double)width * size / FONT_EM;
}

size_t pxi_font_fit(const char *text, double size, double most)
{
    const char *at = text;
    int width = 0, mark;
    while (*at) {
        const char *before = at;
        width += glyph_find(pxi_utf8_next(&at, 4), &mark)->advance;
        if ((double)width * size / FONT_EM > most)
            return (size_t)(before - text);
    }
    return (size_t)(at - text);
}

double pxi_font_stroke(double size)
{
    return size / 12.0;
}

typedef struct pen {
    double scale, x, y; /* where the path's origin lies */
    pxi_stroke_fn stroke;
    void *user;
} pen;

static void pen_line(const pen *p, double x0, double y0, double x1, double y1)
{
    p->stroke(p->user, p->x + x0 * p->scale, p->y - y0 * p->scale, p->x + x1 * p->scale,
              p->y - y1 * p->scale);
}

/* A quarter of an ellipse as a cubic Bézier curve, whose inner points are this share of the way. */
static void pen_quarter(const pen *p, double x0, double y0, double x1, double y1, bool vertical)
{
    const double k = 0.5522847498;
    const double ax = vertical ? x0 : x0 + k * (x1 - x0), ay = vertical ? y0 + k * (y1 - y0) : y0;
    const double bx = vertical ? x1 - k * (x1 - x0) : x1, by = vertical ? y1 : y1 - k * (y1 - y0);
    double px = x0, py = y0;
    for (int i = 1; i <= FONT_CURVE_PIECES; i++) {
        const double t = (double)i / FONT_CURVE_PIECES, s = 1 - t;
        const double x = s * s * s * x0 + 3 * s * s * t * ax + 3 * s * t * t * bx + t * t * t * x1;
        const double y = s * s * s * y0 + 3 * s * s * t * ay + 3 * s * t * t * by + t * t * t * y1;
        pen_line(p, px, py, x, y);
        px = x;
        py = y;
    }
}

static void pen_path(const pen *p, const char *path)
{
    double x = 0, y = 0;
    while (*path) {
        const char step = *path;
        char *end;
        const double to_x = (double)strtol(path + 1, &end, 10);
        const double to_y = (double)strtol(end, &end, 10);
        path = end;
        if (step == 'L')
            pen_line(p, x, y, to_x, to_y);
        else if (step != 'M')
            pen_quarter(p, x, y, to_x, to_y, step == 'V');
        x = to_x;
        y = to_y;
    }
}

void pxi_font_draw(const char *text, double size, pxi_stroke_fn stroke, void *user)
{
    pen p = {size / FONT_EM, 0, 0, stroke, user};
    while (*text) {
        int mark;
        const glyph *g = glyph_find(pxi_utf8_next(&text, 4), &mark);
        pen_path(&p, g->path);
        if (mark != MARK_NONE) {
            const bool capital = g->code >= 'A' && g->code <= 'Z';
            const int height = capital ? FONT_CAP_HEIGHT : FONT_X_HEIGHT;
            const pen over = {p.scale, p.x + p.scale * g->advance / 2,
                              mark == MARK_CEDILLA ? p.y : p.y - p.scale * height, stroke, user};
            pen_path(&over, marks[mark]);
        }
        p.x += p.scale * g->advance;
    }
}
