/* src/stats/bootstrap.c - percentile bootstrap intervals */
#include <internal/stats.h>

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

px_bootstrap_options px_bootstrap_options_default(void)
{
    return (px_bootstrap_options){.resamples = 10000, .level = 0.95};
}

static double mean_of(const double *values, size_t count, void *context)
{
    (void)context;
    return px_mean(values, count);
}

px_status px_bootstrap(const double *values, size_t count, const px_bootstrap_options *options,
                       px_interval *out, px_error *err)
{
    const px_statistic statistic = options->statistic ? options->statistic : mean_of;
    if (options->resamples < 1)
        return px_fail(err, PX_E_USAGE, "a bootstrap of %d resamples is not possible",
                       options->resamples);
    if (!(options->level > 0.0 && options->level < 1.0))
        return px_fail(err, PX_E_USAGE, "a confidence of %g is not between 0 and 1",
                       options->level);
    if (count > UINT32_MAX)
        return px_fail(err, PX_E_USAGE, "a bootstrap of %zu values is not possible", count);
    if (count == 0) {
        *out = (px_interval){NAN, NAN};
        return PX_OK;
    }
    const size_t resamples = (size_t)options->resamples;
    double *sample = pxi_calloc(count, sizeof *sample);
    double *found = pxi_calloc(resamples, sizeof *found);
    px_status status = PX_OK;
    if (!sample || !found) {
        status = pxi_no_memory_for(err, "a bootstrap of %zu values", count);
        goto done;
    }
    for (size_t r = 0; r < resamples; r++) {
        px_random random = px_rng(options->seed, PX_RNG_BOOTSTRAP, options->stream, (uint32_t)r);
        for (size_t i = 0; i < count; i++)
            sample[i] = values[px_rng_below(&random, (uint32_t)count)];
        found[r] = statistic(sample, count, options->context);
    }
    const double tail = (1.0 - options->level) / 2.0;
    out->low = px_quantile(found, resamples, tail);
    out->high = px_quantile(found, resamples, 1.0 - tail);
done:
    free(sample);
    free(found);
    return status;
}
