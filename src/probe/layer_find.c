/* src/probe/layer_find.c - from a network's anatomy to its list of layers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "probe/anatomy.h"
#include "probe/probe_internal.h"
#include "probe/tokens.h"

#include <internal/graph.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each time step of a recurrent layer is a layer; a file may ask for 2^30 of them. */
static const int64_t layer_max_steps = 65536;

typedef struct layer_finder {
    px_probe *probe;
    px_tap tap;
    const px_graph *graph;
    pxi_program *one, *two; /* one sample and two; `two` is NULL where the batch is baked in */
    int64_t baked;          /* samples that `one` really has: 1, or what the file insists on */
    pxi_anatomy anatomy;
    pxi_tokens tokens;
} layer_finder;

/* --- input shapes ---------------------------------------------------------------------------- */

static px_status finder_feed(const layer_finder *f, const px_probe_options *options, int value,
                             int64_t batch, pxi_feed *feed, px_error *err)
{
    const px_value *input = &f->graph->values[value];
    *feed = (pxi_feed){.value = value};
    feed->tensor.dtype = input->dtype == PX_NONE ? PX_FLOAT32 : input->dtype;
    feed->tensor.shape = input->shape;
    bool given = false;
    for (size_t i = 0; i < options->feed_count; i++)
        if (options->feeds[i].value == value) {
            feed->tensor.shape = options->feeds[i].shape;
            given = true;
        }
    if (!given && !input->has_shape)
        return px_fail(err, PX_E_INPUT, "input '%s' has no shape; give one", input->name);
    px_shape *shape = &feed->tensor.shape;
    if (shape->rank > 0)
        shape->dim[0] = batch;
    for (int d = 1; d < shape->rank; d++)
        if (shape->dim[d] < 0)
            return px_fail(err, PX_E_INPUT,
                           "input '%s' leaves axis %d open ('%s'); give its size, for images with "
                           "--size",
                           input->name, d,
                           input->dim_names && input->dim_names[d] ? input->dim_names[d] : "?");
    return PX_OK;
}

static px_status finder_program(const layer_finder *f, const px_probe_options *options,
                                int64_t batch, pxi_program **out, px_error *err)
{
    pxi_feed *feeds = NULL;
    px_status status = PX_NEW(feeds, (size_t)f->graph->input_count, err);
    for (int i = 0; status == PX_OK && i < f->graph->input_count; i++)
        status = finder_feed(f, options, f->graph->inputs[i], batch, &feeds[i], err);
    PX_THEN(status, pxi_program_new(f->probe->model, feeds, (size_t)f->graph->input_count, NULL, 0,
                                    out, err));
    free(feeds);
    return status;
}

/* Programs for one sample and for two: the axis that doubles is the batch. A file with a batch
 * size baked in cannot be had with another; then the batch is where operators put it. */
static px_status finder_programs(layer_finder *f, const px_probe_options *options, px_error *err)
{
    const px_graph *graph = f->graph;
    int64_t declared = -1;
    if (graph->input_count > 0) {
        const px_value *input = &graph->values[graph->inputs[0]];
        if (input->has_shape && input->shape.rank > 0)
            declared = input->shape.dim[0];
    }
    f->baked = 1;
    px_error ignored = {0};
    px_status status = finder_program(f, options, 1, &f->one, err);
    if (status != PX_OK && status != PX_E_NOMEM && declared > 1) {
        f->baked = declared;
        const px_status own = finder_program(f, options, declared, &f->one, &ignored);
        status = own == PX_OK ? PX_OK : own == PX_E_NOMEM ? pxi_no_memory(err) : status;
    }
    PX_THEN_IF(status,
               f->baked == 1 && finder_program(f, options, 2, &f->two, &ignored) == PX_E_NOMEM,
               pxi_no_memory(err));
    return status;
}

/* --- axes ------------------------------------------------------------------------------------ */

/* -1: the value does not belong to single samples. */
static int finder_batch_axis(const layer_finder *f, int value, int otherwise)
{
    if (!f->two)
        return otherwise;
    const px_shape *one = &f->one->slots[value].tensor.shape;
    const px_shape *two = &f->two->slots[value].tensor.shape;
    int axis = -1;
    if (f->two->slots[value].tensor.dtype == PX_NONE || one->rank != two->rank)
        return -1;
    for (int d = 0; d < one->rank; d++)
        if (one->dim[d] != two->dim[d]) {
            if (axis >= 0 || two->dim[d] != 2 * one->dim[d])
                return -1;
            axis = d;
        }
    return axis;
}

/* Sets shape and axis roles of `layer` for its tap_value. False if it cannot be told apart by
 * sample. */
static bool finder_axes(const layer_finder *f, px_layer *layer)
{
    const int v = layer->tap_value;
    const px_tensor *tensor = pxi_anatomy_tensor(&f->anatomy, v);
    if (tensor->dtype != PX_FLOAT32 || tensor->shape.rank < 1 ||
        px_shape_count(&tensor->shape) == 0)
        return false;
    layer->shape = tensor->shape;
    const int rank = tensor->shape.rank;
    const int batch = finder_batch_axis(f, v, 0);
    if (batch < 0 || layer->shape.dim[batch] % f->baked != 0)
        return false;
    layer->shape.dim[batch] /= f->baked;
    layer->run = layer->shape.dim[batch];

    const pxi_token_role role = f->tokens.role[v];
    int channel = f->anatomy.channel[v];
    if (role == PXI_TOKEN_HEADS) /* folded into the batch, or next to it */
        channel = rank == 3 ? -1 : 1;
    else if (role != PXI_TOKEN_NONE)
        channel = rank - 1;
    if (role == PXI_TOKEN_HEADS && batch != 0)
        return false;
    if (role == PXI_TOKEN_HEADS && rank == 3) {
        layer->axis[0] = PX_AXIS_HEADS;
        layer->axis[1] = layer->axis[2] = PX_AXIS_SPACE;
        return true;
    }
    if (channel < 0 || channel >= rank)
        channel = rank > 1 ? 1 : -1; /* ONNX's own habit */
    if (channel == batch)
        channel = rank < 2 ? -1 : batch == rank - 1 ? rank - 2 : rank - 1;
    for (int d = 0; d < rank; d++)
        layer->axis[d] = d == batch     ? PX_AXIS_BATCH
                         : d == channel ? PX_AXIS_CHANNEL
                                        : PX_AXIS_SPACE;
    return true;
}

static int64_t layer_places(const px_layer *layer)
{
    int64_t places = 1;
    for (int d = 0; d < layer->shape.rank; d++)
        if (layer->axis[d] == PX_AXIS_SPACE ||
            (layer->axis[d] == PX_AXIS_BATCH && layer->shape.dim[d] > 1))
            places *= layer->shape.dim[d];
    return places;
}

/* --- layers ---------------------------------------------------------------------------------- */

static const char *maker_name(const layer_finder *f, int value)
{
    const pxi_step *step = pxi_anatomy_maker(&f->anatomy, value);
    return step && step->ctx.node->name[0] ? step->ctx.node->name : NULL;
}

static px_status finder_add(layer_finder *f, px_layer layer, const char *name, px_error *err)
{
    pxi_layers *all = &f->probe->all;
    px_arena *arena = f->probe->arena;
    if (all->count == all->capacity) {
        const size_t capacity = PX_MAX(64, 2 * all->capacity);
        px_layer *layers = pxi_arena_alloc(arena, capacity, sizeof *layers);
        const char *(*alias)[PXI_LAYER_ALIASES] = pxi_arena_alloc(arena, capacity, sizeof *alias);
        int64_t *places = pxi_arena_alloc(arena, capacity, sizeof *places);
        if (!layers || !alias || !places)
            return pxi_no_memory(err);
        if (all->count > 0) {
            memcpy(layers, all->layer, all->count * sizeof *layers);
            memcpy(alias, all->alias, all->count * sizeof *alias);
            memcpy(places, all->places, all->count * sizeof *places);
        }
        all->layer = layers, all->alias = alias, all->places = places;
        all->capacity = capacity;
    }
    const char *tensor = f->graph->values[layer.post].name;
    const char *node = maker_name(f, layer.post);
    layer.name = pxi_arena_strdup(arena, name ? name : node ? node : tensor);
    if (!layer.name)
        return pxi_no_memory(err);
    const char **alias = all->alias[all->count];
    alias[0] = node;
    alias[1] = tensor;
    if (layer.pre != layer.post) {
        alias[2] = maker_name(f, layer.pre);
        alias[3] = f->graph->values[layer.pre].name;
    }
    all->places[all->count] = 1;
    if (layer.step < 0) {
        px_layer post = layer; /* what `last-encoder` asks about is the layer, not the tap */
        post.tap_value = layer.post;
        if (finder_axes(f, &post))
            all->places[all->count] = layer_places(&post);
    }
    all->layer[all->count++] = layer;
    return PX_OK;
}

/* The pooling right after a layer: its only reader, but for steps that change no neuron's meaning.
 */
static int finder_pool(const layer_finder *f, int post)
{
    const pxi_anatomy *a = &f->anatomy;
    for (int v = post;;) {
        const int s = pxi_anatomy_only_use(a, v);
        if (s < 0)
            return -1;
        v = a->program->steps[s].ctx.node->outputs[0];
        if (a->part[s] == PXI_PART_POOL)
            return v;
        const char *type = a->program->steps[s].ctx.node->type;
        if (a->part[s] != PXI_PART_PASS && a->part[s] != PXI_PART_NORM &&
            strcmp(type, "Pad") != 0 && strcmp(type, "LRN") != 0)
            return -1;
    }
}

/* A bias that stands in a node of its own belongs to the linear operator before it. */
static int finder_with_bias(const layer_finder *f, int linear)
{
    const pxi_anatomy *a = &f->anatomy;
    const pxi_step *step = pxi_anatomy_maker(a, linear);
    const bool has_bias =
        strcmp(step->ctx.node->type, "MatMul") != 0 && pxi_op_has_in(&step->ctx, 2);
    const int s = pxi_anatomy_only_use(a, linear);
    if (has_bias || s < 0 || a->part[s] != PXI_PART_AFFINE ||
        strcmp(a->program->steps[s].ctx.node->type, "Add") != 0)
        return linear;
    return a->program->steps[s].ctx.node->outputs[0];
}

/* The end of normalisation after a linear operator that no activation follows. */
static int finder_normalised(const layer_finder *f, int pre)
{
    const pxi_anatomy *a = &f->anatomy;
    int post = pre;
    for (int v = pre;;) {
        const int s = pxi_anatomy_only_use(a, v);
        if (s < 0)
            return post;
        const pxi_part part = a->part[s];
        v = a->program->steps[s].ctx.node->outputs[0];
        if (part == PXI_PART_NORM || part == PXI_PART_AFFINE)
            post = v;
        else if (part != PXI_PART_PASS)
            return post;
    }
}

static px_layer_kind finder_kind(const layer_finder *f, int pre, int post)
{
    const pxi_step *linear = pxi_anatomy_maker(&f->anatomy, pre);
    if (linear && strncmp(linear->ctx.node->type, "Conv", 4) == 0)
        return PX_LAYER_CONV;
    if (linear && pxi_anatomy_part(&f->anatomy, pre) == PXI_PART_LINEAR)
        return PX_LAYER_DENSE;
    return pxi_anatomy_tensor(&f->anatomy, post)->shape.rank > 2 ? PX_LAYER_CONV : PX_LAYER_DENSE;
}

static px_status finder_add_plain(layer_finder *f, px_layer layer, px_error *err)
{
    layer.step = -1;
    layer.tap_value = layer.post;
    if (f->tap == PX_TAP_PRE)
        layer.tap_value = layer.pre;
    else if (f->tap == PX_TAP_POOL && layer.pool >= 0)
        layer.tap_value = layer.pool;
    return finder_axes(f, &layer) ? finder_add(f, layer, NULL, err) : PX_OK;
}

static px_status finder_add_token(layer_finder *f, int v, px_error *err)
{
    const pxi_token_role role = f->tokens.role[v];
    px_layer layer = {.post = v, .pre = v, .pool = -1, .block = role == PXI_TOKEN_BLOCK};
    layer.kind = role == PXI_TOKEN_HEADS  ? PX_LAYER_HEADS
                 : role == PXI_TOKEN_READ ? PX_LAYER_DENSE
                                          : PX_LAYER_STREAM;
    return finder_add_plain(f, layer, err);
}

static px_status finder_add_activation(layer_finder *f, int post, px_error *err)
{
    const pxi_anatomy *a = &f->anatomy;
    const int own = a->own[a->root[post]];
    px_layer layer = {.post = post, .pre = a->root[post], .pool = finder_pool(f, post)};
    layer.kind = finder_kind(f, own < 0 ? layer.pre : own, post);
    if (own >= 0)
        layer.pre = finder_with_bias(f, own);
    return finder_add_plain(f, layer, err);
}

static px_status finder_add_linear(layer_finder *f, int output, px_error *err)
{
    px_layer layer = {.pre = finder_with_bias(f, output)};
    layer.post = finder_normalised(f, layer.pre);
    layer.pool = finder_pool(f, layer.post);
    layer.kind = finder_kind(f, output, output);
    return finder_add_plain(f, layer, err);
}

/* One layer per time step where the node gives them all (Y), else its last hidden state (Y_h). */
static px_status finder_add_recurrent(layer_finder *f, const pxi_step *step, px_error *err)
{
    const px_node *node = step->ctx.node;
    const bool has_all = node->outputs[0] >= 0;
    const int v = has_all ? node->outputs[0] : node->output_count > 1 ? node->outputs[1] : -1;
    const px_tensor *tensor = v < 0 ? NULL : pxi_anatomy_tensor(&f->anatomy, v);
    if (!tensor || tensor->dtype != PX_FLOAT32 || tensor->shape.rank != (has_all ? 4 : 3) ||
        px_shape_count(&tensor->shape) == 0)
        return PX_OK;
    const bool batch_first = px_node_int(node, "layout", 0) != 0;
    const int batch = finder_batch_axis(f, v, batch_first ? 0 : has_all ? 2 : 1);
    const int time = !has_all ? -1 : batch_first ? 1 : 0;
    if (batch < 0 || batch == time || tensor->shape.dim[batch] % f->baked != 0)
        return PX_OK;

    px_layer layer = {.kind = PX_LAYER_RECURRENT, .post = v, .pre = v, .pool = -1, .tap_value = v};
    layer.shape = tensor->shape;
    layer.shape.dim[batch] /= f->baked;
    layer.run = layer.shape.dim[batch];
    for (int d = 0; d < tensor->shape.rank; d++)
        layer.axis[d] = d == batch ? PX_AXIS_BATCH : d == time ? PX_AXIS_TIME : PX_AXIS_CHANNEL;
    const int64_t steps = has_all ? tensor->shape.dim[time] : 1;
    if (steps > layer_max_steps)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "node '%.100s' (%s) has %lld time steps; at most %lld can be layers",
                       node->name, node->type, (long long)steps, (long long)layer_max_steps);
    const char *base = node->name[0] ? node->name : f->graph->values[v].name;
    for (int t = 0; t < (int)steps; t++) {
        char name[512];
        snprintf(name, sizeof name, "%.480s@%d", base, t);
        layer.step = has_all ? t : -1;
        PX_TRY(finder_add(f, layer, has_all ? name : NULL, err));
    }
    return PX_OK;
}

/* --- the logits layer and what follows it ---------------------------------------------------- */

/* Per value: 1 + the layer that ends there or, failing that, whose linear operator does; 0: none.
 */
static void finder_map_values(const layer_finder *f, size_t *layer_of)
{
    const pxi_layers *all = &f->probe->all;
    for (size_t i = all->count; i-- > 0;)
        layer_of[all->layer[i].post] = i + 1;
    for (size_t i = all->count; i-- > 0;)
        if (layer_of[all->layer[i].pre] == 0)
            layer_of[all->layer[i].pre] = i + 1;
}

/* Marks the layer whose channels are the scores `value`, seen through reshaping, pooling, scaling.
 */
static void finder_mark_logits(layer_finder *f, const size_t *layer_of, int value)
{
    const pxi_anatomy *a = &f->anatomy;
    pxi_layers *all = &f->probe->all;
    for (int v = value; v >= 0;) {
        if (layer_of[v] > 0) {
            const int post = all->layer[layer_of[v] - 1].post;
            for (size_t i = 0; i < all->count; i++) /* all steps of a recurrent layer */
                all->layer[i].logits = all->layer[i].logits || all->layer[i].post == post;
            return;
        }
        const pxi_step *step = pxi_anatomy_maker(a, v);
        const pxi_part part = pxi_anatomy_part(a, v);
        const bool looks_through = part == PXI_PART_PASS || part == PXI_PART_AXES ||
                                   part == PXI_PART_RESHAPE || part == PXI_PART_POOL ||
                                   part == PXI_PART_AFFINE || part == PXI_PART_POINTWISE ||
                                   part == PXI_PART_SOFTMAX || part == PXI_PART_NORM;
        if (!step || !looks_through || pxi_anatomy_operand(a, step, 1) >= 0)
            return;
        v = pxi_anatomy_operand(a, step, 0);
    }
}

static px_status finder_mark_hidden(layer_finder *f, const px_scores *scores, px_error *err)
{
    const pxi_anatomy *a = &f->anatomy;
    pxi_layers *all = &f->probe->all;
    bool *after = pxi_calloc((size_t)f->one->graph.value_count, sizeof *after);
    size_t *layer_of = pxi_calloc((size_t)f->one->graph.value_count, sizeof *layer_of);
    if (!after || !layer_of) {
        free(after);
        free(layer_of);
        return pxi_no_memory(err);
    }
    finder_map_values(f, layer_of);
    if (scores) {
        finder_mark_logits(f, layer_of, scores->value);
        after[scores->value] = true;
    } else {
        for (int i = 0; i < f->graph->output_count; i++)
            finder_mark_logits(f, layer_of, f->graph->outputs[i]);
    }
    for (int s = 0; s < a->program->step_count; s++) {
        const pxi_step *step = &a->program->steps[s];
        bool follows = false;
        for (int i = 0, v; (v = pxi_anatomy_operand(a, step, i)) >= 0; i++)
            follows = follows || after[v];
        for (int i = 0; follows && i < step->ctx.out_count; i++)
            if (step->ctx.node->outputs[i] >= 0)
                after[step->ctx.node->outputs[i]] = true;
    }
    for (size_t i = 0; i < all->count; i++)
        all->layer[i].hidden = !all->layer[i].logits && !after[all->layer[i].post] &&
                               all->layer[i].kind != PX_LAYER_HEADS;
    free(layer_of);
    free(after);
    return PX_OK;
}

/* --- putting it together --------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const px_layer *a = *(px_layer *const *)left, *b = *(px_layer *const *)right;
    const int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->position < b->position ? -1 : 1;
}

/* ONNX does not promise unique node names; tensors have them. */
static px_status finder_settle_names(layer_finder *f, px_error *err)
{
    pxi_layers *all = &f->probe->all;
    px_layer **sorted = NULL;
    PX_TRY(PX_NEW(sorted, all->count, err));
    for (size_t i = 0; i < all->count; i++) {
        all->layer[i].position = (int)i;
        sorted[i] = &all->layer[i];
    }
    qsort(sorted, all->count, sizeof *sorted, by_name);
    const char *taken = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const bool again = taken && strcmp(taken, sorted[i]->name) == 0;
        taken = sorted[i]->name;
        if (again && sorted[i]->step < 0)
            sorted[i]->name = f->graph->values[sorted[i]->post].name;
    }
    free(sorted);
    return PX_OK;
}

static px_status finder_collect(layer_finder *f, bool deepxplore, const px_scores *scores,
                                px_error *err)
{
    const pxi_anatomy *a = &f->anatomy;
    bool *is_post = pxi_calloc((size_t)f->one->graph.value_count, sizeof *is_post);
    int *linear = pxi_calloc((size_t)f->one->graph.value_count, sizeof *linear);
    px_status status = is_post && linear ? PX_OK : pxi_no_memory(err);
    /* A linear layer ends later than its operator, maybe after other layers: note where. */
    for (int s = 0; status == PX_OK && s < a->program->step_count; s++) {
        const int v = a->program->steps[s].ctx.node->outputs[0];
        if (a->part[s] != PXI_PART_LINEAR || a->reach[v])
            continue;
        const int post = finder_normalised(f, finder_with_bias(f, v));
        is_post[post] = true;
        linear[post] = v;
    }
    for (int s = 0; status == PX_OK && s < a->program->step_count; s++) {
        const pxi_step *step = &a->program->steps[s];
        if (a->part[s] == PXI_PART_RECURRENT) {
            status = finder_add_recurrent(f, step, err);
            continue;
        }
        const int v = step->ctx.out_count > 0 ? step->ctx.node->outputs[0] : -1;
        if (v < 0 ||
            v >= f->graph->value_count) /* inside of If or a loop: only the program has it */
            continue;
        px_layer extra = {.post = v, .pre = v, .pool = -1};
        if (a->post[v])
            status = finder_add_activation(f, v, err);
        else if (is_post[v])
            status = finder_add_linear(f, linear[v], err);
        else if (f->tokens.role[v] != PXI_TOKEN_NONE)
            status = finder_add_token(f, v, err);
        else if (deepxplore && a->part[s] == PXI_PART_POOL) {
            extra.kind = PX_LAYER_POOL;
            status = finder_add_plain(f, extra, err);
        } else if (deepxplore && a->part[s] == PXI_PART_SOFTMAX && scores &&
                   (v == scores->value || pxi_anatomy_operand(a, step, 0) == scores->value)) {
            extra.kind = PX_LAYER_SOFTMAX;
            status = finder_add_plain(f, extra, err);
        }
    }
    free(is_post);
    free(linear);
    return status;
}

px_status pxi_layers_find(px_probe *probe, const px_probe_options *options, px_error *err)
{
    layer_finder f = {.probe = probe, .tap = options->tap, .graph = px_model_graph(probe->model)};
    px_arena *scratch = pxi_arena_new();
    px_error no_scores = {0};
    px_scores scores;
    const px_status scored = px_model_scores(probe->model, &scores, &no_scores);
    const bool classifies = scored == PX_OK;
    const px_regression *regression = px_model_regression(probe->model);
    if (regression)
        scores.value = regression->output; /* what follows is plexor's */

    px_status status = scratch && scored != PX_E_NOMEM ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, finder_programs(&f, options, err));
    PX_THEN(status, pxi_anatomy_init(&f.anatomy, f.one, scratch, err));
    PX_THEN(status,
            pxi_tokens_find(&f.anatomy, classifies ? scores.value : -1, scratch, &f.tokens, err));
    probe->token = f.tokens.role ? f.tokens.place : -1;
    probe->token_count = f.tokens.count;
    probe->patch_rows = f.tokens.rows;
    probe->patch_columns = f.tokens.columns;
    PX_THEN(status, finder_collect(&f, options->deepxplore, classifies ? &scores : NULL, err));
    PX_THEN(status, finder_mark_hidden(&f, classifies ? &scores : NULL, err));
    PX_THEN(status, finder_settle_names(&f, err));
    pxi_program_free(f.one);
    pxi_program_free(f.two);
    pxi_arena_free(scratch);
    return status;
}
