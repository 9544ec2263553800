/* src/generate/deepxplore.c - engine `deepxplore`: inputs on which networks disagree (LGR D.9)
 *
 * Pei et al., DeepXplore, SOSP 2017, Algorithm 1. A seed that all networks put into class c climbs
 *     sum_{i != j} z_i[c] - w_diff z_j[c] + w_nc sum_i phi_i(n_i),
 * j the network to deviate and n_i a neuron of network i that has not fired yet, drawn once per
 * visit, until the networks differ. z are the logits. Seeds on which they differ from the outset
 * are outputs, once. Neurons fire above `t` in channel means of the layer scaled to 0..1 on the
 * input; only outputs count for that.
 *
 * Where we differ from the published program: pictures are clipped in every step (clip=no: when
 * they are rounded only), many seeds climb at once, and what counts is the rounded picture. One
 * that has lost nine tenths of its contrast shows nothing, so its label means nothing: that ends
 * the visit. The first network is the one under test: an output on which it errs is a fault, one on
 * which only the others do is kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/climb.h"
#include "generate/deepxplore_rules.h"
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/classes.h>
#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

static const char *const constraints[] = {"light", "occl", "blackout", "none", NULL};
static const char *const targets[] = {"first", "second", "third", "random", NULL};
static const char *const yes_no[] = {"yes", "no", NULL};

typedef struct xplore_config {
    int constraint;
    double w_diff;
    double w_nc;
    double step;
    int64_t iters;
    double t;
    int target;
    double light;
    int64_t top;
    int64_t left;
    int64_t height;
    int64_t width;
    int clip;
    int64_t group;
} xplore_config;

static const px_param xplore_params[] = {
    PX_PARAM_CHOICE(xplore_config, constraint, 0, constraints,
                    "what may change: all values by the same amount (light), those "
                    "in one rectangle (occl), small rectangles that turn dark "
                    "(blackout), anything (none)"),
    PX_PARAM_REAL(xplore_config, w_diff, 1, 0, 1e6, "weight of the network that is to deviate"),
    PX_PARAM_REAL(xplore_config, w_nc, 0.1, 0, 1e6,
                  "weight of the neurons that have not fired yet"),
    PX_PARAM_REAL(xplore_config, step, 0, 0, 1e6,
                  "length of a step, in scaled pixel units per unit of the normalised gradient; 0: "
                  "1 for light, 0.02 for none, and 10 for the others, as in the published program"),
    PX_PARAM_INT(xplore_config, iters, 50, 1, 1e6, "steps of a visit at most"),
    PX_PARAM_REAL(xplore_config, t, 0, -1, 1,
                  "a neuron has fired once its scaled value was above this"),
    PX_PARAM_CHOICE(xplore_config, target, 0, targets,
                    "the network that is to deviate; random: drawn for every visit"),
    PX_PARAM_REAL(xplore_config, light, 1, 1e-6, 1e6,
                  "factor of the mean gradient under constraint=light; the paper has "
                  "1e4 for ImageNet"),
    PX_PARAM_INT(xplore_config, top, 0, 0, 1e5, "first row of the rectangle of constraint=occl"),
    PX_PARAM_INT(xplore_config, left, 0, 0, 1e5, "its first column"),
    PX_PARAM_INT(xplore_config, height, 0, 0, 1e5,
                 "rows of rectangles; 0: as in the paper, 10 for occl and 6 for "
                 "blackout (50 and 10 for pictures of 100 pixels and more)"),
    PX_PARAM_INT(xplore_config, width, 0, 0, 1e5, "columns; 0: as well"),
    PX_PARAM_CHOICE(xplore_config, clip, 0, yes_no,
                    "whether pixels stay in their range while they climb"),
    PX_PARAM_INT(xplore_config, group, 64, 1, PXI_CLIMB_GROUP_MOST,
                 "seeds that climb side by side in a turn"),
    PX_PARAM_END,
};

typedef struct xplore_row {
    int64_t cls;   /* what all agree on at first */
    size_t target; /* the network to deviate */
} xplore_row;

typedef struct xplore {
    px_fuzz *fuzz;
    pxi_climb climb;
    xplore_row *rows;
    int64_t *fresh;  /* scratch: neurons that have not fired */
    int64_t already; /* seeds on which the networks differ; saved, as is the next */
    int64_t blank;   /* visits that ended with nothing left to see */
} xplore;

/* --- opening --------------------------------------------------------------------------------- */

/* A rival's own preprocessing: what its file says, unless the user said something. */
static px_status xplore_preprocess(const px_fuzz *fuzz, const px_model *rival, px_preprocess *out,
                                   px_error *err)
{
    const px_preprocess *main_pre = fuzz->options.pre;
    px_preprocess own;
    PX_TRY(px_model_preprocess(rival, NULL, NULL, &own, err));
    const bool given = strcmp(main_pre->scale_from, "option") == 0;
    if (given || strcmp(own.scale_from, "metadata") != 0)
        own.scale = given || strcmp(main_pre->scale_from, "metadata") != 0 ? main_pre->scale
                    : px_dataset_is_8bit(fuzz->options.set)                ? 1.0f / 255.0f
                                                                           : 1.0f;
    if (strcmp(main_pre->mean_from, "option") == 0)
        memcpy(own.mean, main_pre->mean, sizeof own.mean);
    if (strcmp(main_pre->std_from, "option") == 0)
        memcpy(own.stddev, main_pre->stddev, sizeof own.stddev);
    if (strcmp(main_pre->mean_from, "option") == 0 || strcmp(main_pre->std_from, "option") == 0)
        own.channels = main_pre->channels;
    if (px_dataset_is_8bit(fuzz->options.set) && !fuzz->rounds) /* stored as 0..1 */
        own.scale *= 255.0f;
    *out = own;
    return PX_OK;
}

static px_status xplore_check(const px_fuzz *fuzz, px_error *err)
{
    const xplore_config *config = fuzz->config;
    const int constraint = config->constraint;
    const int target = config->target;
    char text[PX_SHAPE_TEXT];
    if (fuzz->model_count > PXI_CLIMB_NETS)
        return px_fail(err, PX_E_USAGE, "engine 'deepxplore' compares at most %d networks",
                       PXI_CLIMB_NETS);
    if (target < 3 && (size_t)target >= fuzz->model_count)
        return px_fail(err, PX_E_USAGE, "target=%s: there are %zu networks", targets[target],
                       fuzz->model_count);
    if ((constraint == PXI_XPLORE_OCCL || constraint == PXI_XPLORE_BLACKOUT) &&
        fuzz->shape.rank != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "constraint=%s is for pictures, [channels,height,width]; the inputs are %s; "
                       "use light or none",
                       constraints[constraint], px_shape_text(&fuzz->shape, text));
    if (constraint == PXI_XPLORE_OCCL &&
        (config->top >= fuzz->shape.dim[1] || config->left >= fuzz->shape.dim[2]))
        return px_fail(err, PX_E_USAGE, "a rectangle at row %.0f, column %.0f is outside of %s",
                       (double)config->top, (double)config->left,
                       px_shape_text(&fuzz->shape, text));
    return PX_OK;
}

static void xplore_close(void *state)
{
    xplore *x = state;
    if (!x)
        return;
    pxi_climb_close(&x->climb);
    free(x->rows);
    free(x->fresh);
    free(x);
}

static px_status xplore_init(xplore *x, px_fuzz *fuzz, px_error *err)
{
    const xplore_config *config = fuzz->config;
    px_preprocess pres[PXI_CLIMB_NETS];
    pres[0] = fuzz->pre;
    for (size_t net = 1; net < fuzz->model_count; net++)
        PX_TRY(xplore_preprocess(fuzz, fuzz->models[net], &pres[net], err));
    const pxi_climb_options options = {.group = config->group,
                                       .class_terms = 1,
                                       .unit_terms = 1,
                                       .what = constraints[config->constraint],
                                       .pres = pres};
    PX_TRY(pxi_climb_open(&x->climb, fuzz, &options, err));
    int64_t units = 0;
    for (size_t net = 0; net < fuzz->model_count; net++)
        units = PX_MAX(units, x->climb.tallies[net].count);
    x->rows = pxi_calloc((size_t)options.group, sizeof *x->rows);
    x->fresh = pxi_calloc((size_t)units, sizeof *x->fresh);
    return x->rows && x->fresh ? PX_OK : pxi_no_memory(err);
}

static px_status xplore_open(px_fuzz *fuzz, void **state, px_error *err)
{
    PX_TRY(xplore_check(fuzz, err));
    xplore *x = NULL;
    PX_TRY(PX_NEW(x, 1, err));
    x->fuzz = fuzz;
    const px_status status = xplore_init(x, fuzz, err);
    if (status == PX_OK)
        *state = x;
    else
        xplore_close(x);
    return status;
}

static px_status xplore_begin(void *state, const void *saved, size_t size, px_error *err)
{
    xplore *x = state;
    if (!saved)
        return PX_OK;
    pxi_fuzz_bytes from = {saved, (const uint8_t *)saved + size};
    if (!pxi_climb_load(&x->climb, &from) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX / 4, &x->already) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX / 4, &x->blank) || from.at != from.end)
        return pxi_fuzz_bad_state(x->fuzz, err);
    return PX_OK;
}

static px_status xplore_save(const void *state, px_text *bytes, px_error *err)
{
    const xplore *x = state;
    (void)err;
    pxi_climb_save(&x->climb, bytes);
    pxi_fuzz_save_int(bytes, x->already);
    pxi_fuzz_save_int(bytes, x->blank);
    return PX_OK;
}

/* --- a turn ---------------------------------------------------------------------------------- */

/* A neuron that has not fired; any, once all have. */
static int64_t xplore_neuron(const xplore *x, size_t net, px_random *random)
{
    const pxi_unit_tally *tally = &x->climb.tallies[net];
    if (tally->covered >= tally->count)
        return px_rng_below(random, (uint32_t)tally->count);
    int64_t count = 0;
    for (int64_t i = 0; i < tally->count; i++)
        if (tally->times[i] == 0)
            x->fresh[count++] = i;
    return x->fresh[px_rng_below(random, (uint32_t)count)];
}

static void xplore_objective(xplore *x, int64_t at)
{
    pxi_climb_row *row = &x->climb.rows[at];
    const xplore_config *config = x->fuzz->config;
    px_random random = px_rng(x->fuzz->seed, PX_RNG_DEEPXPLORE, (uint32_t)row->visit, 0);
    const uint32_t drawn = px_rng_below(&random, (uint32_t)x->climb.net_count);
    const int target = config->target;
    xplore_row *own = &x->rows[at];
    *own = (xplore_row){.cls = pxi_climb_prediction(&x->climb, 0, row),
                        .target = target < 3 ? (size_t)target : drawn};
    for (size_t net = 0; net < x->climb.net_count; net++) {
        row->classes[net][0] =
            (pxi_term){own->cls, net == own->target ? -(float)config->w_diff : 1.0f};
        row->units[net][0] = (pxi_term){xplore_neuron(x, net, &random), (float)config->w_nc};
        row->class_count[net] = 1;
        row->unit_count[net] = config->w_nc > 0.0;
    }
}

static pxi_box xplore_box(const xplore *x, const pxi_climb_row *row)
{
    const xplore_config *config = x->fuzz->config;
    const int64_t height = x->fuzz->shape.dim[1], width = x->fuzz->shape.dim[2];
    const bool occl = config->constraint == PXI_XPLORE_OCCL;
    const bool large = PX_MIN(height, width) >= 100;
    const int64_t side = occl ? (large ? 50 : 10) : (large ? 10 : 6);
    pxi_box box = {.height = config->height > 0 ? config->height : side,
                   .width = config->width > 0 ? config->width : side};
    box.height = PX_MIN(box.height, height);
    box.width = PX_MIN(box.width, width);
    if (occl) {
        box.top = config->top;
        box.left = config->left;
    } else {
        px_random random = px_rng(x->fuzz->seed, PX_RNG_DEEPXPLORE, (uint32_t)row->visit,
                                  (uint32_t)row->steps + 1);
        box.top = px_rng_below(&random, (uint32_t)(height - box.height + 1));
        box.left = px_rng_below(&random, (uint32_t)(width - box.width + 1));
    }
    return box;
}

/* 10 for all of them, as published, makes light pictures all black or all white. */
static double xplore_length(const xplore_config *config)
{
    static const double own[] = {[PXI_XPLORE_LIGHT] = 1.0,
                                 [PXI_XPLORE_OCCL] = 10.0,
                                 [PXI_XPLORE_BLACKOUT] = 10.0,
                                 [PXI_XPLORE_NONE] = 0.02};
    return config->step > 0.0 ? config->step : own[config->constraint];
}

static void xplore_step(xplore *x, int64_t at)
{
    pxi_climb_row *row = &x->climb.rows[at];
    const px_fuzz *fuzz = x->fuzz;
    const xplore_config *config = fuzz->config;
    const pxi_xplore_rule rule = (pxi_xplore_rule)config->constraint;
    const bool picture = fuzz->shape.rank == 3;
    if (!pxi_ascent_normalise(row->gradient, fuzz->size)) {
        row->stuck = true;
        return;
    }
    const int64_t channels = picture ? fuzz->shape.dim[0] : 1;
    const int64_t height = picture ? fuzz->shape.dim[1] : 1;
    const int64_t width = (int64_t)fuzz->size / (channels * height);
    const pxi_box box = picture ? xplore_box(x, row) : (pxi_box){0};
    pxi_xplore_constrain(rule, &box, channels, height, width, row->gradient);
    const double factor = rule == PXI_XPLORE_LIGHT ? config->light : 1.0;
    pxi_climb_move(&x->climb, row, xplore_length(config) * factor, config->clip);
}

typedef enum xplore_state { XPLORE_AGREE, XPLORE_DIFFER, XPLORE_NO_NUMBER } xplore_state;

static xplore_state xplore_judge(const xplore *x, const pxi_climb_row *row)
{
    xplore_state state = XPLORE_AGREE;
    for (size_t net = 0; net < x->climb.net_count; net++) {
        const int64_t prediction = pxi_climb_prediction(&x->climb, net, row);
        if (prediction < 0)
            return XPLORE_NO_NUMBER;
        if (prediction != pxi_climb_prediction(&x->climb, 0, row))
            state = XPLORE_DIFFER;
    }
    return state;
}

static void xplore_chain(const xplore *x, int64_t at, px_json *chain)
{
    const xplore_config *config = x->fuzz->config;
    const pxi_climb_row *row = &x->climb.rows[at];
    const xplore_row *own = &x->rows[at];
    pxi_climb_chain(&x->climb, row, chain);
    px_json_int(chain, "steps", row->steps);
    if (row->steps > 0) {
        px_json_string(chain, "constraint", constraints[config->constraint]);
        px_json_int(chain, "class", own->cls);
        px_json_int(chain, "target", (int64_t)own->target);
        px_json_array(chain, "neurons");
        for (size_t net = 0; net < x->climb.net_count; net++)
            pxi_climb_chain_units(&x->climb, row, net, NULL, chain);
        px_json_end(chain);
    }
    px_json_array(chain, "predictions");
    for (size_t net = 0; net < x->climb.net_count; net++)
        px_json_int(chain, NULL, pxi_climb_prediction(&x->climb, net, row));
    px_json_end(chain);
}

static px_status xplore_output(xplore *x, int64_t at, px_error *err)
{
    const xplore_config *config = x->fuzz->config;
    const pxi_climb_row *row = &x->climb.rows[at];
    px_json chain = {0};
    int64_t id;
    xplore_chain(x, at, &chain);
    PX_TRY(pxi_climb_put(&x->climb, row, &chain, /* needed= */ false, &id, err));
    for (size_t net = 0; net < x->climb.net_count; net++)
        pxi_unit_tally_add(&x->climb.tallies[net], pxi_climb_values(&x->climb, net, row),
                           config->t);
    return PX_OK;
}

/* At its seed: climbs, or is an output already. */
static px_status xplore_start(xplore *x, int64_t at, px_error *err)
{
    pxi_climb_row *row = &x->climb.rows[at];
    const xplore_state state = xplore_judge(x, row);
    row->fresh = false;
    if (state == XPLORE_AGREE) {
        xplore_objective(x, at);
        return PX_OK;
    }
    row->active = false;
    if (row->visit >= (int64_t)x->fuzz->seed_count) /* told in the first cycle */
        return PX_OK;
    pxi_fuzz_count(x->fuzz, 1);
    if (state == XPLORE_NO_NUMBER) {
        pxi_fuzz_count_not_finite(x->fuzz);
        return PX_OK;
    }
    x->already++;
    x->rows[at] = (xplore_row){0};
    return xplore_output(x, at, err);
}

static px_status xplore_walk(xplore *x, int64_t at, px_error *err)
{
    const xplore_config *config = x->fuzz->config;
    pxi_climb_row *row = &x->climb.rows[at];
    xplore_state state = XPLORE_NO_NUMBER;
    if (pxi_climb_count(&x->climb, row))
        state = xplore_judge(x, row);
    if (state != XPLORE_NO_NUMBER && pxi_climb_blank(&x->climb, row)) {
        x->blank++;
        row->active = false;
        return PX_OK;
    }
    row->active = state == XPLORE_AGREE && row->steps < config->iters;
    return state == XPLORE_DIFFER ? xplore_output(x, at, err) : PX_OK;
}

static px_status xplore_turn(void *state, px_error *err)
{
    xplore *x = state;
    pxi_climb *climb = &x->climb;
    pxi_climb_begin(climb, climb->group);
    PX_TRY(pxi_climb_look(climb, /* fresh= */ true, err));
    for (int64_t i = 0; i < climb->rows_used; i++)
        PX_TRY(xplore_start(x, i, err));
    while (pxi_climb_active(climb)) {
        PX_TRY(pxi_climb_gradients(climb, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active)
                xplore_step(x, i);
        PX_TRY(pxi_climb_look(climb, /* fresh= */ false, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active)
                PX_TRY(xplore_walk(x, i, err));
    }
    pxi_climb_tell(climb);
    return PX_OK;
}

static void xplore_report(const void *state, px_fuzz_report *report)
{
    const xplore *x = state;
    pxi_climb_report(&x->climb, report);
    pxi_climb_note(report, "differed already", x->already);
    pxi_climb_note(report, "went blank", x->blank);
    for (size_t net = 1; net < x->climb.net_count; net++)
        pxi_climb_note(report, net == 1 ? "2nd's neurons" : "3rd's neurons",
                       x->climb.tallies[net].covered);
}

static px_coverage xplore_coverage(const void *state)
{
    return pxi_climb_coverage(&((const xplore *)state)->climb);
}

const pxi_fuzz_engine pxi_fuzz_engine_deepxplore = {
    .shown = {.entry = {.id = "deepxplore",
                        .title =
                            "joint optimisation: inputs on which two or three networks disagree",
                        .source = "DeepXplore (SOSP 2017)",
                        .params = xplore_params,
                        .config_size = sizeof(xplore_config)},
              .least_models = 2,
              .most_models = PXI_CLIMB_NETS},
    .open = xplore_open,
    .begin = xplore_begin,
    .turn = xplore_turn,
    .save = xplore_save,
    .report = xplore_report,
    .close = xplore_close,
    .criterion = "nc",
    .coverage = xplore_coverage,
};
