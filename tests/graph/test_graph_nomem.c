/* tests/graph/test_graph_nomem.c - each allocation of a builder and of weights fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_alloc.h"
#include "graph/graph_helpers.h"
#include "onnx/corpus.h"
#include <internal/weights.h>

static px_status steps(px_model **out, px_error *err)
{
    px_builder *b = NULL;
    PX_TRY(px_builder_new("net", &b, err));
    const int x = px_builder_input(b, "x", PX_FLOAT32, SHAPE(2, -1, 3));
    const int w = px_builder_constant(b, "w", PX_FLOAT32, SHAPE(2, 3, 2), NULL);
    const px_attr attrs[] = {{.name = "transB", .kind = PX_ATTR_INT}};
    const int y = px_builder_node(b, "Gemm", "fc", (const int[]){x, w}, 2, attrs, 1);
    px_builder_rename(b, y, "logits");
    px_builder_output(b, y, PX_FLOAT32, SHAPE(2, -1, 2));
    px_builder_property(b, "key", "value");
    return px_builder_finish(b, out, err);
}

static void test_builder(void **state)
{
    (void)state;
    bool failed = true;
    for (long k = 0; failed; k++) {
        px_model *model = NULL;
        px_error err = {0};
        fail_at(k);
        const px_status status = steps(&model, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK) || !model != failed)
            fail_msg("allocation %ld: '%s'", k, err.message);
        px_model_free(model);
        assert_true(failed || k > 20);
    }
}

static px_status train(const px_model *model, px_model **out, px_error *err)
{
    px_weights *weights = NULL;
    const px_property set[] = {{"plexor.train", "{}"}};
    PX_TRY(px_weights_new(model, &weights, err));
    const px_status status = px_weights_freeze(weights, set, 1, out, err);
    px_weights_free(weights);
    return status;
}

static void test_weights(void **state)
{
    (void)state;
    px_model *model = corpus_load("small.onnx");
    bool failed = true;
    for (long k = 0; failed; k++) {
        px_model *frozen = NULL;
        px_error err = {0};
        fail_at(k);
        const px_status status = train(model, &frozen, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK) || !frozen != failed)
            fail_msg("allocation %ld: '%s'", k, err.message);
        px_model_free(frozen);
        assert_true(failed || k > 20);
    }
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_builder),
                                       cmocka_unit_test(test_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
