/* tests/study/test_study_nomem.c - allocations of a study and its report fail in turn
 *
 * What fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
#include "cmocka_all.h"

#include "failing_alloc.h"

#include "study/study_inside.h"

#include <plexor/study.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[32];

static px_status work(const px_study_options *options, px_study_format format, px_error *err)
{
    px_study *study = NULL;
    char *text = NULL;
    px_status status = px_study_new("nss", options, &study, err);
    if (status == PX_OK)
        status = px_study_report(study, format, &text, err);
    free(text);
    px_study_free(study);
    return status;
}

static px_study_options options(void)
{
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.dataset = "svhn"; /* nothing to run */
    o.arch = "lenet5";
    return o;
}

static void put(px_study *study, const char *key)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, 0.5, "fdr5");
    pxi_cell_put(&list, 0.25, "fault_rate");
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    const px_study_options o = options();
    px_error err = {0};
    px_study *study = NULL;
    char path[64];
    snprintf(folder, sizeof folder, "study-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(px_study_new("nss", &o, &study, &err), PX_OK);
    put(study, "mnist lenet1 select nss run=1 n=10000");
    put(study, "mnist lenet1 select gini run=1 n=10000");
    assert_int_equal(pxi_cells_command(study->cells, "plexor study nss", &err), PX_OK);
    px_study_free(study);
    for (px_study_format f = PX_STUDY_TEXT; f <= PX_STUDY_JSON; f++) {
        bool failed = true;
        for (long k = 0; failed; k += 1 + k / 100) { /* a report is thousands of small texts */
            fail_at(k);
            const px_status status = work(&o, f, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("format %d, allocation %ld: status %d, '%s'", (int)f, k, (int)status,
                         err.message);
        }
    }
    snprintf(path, sizeof path, "%s/cells.jsonl", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
