/* src/train/arch_dense.c - DeepFault's networks: dense layers with leaky ReLU
 *
 * Eniser et al., DeepFault, FASE 2019, Table 2; layers as in its public code. mlp-DxW: D dense
 * layers of W neurons and the output, without biases. cifar-DxW: four 3x3 convolutions with ReLU
 * (same, valid, same, valid), two max-poolings, then D such layers with biases. Keras
 * initialisation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#include <stdio.h>

static void mlp_make(pxi_net *net)
{
    char name[32];
    net->style = &pxi_style_keras;
    pxi_net_flatten(net, "flatten");
    for (int i = 1; i <= net->args[0]; i++) {
        snprintf(name, sizeof name, "fc%d", i);
        pxi_net_dense_plain(net, name, net->args[1]);
        snprintf(name, sizeof name, "fc%d_leaky", i);
        pxi_net_leaky_relu(net, name);
    }
    pxi_net_dense_plain(net, "before_softmax", net->classes);
}

/* Two convolutions, the second without padding, and a pooling. */
static void cifar_block(pxi_net *net, int block, int64_t maps)
{
    pxi_net_prefix(net, "block%d_", block);
    pxi_net_conv(net, "conv1", (pxi_conv){.out = maps, .kernel = 3, .pad = PXI_SAME, .bias = true});
    pxi_net_relu(net, "conv1_relu");
    pxi_net_conv(net, "conv2", (pxi_conv){.out = maps, .kernel = 3, .bias = true});
    pxi_net_relu(net, "conv2_relu");
    pxi_net_max_pool(net, "pool1", 2, 2, 0);
    pxi_net_dropout(net, "dropout", 0.25);
}

static void cifar_make(pxi_net *net)
{
    net->style = &pxi_style_keras;
    cifar_block(net, 1, 32);
    cifar_block(net, 2, 64);
    pxi_net_prefix(net, "%s", "");
    pxi_net_flatten(net, "flatten");
    for (int i = 1; i <= net->args[0]; i++) {
        pxi_net_prefix(net, "fc%d", i);
        pxi_net_dense(net, "", net->args[1]);
        pxi_net_leaky_relu(net, "_leaky");
        pxi_net_dropout(net, "_dropout", 0.5);
    }
    pxi_net_prefix(net, "%s", "");
    pxi_net_dense(net, "before_softmax", net->classes);
}

#define FAMILY(form, before, depth, neurons)                                                       \
    .public.family = form, .prefix = before, .numbers = 2, .least = {1, 1}, .most = {1000, 65536}, \
    .args = {depth, neurons}
#define MLP(id, depth, neurons)                                                       \
    PXI_ARCH(id, "D dense layers of W neurons, leaky ReLU, no biases", 1, 28, 28, 10, \
             .make = mlp_make, FAMILY("mlp-DxW", "mlp-", depth, neurons))
#define CIFAR(id, depth, neurons)                                                                 \
    PXI_ARCH(id, "DeepFault's CIFAR network: 4 convolutions, D dense layers of W neurons", 3, 32, \
             32, 10, .make = cifar_make, FAMILY("cifar-DxW", "cifar-", depth, neurons))

const pxi_arch pxi_archs_dense[] = {
    MLP("mlp-5x30", 5, 30),
    MLP("mlp-6x25", 6, 25),
    MLP("mlp-8x20", 8, 20),
    CIFAR("cifar-4x128", 4, 128),
    CIFAR("cifar-2x256", 2, 256),
    CIFAR("cifar-1x512", 1, 512),
    {.make = NULL},
};
