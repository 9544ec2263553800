/* src/data/audio_settings.c - the settings of the front end: their table, texts and JSON */
#include <plexor/audio.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const windows[] = {"hamming", "hann", "rectangular", NULL};
static const char *const mel_scales[] = {"htk", "slaney", NULL};
static const char *const mel_norms[] = {"none", "slaney", NULL};
static const char *const normalizations[] = {"utterance", "bin", "frame", "none", NULL};
static const char *const fits[] = {"repeat", "pad", NULL};

typedef struct audio_setting {
    px_param param;
    size_t place; /* in px_audio: an int, or a double unless param.integer or .choices */
} audio_setting;

#define SETTING(field, standard, from, to, whole, words, text) \
    {                                                          \
        {.name = #field,                                       \
         .fallback = standard,                                 \
         .least = from,                                        \
         .most = to,                                           \
         .integer = whole,                                     \
         .choices = words,                                     \
         .help = text},                                        \
            offsetof(px_audio, field)                          \
    }
#define WHOLE(field, standard, from, to, text) SETTING(field, standard, from, to, true, NULL, text)
#define REAL(field, standard, from, to, text) SETTING(field, standard, from, to, false, NULL, text)
#define WORD(field, words, text) SETTING(field, 0, 0, PX_LEN(words) - 2, true, words, text)

static const audio_setting settings[] = {
    WHOLE(sample_rate, 0, 0, 768000, "Hz; 0: what the data have"),
    WHOLE(resample, 0, 0, 1, "1: convert data of another rate, else they are refused"),
    REAL(preemphasis, 0.97, 0, 1, "x[t] - this * x[t-1] first"),
    WHOLE(win_length, 0, 0, 65536, "samples of a frame; 0: 25 ms"),
    WHOLE(hop_length, 0, 0, 65536, "samples from frame to frame; 0: 10 ms"),
    WORD(window, windows, "that a frame is seen through, symmetric"),
    WHOLE(n_fft, 0, 0, 65536, "points of the Fourier transform, a power of 2; 0: 512 or more"),
    WHOLE(n_mels, 64, 1, 1024, "triangular filters"),
    WORD(mel_scale, mel_scales, "where they lie"),
    WORD(mel_norm, mel_norms, "height of the filters: 1, or such that areas are equal"),
    REAL(f_min, 0, 0, 384000, "Hz, where the first filter begins"),
    REAL(f_max, 0, 0, 384000, "Hz, where the last one ends; 0: half the sample rate"),
    REAL(log_floor, 1e-10, 1e-300, 1e30, "the logarithm is that of at least this"),
    WORD(normalize, normalizations, "to mean 0 and deviation 1: over what"),
    WHOLE(frames, 160, 1, 16384, "that the network sees: of longer clips the middle"),
    WORD(fit, fits, "of shorter clips: begin again, or zeros at the end"),
};

static double setting_get(const audio_setting *setting, const px_audio *audio)
{
    const char *place = (const char *)audio + setting->place;
    return setting->param.integer ? (double)*(const int *)place : *(const double *)place;
}

static void setting_set(const audio_setting *setting, px_audio *audio, double value)
{
    char *place = (char *)audio + setting->place;
    if (setting->param.integer)
        *(int *)place = (int)value;
    else
        *(double *)place = value;
}

size_t px_audio_param_count(void)
{
    return PX_LEN(settings);
}

const px_param *px_audio_param(size_t i)
{
    return i < PX_LEN(settings) ? &settings[i].param : NULL;
}

px_audio px_audio_default(void)
{
    px_audio audio = {0};
    for (size_t i = 0; i < PX_LEN(settings); i++)
        setting_set(&settings[i], &audio, settings[i].param.fallback);
    return audio;
}

/* --- texts ----------------------------------------------------------------------------------- */

static px_status setting_find(const char *name, size_t length, const audio_setting **out,
                              px_error *err)
{
    for (size_t i = 0; i < PX_LEN(settings); i++)
        if (strlen(settings[i].param.name) == length &&
            strncmp(settings[i].param.name, name, length) == 0) {
            *out = &settings[i];
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "'%.*s' is not a setting of audio features; 'plexor list audio' shows them",
                   (int)PX_MIN(length, 60), name);
}

static px_status setting_word(const audio_setting *setting, const char *word, size_t length,
                              px_audio *audio, px_error *err)
{
    char list[120] = "";
    for (size_t i = 0; setting->param.choices[i]; i++) {
        const char *choice = setting->param.choices[i];
        if (strlen(choice) == length && strncmp(choice, word, length) == 0) {
            setting_set(setting, audio, (double)i);
            return PX_OK;
        }
        strcat(strcat(list, i ? ", " : ""), choice);
    }
    return px_fail(err, PX_E_USAGE, "%s '%.*s': expected one of %s", setting->param.name,
                   (int)PX_MIN(length, 60), word, list);
}

static px_status setting_number(const audio_setting *setting, double value, px_audio *audio,
                                px_error *err)
{
    const px_param *p = &setting->param;
    if (!(value >= p->least && value <= p->most) || (p->integer && value != floor(value)))
        return px_fail(err, PX_E_USAGE, "%s %g: expected a %snumber from %g to %g", p->name, value,
                       p->integer ? "whole " : "", p->least, p->most);
    setting_set(setting, audio, value);
    return PX_OK;
}

px_status px_audio_parse(const char *text, px_audio *audio, px_error *err)
{
    px_audio changed = *audio;
    for (const char *at = text;; at++) {
        const audio_setting *setting = NULL;
        const size_t length = strcspn(at, ","), name = strcspn(at, ",=");
        if (name >= length)
            return px_fail(err, PX_E_USAGE,
                           "audio features '%.100s': expected settings such as n_mels=40,frames=98",
                           text);
        PX_TRY(setting_find(at, name, &setting, err));
        const char *value = at + name + 1;
        const size_t size = length - name - 1;
        if (setting->param.choices) {
            PX_TRY(setting_word(setting, value, size, &changed, err));
        } else {
            char *end;
            const double number = strtod(value, &end);
            if (size == 0 || end != value + size)
                return px_fail(err, PX_E_USAGE, "%s '%.*s': expected a number", setting->param.name,
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
    const audio_setting *setting = NULL;
    PX_TRY(setting_find(key, strlen(key), &setting, err));
    if (setting->param.choices && value->kind == PX_JSON_STRING)
        return setting_word(setting, value->string, strlen(value->string), audio, err);
    if (!setting->param.choices && value->kind == PX_JSON_NUMBER)
        return setting_number(setting, value->number, audio, err);
    return px_fail(err, PX_E_INPUT, "%s: expected a %s", key,
                   setting->param.choices ? "word" : "number");
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
    for (size_t i = 0; i < PX_LEN(settings); i++) {
        const px_param *p = &settings[i].param;
        const double value = setting_get(&settings[i], audio);
        if (p->choices)
            px_json_string(json, p->name, p->choices[(int)value]);
        else if (p->integer)
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
