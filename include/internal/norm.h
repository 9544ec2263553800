/* include/internal/norm.h - normalisations and softmax as their setup() leaves them in ctx->params
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_NORM_H
#define PXI_INTERNAL_NORM_H

#include <internal/op.h>

/* BatchNormalization: X (N, channels, ...). */
typedef struct pxi_batch_norm_params {
    int64_t batch, channels, area; /* X as (batch, channels, area) */
    double epsilon, momentum;
    bool training; /* normalises by the batch's statistics, and updates the running ones */
    int running_mean, running_var, saved_mean, saved_var; /* output indices; -1: none */
} pxi_batch_norm_params;

/* LRN: y = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta */
typedef struct pxi_lrn_params {
    int64_t batch, channels, area;
    int64_t size; /* >= 1; floor((size - 1) / 2) channels before, ceil((size - 1) / 2) after */
    double alpha, beta, bias;
} pxi_lrn_params;

/* Softmax, LogSoftmax, Hardmax: over the axes axis_begin .. axis_end - 1 taken together, in the
 * stored order. One axis since opset 13, all from `axis` on before. */
typedef struct pxi_softmax_params {
    int axis_begin, axis_end;
} pxi_softmax_params;

/* InstanceNormalization, GroupNormalization: X as (batch, channels, area), statistics over `group`
 * consecutive channels. `per_group`: scale and bias have one entry per group (GroupNormalization
 * before opset 21), not per channel. */
typedef struct pxi_group_norm_params {
    int64_t batch, channels, area, group_count, group;
    double epsilon;
    bool per_group;
} pxi_group_norm_params;

/* LayerNormalization, RMSNormalization: X as (rows, width), normalised along width. */
typedef struct pxi_layer_norm_params {
    int64_t rows, width;
    double epsilon;
    bool centred; /* the mean is taken away; RMSNormalization leaves it */
} pxi_layer_norm_params;

#endif
