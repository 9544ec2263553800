/* src/store/stored.c - reading: inputs one by one, so that a damaged one does not hide the others
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/store.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- one row --------------------------------------------------------------------------------- */

static bool stored_kind(const char *text, px_input_kind *out)
{
    static const px_input_kind kinds[] = {PX_INPUT_SEED, PX_INPUT_KEPT, PX_INPUT_FAULT};
    for (size_t i = 0; text && i < PX_LEN(kinds); i++)
        if (strcmp(text, px_input_kind_name(kinds[i])) == 0) {
            *out = kinds[i];
            return true;
        }
    return false;
}

/* NULL is `none`; anything but a whole number from `least` on is not good. */
static bool stored_int(sqlite3_stmt *s, int column, int64_t none, int64_t least, int64_t *out)
{
    const int type = sqlite3_column_type(s, column);
    *out = type == SQLITE_NULL ? none : sqlite3_column_int64(s, column);
    return type == SQLITE_NULL || (type == SQLITE_INTEGER && *out >= least);
}

static bool stored_real(sqlite3_stmt *s, int column, double *out)
{
    const int type = sqlite3_column_type(s, column);
    *out = type == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
    return type == SQLITE_NULL || type == SQLITE_FLOAT || type == SQLITE_INTEGER;
}

static bool stored_chain(px_campaign *campaign, sqlite3_stmt *s, int column)
{
    px_text_clear(&campaign->chain);
    if (sqlite3_column_type(s, column) == SQLITE_NULL)
        return true;
    const char *text = pxi_store_column_text(s, column, PXI_STORE_CHAIN_MOST);
    if (text)
        px_text_add(&campaign->chain, text);
    return text && !px_text_failed(&campaign->chain);
}

static bool stored_decode(px_campaign *campaign, sqlite3_stmt *s, px_campaign_input *out)
{
    px_campaign_input in = {0};
    bool good = stored_int(s, 0, 0, 1, &in.id);
    good = good && stored_kind(pxi_store_column_text(s, 1, 8), &in.kind);
    good = good && stored_int(s, 2, 0, 1, &in.parent) && stored_int(s, 3, 0, 1, &in.root);
    good = good && stored_int(s, 4, -1, 0, &in.data_index) && stored_int(s, 5, -1, 0, &in.label);
    good = good && stored_int(s, 6, -1, 0, &in.prediction) && stored_real(s, 7, &in.confidence);
    good = good && stored_int(s, 8, -1, 0, &in.l0) && stored_real(s, 9, &in.l2);
    good = good && stored_real(s, 10, &in.linf) && stored_int(s, 11, 0, INT64_MIN, &in.step);
    good = good && stored_int(s, 12, 0, 1, &in.twin) && stored_chain(campaign, s, 13);
    good = good && stored_real(s, 14, &in.found_s);
    /* A parent is always older: so lineages end. */
    good = good && in.parent < in.id && in.root < in.id && in.twin != in.id;
    good = good && (in.kind == PX_INPUT_SEED ? !in.parent && !in.root : in.parent && in.root);
    in.chain = px_text_get(&campaign->chain);
    *out = in;
    return good;
}

static px_status stored_damaged(const px_campaign *campaign, int64_t id, px_error *err)
{
    return px_fail(err, PX_E_INPUT,
                   "'%s': input %" PRId64 " is damaged; 'plexor export' writes what is readable",
                   campaign->file, id);
}

/* Steps a statement that gives an input; *out is {0} where there is none. */
static px_status stored_step(px_campaign *campaign, sqlite3_stmt *s, px_campaign_input *out,
                             void *pixels, int *code, px_error *err)
{
    px_status status = PX_OK;
    *out = (px_campaign_input){0};
    *code = sqlite3_step(s);
    if (*code == SQLITE_ROW) {
        px_campaign_input in;
        const int64_t id = sqlite3_column_int64(s, 0);
        if (!stored_decode(campaign, s, &in)) {
            status = px_text_failed(&campaign->chain) ? pxi_store_nomem(campaign, err)
                                                      : stored_damaged(campaign, id, err);
            px_text_done(&campaign->chain);
        } else if (pixels && sqlite3_column_type(s, 15) != SQLITE_BLOB) {
            status = stored_damaged(campaign, id, err);
        } else if (pixels) {
            const void *bytes = sqlite3_column_blob(s, 15);
            const size_t size = (size_t)sqlite3_column_bytes(s, 15);
            status = pxi_store_unpack(campaign, bytes, size, pixels);
            if (status == PX_E_NOMEM)
                pxi_store_nomem(campaign, err);
            else if (status != PX_OK)
                stored_damaged(campaign, id, err);
        }
        PX_THEN(status, pxi_store_near_read(campaign, &in, err));
        out->id = id; /* also of a damaged one, so that reading can go on behind it */
        if (status == PX_OK)
            *out = in;
    } else if (*code != SQLITE_DONE) {
        status = pxi_store_fail(campaign, *code, err);
    }
    sqlite3_reset(s);
    return status;
}

static px_status stored_ready(const px_campaign *campaign, px_error *err)
{
    if (campaign->identified)
        return PX_OK;
    return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", campaign->folder);
}

px_status px_campaign_read(px_campaign *campaign, int64_t id, px_campaign_input *out, void *pixels,
                           px_error *err)
{
    sqlite3_stmt *read;
    px_campaign_input in;
    int code;
    PX_TRY(stored_ready(campaign, err));
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_READ, &read, err));
    sqlite3_bind_int64(read, 1, id);
    PX_TRY(stored_step(campaign, read, &in, pixels, &code, err));
    if (in.id && in.id != id) /* a damaged tree leads anywhere */
        return stored_damaged(campaign, id, err);
    if (!in.id)
        return px_fail(err, PX_E_USAGE, "'%s': has no input %" PRId64, campaign->folder, id);
    *out = in;
    return PX_OK;
}

/* --- one after the other --------------------------------------------------------------------- */

/* No file has more inputs than this: a row takes bytes. */
static px_status stored_bound(px_campaign *campaign, int64_t *out, px_error *err)
{
    enum { ROW_LEAST = 24 };
    sqlite3_stmt *pages;
    int64_t bytes = 0;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_PAGES, &pages, err));
    const int code = sqlite3_step(pages);
    if (code == SQLITE_ROW)
        bytes = sqlite3_column_int64(pages, 0);
    sqlite3_reset(pages);
    *out = bytes / ROW_LEAST;
    return code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
}

/* What SQLite says when it is asked for the last id; *found is set on SQLITE_OK only. */
static int stored_last(px_campaign *campaign, pxi_store_statement which, int64_t bound,
                       int64_t *found)
{
    sqlite3_stmt *last;
    if (pxi_store_statement_get(campaign, which, &last, NULL) != PX_OK)
        return sqlite3_extended_errcode(campaign->db);
    int code = sqlite3_step(last);
    if (code == SQLITE_ROW) {
        const int64_t id = sqlite3_column_int64(last, 0);
        code = id < 0 || id > bound ? SQLITE_CORRUPT : SQLITE_OK;
        if (code == SQLITE_OK)
            *found = id;
    }
    sqlite3_reset(last);
    return code;
}

px_status px_campaign_last(px_campaign *campaign, int64_t *id, px_error *err)
{
    int64_t bound, found = 0;
    PX_TRY(stored_bound(campaign, &bound, err));
    int code = stored_last(campaign, PXI_SQL_LAST, bound, &found);
    if (code != SQLITE_OK &&
        (campaign->mode != PX_CAMPAIGN_READ || !pxi_store_is_damage(campaign, code)))
        return pxi_store_fail(campaign, code, err);
    if (code != SQLITE_OK) /* the index lies on other pages */
        code = stored_last(campaign, PXI_SQL_LAST_INDEXED, bound, &found);
    *id = code == SQLITE_OK ? found : bound;
    return PX_OK;
}

/* The way round a damaged page: every id by itself. */
static px_status stored_search_in(px_campaign *campaign, int64_t after, unsigned kinds,
                                  px_campaign_input *out, void *pixels, int64_t *damaged,
                                  px_error *err)
{
    int64_t last;
    PX_TRY(px_campaign_last(campaign, &last, err));
    *out = (px_campaign_input){0};
    for (int64_t id = after + 1; id <= last; id++) {
        px_campaign_input in;
        const px_status status = px_campaign_read(campaign, id, &in, pixels, err);
        if (status == PX_OK && (in.kind & kinds)) {
            *out = in;
            return PX_OK;
        }
        if (status == PX_E_INPUT)
            ++*damaged;
        else if (status != PX_OK && status != PX_E_USAGE)
            return status;
    }
    return PX_OK;
}

/* In one transaction: a lock for every id would take most of the time. */
static px_status stored_search(px_campaign *campaign, int64_t after, unsigned kinds,
                               px_campaign_input *out, void *pixels, int64_t *damaged,
                               px_error *err)
{
    const bool own = sqlite3_get_autocommit(campaign->db) &&
                     sqlite3_exec(campaign->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    const px_status status = stored_search_in(campaign, after, kinds, out, pixels, damaged, err);
    if (own && !sqlite3_get_autocommit(campaign->db))
        sqlite3_exec(campaign->db, "ROLLBACK", NULL, NULL, NULL); /* there is nothing to undo */
    return status;
}

px_status px_campaign_next(px_campaign *campaign, int64_t after, unsigned kinds,
                           px_campaign_input *out, void *pixels, int64_t *damaged, px_error *err)
{
    if (px_cancelled())
        return px_fail(err, PX_E_CANCELLED, "cancelled after input %" PRId64, after);
    PX_TRY(stored_ready(campaign, err));
    for (;;) {
        sqlite3_stmt *next;
        px_campaign_input in;
        int code;
        PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_NEXT, &next, err));
        sqlite3_bind_int64(next, 1, after);
        sqlite3_bind_int64(next, 2, (int64_t)kinds);
        px_status status = stored_step(campaign, next, &in, pixels, &code, err);
        const bool astray = code == SQLITE_ROW && in.id <= after; /* would never end */
        PX_THEN_IF(status, astray, pxi_store_fail(campaign, SQLITE_CORRUPT, err));
        if (status == PX_OK) {
            *out = in;
            return PX_OK;
        }
        if (status != PX_E_INPUT || !damaged)
            return status;
        if (code != SQLITE_ROW || astray)
            return stored_search(campaign, after, kinds, out, pixels, damaged, err);
        ++*damaged;
        after = in.id;
    }
}

px_status px_campaign_lineage(px_campaign *campaign, int64_t id, int64_t **ids, size_t *count,
                              px_error *err)
{
    int64_t *list = NULL;
    size_t used = 0, room = 0;
    for (int64_t at = id; at;) {
        px_campaign_input in;
        px_status status = px_campaign_read(campaign, at, &in, NULL, err);
        PX_THEN_IF(status, pxi_grow(&list, &room, used + 1, sizeof *list) != 0,
                   pxi_store_nomem(campaign, err));
        if (status != PX_OK) {
            free(list);
            /* an ancestor that is not there is the file's fault, not the caller's */
            return status == PX_E_USAGE && at != id ? stored_damaged(campaign, at, err) : status;
        }
        list[used++] = at;
        at = in.parent; /* always smaller */
    }
    *ids = list;
    *count = used;
    return PX_OK;
}

/* --- the other tables ------------------------------------------------------------------------ */

px_status px_campaign_get(px_campaign *campaign, const char *key, char **out, px_error *err)
{
    sqlite3_stmt *get;
    px_status status = PX_OK;
    char *copy = NULL;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_GET, &get, err));
    if (sqlite3_bind_text(get, 1, key, -1, SQLITE_STATIC) != SQLITE_OK)
        return pxi_store_nomem(campaign, err);
    const int code = sqlite3_step(get);
    if (code == SQLITE_ROW) {
        const char *text = pxi_store_column_text(get, 0, PXI_STORE_SETTINGS_MOST);
        if (!text)
            status = px_fail(err, PX_E_INPUT, "'%s': is damaged: '%s' is not readable",
                             campaign->file, key);
        else if (!(copy = pxi_strdup(text)))
            status = pxi_store_nomem(campaign, err);
    } else if (code != SQLITE_DONE) {
        status = pxi_store_fail(campaign, code, err);
    }
    sqlite3_reset(get);
    sqlite3_clear_bindings(get);
    if (status == PX_OK)
        *out = copy;
    return status;
}

double px_campaign_get_real(px_campaign *campaign, const char *key, double otherwise)
{
    char *text = NULL, *end = NULL;
    double value = otherwise;
    if (px_campaign_get(campaign, key, &text, NULL) == PX_OK && text) {
        const double read = strtod(text, &end);
        if (end != text && *end == '\0')
            value = read;
    }
    free(text);
    return value;
}

px_status px_campaign_get_blob(px_campaign *campaign, const char *name, void **out, size_t *size,
                               px_error *err)
{
    sqlite3_stmt *get;
    void *bytes = NULL;
    size_t plain = 0;
    px_status status = PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_GET_STATE, &get, err));
    if (sqlite3_bind_text(get, 1, name, -1, SQLITE_STATIC) != SQLITE_OK)
        return pxi_store_nomem(campaign, err);
    const int code = sqlite3_step(get);
    if (code == SQLITE_ROW) {
        const int64_t claimed = sqlite3_column_int64(get, 0);
        const void *packed = sqlite3_column_blob(get, 1);
        const int64_t there = sqlite3_column_bytes(get, 1);
        /* zlib packs at most 1 : 1032 */
        const bool good = packed && sqlite3_column_type(get, 1) == SQLITE_BLOB && claimed >= 0 &&
                          claimed <= (int64_t)PX_CAMPAIGN_BLOB_MOST && claimed / 1032 <= there;
        plain = good ? (size_t)claimed : 0;
        bytes = good ? pxi_calloc(plain + 1, 1) : NULL;
        status = !good   ? PX_E_INPUT
                 : bytes ? pxi_store_inflate(packed, (size_t)there, bytes, plain)
                         : PX_E_NOMEM;
        if (status == PX_E_NOMEM)
            pxi_store_nomem(campaign, err);
        else if (status != PX_OK)
            px_fail(err, PX_E_INPUT, "'%s': is damaged: '%s' is not readable", campaign->file,
                    name);
    } else if (code != SQLITE_DONE) {
        status = pxi_store_fail(campaign, code, err);
    }
    sqlite3_reset(get);
    sqlite3_clear_bindings(get);
    if (status != PX_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *size = plain;
    return PX_OK;
}
