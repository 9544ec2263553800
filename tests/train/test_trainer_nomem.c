/* tests/train/test_trainer_nomem.c - each allocation of a run of training fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_alloc.h"
#include "train/trainer_helpers.h"

/* One dense layer: the engine's own allocations have a test of their own. */
static px_model *dense_model(void)
{
    px_builder *b = NULL;
    px_model *model = NULL;
    const px_shape input = {.rank = 4, .dim = {-1, 1, 28, 28}};
    const px_shape dense = {.rank = 2, .dim = {784, 10}};
    OK(px_builder_new("dense", &b, fault));
    const int x = px_builder_input(b, "input", PX_FLOAT32, &input);
    const int flat = px_builder_node(b, "Flatten", "flat", &x, 1, NULL, 0);
    const int w = bench_weight(b, "w", &dense, 0.01);
    const int logits = px_builder_node(b, "Gemm", "fc", (int[]){flat, w}, 2, NULL, 0);
    px_builder_rename(b, logits, "logits");
    px_builder_output(b, logits, PX_FLOAT32, NULL);
    OK(px_builder_finish(b, &model, fault));
    return model;
}

static px_status work(const px_trainer_options *options, px_error *err)
{
    px_trainer *t = NULL;
    px_model *trained = NULL;
    unlink(options->checkpoint);
    PX_TRY(px_trainer_new(options, &t, err));
    px_status status = px_trainer_run(t, err);
    if (status == PX_OK)
        status = px_trainer_freeze(t, NULL, 0, &trained, err);
    px_model_free(trained);
    px_trainer_free(t);
    return status;
}

static void test_run(void **state)
{
    (void)state;
    bench m = bench_open(20, 10);
    px_feeder *feeder = bench_feeder(&m, 10);
    px_model_free(m.model);
    m.model = dense_model();
    px_trainer_options options = bench_options(&m, feeder);
    const px_property fact = {"--augment", "crop:2"};
    options.epochs = 1;
    options.threads = 1;
    options.clip = 1.0;
    options.retries = 1;
    options.keep_best = true;
    options.adversary.method = "pgd";
    options.adversary.steps = 2;
    options.checkpoint = bench_path();
    options.facts = &fact;
    options.fact_count = 1;
    bool failed = true;
    long k = 0;
    for (; failed; k++) {
        px_error err = {0};
        fail_at(k);
        const px_status status = work(&options, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("allocation %ld: %s '%s'", k, px_status_name(status), err.message);
    }
    assert_true(k > 100);
    unlink(options.checkpoint);
    px_feeder_free(feeder);
    bench_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
