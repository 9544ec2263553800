/* include/internal/image.h - 8-bit pictures: decoding, grey and colour, size */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_IMAGE_H
#define PXI_INTERNAL_IMAGE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

/* Limits that hold before anything is allocated. */
#define PXI_IMAGE_SIDE_MAX 65500
#define PXI_IMAGE_PIXELS_MAX ((int64_t)1 << 28)
#define PXI_IMAGE_FILE_MAX ((uint64_t)1 << 28)

typedef struct pxi_image {       /* {0} is empty */
    int width, height, channels; /* 1: grey, 3: RGB */
    uint8_t *data;               /* rows of pixels, channels together (HWC) */
} pxi_image;

px_status pxi_image_init(pxi_image *image, int width, int height, int channels, px_error *err);
void pxi_image_done(pxi_image *image);

bool pxi_image_is_name(const char *path); /* ends with .png, .jpg or .jpeg */

/* PNG or JPEG, told apart by the first bytes. `name` is for messages. */
px_status pxi_image_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                           px_error *err);
px_status pxi_png_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                         px_error *err);
px_status pxi_jpeg_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                          px_error *err);
/* Baseline, 4:2:0 for colour, quality 1..100 as libjpeg counts it. The caller frees *bytes. */
px_status pxi_jpeg_encode(const pxi_image *image, int quality, uint8_t **bytes, size_t *size,
                          px_error *err);

/* Both work in place: the image gets new memory where it must. */
px_status pxi_image_set_channels(pxi_image *image, int channels, px_error *err);
/* PIL's Image.resize(size, BILINEAR), bit for bit: antialiased when shrinking. */
px_status pxi_image_resize(pxi_image *image, int width, int height, px_error *err);

/* Rows of pixels to planes of floats (CHW), and back with rounding to 0..255. */
void pxi_image_to_planes(const pxi_image *image, float *planes);
void pxi_image_from_planes(pxi_image *image, const float *planes);

#endif
