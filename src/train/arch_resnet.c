/* src/train/arch_resnet.c - residual networks for large images
 *
 * He et al., Deep Residual Learning, CVPR 2016, Table 1. resnet18, resnet34, resnet50 are
 * torchvision's, with its names and its stride in the 3x3 convolution of a bottleneck. On images
 * of less than 64 pixels a side the first convolution is 3x3 with stride 1 and the max-pooling is
 * left out, as is usual on CIFAR. resnet50-keras is keras.applications': biased convolutions,
 * stride in the first 1x1 (25,583,592 trainable: DeepSensor Table 1). resnet34-audio has a
 * projection in every stage, the first too, and takes one channel of features: 21,315,166 with
 * batch-norm statistics for 30 speakers, DeepSensor Table 1.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

typedef struct resnet_kind {
    int blocks[4];
    bool bottleneck, keras, project_always, audio;
} resnet_kind;

static const pxi_style resnet_style = {.conv = PXI_INIT_KAIMING_OUT,
                                       .conv_bias = PXI_INIT_UNIFORM_FAN_IN,
                                       .dense = PXI_INIT_UNIFORM_FAN_IN,
                                       .dense_bias = PXI_INIT_UNIFORM_FAN_IN,
                                       .epsilon = 1e-5f,
                                       .momentum = 0.9f};

static const pxi_style keras_resnet_style = {.conv = PXI_INIT_GLOROT,
                                             .conv_bias = PXI_INIT_ZERO,
                                             .dense = PXI_INIT_GLOROT,
                                             .dense_bias = PXI_INIT_ZERO,
                                             .epsilon = 1.001e-5f,
                                             .momentum = 0.99f};

static void resnet_unit(pxi_net *net, const resnet_kind *kind, int64_t maps, int stride,
                        bool project)
{
    const int64_t out = kind->bottleneck ? 4 * maps : maps;
    const bool bias = kind->keras;
    const pxi_spot from = net->at;
    pxi_spot side = from;
    if (kind->bottleneck) {
        const int early = kind->keras ? stride : 1;
        pxi_net_conv(net, "conv1",
                     (pxi_conv){.out = maps, .kernel = 1, .stride = early, .bias = bias});
        pxi_net_batch_norm(net, "bn1");
        pxi_net_relu(net, "relu1");
        pxi_net_conv(
            net, "conv2",
            (pxi_conv){.out = maps, .kernel = 3, .stride = stride / early, .pad = 1, .bias = bias});
        pxi_net_batch_norm(net, "bn2");
        pxi_net_relu(net, "relu2");
        pxi_net_conv(net, "conv3", (pxi_conv){.out = out, .kernel = 1, .bias = bias});
        pxi_net_batch_norm(net, "bn3");
    } else {
        pxi_net_conv(
            net, "conv1",
            (pxi_conv){.out = maps, .kernel = 3, .stride = stride, .pad = 1, .bias = bias});
        pxi_net_batch_norm(net, "bn1");
        pxi_net_relu(net, "relu1");
        pxi_net_conv(net, "conv2", (pxi_conv){.out = maps, .kernel = 3, .pad = 1, .bias = bias});
        pxi_net_batch_norm(net, "bn2");
    }
    if (project || stride != 1 || from.channels != out) {
        const pxi_spot main = net->at;
        net->at = from;
        pxi_net_conv(net, "downsample.0",
                     (pxi_conv){.out = out, .kernel = 1, .stride = stride, .bias = bias});
        pxi_net_batch_norm(net, "downsample.1");
        side = net->at;
        net->at = main;
    }
    pxi_net_add(net, "add", side);
    pxi_net_relu(net, kind->bottleneck ? "relu3" : "relu2");
}

static void resnet_make_kind(pxi_net *net, const resnet_kind *kind)
{
    const bool small = pxi_net_is_small(net);
    net->style = kind->keras ? &keras_resnet_style : &resnet_style;
    net->is_audio = kind->audio;
    pxi_net_conv(
        net, "conv1",
        small ? (pxi_conv){.out = 64, .kernel = 3, .pad = 1, .bias = kind->keras}
              : (pxi_conv){.out = 64, .kernel = 7, .stride = 2, .pad = 3, .bias = kind->keras});
    pxi_net_batch_norm(net, "bn1");
    pxi_net_relu(net, "relu");
    if (!small)
        pxi_net_max_pool(net, "maxpool", 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < kind->blocks[stage]; i++) {
            pxi_net_prefix(net, "layer%d.%d.", stage + 1, i);
            resnet_unit(net, kind, (int64_t)64 << stage, stage && !i ? 2 : 1,
                        kind->project_always && !i);
        }
    pxi_net_prefix(net, "%s", "");
    pxi_net_global_pool(net, "avgpool");
    pxi_net_flatten(net, "flatten");
    pxi_net_dense(net, "fc", net->classes);
}

static void resnet18_make(pxi_net *net)
{
    resnet_make_kind(net, &(const resnet_kind){.blocks = {2, 2, 2, 2}});
}

static void resnet34_make(pxi_net *net)
{
    resnet_make_kind(net, &(const resnet_kind){.blocks = {3, 4, 6, 3}});
}

static void resnet50_make(pxi_net *net)
{
    resnet_make_kind(net, &(const resnet_kind){.blocks = {3, 4, 6, 3}, .bottleneck = true});
}

static void resnet50_make_keras(pxi_net *net)
{
    resnet_make_kind(
        net, &(const resnet_kind){.blocks = {3, 4, 6, 3}, .bottleneck = true, .keras = true});
}

static void resnet34_make_audio(pxi_net *net)
{
    resnet_make_kind(
        net, &(const resnet_kind){.blocks = {3, 4, 6, 3}, .project_always = true, .audio = true});
}

#define RESNET(id, text, function) PXI_ARCH(id, text, 3, 224, 224, 1000, .make = function)

const pxi_arch pxi_archs_resnet[] = {
    RESNET("resnet18", "ResNet-18 as in torchvision; below 64x64 with a 3x3 stem", resnet18_make),
    RESNET("resnet34", "ResNet-34 as in torchvision; below 64x64 with a 3x3 stem", resnet34_make),
    RESNET("resnet50", "ResNet-50 as in torchvision; below 64x64 with a 3x3 stem", resnet50_make),
    RESNET("resnet50-keras", "ResNet-50 as in Keras: biased convolutions", resnet50_make_keras),
    PXI_ARCH("resnet34-audio", "ResNet-34 on 160 frames of 64 features, 30 speakers", 1, 160, 64,
             30, .make = resnet34_make_audio),
    {.make = NULL},
};
