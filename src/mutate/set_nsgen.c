/* src/mutate/set_nsgen.c - the 95 rules of NSGen and NLC, and with style the 98
 *
 * From their published lists: 71 that move content, 24 that change values; their code has three
 * strengths of style transfer on top. A rule is drawn uniformly.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"

static void nsgen_translation(size_t i, double *values)
{
    static const double by[7][2] = {{-5, -5}, {-5, 0}, {0, -5}, {0, 0}, {5, 0}, {0, 5}, {5, 5}};
    values[0] = by[i][0];
    values[1] = by[i][1];
}

static void nsgen_scale(size_t i, double *values)
{
    values[0] = (80 + 5 * (double)i) / 100;
    values[1] = 1; /* white */
}

static void nsgen_rotation(size_t i, double *values)
{
    values[0] = (double)i - 30;
}

static void nsgen_contrast(size_t i, double *values)
{
    values[0] = (8 + 2 * (double)i) / 10;
}

static void nsgen_brightness(size_t i, double *values)
{
    values[0] = 10 * ((double)i + 1);
}

static void nsgen_blur(size_t i, double *values)
{
    values[0] = (double)(i < 8 ? i : i + 1); /* DeepHunter's, but its bilateral one */
}

static void nsgen_style(size_t i, double *values)
{
    values[0] = (4 + 2 * (double)i) / 10;
}

static const px_mutation_entry entries[] = {
    {&px_mutation_cv_translation, "(-5,-5) (-5,0) (0,-5) (0,0) (5,0) (0,5) (5,5)", 7,
     nsgen_translation, NULL},
    {&px_mutation_cv_scale, "ratio 0.8 to 0.95 by 0.05, on white", 4, nsgen_scale, NULL},
    {&px_mutation_cv_rotation, "angle -30 to 29", 60, nsgen_rotation, NULL},
    {&px_mutation_cv_contrast, "gain 0.8 to 2 by 0.2", 7, nsgen_contrast, NULL},
    {&px_mutation_cv_brightness, "bias 10 to 70 by 10", 7, nsgen_brightness, NULL},
    {&px_mutation_cv_blur, "box 3, 4, 5, 6; gauss 3, 5, 7; median 3, 5; bilateral9", 10, nsgen_blur,
     NULL},
    {&px_mutation_style,
     "strength 0.4, 0.6, 0.8 of a picture drawn from the generated ones, or from --styles", 3,
     nsgen_style, NULL},
};

const px_mutation_set pxi_mutation_set_nsgen = {
    .entry = {.id = "nsgen",
              .title = "95 rules, without style transfer",
              .source = "NSGen and NLC"},
    .entries = entries,
    .entry_count = PX_LEN(entries) - 1, /* the last one is style */
    .by_rule = true,
};

const px_mutation_set pxi_mutation_set_nsgen_style = {
    .entry = {.id = "nsgen+style",
              .title = "98 rules, style by colour/texture statistics, not neural style",
              .source = "NSGen and NLC"},
    .entries = entries,
    .entry_count = PX_LEN(entries),
    .by_rule = true,
};
