/* src/store/schema.c - the tables, and how older ones become the present ones
 *
 * user_version counts the steps that were taken. A step is never changed once it was released; what
 * is new comes as another step.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#define SCHEMA_APPLICATION 0x504c5852 /* "PLXR", in the file's header */

static const char *const schema_steps[] = {
    "CREATE TABLE run(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;CREATE "
    "TABLE input( id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK(kind IN ('seed', 'kept', "
    "'fault')), parent INTEGER REFERENCES input(id), root INTEGER REFERENCES input(id), data_index "
    "INTEGER, label INTEGER, prediction INTEGER, confidence REAL, l0 INTEGER, l2 REAL, linf REAL, "
    "step INTEGER NOT NULL, twin INTEGER REFERENCES input(id), chain TEXT, found_s REAL, pixels "
    "BLOB NOT NULL);" /* last: counting does not read it */
    "CREATE INDEX input_kind ON input(kind, label, prediction, twin);CREATE TABLE coverage(step "
    "INTEGER NOT NULL, criterion TEXT NOT NULL, value REAL, at_s REAL, PRIMARY KEY(criterion, "
    "step)) WITHOUT ROWID;CREATE TABLE neuron(measure TEXT NOT NULL, class INTEGER NOT NULL, layer "
    "TEXT NOT NULL, idx INTEGER NOT NULL, score REAL, PRIMARY KEY(measure, class, layer, idx)) "
    "WITHOUT ROWID;CREATE TABLE state(name TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, data "
    "BLOB NOT NULL);",
    /* How near faults are to their roots, what their roots are called in the data, what classes are
     * called, and how often mutations were tried. */
    "CREATE TABLE closeness(id INTEGER PRIMARY KEY REFERENCES input(id), similarity REAL, inside "
    "REAL);CREATE TABLE name(id INTEGER PRIMARY KEY REFERENCES input(id), name TEXT NOT "
    "NULL);CREATE TABLE class(class INTEGER PRIMARY KEY, name TEXT NOT NULL);CREATE TABLE "
    "mode(mutation TEXT NOT NULL, band INTEGER NOT NULL, class INTEGER NOT NULL, tries INTEGER NOT "
    "NULL, faults INTEGER NOT NULL, close INTEGER NOT NULL, PRIMARY KEY(mutation, band, class)) "
    "WITHOUT ROWID;",
};

static px_status schema_step(px_campaign *campaign, int64_t step, px_error *err)
{
    px_text sql = {0};
    px_text_format(&sql, "BEGIN IMMEDIATE; %s PRAGMA user_version = %lld; COMMIT",
                   schema_steps[step], (long long)step + 1);
    px_status status = px_text_failed(&sql) ? pxi_store_nomem(campaign, err)
                                            : pxi_store_execute(campaign, px_text_get(&sql), err);
    if (status != PX_OK)
        sqlite3_exec(campaign->db, "ROLLBACK", NULL, NULL, NULL);
    px_text_done(&sql);
    return status;
}

px_status pxi_store_migrate(px_campaign *campaign, bool *empty, px_error *err)
{
    const int64_t present = (int64_t)PX_LEN(schema_steps);
    int64_t version = 0, application = 0, tables = 0;
    PX_TRY(pxi_store_pragma_int(campaign, "PRAGMA user_version", &version, err));
    PX_TRY(pxi_store_pragma_int(campaign, "PRAGMA application_id", &application, err));
    PX_TRY(pxi_store_pragma_int(campaign, "SELECT count(*) FROM sqlite_schema", &tables, err));
    *empty = version == 0;
    if (tables && application != SCHEMA_APPLICATION)
        return px_fail(err, PX_E_INPUT, "'%s': is a database, but not one of a campaign",
                       campaign->file);
    if (version < 0 || version > present)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': was written by a newer plexor (its schema is %lld, this one knows "
                       "%lld)",
                       campaign->file, (long long)version, (long long)present);
    campaign->version = version;
    if (campaign->mode == PX_CAMPAIGN_READ) /* what an older one lacks is unknown */
        return PX_OK;
    if (!tables)
        PX_TRY(pxi_store_execute(campaign, "PRAGMA application_id = 0x504c5852", err));
    PX_TRY(
        pxi_store_execute(campaign, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err));
    for (; version < present; version++)
        PX_TRY(schema_step(campaign, version, err));
    campaign->version = version;
    return PX_OK;
}
