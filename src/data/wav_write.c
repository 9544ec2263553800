/* src/data/wav_write.c - recordings to WAV files: mono, PCM of 16 bits */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/audio.h>

#include "base/file.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WAV_HEAD = 44 };

static void put_u16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value & 255);
    to[1] = (uint8_t)(value >> 8 & 255);
}

static void put_u32(uint8_t *to, uint32_t value)
{
    put_u16(to, value & 65535);
    put_u16(to + 2, value >> 16);
}

/* Halves away from zero; NaN is silence. */
static int16_t wav_level(float sample)
{
    const double v = (double)sample * 32768.0;
    if (!(v > -32768.0))
        return v <= -32768.0 ? INT16_MIN : 0;
    return v >= 32767.0 ? INT16_MAX : (int16_t)(v < 0.0 ? v - 0.5 : v + 0.5);
}

px_status px_wav_save(const char *path, int sample_rate, const float *samples, size_t count,
                      px_error *err)
{
    if (count > (UINT32_MAX - WAV_HEAD) / 2)
        return px_fail(err, PX_E_USAGE, "'%s': %zu samples do not fit a WAV file", path, count);
    const uint32_t size = (uint32_t)(2 * count);
    uint8_t *bytes = pxi_calloc(WAV_HEAD + (size_t)size, 1);
    if (!bytes)
        return pxi_no_memory_for(err, "%zu samples", count);
    memcpy(bytes, "RIFF....WAVEfmt ....", 20);
    put_u32(bytes + 4, size + WAV_HEAD - 8);
    put_u32(bytes + 16, 16);
    put_u16(bytes + 20, 1); /* PCM */
    put_u16(bytes + 22, 1); /* channel */
    put_u32(bytes + 24, (uint32_t)sample_rate);
    put_u32(bytes + 28, 2 * (uint32_t)sample_rate);
    put_u16(bytes + 32, 2); /* bytes of a sample */
    put_u16(bytes + 34, 16);
    memcpy(bytes + 36, "data", 4);
    put_u32(bytes + 40, size);
    for (size_t i = 0; i < count; i++)
        put_u16(bytes + WAV_HEAD + 2 * i, (uint16_t)wav_level(samples[i]));
    const px_status status = pxi_file_write(path, bytes, WAV_HEAD + (size_t)size, err);
    free(bytes);
    return status;
}
