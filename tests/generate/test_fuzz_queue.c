/* tests/generate/test_fuzz_queue.c - which entry comes next: the checks of LGR D.3 and D.5 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_energy.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 7 };

static const pxi_queue_rule nlc_rule = {
    .pick = PXI_PICK_NLC, .by_finds = true, .gamma = 5, .least = 0.01};
static const pxi_queue_rule prob_rule = {.pick = PXI_PICK_PROB, .gamma = 5, .least = 0.01};

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static pxi_queue queue_of(const pxi_queue_rule *rule, int entries)
{
    pxi_queue queue;
    pxi_queue_init(&queue, rule, 11);
    for (int i = 0; i < entries; i++)
        assert_int_equal(pxi_queue_push(&queue, NULL), PX_OK);
    return queue;
}

static size_t pick(pxi_queue *queue, int64_t turn)
{
    size_t entry = SIZE_MAX;
    assert_true(pxi_queue_pick(queue, turn, 0, &entry));
    assert_true(entry < queue->count);
    return entry;
}

static void test_chances(void **state)
{
    (void)state;
    const double nlc[] = {1, .8, .6, .4, .2, .01, .01};
    const double code[] = {.8, .6, .4, .2, .2, .2, .2};
    const pxi_queue_rule published = {.code = true};
    const pxi_queue_rule other = {.gamma = 4, .least = .5};
    for (uint32_t c = 0; c < 7; c++) {
        near(pxi_queue_chance(&nlc_rule, c), nlc[c], 1e-12);
        near(pxi_queue_chance(&published, c), code[c], 1e-12);
        near(pxi_queue_chance(&other, c), c < 2 ? 1 - c / 4.0 : .5, 1e-12);
    }
}

static void test_power_schedule(void **state)
{
    (void)state;
    const uint8_t reference[] = {10, 0, 200, 50}, moved[] = {60, 0, 255, 80}, black[4] = {0};
    double potentials[2] = {pxi_power_potential(reference, reference, 4, .4),
                            pxi_power_potential(moved, reference, 4, .4)};
    int64_t shares[2];
    near(potentials[0], 306, 1e-9);
    near(potentials[1], 171, 1e-9);
    pxi_power_share(potentials, 2, 64, shares);
    assert_int_equal(shares[0], 42);
    assert_int_equal(shares[1], 23);
    pxi_power_share(potentials, 1, 64, shares); /* alone: all of it */
    assert_int_equal(shares[0], 64);
    potentials[0] = pxi_power_potential(black, reference, 4, .4);
    near(potentials[0], 0, 0); /* never below nothing */
    pxi_power_share(potentials, 1, 64, shares);
    assert_int_equal(shares[0], 0);
}

/* How often each entry is drawn is its weight's share. */
static void test_nlc_weights(void **state)
{
    (void)state;
    pxi_queue queue = queue_of(&nlc_rule, ENTRIES);
    const double weights[ENTRIES] = {1, .8, .6, .4, .2, .01, .01};
    double total = 0, counts[ENTRIES] = {0};
    for (int i = 0; i < ENTRIES; i++) {
        for (int f = 0; f < i; f++)
            assert_int_equal(pxi_queue_finish(&queue, (size_t)i, true, NULL), PX_OK);
        assert_int_equal(pxi_queue_finish(&queue, (size_t)i, false, NULL), PX_OK);
        total += weights[i];
    }
    enum { DRAWS = 40000 };
    for (int t = 0; t < DRAWS; t++)
        counts[pick(&queue, t)]++;
    for (int i = 0; i < ENTRIES; i++)
        if (fabs(counts[i] / DRAWS - weights[i] / total) > 0.01)
            fail_msg("entry %d: %g of %g", i, counts[i] / DRAWS, weights[i] / total);
    pxi_queue_done(&queue);
}

/* A cycle looks at each entry once; those with P = 1 are taken in order. */
static void test_prob_scans(void **state)
{
    (void)state;
    pxi_queue queue = queue_of(&prob_rule, ENTRIES);
    for (int t = 0; t < ENTRIES; t++) {
        const size_t entry = pick(&queue, t);
        assert_int_equal(entry, t);
        assert_int_equal(queue.unpicked, ENTRIES - t);
        pxi_queue_finish(&queue, entry, false, NULL);
    }
    assert_int_equal(queue.unpicked, 0);
    assert_int_equal(queue.cycles, 1);
    /* From now on four of five are taken, and never one behind the cursor. */
    size_t last = 0;
    int64_t wraps = 0, picks = 0;
    for (int t = ENTRIES; t < 3 * ENTRIES; t++, picks++) {
        const size_t entry = pick(&queue, t);
        wraps += entry <= last && t > ENTRIES;
        last = entry;
        pxi_queue_finish(&queue, entry, false, NULL);
    }
    assert_true(wraps >= 1 && wraps <= 4);
    pxi_queue_done(&queue);
}

static void test_recent(void **state)
{
    (void)state;
    const pxi_queue_rule rule = {.pick = PXI_PICK_RECENT, .gamma = 5, .least = 0.01};
    pxi_queue queue = queue_of(&rule, 100);
    enum { DRAWS = 6000 };
    int among_last = 0, others = 0;
    for (int t = 0; t < DRAWS; t++)
        *(pick(&queue, t) >= 95 ? &among_last : &others) += 1;
    assert_true(abs(others - DRAWS / 6 * 95 / 100) < DRAWS / 50);
    pxi_queue_done(&queue);
    queue = queue_of(&rule, 1);
    assert_int_equal(pick(&queue, 0), 0);
    pxi_queue_done(&queue);
}

static void test_stack(void **state)
{
    (void)state;
    const pxi_queue_rule rule = {.pick = PXI_PICK_STACK};
    pxi_queue queue = queue_of(&rule, 3);
    size_t entry;
    assert_int_equal(pick(&queue, 0), 2);
    pxi_queue_push(&queue, NULL);
    pxi_queue_finish(&queue, 2, true, NULL);
    assert_int_equal(pick(&queue, 1), 3); /* the new one */
    pxi_queue_finish(&queue, 3, false, NULL);
    assert_int_equal(pick(&queue, 2), 2); /* gave something, so it stays */
    pxi_queue_finish(&queue, 2, false, NULL);
    pxi_queue_finish(&queue, 1, false, NULL);
    pxi_queue_finish(&queue, 0, false, NULL);
    assert_false(pxi_queue_pick(&queue, 3, 0, &entry)); /* nothing is left */
    pxi_queue_done(&queue);
}

static void test_uniform(void **state)
{
    (void)state;
    const pxi_queue_rule rule = {.pick = PXI_PICK_UNIFORM};
    pxi_queue queue = queue_of(&rule, ENTRIES);
    int counts[ENTRIES] = {0};
    for (int t = 0; t < 7000; t++)
        counts[pick(&queue, t)]++;
    for (int i = 0; i < ENTRIES; i++)
        assert_true(abs(counts[i] - 1000) < 120);
    pxi_queue_done(&queue);
}

/* Random work on a queue, the same for the same numbers. */
static void work(pxi_queue *queue, int from, int to)
{
    for (int t = from; t < to; t++) {
        size_t entry;
        if (!pxi_queue_pick(queue, t, 0, &entry))
            return;
        if (t % 3 == 0)
            pxi_queue_push(queue, NULL);
        pxi_queue_finish(queue, entry, t % 3 == 0, NULL);
    }
}

/* What a guess did is taken back, whatever the rule; and saving keeps all of it. */
static void test_guess_and_save(void **state)
{
    (void)state;
    for (int p = PXI_PICK_PROB; p <= PXI_PICK_STACK; p++)
        for (int by_finds = 0; by_finds < 2; by_finds++) {
            const pxi_queue_rule rule = {
                .pick = (pxi_pick)p, .by_finds = by_finds != 0, .gamma = 5, .least = 0.01};
            pxi_queue queue = queue_of(&rule, 60), whole = queue_of(&rule, 60);
            px_text a = {0}, b = {0}, c = {0};
            work(&queue, 0, 200);
            work(&whole, 0, 200);
            pxi_queue_guess(&queue);
            work(&queue, 500, 700);
            pxi_queue_forget(&queue);
            pxi_queue_save(&queue, &a);
            pxi_queue_save(&whole, &b);
            assert_int_equal(a.length, b.length);
            assert_memory_equal(a.data, b.data, a.length);
            pxi_queue loaded = queue_of(&rule, (int)whole.count);
            pxi_fuzz_bytes from = {.at = (const uint8_t *)b.data,
                                   .end = (const uint8_t *)b.data + b.length};
            assert_true(pxi_queue_load(&loaded, &from) && from.at == from.end);
            assert_int_equal(loaded.unpicked, whole.unpicked);
            work(&queue, 200, 400);
            work(&whole, 200, 400);
            work(&loaded, 200, 400);
            px_text_clear(&a);
            px_text_clear(&b);
            pxi_queue_save(&queue, &a);
            pxi_queue_save(&whole, &b);
            pxi_queue_save(&loaded, &c);
            assert_true(a.length == b.length && b.length == c.length);
            assert_memory_equal(a.data, b.data, a.length);
            assert_memory_equal(b.data, c.data, a.length);
            for (size_t cut = 0; cut < c.length; cut += 7) { /* bytes that lie */
                pxi_queue short_one = queue_of(&rule, (int)loaded.count);
                from = (pxi_fuzz_bytes){.at = (const uint8_t *)c.data,
                                        .end = (const uint8_t *)c.data + cut};
                assert_false(pxi_queue_load(&short_one, &from));
                pxi_queue_done(&short_one);
            }
            px_text_done(&a);
            px_text_done(&b);
            px_text_done(&c);
            pxi_queue_done(&queue);
            pxi_queue_done(&whole);
            pxi_queue_done(&loaded);
        }
}

static void test_numbers_as_bytes(void **state)
{
    (void)state;
    const int64_t values[] = {0, 1, -1, 63, 64, -64, -65, 1 << 20, INT64_MAX, INT64_MIN};
    px_text bytes = {0};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pxi_fuzz_save_int(&bytes, values[i]);
    pxi_fuzz_save_real(&bytes, -0.1);
    pxi_fuzz_bytes from = {.at = (const uint8_t *)bytes.data,
                           .end = (const uint8_t *)bytes.data + bytes.length};
    int64_t value;
    double real;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(pxi_fuzz_load_int(&from, INT64_MIN, INT64_MAX, &value));
        assert_true(value == values[i]);
    }
    assert_true(pxi_fuzz_load_real(&from, &real) && real == -0.1);
    assert_false(pxi_fuzz_load_int(&from, 0, 1, &value));
    assert_false(pxi_fuzz_load_real(&from, &real));
    const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    from = (pxi_fuzz_bytes){.at = endless, .end = endless + sizeof endless};
    assert_false(pxi_fuzz_load_int(&from, INT64_MIN, INT64_MAX, &value));
    px_text_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances),         cmocka_unit_test(test_power_schedule),
        cmocka_unit_test(test_nlc_weights),     cmocka_unit_test(test_prob_scans),
        cmocka_unit_test(test_recent),          cmocka_unit_test(test_stack),
        cmocka_unit_test(test_uniform),         cmocka_unit_test(test_guess_and_save),
        cmocka_unit_test(test_numbers_as_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
