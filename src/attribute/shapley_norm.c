/* src/attribute/shapley_norm.c - excitable neurons: Shapley values on a common scale
 *
 * DeepSensor, Definition 3 calls a neuron excitable when its value, in nats, is above lambda, and
 * Eq. 6 takes their share. To rank neurons under small changes values may be scaled within a layer,
 * as the published code scales its own quantity; how large they are is then forgotten.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const norm_names[] = {
#define NORM_NAME(enumerator, id, help) [enumerator] = id,
    PX_SHAPLEY_NORMS(NORM_NAME)
#undef NORM_NAME
};

const char *px_shapley_norm_name(px_shapley_norm norm)
{
    return (size_t)norm < PX_LEN(norm_names) ? norm_names[norm] : "?";
}

px_status px_shapley_check_lambda(px_shapley_norm norm, double lambda, px_error *err)
{
    if (isnan(lambda))
        return px_fail(err, PX_E_USAGE, "lambda is not a number");
    if (norm != PX_SHAPLEY_RAW && !(lambda >= 0.0 && lambda <= 1.0))
        return px_fail(err, PX_E_USAGE,
                       "lambda %g is outside 0..1, where values scaled by '%s' lie; take one in "
                       "there, or the norm 'raw'",
                       lambda, px_shapley_norm_name(norm));
    return PX_OK;
}

/* Values that are not numbers make the whole range 0: nothing can be said. */
void pxi_shapley_scale(px_shapley_norm norm, const double *values, int64_t count, double *out)
{
    if (norm == PX_SHAPLEY_RAW) {
        memmove(out, values, (size_t)count * sizeof *out);
        return;
    }
    double low = INFINITY, high = -INFINITY;
    bool odd = false;
    for (int64_t i = 0; i < count; i++) {
        odd = odd || !isfinite(values[i]);
        low = PX_MIN(low, values[i]);
        high = PX_MAX(high, values[i]);
    }
    if (norm == PX_SHAPLEY_LAYER_MAX)
        low = 0.0;
    const bool flat = odd || !(high > low);
    for (int64_t i = 0; i < count; i++)
        out[i] = flat ? 0.0 : (values[i] - low) / (high - low);
}

void px_shapley_normalise(const px_shapley *s, px_shapley_norm norm, const double *values,
                          double *out)
{
    if (norm == PX_SHAPLEY_GLOBAL_MINMAX) {
        pxi_shapley_scale(norm, values, s->neuron_count, out);
        return;
    }
    for (size_t l = 0; l < s->game_count; l++) {
        const px_shapley_layer *layer = &s->games[l].layer;
        pxi_shapley_scale(norm, values + layer->offset, layer->count, out + layer->offset);
    }
}

/* Whether `value` of a range from low to high counts. */
static int64_t scaled_above(px_shapley_norm norm, const double *values, int64_t count,
                            double lambda)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return 0;
        low = PX_MIN(low, values[i]);
        high = PX_MAX(high, values[i]);
    }
    if (norm == PX_SHAPLEY_LAYER_MAX)
        low = 0.0;
    int64_t above = 0;
    for (int64_t i = 0; i < count; i++) {
        const double scaled = norm == PX_SHAPLEY_RAW ? values[i]
                              : high > low           ? (values[i] - low) / (high - low)
                                                     : 0.0;
        above += scaled > lambda;
    }
    return above;
}

double px_shapley_fitness(const px_shapley *s, px_shapley_norm norm, double lambda,
                          const double *values)
{
    int64_t above = 0;
    if (norm == PX_SHAPLEY_GLOBAL_MINMAX)
        above = scaled_above(norm, values, s->neuron_count, lambda);
    for (size_t l = 0; norm != PX_SHAPLEY_GLOBAL_MINMAX && l < s->game_count; l++)
        above +=
            scaled_above(norm, values + s->games[l].layer.offset, s->games[l].layer.count, lambda);
    return (double)above / (double)PX_MAX(s->neuron_count, (int64_t)1);
}

/* --- the published code's quantity ----------------------------------------------------------- */

/* (d - min) / (max - min) over the layer, then means over the places of each channel. */
static void game_differences(const pxi_game *game, const float *before, const float *after,
                             double *out)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < game->size; i++) {
        const double d = (double)after[i] - (double)before[i];
        low = PX_MIN(low, d);
        high = PX_MAX(high, d);
    }
    const double places = (double)(game->outer * game->inner);
    for (size_t c = 0; c < game->channels; c++) {
        double sum = 0.0;
        for (size_t o = 0; o < game->outer; o++)
            for (size_t i = 0; i < game->inner; i++) {
                const size_t at = (o * game->channels + c) * game->inner + i;
                sum += (double)after[at] - (double)before[at];
            }
        out[c] = high > low ? (sum / places - low) / (high - low) : 0.0;
    }
}

typedef struct difference_run {
    px_shapley *s;
    const float *x, *moved;
    double *values;
    float *both; /* a tap of both inputs */
} difference_run;

static px_status difference_job(void *context, pxi_lane *lane, int64_t pair, px_error *err)
{
    const difference_run *run = context;
    const px_shapley *s = run->s;
    const size_t size = s->input_size;
    memcpy(pxi_lane_input(lane, 0), run->x, size * sizeof(float));
    memcpy(pxi_lane_input(lane, 1), run->moved + (size_t)pair * size, size * sizeof(float));
    PX_TRY(px_session_forward(lane->session, err));
    for (size_t l = 0; l < s->game_count; l++) {
        const pxi_game *game = &s->games[l];
        PX_TRY(px_session_read(lane->session, game->tap, 2, run->both, err));
        game_differences(game, run->both, run->both + game->size,
                         run->values + pair * s->neuron_count + game->layer.offset);
    }
    return PX_OK;
}

px_status px_shapley_differences(px_shapley *s, const float *x, const float *moved, int64_t count,
                                 double *values, px_error *err)
{
    difference_run run = {.s = s, .x = x, .moved = moved, .values = values};
    size_t most = 1;
    for (size_t l = 0; l < s->game_count; l++)
        most = PX_MAX(most, s->games[l].size);
    run.both = pxi_calloc(most, 2 * sizeof *run.both);
    const px_status status = run.both
                                 ? pxi_pass_each(s->whole, count, NULL, difference_job, &run, err)
                                 : pxi_no_memory(err);
    s->pair++; /* what was loaded is gone */
    free(run.both);
    return status;
}
