/* src/store/schema.c - the tables, and how older ones become the present ones
 *
 * user_version counts the steps that were taken. A step is never changed once it was released; what
 * is new comes as another step.
 */
#include "store/store_inside.h"

#include "base/memory.h"

#define SCHEMA_APPLICATION 0x504c5852 /* "PLXR", in the file's header */

static const char *const schema_steps[] = {
    "CREATE TABLE run(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE input("
    " id INTEGER PRIMARY KEY,"
    " kind TEXT NOT NULL CHECK(kind IN ('seed', 'kept', 'fault')),"
    " parent INTEGER REFERENCES input(id),"
    " root INTEGER REFERENCES input(id),"
    " data_index INTEGER, label INTEGER, prediction INTEGER, confidence REAL,"
    " l0 INTEGER, l2 REAL, linf REAL,"
    " step INTEGER NOT NULL,"
    " twin INTEGER REFERENCES input(id),"
    " chain TEXT,"
    " found_s REAL,"
    " pixels BLOB NOT NULL);" /* last: counting does not read it */
    "CREATE INDEX input_kind ON input(kind, label, prediction, twin);"
    "CREATE TABLE coverage(step INTEGER NOT NULL, criterion TEXT NOT NULL, value REAL, at_s REAL,"
    " PRIMARY KEY(criterion, step)) WITHOUT ROWID;"
    "CREATE TABLE neuron(measure TEXT NOT NULL, class INTEGER NOT NULL, layer TEXT NOT NULL,"
    " idx INTEGER NOT NULL, score REAL, PRIMARY KEY(measure, class, layer, idx)) WITHOUT ROWID;"
    "CREATE TABLE state(name TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, data BLOB NOT "
    "NULL);",
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
    if (campaign->mode == PX_CAMPAIGN_READ) {
        if (version != 0 && version != present)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "'%s': was written by an older plexor; resuming it brings it up to date",
                           campaign->file);
        return PX_OK;
    }
    if (!tables)
        PX_TRY(pxi_store_execute(campaign, "PRAGMA application_id = 0x504c5852", err));
    PX_TRY(
        pxi_store_execute(campaign, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err));
    for (; version < present; version++)
        PX_TRY(schema_step(campaign, version, err));
    return PX_OK;
}
