/* studies/nsgen/nsgen_describers.c - how a describer is made, and how well it names what units are
 * for
 *
 * Tables 6 and 7 of the NSGen paper: numbers of exemplars (k), and sizes of the LSTM (IES: numbers
 * per word, HS: its state). Each row is a describer that is trained anew on virtual units, changed
 * in that one respect. The paper scores units of the last layer by the cosine of description and
 * class name; here it is the units whose exemplars share a class. Which these are depends on k
 * (with one exemplar it is every unit), so there are two scores: over the units that are
 * class-selective by a row's own exemplars, and over those that are so in the study's own bank,
 * which are the same units with the same classes in every row. One text encoder, that of the
 * study's bank, judges them all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_describers.h"

#include "base/memory.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

/* Training pictures: NG_PICTURES, fewer with --limit. */
static int64_t pictures_of(const px_study *study)
{
    const int64_t limit = study->options.limit;
    return limit > 0 && limit < NG_PICTURES ? limit : NG_PICTURES;
}

static void describers_key(const px_study *study, size_t subject, size_t s, int64_t run,
                           char key[CELL_KEY])
{
    ng_describers_prefix(subject, s, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run, pictures_of(study));
}

/* --- the plan --------------------------------------------------------------------------------- */

/* About the weights that a step of the decoder multiplies with, in those of 128 and 256. */
static double weights_of(size_t subject, const ng_setting *s)
{
    const double features = subject == FZ_RESNET ? 120.0 : 2200.0; /* per exemplar */
    const double e = s->embedding ? s->embedding : 128.0, h = s->hidden ? s->hidden : 256.0;
    return (e + features + h) * h / ((128.0 + features + 256.0) * 256.0);
}

/* Of everything on 5,000 pictures, about half is training; telling phrases does not depend on
 * pictures. */
static double estimate(const px_study *study, size_t subject, const ng_setting *s)
{
    const double all = subject == FZ_RESNET ? 80.0 : 570.0;
    const double share = (double)pictures_of(study) / NG_PICTURES;
    return all * (0.2 + share * (0.3 + 0.5 * weights_of(subject, s)));
}

static px_status plan_row(px_study *study, size_t subject, size_t s, int64_t run, px_error *err)
{
    const fz_subject *f = &fz_subjects[subject];
    char key[CELL_KEY];
    describers_key(study, subject, s, run, key);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    study_job job = {.kind = "describers",
                     .subject = subject,
                     .run = run,
                     .network = 1,
                     .a = s,
                     .seconds = estimate(study, subject, &ng_settings[s])};
    snprintf(job.label, sizeof job.label, "%s %s: a describer of %s%s, run %" PRId64, f->dataset,
             f->arch, s < NG_TABLE7 ? "" : "an LSTM of ", ng_settings[s].title, run);
    snprintf(job.cost, sizeof job.cost, "%s %s describers %s %" PRId64, f->dataset, f->arch,
             ng_settings[s].id, pictures_of(study));
    return pxi_study_add_job(study, &job, err);
}

px_status ng_describers_plan(px_study *study, px_error *err)
{
    const int64_t runs = pxi_study_runs(study, "describers");
    for (int64_t run = 1; run <= runs; run++)
        for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
            if (!ng_planned(study, subject))
                continue;
            if (run == 1)
                PX_TRY(ng_concepts_plan(study, subject, err));
            for (size_t s = 0; s < NG_SETTINGS; s++)
                PX_TRY(plan_row(study, subject, s, run, err));
        }
    return PX_OK;
}

/* --- one describer ---------------------------------------------------------------------------- */

typedef struct describers_work {
    px_study *study;
    const study_job *job;
    ng_words words; /* the study's own */
    study_data train;
    px_text_encoder *encoder; /* of the study's own bank */
    px_description *description;
    float *vectors; /* two */
    bool *said;     /* terms of a phrase */
} describers_work;

/* The study's describer, changed in one respect, and smaller with fewer pictures. */
static px_describe_options options_of(const describers_work *w, size_t s, int64_t run)
{
    const int64_t pictures = pictures_of(w->study);
    px_describe_options o = ng_describe_options(w->study, &w->words);
    o.describer = PX_DESCRIBER_VIRTUAL_UNITS;
    o.captioner_file = NULL; /* nothing of these is kept */
    o.never_train = false;
    o.seed += (uint64_t)(run - 1);
    if (ng_settings[s].exemplars)
        o.exemplars.count = ng_settings[s].exemplars;
    if (ng_settings[s].embedding)
        o.captioner.embedding = ng_settings[s].embedding;
    if (ng_settings[s].hidden)
        o.captioner.hidden = o.captioner.attention = ng_settings[s].hidden;
    if (pictures < NG_PICTURES)
        o.virtual_units.count =
            PX_MIN(o.virtual_units.count, PX_MAX((int64_t)NG_VIRTUAL_LEAST,
                                                 o.virtual_units.count * pictures / NG_PICTURES));
    return o;
}

/* The same describer may be a row of both tables: it is trained once. NULL: not yet. */
static const study_cell *find_twin(const describers_work *w)
{
    const px_describe_options own = options_of(w, w->job->a, w->job->run);
    for (size_t s = 0; s < NG_SETTINGS; s++) {
        const px_describe_options other = options_of(w, s, w->job->run);
        char key[CELL_KEY];
        describers_key(w->study, w->job->subject, s, w->job->run, key);
        const study_cell *cell = pxi_cells_find(w->study->cells, key);
        if (cell && other.exemplars.count == own.exemplars.count &&
            other.captioner.embedding == own.captioner.embedding &&
            other.captioner.hidden == own.captioner.hidden &&
            other.captioner.attention == own.captioner.attention)
            return cell;
    }
    return NULL;
}

static px_status put_twin(const describers_work *w, const study_cell *twin, px_error *err)
{
    char key[CELL_KEY];
    cell_list list = {.count = 0};
    const double seconds = twin->seconds;
    for (size_t i = 0; i < twin->count && i < CELL_VALUES; i++)
        pxi_cell_put(&list, twin->values[i].number, "%s", twin->values[i].name);
    describers_key(w->study, w->job->subject, w->job->a, w->job->run, key);
    return pxi_study_put(w->study, key, seconds, &list, err);
}

static px_status phrase_cosine(describers_work *w, const char *phrase, const char *name,
                               double *out, px_error *err)
{
    const size_t size = px_text_encoder_size(w->encoder);
    PX_TRY(px_text_encoder_embed(w->encoder, phrase, w->vectors, NULL, err));
    PX_TRY(px_text_encoder_embed(w->encoder, name, w->vectors + size, NULL, err));
    return px_path_cosine(w->vectors, w->vectors + size, size, strcmp(phrase, name) == 0, out, err);
}

static px_status phrase_names(describers_work *w, const char *phrase, const char *name, bool *out,
                              px_error *err)
{
    const px_concepts *concepts = px_description_concepts(w->description);
    *out = false;
    PX_TRY(px_concepts_mentions(concepts, phrase, w->said, err));
    for (size_t t = 0; t < px_concepts_term_count(concepts); t++) {
        const px_term *term = px_concepts_term(concepts, t);
        *out |= w->said[t] && term->kind == PX_TERM_CLASS && strcmp(term->words, name) == 0;
    }
    return PX_OK;
}

typedef struct class_score {
    double cosine, named;
    int64_t count;
} class_score;

/* Over the class-selective units of `judge`, what `bank` says of them; nothing is worth nothing. */
static px_status score_classes(describers_work *w, const px_bank *judge, const px_bank *bank,
                               class_score *out, px_error *err)
{
    class_score sum = {0};
    for (size_t i = 0; i < px_bank_count(judge); i++) {
        const px_bank_unit *unit = px_bank_get(judge, i);
        const px_bank_unit *own = px_bank_find(bank, unit->layer, unit->unit);
        const char *name = px_bank_class_of(unit);
        double cosine = 0.0;
        bool named = false;
        if (!name || !px_bank_described(unit))
            continue;
        if (px_bank_described(own)) {
            PX_TRY(phrase_cosine(w, own->phrase, name, &cosine, err));
            PX_TRY(phrase_names(w, own->phrase, name, &named, err));
        }
        sum.cosine += cosine;
        sum.named += named;
        sum.count++;
    }
    out->count = sum.count;
    out->cosine = sum.count ? sum.cosine / (double)sum.count : UNKNOWN;
    out->named = sum.count ? sum.named / (double)sum.count : UNKNOWN;
    return PX_OK;
}

static void put_agreement(cell_list *list, const px_agreement *a, const char *name)
{
    pxi_cell_put(list, a->value, "%s", name);
    pxi_cell_put(list, a->chance, "%s_chance", name);
    pxi_cell_put(list, a->sd, "%s_sd", name);
}

static px_status work_put(describers_work *w, px_error *err)
{
    const px_bank *bank = px_description_bank(w->description);
    const px_gates *g = px_bank_gates(bank);
    const px_description_facts facts = px_description_facts_get(w->description);
    class_score same = {0}, own = {0};
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    PX_TRY(score_classes(w, w->words.bank, bank, &same, err));
    PX_TRY(score_classes(w, bank, bank, &own, err));
    pxi_cell_put(&list, same.cosine, "cosine_same");
    pxi_cell_put(&list, same.named, "named_same");
    pxi_cell_put(&list, (double)same.count, "units_same");
    pxi_cell_put(&list, own.cosine, "cosine_own");
    pxi_cell_put(&list, (double)own.count, "units_own");
    put_agreement(&list, &g->cosine, "cosine");
    put_agreement(&list, &g->named, "named");
    put_agreement(&list, &g->top1, "top1");
    put_agreement(&list, &g->top3, "top3");
    pxi_cell_put(&list, (double)g->labelled, "labelled");
    pxi_cell_put(&list, g->held_out.precision, "precision");
    pxi_cell_put(&list, g->held_out.recall, "recall");
    pxi_cell_put(&list, g->held_out.exact, "exact");
    pxi_cell_put(&list, g->held_out.bleu, "bleu");
    pxi_cell_put(&list, g->unseen_pairs.precision, "unseen_precision");
    pxi_cell_put(&list, g->unseen_pairs.recall, "unseen_recall");
    pxi_cell_put(&list, (double)g->units, "units");
    pxi_cell_put(&list, (double)g->inactive, "inactive");
    pxi_cell_put(&list, (double)g->distinct, "distinct");
    pxi_cell_put(&list, g->most_frequent, "most_frequent");
    pxi_cell_put(&list, px_bank_verdict(bank) == PX_VALIDATED, "validated");
    pxi_cell_put(&list, (double)facts.virtual_units, "virtual_units");
    pxi_cell_put(&list, (double)px_dataset_count(w->train.set), "pictures");
    pxi_cell_put(&list, facts.report.epochs, "epochs");
    pxi_cell_put(&list, (double)facts.report.words, "words");
    pxi_cell_put(&list, facts.report.seconds + facts.report.language_seconds, "train_seconds");
    describers_key(w->study, w->job->subject, w->job->a, w->job->run, key);
    return pxi_study_put(w->study, key, facts.seconds, &list, err);
}

static px_status work_describe(describers_work *w, px_error *err)
{
    const px_describe_options options = options_of(w, w->job->a, w->job->run);
    px_text_encoder_options encoder = px_text_encoder_options_default();
    encoder.seed = w->study->options.seed;
    PX_TRY(pxi_study_open(w->study, w->words.model, fz_subjects[w->job->subject].dataset, "train",
                          0.0, pictures_of(w->study), &w->train, err));
    PX_TRY(px_path_encoder_open(w->words.bank, (const char *const *)w->words.names,
                                w->words.name_count, &encoder, &w->encoder, err));
    PX_TRY(
        px_describe(w->words.model, w->train.set, &w->train.pre, &options, &w->description, err));
    PX_TRY(PX_NEW(w->vectors, 2 * px_text_encoder_size(w->encoder), err));
    PX_TRY(PX_NEW(w->said, px_concepts_term_count(px_description_concepts(w->description)), err));
    return work_put(w, err);
}

px_status ng_describers_run(px_study *study, const study_job *job, px_error *err)
{
    if (strcmp(job->kind, NG_CONCEPTS_KIND) == 0)
        return ng_concepts_run(study, job, err);
    describers_work w = {.study = study, .job = job};
    px_status status = ng_words_bank(study, job->subject, &w.words, err);
    if (status == PX_OK) {
        const study_cell *twin = find_twin(&w);
        status = twin ? put_twin(&w, twin, err) : work_describe(&w, err);
    }
    free(w.said);
    free(w.vectors);
    px_description_free(w.description);
    px_text_encoder_free(w.encoder);
    pxi_study_close(&w.train);
    ng_words_close(&w.words);
    return status;
}
