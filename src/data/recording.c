/* src/data/recording.c - recordings, whatever the format */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include <internal/recording.h>

#include <math.h>
#include <stdlib.h>

void pxi_clip_done(pxi_clip *clip)
{
    free(clip->samples);
    *clip = (pxi_clip){0};
}

bool pxi_audio_is_name(const char *path)
{
    return pxi_has_suffix(path, ".wav") || pxi_has_suffix(path, ".wave") ||
           pxi_has_suffix(path, ".flac");
}

px_status pxi_audio_check(const pxi_audio_info *info, const char *name, px_error *err)
{
    if (info->rate < PXI_AUDIO_RATE_MIN || info->rate > PXI_AUDIO_RATE_MAX)
        return px_fail(err, PX_E_INPUT,
                       "'%s': a sample rate of %d Hz is not accepted; from %d to %d are", name,
                       info->rate, PXI_AUDIO_RATE_MIN, PXI_AUDIO_RATE_MAX);
    if (info->channels < 1 || info->channels > PXI_AUDIO_CHANNELS_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': %d channels are not accepted", name, info->channels);
    if (info->count == 0)
        return px_fail(err, PX_E_INPUT, "'%s': holds no samples", name);
    if (info->count > PXI_AUDIO_SAMPLES_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': %lld samples are too many; at most %lld are read",
                       name, (long long)info->count, (long long)PXI_AUDIO_SAMPLES_MAX);
    return PX_OK;
}

static px_status audio_is_flac(const pxi_bytes *bytes, const char *name, bool *out, px_error *err)
{
    uint8_t first[4] = {0};
    *out = false;
    if (bytes->size < sizeof first)
        return PX_OK;
    PX_TRY(pxi_bytes_read(bytes, 0, first, sizeof first, name, err));
    *out = pxi_flac_is_magic(first);
    return PX_OK;
}

px_status pxi_audio_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out,
                         px_error *err)
{
    bool flac;
    PX_TRY(audio_is_flac(bytes, name, &flac, err));
    return flac ? pxi_flac_head(bytes, name, out, err) : pxi_wav_head(bytes, name, out, err);
}

px_status pxi_audio_decode(const pxi_bytes *bytes, const char *name, pxi_clip *out, px_error *err)
{
    bool flac;
    const uint8_t *data = pxi_bytes_data(bytes);
    PX_TRY(audio_is_flac(bytes, name, &flac, err));
    return flac ? pxi_flac_decode(data, (size_t)bytes->size, name, out, err)
                : pxi_wav_decode(data, (size_t)bytes->size, name, out, err);
}

int pxi_clip_flaws(const pxi_clip *clip)
{
    enum { RUN = 3 };
    static const float silence = 1e-4f, full = 0.9999f; /* 32767 of 32768 is beyond */
    float peak = 0.0f;
    int run = 0, flaws = 0;
    for (int64_t i = 0; i < clip->count; i++) {
        const float v = clip->samples[i], size = fabsf(v);
        peak = size > peak ? size : peak;
        const bool same = run == 0 || (v > 0.0f) == (clip->samples[i - 1] > 0.0f);
        run = size < full ? 0 : same ? run + 1 : 1;
        if (run >= RUN)
            flaws |= PXI_CLIP_CLIPPED;
    }
    return peak <= silence ? flaws | PXI_CLIP_SILENT : flaws;
}
