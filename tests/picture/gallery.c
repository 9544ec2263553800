/* tests/picture/gallery.c - one of each chart and sheet, for tests/picture/check_svg.py and for
 * eyes
 *
 *     gallery FOLDER [SPEC]        the sheet shows the first inputs of SPEC; default: digits
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/picture.h>
#include <internal/rng.h>
#include <plexor/data.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200, GROUPS = 5, CLASSES = 10, FINE = 120 };

static const char *folder;
static px_error err;
static int failures;

static void check(px_status status, const char *what)
{
    if (status != PX_OK) {
        fprintf(stderr, "gallery: %s: %s\n", what, err.message);
        failures++;
    }
}

static px_plot *begin(const px_plot_options *options)
{
    px_plot *plot = NULL;
    check(px_plot_new(options, &plot, &err), "new");
    return plot;
}

/* Writes NAME.svg. */
static void end(px_plot *plot, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    check(px_plot_save(plot, path, &err), path);
    px_plot_free(plot);
}

static void lines(bool log)
{
    double x[N], y[3][N];
    for (int i = 0; i < N; i++) {
        x[i] = 50.0 * (i + 1);
        y[0][i] = 100 * (1 - exp(-(i + 1) / 30.0));
        y[1][i] = 78 * (1 - exp(-(i + 1) / 55.0)) + 2 * sin(i / 7.0);
        y[2][i] = 40 * (1 - exp(-(i + 1) / 80.0));
    }
    y[1][120] = NAN;
    px_plot *plot =
        begin(&(px_plot_options){.title = "Coverage grows with inputs <& \"quotes\">",
                                 .note = "LeNet-5 on MNIST, hidden layers, channel means; k = 1000",
                                 .x = {.label = "inputs", .log = log},
                                 .y = {.label = "covered", .unit = "%"}});
    check(px_plot_line(plot, "NC, threshold 0.5", x, y[0], N, 0, &err), "line");
    check(px_plot_line(plot, "KMNC", x, y[1], N, 0, &err), "line");
    check(px_plot_line(plot, "random", x, y[2], N, PX_PLOT_DASHED, &err), "line");
    end(plot, log ? "line-log" : "line");
}

static void bars(void)
{
    static const char *const groups[GROUPS] = {"NC", "KMNC", "NBC", "TKNC", "NLC"};
    static const double values[3][GROUPS] = {{92.1, 61.3, 14.0, 38.5, 55.0},
                                             {88.4, 57.9, 22.4, 41.0, 61.2},
                                             {71.0, 44.0, 9.1, NAN, 48.7}};
    static const double spread[GROUPS] = {2, 3.5, 1.2, 4, 2.2};
    static const char *const names[] = {"LeNet-1", "LeNet-4", "LeNet-5"};
    px_plot *plot = begin(&(px_plot_options){.title = "Coverage by network",
                                             .x = {.label = "criterion"},
                                             .y = {.label = "covered", .unit = "%"},
                                             .numbers = true});
    check(px_plot_groups(plot, groups, GROUPS, &err), "groups");
    for (size_t i = 0; i < 3; i++)
        check(px_plot_bars(plot, names[i], values[i], i == 1 ? spread : NULL, GROUPS, &err),
              "bars");
    end(plot, "bar");
}

static void long_names(void)
{
    static const char *const groups[] = {"T-shirt/top", "Trouser",    "Pullover",      "Dress",
                                         "Coat",        "Sandal",     "Shirt",         "Sneaker",
                                         "Bag",         "Ankle boot", "Été à l'œuvre", "Größe",
                                         "ε ≤ 8/255",   "µ ± σ",      "日本"};
    double values[15];
    for (int i = 0; i < 15; i++)
        values[i] = 3 * sin(i) + (i % 3);
    px_plot *plot = begin(&(px_plot_options){.title = "Change per class",
                                             .width = 480,
                                             .height = 300,
                                             .y = {.label = "accuracy", .unit = "points"}});
    check(px_plot_groups(plot, groups, 15, &err), "groups");
    check(px_plot_bars(plot, NULL, values, NULL, 15, &err), "bars");
    end(plot, "bar-names");
}

static void boxes(void)
{
    px_plot *plot = begin(&(px_plot_options){.title = "Faults found by selector",
                                             .note = "30 runs, budget 5%",
                                             .y = {.label = "fault detection rate", .unit = "%"}});
    static const char *const names[] = {"random", "gini", "dsa", "nss", "lsa", "mc-dropout"};
    for (uint32_t k = 0; k < 6; k++) {
        double values[60];
        px_random r = px_rng(1, PX_RNG_TEST, k, 0);
        for (int i = 0; i < 60; i++)
            values[i] = 20 + 9 * k + (4 + k) * px_rng_normal(&r) * (i % 20 == 0 ? 2.5 : 1);
        check(px_plot_box(plot, names[k], values, k == 5 ? 1 : 60, &err), "box");
    }
    end(plot, "box");
}

static void scatter(void)
{
    px_plot *plot = begin(&(px_plot_options){.title = "Surprise against confidence",
                                             .x = {.label = "distance-based surprise"},
                                             .y = {.label = "confidence"}});
    static const char *const names[] = {"right", "wrong", "outside"};
    for (uint32_t k = 0; k < 3; k++) {
        double x[N], y[N];
        px_random r = px_rng(2, PX_RNG_TEST, k, 0);
        for (int i = 0; i < N; i++) {
            x[i] = 0.8 + 0.5 * k + 0.25 * px_rng_normal(&r);
            y[i] = 1 / (1 + exp(-2.2 + 1.4 * k - px_rng_normal(&r)));
        }
        x[3] = INFINITY;
        check(px_plot_points(plot, names[k], x, y, k == 2 ? 60 : N, &err), "points");
    }
    end(plot, "scatter");
}

static void map(void)
{
    enum { POINTS = 400 };
    double x[POINTS], y[POINTS];
    uint16_t colour[POINTS], mark[POINTS];
    px_random random = px_rng(1, PX_RNG_TEST, 77, 0);
    for (int i = 0; i < POINTS; i++) {
        colour[i] = (uint16_t)(i % CLASSES);
        mark[i] = (uint16_t)(i % 7 == 0 ? 5 : i % 3);
        x[i] = 8 * cos(0.63 * colour[i]) + px_rng_normal(&random);
        y[i] = 8 * sin(0.63 * colour[i]) + px_rng_normal(&random);
    }
    px_plot *plot = begin(&(px_plot_options){.title = "A map", .width = 600, .height = 620});
    check(px_plot_key(plot, "seeds", -1, 0, &err), "key");
    check(px_plot_key(plot, "faults", -1, 5, &err), "key");
    for (int c = 0; c < CLASSES; c++)
        check(px_plot_key(plot, "class", c, -1, &err), "key");
    check(px_plot_map(plot, x, y, colour, mark, POINTS, &err), "map");
    end(plot, "map");
}

static void sheet(const char *spec)
{
    enum { COUNT = 20, SIDE_MOST = 64 };
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    px_sheet *out = NULL;
    check(px_dataset_open(spec, &options, &set, &err), spec);
    check(px_sheet_new(&(px_sheet_options){.title = "The first inputs", .columns = 8}, &out, &err),
          "sheet");
    const px_shape shape = set ? px_dataset_shape(set) : (px_shape){0};
    if (!set || !out || shape.rank != 3 || shape.dim[1] > SIDE_MOST || shape.dim[2] > SIDE_MOST)
        return;
    const int height = (int)shape.dim[1], width = (int)shape.dim[2], channels = (int)shape.dim[0];
    static float planes[3 * SIDE_MOST * SIDE_MOST];
    static uint8_t pixels[3 * SIDE_MOST * SIDE_MOST], other[3 * SIDE_MOST * SIDE_MOST];
    for (int i = 0; i < COUNT; i++) {
        check(px_dataset_pixels(set, i, planes, &err), "pixels");
        for (int p = 0; p < width * height; p++)
            for (int c = 0; c < channels; c++) {
                pixels[p * channels + c] = (uint8_t)planes[c * width * height + p];
                other[p * channels + c] =
                    (uint8_t)fmin(255, pixels[p * channels + c] * 0.9 + p % 40);
            }
        char caption[64];
        snprintf(caption, sizeof caption, "%lld, seen as %d\n%.3f",
                 (long long)px_dataset_label(set, i), i % 10, 1.0 / (i + 1));
        px_sheet_item item = {.picture = {width, height, channels, pixels},
                              .caption = caption,
                              .overlay = i < 14   ? PX_SHEET_PLAIN
                                         : i < 17 ? PX_SHEET_DIFFERENCE
                                                  : PX_SHEET_MASK,
                              .other = {width, height, channels, other},
                              .marked = i % 5 == 3};
        check(px_sheet_add(out, &item, &err), "add");
    }
    char path[1024];
    snprintf(path, sizeof path, "%s/sheet.png", folder);
    check(px_sheet_save(out, path, &err), path);
    snprintf(path, sizeof path, "%s/sheet.svg", folder);
    check(px_sheet_save(out, path, &err), path);
    px_sheet_free(out);
    px_dataset_close(set);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: gallery FOLDER [SPEC]\n");
        return 2;
    }
    folder = argv[1];
    lines(false);
    lines(true);
    bars();
    long_names();
    boxes();
    scatter();
    map();
    sheet(argc > 2 ? argv[2] : "digits");
    end(begin(&(px_plot_options){.title = "Nothing yet", .width = 300, .height = 200}), "empty");
    return failures ? 1 : 0;
}
