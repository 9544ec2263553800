/* bench/bench_kernel.h - oneDNN primitives, and kernels of ours, as bench/kernels measures them
 *
 * A maker builds one kernel, with memory for all its arguments, for a shape and a variant
 * (layouts, post-ops, which implementation); false where oneDNN has none or the variant makes no
 * sense for the shape.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_BENCH_KERNEL_H
#define PLEXOR_BENCH_KERNEL_H

#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_MAX_ARGS = 8 };

typedef struct kernel {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[KERNEL_MAX_ARGS];
    int arg_count;
    const char *impl;
    void (*run)(void *context); /* one of ours; NULL: the primitive */
    void (*free)(void *context);
    void *context;
} kernel;

typedef struct shape {
    const char *net;
    int count; /* how often the network has it */
    int64_t in, out, size, kernel, stride, pad;
    int64_t groups; /* 1 or `in` */
} shape;

typedef enum post { NONE, RELU, CLIP, ADD, ADD_RELU, SUM, SUM_RELU, MUL } post;

typedef enum pick {
    USUAL,    /* the implementation that oneDNN takes by itself */
    OTHER,    /* the next one in its list, which is not always in order of speed */
    WINOGRAD, /* 3x3, stride 1 */
} pick;

typedef struct variant {
    const char *name;
    dnnl_format_tag_t src, dst;
    post post;
    bool (*make)(kernel *k, const shape *s, int64_t batch, const struct variant *v);
    pick pick;
} variant;

void kernel_start(void); /* before anything else: one engine, one stream, one thread */
void kernel_stop(void);
void kernel_done(kernel *k);
double kernel_seconds(const kernel *k); /* per execution: the best of several rounds */
double conv_flops(const shape *s);      /* forward, one image; taps on the padding count */

typedef bool kernel_maker(kernel *k, const shape *s, int64_t batch, const variant *v);
kernel_maker conv_forward, conv_mixed, conv_matmul;        /* mixed: few input channels only */
kernel_maker conv_backward, conv_mixed_back, conv_rotated; /* with respect to the input */
kernel_maker conv_depthwise; /* the same by ours; MUL: with both masks (engine/depthwise.h) */
kernel_maker dense_inner, dense_matmul, dense_conv, dense_inner_back, dense_matmul_back;
kernel_maker pool_inference, pool_training, pool_backward;
kernel_maker map_relu, map_relu_back;

#endif
