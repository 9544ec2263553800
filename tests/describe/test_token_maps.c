/* tests/describe/test_token_maps.c - maps of transformers' layers lie as the patches of the
 * picture
 *
 * tokens_vit has 2 x 2 patches behind a class token, samples first; tokens_encoder the patches
 * alone, tokens first. Maps are compared with the layer's tensor, read token by token.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "concept_helpers.h"

#include "base/memory.h"
#include "describe/unit_stream.h"
#include "probe/probe_helpers.h"

#include <internal/exemplars.h>
#include <internal/probe.h>
#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 12, SIDE = 8, PIXELS = 3 * SIDE * SIDE, PATCHES = 4, FEATURES = 8 };

static const struct {
    const char *network;
    int first; /* token that is a patch */
} networks[] = {{"tokens_vit", 1}, {"tokens_encoder", 0}};

typedef struct fixture {
    px_model *model;
    px_dataset *set;
    px_preprocess pre;
    unsigned char pixels[PICTURES * PIXELS];
} fixture;

static void must(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static void open_fixture(fixture *f, size_t n)
{
    const px_shape input = {4, {1, 3, SIDE, SIDE}};
    int64_t labels[PICTURES] = {0};
    px_error err = {0};
    for (int64_t i = 0; i < PICTURES * PIXELS; i++) {
        px_random r = px_rng(5, PX_RNG_TEST, (uint32_t)i, 1);
        f->pixels[i] = (unsigned char)px_rng_below(&r, 256);
    }
    f->model = probe_model(networks[n].network);
    f->set = bytes_set("token_maps.npz", f->pixels, labels, PICTURES, 3, SIDE, SIDE);
    must(px_preprocess_init(&f->pre, NULL, 0, &input, NULL, &err), &err);
    f->pre.scale = 1.0f / 256.0f;
}

static void close_fixture(fixture *f)
{
    px_dataset_close(f->set);
    px_model_free(f->model);
}

/* The tensor of a block for one picture: [tokens][features], the batch of 1 wherever it stands. */
static void block_values(const fixture *f, const px_probe *probe, size_t layer, int64_t picture,
                         float *out)
{
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_error err = {0};
    options.batch = 1;
    options.keep = px_probe_values(probe, &options.keep_count);
    must(px_plan_new(f->model, &options, &plan, &err), &err);
    must(px_session_new(plan, &session, &err), &err);
    float *x = px_session_input(session, 0);
    for (int64_t i = 0; i < PIXELS; i++)
        x[i] = (float)f->pixels[picture * PIXELS + i] * f->pre.scale;
    must(px_session_forward(session, &err), &err);
    must(px_session_read(session, px_probe_layer(probe, layer)->tap_value, -1, out, &err), &err);
    px_session_free(session);
    px_plan_free(plan);
}

/* Every map of every exemplar, and its mask, which of a picture of as many pixels as patches is
 * where the map exceeds the level. */
static void test_maps(void **state)
{
    (void)state;
    for (size_t n = 0; n < PX_LEN(networks); n++) {
        fixture f;
        px_error err = {0};
        px_exemplars *e = NULL;
        px_exemplar_options options = px_exemplar_options_default();
        open_fixture(&f, n);
        options.count = 3;
        options.quantile = 0.8;
        options.batch = 5;
        must(px_exemplars_collect(f.model, f.set, &f.pre, &options, &e, &err), &err);
        px_probe *probe = probe_make(f.model, "stages", NULL, NULL);
        assert_int_equal(px_exemplars_layer_count(e), 2);
        for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
            const px_exemplar_layer *layer = px_exemplars_layer(e, l);
            assert_int_equal(layer->h, 2);
            assert_int_equal(layer->w, 2);
            assert_int_equal(layer->units, FEATURES);
            int lit = 0;
            for (int64_t u = 0; u < layer->units; u++) {
                const px_unit unit = px_exemplars_unit(e, l, u);
                for (int64_t j = 0; j < unit.count; j++) {
                    float tokens[(PATCHES + 1) * FEATURES];
                    uint8_t mask[PATCHES];
                    block_values(&f, probe, l, unit.top[j].index, tokens);
                    must(px_exemplars_mask(e, l, u, j, 2, 2, mask, &err), &err);
                    for (int p = 0; p < PATCHES; p++) {
                        const float want = tokens[(networks[n].first + p) * FEATURES + u];
                        assert_float_equal(unit.top[j].map[p], want, 1e-6f);
                        assert_int_equal(mask[p], (double)unit.top[j].map[p] > unit.level);
                        lit += mask[p];
                    }
                }
            }
            assert_true(lit > 0);
        }
        px_probe_free(probe);
        px_exemplars_free(e);
        close_fixture(&f);
    }
}

/* Which numbers of tokens are a grid: patches, with the tokens that the head reads before them, or
 * merged four to one; nothing else is. */
static void test_grids(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        int tokens, first, side; /* 0: no grid */
    } cases[] = {
        {"tokens_vit", 5, 1, 2},     {"tokens_vit", 4, 0, 2}, {"tokens_vit", 1, 0, 1},
        {"tokens_vit", 6, 0, 0},     {"tokens_vit", 3, 0, 0}, {"tokens_encoder", 4, 0, 2},
        {"tokens_encoder", 5, 0, 0}, {"residual", 4, 0, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_model *model = probe_model(cases[i].network);
        px_probe *probe = probe_make(model, "all", NULL, NULL);
        int64_t first = -1;
        int h = 0, w = 0;
        const bool grid = pxi_probe_patches(probe, cases[i].tokens, &first, &h, &w);
        if (grid != (cases[i].side > 0) ||
            (grid && (first != cases[i].first || h != cases[i].side || w != cases[i].side)))
            fail_msg("%s, %d tokens: %d x %d from %d on", cases[i].network, cases[i].tokens, h, w,
                     (int)first);
        px_probe_free(probe);
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
