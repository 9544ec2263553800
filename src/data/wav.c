/* src/data/wav.c - WAV files (RIFF): PCM of 8, 16, 24 and 32 bits, and float
 *
 * The head is a list of chunks; `fmt ` says what samples are, `data` has them, all others are
 * stepped over. The sizes of RIFF itself are not believed: recorders that were cut off leave them
 * at 0. A `data` chunk that goes beyond the end of the file is an error, unless its size is the one
 * that programs write into a pipe, where they cannot come back to it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/recording.h>

#include "base/memory.h"

#include <string.h>

enum { WAV_PCM = 1, WAV_FLOAT = 3, WAV_EXTENSIBLE = 0xfffe };
enum { WAV_CHUNKS_MAX = 4096 };

typedef struct wav_head {
    pxi_audio_info info;
    int format;       /* WAV_PCM or WAV_FLOAT */
    int sample_bytes; /* of one channel */
    uint64_t start;   /* of the samples */
} wav_head;

static uint32_t wav_u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t wav_u32(const uint8_t *p)
{
    return wav_u16(p) | wav_u16(p + 2) << 16;
}

static const char *wav_codec(uint32_t tag)
{
    static const struct {
        uint32_t tag;
        const char *name;
    } codecs[] = {{2, "Microsoft ADPCM"}, {6, "A-law"},     {7, "mu-law"},     {0x11, "IMA ADPCM"},
                  {0x31, "GSM"},          {0x50, "MPEG"},   {0x55, "MP3"},     {0xff, "AAC"},
                  {0x161, "WMA"},         {0x2000, "AC-3"}, {0x674f, "Vorbis"}};
    for (size_t i = 0; i < PX_LEN(codecs); i++)
        if (codecs[i].tag == tag)
            return codecs[i].name;
    return "unknown";
}

/* `size` bytes of a `fmt ` chunk, of which at most 40 matter. */
static px_status wav_format(const uint8_t *fmt, size_t size, const char *name, wav_head *head,
                            px_error *err)
{
    static const uint8_t rest[14] = {0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
                                     0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71};
    if (size < 16)
        return px_fail(err, PX_E_INPUT, "'%s': its format chunk has %zu bytes, not 16", name, size);
    uint32_t tag = wav_u16(fmt);
    const uint32_t channels = wav_u16(fmt + 2), rate = wav_u32(fmt + 4);
    const uint32_t block = wav_u16(fmt + 12), bits = wav_u16(fmt + 14);
    if (tag == WAV_EXTENSIBLE) {
        if (size < 40 || memcmp(fmt + 26, rest, sizeof rest) != 0)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "'%s': an extensible format that is neither PCM nor float", name);
        tag = wav_u16(fmt + 24);
    }
    if (tag != WAV_PCM && tag != WAV_FLOAT)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': its samples are compressed (%s, format %u); save it as PCM", name,
                       wav_codec(tag), tag);
    if (rate > PXI_AUDIO_RATE_MAX || channels > PXI_AUDIO_CHANNELS_MAX || !channels)
        return px_fail(err, PX_E_INPUT, "'%s': %u channels at %u Hz are not accepted", name,
                       channels, rate);
    const bool known = tag == WAV_FLOAT ? bits == 32 || bits == 64
                                        : bits == 8 || bits == 16 || bits == 24 || bits == 32;
    if (!known)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': %s samples of %u bits are not read", name,
                       tag == WAV_FLOAT ? "float" : "PCM", bits);
    if (block != channels * (bits / 8))
        return px_fail(err, PX_E_INPUT,
                       "'%s': a block of %u bytes does not hold %u channels of %u bits", name,
                       block, channels, bits);
    head->format = (int)tag;
    head->sample_bytes = (int)bits / 8;
    head->info.rate = (int)rate;
    head->info.channels = (int)channels;
    return PX_OK;
}

static px_status wav_samples(const pxi_bytes *bytes, uint64_t at, uint32_t size, const char *name,
                             wav_head *head, px_error *err)
{
    const uint64_t left = bytes->size - at,
                   frame = (uint64_t)(head->sample_bytes * head->info.channels);
    if (!head->format)
        return px_fail(err, PX_E_INPUT, "'%s': its samples come before their format", name);
    const uint64_t used = size == UINT32_MAX ? left : size;
    if (used > left)
        return px_fail(err, PX_E_INPUT, "'%s': truncated: of %u bytes of samples %llu are there",
                       name, size, (unsigned long long)left);
    head->start = at;
    head->info.count = (int64_t)(used / frame);
    return pxi_audio_check(&head->info, name, err);
}

static px_status wav_parse(const pxi_bytes *bytes, const char *name, wav_head *head, px_error *err)
{
    uint8_t first[12], chunk[8], fmt[40];
    *head = (wav_head){.format = 0};
    if (bytes->size < sizeof first)
        return px_fail(err, PX_E_INPUT, "'%s': %llu bytes are not a WAV file", name,
                       (unsigned long long)bytes->size);
    PX_TRY(pxi_bytes_read(bytes, 0, first, sizeof first, name, err));
    if (memcmp(first, "RIFF", 4) != 0 || memcmp(first + 8, "WAVE", 4) != 0)
        return px_fail(err, PX_E_INPUT, "'%s': not a WAV or FLAC file", name);
    uint64_t at = sizeof first;
    for (int i = 0; i < WAV_CHUNKS_MAX && bytes->size - at >= sizeof chunk; i++) {
        PX_TRY(pxi_bytes_read(bytes, at, chunk, sizeof chunk, name, err));
        const uint32_t size = wav_u32(chunk + 4);
        at += sizeof chunk;
        if (memcmp(chunk, "data", 4) == 0)
            return wav_samples(bytes, at, size, name, head, err);
        if (size > bytes->size - at)
            return px_fail(err, PX_E_INPUT, "'%s': truncated: a chunk of %u bytes does not end",
                           name, size);
        if (memcmp(chunk, "fmt ", 4) == 0) {
            const size_t taken = PX_MIN(size, sizeof fmt);
            PX_TRY(pxi_bytes_read(bytes, at, fmt, taken, name, err));
            PX_TRY(wav_format(fmt, taken, name, head, err));
        }
        at = PX_MIN(at + size + (size & 1), bytes->size); /* chunks begin at even places */
    }
    return px_fail(err, PX_E_INPUT, "'%s': a WAV file without samples", name);
}

px_status pxi_wav_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out, px_error *err)
{
    wav_head head;
    PX_TRY(wav_parse(bytes, name, &head, err));
    *out = head.info;
    return PX_OK;
}

/* --- samples --------------------------------------------------------------------------------- */

static double wav_value(const uint8_t *p, int format, int bytes)
{
    if (format == WAV_FLOAT && bytes == 4) {
        float v;
        const uint32_t bits = wav_u32(p);
        memcpy(&v, &bits, sizeof v);
        return (double)v;
    }
    if (format == WAV_FLOAT) {
        double v;
        const uint64_t bits = (uint64_t)wav_u32(p) | (uint64_t)wav_u32(p + 4) << 32;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    switch (bytes) {
    case 1: /* the only one without a sign */
        return ((double)p[0] - 128.0) / 128.0;
    case 2:
        return (double)(int16_t)wav_u16(p) / 32768.0;
    case 3:
        return (double)(int32_t)((wav_u16(p) | (uint32_t)p[2] << 16) << 8) / 2147483648.0;
    default:
        return (double)(int32_t)wav_u32(p) / 2147483648.0;
    }
}

px_status pxi_wav_decode(const uint8_t *bytes, size_t size, const char *name, pxi_clip *out,
                         px_error *err)
{
    wav_head head;
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    PX_TRY(wav_parse(&view, name, &head, err));
    const int channels = head.info.channels;
    const uint8_t *at = bytes + head.start;
    float *samples = pxi_calloc((size_t)head.info.count, sizeof *samples);
    if (!samples)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", name);
    for (int64_t i = 0; i < head.info.count; i++) {
        double sum = 0.0;
        for (int c = 0; c < channels; c++, at += head.sample_bytes)
            sum += wav_value(at, head.format, head.sample_bytes);
        samples[i] = (float)(sum / channels);
    }
    *out = (pxi_clip){head.info.rate, head.info.count, samples};
    return PX_OK;
}
