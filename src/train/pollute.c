/* src/train/pollute.c - polluted training data
 *
 * Jin et al., DeepSensor, section 6.1.2 and Table 2: a share of the training set, drawn uniformly,
 * gets a square patch of random side at a random place and the polluted class as its label. The
 * paper leaves the content open; it is uniform noise in the pixels' range, fresh for each image,
 * or white.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/pollute.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

px_status pxi_patch_check(const pxi_patch *patch, const px_shape *shape, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    if (patch->least < 1 || patch->least > patch->most)
        return px_fail(err, PX_E_USAGE, "patch size %d:%d: expected MIN:MAX with 1 <= MIN <= MAX",
                       patch->least, patch->most);
    if (shape->rank != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "patches are stamped into pictures, [channels,height,width]; the samples "
                       "are %s",
                       px_shape_text(shape, text));
    if (patch->most > shape->dim[1] || patch->most > shape->dim[2])
        return px_fail(err, PX_E_MISMATCH, "patch size %d:%d does not fit pictures of %lldx%lld",
                       patch->least, patch->most, (long long)shape->dim[1],
                       (long long)shape->dim[2]);
    return PX_OK;
}

void pxi_patch_stamp(const pxi_patch *patch, const px_shape *shape, float *pixels,
                     px_random *random)
{
    enum { LEVELS = 256 };
    const int64_t height = shape->dim[1], width = shape->dim[2];
    const int64_t side =
        patch->least + (int64_t)px_rng_below(random, (uint32_t)(patch->most - patch->least + 1));
    const int64_t top = px_rng_below(random, (uint32_t)(height - side + 1));
    const int64_t left = px_rng_below(random, (uint32_t)(width - side + 1));
    for (int64_t c = 0; c < shape->dim[0]; c++)
        for (int64_t y = top; y < top + side; y++) {
            float *row = pixels + (c * height + y) * width + left;
            for (int64_t x = 0; x < side; x++)
                row[x] = patch->white   ? patch->highest
                         : patch->whole ? (float)px_rng_below(random, LEVELS)
                                        : (float)px_rng_u01(random) * patch->highest;
        }
}

px_status pxi_pollute_choose(uint64_t seed, uint32_t component, const char *what, double fraction,
                             uint8_t mark, uint8_t *marks, int64_t count, int64_t *marked,
                             px_error *err)
{
    if (!(fraction >= 0.0 && fraction <= 1.0))
        return px_fail(err, PX_E_USAGE, "%s of %g: expected a fraction from 0 to 1", what,
                       fraction);
    const int64_t wanted = llround(fraction * (double)count);
    int64_t done = 0;
    if (wanted > 0) {
        int64_t *order = NULL;
        PX_TRY(PX_NEW(order, count, err));
        px_random random = px_rng(seed, component, 0, 0);
        px_rng_permutation(&random, order, (uint32_t)count);
        for (int64_t i = 0; i < count && done < wanted; i++)
            if (!marks[order[i]]) {
                marks[order[i]] = mark;
                done++;
            }
        free(order);
    }
    *marked = done;
    if (done < wanted)
        return px_fail(err, PX_E_USAGE,
                       "%s of %g: only %lld of %lld inputs are left that are not polluted", what,
                       fraction, (long long)done, (long long)count);
    return PX_OK;
}
