/* src/repair/recipes.c - how the papers retrain: one row each (LGR F.1)
 *
 * What a paper does not state is named in `chosen`. One row is no paper's: with `revisit-at` and
 * eps 0.3 LeNets end with one answer for nearly everything, and so they do with its rate lowered
 * alone (docs/studies/revisit.md, RQ4); attacks that grow are what was measured not to.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/repair.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const px_repair_recipe recipes[] = {
    {
        .entry = {.id = "nss", .title = "NSS: the full training set plus the selected inputs"},
        .chosen = "batch",
        .mix = PX_MIX_APPEND,
        .optimizer = "sgd:momentum=0.99,nesterov=1",
        .lr = 0.001,
        .schedule = "step:20,30",
        .epochs = 40,
        .batch = 128,
    },
    {
        .entry = {.id = "nsgen", .title = "NSGen: the full training set plus generated failures"},
        .chosen = "optimizer, lr, schedule, epochs, batch",
        .mix = PX_MIX_APPEND,
        .optimizer = "sgd:momentum=0.9,decay=5e-4",
        .lr = 0.001,
        .schedule = "cosine",
        .epochs = 10,
        .batch = 128,
    },
    {
        .entry = {.id = "revisit",
                  .title = "Revisiting Neuron Coverage: mutated training inputs appended, Adam"},
        .chosen = "",
        .mix = PX_MIX_APPEND,
        .optimizer = "adam",
        .lr = 0.001,
        .schedule = "constant",
        .epochs = 60,
        .batch = 128,
    },
    {
        .entry = {.id = "revisit-at",
                  .title = "Revisiting Neuron Coverage: inputs replaced by attacks, Adam"},
        .chosen = "",
        .mix = PX_MIX_APPEND,
        .optimizer = "adam",
        .lr = 0.01,
        .schedule = "constant",
        .epochs = 200,
        .batch = 256,
    },
    {
        .entry = {.id = "growing",
                  .title = "plexor's own: inputs replaced by attacks that grow in four stages"},
        .chosen = "", /* there is no paper */
        .mix = PX_MIX_APPEND,
        .optimizer = "adam",
        .lr = 0.001,
        .schedule = "constant",
        .epochs = 20,
        .batch = 256,
        .stages = 4,
    },
    {
        .entry = {.id = "madry",
                  .title = "Madry et al. in ART's form: inputs replaced by PGD attacks"},
        .chosen = "schedule, batch",
        .mix = PX_MIX_APPEND,
        .optimizer = "sgd:momentum=0.9,decay=2e-4",
        .lr = 0.1,
        .schedule = "step:100,150",
        .epochs = 205,
        .batch = 128,
    },
    {
        .entry = {.id = "deepsensor",
                  .title = "DeepSensor: 500 benign and 500 generated inputs, nothing else"},
        .chosen = "optimizer, lr, schedule",
        .mix = PX_MIX_APPEND,
        .optimizer = NULL,
        .lr = 0.1,
        .schedule = "constant",
        .epochs = 20,
        .batch = 32,
        .train_limit = 500,
        .add_limit = 500,
        .few = true,
    },
    {
        .entry = {.id = "deepfault", .title = "DeepFault's code: synthesised inputs only, Adam"},
        .chosen = "lr",
        .mix = PX_MIX_ONLY,
        .optimizer = "adam",
        .lr = 0.001,
        .schedule = "constant",
        .epochs = 10,
        .batch = 32,
        .few = true,
    },
};

const px_registry pxi_repair_recipes = {
    .kind = "recipe", .plural = "recipes", .many = true, PX_REGISTRY_ARRAY(recipes)};

px_status px_repair_mode_parse(const char *text, px_mix *mix, double *share, double *adversarial,
                               px_error *err)
{
    static const char word[] = "adversarial";
    const size_t length = sizeof word - 1;
    double part = 1.0;
    *adversarial = 0.0;
    if (strncmp(text, word, length) != 0)
        return px_mix_parse(text, mix, share, err);
    if (text[length] != '\0') {
        char *end = NULL;
        part = text[length] == ':' ? strtod(text + length + 1, &end) : 0.0;
        if (!end || end == text + length + 1 || *end || !(part > 0.0 && part <= 1.0))
            return px_fail(err, PX_E_USAGE,
                           "mode '%.100s': expected adversarial or adversarial:SHARE with a share "
                           "above 0 and up to 1",
                           text);
    }
    *mix = PX_MIX_APPEND;
    *adversarial = part;
    return PX_OK;
}
