/* src/engine/conv_kernel.h - the kernel that suits a convolution's shape best, sample by sample
 *
 * oneDNN chooses its blocking by the whole shape, so a sample's last bits can depend on how many
 * others run with it (seen: 16>32 3x3 at 3x16, 1 against 3 samples). Kernels here are made for one
 * sample and run once for each, or have results that depend on the sample alone anyway. oneDNN's
 * throughput is the same from 1 to 32 samples a call (docs/benchmarks.md).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_CONV_KERNEL_H
#define PXI_ENGINE_CONV_KERNEL_H

#include "engine/gathered.h"
#include "engine/narrow.h"
#include "engine/pointwise.h"
#include "engine/winograd.h"

typedef struct pxi_conv_kernel {
    int64_t batch;
    int64_t source_size, destination_size; /* elements of a sample */
    pxi_act act;                           /* behind oneDNN's kernel, where it is not in it */
    pxi_prim *prim;                        /* one of these five */
    pxi_narrow *narrow;
    pxi_pointwise *pointwise;
    pxi_winograd *winograd;
    pxi_gathered *gathered;
} pxi_conv_kernel;

typedef struct pxi_conv_bound {    /* a kernel with one session's memory */
    const pxi_conv_kernel *kernel; /* NULL: not bound */
    float *source, *destination;
    void *scratch;
    pxi_bound **each; /* per sample; NULL unless the kernel is oneDNN's */
} pxi_conv_bound;

/* As pxi_prim_conv(). */
px_status pxi_conv_kernel_init(pxi_conv_kernel *kernel, px_arena *arena,
                               const pxi_conv_shape *shape, const float *weights, const float *bias,
                               const pxi_act *act, bool adds, px_error *err);
/* As pxi_prim_conv_data(). */
px_status pxi_conv_kernel_init_data(pxi_conv_kernel *kernel, const pxi_conv_shape *shape,
                                    const float *weights, px_error *err);
/* Other weights, in the order in which the kernel was given its first ones. */
px_status pxi_conv_kernel_repack(pxi_conv_kernel *kernel, const float *weights, const float *bias,
                                 px_error *err);
void pxi_conv_kernel_done(pxi_conv_kernel *kernel);
bool pxi_conv_kernel_is_empty(const pxi_conv_kernel *kernel);
size_t pxi_conv_kernel_scratch(const pxi_conv_kernel *kernel);
const char *pxi_conv_kernel_name(const pxi_conv_kernel *kernel);

/* Whether the kernel adds to the destination or not is the caller's choice at each run; a oneDNN
 * kernel has it built in. */
bool pxi_conv_kernel_is_flexible(const pxi_conv_kernel *kernel);

/* Whether values that are not finite are lost or spread, see bounds.c. */
bool pxi_conv_kernel_hides(const pxi_conv_kernel *kernel, const pxi_act *act);

/* How many samples a run should have: more make it no faster and leave the cache sooner. */
int64_t pxi_conv_kernel_group(const pxi_conv_kernel *kernel);

px_status pxi_conv_bound_init(pxi_conv_bound *bound, const pxi_conv_kernel *kernel, void *stream,
                              float *source, float *destination, void *scratch, px_error *err);
void pxi_conv_bound_done(pxi_conv_bound *bound);
/* `count` samples of the micro-batch, from `first` on. */
px_status pxi_conv_bound_run(const pxi_conv_bound *bound, int64_t first, int64_t count, bool adds,
                             px_error *err);

#endif
