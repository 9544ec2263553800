/* src/probe/probe_trace.c - neuron values of a batch */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vector_math.h"
#include "probe/neuron_values.h"
#include "probe/probe_internal.h"
#include <internal/lane_watch.h>
#include <internal/probe.h>

int64_t pxi_probe_batch(const px_probe *probe, int64_t batch)
{
    return probe && probe->alone ? 1 : batch;
}

static void trace_sample(const pxi_neuron_layout *layout, px_neurons neurons, const float *x,
                         float *row)
{
    float low, high;
    switch (neurons) {
    case PX_VIEW_CLASS_TOKEN:
        if (layout->token >= 0) {
            x += pxi_extent_offset(layout->space, layout->space_rank, layout->token);
            for (int64_t c = 0; c < layout->channels; c++)
                row[c] = x[pxi_extent_offset(layout->channel, layout->channel_rank, c)];
            break;
        } /* else a layer of other places: their mean */
        pxi_neuron_means(layout, x, row);
        break;
    case PX_VIEW_CHAN:
        pxi_neuron_means(layout, x, row);
        break;
    case PX_VIEW_CHAN_MAX:
        pxi_neuron_maxima(layout, x, row);
        break;
    case PX_VIEW_UNIT:
        pxi_neuron_units(layout, x, row);
        break;
    case PX_VIEW_CHAN_SCALED: /* the mean of scaled values is the scaled mean */
        pxi_neuron_range(layout, x, &low, &high);
        pxi_neuron_means(layout, x, row);
        pxi_neuron_scale(row, layout->channels, low, high);
        break;
    case PX_VIEW_CHAN_RESCALED: {
        pxi_neuron_means(layout, x, row);
        low = high = row[0];
        for (int64_t c = 1; c < layout->channels; c++) {
            low = row[c] < low ? row[c] : low;
            high = row[c] > high ? row[c] : high;
        }
        pxi_neuron_scale(row, layout->channels, low, high);
        break;
    }
    }
}

px_status px_probe_trace_layer(const px_probe *probe, size_t layer, const px_view *view,
                               int64_t samples, float *trace, int64_t row_stride, px_error *err)
{
    const px_layer *which = &probe->layers[layer];
    if (!view->data)
        return px_fail(err, PX_E_USAGE, "layer '%.100s': the plan does not keep its values",
                       which->name);
    pxi_neuron_layout layout;
    PX_TRY(pxi_neuron_layout_init(&layout, which, &view->shape, view->stride, err));
    if (samples > layout.samples)
        return px_fail(err, PX_E_USAGE,
                       "layer '%.100s': %lld samples asked for, the batch has %lld", which->name,
                       (long long)samples, (long long)layout.samples);
    for (int64_t s = 0; s < samples; s++)
        trace_sample(&layout, probe->neurons, view->data + layout.offset + s * layout.sample_stride,
                     trace + s * row_stride);
    return PX_OK;
}

px_status px_probe_trace(const px_probe *probe, const px_session *session, int64_t samples,
                         float *trace, bool *rejected, px_error *err)
{
    for (size_t i = 0; i < probe->layer_count; i++) {
        const px_view view = px_session_view(session, probe->layers[i].tap_value);
        PX_TRY(px_probe_trace_layer(probe, i, &view, samples,
                                    trace + probe->layers[i].neuron_offset, probe->neuron_count,
                                    err));
    }
    if (rejected)
        px_probe_reject(probe, trace, samples, rejected);
    return PX_OK;
}

px_status px_probe_observer(void *watch, int value, const px_view *view, px_error *err)
{
    const px_probe_watch *w = watch;
    for (size_t i = w->probe->layer_at[value]; i > 0; i = w->probe->layer_next[i - 1])
        PX_TRY(px_probe_trace_layer(w->probe, i - 1, view, w->samples,
                                    w->trace + w->probe->layers[i - 1].neuron_offset,
                                    w->probe->neuron_count, err));
    return PX_OK;
}

px_status pxi_lane_observe(void *lane, int value, const px_view *view, px_error *err)
{
    px_probe_watch *watch = ((const pxi_lane *)lane)->state;
    return watch->trace ? px_probe_observer(watch, value, view, err) : PX_OK;
}

void px_probe_reject(const px_probe *probe, const float *trace, int64_t samples, bool *rejected)
{
    for (int64_t s = 0; s < samples; s++)
        rejected[s] = !pxi_all_finite(trace + s * probe->neuron_count, probe->neuron_count);
}
