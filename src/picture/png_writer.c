/* src/picture/png_writer.c - pixels to PNG (libpng) */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/picture.h>

#include "base/file.h"
#include "base/memory.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct png_sink { /* not in locals, which a jump may lose */
    uint8_t *bytes;
    size_t size, capacity;
    char why[120];
} png_sink;

static void sink_on_error(png_structp png, png_const_charp message)
{
    png_sink *sink = png_get_error_ptr(png);
    strncpy(sink->why, message, sizeof sink->why - 1);
    png_longjmp(png, 1);
}

static void sink_on_write(png_structp png, png_bytep bytes, size_t size)
{
    png_sink *sink = png_get_io_ptr(png);
    if (size > SIZE_MAX - sink->size ||
        pxi_grow(&sink->bytes, &sink->capacity, sink->size + size, 1))
        png_error(png, px_status_text(PX_E_NOMEM));
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
}

static void sink_on_flush(png_structp png)
{
    (void)png;
}

px_status px_png_encode(int width, int height, int channels, const uint8_t *pixels, uint8_t **out,
                        size_t *size, px_error *err)
{
    png_sink sink = {0};
    if (width < 1 || height < 1 || (channels != 1 && channels != 3))
        return px_fail(err, PX_E_USAGE,
                       "a picture of %d x %d pixels and %d channels cannot be written as PNG",
                       width, height, channels);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, sink_on_error, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return pxi_no_memory(err);
    }
    px_status status = PX_OK;
    if (setjmp(png_jmpbuf(png))) {
        status = px_fail(err, PX_E_NOMEM, "cannot encode a PNG: %s", sink.why);
    } else {
        png_set_write_fn(png, &sink, sink_on_write, sink_on_flush);
        png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
                     channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        for (int y = 0; y < height; y++)
            png_write_row(png, pixels + (size_t)y * (size_t)width * (size_t)channels);
        png_write_end(png, info);
    }
    png_destroy_write_struct(&png, &info);
    if (status != PX_OK) {
        free(sink.bytes);
        return status;
    }
    *out = sink.bytes;
    *size = sink.size;
    return PX_OK;
}

px_status px_png_save(const char *path, int width, int height, int channels, const uint8_t *pixels,
                      px_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    PX_TRY(px_png_encode(width, height, channels, pixels, &bytes, &size, err));
    const px_status status = pxi_file_write(path, bytes, size, err);
    free(bytes);
    return status;
}
