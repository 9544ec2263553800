/* src/store/store_internal.h - what the files of the store share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STORE_INTERNAL_H
#define PXI_STORE_INTERNAL_H

#include "base/folder_mark.h"
#include <internal/source.h>
#include <internal/store.h>
#include <plexor/store.h>
#include <plexor/text.h>
#include <sqlite3.h>
#include <zlib.h>

#define PXI_STORE_FILE PXI_CAMPAIGN_FILE
#define PXI_STORE_LOCK "campaign.lock"

/* Limits of what is believed of a file. */
#define PXI_STORE_VALUES_MOST ((int64_t)1 << 24) /* in one input */
#define PXI_STORE_CHAIN_MOST ((size_t)1 << 20)   /* bytes of JSON */
#define PXI_STORE_SETTINGS_MOST ((size_t)1 << 16)
#define PXI_STORE_NAME_MOST 256 /* bytes of a key, a criterion, a layer */

/* The columns of an input, in the order in which rows are decoded and encoded. */
#define PXI_INPUT_COLUMNS                                                                    \
    "id, kind, parent, root, data_index, label, prediction, confidence, l0, l2, linf, step," \
    " twin, chain, found_s, pixels"

/* X(name, text): statements, prepared when they are first used and kept. */
#define PXI_STORE_STATEMENTS(X)                                                                   \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                   \
    X(COMMIT, "COMMIT")                                                                           \
    X(PUT, "INSERT INTO input(" PXI_INPUT_COLUMNS                                                 \
           ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)")                    \
    X(PUT_CLOSENESS, "INSERT OR REPLACE INTO closeness(id, similarity, inside) VALUES(?1,?2,?3)") \
    X(PUT_NAME, "INSERT OR REPLACE INTO name(id, name) VALUES(?1,?2)")                            \
    X(PUT_CLASS, "INSERT OR REPLACE INTO class(class, name) VALUES(?1,?2)")                       \
    X(DROP_CLASSES, "DELETE FROM class")                                                          \
    X(PUT_MODE, "INSERT OR REPLACE INTO mode(mutation, band, class, tries, faults, close) "       \
                "VALUES(?1,?2,?3,?4,?5,?6)")                                                      \
    X(TWIN, "UPDATE input SET twin = ?2 WHERE id = ?1 AND kind = 'fault'")                        \
    X(PUT_COVERAGE, "INSERT OR REPLACE INTO coverage(step, criterion, value, at_s) "              \
                    "VALUES(?1,?2,?3,?4)")                                                        \
    X(PUT_NEURON, "INSERT OR REPLACE INTO neuron(measure, class, layer, idx, score) "             \
                  "VALUES(?1,?2,?3,?4,?5)")                                                       \
    X(PUT_STATE, "INSERT OR REPLACE INTO state(name, size, data) VALUES(?1,?2,?3)")               \
    X(SET, "INSERT OR REPLACE INTO run(key, value) VALUES(?1,?2)")                                \
    X(GET, "SELECT value FROM run WHERE key = ?1")                                                \
    X(GET_STATE, "SELECT size, data FROM state WHERE name = ?1")                                  \
    X(LAST, "SELECT max(id) FROM input")                                                          \
    X(LAST_INDEXED, "SELECT max(id) FROM input INDEXED BY input_kind WHERE kind IN "              \
                    "('seed', 'kept', 'fault')")                                                  \
    X(PAGES, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")        \
    X(READ, "SELECT " PXI_INPUT_COLUMNS " FROM input WHERE id = ?1")                              \
    X(NEXT, "SELECT " PXI_INPUT_COLUMNS " FROM input WHERE id > ?1 AND (?2 & CASE kind "          \
            "WHEN 'seed' THEN 1 WHEN 'kept' THEN 2 WHEN 'fault' THEN 4 ELSE 7 END) "              \
            "ORDER BY id LIMIT 1")                                                                \
    X(CLOSENESS, "SELECT similarity, inside FROM closeness WHERE id = ?1")                        \
    X(NAME, "SELECT name FROM name WHERE id = ?1")                                                \
    X(CLASSES, "SELECT class, name FROM class ORDER BY class")                                    \
    X(MODES, "SELECT mutation, band, class, tries, faults, close FROM mode ORDER BY mutation, "   \
             "band, class")                                                                       \
    X(COUNT_CLOSE, "SELECT count(*), sum(similarity >= ?1 AND inside >= ?2) FROM closeness")      \
    X(COVERAGE, "SELECT step, value, at_s FROM coverage WHERE criterion = ?1 ORDER BY step")      \
    X(CRITERIA, "SELECT DISTINCT criterion FROM coverage ORDER BY criterion")                     \
    X(COUNT_KINDS, "SELECT sum(kind = 'seed'), sum(kind = 'kept'), sum(kind = 'fault'), "         \
                   "sum(kind = 'fault' AND twin IS NULL) FROM input INDEXED BY input_kind")       \
    X(COUNT_TYPES, "SELECT count(*) FROM (SELECT DISTINCT label, prediction FROM input "          \
                   "INDEXED BY input_kind WHERE kind = 'fault')")                                 \
    X(COUNT_PREDICTIONS, "SELECT prediction, sum(kind = 'fault'), count(*) FROM input "           \
                         "INDEXED BY input_kind WHERE kind IN ('kept', 'fault') "                 \
                         "AND prediction IS NOT NULL GROUP BY prediction")                        \
    X(COUNT_ERRORS, "SELECT sum(kind = 'seed'), sum(kind <> 'seed'), sum(kind = 'fault'), "       \
                    "sum(kind = 'fault' AND prediction = ?1 AND label <> ?1) FROM input "         \
                    "INDEXED BY input_kind")                                                      \
    X(COUNT_LAST, "SELECT count(*), sum(kind = 'fault'), sum(kind = 'fault' AND "                 \
                  "prediction = ?1 AND label <> ?1) FROM (SELECT max(id), kind, label, "          \
                  "prediction FROM input WHERE kind <> 'seed' GROUP BY root)")                    \
    X(COUNT_CATEGORIES, "SELECT count(*) FROM (SELECT DISTINCT root, prediction FROM input "      \
                        "WHERE kind = 'fault' AND prediction IS NOT NULL)")                       \
    X(MEAN_DISTANCES, "SELECT avg(l2), avg(linf) FROM input WHERE kind = 'fault'")                \
    X(MEAN_SIMILARITY, "SELECT avg(similarity) FROM closeness")                                   \
    X(CHAINS, "SELECT root, chain FROM input WHERE kind <> 'seed' AND chain LIKE "                \
              "'{\"engine\":\"deepsensor\",%' ORDER BY root, id")

typedef enum pxi_store_statement {
#define PXI_STATEMENT_ENUM(name, text) PXI_SQL_##name,
    PXI_STORE_STATEMENTS(PXI_STATEMENT_ENUM)
#undef PXI_STATEMENT_ENUM
        PXI_SQL_COUNT,
} pxi_store_statement;

struct px_campaign {
    char *folder, *file; /* the file is FOLDER/campaign.db */
    px_campaign_mode mode;
    const char *owner; /* while it is opened: whose mark the folder may have; NULL: nobody's */
    sqlite3 *db;
    sqlite3_stmt *statements[PXI_SQL_COUNT];
    int lock;        /* -1: not held */
    int64_t version; /* of the schema, as it is now */
    bool identified;
    px_campaign_identity identity;
    char *settings; /* what identity.settings points at */
    size_t size;    /* values in an input */
    bool in_batch;
    int64_t last, committed; /* the last id of the batch, and before it; writers only */
    px_campaign_told told;   /* of failures that were committed; NULL: nobody is */
    void *told_context;
    px_text chain, name;     /* of the input read last */
    char **classes;          /* names by class, NULL entries: unknown */
    int64_t class_count;     /* -1: not read yet */
    uint8_t *packed, *plain; /* scratch for one input */
    size_t packed_room, plain_room;
    z_stream packer;
    bool packs;     /* it is set up */
    bool plot_open; /* plot_data ends with a whole line */
};

/* --- SQLite, and its errors as ours (sql.c) -------------------------------------------------- */

/* Opens the file and makes the connection wary of it. */
px_status pxi_store_connect(px_campaign *campaign, px_error *err);
/* What SQLite's `code` means to the user. */
px_status pxi_store_fail(const px_campaign *campaign, int code, px_error *err);
/* Whether it says that the file is damaged. */
bool pxi_store_is_damage(const px_campaign *campaign, int code);
/* Ready to bind, nothing bound. Reset it when done: what it holds would stop checkpoints. */
px_status pxi_store_statement_get(px_campaign *campaign, pxi_store_statement which,
                                  sqlite3_stmt **out, px_error *err);
/* Runs a statement that gives no rows, and resets it. */
px_status pxi_store_run(px_campaign *campaign, sqlite3_stmt *statement, px_error *err);
px_status pxi_store_execute(px_campaign *campaign, const char *sql, px_error *err);
px_status pxi_store_pragma_int(px_campaign *campaign, const char *sql, int64_t *out, px_error *err);
/* A column's text if it is one, without a NUL inside and of at most `most` bytes; else NULL. */
const char *pxi_store_column_text(sqlite3_stmt *statement, int column, size_t most);
px_status pxi_store_nomem(const px_campaign *campaign, px_error *err);

/* --- campaign_folder.c ----------------------------------------------------------------------- */

/* Before anything is made: whether the folder is what the mode wants. */
px_status pxi_campaign_folder_check(const px_campaign *campaign, px_error *err);
/* Removes the files of the campaign that is there, and nothing else; the lock is held and stays. */
px_status pxi_campaign_folder_clear(const px_campaign *campaign, px_error *err);

/* Schemas from here on have closeness, names, classes and modes. */
enum { PXI_STORE_CLOSENESS = 2 };

/* --- the database --------------------------------------------------------------------------------
 *
 * schema.c, campaign_identity.c, batch.c, packing.c */

/* Brings an older (or empty) schema up to date; refuses a newer one. Readers: checks only, and
 * *empty says that there is no table yet. */
px_status pxi_store_migrate(px_campaign *campaign, bool *empty, px_error *err);
/* Reads the identity, if there is one. */
px_status pxi_store_identity_load(px_campaign *campaign, px_error *err);
/* Begins a batch unless one is open. */
px_status pxi_store_batch(px_campaign *campaign, px_error *err);
/* A statement of a batch, ready to bind; then run with what binding gave. Failing takes the batch
 * with it. */
px_status pxi_store_batch_statement(px_campaign *campaign, pxi_store_statement which,
                                    sqlite3_stmt **out, px_error *err);
px_status pxi_store_batch_run(px_campaign *campaign, sqlite3_stmt *statement, int bound,
                              px_error *err);
px_status pxi_store_batch_end(px_campaign *campaign, px_status status);
/* Closeness and name of an input that is read, and those of one that is put (closeness.c). */
px_status pxi_store_near_read(px_campaign *campaign, px_campaign_input *input, px_error *err);
px_status pxi_store_near_put(px_campaign *campaign, int64_t id, const px_campaign_input *input,
                             px_error *err);
px_status pxi_store_classes_load(px_campaign *campaign, px_error *err);
void pxi_store_classes_forget(px_campaign *campaign);

/* zlib of the values, pictures with their channels together; *out is the campaign's scratch. */
void pxi_store_pack_done(px_campaign *campaign);
px_status pxi_store_pack(px_campaign *campaign, const void *planes, const uint8_t **out,
                         size_t *size, px_error *err);
/* PX_E_INPUT, without a message, for bytes that are not an input of this campaign. */
px_status pxi_store_unpack(px_campaign *campaign, const void *bytes, size_t size, void *planes);
/* The same without a campaign's scratch, for many threads; `plain` has room for the values. */
px_status pxi_store_inflate(const void *bytes, size_t size, void *plain, size_t plain_size);
/* Channels together to planes, or back. */
void pxi_store_to_planes(const px_shape *shape, size_t item, const void *together, void *planes);
void pxi_store_to_together(const px_shape *shape, size_t item, const void *planes, void *together);

/* A campaign as a data set (campaign_source.c); a pxi_folder_opener. */
px_status pxi_campaign_source_open(const char *folder, const char *split, pxi_source **out,
                                   px_error *err);

#endif
