/* src/probe/trace_writer.h - rows of neuron values, in any order, to arrays of layers
 *
 * Rows come sample by sample and leave layer by layer, so they are spilled to an unnamed file in
 * between: memory does not grow with the number of samples.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_TRACE_WRITER_H
#define PXI_PROBE_TRACE_WRITER_H

#include <plexor/probe.h>
#include <plexor/text.h>

typedef struct pxi_trace_writer pxi_trace_writer;

/* `probe` is borrowed and must outlive the writer. */
px_status pxi_trace_create(const char *path, const px_probe *probe, int64_t count,
                           pxi_trace_writer **out, px_error *err);

/* Rows first..first+samples-1, each of px_probe_neuron_count() values. Threads may call it at once.
 */
px_status pxi_trace_put(pxi_trace_writer *writer, int64_t first, int64_t samples, const float *rows,
                        px_error *err);

/* What was put of rows first..first+samples-1 (fewer where there are no more), as bytes, and into
 * the writer of another rank. */
px_status pxi_trace_pack(const pxi_trace_writer *writer, int64_t first, int64_t samples,
                         px_text *to, px_error *err);
px_status pxi_trace_unpack(const pxi_trace_writer *writer, int64_t first, const char *bytes,
                           size_t size, px_error *err);

/* Writes the file, with `labels`, `predictions` and `indices` (int64, one per sample; NULL: left
 * out) behind the layers. Frees the writer in any case. */
px_status pxi_trace_commit(pxi_trace_writer *writer, const int64_t *labels,
                           const int64_t *predictions, const int64_t *indices, px_error *err);
void pxi_trace_abandon(pxi_trace_writer *writer); /* leaves no file; NULL is fine */

#endif
