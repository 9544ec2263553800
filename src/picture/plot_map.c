/* src/picture/plot_map.c - points in a plane: a colour for what they are, a mark for their origin
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"
#include "picture/plot.h"

#include <math.h>

static const double mark_opacity = 0.8;

static void map_mark(pxi_scene *scene, size_t mark, double x, double y, double radius,
                     pxi_colour colour)
{
    const double t = radius * 1.25, c = radius * 0.45;
    const double down[] = {x, y + t, x + t, y - t * 0.8, x - t, y - t * 0.8};
    const double cross[] = {x - t, y - t + c, x - t + c, y - t, x,     y - c,     x + t - c, y - t,
                            x + t, y - t + c, x + c,     y,     x + t, y + t - c, x + t - c, y + t,
                            x,     y + c,     x - t + c, y + t, x - t, y + t - c, x - c,     y};
    switch (mark % PX_PLOT_MARKS) {
    case 4:
        pxi_scene_polygon(scene, down, 3, colour);
        break;
    case 5:
        pxi_scene_polygon(scene, cross, 12, colour);
        break;
    default:
        pxi_frame_marker(scene, mark % PX_PLOT_MARKS, x, y, radius, colour);
    }
}

void pxi_map_key(pxi_scene *scene, const pxi_series *series, double x, double y)
{
    const pxi_colour colour =
        series->colour < 0 ? PXI_RGB(0x777777) : pxi_palette_class((size_t)series->colour);
    if (series->shape < 0)
        pxi_scene_rect(scene, x - 5, y - 5, 11, 11, colour);
    else
        map_mark(scene, (size_t)series->shape, x, y, 4, colour);
}

void pxi_draw_map(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const double width = frame->right - frame->left, height = frame->bottom - frame->top;
    const double left = frame->left, top = frame->top;
    const double edge[] = {left,         top,  left + width, top,  left + width,
                           top + height, left, top + height, left, top};
    pxi_scene_line(scene, edge, 5, 1, 0, PXI_GRID);
    if (!(plot->x.least <= plot->x.most)) {
        pxi_frame_no_data(scene, frame);
        return;
    }
    /* half before the difference: ranges up to twice the largest value do not overflow */
    const double wide = plot->x.most / 2 - plot->x.least / 2;
    const double high = plot->y.most / 2 - plot->y.least / 2;
    const double middle_x = plot->x.least / 2 + plot->x.most / 2;
    const double middle_y = plot->y.least / 2 + plot->y.most / 2;
    const double room_x = fmax(width / 2 - 8, 1), room_y = fmax(height / 2 - 8, 1);
    const double unit = fmax(wide / room_x, high / room_y); /* of the data in a pixel */
    const double radius = plot->spot_count > 4000 ? 2 : plot->spot_count > 800 ? 2.6 : 3.4;
    for (size_t i = 0; i < plot->spot_count; i++) {
        if (isnan(plot->spots[2 * i]))
            continue;
        const double dx = unit > 0 ? (plot->spots[2 * i] - middle_x) / unit : 0;
        const double dy = unit > 0 ? (plot->spots[2 * i + 1] - middle_y) / unit : 0;
        map_mark(scene, plot->looks[2 * i + 1], left + width / 2 + dx, top + height / 2 - dy,
                 radius, pxi_colour_pale(pxi_palette_class(plot->looks[2 * i]), mark_opacity));
    }
}
