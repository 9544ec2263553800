/* src/check/check_default.c - the network of those who bring none: a LeNet-5, trained on the spot
 *
 * Two epochs over Fashion-MNIST take seconds and end near 89%: a network that is good enough to be
 * taken seriously and has failures enough to look at. Smaller sets get more epochs. It is written
 * to FOLDER/model.onnx, with its preprocessing and class names, and trained only once per folder.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/arch.h>
#include <internal/ranks.h>
#include <internal/train.h>
#include <inttypes.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_INPUTS = 120000, EPOCHS_LEAST = 2, EPOCHS_MOST = 12, DEFAULT_CLASSES_MOST = 1000 };
static const char default_arch[] = "lenet5";

/* The first of the known sets that is there. */
static px_status default_data(px_check *c, px_error *err)
{
    static const char *const specs[] = {"fashion-mnist", "digits"};
    if (c->data_spec)
        return PX_OK;
    for (size_t i = 0; i < PX_LEN(specs) && !c->data_spec; i++) {
        px_dataset *set = NULL;
        const px_data_options options = px_data_options_default();
        const bool last = i + 1 == PX_LEN(specs);
        const px_status status = px_dataset_open(specs[i], &options, &set, last ? err : NULL);
        px_dataset_close(set);
        if (status == PX_OK && !(c->data_spec = pxi_strdup(specs[i])))
            return pxi_no_memory(err);
        if (status != PX_OK && last)
            return status;
        if (status == PX_OK && i > 0)
            pxi_check_note(c, "Fashion-MNIST is not here (Debian: 'apt install "
                              "dataset-fashion-mnist'); the generated digits stand in for it");
    }
    return PX_OK;
}

static int64_t default_epochs(const px_dataset *set)
{
    const int64_t wanted = DEFAULT_INPUTS / px_dataset_count(set);
    return PX_MAX((int64_t)EPOCHS_LEAST, PX_MIN(wanted, (int64_t)EPOCHS_MOST));
}

/* What decides the network; a model.onnx with another text is trained again. */
static char *default_recipe(const px_check *c, const px_dataset *set)
{
    px_text text = {0};
    px_text_format(&text,
                   "{\"by\": \"plexor check\", \"arch\": \"%s\", \"epochs\": %" PRId64
                   ", \"seed\": %" PRIu64 ", \"data\": \"%016" PRIx64 "\"}",
                   default_arch, default_epochs(set), c->o.seed, px_dataset_hash(set));
    return px_text_take(&text);
}

static bool default_is_there(px_check *c, const char *recipe)
{
    if (access(c->model_path, R_OK) != 0 || px_model_load(c->model_path, &c->model, NULL) != PX_OK)
        return false;
    const char *had = px_model_property(c->model, "plexor.train");
    if (had && strcmp(had, recipe) == 0)
        return true;
    px_model_free(c->model);
    c->model = NULL;
    return false;
}

static bool default_progress(void *context, const px_train_progress *p)
{
    return pxi_check_tick(context, p->done, p->total);
}

static px_status default_train(px_check *c, const px_model *fresh, px_dataset *set,
                               const px_preprocess *pre, const px_property *properties,
                               size_t property_count, px_error *err)
{
    px_feeder_options feed = px_feeder_options_default();
    px_trainer_options o = px_trainer_options_default();
    px_feeder *feeder = NULL;
    px_trainer *trainer = NULL;
    px_model *trained = NULL;
    feed.base = (px_feeder_set){.set = set, .pre = pre};
    feed.classes = px_dataset_class_count(set);
    feed.batch = 128;
    feed.seed = c->o.seed;
    px_status status = px_feeder_new(&feed, &feeder, err);
    o.model = fresh;
    o.feeder = feeder;
    o.optimizer = "adam"; /* the zoo's recipe is for more epochs, and fails in so few */
    o.schedule = "cosine";
    o.lr = 0.002;
    o.epochs = default_epochs(set);
    o.eval_every = 0;
    o.threads = c->o.threads;
    o.seed = c->o.seed;
    o.progress = default_progress;
    o.context = c;
    PX_THEN(status, px_trainer_new(&o, &trainer, err));
    PX_THEN(status, px_trainer_run(trainer, err));
    PX_THEN(status, px_trainer_freeze(trainer, properties, property_count, &trained, err));
    PX_THEN(status, px_model_save(trained, c->model_path, err));
    px_model_free(trained);
    px_trainer_free(trainer);
    px_feeder_free(feeder);
    return status;
}

static void default_classes(const px_dataset *set, px_text *out)
{
    px_json json = {0};
    px_json_array(&json, NULL);
    for (int i = 0; i < px_dataset_class_count(set); i++) {
        char number[32];
        const char *name = px_dataset_class_name(set, i);
        snprintf(number, sizeof number, "%d", i);
        px_json_string(&json, NULL, name ? name : number);
    }
    px_json_end(&json);
    const char *text = px_json_text(&json);
    if (text)
        px_text_add(out, text);
    else
        out->failed = true;
    px_json_done(&json);
}

static px_status default_make(px_check *c, px_dataset *set, const char *recipe, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const int classes = px_dataset_class_count(set);
    px_arch_options arch = px_arch_options_default();
    px_model *fresh = NULL;
    px_preprocess pre;
    px_text words[3] = {{0}, {0}, {0}};
    if (shape.rank != 3 || classes < 2 || classes > DEFAULT_CLASSES_MOST)
        return px_fail(err, PX_E_INPUT,
                       "'%.100s': without a network one is trained, which takes labelled pictures "
                       "of 2 to %d classes; give a MODEL",
                       c->data_spec, DEFAULT_CLASSES_MOST);
    arch.channels = shape.dim[0];
    arch.height = shape.dim[1];
    arch.width = shape.dim[2];
    arch.classes = classes;
    arch.seed = c->o.seed;
    px_status status = px_arch_build(default_arch, &arch, &fresh, err);
    if (status == PX_OK) {
        const px_graph *graph = px_model_graph(fresh);
        status =
            px_preprocess_init(&pre, NULL, 0, &graph->values[graph->inputs[0]].shape, NULL, err);
    }
    if (status == PX_OK) {
        px_preprocess_fit(&pre, px_dataset_is_8bit(set));
        status = px_preprocess_measure(&pre, set, c->o.threads, err);
    }
    if (status == PX_OK) {
        for (int i = 0; i < pre.channels; i++) {
            px_text_format(&words[0], "%s%.4g", i ? "," : "", (double)pre.mean[i]);
            px_text_format(&words[1], "%s%.4g", i ? "," : "", (double)pre.stddev[i]);
        }
        default_classes(set, &words[2]);
        const px_property properties[] = {
            {"plexor.mean", px_text_get(&words[0])},
            {"plexor.std", px_text_get(&words[1])},
            {"plexor.classes", px_text_get(&words[2])},
            {"plexor.output", "probs"},
            {"plexor.train", recipe},
        };
        const bool failed =
            px_text_failed(&words[0]) || px_text_failed(&words[1]) || px_text_failed(&words[2]);
        status = failed ? pxi_no_memory(err)
                        : default_train(c, fresh, set, &pre, properties, PX_LEN(properties), err);
    }
    for (size_t i = 0; i < PX_LEN(words); i++)
        px_text_done(&words[i]);
    px_model_free(fresh);
    return status;
}

px_status pxi_check_train_default(px_check *c, px_error *err)
{
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    char *recipe = NULL;
    PX_TRY(default_data(c, err));
    options.split = "train";
    options.limit = c->o.train_limit;
    px_status status = px_dataset_open(c->data_spec, &options, &set, err);
    if (status == PX_E_USAGE)
        return px_fail_in(err, status, "without a MODEL one is trained on the data's train part");
    PX_TRY(status);
    c->model_path = pxi_check_path(c, "model.onnx");
    recipe = default_recipe(c, set);
    if (!c->model_path || !recipe)
        status = pxi_no_memory(err);
    uint64_t there = status == PX_OK && default_is_there(c, recipe);
    status = pxi_ranks_first("the network that is trained", status, 0, &there, err);
    if (!there) {
        px_model_free(c->model);
        c->model = NULL;
    }
    if (status == PX_OK && !there)
        status = default_make(c, set, recipe, err);
    free(recipe);
    px_dataset_close(set);
    return status;
}
