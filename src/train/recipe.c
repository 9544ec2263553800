/* src/train/recipe.c - settings to begin with, per family of networks
 *
 * Chosen so that a run without options gives a network that people would expect of that
 * architecture, in minutes rather than hours; docs/train.md has what was measured. A study sets its
 * own.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/train.h>

#include "base/memory.h"

#include <fnmatch.h>

static const struct {
    const char *arch; /* a pattern */
    px_recipe recipe;
    const char *colour; /* augmentation of colour pictures */
} recipes[] = {
    {"lenet*", {"sgd:momentum=0.9,nesterov=1", "onecycle", "", 0.05, 5e-4, 15, 128}, ""},
    {"mlp-*", {"adam", "cosine", "", 0.002, 0.0, 10, 128}, ""},
    {"speaker-small", {"adam", "cosine", "", 0.002, 0.0, 30, 64}, ""},
    {"deepspeaker", {"adam", "cosine", "", 0.001, 0.0, 15, 32}, ""},
    {"resnet34-audio", {"adam", "cosine", "", 0.001, 0.0, 15, 32}, ""},
    {"resnet*", {"sgd:momentum=0.9,nesterov=1", "onecycle", "", 0.2, 5e-4, 10, 128}, "crop:4,flip"},
    {"vgg*", {"sgd:momentum=0.9,nesterov=1", "onecycle", "", 0.05, 5e-4, 20, 128}, "crop:4,flip"},
    {"mobilenet*",
     {"sgd:momentum=0.9,nesterov=1", "onecycle", "", 0.1, 5e-5, 20, 128},
     "crop:4,flip"},
    {"*", {"adam", "cosine", "", 0.001, 0.0, 20, 128}, ""},
};

/* Small steps from where the network stands. */
static const px_recipe fine_tuning = {"sgd:momentum=0.9", "cosine", "", 0.001, 5e-4, 10, 128};

px_recipe px_recipe_get(const char *arch, int64_t channels)
{
    if (!arch)
        return fine_tuning;
    size_t i = 0;
    while (i + 1 < PX_LEN(recipes) && fnmatch(recipes[i].arch, arch, 0) != 0)
        i++;
    px_recipe recipe = recipes[i].recipe;
    if (channels == 3)
        recipe.augment = recipes[i].colour;
    return recipe;
}
