/* src/train/arch_net.h - a network being put together layer by layer
 *
 * Each layer reads what net->at holds and leaves its result there, so a chain is a list of calls;
 * branches remember a pxi_spot and come back to it. The same calls make the network or, without a
 * builder, only count it. Layers do not fail one by one: an image that is used up is remembered in
 * net->too_small, whatever else goes wrong in the builder.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_ARCH_NET_H
#define PXI_TRAIN_ARCH_NET_H

#include <internal/arch.h>
#include <internal/build.h>

typedef enum pxi_init {
    PXI_INIT_GLOROT,         /* Keras's default: uniform, 6 / (fan in + fan out) */
    PXI_INIT_HE,             /* Keras's he_normal: 2 / fan in, cut at two deviations */
    PXI_INIT_KAIMING_IN,     /* PyTorch's kaiming_normal_: 2 / fan in */
    PXI_INIT_KAIMING_OUT,    /* the same with mode="fan_out" */
    PXI_INIT_UNIFORM_FAN_IN, /* PyTorch's default: uniform in +-1 / sqrt(fan in) */
    PXI_INIT_SMALL_NORMAL,   /* deviation 0.01 */
    PXI_INIT_ZERO,
    PXI_INIT_ONE,
} pxi_init;

typedef struct pxi_style { /* what the framework and the family have in common */
    pxi_init conv, conv_bias, dense, dense_bias;
    float epsilon, momentum; /* of batch normalisation; momentum as in ONNX and Keras */
} pxi_style;

/* Keras with its Glorot default, Keras with he_normal, torchvision's VGG and MobileNet. */
extern const pxi_style pxi_style_keras, pxi_style_keras_he, pxi_style_torchvision;

typedef struct pxi_spot {
    int value; /* -1 while counting */
    int64_t channels, height, width;
} pxi_spot;

typedef struct pxi_net {
    px_builder *builder; /* NULL: only count */
    const pxi_style *style;
    int args[2]; /* of the name: "mlp-5x30" gives 5 and 30 */
    pxi_spot at;
    int64_t classes, parameters, statistics;
    uint64_t seed;
    uint32_t weight_count; /* so far */
    double dropout;        /* negative: as the layer says */
    char prefix[64];       /* of names, "layer1.0." */
    int zero, ceiling;     /* bounds of clipped rectifiers; -1: not made yet */
    bool too_small, is_audio;
} pxi_net;

enum {
    PXI_SAME = -1
}; /* a padding that keeps the size (divided by the stride), as Keras does it */

typedef struct pxi_conv {
    int64_t out;
    int kernel, stride; /* stride 0: 1 */
    int pad;            /* on each side, or PXI_SAME */
    int64_t groups;     /* 0: 1 */
    bool bias;
} pxi_conv;

/* The prefix of names from here on. */
void pxi_net_prefix(pxi_net *net, const char *format, ...) PX_PRINTF(2, 3);

/* Below 64 pixels a side: networks for large images then begin with smaller strides. */
bool pxi_net_is_small(const pxi_net *net);

void pxi_net_conv(pxi_net *net, const char *name, pxi_conv conv);
void pxi_net_batch_norm(pxi_net *net, const char *name);
void pxi_net_relu(pxi_net *net, const char *name);
void pxi_net_leaky_relu(pxi_net *net, const char *name);                  /* 0.01 */
void pxi_net_clipped_relu(pxi_net *net, const char *name, float ceiling); /* one per network */
void pxi_net_max_pool(pxi_net *net, const char *name, int kernel, int stride, int pad);
/* Windows of that size that do not overlap; without padding. */
void pxi_net_average_pool(pxi_net *net, const char *name, int64_t height, int64_t width);
void pxi_net_global_pool(pxi_net *net, const char *name);
void pxi_net_dropout(pxi_net *net, const char *name, double rate);
void pxi_net_flatten(pxi_net *net, const char *name);
void pxi_net_dense(pxi_net *net, const char *name, int64_t out); /* y = x W^T + b */
/* y = x W, [in, out], as Keras lays it out. */
void pxi_net_dense_plain(pxi_net *net, const char *name, int64_t out);
void pxi_net_add(pxi_net *net, const char *name, pxi_spot other);
/* Every `step`-th row and column, and `channels` of zeros divided between both ends. */
void pxi_net_skip_and_pad(pxi_net *net, const char *name, int step, int64_t channels);
/* What is there are the class scores: names them "logits" and adds the softmax. */
void pxi_net_finish(pxi_net *net);

/* --- the registry ---------------------------------------------------------------------------- */

typedef struct pxi_arch {
    px_arch public;     /* what users see of it */
    const char *prefix; /* of a family: "mlp-", the text before the numbers; else NULL */
    const char *suffix; /* the text behind them; NULL: none */
    int numbers, least[2], most[2];
    int step, rest; /* of the first number: it is step * n + rest; step 0: any */
    void (*make)(pxi_net *net);
    int args[2];
} pxi_arch;

#define PXI_ARCH(name, what, c, h, w, k, ...)            \
    {                                                    \
        .public = {.entry = {.id = name, .title = what}, \
                   .channels = c,                        \
                   .height = h,                          \
                   .width = w,                           \
                   .classes = k},                        \
        __VA_ARGS__,                                     \
    }
/* One list per file, ended by an empty entry. */
extern const pxi_arch pxi_archs_lenet[], pxi_archs_dense[], pxi_archs_sadl[],
    pxi_archs_resnet_small[], pxi_archs_resnet[], pxi_archs_vgg[], pxi_archs_mobilenet[],
    pxi_archs_speaker[];

#endif
