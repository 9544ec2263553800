/* src/probe/probe_seed.c - the gradient of a neuron's value, as cotangents for a backward run */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "probe/neuron_values.h"
#include "probe/probe_internal.h"

/* `value` is the layer's forward tensor, for chan-max only; it may lie otherwise than `place`. */
static void seed_sample(const pxi_neuron_layout *place, const pxi_neuron_layout *value,
                        px_neurons neurons, int64_t neuron, float weight, float *dy, const float *y)
{
    if (neurons == PX_VIEW_UNIT) {
        dy[pxi_extent_offset(place->unit, place->unit_rank, neuron)] += weight;
        return;
    }
    float *channel = dy + pxi_extent_offset(place->channel, place->channel_rank, neuron);
    if (neurons == PX_VIEW_CHAN_MAX) {
        const int64_t first = pxi_neuron_argmax(
            value, y + pxi_extent_offset(value->channel, value->channel_rank, neuron));
        channel[pxi_extent_offset(place->space, place->space_rank, first)] += weight;
        return;
    }
    if (neurons == PX_VIEW_CLASS_TOKEN && place->token >= 0) {
        channel[pxi_extent_offset(place->space, place->space_rank, place->token)] += weight;
        return;
    }
    const float share = (float)((double)weight / (double)place->places);
    for (int64_t p = 0; p < place->places; p++)
        channel[pxi_extent_offset(place->space, place->space_rank, p)] += share;
}

px_status px_probe_seed(const px_probe *probe, px_session *session, size_t layer, int64_t neuron,
                        int64_t sample, float weight, px_error *err)
{
    if (layer >= probe->layer_count)
        return px_fail(err, PX_E_USAGE, "there is no chosen layer %zu", layer);
    const px_layer *which = &probe->layers[layer];
    if (neuron < 0 || neuron >= which->neuron_count)
        return px_fail(err, PX_E_USAGE, "layer '%.100s' has neurons 0 to %lld, not %lld",
                       which->name, (long long)which->neuron_count - 1, (long long)neuron);
    if (probe->neurons == PX_VIEW_CHAN_SCALED || probe->neurons == PX_VIEW_CHAN_RESCALED)
        return px_fail(
            err, PX_E_USAGE,
            "neurons '%s' have no gradient: each depends on its whole layer's range; use "
            "chan, chan-max, class-token or unit",
            px_neurons_name(probe->neurons));

    const px_place place = px_session_seed(session, which->tap_value);
    if (!place.data)
        return px_fail(err, PX_E_USAGE, "layer '%.100s' is not among the plan's seeds",
                       which->name);
    pxi_neuron_layout layout, value_layout;
    PX_TRY(pxi_neuron_layout_init(&layout, which, &place.shape, place.stride, err));
    value_layout = layout;
    const float *y = NULL;
    if (probe->neurons == PX_VIEW_CHAN_MAX) {
        const px_view value = px_session_view(session, which->tap_value);
        if (!value.data)
            return px_fail(err, PX_E_USAGE, "layer '%.100s': the plan does not keep its values",
                           which->name);
        PX_TRY(pxi_neuron_layout_init(&value_layout, which, &value.shape, value.stride, err));
        y = value.data;
    }
    if (sample >= layout.samples)
        return px_fail(err, PX_E_USAGE, "there is no sample %lld in a batch of %lld",
                       (long long)sample, (long long)layout.samples);
    const int64_t first = PX_MAX(sample, 0), last = sample < 0 ? layout.samples : sample + 1;
    for (int64_t s = first; s < last; s++)
        seed_sample(&layout, &value_layout, probe->neurons, neuron, weight,
                    place.data + layout.offset + s * layout.sample_stride,
                    y ? y + value_layout.offset + s * value_layout.sample_stride : NULL);
    return PX_OK;
}
