/* tests/generate/generate_helpers.c - networks, data and lists of neurons for the tests here */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include <ftw.h>
#include <internal/data.h>
#include <internal/probe.h>
#include <math.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const px_synthesis_neuron first[] = {{0, 1}};
static const px_synthesis_neuron second[] = {{0, 4}, {1, 0}, {2, 7}};
static const px_synthesis_neuron third[] = {{2, 3}, {2, 4}, {2, 5}, {1, 2}};
const px_synthesis_list raise_lists[3] = {
    {.neurons = first, .count = 1},
    {.neurons = second, .count = 3},
    {.neurons = third, .count = 4},
};
static const size_t raise_turns[RAISE_ROWS] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
static const int64_t raise_inputs[RAISE_ROWS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static void scene_data(scene *s, const char *path)
{
    px_error err = {0};
    const size_t count = px_model_property_count(s->model);
    const px_property *properties = px_model_properties(s->model);
    const px_graph *graph = px_model_graph(s->model);
    const px_shape *shape = &graph->values[graph->inputs[0]].shape;
    check(px_preprocess_init(&s->pre, properties, count, shape, NULL, &err), &err);
    check(px_dataset_open_for(&s->pre, shape, path, NULL, &s->set, &err), &err);
}

static void scene_probe(scene *s, const char *tap)
{
    px_error err = {0};
    px_probe_options options = px_probe_options_default();
    check(px_probe_options_parse(&options, "hidden", tap, NULL, &err), &err);
    check(px_probe_new(s->model, &options, &s->probe, &err), &err);
}

scene raise_scene(const char *tap)
{
    scene s = {0};
    px_error err = {0};
    check(px_model_load(MODELS "/raise.onnx", &s.model, &err), &err);
    scene_data(&s, MODELS "/raise.npz");
    scene_probe(&s, tap);
    return s;
}

px_synthesis_job raise_job(const scene *s)
{
    return (px_synthesis_job){.model = s->model,
                              .probe = s->probe,
                              .set = s->set,
                              .pre = &s->pre,
                              .lists = raise_lists,
                              .list_count = 3,
                              .inputs = raise_inputs,
                              .list_of = raise_turns,
                              .count = RAISE_ROWS};
}

static int dense_layer(px_builder *b, int x, const char *name, const float w[4], const float *bias,
                       bool spoiled)
{
    const px_shape square = {2, {2, 2}}, line = {1, {2}};
    const px_attr by_rows = {.name = "transB", .kind = PX_ATTR_INT, .i = 1};
    float values[4];
    char text[32];
    memcpy(values, w, sizeof values);
    if (spoiled)
        values[1] = NAN;
    snprintf(text, sizeof text, "%s.weight", name);
    const int weight = px_builder_constant(b, text, PX_FLOAT32, &square, values);
    snprintf(text, sizeof text, "%s.bias", name);
    const int offset = px_builder_constant(b, text, PX_FLOAT32, &line, bias);
    return px_builder_node(b, "Gemm", name, (int[]){x, weight, offset}, 3, &by_rows, 1);
}

scene dense_scene(const char *tap, const float (*rows)[2], const int64_t *labels, int64_t count,
                  const char *spoil)
{
    static const float w1[4] = {1, -2, 0.5f, 1}, b1[2] = {0, -0.2f}, w2[4] = {1, 0, -1, 2};
    static const float w3[4] = {1, 0, 0, 1}, zero[2] = {0, 0};
    const px_attr alpha = {.name = "alpha", .kind = PX_ATTR_FLOAT, .f = 0.01f};
    const px_shape in = {2, {-1, 2}};
    scene s = {0};
    px_error err = {0};
    px_builder *b = NULL;
    check(px_builder_new("a11", &b, &err), &err);
    int x = px_builder_input(b, "x", PX_FLOAT32, &in);
    x = dense_layer(b, x, "fc1", w1, b1, spoil && strcmp(spoil, "fc1") == 0);
    x = px_builder_node(b, "LeakyRelu", "h1", &x, 1, &alpha, 1);
    x = dense_layer(b, x, "fc2", w2, zero, spoil && strcmp(spoil, "fc2") == 0);
    x = px_builder_node(b, "LeakyRelu", "h2", &x, 1, &alpha, 1);
    x = dense_layer(b, x, "scores", w3, zero, spoil && strcmp(spoil, "scores") == 0);
    px_builder_rename(b, x, "logits");
    px_builder_output(b, x, PX_FLOAT32, NULL);
    check(px_builder_finish(b, &s.model, &err), &err);

    char path[GENERATE_PATH];
    px_npz_writer *writer = NULL;
    const px_shape shape = {2, {count, 2}}, line = {1, {count}};
    check(px_npz_create(test_path("dense.npz", path), &writer, &err), &err);
    check(px_npz_begin(writer, "x", PX_FLOAT32, &shape, &err), &err);
    check(px_npz_write(writer, rows, (size_t)count * sizeof *rows, &err), &err);
    check(px_npz_begin(writer, "y", PX_INT64, &line, &err), &err);
    check(px_npz_write(writer, labels, (size_t)count * sizeof *labels, &err), &err);
    check(px_npz_commit(writer, &err), &err);
    scene_data(&s, path);
    scene_probe(&s, tap);
    return s;
}

void scene_close(scene *s)
{
    px_probe_free(s->probe);
    px_dataset_close(s->set);
    px_model_free(s->model);
    *s = (scene){0};
}

static char folder[] = "/tmp/plexor-generate-XXXXXX";
static bool folder_made;

const char *test_path(const char *name, char buffer[GENERATE_PATH])
{
    if (!folder_made && !mkdtemp(folder))
        fail_msg("no folder for test files");
    folder_made = true;
    snprintf(buffer, GENERATE_PATH, "%s/%s", folder, name);
    return buffer;
}

static int remove_one(const char *path, const struct stat *file, int kind, struct FTW *place)
{
    (void)file, (void)kind, (void)place;
    return remove(path);
}

void test_folder_remove(void)
{
    if (folder_made)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

px_synthesis *synthesize_well(const px_synthesis_job *job, const px_synthesis_options *options)
{
    px_synthesis *s = NULL;
    px_error err = {0};
    check(px_synthesize(job, options, &s, &err), &err);
    return s;
}

px_status keep_pixels(void *context, const px_synthesis_made *made, px_error *err)
{
    pixels_kept *kept = context;
    (void)err;
    assert_int_equal(made->place, kept->next++);
    const size_t at = (size_t)made->place * kept->width;
    memcpy(kept->exact + at, made->exact, kept->width * sizeof *kept->exact);
    if (kept->bytes && made->bytes)
        memcpy(kept->bytes + at, made->bytes, kept->width);
    return PX_OK;
}
