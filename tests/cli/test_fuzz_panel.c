/* tests/cli/test_fuzz_panel.c - the status screen as text, against tests/cli/screens/
 *
 * With PLEXOR_BLESS set the files are written instead: look at them before committing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/fuzz_figures.h"
#include "cli/fuzz_panel.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const px_fuzz_yield DEEPHUNTER[] = {
    {"cv-translation", 71204, 70111, 412, 31}, {"cv-scale", 71890, 70990, 380, 22},
    {"cv-shear", 70444, 69012, 377, 40},       {"cv-rotation", 70981, 70002, 401, 29},
    {"cv-brightness", 90210, 61544, 512, 8},   {"cv-contrast", 90002, 60981, 533, 11},
    {"cv-blur", 90442, 72011, 210, 5},         {"noise", 89771, 55870, 601, 17},
    {"pixel-change", 90128, 88412, 90, 0},
};
enum { DEEPHUNTER_COUNT = sizeof DEEPHUNTER / sizeof DEEPHUNTER[0], RULES = 95 };

static px_fuzz_yield rules[RULES];
static char rule_names[RULES][16];

static px_fuzz_report report_usual(void)
{
    return (px_fuzz_report){
        .engine = "loop",
        .policy = "deephunter",
        .guide = "kmnc",
        .mutations = "deephunter",
        .run_s = 11083.4,
        .turns = 31002,
        .cycles = 12,
        .cycles_without_finds = 1,
        .executions = 735072,
        .executions_per_s = 2310.2,
        .executions_per_s_now = 2280.6,
        .seeds = 1000,
        .seeds_wrong = 83,
        .queue = 4516,
        .pending = 1802,
        .current = 1042,
        .depth = 11,
        .outputs = 3679,
        .kept = 3516,
        .faults = 163,
        .unique_faults = 97,
        .close_faults = 121,
        .fault_types = 31,
        .classes = 9,
        .class_count = 10,
        .coverage = {0.3421, 235367, 688000},
        .coverage_seeds = 0.301,
        .last_find_s = 11057,
        .last_fault_s = 10400,
        .executions_since_fault = 1577,
        .stage = "mutants of 1042",
        .stage_done = 12,
        .stage_total = 20,
        .yields = DEEPHUNTER,
        .yield_count = DEEPHUNTER_COUNT,
    };
}

static px_fuzz_report report_huge(void)
{
    static const px_fuzz_yield yields[] = {
        {"translate", INT64_MAX / 4, 999949999, 99999, 100000},
        {"a name that is longer than its column", 1, 999999, 9999499, 0},
    };
    px_fuzz_report r = report_usual();
    r.run_s = 86400.0 * 365 * 3;
    r.last_find_s = 1;
    r.last_fault_s = 86400.0 * 365 * 3 - 90000;
    r.cycles = r.cycles_without_finds = 123456789;
    r.executions = INT64_MAX;
    r.executions_per_s = 12345678.9;
    r.executions_per_s_now = 1e300;
    r.seeds = r.queue = r.pending = r.outputs = r.kept = r.faults = 123456789012;
    r.current = 99999999999;
    r.unique_faults = 98765432109;
    r.close_faults = 23456789012;
    r.fault_types = r.classes = 999000;
    r.class_count = 1000;
    r.coverage = (px_coverage){.value = 0.999999, .covered = 99999999998, .total = 99999999999};
    r.depth = 1024;
    r.resets = 12345678;
    r.not_finite = 12345678901;
    r.stage = "a stage with a name so long that no terminal has room for it";
    r.stage_done = r.stage_total = 1234567890123;
    r.yields = yields;
    r.yield_count = 2;
    return r;
}

static px_fuzz_report report_beginning(void)
{
    px_fuzz_report r = report_usual();
    r.run_s = 0.4;
    r.cycles = r.cycles_without_finds = r.current = r.depth = 0;
    r.executions = 917;
    r.queue = r.pending = 917;
    r.outputs = r.kept = r.faults = r.unique_faults = r.close_faults = 0;
    r.fault_types = r.classes = 0;
    r.last_find_s = r.last_fault_s = -1;
    r.executions_per_s = r.executions_per_s_now = NAN;
    r.stage = NULL;
    r.stage_done = r.stage_total = 0;
    return r;
}

static px_fuzz_report report_no_guide(void)
{
    px_fuzz_report r = report_usual();
    r.guide = "random";
    r.coverage.value = r.coverage_seeds = NAN;
    r.coverage.covered = r.coverage.total = 0;
    r.stopped = "10000 turns";
    return r;
}

static px_fuzz_report report_rules(void)
{
    px_fuzz_report r = report_usual();
    for (int i = 0; i < RULES; i++) {
        snprintf(rule_names[i], sizeof rule_names[i], "rule-%d", i + 1);
        rules[i] = (px_fuzz_yield){rule_names[i], 1000 + i, 900, (i * 37) % 95, (i * 53) % 19};
    }
    r.policy = "nsgen";
    r.guide = "nlc";
    r.coverage = (px_coverage){.value = 1234.56789};
    r.coverage_seeds = 1200.5;
    r.yields = rules;
    r.yield_count = RULES;
    return r;
}

static px_fuzz_report report_engine(void)
{
    static const px_fuzz_yield yields[] = {{"gradient step", 51200, 51200, 12, 88}};
    px_fuzz_report r = report_usual();
    r.engine = "dlfuzz";
    r.policy = NULL;
    r.guide = "nc";
    r.yields = yields;
    r.yield_count = 1;
    r.notes[0] = (px_fuzz_note){"fitness", "0.83"};
    r.notes[1] = (px_fuzz_note){"neurons", "12 of 148"};
    r.note_count = 2;
    return r;
}

static px_fuzz_report report_bare(void) /* what a report must not do: be empty */
{
    return (px_fuzz_report){.coverage.value = NAN};
}

static const struct {
    const char *name;
    px_fuzz_report (*report)(void);
    int columns, rows;
    bool ascii;
    const char *model;
} cases[] = {
    {"usual-80x24", report_usual, 80, 24, false, "resnet20"},
    {"usual-80x24-ascii", report_usual, 80, 24, true, "résnet"},
    {"usual-60x20", report_usual, 60, 20, false, "resnet20"},
    {"usual-120x40", report_usual, 120, 40, false, "resnet20"},
    {"usual-80x17", report_usual, 80, 17, false, "resnet20"},
    {"usual-80x12", report_usual, 80, 12, false, "resnet20"},
    {"usual-59x24", report_usual, 59, 24, false, "resnet20"},
    {"usual-1x1", report_usual, 1, 1, false, "resnet20"},
    {"huge-80x24", report_huge, 80, 24, false,
     "a model whose name is so long that it does not fit into the line at the top of the screen"},
    {"huge-60x20", report_huge, 60, 20, false, "resnet20"},
    {"beginning-80x24", report_beginning, 80, 24, false, "网络"},
    {"no-guide-80x24", report_no_guide, 80, 24, false, "résnet"},
    {"no-guide-60x20", report_no_guide, 60, 20, false, "resnet20"},
    {"rules-80x24", report_rules, 80, 24, false, "resnet20"},
    {"rules-120x40", report_rules, 120, 40, false, "resnet20"},
    {"rules-200x60", report_rules, 200, 60, false, "resnet20"},
    {"engine-80x24", report_engine, 80, 24, false, "lenet5"},
    {"engine-80x19", report_engine, 80, 19, false, "lenet5"},
    {"bare-80x24", report_bare, 80, 24, false, NULL},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static char *screen_text(size_t i)
{
    term_cells cells = {.ascii = cases[i].ascii};
    px_text text = {0};
    const px_fuzz_report report = cases[i].report();
    assert_true(term_cells_resize(&cells, cases[i].columns, cases[i].rows));
    fuzz_panel_draw(&cells, &(fuzz_about){.model = cases[i].model, .threads = 2}, &report);
    if (cells.columns >= FUZZ_PANEL_COLUMNS)
        for (int c = 0; c < cells.columns; c++) /* the last row is the cursor's */
            assert_int_equal(cells.cells[(cells.rows - 1) * cells.columns + c].code, ' ');
    term_cells_text(&cells, &text);
    term_cells_done(&cells);
    char *out = px_text_take(&text);
    assert_non_null(out);
    return out;
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 100000);
    if (file && text)
        (void)!fread(text, 1, 99999, file);
    if (file)
        fclose(file);
    return text;
}

static void test_golden(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < CASES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.txt", SCREENS, cases[i].name);
        char *got = screen_text(i), *want = file_text(path);
        if (getenv("PLEXOR_BLESS")) {
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            fputs(got, file);
            assert_int_equal(fclose(file), 0);
        } else if (!want || strcmp(got, want) != 0) {
            print_error("%s is not\n%sbut\n%s", cases[i].name, want, got);
            wrong++;
        }
        free(got);
        free(want);
    }
    assert_int_equal(wrong, 0);
}

/* Every size that a terminal can have, with every report: nothing is drawn outside (sanitizers). */
static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const px_fuzz_report report = cases[i].report();
        term_cells cells = {0};
        for (int columns = 1; columns <= 230; columns += columns < 100 ? 1 : 7)
            for (int rows = 1; rows <= 70; rows += rows < 30 ? 1 : 5) {
                assert_true(term_cells_resize(&cells, columns, rows));
                fuzz_panel_draw(&cells, &(fuzz_about){.model = "m", .threads = 1}, &report);
            }
        term_cells_done(&cells);
    }
}

static void test_line(void **state)
{
    (void)state;
    char line[FUZZ_LINE_TEXT];
    px_fuzz_report report = report_usual();
    assert_string_equal(fuzz_panel_line(&report, line),
                        "3:04:43  163 failures (97 distinct, 31 kinds)  kmnc 34.21%  735,072 "
                        "executions (2,281/s)  queue 4,516");
    report = report_no_guide();
    assert_string_equal(
        fuzz_panel_line(&report, line),
        "3:04:43  163 failures (97 distinct, 31 kinds)  735,072 executions (2,281/s)  "
        "queue 4,516  stopped: 10000 turns");
    report = report_huge();
    assert_true(strlen(fuzz_panel_line(&report, line)) < FUZZ_LINE_TEXT - 1);
}

static void test_figures(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *want;
    } shorts[] = {{0, "0"},           {99999, "99999"},     {100000, "100k"},
                  {999499, "999k"},   {999500, "1.00M"},    {9994999, "9.99M"},
                  {9995000, "10.0M"}, {99949999, "99.9M"},  {-1234, "-1234"},
                  {-12345, "-12.3k"}, {INT64_MAX, "9.22E"}, {INT64_MIN, "-9.22E"},
                  {123456789, "123M"}};
    char buffer[FUZZ_FIGURE];
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        assert_string_equal(fuzz_short(shorts[i].value, buffer), shorts[i].want);
    assert_string_equal(fuzz_rate(INFINITY, buffer), "-");
    assert_string_equal(fuzz_rate(0.5, buffer), "0.50");
    assert_string_equal(fuzz_rate(99.94, buffer), "99.9");
    assert_string_equal(fuzz_rate(99.95, buffer), "100");
    assert_string_equal(fuzz_time(NAN, buffer), "0 min, 0 sec");
    assert_string_equal(fuzz_time(90061, buffer), "1 day, 1 hrs, 1 min");
    assert_string_equal(fuzz_time(INFINITY, buffer), "11574074074 days, 1 hrs, 46 min");
    assert_string_equal(fuzz_time_short(90061, buffer), "1d 01:01:01");
    assert_string_equal(fuzz_time_short(59.9, buffer), "0:59");
    assert_string_equal(fuzz_share(1, 3, buffer), "33.3%");
    assert_string_equal(fuzz_share(1, 0, buffer), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
