/* src/engine/conv_kernel.c - the kernel that suits a convolution's shape best, sample by sample */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/conv_kernel.h"

#include "base/memory.h"
#include "engine/panel.h"

#include <stdlib.h>

px_status pxi_conv_kernel_init(pxi_conv_kernel *kernel, px_arena *arena,
                               const pxi_conv_shape *shape, const float *weights, const float *bias,
                               const pxi_act *act, bool adds, px_error *err)
{
    pxi_conv_shape one = *shape;
    one.batch = 1;
    kernel->batch = shape->batch;
    kernel->source_size = shape->in_channels * shape->in[0] * shape->in[1];
    kernel->destination_size = shape->out_channels * shape->out[0] * shape->out[1];
    if (pxi_narrow_takes(&one, act, adds)) {
        kernel->narrow = pxi_narrow_new(arena, &one, weights, bias, act);
        return kernel->narrow ? PX_OK : pxi_no_memory(err);
    }
    if (pxi_pointwise_takes(&one)) {
        kernel->pointwise = pxi_pointwise_new(arena, &one, weights, bias, act);
        return kernel->pointwise ? PX_OK : pxi_no_memory(err);
    }
    if (pxi_winograd_takes(&one, act)) {
        kernel->winograd = pxi_winograd_new(arena, &one, weights, bias, act);
        return kernel->winograd ? PX_OK : pxi_no_memory(err);
    }
    if (pxi_gathered_takes(&one)) {
        kernel->gathered = pxi_gathered_new(arena, &one, weights, bias, act);
        return kernel->gathered ? PX_OK : pxi_no_memory(err);
    }
    if (act && pxi_panel_acts(act))
        kernel->act = *act;
    return pxi_prim_conv(&one, weights, bias, kernel->act.kind ? NULL : act, adds, &kernel->prim,
                         err);
}

px_status pxi_conv_kernel_init_data(pxi_conv_kernel *kernel, const pxi_conv_shape *shape,
                                    const float *weights, px_error *err)
{
    pxi_conv_shape one = *shape;
    one.batch = 1;
    kernel->batch = shape->batch;
    kernel->source_size = shape->out_channels * shape->out[0] * shape->out[1];
    kernel->destination_size = shape->in_channels * shape->in[0] * shape->in[1];
    return pxi_prim_conv_data(&one, weights, &kernel->prim, err);
}

px_status pxi_conv_kernel_repack(pxi_conv_kernel *kernel, const float *weights, const float *bias,
                                 px_error *err)
{
    if (kernel->narrow)
        pxi_narrow_repack(kernel->narrow, weights, bias);
    else if (kernel->pointwise)
        pxi_pointwise_repack(kernel->pointwise, weights, bias);
    else if (kernel->winograd)
        pxi_winograd_repack(kernel->winograd, weights, bias);
    else if (kernel->gathered)
        pxi_gathered_repack(kernel->gathered, weights, bias);
    return pxi_prim_repack(kernel->prim, weights, bias, err);
}

void pxi_conv_kernel_done(pxi_conv_kernel *kernel)
{
    pxi_prim_free(kernel->prim);
    *kernel = (pxi_conv_kernel){0};
}

bool pxi_conv_kernel_is_empty(const pxi_conv_kernel *kernel)
{
    return !kernel->prim && !pxi_conv_kernel_is_flexible(kernel);
}

size_t pxi_conv_kernel_scratch(const pxi_conv_kernel *kernel)
{
    return kernel->narrow     ? pxi_narrow_scratch(kernel->narrow)
           : kernel->winograd ? pxi_winograd_scratch(kernel->winograd)
                              : pxi_prim_scratch(kernel->prim);
}

const char *pxi_conv_kernel_name(const pxi_conv_kernel *kernel)
{
    return kernel->narrow      ? "narrow"
           : kernel->pointwise ? "pointwise"
           : kernel->winograd  ? "winograd"
           : kernel->gathered  ? "gathered"
                               : pxi_prim_name(kernel->prim);
}

bool pxi_conv_kernel_is_flexible(const pxi_conv_kernel *kernel)
{
    return kernel->narrow || kernel->pointwise || kernel->winograd || kernel->gathered;
}

bool pxi_conv_kernel_hides(const pxi_conv_kernel *kernel, const pxi_act *act)
{
    return kernel->winograd || (kernel->prim && !kernel->act.kind && pxi_act_hides(act));
}

int64_t pxi_conv_kernel_group(const pxi_conv_kernel *kernel)
{
    return kernel->winograd    ? pxi_winograd_group(kernel->winograd)
           : kernel->pointwise ? pxi_pointwise_group(kernel->pointwise)
           : kernel->gathered  ? pxi_gathered_group(kernel->gathered)
                               : 1;
}

px_status pxi_conv_bound_init(pxi_conv_bound *bound, const pxi_conv_kernel *kernel, void *stream,
                              float *source, float *destination, void *scratch, px_error *err)
{
    if (pxi_conv_kernel_is_empty(kernel))
        return PX_OK;
    *bound = (pxi_conv_bound){
        .kernel = kernel, .source = source, .destination = destination, .scratch = scratch};
    if (!kernel->prim)
        return PX_OK;
    PX_TRY(PX_NEW(bound->each, kernel->batch, err));
    for (int64_t n = 0; n < kernel->batch; n++) {
        void *slots[] = {source + n * kernel->source_size,
                         destination + n * kernel->destination_size};
        PX_TRY(pxi_bound_new(kernel->prim, stream, slots, scratch, &bound->each[n], err));
    }
    return PX_OK;
}

void pxi_conv_bound_done(pxi_conv_bound *bound)
{
    for (int64_t n = 0; bound->each && n < bound->kernel->batch; n++)
        pxi_bound_free(bound->each[n]);
    free(bound->each);
    *bound = (pxi_conv_bound){0};
}

px_status pxi_conv_bound_run(const pxi_conv_bound *bound, int64_t first, int64_t count, bool adds,
                             px_error *err)
{
    const pxi_conv_kernel *kernel = bound->kernel;
    const float *source = bound->source + first * kernel->source_size;
    float *destination = bound->destination + first * kernel->destination_size;
    if (kernel->winograd) {
        pxi_winograd_run(kernel->winograd, count, source, destination, adds, bound->scratch);
        return PX_OK;
    }
    if (kernel->pointwise) {
        pxi_pointwise_run(kernel->pointwise, count, source, destination, adds);
        return PX_OK;
    }
    if (kernel->gathered) {
        pxi_gathered_run(kernel->gathered, count, source, destination, adds);
        return PX_OK;
    }
    for (int64_t n = 0; n < count; n++) {
        if (kernel->narrow)
            pxi_narrow_run(kernel->narrow, source, destination, adds, bound->scratch);
        else
            PX_TRY(pxi_bound_run(bound->each[first + n], err));
        if (kernel->act.kind)
            pxi_panel_act(&kernel->act, destination, kernel->destination_size);
        source += kernel->source_size;
        destination += kernel->destination_size;
    }
    return PX_OK;
}
