/* src/train/arch_resnet_small.c - residual networks for small images
 *
 * He et al., Deep Residual Learning, CVPR 2016, section 4.2: a 3x3 convolution, three stages of n
 * blocks with 16, 32, 64 maps, global average pooling; 6n + 2 layers. Three shortcuts where the
 * shape changes:
 *   resnetN        option A, without parameters: every second pixel, channels padded with zeros
 *                  (akamaster/pytorch_resnet_cifar10; kaiming_normal_)
 *   resnetN-b      option B: 1x1 convolution and batch normalisation
 *   resnetN-keras  the Keras example: 1x1 convolution without batch normalisation, biases on every
 *                  convolution, he_normal. Its 8x8 average pooling is global here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

typedef enum resnet_shortcut { SHORTCUT_PAD, SHORTCUT_BN, SHORTCUT_BIAS } resnet_shortcut;

static const pxi_style resnet_style = {.conv = PXI_INIT_KAIMING_IN,
                                       .conv_bias = PXI_INIT_UNIFORM_FAN_IN,
                                       .dense = PXI_INIT_KAIMING_IN,
                                       .dense_bias = PXI_INIT_UNIFORM_FAN_IN,
                                       .epsilon = 1e-5f,
                                       .momentum = 0.9f};

static void resnet_block(pxi_net *net, int64_t maps, int stride, resnet_shortcut shortcut)
{
    const bool keras = shortcut == SHORTCUT_BIAS;
    const int pad = keras ? PXI_SAME : 1;
    const pxi_spot from = net->at;
    pxi_net_conv(net, "conv1",
                 (pxi_conv){.out = maps, .kernel = 3, .stride = stride, .pad = pad, .bias = keras});
    pxi_net_batch_norm(net, "bn1");
    pxi_net_relu(net, "relu1");
    pxi_net_conv(net, "conv2", (pxi_conv){.out = maps, .kernel = 3, .pad = pad, .bias = keras});
    pxi_net_batch_norm(net, "bn2");
    pxi_spot side = from;
    if (stride != 1 || from.channels != maps) {
        const pxi_spot main = net->at;
        net->at = from;
        if (shortcut == SHORTCUT_PAD)
            pxi_net_skip_and_pad(net, "shortcut", stride, maps - from.channels);
        else
            pxi_net_conv(net, shortcut == SHORTCUT_BN ? "shortcut.0" : "shortcut",
                         (pxi_conv){.out = maps, .kernel = 1, .stride = stride, .bias = keras});
        if (shortcut == SHORTCUT_BN)
            pxi_net_batch_norm(net, "shortcut.1");
        side = net->at;
        net->at = main;
    }
    pxi_net_add(net, "add", side);
    pxi_net_relu(net, "relu2");
}

static void resnet_make_with(pxi_net *net, resnet_shortcut shortcut)
{
    const bool keras = shortcut == SHORTCUT_BIAS;
    const int blocks = (net->args[0] - 2) / 6;
    net->style = keras ? &pxi_style_keras_he : &resnet_style;
    pxi_net_conv(net, "conv1", (pxi_conv){.out = 16, .kernel = 3, .pad = 1, .bias = keras});
    pxi_net_batch_norm(net, "bn1");
    pxi_net_relu(net, "relu");
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < blocks; i++) {
            pxi_net_prefix(net, "layer%d.%d.", stage + 1, i);
            resnet_block(net, (int64_t)16 << stage, stage && !i ? 2 : 1, shortcut);
        }
    pxi_net_prefix(net, "%s", "");
    pxi_net_global_pool(net, "avgpool");
    pxi_net_flatten(net, "flatten");
    pxi_net_dense(net, "linear", net->classes);
}

static void resnet_make_a(pxi_net *net)
{
    resnet_make_with(net, SHORTCUT_PAD);
}

static void resnet_make_b(pxi_net *net)
{
    resnet_make_with(net, SHORTCUT_BN);
}

static void resnet_make_keras(pxi_net *net)
{
    resnet_make_with(net, SHORTCUT_BIAS);
}

#define RESNET(id, layers, end, form, text, function)                                              \
    PXI_ARCH(id, text, 3, 32, 32, 10, .make = function, .public.family = form, .prefix = "resnet", \
             .suffix = end, .numbers = 1, .least = {8}, .most = {1202}, .step = 6, .rest = 2,      \
             .args = {layers})
#define RESNET_A(id, layers)                                                                    \
    RESNET(id, layers, "", "resnetN", "He et al. for CIFAR, shortcuts of option A; N = 6n + 2", \
           resnet_make_a)
#define RESNET_B(id, layers)              \
    RESNET(id, layers, "-b", "resnetN-b", \
           "He et al. for CIFAR, shortcuts of option B (1x1 and batch norm)", resnet_make_b)
#define RESNET_KERAS(id, layers)                  \
    RESNET(id, layers, "-keras", "resnetN-keras", \
           "the Keras example: biased convolutions, 1x1 shortcuts", resnet_make_keras)

const pxi_arch pxi_archs_resnet_small[] = {
    RESNET_A("resnet20", 20),   RESNET_A("resnet32", 32),           RESNET_A("resnet56", 56),
    RESNET_B("resnet56-b", 56), RESNET_KERAS("resnet20-keras", 20), {.make = NULL},
};
