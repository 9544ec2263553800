/* src/check/stage_synthesize.c - inputs that excite the suspicious neurons (DeepFault, Algorithm 2)
 *
 * Inputs go in pieces, so that a time box can end between two of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_suspects.h"

#include <internal/engine.h>
#include <internal/graph.h>
#include <internal/localize.h>
#include <internal/synthesize.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/select.h>
#include <plexor/system.h>
#include <stdlib.h>

enum { SYNTHESIZE_PIECE = 64, SYNTHESIZE_PER_MINUTE = 200, SYNTHESIZE_LEAST = 40, SUSPECTS = 10 };

typedef struct synthesize {
    px_check *c;
    px_suspicious *suspects;
    px_probe *probe;
    px_synthesis_targets targets;
    px_synthesis_options options;
    int64_t *chosen, count;
    size_t *list_of;
    pxi_findings findings;
    int64_t base;   /* of the piece at work */
    pxi_pass *pass; /* for confidences */
    float *values;  /* [classes] */

    int64_t made, faults, unchanged;
    double l1, l2, linf, linf_most, loss;
    int64_t raised, neurons;
} synthesize;

/* How sure the network is of its answer to what is stored. */
static px_status synthesize_confidence(synthesize *s, const px_synthesis_made *made, double *out,
                                       px_error *err)
{
    const px_check *c = s->c;
    const px_shape shape = px_dataset_shape(c->set);
    const int64_t said = made->row->stored.predicted;
    pxi_lane *lane = pxi_pass_lane(s->pass, 0);
    float *input = pxi_lane_input(lane, 0);
    double p = NAN;
    for (size_t i = 0; i < c->floats; i++)
        input[i] = made->bytes ? (float)made->bytes[i] : made->exact[i];
    PX_TRY(px_preprocess_apply(&c->pre, &shape, input, err));
    PX_TRY(pxi_lane_beside(lane, 0, c->set, made->row->input, err));
    PX_TRY(pxi_lane_forward(lane, 1, err));
    PX_TRY(pxi_scores_row(lane->session, &c->scores, 0, s->values, err));
    if (said >= 0) {
        double *all = NULL;
        PX_TRY(PX_NEW(all, (size_t)c->scores.classes, err));
        px_scores_probabilities(&c->scores, s->values, all);
        p = all[said];
        free(all);
    }
    *out = p;
    return PX_OK;
}

static px_status synthesize_emit(void *context, const px_synthesis_made *made, px_error *err)
{
    synthesize *s = context;
    const px_synthesis_row *row = made->row;
    double confidence = NAN;
    PX_TRY(synthesize_confidence(s, made, &confidence, err));
    s->made++;
    s->faults += row->stored.predicted >= 0 && row->stored.predicted != row->label;
    s->unchanged += row->unchanged_stored;
    s->l1 += row->stored.l1;
    s->l2 += row->stored.l2;
    s->linf += row->stored.linf;
    s->linf_most = fmax(s->linf_most, row->stored.linf);
    s->loss += row->stored.loss;
    s->raised += row->stored.rose;
    s->neurons += row->neurons;
    return px_pairs_put_synthesis(s->findings.pairs, &s->options, made,
                                  (double)s->c->confidence[row->input], confidence, err);
}

static px_status synthesize_targets(synthesize *s, px_error *err)
{
    px_check *c = s->c;
    char *path = pxi_check_path(c, PXI_SUSPICIOUS_FILE);
    px_status status = path ? px_suspicious_open(path, &s->suspects, err) : pxi_no_memory(err);
    free(path);
    PX_THEN(status, px_suspicious_check(s->suspects, c->model, err));
    PX_THEN(status, px_synthesis_targets_open(&s->targets, s->suspects, c->model, &c->shape, NULL,
                                              c->scores.classes, SUSPECTS, &s->probe, err));
    return status;
}

static px_status synthesize_choose(synthesize *s, px_error *err)
{
    const px_check *c = s->c;
    const px_synthesis_choice choice = {
        .predictions = c->predictions,
        .limit = (int64_t)fmax(SYNTHESIZE_LEAST, SYNTHESIZE_PER_MINUTE * c->o.minutes),
        .seed = c->o.seed,
    };
    return px_synthesis_targets_choose(&s->targets, c->set, choice, &s->chosen, &s->list_of,
                                       &s->count, err);
}

static px_synthesis_job synthesize_job(const synthesize *s)
{
    return (px_synthesis_job){.model = s->c->model,
                              .probe = s->probe,
                              .set = s->c->set,
                              .pre = &s->c->pre,
                              .lists = s->targets.lists,
                              .list_count = s->targets.count,
                              .inputs = s->chosen,
                              .list_of = s->list_of,
                              .count = s->count};
}

static px_status synthesize_begin(synthesize *s, px_error *err)
{
    px_check *c = s->c;
    pxi_task task = pxi_check_task(c, 1);
    const pxi_visitor visitor = {0};
    const px_plan_options wants = pxi_wants_scores(&c->scores);
    task.threads = 1;
    task.batch = 1;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &s->pass, err));
    PX_TRY(PX_NEW(s->values, (size_t)c->scores.classes, err));
    s->options = px_synthesis_options_default();
    s->options.batch = c->o.batch;
    s->options.threads = c->o.threads;
    s->options.emit = synthesize_emit;
    s->options.emit_context = s;
    PX_TRY(pxi_check_range(c, &s->options.low, &s->options.high, err));
    PX_TRY(px_synthesis_complete(&s->options, c->set, &c->pre, err));
    const px_synthesis_job job = synthesize_job(s);
    char *settings = NULL;
    PX_TRY(px_pairs_synthesis_settings(&s->options, &job, s->suspects->measure, SUSPECTS, &settings,
                                       err));
    const px_status status =
        pxi_findings_begin(c, PXI_STAGE_synthesize, settings, &s->findings, err);
    free(settings);
    PX_TRY(status);
    return px_pairs_put_neurons(s->findings.pairs, s->suspects, SUSPECTS, err);
}

static px_status synthesize_pieces(synthesize *s, px_error *err)
{
    px_check *c = s->c;
    const double deadline = pxi_check_deadline(c);
    px_synthesis_job job = synthesize_job(s);
    bool late = false;
    for (s->base = 0; s->base < s->count && !late; s->base += job.count) {
        px_synthesis *synthesis = NULL;
        job.count = PX_MIN(s->count - s->base, (int64_t)SYNTHESIZE_PIECE);
        job.inputs = s->chosen + s->base;
        job.list_of = s->list_of + s->base;
        PX_TRY(px_synthesize(&job, &s->options, &synthesis, err));
        px_synthesis_free(synthesis);
        PX_TRY(pxi_check_ask(c, s->base + job.count, s->count, deadline, &late,
                             "while inputs were synthesized", err));
    }
    return pxi_findings_finish(s->c, &s->findings, err);
}

typedef struct synthesize_result {
    const char *measure, *definition;
    int64_t k, count, planned, faults, unchanged;
    bool cut_short;
    double step, distance, accuracy, loss, l1, l2, linf, linf_most, raised;
} synthesize_result;

static const px_field synthesize_fields[] = {
    PX_FIELD(synthesize_result, measure, "measure", "of suspiciousness"),
    PX_FIELD(synthesize_result, k, "k", "suspicious neurons of each class that are raised"),
    PX_FIELD(synthesize_result, definition, "definition", "what a neuron is here"),
    PX_FIELD(synthesize_result, step, "step", "along the gradient, in scaled values"),
    PX_FIELD(synthesize_result, distance, "distance", "largest change of a value"),
    PX_FIELD(synthesize_result, count, "count", "inputs that were changed"),
    PX_FIELD(synthesize_result, planned, "planned", "inputs that were to be"),
    PX_FIELD(synthesize_result, cut_short, "cut_short", "the time was up before"),
    PX_FIELD(synthesize_result, faults, "faults", "inputs that became wrong"),
    PX_FIELD(synthesize_result, accuracy, "accuracy", "on the changed inputs", .unit = PX_SHARE),
    PX_FIELD(synthesize_result, loss, "loss", "mean cross-entropy on them"),
    PX_FIELD(synthesize_result, l1, "l1", "mean sum of the changes"),
    PX_FIELD(synthesize_result, l2, "l2", "mean length of the changes"),
    PX_FIELD(synthesize_result, linf, "linf", "mean of the largest changes"),
    PX_FIELD(synthesize_result, linf_most, "linf_most", "largest change of all"),
    PX_FIELD(synthesize_result, raised, "raised", "share of the neurons that were raised",
             .unit = PX_SHARE),
    PX_FIELD(synthesize_result, unchanged, "unchanged", "inputs that stayed as they were"),
    PX_FIELDS_END,
};

static void synthesize_write(const synthesize *s, px_json *out)
{
    const double n = (double)s->made;
    const synthesize_result result = {
        .measure = s->suspects->measure,
        .k = SUSPECTS,
        .definition = px_probe_describe(s->probe),
        .step = s->options.step,
        .distance = s->options.distance,
        .count = s->made,
        .planned = s->count,
        .cut_short = s->made < s->count,
        .faults = s->faults,
        .accuracy = 1.0 - (double)s->faults / n,
        .loss = s->loss / n,
        .l1 = s->l1 / n,
        .l2 = s->l2 / n,
        .linf = s->linf / n,
        .linf_most = s->linf_most,
        .raised = s->neurons ? (double)s->raised / (double)s->neurons : (double)NAN,
        .unchanged = s->unchanged,
    };
    px_fields_json(synthesize_fields, &result, out);
}

static px_status synthesize_run(px_check *c, px_json *out, px_error *err)
{
    synthesize s = {.c = c};
    if (px_model_takes_tokens(c->model))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "it moves inputs a little, and token numbers cannot be");
    px_status status = synthesize_targets(&s, err);
    PX_THEN(status, synthesize_choose(&s, err));
    PX_THEN(status, synthesize_begin(&s, err));
    PX_THEN(status, synthesize_pieces(&s, err));
    if (status == PX_OK)
        synthesize_write(&s, out);
    pxi_findings_close(&s.findings);
    pxi_pass_close(s.pass);
    free(s.values);
    free(s.chosen);
    free(s.list_of);
    px_synthesis_targets_done(&s.targets);
    px_probe_free(s.probe);
    px_suspicious_free(s.suspects);
    return status;
}

static void synthesize_line(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)c;
    px_text_format(out,
                   "%" PRId64 " of %" PRId64 " inputs became wrong by raising suspicious neurons",
                   pxi_json_int(result, "faults", 0), pxi_json_int(result, "count", 0));
}

static void synthesize_command(const px_check *c, const px_json_value *result, px_text *out)
{
    pxi_command(c, "synthesize", /* range= */ true, out);
    px_text_format(out, " --measure ochiai -k %d --limit %" PRId64, SUSPECTS,
                   pxi_json_int(result, "count", 0));
}

const pxi_stage pxi_stage_synthesize = {
    .public = {.entry = {.id = "synthesize", .title = "Synthesized failures"},
               .help = "inputs that raise the suspicious neurons",
               .labels = true},
    .version = 1,
    .after = PXI_AFTER(eval) | PXI_AFTER(localize),
    .needs = PXI_AFTER(eval) | PXI_AFTER(localize),
    .share = 0.15,
    .tries = 6.0 * SYNTHESIZE_PER_MINUTE,
    .run = synthesize_run,
    .files = {{"synthesize/", NULL, false}},
    .headlines = {{"synthesized_faults", "faults"}},
    .line = synthesize_line,
    .command = synthesize_command,
};
