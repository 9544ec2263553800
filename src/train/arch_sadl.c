/* src/train/arch_sadl.c - SADL-1, SADL-2, SADL-3
 *
 * The SVHN subjects of Yang et al., Revisiting Neuron Coverage Metrics and Quality of Deep Neural
 * Networks, SANER 2022, Table I (6,531,786 / 1,646,794 / 2,923,050 with batch-norm statistics).
 * They are the networks of SADL's public code (Kim et al., ICSE 2019) with batch normalisation
 * after every ReLU; dropout 0.5 where that code has it. Keras initialisation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#include <stdio.h>

static void sadl_conv(pxi_net *net, int index, int64_t maps, int pad)
{
    pxi_net_prefix(net, "conv%d", index);
    pxi_net_conv(net, "", (pxi_conv){.out = maps, .kernel = 3, .pad = pad, .bias = true});
    pxi_net_relu(net, "_relu");
    pxi_net_batch_norm(net, "_bn");
    pxi_net_prefix(net, "%s", "");
}

static void sadl_dense(pxi_net *net, int index, int64_t neurons)
{
    pxi_net_prefix(net, "fc%d", index);
    pxi_net_dense(net, "", neurons);
    pxi_net_relu(net, "_relu");
    pxi_net_batch_norm(net, "_bn");
    pxi_net_dropout(net, "_dropout", 0.5);
    pxi_net_prefix(net, "%s", "");
}

static void sadl_make_shallow(pxi_net *net)
{
    net->style = &pxi_style_keras;
    sadl_conv(net, 1, 64, 0);
    sadl_conv(net, 2, 64, 0);
    pxi_net_max_pool(net, "pool1", 2, 2, 0);
    pxi_net_dropout(net, "pool1_dropout", 0.5);
    pxi_net_flatten(net, "flatten");
    if (net->args[0] == 1)
        sadl_dense(net, 1, 512);
    sadl_dense(net, net->args[0] == 1 ? 2 : 1, 128);
    pxi_net_dense(net, "before_softmax", net->classes);
}

static void sadl_make_deep(pxi_net *net)
{
    char name[16];
    net->style = &pxi_style_keras;
    for (int pair = 0; pair < 3; pair++) {
        const int64_t maps = (int64_t)32 << pair;
        sadl_conv(net, 2 * pair + 1, maps, PXI_SAME);
        sadl_conv(net, 2 * pair + 2, maps, PXI_SAME);
        snprintf(name, sizeof name, "pool%d", pair + 1);
        pxi_net_max_pool(net, name, 2, 2, 0);
    }
    pxi_net_flatten(net, "flatten");
    pxi_net_dropout(net, "flatten_dropout", 0.5);
    sadl_dense(net, 1, 1024);
    sadl_dense(net, 2, 512);
    pxi_net_dense(net, "before_softmax", net->classes);
}

#define SADL(id, text, function, number) \
    PXI_ARCH(id, text, 3, 32, 32, 10, .make = function, .args = {number})

const pxi_arch pxi_archs_sadl[] = {
    SADL("sadl-1", "2 convolutions, dense 512, 128; batch norm after every ReLU", sadl_make_shallow,
         1),
    SADL("sadl-2", "2 convolutions, dense 128; batch norm after every ReLU", sadl_make_shallow, 2),
    SADL("sadl-3", "6 convolutions, dense 1024, 512; batch norm after every ReLU", sadl_make_deep,
         3),
    {.make = NULL},
};
