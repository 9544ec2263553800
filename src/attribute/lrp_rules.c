/* src/attribute/lrp_rules.c - LRP: the relevance rules, element by element, whatever the layout */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/lrp.h"

#include "base/memory.h"

#include <string.h>

static const double lrp_stabiliser = 1e-6;

enum { LRP_VIEWS = 5 };

typedef struct lrp_loop { /* several tensors of one shape, walked together */
    px_shape shape;
    int count;
    float *data[LRP_VIEWS];
    const int64_t *stride[LRP_VIEWS];
    int64_t step[LRP_VIEWS]; /* along the inner run */
    int64_t run;
} lrp_loop;

/* Called with the first element of each inner run; element i of tensor k is at[k][i * step[k]]. */
typedef void (*lrp_inner)(const lrp_loop *loop, float *const *at, const void *context);

static bool loop_is_flat(const lrp_loop *loop)
{
    for (int k = 1; k < loop->count; k++)
        for (int d = 0; d < loop->shape.rank; d++)
            if (loop->shape.dim[d] > 1 && loop->stride[k][d] != loop->stride[0][d])
                return false;
    return true; /* the same order everywhere, and the engine leaves no gaps */
}

static void loop_run(lrp_loop *loop, lrp_inner inner, const void *context)
{
    const px_shape *shape = &loop->shape;
    const int64_t total = px_shape_count(shape);
    float *at[LRP_VIEWS];
    if (total == 0)
        return;
    if (loop_is_flat(loop) || shape->rank == 0) {
        loop->run = total;
        for (int k = 0; k < loop->count; k++) {
            loop->step[k] = 1;
            at[k] = loop->data[k];
        }
        inner(loop, at, context);
        return;
    }
    const int last = shape->rank - 1;
    loop->run = shape->dim[last];
    for (int k = 0; k < loop->count; k++)
        loop->step[k] = loop->stride[k][last];
    int64_t index[PX_MAX_RANK] = {0};
    for (int64_t done = 0; done < total; done += loop->run) {
        for (int k = 0; k < loop->count; k++) {
            int64_t offset = 0;
            for (int d = 0; d < last; d++)
                offset += index[d] * loop->stride[k][d];
            at[k] = loop->data[k] + offset;
        }
        inner(loop, at, context);
        for (int d = last - 1; d >= 0 && ++index[d] == shape->dim[d]; d--)
            index[d] = 0;
    }
}

static void loop_add(lrp_loop *loop, const void *data, const int64_t *stride)
{
    loop->data[loop->count] = (float *)data; /* those that are read only stay so */
    loop->stride[loop->count++] = stride;
}

static void plain_strides(const px_shape *shape, int64_t stride[PX_MAX_RANK])
{
    int64_t step = 1;
    for (int d = shape->rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= shape->dim[d];
    }
}

px_view pxi_lrp_view(const px_place *place)
{
    px_view view = {.data = place->data, .shape = place->shape};
    memcpy(view.stride, place->stride, sizeof view.stride);
    return view;
}

static float part_of(float x, int sign)
{
    return sign == 0 || (sign > 0 ? x > 0.0f : x < 0.0f) || x != x ? x : 0.0f;
}

static void part_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    const int sign = *(const int *)context;
    for (int64_t i = 0; i < loop->run; i++)
        at[1][i * loop->step[1]] = part_of(at[0][i * loop->step[0]], sign);
}

void pxi_lrp_part(const px_view *from, int sign, float *to)
{
    int64_t plain[PX_MAX_RANK];
    plain_strides(&from->shape, plain);
    lrp_loop loop = {.shape = from->shape};
    loop_add(&loop, from->data, from->stride);
    loop_add(&loop, to, plain);
    loop_run(&loop, part_inner, &sign);
}

/* R / x with x moved away from zero; x is not zero. */
static double ratio(double r, double x)
{
    return r / (x + (x < 0.0 ? -lrp_stabiliser : lrp_stabiliser));
}

static void ratios_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    const double beta = *(const double *)context;
    for (int64_t i = 0; i < loop->run; i++) {
        const double r = (double)at[0][i * loop->step[0]], p = (double)at[1][i * loop->step[1]];
        const double n = (double)at[2][i * loop->step[2]];
        at[3][i * loop->step[3]] =
            (float)(p == 0.0 ? 0.0 : (n == 0.0 ? 1.0 : 1.0 + beta) * ratio(r, p));
        at[4][i * loop->step[4]] = (float)(n == 0.0 ? 0.0 : (p == 0.0 ? 1.0 : -beta) * ratio(r, n));
    }
}

static void positive_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    (void)context;
    for (int64_t i = 0; i < loop->run; i++) {
        const double p = (double)at[1][i * loop->step[1]];
        at[2][i * loop->step[2]] =
            (float)(p == 0.0 ? 0.0 : ratio((double)at[0][i * loop->step[0]], p));
    }
}

void pxi_lrp_ratios(double beta, const px_view *r, const px_view *p, const px_view *n,
                    const px_place *plus, const px_place *minus)
{
    lrp_loop loop = {.shape = r->shape};
    loop_add(&loop, r->data, r->stride);
    loop_add(&loop, p->data, p->stride);
    if (n)
        loop_add(&loop, n->data, n->stride);
    loop_add(&loop, plus->data, plus->stride);
    if (n)
        loop_add(&loop, minus->data, minus->stride);
    loop_run(&loop, n ? ratios_inner : positive_inner, &beta);
}

typedef struct weigh_context {
    int sign;
    bool adds;
} weigh_context;

static void weigh_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    const weigh_context *c = context;
    for (int64_t i = 0; i < loop->run; i++) {
        float *to = &at[2][i * loop->step[2]];
        const float a = part_of(at[0][i * loop->step[0]], c->sign);
        const float share = a == 0.0f ? 0.0f : a * at[1][i * loop->step[1]];
        *to = c->adds ? *to + share : share;
    }
}

void pxi_lrp_weigh(const px_view *a, const px_view *g, int sign, bool adds, const px_place *to)
{
    lrp_loop loop = {.shape = a->shape};
    loop_add(&loop, a->data, a->stride);
    loop_add(&loop, g->data, g->stride);
    loop_add(&loop, to->data, to->stride);
    loop_run(&loop, weigh_inner, &(weigh_context){.sign = sign, .adds = adds});
}

typedef struct share_context {
    int count; /* of summands */
    bool adds;
} share_context;

/* at: R, the summand, the sum of the others, the result */
static void share_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    const share_context *c = context;
    for (int64_t i = 0; i < loop->run; i++) {
        const double r = (double)at[0][i * loop->step[0]], a = (double)at[1][i * loop->step[1]];
        const double sum = a + (double)at[2][i * loop->step[2]];
        const double share = r == 0.0 ? 0.0 : sum == 0.0 ? r / (double)c->count : r * a / sum;
        float *to = &at[3][i * loop->step[3]];
        *to = (float)(c->adds ? (double)*to + share : share);
    }
}

void pxi_lrp_share(const px_view *r, const px_view *part, const px_view *others, int count,
                   bool adds, const px_place *to)
{
    lrp_loop loop = {.shape = r->shape};
    loop_add(&loop, r->data, r->stride);
    loop_add(&loop, part->data, part->stride);
    loop_add(&loop, others->data, others->stride);
    loop_add(&loop, to->data, to->stride);
    loop_run(&loop, share_inner, &(share_context){.count = count, .adds = adds});
}

static void copy_inner(const lrp_loop *loop, float *const *at, const void *context)
{
    const bool adds = *(const bool *)context;
    for (int64_t i = 0; i < loop->run; i++) {
        float *to = &at[1][i * loop->step[1]];
        *to = adds ? *to + at[0][i * loop->step[0]] : at[0][i * loop->step[0]];
    }
}

/* The offset of each element in logical order, one after another. */
typedef struct lrp_walk {
    const px_shape *shape;
    const int64_t *stride;
    int64_t index[PX_MAX_RANK], offset;
} lrp_walk;

static void walk_next(lrp_walk *walk)
{
    for (int d = walk->shape->rank - 1; d >= 0; d--) {
        walk->offset += walk->stride[d];
        if (++walk->index[d] < walk->shape->dim[d])
            return;
        walk->offset -= walk->index[d] * walk->stride[d];
        walk->index[d] = 0;
    }
}

void pxi_lrp_copy(const px_view *from, bool adds, const px_place *to)
{
    if (px_shape_equal(&from->shape, &to->shape)) {
        lrp_loop loop = {.shape = to->shape};
        loop_add(&loop, from->data, from->stride);
        loop_add(&loop, to->data, to->stride);
        loop_run(&loop, copy_inner, &adds);
        return;
    }
    lrp_walk a = {.shape = &from->shape, .stride = from->stride};
    lrp_walk b = {.shape = &to->shape, .stride = to->stride};
    const int64_t count = PX_MIN(px_shape_count(&from->shape), px_shape_count(&to->shape));
    for (int64_t i = 0; i < count; i++) {
        float *at = to->data + b.offset;
        *at = adds ? *at + from->data[a.offset] : from->data[a.offset];
        walk_next(&a);
        walk_next(&b);
    }
}
