/* include/internal/reach.h - questions about which values depend on which */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_REACH_H
#define PXI_INTERNAL_REACH_H

#include <plexor/graph.h>

/* Whether every path from the graph's inputs to value `to` goes through `value` (LGR 0.2). */
px_status pxi_graph_cuts(const px_graph *graph, int value, int to, bool *out, px_error *err);

#endif
