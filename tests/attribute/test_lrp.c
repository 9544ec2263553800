/* tests/attribute/test_lrp.c - layer-wise relevance against the definition (make_lrp.py) and TV-A9
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "attribute/lrp.h"
#include "base/memory.h"
#include "cover/extract_relevance.h"
#include "lrp_golden.h"
#include <internal/build.h>
#include <internal/engine.h>
#include <internal/profile.h>
#include <plexor/onnx.h>
#include <plexor/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void must(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

typedef struct relevances { /* [sample][element in logical order] per wanted value */
    float *of[8];
    int value[8];
    int count;
    int64_t first, samples;
} relevances;

static px_status collect(void *context, int value, const px_view *view, px_error *err)
{
    (void)err;
    relevances *all = context;
    const int64_t each = px_shape_count(&view->shape) / view->shape.dim[0];
    for (int k = 0; k < all->count; k++) {
        if (all->value[k] != value)
            continue;
        for (int64_t i = 0; i < all->samples * each; i++) {
            int64_t offset = 0, rest = i;
            for (int d = view->shape.rank - 1; d >= 0; d--) {
                offset += rest % view->shape.dim[d] * view->stride[d];
                rest /= view->shape.dim[d];
            }
            all->of[k][all->first * each + i] = view->data[offset];
        }
    }
    return PX_OK;
}

/* Relevance of `x` (samples of the first input), run in micro-batches of `batch`. */
static void relevance_of(const px_model *model, const float *x, int64_t samples, int64_t batch,
                         relevances *all, int *classes)
{
    px_error err = {0};
    pxi_lrp *lrp = NULL;
    px_plan *plan = NULL;
    px_session *session = NULL;
    pxi_lrp_run *run = NULL;
    must(pxi_lrp_new(model, NULL, 0, all->value, (size_t)all->count, 0.5, &lrp, &err), &err);
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    options.keep = lrp->keep;
    options.keep_count = lrp->keep_count;
    must(px_plan_new(model, &options, &plan, &err), &err);
    must(px_session_new(plan, &session, &err), &err);
    must(pxi_lrp_run_new(lrp, batch, &run, &err), &err);
    const px_shape shape = px_plan_feed_shape(plan, 0);
    const int64_t each = px_shape_count(&shape) / batch;
    for (int64_t first = 0; first < samples; first += batch) {
        const int64_t count = PX_MIN(batch, samples - first);
        memcpy(px_session_input(session, 0), x + first * each, (size_t)(count * each) * sizeof *x);
        must(px_session_forward(session, &err), &err);
        int64_t predicted[8];
        px_input_facts facts[8] = {{0}};
        must(px_session_judge(session, &lrp->scores, NULL, count, predicted, NULL, &err), &err);
        for (int64_t i = 0; i < count; i++)
            classes[first + i] = facts[i].predicted = (int)predicted[i];
        all->first = first;
        all->samples = count;
        must(pxi_lrp_run_go(run, session, count, facts, collect, all, &err), &err);
    }
    pxi_lrp_run_free(run);
    px_session_free(session);
    px_plan_free(plan);
    pxi_lrp_free(lrp);
}

/* --- TV-A9: the dense rule; the score of one class at a time, since relevance is linear ------ */

static void test_dense(void **state)
{
    (void)state;
    static const float w[] = {1, -1, 2, -0.5f, 1, 1}, x[] = {1, 2, 0.5f};
    static const double want[] = {1.75, -0.3, 2.55};
    static const float bias[2][2] = {{3, -1}, {-5, -1}}; /* scores (3, 1) and (-5, 1) */
    double sum[3] = {0};
    for (int c = 0; c < 2; c++) {
        px_error err = {0};
        px_builder *b = NULL;
        px_model *model = NULL;
        must(px_builder_new("tv", &b, &err), &err);
        const px_shape in = {.rank = 2, .dim = {-1, 3}}, of_w = {.rank = 2, .dim = {2, 3}};
        const px_shape of_b = {.rank = 1, .dim = {2}}, out = {.rank = 2, .dim = {-1, 2}};
        const int vx = px_builder_input(b, "x", PX_FLOAT32, &in);
        const int vw = px_builder_constant(b, "w", PX_FLOAT32, &of_w, w);
        const int vb = px_builder_constant(b, "b", PX_FLOAT32, &of_b, bias[c]);
        const px_attr attrs[] = {{.name = "transB", .kind = PX_ATTR_INT, .i = 1}};
        const int y = px_builder_node(b, "Gemm", "logits", (int[]){vx, vw, vb}, 3, attrs, 1);
        px_builder_output(b, y, PX_FLOAT32, &out);
        must(px_builder_finish(b, &model, &err), &err);
        float got[3];
        relevances all = {.of = {got}, .value = {vx}, .count = 1};
        int predicted;
        relevance_of(model, x, 1, 1, &all, &predicted);
        assert_int_equal(predicted, c);
        for (int i = 0; i < 3; i++)
            sum[i] += (double)got[i];
        px_model_free(model);
    }
    for (int i = 0; i < 3; i++)
        if (!(fabs(sum[i] - want[i]) <= 5e-6))
            fail_msg("input %d: %.9g, not %.9g", i, sum[i], want[i]);
}

/* --- a network with everything in it --------------------------------------------------------- */

static const struct {
    const char *name;
    const double *want;
    int64_t each;
} values[] = {
    {"x", lrp_of_x, 72},   {"r1", lrp_of_r1, 144}, {"n2", lrp_of_n2, 144}, {"r2", lrp_of_r2, 144},
    {"r3", lrp_of_r3, 54}, {"m", lrp_of_m, 6},     {"c", lrp_of_c, 18},
};
enum { VALUES = PX_LEN(values), SAMPLES = 3 };

static px_model *load_net(void)
{
    px_error err = {0};
    px_model *model = NULL;
    char path[1024];
    const char *folder = getenv("PLEXOR_TEST_DIR");
    snprintf(path, sizeof path, "%s/models/lrp_net.onnx", folder ? folder : ".");
    must(px_model_load(path, &model, &err), &err);
    return model;
}

static void test_golden(void **state)
{
    (void)state;
    px_model *model = load_net();
    float x[PX_LEN(lrp_x)];
    for (size_t i = 0; i < PX_LEN(lrp_x); i++)
        x[i] = (float)lrp_x[i];
    relevances all[3] = {{.count = VALUES}, {.count = VALUES}, {.count = VALUES}};
    for (int b = 0; b < 3; b++) { /* micro-batches of 1, 2 and 3 */
        int classes[SAMPLES];
        for (int k = 0; k < VALUES; k++) {
            all[b].value[k] = px_graph_find_value(px_model_graph(model), values[k].name);
            all[b].of[k] = calloc((size_t)(SAMPLES * values[k].each), sizeof(float));
            assert_non_null(all[b].of[k]);
        }
        relevance_of(model, x, SAMPLES, b + 1, &all[b], classes);
        assert_memory_equal(classes, lrp_classes, sizeof classes);
        for (int k = 0; k < VALUES; k++)
            assert_memory_equal(all[b].of[k], all[0].of[k],
                                (size_t)(SAMPLES * values[k].each) * sizeof(float));
    }
    for (int k = 0; k < VALUES; k++)
        for (int64_t i = 0; i < SAMPLES * values[k].each; i++) {
            const double got = (double)all[0].of[k][i], want = values[k].want[i];
            if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want))))
                fail_msg("'%s' element %d: %.9g, not %.9g", values[k].name, (int)i, got, want);
        }
    /* What the rules conserve, they conserve: all but the 1e-6 in the denominators. */
    for (int k = 0; k < VALUES; k++) {
        if (strcmp(values[k].name, "n2") == 0 || strcmp(values[k].name, "m") == 0)
            continue; /* one of two ways */
        for (int s = 0; s < SAMPLES; s++) {
            double sum = 0, top = 0;
            for (int64_t i = 0; i < values[k].each; i++)
                sum += (double)all[0].of[k][s * values[k].each + i];
            for (int64_t i = 0; i < 18; i++)
                top += (double)all[0].of[VALUES - 1][s * 18 + i];
            if (!(fabs(sum - top) <= 1e-3 * fabs(top)))
                fail_msg("'%s' of sample %d: %.9g in all, %.9g at the end", values[k].name, s, sum,
                         top);
        }
    }
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < VALUES; k++)
            free(all[b].of[k]);
    px_model_free(model);
}

/* Rows: spatial sums of relevance, then channel means. */
static void test_rows(void **state)
{
    (void)state;
    px_model *model = load_net();
    px_error err = {0};
    px_extractor *e = NULL;
    px_probe_options options = px_probe_options_default();
    options.layers = "relu1,relu2,tanh";
    must(pxi_extractor_relevance(model, &options, 0.5, &e, &err), &err);
    assert_int_equal(e->width, 2 * (4 + 4 + 6));
    assert_int_equal(e->layer_count, 3);
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_plan_options plan_options = px_plan_options_default();
    plan_options.batch = 2;
    plan_options.keep = e->keep;
    plan_options.keep_count = e->keep_count;
    must(px_plan_new(model, &plan_options, &plan, &err), &err);
    must(px_session_new(plan, &session, &err), &err);
    float *x = px_session_input(session, 0), rows[2][28];
    for (int i = 0; i < 2 * 72; i++)
        x[i] = (float)lrp_x[i];
    must(px_session_forward(session, &err), &err);
    void *scratch = NULL;
    must(e->kind->scratch_new(e, 2, &scratch, &err), &err);
    const px_input_facts facts[2] = {{.predicted = lrp_classes[0]}, {.predicted = -1}};
    must(e->kind->finish(e, scratch, session, 2, facts, &rows[0][0], &err), &err);
    for (int c = 0; c < 4; c++) {
        double sum = 0;
        for (int i = 0; i < 36; i++)
            sum += lrp_of_r2[c * 36 + i];
        assert_true(fabs((double)rows[0][4 + c] - sum) <= 1e-4);
        assert_true(isnan(rows[1][4 + c])); /* no prediction, no relevance */
    }
    e->kind->scratch_free(scratch);
    px_session_free(session);
    px_plan_free(plan);
    px_extractor_free(e);
    px_model_free(model);
}

/* --- what cannot be followed ----------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *type, *says;
        int operands;
    } cases[] = {
        {"Exp", "node 'odd' (Exp)", 1},
        {"Mul", "joins computed values", 2},
        {"MatMul", "joins computed values", 2},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_builder *b = NULL;
        px_model *model = NULL;
        pxi_lrp *lrp = NULL;
        must(px_builder_new("odd", &b, &err), &err);
        const px_shape shape = {.rank = 2, .dim = {4, 4}};
        const int x = px_builder_input(b, "x", PX_FLOAT32, &shape);
        const int r = px_builder_node(b, "Relu", "relu", &x, 1, NULL, 0);
        const int odd =
            px_builder_node(b, cases[i].type, "odd", (int[]){r, r}, cases[i].operands, NULL, 0);
        px_builder_output(b, odd, PX_FLOAT32, &shape);
        must(px_builder_finish(b, &model, &err), &err);
        assert_int_equal(pxi_lrp_new(model, NULL, 0, &r, 1, 0.5, &lrp, &err), PX_E_UNSUPPORTED);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "odd"))
            fail_msg("case '%s': %s", cases[i].type, err.message);
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
