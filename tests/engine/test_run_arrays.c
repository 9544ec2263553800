/* tests/engine/test_run_arrays.c - arrays through a network: the same bytes, clean ends
 *
 * Also what ThreadSanitizer is run on: plans are shared by threads, sessions are not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"

#include <plexor/system.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 101, FEATURES = 3 * 8 * 8, CLASSES = 5 };

typedef struct fixture {
    px_model *model;
    px_tensor x;
    int logits;
    float y[SAMPLES * CLASSES]; /* one by one */
} fixture;

static int set_up(void **state)
{
    fixture *f = pxi_calloc(1, sizeof *f);
    px_error err = {0};
    net n;
    net_init(&n, 5, "1,3,8,8");
    const int c =
        net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "16,3,3,3"}, {.weight = "16"}));
    const int p = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2",
                          IN(V(net_add(&n, "Relu", "", IN(V(c))))));
    const int s = net_add(&n, "Softplus", "", IN(V(p)));
    f->model =
        net_take(&n, net_add(&n, "Gemm", "",
                             IN(V(net_add(&n, "Flatten", "", IN(V(s)))), {.weight = "256,5"})));
    f->logits = px_model_graph(f->model)->outputs[0];
    const px_shape shape = {.rank = 4, .dim = {SAMPLES, 3, 8, 8}};
    check(px_tensor_init(&f->x, PX_FLOAT32, &shape, &err), &err, "input");
    net_fill(f->x.data, SAMPLES * FEATURES, 3, -1.0, 1.0);
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    options.batch = 1;
    px_session *session = open_plan(f->model, &options, &plan, "one by one");
    for (int i = 0; i < SAMPLES; i++) {
        memcpy(px_session_input(session, 0), (const float *)f->x.data + i * FEATURES,
               FEATURES * sizeof(float));
        check(px_session_forward(session, &err), &err, "forward");
        check(px_session_read(session, f->logits, 1, f->y + i * CLASSES, &err), &err, "read");
    }
    px_session_free(session);
    px_plan_free(plan);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_tensor_done(&f->x);
    px_model_free(f->model);
    free(f);
    return 0;
}

static void test_same_bytes(void **state)
{
    const fixture *f = *state;
    px_tensor first = {0};
    for (int threads = 1; threads <= 5; threads += 2) {
        const px_run_options options = {.threads = threads, .batch = 4};
        px_run_facts facts;
        px_tensor y = {0};
        px_error err = {0};
        check(px_run(f->model, &f->x, &options, &f->logits, 1, &y, &facts, &err), &err, "run");
        assert_int_equal(facts.count, SAMPLES);
        assert_int_equal(facts.batch, 4);
        assert_false(facts.batch_baked);
        assert_int_equal(y.shape.dim[0], SAMPLES);
        for (int i = 0; i < SAMPLES * CLASSES; i++)
            assert_float_equal(((const float *)y.data)[i], f->y[i], 1e-5);
        if (threads == 1) {
            first = y;
            continue;
        }
        assert_memory_equal(first.data, y.data, sizeof f->y);
        px_tensor_done(&y);
    }
    px_tensor_done(&first);
}

/* A value without a row per sample, and a network of two inputs: all at once. */
static void test_whole(void **state)
{
    (void)state;
    net n;
    net_init(&n, 5, "-1,3");
    const int mean = net_add(&n, "ReduceMean", "axes=0 keepdims=0", IN(V(n.x)));
    px_model *model = net_take(&n, mean);
    const px_shape shape = {.rank = 2, .dim = {4, 3}};
    const float want[3] = {1.5f, 2.5f, 3.5f};
    px_tensor x = {0}, y = {0};
    px_run_facts facts;
    px_error err = {0};
    check(px_tensor_init(&x, PX_FLOAT32, &shape, &err), &err, "input");
    for (int i = 0; i < 12; i++)
        ((float *)x.data)[i] = (float)(i % 3 + i / 3);
    const int value = px_model_graph(model)->outputs[0];
    check(px_run(model, &x, NULL, &value, 1, &y, &facts, &err), &err, "run");
    assert_int_equal(y.shape.rank, 1);
    for (int i = 0; i < 3; i++)
        assert_float_equal(((const float *)y.data)[i], want[i], 1e-6);
    px_tensor_done(&x);
    px_tensor_done(&y);
    px_model_free(model);
}

typedef struct watch {
    int64_t cancels_at, last;
} watch;

static bool tick(void *context, int64_t done, int64_t total)
{
    watch *w = context;
    assert_true(done >= w->last && done <= total && total == SAMPLES);
    w->last = done;
    return w->cancels_at < 0 || done < w->cancels_at;
}

static atomic_int asked;

static bool asks_for_the_end(void)
{
    return atomic_fetch_add(&asked, 1) >= 20;
}

/* Whoever watches can end a run, and px_cancel_when() can between two layers; nothing is left. */
static void test_cancel(void **state)
{
    const fixture *f = *state;
    watch w = {.cancels_at = 1}; /* at the latest when all is done */
    px_run_options options = {.threads = 2, .batch = 4, .progress = tick, .progress_context = &w};
    px_tensor y = {0};
    px_error err = {0};
    assert_int_equal(px_run(f->model, &f->x, &options, &f->logits, 1, &y, NULL, &err),
                     PX_E_CANCELLED);
    assert_null(y.data);
    options.progress = NULL;
    atomic_store(&asked, 0);
    px_cancel_when(asks_for_the_end);
    const px_status status = px_run(f->model, &f->x, &options, &f->logits, 1, &y, NULL, &err);
    px_cancel_when(NULL);
    assert_int_equal(status, PX_E_CANCELLED);
    assert_null(y.data);
    w = (watch){.cancels_at = -1};
    options.progress = tick;
    check(px_run(f->model, &f->x, &options, &f->logits, 1, &y, NULL, &err), &err, "afterwards");
    assert_int_equal(w.last, SAMPLES);
    px_tensor_done(&y);
}

static void test_bench(void **state)
{
    const fixture *f = *state;
    for (int backward = 0; backward < 2; backward++) {
        const px_bench_options options = {
            .backward = backward, .threads = 2, .batch = 4, .rounds = 2, .seconds = 0.01};
        px_bench_result result = {0};
        px_error err = {0};
        check(px_bench(f->model, &options, &result, &err), &err, "bench");
        assert_true(result.per_s > 0.0 && result.flops > 0.0);
        assert_int_equal(result.batch, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test(test_whole),
        cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bench, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
