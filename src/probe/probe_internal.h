/* src/probe/probe_internal.h - the inside of px_probe */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_PROBE_INTERNAL_H
#define PXI_PROBE_PROBE_INTERNAL_H

#include <plexor/probe.h>

#include "base/arena.h"

#define PXI_LAYER_ALIASES 4

typedef struct pxi_layers { /* all layers of a network, in topological order of `post` */
    px_layer *layer;
    /* Other names people know a layer by: its linear node, the tensors; NULL where there is none.
     */
    const char *(*alias)[PXI_LAYER_ALIASES];
    int64_t *places; /* of `post` per channel */
    size_t count, capacity;
} pxi_layers;

struct px_probe {
    const px_model *model;
    px_arena *arena; /* everything below */
    pxi_layers all;
    size_t *chosen; /* indices into `all` */
    px_layer *layers;
    size_t layer_count;
    int *values;
    size_t value_count;
    size_t *layer_at;   /* per value of the graph: 1 + the first chosen layer there; 0: none */
    size_t *layer_next; /* per chosen layer: 1 + the next one of the same value; 0: none */
    px_neurons neurons;
    int64_t neuron_count;
    int64_t token, token_count; /* that the classifier reads, of so many; -1: none by itself */
    int64_t patch_rows, patch_columns; /* that tokens were cut from a picture as; 0: none were */
    const char *description;
    int alone; /* 1 + the first chosen layer whose samples cannot be told apart in a batch; 0 */
};

/* Fills probe->all for the chosen tap (layer_find.c). */
px_status pxi_layers_find(px_probe *probe, const px_probe_options *options, px_error *err);

/* Fills probe->chosen and probe->layer_count from the text of --layers (layer_select.c). */
px_status pxi_layers_select(px_probe *probe, const char *layers, px_error *err);

/* Finds out the `run` of chosen layers whose batch axis has places folded into it
 * (sample_order.c). */
px_status pxi_layers_order(px_probe *probe, const px_probe_options *options, px_error *err);

/* The layer of probe->all whose name, alias or `#i` is `text`, from `first` on; count if none. */
size_t pxi_layers_match(const pxi_layers *all, const char *text, size_t first);

/* ": did you mean 'conv1'?" or what else helps; for the end of a message. Returns `buffer`. */
#define PXI_HINT_TEXT 160
const char *pxi_layers_hint(const pxi_layers *all, const char *text, char buffer[PXI_HINT_TEXT]);

/* --- how a layer's tensor lies in memory (neuron_layout.c) ----------------------------------- */

typedef struct pxi_extent {
    int64_t count, stride; /* in elements */
} pxi_extent;

typedef struct pxi_neuron_layout { /* of one layer in one view; neighbouring axes are joined */
    int64_t sample_stride, offset; /* offset: of the time step */
    int64_t samples;               /* that the view has room for */
    int channel_rank, space_rank, unit_rank;
    pxi_extent channel[PX_MAX_RANK];   /* row-major: neuron order of the chan views */
    pxi_extent space[PX_MAX_RANK + 1]; /* row-major; the batch axis may give two */
    pxi_extent unit[PX_MAX_RANK + 1];  /* row-major: all but batch and time, in the graph's order */
    int64_t channels, places;          /* products of the above */
    int64_t token;                     /* the only place that counts; -1: all do */
} pxi_neuron_layout;

/* PX_E_MISMATCH if the view's shape is not the layer's; PX_E_UNSUPPORTED if it has several samples
 * that cannot be told apart. */
px_status pxi_neuron_layout_init(pxi_neuron_layout *layout, const px_layer *layer,
                                 const px_shape *shape, const int64_t *stride, px_error *err);

/* Offset of element `index` (row-major) of `rank` extents. */
int64_t pxi_extent_offset(const pxi_extent *extent, int rank, int64_t index);

#endif
