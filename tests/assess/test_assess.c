/* tests/assess/test_assess.c - a run: means, what is undefined, what does not pair up */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../attack/attack_helpers.h"

#include "base/memory.h"

#include <internal/assess.h>
#include <internal/data.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/plexor-assess-XXXXXX.npz";

/* Another set of points beside a scene's. */
static px_dataset *rows_open(scene *s, const float (*rows)[2], const int64_t *labels, int64_t count)
{
    px_error err = {0};
    px_npz_writer *writer = NULL;
    px_dataset *set = NULL;
    char name[] = "/tmp/plexor-assess-XXXXXX.npz";
    const int file = mkstemps(name, 4);
    assert_true(file >= 0);
    close(file);
    memcpy(path, name, sizeof name);
    const px_shape shape = {2, {count, 2}}, line = {1, {count}};
    check(px_npz_create(path, &writer, &err), &err);
    check(px_npz_begin(writer, "x", PX_FLOAT32, &shape, &err), &err);
    check(px_npz_write(writer, rows, (size_t)count * sizeof *rows, &err), &err);
    if (labels) {
        check(px_npz_begin(writer, "y", PX_INT64, &line, &err), &err);
        check(px_npz_write(writer, labels, (size_t)count * sizeof *labels, &err), &err);
    }
    check(px_npz_commit(writer, &err), &err);
    const px_graph *graph = px_model_graph(s->model);
    check(px_dataset_open_for(&s->pre, &graph->values[graph->inputs[0]].shape, path, NULL, &set,
                              &err),
          &err);
    return set;
}

static void rows_close(px_dataset *set)
{
    px_dataset_close(set);
    unlink(path);
}

static px_status run(const scene *s, const px_dataset *bad, const int64_t *partners,
                     const char *metrics, px_assess **out, px_error *err)
{
    const px_assess_job job = {.model = s->model,
                               .original = {s->set, &s->pre},
                               .adversarial = {bad, &s->pre},
                               .partners = partners};
    px_assess_options o = px_assess_options_default();
    o.metrics = metrics;
    return px_assess_run(&job, &o, out, err);
}

static px_metric_value value_of(const px_assess *a, const char *id)
{
    for (size_t i = 0; i < px_assess_metric_count(a); i++)
        if (strcmp(px_assess_metric(a, i).metric->entry.id, id) == 0)
            return px_assess_metric(a, i);
    fail_msg("no metric %s", id);
    return (px_metric_value){0};
}

static const float before[3][2] = {{0.6f, 0.3f}, {0.6f, 0.3f}, {0.0f, 0.9f}};
static const int64_t labels[3] = {0, 0, 0}; /* the third is wrong to begin with */

static void test_values(void **state)
{
    (void)state;
    static const float after[3][2] = {{0.5f, 0.4f}, {0.6f, 0.25f}, {0.0f, 0.9f}};
    scene s = affine_scene(before, labels, 3, NULL);
    px_dataset *bad = rows_open(&s, after, labels, 3);
    px_assess *a = NULL;
    px_error err = {0};
    check(run(&s, bad, NULL, NULL, &a, &err), &err);
    const px_assess_summary sum = px_assess_sum(a);
    assert_true(sum.pairs == 3 && sum.right == 2 && sum.wrong == 2 && sum.fooled == 1);
    px_metric_value v = value_of(a, "mr");
    assert_true(fabs(v.value - 2.0 / 3) < 1e-12 && v.n == 3 && !v.why);
    v = value_of(a, "asr");
    assert_true(fabs(v.value - 0.5) < 1e-12 && v.n == 2);
    /* z of (0.5, 0.4): 0.2, -0.05, 0.4; of (0, 0.9): -0.8, 0.45, 0.8 */
    const double one[] = {exp(0.2), exp(-0.05), exp(0.4)}, two[] = {exp(-0.8), exp(0.45), exp(0.8)};
    const double sum1 = one[0] + one[1] + one[2], sum2 = two[0] + two[1] + two[2];
    v = value_of(a, "acac");
    assert_true(v.n == 2 && fabs(v.value - (one[2] / sum1 + two[2] / sum2) / 2) < 1e-6);
    v = value_of(a, "actc");
    assert_true(fabs(v.value - (one[0] / sum1 + two[0] / sum2) / 2) < 1e-6);
    v = value_of(a, "nte");
    assert_true(fabs(v.value - ((one[2] - one[0]) / sum1 + (two[2] - two[1]) / sum2) / 2) < 1e-6);
    v = value_of(a, "ald_2");
    assert_true(v.n == 2 && fabs(v.value - sqrt(0.02 / 0.45) / 2) < 1e-6);
    for (const char *const *id = (const char *const[]){"ass", "psd", "rgb", "ric", NULL}; *id;
         id++) {
        v = value_of(a, *id);
        assert_true(isnan(v.value) && v.n == 0);
        assert_string_equal(v.why, "the inputs are no pictures");
    }
    px_assess_free(a);
    rows_close(bad);
    scene_close(&s);
}

static void test_undefined(void **state)
{
    (void)state;
    scene s = affine_scene(before, labels, 2, NULL);
    px_dataset *bad = rows_open(&s, before, labels, 2); /* nothing is wrong */
    px_assess *a = NULL;
    px_error err = {0};
    check(run(&s, bad, NULL, "acac,mr,ald_0", &a, &err), &err);
    assert_int_equal(px_assess_metric_count(a), 3);
    px_metric_value v = value_of(a, "mr");
    assert_true(v.value == 0.0 && v.n == 2);
    v = value_of(a, "acac");
    assert_true(isnan(v.value) && v.n == 0);
    assert_string_equal(v.why, "no adversarial input is misclassified");
    px_assess_free(a);
    rows_close(bad);
    /* no original is right: there is nothing to succeed against */
    scene_close(&s);
    s = affine_scene(before + 2, labels + 2, 1, NULL);
    bad = rows_open(&s, before, labels, 1);
    check(run(&s, bad, NULL, "asr", &a, &err), &err);
    v = value_of(a, "asr");
    assert_true(isnan(v.value));
    assert_string_equal(v.why, "no original is classified correctly");
    px_assess_free(a);
    rows_close(bad);
    scene_close(&s);
}

static void test_refused(void **state)
{
    (void)state;
    static const int64_t others[3] = {0, 1, 0}, partners[3] = {0, 1, 7};
    scene s = affine_scene(before, labels, 3, NULL);
    px_dataset *bad = rows_open(&s, before, others, 3);
    px_assess *a = NULL;
    px_error err = {0};
    int64_t room[3];
    assert_int_equal(run(&s, bad, NULL, NULL, &a, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "do not pair up"));
    assert_int_equal(run(&s, bad, partners, NULL, &a, &err), PX_E_MISMATCH);
    assert_int_equal(run(&s, bad, NULL, "mr,acab", &a, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "'acab'"));
    assert_null(a);
    rows_close(bad);
    bad = rows_open(&s, before, labels, 2);
    assert_int_equal(px_pair_by_index(s.set, bad, room, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "3 originals and 2 adversarial"));
    rows_close(bad);
    scene_close(&s);
}

static void test_without_labels(void **state)
{
    (void)state;
    static const float after[1][2] = {{0.5f, 0.4f}};
    scene s = affine_scene(before, NULL, 1, NULL);
    px_dataset *bad = rows_open(&s, after, NULL, 1);
    px_assess *a = NULL;
    px_error err = {0};
    check(run(&s, bad, NULL, "asr", &a, &err), &err);
    assert_true(px_assess_sum(a).unlabelled == 1 && value_of(a, "asr").value == 1.0);
    px_assess_free(a);
    rows_close(bad);
    scene_close(&s);
}

/* Pictures, and any number of workers and rows at a time. */
static void test_threads(void **state)
{
    (void)state;
    scene s = net_scene();
    const int64_t count = px_dataset_count(s.set);
    int64_t *partners = calloc((size_t)count, sizeof *partners); /* all are made from others */
    assert_non_null(partners);
    px_assess *a[3] = {NULL};
    px_error err = {0};
    const px_assess_job job = {.model = s.model,
                               .original = {s.set, &s.pre},
                               .adversarial = {s.set, &s.pre},
                               .partners = partners};
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < count; k++)
            if (k != i && px_dataset_label(s.set, k) == px_dataset_label(s.set, i))
                partners[i] = k;
    for (int64_t i = 0; i < count; i++)
        if (px_dataset_label(s.set, partners[i]) != px_dataset_label(s.set, i))
            partners[i] = i;
    for (int k = 0; k < 3; k++) {
        px_assess_options o = px_assess_options_default();
        o.threads = k + 1;
        o.batch = 1 + 2 * k;
        check(px_assess_run(&job, &o, &a[k], &err), &err);
        for (size_t m = 0; m < px_assess_metric_count(a[k]); m++) {
            const px_metric_value v = px_assess_metric(a[k], m), w = px_assess_metric(a[0], m);
            if (v.n != w.n || memcmp(&v.value, &w.value, sizeof v.value) != 0)
                fail_msg("%s: %.17g of %d, not %.17g of %d", v.metric->entry.id, v.value, (int)v.n,
                         w.value, (int)w.n);
        }
    }
    assert_true(px_assess_sum(a[0]).wrong > 0 && !isnan(value_of(a[0], "ass").value));
    for (int k = 0; k < 3; k++)
        px_assess_free(a[k]);
    free(partners);
    scene_close(&s);
}

static int done(void **state)
{
    (void)state;
    test_folder_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_without_labels),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
