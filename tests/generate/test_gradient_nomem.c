/* tests/generate/test_gradient_nomem.c - allocations of engines that are not `loop` fail in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "failing_alloc.h"

#include "base/memory.h"
#include "generate/ascent.h"

#include <plexor/fuzz.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>

static px_status ascent_work(const scene *s, px_error *err)
{
    enum { ROWS = 3, SIZE = 3 * 8 * 8 };
    pxi_ascent *ascent = NULL;
    pxi_unit_facts facts = {0};
    float levels[ROWS][SIZE], gradient[ROWS][SIZE];
    uint8_t pixels[ROWS][SIZE];
    int64_t predictions[ROWS];
    memset(gradient, 0, sizeof gradient);
    memset(pixels, 7, sizeof pixels);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < SIZE; k++)
            levels[i][k] = 7.0f;
    const pxi_ascent_options options = {.model = s->model,
                                        .pre = &s->pre,
                                        .shape = px_dataset_shape(s->set),
                                        .bytes = true,
                                        .threads = 1,
                                        .batch = 2,
                                        .most = ROWS};
    px_status status = pxi_ascent_new(&options, &ascent, err);
    const pxi_term term = {1, 1.0f};
    pxi_climber climbers[ROWS];
    for (int i = 0; i < ROWS; i++)
        climbers[i] = (pxi_climber){levels[i], &term, &term, 1, 1, gradient[i]};
    const pxi_seen seen = {.predictions = predictions};
    if (status == PX_OK)
        status = pxi_ascent_gradients(ascent, climbers, ROWS, err);
    if (status == PX_OK)
        status = pxi_ascent_look(ascent, pixels, ROWS, &seen, err);
    if (status == PX_OK)
        status = pxi_ascent_facts(ascent, &facts, err);
    pxi_unit_facts_done(&facts);
    pxi_ascent_free(ascent);
    return status;
}

static void test_ascent(void **state)
{
    (void)state;
    scene s = raise_scene(NULL);
    px_error err = {0};
    bool failed = true;
    for (long k = 0; failed; k++) {
        fail_at(k);
        const px_status status = ascent_work(&s, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: status %d, '%s'", k, (int)status, err.message);
    }
    scene_close(&s);
}

typedef struct engine_case {
    const char *engine;
    const char *settings[4];
    size_t setting_count;
    bool rival;
} engine_case;

static px_status engine_work(const scene *s, const px_model *rival, const engine_case *c,
                             px_campaign *campaign, px_error *err)
{
    const px_model *rivals[1] = {rival};
    px_fuzz_options options = px_fuzz_options_default();
    px_fuzz *fuzz = NULL;
    options.campaign = campaign;
    options.model = s->model;
    options.rivals = rivals;
    options.rival_count = c->rival;
    options.set = s->set;
    options.pre = &s->pre;
    options.engine = c->engine;
    options.settings = c->settings;
    options.setting_count = c->setting_count;
    options.threads = 1;
    options.batch = 2;
    const px_fuzz_limits limits = {.turns = 4};
    PX_TRY(px_fuzz_new(&options, &fuzz, err));
    const px_status status = px_fuzz_run(fuzz, &limits, err);
    px_fuzz_free(fuzz);
    return status;
}

/* Every allocation of a few hundred is too slow here: those of the engines come far apart, so that
 * steps of a prime number reach each kind. */
static void test_engines(void **state)
{
    (void)state;
    static const engine_case cases[] = {
        {"deepxplore", {"constraint=none", "step=0.1", "iters=3", "group=4"}, 4, true},
        {"dlfuzz", {"strategy=0123", "distance=1", "gain=0", "group=4"}, 4, false},
        {"adapt", {"size=4", "history=4", "lr=1", "group=4"}, 4, false},
        {"deepsensor", {"particles=3", "iters=2", "group=2", "passes=0"}, 4, false},
        {"deepsensor", {"particles=3", "objective=code", "iters=2", "passes=0"}, 4, false},
    };
    scene s = raise_scene(NULL);
    px_model *rival = NULL;
    px_error err = {0};
    assert_int_equal(px_model_load(MODELS "/rival.onnx", &rival, &err), PX_OK);
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        bool failed = true;
        for (long k = (long)c; failed; k += 17) {
            char path[GENERATE_PATH], name[64];
            px_campaign *campaign = NULL;
            snprintf(name, sizeof name, "%s%zu-%ld", cases[c].engine, c, k);
            test_path(name, path);
            assert_int_equal(px_campaign_open(path, PX_CAMPAIGN_CREATE, &campaign, &err), PX_OK);
            fail_at(k);
            const px_status status = engine_work(&s, rival, &cases[c], campaign, &err);
            failed = fail_never();
            px_campaign_close(campaign);
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("%s, allocation %ld: status %d, '%s'", cases[c].engine, k, (int)status,
                         err.message);
        }
    }
    px_model_free(rival);
    scene_close(&s);
    test_folder_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ascent),
                                       cmocka_unit_test(test_engines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
