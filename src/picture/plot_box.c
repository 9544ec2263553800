/* src/picture/plot_box.c - box plots (Tukey, Exploratory Data Analysis, 1977, chapter 2)
 *
 * The box spans the quartiles of type 7, the line in it is the median; whiskers end at the last
 * value within 1.5 times the box's height of it, values beyond are dots.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"
#include "picture/plot.h"

#include <internal/stats.h>

#include <math.h>

static const double WHISKER_REACH = 1.5;

static double box_at(const pxi_frame *frame, double value)
{
    return pxi_scale_at(&frame->y, fmin(fmax(value, frame->y.least), frame->y.most));
}

/* A horizontal line that keeps its thickness. */
static void box_bar(pxi_scene *scene, double x, double y, double width, double thick,
                    pxi_colour colour)
{
    pxi_scene_rect(scene, x, floor(y + 0.5 - thick / 2), width, thick, colour);
}

static void box_outliers(pxi_scene *scene, const pxi_series *series, const pxi_frame *frame,
                         double x, double low, double high, pxi_colour colour)
{
    double last = NAN; /* values that fall onto one place are drawn once */
    for (size_t i = 0; i < series->count; i++) {
        const double value = series->y[i];
        if ((value >= low && value <= high) || value < frame->y.least || value > frame->y.most)
            continue;
        const double y = floor(4 * box_at(frame, value)) / 4;
        if (y != last)
            pxi_scene_circle(scene, x, y, 2.5, pxi_colour_pale(colour, 0.7));
        last = y;
    }
}

static void box_draw(pxi_scene *scene, const pxi_series *series, size_t index,
                     const pxi_frame *frame, double slot)
{
    if (series->count == 0)
        return;
    const double q1 = px_quantile_sorted(series->y, series->count, 0.25);
    const double median = px_quantile_sorted(series->y, series->count, 0.5);
    const double q3 = px_quantile_sorted(series->y, series->count, 0.75);
    const double reach = WHISKER_REACH * (q3 - q1);
    double low = q1, high = q3; /* of the whiskers */
    for (size_t i = series->count; i-- > 0;)
        if (series->y[i] >= q1 - reach)
            low = fmin(low, series->y[i]);
    for (size_t i = 0; i < series->count; i++)
        if (series->y[i] <= q3 + reach)
            high = fmax(high, series->y[i]);

    const double width = floor(fmax(fmin(slot * 0.6, 64), 2)),
                 middle = frame->left + slot * ((double)index + 0.5);
    const double left = floor(middle - width / 2), stem = floor(left + width / 2);
    const double top = box_at(frame, q3), bottom = box_at(frame, q1);
    const double high_y = box_at(frame, high), low_y = box_at(frame, low), arm = floor(width / 4);
    const pxi_colour colour = pxi_palette(0);
    pxi_scene_rect(scene, stem, high_y, 1, top - high_y, colour);
    pxi_scene_rect(scene, stem, bottom, 1, low_y - bottom, colour);
    box_bar(scene, stem - arm, high_y, 2 * arm + 1, 1, colour);
    box_bar(scene, stem - arm, low_y, 2 * arm + 1, 1, colour);
    pxi_scene_rect(scene, left, top, width, bottom - top, pxi_colour_pale(colour, 0.25));
    box_bar(scene, left, top, width, 1, colour);
    box_bar(scene, left, bottom, width, 1, colour);
    pxi_scene_rect(scene, left, top, 1, bottom - top, colour);
    pxi_scene_rect(scene, left + width - 1, top, 1, bottom - top, colour);
    box_bar(scene, left, box_at(frame, median), width, 2, PXI_INK);
    box_outliers(scene, series, frame, stem + 0.5, low, high, colour);
}

void pxi_draw_boxes(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const pxi_names names = {plot->groups, plot->group_count};
    frame->y = pxi_scale_fit(&plot->options.y, plot->y.least, plot->y.most, false, 0.05);
    pxi_frame_names(scene, plot, frame, &names);
    const double slot = (frame->right - frame->left) / (double)plot->group_count;
    for (size_t s = 0; s < plot->series_count; s++)
        box_draw(scene, &plot->series[s], s, frame, slot);
    if (!(plot->y.least <= plot->y.most))
        pxi_frame_no_data(scene, frame);
}
