/* tests/cover/test_settings.c - settings of criteria, presets, and the table of criteria itself */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/cover.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"plain", "guided", NULL};
typedef struct try_config {
    int64_t k;
    double t;
    int mode;
    bool deep;
} try_config;
static const px_param params[] = {
    PX_PARAM_INT(try_config, k, 10, 1, 100, "a count"),
    {.name = "t",
     .def = 0.5,
     .max = 1,
     .none = true,
     .help = "a threshold, or none",
     PX_PARAM_MEMBER(try_config, t)},
    PX_PARAM_CHOICE(try_config, mode, 0, modes, "a choice"),
    PX_PARAM_FLAG(try_config, deep, "yes or no"),
    PX_PARAM_END,
};
static const px_criterion criterion = {
    .entry = {.id = "try", .params = params, .config_size = sizeof(try_config)}};

static const struct {
    const char *text[3]; /* up to the first NULL */
    const char *result;  /* the settings, or a part of the message */
    bool good;
} cases[] = {
    {{NULL}, "k=10 t=0.5 mode=plain deep=no", true},
    {{"try.k=7"}, "k=7 t=0.5 mode=plain deep=no", true},
    {{"try.k=7", "try.k=8"}, "k=8 t=0.5 mode=plain deep=no", true},
    {{"try.t=1e-3", "try.mode=guided"}, "k=10 t=0.001 mode=guided deep=no", true},
    {{"try.deep=yes"}, "k=10 t=0.5 mode=plain deep=yes", true},
    {{"try.deep=1"}, "no, yes", false},
    {{"try.t=3/8"}, "k=10 t=0.375 mode=plain deep=no", true},
    {{"try.t=none"}, "k=10 t=none mode=plain deep=no", true},
    {{"try.k=none"}, "not a number", false},
    {{"try.k=4/2"}, "not a number", false},
    {{"try.t=1/"}, "not a number", false},
    {{"try.t=1/2/3"}, "not a number", false},
    {{"try.t=0/0"}, "not a number", false},
    {{"try.t=1/0"}, "between 0 and 1", false},
    {{"nc.t=0.25"}, "k=10 t=0.5 mode=plain deep=no", true},
    {{"try.k=0"}, "between 1 and 100", false},
    {{"try.k=2.5"}, "whole number", false},
    {{"try.k=x"}, "not a number", false},
    {{"try.k="}, "not a number", false},
    {{"try.t=nan"}, "not a number", false},
    {{"try.t=1e999"}, "not a number", false},
    {{"try.mode=other"}, "plain, guided", false},
    {{"try.q=1"}, "it has k, t, mode, deep", false},
    {{"nosuch.k=1"}, "there is no criterion 'nosuch'", false},
    {{"nc.t=high"}, "not a number", false},
    {{"k=1"}, "CRITERION.NAME=VALUE", false},
    {{"try.k"}, "CRITERION.NAME=VALUE", false},
    {{".k=1"}, "CRITERION.NAME=VALUE", false},
    {{"=try.k"}, "CRITERION.NAME=VALUE", false},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        void *config = NULL;
        px_error err = {0};
        size_t count = 0;
        while (count < 3 && cases[i].text[count])
            count++;
        const px_status status =
            px_criterion_configure(&criterion, NULL, cases[i].text, count, &config, &err);
        char *text = status == PX_OK ? px_params_text(params, config) : NULL;
        if (status != (cases[i].good ? PX_OK : PX_E_USAGE) ||
            !(cases[i].good ? text && strcmp(text, cases[i].result) == 0
                            : strstr(err.message, cases[i].result) != NULL))
            fail_msg("case %zu ('%s'): status %d, '%s', '%s'", i,
                     cases[i].text[0] ? cases[i].text[0] : "", status, text ? text : "",
                     err.message);
        free(text);
    }
}

static void test_presets(void **state)
{
    (void)state;
    void *config = NULL;
    px_error err = {0};
    assert_int_equal(px_criterion_configure(&criterion, "nosuch", NULL, 0, &config, &err),
                     PX_E_USAGE);
    assert_non_null(strstr(err.message, "nss, nsgen, rev"));
    for (size_t p = 0; p < px_preset_count(); p++) {
        const px_preset *preset = px_preset_get(p);
        for (size_t t = 0; preset->texts[t]; t++) {
            char id[32];
            snprintf(id, sizeof id, "%.*s", (int)strcspn(preset->texts[t], "."), preset->texts[t]);
            const px_criterion *c = px_criterion_find(id);
            if (!c)
                fail_msg("preset '%s': '%s' is for no criterion", preset->entry.id,
                         preset->texts[t]);
            if (px_criterion_configure(c, NULL, &preset->texts[t], 1, &config, &err) != PX_OK)
                fail_msg("preset '%s': %s", preset->entry.id, err.message);
            free(config);
        }
        for (size_t c = 0; c < px_criterion_count(); c++)
            assert_int_equal(px_criterion_configure(px_criterion_get(c), preset->entry.id, NULL, 0,
                                                    &config, &err),
                             PX_OK);
    }
}

/* Where a paper and its code differ: what presets decide, and that --set still wins. */
static void test_presets_follow_papers(void **state)
{
    (void)state;
    static const struct {
        const char *criterion, *preset, *set, *has;
    } decided[] = {
        {"nc", "nss", NULL, "variant=raw"},
        {"nc", "nsgen", NULL, "variant=scaled"},
        {"nc", "rev", NULL, "variant=raw"},
        {"nc", "rev", NULL, "t=0.75"},
        {"nc", "rev", "nc.variant=suite", "variant=suite"},
        {"kmnc", "rev", NULL, "variant=canonical"},
        {"kmnc", "rev", "kmnc.variant=upper-open", "variant=upper-open"},
        {"nlc", "nsgen", NULL, "norm=sum"},
        {"nlc", "nss", NULL, "norm=mean"},
        {"nlc", "nsgen", "nlc.norm=mean", "norm=mean"},
    };
    for (size_t i = 0; i < PX_LEN(decided); i++) {
        const px_criterion *c = px_criterion_find(decided[i].criterion);
        void *config = NULL;
        px_error err = {0};
        if (px_criterion_configure(c, decided[i].preset, &decided[i].set, decided[i].set != NULL,
                                   &config, &err) != PX_OK)
            fail_msg("%s", err.message);
        char *text = px_params_text(c->entry.params, config);
        if (!text || !strstr(text, decided[i].has))
            fail_msg("preset '%s', %s: '%s' lacks %s", decided[i].preset, decided[i].criterion,
                     text ? text : "", decided[i].has);
        free(text);
    }
}

/* A descriptor that lacks something would be found out late. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        assert_ptr_equal(px_criterion_find(c->entry.id), c);
        if (!c->prepare || !c->release || !c->open || !c->close || !c->observe || !c->gain ||
            !c->merge || !c->value || !c->save || !c->load)
            fail_msg("'%s' lacks a function", c->entry.id);
    }
    assert_null(px_criterion_get(px_criterion_count()));
    assert_null(px_criterion_find("nosuch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_presets_follow_papers),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
