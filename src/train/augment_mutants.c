/* src/train/augment_mutants.c - dh, dh-d, dh-n: one random transformation of DeepHunter's
 *
 * Yang et al., Revisiting Neuron Coverage Metrics and Quality of Deep Neural Networks, SANER 2022,
 * generate by one random transformation with one random parameter per picture; here it is another
 * one each time that a picture comes. Data that are not 8-bit must have values from 0 to 1, which
 * are rounded to k/255.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/augment.h"

#include <internal/mutate.h>
#include <string.h>

const pxi_generator pxi_generators[PXI_GENERATOR_COUNT] = {
    {"dh", "deephunter"},
    {"dh-d", "deephunter:differentiable"},
    {"dh-n", "deephunter:non-differentiable"},
};

static px_status mutants_parse(const char *argument, const px_shape *shape, pxi_augment_link *link,
                               px_error *err)
{
    const char *name = link->kind->choice.entry.id;
    char text[PX_SHAPE_TEXT];
    if (argument)
        return px_fail(err, PX_E_USAGE, "augmentation '%s:%s': %s takes no argument", name,
                       argument, name);
    if (shape->rank != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "augmentation '%s' is for pictures, [channels,height,width]; the samples "
                       "are %s",
                       name, px_shape_text(shape, text));
    for (size_t i = 0; i < PXI_GENERATOR_COUNT; i++)
        if (strcmp(pxi_generators[i].id, name) == 0)
            return px_mutations_parse(pxi_generators[i].mutations, &link->mutations, err);
    return px_fail(err, PX_E_INTERNAL, "augmentation '%s' draws from nothing", name);
}

static px_status mutants_apply(const pxi_augment_link *link, const px_shape *shape, bool unit,
                               float *pixels, px_random *random, px_error *err)
{
    const px_drawn drawn = px_mutation_draw(&link->mutations, random);
    return px_mutation_apply_values(&drawn, shape, unit, pixels, pixels, err);
}

const pxi_augmentation pxi_augmentation_dh = {
    .choice = {.entry = {.id = "dh",
                         .title = "one of DeepHunter's nine transformations, drawn anew each time"},
               .usage = "dh"},
    .parse = mutants_parse,
    .apply = mutants_apply,
};

const pxi_augmentation pxi_augmentation_dh_d = {
    .choice =
        {.entry =
             {.id = "dh-d",
              .title =
                  "one of DeepHunter's contrast, brightness, pixel change and noise, drawn anew"},
         .usage = "dh-d"},
    .parse = mutants_parse,
    .apply = mutants_apply,
};

const pxi_augmentation pxi_augmentation_dh_n = {
    .choice =
        {.entry =
             {.id = "dh-n",
              .title =
                  "one of DeepHunter's translation, scale, shear, rotation and blur, drawn anew"},
         .usage = "dh-n"},
    .parse = mutants_parse,
    .apply = mutants_apply,
};
