/* src/store/error_counts.c - errors as DeepSensor counts them (LGR B.6 and B.7)
 *
 * An example is an output of the campaign, an error one that is misclassified (a fault); the last
 * example of a seed is what its search ended with. Categories are distinct wrong labels, counted
 * for each seed: an answer that is no number is an error without one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/store.h>
#include <math.h>
#include <plexor/json.h>
#include <stdlib.h>
#include <string.h>

static int64_t counts_known_class(px_campaign *campaign)
{
    const double value = px_campaign_get_real(campaign, PX_CAMPAIGN_POLLUTED_CLASS, -1.0);
    return value >= 0.0 && value < 1e9 && value == floor(value) ? (int64_t)value : -1;
}

/* Runs a statement that gives one row of `count` numbers; `polluted` is its parameter. */
static px_status counts_row(px_campaign *campaign, pxi_store_statement which, int64_t polluted,
                            int64_t *const *out, int count, px_error *err)
{
    sqlite3_stmt *s;
    PX_TRY(pxi_store_statement_get(campaign, which, &s, err));
    int code = SQLITE_OK;
    if (sqlite3_bind_parameter_count(s) > 0)
        code = sqlite3_bind_int64(s, 1, polluted);
    if (code == SQLITE_OK)
        code = sqlite3_step(s);
    for (int i = 0; code == SQLITE_ROW && i < count; i++)
        *out[i] = sqlite3_column_int64(s, i); /* of nothing: NULL, which is 0 */
    const px_status status = code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status;
}

/* Runs a statement that gives one row of means; of nothing it is NULL, which is NaN. */
static px_status counts_means(px_campaign *campaign, pxi_store_statement which, double *const *out,
                              int count, px_error *err)
{
    sqlite3_stmt *s;
    PX_TRY(pxi_store_statement_get(campaign, which, &s, err));
    const int code = sqlite3_step(s);
    for (int i = 0; code == SQLITE_ROW && i < count; i++)
        *out[i] = sqlite3_column_type(s, i) == SQLITE_NULL ? NAN : sqlite3_column_double(s, i);
    const px_status status = code == SQLITE_ROW ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    return status;
}

/* --- categories of all places ---------------------------------------------------------------- */

typedef struct place_classes { /* of the seed at hand */
    int64_t root;
    int64_t *seen;
    size_t count, room;
} place_classes;

static px_status place_add(place_classes *p, double number, px_error *err)
{
    const int64_t class = (int64_t)number;
    for (size_t i = 0; i < p->count; i++)
        if (p->seen[i] == class)
            return PX_OK;
    PX_TRY(PX_GROW(p->seen, p->room, p->count + 1, err));
    p->seen[p->count++] = class;
    return PX_OK;
}

/* What one example tells; *told: it does. */
static px_status place_chain(place_classes *p, const char *chain, bool *told, px_error *err)
{
    px_json_document *document = NULL;
    px_status status = px_json_parse(chain, strlen(chain), &document, NULL);
    if (status != PX_OK) /* damaged: it tells nothing */
        return status == PX_E_NOMEM ? pxi_no_memory(err) : PX_OK;
    const px_json_value *wrong = px_json_member(px_json_root(document), "wrong");
    if (wrong && wrong->kind == PX_JSON_ARRAY) {
        *told = true;
        for (size_t i = 0; i < wrong->count && status == PX_OK; i++) {
            const px_json_value *v = &wrong->items[i];
            if (v->kind == PX_JSON_NUMBER && v->number >= 0.0 && v->number < 1e6)
                status = place_add(p, v->number, err);
        }
    }
    px_json_free(document);
    return status;
}

static px_status counts_places(px_campaign *campaign, px_error_counts *out, px_error *err)
{
    place_classes p = {0};
    sqlite3_stmt *s;
    int code = SQLITE_DONE;
    bool told = false;
    int64_t sum = 0;
    px_status status = PX_OK;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_CHAINS, &s, err));
    while (status == PX_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const int64_t root = sqlite3_column_int64(s, 0);
        const char *chain = (const char *)sqlite3_column_text(s, 1);
        if (root != p.root) {
            sum += (int64_t)p.count;
            p.count = 0;
            p.root = root;
        }
        status = chain ? place_chain(&p, chain, &told, err) : PX_OK;
    }
    PX_THEN_IF(status, code != SQLITE_DONE, pxi_store_fail(campaign, code, err));
    sqlite3_reset(s);
    free(p.seen);
    out->place_categories = told ? sum + (int64_t)p.count : -1;
    return status;
}

px_status px_campaign_count_errors(px_campaign *campaign, int64_t polluted_class,
                                   px_error_counts *out, px_error *err)
{
    px_error_counts c = {.polluted_class =
                             polluted_class >= 0 ? polluted_class : counts_known_class(campaign),
                         .similarity = NAN};
    int64_t *const all[] = {&c.seeds, &c.examples, &c.errors, &c.polluted};
    int64_t *const last[] = {&c.last_examples, &c.last_errors, &c.last_polluted};
    int64_t *const categories[] = {&c.categories};
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_ERRORS, c.polluted_class, all, 4, err));
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_LAST, c.polluted_class, last, 3, err));
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_CATEGORIES, 0, categories, 1, err));
    PX_TRY(counts_places(campaign, &c, err));
    double *const distances[] = {&c.l2, &c.linf}, *const similarity[] = {&c.similarity};
    PX_TRY(counts_means(campaign, PXI_SQL_MEAN_DISTANCES, distances, 2, err));
    if (campaign->version >= PXI_STORE_CLOSENESS)
        PX_TRY(counts_means(campaign, PXI_SQL_MEAN_SIMILARITY, similarity, 1, err));
    const double unstored = px_campaign_get_real(campaign, "faults_not_stored", 0.0);
    c.not_stored = unstored >= 0.0 && unstored < 9e15 ? (int64_t)unstored : 0;
    c.categories_per_seed = c.seeds ? (double)c.categories / (double)c.seeds : NAN;
    *out = c;
    return PX_OK;
}
