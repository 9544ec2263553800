/* tests/describe/test_annotator.c - annotation vectors: the check of LGR C.15, and the
 * network's own maps pooled by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "base/memory.h"
#include "describe/annotation_pool.h"
#include "describe/exemplar_internal.h"
#include "describe/mask.h"
#include "describe/unit_stream.h"
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 12, PAIRS = 40, SIDE = 28 };

typedef struct fixture {
    px_model *model;
    small_data data;
    uint8_t masks[PAIRS][SIDE * SIDE];
    px_annotated_pair pairs[PAIRS];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(7, 5);
    f.data = small_digits(f.model, "test", INPUTS, 0);
    for (int i = 0; i < PAIRS; i++) {
        px_random r = px_rng(5, PX_RNG_TEST, (uint32_t)i, 0);
        const int side = i % 3 == 0 ? 14 : SIDE; /* masks need not have the pictures' size */
        for (int p = 0; p < side * side; p++)
            f.masks[i][p] = i % 7 != 6 && px_rng_below(&r, 5) == 0; /* some are empty */
        f.pairs[i] = (px_annotated_pair){
            .index = (i * 5) % INPUTS, .height = side, .width = side, .mask = f.masks[i]};
    }
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

static float *annotate(fixture *f, const px_annotator_options *options, int64_t *size)
{
    px_error err = {0};
    px_annotator *a = NULL;
    if (px_annotator_new(f->model, f->data.set, &f->data.pre, options, &a, &err) != PX_OK)
        fail_msg("%s", err.message);
    *size = px_annotator_size(a);
    float *features = calloc((size_t)(PAIRS * *size), sizeof *features);
    if (px_annotator_run(a, f->pairs, PAIRS, features, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_annotator_free(a);
    return features;
}

static void test_pool(void **state)
{
    (void)state;
    static const uint8_t mask[16] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    static const float maps[8] = {1, 2, 3, 4, 0, -1, 5, 2};
    int32_t at[4];
    float weight[4], scratch[4], out[2];
    pxi_weights weights = {.at = at, .weight = weight};
    pxi_weights_set(&weights, mask, 4, 4, 2, 2, scratch);
    pxi_pool_masked(&weights, maps, 2, 4, /* sum= */ true, out);
    assert_true(out[0] == 3.0f && out[1] == -.5f);
    pxi_pool_masked(&weights, maps, 2, 4, /* sum= */ false, out);
    assert_true(out[0] == 2.4f && out[1] == -.4f);
    static const uint8_t empty[16] = {0};
    pxi_weights_set(&weights, empty, 4, 4, 2, 2, scratch);
    pxi_pool_masked(&weights, maps, 2, 4, /* sum= */ false, out);
    assert_true(out[0] == 0.0f && out[1] == 0.0f);
}

/* --- by hand --------------------------------------------------------------------------------- */

typedef struct maps_of { /* all maps of all inputs, in the order of features */
    pxi_unit_stream *stream;
    float *maps[8];
    size_t row[8];
} maps_of;

static px_status keep(void *context, const pxi_unit_visit *visit, px_error *err)
{
    maps_of *all = context;
    (void)err;
    const size_t row = all->row[visit->layer];
    memcpy(all->maps[visit->layer] + (size_t)visit->item * row, visit->maps, row * sizeof(float));
    return PX_OK;
}

static void check_layer(const fixture *f, const maps_of *all, size_t l, int64_t offset,
                        int64_t size, bool sum, const float *features)
{
    const pxi_unit_layer *layer = pxi_unit_stream_layer(all->stream, l);
    const size_t places = (size_t)(layer->h * layer->w);
    float weights[SIDE * SIDE];
    for (size_t i = 0; i < PAIRS; i++) {
        const px_annotated_pair *p = &f->pairs[i];
        double total = 0.0;
        pxi_mask_downsample(p->mask, p->height, p->width, layer->h, layer->w, weights);
        for (size_t q = 0; q < places; q++)
            total += (double)weights[q];
        for (int64_t c = 0; c < layer->units; c++) {
            const float *map = all->maps[l] + (size_t)p->index * all->row[l] + (size_t)c * places;
            double pool = 0.0;
            for (size_t q = 0; q < places; q++)
                pool += (double)weights[q] * (double)map[q];
            const double want = total == 0.0 ? 0.0 : sum ? pool : pool / total;
            const double got = (double)features[(int64_t)i * size + offset + c];
            if (fabs(got - want) > 1e-5 * (1.0 + fabs(want)))
                fail_msg("pair %d, layer %d, channel %d: %g instead of %g", (int)i, (int)l, (int)c,
                         got, want);
        }
    }
}

static void test_self(void **state)
{
    fixture *f = *state;
    const pxi_unit_stream_options o = {.layers = "hidden", .threads = 1};
    maps_of all = {0};
    assert_int_equal(
        pxi_unit_stream_open(f->model, f->data.set, &f->data.pre, &o, &all.stream, NULL), PX_OK);
    const size_t layers = pxi_unit_stream_layer_count(all.stream);
    for (size_t l = 0; l < layers; l++) {
        const pxi_unit_layer *layer = pxi_unit_stream_layer(all.stream, l);
        all.row[l] = (size_t)(layer->units * layer->h * layer->w);
        all.maps[l] = calloc(INPUTS * all.row[l], sizeof(float));
    }
    assert_int_equal(pxi_unit_stream_run(all.stream, NULL, INPUTS, keep, &all, NULL, NULL, NULL),
                     PX_OK);
    for (int sum = 0; sum < 2; sum++) {
        px_annotator_options options = px_annotator_options_default();
        int64_t size = 0, offset = 0;
        options.encoder = "self";
        options.taps = "hidden";
        options.sum = sum;
        float *features = annotate(f, &options, &size);
        for (size_t l = 0; l < layers; l++) {
            check_layer(f, &all, l, offset, size, sum, features);
            offset += pxi_unit_stream_layer(all.stream, l)->units;
        }
        assert_int_equal(offset, size);
        free(features);
    }
    for (size_t l = 0; l < layers; l++)
        free(all.maps[l]);
    pxi_unit_stream_close(all.stream);
}

/* Grey data: mean, mean of squares, x, y. */
static void test_pixels(void **state)
{
    fixture *f = *state;
    px_annotator_options options = px_annotator_options_default();
    int64_t alone_size = 0, both_size = 0;
    options.encoder = "pixels";
    float *alone = annotate(f, &options, &alone_size);
    options.encoder = NULL;
    float *both = annotate(f, &options, &both_size);
    assert_int_equal(alone_size, 4);
    for (int64_t i = 0; i < PAIRS; i++) {
        const px_annotated_pair *p = &f->pairs[i];
        assert_memory_equal(alone + 4 * i, both + both_size * (i + 1) - 4, 4 * sizeof(float));
        if (p->height != SIDE)
            continue;
        float raw[SIDE * SIDE];
        double want[4] = {0}, total = 0.0;
        assert_int_equal(px_dataset_pixels(f->data.set, p->index, raw, NULL), PX_OK);
        for (int q = 0; q < SIDE * SIDE; q++)
            if (p->mask[q]) {
                const double value = (double)raw[q] * (double)f->data.pre.scale;
                const double terms[4] = {value, value * value, (q % SIDE + .5) / SIDE,
                                         (q / SIDE + .5) / SIDE};
                for (int t = 0; t < 4; t++)
                    want[t] += terms[t];
                total += 1.0;
            }
        for (int t = 0; t < 4; t++)
            if (fabs((double)alone[4 * i + t] - (total > 0.0 ? want[t] / total : 0.0)) > 1e-6)
                fail_msg("pair %d, feature %d", (int)i, t);
    }
    free(alone);
    free(both);
}

/* The number of threads does not matter; a picture's own bytes are as good as its index. */
static void test_same(void **state)
{
    fixture *f = *state;
    px_annotator_options options = px_annotator_options_default();
    int64_t size = 0;
    options.threads = 1;
    float *one = annotate(f, &options, &size);
    options.threads = 3;
    options.batch = 2;
    float *three = annotate(f, &options, &size);
    const size_t bytes = (size_t)(PAIRS * size) * sizeof *one;
    assert_memory_equal(one, three, bytes);
    static uint8_t planes[INPUTS][3 * SIDE * SIDE];
    for (int i = 0; i < INPUTS; i++)
        assert_int_equal(pxi_exemplar_rgb(f->data.set, i, planes[i], NULL), PX_OK);
    for (int i = 0; i < PAIRS; i++)
        if (f->pairs[i].height == SIDE)
            f->pairs[i].pixels = planes[f->pairs[i].index];
    float *given = annotate(f, &options, &size);
    assert_memory_equal(one, given, bytes);
    for (int i = 0; i < PAIRS; i++)
        f->pairs[i].pixels = NULL;
    free(one);
    free(three);
    free(given);
}

static void test_refused(void **state)
{
    fixture *f = *state;
    static const uint8_t mask[4] = {1, 1, 1, 1};
    static const px_annotated_pair bad[] = {
        {.index = -1, .height = 2, .width = 2, .mask = mask},
        {.index = INPUTS, .height = 2, .width = 2, .mask = mask},
        {.index = 0, .height = 0, .width = 2, .mask = mask},
        {.index = 0, .height = 2, .width = 2, .mask = NULL},
    };
    px_annotator_options options = px_annotator_options_default();
    px_annotator *a = NULL;
    float features[512];
    assert_int_equal(px_annotator_new(f->model, f->data.set, &f->data.pre, &options, &a, NULL),
                     PX_OK);
    for (size_t i = 0; i < PX_LEN(bad); i++)
        assert_int_equal(px_annotator_run(a, &bad[i], 1, features, NULL), PX_E_USAGE);
    assert_int_equal(px_annotator_run(a, NULL, 0, features, NULL), PX_OK);
    px_annotator_free(a);
    options.encoder = "no/such/encoder.onnx";
    px_error err = {0};
    assert_int_equal(px_annotator_new(f->model, f->data.set, &f->data.pre, &options, &a, &err),
                     PX_E_INPUT);
    assert_non_null(strstr(err.message, "no/such/encoder.onnx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool), cmocka_unit_test(test_self),    cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_same), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
