/* src/engine/unit_pool.c - MaxPool, AveragePool and the global pools on channels-last data
 *
 * Channels are contiguous, so every loop over them vectorises; windows are clipped to the data. The
 * gradient of a maximum goes to the first element in scan order that equals it, found again from x
 * and y instead of being stored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/wide.h"
#include "ops/pool.h"
#include <internal/nn_check.h>

#include <math.h>
#include <string.h>

typedef struct pool_impl {
    bool maximum, include_pad;
    bool pairs; /* 2x2 windows at stride 2 that tile the data exactly */
    size_t batch, channels;
    int64_t in[2], out[2], kernel[2], stride[2], pad[2], pad_end[2];
} pool_impl;

enum { LANES = 8 };
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(32)));

static bool pool_is(const pxi_step *step, const char *type)
{
    return strcmp(step->ctx.node->type, type) == 0;
}

bool pxi_pool_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    const bool maximum = pool_is(step, "MaxPool"), average = pool_is(step, "AveragePool");
    (void)plan;
    if (ctx->node->domain[0] || ctx->in[0].dtype != PX_FLOAT32 ||
        !pxi_shape_has_pixels(&ctx->in[0].shape) ||
        ctx->in[0].data || /* strips read a little past the end, which session memory allows */
        px_shape_count(&ctx->in[0].shape) == 0 || px_shape_count(&ctx->out[0].shape) == 0)
        return false;
    if (pool_is(step, "GlobalAveragePool") || pool_is(step, "GlobalMaxPool"))
        return true;
    if ((!maximum && !average) || (ctx->out_count > 1 && ctx->node->outputs[1] >= 0))
        return false;
    const pxi_pool_params *p = ctx->params;
    /* what a window reaches beyond the data is clipped: nothing to a maximum, but not to a count */
    return !p->dilated && (maximum || !p->overhangs);
}

px_status pxi_emit_pool(px_plan *plan, int step_index, px_error *err)
{
    const pxi_step *step = &plan->program->steps[step_index];
    const px_node *node = step->ctx.node;
    const int x = pxi_plan_as(plan, node->inputs[0], PXI_NHWC);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_pool, step_index, 1, 1);
    pool_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (x < 0 || !unit || !impl)
        return pxi_no_memory(err);
    const px_shape *in = &step->ctx.in[0].shape, *out = &step->ctx.out[0].shape;
    const bool global = pool_is(step, "GlobalAveragePool") || pool_is(step, "GlobalMaxPool");
    impl->maximum = pool_is(step, "MaxPool") || pool_is(step, "GlobalMaxPool");
    impl->batch = (size_t)in->dim[0];
    impl->channels = (size_t)in->dim[1];
    const pxi_pool_params *p = global ? NULL : step->ctx.params;
    impl->include_pad = p && p->count_include_pad;
    const int first = 4 - in->rank; /* one dimension is a row of height one */
    impl->in[0] = impl->out[0] = impl->kernel[0] = impl->stride[0] = 1;
    for (int i = first; i < 2; i++) {
        impl->in[i] = in->dim[2 + i - first];
        impl->out[i] = out->dim[2 + i - first];
        impl->kernel[i] = p ? p->window.kernel[i - first] : impl->in[i];
        impl->stride[i] = p ? p->window.stride[i - first] : 1;
        impl->pad[i] = p ? p->window.pad_begin[i - first] : 0;
        impl->pad_end[i] = p ? p->window.pad_end[i - first] : 0;
    }
    impl->pairs = impl->maximum && impl->kernel[0] == 2 && impl->kernel[1] == 2 &&
                  impl->stride[0] == 2 && impl->stride[1] == 2 && impl->pad[0] == 0 &&
                  impl->pad[1] == 0 && impl->in[0] == 2 * impl->out[0] &&
                  impl->in[1] == 2 * impl->out[1];
    unit->in[0] = x;
    unit->out[0] = node->outputs[0];
    plan->cells[unit->out[0]].layout = PXI_NHWC;
    unit->impl = impl;
    unit->kernel = impl->maximum ? "max" : "average";
    unit->flops = pxi_nn_flops((double)px_shape_count(out) * (double)impl->kernel[0] *
                               (double)impl->kernel[1]);
    return PX_OK;
}

static px_status pool_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    const pool_impl *impl = unit->impl;
    unit->backward_reads_in = unit->backward_reads_out = impl->maximum;
    unit->scratch_bytes = impl->channels * sizeof(double);
    if (impl->pairs)
        unit->scratch_bytes =
            PX_MAX(unit->scratch_bytes,
                   ((size_t)impl->in[1] * impl->channels + LANES) * 2 * sizeof(float));
    return PX_OK;
}

/* The window of output (oy, ox), clipped: rows [y0, y1), columns [x0, x1). */
typedef struct pool_window {
    int64_t y0, y1, x0, x1;
    double divisor; /* of an average */
} pool_window;

static pool_window pool_window_at(const pool_impl *p, int64_t oy, int64_t ox)
{
    const int64_t y = oy * p->stride[0] - p->pad[0], x = ox * p->stride[1] - p->pad[1];
    pool_window w = {.y0 = PX_MAX(y, 0),
                     .y1 = PX_MIN(y + p->kernel[0], p->in[0]),
                     .x0 = PX_MAX(x, 0),
                     .x1 = PX_MIN(x + p->kernel[1], p->in[1])};
    w.divisor =
        (double)(p->include_pad ? p->kernel[0] * p->kernel[1] : (w.y1 - w.y0) * (w.x1 - w.x0));
    return w;
}

PXI_WIDE static void pool_max_window(const pool_impl *p, const pool_window *w, const float *x,
                                     float *y)
{
    const size_t channels = p->channels;
    for (size_t c = 0; c < channels; c++)
        y[c] = -INFINITY;
    for (int64_t iy = w->y0; iy < w->y1; iy++)
        for (int64_t ix = w->x0; ix < w->x1; ix++) {
            const float *v = x + (size_t)(iy * p->in[1] + ix) * channels;
            for (size_t c = 0; c < channels; c++)
                y[c] = ((v[c] > y[c]) | (v[c] != v[c])) ? v[c] : y[c]; /* a NaN stays */
        }
}

PXI_WIDE static void pool_average_window(const pool_impl *p, const pool_window *w, const float *x,
                                         float *y, double *sum)
{
    const size_t channels = p->channels;
    memset(sum, 0, channels * sizeof *sum);
    for (int64_t iy = w->y0; iy < w->y1; iy++)
        for (int64_t ix = w->x0; ix < w->x1; ix++) {
            const float *v = x + (size_t)(iy * p->in[1] + ix) * channels;
            for (size_t c = 0; c < channels; c++)
                sum[c] += (double)v[c];
        }
    for (size_t c = 0; c < channels; c++)
        y[c] = (float)(sum[c] / w->divisor);
}

/* Vectors go through pointers: passed by value, their ABI would differ between the clones. */
static inline __attribute__((always_inline)) void pool_max(const float *left, const float *right,
                                                           float *out)
{
    const lanes a = *(const lanes *)(const void *)left, b = *(const lanes *)(const void *)right;
    const mask takes_b = (b > a) | (b != b);
    *(lanes *)(void *)out = (lanes)(((mask)b & takes_b) | ((mask)a & ~takes_b));
}

/* Where a strip of 8 channels starts: the last one is pulled back to end with the channels. With
 * fewer than 8 it runs over into the next pixel, which is written after. */
static inline __attribute__((always_inline)) size_t pool_strip(size_t c, size_t channels)
{
    return channels >= LANES && c + LANES > channels ? channels - LANES : c;
}

/* 2x2 at stride 2: rows first, whole lines at a time, then neighbouring pixels. */
PXI_WIDE static void pool_max_pairs(const pool_impl *p, const float *x, float *y, float *tall,
                                    float *line)
{
    const size_t channels = p->channels, width = (size_t)p->in[1] * channels;
    const size_t out_width = (size_t)p->out[1];
    for (int64_t oy = 0; oy < p->out[0]; oy++, x += 2 * width, y += out_width * channels) {
        for (size_t i = 0; i < width; i++)
            tall[i] =
                ((x[width + i] > x[i]) | (x[width + i] != x[width + i])) ? x[width + i] : x[i];
        for (size_t ox = 0; ox < out_width; ox++)
            for (size_t c = 0; c < channels; c += LANES) {
                const size_t at = pool_strip(c, channels);
                const float *left = tall + 2 * ox * channels + at;
                pool_max(left, left + channels, line + ox * channels + at);
            }
        memcpy(y, line, out_width * channels * sizeof *y);
    }
}

static px_status pool_forward(const pxi_unit *unit, px_session *session, void *state, px_error *err)
{
    (void)state, (void)err;
    const pool_impl *p = unit->impl;
    const float *x = pxi_cell_data(session, unit->in[0]);
    float *y = pxi_cell_data(session, unit->out[0]);
    const size_t in_size = (size_t)(p->in[0] * p->in[1]) * p->channels;
    const size_t out_size = (size_t)(p->out[0] * p->out[1]) * p->channels;
    float *scratch = pxi_session_scratch(session);
    const size_t line = (size_t)p->in[1] * p->channels + LANES;
    if (p->pairs)
        memset(scratch, 0, 2 * line * sizeof *scratch);
    for (size_t n = 0; n < p->batch; n++, x += in_size, y += out_size) {
        if (p->pairs) {
            pool_max_pairs(p, x, y, scratch, scratch + line);
            continue;
        }
        for (int64_t oy = 0; oy < p->out[0]; oy++)
            for (int64_t ox = 0; ox < p->out[1]; ox++) {
                const pool_window w = pool_window_at(p, oy, ox);
                float *to = y + (size_t)(oy * p->out[1] + ox) * p->channels;
                if (p->maximum)
                    pool_max_window(p, &w, x, to);
                else
                    pool_average_window(p, &w, x, to, (double *)(void *)scratch);
            }
    }
    return PX_OK;
}

PXI_WIDE static void pool_max_window_back(const pool_impl *p, const pool_window *w, const float *x,
                                          const float *y, const float *dy, float *dx, int32_t *open)
{
    const size_t channels = p->channels;
    for (size_t c = 0; c < channels; c++)
        open[c] = -1;
    for (int64_t iy = w->y0; iy < w->y1; iy++)
        for (int64_t ix = w->x0; ix < w->x1; ix++) {
            const size_t at = (size_t)(iy * p->in[1] + ix) * channels;
            for (size_t c = 0; c < channels; c++) {
                const float v = x[at + c];
                const int32_t hit = open[c] & -(int32_t)((v == y[c]) | (v != v));
                dx[at + c] += hit ? dy[c] : 0.0f;
                open[c] &= ~hit;
            }
        }
}

/* As pool_max_pairs(); both rows are put together in `lines` first, which have room behind. */
PXI_WIDE static void pool_max_pairs_back(const pool_impl *p, const float *x, const float *y,
                                         const float *dy, float *dx, float *lines)
{
    const size_t channels = p->channels, width = (size_t)p->in[1] * channels;
    const size_t out_width = (size_t)p->out[1], second = width + LANES;
    for (int64_t oy = 0; oy < p->out[0]; oy++) {
        for (size_t ox = 0; ox < out_width; ox++)
            for (size_t c = 0; c < channels; c += LANES) {
                const size_t at = pool_strip(c, channels);
                const size_t in = 2 * ox * channels + at, out = ox * channels + at;
                const size_t from[4] = {0, channels, width, width + channels};
                const size_t to[4] = {0, channels, second, second + channels};
                const lanes top = *(const lanes *)(const void *)(y + out);
                const lanes grad = *(const lanes *)(const void *)(dy + out);
                lanes made[4];
                mask open = (mask){0} - 1;
                for (int k = 0; k < 4; k++) {
                    const lanes v = *(const lanes *)(const void *)(x + in + from[k]);
                    const mask hit = open & ((v == top) | (v != v));
                    made[k] = (lanes)((mask)grad & hit);
                    open &= ~hit;
                }
                for (int k = 0; k < 4; k++)
                    *(lanes *)(void *)(lines + in + to[k]) = made[k];
            }
        memcpy(dx, lines, width * sizeof *dx);
        memcpy(dx + width, lines + second, width * sizeof *dx);
        x += 2 * width;
        dx += 2 * width;
        y += out_width * channels;
        dy += out_width * channels;
    }
}

PXI_WIDE static void pool_average_window_back(const pool_impl *p, const pool_window *w,
                                              const float *dy, float *dx)
{
    const size_t channels = p->channels;
    const float share = (float)(1.0 / w->divisor);
    for (int64_t iy = w->y0; iy < w->y1; iy++)
        for (int64_t ix = w->x0; ix < w->x1; ix++) {
            const size_t at = (size_t)(iy * p->in[1] + ix) * channels;
            for (size_t c = 0; c < channels; c++)
                dx[at + c] += dy[c] * share;
        }
}

static px_status pool_backward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state, (void)err;
    const pool_impl *p = unit->impl;
    const float *x = pxi_cell_data(session, unit->in[0]), *y = pxi_cell_data(session, unit->out[0]);
    const float *dy = pxi_cell_grad(session, unit->out[0]);
    float *dx = pxi_cell_grad(session, unit->in[0]);
    const size_t in_size = (size_t)(p->in[0] * p->in[1]) * p->channels;
    const size_t out_size = (size_t)(p->out[0] * p->out[1]) * p->channels;
    const bool adds = pxi_grad_adds(session, unit->in[0]);
    const bool pairs = p->pairs && !adds;
    if (!adds && !pairs)
        memset(dx, 0, p->batch * in_size * sizeof *dx);
    for (size_t n = 0; n < p->batch; n++) {
        if (pairs)
            pool_max_pairs_back(p, x, y, dy, dx, pxi_session_scratch(session));
        for (int64_t oy = 0; oy < p->out[0] && !pairs; oy++)
            for (int64_t ox = 0; ox < p->out[1]; ox++) {
                const pool_window w = pool_window_at(p, oy, ox);
                const size_t at = (size_t)(oy * p->out[1] + ox) * p->channels;
                if (p->maximum)
                    pool_max_window_back(p, &w, x, y + at, dy + at, dx,
                                         pxi_session_scratch(session));
                else
                    pool_average_window_back(p, &w, dy + at, dx);
            }
        x += in_size;
        dx += in_size;
        y += out_size;
        dy += out_size;
    }
    return PX_OK;
}

const pxi_unit_kind pxi_unit_pool = {
    .name = "pool",
    .build = pool_build,
    .bound = pxi_bound_same,
    .forward = pool_forward,
    .backward = pool_backward,
};
