/* src/picture/plot_bar.c - bars side by side in groups */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"
#include "picture/plot.h"
#include "picture/stroke_font.h"

#include "base/memory.h"

#include <math.h>

enum { NUMBER_ROOM = 12 }; /* pixels that a turned number needs; narrower bars have none */

typedef struct bar_layout {
    double slot, width; /* of a group, of one bar */
    size_t bars;        /* in a group */
    bool turned;        /* the numbers on the bars */
} bar_layout;

static double bar_left(const bar_layout *layout, const pxi_frame *frame, size_t group,
                       size_t series)
{
    const double middle = frame->left + layout->slot * ((double)group + 0.5);
    const double left = middle + layout->width * ((double)series - (double)layout->bars / 2);
    return layout->width >= 3 ? floor(left) : left; /* sharp edges where there is room */
}

static void bar_whisker(pxi_scene *scene, const pxi_frame *frame, double middle, double width,
                        double low, double high)
{
    const double top = pxi_scale_at(&frame->y, high), bottom = pxi_scale_at(&frame->y, low);
    const double arm = fmin(width / 4, 5), x = floor(middle);
    pxi_scene_rect(scene, x, top, 1, bottom - top, PXI_INK);
    pxi_scene_rect(scene, x - arm, top, 2 * arm + 1, 1, PXI_INK);
    pxi_scene_rect(scene, x - arm, bottom, 2 * arm + 1, 1, PXI_INK);
}

static void bar_number(pxi_scene *scene, const bar_layout *layout, double middle, double y,
                       double value, bool below)
{
    char text[PXI_TICK_TEXT];
    pxi_value_text(value, text);
    pxi_text_style style = {.x = floor(middle),
                            .y = floor(below ? y + 14 : y - 4),
                            .size = PXI_TEXT_SIZE,
                            .colour = PXI_INK,
                            .anchor = PXI_ANCHOR_MIDDLE};
    if (layout->turned) {
        style.turn = 90;
        style.x = floor(middle) + 5;
        style.y = below ? y + 4 : y - 4;
        style.anchor = below ? PXI_ANCHOR_END : PXI_ANCHOR_START;
    }
    pxi_scene_text(scene, &style, text);
}

static void bar_set(pxi_scene *scene, const px_plot *plot, size_t index, const bar_layout *layout,
                    const pxi_frame *frame)
{
    const pxi_series *series = &plot->series[index];
    const pxi_scale *y = &frame->y;
    const double floor_value = y->log ? y->least : fmin(fmax(0, y->least), y->most);
    const double foot = floor(pxi_scale_at(y, floor_value));
    for (size_t g = 0; g < series->count; g++) {
        const double value = series->y[g];
        if (isnan(value))
            continue;
        const double shown = fmin(fmax(value, y->least), y->most);
        const double top = floor(pxi_scale_at(y, shown) + 0.5);
        const double left = bar_left(layout, frame, g, index);
        const double right = bar_left(layout, frame, g, index + 1);
        const double width = layout->width >= 6 ? right - left - 1 : right - left;
        pxi_scene_rect(scene, left, fmin(top, foot), width, fabs(foot - top), pxi_palette(index));
        const double spread = series->spread[g], middle = left + width / 2;
        const double low = fmax(value - spread, y->least), high = fmin(value + spread, y->most);
        if (spread > 0 && low < high)
            bar_whisker(scene, frame, middle, width, low, high);
        if (plot->options.numbers && (!layout->turned || layout->width >= NUMBER_ROOM)) {
            const bool below = value < 0;
            const double end = spread > 0 ? pxi_scale_at(y, below ? low : high) : top;
            bar_number(scene, layout, middle, end, value, below);
        }
    }
}

/* Whether the numbers are too wide for the bars they stand on. */
static bool bar_numbers_turn(const px_plot *plot, double width)
{
    char text[PXI_TICK_TEXT];
    for (size_t s = 0; s < plot->series_count; s++)
        for (size_t g = 0; g < plot->series[s].count; g++)
            if (!isnan(plot->series[s].y[g]) &&
                pxi_font_width(pxi_value_text(plot->series[s].y[g], text), PXI_TEXT_SIZE) >
                    width + 2)
                return true;
    return false;
}

void pxi_draw_bars(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const pxi_names names = {plot->groups, plot->group_count};
    bar_layout layout = {.bars = PX_MAX(plot->series_count, 1)};
    const double gaps = plot->group_count > 1 || layout.bars > 1 ? 0.76 : 0.4;
    const double guess = (frame->right - frame->left - 60) / (double)plot->group_count;
    layout.turned = plot->options.numbers &&
                    bar_numbers_turn(plot, fmin(guess * gaps / (double)layout.bars, 90));
    const double air = !plot->options.numbers ? 0.05 : layout.turned ? 0.2 : 0.1;
    frame->y = pxi_scale_fit(&plot->options.y, plot->y.least, plot->y.most, true, air);
    pxi_frame_names(scene, plot, frame, &names);

    layout.slot = (frame->right - frame->left) / (double)plot->group_count;
    layout.width = fmin(layout.slot * gaps / (double)layout.bars, 90);
    if (layout.width >= 3)
        layout.width = floor(layout.width);
    for (size_t s = 0; s < plot->series_count; s++)
        bar_set(scene, plot, s, &layout, frame);
    if (!frame->y.log && frame->y.least < 0 && frame->y.most > 0)
        pxi_scene_rect(scene, frame->left, floor(pxi_scale_at(&frame->y, 0)),
                       frame->right - frame->left, 1, PXI_INK);
    if (!(plot->y.least <= plot->y.most))
        pxi_frame_no_data(scene, frame);
}
