/* tests/select/test_greedy_cover.c - orders by coverage: by hand, and beside plain greedy */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "select/greedy_cover.h"

#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 96 };

static void add_bit(pxi_cover_rows *rows, int64_t i, int64_t element)
{
    rows->bits[i * rows->words + element / 64] |= UINT64_C(1) << (element % 64);
}

static void assert_order(const int64_t *got, const int64_t *want, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count; i++)
        if (got[i] != want[i])
            fail_msg("%s: place %d has %d, not %d", what, (int)i, (int)got[i], (int)want[i]);
}

static void order_rows(const pxi_cover_rows *rows, pxi_greedy_options options, int64_t *order,
                       int64_t *gains, int64_t *useful)
{
    px_error err = {0};
    if (pxi_greedy_order(rows, NULL, rows->count, &options, order, gains, useful, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* CSM TV-B3: {0,1,2}, {0,1,2}, {3,4}, {5}, {}. */
static void vector_rows(pxi_cover_rows *rows)
{
    static const int sets[5][4] = {{0, 1, 2, -1}, {0, 1, 2, -1}, {3, 4, -1}, {5, -1}, {-1}};
    px_error err = {0};
    assert_int_equal(pxi_cover_rows_bits(rows, "test", 5, 6, &err), PX_OK);
    for (int64_t i = 0; i < 5; i++)
        for (int j = 0; sets[i][j] >= 0; j++)
            add_bit(rows, i, sets[i][j]);
}

static void test_vector(void **state)
{
    (void)state;
    pxi_cover_rows rows;
    vector_rows(&rows);
    int64_t order[5], gains[5], useful;
    order_rows(&rows, (pxi_greedy_options){.method = PXI_GREEDY_CTM}, order, gains, &useful);
    assert_order(order, (int64_t[]){0, 1, 2, 3, 4}, 5, "ctm");
    assert_order(gains, (int64_t[]){3, 3, 2, 1, 0}, 5, "ctm's totals");
    assert_int_equal(useful, 4);
    order_rows(&rows, (pxi_greedy_options){.method = PXI_GREEDY_CAM}, order, gains, &useful);
    assert_order(order, (int64_t[]){0, 2, 3, 1, 4}, 5, "cam");
    assert_order(gains, (int64_t[]){3, 2, 1, 0, 0}, 5, "cam's gains");
    assert_int_equal(useful, 3);
    order_rows(&rows, (pxi_greedy_options){.rest = PXI_REST_RESTART}, order, gains, &useful);
    assert_order(order, (int64_t[]){0, 2, 3, 1, 4}, 5, "restart");
    assert_order(gains, (int64_t[]){3, 2, 1, 3, 0}, 5, "restart's gains");
    assert_int_equal(useful, 3);
    pxi_cover_rows_done(&rows);
}

static void test_random_parts(void **state)
{
    (void)state;
    pxi_cover_rows rows;
    vector_rows(&rows);
    bool first[5] = {0}, rest[2] = {0};
    for (uint64_t seed = 0; seed < 64; seed++) {
        int64_t order[5], gains[5], useful, seen = 0;
        order_rows(&rows, (pxi_greedy_options){.random_start = true, .seed = seed}, order, gains,
                   &useful);
        first[order[0]] = true;
        for (int i = 0; i < 5; i++)
            seen |= INT64_C(1) << order[i];
        assert_int_equal(seen, 31);
        assert_true(gains[0] == pxi_cover_rows_total(&rows, order[0]));
        order_rows(&rows, (pxi_greedy_options){.rest = PXI_REST_RANDOM, .seed = seed}, order, gains,
                   &useful);
        assert_order(order, (int64_t[]){0, 2, 3}, 3, "cam before a random rest");
        assert_true(order[3] + order[4] == 5);
        rest[order[3] == 1] = true;
    }
    assert_true(first[0] && first[1] && first[2] && first[3] && first[4]);
    assert_true(rest[0] && rest[1]);
    pxi_cover_rows_done(&rows);
}

/* --- beside plain greedy, which looks at every row again for every place --------------------- */

static int64_t plain_gain(const pxi_cover_rows *rows, int64_t i, const bool *covered)
{
    int64_t gain = 0;
    for (int64_t e = 0; rows->bits && e < rows->words * 64; e++)
        gain += (rows->bits[i * rows->words + e / 64] >> (e % 64) & 1) && !covered[e];
    for (int64_t c = 0; !rows->bits && c < rows->columns; c++) {
        const int64_t group = rows->group ? rows->group[i] : 0;
        const int32_t section = rows->sections[i * rows->columns + c];
        gain += section < rows->per && !covered[(group * rows->columns + c) * rows->per + section];
    }
    return gain;
}

static void plain_take(const pxi_cover_rows *rows, int64_t i, bool *covered)
{
    for (int64_t e = 0; rows->bits && e < rows->words * 64; e++)
        covered[e] |= rows->bits[i * rows->words + e / 64] >> (e % 64) & 1;
    for (int64_t c = 0; !rows->bits && c < rows->columns; c++) {
        const int64_t group = rows->group ? rows->group[i] : 0;
        const int32_t section = rows->sections[i * rows->columns + c];
        if (section < rows->per)
            covered[(group * rows->columns + c) * rows->per + section] = true;
    }
}

/* CAM with the rest by total. Returns how many added something. */
static int64_t plain_greedy(const pxi_cover_rows *rows, int64_t *order)
{
    const size_t elements =
        (size_t)(rows->bits ? rows->words * 64 : rows->columns * rows->groups * rows->per);
    bool *covered = pxi_calloc(elements + 1, 1), *none = pxi_calloc(elements + 1, 1);
    bool taken[MOST] = {0};
    int64_t useful = -1;
    assert_true(covered && none && rows->count <= MOST);
    for (int64_t place = 0; place < rows->count; place++) {
        int64_t best = -1, most = -1;
        for (int64_t i = 0; i < rows->count && useful < 0; i++) {
            const int64_t gain = taken[i] ? -1 : plain_gain(rows, i, covered);
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        if (useful < 0 && most == 0)
            useful = place;
        if (useful >= 0) {
            best = -1;
            for (int64_t i = 0; i < rows->count; i++)
                if (!taken[i] &&
                    (best < 0 || plain_gain(rows, i, none) > plain_gain(rows, best, none)))
                    best = i;
        }
        taken[best] = true;
        plain_take(rows, best, covered);
        order[place] = best;
    }
    free(covered);
    free(none);
    return useful < 0 ? rows->count : useful;
}

static void random_rows(pxi_cover_rows *rows, uint32_t number)
{
    px_error err = {0};
    px_random r = px_rng(1, PX_RNG_TEST, number, 0);
    const int64_t count = px_rng_below(&r, MOST) + 1;
    const uint32_t density = px_rng_below(&r, 8) + 1; /* many ties, and rows that add nothing */
    if (number % 2 == 0) {
        const int64_t elements = px_rng_below(&r, 200) + 1;
        assert_int_equal(pxi_cover_rows_bits(rows, "test", count, elements, &err), PX_OK);
        for (int64_t i = 0; i < count; i++)
            for (int64_t e = 0; e < elements; e++)
                if (px_rng_below(&r, 10) < density)
                    add_bit(rows, i, e);
    } else {
        const int64_t columns = px_rng_below(&r, 40) + 1, groups = number % 4 == 1 ? 1 : 3;
        const int32_t per = (int32_t)px_rng_below(&r, 70) + 1;
        assert_int_equal(pxi_cover_rows_sections(rows, "test", count, columns, per, groups, &err),
                         PX_OK);
        for (int64_t i = 0; i < count; i++) {
            if (rows->group)
                rows->group[i] = (int32_t)px_rng_below(&r, (uint32_t)groups);
            for (int64_t c = 0; c < columns; c++)
                if (px_rng_below(&r, 10) < density)
                    rows->sections[i * columns + c] = (uint16_t)px_rng_below(&r, (uint32_t)per);
        }
    }
}

static void test_plain(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 400; number++) {
        pxi_cover_rows rows;
        random_rows(&rows, number);
        int64_t order[MOST], gains[MOST], want[MOST], useful;
        char what[32];
        snprintf(what, sizeof what, "instance %u", number);
        const int64_t want_useful = plain_greedy(&rows, want);
        order_rows(&rows, (pxi_greedy_options){0}, order, gains, &useful);
        assert_order(order, want, rows.count, what);
        if (useful != want_useful)
            fail_msg("%s: %d useful, not %d", what, (int)useful, (int)want_useful);
        pxi_cover_rows_done(&rows);
    }
}

static void test_items_and_edges(void **state)
{
    (void)state;
    pxi_cover_rows rows;
    px_error err = {0};
    int64_t order[5], gains[5], useful;
    vector_rows(&rows);
    const pxi_greedy_options cam = {0};
    assert_int_equal(
        pxi_greedy_order(&rows, (int64_t[]){1, 3, 4}, 3, &cam, order, gains, &useful, &err), PX_OK);
    assert_order(order, (int64_t[]){1, 3, 4}, 3, "some of the rows");
    assert_int_equal(pxi_greedy_order(&rows, order, 0, &cam, order, gains, &useful, &err), PX_OK);
    assert_int_equal(useful, 0);
    memset(rows.bits, 0, 5 * (size_t)rows.words * sizeof *rows.bits);
    for (int rest = PXI_REST_CTM; rest <= PXI_REST_RESTART; rest += 2) {
        order_rows(&rows, (pxi_greedy_options){.rest = (pxi_greedy_rest)rest}, order, gains,
                   &useful);
        assert_order(order, (int64_t[]){0, 1, 2, 3, 4}, 5, "nothing covered");
        assert_int_equal(useful, 0);
    }
    pxi_cover_rows_done(&rows);
    /* The largest number of sections, and none of them in the last column. */
    assert_int_equal(pxi_cover_rows_sections(&rows, "test", 2, 2, PXI_SECTIONS_MOST, 1, &err),
                     PX_OK);
    rows.sections[0] = PXI_SECTIONS_MOST - 1;
    assert_int_equal(pxi_cover_rows_total(&rows, 0), 1);
    assert_int_equal(pxi_cover_rows_total(&rows, 1), 0);
    order_rows(&rows, cam, order, gains, &useful);
    assert_int_equal(useful, 1);
    assert_int_equal(gains[0], 1);
    pxi_cover_rows_done(&rows);
    assert_int_equal(
        pxi_cover_rows_sections(&rows, "kmnc", 2, INT32_MAX, PXI_SECTIONS_MOST, 1, &err),
        PX_E_USAGE);
    assert_non_null(strstr(err.message, "kmnc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_random_parts),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_items_and_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
