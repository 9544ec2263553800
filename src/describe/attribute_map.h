/* src/describe/attribute_map.h - attributes of one picture, pixel by pixel
 *
 *     pxi_look *look = NULL;
 *     PX_TRY(pxi_look_new(h, w, &facts, &look, err));        // one per thread
 *     pxi_look_at(look, values, channels);                   // 0..1, CHW
 *     pxi_look_map(look, pxi_attributes_of(kind, &n) + i, plane);
 *
 * What several maps need (hue, gradients, blurs, the skeleton) is worked out once per picture, when
 * it is first asked for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_ATTRIBUTE_MAP_H
#define PXI_DESCRIBE_ATTRIBUTE_MAP_H

#include <internal/concepts.h>

enum { PXI_EDGE_MAPS = 4 };

typedef struct pxi_look_facts {      /* of the data, not of one picture */
    double edge_most[PXI_EDGE_MAPS]; /* largest value of each edge map before scaling; 0: scale 1 */
    bool dark_ink;                   /* strokes are darker than the ground */
    double stroke_median;            /* of distances from ink to ground, over all ink */
} pxi_look_facts;

typedef struct pxi_look pxi_look;

px_status pxi_look_new(int h, int w, const pxi_look_facts *facts, pxi_look **out, px_error *err);
void pxi_look_free(pxi_look *look); /* NULL is fine */
void pxi_look_at(pxi_look *look, const float *values, int channels);

typedef struct pxi_attribute pxi_attribute;
struct pxi_attribute {
    const char *words;
    px_concept_group group;
    bool two_valued;
    void (*map)(pxi_look *look, const pxi_attribute *attribute, float *out);
    double hue, width;  /* colours: the window of hues, degrees */
    double low, high;   /* of brightness */
    double least, most; /* of saturation */
    int which;          /* of edges and strokes */
};

/* The attributes of colour pictures or of glyphs. */
const pxi_attribute *pxi_attributes_of(px_concept_kind kind, size_t *count);
void pxi_look_map(pxi_look *look, const pxi_attribute *attribute, float *out);

/* Squared distances of ink from the ground, 0 on the ground; and the mean of the channels. Borrowed
 * until the next picture. */
const int32_t *pxi_look_distance(pxi_look *look);
const float *pxi_look_brightness(const pxi_look *look);

/* Edge map `which` before it is scaled to a largest value of 3. */
void pxi_look_edges(pxi_look *look, int which, float *out);

/* --- glyphs (glyph_map.c) ---------------------------------------------------------------------
 *
 * Ink is 1, ground 0. Strokes hang together by all eight neighbours, the ground by four.
 */

/* Squared Euclidean distance of each ink pixel from the nearest ground pixel, 0 on the ground;
 * h * h + w * w where there is no ground at all. `scratch` has h * w places. */
void pxi_ink_distance(const uint8_t *ink, int h, int w, int32_t *scratch, int32_t *out);
/* Thins strokes to one pixel: Zhang and Suen, A Fast Parallel Algorithm for Thinning Digital
 * Patterns, CACM 1984. Outside the picture is ground. `scratch` has h * w places. */
void pxi_ink_skeleton(const uint8_t *ink, int h, int w, uint8_t *scratch, uint8_t *out);
/* Skeleton pixels with `least` to `most` neighbours on it. */
void pxi_skeleton_nodes(const uint8_t *skeleton, int h, int w, int least, int most, uint8_t *out);
/* Ground that is not connected to the frame. `scratch` has h * w places. */
void pxi_ink_holes(const uint8_t *ink, int h, int w, int32_t *scratch, uint8_t *out);
/* 1 where a square of (2 radius + 1)^2 around the pixel has a 1. */
void pxi_ink_dilate(const uint8_t *in, int h, int w, int radius, float *out);

#endif
