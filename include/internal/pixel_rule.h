/* include/internal/pixel_rule.h - bounds, rounding and distances of changed pixels
 *
 * *Levels* are raw values, 0..255 for 8-bit data; *units* are scaled ones. Arithmetic is in double,
 * and what is kept in float is moved inwards where that would leave the ball or the range.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PIXEL_RULE_H
#define PXI_INTERNAL_PIXEL_RULE_H

#include <plexor/data.h>

typedef struct pxi_pixel_rule {
    double whole; /* a unit is so many levels, where that is a whole number; else 0 */
    double scale; /* units per level */
    double step, distance, low, high;      /* in levels; distance: of any one value */
    size_t count, channels, plane;         /* values; count = channels * plane */
    bool bgr, channels_last;               /* how the network's input lies */
    double stddev[PX_PREPROCESS_CHANNELS]; /* per channel of the network's input */
} pxi_pixel_rule;

typedef struct pxi_pixel_bounds { /* in units */
    double step, distance, low, high;
} pxi_pixel_bounds;

void pxi_pixel_rule_init(pxi_pixel_rule *rule, const px_dataset *set, const px_preprocess *pre,
                         const pxi_pixel_bounds *bounds);
/* The same for samples of that shape, whatever data set they are from. */
void pxi_pixel_rule_of(pxi_pixel_rule *rule, const px_shape *shape, const px_preprocess *pre,
                       const pxi_pixel_bounds *bounds);
double pxi_pixel_units(const pxi_pixel_rule *rule, double levels);
double pxi_pixel_levels(const pxi_pixel_rule *rule, double units);

/* Both ends NaN: as px_dataset_range() has it. PX_E_USAGE for a range
 * with nothing in it, and for one that is wider than the bytes that will be `rounded` to. */
px_status pxi_pixel_range(const px_dataset *set, const px_preprocess *pre, bool rounded,
                          double *low, double *high, px_error *err);

/* The first value that is no number or lies outside the range; count: none. */
size_t pxi_pixels_outside(const pxi_pixel_rule *rule, const float *pixels);

/* The float next to `value` that is no further from `original` than the distance and the range
 * allow. */
float pxi_pixel_keep(const pxi_pixel_rule *rule, float original, double value);

/* Where channel c of the pixels lies in the network's input: *first is its first value, *stride
 * leads to the next one; returns its standard deviation. */
double pxi_pixel_channel(const pxi_pixel_rule *rule, size_t c, size_t *first, size_t *stride);

/* Whole levels towards the original, whose values are whole. */
void pxi_pixels_round(const float *original, const float *pixels, size_t count, uint8_t *bytes);
/* The nearest level, half up, where no distance is to be kept. */
void pxi_pixels_round_nearest(const float *pixels, size_t count, uint8_t *bytes);

typedef struct pxi_pixel_distance { /* of pixels - original, in units */
    int64_t l0;
    double l1, l2, linf;
} pxi_pixel_distance;
pxi_pixel_distance pxi_pixels_distance(const pxi_pixel_rule *rule, const float *original,
                                       const float *pixels);

#endif
