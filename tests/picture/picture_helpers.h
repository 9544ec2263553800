/* tests/picture/picture_helpers.h - looking at pictures */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PICTURE_HELPERS_H
#define TESTS_PICTURE_HELPERS_H

#include "cmocka_all.h"
#include <internal/image.h>

#include <internal/picture.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t BLUE = 0x0072b2, ORANGE = 0xd55e00, GREEN = 0x009e73, INK = 0x222222,
                      GRID = 0xe2e2e2, WHITE = 0xffffff;

static inline uint32_t pixel(const pxi_image *image, int x, int y)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        fail_msg("pixel %d, %d is outside", x, y);
    const uint8_t *p = image->data + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline pxi_image decoded(const uint8_t *bytes, size_t size)
{
    pxi_image image = {0};
    px_error err = {0};
    if (pxi_png_decode(bytes, size, "test", &image, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(image.channels, 3);
    return image;
}

/* The chart as SVG with a NUL behind it. */
static inline char *plot_words(const px_plot *plot)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    if (px_plot_svg(plot, &bytes, &size, &err) != PX_OK)
        fail_msg("%s", err.message);
    char *words = calloc(size + 1, 1);
    assert_non_null(words);
    memcpy(words, bytes, size);
    free(bytes);
    assert_int_equal(strlen(words), size);
    return words;
}

static inline size_t words_count(const char *words, const char *what)
{
    size_t count = 0;
    for (const char *at = words; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

/* --- an SVG as pixels: the colour of the last shape over a pixel's centre, without words ------- */

enum { PAINT_POINTS = 20000 };
typedef struct paint {
    pxi_image image;
    double point[PAINT_POINTS][2]; /* of the shape at hand */
    size_t count;
    double reach; /* of a line: half its width; of a circle: its radius */
    char kind;    /* of the shape: r, c, l, g */
    unsigned colour;
    double opacity;
} paint;

static inline double paint_attribute(const char *shape, const char *name, double otherwise)
{
    char word[32];
    snprintf(word, sizeof word, " %s=\"", name);
    const char *at = strstr(shape, word), *end = strchr(shape, '>');
    return at && at < end ? strtod(at + strlen(word), NULL) : otherwise;
}

static inline bool paint_near(const double *a, const double *b, double x, double y, double reach)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
    double t = length2 > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double ex = x - a[0] - t * dx, ey = y - a[1] - t * dy;
    return ex * ex + ey * ey < reach * reach - 1e-9;
}

/* Even-odd; a rectangle is a polygon too. */
static inline bool paint_inside(const paint *p, double x, double y)
{
    bool inside = false;
    for (size_t i = 0; i < p->count; i++) {
        const double *a = p->point[i], *b = p->point[(i + 1) % p->count];
        if ((a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]))
            inside = !inside;
    }
    return inside;
}

/* Blends the colour over the pixels between two points and `reach` around them. */
static inline void paint_box(paint *p, const double *a, const double *b, bool fill)
{
    const double r = p->reach + 1;
    const int width = p->image.width, height = p->image.height;
    double least[2] = {a[0], a[1]}, most[2] = {a[0], a[1]};
    for (size_t i = 0; i < (fill ? p->count : 1); i++)
        for (int k = 0; k < 2; k++) {
            const double v = fill ? p->point[i][k] : b[k];
            least[k] = v < least[k] ? v : least[k];
            most[k] = v > most[k] ? v : most[k];
        }
    for (int y = least[1] > r ? (int)(least[1] - r) : 0; y < height && y <= most[1] + r; y++)
        for (int x = least[0] > r ? (int)(least[0] - r) : 0; x < width && x <= most[0] + r; x++) {
            if (!(fill ? paint_inside(p, x + 0.5, y + 0.5)
                       : paint_near(a, b, x + 0.5, y + 0.5, p->reach)))
                continue;
            uint8_t *rgb = p->image.data + 3 * ((size_t)y * (size_t)width + (size_t)x);
            for (int c = 0; c < 3; c++)
                rgb[c] = (uint8_t)(rgb[c] * (1 - p->opacity) +
                                   (p->colour >> (16 - 8 * c) & 255) * p->opacity + 0.5);
        }
}

static inline void paint_shape(paint *p, const char *shape)
{
    const bool rect = strncmp(shape, "<rect", 5) == 0, circle = strncmp(shape, "<circle", 7) == 0;
    const bool line = strncmp(shape, "<polyline", 9) == 0;
    const char *colour = strstr(shape, line ? " stroke=\"#" : " fill=\"#");
    p->colour = (unsigned)strtoul(strchr(colour, '#') + 1, NULL, 16);
    p->opacity = paint_attribute(shape, line ? "stroke-opacity" : "fill-opacity", 1);
    p->reach = circle ? paint_attribute(shape, "r", 0)
               : line ? paint_attribute(shape, "stroke-width", 0) / 2
                      : 0;
    p->count = 0;
    if (rect) {
        const double x = paint_attribute(shape, "x", 0), y = paint_attribute(shape, "y", 0);
        const double w = paint_attribute(shape, "width", 0),
                     h = paint_attribute(shape, "height", 0);
        const double corners[4][2] = {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}};
        memcpy(p->point, corners, sizeof corners);
        p->count = 4;
    } else if (circle) {
        p->point[0][0] = paint_attribute(shape, "cx", 0);
        p->point[0][1] = paint_attribute(shape, "cy", 0);
        p->count = 1;
    } else {
        char *at = strstr(shape, " points=\"") + 9;
        while (*at != '"' && p->count < PAINT_POINTS) {
            p->point[p->count][0] = strtod(at, &at);
            p->point[p->count++][1] = strtod(at + 1, &at);
        }
        assert_true(p->count < PAINT_POINTS);
    }
    if (!line && !circle)
        paint_box(p, p->point[0], p->point[0], /* fill= */ true);
    for (size_t i = 0; (line || circle) && i < p->count; i++)
        paint_box(p, p->point[i], p->point[i + 1 < p->count ? i + 1 : i], /* fill= */ false);
}

/* Drawn twice: the same bytes. */
static inline pxi_image plot_pixels(const px_plot *plot)
{
    static paint p;
    char *words = plot_words(plot), *again = plot_words(plot);
    assert_string_equal(words, again);
    p.image = (pxi_image){.width = (int)paint_attribute(words, "width", 0),
                          .height = (int)paint_attribute(words, "height", 0),
                          .channels = 3};
    p.image.data = calloc((size_t)p.image.width * (size_t)p.image.height, 3);
    assert_non_null(p.image.data);
    for (char *at = strchr(words, '>'); (at = strchr(at, '<')); at++)
        if (strncmp(at, "<rect", 5) == 0 || strncmp(at, "<circle", 7) == 0 ||
            strncmp(at, "<poly", 5) == 0)
            paint_shape(&p, at);
    free(words);
    free(again);
    return p.image;
}

typedef struct area { /* pixels of one colour: first and last column and row, and how many */
    int left, right, top, bottom, count;
} area;

static inline area area_of(const pxi_image *image, uint32_t colour, int from_x, int to_x)
{
    area a = {image->width, -1, image->height, -1, 0};
    for (int y = 0; y < image->height; y++)
        for (int x = from_x; x < to_x; x++)
            if (pixel(image, x, y) == colour) {
                a.left = x < a.left ? x : a.left;
                a.right = x > a.right ? x : a.right;
                a.top = y < a.top ? y : a.top;
                a.bottom = y > a.bottom ? y : a.bottom;
                a.count++;
            }
    return a;
}

/* The rectangle at *at, which moves behind its start; false: there are no more. */
static inline bool next_rect(const char **at, double box[4], uint32_t *colour)
{
    while ((*at = strstr(*at, "<rect x="))) {
        unsigned hex;
        const int got =
            sscanf(*at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\" fill=\"#%x",
                   &box[0], &box[1], &box[2], &box[3], &hex);
        ++*at;
        if (got == 5) {
            *colour = hex;
            return true;
        }
    }
    return false;
}

/* The area between the axes: the line at the foot gives left, right and bottom, the uppermost grid
 * line the top; in a chart whose y axis ends at a tick. */
static inline area frame_of(const px_plot *plot)
{
    char *words = plot_words(plot);
    const char *at = words;
    area f = {0, -1, 10000, -1, 0};
    double box[4];
    uint32_t colour;
    while (next_rect(&at, box, &colour)) {
        if (colour == GRID && box[1] < f.top)
            f.top = (int)box[1];
        if (colour == INK && box[3] == 1 && box[2] > 100)
            f = (area){(int)box[0], (int)(box[0] + box[2]) - 1, f.top, (int)box[1], 0};
    }
    free(words);
    if (f.bottom <= f.top)
        fail_msg("there is no frame");
    return f;
}

#endif
