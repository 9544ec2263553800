/* tests/engine/test_runner.c - many micro-batches on all workers: the same bytes, clean ends
 *
 * Also what ThreadSanitizer is run on: plans are shared by threads, sessions are not.
 */
#include "plan_helpers.h"

#include <plexor/system.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 101, FEATURES = 3 * 8 * 8, CLASSES = 5 };

static px_model *make_model(void)
{
    net n;
    net_init(&n, 5, "1,3,8,8");
    const int c =
        net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "16,3,3,3"}, {.weight = "16"}));
    const int p = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2",
                          IN(V(net_add(&n, "Relu", "", IN(V(c))))));
    const int d = net_add(&n, "Conv", "", IN(V(p), {.weight = "16,16,3,3"}));
    const int s = net_add(&n, "Softplus", "", IN(V(d)));
    return net_take(&n, net_add(&n, "Gemm", "",
                                IN(V(net_add(&n, "Flatten", "", IN(V(s)))), {.weight = "64,5"})));
}

typedef struct job {
    const px_plan *plan;
    int logits;
    const float *x;
    float *y, *gradient;
    int64_t fails_at; /* the sample at which work fails; -1: never */
    int64_t cancels_at;
} job;

static px_status job_work(void *context, px_session *session, int64_t first, int64_t samples,
                          px_error *err)
{
    const job *j = context;
    if (j->fails_at >= 0 && first + samples > j->fails_at)
        return px_fail(err, PX_E_INPUT, "sample %d is bad", (int)j->fails_at);
    float *input = px_session_input(session, 0);
    memcpy(input, j->x + first * FEATURES, (size_t)(samples * FEATURES) * sizeof *input);
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_read(session, j->logits, samples, j->y + first * CLASSES, err));
    PX_TRY(px_session_seed_clear(session, err));
    const px_place seed = px_session_seed(session, j->logits);
    for (int64_t s = 0; s < samples; s++)
        seed.data[s * seed.stride[0] + s % CLASSES * seed.stride[1]] += 1.0f;
    PX_TRY(px_session_backward(session, err));
    const px_view g = px_session_grad(session, px_model_graph(px_plan_model(j->plan))->inputs[0]);
    memcpy(j->gradient + first * FEATURES, g.data, (size_t)(samples * FEATURES) * sizeof(float));
    return PX_OK;
}

static bool job_tick(void *context, int64_t done, int64_t total)
{
    const job *j = context;
    assert_true(done >= 0 && done <= total && total == SAMPLES);
    return j->cancels_at < 0 || done < j->cancels_at;
}

typedef struct fixture {
    px_model *model;
    px_plan *plan;
    float x[SAMPLES * FEATURES];
    float y[2][SAMPLES * CLASSES], gradient[2][SAMPLES * FEATURES];
} fixture;

static int set_up(void **state)
{
    fixture *f = pxi_calloc(1, sizeof *f);
    px_error err = {0};
    px_plan_options options = px_plan_options_default();
    options.batch = 4;
    options.input_grad = true;
    f->model = make_model();
    check(px_plan_new(f->model, &options, &f->plan, &err), &err, "plan");
    net_fill(f->x, PX_LEN(f->x), 3, -1.0, 1.0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_plan_free(f->plan);
    px_model_free(f->model);
    free(f);
    return 0;
}

static job job_of(fixture *f, int slot)
{
    return (job){.plan = f->plan,
                 .logits = px_model_graph(f->model)->outputs[0],
                 .x = f->x,
                 .y = f->y[slot],
                 .gradient = f->gradient[slot],
                 .fails_at = -1,
                 .cancels_at = -1};
}

static void test_same_bytes(void **state)
{
    fixture *f = *state;
    px_error err = {0};
    job one = job_of(f, 0), many = job_of(f, 1);
    check(px_plan_run(f->plan, 1, SAMPLES, job_work, &one, job_tick, &one, &err), &err, "one");
    for (int threads = 2; threads <= 5; threads += 3) {
        memset(f->y[1], 0, sizeof f->y[1]);
        memset(f->gradient[1], 0, sizeof f->gradient[1]);
        check(px_plan_run(f->plan, threads, SAMPLES, job_work, &many, job_tick, &many, &err), &err,
              "many");
        assert_memory_equal(f->y[0], f->y[1], sizeof f->y[0]);
        assert_memory_equal(f->gradient[0], f->gradient[1], sizeof f->gradient[0]);
    }
}

static void *run_apart(void *argument)
{
    job *j = argument;
    px_error err = {0};
    return px_plan_run(j->plan, 2, SAMPLES, job_work, j, NULL, NULL, &err) == PX_OK ? NULL : j;
}

/* Two callers share a plan. */
static void test_shared_plan(void **state)
{
    fixture *f = *state;
    job jobs[2] = {job_of(f, 0), job_of(f, 1)};
    pthread_t threads[2];
    void *results[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_apart, &jobs[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &results[i]);
        assert_null(results[i]);
    }
    assert_memory_equal(f->y[0], f->y[1], sizeof f->y[0]);
    assert_memory_equal(f->gradient[0], f->gradient[1], sizeof f->gradient[0]);
}

static void test_ends(void **state)
{
    fixture *f = *state;
    px_error err = {0};
    job j = job_of(f, 0);
    j.fails_at = 50;
    assert_int_equal(px_plan_run(f->plan, 3, SAMPLES, job_work, &j, job_tick, &j, &err),
                     PX_E_INPUT);
    assert_string_equal(err.message, "sample 50 is bad");
    j = job_of(f, 0);
    j.cancels_at = 1; /* at the latest when all is done */
    assert_int_equal(px_plan_run(f->plan, 2, SAMPLES, job_work, &j, job_tick, &j, &err),
                     PX_E_CANCELLED);
    j = job_of(f, 0);
    j.fails_at = 0;
    check(px_plan_run(f->plan, 2, 0, job_work, &j, NULL, NULL, &err), &err, "nothing to do");
    assert_int_equal(px_plan_run(f->plan, 2, -1, job_work, &j, NULL, NULL, &err), PX_E_USAGE);
    /* counts near the end of the type must not wrap around */
    assert_int_equal(px_plan_run(f->plan, 2, INT64_MAX, job_work, &j, NULL, NULL, &err),
                     PX_E_INPUT);
}

static atomic_int asked;

static bool asks_for_the_end(void)
{
    return atomic_fetch_add(&asked, 1) >= 50;
}

/* px_cancel_when() ends a run between two layers, whoever watches it. */
static void test_cancel_when(void **state)
{
    fixture *f = *state;
    px_error err = {0};
    job j = job_of(f, 0);
    atomic_store(&asked, 0);
    px_cancel_when(asks_for_the_end);
    assert_int_equal(px_plan_run(f->plan, 2, SAMPLES, job_work, &j, NULL, NULL, &err),
                     PX_E_CANCELLED);
    px_cancel_when(NULL);
    int done = -1, total = 0;
    assert_int_equal(sscanf(err.message, "cancelled after %d of %d inputs", &done, &total), 2);
    assert_true(done >= 0 && done < SAMPLES && total == SAMPLES);
    check(px_plan_run(f->plan, 2, SAMPLES, job_work, &j, NULL, NULL, &err), &err, "afterwards");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared_plan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancel_when, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
