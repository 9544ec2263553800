/* src/store/sql.c - SQLite: connecting, statements, errors in the user's words
 *
 * Files are not trusted: views and triggers stay off, the schema cannot call functions that do
 * things, cells are checked as pages are read, and nothing is mapped into memory.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 10000 };

static const char *const statement_texts[] = {
#define STATEMENT_TEXT(name, text) text,
    PXI_STORE_STATEMENTS(STATEMENT_TEXT)
#undef STATEMENT_TEXT
};

px_status pxi_store_nomem(const px_campaign *campaign, px_error *err)
{
    return px_fail_in(err, pxi_no_memory(err), "'%s'", campaign->folder);
}

/* A read that the disk refuses comes as damage, once SQLite has looked at it; errno still says
 * what it was, and so does the file for reads that were not the last. */
static bool sql_is_disk(const px_campaign *campaign, int code)
{
    int number = errno;
    const int primary = code & 0xff;
    if (primary != SQLITE_CORRUPT && primary != SQLITE_IOERR)
        return false;
    if (number != EIO && campaign->db)
        sqlite3_file_control(campaign->db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number == EIO;
}

bool pxi_store_is_damage(const px_campaign *campaign, int code)
{
    const int primary = code & 0xff;
    if (sql_is_disk(campaign, code))
        return false;
    /* SQLITE_ERROR: a table or column is not there, or is not what it was. A short read is a file
     * that was cut. */
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT ||
           primary == SQLITE_ERROR || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG ||
           primary == SQLITE_RANGE || code == SQLITE_IOERR_SHORT_READ;
}

/* SQLite knows ENOSPC; quotas and limits on files come as errors of input and output. When a commit
 * fails it does not keep their number, but nothing after them sets another. */
static bool sql_is_full(int code, int number)
{
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR &&
            (number == ENOSPC || number == EFBIG || number == EDQUOT));
}

px_status pxi_store_fail(const px_campaign *campaign, int code, px_error *err)
{
    const int number = errno;
    const int beneath = campaign->db ? sqlite3_system_errno(campaign->db) : 0;
    const char *why = campaign->db ? sqlite3_errmsg(campaign->db) : sqlite3_errstr(code);
    if (sql_is_full(code, number))
        return px_fail(err, PX_E_IO,
                       "'%s': the disk is full; what was committed stays: make room and go on with "
                       "--resume",
                       campaign->folder);
    if (sql_is_disk(campaign, code))
        return px_fail(err, PX_E_IO, "'%s': cannot be read: %s", campaign->file, strerror(EIO));
    if (pxi_store_is_damage(campaign, code))
        return px_fail(err, PX_E_INPUT,
                       "'%s': is damaged, or no campaign (%s); 'plexor export' writes what is "
                       "readable",
                       campaign->file, why);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return pxi_store_nomem(campaign, err);
    case SQLITE_CANTOPEN:
        if (beneath != 0) { /* what cannot be made is looked for once more, and not there */
            errno = beneath == ENOENT && campaign->mode != PX_CAMPAIGN_READ ? EIO : beneath;
            return pxi_file_fail(err, campaign->file, "open");
        }
        return px_fail(err, PX_E_INPUT, "'%s': cannot be opened: %s", campaign->file, why);
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return px_fail(err, PX_E_INPUT, "'%s': cannot be opened: %s", campaign->file, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return px_fail(err, PX_E_IO, "'%s': another process keeps it busy; try again",
                       campaign->file);
    case SQLITE_IOERR:
        if (beneath == ENOMEM)
            return pxi_store_nomem(campaign, err);
        return px_fail(err, PX_E_IO, "'%s': %s", campaign->file, why);
    default:
        return px_fail(err, PX_E_INTERNAL, "'%s': %s (SQLite %d)", campaign->file, why, code);
    }
}

/* --- connecting ------------------------------------------------------------------------------ */

static int sql_harden(sqlite3 *db)
{
    static const struct {
        int option, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    for (size_t i = 0; i < PX_LEN(settings); i++) {
        const int code = sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
        if (code != SQLITE_OK)
            return code;
    }
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 30);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_busy_timeout(db, BUSY_MS);
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

/* Touches the file, which opening alone does not. */
static int sql_touch(sqlite3 *db)
{
    return sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static int sql_open(px_campaign *campaign, const char *name, int flags)
{
    sqlite3_close(campaign->db);
    campaign->db = NULL;
    int code = sqlite3_open_v2(name, &campaign->db,
                               flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code == SQLITE_OK)
        code = sql_harden(campaign->db);
    return code == SQLITE_OK ? sql_touch(campaign->db) : code;
}

/* "file:PATH?immutable=1": for folders in which no -shm file can be made. */
static char *sql_immutable(const char *path)
{
    px_text uri = {0};
    px_text_add(&uri, "file:");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
            strchr("/._-", *p))
            px_text_add_bytes(&uri, (const char *)p, 1);
        else
            px_text_format(&uri, "%%%02X", *p);
    }
    px_text_add(&uri, "?immutable=1");
    return px_text_take(&uri);
}

/* SQLite tries to read what it cannot make, and then knows no more than that it is not there. */
static px_status sql_make(const px_campaign *campaign, px_error *err)
{
    const int fd = open(campaign->file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return pxi_file_fail(err, campaign->file, "open");
    close(fd);
    return PX_OK;
}

/* Of a rank that writes nothing: a database of its own, which goes with it, with what is in the
 * campaign so far. */
static px_status connect_private(px_campaign *campaign, px_error *err)
{
    sqlite3 *from = NULL;
    int code = sql_open(campaign, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (code == SQLITE_OK && campaign->mode == PX_CAMPAIGN_RESUME &&
        px_campaign_is(campaign->folder)) {
        code = sqlite3_open_v2(campaign->file, &from, SQLITE_OPEN_READONLY, NULL);
        if (code == SQLITE_OK) { /* after a crash one rank recovers it, and the others wait */
            sqlite3_busy_timeout(from, BUSY_MS);
            code = sql_touch(from);
        }
        sqlite3_backup *copy =
            code == SQLITE_OK ? sqlite3_backup_init(campaign->db, "main", from, "main") : NULL;
        if (copy) {
            (void)sqlite3_backup_step(copy, -1); /* finish() says how it went */
            code = sqlite3_backup_finish(copy);
        } else if (code == SQLITE_OK) {
            code = sqlite3_errcode(campaign->db);
        }
        sqlite3_close(from);
    }
    return code == SQLITE_OK ? PX_OK : pxi_store_fail(campaign, code, err);
}

px_status pxi_store_connect(px_campaign *campaign, px_error *err)
{
    int code;
    if (campaign->mode != PX_CAMPAIGN_READ && pxi_ranks_mute()) {
        const px_status status = connect_private(campaign, err);
        return pxi_ranks_together() ? pxi_ranks_meet("a campaign that is opened", 0, status, 0, err)
                                    : status;
    }
    if (campaign->mode != PX_CAMPAIGN_READ) /* all ranks have what is in it */
        PX_TRY(pxi_ranks_agree("a campaign that is opened", 0, err));
    if (campaign->mode != PX_CAMPAIGN_READ) {
        PX_TRY(sql_make(campaign, err));
        code = sql_open(campaign, campaign->file, SQLITE_OPEN_READWRITE);
        if (code == SQLITE_OK && sqlite3_db_readonly(campaign->db, "main")) {
            errno = EIO; /* it went well a moment ago */
            return pxi_file_fail(err, campaign->file, "open");
        }
        return code == SQLITE_OK ? PX_OK : pxi_store_fail(campaign, code, err);
    }
    code = sql_open(campaign, campaign->file, SQLITE_OPEN_READONLY);
    if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) {
        char *uri = sql_immutable(campaign->file);
        if (!uri)
            return pxi_store_nomem(campaign, err);
        code = sql_open(campaign, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        free(uri);
    }
    return code == SQLITE_OK ? PX_OK : pxi_store_fail(campaign, code, err);
}

/* --- statements ------------------------------------------------------------------------------ */

px_status pxi_store_statement_get(px_campaign *campaign, pxi_store_statement which,
                                  sqlite3_stmt **out, px_error *err)
{
    assert((size_t)which < PX_LEN(campaign->statements));
    sqlite3_stmt **slot = &campaign->statements[which];
    if (!*slot) {
        const int code = sqlite3_prepare_v3(campaign->db, statement_texts[which], -1,
                                            SQLITE_PREPARE_PERSISTENT, slot, NULL);
        if (code != SQLITE_OK)
            return pxi_store_fail(campaign, code, err);
    }
    sqlite3_reset(*slot);
    sqlite3_clear_bindings(*slot);
    *out = *slot;
    return PX_OK;
}

px_status pxi_store_run(px_campaign *campaign, sqlite3_stmt *statement, px_error *err)
{
    int code;
    errno = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    }
    const px_status status = code == SQLITE_DONE ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(statement);
    return status;
}

px_status pxi_store_execute(px_campaign *campaign, const char *sql, px_error *err)
{
    const int code = sqlite3_exec(campaign->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? PX_OK : pxi_store_fail(campaign, code, err);
}

px_status pxi_store_pragma_int(px_campaign *campaign, const char *sql, int64_t *out, px_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(campaign->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
        code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
        code = SQLITE_CORRUPT;
    }
    const px_status status = code == SQLITE_OK ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_finalize(statement);
    return status;
}

const char *pxi_store_column_text(sqlite3_stmt *statement, int column, size_t most)
{
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    const size_t size = (size_t)sqlite3_column_bytes(statement, column);
    return text && size <= most && strlen(text) == size ? text : NULL;
}
