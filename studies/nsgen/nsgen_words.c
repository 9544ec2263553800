/* studies/nsgen/nsgen_words.c - what NSGen needs of a network: a bank of words, an encoder, a
 * threshold
 *
 * FOLDER/words/DATASET_ARCH has `bank.jsonl`, the trained `describer` and a `tau-....json` for each
 * way of comparing paths. A bank that lies there already is used, whoever made it, if it is of this
 * network: so people's own annotations can be put in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_study.h"

#include "base/memory.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/probe.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- places ---------------------------------------------------------------------------------- */

px_status ng_words_path(px_study *study, size_t subject, const char *name, char **out,
                        px_error *err)
{
    const fz_subject *s = &fz_subjects[subject];
    px_text path = {0};
    px_text_format(&path, "%s/words/%s_%s/%s", study->folder, s->dataset, s->arch, name);
    *out = px_text_take(&path);
    if (!*out)
        return pxi_no_memory(err);
    return access(*out, F_OK) == 0 ? PX_OK : pxi_study_own(study, *out, err);
}

static void words_key(size_t subject, char key[CELL_KEY])
{
    snprintf(key, CELL_KEY, "%s %s words run=1 n=%d", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, NG_PICTURES);
}

bool ng_words_done(const px_study *study, size_t subject)
{
    char key[CELL_KEY];
    words_key(subject, key);
    return pxi_cells_find(study->cells, key) != NULL;
}

/* --- the bank -------------------------------------------------------------------------------- */

static void describe_stage(void *context, const char *name)
{
    pxi_study_tell(context, "%s", name);
}

static bool study_progress(void *context, int64_t done, int64_t total)
{
    const px_study_options *o = &((const px_study *)context)->options;
    return !o->progress || o->progress(o->context, done, total);
}

px_describe_options ng_describe_options(const px_study *study, const ng_words *words)
{
    px_describe_options o = px_describe_options_default();
    o.describer = PX_DESCRIBER_VIRTUAL_UNITS;
    o.classes = (const char *const *)words->names;
    o.class_count = (int)words->name_count;
    o.captioner.decoding.threads = study->options.threads;
    o.seed = study->options.seed;
    o.threads = study->options.threads;
    o.stage = describe_stage;
    o.progress = study_progress;
    o.context = (void *)(uintptr_t)study; /* read only, by the two above */
    return o;
}

static px_status bank_cell(px_study *study, size_t subject, const px_bank *bank, double seconds,
                           px_error *err)
{
    const px_gates *g = px_bank_gates(bank);
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    pxi_cell_put(&cell, (double)px_bank_count(bank), "units");
    pxi_cell_put(&cell, (double)g->inactive, "inactive");
    pxi_cell_put(&cell, (double)g->distinct, "distinct");
    pxi_cell_put(&cell, g->held_out.exact, "exact");
    pxi_cell_put(&cell, g->held_out.precision, "precision");
    pxi_cell_put(&cell, g->held_out.recall, "recall");
    pxi_cell_put(&cell, (double)g->labelled, "labelled");
    pxi_cell_put(&cell, g->top1.value, "top1");
    pxi_cell_put(&cell, g->top1.chance, "top1_chance");
    pxi_cell_put(&cell, g->top1.sd, "top1_sd");
    pxi_cell_put(&cell, g->top3.value, "top3");
    pxi_cell_put(&cell, g->top3.chance, "top3_chance");
    pxi_cell_put(&cell, (double)g->selective, "selective");
    pxi_cell_put(&cell, g->cosine.value, "cosine");
    pxi_cell_put(&cell, g->cosine.chance, "cosine_chance");
    pxi_cell_put(&cell, g->named.value, "named");
    pxi_cell_put(&cell, g->named.chance, "named_chance");
    pxi_cell_put(&cell, px_bank_verdict(bank) == PX_VALIDATED, "validated");
    pxi_cell_put(&cell, px_bank_verdict(bank) == PX_MEASURED, "measured");
    words_key(subject, key);
    return pxi_study_put(study, key, seconds, &cell, err);
}

static px_status bank_make(px_study *study, ng_words *w, size_t subject, const char *path,
                           double *seconds, px_error *err)
{
    px_description *description = NULL;
    px_describe_options options = ng_describe_options(study, w);
    char *file = NULL;
    px_status status = ng_words_path(study, subject, "describer", &file, err);
    options.captioner_file = file;
    if (status == PX_OK)
        status = px_describe(w->model, w->train.set, &w->train.pre, &options, &description, err);
    if (status == PX_OK) {
        *seconds = px_description_facts_get(description).seconds;
        status = px_bank_save(px_description_bank(description), path, err);
    }
    px_description_free(description);
    free(file);
    return status;
}

static px_status words_bank(px_study *study, size_t subject, ng_words *w, px_error *err)
{
    char *path = NULL;
    double seconds = 0.0;
    px_status status = ng_words_path(study, subject, "bank.jsonl", &path, err);
    if (status == PX_OK && access(path, F_OK) != 0)
        status = bank_make(study, w, subject, path, &seconds, err);
    if (status == PX_OK)
        status = px_bank_load(path, &w->bank, err);
    if (status == PX_OK)
        status = px_bank_check_model(w->bank, w->model, err);
    if (status == PX_OK && !ng_words_done(study, subject))
        status = bank_cell(study, subject, w->bank, seconds, err);
    free(path);
    return status;
}

static px_status words_names(ng_words *w, px_error *err)
{
    const int classes = px_dataset_class_count(w->train.set);
    PX_TRY(PX_NEW(w->names, (size_t)PX_MAX(classes, 1), err));
    w->name_count = (size_t)PX_MAX(classes, 0);
    for (int c = 0; c < classes; c++) {
        const char *name = px_dataset_class_name(w->train.set, c);
        w->names[c] = name ? pxi_strdup(name) : NULL;
        if (name && !w->names[c])
            return pxi_no_memory(err);
    }
    return PX_OK;
}

px_status ng_words_bank(px_study *study, size_t subject, ng_words *out, px_error *err)
{
    const study_network network = fz_network(subject);
    PX_TRY(pxi_network_load(study, &network, &out->model, err));
    PX_TRY(pxi_study_open(study, out->model, network.dataset, "train", 0.0, NG_PICTURES,
                          &out->train, err));
    PX_TRY(words_names(out, err));
    return words_bank(study, subject, out, err);
}

/* --- paths and their comparison -------------------------------------------------------------- */

/* "#3,#8": the first so many of the layers that paths usually have; "" where there are no more. */
static px_status words_layers(const ng_words *w, int count, char layers[64], px_error *err)
{
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&options, "stages", NULL, NULL, err));
    PX_TRY(px_probe_new(w->model, &options, &probe, err));
    size_t used = 0;
    layers[0] = '\0';
    if ((size_t)count < px_probe_layer_count(probe))
        for (size_t i = 0; i < (size_t)count && used < 64; i++)
            used += (size_t)snprintf(layers + used, 64 - used, "%s#%d", i ? "," : "",
                                     px_probe_layer(probe, i)->position);
    px_probe_free(probe);
    return PX_OK;
}

static const fz_paths usual_setting = {.mode = PX_PATH_FULL};

static px_status words_encoder(px_study *study, const fz_paths *setting, ng_words *w, px_error *err)
{
    px_text_encoder_options options = px_text_encoder_options_default();
    options.spec = setting->file ? pxi_study_model(study, setting->file) : setting->encoder;
    options.pool = setting->pool;
    options.seed = study->options.seed;
    return px_path_encoder_open(w->bank, (const char *const *)w->names, w->name_count, &options,
                                &w->encoder, err);
}

px_status ng_words_open(px_study *study, size_t subject, const fz_paths *setting, ng_words *out,
                        px_error *err)
{
    px_paths_options options = px_paths_options_default();
    px_path_words words = px_path_words_default();
    char layers[64] = "";
    if (!setting)
        setting = &usual_setting;
    PX_TRY(ng_words_bank(study, subject, out, err));
    if (setting->layers > 0) {
        PX_TRY(words_layers(out, setting->layers, layers, err));
        if (!*layers)
            return PX_OK; /* no paths: there are not that many */
    }
    const px_shape sample = px_dataset_shape(out->train.set);
    options.layers = *layers ? layers : NULL;
    options.rule = PX_PATH_TRAPEZOID;
    options.steps = options.most_steps = NG_STEPS;
    options.bank = out->bank;
    options.threads = study->options.threads;
    words.classes = PX_MAX(setting->classes, 1);
    PX_TRY(px_paths_new(out->model, &sample, &out->train.pre, &options, &out->paths, err));
    PX_TRY(words_encoder(study, setting, out, err));
    return px_path_judge_new(out->paths, out->encoder, (const char *const *)out->names,
                             out->name_count, &words, &out->judge, err);
}

/* --- fewer steps than the paper's ------------------------------------------------------------ */

typedef struct ng_steps {
    float *inputs;
    int64_t *labels;
    px_path *found[2]; /* with the study's steps, and with as many as completeness asks for */
    int64_t count;
} ng_steps;

static px_status steps_read(const ng_words *w, ng_steps *s, px_error *err)
{
    const px_shape shape = px_dataset_shape(w->train.set);
    const size_t size = (size_t)px_shape_count(&shape);
    s->count = PX_MIN((int64_t)NG_COMPARED, px_dataset_count(w->train.set));
    s->inputs = pxi_calloc((size_t)s->count, size * sizeof *s->inputs);
    s->labels = pxi_calloc((size_t)s->count, sizeof *s->labels);
    s->found[0] = pxi_calloc((size_t)s->count, sizeof *s->found[0]);
    s->found[1] = pxi_calloc((size_t)s->count, sizeof *s->found[1]);
    if (!s->inputs || !s->labels || !s->found[0] || !s->found[1])
        return pxi_no_memory(err);
    for (int64_t i = 0; i < s->count; i++) {
        float *row = s->inputs + (size_t)i * size;
        PX_TRY(px_dataset_pixels(w->train.set, i, row, err));
        PX_TRY(px_preprocess_apply(&w->train.pre, &shape, row, err));
        s->labels[i] = px_dataset_label(w->train.set, i);
    }
    return PX_OK;
}

static px_status steps_find(const px_study *study, const ng_words *w, int steps, int most,
                            ng_steps *s, px_path *found, px_error *err)
{
    px_paths *paths = NULL;
    px_paths_options options = px_paths_options_default();
    const px_shape sample = px_dataset_shape(w->train.set);
    options.rule = PX_PATH_TRAPEZOID; /* the rule whose gap tells how fine the steps are */
    options.steps = steps;
    options.most_steps = most;
    options.bank = w->bank;
    options.threads = study->options.threads;
    PX_TRY(px_paths_new(w->model, &sample, &w->train.pre, &options, &paths, err));
    const px_status status = px_paths_run(paths, s->inputs, s->labels, s->count, found, NULL, err);
    px_paths_free(paths);
    return status;
}

static px_status steps_put(px_study *study, size_t subject, const ng_steps *s, px_error *err)
{
    double units = 0.0, same = 0.0, whole = 0.0, gap[2] = {0.0, 0.0};
    for (int64_t i = 0; i < s->count; i++) {
        const px_path *own = &s->found[0][i], *full = &s->found[1][i];
        double here = 0.0;
        for (int32_t l = 0; l < own->layers; l++)
            here += own->step[l].unit == full->step[l].unit;
        units += (double)own->layers;
        same += here;
        whole += here == (double)own->layers;
        gap[0] += isnan(own->gap) ? 0.0 : own->gap;
        gap[1] += isnan(full->gap) ? 0.0 : full->gap;
    }
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    pxi_cell_put(&cell, units > 0.0 ? same / units : (double)NAN, "same_unit");
    pxi_cell_put(&cell, whole / (double)PX_MAX(s->count, (int64_t)1), "same_path");
    pxi_cell_put(&cell, gap[0] / (double)PX_MAX(s->count, (int64_t)1), "gap");
    pxi_cell_put(&cell, gap[1] / (double)PX_MAX(s->count, (int64_t)1), "gap_full");
    snprintf(key, sizeof key, "%s %s steps run=1 n=%d", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, NG_COMPARED);
    return pxi_study_put(study, key, 0.0, &cell, err);
}

px_status ng_words_steps(px_study *study, size_t subject, const ng_words *words, px_error *err)
{
    const px_paths_options usual = px_paths_options_default();
    ng_steps s = {0};
    px_status status = steps_read(words, &s, err);
    if (status == PX_OK)
        status = steps_find(study, words, NG_STEPS, NG_STEPS, &s, s.found[0], err);
    if (status == PX_OK)
        status = steps_find(study, words, usual.steps, usual.most_steps, &s, s.found[1], err);
    if (status == PX_OK)
        status = steps_put(study, subject, &s, err);
    free(s.inputs);
    free(s.labels);
    free(s.found[0]);
    free(s.found[1]);
    return status;
}

/* --- the threshold --------------------------------------------------------------------------- */

px_status ng_words_threshold(px_study *study, size_t subject, const fz_paths *setting,
                             ng_words *words, px_error *err)
{
    char name[96], *path = NULL;
    px_calibration options = px_calibration_default();
    if (!setting)
        setting = &usual_setting;
    const char *encoder = setting->file      ? strchr(setting->file, '/') + 1
                          : setting->encoder ? setting->encoder
                                             : "ppmi";
    options.images = NG_IMAGES;
    options.seed = study->options.seed;
    options.progress = study_progress;
    options.progress_context = study;
    snprintf(name, sizeof name, "tau-%s%s%s-%d-%d.json", encoder, setting->pool ? "-" : "",
             setting->pool ? setting->pool : "", setting->layers, PX_MAX(setting->classes, 1));
    px_status status = ng_words_path(study, subject, name, &path, err);
    if (status == PX_OK && access(path, F_OK) != 0) {
        pxi_study_tell(study, "tau from %d training pictures with all 95 mutations", NG_IMAGES);
        status = px_calibrate(words->paths, words->judge, words->train.set, &words->train.pre,
                              &options, &words->threshold, NULL, err);
        if (status == PX_OK)
            status = px_threshold_save(&words->threshold, path, err);
    } else if (status == PX_OK) {
        status = px_threshold_load(path, &words->threshold, err);
    }
    free(path);
    return status == PX_OK ? px_threshold_check(&words->threshold, words->paths, words->encoder,
                                                setting->mode, err)
                           : status;
}

void ng_words_close(ng_words *w)
{
    px_path_judge_free(w->judge);
    px_paths_free(w->paths);
    px_text_encoder_free(w->encoder);
    for (size_t i = 0; i < w->name_count; i++)
        free(w->names[i]);
    free(w->names);
    px_bank_free(w->bank);
    pxi_study_close(&w->train);
    px_model_free(w->model);
    *w = (ng_words){0};
}
