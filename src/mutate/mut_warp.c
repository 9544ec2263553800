/* src/mutate/mut_warp.c - shift, rotation, scale, shear: bilinear, about the picture's centre
 *
 * The geometric mutations of NSS (Table 4). The paper leaves fill and interpolation open; these are
 * those of ATS, whose ranges it uses: the nearest pixel of the picture, bilinear.
 */
#include "mutate/mutation.h"
#include "mutate/plain_math.h"
#include "mutate/warp.h"

#include "base/memory.h"

static const char *const fills[] = {"edge", "black", NULL};

#define WARP_FILL                                                                        \
    {                                                                                    \
        "fill", "what comes in from outside: the nearest pixel, or 0", 0, 1, true, fills \
    }

static int warp_fill(double choice)
{
    return choice == 0.0 ? PXI_FILL_EDGE : 0;
}

static const px_mutation_param shift_params[] = {
    {"x", "to the right, as a share of the width", -1, 1, false, NULL},
    {"y", "down, as a share of the height", -1, 1, false, NULL},
    WARP_FILL,
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
    .id = "shift",
    .title = "moved across and down",
    .group = PX_MUTATION_AFFINE,
    .params = shift_params,
    .param_count = PX_LEN(shift_params),
    .apply = shift_apply,
    .source = shift_source,
};

static const px_mutation_param rotation_params[] = {
    {"angle", "degrees, clockwise", -360, 360, false, NULL},
    WARP_FILL,
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
    .id = "rotation",
    .title = "turned about the centre",
    .group = PX_MUTATION_AFFINE,
    .params = rotation_params,
    .param_count = PX_LEN(rotation_params),
    .apply = rotation_apply,
    .source = rotation_source,
};

static const px_mutation_param scale_params[] = {
    {"ratio", "content grows by this factor", 0.05, 20, false, NULL},
    WARP_FILL,
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
    .id = "scale",
    .title = "grown or shrunk about the centre",
    .group = PX_MUTATION_AFFINE,
    .params = scale_params,
    .param_count = PX_LEN(scale_params),
    .apply = scale_apply,
    .source = scale_source,
};

static const px_mutation_param shear_params[] = {
    {"angle", "degrees, as Keras has it", -80, 80, false, NULL},
    WARP_FILL,
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
    .id = "shear",
    .title = "slanted about the centre",
    .group = PX_MUTATION_AFFINE,
    .params = shear_params,
    .param_count = PX_LEN(shear_params),
    .apply = shear_apply,
    .source = shear_source,
};
