/* src/engine/feeds.h - what a graph's own declarations say about its inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_FEEDS_H
#define PXI_ENGINE_FEEDS_H

#include <internal/program.h>

/* One feed per graph input, declared shapes with the leading axis replaced by `batch`. Other free
 * axes become `side`; 0: it fails with advice. The caller frees *out. */
px_status pxi_feeds_default(const px_model *model, int64_t batch, int64_t side, pxi_feed **out,
                            size_t *count, px_error *err);

/* The leading extent that the file fixes for its first input; 0 if it is free. */
int64_t pxi_feeds_fixed_batch(const px_model *model);

#endif
