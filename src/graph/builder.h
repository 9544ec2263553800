/* src/graph/builder.h - what a made model is known by */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GRAPH_BUILDER_H
#define PXI_GRAPH_BUILDER_H

#include <plexor/graph.h>

/* XXH3 of everything that the model says: the same on every machine, whatever made it. */
uint64_t pxi_model_content_hash(const px_model *model);

#endif
