/* tests/attack/test_attack.c - goals, bounds, restarts, rounding, and what is refused */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack_helpers.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const px_norm both[] = {PX_NORM_LINF, PX_NORM_L2};

static px_attack_options small(const char *method, results *r)
{
    px_attack_options o = px_attack_options_default();
    o.method = method;
    if (px_attack_method_find(method)->bounded)
        o.eps = 0.1;
    o.emit = r ? results_keep : NULL;
    o.emit_context = r;
    return o;
}

/* Same bytes whatever the workers, batches, and who else is attacked. */
static void test_threads_and_batches(void **state)
{
    (void)state;
    static const int64_t batches[] = {1, 2, 3, 8};
    scene s = net_scene();
    for (size_t m = 0; m < px_attack_method_count(); m++) {
        results first = results_new(NET_ROWS, NET_SIZE);
        px_attack_options o = small(px_attack_method_get(m)->entry.id, &first);
        o.restarts = px_attack_method_get(m)->restarts ? 2 : 1;
        o.batch = 5;
        o.threads = 1;
        px_attack *one = attack_well(&s, &o);
        for (size_t b = 0; b < PX_LEN(batches); b++) {
            results r = results_new(NET_ROWS, NET_SIZE);
            o.emit_context = &r;
            o.batch = batches[b];
            o.threads = 1 + (int)b % 3;
            px_attack *a = attack_well(&s, &o);
            if (memcmp(r.exact, first.exact, NET_ROWS * NET_SIZE * sizeof(float)) != 0 ||
                memcmp(r.bytes, first.bytes, NET_ROWS * NET_SIZE) != 0)
                fail_msg("%s: other pixels with batch %d", o.method, (int)batches[b]);
            for (int64_t i = 0; i < NET_ROWS; i++) {
                const px_attack_row *x = &px_attack_rows(one)[i], *y = &px_attack_rows(a)[i];
                if (x->exact.loss != y->exact.loss || x->stored.predicted != y->stored.predicted ||
                    x->forwards != y->forwards || x->backwards != y->backwards ||
                    x->steps != y->steps)
                    fail_msg("%s: other numbers with batch %d", o.method, (int)batches[b]);
            }
            px_attack_free(a);
            results_free(&r);
        }
        /* the last two alone: draws belong to inputs */
        const int64_t inputs[] = {NET_ROWS - 2, NET_ROWS - 1};
        const px_attack_job job = {
            .model = s.model, .set = s.set, .pre = &s.pre, .inputs = inputs, .count = 2};
        results r = results_new(2, NET_SIZE);
        o.emit_context = &r;
        px_attack *a = NULL;
        px_error err = {0};
        check(px_attack_run(&job, &o, &a, &err), &err);
        assert_memory_equal(r.exact, first.exact + (NET_ROWS - 2) * NET_SIZE,
                            2 * NET_SIZE * sizeof(float));
        px_attack_free(a);
        results_free(&r);
        px_attack_free(one);
        results_free(&first);
    }
    scene_close(&s);
}

/* Neither the floats nor the bytes leave the ball or the range. */
static void test_ball_and_range(void **state)
{
    (void)state;
    static const char *const methods[] = {"fgsm", "bim", "pgd"};
    scene s = net_scene();
    for (size_t m = 0; m < PX_LEN(methods); m++)
        for (size_t n = 0; n < PX_LEN(both); n++) {
            results r = results_new(NET_ROWS, NET_SIZE);
            px_attack_options o = small(methods[m], &r);
            o.norm = both[n];
            o.eps = n ? 0.7 : 5.5 / 255;
            o.steps = m ? 7 : 0;
            px_attack *a = attack_well(&s, &o);
            for (int64_t i = 0; i < NET_ROWS; i++) {
                const px_attack_row *row = &px_attack_rows(a)[i];
                const double e = n ? row->exact.l2 : row->exact.linf;
                const double t = n ? row->stored.l2 : row->stored.linf;
                if (!(e <= o.eps) || !(t <= o.eps + 1e-7) || e == 0.0)
                    fail_msg("%s %s: %.17g, stored %.17g", o.method, px_norm_name(o.norm), e, t);
            }
            for (size_t v = 0; v < NET_ROWS * NET_SIZE; v++)
                if (r.exact[v] < 0.0f || r.exact[v] > 255.0f ||
                    fabs((double)r.bytes[v] - (double)r.exact[v]) >= 1.0)
                    fail_msg("%s: %g became %d", o.method, (double)r.exact[v], r.bytes[v]);
            px_attack_free(a);
            results_free(&r);
        }
    scene_close(&s);
}

static void test_goals(void **state)
{
    (void)state;
    scene s = net_scene();
    static const px_attack_goal goals[] = {PX_GOAL_CLASS, PX_GOAL_NEXT, PX_GOAL_RANDOM,
                                           PX_GOAL_LEAST_LIKELY};
    for (size_t m = 0; m < px_attack_method_count(); m++)
        for (size_t g = 0; g < PX_LEN(goals); g++) {
            px_attack_options o = small(px_attack_method_get(m)->entry.id, NULL);
            const char *wide[] = {"jsma.gamma=1"};
            o.settings = wide;
            o.setting_count = 1;
            o.goal = goals[g];
            o.target = 2;
            if (px_attack_method_get(m)->bounded)
                o.eps = 0.5;
            px_attack *a = attack_well(&s, &o);
            const px_attack_summary sum = sum_of(a);
            for (int64_t i = 0; i < NET_ROWS; i++) {
                const px_attack_row *row = &px_attack_rows(a)[i];
                if (row->target < 0 || row->target >= NET_CLASSES ||
                    row->skipped != (row->target == row->label) ||
                    (!row->skipped &&
                     row->exact.reached != (row->exact.predicted == row->target)) ||
                    (goals[g] == PX_GOAL_NEXT && row->target != (row->label + 1) % NET_CLASSES) ||
                    (row->skipped && row->exact.l0 != 0))
                    fail_msg("%s, goal %d, row %d: target %d", o.method, (int)goals[g], (int)i,
                             (int)row->target);
            }
            assert_int_equal(sum.count + sum.skipped, NET_ROWS);
            if (m > 0 && sum.exact.reached == 0) /* a single step need not reach any */
                fail_msg("%s never reaches goal %d", o.method, (int)goals[g]);
            px_attack_free(a);
        }
    scene_close(&s);
}

/* An input that is wrong to begin with is left alone where an attack stops at its goal; else those
 * with a bound go on with it, and it counts neither way. */
static void test_wrong_before(void **state)
{
    (void)state;
    scene s = net_scene();
    for (size_t m = 0; m < px_attack_method_count(); m++) {
        px_attack_options o = small(px_attack_method_get(m)->entry.id, NULL);
        px_attack *all = attack_well(&s, &o);
        const px_attack_row *on = &px_attack_rows(all)[NET_WRONG];
        assert_int_equal(on->exact.l0 > 0, px_attack_method_get(m)->bounded);
        assert_int_equal(sum_of(all).right, NET_ROWS - 1);
        px_attack_free(all);
        o.stop_early = true;
        px_attack *a = attack_well(&s, &o);
        const px_attack_row *row = &px_attack_rows(a)[NET_WRONG];
        assert_true(row->before != row->label && row->exact.reached);
        assert_int_equal(row->exact.l0, 0);
        assert_int_equal(row->backwards, 0);
        const px_attack_summary sum = sum_of(a);
        assert_int_equal(sum.right, NET_ROWS - 1);
        assert_true(sum.exact.success_all * NET_ROWS == (double)(sum.exact.reached + 1));
        assert_true(sum.exact.success * (NET_ROWS - 1) == (double)sum.exact.reached);
        px_attack_free(a);
    }
    scene_close(&s);
}

/* More restarts never do worse, and the first that reaches the goal is kept. */
static void test_restarts(void **state)
{
    (void)state;
    scene s = net_scene();
    px_attack_options o = small("pgd", NULL);
    o.eps = 0.02;
    o.steps = 2;
    px_attack *one = attack_well(&s, &o);
    o.restarts = 8;
    px_attack *many = attack_well(&s, &o);
    bool later = false;
    for (int64_t i = 0; i < NET_ROWS; i++) {
        const px_attack_row *x = &px_attack_rows(one)[i], *y = &px_attack_rows(many)[i];
        assert_true(y->exact.reached >= x->exact.reached);
        assert_true(y->exact.reached || y->exact.loss >= x->exact.loss);
        later |= y->restart > 0;
        if (x->exact.reached)
            assert_int_equal(y->restart, 0);
    }
    assert_true(later);
    px_attack_free(one);
    px_attack_free(many);
    o.no_random = true;
    o.step_size = 0.008;
    o.restarts = 1;
    px_attack *plain = attack_well(&s, &o);
    o.method = "bim";
    px_attack *bim = attack_well(&s, &o);
    for (int64_t i = 0; i < NET_ROWS; i++)
        assert_true(px_attack_rows(plain)[i].exact.loss == px_attack_rows(bim)[i].exact.loss);
    px_attack_free(plain);
    px_attack_free(bim);
    scene_close(&s);
}

static void test_without_labels(void **state)
{
    (void)state;
    const float rows[2][2] = {{0.6f, 0.3f}, {0.1f, 0.9f}};
    scene s = affine_scene(rows, NULL, 2, NULL);
    px_attack_options o = small("pgd", NULL);
    px_attack *a = attack_well(&s, &o);
    const px_attack_summary sum = sum_of(a);
    assert_int_equal(sum.unlabelled, 2);
    assert_int_equal(sum.right, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(px_attack_rows(a)[i].truth, px_attack_rows(a)[i].before);
    px_attack_free(a);
    scene_close(&s);
}

static void test_flat_gradients(void **state)
{
    (void)state;
    const float rows[1][2] = {{0, 0}};
    const int64_t labels[1] = {0};
    scene s = affine_scene(rows, labels, 1, "Relu"); /* its gradient is 0 there */
    static const char *const methods[] = {"fgsm", "bim", "deepfool", "jsma"};
    for (size_t m = 0; m < PX_LEN(methods); m++) {
        px_attack_options o = small(methods[m], NULL);
        const char *wide[] = {"jsma.gamma=1"};
        o.settings = wide;
        o.setting_count = 1;
        px_attack *a = attack_well(&s, &o);
        const px_attack_summary sum = sum_of(a);
        assert_int_equal(sum.right, 1);
        assert_int_equal(sum.flat, 1);
        assert_int_equal(px_attack_rows(a)->exact.l0, 0);
        px_attack_free(a);
    }
    scene_close(&s);
}

static void test_no_way(void **state)
{
    (void)state;
    const float rows[1][2] = {{0.6f, 0.3f}};
    scene s = affine_scene(rows, NULL, 1, "Ceil");
    const px_attack_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    px_attack_options o = small("bim", NULL);
    px_attack *a = NULL;
    px_error err = {0};
    assert_int_equal(px_attack_run(&job, &o, &a, &err), PX_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'Ceil' (node 'wrap') has no gradient"));
    scene_close(&s);
}

static const struct {
    const char *name, *method;
    double eps, step_size, low, high;
    int64_t steps, restarts;
    int target; /* -1: none */
    const char *setting;
    px_norm norm;
    const char *message;
} refused[] = {
    {"eps 0", "pgd", 0, NAN, NAN, NAN, 0, 1, -1, NULL, 0, "lets nothing change"},
    {"eps below 0", "pgd", -1, NAN, NAN, NAN, 0, 1, -1, NULL, 0, "lets nothing change"},
    {"eps over the range", "pgd", 8, NAN, NAN, NAN, 0, 1, -1, NULL, 0, "more than any two inputs"},
    {"eps over the range by l2", "pgd", 14, NAN, NAN, NAN, 0, 1, -1, NULL, PX_NORM_L2, "13.85"},
    {"no such method", "pgf", NAN, NAN, NAN, NAN, 0, 1, -1, NULL, 0, "there are fgsm, bim"},
    {"a norm it has not", "jsma", NAN, NAN, NAN, NAN, 0, 1, -1, NULL, PX_NORM_L2, "the norm l0"},
    {"eps for deepfool", "deepfool", 0.1, NAN, NAN, NAN, 0, 1, -1, NULL, 0, "takes no eps"},
    {"steps of fgsm", "fgsm", NAN, NAN, NAN, NAN, 3, 1, -1, NULL, 0, "takes one step"},
    {"step size of fgsm", "fgsm", 0.1, 0.01, NAN, NAN, 0, 1, -1, NULL, 0, "no step size"},
    {"step size 0", "bim", 0.1, 0, NAN, NAN, 0, 1, -1, NULL, 0, "leads nowhere"},
    {"restarts of bim", "bim", 0.1, NAN, NAN, NAN, 0, 2, -1, NULL, 0, "would be the same"},
    {"no restart", "pgd", 0.1, NAN, NAN, NAN, 0, 0, -1, NULL, 0, "0 restarts"},
    {"a range for 8-bit data", "pgd", 0.1, NAN, -1, 1, 0, 1, -1, NULL, 0, "8-bit data have 0"},
    {"a class that is not there", "pgd", 0.1, NAN, NAN, NAN, 0, 1, 5, NULL, 0, "0 to 4"},
    {"no such setting", "jsma", NAN, NAN, NAN, NAN, 0, 1, -1, "jsma.size=3", 0, "theta, gamma"},
    {"inputs outside the range", "pgd", 0.1, NAN, 0.4, 0.6, 0, 1, -1, NULL, 0, "outside the range"},
};

static void test_refused(void **state)
{
    (void)state;
    scene s = net_scene();
    const px_attack_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_attack_options o = px_attack_options_default();
        px_attack *a = NULL;
        px_error err = {0};
        o.method = refused[i].method;
        o.eps = refused[i].eps;
        o.step_size = refused[i].step_size;
        o.low = refused[i].low;
        o.high = refused[i].high;
        o.steps = refused[i].steps;
        o.restarts = refused[i].restarts;
        o.goal = refused[i].target >= 0 ? PX_GOAL_CLASS : PX_GOAL_WRONG;
        o.target = refused[i].target;
        o.settings = &refused[i].setting;
        o.setting_count = refused[i].setting != NULL;
        o.norm = refused[i].norm;
        const px_status status = px_attack_run(&job, &o, &a, &err);
        if (status == PX_OK || status > PX_E_MISMATCH || !strstr(err.message, refused[i].message) ||
            a)
            fail_msg("'%s': status %d, '%s'", refused[i].name, (int)status, err.message);
    }
    scene_close(&s);
}

static void test_target_is_the_class(void **state)
{
    (void)state;
    const float rows[2][2] = {{0.6f, 0.3f}, {0.7f, 0.2f}};
    const int64_t labels[2] = {0, 0};
    scene s = affine_scene(rows, labels, 2, NULL);
    const px_attack_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    px_attack_options o = small("fgsm", NULL);
    px_attack *a = NULL;
    px_error err = {0};
    o.goal = PX_GOAL_CLASS;
    o.target = 0;
    assert_int_equal(px_attack_run(&job, &o, &a, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "true class of every input"));
    scene_close(&s);
}

static bool stop_at_once(void *context, int64_t done, int64_t total)
{
    (void)context, (void)done, (void)total;
    return false;
}

static void test_cancel(void **state)
{
    (void)state;
    scene s = net_scene();
    const px_attack_job job = {.model = s.model, .set = s.set, .pre = &s.pre};
    px_attack_options o = small("pgd", NULL);
    px_attack *a = NULL;
    px_error err = {0};
    o.progress = stop_at_once;
    assert_int_equal(px_attack_run(&job, &o, &a, &err), PX_E_CANCELLED);
    scene_close(&s);
}

/* DeepFool's way is a short one, JSMA's touches few values. */
static void test_minimal(void **state)
{
    (void)state;
    scene s = net_scene();
    px_attack_options o = small("deepfool", NULL);
    px_attack *fool = attack_well(&s, &o);
    o = small("fgsm", NULL);
    o.norm = PX_NORM_L2;
    o.eps = 3;
    px_attack *fast = attack_well(&s, &o);
    assert_int_equal(sum_of(fool).exact.reached, NET_ROWS - 1);
    assert_true(sum_of(fool).exact.l2.mean < 1.5);
    assert_true(sum_of(fast).exact.l2.mean > sum_of(fool).exact.l2.mean);
    px_attack_free(fool);
    px_attack_free(fast);
    o = small("jsma", NULL);
    px_attack *few = attack_well(&s, &o);
    for (int64_t i = 0; i < NET_ROWS; i++) {
        const px_attack_row *row = &px_attack_rows(few)[i];
        assert_true(row->steps <= NET_SIZE / 20 && row->exact.l0 <= 2 * row->steps);
        assert_int_equal(row->backwards, 2 * row->steps + (row->exact.reached ? 0 : 2) *
                                                              (row->steps < NET_SIZE / 20));
    }
    px_attack_free(few);
    const char *softmax[] = {"jsma.out=softmax"};
    o.settings = softmax;
    o.setting_count = 1;
    px_attack *one = attack_well(&s, &o);
    for (int64_t i = 0; i < NET_ROWS; i++)
        assert_true(px_attack_rows(one)[i].backwards <= px_attack_rows(one)[i].steps + 1);
    px_attack_free(one);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_batches),
        cmocka_unit_test(test_ball_and_range),
        cmocka_unit_test(test_goals),
        cmocka_unit_test(test_wrong_before),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_without_labels),
        cmocka_unit_test(test_flat_gradients),
        cmocka_unit_test(test_no_way),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_target_is_the_class),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_minimal),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
