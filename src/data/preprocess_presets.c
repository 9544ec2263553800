/* src/data/preprocess_presets.c - ways of preparing pixels that are in wide use
 *
 * Whatever lists, completes, tries or explains them reads this table.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/preprocess.h>

#include "base/memory.h"

#include <string.h>

static const px_preprocess_preset presets[] = {
    {.entry = {.id = "imagenet",
               .title =
                   "mean 0.485,0.456,0.406 and std 0.229,0.224,0.225 of values between 0 and 1",
               .source = "torchvision, timm and most of what is fine-tuned from them"},
     .range = 1.0,
     .channels = 3,
     .mean = {0.485, 0.456, 0.406},
     .stddev = {0.229, 0.224, 0.225}},
    {.entry =
         {.id = "cifar10",
          .title =
              "mean 0.4914,0.4822,0.4465 and std 0.247,0.2435,0.2616 of values between 0 and 1",
          .source = "networks trained on CIFAR-10"},
     .range = 1.0,
     .channels = 3,
     .mean = {0.4914, 0.4822, 0.4465},
     .stddev = {0.2470, 0.2435, 0.2616}},
    {.entry = {.id = "mnist",
               .title = "mean 0.1307 and std 0.3081 of values between 0 and 1",
               .source = "PyTorch's MNIST example and its descendants"},
     .range = 1.0,
     .channels = 1,
     .mean = {0.1307},
     .stddev = {0.3081}},
    {.entry = {.id = "fashion-mnist",
               .title = "mean 0.286 and std 0.353 of values between 0 and 1",
               .source = "networks trained on Fashion-MNIST"},
     .range = 1.0,
     .channels = 1,
     .mean = {0.2860},
     .stddev = {0.3530}},
    {.entry = {.id = "half",
               .title = "mean 0.5 and std 0.5 of values between 0 and 1",
               .source = "PyTorch tutorials, ViT and BEiT of Hugging Face"},
     .alias = "0.5",
     .range = 1.0,
     .channels = 1,
     .mean = {0.5},
     .stddev = {0.5}},
    {.entry = {.id = "tf",
               .title = "values between -1 and 1, the same numbers as half",
               .source = "Keras: MobileNet, Inception, Xception, ResNet V2"},
     .range = 1.0,
     .channels = 1,
     .mean = {0.5},
     .stddev = {0.5}},
    {.entry = {.id = "caffe",
               .title = "BGR, values between 0 and 255 less 103.939,116.779,123.68",
               .source = "Keras: VGG, ResNet V1; networks from Caffe"},
     .range = 255.0,
     .channels = 3,
     .mean = {103.939, 116.779, 123.68},
     .stddev = {1.0, 1.0, 1.0},
     .bgr = true},
    {.entry =
         {.id = "bytes",
          .title = "values between 0 and 255 as they are",
          .source =
              "networks that normalise inside: Keras EfficientNet, many exports of TensorFlow"},
     .alias = "0-255",
     .range = 255.0,
     .channels = 1,
     .mean = {0.0},
     .stddev = {1.0}},
    {.entry = {.id = "none",
               .title = "values between 0 and 1 as they are",
               .source = "ToTensor() alone; plexor's default"},
     .range = 1.0,
     .channels = 1,
     .mean = {0.0},
     .stddev = {1.0}},
};

const px_registry pxi_preprocess_presets = {
    .kind = "file or preset", .plural = "preprocess", .many = true, PX_REGISTRY_ARRAY(presets)};

const px_preprocess_preset *px_preprocess_preset_named(const char *name)
{
    for (size_t i = 0; i < PX_LEN(presets); i++)
        if (presets[i].alias && strcmp(name, presets[i].alias) == 0)
            return &presets[i];
    return px_preprocess_preset_find(name);
}

void px_preprocess_set(px_preprocess *pre, const px_preprocess_preset *preset, bool is_8bit)
{
    pre->range = (float)preset->range;
    pre->bgr = preset->bgr;
    pre->channels = pre->picture ? pre->picture : preset->channels;
    for (int c = 0; c < PX_PREPROCESS_CHANNELS; c++) {
        const int at = preset->channels == 1 ? 0 : c < preset->channels ? c : preset->channels - 1;
        pre->mean[c] = (float)preset->mean[at];
        pre->stddev[c] = (float)preset->stddev[at];
    }
    px_preprocess_fit(pre, is_8bit);
}
