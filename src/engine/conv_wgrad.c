/* src/engine/conv_wgrad.c - the kernel that suits a convolution's weight gradient best */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/conv_wgrad.h"

#include "base/memory.h"
#include "engine/narrow.h"
#include "engine/winograd.h"

#include <string.h>

px_status pxi_conv_wgrad_init(pxi_conv_wgrad *kernel, const pxi_conv_shape *shape, bool weights,
                              bool bias, px_error *err)
{
    *kernel = (pxi_conv_wgrad){.shape = *shape, .weights = weights, .bias = bias};
    kernel->narrow = pxi_narrow_weights_takes(shape);
    kernel->winograd = !kernel->narrow && weights && pxi_winograd_weights_takes(shape);
    if (kernel->narrow || kernel->winograd)
        return PX_OK;
    return pxi_prim_conv_weights(shape, bias, &kernel->prim, err);
}

void pxi_conv_wgrad_done(pxi_conv_wgrad *kernel)
{
    pxi_prim_free(kernel->prim);
    *kernel = (pxi_conv_wgrad){0};
}

size_t pxi_conv_wgrad_scratch(const pxi_conv_wgrad *kernel)
{
    return kernel->narrow     ? pxi_narrow_weights_scratch(&kernel->shape)
           : kernel->winograd ? pxi_winograd_weights_scratch(&kernel->shape)
                              : pxi_prim_scratch(kernel->prim);
}

px_status pxi_conv_wgrad_bind(const pxi_conv_wgrad *kernel, void *stream,
                              pxi_conv_wgrad_bound *bound, px_error *err)
{
    if (!kernel->prim)
        return PX_OK;
    void *slots[] = {(void *)(uintptr_t)bound->source, (void *)(uintptr_t)bound->result_gradient,
                     bound->weights, bound->bias};
    return pxi_bound_new(kernel->prim, stream, slots, bound->scratch, &bound->prim, err);
}

/* The bias moves every pixel of its channel. */
static void conv_bias_gradient(const pxi_conv_shape *s, const float *g, float *gradient)
{
    const size_t channels = (size_t)s->out_channels;
    const size_t pixels = (size_t)(s->batch * s->out[0] * s->out[1]);
    double sums[16];
    for (size_t first = 0; first < channels; first += PX_LEN(sums)) {
        const size_t n = PX_MIN(PX_LEN(sums), channels - first);
        memset(sums, 0, sizeof sums);
        for (size_t p = 0; p < pixels; p++)
            for (size_t c = 0; c < n; c++)
                sums[c] += (double)g[p * channels + first + c];
        for (size_t c = 0; c < n; c++)
            gradient[first + c] = (float)sums[c];
    }
}

px_status pxi_conv_wgrad_run(const pxi_conv_wgrad *kernel, const pxi_conv_wgrad_bound *bound,
                             px_error *err)
{
    if (kernel->prim)
        return pxi_bound_run(bound->prim, err);
    if (kernel->narrow) {
        pxi_narrow_weights_run(&kernel->shape, bound->source, bound->result_gradient,
                               bound->weights, bound->bias, bound->scratch);
        return PX_OK;
    }
    pxi_winograd_weights_run(&kernel->shape, bound->source, bound->result_gradient, bound->weights,
                             bound->scratch);
    if (kernel->bias)
        conv_bias_gradient(&kernel->shape, bound->result_gradient, bound->bias);
    return PX_OK;
}
