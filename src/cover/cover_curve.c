/* src/cover/cover_curve.c - how coverage grew over the inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/cover.h>
#include <internal/text.h>

#include "base/file.h"
#include "base/memory.h"

#include <internal/picture.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static px_status curve_csv(const px_cover *cover, const char *path, px_error *err)
{
    char number[PX_REAL_TEXT];
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(cover, &count);
    px_text text = {0};
    px_text_add(&text, "inputs");
    for (size_t i = 0; i < px_cover_count(cover); i++)
        px_text_format(&text, ",%s", px_cover_criterion(cover, i)->entry.id);
    px_text_add(&text, "\n");
    for (size_t p = 0; p < count; p++) {
        px_text_format(&text, "%" PRId64, points[p].inputs);
        for (size_t i = 0; i < px_cover_count(cover); i++)
            px_text_format(&text, ",%s", px_real_text(points[p].values[i], number));
        px_text_add(&text, "\n");
    }
    const px_status status = px_text_failed(&text)
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, text.data, text.length, err);
    px_text_done(&text);
    return status;
}

/* One line per criterion. Those without a total are drawn as shares of where they end, or the chart
 * would have to have an axis for each. */
static px_status curve_lines(const px_cover *cover, px_plot *plot, px_error *err)
{
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(cover, &count);
    double *x = pxi_calloc(count + 1, sizeof *x), *y = pxi_calloc(count + 1, sizeof *y);
    px_status status = x && y ? PX_OK : pxi_no_memory(err);
    for (size_t p = 0; p < count && status == PX_OK; p++)
        x[p] = (double)points[p].inputs;
    for (size_t i = 0; i < px_cover_count(cover) && status == PX_OK; i++) {
        const bool share = px_cover_value(cover, i).total > 0;
        const double last = count ? points[count - 1].values[i] : 0.0;
        char name[64];
        for (size_t p = 0; p < count; p++)
            y[p] =
                100.0 * (share || last == 0.0 ? points[p].values[i] : points[p].values[i] / last);
        snprintf(name, sizeof name, share ? "%s" : "%s, of its end",
                 px_cover_criterion(cover, i)->entry.id);
        status = px_plot_line(plot, name, x, y, count, share ? 0 : PX_PLOT_DASHED, err);
    }
    free(x);
    free(y);
    return status;
}

static px_status curve_chart(const px_cover *cover, const char *path, px_error *err)
{
    const px_plot_options options = {
        .title = "Coverage as inputs come in",
        .note = px_cover_count(cover) ? px_cover_definition(cover, 0) : NULL,
        .x = {.label = "inputs", .log = true},
        .y = {.label = "covered", .unit = "%"},
    };
    px_plot *plot = NULL;
    PX_TRY(px_plot_new(&options, &plot, err));
    px_status status = curve_lines(cover, plot, err);
    PX_THEN(status, px_plot_save(plot, path, err));
    px_plot_free(plot);
    return status;
}

px_status px_cover_curve_check(const char *path, px_error *err)
{
    if (pxi_has_suffix(path, ".csv") || pxi_has_suffix(path, ".svg"))
        return PX_OK;
    return px_fail(err, PX_E_USAGE,
                   "'%.200s': a growth curve needs a name that ends in .svg or .csv", path);
}

px_status px_cover_save_curve(const px_cover *cover, const char *path, px_error *err)
{
    PX_TRY(px_cover_curve_check(path, err));
    return pxi_has_suffix(path, ".csv") ? curve_csv(cover, path, err)
                                        : curve_chart(cover, path, err);
}
