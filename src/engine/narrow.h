/* src/engine/narrow.h - convolutions with few result channels, stride 1
 *
 * oneDNN vectorises over result channels, sixteen at a time: a first layer's input gradient (one or
 * three channels) and a LeNet's first layer (four or six) leave most lanes idle there. Measured on
 * one AVX-512 core (bench/kernels): 1>6 5x5 at 28x28 takes 8.9 us there, its data gradient 30 us,
 * that of 3>16 3x3 at 32x32 40 us. These loops vectorise along the row instead.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_NARROW_H
#define PXI_ENGINE_NARROW_H

#include "engine/prim.h"

typedef struct pxi_narrow {
    pxi_conv_shape shape;
    float *weights; /* [in_channel][ky][kx][out_channel] */
    float *bias;    /* per out channel; NULL: none */
    pxi_act act;
} pxi_narrow;

/* Whether the shape is one for these loops. `adds`: the result will be added to the destination. */
bool pxi_narrow_takes(const pxi_conv_shape *shape, const pxi_act *act, bool adds);

/* Reorders weights (out, in, kh, kw) into the plan's arena. NULL when out of memory. */
pxi_narrow *pxi_narrow_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                           const float *bias, const pxi_act *act);
/* Other weights, and bias if it was made with one. */
void pxi_narrow_repack(pxi_narrow *narrow, const float *weights, const float *bias);
size_t pxi_narrow_scratch(const pxi_narrow *narrow);

/* Channels-last in and out. `adds`: to what the destination holds; then there is no activation. */
void pxi_narrow_run(const pxi_narrow *narrow, const float *source, float *destination, bool adds,
                    float *scratch);

/* One sample (h, w, c) as planes (c, rows, row) with the borders zero, which is what the loops
 * read: floats of one row, of all planes, and the copying. */
size_t pxi_narrow_planes_row(const pxi_conv_shape *shape);
size_t pxi_narrow_planes_size(const pxi_conv_shape *shape);
void pxi_narrow_split(const pxi_conv_shape *shape, const float *source, float *planes);

/* Gradients of weights (out, in, kh, kw) and bias, either may be NULL, over a whole micro-batch
 * (narrow_weights.c). `scratch` is aligned for doubles. */
bool pxi_narrow_weights_takes(const pxi_conv_shape *shape);
size_t pxi_narrow_weights_scratch(const pxi_conv_shape *shape);
void pxi_narrow_weights_run(const pxi_conv_shape *shape, const float *source, const float *dy,
                            float *gradient, float *bias, void *scratch);

#endif
