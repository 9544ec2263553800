/* src/picture/plot.h - what a chart is made of, and who draws which part
 *
 * plot.c collects; pxi_plot_draw() lets plot_frame.c draw titles, legend and axes, and one file per
 * kind what lies between them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_PLOT_H
#define PXI_PICTURE_PLOT_H

#include "base/arena.h"
#include "picture/plot_scale.h"
#include "picture/scene.h"

typedef enum pxi_plot_kind {
    PXI_PLOT_EMPTY,
    PXI_PLOT_XY,
    PXI_PLOT_BARS,
    PXI_PLOT_BOXES,
    PXI_PLOT_MAP,
    PXI_PLOT_KINDS
} pxi_plot_kind;

typedef enum pxi_mark { PXI_MARK_LINE, PXI_MARK_POINTS, PXI_MARK_BLOCK, PXI_MARK_KEY } pxi_mark;

typedef struct pxi_series { /* a value that is left out is NaN; a box has none such, ascending */
    const char *name;       /* NULL: not in the legend */
    pxi_mark mark;
    unsigned style;
    const double *x, *y;
    const double *spread; /* of bars; NULL: none */
    int colour, shape;    /* of a key; -1: any */
    size_t count;
} pxi_series;

typedef struct pxi_range {
    double least, most; /* +inf, -inf while empty */
} pxi_range;

struct px_plot {
    px_arena *arena; /* texts and values */
    px_plot_options options;
    pxi_plot_kind kind;
    pxi_series series[PX_PLOT_SERIES_MOST];
    size_t series_count;
    const char **groups; /* of bars: PX_PLOT_GROUPS_MOST at most; of boxes: their names */
    size_t group_count;
    const double *spots;   /* of a map: x and y in turn, NaN: left out */
    const uint16_t *looks; /* of a map: colour and mark in turn */
    size_t spot_count;
    pxi_range x, y; /* of what is shown */
    int64_t left_out;
};

void pxi_range_add(pxi_range *range, double value);
int pxi_series_dash(const pxi_series *series, size_t index); /* of pxi_dashes */

/* --- plot_frame.c ---------------------------------------------------------------------------- */

enum {
    PXI_TEXT_SIZE = 12,
    PXI_TITLE_SIZE = 16,
    PXI_MARGIN = 14,
    PXI_LABEL_GAP = 7 /* between an axis and its labels */
};

typedef struct pxi_frame { /* the area between the axes, in whole pixels */
    double left, top, right, bottom;
    double foot; /* where the labels below end */
    pxi_scale x, y;
} pxi_frame;

typedef struct pxi_names {   /* the labels of a row of equal slots */
    const char *const *name; /* NULL: indices */
    size_t count;
} pxi_names;

/* Title, note, legend and remarks; leaves what remains in *frame. */
void pxi_frame_head(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);
/* Takes room for names below and values on the left; then draws both axes. A chart is one of
 * the two: numbers below, or names. */
void pxi_frame_numbers(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);
void pxi_frame_names(pxi_scene *scene, const px_plot *plot, pxi_frame *frame,
                     const pxi_names *names);

/* The parts they are made of. */
double pxi_names_height(const pxi_names *names, double width); /* below `width` pixels of slots */
void pxi_names_below(pxi_scene *scene, const pxi_names *names, double left, double right, double y);
double pxi_names_width(const pxi_names *names);                         /* of the widest */
void pxi_axis_title(char *text, size_t size, const px_plot_axis *axis); /* "label (unit)" */
void pxi_frame_axis_titles(pxi_scene *scene, const px_plot *plot, const pxi_frame *frame);
void pxi_frame_no_data(pxi_scene *scene, const pxi_frame *frame); /* says so in its middle */
void pxi_frame_marker(pxi_scene *scene, size_t series, double x, double y, double radius,
                      pxi_colour colour);
void pxi_map_key(pxi_scene *scene, const pxi_series *series, double x, double y); /* plot_map.c */

/* --- one file per kind ----------------------------------------------------------------------- */

void pxi_draw_xy(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);
void pxi_draw_bars(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);
void pxi_draw_boxes(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);
void pxi_draw_map(pxi_scene *scene, const px_plot *plot, pxi_frame *frame);

#endif
