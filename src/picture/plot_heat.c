/* src/picture/plot_heat.c - a matrix as a heat map, with its colour scale */
#include "picture/palette.h"
#include "picture/plot.h"
#include "picture/stroke_font.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
    RECTS_MOST = 2500, /* more cells than this become one picture */
    BAR_WIDTH = 14,
    BAR_GAP = 16,
    TITLE_ROOM = 20,
};

typedef struct heat_colours {
    pxi_scale scale;
    bool diverging;
} heat_colours;

static heat_colours heat_colours_make(const px_plot *plot)
{
    const px_plot_axis *axis = &plot->options.z;
    heat_colours colours = {pxi_scale_fit(axis, plot->z.least, plot->z.most, false, 0),
                            plot->options.diverging && !axis->log};
    if (colours.diverging && !(axis->least < axis->most)) {
        const double most = fmax(fabs(colours.scale.least), fabs(colours.scale.most));
        colours.scale.least = -most;
        colours.scale.most = most;
    }
    return colours;
}

static pxi_colour heat_colour(const heat_colours *colours, double value)
{
    if (isnan(value))
        return PXI_MISSING;
    return pxi_colour_map(colours->diverging, pxi_scale_share(&colours->scale, value));
}

static void heat_put(uint8_t *rgb, pxi_colour colour)
{
    rgb[0] = colour.r;
    rgb[1] = colour.g;
    rgb[2] = colour.b;
}

/* The scale on the right; `left` is where it begins. */
static void heat_bar(pxi_scene *scene, const px_plot *plot, const pxi_frame *frame,
                     heat_colours *colours, const pxi_ticks *ticks, double left)
{
    const int height = (int)(frame->bottom - frame->top);
    uint8_t *rgb = pxi_calloc((size_t)height, 3);
    if (!rgb) {
        pxi_scene_set_failed(scene);
        return;
    }
    for (int i = 0; i < height; i++)
        heat_put(rgb + 3 * i, pxi_colour_map(colours->diverging, 1 - (i + 0.5) / height));
    pxi_scene_image(scene, left, frame->top, BAR_WIDTH, height, 1, height, rgb);
    free(rgb);

    colours->scale.from = frame->bottom;
    colours->scale.to = frame->top;
    double widest = 0;
    for (size_t i = 0; i < ticks->count; i++) {
        if (!ticks->tick[i].label[0])
            continue;
        const double y =
            floor(fmin(pxi_scale_at(&colours->scale, ticks->tick[i].value), frame->bottom - 1));
        pxi_scene_rect(scene, left + BAR_WIDTH, y, 4, 1, PXI_INK);
        const pxi_text_style style = {.x = left + BAR_WIDTH + PXI_LABEL_GAP,
                                      .y = y + 5,
                                      .size = PXI_TEXT_SIZE,
                                      .colour = PXI_INK};
        pxi_scene_text(scene, &style, ticks->tick[i].label);
        widest = fmax(widest, pxi_font_width(ticks->tick[i].label, PXI_TEXT_SIZE));
    }
    char words[2100];
    pxi_axis_title(words, sizeof words, &plot->options.z);
    const pxi_text_style style = {.x = ceil(left + BAR_WIDTH + PXI_LABEL_GAP + widest + 14),
                                  .y = floor((frame->top + frame->bottom) / 2),
                                  .size = PXI_TEXT_SIZE,
                                  .colour = PXI_INK,
                                  .anchor = PXI_ANCHOR_MIDDLE,
                                  .turn = 90};
    pxi_scene_text_fit(scene, &style, words, height);
}

/* Where cell `i` of `count` begins: on a whole pixel. */
static double heat_edge(double from, double to, size_t i, size_t count)
{
    return from + floor((to - from) * (double)i / (double)count);
}

static void heat_cells(pxi_scene *scene, const px_plot *plot, const pxi_frame *f,
                       const heat_colours *colours)
{
    char text[PXI_TICK_TEXT];
    for (size_t r = 0; r < plot->rows; r++)
        for (size_t c = 0; c < plot->columns; c++) {
            const double value = plot->cells[r * plot->columns + c];
            const double x = heat_edge(f->left, f->right, c, plot->columns);
            const double y = heat_edge(f->top, f->bottom, r, plot->rows);
            const double width = heat_edge(f->left, f->right, c + 1, plot->columns) - x;
            const double height = heat_edge(f->top, f->bottom, r + 1, plot->rows) - y;
            const pxi_colour colour = heat_colour(colours, value);
            pxi_scene_rect(scene, x, y, width, height, colour);
            if (!plot->options.numbers || isnan(value) || height < 13 ||
                pxi_font_width(pxi_value_text(value, text), PXI_TEXT_SIZE) > width - 2)
                continue;
            const pxi_text_style style = {.x = x + width / 2,
                                          .y = floor(y + height / 2 + 5),
                                          .size = PXI_TEXT_SIZE,
                                          .colour = pxi_colour_on(colour),
                                          .anchor = PXI_ANCHOR_MIDDLE};
            pxi_scene_text(scene, &style, text);
        }
}

/* The mean of a block of cells; NaN where none has a value. */
static double heat_mean(const px_plot *plot, size_t top, size_t bottom, size_t left, size_t right)
{
    double sum = 0, count = 0;
    for (size_t r = top; r < bottom; r++)
        for (size_t c = left; c < right; c++) {
            const double value = plot->cells[r * plot->columns + c];
            sum += isnan(value) ? 0 : value;
            count += isnan(value) ? 0 : 1;
        }
    return count > 0 ? fmin(fmax(sum / count, plot->z.least), plot->z.most) : NAN;
}

static void heat_picture(pxi_scene *scene, const px_plot *plot, const pxi_frame *f,
                         const heat_colours *colours)
{
    const size_t width = PX_MIN(plot->columns, (size_t)(f->right - f->left));
    const size_t height = PX_MIN(plot->rows, (size_t)(f->bottom - f->top));
    uint8_t *rgb = pxi_calloc(width * height, 3);
    if (!rgb) {
        pxi_scene_set_failed(scene);
        return;
    }
    for (size_t r = 0; r < height; r++)
        for (size_t c = 0; c < width; c++) {
            const double mean =
                heat_mean(plot, r * plot->rows / height, (r + 1) * plot->rows / height,
                          c * plot->columns / width, (c + 1) * plot->columns / width);
            heat_put(rgb + 3 * (r * width + c), heat_colour(colours, mean));
        }
    pxi_scene_image(scene, f->left, f->top, f->right - f->left, f->bottom - f->top, (int)width,
                    (int)height, rgb);
    free(rgb);
}

void pxi_draw_matrix(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const px_plot_options *o = &plot->options;
    const pxi_names rows = {plot->row_names, plot->rows},
                    columns = {plot->column_names, plot->columns};
    heat_colours colours = heat_colours_make(plot);
    pxi_ticks ticks;
    pxi_ticks_make(&colours.scale, (frame->bottom - frame->top) / 60, &ticks);
    double label = 0;
    for (size_t i = 0; i < ticks.count; i++)
        label = fmax(label, pxi_font_width(ticks.tick[i].label, PXI_TEXT_SIZE));

    const double side = BAR_GAP + BAR_WIDTH + PXI_LABEL_GAP + ceil(label) +
                        (o->z.label || o->z.unit ? TITLE_ROOM : 0);
    const double names = fmin(pxi_names_width(&rows), o->width / 4.0);
    frame->left += (o->y.label || o->y.unit ? TITLE_ROOM : 0) + ceil(names) + PXI_LABEL_GAP;
    frame->right = fmax(frame->right - side, frame->left + 10);
    frame->bottom -= (o->x.label || o->x.unit ? TITLE_ROOM : 0) +
                     pxi_names_height(&columns, frame->right - frame->left);
    frame->bottom = floor(fmax(frame->bottom, frame->top + 10));
    /* all cells alike where there is room for it */
    const double cell_width = floor((frame->right - frame->left) / (double)plot->columns);
    const double cell_height = floor((frame->bottom - frame->top) / (double)plot->rows);
    if (cell_width * (double)plot->columns > 0.92 * (frame->right - frame->left))
        frame->right = frame->left + cell_width * (double)plot->columns;
    if (cell_height * (double)plot->rows > 0.92 * (frame->bottom - frame->top))
        frame->bottom = frame->top + cell_height * (double)plot->rows;

    if (plot->rows * plot->columns <= RECTS_MOST)
        heat_cells(scene, plot, frame, &colours);
    else
        heat_picture(scene, plot, frame, &colours);
    pxi_names_beside(scene, &rows, frame->top, frame->bottom, frame->left - PXI_LABEL_GAP,
                     names + 1);
    pxi_names_below(scene, &columns, frame->left, frame->right, frame->bottom);
    frame->foot = frame->bottom + pxi_names_height(&columns, frame->right - frame->left);
    pxi_frame_axis_titles(scene, plot, frame);
    heat_bar(scene, plot, frame, &colours, &ticks, frame->right + BAR_GAP);
}
