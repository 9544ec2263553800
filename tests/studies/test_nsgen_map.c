/* tests/studies/test_nsgen_map.c - faults that one guide alone finds: counted by hand, and reported
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "base/file.h"
#include "base/memory.h"
#include "nsgen/nsgen_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char figures[64], table[160];

static int setup_figures(void **state)
{
    if (setup(state) != 0)
        return -1;
    snprintf(figures, sizeof figures, "%s/figures", folder);
    snprintf(table, sizeof table, "%s/cifar-10_mobilenetv2_map_1.csv", figures);
    return mkdir(figures, 0777);
}

static px_study *opened(const char *parts, int64_t *jobs)
{
    static const char *const data[] = {"cifar-10=digits"};
    static const char *const models[] = {"mobilenetv2=a.onnx"};
    px_study_options o = STUDY_OPTIONS(data, models);
    o.arch = "mobilenetv2";
    o.parts = parts;
    o.runs = 1;
    return study_open("nsgen", &o, jobs);
}

/* Whom a guide is compared with. */
static void test_rivals(void **state)
{
    (void)state;
    static const char *const of[NG_MAP_ALL] = {"-krn--", "n-rn--", "nk-n--", "nkr---",
                                               "-krn--", "-krn--"}; /* r: DSC; the second n: NLC */
    for (size_t g = 0; g < NG_MAP_ALL; g++)
        for (size_t r = 0; r < NG_MAP_ALL; r++)
            if (ng_map_rival(g, r) != (of[g][r] != '-'))
                fail_msg("%s and %s", ng_map_guides[g], ng_map_guides[r]);
    for (size_t g = 0; g < NG_MAP_ALL; g++)
        assert_true(fz_guide_find(ng_map_guides[g]) < FZ_ALL_GUIDES);
}

static void test_pairs(void **state)
{
    (void)state;
    assert_int_equal(ng_map_pair(-1, 3), -1);
    assert_int_equal(ng_map_pair(3, -1), -1);
    assert_int_equal(ng_map_pair(3, 1 << 20), -1);
    assert_true(ng_map_pair(1, 2) != ng_map_pair(2, 1));
    int64_t pair[] = {7, 3, 7, 7, 1, 3};
    assert_int_equal(ng_map_pairs_sort(pair, 6), 3);
    assert_true(pair[0] == 1 && pair[1] == 3 && pair[2] == 7);
    assert_int_equal(ng_map_pairs_sort(NULL, 0), 0);
}

/* Two groups of four on a line, neighbours within them: all are alone, which 2 of 70 permutations
 * give; with one of each group in the other, few are. */
static void test_alone(void **state)
{
    (void)state;
    static const uint32_t near[8][2] = {{1, 2}, {0, 2}, {1, 3}, {2, 1},
                                        {5, 6}, {4, 6}, {5, 7}, {6, 5}};
    const bool apart[8] = {true, true, true, true, false, false, false, false};
    const bool mixed[8] = {true, true, true, false, true, false, false, false};
    const bool none[8] = {false};
    bool flags[8], scratch[8];
    ng_map_alone a = ng_map_count_alone(&near[0][0], 8, 2, apart, flags, scratch, 1, 0);
    assert_true(a.share == 1.0);
    assert_true(fabs(a.chance - 3.0 / 7.0 * 2.0 / 6.0) < 1e-15);
    assert_true(a.p > 0.01 && a.p < 0.06);
    assert_memory_equal(flags, apart, sizeof flags);
    const ng_map_alone again = ng_map_count_alone(&near[0][0], 8, 2, apart, NULL, scratch, 1, 0);
    assert_true(again.p == a.p);
    a = ng_map_count_alone(&near[0][0], 8, 2, mixed, flags, scratch, 1, 0);
    assert_true(a.share == 0.5 && flags[0] && flags[1] && !flags[2] && !flags[4]);
    assert_true(a.p > 0.1);
    a = ng_map_count_alone(&near[0][0], 8, 2, none, flags, scratch, 1, 0);
    assert_true(isnan(a.share) && isnan(a.chance) && isnan(a.p));
}

static void put_cell(px_study *study, const char *key)
{
    static const struct {
        const char *guide;
        double faults, pairs, only, alone;
    } rows[] = {{"nsgen", 900, 40, 7, 0.25},
                {"kmnc", 800, 30, 2, 0.10},
                {"nlc", 700, 31, 3, 0.05},
                {"random", 600, 33, 4, 0.30}};
    cell_list list = {.count = 0};
    for (size_t i = 0; i < PX_LEN(rows); i++) {
        pxi_cell_put(&list, rows[i].faults, "faults_%s", rows[i].guide);
        pxi_cell_put(&list, 500.0, "used_%s", rows[i].guide);
        pxi_cell_put(&list, rows[i].pairs, "pairs_%s", rows[i].guide);
        pxi_cell_put(&list, rows[i].only, "only_%s", rows[i].guide);
        pxi_cell_put(&list, rows[i].only, "drawn_%s", rows[i].guide);
        pxi_cell_put(&list, 0.125, "share_%s", rows[i].guide);
        pxi_cell_put(&list, rows[i].alone, "alone_%s", rows[i].guide);
        pxi_cell_put(&list, 0.001, "chance_%s", rows[i].guide);
        pxi_cell_put(&list, 0.5, "p_%s", rows[i].guide);
    }
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

static char *report(void)
{
    int64_t jobs = 0;
    char *text = NULL;
    px_error err = {0};
    px_study *study = opened("map", &jobs);
    study_document *doc = pxi_document_new();
    px_text out = {0};
    pxi_doc_heading(doc, 1, "a report");
    ng_map_report(study, doc);
    if (pxi_doc_save_plots(doc, folder, &err) != PX_OK ||
        pxi_doc_print(doc, PX_STUDY_MARKDOWN, &out, &err) != PX_OK)
        fail_msg("%s", err.message);
    text = px_text_take(&out);
    assert_non_null(text);
    pxi_document_free(doc);
    px_study_free(study);
    return text;
}

static void test_report(void **state)
{
    (void)state;
    static const char *const files[] = {
        NULL,
        NG_MAP_HEADER "\nkmnc,1,2,0,0,0.5,-1\nnsgen,1,3,1,0,2,3\nrandom,1,2,0,1,1e1,0\n",
        NG_MAP_HEADER "\nkmnc,1,2,0,0,0.5,oops\n",
        NG_MAP_HEADER "\nsomebody,1,2,0,0,0.5,1\n",
        NG_MAP_HEADER "\nkmnc,1,2\n",
        NG_MAP_HEADER "\nkmnc,1,2,0,0,inf,1\n",
    };
    int64_t jobs = 0;
    char plot[96];
    snprintf(plot, sizeof plot, "%s-map-cifar-10-mobilenetv2.svg", folder);
    char *text = report();
    assert_null(strstr(text, "Figure 8")); /* nothing was run */
    free(text);
    px_study *study = opened("map", &jobs);
    put_cell(study, "cifar-10 mobilenetv2 map run=1 n=500");
    px_study_free(study);
    for (size_t i = 0; i < PX_LEN(files); i++) {
        if (files[i])
            assert_int_equal(pxi_file_write(table, files[i], strlen(files[i]), NULL), PX_OK);
        text = report();
        const bool drawn = strstr(text, "![Figure 8") != NULL;
        const bool told = strstr(text, "The map cannot be drawn: ") != NULL;
        if (drawn != (i == 1) || told != (i > 1))
            fail_msg("file %zu: %s", i, text);
        assert_non_null(strstr(text, "| NSGen | 900.0* | 40.0* | 7.0* | 12.5* | 500.0* | 7.0* |"));
        assert_non_null(strstr(text, "| DSC | – | – |"));
        assert_non_null(strstr(text, "**holds**: NSGen detects error types"));
        assert_non_null(strstr(text, "7.0 of 40.0 pairs, 12.5% of its faults"));
        assert_non_null(strstr(text, "7.0 against 4.0 of random"));
        assert_non_null(strstr(text, "25.0 against 30.0 of random"));
        free(text);
    }
    char *svg = NULL;
    size_t size = 0;
    assert_int_equal(pxi_file_read(plot, 1 << 20, &svg, &size, NULL), PX_OK);
    assert_non_null(strstr(svg, "NSGen"));
    assert_non_null(strstr(svg, "KMNC"));
    assert_non_null(strstr(svg, "a pair that no rival has"));
    assert_null(strstr(svg, "DSC"));
    free(svg);
    unlink(plot);
}

/* A map needs campaigns, there or planned before it: NSGen's and a rival's. */
static void test_plan(void **state)
{
    (void)state;
    static const struct {
        const char *parts;
        bool wanted;
    } cases[] = {{"map", false},
                 {"nsgen,map", false},
                 {"criteria,map", false},
                 {"nsgen,criteria,map", true}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        int64_t jobs = 0;
        size_t maps = 0;
        px_study *study = opened(cases[i].parts, &jobs);
        for (size_t j = 0; j < study->job_count; j++)
            maps += strcmp(study->jobs[j].kind, "map") == 0;
        if (maps != cases[i].wanted)
            fail_msg("'%s': %zu maps", cases[i].parts, maps);
        if (maps) /* the last of all but other parts' */
            assert_string_equal(study->jobs[study->job_count - 1].label,
                                "cifar-10 mobilenetv2: a map of faults, run 1");
        px_study_free(study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_alone),
        cmocka_unit_test_setup_teardown(test_report, setup_figures, teardown),
        cmocka_unit_test_setup_teardown(test_plan, setup_figures, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
