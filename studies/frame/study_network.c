/* studies/frame/study_network.c - networks that a study trains: to an accuracy, once, kept on disk
 *
 * FOLDER/models/DATASET_ARCH_K.onnx. A file that is there already is used, whoever trained it, if
 * its accuracy is the one to stop at, within half a point; from then on its hash is in the cells.
 * Under-training stops at the accuracy on the test set, as the papers do it: the networks are not
 * compared with each other by it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_internal.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/property.h>
#include <internal/text.h>
#include <internal/train.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/json.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <plexor/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const double NETWORK_BAND = 0.005 + 1e-9;

/* 64-bit hashes as two numbers that doubles hold. */
void pxi_study_put_hash(cell_list *list, uint64_t hash)
{
    pxi_cell_put(list, (double)(hash >> 32), "hash_high");
    pxi_cell_put(list, (double)(hash & UINT32_MAX), "hash_low");
}

bool pxi_study_hash_is(const study_cell *cell, uint64_t hash)
{
    return pxi_cell_number(cell, "hash_high") == (double)(hash >> 32) &&
           pxi_cell_number(cell, "hash_low") == (double)(hash & UINT32_MAX);
}

/* --- data ------------------------------------------------------------------------------------- */

/* Pictures that went through a lossy encoder are not those that papers used. */
static bool network_is_jpeg(const px_dataset *set)
{
    char buffer[512];
    const char *name = px_dataset_name(set, 0, buffer, sizeof buffer);
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

px_status pxi_study_check_data(px_study *study, const char *dataset, const char *part,
                               const px_dataset *set, px_error *err)
{
    char key[CELL_KEY];
    cell_list list = {.count = 0};
    snprintf(key, sizeof key, "data %s %s %" PRId64, dataset, part, px_dataset_count(set));
    const study_cell *cell = pxi_cells_find(study->cells, key);
    if (cell && pxi_study_hash_is(cell, px_dataset_hash(set)))
        return PX_OK;
    if (cell)
        return px_fail(err, PX_E_MISMATCH,
                       "the %s part of '%s' is not the one that the cells in '%s' are of; use "
                       "another folder",
                       part, pxi_study_spec(study, dataset), study->folder);
    pxi_study_put_hash(&list, px_dataset_hash(set));
    pxi_cell_put(&list, network_is_jpeg(set), "jpeg");
    return pxi_study_put(study, key, 0.0, &list, err);
}

/* With a model: in the shape that its input has. */
static px_status network_open_part(px_study *study, const px_model *model, const char *dataset,
                                   const px_data_options *options, study_data *out, px_error *err)
{
    const char *spec = pxi_study_spec(study, dataset);
    if (!spec)
        return px_fail(err, PX_E_INPUT, "where is '%s'? --data %s=SPEC", dataset, dataset);
    if (!model)
        return px_dataset_open(spec, options, &out->set, err);
    px_task_options wanted = px_task_options_default();
    px_task task;
    wanted.data = *options;
    PX_TRY(px_task_open(model, spec, &wanted, &task, err));
    out->set = task.set;
    out->pre = task.pre;
    return PX_OK;
}

px_status pxi_study_open(px_study *study, const px_model *model, const char *dataset,
                         const char *part, double share, int64_t limit, study_data *out,
                         px_error *err)
{
    study_data data = {.set = NULL};
    px_data_options options = model ? px_model_data_options(model) : px_data_options_default();
    options.split = part;
    if (share != 0.0 && fabs(share) < 1.0) { /* its size first */
        PX_TRY(network_open_part(study, model, dataset, &options, &data, err));
        const int64_t cut = llround(fabs(share) * (double)px_dataset_count(data.set));
        if (share > 0.0)
            options.limit = cut;
        else
            options.offset = cut;
        pxi_study_close(&data);
    }
    if (limit > 0 && (options.limit <= 0 || limit < options.limit))
        options.limit = limit;
    PX_TRY(network_open_part(study, model, dataset, &options, &data, err));
    const px_status status = pxi_study_check_data(study, dataset, part, data.set, err);
    if (status != PX_OK)
        pxi_study_close(&data);
    else
        *out = data;
    return status;
}

px_status pxi_study_eval(px_study *study, const px_model *model, const px_dataset *set,
                         const px_preprocess *pre, px_eval_sum *out, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    how.threads = study->options.threads;
    how.progress = study->options.progress;
    how.context = study->options.context;
    PX_TRY(px_predict(model, set, pre, &how, &said, err));
    *out = px_eval_slice(&said, NULL, said.count);
    px_predictions_done(&said);
    return PX_OK;
}

void pxi_study_close(study_data *data)
{
    px_dataset_close(data->set);
    data->set = NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

void pxi_network_key(const study_network *n, char key[CELL_KEY])
{
    snprintf(key, CELL_KEY, "%s %s network run=%" PRId64 " n=0", n->dataset, n->arch, n->number);
}

char *pxi_network_path(const px_study *study, const study_network *n, px_error *err)
{
    px_text path = {0};
    px_text_format(&path, "%s/models/%s_%s_%" PRId64 ".onnx", study->folder, n->dataset, n->arch,
                   n->number);
    char *taken = px_text_take(&path);
    if (!taken)
        pxi_no_memory(err);
    return taken;
}

bool pxi_network_done(const px_study *study, const study_network *n)
{
    char key[CELL_KEY];
    pxi_network_key(n, key);
    char *path = pxi_network_path(study, n, NULL);
    const bool there = path && access(path, R_OK) == 0;
    free(path);
    return there && pxi_cells_find(study->cells, key);
}

/* --- training --------------------------------------------------------------------------------- */

typedef struct network_run { /* of pxi_network_make() */
    px_study *study;
    const study_network *network;
    px_model *model; /* untrained */
    study_data train, test;
    px_feeder *feeder;
    px_trainer *trainer;
    px_recipe recipe;
    char optimizer[160];
} network_run;

static bool network_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

static px_status network_build(network_run *r, px_error *err)
{
    const study_network *n = r->network;
    const px_shape shape = px_dataset_shape(r->train.set);
    px_arch_options options = px_arch_options_default();
    if (shape.rank != 3)
        return px_fail(err, PX_E_MISMATCH, "'%s' has no pictures", n->dataset);
    options.channels = shape.dim[0];
    options.height = shape.dim[1];
    options.width = shape.dim[2];
    options.classes = px_dataset_class_count(r->train.set);
    options.seed = (uint64_t)n->number;
    PX_TRY(px_arch_build(n->zoo, &options, &r->model, err));
    const px_graph *graph = px_model_graph(r->model);
    px_preprocess *pre = &r->train.pre;
    PX_TRY(px_preprocess_init(pre, NULL, 0, &graph->values[graph->inputs[0]].shape, NULL, err));
    px_preprocess_fit(pre, px_dataset_is_8bit(r->train.set));
    PX_TRY(px_preprocess_measure(pre, r->train.set, r->study->options.threads, err));
    r->test.pre = *pre;
    return PX_OK;
}

static px_status network_trainer(network_run *r, px_error *err)
{
    const study_network *n = r->network;
    const px_shape shape = px_dataset_shape(r->train.set);
    char number[PX_REAL_TEXT];
    r->recipe = px_recipe_get(n->zoo, shape.dim[0]);
    if (n->epochs > 0)
        r->recipe.epochs = n->epochs;
    snprintf(r->optimizer, sizeof r->optimizer, "%s%sdecay=%s", r->recipe.optimizer,
             strchr(r->recipe.optimizer, ':') ? "," : ":", px_real_text(r->recipe.decay, number));
    px_feeder_options feed = px_feeder_options_default();
    feed.base = (px_feeder_set){.set = r->train.set, .pre = &r->train.pre};
    feed.classes = px_dataset_class_count(r->train.set);
    feed.batch = r->recipe.batch;
    feed.seed = (uint64_t)n->number;
    feed.augment = r->recipe.augment;
    PX_TRY(px_feeder_new(&feed, &r->feeder, err));
    px_trainer_options o = px_trainer_options_default();
    o.model = r->model;
    o.feeder = r->feeder;
    o.test = (px_judge_set){r->test.set, &r->test.pre};
    o.optimizer = r->optimizer;
    o.schedule = r->recipe.schedule;
    o.lr = r->recipe.lr;
    o.epochs = r->recipe.epochs;
    o.threads = r->study->options.threads;
    o.seed = (uint64_t)n->number;
    o.until_accuracy = n->accuracy > 0.0 ? n->accuracy : -1.0;
    o.progress = network_progress;
    o.context = r->study;
    return px_trainer_new(&o, &r->trainer, err);
}

static void network_floats(px_text *text, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        px_text_format(text, "%s%.7g", i ? "," : "", (double)values[i]);
}

/* Saves it with what a reader needs to feed it, and how it was made. */
static px_status network_save(const network_run *r, const char *path, px_error *err)
{
    const px_preprocess *pre = &r->train.pre;
    const px_shape shape = px_dataset_shape(r->train.set);
    const px_train_result result = px_trainer_result(r->trainer);
    px_text scale = {0}, mean = {0}, std = {0}, size = {0}, train = {0};
    char lr[PX_REAL_TEXT], until[PX_REAL_TEXT];
    if (px_dataset_is_8bit(r->train.set))
        px_text_add(&scale, "1/255");
    else
        px_text_add(&scale, "1");
    network_floats(&mean, pre->mean, pre->channels);
    network_floats(&std, pre->stddev, pre->channels);
    px_text_format(&size, "%" PRId64 "x%" PRId64, shape.dim[1], shape.dim[2]);
    px_text_format(&train,
                   "{\"arch\": \"%s\", \"data\": \"%s\", \"optimizer\": \"%s\", \"lr\": %s, "
                   "\"schedule\": \"%s\", \"augment\": \"%s\", \"batch\": %" PRId64
                   ", \"epochs\": %" PRId64 ", \"steps\": %" PRId64 ", \"until_accuracy\": %s, "
                   "\"inputs\": %" PRId64 ", \"seed\": %" PRId64 "}",
                   r->network->zoo, r->network->dataset, r->optimizer,
                   px_real_text(r->recipe.lr, lr), r->recipe.schedule, r->recipe.augment,
                   r->recipe.batch, result.epochs, result.steps,
                   px_real_text(r->network->accuracy, until), px_dataset_count(r->train.set),
                   r->network->number);
    const px_property properties[] = {
        {"plexor.scale", px_text_get(&scale)},
        {"plexor.mean", px_text_get(&mean)},
        {"plexor.std", px_text_get(&std)},
        {"plexor.size", px_text_get(&size)},
        {"plexor.channels", shape.dim[0] == 1 ? "gray" : "rgb"},
        {"plexor.output", "probs"},
        {"plexor.train", px_text_get(&train)},
    };
    px_model *model = NULL;
    px_status status =
        px_text_failed(&scale) || px_text_failed(&mean) || px_text_failed(&std) ||
                px_text_failed(&size) || px_text_failed(&train)
            ? pxi_no_memory(err)
            : px_trainer_freeze(r->trainer, properties, PX_LEN(properties), &model, err);
    if (status == PX_OK)
        status = px_model_save(model, path, err);
    px_model_free(model);
    px_text_done(&scale);
    px_text_done(&mean);
    px_text_done(&std);
    px_text_done(&size);
    px_text_done(&train);
    return status;
}

static px_status network_train(px_study *study, const study_network *n, const char *path,
                               cell_list *list, px_error *err)
{
    network_run r = {.study = study, .network = n};
    px_status status =
        pxi_study_open(study, NULL, n->dataset, "train", 1.0 - n->held_back, 0, &r.train, err);
    if (status == PX_OK)
        status = pxi_study_open(study, NULL, n->dataset, "test", 0.0, 0, &r.test, err);
    if (status == PX_OK)
        status = network_build(&r, err);
    if (status == PX_OK)
        status = network_trainer(&r, err);
    if (status == PX_OK)
        status = px_trainer_run(r.trainer, err);
    if (status == PX_OK) {
        const px_train_result result = px_trainer_result(r.trainer);
        if (n->accuracy > 0.0 && !result.reached)
            status = px_fail(err, PX_E_MISMATCH,
                             "accuracy is %.2f%% after %" PRId64 " epochs, not within half a point "
                             "of %.2f%%",
                             100.0 * result.test_accuracy, result.epochs, 100.0 * n->accuracy);
        pxi_cell_put(list, (double)result.epochs, "epochs");
        pxi_cell_put(list, (double)result.steps, "steps");
        pxi_cell_put(list, (double)n->number, "seed");
        pxi_cell_put(list, (double)px_dataset_count(r.train.set), "train_inputs");
    }
    if (status == PX_OK)
        status = pxi_study_own(study, path, err);
    if (status == PX_OK)
        status = network_save(&r, path, err);
    px_trainer_free(r.trainer);
    px_feeder_free(r.feeder);
    px_model_free(r.model);
    pxi_study_close(&r.train);
    pxi_study_close(&r.test);
    return status;
}

/* What the network's own metadata say about its training (`plexor train` writes them too). */
static void network_recall(const px_model *model, cell_list *list)
{
    const char *text = px_property_find(px_model_properties(model), px_model_property_count(model),
                                        "plexor.train");
    px_json_document *document = NULL;
    if (!text || px_json_parse(text, strlen(text), &document, NULL) != PX_OK)
        return;
    static const char *const keys[] = {"epochs", "steps", "seed"};
    const px_json_value *root = px_json_root(document);
    for (size_t i = 0; root->kind == PX_JSON_OBJECT && i < PX_LEN(keys); i++) {
        const px_json_value *value = px_json_member(root, keys[i]);
        if (value && value->kind == PX_JSON_NUMBER)
            pxi_cell_put(list, value->number, "%s", keys[i]);
    }
    px_json_free(document);
}

px_status pxi_network_make(px_study *study, const study_network *n, px_error *err)
{
    const double start = px_clock_s();
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_model *model = NULL;
    study_data test = {.set = NULL};
    px_eval_sum got = {0};
    char *path = pxi_network_path(study, n, err);
    if (!path)
        return PX_E_NOMEM;
    const bool there = access(path, F_OK) == 0;
    px_status status =
        there ? pxi_study_disown(study, path, err) : network_train(study, n, path, &list, err);
    if (status == PX_OK)
        status = px_model_load(path, &model, err);
    if (status == PX_OK && there)
        network_recall(model, &list);
    if (status == PX_OK)
        status = pxi_study_open(study, model, n->dataset, "test", 0.0, 0, &test, err);
    if (status == PX_OK)
        status = pxi_study_eval(study, model, test.set, &test.pre, &got, err);
    if (status == PX_OK && n->accuracy > 0.0 && fabs(got.accuracy - n->accuracy) > NETWORK_BAND)
        status = px_fail(err, PX_E_MISMATCH,
                         "'%s' has %.2f%% accuracy, not within half a point of %.2f%%; remove it, "
                         "and another one is trained",
                         path, 100.0 * got.accuracy, 100.0 * n->accuracy);
    if (status == PX_OK) {
        pxi_cell_put(&list, got.accuracy, "accuracy");
        pxi_study_put_hash(&list, px_model_hash(model));
        pxi_network_key(n, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    pxi_study_close(&test);
    px_model_free(model);
    free(path);
    return status;
}

px_status pxi_network_load(px_study *study, const study_network *n, px_model **out, px_error *err)
{
    char key[CELL_KEY];
    px_model *model = NULL;
    char *path = pxi_network_path(study, n, err);
    if (!path)
        return PX_E_NOMEM;
    px_status status = px_model_load(path, &model, err);
    pxi_network_key(n, key);
    if (status == PX_OK &&
        !pxi_study_hash_is(pxi_cells_find(study->cells, key), px_model_hash(model)))
        status = px_fail(err, PX_E_MISMATCH,
                         "'%s' is not the network that the cells in '%s' are of; use another "
                         "folder",
                         path, study->folder);
    if (status == PX_OK)
        *out = model;
    else
        px_model_free(model);
    free(path);
    return status;
}
