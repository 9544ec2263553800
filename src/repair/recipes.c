/* src/repair/recipes.c - how the papers retrain: one row each (spec F.1)
 *
 * What a paper does not state is named in `chosen`.
 */
#include <plexor/repair.h>

#include "base/memory.h"

#include <string.h>

static const px_repair_recipe recipes[] = {
    {
        .name = "nss",
        .help = "NSS: the full training set plus the selected inputs",
        .chosen = "batch",
        .mix = PX_MIX_APPEND,
        .optimizer = "sgd:momentum=0.99,nesterov=1",
        .lr = 0.001,
        .schedule = "step:20,30",
        .epochs = 40,
        .batch = 128,
    },
    {
        .name = "nsgen",
        .help = "NSGen: the full training set plus generated faults",
        .chosen = "optimizer, lr, schedule, epochs, batch",
        .mix = PX_MIX_APPEND,
        .optimizer = "sgd:momentum=0.9,decay=5e-4",
        .lr = 0.001,
        .schedule = "cosine",
        .epochs = 10,
        .batch = 128,
    },
    {
        .name = "revisit",
        .help = "Revisiting Neuron Coverage: mutated training inputs appended, Adam",
        .chosen = "",
        .mix = PX_MIX_APPEND,
        .optimizer = "adam",
        .lr = 0.001,
        .schedule = "constant",
        .epochs = 60,
        .batch = 128,
    },
    {
        .name = "deepsensor",
        .help = "DeepSensor: 500 benign and 500 generated inputs, nothing else",
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
        .name = "deepfault",
        .help = "DeepFault's code: synthesised inputs only, Adam",
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

size_t px_repair_recipe_count(void)
{
    return PX_LEN(recipes);
}

const px_repair_recipe *px_repair_recipe_get(size_t i)
{
    return &recipes[i];
}

const px_repair_recipe *px_repair_recipe_find(const char *name)
{
    for (size_t i = 0; i < PX_LEN(recipes); i++)
        if (strcmp(name, recipes[i].name) == 0)
            return &recipes[i];
    return NULL;
}

px_status px_repair_mode_parse(const char *text, px_mix *mix, double *share, px_error *err)
{
    static const char adversarial[] = "adversarial";
    if (strncmp(text, adversarial, sizeof adversarial - 1) == 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "mode 'adversarial' replaces inputs by attacks on the network as it trains, "
                       "and this plexor has no attacks; use append, fixed or only");
    return px_mix_parse(text, mix, share, err);
}
