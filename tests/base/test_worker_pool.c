/* tests/base/test_worker_pool.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/worker_pool.h"
#include "cmocka_all.h"

#include <internal/system.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const int thread_counts[] = {1, 2, 5, 16};

typedef struct pool_job {
    int64_t fail_at[2]; /* -1: none */
    atomic_int *runs;   /* per index */
    atomic_int foreign; /* calls with a worker number or OpenMP setting that is wrong */
    int threads;
} pool_job;

static px_status job_run(void *context, int worker, int64_t index, px_error *err)
{
    pool_job *job = context;
    atomic_fetch_add(&job->runs[index], 1);
    if (worker < 0 || worker >= job->threads || omp_get_max_threads() != 1)
        atomic_fetch_add(&job->foreign, 1);
    for (int i = 0; i < 2; i++)
        if (index == job->fail_at[i]) {
            if (i == 0)
                usleep(2000); /* let the later failure come first */
            return px_fail(err, PX_E_INPUT, "index %lld is bad", (long long)index);
        }
    return PX_OK;
}

static void test_each_index_once(void **state)
{
    (void)state;
    enum { N = 1000 };
    atomic_int runs[N];
    for (size_t t = 0; t < PX_LEN(thread_counts); t++) {
        px_pool *pool = NULL;
        assert_int_equal(pxi_pool_new(thread_counts[t], &pool, NULL), PX_OK);
        assert_int_equal(pxi_pool_threads(pool), thread_counts[t]);
        for (int round = 0; round < 3; round++) { /* a pool can be used again */
            pool_job job = {{-1, -1}, runs, 0, thread_counts[t]};
            for (int i = 0; i < N; i++)
                atomic_store(&runs[i], 0);
            assert_int_equal(pxi_pool_run(pool, N, job_run, &job, NULL, NULL, NULL), PX_OK);
            for (int i = 0; i < N; i++)
                assert_int_equal(atomic_load(&runs[i]), 1);
            assert_int_equal(atomic_load(&job.foreign), 0);
        }
        assert_int_equal(pxi_pool_run(pool, 0, job_run, NULL, NULL, NULL, NULL), PX_OK);
        pxi_pool_free(pool);
    }
}

static void test_lowest_failure_wins(void **state)
{
    (void)state;
    enum { N = 64 };
    atomic_int runs[N];
    for (size_t t = 0; t < PX_LEN(thread_counts); t++) {
        px_pool *pool = NULL;
        px_error err = {0};
        pool_job job = {{10, 11}, runs, 0, thread_counts[t]};
        for (int i = 0; i < N; i++)
            atomic_store(&runs[i], 0);
        assert_int_equal(pxi_pool_new(thread_counts[t], &pool, NULL), PX_OK);
        assert_int_equal(pxi_pool_run(pool, N, job_run, &job, NULL, NULL, &err), PX_E_INPUT);
        assert_string_equal(err.message, "index 10 is bad");
        for (int i = 0; i <= 10; i++)
            assert_int_equal(atomic_load(&runs[i]), 1);
        pxi_pool_free(pool);
    }
}

static px_status job_sleep(void *context, int worker, int64_t index, px_error *err)
{
    (void)context, (void)worker, (void)index, (void)err;
    usleep(20000);
    return PX_OK;
}

static bool tick_cancel(void *context, int64_t done, int64_t total)
{
    (*(int *)context)++;
    assert_true(done < total);
    return false;
}

static bool tick_last(void *context, int64_t done, int64_t total)
{
    (void)total;
    *(int64_t *)context = done;
    return true;
}

static void test_cancel(void **state)
{
    (void)state;
    px_pool *pool = NULL;
    px_error err = {0};
    int ticks = 0;
    int64_t last = -1;
    assert_int_equal(pxi_pool_new(2, &pool, NULL), PX_OK);
    const px_status status = pxi_pool_run(pool, 100000, job_sleep, NULL, tick_cancel, &ticks, &err);
    assert_int_equal(status, PX_E_CANCELLED);
    assert_true(ticks >= 1);
    assert_int_equal(pxi_pool_run(pool, 5, job_sleep, NULL, tick_last, &last, &err), PX_OK);
    assert_int_equal(last, 5);
    pxi_pool_free(pool);
    pxi_pool_free(NULL);
}

static void test_default_threads(void **state)
{
    (void)state;
    px_pool *pool = NULL;
    assert_int_equal(pxi_pool_new(0, &pool, NULL), PX_OK);
    assert_int_equal(pxi_pool_threads(pool), px_cpu_count());
    pxi_pool_free(pool);
    assert_true(px_peak_rss_bytes() > 0);
    assert_true(px_memory_bytes() > px_peak_rss_bytes());
    const double before = px_clock_s();
    assert_true(px_clock_s() >= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_lowest_failure_wins),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_default_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
