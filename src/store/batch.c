/* src/store/batch.c - writing: a batch is one transaction, all of it or nothing */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/store.h>
#include <internal/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

px_status pxi_store_batch(px_campaign *campaign, px_error *err)
{
    sqlite3_stmt *begin;
    if (campaign->mode == PX_CAMPAIGN_READ)
        return px_fail(err, PX_E_USAGE, "'%s': was opened for reading", campaign->folder);
    if (campaign->in_batch)
        return PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_BEGIN, &begin, err));
    PX_TRY(pxi_store_run(campaign, begin, err));
    campaign->in_batch = true;
    return PX_OK;
}

void px_campaign_rollback(px_campaign *campaign)
{
    if (!campaign->in_batch)
        return;
    /* SQLite may have rolled back by itself, after a full disk for one. */
    if (!sqlite3_get_autocommit(campaign->db))
        sqlite3_exec(campaign->db, "ROLLBACK", NULL, NULL, NULL);
    campaign->in_batch = false;
    campaign->last = campaign->committed;
}

/* Whatever fails takes the batch with it. */
px_status pxi_store_batch_end(px_campaign *campaign, px_status status)
{
    if (status != PX_OK)
        px_campaign_rollback(campaign);
    return status;
}

/* A folder that was removed or renamed: SQLite would go on into a file that nobody finds. */
static px_status batch_in_place(const px_campaign *campaign, px_error *err)
{
    int moved = 0;
    if (sqlite3_file_control(campaign->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
        moved)
        return px_fail(err, PX_E_IO,
                       "'%s': was removed or renamed while it was written; nothing more goes there",
                       campaign->folder);
    return PX_OK;
}

void px_campaign_watch(px_campaign *campaign, px_campaign_told told, void *context)
{
    campaign->told = told;
    campaign->told_context = context;
}

/* Of the failures behind input `after`. */
static px_status batch_tell(px_campaign *campaign, int64_t after, px_error *err)
{
    px_campaign_input fault = {.id = after};
    while (campaign->told && fault.id < campaign->committed) {
        PX_TRY(px_campaign_next(campaign, fault.id, PX_INPUT_FAULT, &fault, NULL, NULL, err));
        if (fault.id == 0)
            break;
        PX_TRY(campaign->told(campaign->told_context, campaign, fault.id, err));
    }
    return PX_OK;
}

px_status px_campaign_commit(px_campaign *campaign, px_error *err)
{
    sqlite3_stmt *commit;
    const int64_t before = campaign->committed;
    if (!campaign->in_batch)
        return PX_OK;
    px_status status = batch_in_place(campaign, err);
    PX_THEN(status, pxi_store_statement_get(campaign, PXI_SQL_COMMIT, &commit, err));
    PX_THEN(status, pxi_store_run(campaign, commit, err));
    if (status != PX_OK)
        return pxi_store_batch_end(campaign, status);
    campaign->in_batch = false;
    campaign->committed = campaign->last;
    return batch_tell(campaign, before, err);
}

/* Ready to bind, in a batch. */
px_status pxi_store_batch_statement(px_campaign *campaign, pxi_store_statement which,
                                    sqlite3_stmt **out, px_error *err)
{
    PX_TRY(pxi_store_batch(campaign, err));
    return pxi_store_batch_end(campaign, pxi_store_statement_get(campaign, which, out, err));
}

px_status pxi_store_batch_run(px_campaign *campaign, sqlite3_stmt *statement, int bound,
                              px_error *err)
{
    px_status status = bound == SQLITE_OK ? PX_OK : pxi_store_nomem(campaign, err);
    PX_THEN(status, pxi_store_run(campaign, statement, err));
    sqlite3_clear_bindings(statement);
    return pxi_store_batch_end(campaign, status);
}

static px_status batch_name(px_campaign *campaign, const char *what, const char *name,
                            px_error *err)
{
    const size_t length = strlen(name);
    if (length >= 1 && length <= PXI_STORE_NAME_MOST)
        return PX_OK;
    return pxi_store_batch_end(campaign,
                               px_fail(err, PX_E_USAGE, "'%s': the %s '%.32s' has %zu bytes",
                                       campaign->folder, what, name, length));
}

/* --- inputs ---------------------------------------------------------------------------------- */

const char *px_input_kind_name(px_input_kind kind)
{
    return kind == PX_INPUT_SEED    ? "seed"
           : kind == PX_INPUT_KEPT  ? "kept"
           : kind == PX_INPUT_FAULT ? "fault"
                                    : "?";
}

static px_status batch_check(const px_campaign *campaign, const px_campaign_input *input,
                             px_error *err)
{
    const bool seed = input->kind == PX_INPUT_SEED;
    if (!campaign->identified)
        return px_fail(err, PX_E_USAGE, "'%s': has no identity yet", campaign->folder);
    if (!seed && input->kind != PX_INPUT_KEPT && input->kind != PX_INPUT_FAULT)
        return px_fail(err, PX_E_USAGE, "'%s': an input is a seed, kept or a failure",
                       campaign->folder);
    if (seed ? input->parent || input->root
             : input->parent < 1 || input->parent > campaign->last || input->root < 1 ||
                   input->root > campaign->last)
        return px_fail(err, PX_E_USAGE,
                       "'%s': parent %" PRId64 " and root %" PRId64 " of a %s are not before it",
                       campaign->folder, input->parent, input->root,
                       px_input_kind_name(input->kind));
    if (input->twin < 0 || input->twin > campaign->last)
        return px_fail(err, PX_E_USAGE, "'%s': twin %" PRId64 " is not before it", campaign->folder,
                       input->twin);
    if (input->chain && strlen(input->chain) > PXI_STORE_CHAIN_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': a chain of %zu bytes is too long",
                       campaign->folder, strlen(input->chain));
    return PX_OK;
}

/* 0, -1 and NaN for "there is none" are NULL in the file. */
static int bind_id(sqlite3_stmt *statement, int at, int64_t id)
{
    return id > 0 ? sqlite3_bind_int64(statement, at, id) : sqlite3_bind_null(statement, at);
}

static int bind_index(sqlite3_stmt *statement, int at, int64_t value)
{
    return value >= 0 ? sqlite3_bind_int64(statement, at, value) : sqlite3_bind_null(statement, at);
}

static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return text && *text ? sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC)
                         : sqlite3_bind_null(statement, at);
}

static int bind_input(sqlite3_stmt *s, int64_t id, const px_campaign_input *in)
{
    int bound = sqlite3_bind_int64(s, 1, id);
    bound |= bind_text(s, 2, px_input_kind_name(in->kind));
    bound |= bind_id(s, 3, in->parent);
    bound |= bind_id(s, 4, in->root);
    bound |= bind_index(s, 5, in->data_index);
    bound |= bind_index(s, 6, in->label);
    bound |= bind_index(s, 7, in->prediction);
    bound |= sqlite3_bind_double(s, 8, in->confidence); /* NaN becomes NULL */
    bound |= bind_index(s, 9, in->l0);
    bound |= sqlite3_bind_double(s, 10, in->l2);
    bound |= sqlite3_bind_double(s, 11, in->linf);
    bound |= sqlite3_bind_int64(s, 12, in->step);
    bound |= bind_id(s, 13, in->twin);
    bound |= bind_text(s, 14, in->chain);
    return bound | sqlite3_bind_double(s, 15, in->found_s);
}

px_status px_campaign_put(px_campaign *campaign, const px_campaign_input *input, const void *pixels,
                          int64_t *id, px_error *err)
{
    sqlite3_stmt *put;
    const uint8_t *packed;
    size_t size;
    PX_TRY(pxi_store_batch_end(campaign, batch_check(campaign, input, err)));
    PX_TRY(pxi_store_batch_end(campaign, pxi_store_pack(campaign, pixels, &packed, &size, err)));
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT, &put, err));
    int bound = bind_input(put, campaign->last + 1, input);
    bound |= sqlite3_bind_blob64(put, 16, packed, size, SQLITE_STATIC);
    PX_TRY(pxi_store_batch_run(campaign, put, bound, err));
    PX_TRY(pxi_store_near_put(campaign, campaign->last + 1, input, err));
    campaign->last++;
    if (id)
        *id = campaign->last;
    return PX_OK;
}

/* --- the other tables ------------------------------------------------------------------------ */

px_status px_campaign_put_coverage(px_campaign *campaign, int64_t step, const char *criterion,
                                   double value, double at_s, px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(batch_name(campaign, "criterion", criterion, err));
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_COVERAGE, &put, err));
    int bound = sqlite3_bind_int64(put, 1, step);
    bound |= bind_text(put, 2, criterion);
    bound |= sqlite3_bind_double(put, 3, value);
    bound |= sqlite3_bind_double(put, 4, at_s);
    return pxi_store_batch_run(campaign, put, bound, err);
}

px_status px_campaign_put_neuron(px_campaign *campaign, const char *measure, int cls,
                                 const char *layer, int64_t index, double score, px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(batch_name(campaign, "measure", measure, err));
    PX_TRY(batch_name(campaign, "layer", layer, err));
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_NEURON, &put, err));
    int bound = bind_text(put, 1, measure);
    bound |= sqlite3_bind_int(put, 2, cls);
    bound |= bind_text(put, 3, layer);
    bound |= sqlite3_bind_int64(put, 4, index);
    bound |= sqlite3_bind_double(put, 5, score);
    return pxi_store_batch_run(campaign, put, bound, err);
}

px_status px_campaign_set(px_campaign *campaign, const char *key, const char *value, px_error *err)
{
    sqlite3_stmt *set;
    PX_TRY(batch_name(campaign, "key", key, err));
    if (strlen(value) > PXI_STORE_SETTINGS_MOST)
        return pxi_store_batch_end(campaign,
                                   px_fail(err, PX_E_UNSUPPORTED, "'%s': the value of '%s' is long",
                                           campaign->folder, key));
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_SET, &set, err));
    int bound = bind_text(set, 1, key);
    bound |= sqlite3_bind_text(set, 2, value, -1, SQLITE_STATIC);
    return pxi_store_batch_run(campaign, set, bound, err);
}

px_status px_campaign_set_int(px_campaign *campaign, const char *key, int64_t value, px_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return px_campaign_set(campaign, key, text, err);
}

px_status px_campaign_set_real(px_campaign *campaign, const char *key, double value, px_error *err)
{
    char text[PX_REAL_TEXT];
    return px_campaign_set(campaign, key, px_real_text(value, text), err);
}

px_status px_campaign_put_blob(px_campaign *campaign, const char *name, const void *bytes,
                               size_t size, px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(batch_name(campaign, "name", name, err));
    if (size > PX_CAMPAIGN_BLOB_MOST)
        return pxi_store_batch_end(campaign, px_fail(err, PX_E_UNSUPPORTED,
                                                     "'%s': '%s' of %zu bytes is too large",
                                                     campaign->folder, name, size));
    uLongf packed = compressBound((uLong)size);
    uint8_t *room = pxi_calloc(packed, 1);
    if (!room || compress2(room, &packed, size ? bytes : "", (uLong)size, 1) != Z_OK) {
        free(room);
        return pxi_store_batch_end(campaign, pxi_store_nomem(campaign, err));
    }
    px_status status = pxi_store_batch_statement(campaign, PXI_SQL_PUT_STATE, &put, err);
    if (status == PX_OK) {
        int bound = bind_text(put, 1, name);
        bound |= sqlite3_bind_int64(put, 2, (int64_t)size);
        bound |= sqlite3_bind_blob64(put, 3, room, packed, SQLITE_STATIC);
        status = pxi_store_batch_run(campaign, put, bound, err);
    }
    free(room);
    return status;
}
