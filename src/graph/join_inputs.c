/* src/graph/join_inputs.c - several inputs, or whole numbers, as one input of float32 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/graft.h>

#include <internal/graph.h>
#include <internal/rng.h>
#include <stdio.h>
#include <string.h>

static const char joined_name[] = "plexor.inputs";

static bool part_type_is_held(px_dtype dtype) /* by a float32, or refused when it is not */
{
    return dtype == PX_FLOAT32 || dtype == PX_INT64 || dtype == PX_INT32 || dtype == PX_BOOL ||
           dtype == PX_FLOAT16 || dtype == PX_FLOAT64 || dtype == PX_UINT8 || dtype == PX_INT8;
}

static px_status part_read(const px_model *model, const px_value *value, int64_t *batch,
                           px_input_part *part, px_error *err)
{
    if (!value->has_shape || value->shape.rank < 1 || !part_type_is_held(value->dtype))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s': input '%s' is %s without a shape that begins with the batch; "
                       "data sets cannot be fed to it",
                       model->path, value->name,
                       value->foreign_type ? value->foreign_type : px_dtype_name(value->dtype));
    *part = (px_input_part){
        .name = value->name, .dtype = value->dtype, .shape = {.rank = value->shape.rank - 1}};
    for (int d = 1; d < value->shape.rank; d++)
        part->shape.dim[d - 1] = value->shape.dim[d];
    if (*batch != INT64_MIN && (*batch < 0) != (value->shape.dim[0] < 0))
        *batch = PX_MAX(*batch, value->shape.dim[0]);
    else if (*batch != INT64_MIN && *batch >= 0 && *batch != value->shape.dim[0])
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s': input '%s' is for a batch of %lld, another for %lld: data sets "
                       "cannot be fed to it",
                       model->path, value->name, (long long)value->shape.dim[0], (long long)*batch);
    else
        *batch = value->shape.dim[0];
    return PX_OK;
}

static bool parts_are_rows(const px_inputs *in)
{
    for (int i = 0; i < in->count; i++)
        if (in->part[i].shape.rank != 1 || in->part[i].shape.dim[0] != in->part[0].shape.dim[0])
            return false;
    return true;
}

static px_status parts_shape(const px_model *model, const px_inputs *in, px_shape *out,
                             px_error *err)
{
    if (in->count == 1) {
        *out = in->part[0].shape;
        return PX_OK;
    }
    if (in->rows) {
        *out = (px_shape){.rank = 2, .dim = {in->count, in->part[0].shape.dim[0]}};
        return PX_OK;
    }
    *out = (px_shape){.rank = 1};
    for (int i = 0; i < in->count; i++) {
        int64_t count = 1;
        for (int d = 0; d < in->part[i].shape.rank; d++)
            if (in->part[i].shape.dim[d] < 0 ||
                __builtin_mul_overflow(count, in->part[i].shape.dim[d], &count) ||
                count > INT32_MAX)
                return px_fail(err, PX_E_UNSUPPORTED,
                               "'%.200s': the sizes of input '%s' are open, and not those of all "
                               "inputs; data sets cannot be fed to it",
                               model->path, in->part[i].name);
        out->dim[0] += count;
    }
    return PX_OK;
}

static px_attr attr_int(const char *name, int64_t i)
{
    return (px_attr){.name = name, .kind = PX_ATTR_INT, .i = i};
}

static px_attr attr_ints(const char *name, const int64_t *ints, size_t count)
{
    return (px_attr){.name = name, .kind = PX_ATTR_INTS, .ints = ints, .count = count};
}

/* Takes part i out of the joined input: cut, shaped, cast. */
static void part_graft(pxi_graft *graft, const px_inputs *in, int i, int joined, int to,
                       int64_t *at)
{
    const px_input_part *part = &in->part[i];
    const int64_t count = in->rows ? 1 : px_shape_count(&part->shape), one = 1;
    const int64_t start = *at, end = *at + count;
    const px_attr cut[] = {attr_ints("axes", &one, 1), attr_ints("starts", &start, 1),
                           attr_ints("ends", &end, 1)};
    const px_attr squeeze = attr_ints("axes", &one, 1);
    const px_attr cast = attr_int("to", part->dtype);
    const bool casts = part->dtype != PX_FLOAT32;
    char name[64];
    int value = joined;
    *at = end;
    if (in->count > 1) {
        snprintf(name, sizeof name, "%s.%d", joined_name, i);
        const int piece = pxi_graft_value(graft, name, PX_NONE, NULL);
        snprintf(name, sizeof name, "%s.%d.shaped", joined_name, i);
        const int shaped = casts ? pxi_graft_value(graft, name, PX_NONE, NULL) : to;
        pxi_graft_node(graft, true, "Slice", 9, &joined, 1, piece, cut, (int)PX_LEN(cut));
        if (in->rows) {
            pxi_graft_node(graft, true, "Squeeze", 11, &piece, 1, shaped, &squeeze, 1);
        } else {
            int64_t dims[PX_MAX_RANK + 1] = {0}; /* 0: the batch as it comes */
            memcpy(dims + 1, part->shape.dim, (size_t)part->shape.rank * sizeof *dims);
            snprintf(name, sizeof name, "%s.%d.shape", joined_name, i);
            const px_shape line = {.rank = 1, .dim = {part->shape.rank + 1}};
            const int shape = pxi_graft_constant(graft, name, PX_INT64, &line, dims);
            pxi_graft_node(graft, true, "Reshape", 13, (int[]){piece, shape}, 2, shaped, NULL, 0);
        }
        value = shaped;
    }
    if (casts)
        pxi_graft_node(graft, true, "Cast", 13, &value, 1, to, &cast, 1);
}

px_status px_model_join_inputs(px_model *model, px_error *err)
{
    enum { VALUES = 3, MOST = PXI_GRAFT_NODES / VALUES };
    const px_graph *graph = &model->graph;
    const px_value *first = graph->input_count ? &graph->values[graph->inputs[0]] : NULL;
    if (!first ||
        (graph->input_count == 1 && (first->dtype == PX_FLOAT32 || first->dtype == PX_NONE)))
        return PX_OK;
    if (graph->input_count > MOST)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' has %d inputs; data sets can be fed to networks with at most %d",
                       model->path, graph->input_count, MOST);
    px_inputs *in = NULL;
    px_input_part *part = NULL;
    int64_t batch = INT64_MIN, at = 0;
    px_shape sample, shape = {.rank = 1};
    PX_TRY(PX_ARENA_NEW(in, model->arena, 1, err));
    PX_TRY(PX_ARENA_NEW(part, model->arena, graph->input_count, err));
    *in = (px_inputs){.count = graph->input_count, .part = part, .model_path = model->path};
    for (int i = 0; i < in->count; i++)
        PX_TRY(part_read(model, &graph->values[graph->inputs[i]], &batch, &part[i], err));
    in->rows = parts_are_rows(in);
    in->tokens = in->rows && part[0].shape.dim[0] > 0 ? part[0].shape.dim[0] : PX_TOKENS_DEFAULT;
    PX_TRY(parts_shape(model, in, &sample, err));
    shape.dim[0] = batch;
    for (int d = 0; d < sample.rank; d++)
        shape.dim[shape.rank++] = sample.dim[d];
    pxi_graft graft;
    PX_TRY(pxi_graft_begin(model, 1 + VALUES * in->count, &graft, err));
    const int joined = pxi_graft_value(&graft, joined_name, PX_FLOAT32, &shape);
    for (int i = 0; i < in->count; i++)
        part_graft(&graft, in, i, joined, graph->inputs[i], &at);
    PX_TRY(pxi_graft_finish(&graft, &joined, 1, NULL, 0, err));
    model->inputs = in;
    return PX_OK;
}

const px_inputs *px_model_inputs(const px_model *model)
{
    return model->inputs;
}

px_status px_model_set_tokenizer(px_model *model, const char *file, int64_t tokens, px_error *err)
{
    const px_inputs *old = model->inputs;
    px_inputs *in = NULL;
    if (!old || !old->rows)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' does not take token numbers: --tokenizer and --tokens have "
                       "nothing to do",
                       model->path);
    PX_TRY(PX_ARENA_NEW(in, model->arena, 1, err));
    *in = *old;
    if (file && !(in->tokenizer = pxi_arena_strdup(model->arena, file)))
        return pxi_no_memory(err);
    if (tokens > 0 && old->part[0].shape.dim[0] > 0 && tokens != old->part[0].shape.dim[0])
        return px_fail(err, PX_E_MISMATCH, "--tokens %lld: the network takes %lld",
                       (long long)tokens, (long long)old->part[0].shape.dim[0]);
    if (tokens > 0)
        in->tokens = tokens;
    model->inputs = in;
    return PX_OK;
}

void px_model_try_sample(const px_model *model, uint32_t which, float *input, size_t floats)
{
    px_random random = px_rng(/* seed= */ 1, PX_RNG_NOISE_INPUT, which, 0);
    for (size_t i = 0; i < floats; i++) {
        const float u = (float)px_rng_u01(&random);
        input[i] = !model->inputs ? u : u < 0.5f ? 0.0f : 1.0f;
    }
}
