/* tests/generate/test_minimize_shrink.c - one fault on its way back, with oracles that are known */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/minimize_shrink.h"
#include "generate_helpers.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 9, CHANNELS = 2, SIZE = SIDE * SIDE * CHANNELS };

typedef struct known { /* an oracle */
    const uint8_t *root;
    bool (*errs)(const uint8_t *root, const uint8_t *pixels);
    int64_t asked;
} known;

static px_status ask(void *context, const uint8_t *pixels, bool *out, px_error *err)
{
    known *oracle = context;
    (void)err;
    oracle->asked++;
    *out = oracle->errs(oracle->root, pixels);
    return PX_OK;
}

static int difference(const uint8_t *root, const uint8_t *pixels, int i)
{
    return (int)pixels[i] - (int)root[i];
}

static bool one_value(const uint8_t *root, const uint8_t *pixels)
{
    return difference(root, pixels, 50) >= 10;
}

static bool one_value_down(const uint8_t *root, const uint8_t *pixels)
{
    return difference(root, pixels, 120) <= -7;
}

static bool two_values(const uint8_t *root, const uint8_t *pixels)
{
    return difference(root, pixels, 3) >= 5 && abs(difference(root, pixels, 140)) >= 1;
}

static bool sum_of_levels(const uint8_t *root, const uint8_t *pixels)
{
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
        sum += abs(difference(root, pixels, i));
    return sum >= 100;
}

static bool every_value(const uint8_t *root, const uint8_t *pixels)
{
    for (int i = 0; i < SIZE; i++)
        if (root[i] == pixels[i])
            return false;
    return true;
}

static bool even_number(const uint8_t *root, const uint8_t *pixels) /* nothing like monotone */
{
    int count = 0;
    for (int i = 0; i < SIZE; i++)
        count += root[i] != pixels[i];
    return count > 0 && count % 2 == 0;
}

static const struct {
    const char *name;
    bool (*errs)(const uint8_t *root, const uint8_t *pixels);
    int64_t l0, l1; /* of what must come out; -1: any */
} cases[] = {
    {"one value", one_value, 1, 10},          {"one value down", one_value_down, 1, 7},
    {"two values", two_values, 2, 6},         {"sum of levels", sum_of_levels, -1, 100},
    {"every value", every_value, SIZE, SIZE}, {"even number", even_number, 2, 2},
};

static void pictures(uint8_t *root, uint8_t *fault)
{
    px_random random = px_rng(1, PX_RNG_NOISE_INPUT, 0, 0);
    for (int i = 0; i < SIZE; i++) {
        root[i] = (uint8_t)(100 + px_rng_u32(&random) % 50);
        const int d = 11 + (int)(px_rng_u32(&random) % 20);
        fault[i] = (uint8_t)(root[i] + (i < SIZE / 2 ? d : -d));
    }
}

static pxi_shrink shrink_of(known *oracle, uint8_t *now, int64_t most)
{
    return (pxi_shrink){.channels = CHANNELS,
                        .height = SIDE,
                        .width = SIDE,
                        .root = oracle->root,
                        .now = now,
                        .errs = ask,
                        .context = oracle,
                        .most = most};
}

static void test_known(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint8_t root[SIZE], fault[SIZE], now[SIZE];
        px_error err = {0};
        pictures(root, fault);
        memcpy(now, fault, sizeof now);
        known oracle = {.root = root, .errs = cases[c].errs};
        pxi_shrink shrink = shrink_of(&oracle, now, 100000);
        assert_int_equal(pxi_shrink_run(&shrink, NULL, 0, NULL, &err), PX_OK);
        int64_t l0 = 0, l1 = 0;
        for (int i = 0; i < SIZE; i++) {
            const int before = difference(root, fault, i), after = difference(root, now, i);
            l0 += after != 0;
            l1 += abs(after);
            if (abs(after) > abs(before) || (after != 0 && (after > 0) != (before > 0)))
                fail_msg("case '%s': value %d went from %d to %d", cases[c].name, i, before, after);
        }
        if (!oracle.errs(root, now) || (cases[c].l0 >= 0 && l0 != cases[c].l0) ||
            (cases[c].l1 >= 0 && l1 != cases[c].l1))
            fail_msg("case '%s': %d values, %d levels", cases[c].name, (int)l0, (int)l1);
        assert_int_equal(shrink.executions, oracle.asked);
    }
}

/* Whatever is allowed is not exceeded, and what there is errs. */
static void test_budget(void **state)
{
    (void)state;
    for (int64_t most = 0; most < 300; most += 7) {
        uint8_t root[SIZE], now[SIZE];
        px_error err = {0};
        pictures(root, now);
        known oracle = {.root = root, .errs = sum_of_levels};
        pxi_shrink shrink = shrink_of(&oracle, now, most);
        assert_int_equal(pxi_shrink_run(&shrink, NULL, 0, NULL, &err), PX_OK);
        assert_true(oracle.asked <= most && sum_of_levels(root, now));
    }
}

static bool brighter(const uint8_t *root, const uint8_t *pixels)
{
    int64_t more = 0;
    for (int i = 0; i < SIZE; i++)
        more += difference(root, pixels, i);
    return more >= 15 * SIZE;
}

static void test_links(void **state)
{
    (void)state;
    static const char *const texts[] = {"blur size=3", "brightness factor=1.05", "contrast gain=1",
                                        "brightness factor=1.3", "blur size=2"};
    enum { LINKS = sizeof texts / sizeof texts[0] };
    uint8_t root[SIZE], now[SIZE], next[SIZE];
    px_drawn links[LINKS];
    bool kept[LINKS];
    px_error err = {0};
    pictures(root, now);
    memcpy(now, root, sizeof now);
    for (int i = 0; i < LINKS; i++) {
        if (px_drawn_parse(texts[i], &links[i], &err) != PX_OK)
            fail_msg("%s", err.message);
        kept[i] = true;
        assert_int_equal(
            px_mutation_apply_near(&links[i], root, now, next, SIDE, SIDE, CHANNELS, &err), PX_OK);
        memcpy(now, next, sizeof now);
    }
    known oracle = {.root = root, .errs = brighter};
    assert_true(brighter(root, now));
    pxi_shrink shrink = shrink_of(&oracle, now, 100000);
    assert_int_equal(pxi_shrink_run(&shrink, links, LINKS, kept, &err), PX_OK);
    assert_true(brighter(root, now));
    for (int i = 0; i < LINKS; i++)
        assert_int_equal(kept[i], i == 3); /* the one that is enough alone */
    /* Of a chain that gives something else nothing is dropped. */
    pictures(root, now);
    for (int i = 0; i < LINKS; i++)
        kept[i] = true;
    oracle.errs = sum_of_levels;
    assert_int_equal(pxi_shrink_run(&shrink, links, LINKS, kept, &err), PX_OK);
    for (int i = 0; i < LINKS; i++)
        assert_true(kept[i]);
}

static px_status refuse(void *context, const uint8_t *pixels, bool *out, px_error *err)
{
    (void)context, (void)pixels, (void)out;
    return px_fail(err, PX_E_INTERNAL, "no answer");
}

static void test_no_answer(void **state)
{
    (void)state;
    uint8_t root[SIZE], now[SIZE];
    px_error err = {0};
    pictures(root, now);
    known oracle = {.root = root};
    pxi_shrink shrink = shrink_of(&oracle, now, 10);
    shrink.errs = refuse;
    assert_int_equal(pxi_shrink_run(&shrink, NULL, 0, NULL, &err), PX_E_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
