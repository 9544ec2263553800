/* tests/engine/test_team.c - batches that sessions share, weights that change, Dropout's masks
 *
 * The yardstick for BatchNormalization by the batch is the plain operator in its own training mode,
 * which has an implementation of its own and is checked by finite differences elsewhere: the same
 * network with further outputs at each normalisation, the whole batch in one session.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "counting_executor.h"
#include "plan_helpers.h"

#include <internal/engine.h>
#include <internal/weights.h>
#include <string.h>

enum { BATCH = 10, CLASSES = 5 };

/* Pixels, a residual that a normalisation adds, one that goes through a normalisation itself, and
 * one of rank 2; channel counts below, at and above what a row is packed to. */
static int norm(net *n, int x, const char *channels, bool own)
{
    const net_in *in = IN(V(x), {.weight = channels, .low = 0.5, .high = 1.5},
                          {.weight = channels, .low = -0.5, .high = 0.5},
                          {.weight = channels, .low = -0.1, .high = 0.1},
                          {.weight = channels, .low = 0.5, .high = 2.0});
    return own ? net_add_many(n, "BatchNormalization", "epsilon=0.001 momentum=0.8", in, 5)
               : net_add(n, "BatchNormalization", "epsilon=0.001 momentum=0.8", in);
}

static px_model *small_model(bool own, int *logits, int *first_conv)
{
    net n;
    net_init(&n, 5, "1,3,7,9");
    const int c1 = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "6,3,3,3"}));
    const int r1 = net_add(&n, "Relu", "", IN(V(norm(&n, c1, "6", own))));
    const int c2 = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(r1), {.weight = "6,6,3,3"}));
    const int sum = net_add(&n, "Add", "", IN(V(norm(&n, c2, "6", own)), V(r1)));
    const int r2 = net_add(&n, "LeakyRelu", "alpha=0.1", IN(V(sum)));
    const int c3 = net_add(&n, "Conv", "strides=2,2", IN(V(r2), {.weight = "70,6,1,1"}));
    const int c4 =
        net_add(&n, "Conv", "strides=2,2 pads=1,1,1,1", IN(V(r2), {.weight = "70,6,3,3"}));
    const int n3 = norm(&n, c3, "70", own), n4 = norm(&n, c4, "70", own);
    const int r3 = net_add(&n, "Clip", "", IN(V(net_add(&n, "Add", "", IN(V(n3), V(n4))))));
    const int c5 = net_add(&n, "Conv", "", IN(V(r3), {.weight = "80,70,1,1"}));
    const int c6 = net_add(&n, "Conv", "group=80 strides=2,2 pads=1,1,1,1",
                           IN(V(net_add(&n, "Relu", "", IN(V(c5)))), {.weight = "80,1,3,3"}));
    const int pool = net_add(&n, "GlobalAveragePool", "", IN(V(norm(&n, c6, "80", own))));
    const int flat = net_add(&n, "Flatten", "", IN(V(pool)));
    const int d1 = net_add(&n, "Gemm", "", IN(V(flat), {.weight = "80,16"}, {.weight = "16"}));
    const int r4 = net_add(&n, "Relu", "", IN(V(norm(&n, d1, "16", own))));
    *first_conv = c1;
    *logits = net_add(&n, "Gemm", "", IN(V(r4), {.weight = "16,5"}, {.weight = "5"}));
    return net_take(&n, *logits);
}

typedef struct batch { /* of the hooks */
    const float *inputs;
    const int64_t *labels;
    size_t each;
    px_scores scores;
    double losses[64];
} batch;

static px_status load(void *context, px_session *session, int64_t first, int64_t samples,
                      px_error *err)
{
    (void)err;
    const batch *b = context;
    memcpy(px_session_input(session, 0), b->inputs + (size_t)first * b->each,
           (size_t)samples * b->each * sizeof *b->inputs);
    return PX_OK;
}

static px_status judge(void *context, px_session *session, int64_t first, int64_t samples,
                       px_error *err)
{
    batch *b = context;
    return px_session_seed_loss(session, &b->scores, b->labels + first, samples, b->losses + first,
                                err);
}

typedef struct subject {
    px_model *model;
    px_weights *weights;
    int logits, conv;
    int wrt[64];
    size_t wrt_count;
    float *inputs;
    int64_t labels[BATCH];
    bool apart;
} subject;

static void subject_open(subject *s, bool own)
{
    px_error err = {0};
    *s = (subject){0};
    s->model = small_model(own, &s->logits, &s->conv);
    check(px_weights_new(s->model, &s->weights, &err), &err, "weights");
    for (size_t i = 0; i < px_weights_count(s->weights); i++)
        if (px_weights_get(s->weights, i)->role == PX_WEIGHT_PARAMETER)
            s->wrt[s->wrt_count++] = px_weights_get(s->weights, i)->value;
    const size_t each = (size_t)3 * 7 * 9;
    s->inputs = pxi_calloc(BATCH * each, sizeof *s->inputs);
    net_fill(s->inputs, BATCH * each, 99, -1.0, 2.0);
    for (int i = 0; i < BATCH; i++)
        s->labels[i] = i * 3 % CLASSES;
}

static void subject_close(subject *s)
{
    px_weights_free(s->weights);
    px_model_free(s->model);
    free(s->inputs);
}

/* All gradients of the batch's summed loss one after the other, for a micro-batch and threads. */
static size_t team_gradients(subject *s, int64_t micro, int threads, bool reference, bool commit,
                             float **out)
{
    px_error err = {0};
    px_plan *plan = NULL;
    px_team *team = NULL;
    px_plan_options options = px_plan_options_default();
    options.batch = micro;
    options.weights = s->weights;
    options.training = true;
    options.reference = reference;
    options.wrt = s->wrt;
    options.wrt_count = s->wrt_count;
    options.seeds = &s->logits;
    options.seed_count = 1;
    check(px_plan_new(s->model, &options, &plan, &err), &err, "plan");
    check(px_team_new(plan, threads, BATCH, &team, &err), &err, "team");
    batch b = {.inputs = s->inputs, .labels = s->labels, .each = (size_t)3 * 7 * 9};
    check(px_model_scores(s->model, &b.scores, &err), &err, "scores");
    const px_team_step step = {
        .samples = BATCH, .load = load, .judge = judge, .context = &b, .apart = s->apart};
    for (int twice = 0; twice < 2; twice++) /* nothing is left over from the run before */
        check(px_team_run(team, &step, &err), &err, "run");
    if (commit)
        px_team_commit(team, 1.0);
    size_t count = 0, cap = 0;
    *out = NULL;
    for (size_t i = 0; i < s->wrt_count; i++) {
        const float *gradient = px_team_gradient(team, s->wrt[i]);
        assert_non_null(gradient);
        const size_t n =
            (size_t)px_shape_count(&px_weights_find(s->weights, s->wrt[i])->tensor.shape);
        assert_int_equal(pxi_grow(out, &cap, count + n, sizeof **out), 0);
        memcpy(*out + count, gradient, n * sizeof *gradient);
        count += n;
    }
    px_team_free(team);
    px_plan_free(plan);
    return count;
}

/* The same of `samples` of them by the plain operator in its training mode, in one session. */
static size_t plain_gradients(subject *s, int first, int samples, float **out)
{
    px_error err = {0};
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_scores scores;
    px_plan_options options = px_plan_options_default();
    options.batch = samples;
    options.reference = true;
    options.wrt = s->wrt;
    options.wrt_count = s->wrt_count;
    options.seeds = &s->logits;
    options.seed_count = 1;
    check(px_plan_new(s->model, &options, &plan, &err), &err, "plan");
    check(px_session_new(plan, &session, &err), &err, "session");
    check(px_model_scores(s->model, &scores, &err), &err, "scores");
    const size_t each = (size_t)3 * 7 * 9;
    memcpy(px_session_input(session, 0), s->inputs + (size_t)first * each,
           sizeof(float) * (size_t)samples * each);
    check(px_session_forward(session, &err), &err, "forward");
    check(px_session_seed_clear(session, &err), &err, "clear");
    check(px_session_seed_loss(session, &scores, s->labels + first, samples, NULL, &err), &err,
          "loss");
    check(px_session_backward(session, &err), &err, "backward");
    size_t count = 0, cap = 0;
    *out = NULL;
    for (size_t i = 0; i < s->wrt_count; i++) {
        const px_view view = px_session_grad(session, s->wrt[i]);
        const size_t n = (size_t)px_shape_count(&view.shape);
        float *copy = view_copy(&view);
        assert_int_equal(pxi_grow(out, &cap, count + n, sizeof **out), 0);
        memcpy(*out + count, copy, n * sizeof *copy);
        count += n;
        free(copy);
    }
    close_plan(plan, session);
    return count;
}

static void test_team_is_whole_batch(void **state)
{
    (void)state;
    subject plain, s;
    subject_open(&plain, /* own= */ true);
    subject_open(&s, /* own= */ false);
    assert_int_equal(plain.wrt_count, s.wrt_count);
    float *want = NULL;
    const size_t count = plain_gradients(&plain, 0, BATCH, &want);
    static const int64_t micros[] = {1, 3, 4, 5, 10, 16};
    for (size_t i = 0; i < PX_LEN(micros); i++)
        for (int reference = 0; reference < 2; reference++) {
            char what[64];
            snprintf(what, sizeof what, "micro-batch %d%s", (int)micros[i],
                     reference ? ", reference" : "");
            float *got = NULL;
            assert_int_equal(team_gradients(&s, micros[i], 2, reference, false, &got), count);
            assert_close(got, want, (int64_t)count, 2e-5, what);
            free(got);
        }
    free(want);
    subject_close(&plain);
    subject_close(&s);
}

/* Apart, micro-batches of five are two batches of their own, whose gradients add up. */
static void test_apart(void **state)
{
    (void)state;
    subject plain, s;
    subject_open(&plain, /* own= */ true);
    subject_open(&s, false);
    float *sum = NULL, *got = NULL, *joined = NULL;
    size_t count = 0;
    for (int half = 0; half < 2; half++) {
        float *part = NULL;
        count = plain_gradients(&plain, half * 5, 5, &part);
        for (size_t i = 0; half && i < count; i++)
            sum[i] += part[i];
        if (half)
            free(part);
        else
            sum = part;
    }
    s.apart = true;
    assert_int_equal(team_gradients(&s, 5, 2, false, false, &got), count);
    assert_close(got, sum, (int64_t)count, 2e-5, "apart");
    s.apart = false;
    team_gradients(&s, 5, 2, false, false, &joined);
    assert_memory_not_equal(got, joined, count * sizeof *got);
    free(sum);
    free(got);
    free(joined);
    subject_close(&plain);
    subject_close(&s);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, false);
    float *one = NULL;
    const size_t count = team_gradients(&s, 3, 1, false, false, &one);
    for (int threads = 2; threads < 6; threads += 3) {
        float *more = NULL;
        team_gradients(&s, 3, threads, false, false, &more);
        assert_memory_equal(one, more, count * sizeof *one);
        free(more);
    }
    free(one);
    subject_close(&s);
}

/* Running statistics of the first normalisation against the convolution's output, by definition. */
static void test_running_statistics(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, false);
    px_error err = {0};
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_plan_options options = px_plan_options_default();
    options.batch = BATCH;
    options.keep = &s.conv;
    options.keep_count = 1;
    check(px_plan_new(s.model, &options, &plan, &err), &err, "plan");
    check(px_session_new(plan, &session, &err), &err, "session");
    memcpy(px_session_input(session, 0), s.inputs, sizeof(float) * BATCH * 3 * 7 * 9);
    check(px_session_forward(session, &err), &err, "forward");
    const px_view view = px_session_view(session, s.conv);
    float *x = view_copy(&view);
    const px_node *node = NULL; /* the normalisation that reads it */
    const px_graph *graph = px_model_graph(s.model);
    for (int i = 0; i < graph->node_count && !node; i++)
        if (graph->nodes[i].inputs[0] == s.conv)
            node = &graph->nodes[i];
    float want[2][6];
    for (int c = 0; c < 6; c++) {
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < BATCH * 63; i++)
            sum += (double)x[(i / 63 * 6 + c) * 63 + i % 63];
        const double mean = sum / (BATCH * 63);
        for (int i = 0; i < BATCH * 63; i++)
            squares += pow((double)x[(i / 63 * 6 + c) * 63 + i % 63] - mean, 2);
        const float *old_mean = px_weights_find(s.weights, node->inputs[3])->tensor.data;
        const float *old_var = px_weights_find(s.weights, node->inputs[4])->tensor.data;
        want[0][c] = (float)(0.8 * (double)old_mean[c] + 0.2 * mean);
        want[1][c] = (float)(0.8 * (double)old_var[c] + 0.2 * squares / (BATCH * 63 - 1));
    }
    float *unused = NULL;
    team_gradients(&s, 4, 2, false, /* commit= */ true, &unused);
    for (int k = 0; k < 2; k++)
        assert_close(px_weights_find(s.weights, node->inputs[3 + k])->tensor.data, want[k], 6, 1e-6,
                     k ? "running variance" : "running mean");
    free(unused);
    free(x);
    close_plan(plan, session);
    subject_close(&s);
}

/* Changed weights, packed again, give what a plan made from them gives: with kernels of all kinds
 * (narrow, depthwise, oneDNN, products), normalisations folded or apart, forward and backward. */
static void test_refresh(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, false);
    px_error err = {0};
    for (int training = 0; training < 2; training++) {
        px_plan *plans[2] = {0};
        px_session *sessions[2] = {0};
        px_model *frozen = NULL;
        px_plan_options options = px_plan_options_default();
        options.batch = BATCH;
        options.input_grad = true;
        options.weights = s.weights;
        if (training) { /* no normalisation is folded where weights have gradients */
            options.wrt = s.wrt;
            options.wrt_count = s.wrt_count;
        }
        check(px_plan_new(s.model, &options, &plans[0], &err), &err, "plan");
        check(px_session_new(plans[0], &sessions[0], &err), &err, "session");
        for (size_t i = 0; i < px_weights_count(s.weights); i++) {
            px_tensor *t = &px_weights_get(s.weights, i)->tensor;
            for (int64_t k = 0; k < px_shape_count(&t->shape); k++)
                ((float *)t->data)[k] *= 1.25f + 0.01f * (float)(k % 7);
        }
        check(px_plan_refresh(plans[0], &err), &err, "refresh");
        check(px_weights_freeze(s.weights, NULL, 0, &frozen, &err), &err, "freeze");
        options.weights = NULL;
        check(px_plan_new(frozen, &options, &plans[1], &err), &err, "plan of the new model");
        check(px_session_new(plans[1], &sessions[1], &err), &err, "session");
        float *gradients[2];
        for (int k = 0; k < 2; k++) {
            px_scores scores;
            check(px_model_scores(s.model, &scores, &err), &err, "scores");
            memcpy(px_session_input(sessions[k], 0), s.inputs, sizeof(float) * BATCH * 3 * 7 * 9);
            check(px_session_forward(sessions[k], &err), &err, "forward");
            check(px_session_seed_clear(sessions[k], &err), &err, "clear");
            check(px_session_seed_loss(sessions[k], &scores, s.labels, BATCH, NULL, &err), &err,
                  "loss");
            check(px_session_backward(sessions[k], &err), &err, "backward");
            const px_view view = px_session_grad(sessions[k], px_model_graph(s.model)->inputs[0]);
            gradients[k] = view_copy(&view);
        }
        assert_memory_equal(gradients[0], gradients[1], sizeof(float) * BATCH * 3 * 7 * 9);
        for (int k = 0; k < 2; k++) {
            free(gradients[k]);
            close_plan(plans[k], sessions[k]);
        }
        px_model_free(frozen);
    }
    subject_close(&s);
}

/* y = dropout(x + b) with ratio 0.3; d sum(y) / db = the mask's sum. */
typedef struct drop_run {
    int value;
    float *y; /* all samples' outputs */
} drop_run;

enum { DROPS = 37, SAMPLES = 50 };

static px_status drop_load(void *context, px_session *session, int64_t first, int64_t samples,
                           px_error *err)
{
    (void)context, (void)first, (void)err;
    float *x = px_session_input(session, 0);
    for (int64_t i = 0; i < samples * DROPS; i++)
        x[i] = 1.0f;
    return PX_OK;
}

static px_status drop_judge(void *context, px_session *session, int64_t first, int64_t samples,
                            px_error *err)
{
    (void)err;
    const drop_run *run = context;
    const px_view view = px_session_view(session, run->value);
    memcpy(run->y + first * DROPS, view.data, sizeof(float) * (size_t)(samples * DROPS));
    const px_place place = px_session_seed(session, run->value);
    for (int64_t i = 0; i < samples * DROPS; i++)
        place.data[i] = 1.0f;
    return PX_OK;
}

static void test_dropout(void **state)
{
    (void)state;
    const float ratio[] = {0.3f}, bias[DROPS] = {0};
    net n;
    net_init(&n, 1, "1,37");
    const int sum = net_add(&n, "Add", "", IN(V(n.x), V(net_tensor(&n, PX_FLOAT32, "37", bias))));
    const int y = net_add(&n, "Dropout", "", IN(V(sum), V(net_tensor(&n, PX_FLOAT32, "", ratio))));
    px_model *model = net_take(&n, y);
    px_error err = {0};
    px_weights *weights = NULL;
    check(px_weights_new(model, &weights, &err), &err, "weights");
    assert_int_equal(px_weights_count(weights), 1);
    const int b = px_weights_get(weights, 0)->value;
    float first[SAMPLES * DROPS], other[SAMPLES * DROPS], later[SAMPLES * DROPS];
    float *const outs[] = {first, other, later};
    for (int k = 0; k < 3; k++) { /* micro-batch 1; 8; 8 at the next iteration */
        px_plan *plan = NULL;
        px_team *team = NULL;
        px_plan_options options = px_plan_options_default();
        options.batch = k ? 8 : 1;
        options.weights = weights;
        options.training = true;
        options.wrt = &b;
        options.wrt_count = 1;
        options.seeds = &y;
        options.seed_count = 1;
        check(px_plan_new(model, &options, &plan, &err), &err, "plan");
        check(px_team_new(plan, 2, SAMPLES, &team, &err), &err, "team");
        drop_run run = {.value = y, .y = outs[k]};
        const px_team_step step = {.seed = 42,
                                   .iteration = k == 2 ? 8 : 7,
                                   .samples = SAMPLES,
                                   .load = drop_load,
                                   .judge = drop_judge,
                                   .context = &run};
        check(px_team_run(team, &step, &err), &err, "run");
        const float *gradient = px_team_gradient(team, b);
        for (int i = 0; i < DROPS; i++) {
            float want = 0.0f;
            for (int s = 0; s < SAMPLES; s++)
                want += outs[k][s * DROPS + i]; /* x is one: the output is the derivative */
            assert_true(fabsf(gradient[i] - want) < 1e-4f);
        }
        px_team_free(team);
        px_plan_free(plan);
    }
    assert_memory_equal(first, other, sizeof first);
    assert_memory_not_equal(first, later, sizeof first);
    int kept = 0;
    for (int i = 0; i < SAMPLES * DROPS; i++) {
        assert_true(first[i] == 0.0f || fabsf(first[i] - 1.0f / 0.7f) < 1e-6f);
        kept += first[i] != 0.0f;
    }
    assert_true(abs(kept - 1295) < 100); /* 1850 draws at 0.7: five standard deviations */
    px_weights_free(weights);
    px_model_free(model);
}

/* --- another executor ------------------------------------------------------------------------ */

/* A team and what is put beside its sessions have the executor's; the bytes are the same. */
static void test_executor_makes_all_sessions(void **state)
{
    (void)state;
    subject s;
    px_error err = {0};
    float *threads = NULL, *other = NULL;
    px_plan *plan = NULL;
    pxi_workers *workers = NULL;
    px_session *on_lane = NULL, *beside = NULL, *own = NULL, *beside_own = NULL;
    subject_open(&s, /* own= */ false);
    const size_t count = team_gradients(&s, 4, 3, false, false, &threads);
    const pxi_executor *before = pxi_executor_use(&counting);
    assert_ptr_equal(before, &pxi_executor_threads);
    assert_int_equal(team_gradients(&s, 4, 3, false, false, &other), count);
    assert_memory_equal(threads, other, count * sizeof *threads);
    assert_int_equal(counts.opened, 1);
    assert_int_equal(counts.closed, 1);
    assert_int_equal(counts.sessions, (BATCH + 3) / 4);
    assert_int_equal(counts.on_any, counts.sessions);
    assert_true(counts.runs > 3); /* sessions, then two steps of some meetings each */
    px_plan_options options = px_plan_options_default();
    options.batch = 1;
    check(px_plan_new(s.model, &options, &plan, &err), &err, "plan");
    check(pxi_workers_open(2, &workers, &err), &err, "workers");
    check(pxi_workers_session(workers, 1, plan, &on_lane, &err), &err, "session");
    check(pxi_session_beside(on_lane, plan, &beside, &err), &err, "beside");
    check(px_session_new(plan, &own, &err), &err, "own");
    check(pxi_session_beside(own, plan, &beside_own, &err), &err, "beside one's own");
    assert_int_equal(counts.sessions, (BATCH + 3) / 4 + 2); /* nobody knows of the caller's */
    px_session_free(beside_own);
    px_session_free(own);
    px_session_free(beside);
    px_session_free(on_lane);
    pxi_workers_close(workers);
    px_plan_free(plan);
    assert_ptr_equal(pxi_executor_use(before), &counting);
    free(threads);
    free(other);
    subject_close(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, false);
    px_error err = {0};
    px_plan *plan = NULL;
    px_plan_options options = px_plan_options_default();
    options.training = true;
    assert_int_equal(px_plan_new(s.model, &options, &plan, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "weights"));
    subject other;
    subject_open(&other, false);
    options.weights = other.weights;
    assert_int_equal(px_plan_new(s.model, &options, &plan, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "another network"));
    subject_close(&other);
    subject_close(&s);
    /* statistics that are computed, not initialisers */
    net n;
    net_init(&n, 3, "1,4,5,5");
    const int mean = net_add(&n, "ReduceMean", "axes=0,2,3 keepdims=0", IN(V(n.x)));
    const int y = net_add(&n, "BatchNormalization", "",
                          IN(V(n.x), {.weight = "4"}, {.weight = "4"}, V(mean), {.weight = "4"}));
    px_model *model = net_take(&n, y);
    px_weights *weights = NULL;
    check(px_weights_new(model, &weights, &err), &err, "weights");
    options.weights = weights;
    assert_int_equal(px_plan_new(model, &options, &plan, &err), PX_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "cannot be trained"));
    px_weights_free(weights);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_team_is_whole_batch),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_running_statistics),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_executor_makes_all_sessions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
