/* include/plexor/closeness.h - how near a changed input still is to its original
 *
 * Mutations are meant to leave the meaning of a picture alone; whether one did is measured. What
 * the chain moved (turned, slanted, shifted, grown) is moved in the original too, so that a picture
 * that was only turned is as similar as can be, and one that drowns in noise is not. What left the
 * frame is counted apart. docs/fuzz.md has the definitions and where the limits come from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLOSENESS_H
#define PLEXOR_CLOSENESS_H

#include <plexor/mutate.h>

PX_BEGIN_DECLS

typedef struct px_closeness {
    /* Mean structural similarity to the original, moved as the chain says, over what both show; 0
     * where that is less than a window. NaN: not known, the inputs are no planes. */
    double similarity;
    /* Share of the object that is still in the frame: of what differs from a plain background, by
     * how much it does; of the area where there is none. NaN: not known. */
    double inside;
} px_closeness;

/* A failure at or above both is close to its original. */
#define PX_CLOSE_SIMILARITY 0.6
#define PX_CLOSE_INSIDE 0.8

PX_END_DECLS
#endif
