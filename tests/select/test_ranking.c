/* tests/select/test_ranking.c - orders, the best so far, and turns over classes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "select/ranking.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 500, CLASSES = 5 };

static void make_entries(px_ranked *entries, uint32_t kind)
{
    px_random r = px_rng(1, PX_RNG_TEST, kind, 0);
    for (int64_t i = 0; i < CANDIDATES; i++) {
        double score = px_rng_normal(&r);
        if (kind == 1)
            score = round(2.0 * score); /* many ties */
        if (kind == 2)
            score = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
        if (kind == 3)
            score = 0.25;
        entries[i] = (px_ranked){.index = i,
                                 .score = score,
                                 .predicted = (int)px_rng_below(&r, CLASSES + 1) - 1,
                                 .confidence = 0.5f};
    }
}

static void assert_same_order(const px_ranked *a, const px_ranked *b, int64_t count,
                              const char *what, uint32_t kind)
{
    for (int64_t i = 0; i < count; i++)
        if (a[i].index != b[i].index)
            fail_msg("%s, kind %u: place %lld has %lld, not %lld", what, kind, (long long)i,
                     (long long)a[i].index, (long long)b[i].index);
}

static void test_order(void **state)
{
    (void)state;
    px_ranked entries[] = {{.index = 0, .score = NAN},      {.index = 1, .score = 1.0},
                           {.index = 2, .score = 2.0},      {.index = 3, .score = 1.0},
                           {.index = 4, .score = INFINITY}, {.index = 5, .score = NAN},
                           {.index = 6, .score = -INFINITY}};
    static const int64_t expected[] = {4, 2, 1, 3, 6, 0, 5};
    pxi_ranked_sort(entries, PX_LEN(entries));
    for (size_t i = 0; i < PX_LEN(entries); i++)
        assert_int_equal(entries[i].index, expected[i]);
}

/* However the candidates are shared out and whatever is kept, it is the start of the whole order.
 */
static void test_best_are_a_prefix(void **state)
{
    (void)state;
    static const int64_t keeps[] = {1, 2, 17, CANDIDATES, CANDIDATES + 5};
    for (uint32_t kind = 0; kind < 4; kind++) {
        px_ranked whole[CANDIDATES], entries[CANDIDATES];
        make_entries(entries, kind);
        memcpy(whole, entries, sizeof whole);
        pxi_ranked_sort(whole, CANDIDATES);
        for (size_t k = 0; k < PX_LEN(keeps); k++)
            for (int parts = 1; parts <= 3; parts++) {
                pxi_ranking part[3];
                px_ranked *best = NULL;
                int64_t count = 0;
                for (int p = 0; p < parts; p++)
                    assert_int_equal(pxi_ranking_init(&part[p], keeps[k], 0, NULL), PX_OK);
                for (int64_t i = 0; i < CANDIDATES; i++)
                    assert_int_equal(pxi_ranking_add(&part[(i * 7) % parts],
                                                     &entries[parts == 2 ? CANDIDATES - 1 - i : i],
                                                     NULL),
                                     PX_OK);
                for (int p = 1; p < parts; p++)
                    assert_int_equal(pxi_ranking_merge(&part[0], &part[p], NULL), PX_OK);
                assert_int_equal(pxi_ranking_take(&part[0], &best, &count, NULL), PX_OK);
                assert_int_equal(count, PX_MIN(keeps[k], CANDIDATES));
                assert_same_order(best, whole, count, "best", kind);
                assert_int_equal(part[0].added, CANDIDATES);
                assert_int_equal(part[0].unscored, kind == 2 ? (CANDIDATES + 2) / 3 : 0);
                assert_int_equal(part[0].least == part[0].most, kind == 3);
                free(best);
                for (int p = 0; p < parts; p++)
                    pxi_ranking_done(&part[p]);
            }
    }
}

/* Every prefix of the turns has as many of each class as it can. */
static void test_turns(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 4; kind++) {
        px_ranked whole[CANDIDATES], turns[CANDIDATES];
        int64_t total[CLASSES + 1] = {0}, seen[CLASSES + 1] = {0};
        int64_t last[CLASSES + 1];
        make_entries(whole, kind);
        pxi_ranked_sort(whole, CANDIDATES);
        memcpy(turns, whole, sizeof turns);
        assert_int_equal(pxi_ranked_stratify(turns, CANDIDATES, CLASSES, NULL), PX_OK);
        for (int64_t i = 0; i < CANDIDATES; i++)
            total[(turns[i].predicted + CLASSES + 1) % (CLASSES + 1)]++;
        for (int c = 0; c <= CLASSES; c++)
            last[c] = -1;
        for (int64_t i = 0; i < CANDIDATES; i++) {
            const int c = (turns[i].predicted + CLASSES + 1) % (CLASSES + 1);
            seen[c]++;
            for (int other = 0; other <= CLASSES; other++)
                if (seen[other] < seen[c] - 1 && seen[other] < total[other])
                    fail_msg("kind %u: place %lld is class %d's turn %lld, class %d had %lld", kind,
                             (long long)i, c, (long long)seen[c], other, (long long)seen[other]);
            if (last[c] >= 0)
                assert_true(pxi_ranked_before(&turns[last[c]], &turns[i]));
            last[c] = i;
        }
    }
}

/* With a bound per class, the turns are the same as those of the whole order. */
static void test_turns_of_the_best(void **state)
{
    (void)state;
    enum { KEEP = 40 };
    for (uint32_t kind = 0; kind < 4; kind++) {
        px_ranked entries[CANDIDATES], *best = NULL;
        pxi_ranking ranking;
        int64_t count = 0;
        make_entries(entries, kind);
        assert_int_equal(pxi_ranking_init(&ranking, KEEP, CLASSES, NULL), PX_OK);
        for (int64_t i = 0; i < CANDIDATES; i++)
            assert_int_equal(pxi_ranking_add(&ranking, &entries[i], NULL), PX_OK);
        assert_int_equal(pxi_ranking_take(&ranking, &best, &count, NULL), PX_OK);
        assert_int_equal(pxi_ranked_stratify(best, count, CLASSES, NULL), PX_OK);
        pxi_ranked_sort(entries, CANDIDATES);
        assert_int_equal(pxi_ranked_stratify(entries, CANDIDATES, CLASSES, NULL), PX_OK);
        assert_true(count >= KEEP);
        assert_same_order(best, entries, KEEP, "turns of the best", kind);
        free(best);
        pxi_ranking_done(&ranking);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_best_are_a_prefix),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_turns_of_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
