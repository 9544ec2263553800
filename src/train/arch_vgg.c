/* src/train/arch_vgg.c - VGG-16
 *
 * Simonyan and Zisserman, Very Deep Convolutional Networks, ICLR 2015, configuration D. vgg16 and
 * vgg16-bn are torchvision's; the first dense layer takes what five poolings leave of the image
 * (7x7 at 224, 1x1 at 32) instead of pooling to 7x7. vgg16-cifar is the large Keras network for
 * CIFAR-10, built as the VGG-19 of BIGBALLON/cifar-10-cnn is: batch normalisation after every
 * convolution and dense layer, the last one too; 33,663,070 trainable, DeepSensor Table 1, and
 * 33,687,922 with statistics in 56 layers, Yang et al. 2022, Table I.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#include <stdio.h>

static const int64_t vgg_maps[5] = {64, 128, 256, 512, 512};
static const int vgg_convs[5] = {2, 2, 3, 3, 3};

/* torchvision counts its layers through. */
static const char *vgg_name(char name[16], int *index)
{
    snprintf(name, 16, "%d", (*index)++);
    return name;
}

static void vgg_make_torch(pxi_net *net, bool norm)
{
    char name[16];
    int index = 0;
    net->style = &pxi_style_torchvision;
    pxi_net_prefix(net, "features.");
    for (int block = 0; block < 5; block++) {
        for (int i = 0; i < vgg_convs[block]; i++) {
            pxi_net_conv(net, vgg_name(name, &index),
                         (pxi_conv){.out = vgg_maps[block], .kernel = 3, .pad = 1, .bias = true});
            if (norm)
                pxi_net_batch_norm(net, vgg_name(name, &index));
            pxi_net_relu(net, vgg_name(name, &index));
        }
        pxi_net_max_pool(net, vgg_name(name, &index), 2, 2, 0);
    }
    pxi_net_prefix(net, "%s", "");
    pxi_net_flatten(net, "flatten");
    pxi_net_prefix(net, "classifier.");
    index = 0;
    for (int i = 0; i < 2; i++) {
        pxi_net_dense(net, vgg_name(name, &index), 4096);
        pxi_net_relu(net, vgg_name(name, &index));
        pxi_net_dropout(net, vgg_name(name, &index), 0.5);
    }
    pxi_net_dense(net, vgg_name(name, &index), net->classes);
}

static void vgg_make(pxi_net *net)
{
    vgg_make_torch(net, false);
}

static void vgg_make_bn(pxi_net *net)
{
    vgg_make_torch(net, true);
}

static void vgg_make_cifar(pxi_net *net)
{
    net->style = &pxi_style_keras_he;
    for (int block = 0; block < 5; block++) {
        for (int i = 0; i < vgg_convs[block]; i++) {
            pxi_net_prefix(net, "block%d_conv%d", block + 1, i + 1);
            pxi_net_conv(
                net, "",
                (pxi_conv){.out = vgg_maps[block], .kernel = 3, .pad = PXI_SAME, .bias = true});
            pxi_net_batch_norm(net, "_bn");
            pxi_net_relu(net, "_relu");
        }
        pxi_net_prefix(net, "block%d_", block + 1);
        pxi_net_max_pool(net, "pool", 2, 2, 0);
    }
    pxi_net_prefix(net, "%s", "");
    pxi_net_flatten(net, "flatten");
    for (int i = 1; i <= 2; i++) {
        pxi_net_prefix(net, "fc%d", i);
        pxi_net_dense(net, "", 4096);
        pxi_net_batch_norm(net, "_bn");
        pxi_net_relu(net, "_relu");
        pxi_net_dropout(net, "_dropout", 0.5);
    }
    pxi_net_prefix(net, "predictions");
    pxi_net_dense(net, "", net->classes);
    pxi_net_batch_norm(net, "_bn");
}

const pxi_arch pxi_archs_vgg[] = {
    PXI_ARCH("vgg16",
             "VGG-16 as in torchvision; the first dense layer takes what the poolings leave", 3,
             224, 224, 1000, .make = vgg_make),
    PXI_ARCH("vgg16-bn", "VGG-16 with batch norm after every convolution", 3, 224, 224, 1000,
             .make = vgg_make_bn),
    PXI_ARCH("vgg16-cifar",
             "VGG-16 of Keras for CIFAR-10: batch norm after every layer, dense 4096, 4096", 3, 32,
             32, 10, .make = vgg_make_cifar),
    {.make = NULL},
};
