/* tests/picture/test_picture_alloc.c - every allocation fails in turn: an error, no leak, no crash
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "failing_alloc.h"

#include <internal/picture.h>
#include <math.h>
#include <stdlib.h>

static px_error err;

static px_status draw(px_plot *plot)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const px_status status = px_plot_svg(plot, &bytes, &size, &err);
    free(bytes);
    return status;
}

static const double y[] = {1, 2, NAN, 4, 3, 9};
static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
static const px_plot_options options = {
    .title = "t", .note = "n", .width = 200, .height = 150, .y = {.label = "y", .unit = "%"}};

static px_status fill_lines(px_plot *plot)
{
    PX_TRY(px_plot_line(plot, "line", NULL, y, 6, PX_PLOT_DASHED | PX_PLOT_DOTS, &err));
    return px_plot_points(plot, "points", y, y, 6, &err);
}

static px_status fill_bars(px_plot *plot)
{
    PX_TRY(px_plot_groups(plot, names, 6, &err));
    return px_plot_bars(plot, "bars", y, y, 6, &err);
}

static px_status fill_boxes(px_plot *plot)
{
    return px_plot_box(plot, "box", y, 6, &err);
}

static px_status fill_map(px_plot *plot)
{
    static const uint16_t colours[] = {0, 1, 2, 19, 20, 300}, marks[] = {0, 1, 2, 3, 4, 5};
    PX_TRY(px_plot_key(plot, "class", 3, -1, &err));
    PX_TRY(px_plot_key(plot, "origin", -1, 5, &err));
    return px_plot_map(plot, y, y, colours, marks, 6, &err);
}

static px_status fill_sheet(void)
{
    static const uint8_t pixels[4];
    px_sheet *sheet = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    PX_TRY(px_sheet_new(&(px_sheet_options){.title = "t"}, &sheet, &err));
    px_status status = px_sheet_add(
        sheet, &(px_sheet_item){.picture = {2, 2, 1, pixels}, .caption = "a\nb"}, &err);
    if (status == PX_OK)
        status = px_sheet_png(sheet, &bytes, &size, &err);
    free(bytes);
    px_sheet_free(sheet);
    return status;
}

static px_status work(px_status (*fill)(px_plot *))
{
    if (!fill)
        return fill_sheet();
    px_plot *plot = NULL;
    PX_TRY(px_plot_new(&options, &plot, &err));
    px_status status = fill(plot);
    if (status == PX_OK)
        status = draw(plot);
    px_plot_free(plot);
    return status;
}

static void test_each_fails_in_turn(void **state)
{
    (void)state;
    px_status (*const fills[])(px_plot *) = {fill_lines, fill_bars, fill_boxes, fill_map, NULL};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        px_status status;
        long k = 0;
        for (; fail_at(k), status = work(fills[i]), fail_never(); k++)
            if (status != PX_E_NOMEM)
                fail_msg("chart %zu, allocation %ld: status %d", i, k, (int)status);
        assert_int_equal(status, PX_OK);
        assert_true(k > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
