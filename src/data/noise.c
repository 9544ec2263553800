/* src/data/noise.c - inputs without meaning: every value uniform over 0..255
 *
 * "noise:CxHxW" or "noise:CxHxW:SEED". What coverage such inputs reach is what there is to beat.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/source.h>

#include "base/memory.h"

#include <internal/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOISE_COUNT = 1000000, NOISE_MOST = 1 << 14 };

typedef struct noise_source {
    pxi_source base;
    uint64_t seed;
} noise_source;

static px_status noise_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    (void)err;
    const noise_source *noise = (const noise_source *)source;
    const int64_t count = px_shape_count(&source->shape);
    px_random random = px_rng(noise->seed, PX_RNG_NOISE_INPUT, (uint32_t)index, 0);
    for (int64_t i = 0; i < count; i += 4) {
        const uint32_t bits = px_rng_u32(&random);
        for (int64_t k = 0; k < 4 && i + k < count; k++)
            out[i + k] = (float)(bits >> 8 * k & 0xff);
    }
    return PX_OK;
}

static void noise_free(pxi_source *source)
{
    free(source);
}

static const pxi_source_type noise_type = {.values = noise_values, .free = noise_free};

bool pxi_noise_is_name(const char *text)
{
    return strncmp(text, "noise:", 6) == 0 || strcmp(text, "noise") == 0;
}

px_status pxi_noise_open(const char *text, const char *split, pxi_source **out, px_error *err)
{
    long long dim[3] = {0};
    unsigned long long seed = 0;
    int used = 0;
    bool good = text[5] == ':' &&
                sscanf(text + 6, "%5lldx%5lldx%5lld%n", &dim[0], &dim[1], &dim[2], &used) == 3;
    const char *rest = text + 6 + used;
    if (good && *rest == ':') {
        char *end;
        seed = strtoull(rest + 1, &end, 10);
        good = rest[1] >= '0' && rest[1] <= '9' && *end == '\0';
    } else {
        good = good && *rest == '\0';
    }
    for (int d = 0; good && d < 3; d++)
        good = dim[d] >= 1 && dim[d] <= NOISE_MOST;
    if (!good)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s': expected noise:CxHxW or noise:CxHxW:SEED, as in noise:3x32x32",
                       text);
    if (split)
        return pxi_split_fail(text, NULL, 0, split, err);
    noise_source *noise = NULL;
    PX_TRY(PX_NEW(noise, 1, err));
    noise->base = (pxi_source){.type = &noise_type,
                               .count = NOISE_COUNT,
                               .is_8bit = true,
                               .shape = {.rank = 3, .dim = {dim[0], dim[1], dim[2]}},
                               .kind = "noise"};
    noise->seed = seed;
    *out = &noise->base;
    return PX_OK;
}
