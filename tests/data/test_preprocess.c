/* tests/data/test_preprocess.c - options beat metadata beat defaults; what a network gets to see */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include <internal/data.h>
#include <internal/picture.h>

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NONE           \
    {                  \
        {              \
            NULL, NULL \
        }              \
    }

static const px_shape rgb_input = {4, {-1, 3, 4, 4}}, grey_input = {4, {-1, 1, 4, 4}},
                      last_input = {4, {-1, 4, 4, 3}}, flat_input = {2, {-1, 48}},
                      open_input = {4, {-1, 3, -1, -1}};

static const struct {
    const char *name;
    const px_shape *input;
    px_property properties[3];
    px_preprocess_options how;
    float want_scale, want_mean, want_std; /* of channel 1 */
    int height, width;
    const char *scale_from, *mean_from;
} good[] = {
    {"defaults", &rgb_input, NONE, {0}, 1, 0, 1, 4, 4, "default", "default"},
    {"metadata",
     &rgb_input,
     {{"plexor.scale", "1/255"}, {"plexor.mean", "0.1,0.2,0.3"}, {"plexor.std", "2"}},
     {0},
     1 / 255.0f,
     0.2f,
     2,
     4,
     4,
     "metadata",
     "metadata"},
    {"options win",
     &rgb_input,
     {{"plexor.scale", "1/255"}, {"plexor.mean", "9"}},
     {.scale = "0.5", .mean = "imagenet", .std = "imagenet"},
     0.5f,
     0.456f,
     0.224f,
     4,
     4,
     "option",
     "option"},
    {"size of an open input",
     &open_input,
     {{"plexor.size", "8x6"}},
     {0},
     1,
     0,
     1,
     8,
     6,
     "default",
     "default"},
    {"square size", &open_input, NONE, {.size = "5"}, 1, 0, 1, 5, 5, "default", "default"},
    {"size that agrees",
     &rgb_input,
     NONE,
     {.mean = "1, 2, 3", .size = "4x4"},
     1,
     2,
     1,
     4,
     4,
     "default",
     "option"},
    {"fractions",
     &rgb_input,
     NONE,
     {.scale = "1/2", .mean = "51/255", .std = "-1/-4"},
     0.5f,
     0.2f,
     0.25f,
     4,
     4,
     "option",
     "option"},
    {"scale list of equals",
     &rgb_input,
     NONE,
     {.scale = "2,2,2"},
     2,
     0,
     1,
     4,
     4,
     "option",
     "default"},
};

static size_t property_count(const px_property *properties)
{
    size_t count = 0;
    while (count < 3 && properties[count].key)
        count++;
    return count;
}

static void test_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        px_preprocess pre;
        px_error err = {0};
        if (px_preprocess_init(&pre, good[i].properties, property_count(good[i].properties),
                               good[i].input, &good[i].how, &err) != PX_OK)
            fail_msg("%s: %s", good[i].name, err.message);
        if (pre.scale != good[i].want_scale || fabsf(pre.mean[1] - good[i].want_mean) > 1e-7f ||
            pre.stddev[1] != good[i].want_std || pre.height != good[i].height ||
            pre.width != good[i].width || strcmp(pre.scale_from, good[i].scale_from) != 0 ||
            strcmp(pre.mean_from, good[i].mean_from) != 0)
            fail_msg("%s: scale %g (%s), mean %g (%s), std %g, size %dx%d", good[i].name,
                     (double)pre.scale, pre.scale_from, (double)pre.mean[1], pre.mean_from,
                     (double)pre.stddev[1], pre.height, pre.width);
    }
}

static const struct {
    const char *name;
    const px_shape *input;
    px_property properties[3];
    px_preprocess_options how;
    px_status status;
    const char *says;
} bad[] = {
    {"no number", &rgb_input, NONE, {.scale = "x"}, PX_E_USAGE, "--scale 'x'"},
    {"zero scale", &rgb_input, NONE, {.scale = "0"}, PX_E_USAGE, "--scale"},
    {"division by zero", &rgb_input, NONE, {.scale = "1/0"}, PX_E_USAGE, "--scale"},
    {"infinite", &rgb_input, NONE, {.scale = "inf"}, PX_E_USAGE, "--scale"},
    {"trailing comma", &rgb_input, NONE, {.mean = "1,2,"}, PX_E_USAGE, "--mean"},
    {"unknown preset", &rgb_input, NONE, {.mean = "imagnet"}, PX_E_USAGE, "imagnet"},
    {"zero std", &rgb_input, NONE, {.std = "1,0,1"}, PX_E_USAGE, "above 0"},
    {"two means", &rgb_input, NONE, {.mean = "1,2"}, PX_E_MISMATCH, "2 values"},
    {"lengths differ", NULL, NONE, {.mean = "1,2", .std = "1,2,3"}, PX_E_MISMATCH, "std has 3"},
    {"rgb mean, grey input", &grey_input, NONE, {.mean = "imagenet"}, PX_E_MISMATCH, "1 channels"},
    {"another size", &rgb_input, NONE, {.size = "8x8"}, PX_E_MISMATCH, "takes 4x4"},
    {"no size", &open_input, NONE, {.size = "8x"}, PX_E_USAGE, "--size"},
    {"negative size", &open_input, NONE, {.size = "-8"}, PX_E_USAGE, "--size"},
    {"bad metadata", &rgb_input, {{"plexor.mean", "?"}}, {0}, PX_E_USAGE, "plexor.mean"},
    {"bad channels", &rgb_input, {{"plexor.channels", "yuv"}}, {0}, PX_E_INPUT, "yuv"},
    {"grey for rgb", &rgb_input, {{"plexor.channels", "gray"}}, {0}, PX_E_MISMATCH, "3 channels"},
};

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        px_preprocess pre;
        px_error err = {0};
        const px_status status =
            px_preprocess_init(&pre, bad[i].properties, property_count(bad[i].properties),
                               bad[i].input, &bad[i].how, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].says))
            fail_msg("%s: %s '%s'", bad[i].name, px_status_name(status), err.message);
    }
}

/* One picture of 4 x 4: red 10, green 20, blue 30 + x. */
static void write_picture(void)
{
    uint8_t pixels[48];
    px_error err = {0};
    for (int i = 0; i < 16; i++) {
        pixels[3 * i] = 10;
        pixels[3 * i + 1] = 20;
        pixels[3 * i + 2] = (uint8_t)(30 + i % 4);
    }
    mkdir("set", 0777);
    mkdir("set/a", 0777);
    assert_int_equal(px_png_save("set/a/1.png", 4, 4, 3, pixels, &err), PX_OK);
}

/* (red, green, blue + 1) of pixel (0, 1) where the network looks for them. */
static const struct {
    const char *name;
    const px_shape *input;
    const char *channels;
    px_preprocess_options how;
    size_t at[3];
    float want[3];
} inputs[] = {
    {"plain", &rgb_input, NULL, {.scale = "1"}, {1, 17, 33}, {10, 20, 31}},
    {"default scale", &rgb_input, NULL, {0}, {1, 17, 33}, {10 / 255.0f, 20 / 255.0f, 31 / 255.0f}},
    {"mean and std",
     &rgb_input,
     NULL,
     {.scale = "1", .mean = "1,2,3", .std = "2,4,8"},
     {1, 17, 33},
     {4.5f, 4.5f, 3.5f}},
    {"bgr", &rgb_input, "bgr", {.scale = "1", .mean = "1,2,3"}, {33, 17, 1}, {7, 18, 30}},
    {"channels last", &last_input, NULL, {.scale = "1", .mean = "1,2,3"}, {3, 4, 5}, {9, 18, 28}},
    {"flat", &flat_input, NULL, {.scale = "1", .mean = "1"}, {1, 17, 33}, {9, 19, 30}},
    {"grey", &grey_input, NULL, {.scale = "1"}, {1, 1, 1}, {18, 18, 18}},
};

static void test_inputs(void **state)
{
    (void)state;
    write_picture();
    for (size_t i = 0; i < COUNT(inputs); i++) {
        px_preprocess pre;
        px_dataset *set = NULL;
        px_error err = {0};
        float input[48];
        const px_property property = {"plexor.channels", inputs[i].channels};
        if (px_preprocess_init(&pre, &property, inputs[i].channels != NULL, inputs[i].input,
                               &inputs[i].how, &err) != PX_OK ||
            px_dataset_open_for(&pre, inputs[i].input, "set", NULL, &set, &err) != PX_OK ||
            px_dataset_input(set, &pre, 0, input, &err) != PX_OK)
            fail_msg("%s: %s", inputs[i].name, err.message);
        for (int k = 0; k < 3; k++)
            if (input[inputs[i].at[k]] != inputs[i].want[k])
                fail_msg("%s: channel %d is %g", inputs[i].name, k, (double)input[inputs[i].at[k]]);
        px_dataset_close(set);
    }
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    static const px_shape wrong[] = {{2, {-1, 47}}, {4, {-1, 7, 4, 4}}, {3, {-1, 3, -1}}};
    write_picture();
    for (size_t i = 0; i < COUNT(wrong); i++) {
        px_preprocess pre;
        px_dataset *set = NULL;
        px_error err = {0};
        assert_int_equal(px_preprocess_init(&pre, NULL, 0, &wrong[i], NULL, &err), PX_OK);
        const px_status status = px_dataset_open_for(&pre, &wrong[i], "set", NULL, &set, &err);
        if (status != PX_E_MISMATCH)
            fail_msg("shape %zu: %s '%s'", i, px_status_name(status), err.message);
    }
}

static const char vit[] =
    "{\"do_normalize\": true, \"do_resize\": true, \"image_mean\": [0.5, 0.4, 0.3],"
    " \"image_std\": [0.5, 0.25, 0.5], \"resample\": 2, \"size\": {\"height\": 8, \"width\": 6}}";
static const char cropped[] =
    "{\"do_center_crop\": true, \"crop_size\": {\"height\": 4, \"width\": 4}, \"do_normalize\": "
    "true,"
    " \"do_rescale\": true, \"rescale_factor\": 0.00392156862745098, \"image_mean\": 0.5,"
    " \"image_std\": 0.25, \"resample\": 3, \"size\": {\"shortest_edge\": 5}}";
static const char offset[] = "{\"do_rescale\": true, \"rescale_factor\": 0.00784313725490196,"
                             " \"rescale_offset\": true, \"do_normalize\": false}";
static const char flipped[] = "{\"do_flip_channel_order\": true, \"do_rescale\": false,"
                              " \"do_normalize\": false, \"size\": 8}";

/* What --preprocess makes of an 8-bit 128 and of a float 0.5, in the network's channel 1. */
static const struct {
    const char *name, *file; /* NULL: a preset */
    const px_shape *input;
    px_property properties[3];
    px_preprocess_options how;
    double want;
    bool bgr;
    int height, width;
    const char *note; /* "": none */
} sources[] = {
    {"imagenet", NULL, &rgb_input, NONE, {0}, (128 / 255.0 - 0.456) / 0.224, false, 4, 4, ""},
    {"cifar10", NULL, &rgb_input, NONE, {0}, (128 / 255.0 - 0.4822) / 0.2435, false, 4, 4, ""},
    {"mnist", NULL, &grey_input, NONE, {0}, (128 / 255.0 - 0.1307) / 0.3081, false, 4, 4, ""},
    {"fashion-mnist", NULL, &grey_input, NONE, {0}, (128 / 255.0 - 0.286) / 0.353, false, 4, 4, ""},
    {"half", NULL, &rgb_input, NONE, {0}, 2 * 128 / 255.0 - 1, false, 4, 4, ""},
    {"0.5", NULL, &rgb_input, NONE, {0}, 2 * 128 / 255.0 - 1, false, 4, 4, ""},
    {"tf", NULL, &rgb_input, NONE, {0}, 128 / 127.5 - 1, false, 4, 4, ""},
    {"caffe", NULL, &rgb_input, NONE, {0}, 128 - 116.779, true, 4, 4, ""},
    {"bytes", NULL, &rgb_input, NONE, {0}, 128, false, 4, 4, ""},
    {"0-255", NULL, &rgb_input, NONE, {0}, 128, false, 4, 4, ""},
    {"none:bgr", NULL, &rgb_input, NONE, {0}, 128 / 255.0, true, 4, 4, ""},
    {"caffe:rgb", NULL, &rgb_input, NONE, {0}, 128 - 116.779, false, 4, 4, ""},
    {"none", NULL, &rgb_input, NONE, {0}, 128 / 255.0, false, 4, 4, ""},
    {"options beat it",
     NULL,
     &rgb_input,
     NONE,
     {.preprocess = "imagenet", .mean = "0.5", .scale = "1/128"},
     0.5 / 0.224,
     false,
     4,
     4,
     "--mean takes the place of the mean of --preprocess 'imagenet'"},
    {"it beats metadata",
     NULL,
     &rgb_input,
     {{"plexor.mean", "9"}, {"plexor.channels", "bgr"}, {"plexor.scale", "3"}},
     {.preprocess = "none"},
     128 / 255.0,
     false,
     4,
     4,
     "takes the place of the mean in the network's metadata"},
    {"as the metadata",
     NULL,
     &rgb_input,
     {{"plexor.mean", "0.5"}, {"plexor.std", "0.5"}},
     {.preprocess = "half"},
     2 * 128 / 255.0 - 1,
     false,
     4,
     4,
     ""},
    {"vit", vit, &open_input, NONE, {0}, (128 / 255.0 - 0.4) / 0.25, false, 8, 6, ""},
    {"a network that has its size",
     vit,
     &rgb_input,
     NONE,
     {0},
     (128 / 255.0 - 0.4) / 0.25,
     false,
     4,
     4,
     ""},
    {"cropped",
     cropped,
     &open_input,
     NONE,
     {0},
     (128 / 255.0 - 0.5) / 0.25,
     false,
     4,
     4,
     "the middle 4x4 of a resized picture; plexor resizes the whole picture; asks for bicubic"},
    {"offset", offset, &rgb_input, NONE, {0}, 128 / 127.5 - 1, false, 4, 4, ""},
    {"flipped", flipped, &open_input, NONE, {0}, 128, true, 8, 8, ""},
};

static void test_preprocess_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        px_error err = {0};
        px_preprocess pre;
        px_preprocess_options how = sources[i].how;
        if (sources[i].file) {
            write_text("config.json", sources[i].file);
            how.preprocess = "config.json";
        } else if (!how.preprocess) {
            how.preprocess = sources[i].name;
        }
        if (px_preprocess_init(&pre, sources[i].properties, property_count(sources[i].properties),
                               sources[i].input, &how, &err) != PX_OK)
            fail_msg("%s: %s", sources[i].name, err.message);
        const px_shape pixel = {3, {pre.picture, 1, 1}};
        for (int is_8bit = 0; is_8bit < 2; is_8bit++) {
            const float value = is_8bit || pre.range <= 0.0f ? 128.0f : 128 / 255.0f;
            float got[3] = {value, value, value};
            px_preprocess_fit(&pre, is_8bit);
            assert_int_equal(px_preprocess_apply(&pre, &pixel, got, &err), PX_OK);
            const float seen = got[pre.picture == 3];
            if (fabs((double)seen - sources[i].want) > 2e-5 * (1.0 + fabs(sources[i].want)))
                fail_msg("%s: %g, expected %g", sources[i].name, (double)seen, sources[i].want);
        }
        if (pre.bgr != sources[i].bgr || pre.height != sources[i].height ||
            pre.width != sources[i].width || strcmp(pre.mean_from, "option") != 0 ||
            (*sources[i].note ? !strstr(pre.note, sources[i].note) : *pre.note))
            fail_msg("%s: %s, %dx%d, '%s'", sources[i].name, pre.bgr ? "bgr" : "rgb", pre.height,
                     pre.width, pre.note);
    }
}

static const struct {
    const char *name, *file;
    px_status status;
    const char *says;
} bad_sources[] = {
    {"imagnet", NULL, PX_E_USAGE, "did you mean 'imagenet'"},
    {"something", NULL, PX_E_USAGE, "there is no file or preset 'something'"},
    {"./absent.json", NULL, PX_E_INPUT, "absent.json"},
    {"config.json", "{", PX_E_INPUT, "config.json"},
    {"config.json", "[1]", PX_E_INPUT, "no preprocessor_config.json"},
    {"config.json", "{\"sampling_rate\": 16000}", PX_E_INPUT, "no preprocessor_config.json"},
    {"config.json", "{\"do_normalize\": true, \"image_mean\": [\"a\"], \"image_std\": [1]}",
     PX_E_INPUT, "must be numbers"},
    {"config.json", "{\"do_normalize\": true}", PX_E_INPUT, "must be numbers"},
    {"config.json", "{\"rescale_factor\": 0}", PX_E_INPUT, "above 0"},
    {"config.json", "{\"image_mean\": [1, 2], \"image_std\": [1, 1]}", PX_E_MISMATCH, "2 values"},
    {"config.json", "{\"image_mean\": [1, 2, 3], \"image_std\": [1, 0, 1]}", PX_E_USAGE, "above 0"},
};

static void test_preprocess_option_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_sources); i++) {
        px_error err = {0};
        px_preprocess pre;
        if (bad_sources[i].file)
            write_text("config.json", bad_sources[i].file);
        const px_preprocess_options how = {.preprocess = bad_sources[i].name};
        const px_status status = px_preprocess_init(&pre, NULL, 0, &rgb_input, &how, &err);
        if (status != bad_sources[i].status || !strstr(err.message, bad_sources[i].says))
            fail_msg("%s: %s '%s'", bad_sources[i].name, px_status_name(status), err.message);
    }
}

static void test_class_names(void **state)
{
    (void)state;
    static const char *const lists[] = {"[\"cat\", \"dog\"]", "{\"1\": \"dog\", \"0\": \"cat\"}"};
    static const char *const broken[] = {
        "", "[", "[]", "{}", "3", "[1]", "{\"0\": \"a\", \"2\": \"b\"}"};
    char **names = NULL;
    int count = 0;
    px_error err = {0};
    for (size_t i = 0; i < COUNT(lists); i++) {
        assert_int_equal(px_class_names_parse(lists[i], &names, &count, &err), PX_OK);
        assert_int_equal(count, 2);
        assert_string_equal(names[1], "dog");
        px_class_names_free(names, count);
    }
    for (size_t i = 0; i < COUNT(broken); i++)
        if (px_class_names_parse(broken[i], &names, &count, &err) == PX_OK)
            fail_msg("'%s' was accepted", broken[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_preprocess_option),
        cmocka_unit_test(test_preprocess_option_refuses),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
