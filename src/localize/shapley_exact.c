/* src/localize/shapley_exact.c - all coalitions of a layer
 *
 *     psi(n) = sum over s with n in s of (|s|-1)! (|N|-|s|)! / |N|! (u(s) - u(s without n))
 *
 * DeepSensor, Eq. 5. The weight of coalitions of k players is 1 / (n binomial(n - 1, k - 1)).
 */
#include "localize/shapley_inside.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct exact_run {
    px_shapley *s;
    const pxi_lane *lane;
    int64_t label, coalitions;
    double *utilities;
} exact_run;

static px_status exact_job(void *context, int worker, int64_t index, px_error *err)
{
    const exact_run *run = context;
    const pxi_lane *lane = run->lane;
    const int64_t rows = pxi_lane_rows(lane), first = index * rows;
    const int64_t count = PX_MIN(rows, run->coalitions - first);
    PX_TRY(pxi_mask_open(run->s, lane, worker, run->label, err));
    for (int64_t r = 0; r < count; r++) {
        if (first + r == run->coalitions - 1) { /* as the network itself computes it */
            pxi_mask_all(run->s, lane, worker);
        } else {
            pxi_mask_none(run->s, lane, worker);
            for (int64_t i = 0; i < lane->layer.count; i++)
                if ((first + r) >> i & 1)
                    pxi_mask_add(run->s, lane, worker, i);
        }
        pxi_mask_write(run->s, lane, worker, r);
    }
    return pxi_mask_run(run->s, lane, worker, count, run->utilities + first, err);
}

static void exact_sum(int n, const double *u, double *values)
{
    double weight[PX_SHAPLEY_MOST_EXACT + 1] = {0};
    double choose = 1.0; /* binomial(n - 1, k - 1) */
    for (int k = 1; k <= n; k++) {
        weight[k] = 1.0 / ((double)n * choose);
        choose = choose * (double)(n - k) / (double)k;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (uint32_t s = 0; s < (uint32_t)1 << n; s++)
            if (s >> i & 1)
                sum += weight[__builtin_popcount(s)] * (u[s] - u[s ^ (uint32_t)1 << i]);
        values[i] = sum;
    }
}

px_status px_shapley_exact(px_shapley *s, size_t layer, const px_shapley_pair *pair, double *values,
                           double *utilities, px_error *err)
{
    PX_TRY(pxi_shapley_load(s, pair, err));
    return pxi_shapley_exact(s, layer, pair, values, utilities, err);
}

px_status pxi_shapley_exact(px_shapley *s, size_t layer, const px_shapley_pair *pair,
                            double *values, double *utilities, px_error *err)
{
    if (layer >= s->lane_count)
        return px_fail(err, PX_E_USAGE, "there is no layer %zu", layer);
    pxi_lane *lane = &s->lanes[layer];
    if (lane->layer.count > PX_SHAPLEY_MOST_EXACT)
        return px_fail(err, PX_E_USAGE,
                       "layer '%.100s' has %zu neurons; all coalitions are tried of at most %d",
                       lane->layer.name, lane->channels, PX_SHAPLEY_MOST_EXACT);
    PX_TRY(pxi_lane_load(s, lane, err));
    exact_run run = {.s = s,
                     .lane = lane,
                     .label = pair->label,
                     .coalitions = (int64_t)1 << lane->layer.count,
                     .utilities = utilities};
    double *own = utilities ? NULL : pxi_calloc((size_t)run.coalitions, sizeof *own);
    if (!utilities && !own)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    run.utilities = utilities ? utilities : own;
    const int64_t rows = pxi_lane_rows(lane);
    const px_status status =
        pxi_pool_run(s->pool, (run.coalitions + rows - 1) / rows, exact_job, &run, NULL, NULL, err);
    if (status == PX_OK)
        exact_sum((int)lane->layer.count, run.utilities, values);
    free(own);
    return status;
}
