/* src/data/index_source.h - pictures whose places an index says, in class folders or tar shards */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_INDEX_SOURCE_H
#define PXI_DATA_INDEX_SOURCE_H

#include "data/index_file.h"

#include <internal/source.h>

/* `folder` is what the parts lie in, an open one; `kind` is what the data set is called. Takes over
 * both in any case. */
px_status pxi_index_source_new(pxi_index *index, int folder, const char *name, const char *kind,
                               pxi_source **out, px_error *err);
/* The number of its parts. */
int64_t pxi_index_source_parts(const pxi_source *source);

#endif
