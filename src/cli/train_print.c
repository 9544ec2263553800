/* src/cli/train_print.c - what `train` shows while it runs and at its end */
#include "cli/train_print.h"

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

static void view_cell(double value, double factor, const char *format, int width)
{
    char cell[CLI_NUMBER_TEXT] = "-";
    if (isfinite(value)) {
        snprintf(cell, sizeof cell, strcmp(format, "%") == 0 ? "%.2f%%" : "%.4f", factor * value);
        if (strcmp(format, "g") == 0)
            snprintf(cell, sizeof cell, "%.3g", factor * value);
    }
    cli_print("%*s", width, cell);
}

static void view_row(const px_train_epoch *e)
{
    char rate[CLI_NUMBER_TEXT];
    cli_print("%5" PRId64, e->epoch);
    view_cell(e->lr, 1.0, "g", 10);
    view_cell(e->loss, 1.0, "f", 9);
    view_cell(e->accuracy, 100.0, "%", 10);
    view_cell(e->test_loss, 1.0, "f", 11);
    view_cell(e->test_accuracy, 100.0, "%", 9);
    cli_print("%12s\n",
              isfinite(e->images_per_s) ? cli_number((int64_t)e->images_per_s, rate) : "-");
}

px_status train_view_epoch(void *context, const px_train_epoch *history, size_t count,
                           px_error *err)
{
    train_view *view = context;
    if (!view->quiet) {
        cli_progress_end(&view->progress);
        if (!view->titled)
            cli_print("\nEPOCH        LR     LOSS  %s  TEST LOSS     TEST    IMAGES/S\n",
                      view->attacked ? "ATTACKED" : "ACCURACY");
        for (size_t i = view->titled ? count - 1 : 0; i < count; i++)
            view_row(&history[i]);
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

void train_print_result(const train_settings *s, const px_train_result *r, const char *out)
{
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
    cli_print("\nwrote '%s'\n", out);
}

static void json_settings(px_json *json, const train_settings *s)
{
    px_json_string(json, "optimizer", px_text_get(&s->optimizer_spec));
    px_json_string(json, "schedule", s->schedule);
    px_json_real(json, "lr", s->lr);
    px_json_string(json, "loss_function", s->loss ? s->loss : "cross-entropy");
    px_json_int(json, "batch", s->batch);
    px_json_string(json, "augment", s->augment);
    px_json_real(json, "label_smoothing", s->label_smoothing);
    px_json_bool(json, "hard_labels", s->hard_labels);
    px_json_real(json, "clip", s->clip);
    px_json_string(json, "freeze", s->freeze);
    px_json_real(json, "pollute", s->pollute);
    if (s->pollute > 0.0)
        px_json_int(json, "polluted_class", s->polluted_class);
    px_json_real(json, "label_noise", s->label_noise);
    cli_adversary_json(&s->adversary, json);
    if (s->until >= 0.0)
        px_json_real(json, "until_accuracy", s->until);
}

static void json_hash(px_json *json, const char *key, uint64_t hash)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    px_json_string(json, key, text);
}

void train_json_origin(px_json *json, const cli_training *t, const train_settings *s,
                       px_train_result r, const char *arch)
{
    px_json_object(json, NULL);
    px_json_string(json, "plexor", px_version());
    px_json_string(json, "arch", arch);
    if (!arch)
        json_hash(json, "from", px_model_hash(t->model));
    px_json_string(json, "data", px_dataset_describe(t->train.set));
    json_hash(json, "data_hash", px_dataset_hash(t->train.set));
    json_settings(json, s);
    px_json_int(json, "epochs", r.epochs);
    px_json_int(json, "steps", r.steps);
    px_json_real(json, "test_accuracy", r.test_accuracy);
    px_json_end(json);
}

static void json_history(px_json *json, const px_train_result *r)
{
    px_json_array(json, "history");
    for (size_t i = 0; i < r->history_count; i++) {
        const px_train_epoch *e = &r->history[i];
        px_json_object(json, NULL);
        px_json_int(json, "epoch", e->epoch);
        px_json_real(json, "lr", e->lr);
        px_json_real(json, "loss", e->loss);
        px_json_real(json, "train_accuracy", e->accuracy);
        px_json_real(json, "test_loss", e->test_loss);
        px_json_real(json, "test_accuracy", e->test_accuracy);
        px_json_real(json, "seconds", e->seconds);
        px_json_real(json, "images_per_s", e->images_per_s);
        px_json_end(json);
    }
    px_json_end(json);
}

int train_json(const cli_command *self, const cli_training *t, const train_settings *s,
               const px_train_result *r, const char *out, int argc, char **argv)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, t->model, t->train.set, argc, argv);
    cli_inputs_json(&t->train, &json);
    px_json_string(&json, "output", out);
    px_json_int(&json, "parameters", r->parameters + r->frozen);
    px_json_int(&json, "frozen", r->frozen);
    json_settings(&json, s);
    px_json_int(&json, "micro_batch", r->micro_batch);
    px_json_int(&json, "epochs", r->epochs);
    px_json_int(&json, "steps", r->steps);
    px_json_real(&json, "loss", r->loss);
    px_json_real(&json, "train_accuracy", r->accuracy);
    px_json_real(&json, "test_loss", r->test_loss);
    px_json_real(&json, "test_accuracy", r->test_accuracy);
    px_json_real(&json, "images_per_s", r->images_per_s);
    px_json_real(&json, "seconds", r->seconds);
    px_json_int(&json, "best_epoch", r->best_epoch);
    px_json_int(&json, "halvings", r->halvings);
    if (s->until >= 0.0)
        px_json_bool(&json, "reached", r->reached);
    if (r->resumed_step >= 0)
        px_json_int(&json, "resumed_step", r->resumed_step);
    json_history(&json, r);
    px_json_real(&json, "peak_rss_mib", (double)px_peak_rss_bytes() / 1048576.0);
    px_json_end(&json);
    return cli_print_json(self, &json);
}
