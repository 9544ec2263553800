/* src/describe/mask.h - activation maps at the size of pictures, and masks at the size of maps
 *
 *     pxi_upsample(map, 8, 8, 32, 32, false, values);               // float values
 *     ones = pxi_mask(map, 8, 8, level, 32, 32, false, mask);       // values > level, as 0 and 1
 *     pxi_mask_downsample(mask, 32, 32, 8, 8, weights);             // for masked means (Eq 6)
 *
 * Bilinear at src = (i + 0.5) / s - 0.5 with s = out / in (half-pixel centres, no antialiasing).
 * Outside the map its edge goes on; `zero_padded` has zeros there instead, as the network
 * dissection code has, which weakens activations at the border. Many maps of one size go through a
 * pxi_upsampler, which gives the same bits and keeps its tables.
 *
 * A place that is not a number is no part of a mask. Extents are 1 to PXI_MAP_SIDE_MOST.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_MASK_H
#define PXI_DESCRIBE_MASK_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PXI_MAP_SIDE_MOST 16384

/* `map` is h x w and `out` H x W, row by row. */
void pxi_upsample(const float *map, int h, int w, int H, int W, bool zero_padded, float *out);

/* out = upsampled map > level, strictly; returns the number of ones. A map that nowhere exceeds the
 * level has an empty mask, whatever rounding does in between. */
int64_t pxi_mask(const float *map, int h, int w, float level, int H, int W, bool zero_padded,
                 uint8_t *out);

/* The mask (any value but 0 counts as 1) at h x w, edge-clamped: weights of 0 to 1. */
void pxi_mask_downsample(const uint8_t *mask, int H, int W, int h, int w, float *out);

/* The same two for many maps. It has scratch memory: one per thread. */
typedef struct pxi_upsampler pxi_upsampler;
px_status pxi_upsampler_new(int h, int w, int H, int W, bool zero_padded, pxi_upsampler **out,
                            px_error *err);
void pxi_upsampler_free(pxi_upsampler *upsampler); /* NULL is fine */
/* Neighbours in a row of the map lie `step` floats apart, rows w * step: a channel of NHWC data
 * needs no copy. */
void pxi_upsampler_run(pxi_upsampler *upsampler, const float *map, int64_t step, float *out);
int64_t pxi_upsampler_mask(pxi_upsampler *upsampler, const float *map, int64_t step, float level,
                           uint8_t *out);

#endif
