/* src/study/revisit_rq2.c - RQ2 */
#include "study/revisit.h"

px_status rv_run_rq2(px_study *study, const study_job *job, px_error *err)
{
    (void)study;
    return px_fail(err, PX_E_UNSUPPORTED, "'%s' is not in this build; leave it out with --parts",
                   job->label);
}
