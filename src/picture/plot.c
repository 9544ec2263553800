/* src/picture/plot.c - charts: what they are made of */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/plot.h"

#include "base/ascending.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT_WIDTH = 720, PLOT_HEIGHT = 440, PLOT_NAME_MOST = 1000 };

void pxi_range_add(pxi_range *range, double value)
{
    range->least = PX_MIN(range->least, value);
    range->most = PX_MAX(range->most, value);
}

/* --- copies ---------------------------------------------------------------------------------- */

/* NULL for NULL; *failed when memory ran out. */
static const char *plot_name(px_plot *plot, const char *name, bool *failed)
{
    if (!name)
        return NULL;
    const char *copy = pxi_arena_strndup(plot->arena, name, strnlen(name, PLOT_NAME_MOST));
    *failed |= !copy;
    return copy;
}

static const char **plot_names(px_plot *plot, const char *const *names, size_t count, bool *failed)
{
    if (!names)
        return NULL;
    const char **copies = pxi_arena_alloc(plot->arena, count, sizeof *copies);
    *failed |= !copies;
    for (size_t i = 0; i < count && !*failed; i++)
        copies[i] = plot_name(plot, names[i] ? names[i] : "", failed);
    return copies;
}

static double *plot_values(px_plot *plot, size_t count, px_error *err)
{
    double *values = pxi_arena_alloc(plot->arena, count, sizeof *values);
    if (!values)
        pxi_no_memory_for(err, "the %zu values of a chart", count);
    return values;
}

/* --- making and options ---------------------------------------------------------------------- */

static px_status plot_check_axis(const px_plot_axis *axis, const char *name, px_error *err)
{
    if (axis->least == 0 && axis->most == 0)
        return PX_OK;
    const double size = fmax(fabs(axis->least), fabs(axis->most));
    if (!pxi_value_fits(axis, axis->least) || !pxi_value_fits(axis, axis->most) ||
        !(axis->most - axis->least > 1e-9 * size))
        return px_fail(err, PX_E_USAGE, "the %s axis of a chart cannot go from %g to %g%s", name,
                       axis->least, axis->most, axis->log ? " on a logarithmic scale" : "");
    return PX_OK;
}

static px_status plot_check(const px_plot_options *options, px_error *err)
{
    const int side[] = {options->width, options->height};
    for (size_t i = 0; i < PX_LEN(side); i++)
        if (side[i] != 0 && (side[i] < PX_PLOT_SIDE_LEAST || side[i] > PX_PLOT_SIDE_MOST))
            return px_fail(err, PX_E_USAGE,
                           "a chart's width and height are %d to %d pixels, not %d",
                           PX_PLOT_SIDE_LEAST, PX_PLOT_SIDE_MOST, side[i]);
    PX_TRY(plot_check_axis(&options->x, "x", err));
    return plot_check_axis(&options->y, "y", err);
}

px_status px_plot_new(const px_plot_options *options, px_plot **out, px_error *err)
{
    const px_plot_options defaults = {0};
    if (!options)
        options = &defaults;
    PX_TRY(plot_check(options, err));
    px_plot *plot = pxi_calloc(1, sizeof *plot);
    px_arena *arena = pxi_arena_new();
    bool failed = !plot || !arena;
    if (!failed) {
        const pxi_range none = {INFINITY, -INFINITY};
        *plot = (px_plot){.arena = arena, .options = *options, .x = none, .y = none};
        plot->options.width = options->width ? options->width : PLOT_WIDTH;
        plot->options.height = options->height ? options->height : PLOT_HEIGHT;
        plot->options.title = plot_name(plot, options->title, &failed);
        plot->options.note = plot_name(plot, options->note, &failed);
        px_plot_axis *axes[] = {&plot->options.x, &plot->options.y};
        for (size_t i = 0; i < PX_LEN(axes); i++) {
            axes[i]->label = plot_name(plot, axes[i]->label, &failed);
            axes[i]->unit = plot_name(plot, axes[i]->unit, &failed);
        }
    }
    if (failed) {
        pxi_arena_free(arena);
        free(plot);
        return pxi_no_memory(err);
    }
    *out = plot;
    return PX_OK;
}

void px_plot_free(px_plot *plot)
{
    if (!plot)
        return;
    pxi_arena_free(plot->arena);
    free(plot);
}

int64_t px_plot_left_out(const px_plot *plot)
{
    return plot->left_out;
}

/* --- data in --------------------------------------------------------------------------------- */

/* Whether a series of this kind and length may be added. */
static px_status plot_may_add(const px_plot *plot, pxi_plot_kind kind, size_t count, px_error *err)
{
    static const char *const what[] = {"nothing", "lines and points", "bars", "boxes", "a map"};
    static_assert(PX_LEN(what) == PXI_PLOT_KINDS, "a name for each kind");
    if (plot->kind != PXI_PLOT_EMPTY && plot->kind != kind)
        return px_fail(err, PX_E_USAGE, "a chart of %s cannot show %s too", what[plot->kind],
                       what[kind]);
    if (plot->series_count == PX_PLOT_SERIES_MOST)
        return px_fail(err, PX_E_USAGE, "a chart cannot show more than %d series",
                       PX_PLOT_SERIES_MOST);
    if (count > PX_PLOT_VALUES_MOST)
        return px_fail(err, PX_E_USAGE, "a chart cannot show %zu values at once; the most is %zu",
                       count, PX_PLOT_VALUES_MOST);
    return PX_OK;
}

static px_status plot_add_xy(px_plot *plot, const char *name, const double *x, const double *y,
                             size_t count, pxi_mark mark, unsigned style, px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_XY, count, err));
    bool failed = false;
    const char *own_name = plot_name(plot, name, &failed);
    double *own_x = plot_values(plot, count, err), *own_y = plot_values(plot, count, err);
    if (failed || !own_x || !own_y)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        own_x[i] = x ? x[i] : (double)i;
        own_y[i] = y[i];
        if (pxi_value_fits(&plot->options.x, own_x[i]) && pxi_value_fits(&plot->options.y, y[i])) {
            pxi_range_add(&plot->x, own_x[i]);
            pxi_range_add(&plot->y, own_y[i]);
        } else {
            own_x[i] = own_y[i] = NAN;
            plot->left_out++;
        }
    }
    plot->kind = PXI_PLOT_XY;
    plot->series[plot->series_count++] = (pxi_series){
        .name = own_name, .mark = mark, .style = style, .x = own_x, .y = own_y, .count = count};
    return PX_OK;
}

px_status px_plot_line(px_plot *plot, const char *name, const double *x, const double *y,
                       size_t count, unsigned style, px_error *err)
{
    return plot_add_xy(plot, name, x, y, count, PXI_MARK_LINE, style, err);
}

px_status px_plot_points(px_plot *plot, const char *name, const double *x, const double *y,
                         size_t count, px_error *err)
{
    return plot_add_xy(plot, name, x, y, count, PXI_MARK_POINTS, 0, err);
}

px_status px_plot_groups(px_plot *plot, const char *const *names, size_t count, px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_BARS, 0, err));
    if (plot->kind == PXI_PLOT_BARS)
        return px_fail(err, PX_E_USAGE,
                       "the groups of a bar chart are given once, before its bars");
    if (count == 0 || count > PX_PLOT_GROUPS_MOST)
        return px_fail(err, PX_E_USAGE, "a bar chart has 1 to %d groups, not %zu",
                       PX_PLOT_GROUPS_MOST, count);
    bool failed = false;
    const char **copies = plot_names(plot, names, count, &failed);
    if (failed)
        return pxi_no_memory(err);
    plot->groups = copies;
    plot->group_count = count;
    plot->kind = PXI_PLOT_BARS;
    return PX_OK;
}

px_status px_plot_bars(px_plot *plot, const char *name, const double *values, const double *spread,
                       size_t count, px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_BARS, count, err));
    if (plot->kind != PXI_PLOT_BARS)
        return px_fail(err, PX_E_USAGE, "a bar chart needs its groups before its bars");
    if (count != plot->group_count)
        return px_fail(err, PX_E_USAGE, "%zu bars do not fit a chart with %zu groups", count,
                       plot->group_count);
    bool failed = false;
    const px_plot_axis *axis = &plot->options.y;
    const char *own_name = plot_name(plot, name, &failed);
    double *own = plot_values(plot, count, err), *own_spread = plot_values(plot, count, err);
    if (failed || !own || !own_spread)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        own_spread[i] = own[i] = NAN;
        if (!pxi_value_fits(axis, values[i])) {
            plot->left_out++;
            continue;
        }
        pxi_range_add(&plot->y, own[i] = values[i]);
        const double wide = spread ? fabs(spread[i]) : 0;
        if (wide > 0 && pxi_value_fits(axis, values[i] - wide) &&
            pxi_value_fits(axis, values[i] + wide)) {
            own_spread[i] = wide;
            pxi_range_add(&plot->y, values[i] - wide);
            pxi_range_add(&plot->y, values[i] + wide);
        }
    }
    plot->series[plot->series_count++] = (pxi_series){
        .name = own_name, .mark = PXI_MARK_BLOCK, .y = own, .spread = own_spread, .count = count};
    return PX_OK;
}

px_status px_plot_box(px_plot *plot, const char *name, const double *values, size_t count,
                      px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_BOXES, count, err));
    bool failed = false;
    const char *own_name = plot_name(plot, name ? name : "", &failed);
    double *own = plot_values(plot, count, err);
    if (failed || !own)
        return pxi_no_memory(err);
    if (!plot->groups) {
        PX_TRY(PX_ARENA_NEW(plot->groups, plot->arena, PX_PLOT_SERIES_MOST, err));
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pxi_value_fits(&plot->options.y, values[i])) {
            plot->left_out++;
            continue;
        }
        pxi_range_add(&plot->y, own[kept++] = values[i]);
    }
    qsort(own, kept, sizeof *own, pxi_order_double);
    plot->kind = PXI_PLOT_BOXES;
    plot->groups[plot->group_count++] = own_name;
    plot->series[plot->series_count++] =
        (pxi_series){.mark = PXI_MARK_BLOCK, .y = own, .count = kept};
    return PX_OK;
}

px_status px_plot_map(px_plot *plot, const double *x, const double *y, const uint16_t *colours,
                      const uint16_t *marks, size_t count, px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_MAP, count, err));
    if (plot->spots)
        return px_fail(err, PX_E_USAGE, "a chart shows one map");
    double *own = plot_values(plot, 2 * count, err);
    uint16_t *looks = pxi_arena_alloc(plot->arena, 2 * count, sizeof *looks);
    if (!own || !looks)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        own[2 * i] = own[2 * i + 1] = NAN;
        looks[2 * i] = colours[i];
        looks[2 * i + 1] = marks[i];
        if (!pxi_value_fits(&plot->options.x, x[i]) || !pxi_value_fits(&plot->options.y, y[i])) {
            plot->left_out++;
            continue;
        }
        pxi_range_add(&plot->x, own[2 * i] = x[i]);
        pxi_range_add(&plot->y, own[2 * i + 1] = y[i]);
    }
    plot->kind = PXI_PLOT_MAP;
    plot->spots = own;
    plot->looks = looks;
    plot->spot_count = count;
    return PX_OK;
}

px_status px_plot_key(px_plot *plot, const char *name, int colour, int mark, px_error *err)
{
    PX_TRY(plot_may_add(plot, PXI_PLOT_MAP, 0, err));
    bool failed = false;
    const char *own_name = plot_name(plot, name, &failed);
    if (failed)
        return pxi_no_memory(err);
    plot->kind = PXI_PLOT_MAP;
    plot->series[plot->series_count++] =
        (pxi_series){.name = own_name, .mark = PXI_MARK_KEY, .colour = colour, .shape = mark};
    return PX_OK;
}

/* --- pictures out ---------------------------------------------------------------------------- */

static px_status plot_draw(const px_plot *plot, pxi_scene **out, px_error *err)
{
    static void (*const draw[])(pxi_scene *, const px_plot *, pxi_frame *) = {
        [PXI_PLOT_EMPTY] = pxi_draw_xy,  [PXI_PLOT_XY] = pxi_draw_xy,
        [PXI_PLOT_BARS] = pxi_draw_bars, [PXI_PLOT_BOXES] = pxi_draw_boxes,
        [PXI_PLOT_MAP] = pxi_draw_map,
    };
    static_assert(PX_LEN(draw) == PXI_PLOT_KINDS, "a function for each kind");
    pxi_scene *scene = pxi_scene_new(plot->options.width, plot->options.height);
    if (!scene)
        return pxi_no_memory(err);
    pxi_frame frame = {0};
    pxi_frame_head(scene, plot, &frame);
    draw[plot->kind](scene, plot, &frame);
    *out = scene;
    return PX_OK;
}

px_status px_plot_svg(const px_plot *plot, uint8_t **out, size_t *size, px_error *err)
{
    pxi_scene *scene = NULL;
    PX_TRY(plot_draw(plot, &scene, err));
    const px_status status = pxi_scene_svg(scene, out, size, err);
    pxi_scene_free(scene);
    return status;
}

px_status px_plot_save(const px_plot *plot, const char *path, px_error *err)
{
    pxi_scene *scene = NULL;
    PX_TRY(plot_draw(plot, &scene, err));
    const px_status status = pxi_scene_save(scene, /* png= */ false, path, err);
    pxi_scene_free(scene);
    return status;
}
