/* fuzz/fuzz_flac.c - FLAC files: what is accepted has as many samples as it says */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/recording.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_error err = {0};
    pxi_audio_info info = {0};
    pxi_clip clip = {0};
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    const px_status head = pxi_flac_head(&view, "fuzz", &info, &err);
    const px_status status = pxi_flac_decode(bytes, size, "fuzz", &clip, &err);
    if (status != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
        return 0;
    }
    if (head != PX_OK || clip.count < 1 || (info.count >= 0 && clip.count != info.count))
        abort();
    pxi_clip_done(&clip);
    return 0;
}
