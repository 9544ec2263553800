/* src/data/image_jpeg_write.c - pixels to JPEG in memory (libjpeg)
 *
 * libjpeg's defaults: baseline, the accurate integer DCT, standard tables, 4:2:0 for colour.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/image.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct write_job {
    struct jpeg_error_mgr errors; /* first: libjpeg hands us a pointer to it */
    jmp_buf jump;
    char why[JMSG_LENGTH_MAX];
    unsigned char *bytes; /* here rather than in locals, which a jump may lose */
    unsigned long size;
} write_job;

static void write_on_error(j_common_ptr info)
{
    write_job *job = (write_job *)info->err;
    info->err->format_message(info, job->why);
    longjmp(job->jump, 1);
}

static void write_all(struct jpeg_compress_struct *info, write_job *job, const pxi_image *image,
                      int quality)
{
    jpeg_mem_dest(info, &job->bytes, &job->size);
    info->image_width = (JDIMENSION)image->width;
    info->image_height = (JDIMENSION)image->height;
    info->input_components = image->channels;
    info->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, /* force_baseline= */ TRUE);
    jpeg_start_compress(info, TRUE);
    while (info->next_scanline < info->image_height) {
        uint8_t *row = image->data +
                       (size_t)info->next_scanline * (size_t)image->width * (size_t)image->channels;
        jpeg_write_scanlines(info, &row, 1);
    }
    jpeg_finish_compress(info);
}

px_status pxi_jpeg_encode(const pxi_image *image, int quality, uint8_t **bytes, size_t *size,
                          px_error *err)
{
    write_job job = {.bytes = NULL};
    struct jpeg_compress_struct info = {.err = jpeg_std_error(&job.errors)};
    px_status status = PX_OK;
    job.errors.error_exit = write_on_error;
    if (setjmp(job.jump)) {
        status = px_fail(err, PX_E_NOMEM, "cannot compress a picture of %d x %d: %s", image->width,
                         image->height, job.why);
    } else {
        jpeg_create_compress(&info);
        write_all(&info, &job, image, quality);
    }
    jpeg_destroy_compress(&info);
    if (status != PX_OK) {
        free(job.bytes);
        return status;
    }
    *bytes = job.bytes;
    *size = job.size;
    return PX_OK;
}
