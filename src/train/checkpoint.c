/* src/train/checkpoint.c - writing checkpoints: whole or not at all, the old one until then */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/checkpoint.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/field.h>
#include <internal/npz_meta.h>
#include <internal/system.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const px_field pxi_train_state_fields[] = {
    PX_FIELD(train_state, epoch, "epoch"),
    PX_FIELD(train_state, step, "step"),
    PX_FIELD(train_state, halvings, "halvings"),
    PX_FIELD(train_state, retries, "retries"),
    PX_FIELD(train_state, loss_sum, "loss_sum"),
    PX_FIELD(train_state, seen, "seen"),
    PX_FIELD(train_state, correct, "correct"),
    PX_FIELD(train_state, lr, "lr"),
    PX_FIELD(train_state, test_loss, "test_loss"),
    PX_FIELD(train_state, test_accuracy, "test_accuracy"),
    PX_FIELD(train_state, best_epoch, "best_epoch"),
    PX_FIELD(train_state, best_accuracy, "best_accuracy"),
    PX_FIELD(train_state, until_fine, "until_fine"),
    PX_FIELD(train_state, reached, "reached"),
    PX_FIELD(train_state, epoch_s, "epoch_s"),
    PX_FIELD(train_state, train_s, "train_s"),
    PX_FIELD(train_state, trained, "trained"),
    PX_FIELD(train_state, history_count, "history_count"),
    PX_FIELDS_END,
};

static const px_field fact_fields[] = {
    PX_FIELD(px_property, key, "fact"),
    PX_FIELD(px_property, value, ""),
    PX_FIELDS_END,
};

typedef struct checkpoint_meta {
    const char *format, *plexor;
    int version;
    const px_trainer *trainer;
} checkpoint_meta;

static const px_field trainer_fields[] = {
    PX_MAP(px_trainer, facts, fact_count, fact_fields, "facts"),
    PX_OBJECT(px_trainer, state, pxi_train_state_fields, "state"),
    PX_FIELDS_END,
};

static const px_field meta_fields[] = {
    PX_FIELD(checkpoint_meta, format, "format"),
    PX_FIELD(checkpoint_meta, version, "version"),
    PX_FIELD(checkpoint_meta, plexor, "plexor"),
    PX_OBJECT_AT(checkpoint_meta, trainer, trainer_fields, ""),
    PX_FIELDS_END,
};

static px_status save_meta(const px_trainer *t, px_npz_writer *writer, px_error *err)
{
    px_json json = {0};
    const checkpoint_meta meta = {PXI_CHECKPOINT_FORMAT, px_version(), PXI_CHECKPOINT_VERSION, t};
    px_fields_object(meta_fields, &meta, NULL, &json);
    return pxi_meta_put(writer, &json, err);
}

static px_status save_history(const px_trainer *t, px_npz_writer *writer, px_error *err)
{
    const px_shape shape = {.rank = 2, .dim = {t->state.history_count, PXI_HISTORY_COLUMNS}};
    PX_TRY(px_npz_begin(writer, "history", PX_FLOAT64, &shape, err));
    for (int64_t i = 0; i < t->state.history_count; i++) {
        double row[PXI_HISTORY_COLUMNS];
        pxi_history_row(&t->history[i], row);
        PX_TRY(px_npz_write(writer, row, sizeof row, err));
    }
    return PX_OK;
}

static px_status save_weights(px_weights *weights, const char *group, px_npz_writer *writer,
                              px_error *err)
{
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        char name[PXI_CHECKPOINT_NAME];
        snprintf(name, sizeof name, "%s/%zu", group, i);
        PX_TRY(px_npz_add(writer, name, &px_weights_get(weights, i)->tensor, err));
    }
    return PX_OK;
}

static px_status save_all(px_trainer *t, px_npz_writer *writer, px_error *err)
{
    PX_TRY(save_meta(t, writer, err));
    PX_TRY(save_history(t, writer, err));
    PX_TRY(save_weights(t->weights, "weights", writer, err));
    if (t->best)
        PX_TRY(save_weights(t->best, "best", writer, err));
    for (size_t i = 0; i < px_optimizer_state_count(t->optimizer); i++) {
        const px_state state = px_optimizer_state(t->optimizer, i);
        char name[PXI_CHECKPOINT_NAME];
        snprintf(name, sizeof name, "optimizer/%s", state.name);
        PX_TRY(px_npz_add(writer, name, &state.tensor, err));
    }
    const px_tensor schedule = px_schedule_state(t->schedule);
    return schedule.data ? px_npz_add(writer, "schedule", &schedule, err) : PX_OK;
}

px_status pxi_checkpoint_save(px_trainer *t, px_error *err)
{
    if (!t->o.checkpoint)
        return PX_OK;
    px_npz_writer *writer = NULL;
    px_status status = px_npz_create(t->o.checkpoint, &writer, err);
    if (status == PX_OK) {
        status = save_all(t, writer, err);
        if (status == PX_OK)
            status = px_npz_commit(writer, err);
        else
            px_npz_abandon(writer);
    }
    if (status != PX_OK) {
        char kept[64] = "there is no earlier one";
        if (t->checkpoint_step >= 0)
            snprintf(kept, sizeof kept, "the one of %" PRId64 " steps stays", t->checkpoint_step);
        return px_fail_in(err, status, "the checkpoint after %" PRId64 " steps failed, %s",
                          pxi_train_steps_done(t), kept);
    }
    t->checkpoint_step = pxi_train_steps_done(t);
    t->checkpoint_at_s = px_clock_s();
    return PX_OK;
}
