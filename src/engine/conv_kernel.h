/* src/engine/conv_kernel.h - the kernel that suits a convolution's shape best */
#ifndef PXI_ENGINE_CONV_KERNEL_H
#define PXI_ENGINE_CONV_KERNEL_H

#include "engine/narrow.h"
#include "engine/winograd.h"

typedef struct pxi_conv_kernel { /* one of the three */
    pxi_prim *prim;
    pxi_narrow *narrow;
    pxi_winograd *winograd;
} pxi_conv_kernel;

/* As pxi_prim_conv(). */
px_status pxi_conv_kernel_init(pxi_conv_kernel *kernel, px_arena *arena,
                               const pxi_conv_shape *shape, const float *weights, const float *bias,
                               const pxi_act *act, bool adds, px_error *err);
void pxi_conv_kernel_done(pxi_conv_kernel *kernel);
size_t pxi_conv_kernel_scratch(const pxi_conv_kernel *kernel);
const char *pxi_conv_kernel_name(const pxi_conv_kernel *kernel);

/* Whether the kernel adds to the destination or not is the caller's choice at each run; a oneDNN
 * kernel has it built in. */
bool pxi_conv_kernel_is_flexible(const pxi_conv_kernel *kernel);

/* `bound` is the oneDNN kernel bound to the same addresses; NULL for the others. */
px_status pxi_conv_kernel_run(const pxi_conv_kernel *kernel, const pxi_bound *bound,
                              const float *source, float *destination, bool adds, void *scratch,
                              px_error *err);

#endif
