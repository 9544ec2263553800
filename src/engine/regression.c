/* src/engine/regression.c - a network that gives numbers, judged by a tolerance */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>
#include <internal/graft.h>
#include <internal/graph.h>

#include <math.h>
#include <stdio.h>

/* The numbers, [N, count]; an output of rank 1 is one number each. */
static px_status regression_output(const px_model *model, px_regression *r, bool *flat,
                                   px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_value *first = graph->output_count ? &graph->values[graph->outputs[0]] : NULL;
    px_scores numbers;
    *flat = graph->output_count == 1 && first->has_shape && first->shape.rank == 1;
    r->output = first ? graph->outputs[0] : -1;
    r->count = 1;
    if (*flat)
        return PX_OK;
    PX_TRY(px_model_scores(model, &numbers, err));
    r->output = numbers.value;
    r->count = numbers.classes;
    return PX_OK;
}

px_status px_model_set_regression(px_model *model, double tolerance, px_error *err)
{
    enum { VALUES = 10 };
    static const int64_t axis_one = 1;
    const px_attr axes = {.name = "axes", .kind = PX_ATTR_INTS, .ints = &axis_one, .count = 1};
    const px_attr axis = {.name = "axis", .kind = PX_ATTR_INT, .i = 1};
    const px_graph *graph = &model->graph;
    px_regression *r = NULL;
    bool flat;
    if (!(tolerance >= 0.0) || !isfinite(tolerance))
        return px_fail(err, PX_E_USAGE,
                       "--tolerance %g: expected how far an output may be from "
                       "its target, 0 or more",
                       tolerance);
    if (graph->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' has %d inputs; px_model_join_inputs() "
                       "comes first",
                       px_model_path(model), graph->input_count);
    PX_TRY(PX_ARENA_NEW(r, model->arena, 1, err));
    PX_TRY(regression_output(model, r, &flat, err));
    r->tolerance = tolerance;
    const px_shape *fed = &graph->values[graph->inputs[0]].shape;
    const px_shape of_target = {.rank = 2, .dim = {fed->rank ? fed->dim[0] : -1, r->count}};
    const px_shape scalar = {.rank = 1, .dim = {1}};
    pxi_graft g;
    PX_TRY(pxi_graft_begin(model, VALUES, &g, err));
    r->target = pxi_graft_value(&g, "plexor.target", PX_FLOAT32, &of_target);
    int error = r->output;
    if (flat) {
        error = pxi_graft_value(&g, "plexor.numbers", PX_NONE, NULL);
        pxi_graft_node(&g, false, "Unsqueeze", 11, &r->output, 1, error, &axes, 1);
    }
    const int apart = pxi_graft_value(&g, "plexor.apart", PX_NONE, NULL);
    pxi_graft_node(&g, false, "Sub", 13, (int[]){error, r->target}, 2, apart, NULL, 0);
    error = pxi_graft_value(&g, "plexor.errors", PX_NONE, NULL);
    pxi_graft_node(&g, false, "Abs", 13, &apart, 1, error, NULL, 0);
    if (r->count > 1) {
        const int each = error;
        error = pxi_graft_value(&g, "plexor.error", PX_NONE, NULL);
        pxi_graft_node(&g, false, "ReduceMax", 13, &each, 1, error, &axes, 1);
    }
    const float bound = (float)tolerance;
    const int most = pxi_graft_constant(&g, "plexor.tolerance", PX_FLOAT32, &scalar, &bound);
    const int within = pxi_graft_value(&g, "plexor.within", PX_NONE, NULL);
    pxi_graft_node(&g, false, "Sub", 13, (int[]){most, error}, 2, within, NULL, 0);
    const int beyond = pxi_graft_value(&g, "plexor.beyond", PX_NONE, NULL);
    pxi_graft_node(&g, false, "Neg", 13, &within, 1, beyond, NULL, 0);
    const int verdict = pxi_graft_value(&g, "plexor.verdict", PX_NONE, NULL);
    pxi_graft_node(&g, false, "Concat", 13, (int[]){within, beyond}, 2, verdict, &axis, 1);
    const int inputs[] = {graph->inputs[0], r->target};
    PX_TRY(pxi_graft_finish(&g, inputs, 2, &verdict, 1, err));
    char names[2][64];
    snprintf(names[0], sizeof names[0], "within %g", tolerance);
    snprintf(names[1], sizeof names[1], "beyond %g", tolerance);
    PX_TRY(pxi_model_take_classes(model, (char *[]){names[0], names[1]}, 2, err));
    model->regression = r;
    return PX_OK;
}

const px_regression *px_model_regression(const px_model *model)
{
    return model->regression;
}

px_status px_model_classes(const px_model *model, px_scores *out, px_error *err)
{
    if (px_model_regression(model))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "it needs classes, and the network gives numbers (--task regression)");
    return px_model_scores(model, out, err);
}
