/* tests/attack/attack_helpers.c - networks and data for the tests here */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack_helpers.h"

#include <ftw.h>
#include <internal/build.h>
#include <internal/data.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const float affine_w[6] = {1, -1, -0.5f, 0.5f, 0.2f, 1}, affine_b[3] = {0.1f, 0, -0.1f};

void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static void scene_data(scene *s, const char *path)
{
    px_error err = {0};
    const px_graph *graph = px_model_graph(s->model);
    const px_shape *shape = &graph->values[graph->inputs[0]].shape;
    check(px_preprocess_init(&s->pre, px_model_properties(s->model),
                             px_model_property_count(s->model), shape, NULL, &err),
          &err);
    check(px_dataset_open_for(&s->pre, shape, path, NULL, &s->set, &err), &err);
}

scene net_scene(void)
{
    scene s = {0};
    px_error err = {0};
    check(px_model_load(MODELS "/net.onnx", &s.model, &err), &err);
    scene_data(&s, MODELS "/data.npz");
    return s;
}

static char folder[] = "/tmp/plexor-attack-XXXXXX";
static bool folder_made;

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

scene affine_scene(const float (*rows)[2], const int64_t *labels, int64_t count, const char *wrap)
{
    const px_shape in = {2, {-1, 2}}, of_w = {2, {3, 2}}, of_b = {1, {3}};
    const px_attr by_rows = {.name = "transB", .kind = PX_ATTR_INT, .i = 1};
    scene s = {0};
    px_error err = {0};
    px_builder *b = NULL;
    check(px_builder_new("affine", &b, &err), &err);
    int x = px_builder_input(b, "x", PX_FLOAT32, &in);
    if (wrap)
        x = px_builder_node(b, wrap, "wrap", &x, 1, NULL, 0);
    const int w = px_builder_constant(b, "w", PX_FLOAT32, &of_w, affine_w);
    const int offset = px_builder_constant(b, "b", PX_FLOAT32, &of_b, affine_b);
    x = px_builder_node(b, "Gemm", "logits", (int[]){x, w, offset}, 3, &by_rows, 1);
    px_builder_output(b, x, PX_FLOAT32, NULL);
    check(px_builder_finish(b, &s.model, &err), &err);

    char path[128];
    if (!folder_made && !mkdtemp(folder))
        fail_msg("no folder for test files");
    folder_made = true;
    snprintf(path, sizeof path, "%s/affine.npz", folder);
    px_npz_writer *writer = NULL;
    const px_shape shape = {2, {count, 2}}, line = {1, {count}};
    check(px_npz_create(path, &writer, &err), &err);
    check(px_npz_begin(writer, "x", PX_FLOAT32, &shape, &err), &err);
    check(px_npz_write(writer, rows, (size_t)count * sizeof *rows, &err), &err);
    if (labels) {
        check(px_npz_begin(writer, "y", PX_INT64, &line, &err), &err);
        check(px_npz_write(writer, labels, (size_t)count * sizeof *labels, &err), &err);
    }
    check(px_npz_commit(writer, &err), &err);
    scene_data(&s, path);
    return s;
}

void scene_close(scene *s)
{
    px_dataset_close(s->set);
    px_model_free(s->model);
    *s = (scene){0};
}

px_attack *attack_well(const scene *s, const px_attack_options *options)
{
    const px_attack_job job = {.model = s->model, .set = s->set, .pre = &s->pre};
    px_attack *attack = NULL;
    px_error err = {0};
    check(px_attack_run(&job, options, &attack, &err), &err);
    return attack;
}

px_attack_summary sum_of(const px_attack *attack)
{
    px_attack_summary sum;
    px_error err = {0};
    check(px_attack_sum(attack, &sum, &err), &err);
    return sum;
}

results results_new(int64_t count, size_t width)
{
    const size_t all = (size_t)count * width;
    results r = {.width = width,
                 .original = calloc(all, sizeof(float)),
                 .exact = calloc(all, sizeof(float)),
                 .bytes = calloc(all, 1)};
    assert_true(r.original && r.exact && r.bytes);
    return r;
}

px_status results_keep(void *context, const px_attack_made *made, px_error *err)
{
    results *r = context;
    (void)err;
    assert_int_equal(made->place, r->next++);
    const size_t at = (size_t)made->place * r->width;
    memcpy(r->original + at, made->original, r->width * sizeof *r->original);
    memcpy(r->exact + at, made->exact, r->width * sizeof *r->exact);
    if (made->bytes)
        memcpy(r->bytes + at, made->bytes, r->width);
    return PX_OK;
}

void results_free(results *r)
{
    free(r->original);
    free(r->exact);
    free(r->bytes);
}
