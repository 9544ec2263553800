/* src/check/stage_attack.c - the least that it takes: projected gradient descent within 8/255
 *
 * With the options that 'plexor attack' has by itself, so that both give the same numbers. Attacked
 * are the first inputs, right or wrong, so that accuracy under attack is of the same kind as
 * accuracy; in pieces, so that a time box can end between two.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/data.h>
#include <internal/graph.h>
#include <internal/nearest_tokens.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/attack.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <plexor/task.h>
#include <stdlib.h>
#include <string.h>

enum { ATTACK_PIECE = 64, ATTACK_PER_MINUTE = 200, ATTACK_LEAST = 40 };

typedef struct attack {
    px_check *c;
    px_attack_options options;
    int64_t *inputs, count;
    pxi_findings findings;

    /* Token numbers: what is attacked is their embedding, and what is stored the nearest tokens. */
    px_model *cut;
    px_task task; /* of it */
    px_nearest *nearest;
    float *parts, *original;
    int64_t near_faults, near_changed;

    int64_t made, right, reached, unlabelled, flat;
    double l2, linf, queries;
} attack;

/* A text that is as near as texts come, if it fails too. */
static px_status attack_put_nearest(attack *a, const px_attack_made *made, px_error *err)
{
    px_nearest_answer answer;
    px_attack_row row = *made->row;
    px_attack_made as_text = *made;
    PX_TRY(px_dataset_beside(a->task.set, row.input, a->original, err));
    PX_TRY(px_nearest_ask(a->nearest, made->exact, a->original, a->parts, &answer, err));
    row.stored = (px_attack_form){.predicted = answer.predicted,
                                  .reached = answer.predicted >= 0 && answer.predicted != row.truth,
                                  .confidence = answer.confidence,
                                  .l0 = answer.changed,
                                  .l2 = (double)NAN,
                                  .linf = (double)NAN};
    a->near_faults += row.stored.reached;
    a->near_changed += row.stored.reached ? answer.changed : 0;
    as_text.row = &row;
    as_text.original = a->original;
    as_text.exact = a->parts;
    return px_pairs_put_attack(a->findings.pairs, &a->options, &as_text, err);
}

static px_status attack_emit(void *context, const px_attack_made *made, px_error *err)
{
    attack *a = context;
    const px_attack_row *row = made->row;
    const px_attack_form *form = &row->stored;
    const bool right = row->before >= 0 && row->before == row->truth;
    a->made++;
    a->right += right;
    a->unlabelled += row->label < 0;
    a->flat += row->flat;
    a->queries += (double)(row->forwards + row->backwards);
    if (!right)
        return PX_OK; /* it was wrong to begin with */
    if (form->reached) {
        a->reached++;
        a->l2 += form->l2;
        a->linf += form->linf;
    }
    return a->nearest ? attack_put_nearest(a, made, err)
                      : px_pairs_put_attack(a->findings.pairs, &a->options, made, err);
}

/* The network again, cut open, and the data for it. */
static px_status attack_cut(attack *a, px_error *err)
{
    px_check *c = a->c;
    px_task_options options = {.data = pxi_check_read(c), .pixels = c->o.pixels};
    PX_TRY(px_model_load(c->model_path, &a->cut, err));
    PX_TRY(px_model_join_inputs(a->cut, err));
    if (c->o.tokenizer || c->o.tokens)
        PX_TRY(px_model_set_tokenizer(a->cut, c->o.tokenizer, c->o.tokens, err));
    PX_TRY(px_model_embed(a->cut, err));
    PX_TRY(px_task_open(a->cut, c->data_spec, &options, &a->task, err));
    const px_inputs *inputs = px_model_inputs(a->cut);
    const px_shape shape = px_dataset_shape(a->task.set);
    const int64_t tokens = shape.dim[0];
    PX_TRY(px_nearest_new(c->model, inputs, tokens, &a->nearest, err));
    PX_TRY(PX_NEW(a->parts, inputs->count * tokens, err));
    PX_TRY(PX_NEW(a->original, inputs->count * tokens, err));
    return px_dataset_range(a->task.set, &a->task.pre, &a->options.low, &a->options.high, err);
}

static px_status attack_begin(attack *a, px_error *err)
{
    px_check *c = a->c;
    a->options = px_attack_options_default();
    a->options.seed = c->o.seed;
    a->options.batch = c->o.batch;
    a->options.threads = c->o.threads;
    a->options.emit = attack_emit;
    a->options.emit_context = a;
    PX_TRY(px_model_takes_tokens(c->model)
               ? attack_cut(a, err)
               : pxi_check_range(c, &a->options.low, &a->options.high, err));
    PX_TRY(px_attack_complete(&a->options, a->cut ? a->task.set : c->set, &c->pre, err));
    a->count = PX_MIN(c->count, (int64_t)fmax(ATTACK_LEAST, ATTACK_PER_MINUTE * c->o.minutes));
    PX_TRY(PX_NEW(a->inputs, a->count, err));
    for (int64_t i = 0; i < a->count; i++)
        a->inputs[i] = i;
    char *settings = NULL;
    PX_TRY(px_pairs_attack_settings(&a->options, "", a->count, &c->pre, &settings, err));
    const px_status status = pxi_findings_begin(c, PXI_STAGE_attack, settings, &a->findings, err);
    free(settings);
    return status;
}

static px_status attack_pieces(attack *a, px_error *err)
{
    px_check *c = a->c;
    const double deadline = pxi_check_deadline(c);
    px_attack_job job = {.model = c->model, .set = c->set, .pre = &c->pre};
    if (a->cut)
        job = (px_attack_job){.model = a->cut, .set = a->task.set, .pre = &a->task.pre};
    bool late = false;
    for (int64_t base = 0; base < a->count && !late; base += job.count) {
        px_attack *done = NULL;
        job.inputs = a->inputs + base;
        job.count = PX_MIN(a->count - base, (int64_t)ATTACK_PIECE);
        PX_TRY(px_attack_run(&job, &a->options, &done, err));
        px_attack_free(done);
        PX_TRY(pxi_check_ask(c, base + job.count, a->count, deadline, &late,
                             "while inputs were attacked", err));
    }
    return pxi_findings_finish(c, &a->findings, err);
}

typedef struct attack_result {
    const char *method, *norm, *space;
    double eps, eps_levels, step_size, range[2];
    int64_t steps, count, planned, right, unlabelled, faults, flat;
    bool cut_short, in_embedding;
    int64_t near_faults;
    double near_changed, success, robust_accuracy, l2, linf, queries;
} attack_result;

static const px_field attack_fields[] = {
    PX_FIELD(attack_result, method, "method", "the attack"),
    PX_FIELD(attack_result, norm, "norm", "in which the bound is"),
    PX_FIELD(attack_result, space, "space",
             "where inputs were moved: input, or the embedding of token numbers"),
    PX_FIELD(attack_result, near_faults, "nearest_faults",
             "of an embedding: right answers that the tokens nearest to what came out turn too",
             PX_IF(attack_result, in_embedding)),
    PX_FIELD(attack_result, near_changed, "nearest_changed", "mean number of tokens changed there",
             PX_IF(attack_result, in_embedding)),
    PX_FIELD(attack_result, eps, "eps", "the bound, in scaled values"),
    PX_FIELD(attack_result, eps_levels, "eps_levels", "the bound in levels of 8 bits"),
    PX_FIELD(attack_result, steps, "steps", "of the attack, at most"),
    PX_FIELD(attack_result, step_size, "step_size", "of one, in scaled values"),
    PX_ARRAY(attack_result, range, "range", "what scaled values may be"),
    PX_FIELD(attack_result, count, "count", "inputs that were attacked"),
    PX_FIELD(attack_result, planned, "planned", "inputs that were to be"),
    PX_FIELD(attack_result, cut_short, "cut_short", "the time was up before"),
    PX_FIELD(attack_result, right, "right", "inputs that were right to begin with"),
    PX_FIELD(attack_result, unlabelled, "unlabelled", "inputs without a label"),
    PX_FIELD(attack_result, faults, "faults", "right answers that turned"),
    PX_FIELD(attack_result, success, "success", "share of right answers that an attack turns",
             .unit = PX_SHARE),
    PX_FIELD(attack_result, robust_accuracy, "robust_accuracy", "accuracy under attack",
             .unit = PX_SHARE),
    PX_FIELD(attack_result, l2, "l2", "mean length of the changes that turn an answer"),
    PX_FIELD(attack_result, linf, "linf", "mean of their largest values"),
    PX_FIELD(attack_result, queries, "queries", "mean runs of the network per input, both ways"),
    PX_FIELD(attack_result, flat, "flat", "inputs whose gradient is zero"),
    PX_FIELDS_END,
};

static void attack_write(const attack *a, px_json *out)
{
    const px_attack_options *o = &a->options;
    const double reached = (double)a->reached, made = (double)a->made;
    const attack_result result = {
        .method = o->method,
        .norm = px_norm_name(o->norm),
        .space = a->cut ? "embedding" : "input",
        .in_embedding = a->cut != NULL,
        .near_faults = a->near_faults,
        .near_changed =
            a->near_faults ? (double)a->near_changed / (double)a->near_faults : (double)NAN,
        .eps = o->eps,
        .eps_levels =
            px_dataset_is_8bit(a->c->set) ? px_length_levels(&a->c->pre, o->eps) : (double)NAN,
        .steps = o->steps,
        .step_size = o->step_size,
        .range = {o->low, o->high},
        .count = a->made,
        .planned = a->count,
        .cut_short = a->made < a->count,
        .right = a->right,
        .unlabelled = a->unlabelled,
        .faults = a->reached,
        .success = a->right ? reached / (double)a->right : (double)NAN,
        .robust_accuracy = (double)(a->right - a->reached) / made,
        .l2 = a->reached ? a->l2 / reached : (double)NAN,
        .linf = a->reached ? a->linf / reached : (double)NAN,
        .queries = a->queries / made,
        .flat = a->flat,
    };
    px_fields_json(attack_fields, &result, out);
}

static px_status attack_run(px_check *c, px_json *out, px_error *err)
{
    attack a = {.c = c};
    px_status status = attack_begin(&a, err);
    PX_THEN(status, attack_pieces(&a, err));
    if (status == PX_OK)
        attack_write(&a, out);
    pxi_findings_close(&a.findings);
    px_nearest_free(a.nearest);
    px_task_close(&a.task);
    px_model_free(a.cut);
    free(a.parts);
    free(a.original);
    free(a.inputs);
    return status;
}

static void attack_line(const px_check *c, const px_json_value *result, px_text *out)
{
    const double success = pxi_json_number(result, "success");
    (void)c;
    px_text_format(out, "pgd within %.4g: ", pxi_json_number(result, "eps"));
    if (isnan(success))
        px_text_add(out, "no input was right to begin with");
    else
        px_text_format(out, "%.1f%% of right answers turn, accuracy under attack %.1f%%",
                       100.0 * success, 100.0 * pxi_json_number(result, "robust_accuracy"));
    const char *space = pxi_json_words(result, "space");
    if (space && strcmp(space, "embedding") == 0)
        px_text_format(out, "; in the embedding, the nearest tokens turn %" PRId64,
                       pxi_json_int(result, "nearest_faults", 0));
}

static void attack_command(const px_check *c, const px_json_value *result, px_text *out)
{
    pxi_command(c, "attack", /* range= */ true, out);
    px_text_format(out, " --limit %" PRId64 "%s", pxi_json_int(result, "count", 0),
                   px_model_takes_tokens(c->model) ? " --in embedding" : "");
}

const pxi_stage pxi_stage_attack = {
    .public = {.entry = {.id = "attack", .title = "Attacked failures"},
               .help = "the smallest changes along the gradient that make it wrong"},
    .version = 4,
    .share = 0.25,
    .tries = 40.0 * ATTACK_PER_MINUTE,
    .run = attack_run,
    .files = {{"attack/", NULL, false}},
    .gates = {PXI_GATE("robust", "accuracy under attack", "attack", "robust_accuracy", "share",
                       false),
              PXI_GATE("attack-success", "share of right answers that an attack turns", "attack",
                       "success", "share", true)},
    .headlines = {{"attack_success", "success"},
                  {"robust_accuracy", "robust_accuracy"},
                  {"attack_faults", "faults"}},
    .line = attack_line,
    .command = attack_command,
};
