/* tests/generate/test_synthesis.c - the example of LGR A.11, gradients beside PyTorch's, batches
 * and threads, and inputs and networks that cannot be used */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- LGR A.11 -------------------------------------------------------------------------------- */

static const float a11_x[][2] = {{0.6f, 0.5f}};
static const int64_t a11_y[] = {1};
static const px_synthesis_neuron a11_neurons[] = {{0, 0}, {1, 1}}; /* h1[0], h2[1] */

static const struct {
    const char *name, *tap;
    double step;
    float expected[2];
    int64_t rose;
} examples[] = {
    {"post, step 1", "post", 1, {0.7f, 0.6f}, 1},
    {"post, step 0.1", "post", 0.1, {0.65f, 0.6f}, 1},
    {"pre, step 1", "pre", 1, {0.7f, 0.51f}, 2},
    {"pre, step 0.1", "pre", 0.1, {0.6995f, 0.501f}, 2},
};

static void test_example(void **state)
{
    (void)state;
    const px_synthesis_list list = {.neurons = a11_neurons, .count = 2};
    const int64_t input = 0;
    for (size_t i = 0; i < PX_LEN(examples); i++) {
        scene s = dense_scene(examples[i].tap, a11_x, a11_y, 1, NULL);
        const px_synthesis_job job = {.model = s.model,
                                      .probe = s.probe,
                                      .set = s.set,
                                      .pre = &s.pre,
                                      .lists = &list,
                                      .list_count = 1,
                                      .inputs = &input,
                                      .count = 1};
        float exact[2] = {0};
        pixels_kept kept = {.width = 2, .exact = exact};
        px_synthesis_options options = px_synthesis_options_default();
        options.step = examples[i].step;
        options.emit = keep_pixels;
        options.emit_context = &kept;
        px_synthesis *made = synthesize_well(&job, &options);
        const px_synthesis_row *row = px_synthesis_rows(made);
        if (fabsf(exact[0] - examples[i].expected[0]) > 1e-6f ||
            fabsf(exact[1] - examples[i].expected[1]) > 1e-6f ||
            row->exact.rose != examples[i].rose)
            fail_msg("'%s': (%.6f, %.6f), %d rose", examples[i].name, (double)exact[0],
                     (double)exact[1], (int)row->exact.rose);
        assert_true(row->exact.linf <= 0.1);
        assert_int_equal(row->before, 1);
        assert_false(px_synthesis_rounds(made)); /* float data are stored as they are */
        assert_memory_equal(&row->exact, &row->stored, sizeof row->exact);
        px_synthesis_free(made);
        scene_close(&s);
    }
}

/* The step is 1 and the first neuron fell, the second rose: LGR A.11's RQ5 of 50%. */
static void test_watched_neurons(void **state)
{
    (void)state;
    const px_synthesis_list list = {.neurons = a11_neurons, .count = 2, .seeded = 1};
    const int64_t input = 0;
    scene s = dense_scene("post", a11_x, a11_y, 1, NULL);
    const px_synthesis_job job = {.model = s.model,
                                  .probe = s.probe,
                                  .set = s.set,
                                  .pre = &s.pre,
                                  .lists = &list,
                                  .list_count = 1,
                                  .inputs = &input,
                                  .count = 1};
    const px_synthesis_options options = px_synthesis_options_default();
    px_synthesis *made = synthesize_well(&job, &options);
    const px_synthesis_row *row = px_synthesis_rows(made);
    /* h1[0] alone has the gradient (0.01, -0.02): it rises, and h2[1] falls */
    const uint8_t *rose = px_synthesis_rose(made, 0);
    assert_int_equal(row->neurons, 1);
    assert_int_equal(row->exact.rose, 1);
    assert_int_equal(rose[0], PX_ROSE_EXACT | PX_ROSE_STORED);
    assert_int_equal(rose[1], 0);
    assert_float_equal(px_synthesis_sum(made).exact.raised, 1.0, 0);
    px_synthesis_free(made);
    scene_close(&s);
}

/* --- beside PyTorch -------------------------------------------------------------------------- */

enum { WIDTH = 3 * 8 * 8 };

static void close_to(const char *what, const char *tap, const float *got, const float *want,
                     size_t count, float tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - want[i]) <= tolerance))
            fail_msg("%s, tap %s, value %zu: %.8g, PyTorch has %.8g", what, tap, i, (double)got[i],
                     (double)want[i]);
}

static void test_like_pytorch(void **state)
{
    (void)state;
    static const char *const taps[] = {"pre", "post"};
    static float exact[RAISE_ROWS * WIDTH];
    px_npz *golden = NULL;
    px_error err = {0};
    assert_int_equal(px_npz_open(MODELS "/raise_golden.npz", &golden, &err), PX_OK);
    for (size_t t = 0; t < PX_LEN(taps); t++) {
        scene s = raise_scene(taps[t]);
        const px_synthesis_job job = raise_job(&s);
        char name[32];
        pixels_kept kept = {.width = WIDTH, .exact = exact};
        px_synthesis_options options = px_synthesis_options_default();
        options.emit = keep_pixels;
        options.emit_context = &kept;
        options.step = 0.4;
        options.distance = 0.05;
        px_synthesis_free(synthesize_well(&job, &options));
        snprintf(name, sizeof name, "exact_%s", taps[t]);
        const px_tensor *want = px_npz_get(golden, name);
        close_to("pixels", taps[t], exact, want->data, RAISE_ROWS * WIDTH, 2e-4f);

        /* Far bounds and no rounding: what is left of t' - t is the gradient. */
        kept.next = 0;
        options.keep_float = true;
        options.step = 1;
        options.distance = options.high = 1000;
        options.low = -1000;
        px_synthesis_free(synthesize_well(&job, &options));
        snprintf(name, sizeof name, "gradient_%s", taps[t]);
        want = px_npz_get(golden, name);
        for (int64_t row = 0; row < RAISE_ROWS; row++) {
            float pixels[WIDTH];
            assert_int_equal(px_dataset_pixels(s.set, row, pixels, &err), PX_OK);
            for (size_t i = 0; i < WIDTH; i++) {
                float *x = &exact[(size_t)row * WIDTH + i];
                *x = (*x - pixels[i]) / 255.0f * s.pre.stddev[i / 64];
            }
        }
        close_to("gradient", taps[t], exact, want->data, RAISE_ROWS * WIDTH, 2e-6f);
        scene_close(&s);
    }
    px_npz_close(golden);
}

/* --- batches, threads, iterations ------------------------------------------------------------ */

static void test_batches_and_threads(void **state)
{
    (void)state;
    static const struct {
        int64_t batch;
        int threads;
    } cases[] = {{1, 1}, {5, 2}, {12, 3}, {4, 4}, {0, 2}};
    static float exact[2][RAISE_ROWS * WIDTH];
    static uint8_t bytes[2][RAISE_ROWS * WIDTH];
    scene s = raise_scene("pre");
    const px_synthesis_job job = raise_job(&s);
    px_synthesis *first = NULL;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        pixels_kept kept = {.width = WIDTH, .exact = exact[i > 0], .bytes = bytes[i > 0]};
        px_synthesis_options options = px_synthesis_options_default();
        options.emit = keep_pixels;
        options.emit_context = &kept;
        options.batch = cases[i].batch;
        options.threads = cases[i].threads;
        options.iterations = 3;
        px_synthesis *made = synthesize_well(&job, &options);
        if (i == 0) {
            first = made;
            continue;
        }
        if (memcmp(exact[0], exact[1], sizeof exact[0]) != 0 ||
            memcmp(bytes[0], bytes[1], sizeof bytes[0]) != 0)
            fail_msg("batch %d on %d threads gives other pixels", (int)cases[i].batch,
                     cases[i].threads);
        for (int64_t r = 0; r < RAISE_ROWS; r++) {
            const px_synthesis_row *a = &px_synthesis_rows(first)[r];
            const px_synthesis_row *b = &px_synthesis_rows(made)[r];
            if (a->exact.loss != b->exact.loss || a->stored.loss != b->stored.loss ||
                a->stored.rose != b->stored.rose || a->stored.l2 != b->stored.l2)
                fail_msg("batch %d on %d threads: row %d differs", (int)cases[i].batch,
                         cases[i].threads, (int)r);
        }
        px_synthesis_free(made);
    }
    px_synthesis_free(first);
    scene_close(&s);
}

/* Rounding happens towards the original, and many steps stay in the ball. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        double step, distance;
        int64_t iterations;
        double levels; /* the most that a stored pixel may move */
    } cases[] = {{1, 0.1, 1, 25}, {100, 0.1, 7, 25}, {100, 8.0 / 255, 3, 8}, {50, 0.003, 2, 0}};
    static float exact[RAISE_ROWS * WIDTH];
    static uint8_t bytes[RAISE_ROWS * WIDTH];
    scene s = raise_scene("pre");
    const px_synthesis_job job = raise_job(&s);
    px_error err = {0};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        pixels_kept kept = {.width = WIDTH, .exact = exact, .bytes = bytes};
        px_synthesis_options options = px_synthesis_options_default();
        options.emit = keep_pixels;
        options.emit_context = &kept;
        options.step = cases[i].step;
        options.distance = cases[i].distance;
        options.iterations = cases[i].iterations;
        px_synthesis *made = synthesize_well(&job, &options);
        double most = 0;
        for (int64_t row = 0; row < RAISE_ROWS; row++) {
            float pixels[WIDTH];
            const px_synthesis_row *facts = &px_synthesis_rows(made)[row];
            assert_int_equal(px_dataset_pixels(s.set, row, pixels, &err), PX_OK);
            double linf = 0;
            for (size_t k = 0; k < WIDTH; k++) {
                const size_t at = (size_t)row * WIDTH + k;
                const double move = (double)exact[at] - (double)pixels[k];
                const double whole = (double)bytes[at] - (double)pixels[k];
                if (fabs(whole) > fabs(move) + 1e-6 || whole * move < 0)
                    fail_msg("case %zu: a move of %g was stored as %g", i, move, whole);
                linf = fmax(linf, fabs(whole));
            }
            if (facts->exact.linf > cases[i].distance || facts->stored.linf > cases[i].distance)
                fail_msg("case %zu: linf %.9g, %.9g", i, facts->exact.linf, facts->stored.linf);
            assert_float_equal(facts->stored.linf, linf / 255, 1e-9);
            assert_int_equal(facts->unchanged_stored, linf == 0);
            most = fmax(most, linf);
        }
        assert_float_equal(most, cases[i].levels, 0);
        const px_synthesis_summary sum = px_synthesis_sum(made);
        assert_int_equal(sum.unchanged_stored, cases[i].levels == 0 ? RAISE_ROWS : 0);
        assert_int_equal(sum.unchanged, 0);
        px_synthesis_free(made);
    }
    scene_close(&s);
}

/* --- what cannot be used --------------------------------------------------------------------- */

static const struct {
    const char *name, *spoil, *message;
    float x[2];
} bad[] = {
    {"a layer gives NaN", "fc1", "input '0': activations of layer 'h1' are not finite", {.6f, .5f}},
    {"a later one", "fc2", "input '0': activations of layer 'h2' are not finite", {.6f, .5f}},
    {"the scores", "scores", "input '0': class scores are not finite", {.6f, .5f}},
    {"a value above the range", NULL, "has the value 1.5, outside the range 0..1", {.6f, 1.5f}},
    {"a value that is no number", NULL, "has the value nan, outside the range 0..1", {NAN, .5f}},
};

static void test_bad_inputs(void **state)
{
    (void)state;
    const px_synthesis_list list = {.neurons = a11_neurons, .count = 2};
    const int64_t input = 0;
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        scene s = dense_scene("post", &bad[i].x, a11_y, 1, bad[i].spoil);
        const px_synthesis_job job = {.model = s.model,
                                      .probe = s.probe,
                                      .set = s.set,
                                      .pre = &s.pre,
                                      .lists = &list,
                                      .list_count = 1,
                                      .inputs = &input,
                                      .count = 1};
        px_synthesis_options options = px_synthesis_options_default();
        options.low = 0.0;
        options.high = 1.0;
        px_synthesis *made = NULL;
        px_error err = {0};
        const px_status status = px_synthesize(&job, &options, &made, &err);
        if (status != PX_E_INPUT || made || !strstr(err.message, bad[i].message))
            fail_msg("'%s': status %d, '%s'", bad[i].name, (int)status, err.message);
        scene_close(&s);
    }
}

static void test_bad_settings(void **state)
{
    (void)state;
    scene s = raise_scene("pre");
    const px_synthesis_options good = px_synthesis_options_default();
    static const px_synthesis_neuron beyond[] = {{0, 5}}, nowhere[] = {{3, 0}};
    const px_synthesis_list lists[] = {{.neurons = beyond, .count = 1},
                                       {.neurons = nowhere, .count = 1},
                                       {.neurons = beyond, .count = 1, .seeded = 2}};
    px_synthesis_options bad_options[6];
    for (size_t i = 0; i < PX_LEN(bad_options); i++)
        bad_options[i] = good;
    bad_options[0].step = 0;
    bad_options[1].distance = -1;
    bad_options[2].iterations = 0;
    bad_options[3].low = 0.5;
    bad_options[4].low = 1, bad_options[4].high = 0;
    bad_options[5].low = -1, bad_options[5].high = 1; /* not with 8-bit data */
    for (size_t i = 0; i < PX_LEN(bad_options) + PX_LEN(lists); i++) {
        px_synthesis_job job = raise_job(&s);
        px_synthesis *made = NULL;
        px_error err = {0};
        const bool settings = i < PX_LEN(bad_options);
        if (!settings) {
            job.lists = &lists[i - PX_LEN(bad_options)];
            job.list_count = 1;
            job.list_of = NULL;
        }
        if (px_synthesize(&job, settings ? &bad_options[i] : &good, &made, &err) != PX_E_USAGE ||
            !err.message[0])
            fail_msg("case %zu: '%s'", i, err.message);
    }
    scene_close(&s);
}

/* --- which inputs ---------------------------------------------------------------------------- */

static void test_choice(void **state)
{
    (void)state;
    static const float x[8][2] = {{0}};
    static const int64_t labels[8] = {0, 1, 0, 1, 1, 0, 1, 1};
    static const int64_t predictions[8] = {0, 1, 1, 1, 0, 0, 1, 1};
    scene s = dense_scene("pre", x, labels, 8, NULL);
    const bool only_second[2] = {false, true};
    static const struct {
        const char *name;
        int64_t limit, per_class;
        bool second;
        int64_t count, first;
    } cases[] = {{"all", 0, 0, false, 6, 0},
                 {"the first three", 3, 0, false, 3, 0},
                 {"of one class", 0, 0, true, 4, 1},
                 {"drawn", 0, 1, false, 2, -1},
                 {"all that there are", 0, 3, false, 5, 0},
                 {"drawn and cut", 2, 3, true, 2, -1}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_synthesis_choice choice = {.predictions = predictions,
                                      .classes = 2,
                                      .wanted = cases[i].second ? only_second : NULL,
                                      .limit = cases[i].limit,
                                      .per_class = cases[i].per_class};
        int64_t *inputs = NULL, count = 0;
        px_error err = {0};
        assert_int_equal(px_synthesis_choose(s.set, &choice, &inputs, &count, &err), PX_OK);
        if (count != cases[i].count || (cases[i].first >= 0 && inputs[0] != cases[i].first))
            fail_msg("'%s': %d inputs, the first is %d", cases[i].name, (int)count, (int)inputs[0]);
        for (int64_t k = 0; k < count; k++)
            assert_int_equal(labels[inputs[k]], predictions[inputs[k]]);
        free(inputs);
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),      cmocka_unit_test(test_watched_neurons),
        cmocka_unit_test(test_like_pytorch), cmocka_unit_test(test_batches_and_threads),
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_bad_settings), cmocka_unit_test(test_choice),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
