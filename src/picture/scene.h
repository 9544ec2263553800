/* src/picture/scene.h - a drawing as a list of shapes
 *
 *     pxi_scene *scene = pxi_scene_new(720, 440);
 *     pxi_scene_rect(scene, 10, 10, 100, 1, PXI_INK);
 *     pxi_scene_text(scene, &(pxi_text_style){.x = 10, .y = 30, .size = 12, .colour = PXI_INK},
 * "hi"); status = pxi_scene_svg(scene, &bytes, &size, err); pxi_scene_free(scene);
 *
 * x goes right and y goes down, in pixels; a pixel's centre is at .5. Shapes are drawn in order.
 * Running out of memory is remembered and reported by the back ends.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_SCENE_H
#define PXI_PICTURE_SCENE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pxi_colour {
    uint8_t r, g, b, a; /* a: 255 is opaque */
} pxi_colour;

#define PXI_RGB(hex) \
    ((pxi_colour){(uint8_t)((hex) >> 16), (uint8_t)((hex) >> 8 & 255), (uint8_t)((hex)&255), 255})
#define PXI_INK PXI_RGB(0x222222)   /* words and axes */
#define PXI_FAINT PXI_RGB(0x666666) /* remarks */
#define PXI_GRID PXI_RGB(0xe2e2e2)
#define PXI_WHITE PXI_RGB(0xffffff)
#define PXI_MISSING PXI_RGB(0xd0d0d0) /* a cell without a value */

typedef enum pxi_anchor { PXI_ANCHOR_START, PXI_ANCHOR_MIDDLE, PXI_ANCHOR_END } pxi_anchor;

typedef struct pxi_text_style {
    double x, y; /* of the anchor, on the base line */
    double size; /* of the em square, in pixels */
    pxi_colour colour;
    pxi_anchor anchor;
    int turn; /* degrees, counter-clockwise, about the anchor: 0, 45 or 90 */
} pxi_text_style;

typedef enum pxi_shape_kind {
    PXI_SHAPE_RECT,    /* box[] = x, y, width, height; filled */
    PXI_SHAPE_LINE,    /* points; stroked with round caps and joints */
    PXI_SHAPE_POLYGON, /* points; filled; convex, either way round */
    PXI_SHAPE_CIRCLE,  /* box[] = x, y, radius; filled */
    PXI_SHAPE_TEXT,
    PXI_SHAPE_IMAGE, /* box[]; RGB pixels, stretched without smoothing */
} pxi_shape_kind;

typedef struct pxi_shape {
    pxi_shape_kind kind;
    pxi_colour colour;
    double box[4];
    const double *points; /* x, y, x, y ... */
    size_t point_count;
    double stroke;       /* width of a line */
    int dash;            /* of a line: see pxi_dashes */
    const char *text;    /* UTF-8 without control characters */
    pxi_text_style look; /* of a text */
    int image_width, image_height;
    const uint8_t *pixels;
} pxi_shape;

typedef struct pxi_scene pxi_scene;

/* On and off lengths, in stroke widths: solid, dashed, dotted, dash-dotted. Round caps add one to
 * what is on. */
enum { PXI_DASH_COUNT = 4 };
extern const double pxi_dashes[PXI_DASH_COUNT][4];

pxi_scene *pxi_scene_new(int width, int height); /* NULL when out of memory */
void pxi_scene_free(pxi_scene *scene);
void pxi_scene_set_title(pxi_scene *scene, const char *title); /* what a screen reader says */

/* What is handed over is copied. */
void pxi_scene_rect(pxi_scene *scene, double x, double y, double width, double height,
                    pxi_colour colour);
void pxi_scene_line(pxi_scene *scene, const double *points, size_t point_count, double stroke,
                    int dash, pxi_colour colour);
void pxi_scene_polygon(pxi_scene *scene, const double *points, size_t point_count,
                       pxi_colour colour);
void pxi_scene_circle(pxi_scene *scene, double x, double y, double radius, pxi_colour colour);
void pxi_scene_text(pxi_scene *scene, const pxi_text_style *style, const char *text);
/* The same, shortened with an ellipsis to what fits into `most` pixels. */
void pxi_scene_text_fit(pxi_scene *scene, const pxi_text_style *style, const char *text,
                        double most);
void pxi_scene_image(pxi_scene *scene, double x, double y, double width, double height,
                     int image_width, int image_height, const uint8_t *rgb);

const char *pxi_scene_title(const pxi_scene *scene); /* NULL: none */
int pxi_scene_width(const pxi_scene *scene);
int pxi_scene_height(const pxi_scene *scene);
const pxi_shape *pxi_scene_shapes(const pxi_scene *scene, size_t *count);
void pxi_scene_set_failed(pxi_scene *scene);   /* the caller ran out of memory */
bool pxi_scene_failed(const pxi_scene *scene); /* memory ran out */

/* Both hand *out to the caller. PNG draws what contact sheets are made of: rectangles, pictures and
 * level words. */
px_status pxi_scene_svg(const pxi_scene *scene, uint8_t **out, size_t *size, px_error *err);
px_status pxi_scene_png(const pxi_scene *scene, uint8_t **out, size_t *size, px_error *err);

/* To a file, whose name ends with .svg or, for contact sheets, .png. */
px_status pxi_scene_save(const pxi_scene *scene, bool png, const char *path, px_error *err);

#endif
