/* src/repair/robust.h - test inputs under the attack that was trained against */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_REPAIR_ROBUST_H
#define PXI_REPAIR_ROBUST_H

#include "repair/repair_state.h"

/* Chooses the inputs, and checks that they can be attacked. Nothing happens without an adversary.
 */
px_status pxi_robust_init(px_repair *repair, px_error *err);

/* Attacks them on a network, by its own gradients. `when` is PX_BEFORE or PX_AFTER. */
px_status pxi_robust_run(px_repair *repair, const px_model *model, int when, px_error *err);

#endif
