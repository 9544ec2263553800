/* include/plexor/audio.h - from a recording to what a network sees of it: log-mel features
 *
 * Data sets of WAV and FLAC files go through this by themselves: px_data_options.audio, or the key
 * `plexor.audio` of a network's metadata. Names of settings are torchaudio's where it has them.
 * docs/audio.md has the formulas.
 */
/* SPDX-License-Identifier: Apache-2.0 */
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

typedef struct px_frontend px_frontend; /* immutable: any number of threads may share one */

PX_END_DECLS
#endif
