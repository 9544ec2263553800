/* include/plexor/audio.h - from a recording to what a network sees of it: log-mel features
 *
 *     px_audio audio = px_audio_default();
 *     px_frontend *front = NULL;
 *     PX_TRY(px_audio_parse("n_mels=40,frames=98", &audio, err));
 *     PX_TRY(px_audio_settle(&audio, 16000, err));
 *     PX_TRY(px_frontend_new(&audio, &front, err));
 *     PX_TRY(px_frontend_run(front, samples, count, features, err)); // [frames, n_mels]
 *
 * Data sets of WAV and FLAC files go through this by themselves: px_data_options.audio, or the key
 * `plexor.audio` of a network's metadata. Names of settings are torchaudio's where it has them.
 * docs/audio.md has the formulas.
 */
#ifndef PLEXOR_AUDIO_H
#define PLEXOR_AUDIO_H

#include <plexor/json.h>
#include <plexor/param.h>
#include <stddef.h>

PX_BEGIN_DECLS

typedef enum px_audio_window {
    PX_WINDOW_HAMMING,
    PX_WINDOW_HANN,
    PX_WINDOW_RECTANGULAR
} px_audio_window;
typedef enum px_mel_scale { PX_MEL_HTK, PX_MEL_SLANEY } px_mel_scale;
typedef enum px_mel_norm { PX_MEL_NORM_NONE, PX_MEL_NORM_SLANEY } px_mel_norm;
typedef enum px_audio_normalize {
    PX_NORMALIZE_UTTERANCE, /* one mean and deviation for all features of the clip */
    PX_NORMALIZE_BIN,       /* each mel bin over the frames of the clip */
    PX_NORMALIZE_FRAME,     /* each frame over its bins */
    PX_NORMALIZE_NONE
} px_audio_normalize;
typedef enum px_audio_fit { PX_FIT_REPEAT, PX_FIT_PAD } px_audio_fit;

typedef struct px_audio {
    int sample_rate; /* Hz; 0: what the data have */
    int resample;    /* not 0: data of another rate are converted; else they are refused */
    double preemphasis;
    int win_length, hop_length; /* samples; 0: 25 and 10 ms */
    int window;                 /* px_audio_window, symmetric */
    int n_fft;                  /* a power of 2; 0: 512, or what win_length needs */
    int n_mels, mel_scale, mel_norm;
    double f_min, f_max; /* Hz; f_max 0: half the sample rate */
    double log_floor;    /* the logarithm is that of at least this */
    int normalize;       /* px_audio_normalize */
    int frames, fit;     /* longer clips: the middle; shorter ones: px_audio_fit */
} px_audio;

PX_API px_audio px_audio_default(void);

/* The settings as `plexor list audio` shows them. */
PX_API size_t px_audio_param_count(void);
PX_API const px_param *px_audio_param(size_t i);

/* "n_mels=40,window=hann": changes what is named. PX_E_USAGE, naming the word, else. */
PX_API px_status px_audio_parse(const char *text, px_audio *audio, px_error *err);
/* The same from a JSON object, as in `plexor.audio`; settings that are absent become defaults. */
PX_API px_status px_audio_from_json(const char *json, px_audio *audio, px_error *err);
/* Writes an object; `key` NULL at the top. */
PX_API void px_audio_json(const px_audio *audio, const char *key, px_json *json);

/* Fills in what follows from the sample rate of the data (settings that are 0), and checks that all
 * of it fits together. */
PX_API px_status px_audio_settle(px_audio *audio, int rate, px_error *err);

typedef struct px_frontend px_frontend; /* immutable: any number of threads may share one */

/* `audio` is settled. On PX_OK the caller owns *out. */
PX_API px_status px_frontend_new(const px_audio *audio, px_frontend **out, px_error *err);
PX_API void px_frontend_free(px_frontend *frontend); /* NULL is fine */
/* `features` has room for frames * n_mels; at least one sample. Memory is taken for the call only.
 * A clip without any change (silence) becomes zeros where features are normalised. */
PX_API px_status px_frontend_run(const px_frontend *frontend, const float *samples, size_t count,
                                 float *features, px_error *err);

/* Mono, PCM of 16 bits: full scale is -1 to 1, beyond is clipped. Complete or not there at all. */
PX_API px_status px_wav_save(const char *path, int sample_rate, const float *samples, size_t count,
                             px_error *err);

PX_END_DECLS
#endif
