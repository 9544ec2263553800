/* src/data/image.c - 8-bit pictures: memory, grey and colour, planes, resizing */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/image.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

px_status pxi_image_init(pxi_image *image, int width, int height, int channels, px_error *err)
{
    if (width < 1 || height < 1 || width > PXI_IMAGE_SIDE_MAX || height > PXI_IMAGE_SIDE_MAX ||
        (int64_t)width * height > PXI_IMAGE_PIXELS_MAX)
        return px_fail(err, PX_E_INPUT, "a picture of %d x %d pixels is not accepted", width,
                       height);
    uint8_t *data = pxi_calloc((size_t)width * (size_t)height, (size_t)channels);
    if (!data)
        return pxi_no_memory_for(err, "a picture of %d x %d pixels", width, height);
    *image = (pxi_image){width, height, channels, data};
    return PX_OK;
}

void pxi_image_done(pxi_image *image)
{
    free(image->data);
    *image = (pxi_image){0};
}

bool pxi_image_is_name(const char *path)
{
    static const char *const suffixes[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < PX_LEN(suffixes); i++)
        if (strcasecmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

px_status pxi_image_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                           px_error *err)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        return pxi_png_decode(bytes, size, name, out, err);
    if (size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff)
        return pxi_jpeg_decode(bytes, size, name, out, err);
    return px_fail(err, PX_E_INPUT, "'%s': neither PNG nor JPEG%s", name,
                   size == 0 ? ": the file is empty" : "");
}

static void image_replace(pxi_image *image, pxi_image *by)
{
    pxi_image_done(image);
    *image = *by;
}

px_status pxi_image_set_channels(pxi_image *image, int channels, px_error *err)
{
    if (image->channels == channels)
        return PX_OK;
    if (image->channels + channels != 4)
        return px_fail(err, PX_E_MISMATCH, "a picture of %d channels cannot become one of %d",
                       image->channels, channels);
    pxi_image made;
    PX_TRY(pxi_image_init(&made, image->width, image->height, channels, err));
    const size_t count = (size_t)image->width * (size_t)image->height;
    const uint8_t *from = image->data;
    if (channels == 3)
        for (size_t i = 0; i < count; i++)
            memset(made.data + 3 * i, from[i], 3);
    else /* ITU-R 601-2 luma as PIL's convert("L") computes it */
        for (size_t i = 0; i < count; i++, from += 3)
            made.data[i] =
                (uint8_t)((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
    image_replace(image, &made);
    return PX_OK;
}

void pxi_image_to_planes(const pxi_image *image, float *planes)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    const size_t channels = (size_t)image->channels;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < count; i++)
            planes[c * count + i] = (float)image->data[i * channels + c];
}

void pxi_image_from_planes(pxi_image *image, const float *planes)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    const size_t channels = (size_t)image->channels;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < count; i++) {
            const float v = planes[c * count + i];
            image->data[i * channels + c] = (uint8_t)(v > 0 ? (v < 255 ? v + 0.5f : 255) : 0);
        }
}

/* --- resizing -------------------------------------------------------------------------------- */

/* PIL (src/libImaging/Resample.c) resizes rows first, then columns, each with its own fixed-point
 * weights; results are rounded to 8 bits between the two. */
enum { RESIZE_BITS = 32 - 8 - 2 };

typedef struct resize_axis {
    int taps;        /* weights per output position */
    int *first;      /* first input position of each output position */
    int *count;      /* how many of them are used */
    int32_t *weight; /* [out][taps] */
} resize_axis;

static void axis_done(resize_axis *axis)
{
    free(axis->first);
    free(axis->count);
    free(axis->weight);
}

static double triangle(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static px_status axis_init(resize_axis *axis, int in, int out, px_error *err)
{
    const double scale = (double)in / out, widen = scale < 1.0 ? 1.0 : scale;
    const double support = widen; /* the triangle's is 1 */
    const int taps = (int)ceil(support) * 2 + 1;
    *axis = (resize_axis){.taps = taps,
                          .first = pxi_calloc((size_t)out, sizeof *axis->first),
                          .count = pxi_calloc((size_t)out, sizeof *axis->count),
                          .weight = pxi_calloc((size_t)out * (size_t)taps, sizeof *axis->weight)};
    double *row = pxi_calloc((size_t)taps, sizeof *row);
    if (!axis->first || !axis->count || !axis->weight || !row) {
        free(row);
        return pxi_no_memory(err);
    }
    for (int o = 0; o < out; o++) {
        const double centre = (o + 0.5) * scale;
        const int low = PX_MAX((int)(centre - support + 0.5), 0);
        const int count = PX_MIN((int)(centre + support + 0.5), in) - low;
        double sum = 0.0;
        for (int i = 0; i < count; i++) {
            row[i] = triangle((i + low - centre + 0.5) * (1.0 / widen));
            sum += row[i];
        }
        for (int i = 0; i < count; i++) {
            const double w = sum != 0.0 ? row[i] / sum : row[i];
            axis->weight[(size_t)o * (size_t)taps + (size_t)i] =
                (int32_t)(0.5 + w * (1 << RESIZE_BITS));
        }
        axis->first[o] = low;
        axis->count[o] = count;
    }
    free(row);
    return PX_OK;
}

/* One output value: a weighted sum of `count` values that lie `step` apart. */
static uint8_t axis_sum(const uint8_t *from, size_t step, const int32_t *weight, int count)
{
    int32_t sum = 1 << (RESIZE_BITS - 1);
    for (int i = 0; i < count; i++)
        sum += from[(size_t)i * step] * weight[i];
    sum >>= RESIZE_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static px_status resize_rows(pxi_image *image, int width, px_error *err)
{
    resize_axis axis = {0};
    pxi_image made = {0};
    px_status status = axis_init(&axis, image->width, width, err);
    PX_THEN(status, pxi_image_init(&made, width, image->height, image->channels, err));
    if (status != PX_OK)
        goto done;
    const size_t channels = (size_t)image->channels;
    uint8_t *to = made.data;
    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = image->data + (size_t)y * (size_t)image->width * channels;
        for (int x = 0; x < width; x++) {
            const uint8_t *from = row + (size_t)axis.first[x] * channels;
            const int32_t *weight = axis.weight + (size_t)x * (size_t)axis.taps;
            for (size_t c = 0; c < channels; c++)
                *to++ = axis_sum(from + c, channels, weight, axis.count[x]);
        }
    }
    image_replace(image, &made);
done:
    axis_done(&axis);
    return status;
}

static px_status resize_columns(pxi_image *image, int height, px_error *err)
{
    resize_axis axis = {0};
    pxi_image made = {0};
    px_status status = axis_init(&axis, image->height, height, err);
    PX_THEN(status, pxi_image_init(&made, image->width, height, image->channels, err));
    if (status != PX_OK)
        goto done;
    const size_t stride = (size_t)image->width * (size_t)image->channels;
    for (int y = 0; y < height; y++) {
        const uint8_t *from = image->data + (size_t)axis.first[y] * stride;
        const int32_t *weight = axis.weight + (size_t)y * (size_t)axis.taps;
        uint8_t *to = made.data + (size_t)y * stride;
        for (size_t i = 0; i < stride; i++)
            to[i] = axis_sum(from + i, stride, weight, axis.count[y]);
    }
    image_replace(image, &made);
done:
    axis_done(&axis);
    return status;
}

px_status pxi_image_resize(pxi_image *image, int width, int height, px_error *err)
{
    if (width < 1 || height < 1 || width > PXI_IMAGE_SIDE_MAX || height > PXI_IMAGE_SIDE_MAX)
        return px_fail(err, PX_E_USAGE, "pictures cannot be resized to %d x %d", width, height);
    if (image->width != width)
        PX_TRY(resize_rows(image, width, err));
    if (image->height != height)
        PX_TRY(resize_columns(image, height, err));
    return PX_OK;
}
