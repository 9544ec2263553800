/* src/study/fuzz_network.c - the networks that are fuzzed: given, fine-tuned, or trained
 *
 * FOLDER/models/DATASET_ARCH_1.onnx, with all that is needed to feed it. A file that is there is
 * used as it is. ResNet-20 on CIFAR-10 is fine-tuned first: its published weights are of the
 * original pictures, and lose ten points on a copy in JPEG. All others are taken as given. The
 * paper does not tell the accuracies of its networks to be anything but what they came to, so there
 * is none to stop at.
 */
#include "study/fuzz_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/arch.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <plexor/train.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct tuning {
    px_study *study;
    size_t subject;
    const char *start; /* NULL: a new network */
    px_model *model;   /* before training */
    study_data train, test;
    px_recipe recipe;
    char optimizer[160];
    px_feeder *feeder;
    px_trainer *trainer;
} tuning;

static bool tuning_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

/* --- the network to begin with ---------------------------------------------------------------- */

static const px_shape *tuning_shape(const tuning *t)
{
    const px_graph *graph = px_model_graph(t->model);
    return &graph->values[graph->inputs[0]].shape;
}

static px_status tuning_open_part(tuning *t, const char *part, study_data *out, px_error *err)
{
    const px_study_options *o = &t->study->options;
    const char *dataset = fz_subjects[t->subject].dataset;
    px_data_options options = px_data_options_default();
    options.split = part;
    PX_TRY(px_preprocess_init(&out->pre, px_model_properties(t->model),
                              px_model_property_count(t->model), tuning_shape(t), NULL, o->mean,
                              o->std, NULL, err));
    PX_TRY(px_dataset_open_for(&out->pre, tuning_shape(t), pxi_study_spec(t->study, dataset),
                               &options, &out->set, err));
    return pxi_study_check_data(t->study, dataset, part, out->set, err);
}

/* A new one: as large as the pictures are, and with their mean and deviation. */
static px_status tuning_build(tuning *t, px_error *err)
{
    const px_study_options *o = &t->study->options;
    study_data data = {.set = NULL};
    px_data_options options = px_data_options_default();
    px_arch_options arch = px_arch_options_default();
    options.split = "train";
    PX_TRY(px_dataset_open(pxi_study_spec(t->study, fz_subjects[t->subject].dataset), &options,
                           &data.set, err));
    const px_shape shape = px_dataset_shape(data.set);
    px_status status = PX_OK;
    if (shape.rank != 3)
        status =
            px_fail(err, PX_E_MISMATCH, "'%s' has no pictures", fz_subjects[t->subject].dataset);
    if (status == PX_OK) {
        arch.channels = shape.dim[0];
        arch.height = shape.dim[1];
        arch.width = shape.dim[2];
        arch.classes = px_dataset_class_count(data.set);
        arch.seed = 1;
        status = px_arch_build(fz_subjects[t->subject].arch, &arch, &t->model, err);
    }
    pxi_study_close(&data);
    PX_TRY(status);
    PX_TRY(tuning_open_part(t, "train", &t->train, err));
    PX_TRY(px_preprocess_measure(&t->train.pre, t->train.set, o->threads, err));
    PX_TRY(tuning_open_part(t, "test", &t->test, err));
    t->test.pre = t->train.pre;
    return PX_OK;
}

/* --- training --------------------------------------------------------------------------------- */

static px_status tuning_train(tuning *t, px_error *err)
{
    const px_study_options *o = &t->study->options;
    const int64_t channels = px_dataset_shape(t->train.set).dim[0];
    char number[PX_REAL_TEXT];
    t->recipe = px_recipe_get(t->start ? NULL : fz_subjects[t->subject].arch, channels);
    if (t->start) { /* other pictures, not a few new ones: larger steps, as in training */
        t->recipe.lr = 0.01;
        t->recipe.epochs = FZ_TUNE_EPOCHS;
        t->recipe.augment = channels == 3 ? "crop:4,flip" : "";
    }
    snprintf(t->optimizer, sizeof t->optimizer, "%s%sdecay=%s", t->recipe.optimizer,
             strchr(t->recipe.optimizer, ':') ? "," : ":", px_real_text(t->recipe.decay, number));
    px_feeder_options feed = px_feeder_options_default();
    feed.base = (px_feeder_set){.set = t->train.set, .pre = &t->train.pre};
    feed.classes = px_dataset_class_count(t->train.set);
    feed.batch = t->recipe.batch;
    feed.seed = 1;
    feed.augment = t->recipe.augment;
    PX_TRY(px_feeder_new(&feed, &t->feeder, err));
    px_trainer_options train = px_trainer_options_default();
    train.model = t->model;
    train.feeder = t->feeder;
    train.test = (px_judge_set){t->test.set, &t->test.pre};
    train.optimizer = t->optimizer;
    train.schedule = t->recipe.schedule;
    train.lr = t->recipe.lr;
    train.epochs = t->recipe.epochs;
    train.threads = o->threads;
    train.seed = 1;
    train.progress = tuning_progress;
    train.context = t->study;
    PX_TRY(px_trainer_new(&train, &t->trainer, err));
    return px_trainer_run(t->trainer, err);
}

/* --- saving ----------------------------------------------------------------------------------- */

static void tuning_floats(px_text *text, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        px_text_format(text, "%s%.7g", i ? "," : "", (double)values[i]);
}

/* The network with `set` added to its properties. */
static px_status tuning_freeze(const tuning *t, const px_property *set, size_t count,
                               px_model **out, px_error *err)
{
    if (t->trainer)
        return px_trainer_freeze(t->trainer, set, count, out, err);
    px_weights *weights = NULL;
    PX_TRY(px_weights_new(t->model, &weights, err));
    const px_status status = px_weights_freeze(weights, set, count, out, err);
    px_weights_free(weights);
    return status;
}

static px_status tuning_save(const tuning *t, const char *path, px_error *err)
{
    const px_preprocess *pre = &t->test.pre;
    px_text scale = {0}, mean = {0}, std = {0}, train = {0};
    char lr[PX_REAL_TEXT];
    px_model *model = NULL;
    px_text_format(&scale, "%.9g", (double)pre->scale);
    tuning_floats(&mean, pre->mean, pre->channels);
    tuning_floats(&std, pre->stddev, pre->channels);
    if (t->trainer) {
        const px_train_result result = px_trainer_result(t->trainer);
        px_text_format(&train,
                       "{\"arch\": \"%s\", \"data\": \"%s\", \"start\": \"%s\", \"optimizer\": "
                       "\"%s\", \"lr\": %s, \"schedule\": \"%s\", \"augment\": \"%s\", \"batch\": "
                       "%" PRId64 ", \"epochs\": %" PRId64 ", \"steps\": %" PRId64 ", \"seed\": 1}",
                       fz_subjects[t->subject].arch, fz_subjects[t->subject].dataset,
                       t->start ? "given" : "new", t->optimizer, px_real_text(t->recipe.lr, lr),
                       t->recipe.schedule, t->recipe.augment, t->recipe.batch, result.epochs,
                       result.steps);
    }
    const px_property properties[] = {{"plexor.scale", px_text_get(&scale)},
                                      {"plexor.mean", px_text_get(&mean)},
                                      {"plexor.std", px_text_get(&std)},
                                      {"plexor.train", px_text_get(&train)}};
    px_status status =
        px_text_failed(&scale) || px_text_failed(&mean) || px_text_failed(&std) ||
                px_text_failed(&train)
            ? px_fail(err, PX_E_NOMEM, "out of memory")
            : tuning_freeze(t, properties, PX_LEN(properties) - !t->trainer, &model, err);
    if (status == PX_OK)
        status = px_model_save(model, path, err);
    px_model_free(model);
    px_text_done(&scale);
    px_text_done(&mean);
    px_text_done(&std);
    px_text_done(&train);
    return status;
}

static px_status tuning_make(tuning *t, const char *path, cell_list *cell, px_error *err)
{
    if (t->start) {
        PX_TRY(px_model_load(t->start, &t->model, err));
        PX_TRY(tuning_open_part(t, "test", &t->test, err));
        if (t->subject == FZ_RESNET)
            PX_TRY(tuning_open_part(t, "train", &t->train, err));
    } else {
        PX_TRY(tuning_build(t, err));
    }
    if (t->train.set) {
        PX_TRY(tuning_train(t, err));
        const px_train_result result = px_trainer_result(t->trainer);
        pxi_cell_put(cell, (double)result.epochs, "epochs");
        pxi_cell_put(cell, (double)result.steps, "steps");
        pxi_cell_put(cell, t->start != NULL, "tuned");
    }
    return tuning_save(t, path, err);
}

/* --- one that is there ------------------------------------------------------------------------ */

static px_status network_judge(px_study *study, size_t subject, const char *path, cell_list *cell,
                               px_error *err)
{
    px_model *model = NULL;
    px_judge *judge = NULL;
    study_data test = {.set = NULL};
    px_judgement got = {0};
    px_status status = px_model_load(path, &model, err);
    if (status == PX_OK)
        status =
            pxi_study_open(study, model, fz_subjects[subject].dataset, "test", 0.0, 0, &test, err);
    if (status == PX_OK)
        status = px_judge_new(model, NULL, &(px_judge_set){test.set, &test.pre},
                              study->options.threads, &judge, err);
    if (status == PX_OK)
        status = px_judge_run(judge, NULL, NULL, &got, study->options.progress,
                              study->options.context, err);
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
    px_judge_free(judge);
    pxi_study_close(&test);
    px_model_free(model);
    return status;
}

px_status fz_make_network(px_study *study, size_t subject, px_error *err)
{
    const double start = px_clock_s();
    const study_network network = fz_network(subject);
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    PX_TRY(pxi_study_models_folder(study, err));
    char *path = pxi_network_path(study, &network, err);
    if (!path)
        return PX_E_NOMEM;
    px_status status = PX_OK;
    const bool there = access(path, F_OK) == 0;
    if (!there) {
        tuning t = {.study = study,
                    .subject = subject,
                    .start = pxi_study_model(study, fz_subjects[subject].model)};
        status = tuning_make(&t, path, &cell, err);
        px_trainer_free(t.trainer);
        px_feeder_free(t.feeder);
        pxi_study_close(&t.train);
        pxi_study_close(&t.test);
        px_model_free(t.model);
    }
    if (status == PX_OK)
        status = network_judge(study, subject, path, &cell, err);
    if (status != PX_OK && !there && status != PX_E_CANCELLED)
        unlink(path); /* not to be taken for one that was put there */
    if (status == PX_OK) {
        pxi_network_key(&network, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &cell, err);
    }
    free(path);
    return status;
}
