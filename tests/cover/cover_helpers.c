/* tests/cover/cover_helpers.c - a small network, data, covers and profiles for the driver's tests
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "engine/net.h"

#include "base/file.h"
#include "graph/builder.h"
#include <internal/model.h>

#include <stdlib.h>
#include <string.h>

#define IN(...) ((net_in[]){__VA_ARGS__, {.value = -1}})
#define V(number)         \
    {                     \
        .value = (number) \
    }

px_model *small_net(uint64_t seed, int channels)
{
    char first[64], second[64];
    net n;
    snprintf(first, sizeof first, "%d,1,5,5", channels);
    snprintf(second, sizeof second, "6,%d,3,3", channels);
    net_init(&n, seed, "1,1,28,28");
    int y = net_add(&n, "Conv", "pads=2,2,2,2", IN(V(n.x), {.weight = first}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(y)));
    y = net_add(&n, "Conv", "strides=2,2", IN(V(y), {.weight = second}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "216,12"}, {.weight = "12"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "12,10"}, {.weight = "10"}));
    px_model *model = net_take(&n, y);
    model->hash = pxi_model_content_hash(model); /* as models from files and builders have */
    return model;
}

small_data small_digits(const px_model *model, const char *split, int64_t count, uint64_t shuffle)
{
    const px_graph *graph = px_model_graph(model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    px_data_options options = px_data_options_default();
    small_data data = {0};
    px_error err = {0};
    options.split = split;
    options.limit = count;
    options.shuffle = shuffle != 0;
    options.seed = shuffle;
    if (px_preprocess_init(&data.pre, NULL, 0, input, NULL, &err) != PX_OK ||
        px_dataset_open_for(&data.pre, input, "digits", &options, &data.set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return data;
}

void small_close(small_data *data)
{
    px_dataset_close(data->set);
    data->set = NULL;
}

const char *criteria_list(bool ordered_too)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        if (c->ordered && !ordered_too)
            continue;
        if (*text)
            strcat(text, ",");
        strcat(text, c->entry.id);
    }
    return text;
}

px_profile *profile_make(const px_model *model, const char *criteria, const small_data *train,
                         int threads)
{
    px_cover_options options = px_cover_options_default();
    px_profile_options make = px_profile_options_default();
    px_lessons lessons = {0};
    px_profile *profile = NULL;
    px_error err = {0};
    options.criteria = criteria;
    make.threads = threads;
    if (px_cover_lessons(model, NULL, &options, &lessons, &err) != PX_OK ||
        px_profile_make(model, &lessons, train->set, &train->pre, &make, &profile, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_lessons_free(&lessons);
    return profile;
}

px_cover *cover_make(const px_model *model, const char *criteria, const px_profile *profile,
                     int threads)
{
    px_cover_options options = px_cover_options_default();
    px_cover *cover = NULL;
    px_error err = {0};
    options.criteria = criteria;
    options.profile = profile;
    options.threads = threads;
    if (px_cover_new(model, NULL, &options, &cover, &err) != PX_OK)
        fail_msg("%s", err.message);
    return cover;
}

void cover_observe(px_cover *cover, const small_data *data, int64_t shard, int64_t shards)
{
    px_cover_run_options run = px_cover_run_options_default();
    px_error err = {0};
    run.shard = shard;
    run.shards = shards;
    if (px_cover_run(cover, data->set, &data->pre, &run, NULL, &err) != PX_OK)
        fail_msg("shard %d of %d: %s", (int)shard, (int)shards, err.message);
}

const char *test_path(const char *name, char buffer[TEST_PATH])
{
    const char *folder = getenv("TEST_SCRATCH");
    snprintf(buffer, TEST_PATH, "%s/%s", folder ? folder : ".", name);
    return buffer;
}

char *file_bytes(const char *path, size_t *size)
{
    char *bytes = NULL;
    px_error err = {0};
    if (pxi_file_read(path, (size_t)1 << 30, &bytes, size, &err) != PX_OK)
        fail_msg("%s", err.message);
    return bytes;
}

void file_write(const char *path, const void *bytes, size_t size)
{
    px_error err = {0};
    if (pxi_file_write(path, bytes, size, &err) != PX_OK)
        fail_msg("%s", err.message);
}

void assert_same_file(const char *a, const char *b, const char *what)
{
    size_t a_size, b_size;
    char *x = file_bytes(a, &a_size), *y = file_bytes(b, &b_size);
    const bool same = a_size == b_size && memcmp(x, y, a_size) == 0;
    free(x);
    free(y);
    if (!same)
        fail_msg("%s: %s and %s differ", what, a, b);
}
