/* src/engine/crew.h - a plan with a session per worker */
#ifndef PXI_ENGINE_CREW_H
#define PXI_ENGINE_CREW_H

#include <plexor/engine.h>

typedef struct pxi_crew { /* {0}: not there */
    px_plan *plan;
    px_session **sessions;
    int count;
    int64_t batch; /* as asked for; chosen: the plan's */
} pxi_crew;

/* Makes the plan and its sessions; does nothing where they are there already. */
px_status pxi_crew_open(pxi_crew *crew, const px_model *model, const px_plan_options *options,
                        int workers, px_error *err);
/* The same with a plan that is there already, and that the crew takes over in any case. */
px_status pxi_crew_take(pxi_crew *crew, px_plan *plan, int workers, px_error *err);
void pxi_crew_close(pxi_crew *crew);

#endif
