/* tests/data/test_preprocess.c - options beat metadata beat defaults; what a network gets to see */
#include "data/data_helpers.h"
#include <plexor/data.h>
#include <plexor/picture.h>

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
    const char *scale, *mean, *std, *size;
    float want_scale, want_mean, want_std; /* of channel 1 */
    int height, width;
    const char *scale_from, *mean_from;
} good[] = {
    {"defaults", &rgb_input, NONE, NULL, NULL, NULL, NULL, 1, 0, 1, 4, 4, "default", "default"},
    {"metadata",
     &rgb_input,
     {{"plexor.scale", "1/255"}, {"plexor.mean", "0.1,0.2,0.3"}, {"plexor.std", "2"}},
     NULL,
     NULL,
     NULL,
     NULL,
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
     "0.5",
     "imagenet",
     "imagenet",
     NULL,
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
     NULL,
     NULL,
     NULL,
     NULL,
     1,
     0,
     1,
     8,
     6,
     "default",
     "default"},
    {"square size", &open_input, NONE, NULL, NULL, NULL, "5", 1, 0, 1, 5, 5, "default", "default"},
    {"size that agrees", &rgb_input, NONE, NULL, "1, 2, 3", NULL, "4x4", 1, 2, 1, 4, 4, "default",
     "option"},
    {"fractions", &rgb_input, NONE, "1/2", "51/255", "-1/-4", NULL, 0.5f, 0.2f, 0.25f, 4, 4,
     "option", "option"},
    {"scale list of equals", &rgb_input, NONE, "2,2,2", NULL, NULL, NULL, 2, 0, 1, 4, 4, "option",
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
                               good[i].input, good[i].scale, good[i].mean, good[i].std,
                               good[i].size, &err) != PX_OK)
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
    const char *scale, *mean, *std, *size;
    px_status status;
    const char *says;
} bad[] = {
    {"no number", &rgb_input, NONE, "x", NULL, NULL, NULL, PX_E_USAGE, "--scale 'x'"},
    {"zero scale", &rgb_input, NONE, "0", NULL, NULL, NULL, PX_E_USAGE, "--scale"},
    {"division by zero", &rgb_input, NONE, "1/0", NULL, NULL, NULL, PX_E_USAGE, "--scale"},
    {"infinite", &rgb_input, NONE, "inf", NULL, NULL, NULL, PX_E_USAGE, "--scale"},
    {"trailing comma", &rgb_input, NONE, NULL, "1,2,", NULL, NULL, PX_E_USAGE, "--mean"},
    {"unknown preset", &rgb_input, NONE, NULL, "imagnet", NULL, NULL, PX_E_USAGE, "imagnet"},
    {"zero std", &rgb_input, NONE, NULL, NULL, "1,0,1", NULL, PX_E_USAGE, "above 0"},
    {"two means", &rgb_input, NONE, NULL, "1,2", NULL, NULL, PX_E_MISMATCH, "2 values"},
    {"lengths differ", NULL, NONE, NULL, "1,2", "1,2,3", NULL, PX_E_MISMATCH, "std has 3"},
    {"rgb mean, grey input", &grey_input, NONE, NULL, "imagenet", NULL, NULL, PX_E_MISMATCH,
     "1 channels"},
    {"another size", &rgb_input, NONE, NULL, NULL, NULL, "8x8", PX_E_MISMATCH, "takes 4x4"},
    {"no size", &open_input, NONE, NULL, NULL, NULL, "8x", PX_E_USAGE, "--size"},
    {"negative size", &open_input, NONE, NULL, NULL, NULL, "-8", PX_E_USAGE, "--size"},
    {"bad metadata",
     &rgb_input,
     {{"plexor.mean", "?"}},
     NULL,
     NULL,
     NULL,
     NULL,
     PX_E_USAGE,
     "plexor.mean"},
    {"bad channels",
     &rgb_input,
     {{"plexor.channels", "yuv"}},
     NULL,
     NULL,
     NULL,
     NULL,
     PX_E_INPUT,
     "yuv"},
    {"grey for rgb",
     &rgb_input,
     {{"plexor.channels", "gray"}},
     NULL,
     NULL,
     NULL,
     NULL,
     PX_E_MISMATCH,
     "3 channels"},
};

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        px_preprocess pre;
        px_error err = {0};
        const px_status status = px_preprocess_init(
            &pre, bad[i].properties, property_count(bad[i].properties), bad[i].input, bad[i].scale,
            bad[i].mean, bad[i].std, bad[i].size, &err);
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
    const char *channels, *scale, *mean, *std;
    size_t at[3];
    float want[3];
} inputs[] = {
    {"plain", &rgb_input, NULL, "1", NULL, NULL, {1, 17, 33}, {10, 20, 31}},
    {"default scale",
     &rgb_input,
     NULL,
     NULL,
     NULL,
     NULL,
     {1, 17, 33},
     {10 / 255.0f, 20 / 255.0f, 31 / 255.0f}},
    {"mean and std", &rgb_input, NULL, "1", "1,2,3", "2,4,8", {1, 17, 33}, {4.5f, 4.5f, 3.5f}},
    {"bgr", &rgb_input, "bgr", "1", "1,2,3", NULL, {33, 17, 1}, {7, 18, 30}},
    {"channels last", &last_input, NULL, "1", "1,2,3", NULL, {3, 4, 5}, {9, 18, 28}},
    {"flat", &flat_input, NULL, "1", "1", NULL, {1, 17, 33}, {9, 19, 30}},
    {"grey", &grey_input, NULL, "1", NULL, NULL, {1, 1, 1}, {18, 18, 18}},
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
                               inputs[i].scale, inputs[i].mean, inputs[i].std, NULL,
                               &err) != PX_OK ||
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
        assert_int_equal(px_preprocess_init(&pre, NULL, 0, &wrong[i], NULL, NULL, NULL, NULL, &err),
                         PX_OK);
        const px_status status = px_dataset_open_for(&pre, &wrong[i], "set", NULL, &set, &err);
        if (status != PX_E_MISMATCH)
            fail_msg("shape %zu: %s '%s'", i, px_status_name(status), err.message);
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
        cmocka_unit_test(test_sources),     cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_inputs),      cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_class_names),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
