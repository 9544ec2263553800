/* src/train/augment_picture.c - crop and flip, the augmentations of the residual-network paper
 *
 * He et al., Deep Residual Learning for Image Recognition, CVPR 2016, section 4.2: 4 pixels are
 * padded on each side, and a crop of the old size is taken from the padded image or its horizontal
 * flip. The padding is black (stored value 0), as torchvision's RandomCrop has it on images, so
 * after mean and std it need not be 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/augment.h"

#include <internal/rng.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static px_status picture_check(const char *name, const px_shape *shape, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    if (shape->rank != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "augmentation '%s' is for pictures, [channels,height,width]; the samples "
                       "are %s",
                       name, px_shape_text(shape, text));
    return PX_OK;
}

static px_status crop_parse(const char *argument, const px_shape *shape, pxi_augment_link *link,
                            px_error *err)
{
    enum { CROP_DEFAULT = 4 };
    PX_TRY(picture_check("crop", shape, err));
    link->pixels = CROP_DEFAULT;
    if (!argument)
        return PX_OK;
    char *end;
    const long value = strtol(argument, &end, 10);
    const int64_t side = shape->dim[1] < shape->dim[2] ? shape->dim[1] : shape->dim[2];
    if (end == argument || *end != '\0' || value < 1 || value > INT_MAX / 4 || value >= side)
        return px_fail(err, PX_E_USAGE,
                       "augmentation 'crop:%s': expected a border from 1 to %lld pixels", argument,
                       (long long)side - 1);
    link->pixels = value;
    return PX_OK;
}

/* A window of the padded picture is the picture moved by (down, right), black coming in. */
static void crop_move(float *plane, int64_t height, int64_t width, int64_t down, int64_t right)
{
    const size_t shift = (size_t)llabs(right), keep = (size_t)width - shift;
    for (int64_t i = 0; i < height; i++) {
        /* from the side that the picture moves to, so that nothing is overwritten unread */
        const int64_t y = down > 0 ? height - 1 - i : i, from = y - down;
        float *row = plane + y * width;
        if (from < 0 || from >= height) {
            memset(row, 0, (size_t)width * sizeof *row);
            continue;
        }
        const float *source = plane + from * width;
        memmove(row + (right > 0 ? shift : 0), source + (right < 0 ? shift : 0),
                keep * sizeof *row);
        memset(right > 0 ? row : row + keep, 0, shift * sizeof *row);
    }
}

static px_status crop_apply(const pxi_augment_link *link, const px_shape *shape, bool unit,
                            float *pixels, px_random *random, px_error *err)
{
    (void)unit;
    (void)err;
    const uint32_t places = (uint32_t)(2 * link->pixels + 1);
    const int64_t top = px_rng_below(random, places), left = px_rng_below(random, places);
    const int64_t height = shape->dim[1], width = shape->dim[2];
    for (int64_t c = 0; c < shape->dim[0]; c++)
        crop_move(pixels + c * height * width, height, width, link->pixels - top,
                  link->pixels - left);
    return PX_OK;
}

const pxi_augmentation pxi_augmentation_crop = {
    .choice =
        {.entry = {.id = "crop",
                   .title =
                       "pad by a black border (4 pixels wide), then cut out the old size anywhere"},
         .usage = "crop[:PIXELS]"},
    .parse = crop_parse,
    .apply = crop_apply,
};

static px_status flip_parse(const char *argument, const px_shape *shape, pxi_augment_link *link,
                            px_error *err)
{
    (void)link;
    PX_TRY(picture_check("flip", shape, err));
    if (argument)
        return px_fail(err, PX_E_USAGE, "augmentation 'flip:%s': flip takes no argument", argument);
    return PX_OK;
}

static px_status flip_apply(const pxi_augment_link *link, const px_shape *shape, bool unit,
                            float *pixels, px_random *random, px_error *err)
{
    (void)unit;
    (void)link;
    (void)err;
    if (!(px_rng_u32(random) >> 31))
        return PX_OK;
    const int64_t rows = shape->dim[0] * shape->dim[1], width = shape->dim[2];
    for (int64_t y = 0; y < rows; y++)
        for (float *a = pixels + y * width, *b = a + width - 1; a < b; a++, b--) {
            const float value = *a;
            *a = *b;
            *b = value;
        }
    return PX_OK;
}

const pxi_augmentation pxi_augmentation_flip = {
    .choice = {.entry = {.id = "flip", .title = "mirror left and right, half of the time"},
               .usage = "flip"},
    .parse = flip_parse,
    .apply = flip_apply,
};
