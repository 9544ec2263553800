/* tests/cover/test_block_run.c - who sees which block when, and what happens when one fails */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"
#include <internal/block_run.h>

#include <internal/profile.h>
#include <plexor/rng.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUTS = 2600, NEVER = 1 << 30 };
enum { ORDERED, PRIVATE, SHARED, WATCHERS };

typedef struct watcher { /* the context of a consumer */
    int64_t fails_at;    /* an input */
    atomic_int opened, closed;
} watcher;

typedef struct watched { /* its state */
    int64_t count, last; /* last: -1 before the first */
    bool in_order, alone;
    atomic_int inside; /* threads that observe */
} watched;

static px_status watch_open(void *context, void **state, px_error *err)
{
    (void)err;
    watched *w = calloc(1, sizeof *w);
    *w = (watched){.last = -1, .in_order = true, .alone = true};
    atomic_fetch_add(&((watcher *)context)->opened, 1);
    *state = w;
    return PX_OK;
}

static void watch_close(void *context, void *state)
{
    atomic_fetch_add(&((watcher *)context)->closed, 1);
    free(state);
}

static px_status watch_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    watched *w = state;
    w->alone &= atomic_fetch_add(&w->inside, 1) == 0;
    /* Blocks take different times, so that they would overtake each other. */
    nanosleep(&(struct timespec){.tv_nsec = rows->facts[0].index / 256 % 3 * 2000000}, NULL);
    for (int64_t i = 0; i < rows->count; i++) {
        if (rows->facts[i].index == ((watcher *)context)->fails_at)
            return px_fail(err, PX_E_INPUT, "input %d fails", (int)rows->facts[i].index);
        w->in_order &= rows->facts[i].index == w->last + 1;
        w->last = rows->facts[i].index;
        w->count++;
    }
    atomic_fetch_sub(&w->inside, 1);
    return PX_OK;
}

static px_status watch_merge(void *context, void *state, void *other, px_error *err)
{
    (void)context, (void)err;
    ((watched *)state)->count += ((watched *)other)->count;
    return PX_OK;
}

static const pxi_consumer_kind watch_kind = {
    .open = watch_open, .close = watch_close, .observe = watch_observe, .merge = watch_merge};

typedef struct run {
    watcher watchers[WATCHERS];
    pxi_consumer consumers[WATCHERS];
} run;

static px_status run_blocks(run *r, int threads, px_error *err)
{
    px_model *model = small_net(7, 4);
    small_data data = small_digits(model, "test", INPUTS, 0);
    px_probe_options options = px_probe_options_default();
    px_extractor *extractor = NULL;
    pxi_row_set rows;
    assert_int_equal(px_extractor_probe(model, &options, &extractor, err), PX_OK);
    assert_int_equal(pxi_row_set_init(&rows, model, &extractor, 1, err), PX_OK);
    for (int i = 0; i < WATCHERS; i++) {
        r->consumers[i] = (pxi_consumer){.kind = &watch_kind,
                                         .context = &r->watchers[i],
                                         .ordered = i == ORDERED,
                                         .shared = i == SHARED};
        watch_open(&r->watchers[i], &r->consumers[i].state, err);
    }
    const pxi_block_job job = {.rows = &rows,
                               .set = data.set,
                               .pre = &data.pre,
                               .threads = threads,
                               .end = INPUTS,
                               .consumers = r->consumers,
                               .consumer_count = WATCHERS};
    const px_status status = pxi_block_run(&job, NULL, err);
    pxi_row_set_done(&rows);
    px_extractor_free(extractor);
    small_close(&data);
    px_model_free(model);
    return status;
}

static void run_close(run *r)
{
    for (int i = 0; i < WATCHERS; i++) {
        watch_close(&r->watchers[i], r->consumers[i].state);
        assert_int_equal(r->watchers[i].opened, r->watchers[i].closed);
    }
}

static void test_order(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        run r = {.watchers = {{.fails_at = NEVER}, {.fails_at = NEVER}, {.fails_at = NEVER}}};
        px_error err = {0};
        if (run_blocks(&r, threads, &err) != PX_OK)
            fail_msg("%s", err.message);
        const watched *ordered = r.consumers[ORDERED].state, *any = r.consumers[PRIVATE].state,
                      *shared = r.consumers[SHARED].state;
        if (!ordered->in_order || ordered->count != INPUTS || any->count != INPUTS)
            fail_msg("%d threads: %d and %d inputs, %s", threads, (int)ordered->count,
                     (int)any->count, ordered->in_order ? "in order" : "not in order");
        /* One state, and one thread in it at a time. */
        assert_int_equal(shared->count, INPUTS);
        assert_int_equal(shared->alone, true);
        assert_int_equal(r.watchers[SHARED].opened, 1);
        run_close(&r);
    }
}

/* Whichever consumer fails, its own message is what comes back, and nobody waits for ever. */
static void test_failure(void **state)
{
    (void)state;
    static const int64_t at[] = {0, 300, 1030, INPUTS - 1};
    for (size_t i = 0; i < PX_LEN(at); i++)
        for (int who = 0; who < WATCHERS; who++)
            for (int threads = 1; threads <= 4; threads++) {
                run r = {
                    .watchers = {{.fails_at = NEVER}, {.fails_at = NEVER}, {.fails_at = NEVER}}};
                px_error err = {0};
                char wanted[64];
                r.watchers[who].fails_at = at[i];
                snprintf(wanted, sizeof wanted, "input %d fails", (int)at[i]);
                const px_status status = run_blocks(&r, threads, &err);
                if (status != PX_E_INPUT || strcmp(err.message, wanted) != 0)
                    fail_msg("%d threads, consumer %d: status %d, '%s', expected '%s'", threads,
                             who, status, err.message, wanted);
                run_close(&r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
