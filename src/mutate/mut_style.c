/* src/mutate/mut_style.c - a picture in the colours and textures of another one
 *
 * Statistics, no neural style: NLC and NSGen draw from style transfer networks, which need weights
 * that are not here. In the basis l, a, b of style.h the picture gets the mean and covariance of
 * the style (y = L_s L_c^-1 (x - m_c) + m_s with the Cholesky factors of both), then each band of
 * its Laplacian pyramid the style's standard deviation; and of that and the picture itself the
 * weighted mean. Grey pictures have only l, in levels of grey.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/style.h"
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/mutate.h>
#include <math.h>
#include <stdlib.h>

/* Variances below are noise (JPEG's, mostly), which is not to be blown up to a style's size. They
 * are added to both sides. */
#define STYLE_COLOUR_FLOOR 4.0
#define STYLE_BAND_FLOOR 1.0
#define STYLE_GAIN_MOST 4.0 /* of a band, either way */

static const char *const banks[] = {"generated", "own", NULL};

static const px_param style_params[] = {
    PXI_DRAWN_REAL("strength", 0, 1, "weight of the restyled picture"),
    PXI_DRAWN_INT("image", 0, PX_STYLES_MOST - 1, "number of the style picture"),
    PXI_DRAWN_CHOICE("of", banks, "the generated pictures, or those of --styles"),
    PX_PARAM_END,
};

static px_status style_find(const px_drawn *drawn, const px_style **out, px_error *err)
{
    const size_t image = (size_t)drawn->values[PXI_STYLE_IMAGE];
    const bool own = drawn->values[PXI_STYLE_OF] != 0.0;
    if (own && !drawn->styles)
        return px_fail(err, PX_E_USAGE,
                       "'of=own' is a style of pictures that are not at hand; give them with "
                       "--styles");
    *out = own ? px_styles_get(drawn->styles, image) : px_style_generated(image);
    if (*out)
        return PX_OK;
    return px_fail(err, PX_E_USAGE, "style: 'image=%zu': there are %zu style pictures, from 0 on",
                   image, own ? px_styles_count(drawn->styles) : (size_t)PX_STYLE_GENERATED);
}

/* Lower triangle of the Cholesky factor of a covariance with the floor on its diagonal; hostile
 * numbers may not be a covariance, so no pivot goes below the floor. */
static void style_factor(const double covariance[6], double factor[6])
{
    double a[6];
    for (int k = 0; k < 6; k++)
        a[k] = covariance[k] + (k == 0 || k == 2 || k == 5 ? STYLE_COLOUR_FLOOR : 0.0);
    factor[0] = sqrt(PX_MAX(a[0], STYLE_COLOUR_FLOOR));
    factor[1] = a[1] / factor[0];
    factor[2] = sqrt(PX_MAX(a[2] - factor[1] * factor[1], STYLE_COLOUR_FLOOR));
    factor[3] = a[3] / factor[0];
    factor[4] = (a[4] - factor[3] * factor[1]) / factor[2];
    const double rest = a[5] - factor[3] * factor[3] - factor[4] * factor[4];
    factor[5] = sqrt(PX_MAX(rest, STYLE_COLOUR_FLOOR));
}

/* The lower triangle of S C^-1. */
static void style_map(const double s[6], const double c[6], double map[6])
{
    map[5] = s[5] / c[5];
    map[4] = (s[4] - map[5] * c[4]) / c[2];
    map[3] = (s[3] - map[4] * c[1] - map[5] * c[3]) / c[0];
    map[2] = s[2] / c[2];
    map[1] = (s[1] - map[2] * c[1]) / c[0];
    map[0] = s[0] / c[0];
}

PXI_WIDE static void style_recolour(const double map[6], const double from[3], const double to[3],
                                    double *lab, size_t count)
{
    const double f0 = from[0], f1 = from[1], f2 = from[2], t0 = to[0], t1 = to[1], t2 = to[2];
    const double m0 = map[0], m1 = map[1], m2 = map[2], m3 = map[3], m4 = map[4], m5 = map[5];
    for (size_t i = 0; i < count; i++) {
        const double l = lab[i] - f0, a = lab[count + i] - f1, b = lab[2 * count + i] - f2;
        lab[i] = m0 * l + t0;
        lab[count + i] = m1 * l + m2 * a + t1;
        lab[2 * count + i] = m3 * l + m4 * a + m5 * b + t2;
    }
}

/* Gives the bands of a plane their deviations: those of channel c of the style, times `scale`. */
static void style_retexture(const px_style *style, int c, double scale, pxi_pyramid *pyramid,
                            double *plane)
{
    double gain[PX_STYLE_BANDS];
    pxi_pyramid_split(pyramid, plane);
    for (int k = 0; k < PX_STYLE_BANDS; k++) {
        const double is = pxi_pyramid_deviation(pyramid, k), wanted = scale * style->band[k][c];
        const double g = sqrt((wanted * wanted + STYLE_BAND_FLOOR) / (is * is + STYLE_BAND_FLOOR));
        gain[k] = PX_MIN(PX_MAX(g, 1.0 / STYLE_GAIN_MOST), STYLE_GAIN_MOST);
    }
    pxi_pyramid_join(pyramid, gain, plane);
}

PXI_WIDE static void style_blend_colours(double strength, const double *lab, const uint8_t *in,
                                         uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double l = lab[i] / PXI_SQRT_3, a = lab[count + i] / PXI_SQRT_2;
        const double b = lab[2 * count + i] / PXI_SQRT_6;
        const double rgb[3] = {l + a + b, l - 2.0 * b, l - a + b};
        for (size_t c = 0; c < 3; c++) {
            const double v = in[c * count + i];
            out[c * count + i] = pxi_level(v + strength * (rgb[c] - v));
        }
    }
}

static void style_colours(const px_style *style, double strength, const uint8_t *in, uint8_t *out,
                          size_t count, pxi_pyramid *pyramid, double *lab)
{
    double mean[3], covariance[6], from[6], to[6], map[6];
    pxi_style_colours(in, count, mean, covariance);
    style_factor(covariance, from);
    style_factor(style->covariance, to);
    style_map(to, from, map);
    pxi_style_basis(in, count, lab);
    style_recolour(map, mean, style->mean, lab, count);
    for (int c = 0; c < 3; c++)
        style_retexture(style, c, 1.0, pyramid, lab + (size_t)c * count);
    style_blend_colours(strength, lab, in, out, count);
}

static void style_greys(const px_style *style, double strength, const uint8_t *in, uint8_t *out,
                        size_t count, pxi_pyramid *pyramid, double *plane)
{
    double mean, variance;
    pxi_style_grey(in, count, &mean, &variance);
    const double gain = sqrt((style->covariance[0] / 3.0 + STYLE_COLOUR_FLOOR) /
                             (PX_MAX(variance, 0.0) + STYLE_COLOUR_FLOOR));
    const double to = style->mean[0] / PXI_SQRT_3;
    for (size_t i = 0; i < count; i++)
        plane[i] = gain * (in[i] - mean) + to;
    style_retexture(style, 0, 1.0 / PXI_SQRT_3, pyramid, plane);
    for (size_t i = 0; i < count; i++)
        out[i] = pxi_level(in[i] + strength * (plane[i] - in[i]));
}

static px_status style_apply(const px_drawn *drawn, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const double strength = drawn->values[PXI_STYLE_STRENGTH];
    const size_t count = (size_t)height * (size_t)width, planes = channels == 3 ? 3 : 1;
    const px_style *style = NULL;
    pxi_pyramid pyramid;
    PX_TRY(style_find(drawn, &style, err));
    double *memory =
        pxi_alloc_aligned((planes * count + pxi_pyramid_room(height, width)) * sizeof *memory);
    if (!memory)
        return pxi_no_memory(err);
    pxi_pyramid_init(&pyramid, height, width, memory + planes * count);
    if (channels == 3)
        style_colours(style, strength, in, out, count, &pyramid, memory);
    for (size_t c = 0; c < (size_t)channels && channels != 3; c++)
        style_greys(style, strength, in + c * count, out + c * count, count, &pyramid, memory);
    free(memory);
    return PX_OK;
}

const px_mutation px_mutation_style = {
    .entry = {.id = "style",
              .title =
                  "colours and textures of another picture (colour/texture statistics, not neural "
                  "style)",
              .params = style_params},
    .group = PX_MUTATION_PIXEL,
    .differentiable = false,
    .apply_drawn = style_apply,
};
