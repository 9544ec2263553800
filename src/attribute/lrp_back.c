/* src/attribute/lrp_back.c - LRP: the rules, step by step, on one worker's sessions */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/lrp_internal.h"

#include <string.h>

static px_place back_value(const pxi_lrp_run *run, int value)
{
    return pxi_lrp_place(run->memory[run->block[value]], &run->segments.shapes[value]);
}

static px_view back_view(const pxi_lrp_run *run, int value)
{
    const px_place place = back_value(run, value);
    return pxi_lrp_view(&place);
}

/* Whether the value holds something already: the next share must be added. Marks it as begun. */
static bool back_adds(pxi_lrp_run *run, int value)
{
    const bool begun = run->begun[value];
    run->begun[value] = true;
    return begun;
}

static px_status back_activation(const px_session *session, int value, px_view *out, px_error *err)
{
    *out = px_session_view(session, value);
    return out->data ? PX_OK
                     : px_fail(err, PX_E_INTERNAL, "value %d is needed and was not kept", value);
}

/* The part of `a` with this sign through the step's plan. */
static px_status back_product(px_session *session, const pxi_lrp_step *step, const px_view *a,
                              int sign, px_view *out, px_error *err)
{
    pxi_lrp_part(a, sign, px_session_input(session, 0));
    PX_TRY(px_session_forward(session, err));
    *out = px_session_view(session, step->out[0]);
    return PX_OK;
}

/* R_in (+)= a g, g being the gradient whose seed was just set. */
static px_status back_transposed(pxi_lrp_run *run, px_session *session, const pxi_lrp_step *step,
                                 const px_view *a, int sign, px_error *err)
{
    PX_TRY(px_session_backward(session, err));
    const px_view g = px_session_grad(session, step->in[0]);
    const px_place to = back_value(run, step->in[0]);
    pxi_lrp_weigh(a, &g, sign, back_adds(run, step->in[0]), &to);
    return PX_OK;
}

static px_status back_seeded(pxi_lrp_run *run, px_session *session, const pxi_lrp_step *step,
                             const px_place *ratios, const px_view *a, int sign, px_error *err)
{
    const px_view from = pxi_lrp_view(ratios);
    PX_TRY(px_session_seed_clear(session, err));
    const px_place seed = px_session_seed(session, step->out[0]);
    pxi_lrp_copy(&from, /* adds= */ false, &seed);
    return back_transposed(run, session, step, a, sign, err);
}

/* Activations without negative ones: P and N are one product each. */
static px_status back_linear(pxi_lrp_run *run, size_t s, const px_view *a, const px_view *r,
                             px_error *err)
{
    const pxi_lrp_step *step = &run->lrp->steps[s];
    px_session *first = pxi_lrp_first(run, s), *second = pxi_lrp_second(run, s);
    px_view p, n;
    px_place plus, minus = {0};
    PX_TRY(back_product(first, step, a, 0, &p, err));
    PX_TRY(px_session_seed_clear(first, err));
    plus = px_session_seed(first, step->out[0]);
    if (second) {
        PX_TRY(back_product(second, step, a, 0, &n, err));
        PX_TRY(px_session_seed_clear(second, err));
        minus = px_session_seed(second, step->out[0]);
    }
    pxi_lrp_ratios(run->lrp->beta, r, &p, second ? &n : NULL, &plus, &minus);
    PX_TRY(back_transposed(run, first, step, a, 0, err));
    return second ? back_transposed(run, second, step, a, 0, err) : PX_OK;
}

/* Both signs among the activations: they swap the roles of the two sums. Without negative weights
 * (means) `second` is NULL. */
static px_status back_mixed(pxi_lrp_run *run, size_t s, const px_view *a, const px_view *r,
                            px_error *err)
{
    const pxi_lrp_step *step = &run->lrp->steps[s];
    px_session *first = pxi_lrp_first(run, s), *second = pxi_lrp_second(run, s);
    px_place place[PXI_LRP_SPARES];
    px_view view[PXI_LRP_SPARES], made;
    for (int i = 0; i < PXI_LRP_SPARES; i++) {
        place[i] = pxi_lrp_place(run->spare[i], &run->segments.shapes[step->out[0]]);
        view[i] = pxi_lrp_view(&place[i]);
    }
    const px_place *p = &place[0], *n = &place[1], *plus = &place[2], *minus = &place[3];
    PX_TRY(back_product(first, step, a, 1, &made, err));
    pxi_lrp_copy(&made, /* adds= */ false, p);
    PX_TRY(back_product(first, step, a, -1, &made, err));
    pxi_lrp_copy(&made, /* adds= */ false, n);
    if (second) {
        PX_TRY(back_product(second, step, a, -1, &made, err));
        pxi_lrp_copy(&made, /* adds= */ true, p);
        PX_TRY(back_product(second, step, a, 1, &made, err));
        pxi_lrp_copy(&made, /* adds= */ true, n);
    }
    pxi_lrp_ratios(run->lrp->beta, r, &view[0], &view[1], plus, minus);
    PX_TRY(back_seeded(run, first, step, plus, a, 1, err));
    PX_TRY(back_seeded(run, first, step, minus, a, -1, err));
    if (second) {
        PX_TRY(back_seeded(run, second, step, minus, a, 1, err));
        PX_TRY(back_seeded(run, second, step, plus, a, -1, err));
    }
    return PX_OK;
}

static px_status back_join(pxi_lrp_run *run, const pxi_lrp_step *step, const px_session *session,
                           const px_view *r, px_error *err)
{
    for (int i = 0; i < step->in_count; i++) {
        px_view part, other;
        const px_place others = pxi_lrp_place(run->spare[0], &r->shape);
        bool adds = false;
        if (!step->carries[i])
            continue;
        PX_TRY(back_activation(session, step->in[i], &part, err));
        for (int k = 0; k < step->in_count; k++)
            if (k != i) {
                PX_TRY(back_activation(session, step->in[k], &other, err));
                pxi_lrp_copy(&other, adds, &others);
                adds = true;
            }
        other = pxi_lrp_view(&others);
        const px_place to = back_value(run, step->in[i]);
        pxi_lrp_share(r, &part, &other, step->in_count, back_adds(run, step->in[i]), &to);
    }
    return PX_OK;
}

/* What is linear with ones and zeros: relevance goes the way of the gradient. */
static px_status back_gradient(pxi_lrp_run *run, size_t s, const px_session *session, px_error *err)
{
    const pxi_lrp_step *step = &run->lrp->steps[s];
    px_session *own = pxi_lrp_first(run, s);
    if (step->kind == PXI_LRP_CHOOSE) {
        px_view a;
        PX_TRY(back_activation(session, step->in[0], &a, err));
        pxi_lrp_part(&a, 0, px_session_input(own, 0));
        PX_TRY(px_session_forward(own, err));
    }
    PX_TRY(px_session_seed_clear(own, err));
    for (int o = 0; o < step->out_count; o++) {
        const px_view r = back_view(run, step->out[o]);
        const px_place seed = px_session_seed(own, step->out[o]);
        pxi_lrp_copy(&r, /* adds= */ false, &seed);
    }
    PX_TRY(px_session_backward(own, err));
    for (int i = 0; i < step->in_count; i++) {
        bool again = !step->carries[i];
        for (int k = 0; k < i; k++)
            again |= step->in[k] == step->in[i]; /* the gradient has both parts already */
        if (again)
            continue;
        const px_view g = px_session_grad(own, step->in[i]);
        const px_place to = back_value(run, step->in[i]);
        pxi_lrp_copy(&g, back_adds(run, step->in[i]), &to);
    }
    return PX_OK;
}

static px_status back_step(pxi_lrp_run *run, size_t s, const px_session *session, px_error *err)
{
    const pxi_lrp_step *step = &run->lrp->steps[s];
    const px_view r = back_view(run, step->out[0]);
    px_view a;
    switch (step->kind) {
    case PXI_LRP_PASS:
    case PXI_LRP_SHAPE: {
        if (pxi_lrp_hands_on(run, (int)s)) {
            run->begun[step->in[0]] = true;
            return PX_OK;
        }
        const px_place to = back_value(run, step->in[0]);
        pxi_lrp_copy(&r, back_adds(run, step->in[0]), &to);
        return PX_OK;
    }
    case PXI_LRP_LINEAR:
    case PXI_LRP_MEAN:
        PX_TRY(back_activation(session, step->in[0], &a, err));
        return step->mixed ? back_mixed(run, s, &a, &r, err) : back_linear(run, s, &a, &r, err);
    case PXI_LRP_JOIN:
        return back_join(run, step, session, &r, err);
    case PXI_LRP_MOVE:
    case PXI_LRP_CHOOSE:
        return back_gradient(run, s, session, err);
    case PXI_LRP_NONE:
        break;
    }
    return px_fail(err, PX_E_INTERNAL, "no rule for '%s'", step->node->type);
}

/* The predicted class's score at its own place, zero elsewhere. */
static px_status back_start(pxi_lrp_run *run, const px_session *session, int64_t samples,
                            const px_input_facts *facts, px_error *err)
{
    const int value = run->lrp->scores.value;
    px_view scores;
    PX_TRY(back_activation(session, value, &scores, err));
    const px_place to = back_value(run, value);
    memset(to.data, 0, (size_t)px_shape_count(&to.shape) * sizeof *to.data);
    for (int64_t i = 0; i < samples; i++)
        if (facts[i].predicted >= 0 && to.shape.rank >= 2) {
            const int64_t c = facts[i].predicted;
            to.data[i * to.stride[0] + c * to.stride[1]] =
                scores.data[i * scores.stride[0] + c * scores.stride[1]];
        }
    run->begun[value] = true;
    return PX_OK;
}

px_status pxi_lrp_run_go(pxi_lrp_run *run, const px_session *session, int64_t samples,
                         const px_input_facts *facts, pxi_lrp_sink sink, void *context,
                         px_error *err)
{
    const pxi_lrp *lrp = run->lrp;
    memset(run->begun, 0, (size_t)px_model_graph(lrp->model)->value_count * sizeof *run->begun);
    PX_TRY(pxi_segment_run_begin(&run->segments, session, err));
    PX_TRY(back_start(run, session, samples, facts, err));
    if (lrp->wanted[lrp->scores.value]) {
        const px_view r = back_view(run, lrp->scores.value);
        PX_TRY(sink(context, lrp->scores.value, &r, err));
    }
    for (size_t s = 0; s < lrp->step_count; s++) {
        const pxi_lrp_step *step = &lrp->steps[s];
        PX_TRY(back_step(run, s, session, err));
        for (int i = 0; i < step->in_count; i++) {
            bool again = !lrp->wanted[step->in[i]] || run->complete[step->in[i]] != (int)s;
            for (int k = 0; k < i; k++)
                again |= step->in[k] == step->in[i];
            if (again)
                continue;
            const px_view r = back_view(run, step->in[i]);
            PX_TRY(sink(context, step->in[i], &r, err));
        }
    }
    return PX_OK;
}
