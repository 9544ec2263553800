/* src/cli/repair_print.c - the report of a repair, for people and as JSON (spec F.4) */
#include "cli/repair_print.h"
#include "cli/cli_adversary.h"

#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_MOST = 20 }; /* regressions on a screen */

/* Parts of the report that other commands measure. */
static const struct {
    const char *what, *needs;
} missing[] = {
    {"attack success rate and its change", "plexor attack"},
    {"CLEVER and its change", "plexor clever"},
    {"accuracy on FGSM, BIM, PGD, DeepFool and JSMA inputs", "plexor attack"},
    {"accuracy on DH, DH-D, DH-N, DeepSensor and NSGen inputs", "plexor fuzz"},
    {"accuracy on DeepFault inputs", "plexor synthesize"},
    {"MR, ACAC, ACTC, ALD, ASS, PSD, NTE, RGB, RIC", "plexor assess"},
};
enum { MISSING_COUNT = sizeof missing / sizeof missing[0] };

/* With attacks and nothing added it is the mode of that name. */
static const char *mode_name(const px_repair_report *r)
{
    return r->adversary.method && r->added_count == 0 ? "adversarial" : px_mix_name(r->recipe.mix);
}

static void print_generated(const repair_generated *made)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    const px_failures_counts *n = &made->counts;
    if (!made->generator)
        return;
    cli_print("mutants  %s: %s of %s are wrong", made->generator, cli_number(n->wrong, a),
              cli_number(n->mutants, b));
    if (n->improving >= 0)
        cli_print(", %s of them raise neuron coverage %s", cli_number(n->improving, c),
                  made->pairwise ? "above their original's" : "of the training inputs");
    if (isfinite(n->coverage_before))
        cli_print(" (%.2f%% to %.2f%%)", 100.0 * n->coverage_before, 100.0 * n->coverage_after);
    cli_print("\n         kept %s: %s\n", px_failures_keep_name(made->keep),
              cli_number(n->kept, a));
}

void repair_print_plan(const px_repair_report *r, const px_repair_options *o,
                       const repair_generated *made)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_repair_recipe *recipe = &r->recipe;
    print_generated(made);
    if (r->added_count || r->held_out || !r->adversary.method)
        cli_print("added    %s to train on, %s held back\n", cli_number(r->added_count, a),
                  cli_number(r->held_out, b));
    if (r->added_count == 0 && !r->adversary.method)
        return;
    cli_print("recipe   %s, mode %s", recipe->entry.id, mode_name(r));
    if (recipe->mix == PX_MIX_FIXED)
        cli_print(" (%g of every batch)", recipe->share);
    if (recipe->mix != PX_MIX_ONLY)
        cli_print(", with %s inputs of the training set", cli_number(r->train_count, a));
    cli_print("\n         %s%s, lr %g, %s\n", recipe->optimizer,
              r->optimizer_guessed ? " (a guess: the network does not say its own)" : "",
              recipe->lr, recipe->schedule);
    cli_print("         %" PRId64 " epochs of %s steps of %" PRId64 " inputs, augment %s\n",
              recipe->epochs, cli_number(r->steps, a), recipe->batch,
              o->augment && *o->augment ? o->augment : "none");
    if (*recipe->chosen)
        cli_print("         not in the paper, chosen by plexor: %s\n", recipe->chosen);
    cli_print("norms    %s\n", r->norms_frozen
                                   ? "frozen: batch normalisation keeps its running statistics"
                                   : "trained: batch normalisation by the statistics of the batch");
    fflush(cli_out());
}

/* --- for people ------------------------------------------------------------------------------ */

static void cell_share(cli_table *table, double share)
{
    if (isfinite(share))
        cli_table_cell(table, "%.2f%%", 100.0 * share);
    else
        cli_table_cell(table, "-");
}

static void row_share(cli_table *table, const char *name, double before, double after)
{
    cli_table_cell(table, "%s", name);
    cell_share(table, before);
    cell_share(table, after);
    if (isfinite(before) && isfinite(after))
        cli_table_cell(table, "%+.2f", 100.0 * (after - before));
    else
        cli_table_cell(table, "-");
}

static void rows_of_set(cli_table *table, const char *name, const px_repair_set *set)
{
    char text[64];
    const px_eval_sum *m[] = {&set->eval[PX_BEFORE].all, &set->eval[PX_AFTER].all};
    if (set->count == 0)
        return;
    snprintf(text, sizeof text, "%s accuracy", name);
    row_share(table, text, m[PX_BEFORE]->accuracy, m[PX_AFTER]->accuracy);
    cli_table_cell(table, "  loss");
    for (int when = PX_BEFORE; when <= PX_AFTER; when++)
        cli_table_cell(table, "%.4f", m[when]->loss);
    cli_table_cell(table, "%+.4f", m[PX_AFTER]->loss - m[PX_BEFORE]->loss);
    row_share(table, "  confidence where right", m[PX_BEFORE]->confidence_right,
              m[PX_AFTER]->confidence_right);
    row_share(table, "  confidence where wrong", m[PX_BEFORE]->confidence_wrong,
              m[PX_AFTER]->confidence_wrong);
}

static void print_flips(const char *name, const px_repair_set *set)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    const px_mcnemar_result *m = &set->mcnemar;
    if (set->count == 0)
        return;
    cli_print("%-8s %s inputs: %s regressed (%.2f%%), %s fixed (%.2f%%)\n", name,
              cli_number(set->count, a), cli_number(set->regressions, b),
              100.0 * (double)set->regressions / (double)set->count, cli_number(set->fixed, c),
              100.0 * (double)set->fixed / (double)set->count);
    cli_print("         McNemar: chi2 %.2f, p %.3g; exact p %.3g%s\n", m->chi2, m->chi2_p,
              m->exact_p, m->exact ? " (few changed: this one counts)" : "");
    for (int when = PX_BEFORE; when <= PX_AFTER; when++)
        if (set->eval[when].all.lost)
            cli_print("         %s inputs have no prediction %s: their scores are not numbers\n",
                      cli_number(set->eval[when].all.lost, a),
                      when == PX_BEFORE ? "before" : "afterwards");
}

static void print_classes(const px_repair_report *r, const cli_classes *names)
{
    char buffer[CLI_NUMBER_TEXT];
    static const char *const titles[] = {"CLASS", "NAME", "INPUTS", "BEFORE", "AFTER", "POINTS"};
    cli_table *table = cli_table_new("rlrrrr");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (int c = 0; c < r->classes; c++) {
        const px_eval_class *was = &r->clean.eval[PX_BEFORE].by_class[c];
        const double before = was->accuracy;
        const double after = r->clean.eval[PX_AFTER].by_class[c].accuracy;
        cli_table_cell(table, "%d", c);
        cli_table_cell(table, "%s", cli_class_name(names, c, buffer));
        cli_table_cell(table, "%" PRId64, was->labelled);
        cell_share(table, before);
        cell_share(table, after);
        if (isfinite(before))
            cli_table_cell(table, "%+.2f", 100.0 * (after - before));
        else
            cli_table_cell(table, "-");
    }
    cli_print("\nclean test set by class\n");
    cli_table_print_free(table, "  ");
}

static void print_regressions(const px_repair_set *set, const cli_classes *names,
                              const repair_files *files)
{
    char name[256], buffer[CLI_NUMBER_TEXT];
    const px_predictions *after = &set->said[PX_AFTER];
    int64_t shown = 0;
    if (set->regressions == 0) {
        cli_print("\nno regressions: whatever was right still is\n");
        return;
    }
    static const char *const titles[] = {"INPUT", "LABEL", "NOW TAKEN FOR", "CONFIDENCE"};
    cli_table *table = cli_table_new("lllr");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (int64_t i = 0; i < set->count && shown < LIST_MOST; i++) {
        if (px_repair_flip(set, i) >= 0)
            continue;
        const int64_t now = after->predicted[i];
        cli_table_cell(table, "%s", px_dataset_name(set->set, set->index[i], name, sizeof name));
        cli_table_cell(table, "%s", cli_class_name(names, (int)after->label[i], buffer));
        cli_table_cell(table, "%s", now < 0 ? "-" : cli_class_name(names, (int)now, buffer));
        cell_share(table, (double)after->confidence[i]);
        shown++;
    }
    cli_print("\nregressions: right before, wrong now\n");
    cli_table_print_free(table, "  ");
    if (shown < set->regressions)
        cli_print("  and %" PRId64 " more%s%s%s\n", set->regressions - shown,
                  files->flips ? "; all of them are in '" : "", files->flips ? files->flips : "",
                  files->flips ? "'" : "");
}

/* One line, so that nobody takes what is not there for good news. */
static void print_missing(void)
{
    cli_print("\nnot measured:");
    for (int i = 0; i < MISSING_COUNT; i++)
        cli_print("%s %s (needs '%s')", i ? ";" : "", missing[i].what, missing[i].needs);
    cli_print("\n");
}

static void print_training(const px_repair_report *r)
{
    char steps[CLI_NUMBER_TEXT], time[CLI_NUMBER_TEXT], rate[CLI_NUMBER_TEXT];
    const px_train_result *t = &r->training;
    if (!r->trained) {
        cli_print("\nnothing was added, so nothing was trained: the network is as it was\n");
        return;
    }
    cli_print("\ntrained %" PRId64
              " epochs, %s steps in %s, %s inputs per second; last loss %.4f\n",
              t->epochs, cli_number(t->steps, steps), cli_duration(t->seconds, time),
              cli_metric(t->images_per_s, rate), t->loss);
    if (t->halvings)
        cli_print("the loss was not a number %" PRId64
                  " time%s: back to the start of the epoch with "
                  "half the learning rate\n",
                  t->halvings, t->halvings == 1 ? "" : "s");
    if (t->best_epoch)
        cli_print("kept epoch %" PRId64 ", best on the validation inputs: %.2f%%\n", t->best_epoch,
                  100.0 * t->best_accuracy);
}

void repair_print_report(const px_repair_report *r, const cli_classes *names,
                         const repair_files *files)
{
    print_training(r);
    cli_table *table = cli_table_new("lrrr");
    static const char *const titles[] = {"", "BEFORE", "AFTER", "CHANGE"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    rows_of_set(table, "clean", &r->clean);
    rows_of_set(table, "failing", &r->failing);
    rows_of_set(table, "robust", &r->robust);
    cli_print("\n");
    cli_table_print_free(table, "");
    cli_print("\n");
    print_flips("clean", &r->clean);
    print_flips("failing", &r->failing);
    print_flips("robust", &r->robust);
    if (r->failing.count == 0 && r->robust.count == 0)
        cli_print("failing  no inputs to judge on; see --hold-out and --failing\n");
    print_classes(r, names);
    print_regressions(&r->clean, names, files);
    print_missing();
    cli_print("\nverdict  %s%s\n", px_repair_verdict_name(r->verdict),
              r->verdict == PX_REPAIR_REGRESSED
                  ? ": more than one point of accuracy on the clean test set was lost"
                  : "");
    cli_print("wrote    '%s'", files->out);
    if (files->flips)
        cli_print(" and '%s'", files->flips);
    cli_print("\n");
}

/* --- as JSON --------------------------------------------------------------------------------- */

static void json_generated(px_json *json, const repair_generated *made)
{
    const px_failures_counts *n = &made->counts;
    if (!made->generator)
        return;
    px_json_object(json, "generated");
    px_json_string(json, "generator", made->generator);
    px_json_string(json, "keep", px_failures_keep_name(made->keep));
    px_json_bool(json, "pairwise", made->pairwise);
    px_json_int(json, "mutants", n->mutants);
    px_json_int(json, "wrong", n->wrong);
    if (n->improving >= 0)
        px_json_int(json, "improving", n->improving);
    px_json_int(json, "kept", n->kept);
    px_json_real(json, "coverage_before", n->coverage_before);
    px_json_real(json, "coverage_after", n->coverage_after);
    px_json_end(json);
}

static void json_recipe(px_json *json, const px_repair_report *r, const px_repair_options *o,
                        const repair_generated *made)
{
    const px_repair_recipe *recipe = &r->recipe;
    px_json_string(json, "recipe", recipe->entry.id);
    px_json_string(json, "mode", mode_name(r));
    if (recipe->mix == PX_MIX_FIXED)
        px_json_real(json, "share", recipe->share);
    px_json_string(json, "optimizer", recipe->optimizer);
    px_json_bool(json, "optimizer_guessed", r->optimizer_guessed);
    px_json_real(json, "lr", recipe->lr);
    px_json_string(json, "schedule", recipe->schedule);
    px_json_int(json, "epochs", recipe->epochs);
    px_json_int(json, "batch", recipe->batch);
    px_json_string(json, "augment", o->augment ? o->augment : "");
    px_json_string(json, "norms", r->norms_frozen ? "frozen" : "trained");
    px_json_string(json, "freeze", o->freeze);
    px_json_int(json, "seed", (int64_t)o->seed);
    px_json_int(json, "train_count", r->train_count);
    px_json_int(json, "added_count", r->added_count);
    px_json_int(json, "held_out", r->held_out);
    json_generated(json, made);
    cli_adversary_json(&r->adversary, json);
}

void repair_json_origin(px_json *json, const px_repair_report *r, const px_repair_options *o,
                        const repair_generated *made)
{
    char hash[32];
    px_json_object(json, NULL);
    px_json_string(json, "plexor", px_version());
    snprintf(hash, sizeof hash, "%016" PRIx64, px_model_hash(o->model));
    px_json_string(json, "from", hash);
    json_recipe(json, r, o, made);
    px_json_end(json);
}

/* "clean" and "failing" are accuracies, as scripts expect; details stand beside them. */
static void json_when(px_json *json, const char *key, const px_repair_report *r, int when)
{
    static const char *const names[] = {"clean", "failing", "robust"};
    const px_repair_set *const sets[] = {&r->clean, &r->failing, &r->robust};
    const int count = r->robust.count ? 3 : 2;
    px_json_object(json, key);
    for (int i = 0; i < count; i++)
        px_json_real(json, names[i],
                     sets[i]->count ? sets[i]->eval[when].all.accuracy : (double)NAN);
    for (int i = 0; i < count; i++) {
        const px_eval_sum *m = &sets[i]->eval[when].all;
        char text[32];
        if (sets[i]->count == 0)
            continue;
        snprintf(text, sizeof text, "%s_details", names[i]);
        px_json_object(json, text);
        px_json_int(json, "count", m->count);
        px_json_int(json, "correct", m->correct);
        px_json_int(json, "not_numbers", m->lost);
        px_json_real(json, "loss", m->loss);
        px_json_real(json, "confidence_right", m->confidence_right);
        px_json_real(json, "confidence_wrong", m->confidence_wrong);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_test(px_json *json, const char *key, const px_repair_set *set)
{
    if (set->count == 0) {
        px_json_null(json, key);
        return;
    }
    px_json_object(json, key);
    px_json_int(json, "regressions", set->regressions);
    px_json_int(json, "fixed", set->fixed);
    px_json_real(json, "chi2", set->mcnemar.chi2);
    px_json_real(json, "chi2_p", set->mcnemar.chi2_p);
    px_json_real(json, "exact_p", set->mcnemar.exact_p);
    px_json_real(json, "p", set->mcnemar.p);
    px_json_end(json);
}

static void json_regressions(px_json *json, const px_repair_set *set)
{
    char name[4096];
    const px_predictions *after = &set->said[PX_AFTER];
    px_json_array(json, "regressed_inputs");
    for (int64_t i = 0; i < set->count; i++) {
        if (px_repair_flip(set, i) >= 0)
            continue;
        px_json_object(json, NULL);
        px_json_int(json, "index", px_dataset_index(set->set, set->index[i]));
        px_json_string(json, "name", px_dataset_name(set->set, set->index[i], name, sizeof name));
        px_json_int(json, "label", after->label[i]);
        px_json_int(json, "prediction", after->predicted[i]);
        px_json_real(json, "confidence", (double)after->confidence[i]);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_classes(px_json *json, const px_repair_report *r, const cli_classes *names)
{
    char buffer[CLI_NUMBER_TEXT];
    const px_eval *before = &r->clean.eval[PX_BEFORE], *after = &r->clean.eval[PX_AFTER];
    px_json_array(json, "per_class");
    for (int c = 0; c < r->classes; c++) {
        px_json_object(json, NULL);
        px_json_int(json, "class", c);
        px_json_string(json, "name", cli_class_name(names, c, buffer));
        px_json_int(json, "count", before->by_class[c].labelled);
        px_json_real(json, "before", before->by_class[c].accuracy);
        px_json_real(json, "after", after->by_class[c].accuracy);
        px_json_end(json);
    }
    px_json_end(json);
}

void repair_json_report(px_json *json, const px_repair_report *r, const px_repair_options *o,
                        const repair_generated *made, const cli_classes *names,
                        const repair_files *files)
{
    json_recipe(json, r, o, made);
    px_json_string(json, "output", files->out);
    px_json_string(json, "flips", files->flips);
    px_json_bool(json, "trained", r->trained);
    if (r->trained) {
        px_json_real(json, "train_loss", r->training.loss);
        px_json_real(json, "train_accuracy", r->training.accuracy);
        px_json_int(json, "halvings", r->training.halvings);
        px_json_int(json, "best_epoch", r->training.best_epoch);
        px_json_real(json, "images_per_s", r->training.images_per_s);
        px_json_real(json, "seconds", r->training.seconds);
    }
    px_json_int(json, "overlap", r->overlap);
    json_when(json, "before", r, PX_BEFORE);
    json_when(json, "after", r, PX_AFTER);
    px_json_int(json, "regressions", r->clean.regressions);
    px_json_int(json, "fixed", r->clean.fixed);
    json_test(json, "clean", &r->clean);
    json_test(json, "failing", &r->failing);
    if (r->robust.count)
        json_test(json, "robust", &r->robust);
    json_classes(json, r, names);
    json_regressions(json, &r->clean);
    px_json_string(json, "verdict", px_repair_verdict_name(r->verdict));
    px_json_object(json, "not_measured");
    for (int i = 0; i < MISSING_COUNT; i++)
        px_json_string(json, missing[i].what, missing[i].needs);
    px_json_end(json);
}
