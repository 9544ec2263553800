/* tests/generate/test_deepsensor.c - swarms on the procedural digits, from seeds to counts */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "fuzz_helpers.h"

#include <internal/shapley.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/json.h>
#include <stdlib.h>

#define OK(call)                                    \
    do {                                            \
        if ((call) != PX_OK)                        \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

enum { SEEDS = 5, PARTICLES = 6, ITERS = 4, SIZE = 28 * 28 };

static px_error err;

static const struct {
    const char *name, *settings[5];
    bool store_float;
} cases[] = {
    {"as it is", {0}, false},
    {"no bound", {"bound=none", "lambda=0.05"}, false},
    {"layer-max", {"norm=layer-max", "nodes=3"}, false},
    {"global-minmax, scalar", {"norm=global-minmax", "rand=scalar", "inertia=classic"}, false},
    {"from the seed, slowly", {"init=fixed", "bound=8/255", "vmax=0.02"}, false},
    {"at random", {"optimizer=random"}, false},
    {"genetic", {"optimizer=ga", "mutate=0.2"}, false},
    {"code", {"objective=code", "bound=0.3"}, false},
    {"float", {0}, true},
    {"all layers at once, as float", {"diagonal=joint", "norm=layer-minmax"}, true},
    {"the loss alone, as float", {"objective=loss"}, true},
    {"by chance", {"objective=chance"}, false},
};

/* Groups of two: the last one has a single seed. */
static fuzz_case case_of(size_t i, const char *folder, int threads)
{
    fuzz_case c = {.folder = folder,
                   .engine = "deepsensor",
                   .settings = {"particles=6", "iters=4", "group=2"},
                   .seeds = SEEDS,
                   .seed = 11 + i,
                   .threads = threads,
                   .store_float = cases[i].store_float};
    for (size_t k = 0; cases[i].settings[k]; k++)
        c.settings[3 + k] = cases[i].settings[k];
    return c;
}

static px_fuzz_report run(const fuzz_case *c, int64_t turns)
{
    px_fuzz_report report = {0};
    const px_fuzz_limits limits = {.turns = turns};
    if (fuzz_case_run(c, &limits, &report, &err) != PX_OK)
        fail_msg("'%s': %s", c->folder, err.message);
    return report;
}

static uint64_t digest(const char *folder)
{
    uint64_t value = 0;
    OK(fuzz_digest(folder, &value, &err));
    return value;
}

/* --- the same content ------------------------------------------------------------------------ */

static void test_same_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char one[32], two[32], pieces[32];
        snprintf(one, sizeof one, "one-%zu", i);
        snprintf(two, sizeof two, "two-%zu", i);
        snprintf(pieces, sizeof pieces, "pieces-%zu", i);
        fuzz_case c = case_of(i, one, 1);
        const px_fuzz_report report = run(&c, 0); /* until nothing is left */
        assert_int_equal(report.turns, (SEEDS + 1) / 2 * ITERS);
        assert_int_equal(report.executions, SEEDS * PARTICLES * ITERS); /* whatever the optimizer */
        assert_int_equal(report.outputs, SEEDS * ITERS);
        c = case_of(i, two, 2);
        run(&c, 0);
        if (digest(one) != digest(two))
            fail_msg("'%s': two threads differ", cases[i].name);
        static const int64_t stops[] = {1, 3, 4, 6, 11, 0};
        for (size_t part = 0; part < sizeof stops / sizeof stops[0]; part++) {
            c = case_of(i, pieces, 1 + (int)(part % 2));
            c.resume = part > 0;
            run(&c, stops[part]);
        }
        if (digest(one) != digest(pieces))
            fail_msg("'%s': in pieces it differs", cases[i].name);
        c.resume = true; /* and once more: there is nothing left to do */
        run(&c, 0);
        assert_true(digest(one) == digest(pieces));
    }
}

/* --- what is stored -------------------------------------------------------------------------- */

static double number(const px_json_value *object, const char *key)
{
    const px_json_value *value = px_json_member(object, key);
    assert_non_null(value);
    assert_int_equal(value->kind, PX_JSON_NUMBER);
    return value->number;
}

/* One example per seed and iteration; fitness never falls; distances keep the bound. */
static void test_examples(void **state)
{
    (void)state;
    const fuzz_case c = case_of(0, "examples", 2);
    const px_fuzz_report report = run(&c, 0);
    px_campaign *campaign = NULL;
    px_campaign_input in = {0};
    px_error_counts counts;
    double fitness[SEEDS];
    int64_t seen[SEEDS] = {0}, faults = 0;
    OK(px_campaign_open("examples", PX_CAMPAIGN_READ, &campaign, &err));
    OK(px_campaign_check(campaign, &err));
    for (;;) {
        px_json_document *chain = NULL;
        OK(px_campaign_next(campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, NULL, NULL,
                            &err));
        if (!in.id)
            break;
        OK(px_json_parse(in.chain, strlen(in.chain), &chain, &err));
        const px_json_value *root = px_json_root(chain);
        const size_t seed = (size_t)in.root - 1;
        assert_true(seed < SEEDS && in.parent == in.root);
        assert_string_equal(px_json_member(root, "engine")->string, "deepsensor");
        assert_string_equal(px_json_member(root, "optimizer")->string, "pso");
        assert_int_equal((int64_t)number(root, "visit"), (int64_t)seed);
        assert_int_equal((int64_t)number(root, "iteration"), ++seen[seed]);
        assert_true(number(root, "particle") < PARTICLES);
        assert_true(seen[seed] == 1 || number(root, "fitness") >= fitness[seed]);
        fitness[seed] = number(root, "fitness");
        assert_true(px_json_member(root, "wrong")->kind == PX_JSON_ARRAY);
        assert_true(fabs(fitness[seed] - number(root, "excitable") / number(root, "neurons")) <
                    1e-12);
        assert_true(fitness[seed] >= 0.0 && fitness[seed] <= 1.0);
        assert_true(in.linf <= 127.0 / 255.0 + 1e-6); /* rounded towards the seed */
        assert_int_equal(in.kind == PX_INPUT_FAULT, in.prediction != in.label);
        faults += in.kind == PX_INPUT_FAULT;
        px_replayed replayed;
        px_json_free(chain);
        OK(px_campaign_replay(campaign, in.id, NULL, &replayed, &err));
        assert_int_equal(replayed, PX_REPLAY_STORED);
        OK(px_campaign_read(campaign, in.id, &in, NULL, &err));
    }
    for (size_t s = 0; s < SEEDS; s++)
        assert_int_equal(seen[s], ITERS);
    OK(px_campaign_count_errors(campaign, -1, &counts, &err));
    assert_int_equal(counts.examples, SEEDS * ITERS);
    assert_int_equal(counts.last_examples, SEEDS);
    assert_int_equal(counts.errors, faults);
    px_coverage_point *points = NULL;
    size_t count = 0;
    double sum = 0.0;
    for (size_t s = 0; s < SEEDS; s++)
        sum += fitness[s];
    static const char *const curves[] = {"fitness", "excitable"};
    for (size_t k = 0; k < 2; k++) {
        OK(px_campaign_coverage(campaign, curves[k], &points, &count, &err));
        assert_int_equal(count, report.turns + 1); /* with one before the first turn */
        assert_true(points[0].value == 0.0);       /* dx = 0 excites nobody */
        assert_true(fabs(points[count - 1].value - sum / SEEDS) < 1e-12);
        free(points);
    }
    px_campaign_close(campaign);
}

/* The fitness that is told is what <internal/shapley.h> says of the place; stored as float it is
 * the place itself. And what an example is taken for, some place was taken for until then. */
static void check_fitness(size_t at, bool loss, bool per_layer, px_shapley_norm norm)
{
    static float x[SIZE], moved[SIZE];
    char folder[32];
    snprintf(folder, sizeof folder, "fitness-%zu", at);
    const fuzz_case c = case_of(at, folder, 2);
    px_campaign *campaign = NULL;
    px_campaign_input in = {0};
    px_model *model = NULL;
    px_shapley *shapley = NULL;
    px_preprocess pre;
    bool taken[SEEDS + 1][10] = {{false}};
    run(&c, 0);
    OK(px_model_load(DIGITS, &model, &err));
    const px_graph *graph = px_model_graph(model);
    OK(px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model),
                          &graph->values[graph->inputs[0]].shape, NULL, &err));
    OK(px_shapley_new(model, NULL, NULL, &shapley, &err));
    OK(px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err));
    px_campaign_identity identity;
    assert_true(px_campaign_identity_get(campaign, &identity));
    assert_int_equal(px_campaign_size(campaign), SIZE);
    const size_t neurons = (size_t)px_shapley_neuron_count(shapley);
    double *before = calloc(neurons, sizeof *before), *after = calloc(neurons, sizeof *after);
    const px_diagonal diagonal = {.nodes = 8, .per_layer = per_layer};
    pre.scale = 1.0f; /* stored as 0..1 */
    for (;;) {
        px_json_document *chain = NULL;
        OK(px_campaign_next(campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, moved, NULL,
                            &err));
        if (!in.id)
            break;
        OK(px_json_parse(in.chain, strlen(in.chain), &chain, &err));
        const double told = number(px_json_root(chain), "fitness");
        const px_json_value *wrong = px_json_member(px_json_root(chain), "wrong");
        assert_true(in.root <= SEEDS);
        for (size_t i = 0; i < wrong->count; i++) {
            assert_true(wrong->items[i].number != (double)in.label);
            taken[in.root][(int)wrong->items[i].number] = true;
        }
        assert_true(in.kind == PX_INPUT_KEPT || taken[in.root][in.prediction]);
        px_json_free(chain);
        const px_campaign_input now = in;
        px_campaign_input root;
        double fitness;
        OK(px_campaign_read(campaign, now.root, &root, x, &err));
        OK(px_preprocess_apply(&pre, &identity.shape, x, &err));
        OK(px_preprocess_apply(&pre, &identity.shape, moved, &err));
        if (loss) {
            OK(px_shapley_judge(shapley, x, &now.label, 1, NULL, before, &err));
            OK(px_shapley_judge(shapley, moved, &now.label, 1, NULL, after, &err));
            fitness = after[0] - before[0];
        } else {
            OK(px_shapley_integrate(shapley, &diagonal, x, &now.label, 1, before, &err));
            OK(px_shapley_integrate(shapley, &diagonal, moved, &now.label, 1, after, &err));
            for (size_t n = 0; n < neurons; n++)
                after[n] -= before[n];
            fitness = px_shapley_fitness(shapley, norm, 0.5, after);
        }
        if (fitness != told)
            fail_msg("input %d: told %g, is %g", (int)now.id, told, fitness);
    }
    int64_t categories = 0;
    for (size_t s = 0; s <= SEEDS; s++)
        for (int k = 0; k < 10; k++)
            categories += taken[s][k];
    px_error_counts counts;
    OK(px_campaign_count_errors(campaign, -1, &counts, &err));
    assert_int_equal(counts.place_categories, categories);
    assert_true(counts.categories <= categories);
    free(before);
    free(after);
    px_campaign_close(campaign);
    px_shapley_free(shapley);
    px_model_free(model);
}

static void test_fitness(void **state)
{
    (void)state;
    check_fitness(8, false, true, PX_SHAPLEY_RAW);
    check_fitness(9, false, false, PX_SHAPLEY_LAYER_MINMAX);
    check_fitness(10, true, false, PX_SHAPLEY_RAW);
}

/* By its letter: the preset's texts, and what is set after them. */
static void test_preset(void **state)
{
    (void)state;
    fuzz_case c = {.folder = "letter",
                   .engine = "deepsensor",
                   .preset = "paper",
                   .settings = {"particles=6", "iters=4", "group=2"},
                   .seeds = SEEDS,
                   .seed = 3,
                   .threads = 2};
    const px_fuzz_report report = run(&c, 0);
    assert_string_equal(report.notes[2].value, "none");
    c.preset = NULL;
    c.folder = "in words";
    static const char *const words[] = {"norm=raw", "diagonal=joint", "bound=none", "radius=0.8"};
    memcpy(c.settings + 3, words, sizeof words);
    run(&c, 0);
    assert_true(digest("letter") == digest("in words"));
    c.preset = "paper";
    c.folder = "nearer";
    c.settings[6] = "radius=0.2"; /* what is set wins */
    run(&c, 0);
    assert_true(digest("letter") != digest("nearer"));
}

/* --- where it ends --------------------------------------------------------------------------- */

static void test_ends(void **state)
{
    (void)state;
    fuzz_case c = case_of(0, "epsilon", 2);
    c.settings[3] = "epsilon=0"; /* anything is more than nothing */
    c.settings[4] = "norm=layer-minmax";
    px_fuzz_report report = run(&c, 0);
    assert_int_equal(report.outputs, SEEDS);
    assert_int_equal(report.executions, SEEDS * PARTICLES);
    assert_string_equal(report.notes[0].name, "fitness");
    assert_string_equal(report.notes[1].name, "excitable");
    assert_string_equal(report.notes[2].value, "127.5 levels");
    c = case_of(0, "passes", 2);
    c.settings[3] = "passes=2";
    report = run(&c, 0);
    assert_int_equal(report.outputs, 2 * SEEDS * ITERS);
    c = case_of(0, "on and on", 2);
    c.settings[3] = "passes=0";
    report = run(&c, 50);
    assert_int_equal(report.turns, 50);
    assert_true(report.cycles >= 4);
    c = case_of(0, "bounded", 2);
    c.settings[3] = "bound=0"; /* nowhere to go */
    report = run(&c, 0);
    assert_true(report.coverage.value == 0.0 && report.faults == 0);
}

/* --- what is refused ------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings[3], *says;
    } bad[] = {
        {"lambda above", {"lambda=1.5", "norm=layer-minmax"}, "lambda"},
        {"lambda below", {"lambda=-0.1", "norm=layer-max"}, "lambda"},
        {"no number", {"bound=wide"}, "'wide' is not a number"},
        {"half a fraction", {"bound=8/"}, "'8/' is not a number"},
        {"by nothing", {"bound=8/0"}, "between 0 and 1"},
        {"not with none", {"radius=none"}, "'none' is not a number"},
        {"optimizer", {"optimizer=ants"}, "it can be pso, random, ga"},
        {"norm", {"norm=l2"}, "it can be raw, layer-minmax, layer-max, global-minmax"},
        {"particles", {"particles=0"}, "between 1 and"},
        {"a setting of another", {"energy=3"}, "no such setting"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char folder[32];
        fuzz_scene scene;
        snprintf(folder, sizeof folder, "bad-%zu", i);
        fuzz_case c = {.folder = folder, .engine = "deepsensor", .seeds = 2, .threads = 1};
        memcpy(c.settings, bad[i].settings, sizeof bad[i].settings);
        const px_status status = fuzz_scene_open(&c, &scene, &err);
        if (status != PX_E_USAGE || !strstr(err.message, bad[i].says))
            fail_msg("'%s': %d, '%s'", bad[i].name, (int)status, err.message);
    }
    fuzz_case c = {.folder = "raw", .engine = "deepsensor", .seeds = 2, .threads = 1};
    c.settings[0] = "norm=raw";
    c.settings[1] = "lambda=1.5"; /* nats may be any number */
    c.settings[2] = "particles=2";
    run(&c, 1);
    c.resume = true; /* a campaign stays what it is */
    c.settings[1] = "lambda=1.25";
    fuzz_scene scene;
    assert_int_equal(fuzz_scene_open(&c, &scene, &err), PX_E_MISMATCH);
    c = (fuzz_case){.folder = "letter?", .engine = "deepsensor", .preset = "letter", .threads = 1};
    assert_int_equal(fuzz_scene_open(&c, &scene, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "there is no preset 'letter'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_content), cmocka_unit_test(test_examples),
        cmocka_unit_test(test_fitness),      cmocka_unit_test(test_preset),
        cmocka_unit_test(test_ends),         cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
