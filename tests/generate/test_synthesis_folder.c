/* tests/generate/test_synthesis_folder.c - what lies in the folder, and that it is whole or not
 * there */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include <dirent.h>
#include <math.h>
#include <plexor/predict.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const px_synthesis_folder_options how = {.pictures = 5, .sheet = 4, .title = "raised"};

static px_synthesis *make_folder(const scene *s, const char *path, px_synthesis_options options)
{
    const px_synthesis_job job = raise_job(s);
    px_synthesis_folder *folder = NULL;
    px_synthesis *made = NULL;
    px_error err = {0};
    options.emit = px_synthesis_folder_add;
    if (px_synthesis_folder_new(path, s->set, &s->pre, &options, job.count, &how, &folder, &err) !=
        PX_OK)
        fail_msg("%s", err.message);
    options.emit_context = folder;
    if (px_synthesize(&job, &options, &made, &err) != PX_OK ||
        px_synthesis_folder_commit(folder, made, "{}\n", &err) != PX_OK)
        fail_msg("%s", err.message);
    return made;
}

static int entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    for (const struct dirent *e; folder && (e = readdir(folder)) != NULL;)
        count += e->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return folder ? count : -1;
}

/* What was judged is what is stored: the file, read back as data, gives the same answers. */
static void replay(const scene *s, const px_synthesis *made, const char *file, bool original)
{
    px_preprocess pre;
    px_dataset *set = NULL;
    px_predictions said = {0};
    px_error err = {0};
    const size_t count = px_model_property_count(s->model);
    const px_property *properties = px_model_properties(s->model);
    const px_graph *graph = px_model_graph(s->model);
    const px_shape *shape = &graph->values[graph->inputs[0]].shape;
    if (px_preprocess_init(&pre, properties, count, shape, NULL, &err) != PX_OK ||
        px_dataset_open_for(&pre, shape, file, NULL, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(px_predict(s->model, set, &pre, NULL, &said, &err), PX_OK);
    for (int i = 0; i < RAISE_ROWS; i++) {
        const px_synthesis_row *row = &px_synthesis_rows(made)[i];
        assert_int_equal(said.predicted[i], original ? row->before : row->stored.predicted);
        assert_float_equal(said.loss[i], (original ? row->loss_before : row->stored.loss), 1e-6);
        assert_int_equal(px_dataset_label(set, i), row->label);
    }
    px_predictions_done(&said);
    px_dataset_close(set);
}

static void test_contents(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool keep_float;
    } cases[] = {{"bytes", false}, {"floats", true}};
    scene s = raise_scene("pre");
    for (size_t i = 0; i < 2; i++) {
        char path[GENERATE_PATH], file[GENERATE_PATH + 32];
        px_synthesis_options options = px_synthesis_options_default();
        options.step = 30;
        options.keep_float = cases[i].keep_float;
        px_synthesis *made = make_folder(&s, test_path(cases[i].name, path), options);
        static const struct {
            const char *name;
            int count; /* of a folder; -1: a file */
        } parts[] = {{"", 8},           {"inputs", 5},     {"originals", 5},   {"perturbations", 5},
                     {"index.csv", -1}, {"sheet.png", -1}, {"report.json", -1}};
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            struct stat facts;
            snprintf(file, sizeof file, "%s/%s", path, parts[p].name);
            if (entries(file) != parts[p].count || stat(file, &facts) != 0 || facts.st_size == 0)
                fail_msg("'%s': %d entries", file, entries(file));
        }
        snprintf(file, sizeof file, "%s/inputs.npz", path);
        replay(&s, made, file, false);
        snprintf(file, sizeof file, "%s/originals.npz", path);
        replay(&s, made, file, true);
        snprintf(file, sizeof file, "%s/index.csv", path);
        FILE *csv = fopen(file, "r");
        int lines = 0, commas = 0;
        for (int c; (c = fgetc(csv)) != EOF;) {
            lines += c == '\n';
            commas += c == ',';
        }
        fclose(csv);
        assert_int_equal(lines, RAISE_ROWS + 1);
        assert_int_equal(commas, 19 * (RAISE_ROWS + 1));
        px_synthesis_free(made);
    }
    scene_close(&s);
}

static void test_what_is_there_stays(void **state)
{
    (void)state;
    char path[GENERATE_PATH], file[GENERATE_PATH + 32];
    scene s = raise_scene("pre");
    px_synthesis_folder *folder = NULL;
    px_error err = {0};
    const px_synthesis_options options = px_synthesis_options_default();
    assert_int_equal(mkdir(test_path("there", path), 0777), 0);
    px_synthesis_free(make_folder(&s, path, options)); /* an empty folder is filled */
    assert_int_equal(px_synthesis_folder_new(path, s.set, &s.pre, &options, 1, &how, &folder, &err),
                     PX_E_USAGE);
    assert_non_null(strstr(err.message, "--fresh replaces it"));
    snprintf(file, sizeof file, "%s/index.csv", path);
    assert_int_equal(px_synthesis_folder_new(file, s.set, &s.pre, &options, 1, &how, &folder, &err),
                     PX_E_USAGE);
    assert_int_equal(px_synthesis_folder_new(test_path("no/such", path), s.set, &s.pre, &options, 1,
                                             &how, &folder, &err),
                     PX_E_INPUT);
    scene_close(&s);
}

/* A run that fails half-way, or ends without all inputs, leaves no folder and no temporary one. */
static void test_nothing_is_left(void **state)
{
    (void)state;
    char parent[GENERATE_PATH], path[GENERATE_PATH];
    scene s = raise_scene("pre");
    px_error err = {0};
    px_synthesis_options options = px_synthesis_options_default();
    assert_int_equal(mkdir(test_path("left", parent), 0777), 0);
    for (int i = 0; i < 2; i++) {
        px_synthesis_folder *folder = NULL;
        px_synthesis *made = NULL;
        px_synthesis_job job = raise_job(&s);
        assert_int_equal(px_synthesis_folder_new(test_path("left/out", path), s.set, &s.pre,
                                                 &options, job.count, &how, &folder, &err),
                         PX_OK);
        options.emit = px_synthesis_folder_add;
        options.emit_context = folder;
        job.count = 7;
        assert_int_equal(px_synthesize(&job, &options, &made, &err), PX_OK);
        assert_int_equal(entries(parent), 1);
        if (i == 0)
            px_synthesis_folder_abandon(folder);
        else
            assert_int_equal(px_synthesis_folder_commit(folder, made, NULL, &err), PX_E_INTERNAL);
        assert_int_equal(entries(parent), 0);
        px_synthesis_free(made);
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_what_is_there_stays),
        cmocka_unit_test(test_nothing_is_left),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
