/* tests/engine/test_pass.c - the one way through a network: views, order, streams, clean ends */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"

#include <internal/pass.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 37, FEATURES = 3 * 4 * 4, CLASSES = 5 };

typedef struct fixture {
    px_model *model;
    px_scores scores;
    float x[ITEMS * FEATURES];
    float y[ITEMS][CLASSES]; /* by a run with one thread and no views */
} fixture;

static px_model *make_model(void)
{
    net n;
    net_init(&n, 7, "1,3,4,4");
    const int c = net_add(&n, "Conv", "", IN(V(n.x), {.weight = "8,3,3,3"}, {.weight = "8"}));
    const int r = net_add(&n, "Relu", "", IN(V(c)));
    const int f = net_add(&n, "Flatten", "", IN(V(r)));
    return net_take(&n, net_add(&n, "Gemm", "", IN(V(f), {.weight = "32,5"})));
}

typedef struct run { /* what a visitor of these tests is given */
    const fixture *f;
    float y[ITEMS][CLASSES];
    int seen[ITEMS];
    int64_t fails_at, cancels_at; /* item; -1: never */
    int64_t order[ITEMS];
    int64_t ordered;
    atomic_int closed;
} run;

static px_status fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const run *r = lane->context;
    if (item == r->fails_at || (r->fails_at >= 0 && item == r->fails_at + 9))
        return px_fail(err, PX_E_INPUT, "item %d is bad", (int)item);
    memcpy(input, r->f->x + item * FEATURES, FEATURES * sizeof *input);
    for (int i = 0; i < FEATURES; i++)
        input[i] *= (float)(view + 1);
    return PX_OK;
}

static px_status visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    run *r = lane->context;
    for (int64_t i = 0; i < batch->count; i++) {
        const int64_t item = batch->first + (batch->row + i) / 3;
        r->seen[item]++;
        if ((batch->row + i) % 3 == 0)
            PX_TRY(pxi_scores_row(lane->session, &r->f->scores, i, r->y[item], err));
    }
    return PX_OK;
}

static void closed(pxi_lane *lane)
{
    run *r = lane->context;
    atomic_fetch_add(&r->closed, 1);
}

static bool tick(void *context, int64_t done, int64_t total)
{
    const run *r = context;
    assert_true(done >= 0 && done <= total && total == ITEMS);
    return r->cancels_at < 0 || done < r->cancels_at;
}

static pxi_task task_of(const fixture *f, run *r, int threads, int64_t batch)
{
    return (pxi_task){.model = f->model,
                      .sample = {.rank = 3, .dim = {3, 4, 4}},
                      .count = ITEMS,
                      .threads = threads,
                      .batch = batch,
                      .progress = tick,
                      .progress_context = r};
}

static int set_up(void **state)
{
    fixture *f = pxi_calloc(1, sizeof *f);
    px_error err = {0};
    f->model = make_model();
    check(px_model_scores(f->model, &f->scores, &err), &err, "scores");
    net_fill(f->x, PX_LEN(f->x), 3, -1.0, 1.0);
    px_plan_options options = px_plan_options_default();
    options.batch = 1;
    px_plan *plan = NULL;
    px_session *session = NULL;
    check(px_plan_new(f->model, &options, &plan, &err), &err, "plan");
    check(px_session_new(plan, &session, &err), &err, "session");
    for (int i = 0; i < ITEMS; i++) { /* what a pass is compared with: one by one */
        memcpy(px_session_input(session, 0), f->x + i * FEATURES, FEATURES * sizeof(float));
        check(px_session_forward(session, &err), &err, "forward");
        check(px_session_read(session, f->scores.value, 1, f->y[i], &err), &err, "read");
    }
    px_session_free(session);
    px_plan_free(plan);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_model_free(f->model);
    free(f);
    return 0;
}

/* Three views of each item: in batches that hold whole items, and in ones that part them. */
static void test_views(void **state)
{
    const fixture *f = *state;
    static const int64_t batches[] = {1, 3, 4, 6, 50};
    for (size_t b = 0; b < PX_LEN(batches); b++)
        for (int threads = 1; threads <= 5; threads += 2) {
            run r = {.f = f, .fails_at = -1, .cancels_at = -1};
            const pxi_task task = task_of(f, &r, threads, batches[b]);
            const pxi_visitor visitor = {.context = &r,
                                         .state_size = 1,
                                         .views = 3,
                                         .fill = fill,
                                         .visit = visit,
                                         .close = closed};
            const px_plan_options wants = pxi_wants_scores(&f->scores);
            px_error err = {0};
            check(pxi_pass_once(&task, &wants, &visitor, &err), &err, "pass");
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(r.seen[i], 3);
            for (int i = 0; i < ITEMS; i++)
                for (int c = 0; c < CLASSES; c++)
                    assert_float_equal(r.y[i][c], f->y[i][c], 1e-5);
            /* no lane that has nothing to do */
            const int64_t piece = batches[b] % 3 == 0 ? batches[b] / 3 : batches[b];
            assert_int_equal(r.closed, PX_MIN(threads, (ITEMS + piece - 1) / piece));
        }
}

/* Whoever fails first in the order of items is the one that is told of, for any threads. */
static void test_failure(void **state)
{
    const fixture *f = *state;
    for (int threads = 1; threads <= 4; threads++) {
        run r = {.f = f, .fails_at = 11, .cancels_at = -1};
        const pxi_task task = task_of(f, &r, threads, 2);
        const pxi_visitor visitor = {.context = &r, .views = 3, .fill = fill, .visit = visit};
        const px_plan_options wants = pxi_wants_scores(&f->scores);
        px_error err = {0};
        assert_int_equal(pxi_pass_once(&task, &wants, &visitor, &err), PX_E_INPUT);
        assert_string_equal(err.message, "item 11 is bad");
    }
}

static void test_cancel(void **state)
{
    const fixture *f = *state;
    run r = {.f = f, .fails_at = -1, .cancels_at = 0};
    const pxi_task task = task_of(f, &r, 2, 2);
    const pxi_visitor visitor = {.context = &r, .views = 3, .fill = fill, .visit = visit};
    const px_plan_options wants = pxi_wants_scores(&f->scores);
    px_error err = {0};
    assert_int_equal(pxi_pass_once(&task, &wants, &visitor, &err), PX_E_CANCELLED);
    assert_non_null(strstr(err.message, "of 37 inputs"));
}

/* Counts at the ends of the type: refused, or as long as anybody waits. */
static void test_counts(void **state)
{
    const fixture *f = *state;
    static const struct {
        int64_t count, seen;
        px_status status;
    } cases[] = {{-1, 0, PX_E_USAGE}, {0, 0, PX_OK}, {INT64_MAX, 0, PX_E_INPUT}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        run r = {.f = f, .fails_at = 0, .cancels_at = -1};
        pxi_task task = task_of(f, &r, 2, 2);
        const pxi_visitor visitor = {.context = &r, .views = 3, .fill = fill, .visit = visit};
        const px_plan_options wants = pxi_wants_scores(&f->scores);
        px_error err = {0};
        task.count = cases[i].count;
        task.progress = NULL;
        assert_int_equal(pxi_pass_once(&task, &wants, &visitor, &err), cases[i].status);
        assert_int_equal(r.seen[0], cases[i].seen);
    }
}

/* --- who does the jobs ----------------------------------------------------------------------- */

static px_status count_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    atomic_int *jobs = context; /* per lane */
    (void)job, (void)err;
    atomic_fetch_add(&jobs[lane->number], 1);
    return PX_OK;
}

/* As many lanes as threads, unless fewer items are known, or workers are there already. */
static void test_lanes(void **state)
{
    const fixture *f = *state;
    static const struct {
        int threads, count, shared, lanes;
    } cases[] = {{5, 0, 0, 5}, {5, 2, 0, 2}, {2, 5, 0, 2}, {5, 2, 3, 3}, {1, 0, 3, 3}};
    const px_plan_options wants = pxi_wants_scores(&f->scores);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        run r = {.f = f, .fails_at = -1, .cancels_at = -1};
        pxi_task task = task_of(f, &r, cases[i].threads, 2);
        const pxi_visitor visitor = {.context = &r};
        pxi_workers *shared = NULL;
        pxi_pass *pass = NULL;
        px_error err = {0};
        atomic_int jobs[8] = {0};
        int done = 0;
        if (cases[i].shared)
            check(pxi_workers_open(cases[i].shared, &shared, &err), &err, "workers");
        task.count = cases[i].count;
        task.workers = shared;
        check(pxi_pass_open(&task, &wants, &visitor, &pass, &err), &err, "open");
        assert_int_equal(pxi_pass_lanes(pass), cases[i].lanes);
        assert_true(!shared || pxi_pass_workers(pass) == shared);
        check(pxi_pass_each(pass, 100, NULL, count_job, jobs, &err), &err, "each");
        for (int l = 0; l < cases[i].lanes; l++)
            done += atomic_load(&jobs[l]);
        assert_int_equal(done, 100);
        pxi_pass_close(pass);
        pxi_workers_close(shared);
    }
}

typedef struct caller {
    pthread_t thread;
    int64_t jobs;
} caller;

static px_status caller_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    caller *c = context;
    assert_int_equal(lane->number, 0);
    assert_true(pthread_equal(c->thread, pthread_self()));
    assert_int_equal(c->jobs++, job);
    return job == 7 ? px_fail(err, PX_E_INPUT, "job 7 is bad") : PX_OK;
}

/* One lane that nobody watches is the caller's own thread. */
static void test_caller(void **state)
{
    const fixture *f = *state;
    run r = {.f = f, .fails_at = -1, .cancels_at = -1};
    const pxi_task task = task_of(f, &r, 1, 2);
    const px_plan_options wants = pxi_wants_scores(&f->scores);
    caller c = {.thread = pthread_self()};
    pxi_pass *pass = NULL;
    px_error err = {0};
    check(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &pass, &err), &err, "open");
    check(pxi_pass_each(pass, 5, NULL, caller_job, &c, &err), &err, "each");
    assert_int_equal(c.jobs, 5);
    c.jobs = 0;
    assert_int_equal(pxi_pass_each(pass, 50, NULL, caller_job, &c, &err), PX_E_INPUT);
    assert_string_equal(err.message, "job 7 is bad");
    assert_int_equal(c.jobs, 8);
    pxi_pass_close(pass);
}

typedef struct halves { /* two passes on the same workers: up to a value, and from it on */
    const fixture *f;
    pxi_pass *before, *behind;
    int value;
    float y[ITEMS][CLASSES];
} halves;

static px_status halves_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    halves *h = context;
    px_session *behind = pxi_pass_lane(h->behind, lane->number)->session;
    const int64_t batch = pxi_pass_batch(lane->pass), first = job * batch;
    const int64_t rows = PX_MIN(batch, ITEMS - first);
    memcpy(pxi_lane_input(lane, 0), h->f->x + first * FEATURES,
           (size_t)rows * FEATURES * sizeof(float));
    PX_TRY(pxi_lane_forward(lane, rows, err));
    PX_TRY(px_session_read(lane->session, h->value, -1, px_session_input(behind, 0), err));
    PX_TRY(px_session_forward(behind, err));
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(pxi_scores_row(behind, &h->f->scores, i, h->y[first + i], err));
    return PX_OK;
}

static void test_feeds(void **state)
{
    const fixture *f = *state;
    for (int threads = 1; threads <= 4; threads += 3) {
        run r = {.f = f, .fails_at = -1, .cancels_at = -1};
        halves h = {.f = f, .value = px_model_graph(f->model)->nodes[1].outputs[0]};
        pxi_task task = task_of(f, &r, threads, 4);
        px_plan_options wants = px_plan_options_default();
        px_error err = {0};
        wants.keep = &h.value;
        wants.keep_count = 1;
        wants.no_outputs = true;
        check(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &h.before, &err), &err, "before");
        const px_feed feed = {h.value, px_plan_shape(pxi_pass_plan(h.before), h.value)};
        task.feeds = &feed;
        task.feed_count = 1;
        task.batch = 0; /* the feed says */
        task.workers = pxi_pass_workers(h.before);
        wants = pxi_wants_scores(&f->scores);
        check(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &h.behind, &err), &err, "behind");
        assert_int_equal(pxi_pass_batch(h.behind), 4);
        assert_int_equal(pxi_pass_floats(h.behind), px_shape_count(&feed.shape) / 4);
        check(pxi_pass_each(h.before, (ITEMS + 3) / 4, NULL, halves_job, &h, &err), &err, "each");
        for (int i = 0; i < ITEMS; i++)
            for (int c = 0; c < CLASSES; c++)
                assert_float_equal(h.y[i][c], f->y[i][c], 1e-5);
        pxi_pass_close(h.behind);
        pxi_pass_close(h.before);
    }
}

/* A batch that is chosen is the largest that wastes nothing on 100 inputs. */
static void test_even(void **state)
{
    const fixture *f = *state;
    const px_plan_options wants = pxi_wants_scores(&f->scores);
    static const struct {
        bool even;
        int64_t wanted, batch;
    } cases[] = {{false, 0, 64}, {true, 0, 50}, {true, 7, 7}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        run r = {.f = f, .fails_at = -1, .cancels_at = -1};
        pxi_task task = task_of(f, &r, 1, cases[i].wanted);
        pxi_pass *pass = NULL;
        px_error err = {0};
        task.max_batch = 100;
        task.even = cases[i].even;
        check(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &pass, &err), &err, "open");
        assert_int_equal(pxi_pass_batch(pass), cases[i].batch);
        pxi_pass_close(pass);
    }
}

/* --- another executor: one lane, on the thread that calls ------------------------------------ */

typedef struct here_workers {
    pxi_workers head;
    int sessions, runs;
    bool *closed;
} here_workers;

static void here_close(pxi_workers *workers)
{
    *((here_workers *)workers)->closed = true;
}

static px_status here_session(pxi_workers *workers, int lane, const px_plan *plan, px_session **out,
                              px_error *err)
{
    assert_int_equal(lane, 0);
    ((here_workers *)workers)->sessions++;
    return px_session_new(plan, out, err);
}

static px_status here_run(pxi_workers *workers, int64_t count, pxi_executor_job job, void *context,
                          pxi_executor_tick ticks, void *tick_context, px_error *err)
{
    ((here_workers *)workers)->runs++;
    for (int64_t i = 0; i < count; i++) {
        PX_TRY(job(context, 0, i, err));
        if (ticks && !ticks(tick_context, i + 1, count))
            return px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    return PX_OK;
}

static const pxi_executor here = {
    .name = "here", .close = here_close, .session = here_session, .run = here_run};

/* Nothing but the table is asked for: runs, failures and cancelling are as with threads. */
static void test_executor(void **state)
{
    const fixture *f = *state;
    static const struct {
        int64_t fails_at, cancels_at;
        px_status status;
        const char *message;
    } cases[] = {{-1, -1, PX_OK, ""},
                 {11, -1, PX_E_INPUT, "item 11 is bad"},
                 {-1, 8, PX_E_CANCELLED, "cancelled after 8 of 37 inputs"}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        bool closes = false;
        here_workers own = {.head = {.executor = &here, .lanes = 1}, .closed = &closes};
        run r = {.f = f, .fails_at = cases[i].fails_at, .cancels_at = cases[i].cancels_at};
        run threads = {.f = f, .fails_at = -1, .cancels_at = -1};
        pxi_task task = task_of(f, &r, 4, 2);
        pxi_visitor visitor = {.context = &r, .views = 3, .fill = fill, .visit = visit};
        const px_plan_options wants = pxi_wants_scores(&f->scores);
        px_error err = {0};
        task.workers = &own.head;
        assert_int_equal(pxi_pass_once(&task, &wants, &visitor, &err), cases[i].status);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(own.sessions, 1);
        assert_int_equal(own.runs, 1);
        assert_false(closes); /* they are the caller's */
        pxi_workers_close(&own.head);
        assert_true(closes);
        if (cases[i].status != PX_OK)
            continue;
        task = task_of(f, &threads, 4, 2);
        visitor.context = &threads;
        check(pxi_pass_once(&task, &wants, &visitor, &err), &err, "threads");
        assert_memory_equal(r.y, threads.y, sizeof r.y);
    }
}

/* --- in order -------------------------------------------------------------------------------- */

static px_status ordered_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    run *r = context;
    if (job == r->fails_at)
        return px_fail(err, PX_E_INPUT, "job %d is bad", (int)job);
    if (job % 4 == 3) /* some have nothing to do in order */
        return PX_OK;
    PX_TRY(pxi_pass_turn(lane, err));
    r->order[r->ordered++] = job; /* no lock: nobody else has the turn */
    return PX_OK;
}

static void test_order(void **state)
{
    const fixture *f = *state;
    for (int64_t bad = -1; bad < ITEMS; bad += 12)
        for (int threads = 1; threads <= 5; threads += 2) {
            run r = {.f = f, .fails_at = bad, .cancels_at = -1};
            const pxi_task task = task_of(f, &r, threads, 2);
            const pxi_visitor visitor = {.context = &r, .ordered = true};
            const px_plan_options wants = pxi_wants_scores(&f->scores);
            const pxi_share share = {.each = 1, .total = ITEMS};
            pxi_pass *pass = NULL;
            px_error err = {0};
            check(pxi_pass_open(&task, &wants, &visitor, &pass, &err), &err, "open");
            const px_status status = pxi_pass_each(pass, ITEMS, &share, ordered_job, &r, &err);
            assert_int_equal(status, bad < 0 ? PX_OK : PX_E_INPUT);
            int64_t want = 0;
            for (int64_t i = 0; i < r.ordered; i++, want++) {
                want += want % 4 == 3;
                assert_int_equal(r.order[i], want);
            }
            assert_true(bad < 0 ? want >= ITEMS - 1 : r.ordered <= bad);
            pxi_pass_close(pass);
        }
}

/* --- streams: item i needs i % 5 + 1 steps --------------------------------------------------- */

enum { SLOTS = 3 };

typedef struct walker {
    int64_t item, left;
} walker;

static px_status stream_begin(pxi_lane *lane, size_t slot, int64_t item, px_error *err)
{
    run *r = lane->context;
    walker *w = lane->state;
    if (item == r->fails_at)
        return px_fail(err, PX_E_INPUT, "item %d is bad", (int)item);
    w[slot] = (walker){.item = item, .left = item % 5 + 1};
    return PX_OK;
}

static px_status stream_step(pxi_lane *lane, px_error *err)
{
    run *r = lane->context;
    walker *w = lane->state;
    int64_t rows = 0, which[SLOTS];
    for (size_t i = 0; i < SLOTS; i++)
        if (w[i].left > 0) {
            memcpy(pxi_lane_input(lane, rows), r->f->x + w[i].item * FEATURES,
                   FEATURES * sizeof(float));
            which[rows++] = (int64_t)i;
        }
    PX_TRY(pxi_lane_forward(lane, rows, err));
    for (int64_t i = 0; i < rows; i++) {
        walker *one = &w[which[i]];
        r->seen[one->item]++;
        if (--one->left == 0)
            PX_TRY(pxi_scores_row(lane->session, &r->f->scores, i, r->y[one->item], err));
    }
    return PX_OK;
}

static bool stream_done(const pxi_lane *lane, size_t slot)
{
    const walker *w = lane->state;
    return w[slot].left == 0;
}

static void test_stream(void **state)
{
    const fixture *f = *state;
    for (int64_t bad = -1; bad < ITEMS; bad += 20)
        for (int threads = 1; threads <= 5; threads += 2) {
            run r = {.f = f, .fails_at = bad, .cancels_at = -1};
            const pxi_task task = task_of(f, &r, threads, SLOTS);
            const pxi_visitor visitor = {.context = &r, .state_size = SLOTS * sizeof(walker)};
            const pxi_stream stream = {
                .slots = SLOTS, .begin = stream_begin, .step = stream_step, .done = stream_done};
            const px_plan_options wants = pxi_wants_scores(&f->scores);
            const pxi_share share = {.each = 1, .total = ITEMS};
            pxi_pass *pass = NULL;
            px_error err = {0};
            check(pxi_pass_open(&task, &wants, &visitor, &pass, &err), &err, "open");
            const px_status status = pxi_pass_stream(pass, ITEMS, &share, &stream, &err);
            pxi_pass_close(pass);
            assert_int_equal(status, bad < 0 ? PX_OK : PX_E_INPUT);
            if (bad >= 0)
                assert_string_equal(err.message, bad == 19 ? "item 19 is bad" : "item 39 is bad");
            for (int i = 0; bad < 0 && i < ITEMS; i++) {
                assert_int_equal(r.seen[i], i % 5 + 1);
                for (int c = 0; c < CLASSES; c++)
                    assert_float_equal(r.y[i][c], f->y[i][c], 1e-5);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),    cmocka_unit_test(test_failure),
        cmocka_unit_test(test_cancel),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_lanes),    cmocka_unit_test(test_caller),
        cmocka_unit_test(test_feeds),    cmocka_unit_test(test_even),
        cmocka_unit_test(test_executor), cmocka_unit_test(test_order),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
