/* studies/revisit/revisit_rq2.c - RQ2: Algorithm 1, with mutants that improve coverage and with
 * others
 *
 * Ten rounds: the mutants of part i that M_(i-1) gets wrong and that improve (or leave) the
 * coverage of D_(i-1) are added, and M_i is M_(i-1) retrained on D_i. Two arms do just that. As one
 * of them may add ten mutants where the other adds hundreds, there are two more, matched: in each
 * round both find what they would add, and of the longer list as many as of the shorter are drawn.
 *
 * All arms see the same mutants, and a round has the same seed in all of them: arms that have added
 * the same mutants have the same network, which is then not made twice.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_rounds.h"

#include "base/memory.h"

#include <internal/weights.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

typedef struct rq2_arm {
    rv_round round;   /* M_(k-1) and D_(k-1), then M_k and D_k */
    px_cover *cover;  /* of D under M_(k-1); NULL: not computed */
    rv_choice choice; /* of part k */
    int64_t found;    /* chosen, before matching */
    bool twin;        /* so far the same as the arm that is not matched */
    double coverage;
    cell_list quality; /* of M_k, with its accuracy */
} rq2_arm;

typedef struct rq2_work {
    rv_bench b;
    rv_rule rule;
    rv_pictures candidates, cases; /* mutants of D_0, and of the test inputs */
    bool *only;                    /* room: one per candidate */
    rq2_arm arms[RV_ARMS];
} rq2_work;

static bool is_improving(size_t arm)
{
    return arm == RV_IMPROVING || arm == RV_IMPROVING_MATCHED;
}

/* The arm that it would be if nothing were drawn. */
static size_t unmatched(size_t arm)
{
    return is_improving(arm) ? RV_IMPROVING : RV_REMAINING;
}

static void work_close(rq2_work *w)
{
    for (size_t arm = 0; arm < RV_ARMS; arm++) {
        rv_round_done(&w->arms[arm].round);
        px_cover_free(w->arms[arm].cover);
        rv_choice_done(&w->arms[arm].choice);
    }
    rv_pictures_done(&w->candidates);
    rv_pictures_done(&w->cases);
    free(w->only);
    rv_bench_close(&w->b);
}

static px_status model_copy(const px_model *model, px_model **out, px_error *err)
{
    px_weights *weights = NULL;
    PX_TRY(px_weights_new(model, &weights, err));
    const px_status status = px_weights_freeze(weights, NULL, 0, out, err);
    px_weights_free(weights);
    return status;
}

/* --- coverage --------------------------------------------------------------------------------- */

static px_status cover_add_items(rq2_work *w, px_cover *cover, const int64_t *items, int64_t count,
                                 px_error *err)
{
    if (count == 0)
        return PX_OK;
    memset(w->only, 0, (size_t)w->candidates.count * sizeof *w->only);
    for (int64_t i = 0; i < count; i++)
        w->only[items[i]] = true;
    return rv_cover_add(&w->b, cover, &w->candidates, w->only, err);
}

/* Of D_(k-1) under M_(k-1). */
static px_status arm_cover(rq2_work *w, rq2_arm *a, px_error *err)
{
    px_cover_free(a->cover);
    a->cover = NULL;
    PX_TRY(rv_cover_new(&w->b, a->round.model, RV_RAW, &a->cover, err));
    PX_TRY(rv_cover_add(&w->b, a->cover, &w->b.inputs, NULL, err));
    return cover_add_items(w, a->cover, a->round.items, a->round.count, err);
}

/* --- a round ---------------------------------------------------------------------------------- */

static px_status choice_copy(const rv_choice *from, rv_choice *to, px_error *err)
{
    *to = (rv_choice){.wrong = from->wrong, .count = from->count};
    PX_TRY(PX_NEW(to->items, (size_t)PX_MAX(from->count, 1), err));
    if (from->count > 0)
        memcpy(to->items, from->items, (size_t)from->count * sizeof *to->items);
    return PX_OK;
}

/* What the arm would add in round k. */
static px_status arm_find(rq2_work *w, size_t arm, int k, px_error *err)
{
    rq2_arm *a = &w->arms[arm];
    const rq2_arm *other = &w->arms[unmatched(arm)];
    rv_choice_done(&a->choice);
    px_cover_free(a->cover);
    a->cover = NULL;
    a->twin = a != other && rv_round_same(&a->round, &other->round);
    if (a->twin) {
        PX_TRY(choice_copy(&other->choice, &a->choice, err));
    } else {
        PX_TRY(arm_cover(w, a, err));
        PX_TRY(rv_choose_part(&w->b, a->cover, &w->candidates, k, w->rule, is_improving(arm),
                              &a->choice, err));
    }
    a->found = a->choice.count;
    return PX_OK;
}

/* Both matched arms keep as many as the shorter list has. */
static px_status work_match(rq2_work *w, int k, px_error *err)
{
    const uint64_t seed = w->b.study->options.seed + (uint64_t)w->b.run;
    rv_choice *a = &w->arms[RV_IMPROVING_MATCHED].choice;
    rv_choice *b = &w->arms[RV_REMAINING_MATCHED].choice;
    const int64_t most = PX_MIN(a->count, b->count);
    PX_TRY(rv_choice_draw(a, most, seed, RV_IMPROVING_MATCHED, (uint32_t)k, err));
    return rv_choice_draw(b, most, seed, RV_REMAINING_MATCHED, (uint32_t)k, err);
}

static px_status work_judge(const rq2_work *w, const px_model *model, double accuracy,
                            cell_list *out, px_error *err)
{
    out->count = 0;
    pxi_cell_put(out, accuracy, "accuracy");
    return rv_quality(&w->b, model, &w->cases, out, err);
}

static px_status arm_retrain(rq2_work *w, rq2_arm *a, int k, px_error *err)
{
    rv_round *r = &a->round;
    const uint64_t seed = w->b.study->options.seed + (uint64_t)w->b.run;
    const rv_retraining how = {.start = r->model,
                               .base = &w->b.inputs,
                               .added = r->count > 0 ? &w->candidates : NULL,
                               .items = r->items,
                               .count = r->count,
                               .epochs = RV_EPOCHS,
                               .seed = seed + ((uint64_t)k << 32)};
    px_model *model = NULL;
    double accuracy = 0.0;
    PX_TRY(rv_retrain(&w->b, &how, &model, &accuracy, err));
    px_model_free(r->model);
    r->model = model;
    return work_judge(w, model, accuracy, &a->quality, err);
}

/* D_k, its coverage, M_k and its quality. */
static px_status arm_step(rq2_work *w, size_t arm, int k, px_error *err)
{
    rq2_arm *a = &w->arms[arm];
    const rq2_arm *other = &w->arms[unmatched(arm)];
    const rv_choice *c = &a->choice;
    /* one that drew is no twin any more, but still begins with its network; a is behind other */
    const bool twin = a->twin && c->count == a->found;
    if (!twin && !a->cover)
        PX_TRY(arm_cover(w, a, err));
    if (c->count > 0)
        memcpy(a->round.items + a->round.count, c->items, (size_t)c->count * sizeof *c->items);
    a->round.count += c->count;
    if (twin) {
        px_model *model = NULL;
        PX_TRY(model_copy(other->round.model, &model, err));
        px_model_free(a->round.model);
        a->round.model = model;
        a->coverage = other->coverage;
        a->quality = other->quality;
        return PX_OK;
    }
    PX_TRY(cover_add_items(w, a->cover, c->items, c->count, err));
    a->coverage = px_cover_value(a->cover, 0).value;
    return arm_retrain(w, a, k, err);
}

static px_status arm_put(const rq2_work *w, size_t arm, int k, double seconds, px_error *err)
{
    const rq2_arm *a = &w->arms[arm];
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    pxi_cell_put(&list, (double)(w->b.inputs.count + a->round.count), "size");
    pxi_cell_put(&list, (double)a->choice.count, "added");
    pxi_cell_put(&list, k > 0 ? (double)a->found : (double)NAN, "found");
    pxi_cell_put(&list, k > 0 ? (double)a->choice.wrong : (double)NAN, "wrong");
    pxi_cell_put(&list, a->coverage, "coverage");
    for (size_t i = 0; i < a->quality.count; i++)
        pxi_cell_put(&list, a->quality.value[i].number, "%s", a->quality.value[i].name);
    rv_key(w->b.study, w->b.subject, w->b.run, key, RV_RQ2_KEY, rv_arm_ids[arm],
           rv_rule_ids[w->rule], k);
    return pxi_study_put(w->b.study, key, seconds, &list, err);
}

static px_status work_round(rq2_work *w, int k, px_error *err)
{
    for (size_t arm = 0; arm < RV_ARMS; arm++)
        PX_TRY(arm_find(w, arm, k, err));
    PX_TRY(work_match(w, k, err));
    for (size_t arm = 0; arm < RV_ARMS; arm++) {
        const double start = px_clock_s();
        PX_TRY(arm_step(w, arm, k, err));
        PX_TRY(arm_put(w, arm, k, px_clock_s() - start, err));
    }
    const rq2_arm *arms = w->arms;
    pxi_study_tell(w->b.study,
                   "round %d of %d: %" PRId64 " of %" PRId64 " failures improve coverage, %" PRId64
                   " of %" PRId64 " do not; matched, %" PRId64 " each",
                   k, RV_STEPS, arms[RV_IMPROVING].found, arms[RV_IMPROVING].choice.wrong,
                   arms[RV_REMAINING].found, arms[RV_REMAINING].choice.wrong,
                   arms[RV_IMPROVING_MATCHED].choice.count);
    for (size_t arm = 0; arm < RV_ARMS && k < RV_STEPS; arm++)
        PX_TRY(rv_round_save(&w->b, w->rule, (rv_arm)arm, k, &arms[arm].round, err));
    rv_rounds_remove(&w->b, w->rule, k - 1);
    return PX_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* M_0 and D_0, common to all arms. */
static px_status work_begin(rq2_work *w, px_error *err)
{
    const double start = px_clock_s();
    double wrong = 0.0;
    rq2_arm *first = &w->arms[0];
    for (size_t arm = 0; arm < RV_ARMS; arm++)
        PX_TRY(model_copy(w->b.model, &w->arms[arm].round.model, err));
    PX_TRY(arm_cover(w, first, err));
    PX_TRY(rv_error_rate(&w->b, w->b.model, &w->b.test, &wrong, err));
    PX_TRY(work_judge(w, w->b.model, 1.0 - wrong, &first->quality, err));
    for (size_t arm = 0; arm < RV_ARMS; arm++) {
        w->arms[arm].coverage = px_cover_value(first->cover, 0).value;
        w->arms[arm].quality = first->quality;
        PX_TRY(arm_put(w, arm, 0, px_clock_s() - start, err));
    }
    return PX_OK;
}

static px_status work_open(rq2_work *w, const study_job *job, px_study *study, px_error *err)
{
    PX_TRY(rv_bench_open(study, job, &w->b, err));
    PX_TRY(rv_generate(&w->b, NULL, RV_DH, &w->b.inputs, &w->candidates, err));
    PX_TRY(rv_generate(&w->b, NULL, RV_DH, &w->b.test, &w->cases, err));
    const size_t count = (size_t)w->candidates.count;
    w->only = pxi_calloc(count, sizeof *w->only);
    bool failed = !w->only;
    for (size_t arm = 0; arm < RV_ARMS; arm++) {
        w->arms[arm].round.items = pxi_calloc(count, sizeof *w->arms[arm].round.items);
        failed = failed || !w->arms[arm].round.items;
    }
    return failed ? pxi_no_memory(err) : PX_OK;
}

static px_status work_run(rq2_work *w, px_error *err)
{
    const int last = rv_rounds_last(&w->b, w->rule);
    if (last == 0)
        PX_TRY(work_begin(w, err));
    for (size_t arm = 0; arm < RV_ARMS && last > 0; arm++)
        PX_TRY(rv_round_load(&w->b, w->rule, (rv_arm)arm, last, &w->arms[arm].round, err));
    for (int k = last + 1; k <= RV_STEPS; k++)
        PX_TRY(work_round(w, k, err));
    return PX_OK;
}

px_status rv_run_rq2(px_study *study, const study_job *job, px_error *err)
{
    rq2_work w = {.rule = (rv_rule)job->a};
    px_status status = work_open(&w, job, study, err);
    if (status == PX_OK)
        status = work_run(&w, err);
    work_close(&w);
    return status;
}
