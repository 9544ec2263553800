/* src/cli/train_print.c - what `train` shows while it runs and at its end */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/train_print.h"

#include <internal/field.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void train_view_start(train_view *view)
{
    view->progress = cli_progress_start("train");
}

void train_view_end(train_view *view)
{
    cli_progress_end(&view->progress);
}

static void view_percent(px_text *text, const char *name, double share)
{
    if (isfinite(share))
        px_text_format(text, "  %s %.1f%%", name, 100.0 * share);
}

bool train_view_progress(void *context, const px_train_progress *p)
{
    train_view *view = context;
    if (cli_progress_due(&view->progress)) {
        char rate[CLI_NUMBER_TEXT], left[CLI_NUMBER_TEXT];
        px_text text = {0};
        px_text_format(&text, "epoch %" PRId64 "/%" PRId64, p->epoch, p->epochs);
        if (isfinite(p->loss))
            px_text_format(&text, "  loss %.4f", p->loss);
        view_percent(&text, "acc", p->accuracy);
        view_percent(&text, "test", p->test_accuracy);
        px_text_format(&text, "  %s/s", cli_metric(p->images_per_s, rate));
        if (p->evaluating)
            px_text_add(&text, "  testing");
        else if (isfinite(p->seconds_left))
            px_text_format(&text, "  %s left", cli_duration(p->seconds_left, left));
        cli_progress_show(&view->progress, (double)p->done / (double)p->total, px_text_get(&text));
        px_text_done(&text);
    }
    return !cli_interrupted();
}

/* Of a row, or of the titles, which stand in for what is not there. */
static void view_cell(void *context, const px_field *field, const char *title, const char *text)
{
    const train_view *view = context;
    const bool attacked = view->attacked && strcmp(field->key, "train_accuracy") == 0;
    cli_print("%*s", (int)strlen(title), text ? text : attacked ? "ATTACKED" : title);
}

static void view_row(train_view *view, const px_train_epoch *e)
{
    px_fields_cells(px_train_epoch_fields, e, view_cell, view);
    cli_print("\n");
}

px_status train_view_epoch(void *context, const px_train_epoch *history, size_t count,
                           px_error *err)
{
    train_view *view = context;
    if (!view->quiet) {
        cli_progress_end(&view->progress);
        if (!view->titled) {
            cli_print("\n");
            view_row(view, NULL);
        }
        for (size_t i = view->titled ? count - 1 : 0; i < count; i++)
            view_row(view, &history[i]);
        view->titled = true;
        fflush(cli_out());
    }
    return view->log ? px_train_log_save(view->log, history, count, err) : PX_OK;
}

void train_print_start(const cli_training *t, const train_settings *s, const px_feeder *feeder,
                       px_train_result r, const char *arch)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_feeder_counts counts = px_feeder_count(feeder);
    cli_inputs_print(&t->train, t->model, &t->scores);
    if (t->test.set)
        cli_print("test     %s\n", px_dataset_describe(t->test.set));
    cli_print("network  %s, %s weights", arch ? arch : px_model_path(t->model),
              cli_number(r.parameters + r.frozen, a));
    if (r.frozen)
        cli_print(", %s of them frozen", cli_number(r.frozen, a));
    cli_print("\ntrain    %s, lr %g, %s%s\n", px_text_get(&s->optimizer_spec), s->lr, s->schedule,
              s->recipe ? " (recipe)" : "");
    cli_print("         %" PRId64 " epochs of %s steps of %" PRId64 " inputs (%" PRId64
              " at a time), augment %s\n",
              s->epochs, cli_number(px_feeder_steps(feeder), b), s->batch, r.micro_batch,
              *s->augment ? s->augment : "none");
    cli_adversary_print(&s->adversary, t->train.set, &t->train.pre);
    if (counts.polluted || counts.mislabelled)
        cli_print("faults   %s inputs polluted, %s labels made wrong\n",
                  cli_number(counts.polluted, a), cli_number(counts.mislabelled, b));
    fflush(cli_out());
}

train_report train_report_make(const cli_training *t, const train_settings *s, px_train_result r,
                               const char *arch, const char *out)
{
    train_report report = {.inputs = &t->train,
                           .s = *s,
                           .r = r,
                           .version = px_version(),
                           .arch = arch,
                           .out = out,
                           .is_old = !arch,
                           .has_until = s->until >= 0.0,
                           .parameters = r.parameters + r.frozen,
                           .origin = cli_origin_of(t->model, t->train.set),
                           .peak_rss_mib = (double)px_peak_rss_bytes() / 1048576.0};
    if (!s->loss)
        report.s.loss = "cross-entropy";
    return report;
}

void train_print_result(const void *of)
{
    const train_report *report = of;
    const train_settings *s = &report->s;
    const px_train_result *r = &report->r;
    char rate[CLI_NUMBER_TEXT], time[CLI_NUMBER_TEXT];
    cli_print("\n");
    if (isfinite(r->test_accuracy))
        cli_print("test accuracy %.2f%%, loss %.4f", 100.0 * r->test_accuracy, r->test_loss);
    else
        cli_print("training accuracy %.2f%%, loss %.4f", 100.0 * r->accuracy, r->loss);
    if (s->keep_best && r->best_epoch)
        cli_print(" (epoch %" PRId64 ")", r->best_epoch);
    cli_print(", %s steps in %s, %s inputs per second", cli_number(r->steps, time),
              cli_duration(r->seconds, rate), cli_number((int64_t)r->images_per_s, (char[32]){0}));
    if (r->halvings)
        cli_print(", learning rate halved %" PRId64 " times", r->halvings);
    cli_print("\nwrote '%s'\n", report->out);
}

/* --- as JSON --------------------------------------------------------------------------------- */

static const px_field settings_fields[] = {
    PX_FIELD(train_report, s.optimizer_spec.data, "optimizer", "and its decay"),
    PX_FIELD(train_report, s.schedule, "schedule", "of the learning rate"),
    PX_FIELD(train_report, s.lr, "lr", "learning rate at first"),
    PX_FIELD(train_report, s.loss, "loss_function", "that falls"),
    PX_FIELD(train_report, s.batch, "batch", "inputs of a step"),
    PX_FIELD(train_report, s.augment, "augment", "changes to inputs"),
    PX_FIELD(train_report, s.label_smoothing, "label_smoothing", "share spread over all classes",
             .unit = PX_SHARE),
    PX_FIELD(train_report, s.hard_labels, "hard_labels", "soft targets are not used"),
    PX_FIELD(train_report, s.clip, "clip", "longest gradient; 0: any"),
    PX_FIELD(train_report, s.freeze, "freeze", "layers whose weights stay; null: none"),
    PX_FIELD(train_report, s.pollute, "pollute", "share of inputs with a patch", .unit = PX_SHARE),
    PX_FIELD(train_report, s.polluted_class, "polluted_class", "which those are taken for",
             PX_IF(train_report, s.pollute)),
    PX_FIELD(train_report, s.label_noise, "label_noise", "share of labels made wrong",
             .unit = PX_SHARE),
    PX_OBJECT(train_report, s.adversary, cli_adversary_fields, ""),
    PX_FIELD(train_report, s.until, "until_accuracy", "of the test inputs, where it stops",
             .unit = PX_SHARE, PX_IF(train_report, has_until)),
    PX_FIELDS_END,
};

const px_field train_origin_fields[] = {
    PX_FIELD(train_report, version, "plexor", "its version"),
    PX_FIELD(train_report, arch, "arch", "architecture; null: it was trained before"),
    PX_HASH(train_report, origin.model_hash, "from", "of the network before",
            PX_IF(train_report, is_old)),
    PX_FIELD(train_report, origin.data, "data", "trained on"),
    PX_HASH(train_report, origin.data_hash, "data_hash", "of which inputs they are"),
    PX_OBJECT_OF(settings_fields, ""),
    PX_FIELD(train_report, r.epochs, "epochs", "that were trained"),
    PX_FIELD(train_report, r.steps, "steps", "in all"),
    PX_FIELD(train_report, r.test_accuracy, "test_accuracy", "at the end", .unit = PX_SHARE),
    PX_FIELDS_END,
};

const px_field train_fields[] = {
    PX_OBJECT(train_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(train_report, inputs, cli_inputs_fields, ""),
    PX_FIELD(train_report, out, "output", "file of the trained network"),
    PX_FIELD(train_report, parameters, "parameters", "weights of the network"),
    PX_FIELD(train_report, r.frozen, "frozen", "of them, stay as they are"),
    PX_OBJECT_OF(settings_fields, ""),
    PX_FIELD(train_report, r.micro_batch, "micro_batch", "inputs that a worker takes at a time"),
    PX_FIELD(train_report, r.epochs, "epochs", "that were trained"),
    PX_FIELD(train_report, r.steps, "steps", "in all"),
    PX_FIELD(train_report, r.loss, "loss", "of the last epoch in training"),
    PX_FIELD(train_report, r.accuracy, "train_accuracy", "of the last epoch in training",
             .unit = PX_SHARE),
    PX_FIELD(train_report, r.test_loss, "test_loss", "at the end"),
    PX_FIELD(train_report, r.test_accuracy, "test_accuracy", "at the end", .unit = PX_SHARE),
    PX_FIELD(train_report, r.images_per_s, "images_per_s", "in training"),
    PX_FIELD(train_report, r.seconds, "seconds", "of training steps", .unit = "s"),
    PX_FIELD(train_report, r.best_epoch, "best_epoch", "by test accuracy; 0: none was measured"),
    PX_FIELD(train_report, r.halvings, "halvings", "of the learning rate"),
    PX_FIELD(train_report, r.reached, "reached", "within half a point of until_accuracy",
             PX_IF(train_report, has_until)),
    PX_INDEX(train_report, r.resumed_step, "resumed_step", "steps that were done before",
             .optional = true),
    PX_LIST(train_report, r.history, r.history_count, px_train_epoch_fields, "history", "by epoch"),
    PX_FIELD(train_report, peak_rss_mib, "peak_rss_mib", "most memory that the process had"),
    PX_FIELDS_END,
};
