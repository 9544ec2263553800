/* src/engine/unit_norm.c - BatchNormalization while a network is trained
 *
 *     y = act((x - mean) / sqrt(var + epsilon) * gamma + beta + residual)
 *
 * with mean and population variance of the whole batch (Ioffe & Szegedy 2015, algorithm 1). The
 * batch is spread over sessions, so both directions have two halves with a *meeting* between them,
 * where one thread joins what the sessions found, in their order and in double:
 *
 *     forward   each: count, mean, M2       joined by Chan, Golub & LeVeque 1979; then y
 *     backward  each: sum g, sum g (x-mean) joined by adding; then dx
 *
 * Cells: in[0] x, in[1] residual (-1: none), in[2] gamma, in[3] beta; out[0] y. Data of rank 3 and
 * 4 are channels-last, so that every loop runs along channels; a few pixels at once where there are
 * few channels.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/wide.h"
#include <internal/norm.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NORM_WIDTH = 64, /* floats that a row has at least */
    NORM_FLUSH = 64  /* rows that are added in float before a sum in double takes them */
};

typedef struct norm_impl {
    size_t channels, area; /* area: pixels of a sample */
    size_t pack, wide;     /* pixels and floats of a row */
    double epsilon, momentum;
    pxi_act act;
    const float *gamma, *beta; /* constants, or the plan's weights */
    float *running_mean, *running_var;
} norm_impl;

typedef struct norm_state { /* of one session; arrays per channel, `row_*` repeated to `wide` */
    double *count;
    double *mean, *m2;      /* its own, before the meeting; then those of the whole batch */
    double *sum_g, *sum_gx; /* its own */
    double *inverse;        /* 1 / sqrt(var + epsilon) */
    float *row_center;      /* mean */
    float *row_scale;       /* gamma * inverse */
    float *row_shift;       /* beta - mean * scale */
    float *row_slope;       /* of x in dx */
    float *row_level;       /* the rest of dx */
    float *partial[2];      /* sums in float, `wide` each */
} norm_state;

bool pxi_norm_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (!plan->batch_norms || strcmp(ctx->node->type, "BatchNormalization") != 0 ||
        ctx->node->domain[0] || ctx->in[0].dtype != PX_FLOAT32 || ctx->in[0].data ||
        ctx->in[0].shape.rank < 2 || ctx->in[0].shape.rank > 4 ||
        px_shape_count(&ctx->in[0].shape) == 0)
        return false;
    const pxi_batch_norm_params *params = ctx->params;
    if (params->channels != ctx->in[0].shape.dim[1])
        return false;
    for (int i = 1; i < 5; i++)
        if (i >= ctx->in_count || !ctx->in[i].data || ctx->in[i].dtype != PX_FLOAT32)
            return false;
    for (int i = 1; i < ctx->out_count; i++)
        if (ctx->node->outputs[i] >= 0)
            return false;
    return pxi_weight_is_own(plan, step, 1) && pxi_weight_is_own(plan, step, 2);
}

px_status pxi_emit_norm(px_plan *plan, const pxi_group *group, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[group->head].ctx;
    const pxi_batch_norm_params *params = ctx->params;
    const int x = pxi_plan_as(plan, ctx->node->inputs[0], PXI_NHWC);
    const int residual = group->residual < 0 ? -1 : pxi_plan_as(plan, group->residual, PXI_NHWC);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_norm, group->last, 4, 1);
    norm_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (x < 0 || (group->residual >= 0 && residual < 0) || !unit || !impl)
        return pxi_no_memory(err);
    *impl = (norm_impl){.channels = (size_t)params->channels,
                        .area = (size_t)params->area,
                        .epsilon = params->epsilon,
                        .momentum = params->momentum,
                        .gamma = ctx->in[1].data,
                        .beta = ctx->in[2].data,
                        .running_mean = ctx->in[3].data,
                        .running_var = ctx->in[4].data};
    impl->pack = impl->channels < NORM_WIDTH ? NORM_WIDTH / impl->channels : 1;
    impl->wide = impl->pack * impl->channels;
    impl->act = group->fused;
    unit->in[0] = x;
    unit->in[1] = residual;
    unit->in[2] = ctx->node->inputs[1];
    unit->in[3] = ctx->node->inputs[2];
    unit->out[0] = plan->program->steps[group->last].ctx.node->outputs[0];
    if (pxi_shape_has_pixels(&ctx->in[0].shape))
        plan->cells[unit->out[0]].layout = PXI_NHWC;
    unit->impl = impl;
    unit->kernel = "batch statistics";
    unit->flops = 8 * px_shape_count(&ctx->in[0].shape);
    return PX_OK;
}

static px_status norm_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    const norm_impl *impl = unit->impl;
    unit->backward_reads_in = true;
    unit->backward_reads_out = impl->act.kind != PXI_ACT_NONE;
    return PX_OK;
}

/* |x - mean| <= sqrt(n) standard deviations of n values. */
static void norm_bound(px_plan *plan, pxi_unit *unit)
{
    static const double most_deviations = 1e6;
    const norm_impl *impl = unit->impl;
    pxi_gain gain =
        pxi_gain_of(impl->gamma, (int64_t)impl->channels, 1, /* mixed= */ false, impl->beta);
    gain.bias += gain.gain * most_deviations;
    gain.gain = 0.0;
    pxi_bound_linear(plan, unit, &gain, &impl->act, /* hides= */ false, unit->in[1]);
}

static px_status norm_attach(const pxi_unit *unit, px_session *session, void **out, px_error *err)
{
    (void)session;
    const norm_impl *impl = unit->impl;
    const size_t c = impl->channels, w = impl->wide;
    norm_state *state = pxi_calloc(1, sizeof *state);
    double *doubles = pxi_calloc(1 + 5 * c, sizeof *doubles);
    float *floats = pxi_calloc(7 * w, sizeof *floats);
    if (!state || !doubles || !floats) {
        free(state);
        free(doubles);
        free(floats);
        return pxi_no_memory(err);
    }
    *state = (norm_state){.count = doubles,
                          .mean = doubles + 1,
                          .m2 = doubles + 1 + c,
                          .sum_g = doubles + 1 + 2 * c,
                          .sum_gx = doubles + 1 + 3 * c,
                          .inverse = doubles + 1 + 4 * c,
                          .row_center = floats,
                          .row_scale = floats + w,
                          .row_shift = floats + 2 * w,
                          .row_slope = floats + 3 * w,
                          .row_level = floats + 4 * w,
                          .partial = {floats + 5 * w, floats + 6 * w}};
    *out = state;
    return PX_OK;
}

static void norm_detach(void *data)
{
    norm_state *state = data;
    if (!state)
        return;
    free(state->count);
    free(state->row_center);
    free(state);
}

static size_t norm_pixels(const norm_impl *impl, const px_session *session)
{
    return (size_t)session->samples * impl->area;
}

/* A value per channel, repeated for every pixel of a row. */
static void norm_repeat(const norm_impl *impl, float *row)
{
    for (size_t i = impl->channels; i < impl->wide; i++)
        row[i] = row[i - impl->channels];
}

/* --- sums over pixels ----------------------------------------------------------------------- */

typedef enum norm_sum { NORM_VALUES, NORM_SQUARES, NORM_GRADIENTS } norm_sum;

enum { LANES = 16, STRIP = 4 }; /* a strip of NORM_WIDTH floats has its sums in registers */
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

static inline __attribute__((always_inline)) void norm_add_strip(norm_sum what, const float *x,
                                                                 const float *g,
                                                                 const float *center, size_t rows,
                                                                 size_t width, float *a, float *b)
{
    lanes sum[STRIP], product[STRIP], mean[STRIP];
    for (int k = 0; k < STRIP; k++) {
        sum[k] = product[k] = (lanes){0};
        mean[k] = ((const lanes *)(const void *)center)[k];
    }
    for (size_t r = 0; r < rows; r++, x += width) {
        for (int k = 0; k < STRIP; k++) {
            const lanes v = ((const lanes *)(const void *)x)[k];
            if (what == NORM_VALUES) {
                sum[k] += v;
            } else if (what == NORM_SQUARES) {
                sum[k] += (v - mean[k]) * (v - mean[k]);
            } else {
                const lanes d = ((const lanes *)(const void *)g)[k];
                sum[k] += d;
                product[k] += d * (v - mean[k]);
            }
        }
        g += what == NORM_GRADIENTS ? width : 0;
    }
    for (int k = 0; k < STRIP; k++) {
        ((lanes *)(void *)a)[k] += sum[k];
        if (what == NORM_GRADIENTS)
            ((lanes *)(void *)b)[k] += product[k];
    }
}

static inline __attribute__((always_inline)) void norm_add_single(norm_sum what, const float *x,
                                                                  const float *g, float center,
                                                                  size_t rows, size_t width,
                                                                  float *a, float *b)
{
    for (size_t r = 0; r < rows; r++) {
        const float v = x[r * width];
        if (what == NORM_VALUES) {
            *a += v;
        } else if (what == NORM_SQUARES) {
            *a += (v - center) * (v - center);
        } else {
            *a += g[r * width];
            *b += g[r * width] * (v - center);
        }
    }
}

static inline __attribute__((always_inline)) void norm_add(norm_sum what, const float *x,
                                                           const float *g, const float *center,
                                                           size_t rows, size_t width, float *a,
                                                           float *b)
{
    size_t i = 0;
    for (; i + NORM_WIDTH <= width; i += NORM_WIDTH)
        norm_add_strip(what, x + i, g ? g + i : NULL, center + i, rows, width, a + i, b + i);
    for (; i < width; i++)
        norm_add_single(what, x + i, g ? g + i : NULL, center[i], rows, width, a + i, b + i);
}

PXI_WIDE static void norm_add_rows(norm_sum what, const float *x, const float *g,
                                   const float *center, size_t rows, size_t width, float *a,
                                   float *b)
{
    switch (what) {
    case NORM_VALUES:
        norm_add(NORM_VALUES, x, NULL, center, rows, width, a, b);
        break;
    case NORM_SQUARES:
        norm_add(NORM_SQUARES, x, NULL, center, rows, width, a, b);
        break;
    case NORM_GRADIENTS:
        norm_add(NORM_GRADIENTS, x, g, center, rows, width, a, b);
        break;
    }
}

static void norm_flush(const norm_impl *impl, float *partial, double *sum)
{
    for (size_t i = 0, c = 0; i < impl->wide; i++) {
        sum[c] += (double)partial[i];
        partial[i] = 0.0f;
        c = c + 1 == impl->channels ? 0 : c + 1;
    }
}

/* Sums over `pixels`, per channel: of x to sum[0], or of (x - center)^2, or of g to sum[0] and of
 * g (x - center) to sum[1]. */
static void norm_sums(const norm_impl *impl, const norm_state *state, norm_sum what, const float *x,
                      const float *g, size_t pixels, double *const sum[2])
{
    const size_t rows = pixels / impl->pack, rest = pixels % impl->pack * impl->channels;
    const int sums = what == NORM_GRADIENTS ? 2 : 1;
    for (int k = 0; k < sums; k++)
        memset(sum[k], 0, impl->channels * sizeof *sum[k]);
    for (size_t r = 0; r < rows; r += NORM_FLUSH) {
        const size_t at = r * impl->wide;
        norm_add_rows(what, x + at, g ? g + at : NULL, state->row_center,
                      PX_MIN((size_t)NORM_FLUSH, rows - r), impl->wide, state->partial[0],
                      state->partial[1]);
        for (int k = 0; k < sums; k++)
            norm_flush(impl, state->partial[k], sum[k]);
    }
    const size_t at = rows * impl->wide;
    norm_add_rows(what, x + at, g ? g + at : NULL, state->row_center, rest > 0, rest,
                  state->partial[0], state->partial[1]);
    for (int k = 0; k < sums; k++)
        norm_flush(impl, state->partial[k], sum[k]);
}

/* --- forward -------------------------------------------------------------------------------- */

static px_status norm_forward(const pxi_unit *unit, px_session *session, void *data, px_error *err)
{
    (void)err;
    const norm_impl *impl = unit->impl;
    norm_state *state = data;
    const float *x = pxi_cell_data(session, unit->in[0]);
    const size_t pixels = norm_pixels(impl, session);
    *state->count = (double)pixels;
    norm_sums(impl, state, NORM_VALUES, x, NULL, pixels, (double *const[]){state->mean, NULL});
    for (size_t c = 0; c < impl->channels; c++) {
        state->mean[c] /= *state->count;
        state->row_center[c] = (float)state->mean[c];
    }
    norm_repeat(impl, state->row_center);
    norm_sums(impl, state, NORM_SQUARES, x, NULL, pixels, (double *const[]){state->m2, NULL});
    for (size_t c = 0; c < impl->channels; c++) { /* about the mean itself, not its rounded value */
        const double off = state->mean[c] - (double)state->row_center[c];
        const double m2 = state->m2[c] - *state->count * off * off;
        state->m2[c] = m2 < 0.0 ? 0.0 : m2; /* NaN stays */
    }
    return PX_OK;
}

static void norm_share_forward(const norm_impl *impl, norm_state *const *states, int count)
{
    norm_state *first = states[0];
    double n = *first->count;
    for (int s = 1; s < count; s++) {
        const norm_state *other = states[s];
        const double all = n + *other->count;
        for (size_t c = 0; c < impl->channels; c++) {
            const double delta = other->mean[c] - first->mean[c];
            first->mean[c] += delta * *other->count / all;
            first->m2[c] += other->m2[c] + delta * delta * n * *other->count / all;
        }
        n = all;
    }
    for (size_t c = 0; c < impl->channels; c++) {
        first->inverse[c] = 1.0 / sqrt(first->m2[c] / n + impl->epsilon);
        const double scale = (double)impl->gamma[c] * first->inverse[c];
        first->row_center[c] = (float)first->mean[c];
        first->row_scale[c] = (float)scale;
        first->row_shift[c] = (float)((double)impl->beta[c] - first->mean[c] * scale);
    }
    norm_repeat(impl, first->row_center);
    norm_repeat(impl, first->row_scale);
    norm_repeat(impl, first->row_shift);
    *first->count = n;
    for (int s = 1; s < count; s++) {
        norm_state *other = states[s];
        *other->count = n;
        memcpy(other->inverse, first->inverse, impl->channels * sizeof *other->inverse);
        memcpy(other->row_center, first->row_center, 3 * impl->wide * sizeof *other->row_center);
    }
}

PXI_WIDE static void norm_apply(const norm_impl *impl, const norm_state *state, const float *x,
                                const float *residual, float *y, size_t rows, size_t width)
{
    const float *scale = state->row_scale, *shift = state->row_shift;
    const float low = impl->act.alpha, high = impl->act.beta;
    for (size_t r = 0; r < rows; r++, x += width, y += width) {
        for (size_t i = 0; i < width; i++)
            y[i] = x[i] * scale[i] + shift[i];
        if (residual) {
            for (size_t i = 0; i < width; i++)
                y[i] += residual[i];
            residual += width;
        }
        if (impl->act.kind == PXI_ACT_RELU && low == 0.0f) {
            for (size_t i = 0; i < width; i++)
                y[i] = y[i] < 0.0f ? 0.0f : y[i];
        } else if (impl->act.kind == PXI_ACT_RELU) {
            for (size_t i = 0; i < width; i++)
                y[i] = y[i] < 0.0f ? low * y[i] : y[i];
        } else if (impl->act.kind == PXI_ACT_CLIP) {
            for (size_t i = 0; i < width; i++)
                y[i] = y[i] < low ? low : y[i] > high ? high : y[i];
        }
    }
}

static px_status norm_forward_rest(const pxi_unit *unit, px_session *session, void *data,
                                   px_error *err)
{
    (void)err;
    const norm_impl *impl = unit->impl;
    const norm_state *state = data;
    const float *x = pxi_cell_data(session, unit->in[0]);
    const float *residual = unit->in[1] < 0 ? NULL : pxi_cell_data(session, unit->in[1]);
    float *y = pxi_cell_data(session, unit->out[0]);
    const size_t pixels = (size_t)session->plan->batch * impl->area; /* padding stays finite */
    const size_t rows = pixels / impl->pack, rest = pixels % impl->pack * impl->channels;
    const size_t at = rows * impl->wide;
    /* another session's NaN is in the statistics of all */
    session->wild |= !pxi_is_tame(state->row_scale, 2 * impl->wide, FLT_MAX);
    norm_apply(impl, state, x, residual, y, rows, impl->wide);
    norm_apply(impl, state, x + at, residual ? residual + at : NULL, y + at, rest > 0, rest);
    return PX_OK;
}

/* --- backward ------------------------------------------------------------------------------- */

static px_status norm_backward(const pxi_unit *unit, px_session *session, void *data, px_error *err)
{
    (void)err;
    const norm_impl *impl = unit->impl;
    norm_state *state = data;
    const px_plan *plan = session->plan;
    const bool residual = pxi_cell_wants_grad(plan, unit->in[1]);
    float *g = pxi_cell_grad(session, unit->out[0]);
    if (impl->act.kind != PXI_ACT_NONE || residual)
        pxi_act_backward(&impl->act, pxi_cell_data(session, unit->out[0]), g, g,
                         residual ? pxi_cell_grad(session, unit->in[1]) : NULL,
                         residual && pxi_grad_adds(session, unit->in[1]),
                         (size_t)px_shape_count(&plan->cells[unit->out[0]].tensor.shape));
    norm_sums(impl, state, NORM_GRADIENTS, pxi_cell_data(session, unit->in[0]), g,
              norm_pixels(impl, session), (double *const[]){state->sum_g, state->sum_gx});
    for (int i = 2; i < 4; i++) {
        if (!pxi_cell_wants_grad(plan, unit->in[i]))
            continue;
        float *grad = pxi_cell_grad(session, unit->in[i]);
        pxi_grad_adds(session, unit->in[i]);
        for (size_t c = 0; c < impl->channels; c++)
            grad[c] = (float)(i == 2 ? state->sum_gx[c] * state->inverse[c] : state->sum_g[c]);
    }
    return PX_OK;
}

/* dx = scale (g - mean g - (x - mean) inverse^2 mean(g (x - mean))), means over the whole batch. */
static void norm_share_backward(const norm_impl *impl, norm_state *const *states, int count)
{
    norm_state *first = states[0];
    for (int s = 1; s < count; s++)
        for (size_t c = 0; c < impl->channels; c++) {
            first->sum_g[c] += states[s]->sum_g[c];
            first->sum_gx[c] += states[s]->sum_gx[c];
        }
    for (size_t c = 0; c < impl->channels; c++) {
        const double scale = (double)impl->gamma[c] * first->inverse[c];
        const double square = first->inverse[c] * first->inverse[c];
        first->row_slope[c] = (float)(-scale * square * first->sum_gx[c] / *first->count);
        first->row_level[c] = (float)(-scale * first->sum_g[c] / *first->count);
    }
    norm_repeat(impl, first->row_slope);
    norm_repeat(impl, first->row_level);
    for (int s = 1; s < count; s++)
        memcpy(states[s]->row_slope, first->row_slope,
               2 * impl->wide * sizeof *states[s]->row_slope);
}

PXI_WIDE static void norm_apply_gradient(const norm_state *state, const float *x, const float *g,
                                         float *dx, bool adds, size_t rows, size_t width)
{
    const float *scale = state->row_scale, *slope = state->row_slope, *level = state->row_level;
    const float *center = state->row_center;
    for (size_t r = 0; r < rows; r++, x += width, g += width, dx += width) {
        if (adds) {
            for (size_t i = 0; i < width; i++)
                dx[i] += scale[i] * g[i] + slope[i] * (x[i] - center[i]) + level[i];
        } else {
            for (size_t i = 0; i < width; i++)
                dx[i] = scale[i] * g[i] + slope[i] * (x[i] - center[i]) + level[i];
        }
    }
}

static px_status norm_backward_rest(const pxi_unit *unit, px_session *session, void *data,
                                    px_error *err)
{
    (void)err;
    const norm_impl *impl = unit->impl;
    const norm_state *state = data;
    if (!pxi_cell_wants_grad(session->plan, unit->in[0]))
        return PX_OK;
    const float *x = pxi_cell_data(session, unit->in[0]);
    const float *g = pxi_cell_grad(session, unit->out[0]);
    float *dx = pxi_cell_grad(session, unit->in[0]);
    const bool adds = pxi_grad_adds(session, unit->in[0]);
    const size_t pixels = norm_pixels(impl, session);
    const size_t rows = pixels / impl->pack, rest = pixels % impl->pack * impl->channels;
    const size_t at = rows * impl->wide, used = pixels * impl->channels;
    norm_apply_gradient(state, x, g, dx, adds, rows, impl->wide);
    norm_apply_gradient(state, x + at, g + at, dx + at, adds, rest > 0, rest);
    if (!adds) /* samples that are only there to fill the micro-batch move nothing */
        memset(dx + used, 0,
               px_tensor_bytes(&session->plan->cells[unit->in[0]].tensor) - used * sizeof *dx);
    return PX_OK;
}

/* --- the meeting ---------------------------------------------------------------------------- */

static void norm_meet(const pxi_unit *unit, void *const *states, int count, bool backward)
{
    const norm_impl *impl = unit->impl;
    norm_state *const *mine = (norm_state *const *)states;
    if (backward)
        norm_share_backward(impl, mine, count);
    else
        norm_share_forward(impl, mine, count);
}

static double *norm_said(const pxi_unit *unit, void *data, bool backward, size_t *count)
{
    const norm_impl *impl = unit->impl;
    const norm_state *state = data;
    *count = 2 * impl->channels + !backward;
    return backward ? state->sum_g : state->count;
}

/* Running statistics as PyTorch moves them: with the unbiased variance. ONNX's momentum is the part
 * that stays. */
static void norm_commit(const pxi_unit *unit, void *data, double share)
{
    const norm_impl *impl = unit->impl;
    const norm_state *state = data;
    const double stays = 1.0 - share + share * impl->momentum;
    const double unbiased = *state->count > 1.0 ? *state->count - 1.0 : 1.0;
    for (size_t c = 0; c < impl->channels; c++) {
        impl->running_mean[c] =
            (float)(stays * (double)impl->running_mean[c] + (1.0 - stays) * state->mean[c]);
        impl->running_var[c] =
            (float)(stays * (double)impl->running_var[c] + (1.0 - stays) * state->m2[c] / unbiased);
    }
}

const pxi_unit_kind pxi_unit_norm = {
    .name = "norm",
    .build = norm_build,
    .bound = norm_bound,
    .attach = norm_attach,
    .forward = norm_forward,
    .backward = norm_backward,
    .meet = norm_meet,
    .said = norm_said,
    .forward_rest = norm_forward_rest,
    .backward_rest = norm_backward_rest,
    .commit = norm_commit,
    .detach = norm_detach,
};
