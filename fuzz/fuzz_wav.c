/* fuzz/fuzz_wav.c - WAV files: what is accepted has samples and can go through the front end */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/recording.h>

#include <internal/audio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static px_frontend *front;
    px_error err = {0};
    px_audio audio = px_audio_default();
    audio.frames = 3;
    if (!front && (px_audio_settle(&audio, 8000, &err) != PX_OK ||
                   px_frontend_new(&audio, &front, &err) != PX_OK))
        abort();
    pxi_audio_info info = {0};
    pxi_clip clip = {0};
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    const px_status head = pxi_wav_head(&view, "fuzz", &info, &err);
    const px_status status = pxi_wav_decode(bytes, size, "fuzz", &clip, &err);
    if (head != status || (status != PX_OK && !strstr(err.message, "'fuzz'")))
        abort();
    if (status != PX_OK)
        return 0;
    float features[3 * 64];
    if (clip.count < 1 || clip.count != info.count || clip.rate != info.rate ||
        px_frontend_run(front, clip.samples, (size_t)(clip.count < 500 ? clip.count : 500),
                        features, &err) != PX_OK)
        abort();
    (void)pxi_clip_flaws(&clip);
    pxi_clip_done(&clip);
    return 0;
}
