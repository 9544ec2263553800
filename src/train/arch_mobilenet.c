/* src/train/arch_mobilenet.c - MobileNet and MobileNetV2
 *
 * mobilenet: Howard et al., 2017, width 1, as keras.applications has it (4,231,976 trainable:
 * DeepSensor Table 1); its last 1x1 convolution is a dense layer here, which is the same.
 * mobilenetv2: Sandler et al., CVPR 2018, width 1, as torchvision has it. On images of less than
 * 64 pixels a side the first stride (of mobilenetv2: the first two) is 1, as is usual on CIFAR.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#include <stdio.h>

#define RELU6 6.0f

static void v1_norm(pxi_net *net)
{
    pxi_net_batch_norm(net, "_bn");
    pxi_net_clipped_relu(net, "_relu", RELU6);
}

static void v1_make(pxi_net *net)
{
    static const struct {
        int maps, stride;
    } blocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    const int first = pxi_net_is_small(net) ? 1 : 2;
    net->style = &pxi_style_keras;
    pxi_net_prefix(net, "conv1");
    pxi_net_conv(net, "", (pxi_conv){.out = 32, .kernel = 3, .stride = first, .pad = PXI_SAME});
    v1_norm(net);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        pxi_net_prefix(net, "conv_dw_%zu", i + 1);
        pxi_net_conv(net, "",
                     (pxi_conv){.out = net->at.channels,
                                .kernel = 3,
                                .stride = blocks[i].stride,
                                .pad = PXI_SAME,
                                .groups = net->at.channels});
        v1_norm(net);
        pxi_net_prefix(net, "conv_pw_%zu", i + 1);
        pxi_net_conv(net, "", (pxi_conv){.out = blocks[i].maps, .kernel = 1});
        v1_norm(net);
    }
    pxi_net_prefix(net, "%s", "");
    pxi_net_global_pool(net, "global_average_pooling");
    pxi_net_flatten(net, "flatten");
    pxi_net_dropout(net, "dropout", 1e-3);
    pxi_net_dense(net, "conv_preds", net->classes);
}

/* torchvision's ConvNormActivation: NAME.0, NAME.1, NAME.2. */
static void v2_conv(pxi_net *net, const char *name, pxi_conv conv)
{
    char part[32];
    snprintf(part, sizeof part, "%s0", name);
    pxi_net_conv(net, part, conv);
    snprintf(part, sizeof part, "%s1", name);
    pxi_net_batch_norm(net, part);
    snprintf(part, sizeof part, "%s2", name);
    pxi_net_clipped_relu(net, part, RELU6);
}

/* An inverted residual: expand, filter each channel, project. */
static void v2_block(pxi_net *net, int expansion, int64_t maps, int stride)
{
    const pxi_spot from = net->at;
    const int64_t wide = from.channels * expansion;
    const bool expands = expansion != 1;
    if (expands)
        v2_conv(net, "conv.0.", (pxi_conv){.out = wide, .kernel = 1});
    v2_conv(net, expands ? "conv.1." : "conv.0.",
            (pxi_conv){.out = wide, .kernel = 3, .stride = stride, .pad = 1, .groups = wide});
    pxi_net_conv(net, expands ? "conv.2" : "conv.1", (pxi_conv){.out = maps, .kernel = 1});
    pxi_net_batch_norm(net, expands ? "conv.3" : "conv.2");
    if (stride == 1 && from.channels == maps)
        pxi_net_add(net, "add", from);
}

static void v2_make(pxi_net *net)
{
    static const struct {
        int expansion, maps, repeats, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    const bool small = pxi_net_is_small(net);
    int index = 0;
    net->style = &pxi_style_torchvision;
    pxi_net_prefix(net, "features.%d.", index++);
    v2_conv(net, "", (pxi_conv){.out = 32, .kernel = 3, .stride = small ? 1 : 2, .pad = 1});
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (int i = 0; i < stages[s].repeats; i++) {
            const int stride = i || (small && s == 1) ? 1 : stages[s].stride;
            pxi_net_prefix(net, "features.%d.", index++);
            v2_block(net, stages[s].expansion, stages[s].maps, stride);
        }
    pxi_net_prefix(net, "features.%d.", index);
    v2_conv(net, "", (pxi_conv){.out = 1280, .kernel = 1});
    pxi_net_prefix(net, "%s", "");
    pxi_net_global_pool(net, "avgpool");
    pxi_net_flatten(net, "flatten");
    pxi_net_dropout(net, "classifier.0", 0.2);
    pxi_net_dense(net, "classifier.1", net->classes);
}

const pxi_arch pxi_archs_mobilenet[] = {
    PXI_ARCH("mobilenet", "MobileNet as in Keras; below 64x64 the first stride is 1", 3, 224, 224,
             1000, .make = v1_make),
    PXI_ARCH("mobilenetv2",
             "MobileNetV2 as in torchvision; below 64x64 the first two strides are 1", 3, 224, 224,
             1000, .make = v2_make),
    {.make = NULL},
};
