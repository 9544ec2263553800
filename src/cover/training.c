/* src/cover/training.c - the data that ranges, traces and thresholds are learned from */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/profile.h>
#include <internal/text.h>
#include <internal/training.h>

#include "base/memory.h"

#include <internal/classes.h>
#include <internal/system.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TRAINING_SAMPLE = 1000 }; /* as NSGen, CAC and DeepSensor do */

static void PX_PRINTF(2, 3) training_note(const px_training *t, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    if (!t->note)
        return;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    t->note(t->context, sentence);
}

px_status px_training_open(const px_model *model, const px_training *t, const char *who,
                           px_preprocess *pre, px_dataset **out, px_error *err)
{
    px_data_options options = px_model_data_options(model);
    options.split = "train";
    options.skip_damaged = t->skip_damaged;
    options.seed = t->seed;
    options.limit = t->spec || t->limit ? t->limit : TRAINING_SAMPLE;
    options.shuffle = options.limit > 0;
    if (t->first > 0) {
        if (t->limit > 0)
            return px_fail(err, PX_E_USAGE,
                           "--train-limit draws from all training data, --train-first takes the "
                           "first ones; give one of them");
        options.limit = t->first;
        options.shuffle = false;
    }
    const char *spec = t->spec ? t->spec : t->own;
    px_error why = {0};
    *pre = *t->pre;
    const px_status status = px_dataset_open_part(pre, px_model_input_shape(model), spec, &options,
                                                  /* may_be_whole= */ t->spec != NULL, out, &why);
    if (status == PX_OK)
        return PX_OK;
    if (t->spec)
        return px_fail(err, status, "%s", why.message);
    return px_fail(err, status,
                   "the %s need training data, and '%.100s' has no train part (%.200s); give "
                   "--train SPEC or --profile FILE, or choose %s that learn nothing",
                   who, spec, why.message, who);
}

static bool profile_tick(void *context, int64_t done, int64_t total)
{
    const px_training *t = context;
    return t->progress(t->context, "profile", done, total);
}

static bool calibrate_tick(void *context, int64_t done, int64_t total)
{
    const px_training *t = context;
    return t->progress(t->context, "calibrate", done, total);
}

static px_status training_run(const px_model *model, const px_training *t,
                              const px_lessons *lessons, const px_dataset *set,
                              const px_preprocess *pre, px_profile **out, px_error *err)
{
    char number[PX_NUMBER_TEXT];
    px_profile_options make = px_profile_options_default();
    if (!t->spec && !t->first)
        training_note(t,
                      "ranges and traces come from %s inputs of the train part of '%s', drawn by "
                      "--seed %" PRId64 "; --train, --train-limit and --profile change that",
                      px_number_text(px_dataset_count(set), number), t->own, (int64_t)t->seed);
    make.batch = t->batch;
    make.threads = t->threads;
    make.seed = t->seed;
    make.memory_bytes = t->memory_bytes ? t->memory_bytes : px_memory_bytes() / 4 * 3;
    make.progress = t->progress ? profile_tick : NULL;
    make.progress_context = (void *)(uintptr_t)t;
    PX_TRY(px_profile_make(model, lessons, set, pre, &make, out, err));
    px_training_remarks(t, model, *out);
    return PX_OK;
}

px_status px_training_learn(const px_model *model, const px_training *training, const char *who,
                            const px_lessons *lessons, const px_dataset *set,
                            const px_preprocess *pre, px_profile **out, px_error *err)
{
    px_preprocess own_pre;
    px_dataset *own = NULL;
    if (set)
        return training_run(model, training, lessons, set, pre, out, err);
    PX_TRY(px_training_open(model, training, who, &own_pre, &own, err));
    const px_status status = training_run(model, training, lessons, own, &own_pre, out, err);
    px_dataset_close(own);
    return status;
}

void px_training_remarks(const px_training *t, const px_model *model, const px_profile *profile)
{
    enum { NAMES = 10 };
    px_text missing = {0};
    int count = 0;
    for (int c = 0; c < px_profile_classes(profile); c++) {
        const char *name = px_model_class_name(model, c);
        if (px_profile_predicted(profile, c) > 0)
            continue;
        if (count < NAMES && name)
            px_text_format(&missing, "%s'%s'", count ? ", " : "", name);
        else if (count < NAMES)
            px_text_format(&missing, "%s'%d'", count ? ", " : "", c);
        count++;
    }
    if (count)
        training_note(t,
                      "no training input is classified as %s%s: criteria that compare with "
                      "training inputs of the same class have nothing to compare with there",
                      px_text_get(&missing), count > NAMES ? " and others" : "");
    if (px_profile_rejected(profile))
        training_note(
            t, "%" PRId64 " training inputs have neurons that are not finite and were left out",
            px_profile_rejected(profile));
    px_text_done(&missing);
}

px_status px_training_threshold(const px_model *model, const px_training *t, const char *file,
                                const px_path_tools *tools, px_threshold *out, px_error *err)
{
    px_calibration options = px_calibration_default();
    px_preprocess pre;
    px_dataset *set = NULL;
    if (file)
        return px_threshold_load(file, out, err);
    if (!t->own && !t->spec)
        return px_fail(err, PX_E_USAGE,
                       "there is no tau: give --threshold FILE, from 'plexor calibrate', or "
                       "--train SPEC to find it");
    PX_TRY(px_training_open(model, t, "paths", &pre, &set, err));
    training_note(t, "no --threshold: tau is found first, from training inputs and all mutations; "
                     "'plexor calibrate' does so once for many campaigns");
    options.seed = t->seed;
    options.progress = t->progress ? calibrate_tick : NULL;
    options.progress_context = (void *)(uintptr_t)t;
    const px_status status =
        px_calibrate(tools->paths, tools->judge, set, &pre, &options, out, NULL, err);
    px_dataset_close(set);
    return status;
}
