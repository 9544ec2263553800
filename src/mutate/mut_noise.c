/* src/mutate/mut_noise.c - DeepHunter's pixel change and noise
 *
 * What they put in follows from a seed that is a parameter, so a drawn one can be repeated.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/plain_math.h"
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

#define NOISE_SEED PXI_DRAWN_INT("seed", 0, UINT32_MAX, "of the random numbers it uses")

static px_random noise_random(double seed)
{
    return px_rng((uint64_t)seed, PX_RNG_MUTATE_NOISE, 0, 0);
}

static const px_param pixel_change_params[] = {
    PXI_DRAWN_INT("count", 0, 1000000, "values to change, drawn with replacement"),
    NOISE_SEED,
    PX_PARAM_END,
};

/* A place among `size` values, which may be more than 2^32. */
static size_t noise_place(px_random *random, size_t size)
{
    if (size <= UINT32_MAX)
        return px_rng_below(random, (uint32_t)size);
    const uint64_t high = px_rng_u32(random);
    return (size_t)((high << 32 | px_rng_u32(random)) % size);
}

static px_status pixel_change_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                    int width, int channels, px_error *err)
{
    (void)err;
    const size_t size = (size_t)height * (size_t)width * (size_t)channels;
    px_random random = noise_random(v[1]);
    memcpy(out, in, size);
    for (int i = 0; i < (int)v[0]; i++) {
        const size_t at = noise_place(&random, size);
        out[at] = (uint8_t)px_rng_below(&random, 256);
    }
    return PX_OK;
}

const px_mutation px_mutation_pixel_change = {
    .entry = {.id = "pixel-change",
              .title = "a few values replaced by random ones",
              .params = pixel_change_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = pixel_change_apply,
};

enum { NOISE_GAUSSIAN, NOISE_SALT, NOISE_SPECKLE };
static const char *const noises[] = {"gaussian", "salt-pepper", "speckle", NULL};
static const char *const overs[] = {"clip", "wrap", NULL};

static const px_param noise_params[] = {
    PXI_DRAWN_CHOICE("kind", noises,
                     "N(0, 0.1) added; 0.4 % of values become 1 or 0; v + v N(0, 1)"),
    NOISE_SEED,
    PXI_DRAWN_CHOICE(
        "over", overs,
        "beyond 0..255: clipped, or cut off and wrapped round, as DeepHunter's code does"),
    PX_PARAM_END,
};

/* What numpy makes of a float that is cast to a byte: the whole part, modulo 256. */
static uint8_t noise_wrap(double v)
{
    return (uint8_t)(long long)v;
}

static void noise_salt(px_random *random, uint8_t *out, size_t size)
{
    const size_t each = (size + 499) / 500; /* half of 0.4 %, rounded up */
    for (size_t i = 0; i < each; i++)
        out[noise_place(random, size)] = 1;
    for (size_t i = 0; i < each; i++)
        out[noise_place(random, size)] = 0;
}

static px_status noise_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    (void)err;
    const size_t size = (size_t)height * (size_t)width * (size_t)channels;
    px_random random = noise_random(v[1]);
    const bool speckle = (int)v[0] == NOISE_SPECKLE, wrap = v[2] != 0.0;
    const double sigma = sqrt(0.1);
    memcpy(out, in, size);
    if ((int)v[0] == NOISE_SALT) {
        noise_salt(&random, out, size);
        return PX_OK;
    }
    for (size_t first = 0; first < size; first += PXI_NORMALS) {
        const size_t end = PX_MIN(size, first + PXI_NORMALS);
        double normals[PXI_NORMALS];
        pxi_normals(&random, normals, end - first);
        for (size_t i = first; i < end; i++) {
            const double n = normals[i - first], share = speckle ? in[i] : sigma;
            const double value = in[i] + share * n;
            out[i] = wrap ? noise_wrap(value) : pxi_level(value);
        }
    }
    return PX_OK;
}

const px_mutation px_mutation_noise = {
    .entry = {.id = "noise",
              .title = "Gaussian noise, salt and pepper, or speckle",
              .params = noise_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = noise_apply,
};

/* --- TensorFuzz ------------------------------------------------------------------------------ */

static const px_param white_noise_params[] = {
    PXI_DRAWN_REAL("sigma", 0, 10, "of the noise, as a share of the range 0..255"),
    PXI_DRAWN_REAL("constraint", 0, 1,
                   "how far a value may get from what the chain began with; 1: anywhere"),
    NOISE_SEED,
    PX_PARAM_END,
};

/* What the links of a chain add up to is cut to +-constraint, then the value to 0..255: in that
 * order, as TensorFuzz does. The bound in levels is cut to whole ones, so that rounding cannot
 * leave it. */
static px_status white_noise_near(const double *v, const uint8_t *origin, const uint8_t *in,
                                  uint8_t *out, int height, int width, int channels, px_error *err)
{
    (void)err;
    const size_t size = (size_t)height * (size_t)width * (size_t)channels;
    const double sigma = 255.0 * v[0];
    const int bound = (int)(255.0 * v[1] + 0x1p-30);
    px_random random = noise_random(v[2]);
    for (size_t first = 0; first < size; first += PXI_NORMALS) {
        const size_t end = PX_MIN(size, first + PXI_NORMALS);
        double normals[PXI_NORMALS];
        pxi_normals(&random, normals, end - first);
        for (size_t i = first; i < end; i++) {
            const int level = pxi_level(in[i] + sigma * normals[i - first]);
            const int least = origin[i] - bound, most = origin[i] + bound;
            out[i] = (uint8_t)(level < least ? least : level > most ? most : level);
        }
    }
    return PX_OK;
}

static px_status white_noise_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                   int width, int channels, px_error *err)
{
    return white_noise_near(v, in, in, out, height, width, channels, err);
}

const px_mutation px_mutation_white_noise = {
    .entry = {.id = "white-noise",
              .title = "Gaussian noise on every value, bounded along a chain",
              .params = white_noise_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = white_noise_apply,
    .apply_near = white_noise_near,
};
