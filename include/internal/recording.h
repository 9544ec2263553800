/* include/internal/recording.h - recordings: decoding to one channel of floats, and changing the
 * sample rate */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_RECORDING_H
#define PXI_INTERNAL_RECORDING_H

#include <internal/bytes.h>

/* Limits that hold before anything is allocated. */
#define PXI_AUDIO_FILE_MAX ((uint64_t)1 << 29)
#define PXI_AUDIO_SAMPLES_MAX ((int64_t)1 << 26) /* per channel */
#define PXI_AUDIO_CHANNELS_MAX 64
#define PXI_AUDIO_RATE_MIN 100
#define PXI_AUDIO_RATE_MAX 768000

typedef struct pxi_audio_info { /* what a file's head says */
    int rate, channels;
    int64_t count; /* samples per channel; -1: the head does not say */
} pxi_audio_info;

typedef struct pxi_clip { /* {0} is empty */
    int rate;
    int64_t count;
    float *samples; /* the mean of all channels; full scale is -1 to 1 */
} pxi_clip;
void pxi_clip_done(pxi_clip *clip);

bool pxi_audio_is_name(const char *path); /* ends with .wav, .wave or .flac */

/* WAV or FLAC, told apart by the first bytes. `name` is for messages. */
px_status pxi_audio_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out,
                         px_error *err);
/* `bytes` are in memory: pxi_bytes_load(). */
px_status pxi_audio_decode(const pxi_bytes *bytes, const char *name, pxi_clip *out, px_error *err);

bool pxi_flac_is_magic(const uint8_t first[4]);
px_status pxi_flac_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out,
                        px_error *err);
px_status pxi_flac_decode(const uint8_t *bytes, size_t size, const char *name, pxi_clip *out,
                          px_error *err);
px_status pxi_wav_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out,
                       px_error *err);
px_status pxi_wav_decode(const uint8_t *bytes, size_t size, const char *name, pxi_clip *out,
                         px_error *err);

/* PX_E_INPUT unless the numbers are within the limits above. */
px_status pxi_audio_check(const pxi_audio_info *info, const char *name, px_error *err);

/* --- what is wrong with a recording, though it can be read ----------------------------------- */

enum {
    PXI_CLIP_SILENT = 1, /* no sample beyond 1e-4 of full scale, which is -80 dB */
    PXI_CLIP_CLIPPED = 2 /* three samples or more in a row at full scale */
};
int pxi_clip_flaws(const pxi_clip *clip);

/* --- sample rates ---------------------------------------------------------------------------- */

typedef struct pxi_resampler pxi_resampler; /* from one rate to another; immutable */
px_status pxi_resampler_new(int from, int to, pxi_resampler **out, px_error *err);
void pxi_resampler_free(pxi_resampler *resampler);
/* Replaces the samples; the clip has the rate that the resampler is from. */
px_status pxi_resampler_run(const pxi_resampler *resampler, pxi_clip *clip, px_error *err);

#endif
