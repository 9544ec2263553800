/* include/plexor/trace.h - what every neuron does on every input
 *
 *     const px_trace_job job = {.model = model, .probe = probe, .set = set, .pre = &pre,
 *                               .path = "traces.npz"};
 *     px_trace_facts facts;
 *     px_trace(&job, &facts, &err);
 *
 * An NPZ file with one float32 array per layer, named by the layer, [samples, neurons]; and int64
 * arrays `labels`, `predictions` (where the data or the network have them) and `indices`. Memory
 * does not grow with the number of samples.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TRACE_H
#define PLEXOR_TRACE_H

#include <plexor/data.h>
#include <plexor/probe.h>

PX_BEGIN_DECLS

typedef struct px_trace_job {
    const px_model *model;
    const px_probe *probe; /* NULL: the network alone, to see what observing costs */
    const px_dataset *set;
    const px_preprocess *pre; /* as px_dataset_open_for() left it */
    const char *path;         /* NULL: to nowhere, for timing; needs a probe otherwise */
    px_run_options run;
} px_trace_job;

typedef struct px_trace_facts {
    px_run_facts run;
    int64_t not_finite; /* inputs with a NaN or an infinity among their neurons */
    double seconds;     /* of running, without writing the file */
} px_trace_facts;

/* The same bytes for any number of threads. On failure there is no file. */
PX_API px_status px_trace(const px_trace_job *job, px_trace_facts *facts, px_error *err);

PX_END_DECLS
#endif
