/* include/internal/lane_watch.h - neurons of what goes through a pass, read while it runs
 *
 *     typedef struct own_lane {
 *         px_probe_watch watch; // first
 *         ...
 *     } own_lane;
 *     visitor = {.state_size = sizeof(own_lane), .begin = own_begin, .observe = pxi_lane_observe};
 *
 * begin(), or a job before forward, says what rows are to be filled: those of the batch. Where
 * watch.trace is NULL nobody looks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_LANE_WATCH_H
#define PXI_INTERNAL_LANE_WATCH_H

#include <internal/pass.h>

#include <plexor/probe.h>

px_status pxi_lane_observe(void *lane, int value, const px_view *view, px_error *err);

#endif
