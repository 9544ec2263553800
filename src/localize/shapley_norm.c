/* src/localize/shapley_norm.c - excitable neurons: values on a common scale
 *
 * DeepSensor, Definition 3 calls a neuron excitable when its value is above lambda, and Eq. 6 takes
 * their share. Values in nats cannot be meant (docs/localize.md), so they are scaled within a
 * layer, as the published code scales its own quantity.
 */
#include "localize/shapley_inside.h"

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

px_status px_shapley_norm_parse(const char *text, px_shapley_norm *out, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(norm_names); i++)
        if (strcmp(text, norm_names[i]) == 0) {
            *out = (px_shapley_norm)i;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "there is no norm '%.60s'; there are raw, layer-minmax, layer-max and "
                   "global-minmax",
                   text);
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
    for (size_t l = 0; l < s->lane_count; l++) {
        const px_shapley_layer *layer = &s->lanes[l].layer;
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
    for (size_t l = 0; norm != PX_SHAPLEY_GLOBAL_MINMAX && l < s->lane_count; l++)
        above +=
            scaled_above(norm, values + s->lanes[l].layer.offset, s->lanes[l].layer.count, lambda);
    return (double)above / (double)PX_MAX(s->neuron_count, (int64_t)1);
}

/* --- the published code's quantity
 * --------------------------------------------------------------- */

/* (d - min) / (max - min) over the layer, then means over the places of each channel. */
static void lane_differences(const pxi_lane *lane, const float *before, const float *after,
                             double *out)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < lane->size; i++) {
        const double d = (double)after[i] - (double)before[i];
        low = PX_MIN(low, d);
        high = PX_MAX(high, d);
    }
    const double places = (double)(lane->outer * lane->inner);
    for (size_t c = 0; c < lane->channels; c++) {
        double sum = 0.0;
        for (size_t o = 0; o < lane->outer; o++)
            for (size_t i = 0; i < lane->inner; i++) {
                const size_t at = (o * lane->channels + c) * lane->inner + i;
                sum += (double)after[at] - (double)before[at];
            }
        out[c] = high > low ? (sum / places - low) / (high - low) : 0.0;
    }
}

px_status px_shapley_differences(px_shapley *s, const float *x, const float *moved, int64_t count,
                                 double *values, px_error *err)
{
    size_t most = 1;
    for (size_t l = 0; l < s->lane_count; l++)
        most = PX_MAX(most, s->lanes[l].size);
    float *both = pxi_calloc(most, 2 * sizeof *both);
    px_session *whole = s->whole.sessions[0];
    float *input = px_session_input(whole, 0);
    px_status status = both ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        memcpy(input, x, s->input_size * sizeof *input);
        memcpy(input + s->input_size, moved + (size_t)i * s->input_size,
               s->input_size * sizeof *input);
        status = px_session_forward(whole, err);
        for (size_t l = 0; l < s->lane_count && status == PX_OK; l++) {
            const pxi_lane *lane = &s->lanes[l];
            status = px_session_read(whole, lane->tap, 2, both, err);
            if (status == PX_OK)
                lane_differences(lane, both, both + lane->size,
                                 values + i * s->neuron_count + lane->layer.offset);
        }
    }
    s->pair++; /* what was loaded is gone */
    free(both);
    return status;
}
