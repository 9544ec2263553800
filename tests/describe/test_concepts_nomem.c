/* tests/describe/test_concepts_nomem.c - each allocation fails in turn: attributes, virtual units,
 * dissection, banks, gates
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "failing_alloc.h"

#include <internal/bank.h>
#include <internal/concepts.h>
#include <stdlib.h>

typedef struct fixture {
    px_model *model;
    small_data data;
    px_exemplars *exemplars;
    px_concepts *concepts;
    px_dissection *dissection;
    px_virtual_units *units;
} fixture;

static px_virtual_options few_units(void)
{
    px_virtual_options o = px_virtual_options_default();
    o.count = 3;
    o.images = 6;
    o.exemplars = 2;
    o.quantile = 0.5;
    o.drawn = 0.29;
    o.threads = 1;
    return o;
}

static px_status make_concepts(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_concepts_options o = {.threads = 1, .limit = 4};
    px_concepts *c = NULL;
    PX_TRY(px_concepts_new(f->data.set, &f->data.pre, &o, &c, err));
    px_concepts_free(c);
    return PX_OK;
}

static px_status make_units(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_virtual_options o = few_units();
    px_virtual_units *units = NULL;
    PX_TRY(px_virtual_units_make(f->concepts, f->data.set, &o, &units, err));
    px_virtual_units_free(units);
    return PX_OK;
}

static px_status make_maps(const void *context, px_error *err)
{
    static float pixels[28 * 28], maps[32 * 28 * 28];
    static bool mentioned[128];
    const fixture *f = context;
    PX_TRY(px_concepts_mentions(f->concepts, "thin strokes at left", mentioned, err));
    return px_concepts_maps(f->concepts, pixels, maps, err);
}

static px_status make_score(const void *context, px_error *err)
{
    const fixture *f = context;
    const char *const said[] = {"loops", "thin strokes at left", "nothing"};
    px_caption_score score;
    return px_virtual_units_score(f->units, f->concepts, PX_VIRTUAL_TRAIN, said, &score, err);
}

static px_status make_dissection(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_dissect_options o = {.layers = "hidden", .threads = 1};
    px_dissection *d = NULL;
    PX_TRY(px_dissect(f->model, f->data.set, &f->data.pre, f->exemplars, f->concepts, &o, &d, err));
    px_dissection_free(d);
    return PX_OK;
}

static px_status same_words(void *context, const char *a, const char *b, double *out, px_error *err)
{
    (void)context;
    (void)err;
    *out = a[0] == b[0] ? 1.0 : 0.0;
    return PX_OK;
}

static px_status make_bank(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_bank_about about = {.describer = PX_DESCRIBER_DISSECT, .encoder = "none"};
    px_gates_options o = px_gates_options_default();
    px_gates gates = px_gates_none();
    px_bank *bank = NULL, *again = NULL;
    px_text text = {0};
    char path[TEST_PATH];
    o.permutations = 3;
    o.similarity = same_words;
    px_status status = px_dissection_bank(f->dissection, &about, NULL, &bank, err);
    if (status == PX_OK)
        status = px_gates_measure(bank, f->concepts, &o, &gates, err);
    if (status == PX_OK) {
        px_bank_set_gates(bank, &gates);
        px_bank_gates_text(bank, &text);
        if (px_text_failed(&text))
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    if (status == PX_OK)
        status = px_bank_save(bank, test_path("nomem.bank", path), err);
    if (status == PX_OK)
        status = px_bank_load(path, &again, err);
    px_text_done(&text);
    px_bank_free(bank);
    px_bank_free(again);
    return status;
}

static const struct {
    const char *name;
    px_status (*work)(const void *context, px_error *err);
    long pace;
} works[] = {
    {"attributes", make_concepts, 20},  {"maps and words", make_maps, 20},
    {"virtual units", make_units, 20},  {"scores", make_score, 20},
    {"dissection", make_dissection, 4}, {"bank", make_bank, 20},
};

static int set_up(void **state)
{
    static fixture f;
    const px_exemplar_options exemplars = {
        .layers = "hidden", .count = 2, .quantile = 0.9, .threads = 1};
    const px_dissect_options dissect = {.layers = "hidden", .threads = 1};
    const px_virtual_options units = few_units();
    const px_concepts_options o = {.threads = 1, .limit = 4};
    f.model = small_net(7, 2);
    f.data = small_digits(f.model, "test", 8, 0);
    *state = &f;
    return px_exemplars_collect(f.model, f.data.set, &f.data.pre, &exemplars, &f.exemplars, NULL) ||
           px_concepts_new(f.data.set, &f.data.pre, &o, &f.concepts, NULL) ||
           px_virtual_units_make(f.concepts, f.data.set, &units, &f.units, NULL) ||
           px_dissect(f.model, f.data.set, &f.data.pre, f.exemplars, f.concepts, &dissect,
                      &f.dissection, NULL);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_dissection_free(f->dissection);
    px_virtual_units_free(f->units);
    px_concepts_free(f->concepts);
    px_exemplars_free(f->exemplars);
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static void test_out_of_memory(void **state)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        fail_in_turn(works[i].work, *state, works[i].pace, works[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
