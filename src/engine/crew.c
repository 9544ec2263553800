/* src/engine/crew.c - a plan with a session per worker */
#include "engine/crew.h"

#include "base/memory.h"

#include <stdlib.h>

px_status pxi_crew_take(pxi_crew *crew, px_plan *plan, int workers, px_error *err)
{
    pxi_crew made = {.plan = plan, .batch = px_plan_batch(plan), .count = workers};
    made.sessions = pxi_calloc((size_t)workers, sizeof *made.sessions);
    px_status status = made.sessions ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (int w = 0; w < workers && status == PX_OK; w++)
        status = px_session_new(made.plan, &made.sessions[w], err);
    if (status == PX_OK)
        *crew = made;
    else
        pxi_crew_close(&made);
    return status;
}

px_status pxi_crew_open(pxi_crew *crew, const px_model *model, const px_plan_options *options,
                        int workers, px_error *err)
{
    px_plan *plan = NULL;
    if (crew->plan)
        return PX_OK;
    PX_TRY(px_plan_new(model, options, &plan, err));
    PX_TRY(pxi_crew_take(crew, plan, workers, err));
    if (options->batch > 0)
        crew->batch = options->batch; /* what was asked for, where the file insists on its own */
    return PX_OK;
}

void pxi_crew_close(pxi_crew *crew)
{
    for (int w = 0; crew->sessions && w < crew->count; w++)
        px_session_free(crew->sessions[w]);
    free(crew->sessions);
    px_plan_free(crew->plan);
    *crew = (pxi_crew){0};
}
