/* src/check/page_audio.c - recordings on the page: as spectrograms, and to be heard
 *
 * A campaign of recordings stores features, from which nothing can be heard; but the samples of a
 * mutant follow from the data and its chain (generate/fuzz_recording.c), so that they are made
 * again here. What attacks change are features themselves: of those there is no recording.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include "base/base64.h"

#include <internal/data.h>
#include <internal/mutate.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/audio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AUDIO_BYTES_MOST = 1200000, /* of all recordings on a page, as text */
    AUDIO_RATE = 8000,          /* to which higher rates are brought down, about */
    WAV_HEAD = 44,
    RANGE_INPUTS = 32
};

/* The values that are black and white: the same for all pictures, so that they can be compared. */
px_status pxi_page_audio_open(pxi_page *p, px_error *err)
{
    const px_check *c = p->c;
    p->low = INFINITY;
    p->high = -INFINITY;
    for (int64_t i = 0; i < PX_MIN(c->count, (int64_t)RANGE_INPUTS); i++) {
        PX_TRY(px_dataset_pixels(c->set, i, p->values, err));
        for (size_t k = 0; k < c->floats; k++) {
            if (!isfinite(p->values[k]))
                continue;
            p->low = fminf(p->low, p->values[k]);
            p->high = fmaxf(p->high, p->values[k]);
        }
    }
    if (!(p->high > p->low)) {
        p->low = 0.0f;
        p->high = 1.0f;
    }
    return PX_OK;
}

/* Features are [frames, mels]: time goes to the right, high pitch is above. */
void pxi_page_audio_picture(const pxi_page *p)
{
    const float unit = 255.0f / (p->high - p->low);
    for (int frame = 0; frame < p->width; frame++)
        for (int mel = 0; mel < p->height; mel++) {
            const float value = (p->values[frame * p->height + mel] - p->low) * unit;
            p->bytes[(p->height - 1 - mel) * p->width + frame] =
                (uint8_t)(value > 0.0f ? value < 255.0f ? value + 0.5f : 255.0f : 0.0f);
        }
}

static void put(uint8_t *to, size_t bytes, uint32_t value)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* "data:audio/wav;base64,...": 16 bits, one channel, means of `factor` samples. */
static px_status wav_text(const int16_t *samples, size_t count, int rate, px_text *text,
                          px_error *err)
{
    const size_t factor = (size_t)PX_MAX(rate / AUDIO_RATE, 1), kept = count / factor;
    const uint32_t hz = (uint32_t)rate / (uint32_t)factor, bytes = (uint32_t)(2 * kept);
    uint8_t *wav = pxi_calloc(WAV_HEAD + bytes, 1);
    if (!wav)
        return pxi_no_memory(err);
    memcpy(wav, "RIFF", 4);
    put(wav + 4, 4, WAV_HEAD - 8 + bytes);
    memcpy(wav + 8, "WAVEfmt ", 8);
    put(wav + 16, 4, 16);
    put(wav + 20, 2, 1); /* PCM */
    put(wav + 22, 2, 1);
    put(wav + 24, 4, hz);
    put(wav + 28, 4, 2 * hz);
    put(wav + 32, 2, 2);
    put(wav + 34, 2, 16);
    memcpy(wav + 36, "data", 4);
    put(wav + 40, 4, bytes);
    for (size_t i = 0; i < kept; i++) {
        int32_t sum = 0;
        for (size_t k = 0; k < factor; k++)
            sum += samples[i * factor + k];
        put(wav + WAV_HEAD + 2 * i, 2, (uint16_t)(int16_t)(sum / (int32_t)factor));
    }
    px_text_add(text, "data:audio/wav;base64,");
    pxi_base64_add(text, wav, WAV_HEAD + bytes);
    free(wav);
    return px_text_failed(text) ? pxi_no_memory(err) : PX_OK;
}

/* As many samples as the network's frames need, of the input with that index in the data. */
static px_status samples_of(const px_check *c, int64_t data_index, int16_t *out, size_t count,
                            bool *found, px_error *err)
{
    float *clip = NULL;
    size_t length = 0;
    int64_t row = 0;
    while (row < c->count && px_dataset_index(c->set, row) != data_index)
        row++;
    *found = row < c->count;
    if (!*found)
        return PX_OK;
    PX_TRY(px_dataset_clip(c->set, row, &clip, &length, err));
    const size_t skip = length > count ? (length - count) / 2 : 0;
    for (size_t i = 0; i < count && length > 0; i++)
        px_samples_round(clip + (skip + i) % length, out + i, 1);
    *found = length > 0;
    free(clip);
    return PX_OK;
}

static px_status audio_make(pxi_page *p, const px_campaign_input *in, const px_drawn *links,
                            size_t link_count, pxi_page_sound *out, px_error *err)
{
    const px_audio *audio = px_dataset_audio(p->c->set);
    const size_t count =
        (size_t)(audio->frames - 1) * (size_t)audio->hop_length + (size_t)audio->win_length;
    int16_t *samples = pxi_calloc(3 * count, sizeof *samples); /* original, before, after */
    bool found = false;
    px_status status = samples ? samples_of(p->c, in->data_index, samples, count, &found, err)
                               : pxi_no_memory(err);
    int16_t *before = samples + count, *after = samples + 2 * count;
    if (status == PX_OK && found)
        memcpy(before, samples, count * sizeof *samples);
    for (size_t i = 0; i < link_count && status == PX_OK && found; i++) {
        status = px_mutation_apply_samples(&links[i], before, after, count, err);
        int16_t *swap = before;
        before = after;
        after = swap;
    }
    PX_THEN_IF(status, found, wav_text(samples, count, audio->sample_rate, &out->original, err));
    PX_THEN_IF(status, found, wav_text(before, count, audio->sample_rate, &out->failing, err));
    out->is = status == PX_OK && found;
    p->audio_bytes += out->original.length + out->failing.length;
    free(samples);
    return status;
}

px_status pxi_page_audio(pxi_page *p, const px_campaign_input *in, pxi_page_sound *out,
                         px_error *err)
{
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false, heard = true;
    if (!px_dataset_audio(p->c->set) || p->audio_bytes > AUDIO_BYTES_MOST ||
        px_chain_parse(in->chain, &links, &count, &replayable, NULL) != PX_OK)
        return PX_OK;
    for (size_t i = 0; i < count; i++)
        heard = heard && links[i].mutation->apply_samples;
    const px_status status =
        replayable && heard && count > 0 ? audio_make(p, in, links, count, out, err) : PX_OK;
    free(links);
    return status;
}
