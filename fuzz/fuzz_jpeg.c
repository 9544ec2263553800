/* fuzz/fuzz_jpeg.c - JPEG files: what is accepted has all its pixels */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/image.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pxi_image image = {0};
    px_error err = {0};
    if (pxi_jpeg_decode(bytes, size, "fuzz", &image, &err) != PX_OK) {
        if (image.data || (err.status != PX_E_NOMEM && !strstr(err.message, "'fuzz'")))
            abort();
        return 0;
    }
    if (image.width < 1 || image.height < 1 || (image.channels != 1 && image.channels != 3))
        abort();
    if (pxi_image_set_channels(&image, 4 - image.channels, &err) != PX_OK ||
        pxi_image_resize(&image, 7, 5, &err) != PX_OK)
        abort();
    pxi_image_done(&image);
    return 0;
}
