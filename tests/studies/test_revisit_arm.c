/* tests/studies/test_revisit_arm.c - which mutants are added: worked by hand on four neurons */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "revisit/revisit.h"

#include <internal/build.h>
#include <internal/cover.h>
#include <math.h>
#include <string.h>

enum { NEURONS = 4, CANDIDATES = 8 };

/* Four inputs, each the value of a neuron; two classes. */
static px_model *network(void)
{
    static const float eye[NEURONS * NEURONS] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const float last[2 * NEURONS] = {1, 0, 0, 0, 0, 1, 0, 0};
    const px_shape in = {.rank = 2, .dim = {-1, NEURONS}};
    const px_shape square = {.rank = 2, .dim = {NEURONS, NEURONS}};
    const px_shape two = {.rank = 2, .dim = {2, NEURONS}};
    const px_attr attrs[] = {{.name = "transB", .kind = PX_ATTR_INT, .i = 1}};
    px_builder *b = NULL;
    px_model *model = NULL;
    px_error err = {0};
    assert_int_equal(px_builder_new("four", &b, &err), PX_OK);
    const int x = px_builder_input(b, "x", PX_FLOAT32, &in);
    const int w = px_builder_constant(b, "w", PX_FLOAT32, &square, eye);
    const int v = px_builder_constant(b, "v", PX_FLOAT32, &two, last);
    const int sum = px_builder_node(b, "Gemm", "hidden", (int[]){x, w}, 2, attrs, 1);
    const int neurons = px_builder_node(b, "Relu", "relu", (int[]){sum}, 1, NULL, 0);
    px_builder_output(b, px_builder_node(b, "Gemm", "logits", (int[]){neurons, v}, 2, attrs, 1),
                      PX_FLOAT32, NULL);
    if (px_builder_finish(b, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

/* The set covers the first neuron. */
static const float set_row[NEURONS] = {0.9f, 0.1f, 0.0f, 0.0f};

static const struct {
    const char *name;
    bool wrong;
    float original[NEURONS], candidate[NEURONS];
    bool improving, remaining;           /* by set, each in its own arm */
    bool pair_improving, pair_remaining; /* by pair */
} cases[CANDIDATES] = {
    {"right ones are left alone", false, {0}, {0, 0.9f, 0.9f, 0}, 0, 0, 0, 0},
    {"covered before", true, {0}, {0.9f, 0, 0, 0}, 0, 1, 1, 0},
    {"equal is not above", true, {0}, {0, 0.75f, 0, 0}, 0, 1, 0, 1},
    {"a new neuron", true, {0, 0, 0.9f, 0}, {0, 0.76f, 0, 0}, 1, 0, 0, 1},
    {"new, but not after the one before", true, {0, 0, 0.9f, 0.9f}, {0, 2, 0, 0}, 0, 0, 0, 1},
    {"not a number", true, {0}, {0, NAN, 2, 2}, 0, 1, 0, 1},
    {"one old, one new", true, {0, 0, 0, 0.8f}, {0.8f, 0, 0.8f, 0}, 1, 0, 1, 0},
    {"fewer than its original", true, {0.8f, 0.8f, 0, 0}, {0, 0, 0, 5}, 1, 0, 0, 1},
};

typedef struct fixture {
    px_model *model;
    px_study study;
    rv_bench bench;
    px_cover *cover;
    float values[2][CANDIDATES * NEURONS];
    px_input_facts facts[CANDIDATES];
    bool rejected[2][CANDIDATES];
    rv_traces candidates, originals;
} fixture;

static int setup(void **state)
{
    static fixture f;
    px_error err = {0};
    f = (fixture){.model = network(), .study = {.options = {.threads = 1}}};
    f.bench.study = &f.study;
    if (rv_cover_new(&f.bench, f.model, RV_RAW, &f.cover, &err) != PX_OK)
        fail_msg("%s", err.message);
    const px_input_facts facts = {.label = 0};
    const bool fine = false;
    const px_rows rows = {1, NEURONS, set_row, &facts, &fine};
    const px_criterion *nc = px_cover_criterion(f.cover, 0);
    assert_int_equal(nc->observe(px_cover_state(f.cover, 0), &rows, &err), PX_OK);
    for (size_t i = 0; i < CANDIDATES; i++) {
        memcpy(f.values[0] + i * NEURONS, cases[i].candidate, sizeof cases[i].candidate);
        memcpy(f.values[1] + i * NEURONS, cases[i].original, sizeof cases[i].original);
        f.facts[i] = (px_input_facts){
            .index = 100 + (int64_t)i, .label = 1, .predicted = cases[i].wrong ? 0 : 1};
        for (size_t n = 0; n < NEURONS; n++)
            f.rejected[0][i] |= isnan(cases[i].candidate[n]);
    }
    f.candidates = (rv_traces){100, CANDIDATES, NEURONS, f.values[0], f.facts, f.rejected[0]};
    f.originals = (rv_traces){100, CANDIDATES, NEURONS, f.values[1], f.facts, f.rejected[1]};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    px_cover_free(f->cover);
    px_model_free(f->model);
    return 0;
}

static bool has(const rv_choice *choice, int64_t item)
{
    for (int64_t i = 0; i < choice->count; i++)
        if (choice->items[i] == item)
            return true;
    return false;
}

/* In two pieces, as large sets are. */
static void take(fixture *f, rv_rule rule, bool improving, rv_chooser *chooser)
{
    px_error err = {0};
    assert_int_equal(rv_chooser_open(chooser, f->cover, rule, improving, &err), PX_OK);
    for (int64_t at = 0; at < CANDIDATES; at += 4) {
        rv_traces part[2] = {f->candidates, f->originals};
        for (int i = 0; i < 2; i++) {
            part[i].first += at;
            part[i].count = 4;
            part[i].values += at * NEURONS;
            part[i].facts += at;
            part[i].rejected += at;
        }
        assert_int_equal(rv_chooser_take(chooser, &part[0], &part[1], &err), PX_OK);
    }
}

static void test_choice(void **state)
{
    fixture *f = *state;
    for (rv_rule rule = 0; rule < RV_RULES; rule++)
        for (int improving = 0; improving < 2; improving++) {
            rv_chooser chooser;
            take(f, rule, improving, &chooser);
            assert_int_equal(chooser.choice.wrong, CANDIDATES - 1);
            for (size_t i = 0; i < CANDIDATES; i++) {
                const bool expected = rule == RV_BY_SET
                                          ? improving ? cases[i].improving : cases[i].remaining
                                      : improving ? cases[i].pair_improving
                                                  : cases[i].pair_remaining;
                if (has(&chooser.choice, 100 + (int64_t)i) != expected)
                    fail_msg("%s, %s: '%s' is %s", rv_rule_ids[rule],
                             improving ? "improving" : "remaining", cases[i].name,
                             expected ? "missing" : "added");
            }
            rv_chooser_close(&chooser);
            /* the set itself has not changed */
            assert_int_equal(px_cover_value(f->cover, 0).covered, 1);
        }
}

/* By pair every wrong one is in one of the arms, never in both; so by set where no two new ones
 * share a neuron: all but the one that comes after its like. */
static void test_complement(void **state)
{
    fixture *f = *state;
    for (rv_rule rule = 0; rule < RV_RULES; rule++) {
        rv_chooser a, b;
        take(f, rule, true, &a);
        take(f, rule, false, &b);
        for (int64_t i = 0; i < CANDIDATES; i++) {
            const int in = has(&a.choice, 100 + i) + has(&b.choice, 100 + i);
            const int expected = !cases[i].wrong ? 0 : rule == RV_BY_SET && i == 4 ? 0 : 1;
            if (in != expected)
                fail_msg("%s: '%s' is in %d arms", rv_rule_ids[rule], cases[i].name, in);
        }
        rv_chooser_close(&a);
        rv_chooser_close(&b);
    }
}

static void test_draw(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    px_error err = {0};
    int64_t before[2][20];
    for (uint32_t round = 0; round < 3; round++) {
        rv_choice c = {.items = pxi_calloc(COUNT, sizeof(int64_t)), .count = COUNT, .wrong = 70};
        for (int64_t i = 0; i < COUNT; i++)
            c.items[i] = 3 * i + 1;
        assert_int_equal(rv_choice_draw(&c, COUNT + 1, 1, 2, round, &err), PX_OK);
        assert_int_equal(c.count, COUNT); /* as many as there are: nothing to draw */
        assert_int_equal(rv_choice_draw(&c, 20, 1, 2, round / 2, &err), PX_OK);
        assert_int_equal(c.count, 20);
        assert_int_equal(c.wrong, 70);
        for (int64_t i = 0; i < c.count; i++) {
            assert_true(c.items[i] % 3 == 1 && c.items[i] < 3 * COUNT);
            assert_true(i == 0 || c.items[i] > c.items[i - 1]);
        }
        if (round < 2)
            memcpy(before[round], c.items, sizeof before[round]);
        else /* another round draws others */
            assert_true(memcmp(before[0], c.items, sizeof before[0]) != 0);
        assert_int_equal(rv_choice_draw(&c, 0, 1, 2, round, &err), PX_OK);
        assert_int_equal(c.count, 0);
        rv_choice_done(&c);
    }
    assert_memory_equal(before[0], before[1], sizeof before[0]); /* the same address, the same */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_choice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_complement, setup, teardown),
        cmocka_unit_test(test_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
