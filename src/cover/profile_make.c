/* src/cover/profile_make.c - training data through the network, and what is learned of them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/profile_internal.h"
#include <internal/block_run.h>

#include <inttypes.h>
#include <plexor/system.h>
#include <stdlib.h>

px_profile_options px_profile_options_default(void)
{
    return (px_profile_options){0};
}

typedef struct lesson_run { /* a lesson while it is learned */
    const px_learner *learner;
    px_learner_request request;
} lesson_run;

static px_status lesson_open(void *context, void **state, px_error *err)
{
    const lesson_run *l = context;
    return l->learner->open(&l->request, state, err);
}

static void lesson_close(void *context, void *state)
{
    const lesson_run *l = context;
    l->learner->close(state);
}

static px_status lesson_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    const lesson_run *l = context;
    return l->learner->observe(state, rows, err);
}

static px_status lesson_merge(void *context, void *state, void *other, px_error *err)
{
    const lesson_run *l = context;
    return l->learner->merge(state, other, err);
}

static bool lesson_may_save(const void *context)
{
    const lesson_run *l = context;
    return l->learner->save && l->learner->load;
}

static px_status lesson_save(void *context, const void *state, px_npz_writer *to,
                             const char *prefix, px_error *err)
{
    const lesson_run *l = context;
    return l->learner->save(state, to, prefix, err);
}

static px_status lesson_load(void *context, void *state, const px_npz *from, const char *prefix,
                             px_error *err)
{
    const lesson_run *l = context;
    return l->learner->load(state, from, prefix, err);
}

static const pxi_consumer_kind lesson_kind = {lesson_open,    lesson_close, lesson_observe,
                                              lesson_merge,   lesson_save,  lesson_load,
                                              lesson_may_save};

/* What the lessons will hold in the end; said before it starts. */
static px_status profile_fits(const lesson_run *lessons, size_t count, int64_t most, px_error *err)
{
    double bytes = 0.0;
    for (size_t i = 0; i < count; i++)
        if (lessons[i].learner->bytes)
            bytes += (double)lessons[i].learner->bytes(&lessons[i].request);
    if (most > 0 && bytes > (double)most)
        return px_fail(err, PX_E_USAGE,
                       "the profile would keep %.0f MiB, more than the %.0f MiB allowed; take "
                       "fewer inputs, layers or criteria, or allow more",
                       bytes / 0x1p20, (double)most / 0x1p20);
    return PX_OK;
}

static px_status profile_finish(px_profile *profile, const px_lessons *lessons,
                                const pxi_consumer *consumers, px_error *err)
{
    for (size_t i = 0; i < lessons->count; i++) {
        const px_lesson *lesson = &lessons->lesson[i];
        const char *prefix = NULL;
        PX_TRY(pxi_profile_add_section(profile, lesson->learner->id, lesson->key,
                                       lesson->extractor->definition, &prefix, err));
        const px_status status = lesson->learner->finish(consumers[i].state, profile, prefix, err);
        if (status != PX_OK)
            return px_fail_in(err, status, "learning %s", lesson->learner->id);
        profile->rejected = PX_MAX(profile->rejected, consumers[i].rejected);
    }
    return PX_OK;
}

px_status px_profile_make(const px_model *model, const px_lessons *lessons, const px_dataset *set,
                          const px_preprocess *pre, const px_profile_options *options,
                          px_profile **out, px_error *err)
{
    const size_t room = PX_MAX(lessons->count, 1);
    pxi_row_set rows = {0};
    px_profile *profile = pxi_calloc(1, sizeof *profile);
    pxi_consumer *consumers = pxi_calloc(room, sizeof *consumers);
    lesson_run *runs = pxi_calloc(room, sizeof *runs);
    double *seconds = pxi_calloc(PX_MAX(lessons->extractor_count, 1), sizeof *seconds);
    px_status status = PX_OK;
    if (!profile || !consumers || !runs || !seconds) {
        status = pxi_no_memory(err);
        goto done;
    }
    status = pxi_row_set_init(&rows, model, lessons->extractors, lessons->extractor_count, err);
    PX_THEN(status, pxi_profile_set_classes(profile, rows.classes, err));
    if (status != PX_OK)
        goto done;
    profile->model_hash = px_model_hash(model);
    profile->data_hash = px_dataset_hash(set);
    profile->seed = options->seed;
    profile->count = px_dataset_count(set);
    profile->labelled = px_dataset_has_labels(set) && !rows.regression;
    for (size_t i = 0; i < lessons->count; i++) {
        const px_lesson *lesson = &lessons->lesson[i];
        runs[i].learner = lesson->learner;
        runs[i].request = (px_learner_request){
            .model = model,
            .extractor = lesson->extractor,
            .config = lesson->config,
            .classes = profile->classes,
            .count = profile->count,
            .seed = options->seed,
            .threads = options->threads > 0 ? options->threads : px_cpu_count(),
        };
        consumers[i] = (pxi_consumer){.kind = &lesson_kind, .context = &runs[i]};
        while (lessons->extractors[consumers[i].extractor] != lesson->extractor)
            consumers[i].extractor++;
    }
    status = profile_fits(runs, lessons->count, options->memory_bytes, err);
    for (size_t i = 0; i < lessons->count && status == PX_OK; i++)
        status = lesson_open(&runs[i], &consumers[i].state, err);
    if (status == PX_OK) {
        pxi_tally tally = {.extract_seconds = seconds,
                           .by_label = profile->by_label,
                           .by_prediction = profile->by_prediction};
        const pxi_block_job job = {.rows = &rows,
                                   .set = set,
                                   .pre = pre,
                                   .batch = options->batch,
                                   .threads = options->threads,
                                   .end = profile->count,
                                   .consumers = consumers,
                                   .consumer_count = lessons->count,
                                   .progress = options->progress,
                                   .progress_context = options->progress_context,
                                   .tally = &tally};
        status = pxi_block_run(&job, NULL, err);
    }
    PX_THEN(status, profile_finish(profile, lessons, consumers, err));
    PX_THEN(status, pxi_profile_seal(profile, err));
    if (status == PX_OK) {
        *out = profile;
        profile = NULL;
    }
done:
    for (size_t i = 0; consumers && i < lessons->count; i++)
        if (consumers[i].state)
            lesson_close(&runs[i], consumers[i].state);
    pxi_row_set_done(&rows);
    px_profile_free(profile);
    free(consumers);
    free(runs);
    free(seconds);
    return status;
}
