/* src/cli/repair_print.c - the report of a repair, for people and as JSON (LGR F.4) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repair_print.h"
#include "cli/cli_adversary.h"
#include "cli/cli_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LIST_MOST = 20 }; /* regressions on a screen */

/* Parts of the report that other commands measure. */
typedef struct repair_missing {
    const char *what, *needs;
} repair_missing;

static const repair_missing missing[] = {
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

static void print_regressions(const repair_result *result)
{
    const px_repair_set *clean = &result->r.clean;
    const char *flips = result->files.flips;
    if (clean->regressions == 0) {
        cli_print("\nno regressions: whatever was right still is\n");
        return;
    }
    cli_print("\nregressions: right before, wrong now\n");
    cli_print_list(repair_fields, "regressed_inputs", result, "  ", LIST_MOST);
    if (clean->regressions > LIST_MOST)
        cli_print("  and %" PRId64 " more%s%s%s\n", clean->regressions - LIST_MOST,
                  flips ? "; all of them are in '" : "", flips ? flips : "", flips ? "'" : "");
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
                  " time%s: back to the start of the epoch with half the learning rate\n",
                  t->halvings, t->halvings == 1 ? "" : "s");
    if (t->best_epoch)
        cli_print("kept epoch %" PRId64 ", best on the validation inputs: %.2f%%\n", t->best_epoch,
                  100.0 * t->best_accuracy);
}

void repair_print_report(const void *of)
{
    const repair_result *result = of;
    const px_repair_report *r = &result->r;
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
    cli_print("\nclean test set by class\n");
    cli_print_list(repair_fields, "per_class", result, "  ", 0);
    print_regressions(result);
    print_missing();
    cli_print("\nverdict  %s%s\n", px_repair_verdict_name(r->verdict),
              r->verdict == PX_REPAIR_REGRESSED
                  ? ": more than one point of accuracy on the clean test set was lost"
                  : "");
    cli_print("wrote    '%s'", result->files.out);
    if (result->files.flips)
        cli_print(" and '%s'", result->files.flips);
    cli_print("\n");
}

/* --- what a result is made of ---------------------------------------------------------------- */

static const char *const norm_names[] = {"trained", "frozen", NULL};

static const px_field generated_fields[] = {
    PX_FIELD(repair_result, made.generator, "generator", "what made the inputs that were added"),
    PX_FIELD(repair_result, keep, "keep", "which of them"),
    PX_FIELD(repair_result, made.pairwise, "pairwise", "coverage is compared with the original's"),
    PX_FIELD(repair_result, made.counts.mutants, "mutants", "that were made"),
    PX_FIELD(repair_result, made.counts.wrong, "wrong", "of them"),
    PX_INDEX(repair_result, made.counts.improving, "improving", "wrong ones that raise coverage",
             .optional = true),
    PX_FIELD(repair_result, made.counts.kept, "kept", "inputs"),
    PX_FIELD(repair_result, made.counts.coverage_before, "coverage_before",
             "of neurons, by the training inputs", .unit = PX_SHARE),
    PX_FIELD(repair_result, made.counts.coverage_after, "coverage_after", "and what was kept",
             .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field recipe_fields[] = {
    PX_FIELD(repair_result, r.recipe.entry.id, "recipe", "its id"),
    PX_FIELD(repair_result, mode, "mode", "how added inputs and others are mixed"),
    PX_FIELD(repair_result, r.recipe.share, "share", "of added inputs in every batch",
             .unit = PX_SHARE, PX_IF(repair_result, has_share)),
    PX_FIELD(repair_result, r.recipe.optimizer, "optimizer", "that trained"),
    PX_FIELD(repair_result, r.optimizer_guessed, "optimizer_guessed",
             "the network does not say what it was trained with"),
    PX_FIELD(repair_result, r.recipe.lr, "lr", "learning rate"),
    PX_FIELD(repair_result, r.recipe.schedule, "schedule", "of the learning rate"),
    PX_FIELD(repair_result, r.recipe.epochs, "epochs", "to train"),
    PX_FIELD(repair_result, r.recipe.batch, "batch", "inputs of a step"),
    PX_FIELD(repair_result, augment, "augment", "changes to inputs"),
    PX_CHOICE(repair_result, r.norms_frozen, norm_names, "norms", "what batch normalisation does"),
    PX_FIELD(repair_result, o.freeze, "freeze", "layers whose weights stay; null: none"),
    PX_FIELD(repair_result, o.seed, "seed", "of everything random"),
    PX_FIELD(repair_result, r.train_count, "train_count", "training inputs"),
    PX_FIELD(repair_result, r.added_count, "added_count", "inputs that were added to them"),
    PX_FIELD(repair_result, r.held_out, "held_out", "inputs that were not, to judge on"),
    PX_OBJECT_OF(generated_fields, "generated", "where they are from",
                 PX_IF(repair_result, made.generator)),
    PX_OBJECT(repair_result, r.adversary, cli_adversary_fields, ""),
    PX_FIELDS_END,
};

const px_field repair_origin_fields[] = {
    PX_FIELD(repair_result, version, "plexor", "its version"),
    PX_HASH(repair_result, origin.model_hash, "from", "of the network before"),
    PX_OBJECT_OF(recipe_fields, ""),
    PX_FIELDS_END,
};

static const px_field training_fields[] = {
    PX_FIELD(repair_result, r.training.loss, "train_loss", "of the last epoch"),
    PX_FIELD(repair_result, r.training.accuracy, "train_accuracy", "of the last epoch",
             .unit = PX_SHARE),
    PX_FIELD(repair_result, r.training.halvings, "halvings", "of the learning rate"),
    PX_FIELD(repair_result, r.training.best_epoch, "best_epoch", "that was kept; 0: the last"),
    PX_FIELD(repair_result, r.training.images_per_s, "images_per_s", "in training"),
    PX_FIELD(repair_result, r.training.seconds, "seconds", "of training steps", .unit = "s"),
    PX_FIELDS_END,
};

static const px_field details_fields[] = {
    PX_FIELD(px_eval_sum, count, "count", "inputs"),
    PX_FIELD(px_eval_sum, correct, "correct", "of them, right"),
    PX_FIELD(px_eval_sum, lost, "not_numbers", "inputs whose scores are not numbers"),
    PX_FIELD(px_eval_sum, loss, "loss", "mean cross-entropy"),
    PX_FIELD(px_eval_sum, confidence_right, "confidence_right", "mean where it is right"),
    PX_FIELD(px_eval_sum, confidence_wrong, "confidence_wrong", "mean where it is wrong"),
    PX_FIELDS_END,
};

/* "clean" and "failing" are accuracies, as scripts expect; details stand beside them. */
static const px_field when_fields[] = {
    PX_FIELD(repair_when, accuracy[0], "clean", "accuracy on the test set", .unit = PX_SHARE),
    PX_FIELD(repair_when, accuracy[1], "failing", "on failing inputs; null: there are none",
             .unit = PX_SHARE),
    PX_FIELD(repair_when, accuracy[2], "robust", "on the test set under attack", .unit = PX_SHARE,
             .optional = true),
    PX_OBJECT_AT(repair_when, details[0], details_fields, "clean_details", "of the test set",
                 .optional = true),
    PX_OBJECT_AT(repair_when, details[1], details_fields, "failing_details", "of failing inputs",
                 .optional = true),
    PX_OBJECT_AT(repair_when, details[2], details_fields, "robust_details", "under attack",
                 .optional = true),
    PX_FIELDS_END,
};

static const px_field test_fields[] = {
    PX_FIELD(px_repair_set, regressions, "regressions", "right before, wrong after"),
    PX_FIELD(px_repair_set, fixed, "fixed", "wrong before, right after"),
    PX_FIELD(px_repair_set, mcnemar.chi2, "chi2", "of McNemar's test"),
    PX_FIELD(px_repair_set, mcnemar.chi2_p, "chi2_p", "by it"),
    PX_FIELD(px_repair_set, mcnemar.exact_p, "exact_p", "by the binomial test"),
    PX_FIELD(px_repair_set, mcnemar.p, "p", "the exact one where few changed"),
    PX_FIELDS_END,
};

typedef struct class_row {
    int class;
    const char *name;
    int64_t count;
    double before, after, points;
    char number[CLI_NUMBER_TEXT];
} class_row;

static const void *class_get(const void *of, size_t i, void *place)
{
    const repair_result *result = of;
    class_row *row = place;
    if (i >= (size_t)result->r.classes)
        return NULL;
    const px_eval_class *before = &result->r.clean.eval[PX_BEFORE].by_class[i];
    row->class = (int)i;
    row->name = cli_class_name(&result->names, row->class, row->number);
    row->count = before->labelled;
    row->before = before->accuracy;
    row->after = result->r.clean.eval[PX_AFTER].by_class[i].accuracy;
    row->points = 100.0 * (row->after - row->before);
    return row;
}

static const px_field class_fields[] = {
    PX_FIELD(class_row, class, "class", "its number", .title = "CLASS"),
    PX_FIELD(class_row, name, "name", "of the class", .title = "NAME"),
    PX_FIELD(class_row, count, "count", "inputs with that label", .title = "INPUTS"),
    PX_FIELD(class_row, before, "before", "accuracy", .title = "BEFORE", .unit = PX_SHARE,
             .format = "%.2f%%"),
    PX_FIELD(class_row, after, "after", "accuracy", .title = "AFTER", .unit = PX_SHARE,
             .format = "%.2f%%"),
    PX_FIELD(class_row, points, NULL, NULL, .title = "POINTS", .format = "%+.2f"),
    PX_FIELDS_END,
};

typedef struct flip_row {
    int64_t at, index, label, prediction;
    double confidence;
    const char *label_name, *prediction_name;
    char name[4096], numbers[2][CLI_NUMBER_TEXT];
} flip_row;

static const void *flip_get(const void *of, size_t i, void *place)
{
    const repair_result *result = of;
    const px_repair_set *set = &result->r.clean;
    const px_predictions *after = &set->said[PX_AFTER];
    flip_row *row = place;
    row->at = i ? row->at + 1 : 0;
    while (row->at < set->count && px_repair_flip(set, row->at) >= 0)
        row->at++;
    if (row->at >= set->count)
        return NULL;
    row->index = px_dataset_index(set->set, set->index[row->at]);
    px_dataset_name(set->set, set->index[row->at], row->name, sizeof row->name);
    row->label = after->label[row->at];
    row->prediction = after->predicted[row->at];
    row->confidence = (double)after->confidence[row->at];
    row->label_name = cli_class_name(&result->names, (int)row->label, row->numbers[0]);
    row->prediction_name =
        row->prediction < 0 ? NULL
                            : cli_class_name(&result->names, (int)row->prediction, row->numbers[1]);
    return row;
}

static const px_field flip_fields[] = {
    PX_FIELD(flip_row, index, "index", "in the data"),
    PX_CHARS(flip_row, name, "name", "of the input", .title = "INPUT"),
    PX_FIELD(flip_row, label, "label", "its class"),
    PX_FIELD(flip_row, label_name, NULL, NULL, .title = "LABEL"),
    PX_FIELD(flip_row, prediction, "prediction", "afterwards; -1: none"),
    PX_FIELD(flip_row, prediction_name, NULL, NULL, .title = "NOW TAKEN FOR"),
    PX_FIELD(flip_row, confidence, "confidence", "of it", .title = "CONFIDENCE", .unit = PX_SHARE,
             .format = "%.2f%%"),
    PX_FIELDS_END,
};

static const void *missing_get(const void *of, size_t i, void *place)
{
    (void)of;
    (void)place;
    return i < MISSING_COUNT ? &missing[i] : NULL;
}

static const px_field missing_fields[] = {
    PX_FIELD(repair_missing, what, "what", "that is not here"),
    PX_FIELD(repair_missing, needs, "", "the command that measures it"),
    PX_FIELDS_END,
};

const px_field repair_fields[] = {
    PX_OBJECT(repair_result, origin, cli_origin_fields, ""),
    PX_OBJECT_OF(recipe_fields, ""),
    PX_FIELD(repair_result, files.out, "output", "file of the repaired network"),
    PX_FIELD(repair_result, files.flips, "flips", "file of what changed; null: none"),
    PX_FIELD(repair_result, r.trained, "trained", "there was something to train on"),
    PX_OBJECT_OF(training_fields, "", PX_IF(repair_result, r.trained)),
    PX_FIELD(repair_result, r.overlap, "overlap", "test inputs left out: they were added"),
    PX_OBJECT(repair_result, when[PX_BEFORE], when_fields, "before", "the repair"),
    PX_OBJECT(repair_result, when[PX_AFTER], when_fields, "after", "it"),
    PX_FIELD(repair_result, r.clean.regressions, "regressions", "on the test set"),
    PX_FIELD(repair_result, r.clean.fixed, "fixed", "on the test set"),
    PX_OBJECT_AT(repair_result, sets[0], test_fields, "clean", "changes on the test set"),
    PX_OBJECT_AT(repair_result, sets[1], test_fields, "failing", "on failing inputs; null: none"),
    PX_OBJECT_AT(repair_result, sets[2], test_fields, "robust", "under attack", .optional = true),
    PX_LIST_MADE(class_get, class_fields, "per_class", "of the test set"),
    PX_LIST_MADE(flip_get, flip_fields, "regressed_inputs", "of the test set"),
    PX_FIELD(repair_result, verdict, "verdict", "unchanged, regressed, repaired or not repaired"),
    PX_MAP_MADE(missing_get, missing_fields, "not_measured", "what other commands measure"),
    PX_FIELDS_END,
};

repair_result repair_result_make(const px_repair_report *r, const px_repair_options *o,
                                 const repair_generated *made, const cli_classes *names,
                                 const repair_files *files)
{
    repair_result result = {.origin = cli_origin_of(o->model, o->test.set),
                            .r = *r,
                            .o = *o,
                            .made = *made,
                            .names = *names,
                            .files = *files,
                            .version = px_version(),
                            .mode = mode_name(r),
                            .augment = o->augment ? o->augment : "",
                            .keep = px_failures_keep_name(made->keep),
                            .verdict = px_repair_verdict_name(r->verdict),
                            .has_share = r->recipe.mix == PX_MIX_FIXED};
    const px_repair_set *const sets[] = {&r->clean, &r->failing, &r->robust};
    for (int i = 0; i < REPAIR_SETS; i++) {
        result.sets[i] = sets[i]->count ? sets[i] : NULL;
        for (int when = PX_BEFORE; when <= PX_AFTER; when++) {
            const px_eval_sum *all = &sets[i]->eval[when].all;
            result.when[when].accuracy[i] = sets[i]->count ? all->accuracy : (double)NAN;
            result.when[when].details[i] = sets[i]->count ? all : NULL;
        }
    }
    return result;
}
