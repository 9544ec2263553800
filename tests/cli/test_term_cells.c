/* tests/cli/test_term_cells.c - a grid of cells, and the bytes that turn one into another */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term_cells.h"
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static void test_put(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want;
        int column, row, taken;
        bool ascii;
    } cases[] = {
        {"plain", "abc", "abc\n", 0, 0, 3, false},
        {"cut", "abcdefghi", "      ab\n", 6, 0, 2, false},
        {"second row", "x", "\n x\n", 1, 1, 1, false},
        {"outside", "x", "", 8, 0, 0, false},
        {"below", "x", "", 0, 2, 0, false},
        {"before", "x", "", -1, 0, 0, false},
        {"letters", "é─Ж", "é─Ж\n", 0, 0, 3, false},
        {"no letters", "é─Ж", "???\n", 0, 0, 3, true},
        {"wide, combining, control", "网e\xcc\x81\x1b\t", "?e???\n", 0, 0, 5, false},
        {"not UTF-8", "\xff\xc3+\xe2\x94", "??+??\n", 0, 0, 5, false},
        {"overlong", "\xc0\xaf", "??\n", 0, 0, 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        term_cells cells = {.ascii = cases[i].ascii};
        px_text text = {0};
        assert_true(term_cells_resize(&cells, 8, 2));
        const int taken =
            term_cells_put(&cells, cases[i].column, cases[i].row, TERM_PLAIN, cases[i].text);
        term_cells_text(&cells, &text);
        if (taken != cases[i].taken || strcmp(px_text_get(&text), cases[i].want) != 0)
            fail_msg("case '%s': took %d, gave '%s'", cases[i].name, taken, px_text_get(&text));
        px_text_done(&text);
        term_cells_done(&cells);
    }
}

static void update(term_cells *shown, const term_cells *next, bool colour, const char *want)
{
    px_text bytes = {0};
    term_cells_update(shown, next, colour, 2, &bytes);
    assert_string_equal(px_text_get(&bytes), want);
    px_text_clear(&bytes);
    term_cells_update(shown, next, colour, 2, &bytes);
    assert_string_equal(px_text_get(&bytes), ""); /* nothing left to send */
    px_text_done(&bytes);
}

static void test_update(void **state)
{
    (void)state;
    term_cells shown = {0}, next = {0};
    assert_true(term_cells_resize(&shown, 10, 3) && term_cells_resize(&next, 10, 3));
    update(&shown, &next, true, "");
    term_cells_put(&next, 2, 1, TERM_BAD, "ab");
    term_cells_put(&next, 4, 1, TERM_PLAIN, "c");
    term_cells_put(&next, 9, 1, TERM_PLAIN, "d");
    update(&shown, &next, true, "\033[2;3H\033[0;1;31mab\033[0mc\033[2;10Hd\033[3;1H");
    term_cells_put(&next, 3, 1, TERM_GOOD, "b"); /* the style alone */
    update(&shown, &next, true, "\033[2;4H\033[0;32mb\033[0m\033[3;1H");
    term_cells_put(&next, 3, 1, TERM_BAD, "b"); /* which nobody sees without colours */
    update(&shown, &next, false, "");
    term_cells_put(&next, 0, 0, TERM_BAD, "é");
    update(&shown, &next, false, "\033[1;1Hé\033[3;1H");
    term_cells_done(&shown);
    term_cells_done(&next);
}

/* A terminal that understands what is sent, of one size. */
static void play(term_cells *screen, const char *bytes)
{
    int row = 0, column = 0;
    while (*bytes) {
        if (*bytes == '\033') {
            int a = 0, b = 0, length = 0;
            assert_int_equal(sscanf(bytes, "\033[%d;%dH%n", &a, &b, &length), 2);
            assert_true(length > 0 && a >= 1 && a <= screen->rows && b >= 1 &&
                        b <= screen->columns);
            row = a - 1;
            column = b - 1;
            bytes += length;
            continue;
        }
        assert_true(column < screen->columns);
        screen->cells[row * screen->columns + column].code = (uint32_t)*bytes++;
        column++;
    }
}

static void test_play(void **state)
{
    (void)state;
    term_cells shown = {0}, next = {0}, screen = {0};
    px_text bytes = {0};
    unsigned draw = 1;
    assert_true(term_cells_resize(&shown, 13, 5) && term_cells_resize(&screen, 13, 5));
    for (int frame = 0; frame < 200; frame++) {
        assert_true(term_cells_resize(&next, 13, 5));
        for (int i = 0; i < 65; i++, draw = draw * 1103515245u + 12345u)
            next.cells[i].code = draw >> 16 & 1 ? 'a' + (draw >> 20) % 3 : ' ';
        px_text_clear(&bytes);
        term_cells_update(&shown, &next, false, 4, &bytes);
        play(&screen, px_text_get(&bytes));
        for (int i = 0; i < 65; i++)
            assert_int_equal(screen.cells[i].code, next.cells[i].code);
    }
    px_text_done(&bytes);
    term_cells_done(&shown);
    term_cells_done(&next);
    term_cells_done(&screen);
}

static void test_rest(void **state)
{
    (void)state;
    term_cells cells = {0};
    assert_true(term_cells_resize(&cells, 4, 3));
    assert_int_equal(term_cells_rest(&cells), 0);
    term_cells_put(&cells, 0, 0, TERM_PLAIN, "abcd");
    assert_int_equal(term_cells_rest(&cells), 1);
    term_cells_put(&cells, 0, 1, TERM_PLAIN, "a");
    assert_int_equal(term_cells_rest(&cells), 2);
    term_cells_put(&cells, 3, 2, TERM_PLAIN, "a");
    assert_int_equal(term_cells_rest(&cells), 2);
    term_cells_done(&cells);
}

static void test_limits(void **state)
{
    (void)state;
    term_cells cells = {0};
    assert_true(term_cells_resize(&cells, 100000, 100000));
    assert_int_equal(cells.columns, TERM_COLUMNS_MOST);
    assert_int_equal(cells.rows, TERM_ROWS_MOST);
    assert_true(term_cells_resize(&cells, 0, -1));
    assert_int_equal(cells.columns * cells.rows, 1);
    term_cells_done(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put),  cmocka_unit_test(test_update), cmocka_unit_test(test_play),
        cmocka_unit_test(test_rest), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
