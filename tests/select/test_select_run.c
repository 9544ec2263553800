/* tests/select/test_select_run.c - the driver, with every selector in the table */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/select.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 300, TRAIN = 600, LABELLED = 200 };

typedef struct fixture {
    px_model *model;
    small_data train, test, labelled;
    px_profile *profile;
} fixture;

static px_select_options options_for(const fixture *f, const char *selectors, int threads)
{
    /* as many mutants as PRIMA makes by default would take a minute */
    static const char *const quick[] = {"prima.mutants=2", "prima.patches=5", "prima.labelled=60"};
    px_select_options options = px_select_options_default();
    options.selectors = selectors;
    options.settings = quick;
    options.setting_count = PX_LEN(quick);
    options.profile = f->profile;
    options.labelled = f->labelled.set;
    options.labelled_pre = &f->labelled.pre;
    options.seed = 3;
    options.threads = threads;
    return options;
}

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    px_lessons lessons = {0};
    f.model = small_net(7, 4);
    f.train = small_digits(f.model, "train", TRAIN, 0);
    f.test = small_digits(f.model, "test", CANDIDATES, 0);
    f.labelled = small_digits(f.model, "train", LABELLED, 5);
    *state = &f;
    const px_select_options options = options_for(&f, "all", 2);
    px_status status =
        px_select_lessons(f.model, f.test.set, &f.test.pre, &options, &lessons, &err);
    if (status == PX_OK && lessons.count > 0) {
        px_profile_options make = px_profile_options_default();
        make.threads = 2;
        status =
            px_profile_make(f.model, &lessons, f.train.set, &f.train.pre, &make, &f.profile, &err);
    }
    px_lessons_free(&lessons);
    if (status != PX_OK)
        print_error("%s\n", err.message);
    return status != PX_OK;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_profile_free(f->profile);
    small_close(&f->train);
    small_close(&f->test);
    small_close(&f->labelled);
    px_model_free(f->model);
    return 0;
}

static px_select *select_ran(const fixture *f, const px_select_options *options)
{
    px_error err = {0};
    px_select *select = NULL;
    if (px_select_new(f->model, f->test.set, &f->test.pre, options, &select, &err) != PX_OK ||
        px_select_run(select, NULL, NULL, &err) != PX_OK)
        fail_msg("%s: %s", options->selectors, err.message);
    return select;
}

static void assert_same_ranking(const px_select *a, const px_select *b, size_t i, int64_t count,
                                const char *what)
{
    int64_t of_a = 0, of_b = 0;
    const px_ranked *x = px_select_ranked(a, i, &of_a), *y = px_select_ranked(b, i, &of_b);
    assert_true(of_a >= count && of_b >= count);
    for (int64_t k = 0; k < count; k++)
        if (x[k].index != y[k].index || memcmp(&x[k].score, &y[k].score, sizeof x[k].score) != 0 ||
            x[k].predicted != y[k].predicted ||
            memcmp(&x[k].confidence, &y[k].confidence, sizeof x[k].confidence) != 0)
            fail_msg("%s, %s: place %lld is %lld (%g), not %lld (%g)",
                     px_select_selector(a, i)->entry.id, what, (long long)k, (long long)x[k].index,
                     x[k].score, (long long)y[k].index, y[k].score);
}

static void test_rankings_are_permutations(void **state)
{
    const fixture *f = *state;
    const px_select_options options = options_for(f, "all", 2);
    px_select *select = select_ran(f, &options);
    for (size_t i = 0; i < px_select_count(select); i++) {
        bool seen[CANDIDATES] = {0};
        int64_t count = 0;
        const px_ranked *ranked = px_select_ranked(select, i, &count);
        const char *id = px_select_selector(select, i)->entry.id;
        assert_int_equal(count, CANDIDATES);
        for (int64_t k = 0; k < count; k++) {
            if (ranked[k].index < 0 || ranked[k].index >= CANDIDATES || seen[ranked[k].index])
                fail_msg("%s: place %lld has %lld", id, (long long)k, (long long)ranked[k].index);
            seen[ranked[k].index] = true;
            if (ranked[k].predicted < 0 || ranked[k].predicted > 9 ||
                !(ranked[k].confidence >= 0.09f && ranked[k].confidence <= 1.0f))
                fail_msg("%s: class %d with confidence %g", id, ranked[k].predicted,
                         (double)ranked[k].confidence);
            if (k > 0 && !px_select_selector(select, i)->arrange &&
                ranked[k].score > ranked[k - 1].score)
                fail_msg("%s: place %lld scores %g after %g", id, (long long)k, ranked[k].score,
                         ranked[k - 1].score);
        }
        const px_select_times times = px_select_facts_of(select, i).times;
        assert_true(times.prepare >= 0 && times.pass >= 0 && times.score >= 0 && times.order >= 0);
    }
    px_select_free(select);
}

static void test_threads(void **state)
{
    const fixture *f = *state;
    const px_select_options one = options_for(f, "all", 1), many = options_for(f, "all", 3);
    px_select *a = select_ran(f, &one), *b = select_ran(f, &many);
    assert_int_equal(px_select_count(a), px_select_count(b));
    for (size_t i = 0; i < px_select_count(a); i++)
        assert_same_ranking(a, b, i, CANDIDATES, "threads");
    px_select_free(a);
    px_select_free(b);
}

/* Alone or beside others, all kept or some: the same. */
static void test_alone_and_bounded(void **state)
{
    enum { KEEP = 23 };
    const fixture *f = *state;
    for (int stratify = 0; stratify < 2; stratify++) {
        px_select_options whole = options_for(f, "all", 2);
        whole.stratify = stratify;
        px_select *all = select_ran(f, &whole);
        for (size_t i = 0; i < px_select_count(all); i++) {
            px_select_options options = options_for(f, px_select_selector(all, i)->entry.id, 2);
            options.keep = KEEP;
            options.stratify = stratify;
            px_select *alone = select_ran(f, &options);
            int64_t count = 0;
            px_select_ranked(alone, 0, &count);
            assert_int_equal(count, KEEP);
            int64_t n = 0, m = 0;
            const px_ranked *a = px_select_ranked(alone, 0, &n), *b = px_select_ranked(all, i, &m);
            for (int64_t k = 0; k < KEEP; k++)
                if (a[k].index != b[k].index || a[k].predicted != b[k].predicted ||
                    a[k].confidence != b[k].confidence)
                    fail_msg("%s%s: place %lld is %lld, not %lld",
                             px_select_selector(all, i)->entry.id, stratify ? " stratified" : "",
                             (long long)k, (long long)a[k].index, (long long)b[k].index);
            px_select_free(alone);
        }
        px_select_free(all);
    }
}

static void test_random_follows_the_seed(void **state)
{
    const fixture *f = *state;
    px_select_options options = options_for(f, "random", 1);
    px_select *a = select_ran(f, &options);
    options.seed = 4;
    px_select *b = select_ran(f, &options);
    int64_t count = 0, same = 0;
    const px_ranked *x = px_select_ranked(a, 0, &count), *y = px_select_ranked(b, 0, &count);
    for (int64_t k = 0; k < count; k++)
        same += x[k].index == y[k].index;
    assert_true(same < CANDIDATES / 10);
    px_select_free(a);
    px_select_free(b);
}

/* Figures of an evaluation, counted again from the ranking and the labels. */
static void test_evaluation(void **state)
{
    const fixture *f = *state;
    const px_select_options options = options_for(f, "random,gini", 2);
    px_select *select = select_ran(f, &options);
    for (size_t i = 0; i < 2; i++) {
        px_evaluation e;
        px_error err = {0};
        int64_t count = 0, faults = 0, places = 0, right = 0;
        if (px_select_evaluate(select, i, &e, &err) != PX_OK)
            fail_msg("%s", err.message);
        const px_ranked *ranked = px_select_ranked(select, i, &count);
        for (int64_t k = 0; k < count; k++) {
            const bool wrong =
                ranked[k].predicted != px_dataset_label(f->test.set, ranked[k].index);
            faults += wrong;
            places += wrong ? k + 1 : 0;
            right += !wrong && k < count / 10;
            for (size_t b = 0; b < PX_EVALUATE_BUDGETS; b++)
                if (k + 1 == count * px_evaluate_percent[b] / 100)
                    assert_true(fabs(e.fdr[b] - (double)faults / (double)(k + 1)) < 1e-12);
        }
        const double n = (double)count, m = (double)faults;
        assert_true(faults > 0 && faults == e.faults);
        assert_true(fabs(e.fault_rate - m / n) < 1e-12);
        assert_true(fabs(e.apfd - (1 - (double)places / (n * m) + 1 / (2 * n))) < 1e-12);
        assert_true(fabs(e.accuracy[9] - (double)right / (n / 10)) < 1e-12); /* the best-ranked */
    }
    px_select_free(select);
}

/* Chance and the ideal order, of faults and of types, at both ends of the curve. */
static void test_curves(void **state)
{
    const fixture *f = *state;
    const px_select_options options = options_for(f, "gini", 1);
    px_select *select = select_ran(f, &options);
    for (int unit = 0; unit < 2; unit++) {
        char path[TEST_PATH];
        px_error err = {0};
        size_t size = 0;
        if (px_select_save_curve(select, (px_fault_unit)unit, 100.0, test_path("curve.csv", path),
                                 &err) != PX_OK)
            fail_msg("%s", err.message);
        char *text = file_bytes(path, &size), *line = strtok(text, "\n");
        double taken, percent, ideal, chance, found, before = 0.0;
        assert_string_equal(line, "selected,percent,ideal,chance,gini");
        for (int points = 0; (line = strtok(NULL, "\n")); points++) {
            assert_int_equal(
                sscanf(line, "%lf,%lf,%lf,%lf,%lf", &taken, &percent, &ideal, &chance, &found), 5);
            if (points == 0)
                assert_true(ideal == 0.0 && chance == 0.0 && found == 0.0);
            if (found > ideal + 1e-9 || chance > ideal + 1e-9 || chance < before)
                fail_msg("unit %d at %g: ideal %g, chance %g, found %g", unit, taken, ideal, chance,
                         found);
            before = chance;
        }
        assert_true(taken == CANDIDATES && percent == 100.0 && ideal == 100.0 && found == 100.0);
        assert_true(fabs(chance - 100.0) < 1e-9);
        free(text);
    }
    assert_int_equal(px_select_save_curve(select, PX_FAULTS, 100.0, "curve.txt", NULL), PX_E_USAGE);
    px_select_free(select);
}

static void test_evaluation_refusals(void **state)
{
    const fixture *f = *state;
    px_select_options options = options_for(f, "gini", 1);
    px_evaluation e;
    px_error err = {0};
    options.keep = 10;
    px_select *select = select_ran(f, &options);
    assert_int_equal(px_select_evaluate(select, 0, &e, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "only 10 of 300 candidates were kept"));
    px_select_free(select);
}

/* CSM B.1: the last convolutional block before the classifier's head, before pooling. */
static void test_encoder_layers(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        int64_t channels, side;
    } cases[] = {
        {"lenet1-valid", 12, 8},
        {"lenet5-valid", 16, 8},
        {"resnet20", 64, 8},
        {"vgg16-cifar", 512, 2},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_model *model = NULL;
        px_probe *probe = NULL;
        px_probe_options options = px_probe_options_default();
        options.layers = px_selector_find("nss")->layers;
        options.neurons = px_selector_find("nss")->neurons;
        if (px_arch_build(cases[i].arch, NULL, &model, &err) != PX_OK ||
            px_probe_new(model, &options, &probe, &err) != PX_OK)
            fail_msg("%s: %s", cases[i].arch, err.message);
        if (px_probe_neuron_count(probe) != cases[i].channels * cases[i].side * cases[i].side)
            fail_msg("%s: %s", cases[i].arch, px_probe_describe(probe));
        px_probe_free(probe);
        px_model_free(model);
    }
}

static void test_refusals(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *selectors, *setting, *says;
        px_status status;
    } cases[] = {
        {"nosuch", NULL, "there is no selector 'nosuch'; there are", PX_E_USAGE},
        {"random,", NULL, "there is no selector ''", PX_E_USAGE},
        {"random", "random.x=1", "random has no such setting", PX_E_USAGE},
        {"random", "kmnk.k=3", "there is no selector 'kmnk'; 'plexor list selectors'", PX_E_USAGE},
        {"random", "k=3", "is no setting; write SELECTOR.NAME=VALUE", PX_E_USAGE},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_select_options options = options_for(f, cases[i].selectors, 1);
        options.settings = &cases[i].setting;
        options.setting_count = cases[i].setting != NULL;
        px_select *select = NULL;
        px_error err = {0};
        const px_status status =
            px_select_new(f->model, f->test.set, &f->test.pre, &options, &select, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %s", i, err.message);
        assert_null(select);
    }
}

static bool stop_at_once(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void test_cancel(void **state)
{
    const fixture *f = *state;
    for (size_t i = 0; i < px_selector_count(); i++) {
        const px_select_options options = options_for(f, px_selector_get(i)->entry.id, 2);
        px_select *select = NULL;
        px_error err = {0};
        if (px_select_new(f->model, f->test.set, &f->test.pre, &options, &select, &err) != PX_OK)
            continue; /* not for this network */
        const px_status status = px_select_run(select, stop_at_once, NULL, &err);
        if (status != PX_E_CANCELLED)
            fail_msg("%s: %s", px_selector_get(i)->entry.id, px_status_name(status));
        px_select_free(select);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rankings_are_permutations),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_alone_and_bounded),
        cmocka_unit_test(test_random_follows_the_seed),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_evaluation_refusals),
        cmocka_unit_test(test_encoder_layers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
