/* src/picture/plot_xy.c - lines and points
 *
 * Files stay small however many points there are: of the points of a line that fall one after the
 * other into the same half pixel column, the first, lowest, highest and last are kept, which look
 * the same (Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation, VLDB 2014,
 * section 4); of points in one quarter of a pixel, one is drawn.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"
#include "picture/plot.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static const double LINE_STROKE = 2, DOT_RADIUS = 3;

int pxi_series_dash(const pxi_series *series, size_t index)
{
    if (series->style & PX_PLOT_DASHED)
        return 1;
    return (int)(index / PXI_PALETTE_COUNT % PXI_DASH_COUNT); /* colours repeat, dashes differ */
}

/* --- lines ----------------------------------------------------------------------------------- */

typedef struct spot {
    double x, y;
    size_t order;
} spot;

typedef struct line_run { /* the line so far, and the column that is being gathered */
    pxi_scene *scene;
    const pxi_frame *frame;
    pxi_colour colour;
    int dash;
    double *points; /* of the piece inside the frame */
    size_t count, capacity;
    bool failed;
    bool started; /* last is set */
    double last_x, last_y;
    size_t gathered;
    double column;
    spot first, low, high, end;
} line_run;

static void run_push(line_run *run, double x, double y)
{
    if (pxi_grow(&run->points, &run->capacity, run->count + 1, 2 * sizeof *run->points) != 0) {
        run->failed = true;
        return;
    }
    run->points[2 * run->count] = x;
    run->points[2 * run->count + 1] = y;
    run->count++;
}

static void run_flush(line_run *run)
{
    if (run->count == 1) /* a point with gaps on both sides */
        pxi_scene_circle(run->scene, run->points[0], run->points[1], DOT_RADIUS, run->colour);
    else if (run->count > 1)
        pxi_scene_line(run->scene, run->points, run->count, LINE_STROKE, run->dash, run->colour);
    run->count = 0;
}

/* One edge of Liang and Barsky's clipping: the part [*t0, *t1] of a line that satisfies p t <= q.
 */
static bool clip_edge(double p, double q, double *t0, double *t1)
{
    if (p == 0)
        return q >= 0;
    const double t = q / p;
    if (p < 0)
        *t0 = fmax(*t0, t);
    else
        *t1 = fmin(*t1, t);
    return *t0 <= *t1;
}

static bool frame_has(const pxi_frame *f, double x, double y)
{
    const double slack = 1e-6;
    return x >= f->left - slack && x <= f->right + slack && y >= f->top - slack &&
           y <= f->bottom + slack;
}

/* The next point of the thinned line; what lies outside the frame is cut off. */
static void run_to(line_run *run, double x, double y)
{
    const pxi_frame *f = run->frame;
    if (!run->started) {
        if (frame_has(f, x, y))
            run_push(run, x, y);
    } else {
        const double x0 = run->last_x, y0 = run->last_y, dx = x - x0, dy = y - y0;
        double t0 = 0, t1 = 1;
        if (clip_edge(-dx, x0 - f->left, &t0, &t1) && clip_edge(dx, f->right - x0, &t0, &t1) &&
            clip_edge(-dy, y0 - f->top, &t0, &t1) && clip_edge(dy, f->bottom - y0, &t0, &t1)) {
            if (t0 > 0 || run->count == 0) {
                run_flush(run);
                run_push(run, x0 + t0 * dx, y0 + t0 * dy);
            }
            run_push(run, t1 < 1 ? x0 + t1 * dx : x, t1 < 1 ? y0 + t1 * dy : y);
            if (t1 < 1)
                run_flush(run);
        } else {
            run_flush(run);
        }
    }
    run->started = true;
    run->last_x = x;
    run->last_y = y;
}

static int spot_order(const void *a, const void *b)
{
    const size_t x = ((const spot *)a)->order, y = ((const spot *)b)->order;
    return (x > y) - (x < y);
}

static void run_end_column(line_run *run)
{
    if (run->gathered == 0)
        return;
    spot four[] = {run->first, run->low, run->high, run->end};
    qsort(four, PX_LEN(four), sizeof four[0], spot_order);
    for (size_t i = 0; i < PX_LEN(four); i++)
        if (i == 0 || four[i].order != four[i - 1].order)
            run_to(run, four[i].x, four[i].y);
    run->gathered = 0;
}

static void run_gather(line_run *run, spot s)
{
    const double column = floor(2 * s.x);
    if (run->gathered > 0 && column != run->column)
        run_end_column(run);
    if (run->gathered++ == 0) {
        run->column = column;
        run->first = run->low = run->high = s;
    }
    if (s.y > run->low.y)
        run->low = s;
    if (s.y < run->high.y)
        run->high = s;
    run->end = s;
}

static bool xy_line(pxi_scene *scene, const pxi_series *series, size_t index,
                    const pxi_frame *frame)
{
    line_run run = {.scene = scene,
                    .frame = frame,
                    .colour = pxi_palette(index),
                    .dash = pxi_series_dash(series, index)};
    for (size_t i = 0; i < series->count; i++) {
        if (isnan(series->x[i])) {
            run_end_column(&run);
            run_flush(&run);
            run.started = false;
            continue;
        }
        run_gather(&run, (spot){pxi_scale_at(&frame->x, series->x[i]),
                                pxi_scale_at(&frame->y, series->y[i]), i});
    }
    run_end_column(&run);
    run_flush(&run);
    free(run.points);
    return !run.failed;
}

/* --- points ---------------------------------------------------------------------------------- */

static bool xy_points(pxi_scene *scene, const pxi_series *series, size_t index,
                      const pxi_frame *frame, double opacity)
{
    const size_t columns = (size_t)(4 * (frame->right - frame->left)) + 1;
    const size_t rows = (size_t)(4 * (frame->bottom - frame->top)) + 1;
    uint8_t *taken = pxi_calloc((columns * rows + 7) / 8, 1); /* a bit per place */
    if (!taken)
        return false;
    const pxi_colour colour = pxi_colour_pale(pxi_palette(index), opacity);
    for (size_t i = 0; i < series->count; i++) {
        if (isnan(series->x[i]))
            continue;
        const double x = pxi_scale_at(&frame->x, series->x[i]);
        const double y = pxi_scale_at(&frame->y, series->y[i]);
        if (!frame_has(frame, x, y))
            continue;
        const size_t column = (size_t)fmax(4 * (x - frame->left), 0);
        const size_t row = (size_t)fmax(4 * (y - frame->top), 0);
        const size_t bit = PX_MIN(row, rows - 1) * columns + PX_MIN(column, columns - 1);
        if (taken[bit / 8] >> bit % 8 & 1)
            continue;
        taken[bit / 8] |= (uint8_t)(1u << bit % 8);
        pxi_frame_marker(scene, index, x, y, DOT_RADIUS, colour);
    }
    free(taken);
    return true;
}

void pxi_draw_xy(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const px_plot_options *o = &plot->options;
    bool lines_only = true;
    for (size_t i = 0; i < plot->series_count; i++)
        lines_only &= plot->series[i].mark == PXI_MARK_LINE;
    frame->x = pxi_scale_fit(&o->x, plot->x.least, plot->x.most, false, lines_only ? 0.0 : 0.03);
    frame->y = pxi_scale_fit(&o->y, plot->y.least, plot->y.most, false, 0.05);
    pxi_frame_numbers(scene, plot, frame);
    for (size_t i = 0; i < plot->series_count; i++) {
        const pxi_series *series = &plot->series[i];
        bool done = true;
        if (series->mark == PXI_MARK_LINE)
            done = xy_line(scene, series, i, frame);
        if (series->mark == PXI_MARK_POINTS || (series->style & PX_PLOT_DOTS))
            done &= xy_points(scene, series, i, frame, series->mark == PXI_MARK_LINE ? 1 : 0.75);
        if (!done)
            pxi_scene_set_failed(scene);
    }
    if (!(plot->x.least <= plot->x.most))
        pxi_frame_no_data(scene, frame);
}
