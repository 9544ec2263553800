/* tests/check/test_check_page.c - label suspects, and numbers and paths as the page has them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/label_suspects.h"
#include "check/page_internal.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three classes, worked by hand. Thresholds: class 0 (0.9 + 0.8 + 0.01 + 0.3) / 4 = 0.5025, class 1
 * (0.7 + 0.5 + 0.1) / 3 = 0.4333, class 2 has no inputs. */
static void test_suspects(void **state)
{
    (void)state;
    pxi_judged inputs[] = {
        {0, 0, 0, 0.9, 0.9},   /* right */
        {1, 0, 0, 0.8, 0.8},   /* right */
        {2, 0, 1, 0.98, 0.01}, /* as sure of 1 as of any 1, and more: a suspect */
        {3, 0, 1, 0.40, 0.3},  /* wrong, but not as sure as of inputs that are 1 */
        {4, 1, 1, 0.7, 0.7},   /* right */
        {5, 1, 0, 0.51, 0.5},  /* above the threshold of 0: a suspect, with a small margin */
        {6, 1, 2, 0.9, 0.1},   /* nothing is labelled 2: there is nothing to compare with */
        {7, 0, -1, NAN, NAN},  /* no answer */
    };
    double thresholds[3];
    assert_int_equal(pxi_label_suspects(inputs, PX_LEN(inputs), 3, thresholds), 2);
    assert_true(fabs(thresholds[0] - 0.5025) < 1e-12);
    assert_true(fabs(thresholds[1] - 1.3 / 3.0) < 1e-12);
    assert_true(isnan(thresholds[2]));
    assert_int_equal(inputs[0].input, 2);
    assert_int_equal(inputs[1].input, 5);
    assert_int_equal(pxi_label_suspects(inputs, 0, 3, thresholds), 0);
}

/* Of equal margins, the first input comes first. */
static void test_suspects_order(void **state)
{
    (void)state;
    enum { N = 50 };
    pxi_judged inputs[N];
    double thresholds[2];
    for (int i = 0; i < N; i++)
        inputs[i] = i < N / 2 ? (pxi_judged){i, 0, 1, 0.75, 0.25} : (pxi_judged){i, 1, 1, 0.5, 0.5};
    assert_int_equal(pxi_label_suspects(inputs, N, 2, thresholds), N / 2);
    for (int i = 0; i < N / 2; i++)
        assert_int_equal(inputs[i].input, i);
}

static void test_fractions(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {1.0 / 255.0, "1/255"},
        {0.00392157, "1/255"},
        {8.0 / 255.0, "8/255"},
        {0.0313725, "8/255"},
        {1.0, "1"},
        {0.5, "1/2"},
        {1.0 / 700.0, "1/700"},
        {0.3, "0.3"},
        {0.0, "0"},
        {2.5, "2.5"},
        {-1.0, "-1"},
    };
    char text[PXI_FRACTION_TEXT];
    for (size_t i = 0; i < PX_LEN(cases); i++)
        assert_string_equal(pxi_fraction_text(cases[i].value, text), cases[i].text);
}

static void test_counts(void **state)
{
    (void)state;
    char text[PXI_COUNT_TEXT];
    assert_string_equal(pxi_count_text(0, text), "0");
    assert_string_equal(pxi_count_text(999, text), "999");
    assert_string_equal(pxi_count_text(1000, text), "1,000");
    assert_string_equal(pxi_count_text(-123456, text), "-123,456");
    assert_string_equal(pxi_count_text(INT64_MIN, text), "-9,223,372,036,854,775,808");
}

/* What a page says of paths holds on other machines too, and says nothing about this one. */
static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *shown;
    } paths[] = {
        {"demo", "demo"},
        {"out/demo", "out/demo"},
        {"/home/me/demo", "demo"},
        {"/home/me/demo/", "demo/"},
        {"/data/cifar.tar.xz::test/*", "cifar.tar.xz::test/*"},
        {"/data/rec/::{digit}_{label}", "rec/::{digit}_{label}"},
        {"digits", "digits"},
        {"/", "/"},
    };
    for (size_t i = 0; i < PX_LEN(paths); i++)
        assert_string_equal(pxi_shown_path(paths[i].path), paths[i].shown);
    static const struct {
        const char *command, *shown;
    } commands[] = {
        {"plexor check /a/b/net.onnx --data '/c/my data' -o out",
         "plexor check net.onnx --data 'my data' -o out"},
        {"plexor check net.onnx --scale 1/255 --data a/b", "plexor check net.onnx --scale 1/255 "
                                                           "--data a/b"},
        {"", ""},
    };
    for (size_t i = 0; i < PX_LEN(commands); i++) {
        char *shown = pxi_shown_command(commands[i].command);
        assert_string_equal(shown, commands[i].shown);
        free(shown);
    }
    px_check c = {.folder = (char *)(uintptr_t) "/home/me/demo"};
    char *path = pxi_page_path(&c, "campaign");
    assert_string_equal(path, "demo/campaign");
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suspects),  cmocka_unit_test(test_suspects_order),
        cmocka_unit_test(test_fractions), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
