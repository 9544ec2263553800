/* src/attribute/shapley_exact.c - exact Shapley values: all coalitions of a layer
 *
 *     psi(n) = sum over s with n in s of (|s|-1)! (|N|-|s|)! / |N|! (u(s) - u(s without n))
 *
 * DeepSensor, Eq. 5. The weight of coalitions of k players is 1 / (n binomial(n - 1, k - 1)).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct exact_run {
    px_shapley *s;
    const pxi_game *game;
    int64_t label, coalitions;
    double *utilities;
} exact_run;

static px_status exact_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const exact_run *run = context;
    const pxi_game *game = run->game;
    const int64_t rows = pxi_game_rows(game), first = index * rows;
    const int64_t count = PX_MIN(rows, run->coalitions - first);
    PX_TRY(pxi_mask_open(run->s, game, lane, run->label, err));
    for (int64_t r = 0; r < count; r++) {
        if (first + r == run->coalitions - 1) { /* as the network itself computes it */
            pxi_mask_all(game, lane);
        } else {
            pxi_mask_none(game, lane);
            for (int64_t i = 0; i < game->layer.count; i++)
                if ((first + r) >> i & 1)
                    pxi_mask_add(game, lane, i);
        }
        pxi_mask_write(game, lane, r);
    }
    return pxi_mask_run(run->s, game, lane, count, run->utilities + first, err);
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
    if (layer >= s->game_count)
        return px_fail(err, PX_E_USAGE, "there is no layer %zu", layer);
    pxi_game *game = &s->games[layer];
    if (game->layer.count > PX_SHAPLEY_MOST_EXACT)
        return px_fail(err, PX_E_USAGE,
                       "layer '%.100s' has %zu neurons; all coalitions are tried of at most %d",
                       game->layer.name, game->channels, PX_SHAPLEY_MOST_EXACT);
    PX_TRY(pxi_game_load(s, game, err));
    exact_run run = {.s = s,
                     .game = game,
                     .label = pair->label,
                     .coalitions = (int64_t)1 << game->layer.count,
                     .utilities = utilities};
    double *own = utilities ? NULL : pxi_calloc((size_t)run.coalitions, sizeof *own);
    if (!utilities && !own)
        return pxi_no_memory(err);
    run.utilities = utilities ? utilities : own;
    const int64_t rows = pxi_game_rows(game);
    const pxi_left left = {
        .each = rows, .count = run.coalitions, .array = {{run.utilities, sizeof *run.utilities}}};
    pxi_pass_leaves(game->masked, &left);
    const px_status status =
        pxi_pass_each(game->masked, (run.coalitions + rows - 1) / rows, NULL, exact_job, &run, err);
    if (status == PX_OK)
        exact_sum((int)game->layer.count, run.utilities, values);
    free(own);
    return status;
}
