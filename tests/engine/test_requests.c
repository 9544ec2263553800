/* tests/engine/test_requests.c - what a plan may be asked for: keep, observe, seeds, wrt, restarts
 *
 * Lists may name views, constants, inputs, and one value twice. Gradients are linear in the seeds:
 * two layers' seeds in one backward pass give the sum of two passes. A restart at an inner value
 * gives what the full run gives.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_helpers.h"

#include <internal/engine.h>
#include <stdio.h>
#include <string.h>

/* x -> conv -> relu -> conv + relu's -> relu -> pool -> flatten -> gemm */
typedef struct small_net {
    px_model *model;
    int x, relu1, sum, relu2, pool, flat, logits;
} small_net;

static small_net small_net_new(void)
{
    net n;
    small_net s;
    net_init(&n, 77, "1,3,8,8");
    s.x = n.x;
    const int c1 =
        net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "16,3,3,3"}, {.weight = "16"}));
    s.relu1 = net_add(&n, "Relu", "", IN(V(c1)));
    const int c2 = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(s.relu1), {.weight = "16,16,3,3"}));
    s.sum = net_add(&n, "Add", "", IN(V(c2), V(s.relu1)));
    s.relu2 = net_add(&n, "Relu", "", IN(V(s.sum)));
    s.pool = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(s.relu2)));
    s.flat = net_add(&n, "Flatten", "", IN(V(s.pool)));
    s.logits = net_add(&n, "Gemm", "", IN(V(s.flat), {.weight = "256,10"}, {.weight = "10"}));
    s.model = net_take(&n, s.logits);
    return s;
}

/* --- views: an alias shares memory with its source, but not the source's gradient ------------ */

static void test_gradient_at_view(void **state)
{
    (void)state;
    static const char *const views[] = {"Identity", "Flatten", "Dropout", "Squeeze", "Cast"};
    for (size_t i = 0; i < PX_LEN(views); i++)
        for (int reference = 0; reference < 2; reference++) {
            net n; /* y = relu(view(x)) + 3 view(x)' where the second reads x itself */
            net_init(&n, i, "1,6");
            const float three[] = {3.0f};
            const int a = net_add(&n, views[i], i == 4 ? "to=1" : "", IN(V(n.x)));
            const int r = net_add(&n, "Relu", "", IN(V(a)));
            const int m =
                net_add(&n, "Mul", "", IN(V(n.x), V(net_tensor(&n, PX_FLOAT32, "1", three))));
            const int y = net_add(&n, "Add", "", IN(V(r), V(m)));
            px_model *model = net_take(&n, y);
            const int wrt[] = {a, n.x, a}, seeds[] = {y, n.x, y};
            px_plan_options options = px_plan_options_default();
            options.batch = 2;
            options.wrt = wrt;
            options.wrt_count = PX_LEN(wrt);
            options.seeds = seeds;
            options.seed_count = PX_LEN(seeds);
            options.reference = reference;
            px_plan *plan = NULL;
            px_session *session = open_plan(model, &options, &plan, views[i]);
            px_error err = {0};
            for (int round = 0; round < 2; round++) {
                check(px_session_forward(session, &err), &err, views[i]);
                check(px_session_seed_clear(session, &err), &err, views[i]);
                const px_place at_y = px_session_seed(session, y);
                const px_place at_x = px_session_seed(session, n.x);
                for (int k = 0; k < 12; k++) {
                    at_y.data[k] += 1.0f;
                    at_x.data[k] += 10.0f;
                }
                check(px_session_backward(session, &err), &err, views[i]);
            }
            const float *x = px_session_input(session, 0);
            const float *da = px_session_grad(session, a).data;
            const float *dx = px_session_grad(session, n.x).data;
            for (int k = 0; k < 12; k++) {
                const float slope = x[k] > 0.0f ? 1.0f : 0.0f;
                if (da[k] != slope || dx[k] != slope + 3.0f + 10.0f)
                    fail_msg("%s: at view %g (expected %g), at its source %g (expected %g)",
                             views[i], (double)da[k], (double)slope, (double)dx[k],
                             (double)slope + 13.0);
            }
            close_plan(plan, session);
            px_model_free(model);
        }
}

/* A weight that reaches its product through a Transpose has a gradient like any other. */
static void test_gradient_through_folded(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        net n;
        net_init(&n, 3, "1,4");
        const int t = net_add(&n, "Transpose", "perm=1,0", IN({.weight = "5,4"}));
        const int y = net_add(&n, "MatMul", "", IN(V(n.x), V(t)));
        px_model *model = net_take(&n, y);
        const int wrt[] = {net_weight(model, 0)};
        px_plan_options options = px_plan_options_default();
        options.batch = 3;
        options.wrt = wrt;
        options.wrt_count = 1;
        options.seeds = &y;
        options.seed_count = 1;
        options.reference = reference;
        px_plan *plan = NULL;
        px_session *session = open_plan(model, &options, &plan, "folded");
        px_error err = {0};
        check(px_session_forward(session, &err), &err, "folded");
        check(px_session_seed_clear(session, &err), &err, "folded");
        seed_add(session, y, 5, 1.0f);
        const px_place place = px_session_seed(session, y);
        float dy[15], want[20] = {0};
        memcpy(dy, place.data, sizeof dy);
        check(px_session_backward(session, &err), &err, "folded");
        const float *x = px_session_input(session, 0);
        for (int s = 0; s < 3; s++)
            for (int o = 0; o < 5; o++)
                for (int k = 0; k < 4; k++)
                    want[o * 4 + k] += dy[s * 5 + o] * x[s * 4 + k];
        assert_close(px_session_grad(session, wrt[0]).data, want, 20, 1e-5, "folded weight");
        close_plan(plan, session);
        px_model_free(model);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

typedef struct seen {
    int values[32], count;
    double sum[32];
} seen;

static px_status see(void *context, int value, const px_view *view, px_error *err)
{
    (void)err;
    seen *s = context;
    float *copy = view_copy(view);
    s->values[s->count] = value;
    s->sum[s->count] = 0.0;
    for (int64_t i = 0; i < px_shape_count(&view->shape); i++)
        s->sum[s->count] += fabs((double)copy[i]);
    s->count++;
    free(copy);
    return PX_OK;
}

/* Inputs, constants, folded values, views and fused neighbours: each is shown once, as kept. */
static void test_keep_and_observe(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        small_net s = small_net_new();
        const int weight = net_weight(s.model, 0);
        const int all[] = {s.x,    weight,   s.relu1, s.sum,  s.relu2, s.pool,
                           s.flat, s.logits, s.relu1, s.flat, s.x};
        px_plan_options options = px_plan_options_default();
        options.batch = 2;
        options.keep = options.observe = all;
        options.keep_count = options.observe_count = PX_LEN(all);
        options.reference = reference;
        px_plan *plan = NULL;
        px_session *session = open_plan(s.model, &options, &plan, "keep");
        px_error err = {0};
        seen got = {0};
        px_session_observe(session, see, &got);
        check(px_session_forward(session, &err), &err, "keep");
        assert_int_equal(got.count, 8);
        for (int i = 0; i < got.count; i++) {
            const px_view view = px_session_view(session, got.values[i]);
            float *copy = view_copy(&view);
            double sum = 0.0;
            for (int64_t k = 0; k < px_shape_count(&view.shape); k++)
                sum += fabs((double)copy[k]);
            if (sum != got.sum[i] || sum == 0.0)
                fail_msg("value %d was shown with sum %g, kept with %g", got.values[i], got.sum[i],
                         sum);
            for (int k = 0; k < i; k++)
                assert_int_not_equal(got.values[k], got.values[i]);
            free(copy);
        }
        close_plan(plan, session);
        px_model_free(s.model);
    }
}

/* Seeds and wrt may name constants and inputs; a gradient is what was seeded plus what flows. */
static void test_seed_at_constant(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        net n;
        net_init(&n, 3, "1,4");
        const int y = net_add(&n, "Gemm", "", IN(V(n.x), {.weight = "4,2"}, {.weight = "2"}));
        px_model *model = net_take(&n, y);
        const int both[] = {net_weight(model, 0), net_weight(model, 1), y, n.x};
        px_plan_options options = px_plan_options_default();
        options.batch = 1;
        options.wrt = options.seeds = both;
        options.wrt_count = options.seed_count = PX_LEN(both);
        options.reference = reference;
        px_plan *plan = NULL;
        px_session *session = open_plan(model, &options, &plan, "constants");
        px_error err = {0};
        check(px_session_forward(session, &err), &err, "constants");
        check(px_session_seed_clear(session, &err), &err, "constants");
        for (size_t i = 0; i < PX_LEN(both); i++) {
            const px_place place = px_session_seed(session, both[i]);
            for (int64_t k = 0; k < px_shape_count(&place.shape); k++)
                place.data[k] += 100.0f;
        }
        check(px_session_backward(session, &err), &err, "constants");
        const float *x = px_session_input(session, 0);
        const float *dw = px_session_grad(session, both[0]).data;
        for (int k = 0; k < 4; k++)
            for (int o = 0; o < 2; o++)
                assert_true(fabsf(dw[k * 2 + o] - (100.0f + 100.0f * x[k])) < 1e-3f);
        assert_true(px_session_grad(session, both[1]).data[0] == 200.0f);
        assert_true(px_session_grad(session, y).data[1] == 100.0f);
        close_plan(plan, session);
        px_model_free(model);
    }
}

static void test_lists_of_wrong_types(void **state)
{
    (void)state;
    net n;
    net_init(&n, 3, "1,4");
    const int y = net_add(&n, "Greater", "", IN(V(n.x), {.weight = "4"}));
    px_model *model = net_take(&n, y);
    for (int list = 0; list < 3; list++) {
        px_plan_options options = px_plan_options_default();
        *(list == 0 ? &options.seeds : list == 1 ? &options.wrt : &options.observe) = &y;
        *(list == 0   ? &options.seed_count
          : list == 1 ? &options.wrt_count
                      : &options.observe_count) = 1;
        px_plan *plan = NULL;
        px_error err = {0};
        assert_int_equal(px_plan_new(model, &options, &plan, &err), PX_E_USAGE);
        assert_non_null(strstr(err.message, "bool"));
    }
    px_model_free(model);
}

/* --- gradients at several depths -------------------------------------------------------------- */

static void test_seeds_at_several_depths(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        small_net s = small_net_new();
        const int seeds[] = {s.relu1, s.relu2, s.flat, s.logits};
        const int wrt[] = {s.x, s.relu1, net_weight(s.model, 0), net_weight(s.model, 2)};
        px_plan_options options = px_plan_options_default();
        options.batch = 2;
        options.seeds = seeds;
        options.seed_count = PX_LEN(seeds);
        options.wrt = wrt;
        options.wrt_count = reference ? PX_LEN(wrt) : 2;
        options.reference = reference;
        px_plan *plan = NULL;
        px_session *session = open_plan(s.model, &options, &plan, "depths");
        px_error err = {0};
        float *sum[4] = {0};
        int64_t counts[4] = {0};
        for (size_t pass = 0; pass <= PX_LEN(seeds); pass++) { /* one by one, then all at once */
            const bool all = pass == PX_LEN(seeds);
            check(px_session_forward(session, &err), &err, "depths");
            check(px_session_seed_clear(session, &err), &err, "depths");
            for (size_t i = 0; i < PX_LEN(seeds); i++)
                if (all || i == pass)
                    seed_add(session, seeds[i], i, 1.0f + (float)i);
            check(px_session_backward(session, &err), &err, "depths");
            for (size_t w = 0; w < options.wrt_count; w++) {
                const px_view view = px_session_grad(session, wrt[w]);
                float *got = view_copy(&view);
                counts[w] = px_shape_count(&view.shape);
                if (all) {
                    assert_close(sum[w], got, counts[w], 2e-5, "sum of passes");
                } else if (!sum[w]) {
                    sum[w] = got;
                    continue;
                } else {
                    for (int64_t k = 0; k < counts[w]; k++)
                        sum[w][k] += got[k];
                }
                free(got);
            }
        }
        for (size_t w = 0; w < PX_LEN(sum); w++)
            free(sum[w]);
        close_plan(plan, session);
        px_model_free(s.model);
    }
}

/* --- gradients that are masked on the way ---------------------------------------------------- */

/* x -> conv -> act (a) -> depthwise -> act (b) -> conv: whoever asks for a gradient at a or b,
 * seeds one, or reads a as well, gets it as it is before the mask; the input's is the same as ever.
 */
static void test_masked_gradients(void **state)
{
    (void)state;
    enum { AT_A = 1, AT_B = 2, SEED_A = 4, SEED_B = 8, READ_A = 16, VIEW_A = 32, WEIGHTS = 64 };
    static const char *const acts[] = {"Relu", "LeakyRelu", "Clip", "Sigmoid"};
    static const float low = -0.25f, high = 0.5f;
    for (int request = 0; request < 128; request++)
        for (int stride = 1; stride < 3; stride++) {
            const char *act = acts[(request + stride) % 4];
            char what[64], attrs[64];
            snprintf(what, sizeof what, "request %d stride %d %s", request, stride, act);
            snprintf(attrs, sizeof attrs, "group=32 pads=1,1,1,1 strides=%d,%d", stride, stride);
            net n;
            net_init(&n, (uint64_t)request, "1,4,7,6");
            const int bounds[] = {net_tensor(&n, PX_FLOAT32, "", &low),
                                  net_tensor(&n, PX_FLOAT32, "", &high)};
            const bool clip = act[0] == 'C';
            int a = net_add(&n, "Conv", "", IN(V(n.x), {.weight = "32,4,1,1"}));
            a = clip ? net_add(&n, act, "", IN(V(a), V(bounds[0]), V(bounds[1])))
                     : net_add(&n, act, "", IN(V(a)));
            const int read = request & VIEW_A ? net_add(&n, "Identity", "", IN(V(a))) : a;
            int b = net_add(&n, "Conv", attrs, IN(V(read), {.weight = "32,1,3,3"}));
            b = clip ? net_add(&n, act, "", IN(V(b), V(bounds[0]), V(bounds[1])))
                     : net_add(&n, act, "", IN(V(b)));
            int y = net_add(&n, "Conv", "", IN(V(b), {.weight = "8,32,1,1"}));
            y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
            if (request & READ_A) {
                int other = net_add(&n, "GlobalAveragePool", "", IN(V(a)));
                other = net_add(&n, "Conv", "", IN(V(other), {.weight = "8,32,1,1"}));
                y = net_add(&n, "Add", "", IN(V(y), V(other)));
            }
            px_model *model = net_take(&n, y);
            int wrt[4] = {n.x}, seeds[3] = {y};
            px_plan_options options = px_plan_options_default();
            options.batch = 2;
            options.wrt = wrt;
            options.wrt_count = 1;
            options.seeds = seeds;
            options.seed_count = 1;
            if (request & AT_A)
                wrt[options.wrt_count++] = a;
            if (request & AT_B)
                wrt[options.wrt_count++] = b;
            if (request & WEIGHTS)
                wrt[options.wrt_count++] = net_weight(model, 1);
            if (request & SEED_A)
                seeds[options.seed_count++] = a;
            if (request & SEED_B)
                seeds[options.seed_count++] = b;
            float *got[2][4] = {{0}};
            int64_t counts[4] = {0};
            for (int reference = 0; reference < 2; reference++) {
                options.reference = reference;
                px_plan *plan = NULL;
                px_session *session = open_plan(model, &options, &plan, what);
                px_error err = {0};
                for (int round = 0; round < 2; round++) { /* nothing is left of the first */
                    check(px_session_forward(session, &err), &err, what);
                    check(px_session_seed_clear(session, &err), &err, what);
                    for (size_t i = 0; i < options.seed_count; i++)
                        seed_add(session, seeds[i], i, 1.0f);
                    check(px_session_backward(session, &err), &err, what);
                }
                for (size_t w = 0; w < options.wrt_count; w++) {
                    const px_view view = px_session_grad(session, wrt[w]);
                    got[reference][w] = view_copy(&view);
                    counts[w] = px_shape_count(&view.shape);
                }
                close_plan(plan, session);
            }
            for (size_t w = 0; w < options.wrt_count; w++) {
                assert_close(got[0][w], got[1][w], counts[w], 1e-5, what);
                free(got[0][w]);
                free(got[1][w]);
            }
            px_model_free(model);
        }
}

/* --- restarts --------------------------------------------------------------------------------- */

static void feed_fill(px_session *to, size_t feed, const px_session *from, int value)
{
    px_error err = {0};
    check(px_session_read(from, value, -1, px_session_input(to, feed), &err), &err, "feed");
}

static void test_restart(void **state)
{
    (void)state;
    small_net s = small_net_new();
    const px_graph *graph = px_model_graph(s.model);
    int keep[NET_VALUES], kept = 0;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].producer >= 0)
            keep[kept++] = v;
    px_plan_options options = px_plan_options_default();
    options.batch = 2;
    options.keep = keep;
    options.keep_count = (size_t)kept;
    options.input_grad = true;
    options.wrt = keep;
    options.wrt_count = (size_t)kept;
    px_plan *full = NULL;
    px_session *full_session = open_plan(s.model, &options, &full, "full");
    px_error err = {0};
    check(px_session_forward(full_session, &err), &err, "full");
    check(px_session_seed_clear(full_session, &err), &err, "full");
    seed_add(full_session, s.logits, 9, 1.0f);
    check(px_session_backward(full_session, &err), &err, "full");
    const px_view want = px_session_view(full_session, s.logits);

    for (int k = 0; k < kept; k++) {
        int *values = NULL;
        const int count = px_graph_restart(graph, keep[k], &values);
        assert_true(count > 0);
        px_feed feeds[8];
        for (int f = 0; f < count; f++)
            feeds[f] = (px_feed){values[f], px_plan_shape(full, values[f])};
        px_plan_options restart = px_plan_options_default();
        restart.feeds = feeds;
        restart.feed_count = (size_t)count;
        restart.input_grad = keep[k] != s.logits;
        px_plan *plan = NULL;
        px_session *session = open_plan(s.model, &restart, &plan, graph->values[keep[k]].name);
        for (int f = 0; f < count; f++)
            feed_fill(session, (size_t)f, full_session, values[f]);
        check(px_session_forward(session, &err), &err, "restart");
        const px_view got = px_session_view(session, s.logits);
        assert_close(got.data, want.data, 20, 1e-5, "logits after a restart");
        if (restart.input_grad) {
            check(px_session_seed_clear(session, &err), &err, "restart");
            seed_add(session, s.logits, 9, 1.0f);
            check(px_session_backward(session, &err), &err, "restart");
            const px_view a = px_session_grad(session, keep[k]);
            const px_view b = px_session_grad(full_session, keep[k]);
            float *restarted = view_copy(&a), *whole = view_copy(&b);
            assert_true(px_shape_equal(&a.shape, &b.shape));
            if (count == 1) /* others carry part of the gradient past this value */
                assert_close(restarted, whole, px_shape_count(&a.shape), 2e-5, "gradient");
            free(restarted);
            free(whole);
        }
        close_plan(plan, session);
        free(values);
    }
    close_plan(full, full_session);
    px_model_free(s.model);
}

/* One output of a node is fed, the other is computed: the node must not overwrite the feed. */
static void test_restart_at_one_of_two_outputs(void **state)
{
    (void)state;
    for (int reference = 0; reference < 2; reference++) {
        net n;
        net_init(&n, 3, "1,6");
        const int half = net_add_many(&n, "Split", "axis=1", IN(V(n.x)), 2);
        const int y = net_add(&n, "Concat", "axis=1", IN(V(half + 1), V(half)));
        px_model *model = net_take(&n, y);
        const px_feed feeds[] = {{half, {.rank = 2, .dim = {2, 5}}},
                                 {n.x, {.rank = 2, .dim = {2, 6}}}};
        px_plan_options options = px_plan_options_default();
        options.feeds = feeds;
        options.feed_count = 2;
        options.reference = reference;
        options.wrt = (int[]){half, n.x};
        options.wrt_count = 2;
        options.seeds = &y;
        options.seed_count = 1;
        px_plan *plan = NULL;
        px_session *session = open_plan(model, &options, &plan, "split");
        const float *fed = px_session_input(session, 0), *x = px_session_input(session, 1);
        px_error err = {0};
        check(px_session_forward(session, &err), &err, "split");
        const float *got = px_session_view(session, y).data;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 8; k++)
                assert_true(got[s * 8 + k] == (k < 3 ? x[s * 6 + 3 + k] : fed[s * 5 + k - 3]));
        check(px_session_seed_clear(session, &err), &err, "split");
        const px_place seed = px_session_seed(session, y);
        for (int k = 0; k < 16; k++)
            seed.data[k] = (float)(k + 1);
        check(px_session_backward(session, &err), &err, "split");
        const float *dx = px_session_grad(session, n.x).data;
        const float *dfed = px_session_grad(session, half).data;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 6; k++) {
                assert_true(dx[s * 6 + k] == (k < 3 ? 0.0f : (float)(s * 8 + k - 2)));
                assert_true(k == 5 || dfed[s * 5 + k] == (float)(s * 8 + k + 4));
            }
        close_plan(plan, session);
        px_model_free(model);
    }
}

/* An empty batch is a batch too. */
static void test_feeds_of_nothing(void **state)
{
    (void)state;
    small_net s = small_net_new();
    const px_feed feed = {s.x, {.rank = 4, .dim = {0, 3, 8, 8}}};
    px_plan_options options = px_plan_options_default();
    options.feeds = &feed;
    options.feed_count = 1;
    px_plan *plan = NULL;
    px_session *session = open_plan(s.model, &options, &plan, "nothing");
    px_error err = {0};
    check(px_session_forward(session, &err), &err, "nothing");
    assert_true(px_plan_batch(plan) >= 1); /* callers divide by it */
    assert_int_equal(px_plan_shape(plan, s.logits).dim[0], 0);
    close_plan(plan, session);
    px_model_free(s.model);
}

/* --- height and width that the file leaves open ---------------------------------------------- */

/* conv -> relu -> `pool` -> flatten -> gemm of so many features */
static px_model *open_net(const char *shape, const char *pool, const char *weight)
{
    net n;
    net_init(&n, 5, shape);
    int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "4,3,3,3"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, pool, strcmp(pool, "MaxPool") == 0 ? "kernel_shape=2,2 strides=2,2" : "",
                IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    return net_take(&n, net_add(&n, "Gemm", "", IN(V(y), {.weight = weight})));
}

/* Whose scores are a map of one place only where pictures are 32 x 32. */
static void test_open_map(void **state)
{
    (void)state;
    net n;
    px_error err = {0};
    px_scores scores = {0};
    net_init(&n, 6, "-1,3,-1,-1");
    const int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "6,3,3,3"}));
    px_model *model =
        net_take(&n, net_add(&n, "AveragePool", "kernel_shape=32,32 strides=32,32", IN(V(y))));
    check(px_model_scores(model, &scores, &err), &err, "map");
    assert_int_equal(scores.classes, 6);
    px_model_free(model);
}

static void test_open_axes(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *pool, *weight;
        int classes; /* 0: it cannot be told */
    } cases[] = {
        {"-1,3,-1,-1", "GlobalAveragePool", "4,7", 7},
        {"-1,3,-1,32", "GlobalAveragePool", "4,7", 7},
        {"-1,3,-1,-1", "MaxPool", "1024,5", 5}, /* fits 32 x 32 alone */
        {"-1,3,-1,-1", "MaxPool", "676,5", 0},  /* 26 x 26, which is none of the usual ones */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_scores scores = {0};
        px_model *model = open_net(cases[i].shape, cases[i].pool, cases[i].weight);
        const px_status status = px_model_scores(model, &scores, &err);
        if (cases[i].classes) {
            check(status, &err, cases[i].weight);
            assert_int_equal(scores.classes, cases[i].classes);
        } else {
            assert_int_equal(status, PX_E_UNSUPPORTED);
            assert_non_null(strstr(err.message, "every axis but the first must be fixed"));
        }
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_at_view),
        cmocka_unit_test(test_gradient_through_folded),
        cmocka_unit_test(test_keep_and_observe),
        cmocka_unit_test(test_seed_at_constant),
        cmocka_unit_test(test_lists_of_wrong_types),
        cmocka_unit_test(test_seeds_at_several_depths),
        cmocka_unit_test(test_masked_gradients),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_restart_at_one_of_two_outputs),
        cmocka_unit_test(test_feeds_of_nothing),
        cmocka_unit_test(test_open_axes),
        cmocka_unit_test(test_open_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
