/* tests/mutate/test_audio_mutations.c - mutations of recordings, worked by hand; sets of mutants */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/audio.h>
#include <internal/data.h>
#include <internal/mutate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { SAMPLES = 10 };

static const int16_t ramp[SAMPLES] = {100, 200, 300, 400, 500, -600, -700, 20000, -20000, 1000};

static const struct {
    const char *text;
    int16_t want[SAMPLES];
} cases[] = {
    {"audio-gain db=0", {100, 200, 300, 400, 500, -600, -700, 20000, -20000, 1000}},
    {"audio-gain db=20", {1000, 2000, 3000, 4000, 5000, -6000, -7000, 32767, -32768, 10000}},
    {"audio-gain db=-20", {10, 20, 30, 40, 50, -60, -70, 2000, -2000, 100}},
    {"audio-shift by=0.3", {0, 0, 0, 100, 200, 300, 400, 500, -600, -700}},
    {"audio-shift by=-0.2", {300, 400, 500, -600, -700, 20000, -20000, 1000, 0, 0}},
    {"audio-shift by=1", {0}},
    {"audio-shift by=0", {100, 200, 300, 400, 500, -600, -700, 20000, -20000, 1000}},
    {"audio-mask at=0.2 length=0.3", {100, 200, 0, 0, 0, -600, -700, 20000, -20000, 1000}},
    {"audio-mask at=0.9 length=1", {100, 200, 300, 400, 500, -600, -700, 20000, -20000, 0}},
    {"audio-noise snr=120 seed=1", {100, 200, 300, 400, 500, -600, -700, 20000, -20000, 1000}},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        px_error err = {0};
        px_drawn drawn;
        int16_t out[SAMPLES];
        if (px_drawn_parse(cases[i].text, &drawn, &err) != PX_OK ||
            px_mutation_apply_samples(&drawn, ramp, out, SAMPLES, &err) != PX_OK)
            fail_msg("'%s': %s", cases[i].text, err.message);
        for (size_t k = 0; k < SAMPLES; k++)
            if (out[k] != cases[i].want[k])
                fail_msg("'%s': sample %zu is %d", cases[i].text, k, out[k]);
    }
}

/* The noise has the power that was asked for, and only the seed decides which it is. */
static void test_noise(void **state)
{
    (void)state;
    enum { LONG = 20000 };
    int16_t *in = calloc(3 * LONG, sizeof *in), *out = in + LONG, *again = out + LONG;
    assert_non_null(in);
    double signal = 0.0, noise = 0.0;
    px_error err = {0};
    px_drawn drawn;
    for (int i = 0; i < LONG; i++)
        in[i] = (int16_t)(10000.0 * sin(i * 0.05));
    assert_int_equal(px_drawn_parse("audio-noise snr=20 seed=7", &drawn, &err), PX_OK);
    assert_int_equal(px_mutation_apply_samples(&drawn, in, out, LONG, &err), PX_OK);
    assert_int_equal(px_mutation_apply_samples(&drawn, in, again, LONG, &err), PX_OK);
    assert_memory_equal(out, again, LONG * sizeof *out);
    for (int i = 0; i < LONG; i++) {
        signal += (double)in[i] * in[i];
        noise += (double)(out[i] - in[i]) * (out[i] - in[i]);
    }
    assert_true(fabs(10.0 * log10(signal / noise) - 20.0) < 0.2);
    free(in);
}

static void test_change(void **state)
{
    (void)state;
    const int16_t a[4] = {0, 0, 0, -32768}, b[4] = {0, 1, 256, 32767};
    const px_change change = px_change_between_samples(a, b, 4),
                    small = px_change_between_samples(a, b, 3);
    assert_int_equal(change.l0, 3);
    assert_int_equal(change.linf, 255);
    assert_int_equal(small.l0, 2);
    assert_int_equal(small.linf, 2); /* 256 / 32768 of 255, rounded up */
}

static void test_samples(void **state)
{
    (void)state;
    const float in[6] = {0.5f, -0.5f, 1.0f, -1.5f, NAN, 1.6f / 32768.0f};
    const int16_t want[6] = {16384, -16384, 32767, -32768, 0, 2};
    int16_t out[6];
    float back[6];
    px_samples_round(in, out, 6);
    assert_memory_equal(out, want, sizeof want);
    px_samples_widen(out, back, 6);
    assert_true(back[1] == -0.5f);
}

static void test_kinds(void **state)
{
    (void)state;
    px_error err = {0};
    px_drawn sound, picture;
    const uint8_t pixels[4] = {0};
    uint8_t other[4];
    int16_t out[SAMPLES];
    assert_int_equal(px_drawn_parse("audio-gain db=1", &sound, &err), PX_OK);
    assert_int_equal(px_drawn_parse("contrast gain=0.5", &picture, &err), PX_OK);
    assert_int_equal(px_mutation_apply(&sound, pixels, other, 2, 2, 1, &err), PX_E_MISMATCH);
    assert_int_equal(px_mutation_apply_samples(&picture, ramp, out, SAMPLES, &err), PX_E_MISMATCH);
    assert_int_equal(px_drawn_parse("audio-gain db=61", &sound, &err), PX_E_USAGE);
}

/* A set of mutants: features of what the clip became. */
static void test_mutant_set(void **state)
{
    (void)state;
    char folder[] = "/tmp/plexor-mutants-XXXXXX", path[64];
    px_error err = {0};
    float wave[800], features[2][4 * 20], *samples = NULL;
    size_t count = 0;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT(wave); i++)
        wave[i] = (float)(0.3 * sin((double)i * 0.4));
    snprintf(path, sizeof path, "%s/a.wav", folder);
    assert_int_equal(px_wav_save(path, 8000, wave, COUNT(wave), &err), PX_OK);
    px_audio audio = px_audio_default();
    assert_int_equal(px_audio_parse("frames=4,n_mels=20", &audio, &err), PX_OK);
    px_data_options options = px_data_options_default();
    options.audio = &audio;
    px_dataset *set = NULL;
    px_mutant_set *mutants = NULL;
    px_mutations from;
    assert_int_equal(px_dataset_open(folder, &options, &set, &err), PX_OK);
    assert_int_equal(px_mutations_parse("nss", &from, &err), PX_OK);
    assert_int_equal(px_mutant_set_new(set, &from, 1, 0, &mutants, &err), PX_E_MISMATCH);
    assert_int_equal(px_mutations_parse("audio:shift,mask", &from, &err), PX_OK);
    assert_int_equal(px_mutant_set_new(set, &from, 1, 0, &mutants, &err), PX_OK);
    const px_dataset *data = px_mutant_set_data(mutants);
    assert_int_equal(px_dataset_pixels(data, 0, features[0], &err), PX_OK);
    assert_int_equal(px_dataset_clip(data, 0, &samples, &count, &err), PX_OK);
    assert_int_equal(count, COUNT(wave));
    assert_int_equal(px_dataset_features(set, samples, count, features[1], &err), PX_OK);
    assert_memory_equal(features[0], features[1], sizeof features[0]);
    assert_int_equal(px_dataset_pixels(set, 0, features[1], &err), PX_OK);
    assert_memory_not_equal(features[0], features[1], sizeof features[0]);
    free(samples);
    px_mutant_set_free(mutants);
    px_dataset_close(set);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_noise),
        cmocka_unit_test(test_change),  cmocka_unit_test(test_samples),
        cmocka_unit_test(test_kinds),   cmocka_unit_test(test_mutant_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
