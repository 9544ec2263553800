/* tests/select/test_ats_lines.c - ATS: CSM TV-B9, and unions beside a row of flags */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "select/ats_lines.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CSM TV-B9. */
static const float vector[3][4] = {
    {.5f, .3f, .1f, .1f}, {.5f, .302f, .098f, .1f}, {.45f, .4f, .1f, .05f}};

static void test_pieces(void **state)
{
    (void)state;
    static const int32_t want[3][3][2] = {
        {{71200, 71657}, {71200, 71657}, {49805, 50195}},
        {{71629, 72085}, {71383, 71841}, {49555, 49944}},
        {{77863, 78387}, {83618, 84124}, {55797, 56203}},
    };
    static const int pairs[3][2] = {{1, 2}, {1, 3}, {2, 3}};
    const pxi_ats_options options = pxi_ats_options_default();
    pxi_ats_options program = options;
    program.as_program = true;
    for (int x = 0; x < 3; x++)
        for (int i = 0; i < 3; i++) {
            const double of_p = (double)vector[x][pairs[i][0]],
                         of_q = (double)vector[x][pairs[i][1]];
            const pxi_ats_piece got = pxi_ats_piece_of((double)vector[x][0], of_p, of_q, &options);
            if (got.from != want[x][i][0] || got.to != want[x][i][1])
                fail_msg("x%d, pair %d: [%d, %d)", x, i, got.from, got.to);
            const pxi_ats_piece mirrored =
                pxi_ats_piece_of((double)vector[x][0], of_p, of_q, &program);
            assert_int_equal(mirrored.from, PXI_ATS_UNITS - got.to);
            assert_int_equal(mirrored.to, PXI_ATS_UNITS - got.from);
        }
    static const double empty[][3] = {{1, 0, 0}, {.995, .003, .002}, {.2, .1, .9}, {NAN, .1, .1}};
    for (size_t i = 0; i < PX_LEN(empty); i++) {
        const pxi_ats_piece got = pxi_ats_piece_of(empty[i][0], empty[i][1], empty[i][2], &options);
        assert_int_equal(got.to - got.from, i == 2 ? got.to - got.from : 0);
    }
}

static void order_of(const float *p, const int32_t *predicted, int classes, int64_t count,
                     const pxi_ats_options *options, int64_t *order, double *lengths,
                     pxi_ats_counts *counts)
{
    int64_t *items = pxi_calloc((size_t)count + 1, sizeof *items);
    px_error err = {0};
    assert_non_null(items);
    for (int64_t i = 0; i < count; i++)
        items[i] = i;
    if (pxi_ats_order(p, predicted, classes, items, count, options, order, lengths, counts, &err) !=
        PX_OK)
        fail_msg("%s", err.message);
    free(items);
}

static void test_vector(void **state)
{
    (void)state;
    const pxi_ats_options options = pxi_ats_options_default();
    int64_t order[3];
    double lengths[3];
    pxi_ats_counts counts;
    order_of(&vector[0][0], (int32_t[]){0, 0, 0}, 4, 3, &options, order, lengths, &counts);
    static const int64_t want[] = {2, 0, 1};
    static const double gains[] = {.01436, .01304, .00862};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(order[i], want[i]);
        assert_true(fabs(lengths[i] - gains[i]) < 1e-9);
    }
    assert_int_equal(counts.chosen, 3);
}

/* Twice the same input: the second adds nothing and comes after, by its own length; the sure ones
 * come last. */
static void test_parts(void **state)
{
    (void)state;
    static const float p[6][4] = {{.995f, .005f, 0, 0}, {.5f, .3f, .1f, .1f},  {.5f, .3f, .1f, .1f},
                                  {.1f, .1f, .3f, .5f}, {0, 0, 0.001f, .999f}, {.99f, .01f, 0, 0}};
    static const int32_t predicted[6] = {0, 0, 0, 3, 3, 0};
    pxi_ats_options options = pxi_ats_options_default();
    int64_t order[6];
    double lengths[6];
    pxi_ats_counts counts;
    order_of(&p[0][0], predicted, 4, 6, &options, order, lengths, &counts);
    assert_int_equal(counts.chosen, 2);
    assert_int_equal(counts.others, 1);
    assert_int_equal(counts.sure, 3); /* 0.99 as a float is a little above */
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 3);
    assert_int_equal(order[2], 2);
    assert_true(fabs(lengths[2] - .01304) < 1e-9);
    assert_int_equal(order[3] + order[4] + order[5], 0 + 4 + 5);
    assert_true(lengths[3] == 0.0 && lengths[4] == 0.0 && lengths[5] == 0.0);
    bool first[2] = {0};
    for (options.seed = 0; options.seed < 32; options.seed++) {
        order_of(&p[0][0], predicted, 4, 6, &options, order, lengths, &counts);
        first[order[3] == 0] = true;
    }
    assert_true(first[0] && first[1]);
    options.as_program = true;
    order_of(&p[0][0], predicted, 4, 6, &options, order, lengths, &counts);
    assert_int_equal(order[5], 5); /* exactly 0.99 belongs nowhere */
    assert_int_equal(counts.chosen, 2);
}

static void test_unions(void **state)
{
    (void)state;
    enum { LINE = 300 };
    for (uint32_t number = 0; number < 200; number++) {
        px_random r = px_rng(2, PX_RNG_TEST, number, 0);
        pxi_ats_union set = {0};
        bool flags[LINE] = {0};
        for (int step = 0; step < 40; step++) {
            pxi_ats_piece piece = {.from = (int32_t)px_rng_below(&r, LINE)};
            piece.to =
                piece.from + (int32_t)px_rng_below(&r, (uint32_t)PX_MIN(LINE - piece.from, 30) + 1);
            int64_t both = 0;
            for (int32_t i = piece.from; i < piece.to; i++)
                both += flags[i];
            if (pxi_ats_union_overlap(&set, piece) != both)
                fail_msg("instance %u, step %d: overlap", number, step);
            assert_true(pxi_ats_union_add(&set, piece));
            for (int32_t i = piece.from; i < piece.to; i++)
                flags[i] = true;
            for (size_t i = 1; i < set.count; i++)
                assert_true(set.piece[i - 1].to < set.piece[i].from);
        }
        free(set.piece);
    }
}

/* Beside plain greedy with rows of flags in place of unions, over random probabilities. */
static void test_plain(void **state)
{
    (void)state;
    enum { COUNT = 40, CLASSES = 5, LINES = 6 };
    static bool flags[LINES][PXI_ATS_UNITS];
    const pxi_ats_options options = pxi_ats_options_default();
    const int64_t least = 100;
    for (uint32_t number = 0; number < 20; number++) {
        float p[COUNT][CLASSES];
        int32_t predicted[COUNT];
        px_random r = px_rng(3, PX_RNG_TEST, number, 0);
        for (int i = 0; i < COUNT; i++) {
            double sum = 0.0, e[CLASSES];
            for (int c = 0; c < CLASSES; c++)
                sum += e[c] = exp(1.5 * px_rng_normal(&r) + (c == 1 ? 3.0 : 0.0));
            predicted[i] = 1;
            for (int c = 0; c < CLASSES; c++)
                p[i][c] = (float)(e[c] / sum);
        }
        int64_t order[COUNT];
        double lengths[COUNT];
        pxi_ats_counts counts;
        order_of(&p[0][0], predicted, CLASSES, COUNT, &options, order, lengths, &counts);
        memset(flags, 0, sizeof flags);
        bool taken[COUNT] = {0};
        int64_t place = 0;
        for (;; place++) {
            int best = -1;
            int64_t most = least;
            for (int i = 0; i < COUNT; i++) {
                int64_t gain = 0, line = 0;
                for (int a = 0; a < CLASSES; a++)
                    for (int b = a + 1; b < CLASSES; b++) {
                        if (a == 1 || b == 1)
                            continue;
                        const pxi_ats_piece piece = pxi_ats_piece_of(
                            (double)p[i][1], (double)p[i][a], (double)p[i][b], &options);
                        for (int32_t u = piece.from; u < piece.to; u++)
                            gain += !flags[line][u];
                        line++;
                    }
                if (!taken[i] && (double)p[i][1] < options.up && gain > most) {
                    most = gain;
                    best = i;
                }
            }
            if (best < 0)
                break;
            taken[best] = true;
            int64_t line = 0;
            for (int a = 0; a < CLASSES; a++)
                for (int b = a + 1; b < CLASSES; b++) {
                    if (a == 1 || b == 1)
                        continue;
                    const pxi_ats_piece piece = pxi_ats_piece_of(
                        (double)p[best][1], (double)p[best][a], (double)p[best][b], &options);
                    memset(&flags[line++][piece.from], 1, (size_t)(piece.to - piece.from));
                }
            /* gains only shrink, so sorting by them keeps the order of one class */
            if (order[place] != best || fabs(lengths[place] * PXI_ATS_UNITS - (double)most) > 1e-6)
                fail_msg("instance %u: place %d has %d, not %d", number, (int)place,
                         (int)order[place], best);
        }
        assert_int_equal(counts.chosen, place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_vector), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_unions), cmocka_unit_test(test_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
