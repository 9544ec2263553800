/* tests/cover/test_crit_paths.c - worked examples of NPC and CAC (CSM A.9, A.10) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "cover/cac.h"
#include "cover/npc.h"
#include "cover/profile_internal.h"
#include "cover/slots.h"
#include <internal/cover.h>
#include <internal/engine.h>
#include <internal/profile.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <plexor/onnx.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void must(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

/* --- TV-A9: decision paths ------------------------------------------------------------------- */

static void test_decision_path(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float relevance[5];
        double alpha;
        uint8_t want[5];
    } cases[] = {
        {"0.7", {0.4f, 0.3f, 0.2f, 0.1f, -0.5f}, 0.7, {1, 1, 0, 0, 0}},
        {"0.8", {0.4f, 0.3f, 0.2f, 0.1f, -0.5f}, 0.8, {1, 1, 1, 0, 0}},
        {"0.95", {0.4f, 0.3f, 0.2f, 0.1f, -0.5f}, 0.95, {1, 1, 1, 1, 0}},
        {"all of it", {0.4f, 0.3f, 0.2f, 0.1f, -0.5f}, 1, {1, 1, 1, 1, 0}},
        {"nothing asked for", {0.4f, 0.3f, 0.2f, 0.1f, -0.5f}, 0, {0}},
        {"ties go to the lower index", {1, 1, 1, 1, 1}, 0.4, {1, 1, 0, 0, 0}},
        {"nothing positive", {-1, 0, -2, 0, 0}, 0.7, {0}},
    };
    const px_row_layer layer = {.name = "one", .count = 5};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        uint8_t path[5];
        int32_t heap[5];
        pxi_npc_path(&layer, 1, cases[i].relevance, cases[i].alpha, path, heap);
        if (memcmp(path, cases[i].want, sizeof path) != 0)
            fail_msg("case '%s': %d%d%d%d%d", cases[i].name, path[0], path[1], path[2], path[3],
                     path[4]);
    }
}

static const uint8_t tv_paths[5][7] = {{1, 1, 0, 0, 0, 0, 1},
                                       {1, 0, 1, 0, 0, 0, 1},
                                       {1, 1, 0, 0, 0, 1, 1},
                                       {1, 1, 0, 1, 0, 0, 1},
                                       {1, 0, 0, 0, 1, 0, 1}};
static const uint8_t tv_test[7] = {1, 1, 1, 0, 0, 1, 1};

static void test_abstract_path(void **state)
{
    (void)state;
    int64_t counts[7] = {0};
    for (int i = 0; i < 5; i++)
        for (int n = 0; n < 7; n++)
            counts[n] += tv_paths[i][n];
    uint8_t one[4], two[3];
    pxi_npc_abstract(counts, 5, 4, 0.6, false, one);
    pxi_npc_abstract(counts + 4, 5, 3, 0.6, false, two);
    assert_memory_equal(one, ((uint8_t[]){1, 1, 0, 0}), 4);
    assert_memory_equal(two, ((uint8_t[]){0, 0, 1}), 3);
    pxi_npc_abstract(counts, 5, 4, 0.6, true, one); /* one more, the first of the next best */
    assert_memory_equal(one, ((uint8_t[]){1, 1, 1, 0}), 4);

    const double a = pxi_npc_jaccard(tv_test, (uint8_t[]){1, 1, 0, 0}, 4);
    const double b = pxi_npc_jaccard(tv_test + 4, two, 3);
    const double whole = pxi_npc_jaccard(tv_test, (uint8_t[]){1, 1, 0, 0, 0, 0, 1}, 7);
    assert_true(a == 2.0 / 3.0 && b == 0.5 && whole == 0.6);
    assert_int_equal(pxi_npc_bucket(a, 10, false), 6);
    assert_int_equal(pxi_npc_bucket(b, 10, false), 5);
    assert_int_equal(pxi_npc_bucket(whole, 10, false), 6);
    assert_int_equal(pxi_npc_bucket(1, 10, false), 9);
    assert_int_equal(pxi_npc_bucket(a, 10, true), 7);
    assert_int_equal(pxi_npc_bucket(b, 10, true), 5);
    assert_int_equal(pxi_npc_bucket(1, 10, true), 10);
    assert_true(pxi_npc_jaccard(tv_test + 3, tv_test + 3, 2) == 1.0); /* both empty */
}

/* --- the criteria, on rows whose relevance is 1 on the path and 0 elsewhere ------------------ */

enum { NEURONS = 7, CLASSES = 2 };

typedef struct paths {
    px_extractor extractor;
    const px_criterion *criterion;
    void *config;
    px_profile *profile;
    void *prepared, *state;
} paths;

static const px_row_layer path_layers[] = {{"one", 0, 4}, {"two", 4, 3}};

static void path_row(const uint8_t *path, const float *values, float *row)
{
    for (int n = 0; n < NEURONS; n++) {
        row[n] = path[n];
        row[NEURONS + n] = values ? values[n] : 0.0f;
    }
}

/* Five training inputs of class 0 in two workers, out of order, and two that do not count. */
static paths *paths_new(const char *id, const char *const *texts, const float values[5][NEURONS])
{
    px_error err = {0};
    paths *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->extractor = (px_extractor){.key = "test",
                                  .definition = "test",
                                  .width = 2 * NEURONS,
                                  .layers = path_layers,
                                  .layer_count = 2};
    p->criterion = px_criterion_find(id);
    assert_non_null(p->criterion);
    size_t count = 0;
    while (texts[count])
        count++;
    must(px_criterion_configure(p->criterion, NULL, texts, count, &p->config, &err), &err);
    p->profile = calloc(1, sizeof *p->profile);
    assert_non_null(p->profile);
    p->profile->count = 7;
    const px_learner *learner = p->criterion->learners[0];
    const px_learner_request request = {.extractor = &p->extractor,
                                        .config = p->config,
                                        .classes = CLASSES,
                                        .count = 7,
                                        .threads = 1};
    void *workers[2];
    static const int order[2][4] = {{3, 4, 5, 6}, {0, 1, 2, -1}};
    for (int w = 0; w < 2; w++) {
        must(learner->open(&request, &workers[w], &err), &err);
        for (int i = 0; i < 4 && order[w][i] >= 0; i++) {
            const int k = order[w][i];
            float row[2 * NEURONS];
            path_row(tv_paths[k % 5], values ? values[k % 5] : NULL, row);
            const bool rejected = k == 6;
            const px_input_facts facts = {.index = k, .label = k == 5 ? 1 : 0, .predicted = 0};
            const px_rows rows = {.count = 1,
                                  .width = 2 * NEURONS,
                                  .values = row,
                                  .facts = &facts,
                                  .rejected = &rejected};
            must(learner->observe(workers[w], &rows, &err), &err);
        }
    }
    must(learner->merge(workers[0], workers[1], &err), &err);
    const char *section = NULL;
    must(pxi_profile_add_section(p->profile, learner->id, "test", "test", &section, &err), &err);
    must(learner->finish(workers[0], p->profile, section, &err), &err);
    learner->close(workers[0]);
    learner->close(workers[1]);
    const px_criterion_request wants = {.extractor = &p->extractor,
                                        .config = p->config,
                                        .profile = p->profile,
                                        .learned = &section,
                                        .classes = CLASSES,
                                        .threads = 1};
    must(p->criterion->prepare(&wants, &p->prepared, &err), &err);
    must(p->criterion->open(p->prepared, &p->state, &err), &err);
    return p;
}

static void paths_free(paths *p)
{
    p->criterion->close(p->state);
    p->criterion->release(p->prepared);
    px_profile_free(p->profile);
    free(p->config);
    free(p);
}

static px_coverage paths_observe(paths *p, const uint8_t *path, const float *values, int predicted)
{
    px_error err = {0};
    float row[2 * NEURONS];
    path_row(path, values, row);
    const bool rejected = false;
    const px_input_facts facts = {.label = -1, .predicted = predicted};
    const px_rows rows = {
        .count = 1, .width = 2 * NEURONS, .values = row, .facts = &facts, .rejected = &rejected};
    const double before = p->criterion->value(p->state).value;
    const double gain = p->criterion->gain(p->state, &rows, 0);
    must(p->criterion->observe(p->state, &rows, &err), &err);
    const px_coverage now = p->criterion->value(p->state);
    assert_true(fabs(now.value - before - gain) <= 1e-15);
    return now;
}

static bool paths_has(const paths *p, int layer, int klass, int64_t per, int64_t bucket)
{
    const pxi_slots *slots = p->state;
    return pxi_bitset_has(&slots->bits, ((int64_t)layer * CLASSES + klass) * per + bucket);
}

static void test_snpc(void **state)
{
    (void)state;
    paths *p = paths_new("snpc", (const char *[]){"snpc.alpha=1", "snpc.m=10", NULL}, NULL);
    px_coverage got = paths_observe(p, tv_test, NULL, 0);
    assert_int_equal(got.covered, 2);
    assert_int_equal(got.total, CLASSES * 2 * 10);
    assert_true(paths_has(p, 0, 0, 10, 6) && paths_has(p, 1, 0, 10, 5));
    assert_int_equal(paths_observe(p, tv_test, NULL, 0).covered, 2);  /* nothing new */
    assert_int_equal(paths_observe(p, tv_test, NULL, 1).covered, 2);  /* has no abstract path */
    assert_int_equal(paths_observe(p, tv_test, NULL, -1).covered, 2); /* nor this */
    assert_int_equal(paths_observe(p, tv_paths[0], NULL, 0).covered, 4);
    assert_true(paths_has(p, 0, 0, 10, 9) && paths_has(p, 1, 0, 10, 9));
    assert_int_equal(p->criterion->layer_value(p->state, 0).covered, 2);
    px_text text = {0};
    p->criterion->remark(p->state, &text);
    assert_non_null(strstr(px_text_get(&text), "1 of 2 classes"));
    px_text_done(&text);
    paths_free(p);

    p = paths_new("snpc", (const char *[]){"snpc.alpha=1", "snpc.m=10", "snpc.over=path", NULL},
                  NULL);
    got = paths_observe(p, tv_test, NULL, 0);
    assert_int_equal(got.covered, 1);
    assert_int_equal(got.total, CLASSES * 10);
    assert_true(paths_has(p, 0, 0, 10, 6));
    paths_free(p);

    p = paths_new(
        "snpc", (const char *[]){"snpc.alpha=1", "snpc.m=10", "snpc.compat=npc-code", NULL}, NULL);
    got = paths_observe(p, tv_test, NULL, 0); /* {0,1,2} against {0,1,2}; {1,2} against {2,0} */
    assert_int_equal(got.total, CLASSES * 2 * 11);
    assert_true(paths_has(p, 0, 0, 11, 10) && paths_has(p, 1, 0, 11, 4));
    paths_free(p);
}

static void test_snpc_clusters(void **state)
{
    (void)state;
    paths *p = paths_new("snpc", (const char *[]){"snpc.alpha=1", "snpc.k=2", NULL}, NULL);
    const px_coverage got = paths_observe(p, tv_test, NULL, 0);
    assert_int_equal(got.total, CLASSES * 2 * 2 * 100);
    assert_int_equal(got.covered, 4); /* two clusters, two layers */
    paths_free(p);
}

static void test_anpc(void **state)
{
    (void)state;
    /* Abstract path {0,1} and {2}: neurons 0, 1 and 6. Nearest fellows are at most 3 apart in the
     * first layer (input 4 from 0) and 2 in the second (input 3 from 4). */
    static const float values[5][NEURONS] = {{0, 0, 9, 9, 9, 9, 1},
                                             {0, 1, 8, 9, 9, 9, 1},
                                             {1, 0, 7, 9, 9, 9, 1.5f},
                                             {0, 0, 6, 9, 9, 9, 4},
                                             {0, -3, 5, 9, 9, 9, 2}};
    paths *p = paths_new("anpc", (const char *[]){"anpc.alpha=1", "anpc.m=6", NULL}, values);
    px_coverage got = paths_observe(p, tv_test, values[0], 0);
    assert_int_equal(got.covered, 2);
    assert_int_equal(got.total, CLASSES * 2 * 6);
    assert_true(paths_has(p, 0, 0, 6, 0) && paths_has(p, 1, 0, 6, 0)); /* a training input itself */
    static const float near[NEURONS] = {0, -1, 0, 0, 0, 0, 3.2f};      /* 1 of 3, 0.8 of 2 */
    got = paths_observe(p, tv_test, near, 0);
    assert_int_equal(got.covered, 4);
    assert_true(paths_has(p, 0, 0, 6, 2) && paths_has(p, 1, 0, 6, 2));
    static const float far[NEURONS] = {50, 0, 0, 0, 0, 0, 50};
    got = paths_observe(p, tv_test, far, 0); /* the last bucket is open */
    assert_true(paths_has(p, 0, 0, 6, 5) && paths_has(p, 1, 0, 6, 5));
    assert_int_equal(got.covered, 6);
    paths_free(p);

    p = paths_new("anpc", (const char *[]){"anpc.alpha=1", "anpc.m=6", "anpc.u=12", NULL}, values);
    paths_observe(p, tv_test, near, 0); /* 1 of 12, 0.8 of 12 */
    assert_true(paths_has(p, 0, 0, 6, 0) && paths_has(p, 1, 0, 6, 0));
    paths_free(p);

    p = paths_new(
        "anpc", (const char *[]){"anpc.alpha=1", "anpc.m=6", "anpc.compat=npc-code", NULL}, values);
    got = paths_observe(p, tv_test, near, 0); /* the last layer only */
    assert_int_equal(got.covered, 1);
    assert_int_equal(got.total, CLASSES * 6);
    paths_free(p);
}

/* --- TV-A10 ---------------------------------------------------------------------------------- */

static void test_tables(void **state)
{
    (void)state;
    const pxi_cac_rule rule = {.bins = 2, .critical = px_chi2_critical(0.05, 1), .floor = 5};
    static const struct {
        const char *name;
        uint32_t table[4];
        double chi2, least;
        bool covered;
    } cases[] = {
        {"dependent", {30, 10, 12, 28}, 16.2406015038, 19, true},
        {"independent", {20, 20, 20, 20}, 0, 20, false},
        {"too few", {9, 0, 0, 9}, 18, 4.5, false},
        {"enough", {10, 0, 0, 10}, 20, 5, true},
        {"an empty row", {0, 0, 30, 30}, 0, 0, false},
        {"nothing", {0, 0, 0, 0}, 0, 0, false},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double least;
        const double chi2 = pxi_cac_chi2(&rule, cases[i].table, &least);
        if (!(fabs(chi2 - cases[i].chi2) <= 1e-9) || least != cases[i].least ||
            pxi_cac_dependent(&rule, cases[i].table) != cases[i].covered)
            fail_msg("case '%s': chi2 %.12g, least %g", cases[i].name, chi2, least);
    }
    const pxi_cac_rule code = {.bins = 2, .code = true};
    double least;
    const double odd = pxi_cac_chi2(&code, cases[0].table, &least);
    assert_true(fabs(odd - 1444.8) <= 0.05 && least == 380.0);
    assert_true(fabs(px_chi2_survival(16.2406015038, 1) - 5.5786e-05) <= 1e-9);
}

static void test_alpha(void **state)
{
    (void)state;
    static const double cov[] = {0, -0.8, 0, 0.2, 0.4, 0}; /* the sign does not matter */
    static const double want[] = {0, 0.8, 0.2, 2.0 / 3.0, 0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 0};
    double alpha[9];
    pxi_cac_alpha(cov, 3, alpha);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(alpha[i] - want[i]) <= 1e-15);
    static const double none[] = {1, 0, 1};
    pxi_cac_alpha(none, 2, alpha);
    assert_true(alpha[1] == 0.0 && alpha[2] == 0.0);

    float weights[] = {0.5f, -1, 0.25f}, bias[] = {0}, keep[9], u[3], y[3];
    const pxi_cac_layer layer = {.inputs = 3,
                                 .outputs = 1,
                                 .group = 1,
                                 .terms = 1,
                                 .term_step = 1,
                                 .channel_step = 1,
                                 .weights = weights,
                                 .bias = bias};
    pxi_cac_alpha(cov, 3, alpha);
    for (int i = 0; i < 9; i++)
        keep[i] = (float)(1.0 - alpha[i]);
    static const float x[] = {2, 1, 4};
    pxi_cac_contributions(&layer, 0, x, u);
    assert_true(u[0] + u[1] + u[2] == 1.0f);
    pxi_cac_changed(&layer, 0, keep, u, y);
    assert_true(fabsf(y[0] - 1.6f) <= 1e-6f);
}

static void test_bins(void **state)
{
    (void)state;
    static const struct {
        float x, low, high;
        int k, want;
    } cases[] = {
        {0, 0, 1, 8, 0},  {1, 0, 1, 8, 7},  {0.5f, 0, 1, 8, 4},   {-0.001f, 0, 1, 8, -1},
        {2, 0, 1, 8, -1}, {1, 1, 1, 8, -1}, {0.999f, 0, 1, 8, 7}, {1, INFINITY, -INFINITY, 8, -1},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        if (pxi_cac_bin(cases[i].x, cases[i].low, cases[i].high, cases[i].k) != cases[i].want)
            fail_msg("case %d", (int)i);
}

/* Every layer once more with its input channels scaled, by the engine, beside the efficient form.
 */
static void test_direct(void **state)
{
    (void)state;
    px_error err = {0};
    px_model *model = NULL;
    px_extractor *e = NULL;
    char path[1024];
    const char *folder = getenv("PLEXOR_TEST_DIR");
    snprintf(path, sizeof path, "%s/models/lrp_net.onnx", folder ? folder : ".");
    must(px_model_load(path, &model, &err), &err);
    px_probe_options options = px_probe_options_default();
    options.layers = "all";
    must(pxi_extractor_cac(model, &options, 8, &e, &err), &err);
    const pxi_cac_net *net = pxi_cac_net_of(e);
    assert_int_equal(net->count, 3); /* the first convolution reads the picture */
    assert_int_equal(net->layers[0].group, 2);
    assert_int_equal(net->edges, 4 * 2 + 4 * 6 + 18 * 5);
    static const char *const outputs[] = {"c2", "c3", "logits"};
    for (size_t l = 0; l < net->count; l++) {
        const pxi_cac_layer *layer = &net->layers[l];
        const int out = px_graph_find_value(px_model_graph(model), outputs[l]);
        const bool conv = layer->conv;
        const int64_t in_places = l == 2 ? 1 : 36, out_places = l == 0 ? 36 : l == 1 ? 9 : 1;
        px_feed feed = {.value = layer->input};
        feed.shape = conv ? (px_shape){.rank = 4, .dim = {1, layer->inputs, 6, 6}}
                          : (px_shape){.rank = 2, .dim = {1, layer->inputs}};
        px_plan_options po = px_plan_options_default();
        po.batch = 1;
        po.feeds = &feed;
        po.feed_count = 1;
        po.keep = &out;
        po.keep_count = 1;
        po.no_outputs = true;
        po.reference = true;
        px_plan *plan = NULL;
        px_session *session = NULL;
        must(px_plan_new(model, &po, &plan, &err), &err);
        must(px_session_new(plan, &session, &err), &err);
        float *x = px_session_input(session, 0), original[18 * 36], row[512] = {0};
        px_random r = px_rng(7, PX_RNG_TEST, (uint32_t)l, 0);
        for (int64_t i = 0; i < layer->inputs * in_places; i++)
            x[i] = original[i] = (float)px_rng_normal(&r);
        must(px_session_forward(session, &err), &err);
        const px_view input = px_session_view(session, layer->input);
        void *scratch = NULL;
        must(e->kind->scratch_new(e, 1, &scratch, &err), &err);
        assert_true(e->width <= (int64_t)PX_LEN(row));
        must(e->kind->look(e, scratch, layer->input, &input, 1, row, &err), &err);
        e->kind->scratch_free(scratch);
        const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
        float keep[18 * 18], u[18 * 6], y[18 * 6];
        for (int64_t g = 0; g < layer->group; g++) {
            for (int64_t i = 0; i < pg * pg; i++)
                keep[i] = i % (pg + 1) == 0 ? 1.0f : (float)px_rng_u01(&r);
            pxi_cac_contributions(layer, g, row, u);
            pxi_cac_changed(layer, g, keep, u, y);
            for (int64_t n = 0; n < pg; n++) {
                for (int64_t i = 0; i < pg; i++)
                    for (int64_t k = 0; k < in_places; k++)
                        x[(g * pg + i) * in_places + k] =
                            original[(g * pg + i) * in_places + k] * keep[n * pg + i];
                must(px_session_forward(session, &err), &err);
                float result[6 * 36];
                must(px_session_read(session, out, 1, result, &err), &err);
                for (int64_t m = 0; m < qg; m++) {
                    double mean = 0;
                    for (int64_t k = 0; k < out_places; k++)
                        mean += (double)result[(g * qg + m) * out_places + k];
                    mean /= (double)out_places;
                    if (!(fabs(mean - (double)y[n * qg + m]) <= 1e-5 * (1 + fabs(mean))))
                        fail_msg("'%s' edge %d>%d: %.9g, directly %.9g", layer->name, (int)n,
                                 (int)m, (double)y[n * qg + m], mean);
                }
            }
        }
        px_session_free(session);
        px_plan_free(plan);
    }
    px_extractor_free(e);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decision_path), cmocka_unit_test(test_abstract_path),
        cmocka_unit_test(test_snpc),          cmocka_unit_test(test_snpc_clusters),
        cmocka_unit_test(test_anpc),          cmocka_unit_test(test_tables),
        cmocka_unit_test(test_alpha),         cmocka_unit_test(test_bins),
        cmocka_unit_test(test_direct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
