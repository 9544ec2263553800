/* src/repair/repair_state.h - a repair, inside */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_REPAIR_REPAIR_STATE_H
#define PXI_REPAIR_REPAIR_STATE_H

#include "repair/hold_out.h"
#include <internal/repair.h>

typedef struct pxi_judged { /* what stands behind a px_repair_set */
    px_judge_set data;
    pxi_items items;
    px_predictions said[2];
    px_eval eval[2];
} pxi_judged;

struct px_repair {
    px_repair_options o;
    px_repair_report report;
    pxi_items train, added;
    int *missing;
    char *optimizer;   /* that the network was trained with; NULL: another one is used */
    px_feeder *feeder; /* NULL: nothing is trained */
    px_trainer *trainer;
    pxi_judged clean, failing, robust;
};

/* Takes over the items. */
void pxi_judged_init(pxi_judged *judged, const px_judge_set *data, pxi_items *items);
void pxi_judged_done(pxi_judged *judged);
/* `when` is PX_BEFORE or PX_AFTER. */
px_status pxi_judged_run(px_repair *repair, pxi_judged *judged, const px_model *model, int when,
                         px_error *err);
/* Both times are known: counts flips, tests them, hands out pointers. */
void pxi_judged_compare(const pxi_judged *judged, px_repair_set *out);
px_repair_verdict pxi_repair_verdict(const px_repair_report *report);

/* Takes out of `test` what is among the `added` inputs, as the network sees them; *overlap gets how
 * many. */
px_status pxi_items_drop_added(pxi_items *test, const px_judge_set *test_data,
                               const pxi_items *added, const px_judge_set *added_data,
                               int64_t *overlap, px_error *err);

#endif
