/* tests/studies/test_document.c - one report, three ways to print it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "frame/document.h"

#include <math.h>
#include <plexor/json.h>
#include <stdio.h>
#include <string.h>

static study_document *make(void)
{
    static const char *const columns[] = {"5%", "10%"};
    const double none = (double)NAN;
    study_document *doc = pxi_document_new();
    pxi_doc_heading(doc, 1, "Study of %s", "things");
    pxi_doc_paragraph(doc, "Words.");
    pxi_doc_code(doc, "plexor study\n");
    pxi_doc_heading(doc, 2, "Table 7");
    pxi_doc_table(doc, "rate (%)", columns, 2, 1);
    pxi_doc_row(doc, NULL, "NSS");
    pxi_doc_figure(doc, (study_figure){.paper = 81.8, .mean = 77.25, .sd = 1.14, .n = 5});
    pxi_doc_figure(doc,
                   (study_figure){.paper = 70.6, .mean = 70, .sd = none, .n = 1, .reduced = true});
    pxi_doc_row(doc, "not run: needs SVHN", "RS");
    pxi_doc_figure(doc, (study_figure){.paper = 21.3, .mean = none, .sd = none});
    pxi_doc_words(doc, "–");
    pxi_doc_claim(doc, STUDY_PARTLY, "NSS is best", "In %d of %d.", 1, 2);
    pxi_doc_cases(doc, 1, 2);
    pxi_doc_claim(doc, STUDY_OPEN, "RS is worst", "Nobody knows.");
    return doc;
}

static const char markdown[] = "# Study of things\n\n"
                               "Words.\n\n"
                               "```\nplexor study\n```\n\n"
                               "## Table 7\n\n"
                               "rate (%); paper / ours, (n) runs; * reduced\n\n"
                               "| | 5% | 10% | |\n"
                               "| --- | --- | --- | --- |\n"
                               "| NSS | 81.8 / **77.2** ±1.1 (5) | 70.6 / **70.0** (1)* |  |\n"
                               "| RS | 21.3 / – | – | not run: needs SVHN |\n\n"
                               "- **holds in part**: NSS is best. In 1 of 2.\n"
                               "- **not run**: RS is worst. Nobody knows.\n";

/* The same begins with its claims. */
static const char glanced[] = "# Study of things\n\n"
                              "Words.\n\n"
                              "## What holds\n\n"
                              "2 claims: 0 hold, 1 in part, 0 do not; 1 could not be told\n\n"
                              "| | cases | |\n"
                              "| --- | --- | --- |\n"
                              "| holds in part | 1 of 2 | NSS is best |\n"
                              "| not run | – | RS is worst |\n\n"
                              "```\nplexor study\n```\n\n";

static const char plain[] = "Study of things\n===============\n\n"
                            "Words.\n\n"
                            "plexor study\n\n"
                            "Table 7\n-------\n\n"
                            "rate (%); paper / ours, (n) runs; * reduced\n\n"
                            "                         5%               10%\n"
                            "  NSS  81.8 / 77.2 ±1.1 (5)  70.6 / 70.0 (1)*\n"
                            "  RS               21.3 / –                 –  not run: needs SVHN\n\n"
                            "holds in part: NSS is best\n  In 1 of 2.\n"
                            "not run: RS is worst\n  Nobody knows.\n";

static void check(px_study_format format, const char *expected)
{
    px_error err = {0};
    px_text text = {0};
    study_document *doc = make();
    assert_int_equal(pxi_doc_print(doc, format, &text, &err), PX_OK);
    assert_string_equal(px_text_get(&text), expected);
    px_text_done(&text);
    pxi_document_free(doc);
}

static void test_markdown(void **state)
{
    (void)state;
    check(PX_STUDY_MARKDOWN, markdown);
}

static void test_plain(void **state)
{
    (void)state;
    check(PX_STUDY_TEXT, plain);
}

static void test_json(void **state)
{
    (void)state;
    px_error err = {0};
    px_text text = {0};
    px_json_document *json = NULL;
    study_document *doc = make();
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_JSON, &text, &err), PX_OK);
    assert_int_equal(px_json_parse(px_text_get(&text), text.length, &json, &err), PX_OK);
    const px_json_value *root = px_json_root(json);
    assert_string_equal(px_json_member(root, "title")->string, "Study of things");
    assert_int_equal(px_json_member(root, "commands")->count, 1);
    assert_string_equal(px_json_member(root, "commands")->items[0].string, "plexor study");
    const px_json_value *table = &px_json_member(root, "tables")->items[0];
    assert_string_equal(px_json_member(table, "section")->string, "Table 7");
    const px_json_value *rows = px_json_member(table, "rows");
    assert_int_equal(rows->count, 2);
    const px_json_value *cell = &px_json_member(&rows->items[0], "cells")->items[1];
    assert_true(px_json_member(cell, "paper")->number == 70.6);
    assert_true(px_json_member(cell, "ours")->number == 70.0);
    assert_int_equal(px_json_member(cell, "sd")->kind, PX_JSON_NULL);
    assert_true(px_json_member(cell, "reduced")->boolean);
    assert_string_equal(px_json_member(&rows->items[1], "note")->string, "not run: needs SVHN");
    const px_json_value *claims = px_json_member(root, "claims");
    assert_int_equal(claims->count, 2);
    assert_string_equal(px_json_member(&claims->items[0], "verdict")->string, "holds in part");
    px_json_free(json);
    px_text_done(&text);
    pxi_document_free(doc);
}

static void test_glance(void **state)
{
    (void)state;
    px_text text = {0}, json = {0}, before = {0};
    study_document *doc = make();
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_JSON, &before, NULL), PX_OK);
    pxi_doc_glance(doc);
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_MARKDOWN, &text, NULL), PX_OK);
    assert_memory_equal(px_text_get(&text), glanced, sizeof glanced - 1);
    assert_string_equal(strstr(px_text_get(&text), "## Table 7"), strstr(markdown, "## Table 7"));
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_JSON, &json, NULL), PX_OK);
    assert_string_equal(px_text_get(&json), px_text_get(&before)); /* it has the claims already */
    px_text_done(&text);
    px_text_done(&json);
    px_text_done(&before);
    pxi_document_free(doc);
}

/* A table of one number of runs says it once. */
static void test_runs(void **state)
{
    (void)state;
    static const char *const columns[] = {"x"};
    px_text text = {0};
    study_document *doc = pxi_document_new();
    pxi_doc_table(doc, "values", columns, 1, 2);
    pxi_doc_row(doc, NULL, "a");
    pxi_doc_figure(doc, (study_figure){.paper = (double)NAN, .mean = 1.0, .sd = 0.5, .n = 3});
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_MARKDOWN, &text, NULL), PX_OK);
    assert_string_equal(px_text_get(&text), "values, mean ± standard deviation of 3 runs\n\n"
                                            "| | x |\n| --- | --- |\n| a | 1.00 ±0.50 |\n");
    px_text_done(&text);
    pxi_document_free(doc);
}

/* A table of words has no runs to tell. */
static void test_words(void **state)
{
    (void)state;
    static const char *const columns[] = {"x"};
    px_text text = {0};
    study_document *doc = pxi_document_new();
    pxi_doc_table(doc, "words", columns, 1, 2);
    pxi_doc_row(doc, NULL, "a");
    pxi_doc_words(doc, "b");
    assert_int_equal(pxi_doc_print(doc, PX_STUDY_MARKDOWN, &text, NULL), PX_OK);
    assert_string_equal(px_text_get(&text), "words\n\n| | x |\n| --- | --- |\n| a | b |\n");
    px_text_done(&text);
    pxi_document_free(doc);
}

/* Charts are shown once they have files, and in Markdown alone. */
static void test_plots(void **state)
{
    (void)state;
    static const px_study_format formats[] = {PX_STUDY_MARKDOWN, PX_STUDY_TEXT, PX_STUDY_MARKDOWN,
                                              PX_STUDY_TEXT};
    static const char *const expected[] = {
        "One.\n\nTwo.\n", "One.\n\nTwo.\n",
        "One.\n\n![a trend](test_document_plots-trend-7.svg)\n\nTwo.\n", "One.\n\nTwo.\n"};
    px_error err = {0};
    px_plot *plot = NULL;
    study_document *doc = pxi_document_new();
    assert_int_equal(px_plot_new(NULL, &plot, &err), PX_OK);
    pxi_doc_paragraph(doc, "One.");
    pxi_doc_plot(doc, plot, "a trend", "trend-%d", 7);
    pxi_doc_paragraph(doc, "Two.");
    for (int i = 0; i < 4; i++) {
        px_text text = {0};
        if (i == 2)
            assert_int_equal(pxi_doc_save_plots(doc, "./test_document_plots", &err), PX_OK);
        assert_int_equal(pxi_doc_print(doc, formats[i], &text, &err), PX_OK);
        assert_string_equal(px_text_get(&text), expected[i]);
        px_text_done(&text);
    }
    char head[5] = "";
    FILE *file = fopen("test_document_plots-trend-7.svg", "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, 4, file), 4);
    assert_string_equal(head, "<svg");
    fclose(file);
    remove("test_document_plots-trend-7.svg");
    assert_int_equal(pxi_doc_save_plots(doc, "no/such/folder/x", &err), PX_E_INPUT);
    pxi_document_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markdown), cmocka_unit_test(test_plain), cmocka_unit_test(test_json),
        cmocka_unit_test(test_glance),   cmocka_unit_test(test_runs),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_plots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
