/* src/mutate/set_deephunter.c - DeepHunter's nine transformations and their parameters
 *
 * Xie et al., DeepHunter, ISSTA 2019, and its published lists: 192 pairs of operator and parameter.
 * The operator is drawn uniformly, then its parameter.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"

static void deephunter_translation(size_t i, double *values)
{
    values[0] = values[1] = (double)i - 3;
}

static void deephunter_scale(size_t i, double *values)
{
    values[0] = ((double)i + 7) / 10;
}

static void deephunter_shear(size_t i, double *values)
{
    values[0] = ((double)i - 6) / 10;
}

static void deephunter_rotation(size_t i, double *values)
{
    values[0] = (double)i - 50;
}

static void deephunter_contrast(size_t i, double *values)
{
    values[0] = ((double)i + 5) / 10;
}

static void deephunter_brightness(size_t i, double *values)
{
    values[0] = (double)i - 20;
}

static void deephunter_kind(size_t i, double *values)
{
    values[0] = (double)i;
}

static void deephunter_pixels(size_t i, double *values)
{
    values[0] = (double)i + 1;
}

static const px_mutation_entry entries[] = {
    {&px_mutation_cv_translation, "x = y = -3 to 2", 6, deephunter_translation, NULL},
    {&px_mutation_cv_scale, "ratio 0.7 to 1.1 by 0.1", 5, deephunter_scale, NULL},
    {&px_mutation_cv_shear, "factor -0.6 to 0.5 by 0.1", 12, deephunter_shear, NULL},
    {&px_mutation_cv_rotation, "angle -50 to 49", 100, deephunter_rotation, NULL},
    {&px_mutation_cv_contrast, "gain 0.5 to 1.2 by 0.1", 8, deephunter_contrast, NULL},
    {&px_mutation_cv_brightness, "bias -20 to 19", 40, deephunter_brightness, NULL},
    {&px_mutation_cv_blur, "box 3, 4, 5; gauss 3, 5, 7; median 3, 5; bilateral6", 9,
     deephunter_kind, NULL},
    {&px_mutation_pixel_change, "count 1 to 9", 9, deephunter_pixels, NULL},
    {&px_mutation_noise, "gaussian, salt-pepper, speckle", 3, deephunter_kind, NULL},
};

const px_mutation_set pxi_mutation_set_deephunter = {
    .entry = {.id = "deephunter",
              .title = "nine transformations",
              .source = "DeepHunter (ISSTA 2019); DH, DH-D and DH-N of Revisiting (SANER 2022)"},
    .entries = entries,
    .entry_count = PX_LEN(entries),
};
