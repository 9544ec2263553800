/* tests/studies/test_study_nomem.c - allocations of a study and its report fail in turn
 *
 * What fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "failing_alloc.h"

#include "frame/study_internal.h"

#include "frame/study.h"
#include <stdlib.h>
#include <unistd.h>

static char folder[32];

/* --- cells that a report has something to say about ------------------------------------------- */

static void put(px_study *study, const char *key, const char *const *names)
{
    cell_list list = {.count = 0};
    for (size_t i = 0; names[i]; i++)
        pxi_cell_put(&list, 0.5 + 0.01 * (double)(i + pxi_cells_count(study->cells)), "%s",
                     names[i]);
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

static void put_nss(px_study *study)
{
    static const char *const names[] = {"fdr5", "fault_rate", NULL};
    put(study, "mnist lenet1 select nss run=1 n=10000", names);
    put(study, "mnist lenet1 select gini run=1 n=10000", names);
}

static void put_revisit(px_study *study)
{
    static const char *const steps[] = {"size", "added", "accuracy", "mr", "cov_nc1", NULL};
    static const char *const rates[] = {"mr_benign", "mr_dhd", "mr_dhn", "mr_fgsm", NULL};
    static const char *const accuracies[] = {"acc_benign", "acc_dhd", "acc_dhn", "epochs", NULL};
    put(study, "mnist lenet1 rq1 i=0 run=1 n=100", steps);
    put(study, "mnist lenet1 rq1 i=4 run=1 n=100", steps);
    put(study, "mnist lenet1 rq1 i=5 run=1 n=100", steps);
    put(study, "mnist lenet1 rq2 improving set i=0 run=1 n=100", steps);
    put(study, "mnist lenet1 rq2 improving set i=1 run=1 n=100", steps);
    put(study, "mnist lenet1 rq2 remaining set i=0 run=1 n=100", steps);
    put(study, "mnist lenet1 rq3 run=1 n=100", rates);
    put(study, "mnist lenet1 rq4 none run=1 n=100", accuracies);
    put(study, "mnist lenet1 rq4 fgsm run=1 n=100", accuracies);
}

static const struct {
    const char *name;
    void (*put)(px_study *study);
} studies[] = {{"nss", put_nss}, {"revisit", put_revisit}};

/* --- allocations fail ------------------------------------------------------------------------- */

static px_study_options options(void)
{
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.dataset = "svhn"; /* nothing to run */
    o.arch = "lenet5";
    return o;
}

static px_status work(const char *name, const px_study_options *o, px_study_format format,
                      px_error *err)
{
    px_study *study = NULL;
    char *text = NULL;
    px_status status = px_study_new(name, o, &study, err);
    if (status == PX_OK)
        status = px_study_report(study, format, &text, err);
    free(text);
    px_study_free(study);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        px_error err = {0};
        px_study *study = NULL;
        char path[64];
        snprintf(folder, sizeof folder, "study-XXXXXX");
        assert_non_null(mkdtemp(folder));
        const px_study_options o = options();
        assert_int_equal(px_study_new(studies[i].name, &o, &study, &err), PX_OK);
        studies[i].put(study);
        assert_int_equal(pxi_cells_command(study->cells, "plexor study", &err), PX_OK);
        px_study_free(study);
        for (px_study_format f = PX_STUDY_TEXT; f <= PX_STUDY_JSON; f++) {
            bool failed = true;
            for (long k = 0; failed; k += 1 + k / 100) { /* a report is thousands of small texts */
                fail_at(k);
                const px_status status = work(studies[i].name, &o, f, &err);
                failed = fail_never();
                if (status != (failed ? PX_E_NOMEM : PX_OK))
                    fail_msg("%s, format %d, allocation %ld: status %d, '%s'", studies[i].name,
                             (int)f, k, (int)status, err.message);
            }
        }
        snprintf(path, sizeof path, "%s/cells.jsonl", folder);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/.plexor", folder);
        unlink(path);
        assert_int_equal(rmdir(folder), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
