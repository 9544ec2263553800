/* src/train/checkpoint.c - writing checkpoints: whole or not at all, the old one until then */
#include "train/checkpoint.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/system.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <plexor/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void meta_whole(px_json *json, const char *name, int64_t value)
{
    px_json_int(json, name, value);
}

static void meta_real(px_json *json, const char *name, double value)
{
    px_json_real(json, name, value);
}

static void meta_flag(px_json *json, const char *name, bool value)
{
    px_json_bool(json, name, value);
}

static px_status save_meta(const px_trainer *t, px_npz_writer *writer, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "format", PXI_CHECKPOINT_FORMAT);
    px_json_int(&json, "version", PXI_CHECKPOINT_VERSION);
    px_json_string(&json, "plexor", px_version());
    px_json_object(&json, "facts");
    for (size_t i = 0; i < t->fact_count; i++)
        px_json_string(&json, t->facts[i].key, t->facts[i].value);
    px_json_end(&json);
    px_json_object(&json, "state");
#define META_PUT(kind, name) meta_##kind(&json, #name, t->state.name);
    PXI_TRAIN_STATE(META_PUT)
#undef META_PUT
    px_json_end(&json);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    px_status status = PX_OK;
    if (!text) {
        status = pxi_no_memory(err);
    } else {
        const px_tensor bytes = {
            .dtype = PX_UINT8,
            .shape = {.rank = 1, .dim = {(int64_t)strlen(text)}},
            .data = (void *)text, /* px_npz_add() reads only */
        };
        status = px_npz_add(writer, "meta", &bytes, err);
    }
    px_json_done(&json);
    return status;
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
