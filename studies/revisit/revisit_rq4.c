/* studies/revisit/revisit_rq4.c - RQ4: networks retrained with each generator, judged on all of
 * them
 *
 * CSM E.2, step 7. DH-D, DH-N and DH: the mutants of D_0 that M_0 gets wrong and that improve
 * coverage (pairwise, the package's rule) are appended to D_0. FGSM and PGD: adversarial training,
 * all of every batch being attacked. Test cases are made of the held-out inputs: mutants are the
 * same for all networks, attacks follow the gradients of the network that is judged.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

static const char *defence_id(size_t defence)
{
    return defence == RV_BENIGN ? "none" : rv_set_ids[defence];
}

int64_t rv_defence_epochs(const px_study *study, size_t defence)
{
    if (defence == RV_BENIGN)
        return 0;
    if (defence < RV_FGSM)
        return RV_DH_EPOCHS;
    return study->options.each_pieces ? study->options.each_pieces : RV_AT_EPOCHS_HERE;
}

bool rv_defence_done(const px_study *study, size_t subject, int64_t run, size_t defence)
{
    char key[CELL_KEY];
    rv_key(study, subject, run, key, "rq4 %s", defence_id(defence));
    const study_cell *cell = pxi_cells_find(study->cells, key);
    return cell && pxi_cell_number(cell, "epochs") == (double)rv_defence_epochs(study, defence);
}

/* --- retraining ------------------------------------------------------------------------------- */

typedef struct defended {
    px_model *model; /* NULL: the original */
    double seconds;
    int64_t added, halvings;
} defended;

/* Of every part those that are wrong and improve coverage, in one list. */
static px_status mutants_choose(const rv_bench *b, const rv_pictures *candidates, int64_t *items,
                                int64_t *count, px_error *err)
{
    px_cover *cover = NULL;
    px_status status = rv_cover_new(b, b->model, RV_RAW, &cover, err);
    *count = 0;
    for (int k = 1; k <= RV_STEPS && status == PX_OK; k++) {
        rv_choice choice = {.count = 0};
        status = rv_choose_part(b, cover, candidates, k, RV_BY_PAIR, /* improving= */ true, &choice,
                                err);
        if (status == PX_OK && choice.count > 0)
            memcpy(items + *count, choice.items, (size_t)choice.count * sizeof *items);
        *count += choice.count;
        rv_choice_done(&choice);
    }
    px_cover_free(cover);
    return status;
}

static px_status train_with_mutants(const rv_bench *b, size_t defence, rv_retraining *how,
                                    defended *out, double *accuracy, px_error *err)
{
    rv_pictures candidates = {.set = NULL};
    int64_t *items = NULL;
    px_status status = rv_generate(b, NULL, (int)defence, &b->inputs, &candidates, err);
    if (status == PX_OK) {
        items = pxi_calloc((size_t)candidates.count, sizeof *items);
        status =
            items ? mutants_choose(b, &candidates, items, &out->added, err) : pxi_no_memory(err);
    }
    how->added = out->added > 0 ? &candidates : NULL;
    how->items = items;
    how->count = out->added;
    if (status == PX_OK)
        status = rv_retrain(b, how, &out->model, accuracy, err);
    free(items);
    rv_pictures_done(&candidates);
    return status;
}

static px_status train_adversarially(const rv_bench *b, size_t defence, rv_retraining *how,
                                     defended *out, double *accuracy, px_error *err)
{
    const rv_subject *s = &rv_subjects[b->subject];
    px_adversary adversary = px_adversary_default();
    /* from the input itself, as PGD is judged: that is BIM */
    adversary.method = defence == RV_PGD ? "bim" : "fgsm";
    adversary.eps = s->eps;
    adversary.stages = RV_AT_STAGES;
    if (defence == RV_PGD) {
        adversary.step_size = s->step;
        adversary.steps = s->steps;
    }
    how->adversary = &adversary;
    how->batch = RV_AT_BATCH;
    how->rate = RV_AT_RATE;
    return rv_retrain(b, how, &out->model, accuracy, err);
}

static px_status defend(const rv_bench *b, size_t defence, defended *out, px_error *err)
{
    const double start = px_clock_s();
    double accuracy = 0.0;
    rv_retraining how = {.start = b->model,
                         .base = &b->inputs,
                         .epochs = rv_defence_epochs(b->study, defence),
                         .seed = b->study->options.seed + (uint64_t)b->run,
                         .halvings = &out->halvings};
    if (defence == RV_BENIGN)
        return PX_OK;
    PX_TRY((defence < RV_FGSM ? train_with_mutants : train_adversarially)(b, defence, &how, out,
                                                                          &accuracy, err));
    out->seconds = px_clock_s() - start;
    pxi_study_tell(b->study,
                   "retrained with %s in %.0f s: %" PRId64 " inputs added, accuracy %.2f%%",
                   rv_set_titles[defence], out->seconds, out->added, 100.0 * accuracy);
    return PX_OK;
}

/* --- judging ---------------------------------------------------------------------------------- */

static px_status judge_put(const rv_bench *b, const px_model *model, cell_list *list, px_error *err)
{
    for (int set = RV_BENIGN; set < RV_SETS; set++) {
        rv_pictures cases = {.set = NULL};
        double rate = 0.0;
        px_status status = PX_OK;
        if (set != RV_BENIGN)
            status = rv_generate(b, model, set, &b->test, &cases, err);
        if (status == PX_OK)
            status = rv_error_rate(b, model, set == RV_BENIGN ? &b->test : &cases, &rate, err);
        rv_pictures_done(&cases);
        PX_TRY(status);
        pxi_cell_put(list, 1.0 - rate, "acc_%s", rv_set_ids[set]);
    }
    return PX_OK;
}

px_status rv_run_rq4(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    rv_bench b = {.study = study};
    defended d = {.model = NULL};
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_status status = rv_bench_open(study, job, &b, err);
    if (status == PX_OK)
        status = defend(&b, job->a, &d, err);
    if (status == PX_OK)
        status = judge_put(&b, d.model ? d.model : b.model, &list, err);
    if (status == PX_OK) {
        pxi_cell_put(&list, (double)rv_defence_epochs(study, job->a), "epochs");
        pxi_cell_put(&list, (double)d.added, "added");
        pxi_cell_put(&list, (double)d.halvings, "halvings");
        pxi_cell_put(&list, d.seconds, "train_s");
        pxi_cell_put(&list, (double)b.test.count, "cases");
        rv_key(study, job->subject, job->run, key, "rq4 %s", defence_id(job->a));
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    px_model_free(d.model);
    rv_bench_close(&b);
    return status;
}
