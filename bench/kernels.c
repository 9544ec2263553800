/* bench/kernels.c - what oneDNN, and we, make of the shapes that the benchmark networks consist of
 *
 *     kernels [FILTER]        only shapes whose name contains FILTER
 *
 * One thread. For every convolution, pooling and dense shape of LeNet-5, ResNet-20 and MobileNetV2
 * (CIFAR) it prints, per layout and post-op, the implementation that oneDNN picks and its speed at
 * micro-batches of 1 to 32. The engine's choices (NHWC inside a plan, backward data as a forward
 * convolution with rotated weights, dense layers as inner products or products of matrices) rest on
 * these numbers, so they can be taken again on another machine. Data stay in cache: this is the
 * kernel's speed, not a network's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_kernel.h"

#include <internal/engine.h>
#include <stdio.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof(array)[0])

static const int64_t batches[] = {1, 4, 8, 16, 32};
enum { SHOWN_BATCH = 2 };

static const shape convs[] = {
    {"lenet5", 1, 1, 6, 28, 5, 1, 2, 1},
    {"lenet5", 1, 6, 16, 14, 5, 1, 2, 1},
    {"resnet20", 1, 3, 16, 32, 3, 1, 1, 1},
    {"resnet20", 6, 16, 16, 32, 3, 1, 1, 1},
    {"resnet20", 1, 16, 32, 32, 3, 2, 1, 1},
    {"resnet20", 5, 32, 32, 16, 3, 1, 1, 1},
    {"resnet20", 1, 32, 64, 16, 3, 2, 1, 1},
    {"resnet20", 5, 64, 64, 8, 3, 1, 1, 1},
    {"mobilenetv2", 1, 3, 32, 32, 3, 1, 1, 1},
    {"mobilenetv2", 1, 32, 32, 32, 3, 1, 1, 32},
    {"mobilenetv2", 1, 32, 16, 32, 1, 1, 0, 1},
    {"mobilenetv2", 1, 16, 96, 32, 1, 1, 0, 1},
    {"mobilenetv2", 1, 96, 96, 32, 3, 1, 1, 96},
    {"mobilenetv2", 1, 96, 24, 32, 1, 1, 0, 1},
    {"mobilenetv2", 2, 24, 144, 32, 1, 1, 0, 1},
    {"mobilenetv2", 1, 144, 144, 32, 3, 1, 1, 144},
    {"mobilenetv2", 1, 144, 24, 32, 1, 1, 0, 1},
    {"mobilenetv2", 1, 144, 144, 32, 3, 2, 1, 144},
    {"mobilenetv2", 1, 144, 32, 16, 1, 1, 0, 1},
    {"mobilenetv2", 3, 32, 192, 16, 1, 1, 0, 1},
    {"mobilenetv2", 2, 192, 192, 16, 3, 1, 1, 192},
    {"mobilenetv2", 2, 192, 32, 16, 1, 1, 0, 1},
    {"mobilenetv2", 1, 192, 192, 16, 3, 2, 1, 192},
    {"mobilenetv2", 1, 192, 64, 8, 1, 1, 0, 1},
    {"mobilenetv2", 4, 64, 384, 8, 1, 1, 0, 1},
    {"mobilenetv2", 4, 384, 384, 8, 3, 1, 1, 384},
    {"mobilenetv2", 3, 384, 64, 8, 1, 1, 0, 1},
    {"mobilenetv2", 1, 384, 96, 8, 1, 1, 0, 1},
    {"mobilenetv2", 3, 96, 576, 8, 1, 1, 0, 1},
    {"mobilenetv2", 2, 576, 576, 8, 3, 1, 1, 576},
    {"mobilenetv2", 2, 576, 96, 8, 1, 1, 0, 1},
    {"mobilenetv2", 1, 576, 576, 8, 3, 2, 1, 576},
    {"mobilenetv2", 1, 576, 160, 4, 1, 1, 0, 1},
    {"mobilenetv2", 3, 160, 960, 4, 1, 1, 0, 1},
    {"mobilenetv2", 3, 960, 960, 4, 3, 1, 1, 960},
    {"mobilenetv2", 2, 960, 160, 4, 1, 1, 0, 1},
    {"mobilenetv2", 1, 960, 320, 4, 1, 1, 0, 1},
    {"mobilenetv2", 1, 320, 1280, 4, 1, 1, 0, 1},
};

/* kernel == size: global average */
static const shape pools[] = {
    {"lenet5", 1, 6, 6, 28, 2, 2, 0, 1},
    {"lenet5", 1, 16, 16, 14, 2, 2, 0, 1},
    {"resnet20", 1, 64, 64, 8, 8, 8, 0, 1},
    {"mobilenetv2", 1, 1280, 1280, 4, 4, 4, 0, 1},
};

/* size > 1: the dense layer flattens a channels-last map of that size */
static const shape denses[] = {
    {"lenet5", 1, 16, 120, 7, 1, 1, 0, 1},       {"lenet5", 1, 120, 84, 1, 1, 1, 0, 1},
    {"lenet5", 1, 84, 10, 1, 1, 1, 0, 1},        {"resnet20", 1, 64, 10, 1, 1, 1, 0, 1},
    {"mobilenetv2", 1, 1280, 10, 1, 1, 1, 0, 1},
};

/* Activation maps for the elementwise steps of backward. */
static const shape maps[] = {
    {"lenet5", 1, 6, 6, 28, 1, 1, 0, 1},
    {"resnet20", 1, 16, 16, 32, 1, 1, 0, 1},
    {"mobilenetv2", 1, 384, 384, 8, 1, 1, 0, 1},
};

static const variant conv_variants[] = {
    {"fwd nchw", dnnl_nchw, dnnl_nchw, NONE, conv_forward, USUAL},
    {"fwd any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_forward, USUAL},
    {"fwd nChw16c", dnnl_nChw16c, dnnl_nChw16c, NONE, conv_forward, USUAL},
    {"fwd nchw>nhwc", dnnl_nchw, dnnl_nhwc, NONE, conv_mixed, USUAL},
    {"fwd nchw>nhwc +relu", dnnl_nchw, dnnl_nhwc, RELU, conv_mixed, USUAL},
    {"fwd nchw>nChw16c +relu", dnnl_nchw, dnnl_nChw16c, RELU, conv_mixed, USUAL},
    {"fwd nhwc", dnnl_nhwc, dnnl_nhwc, NONE, conv_forward, USUAL},
    {"fwd nhwc +relu", dnnl_nhwc, dnnl_nhwc, RELU, conv_forward, USUAL},
    {"fwd nhwc +clip", dnnl_nhwc, dnnl_nhwc, CLIP, conv_forward, USUAL},
    {"fwd nhwc +add", dnnl_nhwc, dnnl_nhwc, ADD, conv_forward, USUAL},
    {"fwd nhwc +add+relu", dnnl_nhwc, dnnl_nhwc, ADD_RELU, conv_forward, USUAL},
    {"fwd nhwc +relu, other", dnnl_nhwc, dnnl_nhwc, RELU, conv_forward, OTHER},
    {"fwd nhwc +clip, other", dnnl_nhwc, dnnl_nhwc, CLIP, conv_forward, OTHER},
    {"fwd nhwc, other", dnnl_nhwc, dnnl_nhwc, NONE, conv_forward, OTHER},
    {"fwd nhwc +sum+relu, other", dnnl_nhwc, dnnl_nhwc, SUM_RELU, conv_forward, OTHER},
    {"bwd nhwc, other", dnnl_nhwc, dnnl_nhwc, NONE, conv_backward, OTHER},
    {"rot nhwc +sum, other", dnnl_nhwc, dnnl_nhwc, SUM, conv_rotated, OTHER},
    {"rot nhwc, other", dnnl_nhwc, dnnl_nhwc, NONE, conv_rotated, OTHER},
    {"fwd nhwc +sum+relu", dnnl_nhwc, dnnl_nhwc, SUM_RELU, conv_forward, USUAL},
    {"fwd nChw16c +relu", dnnl_nChw16c, dnnl_nChw16c, RELU, conv_forward, USUAL},
    {"fwd winograd any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_forward, WINOGRAD},
    {"fwd winograd any +relu", dnnl_format_tag_any, dnnl_format_tag_any, RELU, conv_forward,
     WINOGRAD},
    {"fwd winograd any +sum+relu", dnnl_format_tag_any, dnnl_format_tag_any, SUM_RELU, conv_forward,
     WINOGRAD},
    {"fwd winograd nChw16c +add", dnnl_nChw16c, dnnl_nChw16c, ADD_RELU, conv_forward, WINOGRAD},
    {"fwd winograd nhwc", dnnl_nhwc, dnnl_nhwc, NONE, conv_forward, WINOGRAD},
    {"fwd matmul(any)", dnnl_format_tag_any, dnnl_ab, NONE, conv_matmul, USUAL},
    {"fwd matmul(any) +relu", dnnl_format_tag_any, dnnl_ab, RELU, conv_matmul, USUAL},
    {"bwd nhwc", dnnl_nhwc, dnnl_nhwc, NONE, conv_backward, USUAL},
    {"bwd any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_backward, USUAL},
    {"bwd nChw16c", dnnl_nChw16c, dnnl_nChw16c, NONE, conv_backward, USUAL},
    {"bwd nhwc>nchw", dnnl_nchw, dnnl_nhwc, NONE, conv_mixed_back, USUAL},
    {"bwd winograd any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_backward, WINOGRAD},
    {"rot winograd any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_rotated, WINOGRAD},
    {"rot winograd any +sum", dnnl_format_tag_any, dnnl_format_tag_any, SUM, conv_rotated,
     WINOGRAD},
    {"rot winograd nChw16c +mul", dnnl_nChw16c, dnnl_nChw16c, MUL, conv_rotated, WINOGRAD},
    {"rot nhwc", dnnl_nhwc, dnnl_nhwc, NONE, conv_rotated, USUAL},
    {"rot nhwc +sum", dnnl_nhwc, dnnl_nhwc, SUM, conv_rotated, USUAL},
    {"rot nhwc +add", dnnl_nhwc, dnnl_nhwc, ADD, conv_rotated, USUAL},
    {"rot nhwc +mul", dnnl_nhwc, dnnl_nhwc, MUL, conv_rotated, USUAL},
    {"rot nChw16c", dnnl_nChw16c, dnnl_nChw16c, NONE, conv_rotated, USUAL},
    {"rot any", dnnl_format_tag_any, dnnl_format_tag_any, NONE, conv_rotated, USUAL},
    {"ours, bwd", dnnl_nhwc, dnnl_nhwc, NONE, conv_depthwise, USUAL},
    {"ours, bwd, both masks", dnnl_nhwc, dnnl_nhwc, MUL, conv_depthwise, USUAL},
};

static const variant pool_variants[] = {
    {"inference nhwc", dnnl_nhwc, dnnl_nhwc, NONE, pool_inference, USUAL},
    {"inference nchw", dnnl_nchw, dnnl_nchw, NONE, pool_inference, USUAL},
    {"inference nChw16c", dnnl_nChw16c, dnnl_nChw16c, NONE, pool_inference, USUAL},
    {"training nhwc", dnnl_nhwc, dnnl_nhwc, NONE, pool_training, USUAL},
    {"backward nhwc", dnnl_nhwc, dnnl_nhwc, NONE, pool_backward, USUAL},
    {"backward nChw16c", dnnl_nChw16c, dnnl_nChw16c, NONE, pool_backward, USUAL},
};

static const variant dense_variants[] = {
    {"inner product", dnnl_nhwc, dnnl_ab, NONE, dense_inner, USUAL},
    {"inner product +relu", dnnl_nhwc, dnnl_ab, RELU, dense_inner, USUAL},
    {"matmul(any)", dnnl_format_tag_any, dnnl_ab, NONE, dense_matmul, USUAL},
    {"matmul(ab)", dnnl_ab, dnnl_ab, NONE, dense_matmul, USUAL},
    {"matmul(ba)", dnnl_ba, dnnl_ab, NONE, dense_matmul, USUAL},
    {"matmul(any) +relu", dnnl_format_tag_any, dnnl_ab, RELU, dense_matmul, USUAL},
    {"conv nhwc", dnnl_nhwc, dnnl_nhwc, NONE, dense_conv, USUAL},
    {"conv nhwc +relu", dnnl_nhwc, dnnl_nhwc, RELU, dense_conv, USUAL},
    {"bwd inner product", dnnl_nhwc, dnnl_ab, NONE, dense_inner_back, USUAL},
    {"bwd matmul(any)", dnnl_format_tag_any, dnnl_ab, NONE, dense_matmul_back, USUAL},
};

static const variant map_variants[] = {
    {"relu nhwc", dnnl_nhwc, dnnl_nhwc, NONE, map_relu, USUAL},
    {"relu backward nhwc", dnnl_nhwc, dnnl_nhwc, NONE, map_relu_back, USUAL},
};

/* One line: GFLOP/s (or G elements/s when flops is 0) per batch, microseconds per image at 8. */
static void variant_print(const shape *s, const variant *v, double flops, double elements)
{
    char impl[64] = "", impl_text[128] = "";
    double shown = 0.0;
    char rates[128] = "";
    for (size_t b = 0; b < LEN(batches); b++) {
        kernel k;
        if (!v->make(&k, s, batches[b], v))
            return;
        const double per_image = kernel_seconds(&k) / (double)batches[b];
        const size_t used = strlen(rates);
        snprintf(rates + used, sizeof rates - used, " %7.1f",
                 1e-9 * (flops > 0.0 ? flops : elements) / per_image);
        if (strcmp(impl, k.impl) != 0) { /* it may depend on the batch */
            const size_t length = strlen(impl_text);
            snprintf(impl_text + length, sizeof impl_text - length, "%s%s", length ? " / " : "",
                     k.impl);
            snprintf(impl, sizeof impl, "%s", k.impl);
        }
        if (b == SHOWN_BATCH)
            shown = 1e6 * per_image;
        kernel_done(&k);
    }
    printf("  %-24s%s  %8.2f  %s\n", v->name, rates, shown, impl_text);
    fflush(stdout);
}

static void table_print(const char *kind, const shape *shapes, size_t shape_count,
                        const variant *variants, size_t variant_count, const char *filter)
{
    for (size_t i = 0; i < shape_count; i++) {
        const shape *s = &shapes[i];
        char name[128];
        const double elements = (double)(s->in * s->size * s->size);
        double flops = 0.0;
        if (strcmp(kind, "conv") == 0)
            flops = conv_flops(s);
        else if (strcmp(kind, "dense") == 0)
            flops = 2.0 * elements * (double)s->out;
        snprintf(name, sizeof name, "%s %s%s %lld>%lld @%lld k%lld s%lld x%d", s->net,
                 s->groups > 1 ? "depthwise " : "", kind, (long long)s->in, (long long)s->out,
                 (long long)s->size, (long long)s->kernel, (long long)s->stride, s->count);
        if (filter && !strstr(name, filter))
            continue;
        printf("%s (%.2f MFLOP)\n", name, 1e-6 * flops);
        for (size_t v = 0; v < variant_count; v++)
            variant_print(s, &variants[v], flops, elements);
    }
}

int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : NULL;
    const dnnl_version_t *version = dnnl_version();
    px_error err = {0};
    double peak = 0.0;
    if (px_peak_gflops(1, &peak, &err) != PX_OK) {
        fprintf(stderr, "kernels: %s\n", err.message);
        return 3;
    }
    kernel_start();
    printf("oneDNN %d.%d.%d, one thread, sgemm peak %.1f GFLOP/s\n", version->major, version->minor,
           version->patch, peak);
    printf("GFLOP/s (pools, maps: G elements/s) at batch 1, 4, 8, 16, 32; us per image at 8; "
           "implementation\n");
    table_print("conv", convs, LEN(convs), conv_variants, LEN(conv_variants), filter);
    table_print("pool", pools, LEN(pools), pool_variants, LEN(pool_variants), filter);
    table_print("dense", denses, LEN(denses), dense_variants, LEN(dense_variants), filter);
    table_print("map", maps, LEN(maps), map_variants, LEN(map_variants), filter);
    kernel_stop();
    return 0;
}
