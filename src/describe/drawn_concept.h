/* src/describe/drawn_concept.h - shapes, patterns and parts drawn into pictures
 *
 * An extension of the vocabulary of virtual units (LGR C.12.2), off by default: a describer that
 * learnt from drawn things alone did not transfer to real units.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_DRAWN_CONCEPT_H
#define PXI_DESCRIBE_DRAWN_CONCEPT_H

#include <plexor/rng.h>
#include <stdbool.h>
#include <stddef.h>

enum { PXI_DRAWN_COLOURS = 10 };

/* How many there are; the words of one ("circle", "eye-like"); what it is ("shape", "pattern",
 * "part"); whether it takes a colour, or has its own. */
size_t pxi_drawn_count(void);
const char *pxi_drawn_words(size_t i);
const char *pxi_drawn_noun(size_t i);
bool pxi_drawn_takes_colour(size_t i);

/* Draws it into a picture of values between 0 and 1 (CHW, one or three channels), at a place, size
 * and turn that come from `r`. colour: 0..9 in the order of the colour attributes; -1: any. region
 * (h * w) becomes the share of each pixel that is covered. */
void pxi_drawn_draw(size_t i, int colour, px_random *r, int channels, int h, int w, float *values,
                    float *region);

#endif
