/* include/internal/audio.h - <plexor/audio.h>, and what only plexor itself uses of it
 *
 *     px_audio audio = px_audio_default();
 *     px_frontend *front = NULL;
 *     PX_TRY(px_audio_parse("n_mels=40,frames=98", &audio, err));
 *     PX_TRY(px_audio_settle(&audio, 16000, err));
 *     PX_TRY(px_frontend_new(&audio, &front, err));
 *     PX_TRY(px_frontend_run(front, samples, count, features, err)); // [frames, n_mels]
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_AUDIO_H
#define PXI_INTERNAL_AUDIO_H

#include <plexor/audio.h>

PX_BEGIN_DECLS

px_audio px_audio_default(void);

extern const px_param px_audio_params[]; /* of px_audio, as 'plexor list audio' shows them */

/* "n_mels=40,window=hann": changes what is named. PX_E_USAGE, naming the word, else. */
px_status px_audio_parse(const char *text, px_audio *audio, px_error *err);

/* The same from a JSON object, as in `plexor.audio`; settings that are absent become defaults. */
px_status px_audio_from_json(const char *json, px_audio *audio, px_error *err);

/* Writes an object; `key` NULL at the top. */
void px_audio_json(const px_audio *audio, const char *key, px_json *json);

/* Fills in what follows from the sample rate of the data (settings that are 0), and checks that all
 * of it fits together. */
px_status px_audio_settle(px_audio *audio, int rate, px_error *err);

/* `audio` is settled. On PX_OK the caller owns *out. */
px_status px_frontend_new(const px_audio *audio, px_frontend **out, px_error *err);

void px_frontend_free(px_frontend *frontend); /* NULL is fine */

/* `features` has room for frames * n_mels; at least one sample. Memory is taken for the call only.
 * A clip without any change (silence) becomes zeros where features are normalised. */
px_status px_frontend_run(const px_frontend *frontend, const float *samples, size_t count,
                          float *features, px_error *err);

/* Mono, PCM of 16 bits: full scale is -1 to 1, beyond is clipped. Complete or not there at all. */
px_status px_wav_save(const char *path, int sample_rate, const float *samples, size_t count,
                      px_error *err);

PX_END_DECLS
#endif
