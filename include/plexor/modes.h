/* include/plexor/modes.h - failure modes: which mutations, how strong, break which classes
 *
 * A try is a mutant that the network judged. It counts for its last mutation, the one that was
 * added to an input whose answer was right, and for the label of its seed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_MODES_H
#define PLEXOR_MODES_H

#include <plexor/json.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

typedef struct px_mode {
    const px_mutation *mutation;
    int band;      /* of px_drawn_band() */
    int64_t label; /* of the seed; -1: all of them together */
    int64_t tries, faults;
    int64_t close; /* of the faults, those that are close to their originals */
} px_mode;

#define PX_MODE_TRIES 20 /* fewer say little about a rate */

PX_END_DECLS
#endif
