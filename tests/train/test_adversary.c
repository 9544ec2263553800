/* tests/train/test_adversary.c - attacks on training inputs: settings, and what a step replaces */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer_helpers.h"

#include "base/memory.h"
#include "train/adversary.h"
#include <internal/weights.h>
#include <plexor/attack.h>

/* --- settings -------------------------------------------------------------------------------- */

static px_dataset *open_set(const char *spec, int channels, px_preprocess *pre)
{
    px_data_options options = px_data_options_default();
    const px_shape input = {.rank = 4, .dim = {-1, channels, 28, 28}};
    px_dataset *set = NULL;
    options.limit = 4;
    options.channels = channels;
    OK(px_preprocess_init(pre, NULL, 0, &input, NULL, fault));
    OK(px_dataset_open_for(pre, &input, spec, &options, &set, fault));
    return set;
}

static void test_settings(void **state)
{
    (void)state;
    const double nothing = (double)NAN;
    const struct {
        const char *name, *method;
        int channels;
        double eps, step_size;
        int64_t steps;
        double share, low, high;
        double want_eps, want_step; /* 0: refused */
        int64_t want_steps;
        const char *says;
    } cases[] = {
        {"MNIST's", "pgd", 1, nothing, nothing, 0, 1, nothing, nothing, 0.3, 0.01, 40, NULL},
        {"CIFAR's", "pgd", 3, nothing, nothing, 0, 1, nothing, nothing, 8.0 / 255, 2.0 / 255, 7,
         NULL},
        {"the ratio stays", "pgd", 1, 0.15, nothing, 10, 1, nothing, nothing, 0.15, 0.005, 10,
         NULL},
        {"all given", "bim", 3, 0.1, 0.02, 5, 0.5, nothing, nothing, 0.1, 0.02, 5, NULL},
        {"fgsm", "fgsm", 1, nothing, nothing, 0, 1, nothing, nothing, 0.3, 0.3, 1, NULL},
        {"another range", "pgd", 1, nothing, nothing, 0, 1, 0, 0.5, 0.15, 0.005, 40, NULL},
        {"eps 0", "pgd", 1, 0, nothing, 0, 1, nothing, nothing, 0, 0, 0, "lets nothing change"},
        {"eps over the range", "pgd", 1, 1.5, nothing, 0, 1, nothing, nothing, 0, 0, 0,
         "is more than any two inputs differ by"},
        {"share 0", "pgd", 1, nothing, nothing, 0, 0, nothing, nothing, 0, 0, 0, "share of 0"},
        {"share over 1", "pgd", 1, nothing, nothing, 0, 1.5, nothing, nothing, 0, 0, 0,
         "share of 1.5"},
        {"no share", "pgd", 1, nothing, nothing, 0, nothing, nothing, nothing, 0, 0, 0, "share of"},
        {"steps of fgsm", "fgsm", 1, nothing, nothing, 3, 1, nothing, nothing, 0, 0, 0,
         "takes one step"},
        {"step of fgsm", "fgsm", 1, nothing, 0.01, 0, 1, nothing, nothing, 0, 0, 0,
         "takes no step size"},
        {"steps below 0", "pgd", 1, nothing, nothing, -1, 1, nothing, nothing, 0, 0, 0, "steps"},
        {"step 0", "pgd", 1, nothing, 0, 0, 1, nothing, nothing, 0, 0, 0, "leads nowhere"},
        {"unbounded", "deepfool", 1, nothing, nothing, 0, 1, nothing, nothing, 0, 0, 0,
         "expected fgsm, bim or pgd"},
        {"unknown", "pdg", 1, nothing, nothing, 0, 1, nothing, nothing, 0, 0, 0, "'pdg'"},
        {"half a range", "pgd", 1, nothing, nothing, 0, 1, 0, nothing, 0, 0, 0, "range"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_preprocess pre;
        px_error err = {0};
        px_dataset *set = open_set("digits", cases[i].channels, &pre);
        px_adversary a = {cases[i].method, cases[i].eps, cases[i].step_size, cases[i].steps,
                          cases[i].share,  cases[i].low, cases[i].high,      0};
        const px_status status = px_adversary_complete(&a, set, &pre, &err);
        if (cases[i].says) {
            if (status != PX_E_USAGE || !strstr(err.message, cases[i].says))
                fail_msg("case '%s': %d '%s'", cases[i].name, (int)status, err.message);
        } else {
            if (status != PX_OK)
                fail_msg("case '%s': '%s'", cases[i].name, err.message);
            assert_near(a.eps, cases[i].want_eps, 1e-12);
            assert_near(a.step_size, cases[i].want_step, 1e-12);
            assert_int_equal(a.steps, cases[i].want_steps);
            assert_true(a.low == 0.0);
        }
        px_dataset_close(set);
    }
}

static void test_none(void **state)
{
    (void)state;
    char text[PX_ADVERSARY_TEXT];
    px_adversary a = px_adversary_default();
    a.eps = -1.0; /* does not matter */
    OK(px_adversary_complete(&a, NULL, NULL, fault));
    assert_string_equal(px_adversary_text(&a, text), "none");
}

/* --- what a step replaces -------------------------------------------------------------------- */

enum { BATCH = 20 };

typedef struct stage { /* a network, inputs in the order of the data set, and an adversary */
    bench m;
    px_feeder *feeder;
    px_weights *weights;
    px_scores scores;
    pxi_adversary *adversary;
    px_adversary settings;
} stage;

static void stage_open(stage *s, const px_adversary *settings, int threads)
{
    px_feeder_options options = px_feeder_options_default();
    *s = (stage){.m = bench_open(2 * BATCH, 10), .settings = *settings};
    options.base = (px_feeder_set){.set = s->m.train, .pre = &s->m.pre};
    options.classes = 10;
    options.batch = BATCH;
    options.in_order = true;
    OK(px_feeder_new(&options, &s->feeder, fault));
    OK(px_weights_new(s->m.model, &s->weights, fault));
    OK(px_model_scores(s->m.model, &s->scores, fault));
    const pxi_adversary_job job = {
        .model = s->m.model,
        .weights = s->weights,
        .feeder = s->feeder,
        .scores = &s->scores,
        .micro_batch = 8,
        .threads = threads,
        .seed = 4,
    };
    OK(pxi_adversary_new(&job, &s->settings, &s->adversary, fault));
}

static void stage_close(stage *s)
{
    pxi_adversary_free(s->adversary);
    px_weights_free(s->weights);
    px_feeder_free(s->feeder);
    bench_close(&s->m);
}

static px_adversary made(const char *method, double share)
{
    px_adversary a = px_adversary_default();
    a.method = method;
    a.eps = 0.1;
    a.share = share;
    if (strcmp(method, "fgsm") != 0) {
        a.step_size = 0.03;
        a.steps = 4;
    }
    return a;
}

typedef struct seen {
    const bench *m;
    float *inputs; /* preprocessed */
} seen;

static px_status keep_exact(void *context, const px_attack_made *result, px_error *err)
{
    const seen *s = context;
    const px_shape shape = px_dataset_shape(s->m->train);
    float *to = s->inputs + (size_t)result->place * 784;
    memcpy(to, result->exact, 784 * sizeof *to);
    return px_preprocess_apply(&s->m->pre, &shape, to, err);
}

/* Where no start is random, it is what `plexor attack` finds, to the last bit: in evaluation mode,
 * though the network has dropout and batch normalisation. */
static void test_is_the_attack(void **state)
{
    (void)state;
    static const char *const methods[] = {"fgsm", "bim"};
    for (size_t i = 0; i < PX_LEN(methods); i++) {
        stage s;
        const px_adversary settings = made(methods[i], 1.0);
        stage_open(&s, &settings, 2);
        OK(pxi_adversary_make(s.adversary, 0, 1, 0, fault));
        seen found = {&s.m, calloc(2 * BATCH, 784 * sizeof(float))};
        px_attack_options o = px_attack_options_default();
        px_attack *attack = NULL;
        o.method = methods[i];
        o.eps = s.settings.eps;
        o.step_size = s.settings.step_size;
        o.steps = s.settings.steps;
        o.batch = 8;
        o.emit = keep_exact;
        o.emit_context = &found;
        const px_attack_job job = {.model = s.m.model, .set = s.m.train, .pre = &s.m.pre};
        OK(px_attack_run(&job, &o, &attack, fault));
        for (int64_t p = 0; p < BATCH; p++)
            if (memcmp(pxi_adversary_input(s.adversary, p), found.inputs + p * 784,
                       784 * sizeof(float)) != 0)
                fail_msg("%s: position %d is not what the attack found", methods[i], (int)p);
        px_attack_free(attack);
        free(found.inputs);
        stage_close(&s);
    }
}

/* Attacks leave weights and statistics alone, and see those of now. */
static void test_weights_stay(void **state)
{
    (void)state;
    stage s;
    size_t count;
    const px_adversary settings = made("pgd", 1.0);
    stage_open(&s, &settings, 2);
    float *before = bench_numbers(s.weights, &count);
    OK(pxi_adversary_make(s.adversary, 0, 1, 1, fault));
    float *after = bench_numbers(s.weights, &count);
    assert_memory_equal(before, after, count * sizeof *before);

    float first[784];
    memcpy(first, pxi_adversary_input(s.adversary, 3), sizeof first);
    OK(pxi_adversary_make(s.adversary, 0, 1, 1, fault));
    assert_memory_equal(first, pxi_adversary_input(s.adversary, 3), sizeof first);
    for (size_t i = 0; i < px_weights_count(s.weights); i++) {
        px_weight *w = px_weights_get(s.weights, i);
        for (int64_t k = 0; k < px_shape_count(&w->tensor.shape); k++)
            ((float *)w->tensor.data)[k] *= w->role == PX_WEIGHT_PARAMETER ? -1.0f : 1.0f;
    }
    OK(pxi_adversary_make(s.adversary, 0, 1, 1, fault));
    assert_memory_not_equal(first, pxi_adversary_input(s.adversary, 3), sizeof first);
    free(before);
    free(after);
    stage_close(&s);
}

/* Starts differ from epoch to epoch and from item to item; all stay in the ball and in the range.
 */
static void test_bounds(void **state)
{
    (void)state;
    stage s;
    const px_adversary settings = made("pgd", 1.0);
    stage_open(&s, &settings, 1);
    float before[784], clean[784];
    int64_t label;
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        OK(px_feeder_begin(s.feeder, epoch, fault));
        OK(pxi_adversary_make(s.adversary, 0, 1, 0, fault));
        for (int64_t p = 0; p < BATCH; p++) {
            const float *x = pxi_adversary_input(s.adversary, p);
            double far = 0.0;
            OK(px_feeder_get(s.feeder, 0, p, clean, &label, fault));
            for (size_t i = 0; i < 784; i++) {
                const double units = (double)x[i] * 0.3 + 0.1;
                far = fmax(far, fabs((double)x[i] - (double)clean[i]) * 0.3);
                if (!(units > -1e-6 && units < 1.0 + 1e-6))
                    fail_msg("position %d: %g is outside the range", (int)p, units);
            }
            if (!(far > 0.05 && far < 0.1 + 1e-6))
                fail_msg("position %d: moved by %g", (int)p, far);
        }
        if (epoch == 1)
            assert_memory_not_equal(before, pxi_adversary_input(s.adversary, 0), sizeof before);
        memcpy(before, pxi_adversary_input(s.adversary, 0), sizeof before);
    }
    stage_close(&s);
}

static void test_share(void **state)
{
    (void)state;
    static const struct {
        double share;
        int64_t count;
    } cases[] = {{1.0, 20}, {0.5, 10}, {0.25, 5}, {0.33, 7}, {0.06, 1}, {0.97, 19}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        stage s;
        int64_t count = 0, half = 0;
        const px_adversary settings = made("fgsm", cases[i].share);
        stage_open(&s, &settings, 2);
        OK(pxi_adversary_make(s.adversary, 0, 1, 0, fault));
        for (int64_t p = 0; p < BATCH; p++) {
            count += pxi_adversary_input(s.adversary, p) != NULL;
            half += p < BATCH / 2 && pxi_adversary_input(s.adversary, p) != NULL;
        }
        if (count != cases[i].count || llabs(2 * half - count) > 1)
            fail_msg("share %g: %d replaced, %d in the first half", cases[i].share, (int)count,
                     (int)half);
        stage_close(&s);
    }
}

/* eps and step size grow with the epochs, whether these are more or fewer than the stages; the last
 * epoch has all of both. */
static void test_stages(void **state)
{
    (void)state;
    static const struct {
        int64_t epoch, epochs, stage;
    } cases[] = {{0, 4, 1}, {1, 4, 2}, {2, 4, 3}, {3, 4, 4}, {0, 8, 1}, {1, 8, 1}, {2, 8, 2},
                 {7, 8, 4}, {0, 3, 2}, {1, 3, 3}, {2, 3, 4}, {0, 1, 4}, {5, 9, 3}, {6, 9, 4}};
    stage grown;
    px_adversary settings = made("bim", 1.0);
    settings.stages = 4;
    stage_open(&grown, &settings, 2);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        stage whole;
        settings = made("bim", 1.0);
        settings.eps *= (double)cases[i].stage / 4.0;
        settings.step_size *= (double)cases[i].stage / 4.0;
        stage_open(&whole, &settings, 2);
        OK(pxi_adversary_make(whole.adversary, 0, 1, 0, fault));
        OK(pxi_adversary_make(grown.adversary, cases[i].epoch, cases[i].epochs, 0, fault));
        for (int64_t p = 0; p < BATCH; p++)
            if (memcmp(pxi_adversary_input(grown.adversary, p),
                       pxi_adversary_input(whole.adversary, p), 784 * sizeof(float)) != 0)
                fail_msg("epoch %d of %d is not of stage %d", (int)cases[i].epoch,
                         (int)cases[i].epochs, (int)cases[i].stage);
        stage_close(&whole);
    }
    stage_close(&grown);
}

/* --- whole runs ------------------------------------------------------------------------------ */

static px_status run_new(const bench *m, px_feeder *feeder, const px_adversary *adversary,
                         const char *checkpoint, bool resume, px_trainer **out, px_error *err)
{
    px_trainer_options options = bench_options(m, feeder);
    options.adversary = *adversary;
    options.checkpoint = checkpoint;
    options.resume = resume;
    return px_trainer_new(&options, out, err);
}

/* A checkpoint of another adversary is of another run. */
static void test_other_run(void **state)
{
    (void)state;
    bench m = bench_open(32, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    const char *path = bench_path();
    px_adversary a = made("pgd", 1.0);
    px_trainer *t = NULL;
    OK(run_new(&m, feeder, &a, path, false, &t, fault));
    assert_true(px_trainer_adversary(t).high == 1.0);
    OK(px_trainer_run(t, fault));
    px_trainer_free(t);
    px_adversary others[] = {a, a, a, a, a, a, px_adversary_default()};
    others[0].eps = 0.1000001;
    others[1].steps = 5;
    others[2].share = 0.5;
    others[3].method = "bim";
    others[4].high = 0.99999;
    others[4].low = 0.0;
    others[5].stages = 2;
    for (size_t i = 0; i < PX_LEN(others); i++) {
        px_error err = {0};
        if (run_new(&m, feeder, &others[i], path, true, &t, &err) != PX_E_MISMATCH ||
            !strstr(err.message, "adversary was 'pgd eps 0.1, 4 steps of 0.03"))
            fail_msg("other %zu: '%s'", i, err.message);
    }
    OK(run_new(&m, feeder, &a, path, true, &t, fault));
    px_trainer_free(t);
    unlink(path);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* Weights that break the attack break the step too, which says so. */
static void test_not_a_number(void **state)
{
    (void)state;
    bench m = bench_open(32, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_adversary a = made("pgd", 1.0);
    px_trainer *t = NULL;
    px_error err = {0};
    OK(run_new(&m, feeder, &a, NULL, false, &t, fault));
    px_weight *w = px_weights_get(px_trainer_weights(t), 0);
    ((float *)w->tensor.data)[0] = NAN;
    assert_int_equal(px_trainer_run(t, &err), PX_E_INTERNAL);
    assert_true(px_trainer_result(t).diverged);
    assert_non_null(strstr(err.message, "is not a number"));
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* Values that an attack may not have. */
static void test_outside(void **state)
{
    (void)state;
    bench m = bench_open(32, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_adversary a = made("fgsm", 1.0);
    px_trainer *t = NULL;
    px_error err = {0};
    a.low = 0.0;
    a.high = 0.5;
    OK(run_new(&m, feeder, &a, NULL, false, &t, fault));
    assert_int_equal(px_trainer_run(t, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "outside the range 0..0.5"));
    px_trainer_free(t);
    a.high = (double)NAN;
    a.low = (double)NAN;
    a.share = 0.01;
    assert_int_equal(run_new(&m, feeder, &a, NULL, false, &t, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "less than one attacked input in a batch of 16"));
    px_feeder_free(feeder);
    bench_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),      cmocka_unit_test(test_none),
        cmocka_unit_test(test_is_the_attack), cmocka_unit_test(test_weights_stay),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_share),
        cmocka_unit_test(test_stages),        cmocka_unit_test(test_other_run),
        cmocka_unit_test(test_not_a_number),  cmocka_unit_test(test_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
