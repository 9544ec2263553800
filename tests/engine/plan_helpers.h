/* tests/engine/plan_helpers.h - plans and sessions of small networks, seeds and gradients by value
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ENGINE_PLAN_HELPERS_H
#define TESTS_ENGINE_PLAN_HELPERS_H

#include "base/memory.h"
#include "cmocka_all.h"
#include "net.h"

#include <internal/engine.h>
#include <math.h>
#include <stdlib.h>

#define IN(...) ((net_in[]){__VA_ARGS__, {.value = -1}})
#define V(number)         \
    {                     \
        .value = (number) \
    }
#define NOTHING ((net_in[]){{.value = -1}})

static inline void check(px_status status, const px_error *err, const char *what)
{
    if (status != PX_OK)
        fail_msg("%s: %s", what, err->message);
}

static inline px_session *open_plan(const px_model *model, const px_plan_options *options,
                                    px_plan **plan, const char *what)
{
    px_error err = {0};
    px_session *session = NULL;
    check(px_plan_new(model, options, plan, &err), &err, what);
    check(px_session_new(*plan, &session, &err), &err, what);
    for (size_t f = 0; f < px_plan_feed_count(*plan); f++) {
        const px_shape shape = px_plan_feed_shape(*plan, f);
        const int value =
            options->feeds ? options->feeds[f].value : px_model_graph(model)->inputs[f];
        if (px_plan_dtype(*plan, value) == PX_FLOAT32)
            net_fill(px_session_input(session, f), (size_t)px_shape_count(&shape), 31 + f, -1.0,
                     1.0);
    }
    return session;
}

static inline void close_plan(px_plan *plan, px_session *session)
{
    px_session_free(session);
    px_plan_free(plan);
}

/* A view's elements in logical order; the caller frees. */
static inline float *view_copy(const px_view *view)
{
    assert_non_null(view->data);
    const int64_t count = px_shape_count(&view->shape);
    float *copy = pxi_calloc((size_t)count, sizeof *copy);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0, rest = i;
        for (int d = view->shape.rank - 1; d >= 0; rest /= view->shape.dim[d], d--)
            at += rest % view->shape.dim[d] * view->stride[d];
        copy[i] = view->data[at];
    }
    return copy;
}

/* The same cotangents for every layout, drawn by `draw`, scaled by `weight`. */
static inline void seed_add(px_session *session, int value, uint64_t draw, float weight)
{
    const px_place place = px_session_seed(session, value);
    assert_non_null(place.data);
    const int64_t count = px_shape_count(&place.shape);
    float *numbers = pxi_calloc((size_t)count, sizeof *numbers);
    net_fill(numbers, (size_t)count, draw, -1.0, 1.0);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0, rest = i;
        for (int d = place.shape.rank - 1; d >= 0; rest /= place.shape.dim[d], d--)
            at += rest % place.shape.dim[d] * place.stride[d];
        place.data[at] += weight * numbers[i];
    }
    free(numbers);
}

static inline void assert_close(const float *got, const float *want, int64_t count,
                                double tolerance, const char *what)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <=
              tolerance * (1.0 + fabs((double)want[i]))) &&
            !(isnan(got[i]) && isnan(want[i])))
            fail_msg("%s: element %d is %g, expected %g", what, (int)i, (double)got[i],
                     (double)want[i]);
}

#endif
