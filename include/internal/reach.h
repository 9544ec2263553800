/* include/internal/reach.h - questions about which values depend on which */
#ifndef PXI_INTERNAL_REACH_H
#define PXI_INTERNAL_REACH_H

#include <plexor/graph.h>

/* px_graph_is_cut(), but out of memory is an error: a cut that is not known to be one would change
 * what is printed. */
px_status pxi_graph_cuts(const px_graph *graph, int value, int to, bool *out, px_error *err);

#endif
