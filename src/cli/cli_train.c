/* src/cli/cli_train.c - a network and its data, opened for training */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_train.h"

#include <internal/arch.h>
#include <internal/data.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <string.h>

static px_data_options train_data_options(const px_model *model, const cli_data *data,
                                          const char *split)
{
    px_data_options options = model ? px_model_data_options(model) : px_data_options_default();
    options.split = split;
    options.limit = data->limit;
    options.offset = data->offset;
    options.shuffle = data->shuffle;
    options.skip_damaged = data->skip_damaged;
    options.seed = (uint64_t)data->seed;
    return options;
}

static int64_t train_class_count(const px_dataset *set)
{
    int64_t classes = px_dataset_class_count(set);
    const int64_t count = px_dataset_count(set);
    for (int64_t i = 0; i < count; i++) {
        const int64_t label = px_dataset_label(set, i);
        classes = label >= classes ? label + 1 : classes;
    }
    return classes;
}

/* A new network for data as they are stored. */
static px_status train_build(const cli_train_request *r, const px_dataset *set, px_model **out,
                             px_error *err)
{
    px_arch_options options = px_arch_options_default();
    const px_shape shape = px_dataset_shape(set);
    if (shape.rank > 3)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': architectures take pictures or vectors, these data have %d axes",
                       r->data.spec, shape.rank);
    const int64_t *last = shape.dim + shape.rank; /* [C,H,W], [H,W] or [W] */
    options.channels = shape.rank > 2 ? last[-3] : 1;
    options.height = shape.rank > 1 ? last[-2] : 1;
    options.width = shape.rank > 0 ? last[-1] : 1;
    options.classes = train_class_count(set);
    options.seed = (uint64_t)r->data.seed;
    options.dropout = r->dropout;
    return px_arch_build(r->arch, &options, out, err);
}

/* The shape and number of inputs, once the set is open. */
static void inputs_complete(cli_inputs *inputs)
{
    const px_shape sample = px_dataset_shape(inputs->set);
    inputs->count = px_dataset_count(inputs->set);
    inputs->floats = (size_t)px_shape_count(&sample);
    inputs->shape = (px_shape){.rank = sample.rank + 1, .dim = {1}};
    for (int d = 0; d < sample.rank; d++)
        inputs->shape.dim[d + 1] = sample.dim[d];
}

/* --classes of a network that is new: the order of its outputs. */
static px_status train_open_named(const cli_train_request *r, px_data_options options,
                                  px_dataset **out, px_error *err)
{
    char **names = NULL;
    int count = 0;
    if (cli_now()->class_list && strcmp(cli_now()->class_list, "none") != 0)
        PX_TRY(px_class_names_read(cli_now()->class_list, &names, &count, err));
    options.class_names = (const char *const *)names;
    options.class_count = count;
    const px_status status =
        cli_part_open(NULL, NULL, r->data.spec, &options, !r->data.split, out, err);
    px_class_names_free(names, count);
    return status;
}

static px_status train_open_new(const cli_train_request *r, cli_training *t, px_error *err)
{
    px_preprocess size = {0};
    px_data_options options =
        train_data_options(NULL, &r->data, r->data.split ? r->data.split : "train");
    const px_preprocess_options how = {.size = r->data.pixels.size};
    PX_TRY(px_preprocess_init(&size, NULL, 0, &(px_shape){.rank = 4, .dim = {-1, -1, -1, -1}}, &how,
                              err));
    PX_TRY(px_preprocess_audio(&size, r->data.audio, err));
    options.height = size.height;
    options.width = size.width;
    options.audio = r->data.audio ? &size.audio : NULL;
    PX_TRY(train_open_named(r, options, &t->train.set, err));
    PX_TRY(px_dataset_check_labels(t->train.set, INT32_MAX, err));
    PX_TRY(train_build(r, t->train.set, &t->model, err));
    PX_TRY(px_model_preprocess(t->model, &r->data.pixels, r->data.audio, &t->train.pre, err));
    px_preprocess_fit(&t->train.pre, px_dataset_is_8bit(t->train.set));
    if (px_dataset_audio(t->train.set)) {
        t->train.pre.audio = *px_dataset_audio(t->train.set);
        t->train.pre.audio_from = r->data.audio ? "option" : "data";
    }
    return PX_OK;
}

static px_status train_open_trained(const cli_command *self, const cli_train_request *r,
                                    cli_training *t, px_error *err)
{
    PX_TRY(cli_model_load_file(self, r->path, &t->model, err));
    PX_TRY(px_model_preprocess(t->model, &r->data.pixels, r->data.audio, &t->train.pre, err));
    const px_data_options options =
        train_data_options(t->model, &r->data, r->data.split ? r->data.split : "train");
    return cli_part_open(t->model, &t->train.pre, r->data.spec, &options, !r->data.split,
                         &t->train.set, err);
}

static px_status train_open_test(const cli_train_request *r, cli_training *t, px_error *err)
{
    if (r->test && strcmp(r->test, "none") == 0)
        return PX_OK;
    px_data_options options = px_data_options_default();
    options.split = "test";
    options.limit = r->test_limit;
    options.skip_damaged = r->data.skip_damaged;
    options.class_names = px_dataset_class_names(t->train.set); /* by which it is trained */
    options.class_count = px_dataset_class_count(t->train.set);
    t->test.pre = t->train.pre;
    const char *spec = r->test ? r->test : r->data.spec;
    const px_status status =
        cli_part_open(t->model, &t->test.pre, spec, &options, r->test != NULL, &t->test.set, err);
    if (status == PX_E_USAGE && !r->test)
        return px_fail_in(err, status,
                          "no data to test on; give some with --test SPEC, or --test none");
    PX_TRY(status);
    inputs_complete(&t->test);
    t->test.pre = t->train.pre; /* the network's preprocessing, whatever this data would have */
    return px_dataset_check_labels(t->test.set, t->scores.classes, err);
}

/* The classes of labels and network must agree; a network may know more. */
static px_status train_check_classes(const cli_command *self, const cli_train_request *r,
                                     const cli_training *t, px_error *err)
{
    const int64_t have = train_class_count(t->train.set);
    if (have > t->scores.classes)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s' has %" PRId64 " classes, the network has %d; only labels 0 to %d can "
                       "be trained",
                       r->data.spec, have, t->scores.classes, t->scores.classes - 1);
    cli_classes_doubt(self, t->train.set, t->scores.classes);
    return px_dataset_check_labels(t->train.set, t->scores.classes, err);
}

px_status cli_training_open(const cli_command *self, const cli_train_request *r, cli_training *out,
                            px_error *err)
{
    cli_training t = {0};
    px_status status = r->arch ? train_open_new(r, &t, err) : train_open_trained(self, r, &t, err);
    PX_THEN(status, px_model_scores(t.model, &t.scores, err));
    PX_THEN(status, train_check_classes(self, r, &t, err));
    if (status == PX_OK) {
        inputs_complete(&t.train);
        const px_audio *audio = px_dataset_audio(t.train.set);
        t.measured = r->arch && strcmp(t.train.pre.mean_from, "default") == 0 &&
                     strcmp(t.train.pre.std_from, "default") == 0 &&
                     (!audio || audio->normalize == PX_NORMALIZE_NONE);
        if (t.measured) {
            status = px_preprocess_measure(&t.train.pre, t.train.set, (int)r->threads, err);
            t.train.pre.mean_from = t.train.pre.std_from = "data";
        }
    }
    PX_THEN(status, train_open_test(r, &t, err));
    if (status != PX_OK) {
        cli_training_close(&t);
        return status;
    }
    *out = t;
    return PX_OK;
}

void cli_training_close(cli_training *t)
{
    cli_inputs_close(&t->train);
    cli_inputs_close(&t->test);
    px_model_free(t->model);
    t->model = NULL;
}
