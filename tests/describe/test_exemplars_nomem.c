/* tests/describe/test_exemplars_nomem.c - each allocation fails in turn: exemplars, files, sheets,
 * annotation vectors
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "failing_alloc.h"

#include <internal/exemplars.h>
#include <stdio.h>
#include <string.h>

typedef struct fixture {
    px_model *model;
    small_data data;
    px_exemplars *exemplars;
} fixture;

static px_exemplar_options few(void)
{
    px_exemplar_options options = px_exemplar_options_default();
    options.layers = "hidden";
    options.count = 2;
    options.threads = 1;
    return options;
}

static int set_up(void **state)
{
    static fixture f;
    const px_exemplar_options options = few();
    f.model = small_net(7, 2);
    f.data = small_digits(f.model, "test", 6, 0);
    *state = &f;
    return px_exemplars_collect(f.model, f.data.set, &f.data.pre, &options, &f.exemplars, NULL);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_exemplars_free(f->exemplars);
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static px_status collect(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_exemplar_options options = few();
    px_exemplars *e = NULL;
    PX_TRY(px_exemplars_collect(f->model, f->data.set, &f->data.pre, &options, &e, err));
    px_exemplars_free(e);
    return PX_OK;
}

static px_status files(const void *context, px_error *err)
{
    const fixture *f = context;
    char folder[TEST_PATH], sheet[TEST_PATH], csv[TEST_PATH];
    px_exemplars *e = NULL;
    px_milan_annotations *a = NULL;
    uint8_t mask[16];
    test_path("nomem", folder);
    px_status status = px_exemplars_save(f->exemplars, f->data.set, UINT64_MAX, folder, err);
    if (status == PX_OK)
        status = px_exemplars_load(folder, &e, err);
    if (status == PX_OK)
        status = px_exemplars_mask(e, 0, 0, 0, 4, 4, mask, err);
    if (status == PX_OK)
        status = px_exemplars_sheet(f->exemplars, f->data.set, 0, (const int64_t[]){0}, 1,
                                    (const char *const[]){"a unit with many words about it"},
                                    test_path("nomem.png", sheet), err);
    if (status == PX_OK)
        status = px_milan_annotations_load(test_path("nomem.csv", csv), &a, err);
    px_exemplars_free(e);
    px_milan_annotations_free(a);
    return status;
}

static px_status annotate(const void *context, px_error *err)
{
    const fixture *f = context;
    static const uint8_t mask[4] = {1, 0, 1, 1};
    static const uint8_t pixels[12] = {200};
    const px_annotated_pair pairs[] = {{.index = 1, .height = 2, .width = 2, .mask = mask},
                                       {.pixels = pixels, .height = 2, .width = 2, .mask = mask}};
    static float features[2 * 256];
    px_annotator_options options = px_annotator_options_default();
    px_annotator *a = NULL;
    options.threads = 1;
    PX_TRY(px_annotator_new(f->model, f->data.set, &f->data.pre, &options, &a, err));
    assert_true(px_annotator_size(a) <= 256);
    const px_status status = px_annotator_run(a, pairs, 2, features, err);
    px_annotator_free(a);
    return status;
}

static void test_collect(void **state)
{
    fail_in_turn(collect, *state, 200, "collecting");
}

static void test_files(void **state)
{
    static const char text[] = "layer,unit,summary\na,0,words\n";
    char path[TEST_PATH];
    file_write(test_path("nomem.csv", path), text, strlen(text));
    fail_in_turn(files, *state, 200, "files");
}

static void test_annotate(void **state)
{
    fail_in_turn(annotate, *state, 200, "annotating");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_collect), cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_annotate)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
