/* src/engine/conv_kernel.c - the kernel that suits a convolution's shape best */
#include "engine/conv_kernel.h"

px_status pxi_conv_kernel_init(pxi_conv_kernel *kernel, px_arena *arena,
                               const pxi_conv_shape *shape, const float *weights, const float *bias,
                               const pxi_act *act, bool adds, px_error *err)
{
    if (pxi_narrow_takes(shape, act, adds)) {
        kernel->narrow = pxi_narrow_new(arena, shape, weights, bias, act);
        return kernel->narrow ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    }
    if (pxi_winograd_takes(shape, act)) {
        kernel->winograd = pxi_winograd_new(arena, shape, weights, bias, act);
        return kernel->winograd ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    }
    return pxi_prim_conv(shape, weights, bias, act, adds, &kernel->prim, err);
}

void pxi_conv_kernel_done(pxi_conv_kernel *kernel)
{
    pxi_prim_free(kernel->prim);
    *kernel = (pxi_conv_kernel){0};
}

size_t pxi_conv_kernel_scratch(const pxi_conv_kernel *kernel)
{
    return kernel->narrow     ? pxi_narrow_scratch(kernel->narrow)
           : kernel->winograd ? pxi_winograd_scratch(kernel->winograd)
                              : pxi_prim_scratch(kernel->prim);
}

const char *pxi_conv_kernel_name(const pxi_conv_kernel *kernel)
{
    return kernel->narrow ? "narrow" : kernel->winograd ? "winograd" : pxi_prim_name(kernel->prim);
}

bool pxi_conv_kernel_is_flexible(const pxi_conv_kernel *kernel)
{
    return kernel->narrow || kernel->winograd;
}

px_status pxi_conv_kernel_run(const pxi_conv_kernel *kernel, const pxi_bound *bound,
                              const float *source, float *destination, bool adds, void *scratch,
                              px_error *err)
{
    if (kernel->prim)
        return pxi_bound_run(bound, err);
    if (kernel->narrow)
        pxi_narrow_run(kernel->narrow, source, destination, adds, scratch);
    else
        pxi_winograd_run(kernel->winograd, source, destination, adds, scratch);
    return PX_OK;
}
