/* tests/base/test_rng.c - Philox against its published values, and what is drawn from it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/rng.h>
#include <math.h>

static const struct {
    uint32_t counter[4], key[2], expected[4];
} blocks[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{1, 0, 0, 0}, {42, 0}, {0xfcdb2127, 0x53ba6cfd, 0x838f5a6e, 0x744e06fb}},
};

static void test_philox(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(blocks); i++) {
        uint32_t out[4];
        px_rng_philox(blocks[i].counter, blocks[i].key, out);
        assert_memory_equal(out, blocks[i].expected, sizeof out);
    }
}

/* The stream is the blocks (0, item, iteration, component), (1, ...) in order. */
static void test_stream_is_addressable(void **state)
{
    (void)state;
    px_random r = px_rng(42, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        px_rng_u32(&r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(px_rng_u32(&r), blocks[2].expected[i]);

    const uint64_t seed = 0x0123456789abcdefu;
    const uint32_t counter[4] = {0, 7, 8, 9}, key[2] = {0x89abcdef, 0x01234567};
    uint32_t block[4];
    px_rng_philox(counter, key, block);
    r = px_rng(seed, /* component= */ 9, /* item= */ 7, /* iteration= */ 8);
    assert_int_equal(px_rng_u32(&r), block[0]);
    assert_true(px_rng_u01(&r) == (block[1] >> 8) / 16777216.0);
}

static void test_many_words_at_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 64, 3, 63, 65, 130, 4, 200};
    px_random many = px_rng(42, PX_RNG_TEST, 3, 5);
    many.counter[0] = UINT32_MAX - 20; /* goes past the last block */
    px_random one = many;
    for (size_t k = 0; k < PX_LEN(counts); k++) {
        uint32_t words[201];
        words[counts[k]] = 12345;
        px_rng_fill(&many, words, counts[k]);
        for (size_t i = 0; i < counts[k]; i++)
            assert_int_equal(words[i], px_rng_u32(&one));
        assert_int_equal(words[counts[k]], 12345);
    }
    assert_int_equal(px_rng_u32(&many), px_rng_u32(&one));
}

static void test_normal_moments(void **state)
{
    (void)state;
    px_random r = px_rng(1, PX_RNG_TEST, 0, 0);
    double sum = 0, squares = 0;
    const int n = 100000;
    for (int i = 0; i < n; i++) {
        const double x = px_rng_normal(&r);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / n) < 0.02);
    assert_true(fabs(squares / n - 1.0) < 0.03);
}

static void test_below_is_uniform(void **state)
{
    (void)state;
    px_random r = px_rng(2, PX_RNG_TEST, 0, 0);
    int seen[7] = {0};
    for (int i = 0; i < 70000; i++)
        seen[px_rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        if (seen[i] < 9500 || seen[i] > 10500)
            fail_msg("value %d was drawn %d times", i, seen[i]);
    assert_int_equal(px_rng_below(&r, 1), 0);
    for (int i = 0; i < 100; i++) /* a bound that makes rejection likely */
        assert_true(px_rng_below(&r, 0x80000001u) <= 0x80000000u);
}

static void test_permutation(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t order[N], again[N];
    bool seen[N] = {false};
    px_random r = px_rng(3, PX_RNG_SHUFFLE, 0, 0), same = px_rng(3, PX_RNG_SHUFFLE, 0, 0);
    px_rng_permutation(&r, order, N);
    px_rng_permutation(&same, again, N);
    assert_memory_equal(order, again, sizeof order);
    int moved = 0;
    for (int i = 0; i < N; i++) {
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
        moved += order[i] != i;
    }
    assert_true(moved > N / 2);
    px_rng_permutation(&r, order, 0);
}

static void test_choose(void **state)
{
    (void)state;
    const double weights[] = {0, 1, 0, 3, 0}, none[] = {0, 0};
    int seen[5] = {0}, even[2] = {0};
    px_random r = px_rng(4, PX_RNG_TEST, 0, 0);
    for (int i = 0; i < 40000; i++)
        seen[px_rng_choose(&r, weights, 5)]++;
    assert_int_equal(seen[0] + seen[2] + seen[4], 0);
    assert_true(seen[3] > 29500 && seen[3] < 30500);
    for (int i = 0; i < 1000; i++)
        even[px_rng_choose(&r, none, 2)]++;
    assert_true(even[0] > 400 && even[1] > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox),
        cmocka_unit_test(test_stream_is_addressable),
        cmocka_unit_test(test_many_words_at_once),
        cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_below_is_uniform),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
