/* tests/data/test_audio.c - recordings and their features against numpy's, see
 * make_audio_golden.py; and damaged ones */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "data/data_helpers.h"
#include <internal/audio.h>
#include <internal/recording.h>
#include <math.h>
#include <plexor/data.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static px_npz *expected;

static int load_expected(void **state)
{
    px_error err = {0};
    if (px_npz_open(GOLDEN "/audio/expected.npz", &expected, &err) == PX_OK)
        return enter_folder(state);
    print_error("%s\n", err.message);
    return -1;
}

static int drop_expected(void **state)
{
    px_npz_close(expected);
    return leave_folder(state);
}

static char *golden_bytes(const char *name, size_t *size)
{
    char path[512], *bytes = NULL;
    px_error err = {0};
    snprintf(path, sizeof path, GOLDEN "/audio/%s", name);
    if (pxi_file_read(path, 1 << 20, &bytes, size, &err) != PX_OK)
        fail_msg("%s", err.message);
    return bytes;
}

static pxi_clip decode(const char *name)
{
    size_t size = 0;
    px_error err = {0};
    pxi_clip clip = {0};
    pxi_audio_info info;
    char *bytes = golden_bytes(name, &size);
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    if (pxi_audio_decode(&view, name, &clip, &err) != PX_OK ||
        pxi_audio_head(&view, name, &info, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(info.rate, clip.rate);
    assert_int_equal(info.count, clip.count);
    free(bytes);
    return clip;
}

static void compare(const float *got, size_t count, const char *name, double tolerance)
{
    const px_tensor *want = px_npz_get(expected, name);
    if (!want)
        fail_msg("'%s' is not in expected.npz", name);
    if ((size_t)px_shape_count(&want->shape) != count)
        fail_msg("'%s': has %zu values, not %lld", name, count,
                 (long long)px_shape_count(&want->shape));
    for (size_t i = 0; i < count; i++) {
        const double w = (double)((const float *)want->data)[i];
        if (!(fabs((double)got[i] - w) <= tolerance))
            fail_msg("'%s': value %zu is %.9g, not %.9g", name, i, (double)got[i], w);
    }
}

static void test_decodes(void **state)
{
    (void)state;
    static const char *const files[] = {
        "pcm8.wav",    "pcm16.wav",      "pcm24.wav",
        "pcm32.wav",   "stereo.wav",     "float.wav",
        "double.wav",  "extensible.wav", "extensible-float.wav",
        "chunks.wav",  "pipe.wav",       "tone16.wav",
        "mono16.flac", "stereo24.flac",
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        char name[64];
        pxi_clip clip = decode(files[i]);
        assert_int_equal(clip.rate, 8000);
        snprintf(name, sizeof name, "samples/%s", files[i]);
        compare(clip.samples, (size_t)clip.count, name, 0.0);
        pxi_clip_done(&clip);
    }
}

static void test_writes(void **state)
{
    (void)state;
    static const float samples[] = {0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 2.0f, -2.0f, 1e-5f, NAN};
    static const float stored[] = {0.0f,  0.5f, -0.5f, 32767 / 32768.0f, -1.0f, 32767 / 32768.0f,
                                   -1.0f, 0.0f, 0.0f};
    px_error err = {0};
    pxi_bytes bytes = {0};
    pxi_clip clip = {0};
    assert_int_equal(px_wav_save("out.wav", 11025, samples, COUNT(samples), &err), PX_OK);
    assert_int_equal(pxi_bytes_open(&bytes, "out.wav", &err), PX_OK);
    assert_int_equal(pxi_bytes_load(&bytes, 1000, "out.wav", &err), PX_OK);
    assert_int_equal(pxi_audio_decode(&bytes, "out.wav", &clip, &err), PX_OK);
    assert_int_equal(clip.rate, 11025);
    assert_int_equal(clip.count, COUNT(samples));
    for (size_t i = 0; i < COUNT(samples); i++)
        if (clip.samples[i] != stored[i])
            fail_msg("sample %zu is %g", i, (double)clip.samples[i]);
    pxi_clip_done(&clip);
    pxi_bytes_done(&bytes);
}

static void test_resamples(void **state)
{
    (void)state;
    static const int rates[] = {16000, 11025, 4000, 7999};
    for (size_t i = 0; i < COUNT(rates); i++) {
        char name[64];
        px_error err = {0};
        pxi_clip clip = decode("tone16.wav");
        pxi_resampler *resampler = NULL;
        if (pxi_resampler_new(8000, rates[i], &resampler, &err) != PX_OK ||
            pxi_resampler_run(resampler, &clip, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_int_equal(clip.rate, rates[i]);
        snprintf(name, sizeof name, "resampled/8000-%d", rates[i]);
        compare(clip.samples, (size_t)clip.count, name, 1e-6);
        pxi_resampler_free(resampler);
        pxi_clip_done(&clip);
    }
    px_error err = {0};
    pxi_resampler *resampler = NULL;
    assert_int_equal(pxi_resampler_new(44100, 44101, &resampler, &err), PX_E_UNSUPPORTED);
}

static void test_features(void **state)
{
    (void)state;
    int cases = 0;
    pxi_clip clip = decode("tone16.wav");
    for (size_t i = 0; i < px_npz_count(expected); i++) {
        const char *name = px_npz_name(expected, i);
        if (strncmp(name, "features/", 9) != 0)
            continue;
        px_error err = {0};
        px_audio audio = px_audio_default();
        px_frontend *front = NULL;
        if (px_audio_parse(name + 9, &audio, &err) != PX_OK ||
            px_audio_settle(&audio, clip.rate, &err) != PX_OK ||
            px_frontend_new(&audio, &front, &err) != PX_OK)
            fail_msg("%s", err.message);
        const size_t count = (size_t)(audio.frames * audio.n_mels);
        float *features = calloc(count, sizeof *features);
        assert_non_null(features);
        assert_int_equal(px_frontend_run(front, clip.samples, (size_t)clip.count, features, &err),
                         PX_OK);
        compare(features, count, name, 2e-6 * (audio.normalize == PX_NORMALIZE_NONE ? 10 : 1));
        free(features);
        px_frontend_free(front);
        cases++;
    }
    assert_int_equal(cases, 11);
    pxi_clip_done(&clip);
}

/* Silence has no features, and what is not a number stays visible. */
static void test_odd_clips(void **state)
{
    (void)state;
    px_error err = {0};
    px_audio audio = px_audio_default();
    px_frontend *front = NULL;
    audio.frames = 4;
    assert_int_equal(px_audio_settle(&audio, 8000, &err), PX_OK);
    assert_int_equal(px_frontend_new(&audio, &front, &err), PX_OK);
    float samples[400] = {0}, features[4 * 64];
    assert_int_equal(px_frontend_run(front, samples, COUNT(samples), features, &err), PX_OK);
    for (size_t i = 0; i < COUNT(features); i++)
        assert_true(features[i] == 0.0f);
    assert_int_equal(px_frontend_run(front, samples, 1, features, &err), PX_OK);
    samples[7] = NAN;
    assert_int_equal(px_frontend_run(front, samples, COUNT(samples), features, &err), PX_OK);
    assert_true(isnan(features[0]));
    px_frontend_free(front);
}

static void test_settings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "expected settings"},
        {"n_mels", "expected settings"},
        {"n_mels=", "expected a number"},
        {"n_mels=4x", "expected a number"},
        {"n_mels=0", "from 1 to"},
        {"n_mels=1.5", "whole number"},
        {"mels=40", "'mels' is not a setting"},
        {"window=blackman", "hamming, hann, rectangular"},
        {"n_fft=500", "power of 2"},
        {"n_fft=128", "win_length 200"},
        {"f_min=3000,f_max=2000", "f_min < f_max"},
        {"f_max=5000", "4000, half the sample rate"},
        {"n_mels=512", "fewer n_mels"},
        {"log_floor=nan", "from"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        px_error err = {0};
        px_audio audio = px_audio_default();
        px_frontend *front = NULL;
        if (px_audio_parse(bad[i].text, &audio, &err) == PX_OK &&
            px_audio_settle(&audio, 8000, &err) == PX_OK &&
            px_frontend_new(&audio, &front, &err) == PX_OK)
            fail_msg("'%s' is accepted", bad[i].text);
        if (err.status != PX_E_USAGE || !strstr(err.message, bad[i].says))
            fail_msg("'%s': %s", bad[i].text, err.message);
    }
}

static void test_json_round_trip(void **state)
{
    (void)state;
    px_error err = {0};
    px_audio audio = px_audio_default(), back;
    px_json json = {0};
    assert_int_equal(px_audio_parse("n_mels=40,window=hann,preemphasis=0.95,normalize=bin,"
                                    "fit=pad,log_floor=1e-6",
                                    &audio, &err),
                     PX_OK);
    assert_int_equal(px_audio_settle(&audio, 16000, &err), PX_OK);
    px_audio_json(&audio, NULL, &json);
    if (px_audio_from_json(px_json_text(&json), &back, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(&audio, &back, sizeof audio);
    px_json_done(&json);
    assert_int_equal(audio.win_length, 400);
    assert_int_equal(audio.hop_length, 160);
    assert_int_equal(audio.n_fft, 512);
    assert_int_equal(px_audio_from_json("[1]", &back, &err), PX_E_INPUT);
    assert_int_equal(px_audio_from_json("{\"n_mels\": \"x\"}", &back, &err), PX_E_INPUT);
    assert_int_equal(px_audio_from_json("{\"tempo\": 1}", &back, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "plexor.audio"));
}

/* Each is a good file of 16 bits, mono, with some bytes changed or cut off. */
static void test_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t at, count;
        const char *bytes;
        size_t cut; /* 0: whole */
        px_status status;
        const char *says;
    } bad[] = {
        {"empty", 0, 0, "", 1, PX_E_INPUT, "bytes are not a WAV file"},
        {"not RIFF", 0, 4, "RIFX", 0, PX_E_INPUT, "not a WAV or FLAC file"},
        {"only a head", 0, 0, "", 36, PX_E_INPUT, "without samples"},
        {"truncated", 0, 0, "", 600, PX_E_INPUT, "truncated: of 600 bytes of samples 556"},
        {"compressed", 20, 2, "\x02\x00", 0, PX_E_UNSUPPORTED, "Microsoft ADPCM"},
        {"no channels", 22, 2, "\x00\x00", 0, PX_E_INPUT, "0 channels"},
        {"many channels", 22, 2, "\xff\xff", 0, PX_E_INPUT, "65535 channels"},
        {"rate 0", 24, 4, "\x00\x00\x00\x00", 0, PX_E_INPUT, "0 Hz"},
        {"rate huge", 24, 4, "\xff\xff\xff\xff", 0, PX_E_INPUT, "4294967295 Hz"},
        {"block", 32, 2, "\x03\x00", 0, PX_E_INPUT, "block of 3 bytes"},
        {"bits", 34, 2, "\x0c\x00", 0, PX_E_UNSUPPORTED, "PCM samples of 12 bits"},
        {"short format", 16, 4, "\x04\x00\x00\x00", 0, PX_E_INPUT, "format chunk has 4 bytes"},
        {"extensible, cut", 20, 2, "\xfe\xff", 0, PX_E_UNSUPPORTED, "extensible"},
        {"no samples", 40, 4, "\x00\x00\x00\x00", 0, PX_E_INPUT, "holds no samples"},
        {"endless chunk", 36, 8, "junk\xff\xff\xff\x7f", 0, PX_E_INPUT, "does not end"},
        {"samples first", 12, 8, "data\x10\x00\x00\x00", 0, PX_E_INPUT, "before their format"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t size = 0;
        px_error err = {0};
        pxi_clip clip = {0};
        char *bytes = golden_bytes("pcm16.wav", &size);
        memcpy(bytes + bad[i].at, bad[i].bytes, bad[i].count);
        const pxi_bytes view = pxi_bytes_view(bytes, bad[i].cut ? bad[i].cut : size);
        const px_status status = pxi_audio_decode(&view, "bad.wav", &clip, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].says) ||
            !strstr(err.message, "'bad.wav'"))
            fail_msg("%s: status %d, %s", bad[i].name, (int)status, err.message);
        free(bytes);
    }
}

static void test_refuses_flac(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t at;
        char byte;
        size_t cut;
        const char *says;
    } bad[] = {
        {"head only", 0, 'f', 20, "truncated"}, {"no STREAMINFO", 4, 1, 0, "STREAMINFO"},
        {"rate 0", 18, 0, 0, "sample rate"},    {"cut", 0, 'f', 300, "of 300 samples"},
        {"damaged", 300, 0x55, 0, "damaged"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t size = 0;
        px_error err = {0};
        pxi_clip clip = {0};
        char *bytes = golden_bytes("mono16.flac", &size);
        bytes[bad[i].at] = bad[i].byte;
        if (strcmp(bad[i].name, "rate 0") == 0)
            memset(bytes + 18, 0, 3);
        const pxi_bytes view = pxi_bytes_view(bytes, bad[i].cut ? bad[i].cut : size);
        if (pxi_audio_decode(&view, "bad.flac", &clip, &err) != PX_E_INPUT ||
            !strstr(err.message, bad[i].says))
            fail_msg("%s: %s", bad[i].name, err.message);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decodes),         cmocka_unit_test(test_writes),
        cmocka_unit_test(test_resamples),       cmocka_unit_test(test_features),
        cmocka_unit_test(test_odd_clips),       cmocka_unit_test(test_settings),
        cmocka_unit_test(test_refuses),         cmocka_unit_test(test_refuses_flac),
        cmocka_unit_test(test_json_round_trip),
    };
    return cmocka_run_group_tests(tests, load_expected, drop_expected);
}
