/* src/study/revisit_rq4.c - RQ4: networks retrained with each generator, judged on all of them */
#include "study/revisit.h"

#include <plexor/system.h>

px_status rv_run_rq4(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    rv_bench b = {.study = study};
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    if (job->a != RV_BENIGN)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s' is not in this build; leave it out with --parts", job->label);
    px_status status = rv_bench_open(study, job, &b, err);
    for (int set = RV_BENIGN; status == PX_OK && set < RV_SETS; set++) {
        rv_pictures cases = {.set = NULL};
        double rate = 0.0;
        if (set != RV_BENIGN)
            status = rv_generate(&b, b.model, set, &b.test, &cases, err);
        if (status == PX_OK)
            status = rv_error_rate(&b, b.model, set == RV_BENIGN ? &b.test : &cases, &rate, err);
        rv_pictures_done(&cases);
        pxi_cell_put(&list, 1.0 - rate, "acc_%s", rv_set_ids[set]);
    }
    if (status == PX_OK) {
        rv_key(study, job->subject, job->run, key, "rq4 none");
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    rv_bench_close(&b);
    return status;
}
