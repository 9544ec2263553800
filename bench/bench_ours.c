/* bench/bench_ours.c - the engine's own kernels, measured as oneDNN's are */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/depthwise.h"

#include "bench_kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct depthwise_case {
    px_arena *arena;
    pxi_depthwise *kernel;
    int64_t batch, dx_size, dy_size; /* elements of a sample */
    float *weights, *dx, *dy;
    uint16_t *pass_x, *pass_y; /* NULL: no masks */
} depthwise_case;

static void depthwise_run(void *context)
{
    const depthwise_case *c = context;
    for (int64_t n = 0; n < c->batch; n++)
        pxi_depthwise_run(
            c->kernel, c->dy + n * c->dy_size, c->pass_y ? c->pass_y + n * c->dy_size / 16 : NULL,
            c->pass_x ? c->pass_x + n * c->dx_size / 16 : NULL, c->dx + n * c->dx_size,
            /* adds= */ false);
}

static void depthwise_free(void *context)
{
    depthwise_case *c = context;
    pxi_arena_free(c->arena);
    free(c->weights);
    free(c->dx);
    free(c->dy);
    free(c->pass_x);
    free(c->pass_y);
    free(c);
}

/* Numbers around zero; as bits, about half of them set. Aligned as a session's memory is. */
static void *filled(size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    unsigned char *made = aligned_alloc(64, whole);
    for (size_t i = 0; made && i < whole; i++) /* the fourth byte: sign and a small exponent */
        made[i] = (unsigned char)(i % 4 == 3 ? (i * 2654435761u >> 8 & 0x80) | 0x3c
                                             : i * 2654435761u >> 16 & 0xff);
    return made;
}

bool conv_depthwise(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    const int64_t side = (s->size + 2 * s->pad - s->kernel) / s->stride + 1;
    const pxi_conv_shape conv = {.batch = 1,
                                 .group = s->groups,
                                 .in_channels = s->in,
                                 .out_channels = s->out,
                                 .in = {s->size, s->size},
                                 .out = {side, side},
                                 .kernel = {s->kernel, s->kernel},
                                 .stride = {s->stride, s->stride},
                                 .dilation = {1, 1},
                                 .pad_begin = {s->pad, s->pad},
                                 .pad_end = {s->pad, s->pad}};
    if (s->groups == 1 || !pxi_depthwise_takes(&conv))
        return false;
    depthwise_case *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    const bool masks = v->post == MUL;
    c->batch = batch;
    c->dx_size = s->in * s->size * s->size;
    c->dy_size = s->out * side * side;
    c->arena = pxi_arena_new();
    c->weights = filled((size_t)(s->in * s->kernel * s->kernel) * sizeof(float));
    c->dx = filled((size_t)(batch * c->dx_size) * sizeof(float));
    c->dy = filled((size_t)(batch * c->dy_size) * sizeof(float));
    c->pass_x = masks ? filled((size_t)(batch * c->dx_size / 8)) : NULL;
    c->pass_y = masks ? filled((size_t)(batch * c->dy_size / 8)) : NULL;
    if (c->arena && c->weights)
        c->kernel = pxi_depthwise_new(c->arena, &conv, c->weights);
    if (!c->kernel || !c->dx || !c->dy || (masks && (!c->pass_x || !c->pass_y))) {
        depthwise_free(c);
        return false;
    }
    *k = (kernel){.impl = "plexor", .run = depthwise_run, .free = depthwise_free, .context = c};
    return true;
}
