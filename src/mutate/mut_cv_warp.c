/* src/mutate/mut_cv_warp.c - DeepHunter's and NSGen's geometric mutations, as OpenCV does them
 *
 * Pixels to 1/32, zeros around, and a centre that is half a pixel off the true one: bit for bit
 * what their published code gives.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/plain_math.h"
#include "mutate/warp.h"
#include <internal/mutation.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const px_param translation_params[] = {
    PXI_DRAWN_INT("x", -PX_MUTATION_SIDE_MOST, PX_MUTATION_SIDE_MOST, "pixels to the right"),
    PXI_DRAWN_INT("y", -PX_MUTATION_SIDE_MOST, PX_MUTATION_SIDE_MOST, "pixels down"),
    PX_PARAM_END,
};

static px_status translation_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                   int width, int channels, px_error *err)
{
    (void)err;
    const int right = (int)v[0], down = (int)v[1];
    const size_t w = (size_t)width, h = (size_t)height;
    memset(out, 0, w * h * (size_t)channels);
    if (abs(right) >= width || abs(down) >= height)
        return PX_OK;
    const size_t keep = w - (size_t)abs(right);
    const size_t from = right < 0 ? (size_t)-right : 0, to = right < 0 ? 0 : (size_t)right;
    for (int c = 0; c < channels; c++)
        for (int y = PX_MAX(0, down); y < PX_MIN(height, height + down); y++)
            memcpy(out + ((size_t)c * h + (size_t)y) * w + to,
                   in + ((size_t)c * h + (size_t)(y - down)) * w + from, keep);
    return PX_OK;
}

static void translation_source(const double *v, int height, int width, double map[6])
{
    (void)height, (void)width;
    const double m[6] = {1, 0, -v[0], 0, 1, -v[1]};
    memcpy(map, m, sizeof m);
}

const px_mutation px_mutation_cv_translation = {
    .entry = {.id = "cv-translation",
              .title = "moved by whole pixels, black coming in",
              .params = translation_params},
    .group = PX_MUTATION_AFFINE,
    .apply = translation_apply,
    .source = translation_source,
};

static const char *const canvases[] = {"black", "white", NULL};

static const px_param scale_params[] = {
    PXI_DRAWN_REAL("ratio", 0.05, 8, "content grows by this factor"),
    PXI_DRAWN_CHOICE("canvas", canvases, "what a smaller picture is laid on"),
    PX_PARAM_END,
};

/* Lays a plane on the middle of another, or cuts its middle out. A row or column that fits goes
 * where OpenCV's users put it: on the floor of half the room, in from half of both lengths. */
static void scale_place(const uint8_t *from, int from_height, int from_width, uint8_t *to,
                        int height, int width)
{
    const int skip_y = from_height > height ? from_height / 2 - height / 2 : 0;
    const int skip_x = from_width > width ? from_width / 2 - width / 2 : 0;
    const int room_y = from_height > height ? 0 : (height - from_height) / 2;
    const int room_x = from_width > width ? 0 : (width - from_width) / 2;
    const int rows = PX_MIN(height, from_height), columns = PX_MIN(width, from_width);
    for (int y = 0; y < rows; y++)
        memcpy(to + (size_t)(y + room_y) * (size_t)width + room_x,
               from + (size_t)(y + skip_y) * (size_t)from_width + skip_x, (size_t)columns);
}

static px_status scale_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const int tall = pxi_cv_resized(v[0], height), wide = pxi_cv_resized(v[0], width);
    const size_t plane = (size_t)height * (size_t)width;
    uint8_t *resized = pxi_calloc((size_t)tall, (size_t)wide);
    if (!resized)
        return pxi_no_memory_for(err, "a picture of %d x %d", wide, tall);
    memset(out, v[1] == 0.0 ? 0 : 255, plane * (size_t)channels);
    px_status status = PX_OK;
    for (int c = 0; c < channels && status == PX_OK; c++) {
        status = pxi_cv_resize(v[0], in + (size_t)c * plane, height, width, resized, err);
        if (status == PX_OK)
            scale_place(resized, tall, wide, out + (size_t)c * plane, height, width);
    }
    free(resized);
    return status;
}

/* Where the first pixel of a side comes from: what scale_place() does, then resizing back. */
static double scale_first(double ratio, int length)
{
    const int resized = pxi_cv_resized(ratio, length);
    const int skip = resized > length ? resized / 2 - length / 2 : 0;
    const int room = resized > length ? 0 : (length - resized) / 2;
    return (skip - room + 0.5) / ratio - 0.5;
}

static void scale_source(const double *v, int height, int width, double map[6])
{
    const double m[6] = {1.0 / v[0], 0,          scale_first(v[0], width),
                         0,          1.0 / v[0], scale_first(v[0], height)};
    memcpy(map, m, sizeof m);
}

const px_mutation px_mutation_cv_scale = {
    .entry = {.id = "cv-scale", .title = "grown or shrunk, cubic", .params = scale_params},
    .group = PX_MUTATION_AFFINE,
    .apply = scale_apply,
    .source = scale_source,
};

static const px_param shear_params[] = {
    PXI_DRAWN_REAL("factor", -8, 8, "each row goes left by this share of its number"),
    PX_PARAM_END,
};

static px_status shear_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err)
{
    const double m[6] = {1, -v[0], 0, 0, 1, 0};
    return pxi_cv_warp_apply(m, in, out, height, width, channels, err);
}

static void shear_source(const double *v, int height, int width, double map[6])
{
    (void)height, (void)width;
    const double m[6] = {1, v[0], 0, 0, 1, 0};
    memcpy(map, m, sizeof m);
}

const px_mutation px_mutation_cv_shear = {
    .entry = {.id = "cv-shear",
              .title = "slanted, the top row staying, black coming in",
              .params = shear_params},
    .group = PX_MUTATION_AFFINE,
    .apply = shear_apply,
    .source = shear_source,
};

static const px_param rotation_params[] = {
    PXI_DRAWN_REAL("angle", -360, 360, "degrees, counter-clockwise"),
    PX_PARAM_END,
};

static void rotation_map(const double *v, int height, int width, double m[6])
{
    const double x = 0.5 * width, y = 0.5 * height;
    double b, a;
    pxi_sin_cos_degrees(v[0], &b, &a);
    const double to[6] = {a, b, (1 - a) * x - b * y, -b, a, b * x + (1 - a) * y};
    memcpy(m, to, sizeof to);
}

static px_status rotation_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                                int width, int channels, px_error *err)
{
    double m[6];
    rotation_map(v, height, width, m);
    return pxi_cv_warp_apply(m, in, out, height, width, channels, err);
}

static void rotation_source(const double *v, int height, int width, double map[6])
{
    double m[6];
    rotation_map(v, height, width, m);
    pxi_map_invert(m, map);
}

const px_mutation px_mutation_cv_rotation = {
    .entry = {.id = "cv-rotation",
              .title = "turned about (width/2, height/2), black coming in",
              .params = rotation_params},
    .group = PX_MUTATION_AFFINE,
    .apply = rotation_apply,
    .source = rotation_source,
};
