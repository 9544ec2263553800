/* tests/select/test_prima.c - features (TV-B6), changed pictures, and the selector as a whole */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"
#include "engine/net.h"

#include "base/memory.h"
#include "select/prima.h"

#include <internal/data.h>
#include <internal/field.h>
#include <internal/select.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- features -------------------------------------------------------------------------------- */

static void test_features(void **state)
{
    (void)state;
    static const double p[] = {.7, .2, .1};
    static const double q[][3] = {{.6, .3, .1}, {.2, .7, .1}, {.1, .8, .1}, {.3, .1, .6}};
    static const double distance[] = {.016848866, .462962963, .597984874, .418135043};
    static const double want[PXI_PRIMA_FEATURES] = {3, 1.495931747, 1.6, 2, 2, 1, 0, 0,
                                                    0, 2,           1,   0, 0, 0, 0};
    pxi_prima_sum sum = {0};
    int32_t wrong[3] = {0};
    float features[PXI_PRIMA_FEATURES];
    for (size_t j = 0; j < PX_LEN(q); j++) {
        const pxi_prima_outcome outcome = pxi_prima_compare(p, q[j], 3, 0);
        assert_true(fabs(outcome.distance - distance[j]) < 1e-9);
        pxi_prima_add(&sum, wrong, &outcome, 0);
    }
    pxi_prima_features(&sum, wrong, 3, features);
    for (size_t i = 0; i < PXI_PRIMA_FEATURES; i++)
        if (!(fabs((double)features[i] - want[i]) < 1e-6))
            fail_msg("feature %zu: %.9g, not %.9g", i, (double)features[i], want[i]);
}

static void test_outcome_edges(void **state)
{
    (void)state;
    static const double p[] = {1, 0}, other[] = {0, 1}, none[] = {0, 0}, broken[] = {NAN, .5};
    const pxi_prima_outcome far = pxi_prima_compare(p, other, 2, 0);
    assert_true(far.distance == 1.0 && far.difference == 1.0 && far.predicted == 1);
    const pxi_prima_outcome zero = pxi_prima_compare(p, none, 2, 0);
    assert_true(zero.distance == 0.0 && zero.difference == 1.0 && zero.predicted == 0);
    const pxi_prima_outcome bad = pxi_prima_compare(p, broken, 2, 0);
    assert_true(bad.distance == 1.0 && bad.difference == 1.0 && bad.predicted == -1);
    pxi_prima_sum sum = {0};
    int32_t wrong[2] = {0};
    float features[PXI_PRIMA_FEATURES];
    pxi_prima_add(&sum, wrong, &far, 0); /* a distance of 1 is in the last bin */
    pxi_prima_add(&sum, wrong, &bad, 0); /* a kill of no class */
    pxi_prima_features(&sum, wrong, 2, features);
    assert_true(features[0] == 2 && features[3] == 1 && features[4] == 1 && features[14] == 2);
}

/* --- pictures -------------------------------------------------------------------------------- */

static void test_patches(void **state)
{
    (void)state;
    static const struct {
        int64_t height, width, most, count;
    } cases[] = {
        {28, 28, 200, 196}, {32, 32, 200, 200}, {5, 3, 100, 6}, {5, 3, 4, 4}, {1, 1, 9, 1}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const px_shape shape = {.rank = 3, .dim = {2, cases[i].height, cases[i].width}};
        pxi_prima_patch *patches = NULL;
        int64_t count = 0, pixels = 0;
        assert_int_equal(pxi_prima_patches(&shape, 2, cases[i].most, 7, &patches, &count, NULL),
                         PX_OK);
        assert_int_equal(count, cases[i].count);
        for (int64_t k = 0; k < count; k++) {
            const pxi_prima_patch *x = &patches[k], *before = x - 1;
            assert_true(x->top + x->height <= cases[i].height && x->height >= 1);
            assert_true(x->left + x->width <= cases[i].width && x->width >= 1);
            assert_true(x->top % 2 == 0 && x->left % 2 == 0);
            if (k > 0)
                assert_true(before->top < x->top ||
                            (before->top == x->top && before->left < x->left));
            pixels += x->height * x->width;
        }
        if (cases[i].most >= 100 && cases[i].count < 200)
            assert_int_equal(pixels, cases[i].height * cases[i].width);
        free(patches);
    }
    const px_shape flat = {.rank = 1, .dim = {9}};
    pxi_prima_patch *none = NULL;
    int64_t count = 0;
    assert_int_equal(pxi_prima_patches(&flat, 2, 9, 0, &none, &count, NULL), PX_E_INPUT);
}

static void test_variants(void **state)
{
    (void)state;
    enum { H = 5, W = 3, PIXELS = H * W, COUNT = 2 * PIXELS };
    const px_shape shape = {.rank = 3, .dim = {2, H, W}};
    float x[COUNT], v[PXI_PRIMA_INPUT_RULES * COUNT], again[PXI_PRIMA_INPUT_RULES * COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % PIXELS * 17 % 256 + (i >= PIXELS)); /* the second plane is one more */
    pxi_prima_variants(&shape, x, 2, 0.1, 255.0f, true, 3, 11, v);
    const float *gauss = v, *reverse = v + COUNT, *black = v + 2 * COUNT, *white = v + 3 * COUNT;
    const float *shuffled = v + 4 * COUNT;
    int noisy = 0, moved = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(gauss[i] >= 0 && gauss[i] <= 255 && gauss[i] == floorf(gauss[i]));
        noisy += gauss[i] != x[i];
        assert_true(reverse[i] == 255.0f - x[i] && black[i] == 0.0f && white[i] == 255.0f);
        moved += shuffled[i] != x[i];
    }
    assert_true(noisy > COUNT / 2 && moved > 0);
    for (int i = 0; i < PIXELS; i++) { /* pixels move whole, within their patch, each once */
        int places = 0;
        assert_true(shuffled[PIXELS + i] == shuffled[i] + 1);
        for (int k = 0; k < PIXELS; k++)
            if (shuffled[k] == x[i]) {
                assert_true(k / W / 2 == i / W / 2 && k % W / 2 == i % W / 2);
                places++;
            }
        assert_int_equal(places, 1);
    }
    pxi_prima_variants(&shape, x, 2, 0.1, 255.0f, true, 3, 11, again);
    assert_memory_equal(v, again, sizeof v);
    pxi_prima_variants(&shape, x, 2, 0.1, 255.0f, true, 3, 12, again);
    assert_memory_not_equal(v, again, sizeof v);
    for (int i = 0; i < COUNT; i++)
        x[i] /= 300.0f;
    pxi_prima_variants(&shape, x, 2, 0.0, 1.0f, false, 3, 11, v); /* floats: no noise, no change */
    for (int i = 0; i < COUNT; i++)
        assert_true(v[i] == x[i] && v[COUNT + i] == 1.0f - x[i] && v[3 * COUNT + i] == 1.0f);
}

static void test_patch_copy(void **state)
{
    (void)state;
    enum { C = 3, H = 4, W = 5 };
    const px_shape shape = {.rank = 3, .dim = {C, H, W}};
    const pxi_prima_patch patch = {.top = 2, .left = 4, .height = 2, .width = 1};
    float from[C * H * W];
    for (int i = 0; i < C * H * W; i++)
        from[i] = (float)(i + 1);
    for (int last = 0; last < 2; last++) {
        float to[C * H * W] = {0};
        assert_false(pxi_prima_patch_same(&shape, last, &patch, from, to));
        pxi_prima_patch_copy(&shape, last, &patch, from, to);
        assert_true(pxi_prima_patch_same(&shape, last, &patch, from, to));
        for (int c = 0; c < C; c++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    const int at = last ? (y * W + x) * C + c : (c * H + y) * W + x;
                    assert_true(to[at] == (y >= 2 && x == 4 ? from[at] : 0.0f));
                }
    }
}

/* --- the selector ---------------------------------------------------------------------------- */

enum { CANDIDATES = 40, LABELLED = 120 };

typedef struct ranked {
    double score[CANDIDATES];
    int predicted[CANDIDATES];
    char remark[512];
    bool constant;
} ranked;

static ranked run_on(const px_model *model, const small_data *labelled, const char *const *settings,
                     size_t setting_count, int threads, uint64_t seed)
{
    small_data data = small_digits(model, "test", CANDIDATES, 0);
    px_select_options options = px_select_options_default();
    px_select *select = NULL;
    px_error err = {0};
    options.selectors = "prima";
    options.settings = settings;
    options.setting_count = setting_count;
    options.labelled = labelled->set;
    options.labelled_pre = &labelled->pre;
    options.threads = threads;
    options.seed = seed;
    if (px_select_new(model, data.set, &data.pre, &options, &select, &err) != PX_OK ||
        px_select_run(select, NULL, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
    ranked r = {0};
    int64_t count = 0;
    const px_ranked *list = px_select_ranked(select, 0, &count);
    assert_int_equal(count, CANDIDATES);
    for (int64_t i = 0; i < count; i++) {
        r.score[list[i].index] = list[i].score;
        r.predicted[list[i].index] = list[i].predicted;
    }
    px_text text = {0};
    px_select_selector(select, 0)->remark(px_select_prepared(select, 0), &text);
    snprintf(r.remark, sizeof r.remark, "%s", px_text_get(&text));
    px_text_done(&text);
    px_json json = {0};
    px_fields_object(px_select_selector(select, 0)->result, px_select_prepared(select, 0), NULL,
                     &json);
    assert_non_null(strstr(px_json_text(&json), "\"labelled\""));
    px_json_done(&json);
    px_select_free(select);
    small_close(&data);
    return r;
}

static const char *const quick[] = {"prima.mutants=3", "prima.patches=11", "prima.trees=20"};

static void test_threads_and_seed(void **state)
{
    (void)state;
    px_model *model = small_net(7, 4);
    small_data labelled = small_digits(model, "train", LABELLED, 5);
    const ranked one = run_on(model, &labelled, quick, PX_LEN(quick), 1, 3);
    const ranked three = run_on(model, &labelled, quick, PX_LEN(quick), 3, 3);
    const ranked other = run_on(model, &labelled, quick, PX_LEN(quick), 2, 4);
    assert_memory_equal(one.score, three.score, sizeof one.score);
    assert_memory_not_equal(one.score, other.score, sizeof one.score);
    assert_non_null(strstr(one.remark, "learnt from 120 labelled inputs"));
    assert_non_null(strstr(one.remark, "68 times per input")); /* 1 + 4 3 + 5 11 */
    small_close(&labelled);
    px_model_free(model);
}

/* A labelled set on which the network makes no error: its own predictions. */
static small_data without_errors(const px_model *model, const char *path)
{
    small_data digits = small_digits(model, "train", 30, 5), out = {.pre = digits.pre};
    px_error err = {0};
    px_tensor x = {0}, y = {0};
    const px_shape of_x = {.rank = 4, .dim = {30, 1, 28, 28}}, of_y = {.rank = 1, .dim = {30}};
    assert_int_equal(px_tensor_init(&x, PX_FLOAT32, &of_x, &err), PX_OK);
    assert_int_equal(px_tensor_init(&y, PX_INT64, &of_y, &err), PX_OK);
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_scores scores;
    options.batch = 1;
    assert_int_equal(px_plan_new(model, &options, &plan, &err), PX_OK);
    assert_int_equal(px_session_new(plan, &session, &err), PX_OK);
    assert_int_equal(px_model_scores(model, &scores, &err), PX_OK);
    for (int64_t i = 0; i < 30; i++) {
        float *to = (float *)x.data + i * 784;
        assert_int_equal(px_dataset_input(digits.set, &digits.pre, i, to, &err), PX_OK);
        memcpy(px_session_input(session, 0), to, 784 * sizeof *to);
        assert_int_equal(px_session_forward(session, &err), PX_OK);
        assert_int_equal(
            px_session_judge(session, &scores, NULL, 1, (int64_t *)y.data + i, NULL, &err), PX_OK);
    }
    px_npz_writer *writer = NULL;
    assert_int_equal(px_npz_create(path, &writer, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "x", &x, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "y", &y, &err), PX_OK);
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
    px_data_options open = px_data_options_default();
    const px_graph *graph = px_model_graph(model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    if (px_preprocess_init(&out.pre, NULL, 0, input, &(px_preprocess_options){.scale = "1"},
                           &err) != PX_OK ||
        px_dataset_open_for(&out.pre, input, path, &open, &out.set, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_session_free(session);
    px_plan_free(plan);
    px_tensor_done(&x);
    px_tensor_done(&y);
    small_close(&digits);
    return out;
}

static void test_no_errors(void **state)
{
    (void)state;
    char path[TEST_PATH];
    px_model *model = small_net(7, 4);
    small_data labelled = without_errors(model, test_path("prima_labelled.npz", path));
    const ranked r = run_on(model, &labelled, quick, PX_LEN(quick), 2, 3);
    assert_non_null(strstr(r.remark, "no errors among 30 labelled inputs"));
    double most = 0.0;
    for (int i = 0; i < CANDIDATES; i++) { /* kills: whole numbers, 9 rules' mutants at most */
        assert_true(r.score[i] == floor(r.score[i]) && r.score[i] >= 0 && r.score[i] <= 67);
        most = fmax(most, r.score[i]);
    }
    assert_true(most > 0.0);
    small_close(&labelled);
    px_model_free(model);
}

static void test_sample_of_labelled(void **state)
{
    (void)state;
    static const char *const settings[] = {"prima.mutants=1", "prima.patches=2",
                                           "prima.labelled=50"};
    px_model *model = small_net(7, 4);
    small_data labelled = small_digits(model, "train", LABELLED, 5);
    const ranked r = run_on(model, &labelled, settings, PX_LEN(settings), 2, 3);
    assert_non_null(strstr(r.remark, "learnt from 50 labelled inputs"));
    small_close(&labelled);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),   cmocka_unit_test(test_outcome_edges),
        cmocka_unit_test(test_patches),    cmocka_unit_test(test_variants),
        cmocka_unit_test(test_patch_copy), cmocka_unit_test(test_threads_and_seed),
        cmocka_unit_test(test_no_errors),  cmocka_unit_test(test_sample_of_labelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
