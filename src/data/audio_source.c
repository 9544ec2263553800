/* src/data/audio_source.c - samples that are WAV or FLAC files, as log-mel features
 *
 * Heads are read when the data set is opened, so that mixed sample rates are found before anything
 * runs; samples when they are asked for. What is silent or clipped is remembered as it is read.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/picture_source.h"

#include "base/memory.h"

#include <internal/audio.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATES_MAX = 64 }; /* different ones in a data set */

struct pxi_audio_part {
    px_audio audio;
    bool rate_given; /* by the user or the network, not by the first clip */
    px_frontend *frontend;
    struct {
        int rate;
        pxi_resampler *resampler;
    } other[RATES_MAX]; /* rates that are converted */
    int other_count;
    atomic_uchar *flaws; /* per clip; many threads set bits */
};

void pxi_audio_part_free(struct pxi_audio_part *part)
{
    if (!part)
        return;
    for (int i = 0; i < part->other_count; i++)
        pxi_resampler_free(part->other[i].resampler);
    px_frontend_free(part->frontend);
    free(part->flaws);
    free(part);
}

static const pxi_resampler *part_resampler(const struct pxi_audio_part *part, int rate)
{
    for (int i = 0; i < part->other_count; i++)
        if (part->other[i].rate == rate)
            return part->other[i].resampler;
    return NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status recording_head(const pxi_picture_source *files, int64_t index,
                                pxi_audio_info *info, char name[PXI_TREE_TEXT], px_error *err)
{
    pxi_bytes bytes = {0};
    const char *path = files->items[index].path;
    pxi_tree_text(files->tree, path, name);
    PX_TRY(pxi_tree_bytes_at(files->tree, path, &bytes, err));
    const px_status status = pxi_audio_head(&bytes, name, info, err);
    pxi_bytes_done(&bytes);
    return status;
}

static px_status recording_ready(pxi_source *source, int64_t index, const px_audio *wanted,
                                 int frames, int mels, px_error *err)
{
    pxi_picture_source *files = (pxi_picture_source *)source;
    struct pxi_audio_part *part = files->recordings;
    px_audio audio = wanted ? *wanted : px_audio_default();
    char name[PXI_TREE_TEXT];
    pxi_audio_info info;
    if (wanted && ((frames && frames != audio.frames) || (mels && mels != audio.n_mels)))
        return px_fail(err, PX_E_MISMATCH,
                       "audio features of %d frames x %d mels are set, the network takes %d x %d",
                       audio.frames, audio.n_mels, frames ? frames : audio.frames,
                       mels ? mels : audio.n_mels);
    if (frames)
        audio.frames = frames;
    if (mels)
        audio.n_mels = mels;
    PX_TRY(recording_head(files, index, &info, name, err));
    part->rate_given = audio.sample_rate != 0;
    PX_TRY(px_audio_settle(&audio, info.rate, err));
    PX_TRY(px_frontend_new(&audio, &part->frontend, err));
    part->audio = audio;
    source->audio = &part->audio;
    source->shape = (px_shape){.rank = 3, .dim = {1, audio.frames, audio.n_mels}};
    return PX_OK;
}

static px_status recording_check(pxi_source *source, int64_t index, px_error *err)
{
    pxi_picture_source *files = (pxi_picture_source *)source;
    struct pxi_audio_part *part = files->recordings;
    char name[PXI_TREE_TEXT];
    pxi_audio_info info;
    const int rate = part->audio.sample_rate;
    PX_TRY(recording_head(files, index, &info, name, err));
    if (info.rate == rate || part_resampler(part, info.rate))
        return PX_OK;
    if (!part->audio.resample && part->rate_given)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s' has a sample rate of %d Hz, %d Hz are wanted; --audio resample=1 "
                       "converts",
                       name, info.rate, rate);
    if (!part->audio.resample)
        return px_fail(err, PX_E_MISMATCH,
                       "mixed sample rates: '%s' has %d Hz, others have %d Hz; "
                       "--audio sample_rate=%d,resample=1 converts",
                       name, info.rate, rate, PX_MIN(rate, info.rate));
    if (part->other_count == RATES_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': more than %d different sample rates",
                       pxi_tree_name(files->tree), RATES_MAX);
    pxi_resampler *resampler = NULL;
    const px_status status = pxi_resampler_new(info.rate, rate, &resampler, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", name);
    part->other[part->other_count].rate = info.rate;
    part->other[part->other_count++].resampler = resampler;
    return PX_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static px_status recording_decode(const pxi_picture_source *files, int64_t index,
                                  char name[PXI_TREE_TEXT], pxi_clip *out, px_error *err)
{
    const char *path = files->items[index].path;
    pxi_bytes bytes = {0};
    pxi_tree_text(files->tree, path, name);
    PX_TRY(pxi_tree_load(files->tree, path, PXI_AUDIO_FILE_MAX, &bytes, err));
    const px_status status = pxi_audio_decode(&bytes, name, out, err);
    pxi_bytes_done(&bytes);
    return status;
}

static px_status recording_verify(const pxi_source *source, int64_t index, px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_clip clip = {0};
    const px_status status =
        recording_decode((const pxi_picture_source *)source, index, name, &clip, err);
    pxi_clip_done(&clip);
    return status;
}

static px_status recording_clip(const pxi_source *source, int64_t index, pxi_clip *out,
                                px_error *err)
{
    const pxi_picture_source *files = (const pxi_picture_source *)source;
    const struct pxi_audio_part *part = files->recordings;
    char name[PXI_TREE_TEXT];
    pxi_clip clip = {0};
    px_status status = recording_decode(files, index, name, &clip, err);
    PX_TRY(status);
    const int flaws = pxi_clip_flaws(&clip);
    if (flaws)
        atomic_fetch_or_explicit(&part->flaws[index], (unsigned char)flaws, memory_order_relaxed);
    if (clip.rate != part->audio.sample_rate) {
        const pxi_resampler *resampler = part_resampler(part, clip.rate);
        status = resampler ? pxi_resampler_run(resampler, &clip, err)
                           : px_fail(err, PX_E_INPUT, "'%s' was changed while it was used", name);
    }
    if (status != PX_OK) {
        pxi_clip_done(&clip);
        return status;
    }
    *out = clip;
    return PX_OK;
}

static px_status recording_features(const pxi_source *source, const float *samples, size_t count,
                                    float *out, px_error *err)
{
    const struct pxi_audio_part *part = ((const pxi_picture_source *)source)->recordings;
    return px_frontend_run(part->frontend, samples, count, out, err);
}

static px_status recording_values(const pxi_source *source, int64_t index, float *out,
                                  px_error *err)
{
    pxi_clip clip = {0};
    PX_TRY(recording_clip(source, index, &clip, err));
    const px_status status = recording_features(source, clip.samples, (size_t)clip.count, out, err);
    pxi_clip_done(&clip);
    return status;
}

static int recording_flaws(const pxi_source *source, int64_t index)
{
    const struct pxi_audio_part *part = ((const pxi_picture_source *)source)->recordings;
    return atomic_load_explicit(&part->flaws[index], memory_order_relaxed);
}

static const pxi_source_type recording_type = {
    .values = recording_values,
    .label = pxi_picture_source_label,
    .name = pxi_picture_source_name,
    .place = pxi_picture_source_place,
    .size = pxi_picture_source_size,
    .ready = recording_ready,
    .check = recording_check,
    .clip = recording_clip,
    .features = recording_features,
    .verify = recording_verify,
    .flaws = recording_flaws,
    .free = pxi_picture_source_free,
};

px_status pxi_picture_source_record(pxi_picture_source *source, px_error *err)
{
    struct pxi_audio_part *part = pxi_calloc(1, sizeof *part);
    if (part)
        part->flaws = pxi_calloc((size_t)source->base.count, sizeof *part->flaws);
    if (!part || !part->flaws) {
        pxi_audio_part_free(part);
        return pxi_no_memory(err);
    }
    source->recordings = part;
    source->base.type = &recording_type;
    source->base.is_8bit = false;
    snprintf(source->base.kind, sizeof source->base.kind, "recordings");
    return PX_OK;
}
