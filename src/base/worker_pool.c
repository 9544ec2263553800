/* src/base/worker_pool.c - the one worker pool */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker_pool.h"

#include "base/canceller.h"
#include "base/memory.h"
#include "base/one_thread.h"

#include <errno.h>
#include <internal/system.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POOL_TICK_MS = 50, POOL_MAX_THREADS = 1024 };

typedef struct pool_worker {
    px_pool *pool;
    pthread_t thread;
    int number;
} pool_worker;

struct px_pool {
    int threads; /* started ones */
    pool_worker *workers;

    /* Everything below is shared and guarded by `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t wake, idle; /* for workers; for the caller */
    pxi_pool_fn work;
    void *context;
    int64_t count, next, finished;
    uint64_t run; /* rises by one per pxi_pool_run() */
    int busy;     /* workers that have not come back from this run */
    bool stop, quit;
    px_canceller canceller;     /* of the thread that runs it */
    bool may_cancel, cancelled; /* between jobs: where a progress function could have done so */
    int64_t failed;             /* lowest failing index; -1: none */
    px_error failure;
};

static void pool_work(px_pool *pool, int number)
{
    while (!pool->stop && pool->next < pool->count) {
        if (pool->may_cancel && px_cancelled()) {
            pool->stop = pool->cancelled = true;
            break;
        }
        const int64_t index = pool->next++;
        px_error error = {0};
        pthread_mutex_unlock(&pool->lock);
        const px_status status = pool->work(pool->context, number, index, &error);
        pthread_mutex_lock(&pool->lock);
        pool->finished++;
        if (status == PX_E_CANCELLED) {
            pool->stop = pool->cancelled = true;
            pool->finished--;
        } else if (status != PX_OK) {
            pool->stop = true;
            if (pool->failed < 0 || index < pool->failed) {
                pool->failed = index;
                pool->failure = error;
                pool->failure.status = status;
            }
        }
    }
}

static void *pool_main(void *argument)
{
    pool_worker *self = argument;
    px_pool *pool = self->pool;
    pxi_one_thread_begin(); /* oneDNN and BLAS calls from here stay on this thread, for good */
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->run == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->run;
        (void)px_cancel_here(pool->canceller);
        pool_work(pool, self->number);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

px_status pxi_pool_new(int threads, px_pool **out, px_error *err)
{
    if (threads <= 0)
        threads = px_cpu_count();
    threads = PX_MIN(threads, (int)POOL_MAX_THREADS);
    px_pool *pool = pxi_calloc(1, sizeof *pool);
    pool_worker *workers = pxi_calloc((size_t)threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return pxi_no_memory_for(err, "%d worker threads", threads);
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->workers = workers;
    for (int i = 0; i < threads; i++) {
        workers[i] = (pool_worker){.pool = pool, .number = i};
        const int failed = pthread_create(&workers[i].thread, NULL, pool_main, &workers[i]);
        if (failed) {
            pxi_pool_free(pool);
            return px_fail(err, PX_E_NOMEM, "cannot start worker thread %d of %d: %s", i + 1,
                           threads, strerror(failed));
        }
        pool->threads++;
    }
    *out = pool;
    return PX_OK;
}

int pxi_pool_threads(const px_pool *pool)
{
    return pool->threads;
}

static struct timespec pool_next_tick(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += POOL_TICK_MS * 1000000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    return t;
}

bool pxi_pool_unwatched(void *context, int64_t done, int64_t total)
{
    (void)context, (void)done, (void)total;
    return true;
}

px_status pxi_pool_run(px_pool *pool, int64_t count, pxi_pool_fn work, void *context,
                       pxi_pool_tick tick, void *tick_context, px_error *err)
{
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->count = count;
    pool->next = pool->finished = 0;
    pool->failed = -1;
    pool->stop = pool->cancelled = false;
    pool->may_cancel = tick != NULL;
    pool->canceller = pxi_canceller();
    pool->busy = pool->threads;
    pool->run++;
    pthread_cond_broadcast(&pool->wake);
    while (pool->busy > 0) {
        const struct timespec until = pool_next_tick();
        if (pthread_cond_timedwait(&pool->idle, &pool->lock, &until) != ETIMEDOUT || !tick)
            continue;
        const int64_t done = pool->finished;
        pthread_mutex_unlock(&pool->lock); /* a slow terminal must not hold up the workers */
        const bool go_on = tick(tick_context, done, count);
        pthread_mutex_lock(&pool->lock);
        if (!go_on)
            pool->cancelled = pool->stop = true;
    }
    const int64_t failed = pool->failed, finished = pool->finished;
    bool cancelled = pool->cancelled;
    pthread_mutex_unlock(&pool->lock);

    if (failed >= 0) {
        if (err)
            *err = pool->failure;
        return pool->failure.status;
    }
    if (tick && !tick(tick_context, finished, count))
        cancelled = true;
    return cancelled ? px_fail(err, PX_E_CANCELLED, "cancelled") : PX_OK;
}

void pxi_pool_free(px_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}
