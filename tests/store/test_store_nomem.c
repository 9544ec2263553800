/* tests/store/test_store_nomem.c - each of our allocations fails in turn
 *
 * Whatever fails says PX_E_NOMEM, the campaign is sound afterwards, and nothing is left behind (the
 * leak checker watches). SQLite's and zlib's own allocations are in their libraries, out of reach.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"
#include <internal/data.h>
#include <internal/store.h>

#include "failing_alloc.h"

static int set_up(void **state)
{
    px_error err = {0};
    return enter_folder(state) == 0 && make_campaign("c", 24, &err) == PX_OK ? 0 : -1;
}

static px_status resume(px_error *err)
{
    px_campaign *c = NULL;
    int64_t last = 0;
    PX_TRY(px_campaign_open("c", PX_CAMPAIGN_RESUME, &c, err));
    px_status status = px_campaign_last(c, &last, err);
    if (status == PX_OK)
        status = grow_campaign(c, last + 2, NULL, NULL, err);
    px_campaign_close(c);
    return status;
}

static px_status read_back(px_error *err)
{
    px_campaign *c = NULL;
    px_campaign_counts counts;
    px_coverage_point *points = NULL;
    int64_t *ids = NULL;
    char **names = NULL;
    int name_count = 0;
    size_t count;
    void *blob = NULL;
    uint64_t digest;
    px_replayed replayed;
    PX_TRY(px_campaign_open("c", PX_CAMPAIGN_READ, &c, err));
    px_status status = px_campaign_check(c, err);
    if (status == PX_OK)
        status = px_campaign_count(c, &counts, err);
    if (status == PX_OK)
        status = px_campaign_lineage(c, 20, &ids, &count, err);
    if (status == PX_OK)
        status = px_campaign_replay(c, 20, NULL, &replayed, err);
    if (status == PX_OK)
        status = px_campaign_coverage(c, "kmnc", &points, &count, err);
    if (status == PX_OK)
        status = px_campaign_criteria(c, &names, &name_count, err);
    if (status == PX_OK)
        status = px_campaign_get_blob(c, "policy", &blob, &count, err);
    if (status == PX_OK)
        status = px_campaign_digest(c, &digest, err);
    px_class_names_free(names, name_count);
    free(points);
    free(ids);
    free(blob);
    px_campaign_close(c);
    return status;
}

static px_status as_data(px_error *err)
{
    px_dataset *set = NULL;
    float values[VALUES];
    PX_TRY(px_dataset_open("c", NULL, &set, err));
    const px_status status = px_dataset_pixels(set, 0, values, err);
    px_dataset_close(set);
    return status;
}

static px_status exported(px_error *err)
{
    px_campaign *c = NULL;
    px_exported done;
    px_export_options options = px_export_options_default();
    if (system("rm -rf out") != 0)
        return PX_E_INTERNAL;
    PX_TRY(px_campaign_open("c", PX_CAMPAIGN_READ, &c, err));
    const px_status status = px_campaign_export(c, "out", &options, &done, err);
    px_campaign_close(c);
    return status;
}

static void fail_each(const char *name, px_status (*work)(px_error *err))
{
    px_status status;
    px_error err = {0};
    long k = 0;
    for (; fail_at(k), status = work(&err), fail_never(); k++)
        if (status != PX_OK && status != PX_E_NOMEM)
            fail_msg("%s, allocation %ld: %d %s", name, k, (int)status, err.message);
    if (status != PX_OK)
        fail_msg("%s: %s", name, err.message);
    assert_true(k > 2);
}

static void test_nomem(void **state)
{
    (void)state;
    fail_each("resume", resume);
    fail_each("read back", read_back);
    fail_each("as data", as_data);
    fail_each("export", exported);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nomem)};
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
