/* tests/picture/picture_helpers.h - looking at pictures */
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

/* The chart as pixels, drawn twice: the same bytes. */
static inline pxi_image plot_pixels(const px_plot *plot)
{
    uint8_t *bytes[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    px_error err = {0};
    for (int i = 0; i < 2; i++)
        if (px_plot_png(plot, &bytes[i], &size[i], &err) != PX_OK)
            fail_msg("%s", err.message);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    const pxi_image image = decoded(bytes[0], size[0]);
    free(bytes[0]);
    free(bytes[1]);
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
