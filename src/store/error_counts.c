/* src/store/error_counts.c - errors as DeepSensor counts them (paper 003; spec LGR B.6 and B.7)
 *
 * An example is an output of the campaign, an error one that is misclassified (a fault); the last
 * example of a seed is what its search ended with. Categories are distinct wrong labels, counted
 * for each seed: an answer that is no number is an error without one.
 */
#include "store/store_inside.h"

#include <internal/store.h>
#include <math.h>

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

px_status px_campaign_count_errors(px_campaign *campaign, int64_t polluted_class,
                                   px_error_counts *out, px_error *err)
{
    px_error_counts c = {.polluted_class =
                             polluted_class >= 0 ? polluted_class : counts_known_class(campaign)};
    int64_t *const all[] = {&c.seeds, &c.examples, &c.errors, &c.polluted};
    int64_t *const last[] = {&c.last_examples, &c.last_errors, &c.last_polluted};
    int64_t *const categories[] = {&c.categories};
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_ERRORS, c.polluted_class, all, 4, err));
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_LAST, c.polluted_class, last, 3, err));
    PX_TRY(counts_row(campaign, PXI_SQL_COUNT_CATEGORIES, 0, categories, 1, err));
    const double unstored = px_campaign_get_real(campaign, "faults_not_stored", 0.0);
    c.not_stored = unstored >= 0.0 && unstored < 9e15 ? (int64_t)unstored : 0;
    c.categories_per_seed = c.seeds ? (double)c.categories / (double)c.seeds : NAN;
    *out = c;
    return PX_OK;
}
