/* tests/studies/test_cells.c - what was written is there, whatever happened to the last line */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "frame/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "cells-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static study_cells *open_cells(void)
{
    px_error err = {0};
    study_cells *cells = NULL;
    if (pxi_cells_open(path, &cells, &err) != PX_OK)
        fail_msg("%s", err.message);
    return cells;
}

static void add(study_cells *cells, const char *key, double number)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, number, "value");
    pxi_cell_put(&list, (double)NAN, "undefined%d", 1);
    assert_int_equal(pxi_cells_add(cells, key, 1.5, list.value, list.count, NULL), PX_OK);
}

static double value(const study_cells *cells, const char *key)
{
    return pxi_cell_number(pxi_cells_find(cells, key), "value");
}

static void test_kept(void **state)
{
    (void)state;
    study_cells *cells = open_cells();
    assert_int_equal(pxi_cells_count(cells), 0);
    add(cells, "a \"quoted\" key", 0.1);
    add(cells, "b", 1e-300);
    add(cells, "b", 2.0); /* the later one holds */
    assert_int_equal(pxi_cells_command(cells, "plexor study nss", NULL), PX_OK);
    assert_int_equal(pxi_cells_command(cells, "plexor study nss", NULL), PX_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pxi_cells_count(cells), 2);
        assert_true(value(cells, "a \"quoted\" key") == 0.1);
        assert_true(value(cells, "b") == 2.0);
        assert_true(isnan(value(cells, "c")));
        assert_true(isnan(pxi_cell_number(pxi_cells_find(cells, "b"), "undefined1")));
        assert_true(pxi_cells_find(cells, "b")->seconds == 1.5);
        assert_int_equal(strlen(pxi_cells_find(cells, "b")->at), 20);
        assert_int_equal(pxi_cells_command_count(cells), 1);
        assert_string_equal(pxi_cells_command_at(cells, 0)->text, "plexor study nss");
        pxi_cells_close(cells);
        cells = open_cells();
    }
    pxi_cells_close(cells);
}

/* A line cut anywhere is as if it had never been begun, and the next one is whole. */
static void test_torn(void **state)
{
    (void)state;
    study_cells *cells = open_cells();
    add(cells, "first", 1.0);
    pxi_cells_close(cells);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[512];
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    char *first = strstr(line, "first");
    memcpy(first, "other", 5);
    for (size_t cut = 0; line[cut + 1]; cut++) {
        char torn[512];
        snprintf(torn, sizeof torn, "%.*s", (int)cut, line);
        write_text(torn, "a");
        cells = open_cells();
        if (pxi_cells_count(cells) != 1 || value(cells, "first") != 1.0)
            fail_msg("cut after %zu: %zu cells", cut, pxi_cells_count(cells));
        add(cells, "first", 1.0);
        add(cells, "next", (double)cut);
        pxi_cells_close(cells);
        cells = open_cells();
        if (pxi_cells_count(cells) != 2 || value(cells, "next") != (double)cut)
            fail_msg("cut after %zu: the next cell is not there", cut);
        pxi_cells_close(cells);
        assert_int_equal(truncate(path, 0), 0);
        cells = open_cells();
        add(cells, "first", 1.0);
        pxi_cells_close(cells);
    }
}

static void test_long_torn(void **state) /* longer than what is read at a time */
{
    (void)state;
    study_cells *cells = open_cells();
    add(cells, "first", 1.0);
    for (int i = 0; i < 3000; i++)
        write_text("torn", "a");
    add(cells, "second", 2.0);
    pxi_cells_close(cells);
    cells = open_cells();
    assert_int_equal(pxi_cells_count(cells), 2);
    pxi_cells_close(cells);
}

static void test_not_ours(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"nonsense\n", "line 1"},
        {"[]\n", "line 1: not a cell of a study"},
        {"\n{}\n", "line 2: not a cell of a study"},
        {"{\"key\":\"k\",\"at\":\"t\",\"seconds\":1,\"values\":[]}\n", "not a cell of a study"},
        {"{\"key\":\"k\",\"at\":\"t\",\"seconds\":\"1\",\"values\":{}}\n", "not a cell"},
        {"{\"key\":\"k\",\"at\":\"t\",\"seconds\":1,\"values\":{\"v\":\"1\"}}\n",
         "its values are not numbers"},
        {"{\"key\":\"k\",\"at\":\"much longer than a date is allowed to be\",\"seconds\":1,"
         "\"values\":{}}\n",
         "not a cell"},
        {"{\"key\":\"k\",\"at\":\"t\",\"seconds\":1,\"values\":{\"a name that is longer than the "
         "names that cells may have\":1}}\n",
         "its values are not numbers"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        study_cells *cells = NULL;
        write_text(cases[i].text, "w");
        if (pxi_cells_open(path, &cells, &err) != PX_E_INPUT ||
            !strstr(err.message, cases[i].message) || !strstr(err.message, path))
            fail_msg("case %zu: '%s'", i, err.message);
    }
}

static void test_cannot_write(void **state)
{
    (void)state;
    px_error err = {0};
    study_cells *cells = NULL;
    assert_int_equal(pxi_cells_open("no/such/folder/cells.jsonl", &cells, &err), PX_OK);
    assert_int_equal(pxi_cells_add(cells, "k", 0.0, NULL, 0, &err), PX_E_IO);
    assert_non_null(strstr(err.message, "no/such/folder"));
    assert_int_equal(pxi_cells_count(cells), 0);
    pxi_cells_close(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_torn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_ours, setup, teardown),
        cmocka_unit_test(test_cannot_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
