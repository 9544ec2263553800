/* src/train/arch_lenet.c - LeNet-1, LeNet-4, LeNet-5
 *
 * Two 5x5 convolutions with 2x2 max-pooling and one to three dense layers, ReLU between. The
 * shapes are those of DeepXplore (Pei et al., SOSP 2017), in two readings that the papers mix:
 * padded by 2, so that a map of 28x28 stays one (7,206 / 69,362 / 107,786 parameters: DeepXplore,
 * DeepSensor Table 1), and `-valid`, without padding (3,246 / 25,010 / 44,426: Yang et al., SANER
 * 2022, Table I, NSS Table 3). Keras initialisation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

static void lenet_make_padded(pxi_net *net, int pad)
{
    const int which = net->args[0]; /* 1, 4 or 5 */
    const int64_t maps[2] = {which == 1 ? 4 : 6, which == 1 ? 12 : 16};
    net->style = &pxi_style_keras;
    pxi_net_conv(net, "block1_conv1",
                 (pxi_conv){.out = maps[0], .kernel = 5, .pad = pad, .bias = true});
    pxi_net_relu(net, "block1_conv1_relu");
    pxi_net_max_pool(net, "block1_pool1", 2, 2, 0);
    pxi_net_conv(net, "block2_conv1",
                 (pxi_conv){.out = maps[1], .kernel = 5, .pad = pad, .bias = true});
    pxi_net_relu(net, "block2_conv1_relu");
    pxi_net_max_pool(net, "block2_pool1", 2, 2, 0);
    pxi_net_flatten(net, "flatten");
    if (which == 5) {
        pxi_net_dense(net, "fc1", 120);
        pxi_net_relu(net, "fc1_relu");
    }
    if (which >= 4) {
        pxi_net_dense(net, which == 5 ? "fc2" : "fc1", 84);
        pxi_net_relu(net, which == 5 ? "fc2_relu" : "fc1_relu");
    }
    pxi_net_dense(net, "before_softmax", net->classes);
}

static void lenet_make(pxi_net *net)
{
    lenet_make_padded(net, 2);
}

static void lenet_make_valid(pxi_net *net)
{
    lenet_make_padded(net, 0);
}

#define LENET(id, text, function, number) \
    PXI_ARCH(id, text, 1, 28, 28, 10, .make = function, .args = {number})

const pxi_arch pxi_archs_lenet[] = {
    LENET("lenet1", "LeNet-1 as in DeepXplore: 5x5 convolutions of 4 and 12 maps, padded",
          lenet_make, 1),
    LENET("lenet4", "LeNet-4 as in DeepXplore: 6 and 16 maps, dense 84", lenet_make, 4),
    LENET("lenet5", "LeNet-5 as in DeepXplore: 6 and 16 maps, dense 120, 84", lenet_make, 5),
    LENET("lenet1-valid", "LeNet-1 without padding", lenet_make_valid, 1),
    LENET("lenet4-valid", "LeNet-4 without padding", lenet_make_valid, 4),
    LENET("lenet5-valid", "LeNet-5 without padding", lenet_make_valid, 5),
    {.make = NULL},
};
