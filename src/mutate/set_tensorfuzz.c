/* src/mutate/set_tensorfuzz.c - TensorFuzz's white noise, with and without its bound
 *
 * Odena et al., TensorFuzz, ICML 2019. Its pictures are -1..1: sigma 0.2 there is 0.1 of the range,
 * and the constraint of its quantisation experiment, 0.4, is 0.2 of it. Without a bound a chain
 * drifts until nothing of the picture is left, so what it then is called is nobody's fault: the
 * bounded set is the one for misclassification, the free one for outputs that are no numbers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"

static void tensorfuzz_bounded(size_t i, double *values)
{
    (void)i;
    values[0] = 0.1;
    values[1] = 0.2;
}

static void tensorfuzz_unbounded(size_t i, double *values)
{
    (void)i;
    values[0] = 0.1;
    values[1] = 1.0;
}

static const px_mutation_entry bounded[] = {
    {&px_mutation_white_noise, "sigma 0.1, constraint 0.2", 1, tensorfuzz_bounded, NULL},
};

const px_mutation_set pxi_mutation_set_tensorfuzz = {
    .entry = {.id = "tensorfuzz",
              .title = "white noise, at most a fifth of the range away from the seed",
              .source = "TensorFuzz (ICML 2019)"},
    .entries = bounded,
    .entry_count = PX_LEN(bounded),
};

static const px_mutation_entry unbounded[] = {
    {&px_mutation_white_noise, "sigma 0.1, constraint 1", 1, tensorfuzz_unbounded, NULL},
};

const px_mutation_set pxi_mutation_set_tensorfuzz_free = {
    .entry = {.id = "tensorfuzz-free",
              .title = "white noise without a bound",
              .source = "TensorFuzz (ICML 2019)"},
    .entries = unbounded,
    .entry_count = PX_LEN(unbounded),
};
