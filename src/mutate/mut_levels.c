/* src/mutate/mut_levels.c - contrast and brightness: every level goes to another level
 *
 * NSS's two (Table 4), DeepHunter's and NSGen's two. NSS calls contrast a gain and brightness a
 * bias with the same range around 1; a bias of that size means nothing in any unit, so brightness
 * is the factor and contrast spreads values about their channel's mean.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

static void levels_map(const uint8_t table[256], const uint8_t *in, uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = table[in[i]];
}

static void levels_gain(double factor, uint8_t table[256])
{
    for (int v = 0; v < 256; v++)
        table[v] = pxi_level(factor * v);
}

static px_status gain_apply(const double *v, const uint8_t *in, uint8_t *out, int height, int width,
                            int channels, px_error *err)
{
    (void)err;
    uint8_t table[256];
    levels_gain(v[0], table);
    levels_map(table, in, out, (size_t)height * (size_t)width * (size_t)channels);
    return PX_OK;
}

static const char *const pivots[] = {"mean", "black", NULL};

static const px_param contrast_params[] = {
    PXI_DRAWN_REAL("gain", 0, 100, "factor of the distance to the pivot"),
    PXI_DRAWN_CHOICE("about", pivots, "the pivot: the channel's mean, or 0"),
    PX_PARAM_END,
};

PXI_WIDE static uint64_t levels_sum(const uint8_t *values, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static px_status contrast_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                int width, int channels, px_error *err)
{
    const size_t plane = (size_t)height * (size_t)width;
    uint8_t table[256];
    if (v[1] != 0.0)
        return gain_apply(v, in, out, height, width, channels, err);
    for (int c = 0; c < channels; c++, in += plane, out += plane) {
        const double mean = (double)levels_sum(in, plane) / (double)plane;
        for (int level = 0; level < 256; level++)
            table[level] = pxi_level(mean + v[0] * (level - mean));
        levels_map(table, in, out, plane);
    }
    return PX_OK;
}

const px_mutation px_mutation_contrast = {
    .entry = {.id = "contrast",
              .title = "values spread about each channel's mean",
              .params = contrast_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = contrast_apply,
};

static const px_param brightness_params[] = {
    PXI_DRAWN_REAL("factor", 0, 100, "of every value"),
    PX_PARAM_END,
};

const px_mutation px_mutation_brightness = {
    .entry = {.id = "brightness", .title = "values times a factor", .params = brightness_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = gain_apply,
};

static const px_param cv_contrast_params[] = {
    PXI_DRAWN_REAL("gain", 0, 100, "factor of every value"),
    PX_PARAM_END,
};

const px_mutation px_mutation_cv_contrast = {
    .entry = {.id = "cv-contrast",
              .title = "values times a factor (DeepHunter, NSGen)",
              .params = cv_contrast_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = gain_apply,
};

static const char *const sums[] = {"clip", "abs", "first", NULL};

static const px_param cv_brightness_params[] = {
    PXI_DRAWN_REAL("bias", -255, 255, "added to every value"),
    PXI_DRAWN_CHOICE(
        "as", sums,
        "sums below 0: 0, or without their sign; 'first' clips and leaves all channels but the "
        "first alone, as DeepHunter's code does to colour pictures"),
    PX_PARAM_END,
};

static px_status bias_apply(const double *v, const uint8_t *in, uint8_t *out, int height, int width,
                            int channels, px_error *err)
{
    (void)err;
    const size_t plane = (size_t)height * (size_t)width;
    uint8_t table[256];
    for (int level = 0; level < 256; level++) {
        const double sum = level + v[0];
        table[level] = pxi_level(v[1] == 1.0 && sum < 0.0 ? -sum : sum);
    }
    for (int c = 0; c < channels; c++, in += plane, out += plane) {
        if (v[1] == 2.0 && c == 1)
            for (int level = 0; level < 256; level++)
                table[level] = (uint8_t)level;
        levels_map(table, in, out, plane);
    }
    return PX_OK;
}

const px_mutation px_mutation_cv_brightness = {
    .entry = {.id = "cv-brightness",
              .title = "one number added to every value (DeepHunter, NSGen)",
              .params = cv_brightness_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = true,
    .apply = bias_apply,
};
