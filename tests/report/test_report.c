/* tests/report/test_report.c - the object inside the page: nothing in it can end its block */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/page.h"

#include <internal/report.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static px_error err;

static const char START[] = "<script type=\"application/json\" id=\"report-data\">";

/* The data block's content, as a browser takes it: up to the first "</script". */
static char *block_of(const char *json)
{
    char *html = NULL;
    size_t size = 0;
    if (px_report_html(json, &html, &size, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(html), size);
    const char *start = strstr(html, START);
    assert_non_null(start);
    start += strlen(START);
    const char *end = strstr(start, "</script");
    assert_non_null(end);
    char *block = strndup(start, (size_t)(end - start));
    free(html);
    return block;
}

static const struct {
    const char *name, *json, *want;
} good[] = {
    {"empty", "{}", "{}"},
    {"space around", " {\"a\" : [1, -2.5e3, true, null]}\n",
     " {\"a\" : [1, -2.5e3, true, null]}\n"},
    {"end of the block", "{\"a\":\"</script><b>\"}",
     "{\"a\":\"\\u003c/script\\u003e\\u003cb\\u003e\"}"},
    {"comment and entity", "{\"<!--\":\"&lt;-->\"}", "{\"\\u003c!--\":\"\\u0026lt;--\\u003e\"}"},
    {"line separators", "{\"a\":\"x\u2028y\u2029\u2030\"}", "{\"a\":\"x\\u2028y\\u2029\u2030\"}"},
    {"escapes", "{\"a\":\"\\\"<\\\\\",\"b\":\"\\u003c\"}",
     "{\"a\":\"\\\"\\u003c\\\\\",\"b\":\"\\u003c\"}"},
    {"brackets in strings", "{\"a\":\"}]{[\"}", "{\"a\":\"}]{[\"}"},
    {"other languages", "{\"a\":\"Größe 猫 🐈\"}", "{\"a\":\"Größe 猫 🐈\"}"},
};

static void test_escapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *got = block_of(good[i].json);
        if (strcmp(got, good[i].want) != 0)
            fail_msg("case '%s': %s", good[i].name, got);
        free(got);
    }
}

static const struct {
    const char *name, *json, *words;
} bad[] = {
    {"nothing", "", "not a number"},
    {"an array", "[]", "not a JSON object"},
    {"a word", "hello", "not a number"},
    {"two objects", "{} {}", "something after the end"},
    {"cut in a string", "{\"a\":\"b", "without an end"},
    {"cut in an object", "{\"a\":[1]", "closing bracket"},
    {"wrong bracket", "{\"a\":[1}}", "closing bracket"},
    {"too many brackets", "{}}", "something after the end"},
    {"markup outside of strings", "{<script>}", "no key"},
    {"control character", "{\"a\":\"\n\"}", "control"},
    {"bad escape", "{\"a\":\"\\<\"}", "escape"},
    {"not UTF-8", "{\"a\":\"\xff\"}", "UTF-8"},
    {"cut UTF-8", "{\"a\":\"\xe2\x80", "without an end"},
};

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *html = NULL;
        size_t size = 0;
        const px_status status = px_report_html(bad[i].json, &html, &size, &err);
        if (status != PX_E_USAGE || html || !strstr(err.message, bad[i].words))
            fail_msg("case '%s': status %d, '%s'", bad[i].name, (int)status, err.message);
    }
    char deep[2000] = "{\"a\":";
    memset(deep + strlen(deep), '[', 1000);
    char *html = NULL;
    size_t size = 0;
    assert_int_equal(px_report_html(deep, &html, &size, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "deep"));
    assert_int_equal(px_report_html(NULL, &html, &size, &err), PX_E_NOMEM);
}

/* What the page promises: one place for data, nothing fetched, a policy, an identity. */
static void test_page(void **state)
{
    (void)state;
    char *page = strndup((const char *)pxi_report_page, pxi_report_page_size);
    assert_non_null(page);
    assert_int_equal(strlen(page), pxi_report_page_size);
    const char *mark = strstr(page, PXI_REPORT_MARK);
    assert_non_null(mark);
    assert_null(strstr(mark + 1, PXI_REPORT_MARK));
    assert_memory_equal(mark - strlen(START), START, strlen(START));
    assert_non_null(strstr(page, "Content-Security-Policy"));
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_null(strstr(page, "<link"));
    assert_null(strstr(page, " src="));
    assert_true(pxi_report_page_size < 250 * 1024);
    char id[PX_REPORT_PAGE_ID];
    assert_int_equal(px_report_page(id, &err), PX_OK);
    assert_int_equal(strspn(id, "0123456789abcdef"), 16);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
