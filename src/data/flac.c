/* src/data/flac.c - FLAC files to samples (libFLAC) */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/recording.h>

#include "base/memory.h"

#include <FLAC/stream_decoder.h>
#include <stdlib.h>
#include <string.h>

enum { FLAC_HEAD = 4 + 4 + 34 }; /* the word, a block's head, the stream's description */

bool pxi_flac_is_magic(const uint8_t first[4])
{
    return memcmp(first, "fLaC", 4) == 0;
}

px_status pxi_flac_head(const pxi_bytes *bytes, const char *name, pxi_audio_info *out,
                        px_error *err)
{
    uint8_t head[FLAC_HEAD];
    if (bytes->size < sizeof head)
        return px_fail(err, PX_E_INPUT, "'%s': a FLAC file of %llu bytes is truncated", name,
                       (unsigned long long)bytes->size);
    PX_TRY(pxi_bytes_read(bytes, 0, head, sizeof head, name, err));
    if (!pxi_flac_is_magic(head) || (head[4] & 0x7f) != 0 || head[7] != 34)
        return px_fail(err, PX_E_INPUT, "'%s': a FLAC file that does not begin with STREAMINFO",
                       name);
    const uint8_t *p = head + 8 + 10; /* behind block and frame sizes: 20, 3, 5 and 36 bits */
    const uint64_t count = (uint64_t)(p[3] & 15) << 32 | (uint64_t)p[4] << 24 |
                           (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
    *out = (pxi_audio_info){.rate = p[0] << 12 | p[1] << 4 | p[2] >> 4,
                            .channels = (p[2] >> 1 & 7) + 1,
                            .count = count ? (int64_t)count : -1};
    return pxi_audio_check(out, name, err);
}

/* --- samples --------------------------------------------------------------------------------- */

typedef struct flac_job {
    const uint8_t *bytes;
    size_t size, at;
    pxi_audio_info info;
    const char *name;
    float *samples;
    size_t count, capacity;
    px_status status; /* what a callback found; its words are in *err */
    px_error *err;
    const char *trouble; /* what the library found; NULL: nothing */
} flac_job;

static FLAC__StreamDecoderReadStatus flac_on_read(const FLAC__StreamDecoder *decoder,
                                                  FLAC__byte to[], size_t *size, void *context)
{
    flac_job *job = context;
    (void)decoder;
    *size = PX_MIN(*size, job->size - job->at);
    if (*size == 0)
        return FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
    memcpy(to, job->bytes + job->at, *size);
    job->at += *size;
    return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

static FLAC__StreamDecoderWriteStatus flac_on_write(const FLAC__StreamDecoder *decoder,
                                                    const FLAC__Frame *frame,
                                                    const FLAC__int32 *const planes[],
                                                    void *context)
{
    flac_job *job = context;
    const size_t more = frame->header.blocksize;
    const unsigned channels = frame->header.channels, bits = frame->header.bits_per_sample;
    (void)decoder;
    if ((int)channels != job->info.channels || (int)frame->header.sample_rate != job->info.rate) {
        job->status =
            px_fail(job->err, PX_E_INPUT, "'%s': changes its rate or channels half-way", job->name);
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    if (more > (size_t)PXI_AUDIO_SAMPLES_MAX - job->count) {
        job->status = px_fail(job->err, PX_E_INPUT, "'%s': more than %lld samples are not read",
                              job->name, (long long)PXI_AUDIO_SAMPLES_MAX);
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    if (pxi_grow(&job->samples, &job->capacity, job->count + more, sizeof *job->samples) != 0) {
        job->status = px_fail_in(job->err, pxi_no_memory(job->err), "'%s'", job->name);
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    const double full = (double)((int64_t)1 << (bits - 1)) * channels;
    for (size_t i = 0; i < more; i++) {
        double sum = 0.0;
        for (unsigned c = 0; c < channels; c++)
            sum += (double)planes[c][i];
        job->samples[job->count + i] = (float)(sum / full);
    }
    job->count += more;
    return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void flac_on_error(const FLAC__StreamDecoder *decoder, FLAC__StreamDecoderErrorStatus status,
                          void *context)
{
    flac_job *job = context;
    (void)decoder;
    if (!job->trouble)
        job->trouble = FLAC__StreamDecoderErrorStatusString[status];
}

static px_status flac_run(FLAC__StreamDecoder *decoder, flac_job *job, px_error *err)
{
    if (FLAC__stream_decoder_init_stream(decoder, flac_on_read, NULL, NULL, NULL, NULL,
                                         flac_on_write, NULL, flac_on_error,
                                         job) != FLAC__STREAM_DECODER_INIT_STATUS_OK)
        return px_fail(err, PX_E_NOMEM, "'%s': libFLAC cannot be started", job->name);
    const bool good = FLAC__stream_decoder_process_until_end_of_stream(decoder);
    if (job->status != PX_OK)
        return job->status;
    const bool counts = job->info.count < 0 || (size_t)job->info.count == job->count;
    const char *lost =
        FLAC__StreamDecoderErrorStatusString[FLAC__STREAM_DECODER_ERROR_STATUS_LOST_SYNC];
    if (!counts && good && (!job->trouble || job->trouble == lost)) /* libFLAC 1.5 on a cut frame */
        return px_fail(err, PX_E_INPUT, "'%s': truncated or damaged: of %lld samples %zu are there",
                       job->name, (long long)job->info.count, job->count);
    if (!good || job->trouble)
        return px_fail(err, PX_E_INPUT, "'%s': damaged: %s", job->name,
                       job->trouble ? job->trouble
                                    : FLAC__stream_decoder_get_resolved_state_string(decoder));
    job->info.count = (int64_t)job->count;
    return pxi_audio_check(&job->info, job->name, err);
}

px_status pxi_flac_decode(const uint8_t *bytes, size_t size, const char *name, pxi_clip *out,
                          px_error *err)
{
    flac_job job = {.bytes = bytes, .size = size, .name = name, .err = err};
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    PX_TRY(pxi_flac_head(&view, name, &job.info, err));
    FLAC__StreamDecoder *decoder = FLAC__stream_decoder_new();
    if (!decoder)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", name);
    const px_status status = flac_run(decoder, &job, err);
    FLAC__stream_decoder_delete(decoder);
    if (status != PX_OK) {
        free(job.samples);
        return status;
    }
    *out = (pxi_clip){job.info.rate, job.info.count, job.samples};
    return PX_OK;
}
