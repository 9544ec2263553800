/* include/internal/sample_plan.h - compiling a network for the samples at hand */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SAMPLE_PLAN_H
#define PXI_INTERNAL_SAMPLE_PLAN_H

#include <internal/program.h>
#include <plexor/engine.h>

/* How many inputs a data set would have to fill, without what stands beside. */
int pxi_sample_inputs(const px_model *model);
/* The shape of the input that passes fill beside the first one (targets of regression, or what a
 * text network takes beside its embedding), *shape being that of the first. False: there is none.
 */
bool pxi_sample_beside(const px_model *model, px_shape *shape);
/* Refuses networks that data sets cannot be fed to: with several inputs, or not of floats. */
px_status pxi_sample_one_input(const px_model *model, px_error *err);

/* The network's only input with the shape of one sample, which completes axes that the file leaves
 * open. Refuses as above. */
px_status pxi_sample_feed(const px_model *model, const px_shape *sample, bool channels_last,
                          px_feed *out, px_error *err);

/* Whether the file leaves axes of its only input open besides the batch, so that the engine cannot
 * choose how many samples go at a time; then it is so many at most. */
bool pxi_sample_is_open(const px_model *model);
enum { PXI_OPEN_BATCH = 8 };

/* Makes the plan that `options` describe; options.batch 0: chosen, but at most `most`. */
px_status pxi_sample_plan(const px_model *model, const px_feed *feed, px_plan_options options,
                          int64_t most, px_plan **out, px_error *err);

/* pxi_program_new() of inputs as the file declares them, or as given, `batch` samples at a time. */
px_status pxi_program_sized(const px_model *model, const px_feed *given, size_t given_count,
                            int64_t batch, const int *wanted, size_t wanted_count,
                            pxi_program **out, px_error *err);

#endif
