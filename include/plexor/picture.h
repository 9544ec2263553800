/* include/plexor/picture.h - pictures out
 *
 *     px_png_save("sheet.png", width, height, 3, pixels, &err);
 */
#ifndef PLEXOR_PICTURE_H
#define PLEXOR_PICTURE_H

#include <plexor/error.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* Writes 8-bit pixels, row by row without gaps, channels together: 1 channel is grey, 3 are RGB.
 * The file appears whole or not at all; the same pixels give the same bytes. */
PX_API px_status px_png_save(const char *path, int width, int height, int channels,
                             const uint8_t *pixels, px_error *err);

/* The same into memory, which the caller frees. */
PX_API px_status px_png_encode(int width, int height, int channels, const uint8_t *pixels,
                               uint8_t **out, size_t *size, px_error *err);

PX_END_DECLS
#endif
