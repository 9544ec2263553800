/* src/mutate/set_nss.c - the seven benign mutations of NSS
 *
 * Table 4 of the paper: one is drawn uniformly, then its parameter uniformly from its range. Signs
 * are random, as in ATS.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>
#include <internal/rng.h>

#include "base/memory.h"

static double nss_between(px_random *random, double least, double most)
{
    return least + (most - least) * px_rng_u01(random);
}

static double nss_either_way(px_random *random, double least, double most)
{
    const double size = nss_between(random, least, most);
    return px_rng_below(random, 2) ? -size : size;
}

static void nss_shift(px_random *random, double *values)
{
    values[0] = nss_either_way(random, 0.05, 0.15);
    values[1] = nss_either_way(random, 0.05, 0.15);
}

static void nss_rotation(px_random *random, double *values)
{
    values[0] = nss_either_way(random, 5, 25);
}

static void nss_scale(px_random *random, double *values)
{
    values[0] = nss_between(random, 0.8, 1.2);
}

static void nss_shear(px_random *random, double *values)
{
    values[0] = nss_either_way(random, 15, 30);
}

static void nss_level(px_random *random, double *values)
{
    values[0] = nss_between(random, 0.5, 1.5);
}

static void nss_blur(px_random *random, double *values)
{
    values[0] = 2.0 + px_rng_below(random, 6);
}

static const px_mutation_entry entries[] = {
    {&px_mutation_shift, "x and y 0.05 to 0.15, either way", 0, NULL, nss_shift},
    {&px_mutation_rotation, "angle 5 to 25, either way", 0, NULL, nss_rotation},
    {&px_mutation_scale, "ratio 0.8 to 1.2", 0, NULL, nss_scale},
    {&px_mutation_shear, "angle 15 to 30, either way", 0, NULL, nss_shear},
    {&px_mutation_contrast, "gain 0.5 to 1.5", 0, NULL, nss_level},
    {&px_mutation_brightness, "factor 0.5 to 1.5", 0, NULL, nss_level},
    {&px_mutation_blur, "size 2 to 7", 0, NULL, nss_blur},
};

const px_mutation_set pxi_mutation_set_nss = {
    .entry = {.id = "nss", .title = "seven benign mutations", .source = "NSS, Table 4"},
    .entries = entries,
    .entry_count = PX_LEN(entries),
};
