/* tests/cli/test_cli_chart.c - bars on a terminal */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/cli_chart.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_bar BARS[] = {{"nc", 1, NULL},        {"kmnc", 0.53, "53%"}, {"é", 0.001, NULL},
                               {"no", 0, NULL},        {"below", -1, NULL},   {"nan", NAN, "-"},
                               {"inf", INFINITY, NULL}};
enum { BAR_COUNT = sizeof BARS / sizeof BARS[0] };

static const struct {
    const char *name;
    cli_chart_look look;
    size_t count;
    const char *want;
} cases[] = {
    {"nothing", {.width = 0}, 0, ""},
    {"ASCII",
     {.width = 26, .charset = CLI_CHARSET_ASCII},
     BAR_COUNT,
     "nc         1  ############\n"
     "kmnc     53%  ######\n"
     "é      0.001  #\n"
     "no         0\n"
     "below     -1\n"
     "nan        -\n"
     "inf      inf  ############\n"},
    {"eighths",
     {.width = 23, .indent = "  ", .charset = CLI_CHARSET_UTF8},
     3,
     "  nc        1  ██████████\n"
     "  kmnc    53%  █████▎\n"
     "  é     0.001  ▏\n"},
    {"a given most, a narrow terminal",
     {.width = 1, .most = 2, .charset = CLI_CHARSET_ASCII},
     2,
     "nc      1  #####\n"
     "kmnc  53%  ###\n"},
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = cli_chart_text(BARS, cases[i].count, &cases[i].look);
        assert_non_null(got);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("case '%s':\n%s", cases[i].name, got);
        free(got);
    }
}

static void test_names_are_tame(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name, "\x1b[31m\n", 6);
    const cli_bar bar = {name, 1, NULL};
    char *got =
        cli_chart_text(&bar, 1, &(cli_chart_look){.width = 60, .charset = CLI_CHARSET_ASCII});
    assert_string_equal(got, "?[31m?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  1  ###############\n");
    free(got);
}

static void test_locale(void **state)
{
    (void)state;
    static const struct {
        const char *locale;
        bool utf8;
    } locales[] = {{"C", false}, {"POSIX", false}, {"C.UTF-8", true}, {"no_SUCH.UTF-8", false}};
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        assert_int_equal(setenv("LC_ALL", locales[i].locale, 1), 0);
        if (cli_locale_is_utf8() != locales[i].utf8)
            fail_msg("locale '%s'", locales[i].locale);
        char *got = cli_chart_text(BARS, 1, &(cli_chart_look){.width = 20});
        assert_int_equal(strchr(got, '#') == NULL, locales[i].utf8);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_names_are_tame),
        cmocka_unit_test(test_locale),
    };
    cli_call call = {.out = stdout}; /* whose terminal it is */
    cli_call_begin(&call);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
