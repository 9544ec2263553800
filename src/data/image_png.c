/* src/data/image_png.c - PNG files to pixels (libpng)
 *
 * What PIL's convert("L") or convert("RGB") would give: palettes become RGB, transparency is
 * dropped, gamma is ignored. 16-bit samples are scaled to 8 bits.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/image.h>

#include "base/memory.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct png_job {
    const uint8_t *at;
    size_t left;
    char why[120];
    pxi_image image; /* here rather than in locals, which a jump may lose */
    png_bytep *rows;
} png_job;

static void png_on_error(png_structp png, png_const_charp message)
{
    png_job *job = png_get_error_ptr(png);
    strncpy(job->why, message, sizeof job->why - 1);
    png_longjmp(png, 1);
}

static void png_on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void png_on_read(png_structp png, png_bytep to, size_t size)
{
    png_job *job = png_get_io_ptr(png);
    if (size > job->left)
        png_error(png, "truncated");
    memcpy(to, job->at, size);
    job->at += size;
    job->left -= size;
}

/* Everything that may jump. */
static px_status png_read(png_structp png, png_infop info, png_job *job, const char *name,
                          px_error *err)
{
    png_uint_32 width, height;
    int depth, color, interlace;
    png_read_info(png, info);
    png_get_IHDR(png, info, &width, &height, &depth, &color, &interlace, NULL, NULL);
    if (width > PXI_IMAGE_SIDE_MAX || height > PXI_IMAGE_SIDE_MAX ||
        (int64_t)width * height > PXI_IMAGE_PIXELS_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': a picture of %u x %u pixels is not accepted", name,
                       width, height);
    /* Deflate cannot make more than 1032 bytes of one. */
    if ((uint64_t)png_get_rowbytes(png, info) * height / 1032 > (uint64_t)job->left + 4096)
        return px_fail(err, PX_E_INPUT, "'%s': truncated: %u x %u pixels cannot be in %zu bytes",
                       name, width, height, job->left);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    if (color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    else if (!(color & PNG_COLOR_MASK_COLOR) && depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const int channels = color & PNG_COLOR_MASK_COLOR ? 3 : 1;
    const size_t stride = (size_t)width * (size_t)channels;
    if (png_get_rowbytes(png, info) != stride)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': this kind of PNG is not supported", name);
    PX_TRY(pxi_image_init(&job->image, (int)width, (int)height, channels, err));
    PX_TRY(PX_NEW(job->rows, height, err));
    for (size_t y = 0; y < height; y++)
        job->rows[y] = job->image.data + y * stride;
    png_read_image(png, job->rows);
    png_read_end(png, NULL);
    return PX_OK;
}

px_status pxi_png_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                         px_error *err)
{
    png_job job = {.at = bytes, .left = size};
    png_infop info = NULL;
    px_status status;
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, png_on_error, png_on_warning);
    if (!png || !(info = png_create_info_struct(png))) {
        png_destroy_read_struct(&png, NULL, NULL);
        return pxi_no_memory(err);
    }
    if (setjmp(png_jmpbuf(png))) {
        status = px_fail(err, PX_E_INPUT, "'%s': damaged PNG: %s", name, job.why);
    } else {
        png_set_read_fn(png, &job, png_on_read);
        png_set_user_limits(png, PXI_IMAGE_SIDE_MAX, PXI_IMAGE_SIDE_MAX);
        png_set_chunk_cache_max(png, 128);
        png_set_chunk_malloc_max(png, 8 << 20);
        png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
        status = png_read(png, info, &job, name, err);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(job.rows);
    if (status == PX_OK)
        *out = job.image;
    else
        pxi_image_done(&job.image);
    return status;
}
