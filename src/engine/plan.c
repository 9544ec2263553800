/* src/engine/plan.c - compile a model for one purpose */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/one_thread.h"
#include "engine/feeds.h"

#include <internal/engine.h>
#include <internal/sample_plan.h>
#include <internal/system.h>
#include <internal/weights.h>
#include <math.h>
#include <stdlib.h>

/* A session larger than this is refused: a file that declares a 2^40-element input must not get as
 * far as malloc(). */
static const size_t plan_memory_limit = (size_t)8 << 30;

/* Memory is planned in time that grows with the square of the steps. */
enum { PLAN_MAX_STEPS = 1 << 16 };

px_plan_options px_plan_options_default(void)
{
    return (px_plan_options){0};
}

typedef struct plan_request { /* the options, completed */
    const px_plan_options *options;
    pxi_feed *feeds;
    size_t feed_count;
    px_scores scores; /* with input_grad */
} plan_request;

static px_status plan_check_values(const px_graph *graph, const int *values, size_t count,
                                   const char *what, px_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= graph->value_count)
            return px_fail(err, PX_E_USAGE, "%s names value %d, the graph has %d", what, values[i],
                           graph->value_count);
    return PX_OK;
}

static px_status plan_check(const px_model *model, const px_plan_options *options, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    if (options->batch < 0)
        return px_fail(err, PX_E_USAGE, "a batch of %lld samples is not possible",
                       (long long)options->batch);
    for (size_t i = 0; i < options->feed_count; i++)
        PX_TRY(plan_check_values(graph, &options->feeds[i].value, 1, "a feed", err));
    PX_TRY(plan_check_values(graph, options->keep, options->keep_count, "keep", err));
    PX_TRY(plan_check_values(graph, options->observe, options->observe_count, "observe", err));
    PX_TRY(plan_check_values(graph, options->seeds, options->seed_count, "seeds", err));
    for (size_t i = 0; i < options->gate_count; i++)
        PX_TRY(plan_check_values(graph, &options->gates[i].value, 1, "a gate", err));
    if (options->weights && px_weights_model(options->weights) != model)
        return px_fail(err, PX_E_USAGE, "the weights belong to another network");
    if (options->training && !options->weights)
        return px_fail(err, PX_E_USAGE, "training needs weights that can change");
    return plan_check_values(graph, options->wrt, options->wrt_count, "wrt", err);
}

/* Feeds with their shapes, from the options or from what the graph declares. */
static px_status plan_make_feeds(const px_model *model, int64_t batch, plan_request *request,
                                 px_error *err)
{
    const px_plan_options *options = request->options;
    free(request->feeds);
    request->feeds = NULL;
    if (!options->feeds)
        return pxi_feeds_default(model, batch, 0, &request->feeds, &request->feed_count, err);
    const px_graph *graph = px_model_graph(model);
    px_shape beside = options->feed_count == 1 ? options->feeds[0].shape : (px_shape){0};
    const bool more = options->feed_count == 1 && pxi_sample_beside(model, &beside);
    request->feed_count = options->feed_count + more;
    PX_TRY(PX_NEW(request->feeds, request->feed_count, err));
    if (more)
        request->feeds[1] =
            (pxi_feed){.value = graph->inputs[1], .tensor = {.dtype = PX_FLOAT32, .shape = beside}};
    for (size_t i = 0; i < options->feed_count; i++) {
        const px_value *value = &graph->values[options->feeds[i].value];
        request->feeds[i] =
            (pxi_feed){.value = options->feeds[i].value,
                       .tensor = {.dtype = value->dtype == PX_NONE ? PX_FLOAT32 : value->dtype,
                                  .shape = options->feeds[i].shape}};
    }
    return PX_OK;
}

/* No tensor may be larger than a whole session: sums and products of sizes stay far from overflow
 * in everything that follows. */
static px_status plan_check_sizes(const px_plan *plan, const plan_request *request, px_error *err)
{
    if (plan->program->step_count > PLAN_MAX_STEPS)
        return px_fail(err, PX_E_UNSUPPORTED, "%d nodes to run; at most %d are supported",
                       plan->program->step_count, PLAN_MAX_STEPS);
    for (size_t i = 0; i < request->feed_count; i++) {
        const int value = request->feeds[i].value;
        const size_t bytes = px_tensor_bytes(&plan->program->slots[value].tensor);
        if (bytes > plan_memory_limit)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "input '%s' needs %zu MiB of memory; use a smaller --batch",
                           px_model_graph(plan->model)->values[value].name, bytes >> 20);
    }
    for (int s = 0; s < plan->program->step_count; s++) {
        const px_op_ctx *ctx = &plan->program->steps[s].ctx;
        size_t most = PX_MAX(ctx->saved_bytes, ctx->scratch_bytes);
        for (int i = 0; i < ctx->out_count; i++)
            if (ctx->node->outputs[i] >= 0)
                most = PX_MAX(most, px_tensor_bytes(&ctx->out[i]));
        if (most > plan_memory_limit)
            return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                               "needs %zu MiB of memory; use a smaller --batch", most >> 20);
    }
    return PX_OK;
}

static px_status plan_make_program(px_plan *plan, const plan_request *request, px_error *err)
{
    const px_plan_options *options = request->options;
    const px_graph *graph = px_model_graph(plan->model);
    const size_t most = (size_t)graph->output_count + options->keep_count + options->observe_count +
                        options->seed_count + options->wrt_count + options->gate_count + 1;
    int *wanted = NULL;
    PX_TRY(PX_NEW(wanted, most, err));
    size_t count = 0;
    for (int i = 0; !options->no_outputs && i < graph->output_count; i++)
        wanted[count++] = graph->outputs[i];
    const struct {
        const int *values;
        size_t count;
    } lists[] = {{options->keep, options->keep_count},
                 {options->observe, options->observe_count},
                 {options->seeds, options->seed_count},
                 {options->wrt, options->wrt_count}};
    for (size_t k = 0; k < PX_LEN(lists); k++)
        for (size_t i = 0; i < lists[k].count; i++)
            wanted[count++] = lists[k].values[i];
    for (size_t i = 0; i < options->gate_count; i++)
        wanted[count++] = options->gates[i].value;
    if (options->input_grad)
        wanted[count++] = request->scores.value;
    pxi_program_free(plan->program);
    plan->program = NULL;
    const px_status status = pxi_program_make(plan->model,
                                              &(pxi_program_request){
                                                  .feeds = request->feeds,
                                                  .feed_count = request->feed_count,
                                                  .wanted = wanted,
                                                  .wanted_count = count,
                                                  .varying = options->wrt,
                                                  .varying_count = options->wrt_count,
                                                  .weights = options->weights,
                                              },
                                              &plan->program, err);
    free(wanted);
    PX_TRY(status);
    return plan_check_sizes(plan, request, err);
}

/* What a list names must be numbers that observers and gradients can be had of. */
static px_status plan_check_floats(const px_plan *plan, const int *values, size_t count,
                                   const char *what, px_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const px_dtype dtype = plan->cells[values[i]].tensor.dtype;
        if (dtype != PX_FLOAT32)
            return px_fail(err, PX_E_USAGE, "%s names '%s', which is %s and not float32", what,
                           px_model_graph(plan->model)->values[values[i]].name,
                           px_dtype_name(dtype));
    }
    return PX_OK;
}

/* The cells of the factors that gates multiply with. */
static px_status plan_make_gates(px_plan *plan, const px_plan_options *options, px_error *err)
{
    const px_graph *graph = px_model_graph(plan->model);
    if (options->gate_count == 0)
        return PX_OK;
    plan->gate_count = options->gate_count;
    PX_TRY(PX_ARENA_NEW(plan->gates, plan->arena, options->gate_count, err));
    PX_TRY(PX_ARENA_NEW(plan->factors, plan->arena, options->gate_count, err));
    for (size_t i = 0; i < options->gate_count; i++) {
        const px_gate gate = options->gates[i];
        pxi_cell *cell = &plan->cells[gate.value];
        const char *name = graph->values[gate.value].name;
        PX_TRY(plan_check_floats(plan, &gate.value, 1, "a gate", err));
        if (plan->program->slots[gate.value].producer < 0)
            return px_fail(err, PX_E_USAGE, "a gate names '%s', which no node of the plan makes",
                           name);
        if (cell->gate)
            return px_fail(err, PX_E_USAGE, "two gates name '%s'", name);
        if (gate.axis < 1 || gate.axis >= cell->tensor.shape.rank)
            return px_fail(err, PX_E_USAGE, "a gate names axis %d of '%s', which has %d", gate.axis,
                           name, cell->tensor.shape.rank);
        cell->gate = (int)i + 1;
        plan->gates[i] = gate;
        const px_shape *shape = &cell->tensor.shape;
        plan->factors[i] = pxi_plan_add_cell(
            plan, (pxi_cell){.tensor = {.dtype = PX_FLOAT32,
                                        .shape = {.rank = 2,
                                                  .dim = {shape->dim[0], shape->dim[gate.axis]}}},
                             .value = -1,
                             .root = plan->cell_count,
                             .twin = -1,
                             .pinned = true,
                             .is_wrt = plan->wants_gradients});
        if (plan->factors[i] < 0)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

/* One cell per graph value to begin with; lowering adds copies in other layouts. */
static px_status plan_make_cells(px_plan *plan, const plan_request *request, px_error *err)
{
    const px_plan_options *options = request->options;
    const px_graph *graph = &plan->program->graph;
    plan->cell_cap = (size_t)graph->value_count + 64;
    PX_TRY(PX_NEW(plan->cells, plan->cell_cap, err));
    PX_TRY(PX_NEW(plan->feeds, request->feed_count, err));
    plan->cell_count = graph->value_count;
    for (int v = 0; v < graph->value_count; v++)
        plan->cells[v] =
            (pxi_cell){.tensor = plan->program->slots[v].tensor, .value = v, .root = v, .twin = -1};
    for (size_t i = 0; options->weights && i < px_weights_count(options->weights); i++)
        plan->cells[px_weights_get(options->weights, i)->value].is_weight = true;
    plan->wants_gradients = options->input_grad || options->seed_count > 0;
    plan->feed_count = request->feed_count;
    for (size_t i = 0; i < request->feed_count; i++) {
        plan->feeds[i] = request->feeds[i].value;
        plan->cells[request->feeds[i].value].pinned = true;
    }
    for (int i = 0; !options->no_outputs && i < graph->output_count; i++)
        plan->cells[graph->outputs[i]].pinned = true;
    for (size_t i = 0; i < options->keep_count; i++)
        plan->cells[options->keep[i]].pinned = true;
    for (size_t i = 0; i < options->observe_count; i++)
        plan->cells[options->observe[i]].observed = true;
    for (size_t i = 0; i < options->seed_count; i++) {
        plan->cells[options->seeds[i]].is_seed = true;
        plan->cells[options->seeds[i]].pinned = true;
    }
    for (size_t i = 0; i < options->wrt_count; i++) {
        pxi_cell *cell = &plan->cells[options->wrt[i]];
        cell->is_wrt = true;
        plan->weight_grads = plan->weight_grads || cell->tensor.data;
    }
    if (options->input_grad) {
        plan->cells[request->scores.value].is_seed = true;
        plan->cells[request->scores.value].pinned = true;
        plan->cells[plan->feeds[0]].is_wrt = true;
        PX_TRY(plan_check_floats(plan, &request->scores.value, 1, "input_grad", err));
        PX_TRY(plan_check_floats(plan, plan->feeds, 1, "input_grad", err));
    }
    PX_TRY(plan_check_floats(plan, options->observe, options->observe_count, "observe", err));
    PX_TRY(plan_check_floats(plan, options->seeds, options->seed_count, "seeds", err));
    PX_TRY(plan_check_floats(plan, options->wrt, options->wrt_count, "wrt", err));
    return plan_make_gates(plan, options, err);
}

/* Observed cells that no unit makes are shown before the first unit runs. */
static px_status plan_find_given(px_plan *plan, px_error *err)
{
    bool *made = pxi_calloc((size_t)plan->cell_count, sizeof *made);
    plan->given = pxi_arena_alloc(plan->arena, (size_t)plan->cell_count, sizeof *plan->given);
    if (!made || !plan->given) {
        free(made);
        return pxi_no_memory(err);
    }
    for (int u = 0; u < plan->unit_count; u++)
        for (int i = 0; i < plan->units[u].out_count; i++)
            if (plan->units[u].out[i] >= 0)
                made[plan->units[u].out[i]] = true;
    plan->given_count = 0;
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].observed && !made[c])
            plan->given[plan->given_count++] = c;
    free(made);
    return PX_OK;
}

/* What a step with weights takes for a sample, by rough figures of one core: multiplications,
 * faster where many rows meet a weight that was loaded; weights, which every micro-batch fetches
 * anew and which hide behind the multiplications where there are enough of them; activations that
 * leave the second-level cache, or the core's part of the third, on the way from step to step. */
static double plan_step_seconds(const pxi_step *step, int64_t batch)
{
    const double flops_per_s = 250e9, weights_per_s = 20e9, near_per_s = 100e9, far_per_s = 25e9;
    const double slow_rows = 16.0, near = 1 << 20, far = 8 << 20;
    const px_op_ctx *ctx = &step->ctx;
    const int64_t call = 300; /* nanoseconds for any step */
    const double calls = 1e-9 * (double)call / (double)batch;
    if (ctx->in_count < 2 || !ctx->in[1].data || ctx->in[1].shape.rank < 2 || !step->op->flops)
        return calls;
    const double weights = (double)px_tensor_bytes(&ctx->in[1]);
    const double activations =
        (double)px_tensor_bytes(&ctx->in[0]) + (double)px_tensor_bytes(&ctx->out[0]);
    const double flops = (double)step->op->flops(ctx);
    const double rows = (double)batch * flops * (double)px_dtype_size(ctx->in[1].dtype) /
                        PX_MAX(2.0 * weights, 1.0);
    const double multiplies = flops / flops_per_s * (1.0 + slow_rows / PX_MAX(rows, 1.0));
    const double fetches = weights / weights_per_s / (double)batch;
    const double live = (double)batch * activations;
    const double moves = live <= near  ? 0.0
                         : live <= far ? activations / near_per_s
                                       : activations / far_per_s;
    return calls + hypot(multiplies, fetches) + moves;
}

/* The smallest micro-batch, of 1 to 64 samples, that is as good as the best, by weights and
 * activations together. Fixed per plan, and no result depends on it: it need not be a good guess.
 * `program` is for one sample. */
static int64_t plan_choose_batch(const pxi_program *program)
{
    enum { MOST = 6 }; /* powers of two */
    const double tolerance = 1.02;
    double seconds[MOST + 1] = {0.0}, best = INFINITY;
    for (int i = 0; i <= MOST; i++) {
        for (int s = 0; s < program->step_count; s++)
            seconds[i] += plan_step_seconds(&program->steps[s], (int64_t)1 << i);
        best = fmin(best, seconds[i]);
    }
    int chosen = 0;
    while (seconds[chosen] > tolerance * best)
        chosen++;
    return (int64_t)1 << chosen;
}

/* In training each micro-batch also has gradients of its own, which are then added, so larger ones
 * pay: enough samples that each is charged with a few megabytes at most, and 32 where activations
 * alone would choose less (docs/benchmarks.md). But no more than a quarter of the batch, so that
 * there is work for several threads. */
static int64_t plan_training_batch(const px_plan_options *options, int64_t chosen)
{
    const int64_t charge = 8 << 20, least = 32, most = 64;
    int64_t bytes = 0;
    for (size_t i = 0; i < px_weights_count(options->weights); i++)
        bytes += (int64_t)px_tensor_bytes(&px_weights_get(options->weights, i)->tensor);
    chosen = PX_MIN(PX_MAX(PX_MAX(chosen, least), bytes / charge), most);
    return options->team_samples ? PX_MAX(PX_MIN(chosen, options->team_samples / 4), (int64_t)1)
                                 : chosen;
}

/* Whether every output and observed value has the batch as its leading axis. */
static bool plan_batch_flows(const px_plan *plan, int64_t batch)
{
    const px_graph *graph = px_model_graph(plan->model);
    for (int i = 0; i < graph->output_count; i++) {
        const px_tensor *out = &plan->program->slots[graph->outputs[i]].tensor;
        if (out->dtype != PX_NONE && (out->shape.rank < 1 || out->shape.dim[0] != batch))
            return false;
    }
    return true;
}

/* Whether the network decides by its values, and would so by those of several samples together. */
static bool plan_mixes(const px_plan *plan)
{
    return plan->program && plan->program->chooses && plan->batch > 1;
}

/* The program for the wanted micro-batch. A network whose file fixes the batch (exporters bake in
 * 1) is tried with the wanted one first and falls back to its own: correct, but run in a loop. */
static px_status plan_specialise(px_plan *plan, plan_request *request, px_error *err)
{
    const px_plan_options *options = request->options;
    if (options->feeds) {
        plan->batch = options->batch ? options->batch
                      : options->feed_count && options->feeds[0].shape.rank
                          ? PX_MAX(options->feeds[0].shape.dim[0], (int64_t)1)
                          : 1;
        PX_TRY(plan_make_feeds(plan->model, plan->batch, request, err));
        return plan_make_program(plan, request, err);
    }
    const int64_t own = pxi_feeds_fixed_batch(plan->model); /* 0: free */
    int64_t batch = options->batch;
    if (!batch) {
        PX_TRY(plan_make_feeds(plan->model, own ? own : 1, request, err));
        PX_TRY(plan_make_program(plan, request, err));
        batch = own > 1 ? own : plan_choose_batch(plan->program);
        if (own <= 1 && options->training)
            batch = plan_training_batch(options, batch);
    }
    PX_TRY(plan_make_feeds(plan->model, batch, request, err));
    px_error first = {0};
    const px_status status = plan_make_program(plan, request, &first);
    plan->batch = batch;
    if (status == PX_OK && !own && plan_mixes(plan)) {
        plan->batch = 1;
        plan->batch_is_baked = true;
        PX_TRY(plan_make_feeds(plan->model, 1, request, err));
        return plan_make_program(plan, request, err);
    }
    if (status == PX_OK && (!own || own == batch || plan_batch_flows(plan, batch)))
        return PX_OK;
    if (!own || own == batch || status == PX_E_NOMEM) {
        if (err)
            *err = first;
        return status;
    }
    plan->batch = own;
    plan->batch_is_baked = true;
    PX_TRY(plan_make_feeds(plan->model, own, request, err));
    return plan_make_program(plan, request, err);
}

/* Forgets what plan_compile() made. */
static void plan_reset(px_plan *plan)
{
    for (int u = 0; u < plan->unit_count; u++)
        if (plan->units[u].kind->release)
            plan->units[u].kind->release(&plan->units[u]);
    pxi_arena_free(plan->arena);
    free(plan->units);
    free(plan->cells);
    free(plan->feeds);
    plan->arena = NULL;
    plan->units = NULL;
    plan->cells = NULL;
    plan->feeds = plan->given = plan->factors = NULL;
    plan->gates = NULL;
    plan->unit_cap = plan->cell_cap = plan->feed_count = plan->given_count = plan->gate_count = 0;
    plan->unit_count = plan->cell_count = 0;
    plan->flops = 0;
    plan->drop_blocks = 0;
}

static px_status plan_compile(px_plan *plan, const plan_request *request, px_error *err)
{
    plan->arena = pxi_arena_new();
    if (!plan->arena)
        return pxi_no_memory(err);
    PX_TRY(plan_make_cells(plan, request, err));
    PX_TRY(pxi_lower(plan, err));
    PX_TRY(plan_find_given(plan, err));
    PX_TRY(pxi_plan_gradients(plan, err));
    for (int u = 0; u < plan->unit_count; u++) {
        pxi_unit *unit = &plan->units[u];
        if (px_cancelled())
            return px_fail(err, PX_E_CANCELLED, "cancelled");
        PX_TRY(unit->kind->build(plan, unit, err));
        if (__builtin_add_overflow(plan->flops, unit->flops, &plan->flops))
            plan->flops = INT64_MAX;
    }
    pxi_plan_bounds(plan);
    return pxi_plan_memory(plan, err);
}

static px_status plan_build(px_plan *plan, plan_request *request, px_error *err)
{
    PX_TRY(plan_check(plan->model, request->options, err));
    if (request->options->input_grad) {
        PX_TRY(px_model_scores(plan->model, &request->scores, err));
        if (request->options->feeds && !request->options->feed_count)
            return px_fail(err, PX_E_USAGE, "input_grad needs at least one feed");
    }
    PX_TRY(plan_specialise(plan, request, err));
    px_status status = plan_compile(plan, request, err);
    if (status == PX_E_UNSUPPORTED && !plan->reference && !plan->plain_linear) {
        plan_reset(plan); /* oneDNN has no kernel for some shape on this machine */
        plan->plain_linear = true;
        PX_TRY(plan_specialise(plan, request, err)); /* lowering rewrote parameters in place */
        status = plan_compile(plan, request, err);
    }
    PX_TRY(status);
    if (plan->arena_bytes > plan_memory_limit)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "one micro-batch of %lld needs %zu MiB of memory; use a smaller --batch",
                       (long long)plan->batch, plan->arena_bytes >> 20);
    return PX_OK;
}

px_status px_plan_new(const px_model *model, const px_plan_options *options, px_plan **out,
                      px_error *err)
{
    const px_plan_options defaults = px_plan_options_default();
    plan_request request = {.options = options ? options : &defaults};
    px_plan *plan = NULL;
    PX_TRY(PX_NEW(plan, 1, err));
    plan->model = model;
    plan->reference = request.options->reference;
    plan->direct = request.options->direct;
    plan->repeat = request.options->repeat;
    plan->weights = request.options->weights;
    plan->training = request.options->training;
    plan->batch_norms = plan->training && !request.options->frozen_norms;
    /* oneDNN chooses kernels for the threads it sees: one, as they will run */
    const int threads = pxi_one_thread_begin();
    const px_status status = plan_build(plan, &request, err);
    pxi_one_thread_end(threads);
    free(request.feeds);
    return PX_GIVE(status, plan, out, px_plan_free);
}

void px_plan_free(px_plan *plan)
{
    if (!plan)
        return;
    plan_reset(plan);
    pxi_program_free(plan->program);
    free(plan);
}

px_status px_plan_refresh(px_plan *plan, px_error *err)
{
    const int threads = pxi_one_thread_begin();
    px_status status = PX_OK;
    for (int u = 0; u < plan->unit_count && status == PX_OK; u++)
        if (plan->units[u].kind->refresh)
            status = plan->units[u].kind->refresh(plan, &plan->units[u], err);
    pxi_one_thread_end(threads);
    pxi_plan_bounds(plan);
    return status;
}

const px_model *px_plan_model(const px_plan *plan)
{
    return plan->model;
}

int64_t px_plan_batch(const px_plan *plan)
{
    return plan->batch;
}

bool px_plan_batch_is_baked(const px_plan *plan)
{
    return plan->batch_is_baked;
}

size_t px_plan_feed_count(const px_plan *plan)
{
    return plan->feed_count;
}

px_shape px_plan_feed_shape(const px_plan *plan, size_t feed)
{
    return feed < plan->feed_count ? plan->cells[plan->feeds[feed]].tensor.shape : (px_shape){0};
}

static bool plan_has_value(const px_plan *plan, int value)
{
    return value >= 0 && value < px_model_graph(plan->model)->value_count;
}

px_shape px_plan_shape(const px_plan *plan, int value)
{
    return plan_has_value(plan, value) ? plan->cells[value].tensor.shape : (px_shape){0};
}

px_dtype px_plan_dtype(const px_plan *plan, int value)
{
    return plan_has_value(plan, value) ? plan->cells[value].tensor.dtype : PX_NONE;
}

size_t px_plan_arena_bytes(const px_plan *plan)
{
    return plan->arena_bytes;
}

int64_t px_plan_flops(const px_plan *plan)
{
    return plan->flops;
}

size_t px_plan_step_count(const px_plan *plan)
{
    return (size_t)plan->unit_count;
}

px_plan_step px_plan_step_get(const px_plan *plan, size_t step)
{
    if (step >= (size_t)plan->unit_count)
        return (px_plan_step){.node = "", .type = "", .kernel = ""};
    const pxi_unit *unit = &plan->units[step];
    const px_node *node = unit->step >= 0 ? plan->program->steps[unit->step].ctx.node : NULL;
    return (px_plan_step){.node = node ? node->name : "",
                          .type = node ? node->type : unit->kind->name,
                          .kernel = unit->kernel,
                          .flops = unit->flops};
}
