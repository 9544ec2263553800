/* src/engine/pointwise.c - 1x1 convolutions as products of matrices
 *
 * Pixels are the rows. With a stride of 1 those of all samples lie one after another; otherwise a
 * row of the result is a product whose rows of data lie `stride` pixels apart.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pointwise.h"

#include "base/memory.h"
#include "engine/panel.h"

#include <string.h>

struct pxi_pointwise {
    pxi_conv_shape shape;
    pxi_act act;
    float *weights; /* packed */
    float *bias;    /* NULL: none */
};

bool pxi_pointwise_takes(const pxi_conv_shape *s)
{
    for (int i = 0; i < 2; i++)
        if (s->kernel[i] != 1 || s->pad_begin[i] != 0 || (s->out[i] - 1) * s->stride[i] >= s->in[i])
            return false;
    return s->group == 1 && pxi_panel_takes();
}

pxi_pointwise *pxi_pointwise_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                                 const float *bias, const pxi_act *act)
{
    pxi_pointwise *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *w = pxi_arena_alloc(arena, pxi_panel_floats(shape->in_channels, shape->out_channels),
                               sizeof *w);
    float *b = bias ? pxi_arena_alloc(arena, (size_t)shape->out_channels, sizeof *b) : NULL;
    if (!made || !w || (bias && !b))
        return NULL;
    *made =
        (pxi_pointwise){.shape = *shape, .act = act ? *act : (pxi_act){0}, .weights = w, .bias = b};
    pxi_pointwise_repack(made, weights, bias);
    return made;
}

void pxi_pointwise_repack(pxi_pointwise *pointwise, const float *weights, const float *bias)
{
    const pxi_conv_shape *s = &pointwise->shape;
    pxi_panel_pack(s->in_channels, s->out_channels, weights, 1, s->in_channels, pointwise->weights);
    if (pointwise->bias)
        memcpy(pointwise->bias, bias, (size_t)s->out_channels * sizeof *bias);
}

int64_t pxi_pointwise_group(const pxi_pointwise *pointwise)
{
    const int64_t enough = 256, pixels = pointwise->shape.out[0] * pointwise->shape.out[1];
    return PX_MAX(enough / pixels, (int64_t)1);
}

void pxi_pointwise_run(const pxi_pointwise *pointwise, int64_t samples, const float *source,
                       float *destination, bool adds)
{
    const pxi_conv_shape *s = &pointwise->shape;
    const bool dense = s->in[0] == s->out[0] && s->in[1] == s->out[1];
    pxi_panel_job job = {.rows = dense ? samples * s->out[0] * s->out[1] : s->out[1],
                         .k = s->in_channels,
                         .n = s->out_channels,
                         .a = source,
                         .a_row = dense ? s->in_channels : s->stride[1] * s->in_channels,
                         .packed = pointwise->weights,
                         .c = destination,
                         .c_row = s->out_channels,
                         .bias = pointwise->bias,
                         .adds = adds,
                         .act = &pointwise->act};
    for (int64_t y = 0; y < (dense ? 1 : samples * s->out[0]); y++) {
        const int64_t sample = y / s->out[0], row = y % s->out[0] * s->stride[0];
        job.a = source + (sample * s->in[0] + row) * s->in[1] * s->in_channels;
        job.c = destination + y * s->out[1] * s->out_channels;
        pxi_panel_run(&job);
    }
}
