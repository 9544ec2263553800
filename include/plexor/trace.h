/* include/plexor/trace.h - neuron values of many inputs as an NPZ file
 *
 *     px_trace_create("traces.npz", probe, count, &writer, &err);
 *     px_trace_put(writer, first, samples, rows, &err);       // any order, any thread
 *     px_trace_commit(writer, labels, predictions, indices, &err);
 *
 * One float32 array per layer, named by the layer, [samples, neurons]. Rows come sample by sample
 * and leave layer by layer, so they are spilled to an unnamed file in between: memory does not grow
 * with the number of samples.
 */
#ifndef PLEXOR_TRACE_H
#define PLEXOR_TRACE_H

#include <plexor/probe.h>

PX_BEGIN_DECLS

typedef struct px_trace_writer px_trace_writer;

/* `probe` is borrowed and must outlive the writer. */
PX_API px_status px_trace_create(const char *path, const px_probe *probe, int64_t count,
                                 px_trace_writer **out, px_error *err);

/* Rows first..first+samples-1, each of px_probe_neuron_count() values. Threads may call it at once.
 */
PX_API px_status px_trace_put(px_trace_writer *writer, int64_t first, int64_t samples,
                              const float *rows, px_error *err);

/* Writes the file, with `labels`, `predictions` and `indices` (int64, one per sample; NULL: left
 * out) behind the layers. Frees the writer in any case. */
PX_API px_status px_trace_commit(px_trace_writer *writer, const int64_t *labels,
                                 const int64_t *predictions, const int64_t *indices, px_error *err);
PX_API void px_trace_abandon(px_trace_writer *writer); /* leaves no file; NULL is fine */

PX_END_DECLS
#endif
