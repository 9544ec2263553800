/* tests/base/test_text.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/utf8.h"
#include "cmocka_all.h"

#include <internal/text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_grows(void **state)
{
    (void)state;
    px_text t = {0};
    assert_string_equal(px_text_get(&t), "");
    for (int i = 0; i < 1000; i++)
        px_text_format(&t, "%d,", i);
    px_text_add(&t, "end");
    assert_false(px_text_failed(&t));
    assert_int_equal(strlen(px_text_get(&t)), t.length);
    assert_int_equal(t.length, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    px_text_clear(&t);
    assert_string_equal(px_text_get(&t), "");
    px_text_add_bytes(&t, "ab", 1);
    char *taken = px_text_take(&t);
    assert_string_equal(taken, "a");
    free(taken);
    char *empty = px_text_take(&t);
    assert_string_equal(empty, "");
    free(empty);
}

static const struct {
    double value;
    const char *text;
} reals[] = {
    {0, "0"},           {-0.0, "-0"},
    {0.1, "0.1"},       {1.0 / 3, "0.3333333333333333"},
    {100, "100"},       {9788, "9788"},
    {1e20, "1e+20"},    {1e-7, "1e-07"},
    {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
    {NAN, "nan"},       {-INFINITY, "-inf"},
};

static void test_reals(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(reals); i++) {
        char buffer[PX_REAL_TEXT];
        assert_string_equal(px_real_text(reals[i].value, buffer), reals[i].text);
    }
}

static const struct {
    const char *bytes;
    size_t left, length;
} characters[] = {
    {"a", 1, 1},
    {"", 0, 0},
    {"\xc3\xa4", 2, 2},
    {"\xc3\xa4", 1, 0},         /* cut off */
    {"\xc0\x80", 2, 0},         /* overlong */
    {"\xe2\x82\xac", 3, 3},     /* euro sign */
    {"\xed\xa0\x80", 3, 0},     /* surrogate */
    {"\xf0\x9f\x94\xa8", 4, 4}, /* hammer */
    {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
    {"\x80", 1, 0},
    {"\xe2\x28\xa1", 3, 0},
};

static void test_utf8(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(characters); i++)
        if (pxi_utf8_length(characters[i].bytes, characters[i].left) != characters[i].length)
            fail_msg("character %zu", i);
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"imagenet", "cifar10", "tf",
                                        "a-name-that-is-longer-than-all-that-is-compared"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"imagnet", "imagenet"},
        {"imgaenet", "imagenet"},
        {"cifar100", "cifar10"},
        {"cifar", "cifar10"},
        {"tg", "tf"},
        {"ab", NULL},
        {"something else", NULL},
        {"", NULL},
        {"a-name-that-is-longer-than-all-that-is-compare", NULL},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const char *got = px_nearest_word(cases[i].word, names, PX_LEN(names));
        if (got != cases[i].nearest && (!got || !cases[i].nearest || strcmp(got, cases[i].nearest)))
            fail_msg("'%s' is near '%s'", cases[i].word, got ? got : "nothing");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
