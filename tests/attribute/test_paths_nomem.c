/* tests/attribute/test_paths_nomem.c - each allocation fails in turn: paths, maps, judges, tau
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_helpers.h"

#include "failing_alloc.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <stdio.h>

typedef struct fixture {
    px_model *model;
    px_bank *bank;
} fixture;

static const px_shape sample = {.rank = 3, .dim = {1, 6, 6}};

static px_status open_paths(const fixture *f, px_paths **out, px_error *err)
{
    px_paths_options options = px_paths_options_default();
    options.steps = options.most_steps = 3;
    options.threads = 1;
    options.bank = f->bank;
    return px_paths_new(f->model, &sample, NULL, &options, out, err);
}

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    px_paths *paths = NULL;
    net n;
    net_init(&n, 2, "1,1,6,6");
    int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "3,1,3,3"}, {.weight = "3"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    f.model = net_take(&n, net_add(&n, "Gemm", "", IN(V(y), {.weight = "3,2"}, {.weight = "2"})));
    f.bank = NULL;
    check(open_paths(&f, &paths, &err), &err, "paths");
    const px_bank_about about = {.model = px_model_hash(f.model),
                                 .describer = PX_DESCRIBER_DISSECT};
    check(px_bank_new(&about, &f.bank, &err), &err, "bank");
    for (int u = 0; u < 3; u++) {
        const px_bank_unit unit = {.layer = px_paths_layer(paths, 0)->name,
                                   .unit = u,
                                   .phrase = u == 0 ? "dark regions" : "thin strokes"};
        check(px_bank_add(f.bank, &unit, &err), &err, "unit");
    }
    px_paths_free(paths);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_bank_free(f->bank);
    px_model_free(f->model);
    return 0;
}

static px_status paths_and_maps(const void *context, px_error *err)
{
    const fixture *f = context;
    px_paths *paths = NULL;
    px_path found[2];
    px_text text = {0};
    float x[72], map[36];
    uint8_t grey[36] = {0}, drawn[108];
    net_fill(x, 72, 5, -1.0, 1.0);
    px_status status = open_paths(f, &paths, err);
    if (status == PX_OK)
        status = px_paths_run(paths, x, NULL, 2, found, NULL, err);
    if (status == PX_OK)
        status = px_path_text(paths, &found[0], NULL, 0, NULL, PX_PATH_NO_CNS, &text, err);
    if (status == PX_OK)
        status = px_paths_map(paths, x, &found[0], 0, PX_PATH_MAP_GRAD_CAM, map, err);
    if (status == PX_OK)
        status = px_path_map_render(map, 6, 6, grey, 6, 6, 1, drawn, err);
    px_text_done(&text);
    px_paths_free(paths);
    return status;
}

static px_status judging(const void *context, px_error *err)
{
    const fixture *f = context;
    static const char *const names[] = {"cat", "dog"};
    static const px_path a = {.layers = 1, .classes = {0, 1, -1, -1, -1}};
    static const px_path b = {.layers = 1, .classes = {1, 0, -1, -1, -1}, .step = {{.unit = 1}}};
    px_paths *paths = NULL;
    px_path_judge *judge = NULL;
    px_text_encoder *encoder = NULL;
    double similarity;
    px_status status = open_paths(f, &paths, err);
    if (status == PX_OK)
        status = px_path_encoder_open(f->bank, names, 2, NULL, &encoder, err);
    if (status == PX_OK)
        status = px_path_judge_new(paths, encoder, names, 2, NULL, &judge, err);
    for (int m = 0; m < PX_PATH_MODE_COUNT && status == PX_OK; m++)
        status = px_path_judge_similarity(judge, (px_path_mode)m, &a, &b, &similarity, err);
    px_path_judge_free(judge);
    px_text_encoder_free(encoder);
    px_paths_free(paths);
    return status;
}

static px_status files(const void *context, px_error *err)
{
    const char *scratch = getenv("TEST_SCRATCH");
    px_threshold t = {.images = 1, .rules = 95, .pairs = 95, .of = {{.known = true, .tau = 0.5}}};
    char path[1024];
    (void)context;
    snprintf(path, sizeof path, "%s/nomem_tau.json", scratch ? scratch : ".");
    px_status status = px_threshold_save(&t, path, err);
    if (status == PX_OK)
        status = px_threshold_load(path, &t, err);
    remove(path);
    return status;
}

static void test_paths(void **state)
{
    fail_in_turn(paths_and_maps, *state, 200, "paths and maps");
}

static void test_judging(void **state)
{
    fail_in_turn(judging, *state, 200, "judging");
}

static void test_files(void **state)
{
    fail_in_turn(files, *state, 200, "files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_judging),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
