/* src/data/audio_settings.c - the settings of the front end: their table, texts and JSON */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/audio.h>

#include "base/memory.h"

#include <internal/param.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const windows[] = {"hamming", "hann", "rectangular", NULL};
static const char *const mel_scales[] = {"htk", "slaney", NULL};
static const char *const mel_norms[] = {"none", "slaney", NULL};
static const char *const normalizations[] = {"utterance", "bin", "frame", "none", NULL};
static const char *const fits[] = {"repeat", "pad", NULL};

const px_param px_audio_params[] = {
    PX_PARAM_INT(px_audio, sample_rate, 0, 0, 768000, "Hz; 0: what the data have"),
    PX_PARAM_INT(px_audio, resample, 0, 0, 1,
                 "1: convert data of another rate, else they are refused"),
    PX_PARAM_REAL(px_audio, preemphasis, 0.97, 0, 1, "x[t] - this * x[t-1] first"),
    PX_PARAM_INT(px_audio, win_length, 0, 0, 65536, "samples of a frame; 0: 25 ms"),
    PX_PARAM_INT(px_audio, hop_length, 0, 0, 65536, "samples from frame to frame; 0: 10 ms"),
    PX_PARAM_CHOICE(px_audio, window, 0, windows, "that a frame is seen through, symmetric"),
    PX_PARAM_INT(px_audio, n_fft, 0, 0, 65536,
                 "points of the Fourier transform, a power of 2; 0: 512 or more"),
    PX_PARAM_INT(px_audio, n_mels, 64, 1, 1024, "triangular filters"),
    PX_PARAM_CHOICE(px_audio, mel_scale, 0, mel_scales, "where they lie"),
    PX_PARAM_CHOICE(px_audio, mel_norm, 0, mel_norms,
                    "height of the filters: 1, or such that areas are equal"),
    PX_PARAM_REAL(px_audio, f_min, 0, 0, 384000, "Hz, where the first filter begins"),
    PX_PARAM_REAL(px_audio, f_max, 0, 0, 384000,
                  "Hz, where the last one ends; 0: half the sample rate"),
    PX_PARAM_REAL(px_audio, log_floor, 1e-10, 1e-300, 1e30,
                  "the logarithm is that of at least this"),
    PX_PARAM_CHOICE(px_audio, normalize, 0, normalizations, "to mean 0 and deviation 1: over what"),
    PX_PARAM_INT(px_audio, frames, 160, 1, 16384,
                 "that the network sees: of longer clips the middle"),
    PX_PARAM_CHOICE(px_audio, fit, 0, fits, "of shorter clips: begin again, or zeros at the end"),
    PX_PARAM_END,
};

px_audio px_audio_default(void)
{
    px_audio audio = {0};
    px_params_default(px_audio_params, &audio);
    return audio;
}

/* --- texts ----------------------------------------------------------------------------------- */

static px_status setting_find(const char *name, size_t length, const px_param **out, px_error *err)
{
    for (const px_param *p = px_audio_params; p->name; p++)
        if (strlen(p->name) == length && strncmp(p->name, name, length) == 0) {
            *out = p;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "'%.*s' is not a setting of audio features; 'plexor list audio' shows them",
                   (int)PX_MIN(length, 60), name);
}

static px_status setting_word(const px_param *setting, const char *word, size_t length,
                              px_audio *audio, px_error *err)
{
    char list[120] = "";
    for (size_t i = 0; setting->choices[i]; i++) {
        const char *choice = setting->choices[i];
        if (strlen(choice) == length && strncmp(choice, word, length) == 0) {
            px_param_set(setting, audio, (double)i);
            return PX_OK;
        }
        strcat(strcat(list, i ? ", " : ""), choice);
    }
    return px_fail(err, PX_E_USAGE, "%s '%.*s': expected one of %s", setting->name,
                   (int)PX_MIN(length, 60), word, list);
}

static px_status setting_number(const px_param *p, double value, px_audio *audio, px_error *err)
{
    if (!(value >= p->min && value <= p->max) || (p->type == PX_TYPE_INT && value != floor(value)))
        return px_fail(err, PX_E_USAGE, "%s %g: expected a %snumber from %g to %g", p->name, value,
                       p->type == PX_TYPE_INT ? "whole " : "", p->min, p->max);
    px_param_set(p, audio, value);
    return PX_OK;
}

px_status px_audio_parse(const char *text, px_audio *audio, px_error *err)
{
    px_audio changed = *audio;
    for (const char *at = text;; at++) {
        const px_param *setting = NULL;
        const size_t length = strcspn(at, ","), name = strcspn(at, ",=");
        if (name >= length)
            return px_fail(err, PX_E_USAGE,
                           "audio features '%.100s': expected settings such as n_mels=40,frames=98",
                           text);
        PX_TRY(setting_find(at, name, &setting, err));
        const char *value = at + name + 1;
        const size_t size = length - name - 1;
        if (setting->choices) {
            PX_TRY(setting_word(setting, value, size, &changed, err));
        } else {
            char *end;
            const double number = strtod(value, &end);
            if (size == 0 || end != value + size)
                return px_fail(err, PX_E_USAGE, "%s '%.*s': expected a number", setting->name,
                               (int)PX_MIN(size, 60), value);
            PX_TRY(setting_number(setting, number, &changed, err));
        }
        at += length;
        if (*at == '\0')
            break;
    }
    *audio = changed;
    return PX_OK;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static px_status setting_from_json(const char *key, const px_json_value *value, px_audio *audio,
                                   px_error *err)
{
    const px_param *setting = NULL;
    PX_TRY(setting_find(key, strlen(key), &setting, err));
    if (setting->choices && value->kind == PX_JSON_STRING)
        return setting_word(setting, value->string, strlen(value->string), audio, err);
    if (!setting->choices && value->kind == PX_JSON_NUMBER)
        return setting_number(setting, value->number, audio, err);
    return px_fail(err, PX_E_INPUT, "%s: expected a %s", key, setting->choices ? "word" : "number");
}

px_status px_audio_from_json(const char *json, px_audio *audio, px_error *err)
{
    px_audio made = px_audio_default();
    px_json_document *document = NULL;
    px_status status = px_json_parse(json, strlen(json), &document, err);
    const px_json_value *root = status == PX_OK ? px_json_root(document) : NULL;
    if (root && root->kind != PX_JSON_OBJECT)
        status = px_fail(err, PX_E_INPUT, "expected a JSON object of settings");
    for (size_t i = 0; status == PX_OK && i < root->count; i++)
        status = setting_from_json(root->keys[i], &root->items[i], &made, err);
    px_json_free(document);
    if (status != PX_OK)
        return px_fail_in(err, status, "plexor.audio");
    *audio = made;
    return PX_OK;
}

void px_audio_json(const px_audio *audio, const char *key, px_json *json)
{
    px_json_object(json, key);
    for (const px_param *p = px_audio_params; p->name; p++) {
        const double value = px_param_get(p, audio);
        if (p->choices)
            px_json_string(json, p->name, p->choices[(int)value]);
        else if (p->type == PX_TYPE_INT)
            px_json_int(json, p->name, (int64_t)value);
        else
            px_json_real(json, p->name, value);
    }
    px_json_end(json);
}

/* --- what follows from the rate -------------------------------------------------------------- */

px_status px_audio_settle(px_audio *audio, int rate, px_error *err)
{
    px_audio a = *audio;
    enum { USUAL_FFT = 512 };
    if (!a.sample_rate)
        a.sample_rate = rate;
    if (!a.win_length)
        a.win_length = (a.sample_rate * 25 + 500) / 1000;
    if (!a.hop_length)
        a.hop_length = PX_MAX(1, (a.sample_rate * 10 + 500) / 1000);
    if (!a.n_fft)
        for (a.n_fft = USUAL_FFT; a.n_fft < a.win_length;)
            a.n_fft *= 2;
    if (a.f_max == 0.0)
        a.f_max = a.sample_rate / 2.0;
    if (a.n_fft & (a.n_fft - 1) || a.n_fft < 2)
        return px_fail(err, PX_E_USAGE, "n_fft %d: expected a power of 2", a.n_fft);
    if (a.win_length < 2 || a.win_length > a.n_fft)
        return px_fail(err, PX_E_USAGE, "win_length %d: expected 2 to n_fft, which is %d",
                       a.win_length, a.n_fft);
    if (!(a.f_min < a.f_max && a.f_max <= a.sample_rate / 2.0))
        return px_fail(err, PX_E_USAGE,
                       "f_min %g and f_max %g: expected f_min < f_max <= %g, half the sample rate",
                       a.f_min, a.f_max, a.sample_rate / 2.0);
    *audio = a;
    return PX_OK;
}
