/* include/internal/graph.h - <plexor/graph.h>, and what only plexor itself uses of it */
#ifndef PXI_INTERNAL_GRAPH_H
#define PXI_INTERNAL_GRAPH_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

const char *px_model_producer(const px_model *model);

PX_END_DECLS
#endif
