/* src/train/snapshot.c - a state of training in memory, to go back to */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <internal/weights.h>
#include <stdlib.h>
#include <string.h>

void pxi_snapshot_done(train_snapshot *snapshot)
{
    px_weights_free(snapshot->weights);
    for (size_t i = 0; snapshot->optimizer && i < snapshot->optimizer_count; i++)
        px_tensor_done(&snapshot->optimizer[i].tensor);
    free(snapshot->optimizer);
    px_tensor_done(&snapshot->schedule);
    *snapshot = (train_snapshot){0};
}

static px_status snapshot_copy(px_tensor *to, const px_tensor *from, px_error *err)
{
    if (!to->data)
        PX_TRY(px_tensor_init(to, from->dtype, &from->shape, err));
    memcpy(to->data, from->data, px_tensor_bytes(from));
    return PX_OK;
}

px_status pxi_snapshot_take(px_trainer *t, px_error *err)
{
    train_snapshot *s = &t->back;
    if (!s->optimizer) {
        s->optimizer_count = px_optimizer_state_count(t->optimizer);
        PX_TRY(PX_NEW(s->optimizer, PX_MAX(s->optimizer_count, 1), err));
    }
    for (size_t i = 0; i < s->optimizer_count; i++) {
        const px_state state = px_optimizer_state(t->optimizer, i);
        memcpy(s->optimizer[i].name, state.name, sizeof state.name);
        PX_TRY(snapshot_copy(&s->optimizer[i].tensor, &state.tensor, err));
    }
    const px_tensor schedule = px_schedule_state(t->schedule);
    if (schedule.data)
        PX_TRY(snapshot_copy(&s->schedule, &schedule, err));
    if (!s->weights)
        PX_TRY(px_weights_new(t->model, &s->weights, err));
    s->state = t->state;
    return px_weights_copy(s->weights, t->weights, err);
}

static const px_tensor *snapshot_find(const void *context, const char *name)
{
    const train_snapshot *s = context;
    for (size_t i = 0; i < s->optimizer_count; i++)
        if (strcmp(s->optimizer[i].name, name) == 0)
            return &s->optimizer[i].tensor;
    return NULL;
}

px_status pxi_snapshot_restore(px_trainer *t, px_error *err)
{
    const train_state now = t->state;
    PX_TRY(px_weights_copy(t->weights, t->back.weights, err));
    PX_TRY(px_optimizer_restore(t->optimizer, snapshot_find, &t->back, err));
    if (t->back.schedule.data)
        PX_TRY(px_schedule_restore(t->schedule, &t->back.schedule, err));
    t->state = t->back.state;
    t->state.train_s = now.train_s;
    t->state.trained = now.trained;
    return px_plan_refresh(t->plan, err);
}

bool pxi_weights_finite(px_weights *weights)
{
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        const px_tensor *tensor = &px_weights_get(weights, i)->tensor;
        const float *w = tensor->data;
        const int64_t count = px_shape_count(&tensor->shape);
        float zero = 0.0f; /* x - x is 0 for numbers, NaN for the rest, and NaN stays */
        for (int64_t k = 0; k < count; k++)
            zero += w[k] - w[k];
        if (zero != 0.0f)
            return false;
    }
    return true;
}
