/* src/data/array_source.h - samples that are rows of one array (IDX, NPY, NPZ) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_ARRAY_SOURCE_H
#define PXI_DATA_ARRAY_SOURCE_H

#include "data/npy.h"
#include <internal/source.h>

typedef struct pxi_array_source {
    pxi_source base;
    char *name;     /* of the array's file, for messages */
    pxi_tree *tree; /* what `bytes` borrows from; may be NULL */
    pxi_bytes bytes;
    pxi_npy npy;
    int64_t row;        /* elements per sample */
    bool channels_last; /* in the file: HWC, turned to CHW on reading */
    int32_t *labels;    /* NULL: none */
    pxi_bytes targets;  /* base.target_count numbers per sample; empty: none */
    pxi_npy targets_npy;
    char *targets_name;
    char **names;                /* of the classes; NULL: unknown */
    char **input_names;          /* NULL: numbers */
    bool strided;                /* a view of memory with gaps or another order: */
    int64_t stride[PX_MAX_RANK]; /* bytes from one element to the next, per axis of npy.shape */
} pxi_array_source;

/* Takes over `bytes` and `tree` in any case. `npy` says what the bytes are; its first axis counts
 * samples. Works out the layout of pictures: see docs/data.md. */
px_status pxi_array_source_new(const char *kind, const char *name, pxi_tree *tree, pxi_bytes *bytes,
                               const pxi_npy *npy, pxi_array_source **out, px_error *err);
/* Class indices, one per sample; any integer type, or whole floats. */
px_status pxi_array_source_set_labels(pxi_array_source *source, const pxi_bytes *bytes,
                                      const pxi_npy *npy, const char *name, px_error *err);
/* Probabilities of the classes, [samples, classes]; every row is checked. Takes over `bytes` in any
 * case. Call it after the labels: where there are none, the likeliest class becomes the label. */
px_status pxi_array_source_set_targets(pxi_array_source *source, pxi_bytes *bytes,
                                       const pxi_npy *npy, const char *name, px_error *err);

/* What a network of regression is to give, [samples] or [samples, targets]. Takes over `bytes` in
 * any case. */
px_status pxi_array_source_set_numbers(pxi_array_source *source, pxi_bytes *bytes,
                                       const pxi_npy *npy, const char *name, int targets,
                                       px_error *err);

#endif
