/* src/train/arch_speaker.c - Deep Speaker's residual CNN, and a small one of its kind
 *
 * Li et al., Deep Speaker, 2017: four times a 5x5 convolution of stride 2 and three residual
 * blocks, ReLU clipped at 20, the mean over time, an embedding of 512, here with softmax over the
 * speakers. The input is [frames, features]. Sizes and names are those of philipperemy/deep-speaker
 * (Keras): with 64 features and 30 speakers 24,201,118 parameters with batch-norm statistics, as
 * DeepSensor Table 1 has it. Its 101 layers and 28,190 outputs speak for blocks as in the paper,
 * without the ReLU before the addition that this code has, and for one more layer of 512 without
 * parameters before the speakers: dropout here. Features keep the channel-first order where they
 * are flattened.
 *
 * speaker-small is ours: three stages of 16, 32 and 64 maps with one block each, and an embedding
 * of 64. It is for a few speakers or words and a few thousand short clips, on which the large one
 * would learn them by heart.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#define CLIP_AT 20.0f

static void speaker_norm(pxi_net *net)
{
    pxi_net_batch_norm(net, "_bn");
    pxi_net_clipped_relu(net, "_relu", CLIP_AT);
}

static void speaker_stage(pxi_net *net, int stage, int maps, int blocks)
{
    pxi_net_prefix(net, "conv%d-s", maps);
    pxi_net_conv(net, "",
                 (pxi_conv){.out = maps, .kernel = 5, .stride = 2, .pad = PXI_SAME, .bias = true});
    speaker_norm(net);
    for (int i = 0; i < blocks; i++) {
        const pxi_spot from = net->at;
        pxi_net_prefix(net, "res%d_%d_branch_2a", stage, i);
        pxi_net_conv(net, "", (pxi_conv){.out = maps, .kernel = 3, .pad = PXI_SAME, .bias = true});
        speaker_norm(net);
        pxi_net_prefix(net, "res%d_%d_branch_2b", stage, i);
        pxi_net_conv(net, "", (pxi_conv){.out = maps, .kernel = 3, .pad = PXI_SAME, .bias = true});
        pxi_net_batch_norm(net, "_bn");
        pxi_net_prefix(net, "res%d_%d_", stage, i);
        pxi_net_add(net, "add", from);
        pxi_net_clipped_relu(net, "relu", CLIP_AT);
    }
}

static void speaker_make_size(pxi_net *net, int stages, int maps, int blocks, int embedding)
{
    net->style = &pxi_style_keras;
    net->is_audio = true;
    for (int stage = 0; stage < stages; stage++)
        speaker_stage(net, stage + 1, maps << stage, blocks);
    pxi_net_prefix(net, "%s", "");
    pxi_net_average_pool(net, "average", net->at.height, 1);
    pxi_net_flatten(net, "flatten");
    pxi_net_dense(net, "affine", embedding);
    pxi_net_dropout(net, "dropout", 0.5);
    pxi_net_dense(net, "softmax_dense", net->classes);
}

static void speaker_make(pxi_net *net)
{
    speaker_make_size(net, 4, 64, 3, 512);
}

static void speaker_make_small(pxi_net *net)
{
    speaker_make_size(net, 3, 16, 1, 64);
}

const pxi_arch pxi_archs_speaker[] = {
    PXI_ARCH("deepspeaker", "Deep Speaker's residual CNN on 160 frames of 64 features, 30 speakers",
             1, 160, 64, 30, .make = speaker_make),
    PXI_ARCH("speaker-small", "a small residual CNN of that kind, on 64 frames of 64 features", 1,
             64, 64, 30, .make = speaker_make_small),
    {.make = NULL},
};
