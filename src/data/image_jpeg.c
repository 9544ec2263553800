/* src/data/image_jpeg.c - JPEG files to pixels (libjpeg)
 *
 * libjpeg's defaults, which are PIL's: the accurate integer DCT and smooth chroma upsampling. CMYK
 * is taken as Adobe writes it (inverted) and turned to RGB as PIL does.
 *
 * libjpeg carries on after damage and calls it a warning. What means lost pixels is an error here;
 * harmless oddities that real cameras write (extra bytes between markers) are not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/image.h>

#include "base/memory.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* A progressive file may ask for the whole picture to be refined again and again. */
#define JPEG_SCANS_MAX 500

typedef struct jpeg_job {
    struct jpeg_error_mgr errors; /* first: libjpeg hands us a pointer to it */
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    char why[JMSG_LENGTH_MAX];
    pxi_image image; /* here rather than in locals, which a jump may lose */
    uint8_t *cmyk;   /* one row */
} jpeg_job;

static void jpeg_on_error(j_common_ptr info)
{
    jpeg_job *job = (jpeg_job *)info->err;
    info->err->format_message(info, job->why);
    longjmp(job->jump, 1);
}

static void jpeg_on_message(j_common_ptr info, int level)
{
    if (level >= 0)
        return;
    switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
        jpeg_on_error(info);
        break;
    default:
        break;
    }
}

static void jpeg_on_progress(j_common_ptr info)
{
    if (!info->is_decompressor || ((j_decompress_ptr)info)->input_scan_number <= JPEG_SCANS_MAX)
        return;
    jpeg_job *job = (jpeg_job *)info->err;
    snprintf(job->why, sizeof job->why, "more than %d scans", JPEG_SCANS_MAX);
    longjmp(job->jump, 1);
}

static void row_from_cmyk(const uint8_t *cmyk, uint8_t *rgb, size_t width)
{
    for (size_t i = 0; i < width; i++, cmyk += 4, rgb += 3)
        for (size_t c = 0; c < 3; c++) { /* inverted CMYK: 255 is no ink */
            const unsigned light = cmyk[3], ink = 255u - cmyk[c];
            const unsigned product = ink * light + 128u;
            const unsigned shade = ((product >> 8) + product) >> 8;
            rgb[c] = (uint8_t)(light > shade ? light - shade : 0);
        }
}

/* Everything that may jump. */
static px_status jpeg_read(struct jpeg_decompress_struct *info, jpeg_job *job, const uint8_t *bytes,
                           size_t size, const char *name, px_error *err)
{
    jpeg_mem_src(info, bytes, size);
    jpeg_read_header(info, TRUE);
    if (info->image_width > PXI_IMAGE_SIDE_MAX || info->image_height > PXI_IMAGE_SIDE_MAX ||
        (int64_t)info->image_width * info->image_height > PXI_IMAGE_PIXELS_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': a picture of %u x %u pixels is not accepted", name,
                       info->image_width, info->image_height);
    /* A block of 64 pixels takes at least one bit. */
    if ((uint64_t)info->image_width * info->image_height / 1024 > (uint64_t)size)
        return px_fail(err, PX_E_INPUT, "'%s': truncated: %u x %u pixels cannot be in %zu bytes",
                       name, info->image_width, info->image_height, size);
    if (info->num_components == 1)
        info->out_color_space = JCS_GRAYSCALE;
    else if (info->num_components == 3)
        info->out_color_space = JCS_RGB;
    else if (info->num_components == 4)
        info->out_color_space = JCS_CMYK;
    else
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': JPEG with %d components is not supported",
                       name, info->num_components);
    const int channels = info->num_components == 1 ? 1 : 3;
    const size_t width = info->image_width;
    PX_TRY(pxi_image_init(&job->image, (int)width, (int)info->image_height, channels, err));
    if (info->num_components == 4 && !(job->cmyk = pxi_calloc(width, 4)))
        return pxi_no_memory(err);
    jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
        uint8_t *row = job->image.data + info->output_scanline * width * (size_t)channels;
        uint8_t *target = job->cmyk ? job->cmyk : row;
        if (jpeg_read_scanlines(info, &target, 1) != 1)
            return px_fail(err, PX_E_INPUT, "'%s': truncated JPEG", name);
        if (job->cmyk)
            row_from_cmyk(job->cmyk, row, width);
    }
    jpeg_finish_decompress(info);
    return PX_OK;
}

px_status pxi_jpeg_decode(const uint8_t *bytes, size_t size, const char *name, pxi_image *out,
                          px_error *err)
{
    jpeg_job job = {.progress.progress_monitor = jpeg_on_progress};
    struct jpeg_decompress_struct info = {.err = jpeg_std_error(&job.errors)};
    px_status status;
    job.errors.error_exit = jpeg_on_error;
    job.errors.emit_message = jpeg_on_message;
    if (setjmp(job.jump)) {
        status = px_fail(err, PX_E_INPUT, "'%s': damaged JPEG: %s", name, job.why);
    } else {
        jpeg_create_decompress(&info);
        info.progress = &job.progress;
        info.mem->max_memory_to_use = 0; /* no temporary files */
        status = jpeg_read(&info, &job, bytes, size, name, err);
    }
    jpeg_destroy_decompress(&info);
    free(job.cmyk);
    if (status == PX_OK)
        *out = job.image;
    else
        pxi_image_done(&job.image);
    return status;
}
