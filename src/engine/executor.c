/* src/engine/executor.c - workers of whichever executor is in use, and the sessions that they run
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include <internal/executor.h>

static const pxi_executor *in_use = &pxi_executor_threads;

const pxi_executor *pxi_executor_use(const pxi_executor *executor)
{
    const pxi_executor *before = in_use;
    in_use = executor;
    return before;
}

px_status pxi_workers_open(int threads, pxi_workers **out, px_error *err)
{
    return in_use->open(threads, out, err);
}

void pxi_workers_close(pxi_workers *workers)
{
    if (workers)
        workers->executor->close(workers);
}

px_status pxi_workers_session(pxi_workers *workers, int lane, const px_plan *plan, px_session **out,
                              px_error *err)
{
    PX_TRY(workers->executor->session(workers, lane, plan, out, err));
    (*out)->workers = workers;
    (*out)->lane = lane;
    return PX_OK;
}

px_status pxi_session_beside(const px_session *session, const px_plan *plan, px_session **out,
                             px_error *err)
{
    return session->workers ? pxi_workers_session(session->workers, session->lane, plan, out, err)
                            : px_session_new(plan, out, err);
}
