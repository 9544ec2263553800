/* src/train/checkpoint_load.c - going on from a checkpoint
 *
 * The file is believed only where it fits: the same facts, the same shapes, counts in their ranges.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/checkpoint.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <internal/engine.h>
#include <internal/field.h>
#include <internal/npz_meta.h>
#include <internal/ranks.h>
#include <internal/weights.h>
#include <plexor/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static px_status load_fail(const px_trainer *t, const char *what, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s': not a checkpoint that can be used: %s", t->o.checkpoint,
                   what);
}

static px_status load_facts(const px_trainer *t, const px_json_value *facts, px_error *err)
{
    if (!facts || facts->kind != PX_JSON_OBJECT)
        return load_fail(t, "its facts are missing", err);
    for (size_t i = 0; i < t->fact_count; i++) {
        const px_json_value *fact = px_json_member(facts, t->facts[i].key);
        const char *was = fact && fact->kind == PX_JSON_STRING ? fact->string : "?";
        if (strcmp(was, t->facts[i].value) != 0)
            return px_fail(err, PX_E_MISMATCH,
                           "'%s' is of another run: %s was '%.100s' there and is '%.100s' now; "
                           "give the same, or start again with another checkpoint",
                           t->o.checkpoint, t->facts[i].key, was, t->facts[i].value);
    }
    return PX_OK;
}

static px_status load_state(px_trainer *t, const px_json_value *object, px_error *err)
{
    train_state s = {0};
    if (!object || px_fields_read(pxi_train_state_fields, object, &s, NULL) != PX_OK)
        return load_fail(t, "its state is incomplete", err);
    if (s.epoch < 0 || s.epoch > t->o.epochs || s.step < 0 || s.step > t->steps ||
        (s.epoch == t->o.epochs && s.step > 0) || s.halvings < 0 || s.halvings > 1000 ||
        s.retries < 0 || s.seen < 0 || s.seen > t->samples || s.correct < 0 || s.correct > s.seen ||
        s.best_epoch < 0 || s.best_epoch > s.epoch || s.trained < 0 || !(s.train_s >= 0.0) ||
        s.history_count < s.epoch || s.history_count > s.epoch + 1)
        return load_fail(t, "its state is out of range", err);
    t->state = s;
    return PX_OK;
}

static px_status load_meta(px_trainer *t, const px_npz *npz, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    px_error why = {0};
    if (pxi_meta_take(npz, PXI_CHECKPOINT_FORMAT, PXI_CHECKPOINT_VERSION, &document, &root, &why))
        return load_fail(t, why.message, err);
    px_status status = load_facts(t, px_json_member(root, "facts"), err);
    PX_THEN(status, load_state(t, px_json_member(root, "state"), err));
    px_json_free(document);
    return status;
}

static px_status load_history(px_trainer *t, const px_npz *npz, px_error *err)
{
    const px_tensor *rows = px_npz_get(npz, "history");
    if (!rows || rows->dtype != PX_FLOAT64 || rows->shape.rank != 2 ||
        rows->shape.dim[0] != t->state.history_count || rows->shape.dim[1] != PXI_HISTORY_COLUMNS)
        return load_fail(t, "its history does not fit", err);
    PX_TRY(pxi_history_reserve(t, (size_t)rows->shape.dim[0], err));
    const double *row = rows->data;
    for (int64_t i = 0; i < t->state.history_count; i++, row += PXI_HISTORY_COLUMNS) {
        if (!(row[0] >= 1.0 && row[0] <= (double)t->o.epochs))
            return load_fail(t, "its history does not fit", err);
        pxi_history_read(row, &t->history[i]);
    }
    return PX_OK;
}

static px_status load_weights(const px_trainer *t, px_weights *weights, const char *group,
                              const px_npz *npz, px_error *err)
{
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        char name[PXI_CHECKPOINT_NAME];
        snprintf(name, sizeof name, "%s/%zu", group, i);
        const px_tensor *from = px_npz_get(npz, name);
        px_tensor *to = &px_weights_get(weights, i)->tensor;
        if (!from || from->dtype != PX_FLOAT32 || !px_shape_equal(&from->shape, &to->shape))
            return load_fail(t, "its weights are not this network's", err);
        memcpy(to->data, from->data, px_tensor_bytes(to));
    }
    return PX_OK;
}

static const px_tensor *load_find(const void *context, const char *name)
{
    char full[PXI_CHECKPOINT_NAME];
    snprintf(full, sizeof full, "optimizer/%s", name);
    return px_npz_get(context, full);
}

static px_status load_all(px_trainer *t, const px_npz *npz, px_error *err)
{
    PX_TRY(load_meta(t, npz, err));
    PX_TRY(load_history(t, npz, err));
    PX_TRY(load_weights(t, t->weights, "weights", npz, err));
    if (t->best)
        PX_TRY(load_weights(t, t->best, "best", npz, err));
    px_status status = px_optimizer_restore(t->optimizer, load_find, npz, err);
    if (status == PX_OK && px_schedule_state(t->schedule).data) {
        const px_tensor *schedule = px_npz_get(npz, "schedule");
        if (!schedule)
            return load_fail(t, "its schedule is missing", err);
        status = px_schedule_restore(t->schedule, schedule, err);
    }
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", t->o.checkpoint);
    return px_plan_refresh(t->plan, err);
}

/* A process that was killed while it wrote has left "FILE.tmp-PID-N", which may be large. */
static void load_clean(const char *path)
{
    const char *name = pxi_base_name(path);
    px_text folder = {0};
    px_text_add_bytes(&folder, path, (size_t)(name - path));
    DIR *dir = opendir(name > path ? px_text_get(&folder) : ".");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const size_t length = strlen(name);
        long pid = 0;
        unsigned serial = 0;
        if (strncmp(entry->d_name, name, length) != 0 ||
            sscanf(entry->d_name + length, ".tmp-%ld-%u", &pid, &serial) != 2 || pid <= 0 ||
            kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    px_text_done(&folder);
}

/* For a run that begins anew. What is no checkpoint is somebody else's, and stays. */
static px_status checkpoint_remove(const px_trainer *t, px_error *err)
{
    px_npz *npz = NULL;
    if (pxi_ranks_mute())
        return PX_OK;
    PX_TRY(px_npz_open(t->o.checkpoint, &npz, err));
    const bool own = px_npz_get(npz, "meta") && px_npz_get(npz, "history");
    px_npz_close(npz);
    if (!own)
        return load_fail(t, "it is something else, which --fresh leaves alone", err);
    return unlink(t->o.checkpoint) == 0 ? PX_OK : pxi_file_fail(err, t->o.checkpoint, "remove");
}

static px_status checkpoint_find(px_trainer *t, px_error *err)
{
    struct stat info;
    t->checkpoint_step = -1;
    if (t->o.checkpoint && !pxi_ranks_mute() && (t->o.resume || t->o.fresh))
        load_clean(t->o.checkpoint);
    if (!t->o.checkpoint || stat(t->o.checkpoint, &info) != 0)
        return PX_OK;
    if (!t->o.resume) {
        if (!S_ISREG(info.st_mode))
            return PX_OK; /* /dev/null and the like; a folder fails when it is written */
        if (t->o.fresh)
            return checkpoint_remove(t, err);
        return px_fail(err, PX_E_INPUT,
                       "'%s': a checkpoint is there already; --resume goes on from it, --fresh "
                       "begins anew",
                       t->o.checkpoint);
    }
    px_npz *npz = NULL;
    PX_TRY(px_npz_open(t->o.checkpoint, &npz, err));
    const px_status status = load_all(t, npz, err);
    px_npz_close(npz);
    if (status == PX_OK)
        t->resumed_step = t->checkpoint_step = pxi_train_steps_done(t);
    return status;
}

px_status pxi_checkpoint_open(px_trainer *t, px_error *err)
{
    px_status status = checkpoint_find(t, err);
    if (!pxi_ranks_together())
        return status;
    PX_TRY(pxi_ranks_meet("a checkpoint that is looked for", 0, status, 0, err));
    return pxi_ranks_agree("the checkpoint", (uint64_t)t->resumed_step, err);
}
