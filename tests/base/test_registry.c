/* tests/base/test_registry.c - what holds for everything that can be chosen by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/arch.h>
#include <internal/assess.h>
#include <internal/check.h>
#include <internal/optimizer.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <math.h>
#include <plexor/attack.h>
#include <plexor/cover.h>
#include <plexor/extend.h>
#include <plexor/fuzz.h>
#include <plexor/localize.h>
#include <plexor/mutate.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

static const px_registry *const registries[] = {
    &px_criteria,      &px_presets,
    &px_selectors,     &px_attacks,
    &pxi_metrics,      &px_measures,
    &px_fuzz_engines,  &px_fuzz_policies,
    &px_mutation_sets, &pxi_repair_recipes,
    &pxi_archs,        &pxi_check_stages,
    &pxi_gate_kinds,   &pxi_preprocess_presets,
    &pxi_optimizers,   &pxi_schedules,
    &pxi_losses,       &pxi_augmentations,
};

static void check_param(const px_entry *entry, const px_param *p)
{
    size_t choices = 0;
    while (p->choices && p->choices[choices])
        choices++;
    const bool fits = p->type == PX_TYPE_REAL  ? p->size == sizeof(double) && !p->choices
                      : p->type == PX_TYPE_INT ? (p->size == 4 || p->size == 8) && !p->choices
                                               : (p->size == 1 || p->size == 4) && choices > 1;
    if (!fits || p->offset + p->size > entry->config_size || !p->help)
        fail_msg("%s.%s does not fit its member", entry->id, p->name);
    const bool none = p->none && isinf(p->def);
    if (p->choices ? p->def < 0.0 || p->def >= (double)choices
                   : !none && (p->def < p->min || p->def > p->max))
        fail_msg("%s.%s: its default is out of range", entry->id, p->name);
    for (const px_param *q = entry->params; q < p; q++)
        if (strcmp(q->name, p->name) == 0 ||
            (q->offset < p->offset + p->size && p->offset < q->offset + q->size))
            fail_msg("%s.%s and %s are one", entry->id, p->name, q->name);
}

/* Defaults as text, read back word by word, are the defaults. */
static void check_round_trip(const px_registry *registry, const px_entry *entry)
{
    px_error err = {0};
    void *config = NULL;
    assert_int_equal(px_entry_configure(registry, entry, NULL, 0, &config, &err), PX_OK);
    char *text = px_params_text(entry->params, config),
         *words = px_params_text(entry->params, config);
    assert_non_null(text);
    assert_non_null(words);
    for (char *rest = words, *word; (word = strsep(&rest, " ")) && *word;) {
        char full[128];
        snprintf(full, sizeof full, "%s.%s", entry->id, word);
        if (px_entry_set(registry, entry, full, config, &err) != PX_OK)
            fail_msg("'%s': %s", full, err.message);
    }
    char *again = px_params_text(entry->params, config);
    assert_string_equal(text, again);
    free(again);
    free(words);
    free(text);
    free(config);
}

static void test_entries(void **state)
{
    (void)state;
    for (size_t r = 0; r < PX_LEN(registries); r++) {
        const px_registry *registry = registries[r];
        assert_true(registry->kind && registry->plural && px_registry_count(registry) > 0);
        for (size_t i = 0; i < px_registry_count(registry); i++) {
            const px_entry *entry = px_registry_at(registry, i);
            if (px_registry_find(registry, entry->id) != entry)
                fail_msg("%s '%s' comes twice", registry->kind, entry->id);
            if (!entry->title && !entry->source)
                fail_msg("%s '%s' lacks a text", registry->kind, entry->id);
            for (const px_param *p = entry->params; p && p->name; p++)
                check_param(entry, p);
            check_round_trip(registry, entry);
        }
        assert_null(px_registry_at(registry, px_registry_count(registry)));
        assert_null(px_registry_find(registry, "nosuch"));
    }
}

static void test_advice(void **state)
{
    (void)state;
    static const struct {
        const px_registry *registry;
        const char *word, *says;
    } cases[] = {
        {&px_measures, "ochai",
         "there is no measure 'ochai', did you mean 'ochiai'; 'plexor list measures' names them"},
        {&px_measures, "xyz", "there is no measure 'xyz'; 'plexor list measures' names them"},
        {&px_attacks, "pgf", "there is no attack 'pgf'; there are fgsm, bim, pgd, deepfool, jsma"},
        {&px_presets, "", "there is no preset ''; there are nss, nsgen, rev"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        const px_entry *found = NULL;
        assert_int_equal(px_registry_choose(cases[i].registry, cases[i].word, &found, &err),
                         PX_E_USAGE);
        assert_null(found);
        assert_string_equal(err.message, cases[i].says);
    }
    px_error err = {0};
    assert_int_equal(px_registry_unknown(&px_presets, "nss,rev", 3, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "'nss';"));
    assert_ptr_equal(px_registry_word(&px_presets, "nss,rev", 3), &px_preset_find("nss")->entry);
}

static px_status added_open(const void *prepared, void **state, px_error *err)
{
    (void)prepared;
    (void)state;
    return px_fail(err, PX_E_USAGE, "never opened");
}

static px_status added_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)state;
    (void)rows;
    return px_fail(err, PX_E_USAGE, "never opened");
}

static double added_gain(const void *state, const px_rows *rows, int64_t i)
{
    (void)state;
    (void)rows;
    return (double)i;
}

static px_status added_merge(void *state, const void *other, px_error *err)
{
    (void)state;
    (void)other;
    return px_fail(err, PX_E_USAGE, "never opened");
}

static px_coverage added_value(const void *state)
{
    (void)state;
    return (px_coverage){0};
}

/* What a program adds is found and counted behind plexor's own; what has no proper head is not. */
static void test_added(void **state)
{
    (void)state;
    static const px_param outside[] = {
        {.name = "t", .max = 1.0, .offset = 8, .size = 8, .help = "beyond the config"},
        PX_PARAM_END};
    px_criterion whole = {.entry = {.id = "own", .title = "of the program", .config_size = 8},
                          .unit = "things",
                          .open = added_open,
                          .close = free,
                          .observe = added_observe,
                          .gain = added_gain,
                          .merge = added_merge,
                          .value = added_value};
    static px_criterion good;
    good = whole;
    px_criterion taken = whole, no_id = whole, bad_id = whole, no_title = whole, no_merge = whole,
                 half = whole, beyond = whole;
    taken.entry.id = "nc";
    no_id.entry.id = NULL;
    bad_id.entry.id = "a=b";
    no_title.entry.title = NULL;
    no_merge.merge = NULL;
    half.save = px_criterion_find("nc")->save;
    beyond.entry.params = outside;
    const struct {
        const px_criterion *criterion;
        const char *says;
    } refused[] = {
        {&taken, "there is a criterion 'nc' already"},
        {&no_id, "its id is made of"},
        {&bad_id, "its id is made of"},
        {&no_title, "it needs a title"},
        {&no_merge, "it lacks one of"},
        {&half, "half of save and load"},
        {&beyond, "outside its config"},
    };
    const size_t before = px_registry_count(&px_criteria);
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_error err = {0};
        assert_int_equal(px_criterion_add(refused[i].criterion, &err), PX_E_USAGE);
        if (!strstr(err.message, refused[i].says))
            fail_msg("'%s' does not say '%s'", err.message, refused[i].says);
    }
    assert_int_equal(px_registry_count(&px_criteria), before);
    assert_null(px_criterion_find("own"));
    assert_int_equal(px_criterion_add(&good, NULL), PX_OK);
    assert_int_equal(px_criterion_count(), before + 1);
    assert_ptr_equal(px_criterion_get(before), &good);
    assert_ptr_equal(px_criterion_find("own"), &good);
    assert_null(px_criterion_get(before + 1));
    assert_int_equal(px_criterion_add(&good, NULL), PX_E_USAGE); /* once is enough */

    px_selector neither = {.entry = {.id = "mine", .title = "of the program"}};
    assert_int_equal(px_selector_add(&neither, NULL), PX_E_USAGE);
    static px_selector ranks;
    ranks = *px_selector_find("gini");
    ranks.entry.id = "mine";
    assert_int_equal(px_selector_add(&ranks, NULL), PX_OK);
    assert_ptr_equal(px_selector_find("mine"), &ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
