/* tests/base/test_json.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_writer(void **state)
{
    (void)state;
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "name", "a \"b\"\n\xc3\xa4\xff");
    px_json_int(&json, "min", INT64_MIN);
    px_json_real(&json, "third", 1.0 / 3);
    px_json_real(&json, "nan", NAN);
    px_json_bool(&json, "yes", true);
    px_json_array(&json, "list");
    px_json_int(&json, NULL, 1);
    px_json_object(&json, NULL);
    px_json_end(&json);
    px_json_end(&json);
    px_json_array(&json, "empty");
    px_json_end(&json);
    px_json_end(&json);
    assert_string_equal(px_json_text(&json),
                        "{\n"
                        "  \"name\": \"a \\\"b\\\"\\u000a\xc3\xa4\xef\xbf\xbd\",\n"
                        "  \"min\": -9223372036854775808,\n"
                        "  \"third\": 0.3333333333333333,\n"
                        "  \"nan\": null,\n"
                        "  \"yes\": true,\n"
                        "  \"list\": [\n"
                        "    1,\n"
                        "    {}\n"
                        "  ],\n"
                        "  \"empty\": []\n"
                        "}\n");
    px_json_document *document = NULL;
    const char *text = px_json_text(&json);
    assert_int_equal(px_json_parse(text, strlen(text), &document, NULL), PX_OK);
    const px_json_value *third = px_json_member(px_json_root(document), "third");
    assert_true(third && third->number == 1.0 / 3);
    px_json_free(document);
    px_json_done(&json);
}

static void test_reopened(void **state)
{
    (void)state;
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_end(&json);
    px_json_reopen(&json);
    px_json_int(&json, "first", 1);
    px_json_end(&json);
    assert_string_equal(px_json_text(&json), "{\n  \"first\": 1\n}\n");
    px_json_reopen(&json);
    px_json_array(&json, "then");
    px_json_end(&json);
    px_json_end(&json);
    assert_string_equal(px_json_text(&json), "{\n  \"first\": 1,\n  \"then\": []\n}\n");
    px_json_done(&json);
}

static void test_reader(void **state)
{
    (void)state;
    const char text[] = " {\"classes\": [\"T-shirt\", \"\\u00e4\\ud83d\\udd28\"], \"n\": -1.5e2, "
                        "\"on\": true, \"none\": null} ";
    px_json_document *document = NULL;
    px_error err = {0};
    assert_int_equal(px_json_parse(text, strlen(text), &document, &err), PX_OK);
    const px_json_value *root = px_json_root(document);
    assert_int_equal(root->kind, PX_JSON_OBJECT);
    assert_int_equal(root->count, 4);
    const px_json_value *classes = px_json_member(root, "classes");
    assert_int_equal(classes->count, 2);
    assert_string_equal(classes->items[0].string, "T-shirt");
    assert_string_equal(classes->items[1].string, "\xc3\xa4\xf0\x9f\x94\xa8");
    assert_true(px_json_member(root, "n")->number == -150);
    assert_true(px_json_member(root, "on")->boolean);
    assert_int_equal(px_json_member(root, "none")->kind, PX_JSON_NULL);
    assert_null(px_json_member(root, "absent"));
    assert_null(px_json_member(classes, "classes"));
    px_json_free(document);
}

static const char *const refused[] = {
    "",
    "{",
    "[1,]",
    "{\"a\"}",
    "{\"a\":}",
    "nul",
    "01",
    "1.",
    "-",
    "1e",
    "\"",
    "\"\\\"",
    "\"\\x\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"\n\"",
    "\"\xff\"",
    "[1 2]",
    "1 2",
    "{1:2}",
    "[1}",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"",
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        /* an exact copy, so that a sanitizer sees reads behind the end */
        const size_t size = strlen(refused[i]);
        char *copy = malloc(size ? size : 1);
        memcpy(copy, refused[i], size);
        px_json_document *document = NULL;
        px_error err = {0};
        if (px_json_parse(copy, size, &document, &err) != PX_E_INPUT || document || !*err.message)
            fail_msg("'%s' was not refused", refused[i]);
        free(copy);
    }
}

static void test_depth_and_size(void **state)
{
    (void)state;
    char deep[2 * (PX_JSON_DEPTH + 1)];
    px_json_document *document = NULL;
    for (int levels = PX_JSON_DEPTH; levels <= PX_JSON_DEPTH + 1; levels++) {
        memset(deep, '[', (size_t)levels);
        memset(deep + levels, ']', (size_t)levels);
        const px_status status = px_json_parse(deep, 2 * (size_t)levels, &document, NULL);
        assert_int_equal(status, levels <= PX_JSON_DEPTH ? PX_OK : PX_E_INPUT);
    }
    px_json_free(document);
    const size_t size = (1u << 20) + 1;
    char *large = malloc(size);
    memset(large, ' ', size);
    assert_int_equal(px_json_parse(large, size, &document, NULL), PX_E_INPUT);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer),         cmocka_unit_test(test_reopened),
        cmocka_unit_test(test_reader),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_depth_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
