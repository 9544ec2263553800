/* studies/nsgen/nsgen_correlation.c - section 7.4 and Figure 7: do paths part where a network errs?
 *
 * Test images that the network gets right, of every class as many, and one valid mutant of each
 * (the 95 rules; alpha 0.2, beta 0.4): how similar the two decision paths are, and whether the
 * mutant is misclassified. The point-biserial correlation of the two is that of CSM C.4. Since the
 * paper's text names the predicted class, and the original is classified correctly, two texts
 * without words differ exactly where the mutant fails: so all modes stand side by side.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"
#include <internal/fuzz_mutant.h>

#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <internal/train.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_AT_A_TIME = 16, MUTANT_TRIES = 50 };

/* 100 of each class of CIFAR-10 and CIFAR-100, 10 of each of the others. */
static const int64_t full_pairs[FZ_DATASETS] = {1000, 10000, 1020, 10000};

int64_t ng_pairs_full(size_t subject)
{
    return full_pairs[fz_dataset(subject)];
}

void ng_correlation_prefix(size_t subject, size_t mode, char prefix[CELL_KEY])
{
    snprintf(prefix, CELL_KEY, "%s %s correlation %s", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, px_path_mode_name(ng_modes[mode]));
}

static void correlation_key(const px_study *study, size_t subject, size_t mode, int64_t run,
                            char key[CELL_KEY])
{
    ng_correlation_prefix(subject, mode, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run,
             ng_inputs(study, ng_pairs_full(subject)));
}

/* --- planning -------------------------------------------------------------------------------- */

/* The last mode is what a job puts last. */
static px_status correlation_plan(px_study *study, size_t s, int64_t run, px_error *err)
{
    const int64_t count = ng_inputs(study, ng_pairs_full(s));
    char key[CELL_KEY];
    correlation_key(study, s, NG_MODES - 1, run, key);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    study_job job = {.kind = "correlation", .subject = s, .run = run, .network = 1};
    snprintf(job.label, sizeof job.label,
             "%s %s: similarity and failure of %" PRId64 " mutants, run %" PRId64,
             fz_subjects[s].dataset, fz_subjects[s].arch, count, run);
    snprintf(job.cost, sizeof job.cost, "%s %s correlation %" PRId64, fz_subjects[s].dataset,
             fz_subjects[s].arch, count);
    job.seconds = 10.0 + (double)count * (s == FZ_RESNET ? 0.04 : 0.2);
    return pxi_study_add_job(study, &job, err);
}

px_status ng_correlation_plan(px_study *study, px_error *err)
{
    for (int64_t run = 1; run <= pxi_study_runs(study, "correlation"); run++)
        for (size_t s = 0; s < FZ_SUBJECTS; s++)
            if (ng_planned(study, s))
                PX_TRY(correlation_plan(study, s, run, err));
    return PX_OK;
}

/* --- images ---------------------------------------------------------------------------------- */

typedef struct pairing {
    px_study *study;
    size_t subject;
    uint64_t seed;
    ng_words words;
    study_data test;
    pxi_mutant_rule rule;
    int64_t *images; /* that the network gets right, of all classes in turn */
    int64_t image_count, next;
    int64_t wanted, count, invalid; /* pairs; images that no mutant was valid of */
    double *similarities;           /* [NG_MODES][wanted] */
    bool *fails;                    /* [wanted] */
    uint8_t *levels;                /* the image, and its mutant */
    float *inputs;                  /* [2 * PAIRS_AT_A_TIME][size] */
    px_path *found;
} pairing;

static void pairing_close(pairing *p)
{
    free(p->images);
    free(p->similarities);
    free(p->fails);
    free(p->levels);
    free(p->inputs);
    free(p->found);
    pxi_study_close(&p->test);
    ng_words_close(&p->words);
}

/* The k-th image of every class, for k = 0, 1 ...: `order` is gone through once for all, and places
 * of a class are those of its turn. */
static px_status images_interleave(pairing *p, const int64_t *order, const int64_t *predictions,
                                   int64_t classes, px_error *err)
{
    const int64_t all = px_dataset_count(p->test.set);
    int64_t *turn = pxi_calloc((size_t)all, sizeof *turn);
    int64_t *had = pxi_calloc((size_t)classes, sizeof *had);
    p->images = pxi_calloc((size_t)all, sizeof *p->images);
    const bool made = turn && had && p->images;
    int64_t most = 0;
    for (int64_t i = 0; made && i < all; i++) {
        const int64_t label = px_dataset_label(p->test.set, order[i]);
        turn[i] = label >= 0 && predictions[order[i]] == label ? had[label]++ : -1;
        most = PX_MAX(most, turn[i] + 1);
    }
    /* counting sort by turn; within one, as `order` has them */
    int64_t *start = made ? pxi_calloc((size_t)most + 1, sizeof *start) : NULL;
    for (int64_t i = 0; start && i < all; i++)
        if (turn[i] >= 0)
            start[turn[i] + 1]++;
    for (int64_t k = 0; start && k < most; k++)
        start[k + 1] += start[k];
    p->image_count = start ? start[most] : 0;
    for (int64_t i = 0; start && i < all; i++)
        if (turn[i] >= 0)
            p->images[start[turn[i]]++] = order[i];
    const bool done = start != NULL;
    free(start);
    free(had);
    free(turn);
    return done ? PX_OK : pxi_no_memory(err);
}

static px_status images_choose(pairing *p, px_error *err)
{
    const int64_t all = px_dataset_count(p->test.set);
    const px_scores *scores = px_paths_scores(p->words.paths);
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    PX_TRY(px_dataset_check_labels(p->test.set, (int)scores->classes, err));
    if (all > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "too many images to choose from; see --limit");
    how.threads = p->study->options.threads;
    int64_t *order = pxi_calloc((size_t)all, sizeof *order);
    px_status status = order ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK)
        status = px_predict(p->words.model, p->test.set, &p->test.pre, &how, &said, err);
    if (status == PX_OK) {
        px_random random = px_rng(p->seed, PX_RNG_STUDY, 0, PX_RNG_PATH);
        px_rng_permutation(&random, order, (uint32_t)all);
        status = images_interleave(p, order, said.predicted, scores->classes, err);
    }
    px_predictions_done(&said);
    free(order);
    return status;
}

/* --- pairs ----------------------------------------------------------------------------------- */

static px_status pairing_input(const pairing *p, const uint8_t *levels, float *input, px_error *err)
{
    const px_shape shape = px_dataset_shape(p->test.set);
    for (size_t i = 0; i < p->rule.size; i++)
        input[i] = (float)levels[i];
    return px_preprocess_apply(&p->test.pre, &shape, input, err);
}

/* The next image that has a valid mutant, with that, as pair `at` of a batch; *label -1: there is
 * none. */
static px_status pairing_next(pairing *p, int64_t at, int64_t *label, px_error *err)
{
    uint8_t *image = p->levels, *mutant = p->levels + p->rule.size;
    float *input = p->inputs + 2 * (size_t)at * p->rule.size;
    const pxi_mutant_parent parent = {.pixels = image, .reference = image, .origin = image};
    *label = -1;
    while (p->next < p->image_count) {
        const int64_t index = p->images[p->next++];
        pxi_mutant made;
        PX_TRY(px_dataset_pixels(p->test.set, index, input, err));
        for (size_t i = 0; i < p->rule.size; i++)
            image[i] = (uint8_t)input[i];
        PX_TRY(pxi_mutant_make(&p->rule, &parent, px_dataset_index(p->test.set, index), 0, mutant,
                               &made, err));
        if (!made.valid) {
            p->invalid++;
            continue;
        }
        *label = px_dataset_label(p->test.set, index);
        PX_TRY(pairing_input(p, image, input, err));
        return pairing_input(p, mutant, input + p->rule.size, err);
    }
    return PX_OK;
}

static px_status pairing_batch(pairing *p, px_error *err)
{
    int64_t labels[2 * PAIRS_AT_A_TIME], count = 0;
    while (count < PX_MIN(PAIRS_AT_A_TIME, p->wanted - p->count)) {
        int64_t label;
        PX_TRY(pairing_next(p, count, &label, err));
        if (label < 0)
            break;
        labels[2 * count] = labels[2 * count + 1] = label;
        count++;
    }
    if (count == 0) {
        p->wanted = p->count;
        return PX_OK;
    }
    PX_TRY(px_paths_run(p->words.paths, p->inputs, labels, 2 * count, p->found, NULL, err));
    for (int64_t i = 0; i < count; i++, p->count++) {
        for (size_t m = 0; m < NG_MODES; m++)
            PX_TRY(px_path_judge_similarity(
                p->words.judge, ng_modes[m], &p->found[2 * i], &p->found[2 * i + 1],
                &p->similarities[(int64_t)m * p->image_count + p->count], err));
        p->fails[p->count] = p->found[2 * i + 1].classes[0] != labels[2 * i];
    }
    return PX_OK;
}

static px_status pairing_run(pairing *p, px_error *err)
{
    const px_study_options *o = &p->study->options;
    const int64_t all = p->wanted;
    while (p->count < p->wanted) {
        PX_TRY(pairing_batch(p, err));
        if (o->progress && !o->progress(o->context, p->count, all))
            return px_fail(err, PX_E_CANCELLED, "interrupted");
    }
    return PX_OK;
}

static px_status pairing_open(pairing *p, px_error *err)
{
    px_mutations rules;
    PX_TRY(ng_words_open(p->study, p->subject, NULL, &p->words, err));
    PX_TRY(pxi_study_open(p->study, p->words.model, fz_subjects[p->subject].dataset, "test", 0.0, 0,
                          &p->test, err));
    const px_shape shape = px_dataset_shape(p->test.set);
    const size_t size = (size_t)px_shape_count(&shape);
    PX_TRY(px_mutations_parse("nsgen", &rules, err));
    PX_TRY(px_mutations_check(&rules, p->test.set, err));
    if (!px_dataset_is_8bit(p->test.set) || shape.rank != 3 ||
        size != (size_t)px_paths_input_size(p->words.paths))
        return px_fail(err, PX_E_MISMATCH, "'%s' has no 8-bit pictures of the network's size",
                       fz_subjects[p->subject].dataset);
    pxi_mutant_rule_init(&p->rule, &rules, px_validity_default(PX_VALID_NSGEN), MUTANT_TRIES,
                         p->seed, &shape, /* samples= */ 0);
    PX_TRY(images_choose(p, err));
    p->wanted = PX_MIN(p->wanted, p->image_count);
    const size_t room = (size_t)PX_MAX(p->image_count, (int64_t)1);
    p->similarities = pxi_calloc(NG_MODES * room, sizeof *p->similarities);
    p->fails = pxi_calloc(room, sizeof *p->fails);
    p->levels = pxi_calloc(2, size);
    p->inputs = pxi_calloc(2 * PAIRS_AT_A_TIME * size, sizeof *p->inputs);
    p->found = pxi_calloc(2 * PAIRS_AT_A_TIME, sizeof *p->found);
    return p->similarities && p->fails && p->levels && p->inputs && p->found ? PX_OK
                                                                             : pxi_no_memory(err);
}

/* --- what is put ----------------------------------------------------------------------------- */

/* Of those that fail, or do not: mean, quartiles, and where the whiskers of a box plot end. */
static void put_box(cell_list *cell, double *values, size_t count, const char *name)
{
    pxi_cell_put(cell, (double)count, "%s_count", name);
    pxi_cell_put(cell, px_mean(values, count), "%s_mean", name);
    const double median = px_quantile(values, count, 0.5); /* and sorts */
    const double lower = px_quantile_sorted(values, count, 0.25);
    const double upper = px_quantile_sorted(values, count, 0.75);
    const double reach = 1.5 * (upper - lower);
    double low = (double)NAN, high = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (values[i] >= lower - reach && isnan(low))
            low = values[i];
        if (values[i] <= upper + reach)
            high = values[i];
    }
    pxi_cell_put(cell, low, "%s_low", name);
    pxi_cell_put(cell, lower, "%s_lower", name);
    pxi_cell_put(cell, median, "%s_median", name);
    pxi_cell_put(cell, upper, "%s_upper", name);
    pxi_cell_put(cell, high, "%s_high", name);
}

static px_status pairing_put(const pairing *p, size_t mode, cell_list *cell, px_error *err)
{
    const size_t count = (size_t)p->count;
    const double *values = p->similarities + (int64_t)mode * p->image_count;
    const px_correlation r = px_point_biserial(p->fails, values, count);
    double *parts = pxi_calloc(PX_MAX(count, (size_t)1), sizeof *parts);
    size_t failed = 0, right = 0;
    if (!parts)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) /* those that fail first, the others from the end */
        parts[p->fails[i] ? failed++ : count - ++right] = values[i];
    px_mann_whitney_result u;
    px_status status =
        px_mann_whitney(parts + failed, right, parts, failed, PX_TWO_SIDED, PX_U_AUTO, &u, err);
    pxi_cell_put(cell, (double)count, "pairs");
    pxi_cell_put(cell, (double)p->invalid, "invalid");
    pxi_cell_put(cell, r.r, "r");
    pxi_cell_put(cell, r.t, "t");
    pxi_cell_put(cell, r.p, "p");
    if (status == PX_OK)
        pxi_cell_put(cell, u.effect, "above");
    put_box(cell, parts + failed, right, "right");
    put_box(cell, parts, failed, "wrong");
    free(parts);
    return status;
}

px_status ng_correlation_run(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    pairing p = {.study = study,
                 .subject = job->subject,
                 .seed = study->options.seed + (uint64_t)job->run,
                 .wanted = ng_inputs(study, ng_pairs_full(job->subject))};
    px_status status = pairing_open(&p, err);
    if (status == PX_OK)
        status = pairing_run(&p, err);
    for (size_t m = 0; m < NG_MODES && status == PX_OK; m++) {
        char key[CELL_KEY];
        cell_list cell = {.count = 0};
        status = pairing_put(&p, m, &cell, err);
        correlation_key(study, job->subject, m, job->run, key);
        if (status == PX_OK)
            status = pxi_study_put(study, key, px_clock_s() - start, &cell, err);
    }
    pairing_close(&p);
    return status;
}
