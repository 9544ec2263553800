/* src/picture/plot_frame.c - titles, legend and axes of a chart */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/palette.h"
#include "picture/plot.h"
#include "picture/stroke_font.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

enum {
    HEAD_LINE = 18,     /* height of a line of the legend and of remarks */
    LEGEND_SAMPLE = 22, /* width of what stands before a name */
    LEGEND_NAME_MOST = 260,
    NAME_MOST = 130, /* width of a group's name */
    SLOT_LEAST = 14, /* pixels that a label needs when it is turned */
    AXIS_TITLE = 20, /* height of an axis' title, with its air */
    TICK_EVERY_X = 75,
    TICK_EVERY_Y = 45,
    TICK = 4,
};

static const pxi_text_style small = {.size = PXI_TEXT_SIZE, .colour = {0x22, 0x22, 0x22, 255}};

static pxi_text_style frame_style(double x, double y, pxi_anchor anchor)
{
    pxi_text_style style = small;
    style.x = x;
    style.y = y;
    style.anchor = anchor;
    return style;
}

/* --- title and legend ------------------------------------------------------------------------ */

void pxi_frame_marker(pxi_scene *scene, size_t series, double x, double y, double radius,
                      pxi_colour colour)
{
    const double r = radius * 1.1, s = radius * 0.9, t = radius * 1.25;
    const double square[] = {x - s, y - s, x + s, y - s, x + s, y + s, x - s, y + s};
    const double up[] = {x, y - t, x + t, y + t * 0.8, x - t, y + t * 0.8};
    const double diamond[] = {x, y - t, x + t, y, x, y + t, x - t, y};
    switch (series % 4) {
    case 0:
        pxi_scene_circle(scene, x, y, r, colour);
        break;
    case 1:
        pxi_scene_polygon(scene, square, 4, colour);
        break;
    case 2:
        pxi_scene_polygon(scene, up, 3, colour);
        break;
    default:
        pxi_scene_polygon(scene, diamond, 4, colour);
    }
}

static void legend_sample(pxi_scene *scene, const pxi_series *series, size_t index, double x,
                          double y)
{
    const pxi_colour colour = pxi_palette(index);
    const double ends[] = {x + 2, y, x + LEGEND_SAMPLE - 6, y};
    if (series->mark == PXI_MARK_KEY)
        pxi_map_key(scene, series, x + 9, y);
    if (series->mark == PXI_MARK_BLOCK)
        pxi_scene_rect(scene, x + 4, y - 5, 11, 11, colour);
    if (series->mark == PXI_MARK_LINE)
        pxi_scene_line(scene, ends, 2, 2, pxi_series_dash(series, index), colour);
    if (series->mark == PXI_MARK_POINTS || (series->style & PX_PLOT_DOTS))
        pxi_frame_marker(scene, index, x + 9, y, 3.2, colour);
}

/* Names in rows; returns the height. */
static double legend_draw(pxi_scene *scene, const px_plot *plot, double top)
{
    const double right = plot->options.width - PXI_MARGIN;
    double x = PXI_MARGIN, y = top;
    bool any = false;
    for (size_t i = 0; i < plot->series_count; i++) {
        const pxi_series *series = &plot->series[i];
        if (!series->name)
            continue;
        const double words = fmin(pxi_font_width(series->name, PXI_TEXT_SIZE), LEGEND_NAME_MOST);
        if (any && x + LEGEND_SAMPLE + words > right) {
            x = PXI_MARGIN;
            y += HEAD_LINE;
        }
        /* a legend that would push the chart out ends in the room it has */
        if (y + HEAD_LINE > plot->options.height / 2.0)
            break;
        legend_sample(scene, series, i, x, y + 9);
        const pxi_text_style style = frame_style(x + LEGEND_SAMPLE, y + 13, PXI_ANCHOR_START);
        pxi_scene_text_fit(scene, &style, series->name,
                           fmin(LEGEND_NAME_MOST, fmax(right - style.x, 20)));
        x += LEGEND_SAMPLE + ceil(words) + 18;
        any = true;
    }
    return any ? y - top + HEAD_LINE + 2 : 0;
}

void pxi_frame_head(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    const px_plot_options *o = &plot->options;
    const double room = o->width - 2 * PXI_MARGIN;
    double y = 10;
    if (o->title) {
        pxi_text_style style = frame_style(PXI_MARGIN, y + 15, PXI_ANCHOR_START);
        style.size = PXI_TITLE_SIZE;
        pxi_scene_set_title(scene, o->title);
        pxi_scene_text_fit(scene, &style, o->title, room);
        y += 24;
    }
    if (o->note) {
        pxi_text_style style = frame_style(PXI_MARGIN, y + 12, PXI_ANCHOR_START);
        style.colour = PXI_FAINT;
        pxi_scene_text_fit(scene, &style, o->note, room);
        y += HEAD_LINE;
    }
    y += legend_draw(scene, plot, y);
    *frame = (pxi_frame){.left = PXI_MARGIN,
                         .top = y + 10,
                         .right = o->width - PXI_MARGIN - 6,
                         .bottom = o->height - PXI_MARGIN};
    if (plot->left_out > 0) {
        char words[80];
        snprintf(words, sizeof words, "%lld %s left out: not finite%s", (long long)plot->left_out,
                 plot->left_out == 1 ? "value" : "values",
                 o->x.log || o->y.log ? ", or not above 0" : "");
        pxi_text_style style = frame_style(o->width - PXI_MARGIN, o->height - 8, PXI_ANCHOR_END);
        style.colour = PXI_FAINT;
        pxi_scene_text_fit(scene, &style, words, room);
        frame->bottom -= HEAD_LINE - 4;
    }
}

/* --- axes ------------------------------------------------------------------------------------ */

void pxi_axis_title(char *text, size_t size, const px_plot_axis *axis)
{
    if (axis->unit && axis->label)
        snprintf(text, size, "%s (%s)", axis->label, axis->unit);
    else
        snprintf(text, size, "%s", axis->label ? axis->label : axis->unit ? axis->unit : "");
}

static double axis_title_height(const px_plot_axis *axis)
{
    return axis->label || axis->unit ? AXIS_TITLE : 0;
}

void pxi_frame_axis_titles(pxi_scene *scene, const px_plot *plot, const pxi_frame *frame)
{
    char words[2100];
    pxi_axis_title(words, sizeof words, &plot->options.x);
    const pxi_text_style below = frame_style(floor((frame->left + frame->right) / 2),
                                             frame->foot + AXIS_TITLE - 3, PXI_ANCHOR_MIDDLE);
    pxi_scene_text_fit(scene, &below, words, frame->right - frame->left);

    pxi_axis_title(words, sizeof words, &plot->options.y);
    pxi_text_style beside =
        frame_style(PXI_MARGIN + 10, floor((frame->top + frame->bottom) / 2), PXI_ANCHOR_MIDDLE);
    beside.turn = 90;
    pxi_scene_text_fit(scene, &beside, words, frame->bottom - frame->top);
}

static double ticks_width(const pxi_ticks *ticks)
{
    double width = 0;
    for (size_t i = 0; i < ticks->count; i++)
        width = fmax(width, pxi_font_width(ticks->tick[i].label, PXI_TEXT_SIZE));
    return ceil(width);
}

/* Grid lines and labels of values that go up; frame->bottom is final, frame->left is made. */
static void frame_left(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    pxi_ticks ticks;
    frame->bottom = fmax(frame->bottom, frame->top + 10);
    frame->y.from = frame->bottom;
    frame->y.to = frame->top;
    pxi_ticks_make(&frame->y, (frame->bottom - frame->top) / TICK_EVERY_Y, &ticks);
    frame->left = fmax(frame->left, PXI_MARGIN + axis_title_height(&plot->options.y) +
                                        ticks_width(&ticks) + PXI_LABEL_GAP);
    frame->left = fmin(frame->left, frame->right - 10); /* the smallest of charts */
    for (size_t i = 0; i < ticks.count; i++) {
        const double y = floor(pxi_scale_at(&frame->y, ticks.tick[i].value));
        const bool minor = !ticks.tick[i].label[0];
        pxi_scene_rect(scene, frame->left, y, frame->right - frame->left, 1,
                       minor ? PXI_RGB(0xf2f2f2) : PXI_GRID);
        const pxi_text_style style =
            frame_style(frame->left - PXI_LABEL_GAP, y + 5, PXI_ANCHOR_END);
        pxi_scene_text(scene, &style, ticks.tick[i].label);
    }
}

/* The line at the foot. */
static void frame_foot(pxi_scene *scene, const pxi_frame *frame)
{
    pxi_scene_rect(scene, frame->left, frame->bottom, frame->right - frame->left, 1, PXI_INK);
}

void pxi_frame_numbers(pxi_scene *scene, const px_plot *plot, pxi_frame *frame)
{
    frame->bottom = floor(frame->bottom - axis_title_height(&plot->options.x) - PXI_TEXT_SIZE -
                          PXI_LABEL_GAP + 4);
    frame_left(scene, plot, frame);
    frame->x.from = frame->left;
    frame->x.to = frame->right;
    pxi_ticks ticks;
    pxi_ticks_make(&frame->x, (frame->right - frame->left) / TICK_EVERY_X, &ticks);
    double free_from = 0; /* labels do not touch */
    for (size_t i = 0; i < ticks.count; i++) {
        const double x = floor(pxi_scale_at(&frame->x, ticks.tick[i].value));
        const bool minor = !ticks.tick[i].label[0];
        pxi_scene_rect(scene, x, frame->bottom, 1, minor ? TICK : TICK + 1, PXI_INK);
        const double half = pxi_font_width(ticks.tick[i].label, PXI_TEXT_SIZE) / 2;
        if (minor || x - half < free_from)
            continue;
        free_from = x + half + 6;
        const double middle = fmin(x, plot->options.width - 2 - half);
        const pxi_text_style style =
            frame_style(middle, frame->bottom + PXI_LABEL_GAP + 11, PXI_ANCHOR_MIDDLE);
        pxi_scene_text(scene, &style, ticks.tick[i].label);
    }
    frame_foot(scene, frame);
    frame->foot = frame->bottom + PXI_LABEL_GAP + PXI_TEXT_SIZE;
    pxi_frame_axis_titles(scene, plot, frame);
}

void pxi_frame_no_data(pxi_scene *scene, const pxi_frame *frame)
{
    pxi_text_style style = frame_style(floor((frame->left + frame->right) / 2),
                                       floor((frame->top + frame->bottom) / 2), PXI_ANCHOR_MIDDLE);
    style.colour = PXI_FAINT;
    pxi_scene_text(scene, &style, "no data");
}

/* --- names of slots -------------------------------------------------------------------------- */

static const char *names_get(const pxi_names *names, size_t i, char index[24])
{
    if (names->name)
        return names->name[i];
    snprintf(index, 24, "%zu", i);
    return index;
}

double pxi_names_width(const pxi_names *names)
{
    char index[24];
    double width = 0;
    for (size_t i = 0; i < names->count; i++)
        width = fmax(width, pxi_font_width(names_get(names, i, index), PXI_TEXT_SIZE));
    return ceil(fmin(width, NAME_MOST));
}

/* Whether names stand level: names that are too wide for their slot are turned, indices are
 * thinned. */
static bool names_level(const pxi_names *names, double width)
{
    return !names->name || pxi_names_width(names) + 6 <= width / (double)names->count;
}

double pxi_names_height(const pxi_names *names, double width)
{
    const double level = PXI_LABEL_GAP + PXI_TEXT_SIZE - 2;
    return names_level(names, width) ? level : ceil(level + 0.71 * pxi_names_width(names));
}

/* Every how many slots a label stands, so that they do not touch. */
static size_t names_stride(const pxi_names *names, double slot, double need)
{
    const size_t stride = (size_t)fmax(1, ceil(need / slot));
    static const size_t round[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};
    if (!names->name)
        for (size_t i = 0; i < PX_LEN(round); i++)
            if (round[i] >= stride)
                return round[i];
    return stride;
}

void pxi_names_below(pxi_scene *scene, const pxi_names *names, double left, double right, double y)
{
    char index[24];
    const double slot = (right - left) / (double)names->count;
    const bool level = names_level(names, right - left);
    const double need = level ? pxi_names_width(names) + 6 : SLOT_LEAST;
    const size_t stride = names_stride(names, slot, need);
    for (size_t i = 0; i < names->count; i += stride) {
        const double middle = left + slot * ((double)i + 0.5);
        pxi_text_style style = frame_style(middle, y + PXI_LABEL_GAP + 10, PXI_ANCHOR_MIDDLE);
        if (!level) {
            style.x = middle + 4;
            style.anchor = PXI_ANCHOR_END;
            style.turn = 45;
        }
        pxi_scene_text_fit(scene, &style, names_get(names, i, index), NAME_MOST);
    }
}

void pxi_frame_names(pxi_scene *scene, const px_plot *plot, pxi_frame *frame,
                     const pxi_names *names)
{
    const double guess = (frame->right - frame->left) - 60; /* before the left margin is known */
    frame->bottom =
        floor(frame->bottom - axis_title_height(&plot->options.x) - pxi_names_height(names, guess));
    if (!names_level(names, guess)) /* the first name leans out to the left */
        frame->left = fmin(frame->left + 0.71 * pxi_font_width(names->name[0], PXI_TEXT_SIZE),
                           PXI_MARGIN + 0.71 * NAME_MOST) -
                      fmin(guess / (double)names->count / 2, 40);
    frame->left = floor(fmax(frame->left, PXI_MARGIN));
    frame_left(scene, plot, frame);
    frame->x = (pxi_scale){
        .least = 0, .most = (double)names->count, .from = frame->left, .to = frame->right};
    pxi_names_below(scene, names, frame->left, frame->right, frame->bottom);
    if (plot->kind != PXI_PLOT_BARS || frame->y.log || frame->y.least >= 0)
        frame_foot(scene, frame); /* bars that go down have their line at 0 */
    frame->foot = frame->bottom + pxi_names_height(names, frame->right - frame->left);
    pxi_frame_axis_titles(scene, plot, frame);
}
