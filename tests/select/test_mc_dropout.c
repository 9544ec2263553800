/* tests/select/test_mc_dropout.c - where passes begin to differ, and what they say */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"
#include "engine/net.h"
#include "select/stochastic_cut.h"

#include <internal/arch.h>
#include <math.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 37, CLASSES = 10 };
#define IN(...) ((net_in[]){__VA_ARGS__, {.value = -1}})
#define V(number)         \
    {                     \
        .value = (number) \
    }

typedef enum kind {
    PLAIN,    /* without Dropout */
    DROPS,    /* Dropout before the last dense layer, ratio 0.5 */
    ZERO,     /* the same with ratio 0, and normalisation behind it */
    FIRST,    /* Dropout on the input itself */
    BRANCHES, /* Dropout in one of two branches, and a second one behind their sum */
    ZOO,      /* of the zoo: Dropout over maps and vectors, normalisation */
} kind;

static int dropout(net *n, int x, float ratio)
{
    const int r = net_tensor(n, PX_FLOAT32, "", &ratio);
    return net_add(n, "Dropout", "", IN(V(x), V(r)));
}

/* Weights of the same number are the same in all kinds but BRANCHES. */
static px_model *make(kind k, int *hidden)
{
    net n;
    if (k == ZOO) {
        px_arch_options options = px_arch_options_default();
        px_model *model = NULL;
        px_error err = {0};
        options.channels = 1;
        options.height = options.width = 28;
        if (px_arch_build("sadl-2", &options, &model, &err) != PX_OK)
            fail_msg("%s", err.message);
        return model;
    }
    net_init(&n, 5, "1,1,28,28");
    int y = net_add(&n, "Flatten", "", IN(V(n.x)));
    if (k == FIRST)
        y = dropout(&n, y, 0.5f);
    y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "784,12"}, {.weight = "12"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    *hidden = y;
    if (k == DROPS || k == ZERO)
        y = dropout(&n, y, k == ZERO ? 0.0f : 0.5f);
    if (k == BRANCHES) {
        const int side = dropout(&n, y, 0.25f);
        y = net_add(&n, "Add", "", IN(V(y), V(side)));
        y = dropout(&n, y, 0.5f);
    }
    y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "12,10"}, {.weight = "10"}));
    if (k == ZERO) {
        static const float one[CLASSES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, none[CLASSES] = {0};
        const int scale = net_tensor(&n, PX_FLOAT32, "10", one);
        const int zeros = net_tensor(&n, PX_FLOAT32, "10", none);
        const int mean = net_tensor(&n, PX_FLOAT32, "10", none);
        const int variance = net_tensor(&n, PX_FLOAT32, "10", one);
        y = net_add(&n, "BatchNormalization", "epsilon=0.0",
                    IN(V(y), V(scale), V(zeros), V(mean), V(variance)));
    }
    return net_take(&n, y);
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        kind k;
        int dropouts;
    } cases[] = {{PLAIN, 0}, {DROPS, 1}, {ZERO, 1}, {FIRST, 1}, {BRANCHES, 2}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        int hidden = -1;
        px_model *model = make(cases[i].k, &hidden);
        pxi_stochastic_cut cut = {0};
        px_scores scores;
        px_error err = {0};
        assert_int_equal(px_model_scores(model, &scores, &err), PX_OK);
        if (pxi_stochastic_cut_find(px_model_graph(model), scores.value, &cut, &err) != PX_OK)
            fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(cut.dropouts, cases[i].dropouts);
        assert_int_equal(cut.feed_count, 1);
        if (cases[i].k != FIRST && cut.feeds[0] != hidden)
            fail_msg("case %zu: cut at %d, not %d", i, cut.feeds[0], hidden);
        assert_true((cut.dense >= 0) == (cases[i].dropouts == 0));
        pxi_stochastic_cut_done(&cut);
        px_model_free(model);
    }
    net n; /* nothing dense */
    net_init(&n, 5, "1,1,28,28");
    px_model *model = net_take(&n, net_add(&n, "Flatten", "", IN(V(n.x))));
    pxi_stochastic_cut cut;
    px_error err = {0};
    const px_graph *graph = px_model_graph(model);
    assert_int_equal(pxi_stochastic_cut_find(graph, graph->outputs[0], &cut, &err),
                     PX_E_UNSUPPORTED);
    px_model_free(model);
}

static void run(kind k, const char *const *settings, size_t setting_count, uint64_t seed,
                int threads, int64_t batch, double *scores, int64_t *order)
{
    int hidden;
    px_model *model = make(k, &hidden);
    small_data data = small_digits(model, "test", CANDIDATES, 0);
    px_select_options options = px_select_options_default();
    px_select *select = NULL;
    px_error err = {0};
    options.selectors = "mc-dropout";
    options.settings = settings;
    options.setting_count = setting_count;
    options.seed = seed;
    options.threads = threads;
    options.batch = batch;
    if (px_select_new(model, data.set, &data.pre, &options, &select, &err) != PX_OK ||
        px_select_run(select, NULL, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    assert_int_equal(count, CANDIDATES);
    for (int64_t i = 0; i < count; i++) {
        scores[ranked[i].index] = ranked[i].score;
        order[i] = ranked[i].index;
    }
    px_select_free(select);
    small_close(&data);
    px_model_free(model);
}

#define SETTINGS(...) \
    (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)

static double most_different(const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < CANDIDATES; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* A Dropout that is put in does what one in the file would do. */
static void test_put_in(void **state)
{
    (void)state;
    double own[CANDIDATES], put[CANDIDATES], other[CANDIDATES];
    int64_t order[CANDIDATES];
    static const char *const scores[] = {"mc-dropout.score=variation", "mc-dropout.score=entropy",
                                         "mc-dropout.score=information",
                                         "mc-dropout.score=softmax"};
    for (size_t i = 0; i < PX_LEN(scores); i++) {
        run(DROPS, SETTINGS("mc-dropout.passes=20", scores[i]), 3, 1, 0, own, order);
        run(PLAIN, SETTINGS("mc-dropout.passes=20", scores[i]), 3, 1, 0, put, order);
        run(PLAIN, SETTINGS("mc-dropout.passes=20", scores[i]), 4, 1, 0, other, order);
        if (most_different(own, put) > 1e-6)
            fail_msg("%s: differs by %g", scores[i], most_different(own, put));
        assert_true(most_different(own, other) > 1e-3); /* another seed */
    }
}

static void test_threads_and_batches(void **state)
{
    (void)state;
    for (int k = PLAIN; k <= ZOO; k++) {
        double one[CANDIDATES], many[CANDIDATES];
        int64_t order_one[CANDIDATES], order_many[CANDIDATES];
        run((kind)k, SETTINGS("mc-dropout.passes=20"), 3, 1, 1, one, order_one);
        run((kind)k, SETTINGS("mc-dropout.passes=20"), 3, 3, 8, many, order_many);
        if (memcmp(one, many, sizeof one) != 0 ||
            memcmp(order_one, order_many, sizeof order_one) != 0)
            fail_msg("kind %d depends on threads or batches", k);
        double spread = 0.0;
        for (int i = 0; i < CANDIDATES; i++)
            spread = fmax(spread, one[i]);
        assert_true(k == ZERO ? spread == 0.0 : spread > 0.0);
    }
}

/* With nothing dropped every pass is the network itself, normalisation included. */
static void test_nothing_dropped(void **state)
{
    (void)state;
    double zero[CANDIDATES], rate[CANDIDATES];
    int64_t order[CANDIDATES];
    run(ZERO, SETTINGS("mc-dropout.passes=3", "mc-dropout.score=softmax"), 3, 2, 0, zero, order);
    run(PLAIN, SETTINGS("mc-dropout.passes=2", "mc-dropout.score=softmax", "mc-dropout.rate=0"), 3,
        2, 0, rate, order);
    assert_true(most_different(zero, rate) < 1e-6);
    int hidden;
    px_model *model = make(PLAIN, &hidden);
    small_data data = small_digits(model, "test", CANDIDATES, 0);
    px_select_options options = px_select_options_default();
    px_select *select = NULL;
    px_error err = {0};
    options.selectors = "softmax";
    assert_int_equal(px_select_new(model, data.set, &data.pre, &options, &select, &err), PX_OK);
    assert_int_equal(px_select_run(select, NULL, NULL, &err), PX_OK);
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs(ranked[i].score - zero[ranked[i].index]) < 1e-6);
    px_select_free(select);
    small_close(&data);
    px_model_free(model);
}

/* Ties in votes go by entropy, or by index. */
static void test_ties(void **state)
{
    (void)state;
    double votes[CANDIDATES], entropy[CANDIDATES], same[CANDIDATES];
    int64_t by_entropy[CANDIDATES], by_index[CANDIDATES], order[CANDIDATES];
    run(PLAIN, SETTINGS("mc-dropout.passes=4"), 3, 2, 0, votes, by_entropy);
    run(PLAIN, SETTINGS("mc-dropout.passes=4", "mc-dropout.ties=index"), 3, 2, 0, same, by_index);
    run(PLAIN, SETTINGS("mc-dropout.passes=4", "mc-dropout.score=entropy"), 3, 2, 0, entropy,
        order);
    assert_memory_equal(votes, same, sizeof votes);
    int ties = 0;
    for (int i = 1; i < CANDIDATES; i++) {
        if (votes[by_entropy[i]] == votes[by_entropy[i - 1]]) {
            assert_true(entropy[by_entropy[i]] <= entropy[by_entropy[i - 1]]);
            ties++;
        }
        if (votes[by_index[i]] == votes[by_index[i - 1]])
            assert_true(by_index[i] > by_index[i - 1]);
    }
    assert_true(ties > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_put_in),
        cmocka_unit_test(test_threads_and_batches),
        cmocka_unit_test(test_nothing_dropped),
        cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
