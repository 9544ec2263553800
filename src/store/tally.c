/* src/store/tally.c - what is in a campaign as a whole: counts, curves, soundness, a digest */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* --- counts (CSM D.7) ------------------------------------------------------------------------ */

/* The entropy of counts n_c, as ln N - (sum of n_c ln n_c) / N: one pass. */
typedef struct tally_entropy {
    double total, weighted;
    int64_t classes;
} tally_entropy;

static void entropy_add(tally_entropy *entropy, int64_t count)
{
    if (count <= 0)
        return;
    const double n = (double)count;
    entropy->total += n;
    entropy->weighted += n * log(n);
    entropy->classes++;
}

/* Normalised by the number of classes; one class: 0; nothing: NaN. */
static double entropy_value(const tally_entropy *entropy, int64_t classes)
{
    if (entropy->total <= 0)
        return NAN;
    if (entropy->classes <= 1 || classes <= 1)
        return 0.0;
    const double h = log(entropy->total) - entropy->weighted / entropy->total;
    return fmin(1.0, fmax(0.0, h / log((double)classes)));
}

static px_status tally_predictions(px_campaign *campaign, px_campaign_counts *out, px_error *err)
{
    tally_entropy faults = {0}, outputs = {0};
    sqlite3_stmt *s;
    int code;
    int64_t most = 0;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_COUNT_PREDICTIONS, &s, err));
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        most = PX_MAX(most, sqlite3_column_int64(s, 0));
        entropy_add(&faults, sqlite3_column_int64(s, 1));
        entropy_add(&outputs, sqlite3_column_int64(s, 2));
    }
    const px_status status = code == SQLITE_DONE ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    const int known = campaign->identity.classes;
    const int64_t classes = known ? known : most < INT64_MAX ? most + 1 : most;
    out->classes = faults.classes;
    out->oi = entropy_value(&faults, classes);
    out->oi_outputs = entropy_value(&outputs, classes);
    return status;
}

static px_status tally_close(px_campaign *campaign, px_campaign_counts *out, px_error *err)
{
    sqlite3_stmt *s;
    if (campaign->version < PXI_STORE_CLOSENESS)
        return PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_COUNT_CLOSE, &s, err));
    sqlite3_bind_double(s, 1, PX_CLOSE_SIMILARITY);
    sqlite3_bind_double(s, 2, PX_CLOSE_INSIDE);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        out->measured = sqlite3_column_int64(s, 0);
        out->close_faults = sqlite3_column_int64(s, 1);
    }
    const px_status status = code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    return status;
}

px_status px_campaign_count(px_campaign *campaign, px_campaign_counts *out, px_error *err)
{
    px_campaign_counts counts = {0};
    sqlite3_stmt *s;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_COUNT_KINDS, &s, err));
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        counts.seeds = sqlite3_column_int64(s, 0);
        counts.kept = sqlite3_column_int64(s, 1);
        counts.faults = sqlite3_column_int64(s, 2);
        counts.unique_faults = sqlite3_column_int64(s, 3);
    }
    px_status status = code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    PX_TRY(status);
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_COUNT_TYPES, &s, err));
    code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        counts.fault_types = sqlite3_column_int64(s, 0);
    status = code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    PX_TRY(status);
    PX_TRY(tally_predictions(campaign, &counts, err));
    PX_TRY(tally_close(campaign, &counts, err));
    counts.outputs = counts.kept + counts.faults;
    const double executions = px_campaign_get_real(campaign, "executions", 0);
    counts.executions = executions >= 0 && executions < 9e15 ? (int64_t)executions : 0;
    counts.seconds = px_campaign_get_real(campaign, "seconds", NAN);
    counts.rft = counts.outputs ? (double)counts.faults / (double)counts.outputs : NAN;
    counts.fre = counts.faults ? counts.seconds / (double)counts.faults : NAN;
    *out = counts;
    return PX_OK;
}

/* --- curves ---------------------------------------------------------------------------------- */

px_status px_campaign_coverage(px_campaign *campaign, const char *criterion,
                               px_coverage_point **out, size_t *count, px_error *err)
{
    px_coverage_point *points = NULL;
    size_t used = 0, room = 0;
    sqlite3_stmt *s;
    int code;
    px_status status = PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_COVERAGE, &s, err));
    if (sqlite3_bind_text(s, 1, criterion, -1, SQLITE_STATIC) != SQLITE_OK)
        return pxi_store_nomem(campaign, err);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        if (pxi_grow(&points, &room, used + 1, sizeof *points) != 0) {
            status = pxi_store_nomem(campaign, err);
            break;
        }
        points[used++] = (px_coverage_point){
            .step = sqlite3_column_int64(s, 0),
            .value = sqlite3_column_type(s, 1) == SQLITE_NULL ? NAN : sqlite3_column_double(s, 1),
            .at_s = sqlite3_column_double(s, 2)};
    }
    PX_THEN_IF(status, code != SQLITE_DONE, pxi_store_fail(campaign, code, err));
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    if (status != PX_OK) {
        free(points);
        return status;
    }
    *out = points;
    *count = used;
    return PX_OK;
}

px_status px_campaign_criteria(px_campaign *campaign, char ***names, int *count, px_error *err)
{
    enum { CRITERIA_MOST = 1000 };
    char **list = NULL;
    size_t room = 0;
    int used = 0, code;
    sqlite3_stmt *s;
    px_status status = PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_CRITERIA, &s, err));
    while (status == PX_OK && used < CRITERIA_MOST && (code = sqlite3_step(s)) != SQLITE_DONE) {
        const char *name =
            code == SQLITE_ROW ? pxi_store_column_text(s, 0, PXI_STORE_NAME_MOST) : NULL;
        if (code != SQLITE_ROW)
            status = pxi_store_fail(campaign, code, err);
        else if (!name)
            continue; /* not one that we wrote */
        else if (pxi_grow(&list, &room, (size_t)used + 1, sizeof *list) != 0 ||
                 !(list[used] = pxi_strdup(name)))
            status = pxi_store_nomem(campaign, err);
        else
            used++;
    }
    sqlite3_reset(s);
    if (status != PX_OK) {
        px_class_names_free(list, used);
        return status;
    }
    *names = list;
    *count = used;
    return PX_OK;
}

/* --- soundness ------------------------------------------------------------------------------- */

/* Runs a check of SQLite's: no row, or one that says "ok". */
static px_status tally_pragma(px_campaign *campaign, const char *sql, px_error *err)
{
    sqlite3_stmt *s = NULL;
    px_status status = PX_OK;
    int code = sqlite3_prepare_v2(campaign->db, sql, -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *found = pxi_store_column_text(s, 0, 4096);
        const char *last = found ? strrchr(found, '\n') : NULL; /* before it: which database */
        if (!found || strcmp(found, "ok") != 0)
            status = px_fail(err, PX_E_INPUT,
                             "'%s': is damaged (%.200s); 'plexor export' writes what is readable",
                             campaign->file,
                             last    ? last + 1
                             : found ? found
                                     : "?");
    } else if (code != SQLITE_DONE && code != SQLITE_OK) {
        status = pxi_store_fail(campaign, code, err);
    }
    sqlite3_finalize(s);
    return status;
}

/* Every named state, unpacked. */
static px_status tally_states(px_campaign *campaign, px_error *err)
{
    sqlite3_stmt *s = NULL;
    px_status status = PX_OK;
    int code =
        sqlite3_prepare_v2(campaign->db, "SELECT name FROM state ORDER BY name", -1, &s, NULL);
    while (status == PX_OK && code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = pxi_store_column_text(s, 0, PXI_STORE_NAME_MOST);
        void *bytes = NULL;
        size_t size = 0;
        status = name ? px_campaign_get_blob(campaign, name, &bytes, &size, err)
                      : px_fail(err, PX_E_INPUT, "'%s': is damaged: a state has no name",
                                campaign->file);
        free(bytes);
        code = SQLITE_OK;
    }
    PX_THEN_IF(status, code != SQLITE_DONE, pxi_store_fail(campaign, code, err));
    sqlite3_finalize(s);
    return status;
}

static px_status tally_classes(const px_campaign *campaign, const px_campaign_input *in,
                               px_error *err)
{
    const int classes = campaign->identity.classes;
    if (in->label >= PXI_CLASSES_MAX)
        return px_fail(err, PX_E_INPUT,
                       "'%s': is damaged: the label of input %" PRId64 " is %" PRId64,
                       campaign->file, in->id, in->label);
    if (in->prediction >= (classes > 0 ? classes : PXI_CLASSES_MAX))
        return px_fail(err, PX_E_INPUT,
                       "'%s': is damaged: the prediction of input %" PRId64 " is %" PRId64
                       ", of %d classes",
                       campaign->file, in->id, in->prediction, classes);
    return PX_OK;
}

px_status px_campaign_check(px_campaign *campaign, px_error *err)
{
    px_campaign_input in = {0};
    void *pixels = NULL;
    PX_TRY(tally_pragma(campaign, "PRAGMA integrity_check(1)", err));
    PX_TRY(tally_pragma(campaign, "PRAGMA foreign_key_check", err));
    PX_TRY(tally_states(campaign, err));
    if (!campaign->identified)
        return PX_OK;
    if (!(pixels = pxi_calloc(campaign->size, px_dtype_size(campaign->identity.dtype))))
        return pxi_store_nomem(campaign, err);
    px_status status;
    int64_t before;
    do {
        before = in.id;
        status = px_campaign_next(campaign, before, PX_INPUT_ANY, &in, pixels, NULL, err);
        if (status == PX_OK && in.id && in.id != before + 1)
            status = px_fail(err, PX_E_INPUT, "'%s': is damaged: input %" PRId64 " is missing",
                             campaign->file, before + 1);
        PX_THEN_IF(status, in.id, tally_classes(campaign, &in, err));
    } while (status == PX_OK && in.id);
    free(pixels);
    return status;
}

/* --- a digest -------------------------------------------------------------------------------- */

/* Everything but `run` and the columns that end in _s or _at; a test compares with the schema. */
enum { DIGEST_FIRST_SCHEMA = 4 };
static const char *const digest_queries[] = {
    ("SELECT id, kind, parent, root, data_index, label, prediction, confidence, l0, l2, linf, step,"
     " twin, chain, pixels FROM input ORDER BY id"),
    "SELECT criterion, step, value FROM coverage ORDER BY criterion, step",
    "SELECT measure, class, layer, idx, score FROM neuron ORDER BY measure, class, layer, idx",
    "SELECT name, size, data FROM state ORDER BY name",
    "SELECT id, similarity, inside FROM closeness ORDER BY id",
    "SELECT id, name FROM name ORDER BY id",
    "SELECT class, name FROM class ORDER BY class",
    "SELECT mutation, band, class, tries, faults, close FROM mode ORDER BY mutation, band, class",
};

static void digest_cell(XXH3_state_t *hash, sqlite3_stmt *s, int column)
{
    const int type = sqlite3_column_type(s, column);
    struct {
        int64_t type, number;
    } head = {type, 0};
    const void *bytes = NULL;
    size_t size = 0;
    if (type == SQLITE_INTEGER) {
        head.number = sqlite3_column_int64(s, column);
    } else if (type == SQLITE_FLOAT) {
        const double value = sqlite3_column_double(s, column);
        memcpy(&head.number, &value, sizeof value);
    } else if (type != SQLITE_NULL) {
        bytes = sqlite3_column_blob(s, column);
        size = (size_t)sqlite3_column_bytes(s, column);
        head.number = (int64_t)size;
    }
    XXH3_64bits_update(hash, &head, sizeof head);
    if (bytes)
        XXH3_64bits_update(hash, bytes, size);
}

static px_status digest_query(px_campaign *campaign, const char *sql, XXH3_state_t *hash,
                              px_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(campaign->db, sql, -1, &s, NULL);
    const int64_t mark = -1; /* a new table, a new row */
    XXH3_64bits_update(hash, &mark, sizeof mark);
    while (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        XXH3_64bits_update(hash, &mark, sizeof mark);
        for (int column = 0; column < sqlite3_column_count(s); column++)
            digest_cell(hash, s, column);
        code = SQLITE_OK;
    }
    const px_status status = code == SQLITE_DONE ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_finalize(s);
    return status;
}

px_status px_campaign_digest(px_campaign *campaign, uint64_t *out, px_error *err)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash)
        return pxi_store_nomem(campaign, err);
    px_status status = PX_OK;
    XXH3_64bits_reset(hash);
    const size_t queries =
        campaign->version < PXI_STORE_CLOSENESS ? DIGEST_FIRST_SCHEMA : PX_LEN(digest_queries);
    for (size_t i = 0; status == PX_OK && i < queries; i++)
        status = digest_query(campaign, digest_queries[i], hash, err);
    if (status == PX_OK)
        *out = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return status;
}
