/* src/engine/gathered.h - convolutions as products whose rows are gathered, see panel.h
 *
 * A row is a pixel of the result; its parts, one for each tap of the kernel, lie where they are.
 * Taps on the padding are left out. Weights are read once for many samples, where oneDNN's kernels,
 * made for one sample, fetch them anew each time: what they cannot keep in the second-level cache
 * (512>512 3x3 takes 9 MiB) comes at half speed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_GATHERED_H
#define PXI_ENGINE_GATHERED_H

#include "engine/prim.h"

typedef struct pxi_gathered pxi_gathered;

bool pxi_gathered_takes(const pxi_conv_shape *shape);
/* As pxi_prim_conv(), in the arena; NULL when out of memory. */
pxi_gathered *pxi_gathered_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act);
void pxi_gathered_repack(pxi_gathered *gathered, const float *weights, const float *bias);
int64_t pxi_gathered_group(const pxi_gathered *gathered);
/* destination (+)= of so many samples, which lie one after another. */
void pxi_gathered_run(const pxi_gathered *gathered, int64_t samples, const float *source,
                      float *destination, bool adds);

#endif
