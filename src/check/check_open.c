/* src/check/check_open.c - the network and the data, in the form in which they go together
 *
 * What cannot be examined is refused here, before any work, with what to do about it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/bank.h>
#include <internal/data.h>
#include <internal/graph.h>
#include <internal/preprocess.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/onnx.h>
#include <plexor/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN_SAMPLE = 1000 }; /* as NSGen, CAC and DeepSensor do */

/* Operators that cannot run, all of them in one sentence. */
static px_status open_operators(const px_check *c, px_error *err)
{
    char *missing = px_model_unsupported(c->model);
    if (!missing)
        return PX_OK;
    for (char *p = missing; *p; p++)
        if (*p == '\n')
            *p = p[1] ? ';' : '\0';
    const px_status status =
        px_fail(err, PX_E_UNSUPPORTED,
                "'%.120s' uses operators that plexor cannot run: %.200s; 'plexor list ops' names "
                "those it can: export the network with other operators or another opset",
                px_model_path(c->model), missing);
    free(missing);
    return status;
}

static px_status open_network(px_check *c, px_error *err)
{
    if (!c->model)
        PX_TRY(px_model_load(c->model_path, &c->model, err));
    PX_TRY(px_model_join_inputs(c->model, err));
    if (c->o.tokenizer || c->o.tokens)
        PX_TRY(px_model_set_tokenizer(c->model, c->o.tokenizer, c->o.tokens, err));
    if (!isnan(c->o.tolerance))
        PX_TRY(px_model_set_regression(c->model, c->o.tolerance, err));
    if (c->o.classes)
        PX_TRY(px_model_set_classes(c->model, c->o.classes, err));
    const char *warnings = px_model_warnings(c->model);
    if (*warnings)
        pxi_check_note(c, "%.300s", warnings);
    PX_TRY(open_operators(c, err));
    const px_status status = px_model_scores(c->model, &c->scores, err);
    return status == PX_OK
               ? PX_OK
               : px_fail_in(err, status, "'%.120s' is no classifier that can be examined",
                            px_model_path(c->model));
}

px_data_options pxi_check_read(const px_check *c)
{
    const px_data_options named = px_model_data_options(c->model);
    px_data_options options = c->o.read;
    options.seed = c->o.seed;
    options.class_names = named.class_names;
    options.class_count = named.class_count;
    options.inputs = named.inputs;
    options.targets = named.targets;
    return options;
}

static px_status open_set(px_check *c, px_error *err)
{
    px_task_options options = {
        .data = pxi_check_read(c), .pixels = c->o.pixels, .audio = c->o.audio};
    px_task task;
    options.data.progress = pxi_check_tick_before;
    options.data.context = c;
    const px_status status = px_task_open(c->model, c->data_spec, &options, &task, err);
    if (status == PX_E_MISMATCH)
        return px_fail_in(err, status, "the data do not fit the network");
    PX_TRY(status);
    c->set = task.set;
    c->pre = task.pre;
    c->shape = task.shape;
    c->count = task.count;
    c->floats = task.floats;
    if (*c->pre.note)
        pxi_check_note(c, "%s", c->pre.note);
    for (size_t i = 0; i < px_dataset_remark_count(c->set); i++)
        pxi_check_note(c, "%s", px_dataset_remark(c->set, i));
    return PX_OK;
}

/* Data without labels are examined without them; labels that are not the network's are refused,
 * since every number that uses them would be wrong. */
static px_status open_labels(px_check *c, px_error *err)
{
    c->labelled = px_dataset_has_labels(c->set);
    if (!c->labelled) {
        snprintf(c->no_labels, sizeof c->no_labels,
                 "'%.80s' has no labels, and this needs them; class sub-folders, a CSV manifest "
                 "or an array 'y' bring them",
                 c->data_spec);
        pxi_check_note(c, "'%.100s' has no labels: stages that need them are left out",
                       c->data_spec);
        return PX_OK;
    }
    const px_status status = px_dataset_check_labels(c->set, c->scores.classes, err);
    if (status != PX_OK)
        return px_fail_in(err, status,
                          "labels and classes do not belong together; check that both are of the "
                          "same task");
    char doubt[PX_CLASSES_TEXT];
    if (px_dataset_classes_doubt(c->set, c->scores.classes, doubt))
        pxi_check_note(c, "%s", doubt);
    return PX_OK;
}

/* The model's own names, else the data's, else numbers. */
static px_status open_names(px_check *c, px_error *err)
{
    c->names = pxi_calloc((size_t)c->scores.classes, sizeof *c->names);
    bool failed = !c->names;
    for (int i = 0; !failed && i < c->scores.classes; i++) {
        char number[32];
        const char *name = px_model_class_name(c->model, i);
        if (!name || !*name)
            name = px_dataset_class_name(c->set, i);
        snprintf(number, sizeof number, "%d", i);
        c->names[i] = pxi_strdup(name ? name : number);
        failed = !c->names[i];
    }
    return failed ? pxi_no_memory(err) : PX_OK;
}

/* All that decides results, and nothing that does not. */
static void open_identity(px_check *c)
{
    px_json *json = &c->identity;
    char hash[32];
    px_json_object(json, NULL);
    px_json_string(json, "plexor", px_version());
    snprintf(hash, sizeof hash, "%016" PRIx64, px_model_hash(c->model));
    px_json_string(json, "model", hash);
    snprintf(hash, sizeof hash, "%016" PRIx64, px_dataset_hash(c->set));
    px_json_string(json, "data", hash);
    px_json_int(json, "inputs", c->count);
    px_json_int(json, "first", px_dataset_index(c->set, 0));
    px_json_int(json, "last", px_dataset_index(c->set, c->count - 1));
    px_fields_object(px_preprocess_fields, &c->pre, "preprocess", json);
    px_json_string(json, "train", c->o.train);
    px_json_int(json, "train_limit", c->o.train_limit);
    if (c->bank)
        snprintf(hash, sizeof hash, "%016" PRIx64, px_bank_id(c->bank));
    px_json_string(json, "bank", c->bank ? hash : NULL);
    px_json_int(json, "seed", (int64_t)c->o.seed);
    px_json_real(json, "minutes", c->o.minutes);
    if (c->o.min_similarity > 0.0)
        px_json_real(json, "min_similarity", c->o.min_similarity);
    if (c->o.min_inside > 0.0)
        px_json_real(json, "min_inside", c->o.min_inside);
    if (!isnan(c->o.low)) {
        px_json_real(json, "low", c->o.low);
        px_json_real(json, "high", c->o.high);
    }
    px_json_end(json);
}

px_status pxi_check_open_data(px_check *c, px_error *err)
{
    PX_TRY(open_network(c, err));
    PX_TRY(open_set(c, err));
    PX_TRY(open_labels(c, err));
    PX_TRY(open_names(c, err));
    if (c->o.bank) {
        PX_TRY(px_bank_load(c->o.bank, &c->bank, err));
        PX_TRY(px_bank_check_model(c->bank, c->model, err));
    }
    open_identity(c);
    return PX_OK;
}

px_status pxi_check_open_train(const px_check *c, int64_t limit, px_preprocess *pre,
                               px_dataset **out, px_error *err)
{
    const px_shape *input = px_model_input_shape(c->model);
    px_data_options options = px_model_data_options(c->model);
    const char *spec = c->o.train ? c->o.train : c->data_spec;
    px_error why = {0};
    options.split = "train";
    options.skip_damaged = c->o.read.skip_damaged;
    options.progress = pxi_check_tick_before;
    options.context = (void *)(uintptr_t)c;
    options.limit = limit > 0 ? limit : TRAIN_SAMPLE;
    options.shuffle = true;
    options.seed = c->o.seed;
    PX_TRY(px_model_preprocess(c->model, &c->o.pixels, c->o.audio, pre, err));
    px_status status = px_dataset_open_for(pre, input, spec, &options, out, &why);
    if (status == PX_E_USAGE && c->o.train) { /* data in one piece are their own train part */
        options.split = NULL;
        status = px_dataset_open_for(pre, input, spec, &options, out, &why);
    }
    if (status == PX_OK)
        return PX_OK;
    if (c->o.train || status != PX_E_USAGE)
        return px_fail(err, status, "%s", why.message);
    return px_fail(err, status,
                   "'%.100s' has no train part to learn ranges from (%.160s); give --train SPEC",
                   spec, why.message);
}

/* --- running the network over data ----------------------------------------------------------- */

int pxi_check_threads(const px_check *c)
{
    return c->o.threads > 0 ? c->o.threads : px_cpu_count();
}

pxi_task pxi_check_task(px_check *c, int64_t count)
{
    return (pxi_task){.model = c->model,
                      .set = c->set,
                      .pre = &c->pre,
                      .count = count,
                      .threads = c->o.threads,
                      .batch = c->o.batch,
                      .progress = pxi_check_tick,
                      .progress_context = c};
}
