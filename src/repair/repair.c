/* src/repair/repair.c - one retraining engine for all recipes (LGR F.2, F.5) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair/repair_state.h"
#include "repair/robust.h"

#include "base/memory.h"
#include <internal/data.h>
#include <internal/optimizer.h>
#include <internal/weights.h>
#include <plexor/json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

px_repair_options px_repair_options_default(void)
{
    return (px_repair_options){
        .recipe = *px_repair_recipe_get(0),
        .hold_out = 0.2,
        .adversary = px_adversary_default(),
        .retries = 3,
    };
}

/* --- what will be done ----------------------------------------------------------------------- */

/* The optimiser and rate in a text of plexor.train; both stay where it does not say. Metadata may
 * say anything: only running out of memory is a failure. */
static px_status optimizer_of_text(const char *text, char **optimizer, double *lr, px_error *err)
{
    const px_shape any = {1, {1}};
    px_json_document *document = NULL;
    px_optimizer *trial = NULL;
    px_status status = px_json_parse(text, strlen(text), &document, err);
    const px_json_value *root = status == PX_OK ? px_json_root(document) : NULL;
    const bool object = root && root->kind == PX_JSON_OBJECT;
    const px_json_value *name = object ? px_json_member(root, "optimizer") : NULL;
    const px_json_value *rate = object ? px_json_member(root, "lr") : NULL;
    if (name && name->kind == PX_JSON_STRING && rate && rate->kind == PX_JSON_NUMBER &&
        rate->number > 0.0 && isfinite(rate->number)) {
        status = px_optimizer_new(name->string, &any, 1, &trial, err);
        if (status == PX_OK && !(*optimizer = pxi_strdup(name->string)))
            status = pxi_no_memory(err);
        *lr = rate->number;
    }
    px_optimizer_free(trial);
    px_json_free(document);
    return status == PX_E_NOMEM ? status : PX_OK;
}

/* "The model's own optimiser": training leaves its settings in the model's metadata. */
static px_status repair_optimizer(px_repair *repair, px_error *err)
{
    static const char guess[] = "sgd:momentum=0.9";
    static const double guess_lr = 0.01;
    px_repair_recipe *recipe = &repair->report.recipe;
    if (recipe->optimizer)
        return PX_OK;
    const char *text = px_model_property(repair->o.model, "plexor.train");
    double lr = guess_lr;
    if (text)
        PX_TRY(optimizer_of_text(text, &repair->optimizer, &lr, err));
    repair->report.optimizer_guessed = !repair->optimizer;
    recipe->optimizer = repair->optimizer ? repair->optimizer : guess;
    recipe->lr *= repair->optimizer ? lr : guess_lr;
    return PX_OK;
}

static px_judge_set judge_of(const px_feeder_set *set)
{
    return (px_judge_set){set->set, set->pre};
}

/* What is trained on, what is held back, what is judged on. */
static px_status repair_split(px_repair *repair, px_error *err)
{
    const px_repair_options *o = &repair->o;
    px_repair_report *report = &repair->report;
    enum { TRAIN = 1, ADDED = 2 };
    pxi_items held = {0}, test = {0}, failing = {0};
    px_status status = PX_OK;
    if (o->added.set) {
        const px_judge_set added = judge_of(&o->added);
        PX_TRY(px_dataset_check_labels(o->added.set, report->classes, err));
        PX_TRY(pxi_items_all(&o->added, &repair->added, err));
        PX_TRY(pxi_items_hold_out(o->added.set, report->classes, o->hold_out, o->seed,
                                  &repair->added, &held, err));
        report->held_out = held.count;
        pxi_judged_init(&repair->failing, &added, &held);
        status = pxi_items_limit(&repair->added, report->recipe.add_limit, o->seed, ADDED, err);
    }
    if (status == PX_OK && o->train.set && report->recipe.mix != PX_MIX_ONLY) {
        status = pxi_items_all(&o->train, &repair->train, err);
        PX_THEN(status,
                pxi_items_limit(&repair->train, report->recipe.train_limit, o->seed, TRAIN, err));
    }
    if (status == PX_OK && o->failing.set) {
        const px_feeder_set all = {.set = o->failing.set};
        pxi_judged_done(&repair->failing);
        repair->failing = (pxi_judged){0};
        status = px_dataset_check_labels(o->failing.set, report->classes, err);
        PX_THEN(status, pxi_items_all(&all, &failing, err));
        if (status == PX_OK)
            pxi_judged_init(&repair->failing, &o->failing, &failing);
    }
    if (status != PX_OK)
        return status;

    const px_feeder_set all = {.set = o->test.set};
    PX_TRY(px_dataset_check_labels(o->test.set, report->classes, err));
    PX_TRY(pxi_items_all(&all, &test, err));
    if (repair->added.count > 0) {
        const px_judge_set added = judge_of(&o->added);
        status =
            pxi_items_drop_added(&test, &o->test, &repair->added, &added, &report->overlap, err);
    }
    if (status == PX_OK && test.count == 0)
        status = px_fail(err, PX_E_MISMATCH,
                         "every test input is among the added ones; there is nothing left to judge "
                         "the repaired network on");
    if (status == PX_OK)
        pxi_judged_init(&repair->clean, &o->test, &test);
    pxi_items_done(&test);
    return status;
}

/* Classes that no added input has, where nothing else is trained on. */
static px_status repair_find_missing(px_repair *repair, px_error *err)
{
    px_repair_report *report = &repair->report;
    bool *seen = pxi_calloc((size_t)report->classes, sizeof *seen);
    repair->missing = pxi_calloc((size_t)report->classes, sizeof *repair->missing);
    if (!seen || !repair->missing) {
        free(seen);
        return pxi_no_memory_for(err, "%d classes", report->classes);
    }
    for (int64_t i = 0; i < repair->added.count; i++)
        seen[px_dataset_label(repair->o.added.set, repair->added.index[i])] = true;
    for (int c = 0; c < report->classes; c++)
        if (!seen[c])
            repair->missing[report->missing_count++] = c;
    report->missing_classes = repair->missing;
    free(seen);
    return PX_OK;
}

static px_status repair_feeder(px_repair *repair, px_error *err)
{
    const px_repair_options *o = &repair->o;
    const px_repair_recipe *recipe = &repair->report.recipe;
    px_feeder_options feeder = px_feeder_options_default();
    feeder.base = o->train;
    feeder.base.items = repair->train.index;
    feeder.base.count = repair->train.count;
    if (recipe->mix == PX_MIX_ONLY)
        feeder.base = (px_feeder_set){0};
    if (repair->added.count > 0)
        feeder.added = o->added;
    feeder.added.items = repair->added.index;
    feeder.added.count = repair->added.count;
    feeder.mix = recipe->mix;
    feeder.share = recipe->share;
    feeder.classes = repair->report.classes;
    feeder.batch = recipe->batch;
    feeder.seed = o->seed;
    feeder.augment = o->augment;
    return px_feeder_new(&feeder, &repair->feeder, err);
}

static px_status repair_trainer(px_repair *repair, px_error *err)
{
    const px_repair_options *o = &repair->o;
    const px_repair_recipe *recipe = &repair->report.recipe;
    px_trainer_options trainer = px_trainer_options_default();
    const px_property facts[] = {{"recipe", recipe->entry.id}, {"mode", px_mix_name(recipe->mix)}};
    trainer.model = o->model;
    trainer.feeder = repair->feeder;
    trainer.test = o->validation.set ? o->validation : (px_judge_set){NULL, o->test.pre};
    trainer.keep_best = o->validation.set != NULL;
    trainer.eval_every = o->validation.set ? 1 : 0;
    trainer.optimizer = recipe->optimizer;
    trainer.schedule = recipe->schedule;
    trainer.lr = recipe->lr;
    trainer.epochs = recipe->epochs;
    trainer.adversary = o->adversary;
    if (trainer.adversary.stages == 0)
        trainer.adversary.stages = recipe->stages;
    trainer.freeze = o->freeze;
    trainer.freeze_norms = repair->report.norms_frozen;
    trainer.micro_batch = o->micro_batch;
    trainer.threads = o->threads;
    trainer.seed = o->seed;
    trainer.retries = o->retries;
    trainer.checkpoint = o->checkpoint;
    trainer.resume = o->resume;
    trainer.fresh = o->fresh;
    trainer.facts = facts;
    trainer.fact_count = PX_LEN(facts);
    trainer.progress = o->progress;
    trainer.context = o->context;
    return px_trainer_new(&trainer, &repair->trainer, err);
}

static px_status repair_setup(px_repair *repair, px_error *err)
{
    const px_repair_options *o = &repair->o;
    px_repair_report *report = &repair->report;
    px_scores scores;
    PX_TRY(px_model_scores(o->model, &scores, err));
    report->classes = scores.classes;
    if (!o->test.set)
        return px_fail(err, PX_E_USAGE, "a repair needs a test set to be judged on");
    PX_TRY(repair_optimizer(repair, err));
    report->norms_frozen =
        o->norms == PX_NORMS_FROZEN ||
        (o->norms == PX_NORMS_DEFAULT && (report->recipe.few || report->recipe.mix == PX_MIX_ONLY));
    PX_TRY(repair_split(repair, err));
    report->train_count = repair->train.count;
    report->added_count = repair->added.count;
    if (repair->added.count == 0 && !o->adversary.method)
        return PX_OK;
    report->outnumbered =
        report->recipe.mix == PX_MIX_APPEND && report->added_count > report->train_count;
    if (report->recipe.mix == PX_MIX_ONLY)
        PX_TRY(repair_find_missing(repair, err));
    PX_TRY(repair_feeder(repair, err));
    report->steps = px_feeder_steps(repair->feeder);
    PX_TRY(repair_trainer(repair, err));
    report->training = px_trainer_result(repair->trainer);
    report->adversary = px_trainer_adversary(repair->trainer);
    return pxi_robust_init(repair, err);
}

px_status px_repair_new(const px_repair_options *options, px_repair **out, px_error *err)
{
    px_repair *repair = NULL;
    PX_TRY(PX_NEW(repair, 1, err));
    repair->o = *options;
    repair->report.recipe = options->recipe;
    const px_status status = repair_setup(repair, err);
    return PX_GIVE(status, repair, out, px_repair_free);
}

void px_repair_free(px_repair *repair)
{
    if (!repair)
        return;
    px_trainer_free(repair->trainer);
    px_feeder_free(repair->feeder);
    pxi_judged_done(&repair->clean);
    pxi_judged_done(&repair->failing);
    pxi_judged_done(&repair->robust);
    pxi_items_done(&repair->train);
    pxi_items_done(&repair->added);
    free(repair->missing);
    free(repair->optimizer);
    free(repair);
}

/* --- doing it -------------------------------------------------------------------------------- */

static px_status repair_judge(px_repair *repair, const px_model *model, int when, px_error *err)
{
    PX_TRY(pxi_judged_run(repair, &repair->clean, model, when, err));
    PX_TRY(pxi_judged_run(repair, &repair->failing, model, when, err));
    return pxi_robust_run(repair, model, when, err);
}

px_status px_repair_run(px_repair *repair, px_error *err)
{
    px_repair_report *report = &repair->report;
    px_model *after = NULL;
    PX_TRY(repair_judge(repair, repair->o.model, PX_BEFORE, err));
    if (repair->trainer) {
        const px_status status = px_trainer_run(repair->trainer, err);
        report->training = px_trainer_result(repair->trainer);
        PX_TRY(status);
        report->trained = true;
    }
    if (report->trained) /* what is judged is what is stored */
        PX_TRY(px_repair_freeze(repair, NULL, 0, &after, err));
    const px_status status = repair_judge(repair, after ? after : repair->o.model, PX_AFTER, err);
    px_model_free(after);
    PX_TRY(status);
    pxi_judged_compare(&repair->clean, &report->clean);
    pxi_judged_compare(&repair->failing, &report->failing);
    pxi_judged_compare(&repair->robust, &report->robust);
    report->verdict = pxi_repair_verdict(report);
    return PX_OK;
}

const px_repair_report *px_repair_get(const px_repair *repair)
{
    return &repair->report;
}

px_status px_repair_freeze(const px_repair *repair, const px_property *set, size_t set_count,
                           px_model **out, px_error *err)
{
    if (repair->trainer)
        return px_trainer_freeze(repair->trainer, set, set_count, out, err);
    px_weights *weights = NULL;
    PX_TRY(px_weights_new(repair->o.model, &weights, err));
    const px_status status = px_weights_freeze(weights, set, set_count, out, err);
    px_weights_free(weights);
    return status;
}

px_status px_repair_discard(px_repair *repair, px_error *err)
{
    return repair->trainer ? px_trainer_discard(repair->trainer, err) : PX_OK;
}
