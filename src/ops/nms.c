/* src/ops/nms.c - NonMaxSuppression: the best boxes that do not overlap too much
 *
 * How many are chosen decides the output's shape, so all inputs must be constant; setup() counts
 * and forward() writes. Boxes with equal scores go in order of their index.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct nms_params {
    int64_t count;
    const int64_t *chosen; /* count x (batch, class, box) */
} nms_params;

typedef struct nms_box {
    double y1, x1, y2, x2;
} nms_box;

typedef struct nms_entry {
    double score;
    int64_t index;
} nms_entry;

static int compare_entries(const void *pa, const void *pb)
{
    const nms_entry *a = pa, *b = pb;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static nms_box box_at(const px_tensor *boxes, int64_t at, bool center)
{
    double v[4];
    for (int i = 0; i < 4; i++)
        v[i] = pxi_number(boxes, at * 4 + i);
    if (center) /* x, y, width, height */
        return (nms_box){v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    return (nms_box){PX_MIN(v[0], v[2]), PX_MIN(v[1], v[3]), PX_MAX(v[0], v[2]),
                     PX_MAX(v[1], v[3])};
}

/* Intersection over union; 0 where either box is empty. */
static double overlap(const nms_box *a, const nms_box *b)
{
    const double height = PX_MIN(a->y2, b->y2) - PX_MAX(a->y1, b->y1);
    const double width = PX_MIN(a->x2, b->x2) - PX_MAX(a->x1, b->x1);
    const double area_a = (a->y2 - a->y1) * (a->x2 - a->x1);
    const double area_b = (b->y2 - b->y1) * (b->x2 - b->x1);
    if (!(height > 0.0) || !(width > 0.0) || !(area_a > 0.0) || !(area_b > 0.0))
        return 0.0;
    return height * width / (area_a + area_b - height * width);
}

static double option(const px_op_ctx *ctx, int input, double fallback)
{
    if (!pxi_op_has_in(ctx, input) || px_shape_count(&ctx->in[input].shape) < 1)
        return fallback;
    return pxi_number(&ctx->in[input], 0);
}

/* The boxes of one class of one image; appends to *rows. */
static px_status nms_class(px_op_ctx *ctx, int64_t batch, int64_t class, nms_entry *entries,
                           nms_box *kept, int64_t **rows, size_t *room, px_error *err)
{
    nms_params *params = ctx->params;
    const px_tensor *boxes = &ctx->in[0], *scores = &ctx->in[1];
    const int64_t spatial = boxes->shape.dim[1], classes = scores->shape.dim[1];
    const bool center = px_node_int(ctx->node, "center_point_box", 0) != 0;
    const double most = option(ctx, 2, 0.0), threshold = option(ctx, 3, 0.0);
    const bool by_score = pxi_op_has_in(ctx, 4);
    const double least = option(ctx, 4, 0.0);
    size_t candidates = 0;
    int64_t found = 0;
    for (int64_t i = 0; i < spatial; i++) {
        const double score = pxi_number(scores, (batch * classes + class) * spatial + i);
        if (score != score || (by_score && !(score > least)))
            continue;
        entries[candidates++] = (nms_entry){score, i};
    }
    qsort(entries, candidates, sizeof *entries, compare_entries);
    for (size_t i = 0; i < candidates && (double)found < most; i++) {
        const nms_box box = box_at(boxes, batch * spatial + entries[i].index, center);
        bool free_place = true;
        for (int64_t k = 0; free_place && k < found; k++)
            free_place = !(overlap(&box, &kept[k]) > threshold);
        if (!free_place)
            continue;
        if (pxi_grow(rows, room, (size_t)(params->count + 1) * 3, sizeof **rows) != 0)
            return pxi_no_memory(err);
        int64_t *row = *rows + params->count++ * 3;
        row[0] = batch;
        row[1] = class;
        row[2] = entries[i].index;
        kept[found++] = box;
    }
    return PX_OK;
}

static px_status nms_check(const px_op_ctx *ctx, px_error *err)
{
    const px_shape *boxes = &ctx->in[0].shape, *scores = &ctx->in[1].shape;
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    PX_TRY(pxi_op_type(ctx, 1, PXI_TYPES_REAL, err));
    for (int i = 0; i < ctx->in_count; i++)
        if (pxi_op_has_in(ctx, i))
            PX_TRY(pxi_op_need_const(ctx, i, err));
    if (boxes->rank != 3 || scores->rank != 3 || boxes->dim[2] != 4 ||
        boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[2]) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "boxes %s and scores %s do not fit",
                           px_shape_text(boxes, a), px_shape_text(scores, b));
    }
    return PX_OK;
}

static px_status nms_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 2, 5, 1, 1, err));
    PX_TRY(nms_check(ctx, err));
    PX_TRY(pxi_op_params(ctx, sizeof(nms_params), err));
    nms_params *params = ctx->params;
    const px_shape *scores = &ctx->in[1].shape;
    const size_t spatial = (size_t)scores->dim[2];
    nms_entry *entries = pxi_arena_alloc(ctx->arena, spatial, sizeof *entries);
    nms_box *kept = pxi_arena_alloc(ctx->arena, spatial, sizeof *kept);
    int64_t *rows = NULL, *copy;
    size_t room = 0;
    px_status status = entries && kept ? PX_OK : pxi_no_memory(err);
    for (int64_t b = 0; status == PX_OK && spatial > 0 && b < scores->dim[0]; b++)
        for (int64_t c = 0; status == PX_OK && c < scores->dim[1]; c++)
            status = nms_class(ctx, b, c, entries, kept, &rows, &room, err);
    if (status != PX_OK)
        goto done;
    if ((status = PX_ARENA_NEW(copy, ctx->arena, (size_t)params->count * 3, err)) != PX_OK)
        goto done;
    for (int64_t i = 0; i < params->count * 3; i++)
        copy[i] = rows[i];
    params->chosen = copy;
    ctx->out[0].dtype = PX_INT64;
    ctx->out[0].shape = (px_shape){.rank = 2, .dim = {params->count, 3}};
done:
    free(rows);
    return status;
}

static px_status nms_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const nms_params *params = ctx->params;
    for (int64_t i = 0; i < params->count * 3; i++)
        PXI_I64(ctx->out[0])[i] = params->chosen[i];
    return PX_OK;
}

const px_op px_op_nonmaxsuppression_10 = {
    .name = "NonMaxSuppression",
    .since = 10,
    .diff = PX_DIFF_ZERO,
    .setup = nms_setup,
    .forward = nms_forward,
};
