/* src/mutate/mut_warp.c - shift, rotation, scale, shear: bilinear, about the picture's centre
 *
 * The geometric mutations of NSS (Table 4). The paper leaves fill and interpolation open; these are
 * those of ATS, whose ranges it uses: the nearest pixel of the picture, bilinear.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/plain_math.h"
#include "mutate/warp.h"
#include <internal/mutation.h>

static const char *const fills[] = {"edge", "black", NULL};

#define WARP_FILL \
    PXI_DRAWN_CHOICE("fill", fills, "what comes in from outside: the nearest pixel, or 0")

static int warp_fill(double choice)
{
    return choice == 0.0 ? PXI_FILL_EDGE : 0;
}

static const px_param shift_params[] = {
    PXI_DRAWN_REAL("x", -1, 1, "to the right, as a share of the width"),
    PXI_DRAWN_REAL("y", -1, 1, "down, as a share of the height"),
    WARP_FILL,
    PX_PARAM_END,
};

static pxi_warp shift_warp(const double *v, int height, int width)
{
    return (pxi_warp){.a = {{1, 0}, {0, 1}}, .t = {-v[1] * height, -v[0] * width}};
}

static px_status shift_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const pxi_warp warp = shift_warp(v, height, width);
    return pxi_warp_apply(&warp, warp_fill(v[2]), in, out, height, width, channels, err);
}

static void shift_source(const double *v, int height, int width, double map[6])
{
    const pxi_warp warp = shift_warp(v, height, width);
    pxi_warp_map(&warp, height, width, map);
}

const px_mutation px_mutation_shift = {
    .entry = {.id = "shift", .title = "moved across and down", .params = shift_params},
    .group = PX_MUTATION_AFFINE,
    .apply = shift_apply,
    .source = shift_source,
};

static const px_param rotation_params[] = {
    PXI_DRAWN_REAL("angle", -360, 360, "degrees, clockwise"),
    WARP_FILL,
    PX_PARAM_END,
};

static pxi_warp rotation_warp(const double *v)
{
    double s, c;
    pxi_sin_cos_degrees(v[0], &s, &c);
    return (pxi_warp){.a = {{c, -s}, {s, c}}};
}

static px_status rotation_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                int width, int channels, px_error *err)
{
    const pxi_warp warp = rotation_warp(v);
    return pxi_warp_apply(&warp, warp_fill(v[1]), in, out, height, width, channels, err);
}

static void rotation_source(const double *v, int height, int width, double map[6])
{
    const pxi_warp warp = rotation_warp(v);
    pxi_warp_map(&warp, height, width, map);
}

const px_mutation px_mutation_rotation = {
    .entry = {.id = "rotation", .title = "turned about the centre", .params = rotation_params},
    .group = PX_MUTATION_AFFINE,
    .apply = rotation_apply,
    .source = rotation_source,
};

static const px_param scale_params[] = {
    PXI_DRAWN_REAL("ratio", 0.05, 20, "content grows by this factor"),
    WARP_FILL,
    PX_PARAM_END,
};

static pxi_warp scale_warp(const double *v)
{
    return (pxi_warp){.a = {{1.0 / v[0], 0}, {0, 1.0 / v[0]}}};
}

static px_status scale_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const pxi_warp warp = scale_warp(v);
    return pxi_warp_apply(&warp, warp_fill(v[1]), in, out, height, width, channels, err);
}

static void scale_source(const double *v, int height, int width, double map[6])
{
    const pxi_warp warp = scale_warp(v);
    pxi_warp_map(&warp, height, width, map);
}

const px_mutation px_mutation_scale = {
    .entry = {.id = "scale", .title = "grown or shrunk about the centre", .params = scale_params},
    .group = PX_MUTATION_AFFINE,
    .apply = scale_apply,
    .source = scale_source,
};

static const px_param shear_params[] = {
    PXI_DRAWN_REAL("angle", -80, 80, "degrees, as Keras has it"),
    WARP_FILL,
    PX_PARAM_END,
};

static pxi_warp shear_warp(const double *v)
{
    double s, c;
    pxi_sin_cos_degrees(v[0], &s, &c);
    return (pxi_warp){.a = {{1, -s}, {0, c}}};
}

static px_status shear_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const pxi_warp warp = shear_warp(v);
    return pxi_warp_apply(&warp, warp_fill(v[1]), in, out, height, width, channels, err);
}

static void shear_source(const double *v, int height, int width, double map[6])
{
    const pxi_warp warp = shear_warp(v);
    pxi_warp_map(&warp, height, width, map);
}

const px_mutation px_mutation_shear = {
    .entry = {.id = "shear", .title = "slanted about the centre", .params = shear_params},
    .group = PX_MUTATION_AFFINE,
    .apply = shear_apply,
    .source = shear_source,
};
