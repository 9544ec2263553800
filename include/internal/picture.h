/* include/internal/picture.h - pictures out: pixels, charts, contact sheets
 *
 *     px_plot *plot = NULL;
 *     const px_plot_options options = {.title = "Coverage grows",
 *                                      .x = {.label = "inputs", .log = true},
 *                                      .y = {.label = "covered", .unit = "%"}};
 *     PX_TRY(px_plot_new(&options, &plot, err));
 *     px_status status = px_plot_line(plot, "kmnc", inputs, kmnc, count, 0, err);
 *     if (status == PX_OK)
 *         status = px_plot_line(plot, "random", inputs, random, count, PX_PLOT_DASHED, err);
 *     if (status == PX_OK)
 *         status = px_plot_save(plot, "growth.svg", err);
 *     px_plot_free(plot);
 *
 * Everything handed over is copied. The same description gives the same bytes. Charts and sheets
 * belong to one thread at a time. Names are UTF-8; of longer ones the first 1,000 bytes count, and
 * what does not fit its place ends with an ellipsis.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PICTURE_H
#define PXI_INTERNAL_PICTURE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* --- pixels ---------------------------------------------------------------------------------- */

/* Writes 8-bit pixels, row by row without gaps, channels together: 1 channel is grey, 3 are RGB.
 * The file appears whole or not at all; the same pixels give the same bytes. */
px_status px_png_save(const char *path, int width, int height, int channels, const uint8_t *pixels,
                      px_error *err);

/* The same into memory, which the caller frees. */
px_status px_png_encode(int width, int height, int channels, const uint8_t *pixels, uint8_t **out,
                        size_t *size, px_error *err);

/* --- charts -------------------------------------------------------------------------------------
 *
 * Values that cannot be shown (NaN, infinite or beyond 1e300; on a logarithmic axis 0 and below)
 * are left out, counted, and the chart says how many.
 */

/* Limits; more is PX_E_USAGE, before anything is allocated. */
#define PX_PLOT_SIDE_LEAST 120 /* pixels of width and height */
#define PX_PLOT_SIDE_MOST 4096
#define PX_PLOT_SERIES_MOST 64                /* lines, clouds of points, sets of bars; boxes */
#define PX_PLOT_GROUPS_MOST 1000              /* groups of bars */
#define PX_PLOT_VALUES_MOST ((size_t)1 << 24) /* of one series */

typedef struct px_plot_axis {
    const char *label, *unit; /* NULL: none; the unit follows in brackets */
    bool log;
    double least, most; /* what is shown; both 0: what the data need */
} px_plot_axis;

typedef struct px_plot_options { /* {0}: all defaults */
    const char *title, *note;    /* NULL: none; the note is a smaller line below the title */
    int width, height;           /* 0: 720 x 440 */
    px_plot_axis x, y;           /* x.log is for lines and points only */
    bool numbers;                /* write values on bars that have room */
} px_plot_options;

typedef struct px_plot px_plot;

/* On PX_OK the caller owns *out. `options` may be NULL. */
px_status px_plot_new(const px_plot_options *options, px_plot **out, px_error *err);
void px_plot_free(px_plot *plot); /* NULL is fine */

/* A chart is made of lines and points, or of bars, or of boxes, or is a map; anything
 * else is PX_E_USAGE and leaves it as it was. `name` stands in the legend (NULL: it does not). */

enum { PX_PLOT_DASHED = 1, PX_PLOT_DOTS = 2 }; /* styles of a line; dots: mark its points */

/* Joins the points in the order given; one that is left out makes a gap. `x` NULL: 0, 1, 2 ... */
px_status px_plot_line(px_plot *plot, const char *name, const double *x, const double *y,
                       size_t count, unsigned style, px_error *err);
px_status px_plot_points(px_plot *plot, const char *name, const double *x, const double *y,
                         size_t count, px_error *err);

/* The groups of bars, before the bars: one bar of each set stands in each group. `names` NULL:
 * indices. */
px_status px_plot_groups(px_plot *plot, const char *const *names, size_t count, px_error *err);
/* One value per group; `spread` (may be NULL) draws value +- spread as a whisker. */
px_status px_plot_bars(px_plot *plot, const char *name, const double *values, const double *spread,
                       size_t count, px_error *err);

/* A box from the lower to the upper quartile (type 7, as px_quantile()) with the median; whiskers
 * to the last value within 1.5 times the box's height; every value beyond as a dot. */
px_status px_plot_box(px_plot *plot, const char *name, const double *values, size_t count,
                      px_error *err);

/* A map: points in a plane whose axes have no meaning of their own, so that there are no numbers
 * and both directions have one scale. Colours and marks count from 0; there are PX_PLOT_COLOURS and
 * PX_PLOT_MARKS that differ, then they repeat. Points are drawn in the order given. */
#define PX_PLOT_COLOURS 20
#define PX_PLOT_MARKS 6 /* circle, square, triangle, diamond, turned triangle, cross */
px_status px_plot_map(px_plot *plot, const double *x, const double *y, const uint16_t *colours,
                      const uint16_t *marks, size_t count, px_error *err);
/* What a colour (mark -1: any mark) or a mark (colour -1: any colour) of a map stands for. */
px_status px_plot_key(px_plot *plot, const char *name, int colour, int mark, px_error *err);

int64_t px_plot_left_out(const px_plot *plot); /* points, bars, samples */

/* As SVG into memory, which the caller frees (UTF-8, not NUL-terminated); to a file, whose name
 * ends with .svg, whole or not at all. A chart without data is an empty frame that says so. */
px_status px_plot_svg(const px_plot *plot, uint8_t **out, size_t *size, px_error *err);
px_status px_plot_save(const px_plot *plot, const char *path, px_error *err);

/* --- contact sheets -----------------------------------------------------------------------------
 *
 *     px_sheet *sheet = NULL;
 *     PX_TRY(px_sheet_new(&(px_sheet_options){.title = "Faults", .columns = 10}, &sheet, err));
 *     status = px_sheet_add(sheet, &(px_sheet_item){.picture = {28, 28, 1, pixels},
 *                                                   .caption = "7, seen as 1"}, err);
 *     ...
 *     status = px_sheet_save(sheet, "faults.png", err);
 *     px_sheet_free(sheet);
 */

#define PX_SHEET_ITEMS_MOST 10000
#define PX_SHEET_SIDE_MOST 4096                 /* of one picture, before enlarging */
#define PX_SHEET_PIXELS_MOST ((int64_t)1 << 26) /* of the sheet, and of all pictures together */

typedef struct px_pixels {       /* rows of pixels without gaps, channels together */
    int width, height, channels; /* 1: grey, 3: RGB */
    const uint8_t *data;
} px_pixels;

typedef enum px_sheet_overlay {
    PX_SHEET_PLAIN,
    PX_SHEET_DIFFERENCE, /* `other` minus `picture`, mean over channels: white is none, red is more,
                          * blue is less; full colour at the largest difference of the item */
    PX_SHEET_MASK,       /* `picture` tinted orange as far as `other` (grey) is white */
} px_sheet_overlay;

typedef struct px_sheet_item {
    px_pixels picture;
    const char *caption; /* NULL: none; up to three lines, parted by \n */
    px_sheet_overlay overlay;
    px_pixels other; /* of overlays: as wide and high as the picture */
    bool marked;     /* a frame around it */
} px_sheet_item;

typedef struct px_sheet_options { /* {0}: all defaults */
    const char *title;            /* NULL: none */
    int columns;                  /* 0: about as wide as high */
    int enlarge;                  /* whole factor, pixels stay squares; 0: small ones to about 84 */
} px_sheet_options;

typedef struct px_sheet px_sheet;

px_status px_sheet_new(const px_sheet_options *options, px_sheet **out, px_error *err);
void px_sheet_free(px_sheet *sheet); /* NULL is fine */
/* Places follow the order of adding, row by row. A failure leaves the sheet as it was. */
px_status px_sheet_add(px_sheet *sheet, const px_sheet_item *item, px_error *err);
px_status px_sheet_png(const px_sheet *sheet, uint8_t **out, size_t *size, px_error *err);
px_status px_sheet_save(const px_sheet *sheet, const char *path, px_error *err); /* or .svg */

PX_END_DECLS
#endif
