/* tests/describe/test_exemplars.c - exemplars against all values of all maps, sorted */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "base/memory.h"
#include "describe/mask.h"
#include "describe/unit_stream.h"
#include <internal/exemplars.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 150 };

typedef struct fixture {
    px_model *model;
    small_data data;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(7, 5);
    f.data = small_digits(f.model, "test", INPUTS, 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static px_exemplars *collect(const fixture *f, const px_exemplar_options *options)
{
    px_error err = {0};
    px_exemplars *e = NULL;
    if (px_exemplars_collect(f->model, f->data.set, &f->data.pre, options, &e, &err) != PX_OK)
        fail_msg("%s", err.message);
    return e;
}

/* --- all maps at once ------------------------------------------------------------------------ */

enum { LAYERS_MOST = 8 };

typedef struct everything {
    float *maps[LAYERS_MOST]; /* [input][unit][place] */
    size_t row[LAYERS_MOST];
} everything;

static px_status keep(void *context, const pxi_unit_visit *visit, px_error *err)
{
    everything *all = context;
    (void)err;
    const size_t row = all->row[visit->layer];
    memcpy(all->maps[visit->layer] + (size_t)visit->item * row, visit->maps,
           row * sizeof *visit->maps);
    return PX_OK;
}

static everything look(const fixture *f, const px_exemplars *e)
{
    const pxi_unit_stream_options options = {.layers = "hidden", .threads = 1, .batch = 3};
    everything all = {{0}, {0}};
    pxi_unit_stream *stream = NULL;
    assert_int_equal(
        pxi_unit_stream_open(f->model, f->data.set, &f->data.pre, &options, &stream, NULL), PX_OK);
    assert_int_equal(pxi_unit_stream_layer_count(stream), px_exemplars_layer_count(e));
    for (size_t l = 0; l < pxi_unit_stream_layer_count(stream); l++) {
        const pxi_unit_layer *layer = pxi_unit_stream_layer(stream, l);
        all.row[l] = (size_t)(layer->units * layer->h * layer->w);
        all.maps[l] = calloc(INPUTS * all.row[l], sizeof(float));
    }
    assert_int_equal(pxi_unit_stream_run(stream, NULL, INPUTS, keep, &all, NULL, NULL, NULL),
                     PX_OK);
    pxi_unit_stream_close(stream);
    return all;
}

static int float_order(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void check_unit(const everything *all, const px_exemplars *e, size_t l, int64_t u, int64_t k)
{
    const px_exemplar_layer *info = px_exemplars_layer(e, l);
    const size_t places = (size_t)info->h * (size_t)info->w, count = INPUTS * places;
    const px_unit unit = px_exemplars_unit(e, l, u);
    float *values = calloc(count, sizeof *values), score[INPUTS];
    bool taken[INPUTS] = {false};
    for (size_t i = 0; i < INPUTS; i++) {
        const float *map = all->maps[l] + i * all->row[l] + (size_t)u * places;
        memcpy(values + i * places, map, places * sizeof *map);
        score[i] = map[0];
        for (size_t p = 1; p < places; p++)
            score[i] = fmaxf(score[i], map[p]);
    }
    assert_int_equal(unit.count, PX_MIN(k, INPUTS));
    for (int64_t j = 0; j < unit.count; j++) {
        int64_t best = -1;
        for (int64_t i = 0; i < INPUTS; i++)
            if (!taken[i] && (best < 0 || score[i] > score[best]))
                best = i;
        taken[best] = true;
        if (unit.top[j].index != best || unit.top[j].score != (double)score[best])
            fail_msg("layer %d unit %d exemplar %d: input %d (%g) instead of %d (%g)", (int)l,
                     (int)u, (int)j, (int)unit.top[j].index, unit.top[j].score, (int)best,
                     (double)score[best]);
        assert_memory_equal(unit.top[j].map,
                            all->maps[l] + (size_t)best * all->row[l] + (size_t)u * places,
                            places * sizeof(float));
    }
    qsort(values, count, sizeof *values, float_order);
    const double at = 0.99 * (double)(count - 1);
    const size_t low = (size_t)at, high = PX_MIN(low + 1, count - 1);
    const double level =
        (double)values[low] + (at - floor(at)) * ((double)values[high] - (double)values[low]);
    if (unit.level != (double)(float)level)
        fail_msg("layer %d unit %d: level %.9g instead of %.9g", (int)l, (int)u, unit.level, level);
    assert_true(unit.inactive == !((double)values[count - 1] > unit.level));
    free(values);
}

static void test_exact(void **state)
{
    const fixture *f = *state;
    static const int64_t counts[] = {1, 15, 256};
    for (size_t c = 0; c < PX_LEN(counts); c++) {
        px_exemplar_options options = px_exemplar_options_default();
        options.layers = "hidden";
        options.count = counts[c];
        px_exemplars *e = collect(f, &options);
        everything all = look(f, e);
        for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
            for (int64_t u = 0; u < px_exemplars_layer(e, l)->units; u++)
                check_unit(&all, e, l, u, counts[c]);
            free(all.maps[l]);
        }
        px_exemplars_free(e);
    }
}

/* --- the same for any number of threads and any batch ---------------------------------------- */

static void assert_same(const char *what, const px_exemplars *a, const px_exemplars *b)
{
    assert_int_equal(px_exemplars_layer_count(a), px_exemplars_layer_count(b));
    for (size_t l = 0; l < px_exemplars_layer_count(a); l++) {
        const px_exemplar_layer *info = px_exemplars_layer(a, l);
        const size_t bytes = (size_t)info->h * (size_t)info->w * sizeof(float);
        for (int64_t u = 0; u < info->units; u++) {
            const px_unit x = px_exemplars_unit(a, l, u), y = px_exemplars_unit(b, l, u);
            bool same = x.level == y.level && x.inactive == y.inactive && x.count == y.count &&
                        x.least == y.least && x.most == y.most;
            for (int64_t j = 0; j < x.count && same; j++)
                same = x.top[j].index == y.top[j].index && x.top[j].score == y.top[j].score &&
                       memcmp(x.top[j].map, y.top[j].map, bytes) == 0;
            if (!same)
                fail_msg("%s: layer %d unit %d differs", what, (int)l, (int)u);
        }
    }
}

static void test_threads(void **state)
{
    const fixture *f = *state;
    for (int approximate = 0; approximate < 2; approximate++) {
        px_exemplar_options options = px_exemplar_options_default();
        options.layers = "hidden";
        options.approximate = approximate;
        options.threads = 1;
        px_exemplars *one = collect(f, &options);
        options.threads = 2;
        px_exemplars *two = collect(f, &options);
        options.threads = 3;
        options.batch = 7;
        px_exemplars *three = collect(f, &options);
        assert_same("two threads", one, two);
        assert_same("three threads, batches of 7", one, three);
        px_exemplars_free(one);
        px_exemplars_free(two);
        px_exemplars_free(three);
    }
}

static void test_approximate(void **state)
{
    const fixture *f = *state;
    px_exemplar_options options = px_exemplar_options_default();
    options.layers = "hidden";
    px_exemplars *exact = collect(f, &options);
    options.approximate = true;
    px_exemplars *rough = collect(f, &options);
    for (size_t l = 0; l < px_exemplars_layer_count(exact); l++)
        for (int64_t u = 0; u < px_exemplars_layer(exact, l)->units; u++) {
            const px_unit a = px_exemplars_unit(exact, l, u), b = px_exemplars_unit(rough, l, u);
            const double range = a.most - a.least;
            if (px_exemplars_layer(exact, l)->h > 1 && fabs(a.level - b.level) > range / 1000.0)
                fail_msg("layer %d unit %d: level %g, exactly %g", (int)l, (int)u, b.level,
                         a.level);
        }
    assert_true(px_exemplars_facts(rough).approximate);
    px_exemplars_free(exact);
    px_exemplars_free(rough);
}

static void test_masks(void **state)
{
    const fixture *f = *state;
    px_exemplar_options options = px_exemplar_options_default();
    options.layers = "#0";
    options.zero_padded = true;
    px_exemplars *e = collect(f, &options);
    const px_exemplar_layer *info = px_exemplars_layer(e, 0);
    const px_unit unit = px_exemplars_unit(e, 0, 1);
    uint8_t got[40 * 30], want[40 * 30];
    assert_int_equal(px_exemplars_mask(e, 0, 1, 2, 40, 30, got, NULL), PX_OK);
    (void)pxi_mask(unit.top[2].map, info->h, info->w, (float)unit.level, 40, 30, true, want);
    assert_memory_equal(got, want, sizeof got);
    assert_int_equal(px_exemplars_mask(e, 0, 1, 15, 4, 4, got, NULL), PX_E_USAGE);
    assert_int_equal(px_exemplars_mask(e, 1, 0, 0, 4, 4, got, NULL), PX_E_USAGE);
    assert_int_equal(px_exemplars_mask(e, 0, 0, 0, 0, 4, got, NULL), PX_E_USAGE);
    px_exemplars_free(e);
}

static void test_refused(void **state)
{
    const fixture *f = *state;
    static const struct {
        int64_t count;
        double quantile;
        const char *layers;
    } cases[] = {
        {0, .99, NULL}, {257, .99, NULL}, {15, NAN, NULL}, {15, 1.5, NULL}, {15, .99, "x"}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_exemplar_options options = px_exemplar_options_default();
        px_exemplars *e = NULL;
        px_error err = {0};
        options.count = cases[i].count;
        options.quantile = cases[i].quantile;
        options.layers = cases[i].layers;
        if (px_exemplars_collect(f->model, f->data.set, &f->data.pre, &options, &e, &err) !=
            PX_E_USAGE)
            fail_msg("case %d: %s", (int)i, err.message);
    }
}

static bool stop(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void test_cancel(void **state)
{
    const fixture *f = *state;
    px_exemplar_options options = px_exemplar_options_default();
    px_exemplars *e = NULL;
    options.progress = stop;
    assert_int_equal(px_exemplars_collect(f->model, f->data.set, &f->data.pre, &options, &e, NULL),
                     PX_E_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_approximate), cmocka_unit_test(test_masks),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
