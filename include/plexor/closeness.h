/* include/plexor/closeness.h - how near a changed input still is to its original
 *
 *     px_closeness near;
 *     PX_TRY(px_closeness_measure(links, count, &shape, PX_UINT8, original, changed, &near, err));
 *     if (px_is_close(&near)) ...                  // a person would still see the same in it
 *
 * Mutations are meant to leave the meaning of a picture alone; whether one did is measured. What
 * the chain moved (turned, slanted, shifted, grown) is moved in the original too, so that a picture
 * that was only turned is as similar as can be, and one that drowns in noise is not. What left the
 * frame is counted apart. docs/fuzz.md has the definitions and where the limits come from.
 */
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
PX_API bool px_is_close(const px_closeness *closeness); /* false where it is not known */

/* For sorting: below 0 where `a` is nearer than `b`, which those that are close are; then by
 * similarity times inside, in hundredths: what resampling alone decides is no order. */
PX_API int px_closeness_compare(const px_closeness *a, const px_closeness *b);

/* `links` is how `changed` came from `original`, as px_chain_parse() gives it; only those that move
 * content are looked at, and none is fine. Both are planes of `shape` [C,H,W] in type `dtype`,
 * PX_UINT8 or PX_FLOAT32. Recordings are compared by their features. Any number of threads; memory
 * is taken for the call only. The result depends on nothing but the arguments. */
PX_API px_status px_closeness_measure(const px_drawn *links, size_t count, const px_shape *shape,
                                      px_dtype dtype, const void *original, const void *changed,
                                      px_closeness *out, px_error *err);

PX_END_DECLS
#endif
