/* studies/revisit/revisit_rq3.c - RQ3: how often each generator makes the original network fail
 *
 * One test case per held-out input and generator; the share that the network gets wrong, beside
 * that of the inputs themselves.
 */
#include "revisit/revisit.h"

#include <plexor/system.h>

static px_status rates_put(const rv_bench *b, cell_list *list, px_error *err)
{
    for (int set = RV_BENIGN; set < RV_SETS; set++) {
        rv_pictures cases = {.set = NULL};
        double rate = 0.0;
        px_status status = PX_OK;
        if (set != RV_BENIGN)
            status = rv_generate(b, b->model, set, &b->test, &cases, err);
        if (status == PX_OK)
            status = rv_error_rate(b, b->model, set == RV_BENIGN ? &b->test : &cases, &rate, err);
        rv_pictures_done(&cases);
        PX_TRY(status);
        pxi_cell_put(list, rate, "mr_%s", rv_set_ids[set]);
    }
    return PX_OK;
}

px_status rv_run_rq3(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    rv_bench b = {.study = study};
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_status status = rv_bench_open(study, job, &b, err);
    if (status == PX_OK)
        status = rates_put(&b, &list, err);
    if (status == PX_OK) {
        pxi_cell_put(&list, (double)b.test.count, "cases");
        rv_key(study, job->subject, job->run, key, "rq3");
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    rv_bench_close(&b);
    return status;
}
