/* tests/data/test_recordings.c - data sets of recordings: folders, manifests, names, rates, flaws
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include "failing_alloc.h"
#include <internal/audio.h>
#include <internal/data.h>
#include <internal/picture.h>
#include <internal/preprocess.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef enum sound { TONE, SILENCE, LOUD } sound;

static void write_wav(const char *path, int rate, sound what)
{
    float samples[600];
    px_error err = {0};
    for (size_t i = 0; i < COUNT(samples); i++) {
        const double v = sin((double)i * 0.3);
        samples[i] = what == SILENCE ? 0.0f : (float)(v * (what == LOUD ? 3.0 : 0.5));
    }
    if (px_wav_save(path, rate, samples, COUNT(samples), &err) != PX_OK)
        fail_msg("%s", err.message);
}

static px_dataset *open_set(const char *spec, const char *split, const char *audio)
{
    px_error err = {0};
    px_dataset *set = NULL;
    px_audio settings = px_audio_default();
    px_data_options options = px_data_options_default();
    options.split = split;
    if (audio) {
        assert_int_equal(px_audio_parse(audio, &settings, &err), PX_OK);
        options.audio = &settings;
    }
    if (px_dataset_open(spec, &options, &set, &err) != PX_OK)
        fail_msg("'%s': %s", spec, err.message);
    return set;
}

/* "name=class;..." in the order of the set. */
static void check_order(const px_dataset *set, const char *want)
{
    char got[512] = "", name[64];
    size_t used = 0;
    for (int64_t i = 0; i < px_dataset_count(set); i++) {
        const char *class = px_dataset_class_name(set, (int)px_dataset_label(set, i));
        used += (size_t)snprintf(got + used, sizeof got - used, "%s=%s;",
                                 px_dataset_name(set, i, name, sizeof name), class ? class : "");
    }
    if (strcmp(got, want) != 0)
        fail_msg("'%s', not '%s'", got, want);
}

static int make_files(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    mkdir("classes", 0777);
    mkdir("classes/no", 0777);
    mkdir("classes/yes", 0777);
    write_wav("classes/no/a.wav", 8000, TONE);
    write_wav("classes/no/b.WAV", 8000, SILENCE);
    write_wav("classes/yes/c.wave", 8000, LOUD);
    mkdir("named", 0777);
    static const char *const names[] = {"0_ann_0", "0_ann_5", "0_bob_0", "0_bob_7",
                                        "1_ann_1", "1_ann_9", "1_bob_4", "1_bob_5"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[64];
        snprintf(path, sizeof path, "named/%s.wav", names[i]);
        write_wav(path, 8000, TONE);
    }
    mkdir("mixed", 0777);
    write_wav("mixed/a.wav", 8000, TONE);
    write_wav("mixed/b.wav", 16000, TONE);
    mkdir("both", 0777);
    write_wav("both/a.wav", 8000, TONE);
    const uint8_t dot[1] = {0};
    px_png_save("both/b.png", 1, 1, 1, dot, NULL);
    return 0;
}

static void test_class_folders(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = open_set("classes", NULL, NULL);
    check_order(set, "no/a.wav=no;yes/c.wave=yes;no/b.WAV=no;");
    const px_shape shape = px_dataset_shape(set);
    assert_int_equal(shape.rank, 3);
    assert_int_equal(shape.dim[1], 160);
    assert_int_equal(shape.dim[2], 64);
    assert_false(px_dataset_is_8bit(set));
    assert_int_equal(px_dataset_audio(set)->sample_rate, 8000);
    float *features = calloc((size_t)px_shape_count(&shape), sizeof *features);
    assert_non_null(features);
    assert_int_equal(px_dataset_audio_flaws(set).silent, 0); /* not read yet */
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(px_dataset_pixels(set, i, features, &err), PX_OK);
    const px_audio_flaws flaws = px_dataset_audio_flaws(set);
    assert_int_equal(flaws.silent, 1);
    assert_int_equal(flaws.first_silent, 2);
    assert_int_equal(flaws.clipped, 1);
    assert_int_equal(flaws.first_clipped, 1);
    float *samples = NULL;
    size_t count = 0;
    assert_int_equal(px_dataset_clip(set, 0, &samples, &count, &err), PX_OK);
    assert_int_equal(count, 600);
    free(samples);
    free(features);
    px_dataset_close(set);
}

static void test_manifest(void **state)
{
    (void)state;
    write_text("list.csv",
               "path,label,split\nclasses/no/a.wav,x,train\nnamed/0_ann_0.wav,y,test\n");
    px_dataset *set = open_set("list.csv", "train", "frames=5,n_mels=20");
    check_order(set, "classes/no/a.wav=x;");
    assert_int_equal(px_dataset_class_count(set), 2);
    assert_int_equal(px_dataset_shape(set).dim[1], 5);
    px_dataset_close(set);
}

static void test_names(void **state)
{
    (void)state;
    px_dataset *set = open_set("named::{digit}_{label}_{test:0-4}", "train", NULL);
    check_order(set, "0_ann_5.wav=ann;0_bob_7.wav=bob;1_ann_9.wav=ann;1_bob_5.wav=bob;");
    px_dataset_close(set);
    set = open_set("named/::*_{label}_{test:0,4}.wav", NULL, NULL);
    check_order(set, "0_ann_0.wav=ann;0_bob_0.wav=bob;1_bob_4.wav=bob;");
    px_dataset_close(set);
    set = open_set("named::{label}_{split}_*", "bob", NULL);
    assert_int_equal(px_dataset_count(set), 4);
    assert_int_equal(px_dataset_label(set, 1), 1); /* digits are their own numbers */
    px_dataset_close(set);
    set = open_set("classes::{label}/*", NULL, NULL);
    check_order(set, "no/a.wav=no;yes/c.wave=yes;no/b.WAV=no;");
    px_dataset_close(set);
    assert_int_equal(system("tar cf named.tar named"), 0);
    set = open_set("named.tar::*_{label}_*", NULL, NULL);
    assert_int_equal(px_dataset_count(set), 8);
    px_dataset_close(set);
}

static const struct {
    const char *spec, *audio;
    int height;
    px_status status;
    const char *says;
} bad[] = {
    {"mixed", NULL, 0, PX_E_MISMATCH, "mixed sample rates: 'mixed/b.wav' has 16000 Hz"},
    {"mixed", "sample_rate=16000", 0, PX_E_MISMATCH, "16000 Hz are wanted; --audio resample=1"},
    {"both", NULL, 0, PX_E_INPUT, "pictures and recordings"},
    {"named", "frames=64", 32, PX_E_MISMATCH, "the network takes 32"},
    {"named::*", NULL, 0, PX_E_USAGE, "expected one {label}"},
    {"named::{label}_{label}", NULL, 0, PX_E_USAGE, "expected one {label}"},
    {"named::{label}_{split}_{test:1}", NULL, 0, PX_E_USAGE, "at most one {split}"},
    {"named::*_{label}_{test:a-b}", NULL, 0, PX_E_USAGE, "'a-b' is not a list of ranges"},
    {"named::*-{label}", NULL, 0, PX_E_INPUT, "does not fit the pattern"},
    {"named::*_{test:0-4}_{label}", NULL, 0, PX_E_INPUT, "does not fit the pattern"},
    {"nowhere::{label}", NULL, 0, PX_E_INPUT, "cannot be opened"},
    {"list.csv::{label}", NULL, 0, PX_E_INPUT, "a folder or an archive"},
};

static void test_refuses(void **state)
{
    (void)state;
    write_text("list.csv", "a.wav,1\n");
    for (size_t i = 0; i < COUNT(bad); i++) {
        px_error err = {0};
        px_dataset *set = NULL;
        px_audio settings = px_audio_default();
        px_data_options options = px_data_options_default();
        options.height = bad[i].height;
        if (bad[i].audio) {
            assert_int_equal(px_audio_parse(bad[i].audio, &settings, &err), PX_OK);
            options.audio = &settings;
        }
        const px_status status = px_dataset_open(bad[i].spec, &options, &set, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].says))
            fail_msg("'%s': status %d, %s", bad[i].spec, (int)status, err.message);
    }
}

static void test_converts_rates(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = open_set("mixed", NULL, "sample_rate=8000,resample=1,frames=4");
    float *samples = NULL;
    size_t count = 0;
    assert_int_equal(px_dataset_clip(set, 1, &samples, &count, &err), PX_OK);
    assert_int_equal(count, 300);
    free(samples);
    px_dataset_close(set);
}

/* Settings travel with the network: its metadata decide, options change them. */
static void test_metadata(void **state)
{
    (void)state;
    const px_property properties[] = {
        {"plexor.audio", "{\"sample_rate\": 8000, \"n_mels\": 20, \"frames\": 7}"}};
    const px_shape input = {.rank = 4, .dim = {-1, 1, 7, 20}};
    px_error err = {0};
    px_preprocess pre;
    px_dataset *set = NULL;
    assert_int_equal(px_preprocess_init(&pre, properties, 1, &input, NULL, &err), PX_OK);
    assert_string_equal(pre.audio_from, "metadata");
    assert_int_equal(px_dataset_open_for(&pre, &input, "named::*_{label}_*", NULL, &set, &err),
                     PX_OK);
    assert_int_equal(pre.audio.win_length, 200);
    assert_true(pre.scale == 1.0f);
    px_dataset_close(set);
    assert_int_equal(px_dataset_open_for(&pre, &input, "mixed", NULL, &set, &err), PX_E_MISMATCH);
    assert_int_equal(px_preprocess_audio(&pre, "resample=1", &err), PX_OK);
    assert_int_equal(px_dataset_open_for(&pre, &input, "mixed", NULL, &set, &err), PX_OK);
    px_dataset_close(set);
    assert_int_equal(px_preprocess_audio(&pre, "resample=7", &err), PX_E_USAGE);
}

/* Each allocation fails in turn: a clear status, nothing leaks, and the last time all is well. */
static px_status open_and_read(float *features, px_error *err)
{
    px_audio audio = px_audio_default();
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    float *samples = NULL;
    size_t count = 0;
    PX_TRY(px_audio_parse("sample_rate=8000,resample=1,frames=4,n_mels=20", &audio, err));
    options.audio = &audio;
    PX_TRY(px_dataset_open("mixed::{label}", &options, &set, err));
    px_status status = px_dataset_pixels(set, 1, features, err);
    if (status == PX_OK)
        status = px_dataset_clip(set, 1, &samples, &count, err);
    if (status == PX_OK)
        status = px_dataset_features(set, samples, count, features, err);
    free(samples);
    px_dataset_close(set);
    return status;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    float features[4 * 20];
    px_status status;
    long k = 0;
    for (px_error err = {0}; fail_at(k), status = open_and_read(features, &err), fail_never(); k++)
        if (status == PX_OK || status == PX_E_MISMATCH)
            fail_msg("allocation %ld failed, status %d, %s", k, (int)status, err.message);
    assert_int_equal(status, PX_OK);
    assert_true(k > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_folders),   cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_converts_rates),  cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_files, leave_folder);
}
