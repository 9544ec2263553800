/* src/probe/neuron_layout.c - where the neurons of a layer lie in a strided tensor */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe_internal.h"

/* Appends an axis and joins it with the one before where both together are one run. */
static int extent_push(pxi_extent *extent, int rank, int64_t count, int64_t stride)
{
    if (count == 1)
        return rank;
    if (rank > 0 && extent[rank - 1].stride == count * stride) {
        extent[rank - 1].count *= count;
        extent[rank - 1].stride = stride;
        return rank;
    }
    extent[rank] = (pxi_extent){.count = count, .stride = stride};
    return rank + 1;
}

int64_t pxi_extent_offset(const pxi_extent *extent, int rank, int64_t index)
{
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; d--) {
        offset += index % extent[d].count * extent[d].stride;
        index /= extent[d].count;
    }
    return offset;
}

px_status pxi_neuron_layout_init(pxi_neuron_layout *layout, const px_layer *layer,
                                 const px_shape *shape, const int64_t *stride, px_error *err)
{
    *layout = (pxi_neuron_layout){.channels = 1, .places = 1, .token = layer->token};
    bool fits = shape->rank == layer->shape.rank;
    for (int d = 0; fits && d < shape->rank; d++) {
        const int64_t count = layer->shape.dim[d];
        switch (layer->axis[d]) {
        case PX_AXIS_BATCH: { /* places that are folded into it are of one sample, in runs */
            fits = count > 0 && shape->dim[d] % count == 0;
            layout->samples = fits ? shape->dim[d] / count : 0;
            if (layer->run == 0 && count > 1 && layout->samples > 1)
                return px_fail(err, PX_E_UNSUPPORTED,
                               "layer '%.100s': which rows are whose cannot be told in a batch; "
                               "use --batch 1, or leave it out with --layers '!%.100s'",
                               layer->name, layer->name);
            const int64_t run = layer->run > 0 ? layer->run : count;
            const int64_t apart = layout->samples * run * stride[d];
            layout->sample_stride = run * stride[d];
            layout->space_rank = extent_push(layout->space, layout->space_rank, count / run, apart);
            layout->space_rank = extent_push(layout->space, layout->space_rank, run, stride[d]);
            layout->unit_rank = extent_push(layout->unit, layout->unit_rank, count / run, apart);
            layout->unit_rank = extent_push(layout->unit, layout->unit_rank, run, stride[d]);
            layout->places *= count;
            break;
        }
        case PX_AXIS_HEADS: /* row = sample * heads + head, or head * batch + sample */
            fits = count > 0 && shape->dim[d] % count == 0;
            layout->samples = fits ? shape->dim[d] / count : 0;
            if (layer->run != count && layer->run != 1 && layout->samples > 1)
                return px_fail(err, PX_E_UNSUPPORTED,
                               "layer '%.100s': which heads are whose cannot be told in a batch; "
                               "use --batch 1, or leave it out with --layers '!%.100s'",
                               layer->name, layer->name);
            layout->sample_stride = (layer->run == 1 ? 1 : count) * stride[d];
            layout->channel_rank = extent_push(layout->channel, layout->channel_rank, count,
                                               (layer->run == 1 ? layout->samples : 1) * stride[d]);
            layout->unit_rank = extent_push(layout->unit, layout->unit_rank, count,
                                            (layer->run == 1 ? layout->samples : 1) * stride[d]);
            layout->channels *= count;
            break;
        case PX_AXIS_TIME:
            fits = shape->dim[d] == count;
            layout->offset = layer->step * stride[d];
            break;
        case PX_AXIS_CHANNEL:
            fits = shape->dim[d] == count;
            layout->channel_rank =
                extent_push(layout->channel, layout->channel_rank, count, stride[d]);
            layout->unit_rank = extent_push(layout->unit, layout->unit_rank, count, stride[d]);
            layout->channels *= count;
            break;
        case PX_AXIS_SPACE:
            fits = shape->dim[d] == count;
            layout->space_rank = extent_push(layout->space, layout->space_rank, count, stride[d]);
            layout->unit_rank = extent_push(layout->unit, layout->unit_rank, count, stride[d]);
            layout->places *= count;
            break;
        }
    }
    if (fits)
        return PX_OK;
    char got[PX_SHAPE_TEXT], want[PX_SHAPE_TEXT];
    return px_fail(err, PX_E_MISMATCH, "layer '%.100s' has shape %s per sample, not %s",
                   layer->name, px_shape_text(&layer->shape, want), px_shape_text(shape, got));
}
