/* src/cli/cmd_explain.c - plexor explain MODEL IMAGE [IMAGE2] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/explain_print.h"

#include <internal/decision_path.h>
#include <internal/mutate.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct explain_args {
    cli_data data;
    cli_workers workers;
    cli_paths_args paths;
    const char *label, *mutation, *threshold, *picture;
    int map;
} explain_args;

typedef struct explain_work {
    const cli_command *self;
    const explain_args *a;
    px_model *model;
    px_path_tools tools;
    px_threshold threshold;
    bool has_threshold;
    explain_result result;
} explain_work;

/* --- images ---------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

/* "17" is of --data, "SPEC@17" of another SPEC, and a SPEC with one input is that. */
static px_status image_place(const explain_work *w, const char *word, cli_data *data,
                             int64_t *index, px_error *err)
{
    struct stat info;
    *data = w->a->data;
    *index = -1;
    const char *at = strrchr(word, '@');
    if (is_number(word) && stat(word, &info) != 0) {
        if (!data->spec)
            return px_fail(err, PX_E_USAGE,
                           "'%.60s' is the number of an input, and --data does not say of what",
                           word);
        *index = strtoll(word, NULL, 10);
        return PX_OK;
    }
    data->spec = word;
    data->limit = data->offset = 0;
    data->shuffle = false;
    if (!at || !is_number(at + 1) || stat(word, &info) == 0)
        return PX_OK;
    *index = strtoll(at + 1, NULL, 10);
    char *spec = strndup(word, (size_t)(at - word));
    if (!spec)
        return pxi_no_memory(err);
    data->spec = spec; /* freed by image_open() */
    return PX_OK;
}

static px_status image_read(explain_image *image, px_error *err)
{
    const px_dataset *set = image->inputs.set;
    const px_shape shape = px_dataset_shape(set);
    const size_t size = image->inputs.floats;
    if (image->index < 0 && image->inputs.count > 1)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s' has %" PRId64 " inputs; '%.100s@3' is the fourth of them",
                       image->given, image->inputs.count, image->given);
    if (image->index < 0)
        image->index = 0;
    if (image->index >= image->inputs.count)
        return px_fail(err, PX_E_USAGE, "'%.100s': the data have the inputs 0 to %" PRId64,
                       image->given, image->inputs.count - 1);
    PX_TRY(PX_NEW(image->pixels, size, err));
    PX_TRY(PX_NEW(image->row, size, err));
    PX_TRY(px_dataset_pixels(set, image->index, image->pixels, err));
    memcpy(image->row, image->pixels, size * sizeof *image->row);
    PX_TRY(px_preprocess_apply(&image->inputs.pre, &shape, image->row, err));
    px_dataset_name(set, image->index, image->name, sizeof image->name);
    image->label = px_dataset_label(set, image->index);
    return PX_OK;
}

static px_status image_open(explain_work *w, const char *word, explain_image *image, px_error *err)
{
    cli_data data;
    image->given = word;
    PX_TRY(image_place(w, word, &data, &image->index, err));
    px_status status = cli_inputs_open(w->model, &data, &image->inputs, err);
    if (data.spec != word && data.spec != w->a->data.spec)
        free((void *)(uintptr_t)data.spec);
    return status == PX_OK ? image_read(image, err) : status;
}

/* The second image: the first one changed. */
static px_status image_mutate(explain_work *w, const explain_image *from, explain_image *image,
                              px_error *err)
{
    px_drawn drawn;
    PX_TRY(px_drawn_parse(w->a->mutation, &drawn, err));
    PX_TRY(image_open(w, from->given, image, err));
    const px_shape shape = px_dataset_shape(image->inputs.set);
    PX_TRY(px_mutation_apply_values(&drawn, &shape, !px_dataset_is_8bit(image->inputs.set),
                                    from->pixels, image->pixels, err));
    memcpy(image->row, image->pixels, image->inputs.floats * sizeof *image->row);
    PX_TRY(px_preprocess_apply(&image->inputs.pre, &shape, image->row, err));
    snprintf(image->name, sizeof image->name, "%.150s|%.100s", from->name, w->a->mutation);
    return PX_OK;
}

/* --label: a number or a name. */
static px_status work_label(const explain_work *w, int64_t *out, px_error *err)
{
    const int classes = px_paths_scores(w->tools.paths)->classes;
    if (!w->a->label)
        return PX_OK;
    if (is_number(w->a->label) && strtoll(w->a->label, NULL, 10) < classes) {
        *out = strtoll(w->a->label, NULL, 10);
        return PX_OK;
    }
    for (size_t c = 0; c < w->tools.name_count; c++)
        if (w->tools.names[c] && strcmp(w->tools.names[c], w->a->label) == 0) {
            *out = (int64_t)c;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE, "--label '%.60s': expected a class, 0 to %d or its name",
                   w->a->label, classes - 1);
}

/* --- the work -------------------------------------------------------------------------------- */

static px_status work_paths(explain_work *w, px_error *err)
{
    explain_result *r = &w->result;
    PX_TRY(work_label(w, &r->image[0].label, err));
    for (int i = 0; i < r->count; i++) {
        explain_image *image = &r->image[i];
        if (i > 0) /* both contribute to the same class, or they could not be compared */
            image->label = r->image[0].label >= 0 ? r->image[0].label : r->image[0].path.target;
        if (image->label >= px_paths_scores(w->tools.paths)->classes)
            image->label = -1;
        PX_TRY(PX_NEW(image->contributions, (size_t)px_paths_unit_count(w->tools.paths), err));
        PX_TRY(px_paths_run(w->tools.paths, image->row, &image->label, 1, &image->path,
                            image->contributions, err));
        PX_TRY(px_path_text(w->tools.paths, &image->path, (const char *const *)w->tools.names,
                            w->tools.name_count, &w->tools.words, PX_PATH_FULL, &image->text, err));
        if (w->tools.bank && explain_is_grey(image))
            cli_note(w->self, "'%s' is grey: words for colours say nothing about it", image->name);
    }
    return PX_OK;
}

/* What --threshold names, or what 'plexor calibrate' left in the cache. */
static px_status work_threshold(explain_work *w, px_error *err)
{
    struct stat info;
    if (w->a->threshold) {
        w->has_threshold = true;
        return px_threshold_load(w->a->threshold, &w->threshold, err);
    }
    char *cached = px_threshold_path(w->tools.paths, w->tools.encoder);
    const px_status status =
        cached && stat(cached, &info) == 0 ? px_threshold_load(cached, &w->threshold, err) : PX_OK;
    w->has_threshold = cached && stat(cached, &info) == 0;
    free(cached);
    return status;
}

static px_status work_compare(explain_work *w, px_error *err)
{
    explain_result *r = &w->result;
    PX_TRY(work_threshold(w, err));
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const px_path_mode mode = (px_path_mode)m;
        r->compared[m] = px_path_judge_check(w->tools.judge, mode, NULL) == PX_OK;
        if (r->compared[m])
            PX_TRY(px_path_judge_similarity(w->tools.judge, mode, &r->image[0].path,
                                            &r->image[1].path, &r->similarity[m], err));
        if (r->compared[m] && w->has_threshold)
            PX_TRY(px_threshold_check(&w->threshold, w->tools.paths, w->tools.encoder, mode, err));
    }
    const px_path_judge_sums sums = px_path_judge_get_sums(w->tools.judge);
    if (sums.dropped)
        cli_note(w->self,
                 "texts are longer than the encoder reads: %" PRId64 " of %" PRId64
                 " tokens were left out",
                 sums.dropped, sums.dropped + sums.tokens);
    if (w->has_threshold)
        r->threshold = &w->threshold;
    else
        cli_note(w->self, "tau is not calibrated, which says from where on two paths differ: run "
                          "'plexor calibrate'");
    return PX_OK;
}

static px_status work_all(explain_work *w, const char *const *words, px_error *err)
{
    const explain_args *a = w->a;
    explain_result *r = &w->result;
    r->map = (px_path_map)a->map;
    PX_TRY(cli_model_load(w->self, words[0], &w->model, err));
    PX_TRY(image_open(w, words[1], &r->image[0], err));
    PX_TRY(cli_path_tools_open(w->self, &a->paths, w->model, &r->image[0].inputs,
                               (int)a->workers.threads, a->workers.batch, &w->tools, err));
    r->model = w->model;
    r->tools = &w->tools;
    r->count = words[2] || a->mutation ? 2 : 1;
    if (words[2])
        PX_TRY(image_open(w, words[2], &r->image[1], err));
    else if (a->mutation)
        PX_TRY(image_mutate(w, &r->image[0], &r->image[1], err));
    PX_TRY(work_paths(w, err));
    if (r->count > 1)
        PX_TRY(work_compare(w, err));
    cli_paths_note(w->self, w->tools.paths);
    r->origin = cli_origin_of(w->model, r->image[0].inputs.set);
    r->picture = a->picture;
    return a->picture ? explain_sheet(r, a->picture, err) : PX_OK;
}

static int explain_run(const cli_command *self, int argc, char **argv)
{
    explain_args a = {.paths = cli_paths_default()};
    const char *words[3] = {NULL};
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_STRING(0, "label", &a.label, "CLASS", "the true class, where the image has no label"),
        CLI_STRING(0, "mutation", &a.mutation, "TEXT",
                   "compare with the image changed so, such as 'rotation angle=20'"),
        CLI_STRING(0, "threshold", &a.threshold, "FILE",
                   "from 'plexor calibrate': says whether two paths differ"),
        CLI_STRING('o', "output", &a.picture, "FILE", "maps of the path as a .png or .svg"),
        CLI_CHOICE(0, "map", &a.map, CLI_CHOICES(PX_PATH_MAPS),
                   "what is drawn: the critical unit's activation, or Grad-CAM of the class"),
        CLI_PATHS_OPTIONS(&a.paths),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, words, 2, 3));
    if (words[2] && a.mutation)
        return cli_usage_error(self, "--mutation makes the second image; '%.60s' is another one",
                               words[2]);
    px_error err = {0};
    explain_work *work = cli_keep_alloc(1, sizeof *work);
    if (!work)
        return cli_no_memory(self);
    work->self = self;
    work->a = &a;
    const px_status status = work_all(work, words, &err);
    const int rc = cli_answer(self, status, &err, &work->result, explain_print);
    for (int i = 0; i < EXPLAIN_IMAGES; i++) {
        cli_inputs_close(&work->result.image[i].inputs);
        free(work->result.image[i].pixels);
        free(work->result.image[i].row);
        free(work->result.image[i].contributions);
        px_text_done(&work->result.image[i].text);
    }
    px_path_tools_close(&work->tools);
    px_model_free(work->model);
    return rc;
}

const cli_command cli_command_explain = {
    .name = "explain",
    .usage = "MODEL IMAGE [IMAGE2] [--data SPEC] [--bank FILE] [-o FILE]",
    .help = "say what decided, layer by layer, in words and maps",
    .details =
        "For each layer the unit that contributes most to the class score, by conductance along "
        "the way from a baseline to the image (NSGen); with a bank of descriptions the path reads "
        "as a sentence. IMAGE is a file, the number of an input of --data, or SPEC@NUMBER. With "
        "two images both paths are shown side by side, how similar they are and, with a "
        "--threshold, whether they differ.\n"
        "Where a layer is a cut of the network its contributions must add up to the change of the "
        "score; steps are doubled until they do.",
    .examples = "plexor explain net.onnx 0 --data digits -o path.png\n"
                "plexor explain net.onnx 0 --data digits --mutation 'rotation angle=30' --json\n",
    .run = explain_run,
    .ranks = true,
    .result = explain_fields,
};
