/* include/internal/probe.h - <plexor/probe.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PROBE_H
#define PXI_INTERNAL_PROBE_H

#include <plexor/probe.h>

PX_BEGIN_DECLS

/* Parses the texts of --layers, --tap, --neurons (NULL: as it is in *options). `layers` is
 * borrowed until px_probe_new. On failure *options is untouched. */
px_status px_probe_options_parse(px_probe_options *options, const char *layers, const char *tap,
                                 const char *neurons, px_error *err);

/* `batch`, or 1 where a chosen layer can be read one sample at a time only. NULL is fine. */
int64_t pxi_probe_batch(const px_probe *probe, int64_t batch);

/* How `tokens` places in one dimension lie in a picture: row by row in *rows x *columns, from place
 * *first on. Before or after them may be tokens that are no patch (the class token); blocks may
 * have merged patches, four to one. False: they are no such grid. */
bool pxi_probe_patches(const px_probe *probe, int64_t tokens, int64_t *first, int *rows,
                       int *columns);

/* rejected[s] = row s has a NaN or an infinity. */
void px_probe_reject(const px_probe *probe, const float *trace, int64_t samples, bool *rejected);

/* One chosen layer from any tensor of its shape: `view` may lie in any layout; row s is
 * written to trace + s * row_stride, neuron_count values from there. */
px_status px_probe_trace_layer(const px_probe *probe, size_t layer, const px_view *view,
                               int64_t samples, float *trace, int64_t row_stride, px_error *err);

px_gradient_options px_gradient_options_default(void);

PX_END_DECLS
#endif
