/* studies/frame/study_training.c - networks of studies that are given, tuned or trained in their
 * own ways */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_training.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/audio.h>
#include <internal/data.h>
#include <internal/preprocess.h>
#include <internal/text.h>
#include <internal/train.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/json.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct making {
    px_study *study;
    const study_network *network;
    const study_training *how;
    px_model *model; /* before training */
    study_data train, test;
    px_recipe recipe;
    char optimizer[160];
    px_feeder *feeder;
    px_trainer *trainer;
} making;

static bool making_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

/* --- the network to begin with ---------------------------------------------------------------- */

static const px_shape *making_shape(const making *m)
{
    const px_graph *graph = px_model_graph(m->model);
    return &graph->values[graph->inputs[0]].shape;
}

static px_status making_open_part(making *m, const char *part, study_data *out, px_error *err)
{
    const px_study_options *o = &m->study->options;
    const char *dataset = m->network->dataset;
    px_data_options options = px_model_data_options(m->model);
    if (!options.class_names && m->train.set) { /* parts of one task have the same classes */
        options.class_names = px_dataset_class_names(m->train.set);
        options.class_count = px_dataset_class_count(m->train.set);
    }
    options.split = part;
    const px_preprocess_options how = {.mean = o->mean, .std = o->std};
    PX_TRY(px_preprocess_init(&out->pre, px_model_properties(m->model),
                              px_model_property_count(m->model), making_shape(m), &how, err));
    if (!m->how->start)
        PX_TRY(px_preprocess_audio(&out->pre, m->how->audio, err));
    PX_TRY(px_dataset_open_for(&out->pre, making_shape(m), pxi_study_spec(m->study, dataset),
                               &options, &out->set, err));
    return pxi_study_check_data(m->study, dataset, part, out->set, err);
}

/* A new one: as large as the inputs are, and with their mean and deviation. Features of recordings
 * are normalised already. */
static px_status making_build(making *m, px_error *err)
{
    const px_study_options *o = &m->study->options;
    study_data data = {.set = NULL};
    px_data_options options = px_data_options_default();
    px_arch_options arch = px_arch_options_default();
    px_audio audio = px_audio_default();
    options.split = "train";
    if (m->how->audio) {
        PX_TRY(px_audio_parse(m->how->audio, &audio, err));
        options.audio = &audio;
    }
    PX_TRY(
        px_dataset_open(pxi_study_spec(m->study, m->network->dataset), &options, &data.set, err));
    const px_shape shape = px_dataset_shape(data.set);
    px_status status = PX_OK;
    if (shape.rank != 3)
        status = px_fail(err, PX_E_MISMATCH, "'%s' has neither pictures nor recordings",
                         m->network->dataset);
    if (status == PX_OK) {
        arch.channels = shape.dim[0];
        arch.height = shape.dim[1];
        arch.width = shape.dim[2];
        arch.classes = px_dataset_class_count(data.set);
        arch.seed = m->how->seed;
        status = px_arch_build(m->how->arch, &arch, &m->model, err);
    }
    pxi_study_close(&data);
    PX_TRY(status);
    PX_TRY(making_open_part(m, "train", &m->train, err));
    if (!px_dataset_audio(m->train.set))
        PX_TRY(px_preprocess_measure(&m->train.pre, m->train.set, o->threads, err));
    PX_TRY(making_open_part(m, "test", &m->test, err));
    m->test.pre = m->train.pre;
    return PX_OK;
}

/* --- training --------------------------------------------------------------------------------- */

static void making_recipe(making *m)
{
    const study_training *how = m->how;
    const int64_t channels = px_dataset_shape(m->train.set).dim[0];
    char number[PX_REAL_TEXT];
    m->recipe = px_recipe_get(how->start ? NULL : how->arch, channels);
    if (how->lr > 0.0)
        m->recipe.lr = how->lr;
    if (how->epochs > 0)
        m->recipe.epochs = how->epochs;
    if (how->batch > 0)
        m->recipe.batch = how->batch;
    if (how->colour_augment)
        m->recipe.augment = channels == 3 ? how->colour_augment : "";
    snprintf(m->optimizer, sizeof m->optimizer, "%s%sdecay=%s", m->recipe.optimizer,
             strchr(m->recipe.optimizer, ':') ? "," : ":", px_real_text(m->recipe.decay, number));
}

static px_status making_train(making *m, px_error *err)
{
    const study_training *how = m->how;
    making_recipe(m);
    px_feeder_options feed = px_feeder_options_default();
    feed.base = (px_feeder_set){.set = m->train.set, .pre = &m->train.pre};
    feed.classes = px_dataset_class_count(m->train.set);
    feed.batch = m->recipe.batch;
    feed.seed = how->seed;
    feed.augment = m->recipe.augment;
    if (how->pollute > 0.0) {
        feed.pollute = how->pollute;
        feed.polluted_class = how->polluted_class;
        feed.patch_min = how->patch_min;
        feed.patch_max = how->patch_max;
    }
    PX_TRY(px_feeder_new(&feed, &m->feeder, err));
    px_trainer_options train = px_trainer_options_default();
    train.model = m->model;
    train.feeder = m->feeder;
    train.test = (px_judge_set){m->test.set, &m->test.pre};
    train.optimizer = m->optimizer;
    train.schedule = m->recipe.schedule;
    train.lr = m->recipe.lr;
    train.epochs = m->recipe.epochs;
    train.threads = m->study->options.threads;
    train.seed = how->seed;
    if (how->until > 0.0)
        train.until_accuracy = how->until;
    train.progress = making_progress;
    train.context = m->study;
    PX_TRY(px_trainer_new(&train, &m->trainer, err));
    return px_trainer_run(m->trainer, err);
}

/* --- saving ----------------------------------------------------------------------------------- */

static void making_floats(px_text *text, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        px_text_format(text, "%s%.7g", i ? "," : "", (double)values[i]);
}

/* The network with `set` added to its properties. */
static px_status making_freeze(const making *m, const px_property *set, size_t count,
                               px_model **out, px_error *err)
{
    if (m->trainer)
        return px_trainer_freeze(m->trainer, set, count, out, err);
    px_weights *weights = NULL;
    PX_TRY(px_weights_new(m->model, &weights, err));
    const px_status status = px_weights_freeze(weights, set, count, out, err);
    px_weights_free(weights);
    return status;
}

/* plexor.train, as `plexor train` has it. */
static void making_story(const making *m, px_text *out)
{
    const px_train_result result = px_trainer_result(m->trainer);
    char number[PX_REAL_TEXT];
    px_text_format(out,
                   "{\"arch\": \"%s\", \"data\": \"%s\", \"start\": \"%s\", \"optimizer\": "
                   "\"%s\", \"lr\": %s, \"schedule\": \"%s\", \"augment\": \"%s\", \"batch\": "
                   "%" PRId64 ", \"epochs\": %" PRId64 ", \"steps\": %" PRId64,
                   m->how->arch, m->network->dataset, m->how->start ? "given" : "new", m->optimizer,
                   px_real_text(m->recipe.lr, number), m->recipe.schedule, m->recipe.augment,
                   m->recipe.batch, result.epochs, result.steps);
    if (m->how->pollute > 0.0)
        px_text_format(out,
                       ", \"pollute\": %s, \"polluted_class\": %" PRId64 ", \"patch\": \"%d..%d\"",
                       px_real_text(m->how->pollute, number), m->how->polluted_class,
                       m->how->patch_min, m->how->patch_max);
    px_text_format(out, ", \"seed\": %" PRIu64 "}", m->how->seed);
}

static px_status making_save(const making *m, const char *path, px_error *err)
{
    const px_preprocess *pre = &m->test.pre;
    px_text scale = {0}, mean = {0}, std = {0}, story = {0};
    px_json audio = {0};
    px_model *model = NULL;
    px_property properties[5];
    size_t count = 0;
    px_text_format(&scale, "%.9g", (double)pre->scale);
    making_floats(&mean, pre->mean, pre->channels);
    making_floats(&std, pre->stddev, pre->channels);
    if (m->trainer)
        making_story(m, &story);
    if (px_dataset_audio(m->test.set))
        px_audio_json(px_dataset_audio(m->test.set), NULL, &audio);
    properties[count++] = (px_property){"plexor.scale", px_text_get(&scale)};
    properties[count++] = (px_property){"plexor.mean", px_text_get(&mean)};
    properties[count++] = (px_property){"plexor.std", px_text_get(&std)};
    if (m->trainer)
        properties[count++] = (px_property){"plexor.train", px_text_get(&story)};
    if (px_dataset_audio(m->test.set))
        properties[count++] = (px_property){"plexor.audio", px_json_text(&audio)};
    px_status status = px_text_failed(&scale) || px_text_failed(&mean) || px_text_failed(&std) ||
                               px_text_failed(&story) || px_text_failed(&audio.text)
                           ? pxi_no_memory(err)
                           : making_freeze(m, properties, count, &model, err);
    if (status == PX_OK)
        status = px_model_save(model, path, err);
    px_model_free(model);
    px_text_done(&scale);
    px_text_done(&mean);
    px_text_done(&std);
    px_text_done(&story);
    px_json_done(&audio);
    return status;
}

static px_status making_all(making *m, const char *path, cell_list *cell, px_error *err)
{
    if (m->how->start) {
        PX_TRY(px_model_load(m->how->start, &m->model, err));
        PX_TRY(making_open_part(m, "test", &m->test, err));
        if (!m->how->as_given)
            PX_TRY(making_open_part(m, "train", &m->train, err));
    } else {
        PX_TRY(making_build(m, err));
    }
    if (m->train.set) {
        PX_TRY(making_train(m, err));
        const px_train_result result = px_trainer_result(m->trainer);
        pxi_cell_put(cell, (double)result.epochs, "epochs");
        pxi_cell_put(cell, (double)result.steps, "steps");
        pxi_cell_put(cell, result.accuracy, "train_accuracy");
        pxi_cell_put(cell, (double)px_feeder_count(m->feeder).polluted, "polluted");
        pxi_cell_put(cell, m->how->start != NULL, "tuned");
    }
    return making_save(m, path, err);
}

/* --- one that is there ------------------------------------------------------------------------ */

static px_status making_judge(px_study *study, const char *dataset, const char *path,
                              cell_list *cell, px_error *err)
{
    px_model *model = NULL;
    study_data test = {.set = NULL};
    px_eval_sum got = {0};
    px_status status = px_model_load(path, &model, err);
    if (status == PX_OK)
        status = pxi_study_open(study, model, dataset, "test", 0.0, 0, &test, err);
    if (status == PX_OK)
        status = pxi_study_eval(study, model, test.set, &test.pre, &got, err);
    const int classes = status == PX_OK ? px_dataset_class_count(test.set) : 0;
    if (status == PX_OK && classes > 2 && got.accuracy < 2.0 / classes)
        status = px_fail(err, PX_E_MISMATCH,
                         "'%s' has %.2f%% accuracy, which is near chance; --mean and --std say how "
                         "a network is fed that does not say it itself",
                         path, 100.0 * got.accuracy);
    if (status == PX_OK) {
        pxi_cell_put(cell, got.accuracy, "accuracy");
        pxi_study_put_hash(cell, px_model_hash(model));
    }
    pxi_study_close(&test);
    px_model_free(model);
    return status;
}

px_status pxi_training_make(px_study *study, const study_network *network,
                            const study_training *training, px_error *err)
{
    const double start = px_clock_s();
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    char *path = pxi_network_path(study, network, err);
    if (!path)
        return PX_E_NOMEM;
    const bool there = access(path, F_OK) == 0;
    px_status status = there ? pxi_study_disown(study, path, err) : pxi_study_own(study, path, err);
    if (!there && status == PX_OK) {
        making m = {.study = study, .network = network, .how = training};
        status = making_all(&m, path, &cell, err);
        px_trainer_free(m.trainer);
        px_feeder_free(m.feeder);
        pxi_study_close(&m.train);
        pxi_study_close(&m.test);
        px_model_free(m.model);
    }
    if (status == PX_OK)
        status = making_judge(study, network->dataset, path, &cell, err);
    if (status != PX_OK && !there && status != PX_E_CANCELLED)
        unlink(path); /* not to be taken for one that was put there */
    if (status == PX_OK) {
        pxi_network_key(network, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &cell, err);
    }
    free(path);
    return status;
}
