/* src/engine/run_arrays.h - how a network's own inputs go through it as arrays: in micro-batches
 * where the first axis is samples, all at once otherwise
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_RUN_ARRAYS_H
#define PXI_ENGINE_RUN_ARRAYS_H

#include <internal/pass.h>

typedef struct pxi_array_pass { /* {0}: not open */
    const px_tensor *inputs;
    pxi_pass *pass;
    int64_t count; /* of samples, or of the leading axis of all that is run at once */
    int64_t batch; /* as many samples at a time */
    bool whole;
} pxi_array_pass;

/* `by_rows` are values that are read sample by sample, which decides. pxi_pass_close(out->pass)
 * ends it. */
px_status pxi_array_pass_open(const px_model *model, const px_tensor *inputs,
                              const px_run_options *options, const px_plan_options *wants,
                              const int *by_rows, size_t count, pxi_array_pass *out, px_error *err);
/* Samples [first, first + samples) to the lane's session, and zeros behind them. */
void pxi_array_pass_fill(const pxi_array_pass *arrays, const pxi_lane *lane, int64_t first,
                         int64_t samples);
px_run_facts pxi_array_pass_facts(const pxi_array_pass *arrays);

#endif
