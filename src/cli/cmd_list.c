/* src/cli/cmd_list.c - plexor list [WHAT] */
#include "cli/cli.h"
#include "cli/cli_terms.h"
#include "cli/list_audio.h"
#include "cli/list_entries.h"
#include "cli/list_gates.h"
#include "cli/list_ids.h"
#include "cli/list_metrics.h"
#include "cli/list_mutations.h"
#include "cli/list_preprocess.h"
#include "cli/list_presets.h"
#include "cli/list_studies.h"
#include "cli/localize_print.h"

#include <plexor/arch.h>
#include <plexor/optimizer.h>
#include <plexor/probe.h>
#include <plexor/repair.h>
#include <stdio.h>
#include <string.h>

typedef struct list_row {
    const char *name, *help;
} list_row;

static const list_row layers[] = {
    {"all", "every layer"},
    {"hidden", "all but the logits layer and what follows it (default)"},
    {"conv", "layers with spatial extent"},
    {"dense", "layers without"},
    {"recurrent", "time steps of RNN, GRU and LSTM"},
    {"stages", "the last convolution of every spatial size; below three sizes: all of them"},
    {"last-encoder", "the last layer with spatial extent; if there is none, the last hidden one"},
    {"last-hidden", "the layer before the logits"},
    {"logits", "the class scores"},
    {"NAME", "a layer by name, or by a glob such as 'layer3.*'"},
    {"#I", "a layer by position, counted from 0"},
    {"!X", "without X"},
    {NULL, NULL},
};

static const list_row taps[] = {
#define LIST_ROW(enumerator, id, help) {id, help},
    PX_TAPS(LIST_ROW){NULL, NULL},
};

static const list_row neurons[] = {
    PX_VIEWS(LIST_ROW){"deepxplore", "layers, tap and view as DeepXplore counts neurons"},
    {NULL, NULL},
};

static const list_row data[] = {
    {"FOLDER",
     "class sub-folders of PNG, JPEG, WAV or FLAC; IDX files (.gz too); CIFAR-10/100 binaries"},
    {"FOLDER::PATTERN",
     "labels from names of files, here or in an ARCHIVE: '{digit}_{label}_{test:0-4}'"},
    {"CAMPAIGN", "a folder that holds campaign.db: its failures (--split faults), or --split close "
                 "(failures close to their originals), kept, seeds, generated, all"},
    {"FILE.npz, .npy", "arrays of inputs, with labels in an NPZ"},
    {"FILE.csv", "a manifest: path,label"},
    {"ARCHIVE", ".zip or .tar (compressed too) of any of those"},
    {"fashion-mnist", "Debian package dataset-fashion-mnist"},
    {"noise:CxHxW[:SEED]",
     "inputs without meaning, as a baseline: every value uniform over 0..255"},
    {"digits", "ten procedural digits, 28x28, made on the spot"},
    {NULL, NULL},
};

static void list_json_rows(px_json *json, const char *key, const list_row *rows)
{
    px_json_array(json, key);
    for (; rows->name; rows++) {
        px_json_object(json, NULL);
        px_json_string(json, "name", rows->name);
        px_json_string(json, "help", rows->help);
        px_json_end(json);
    }
    px_json_end(json);
}

static void list_json_choices(px_json *json, const char *key, const px_choice *(*choices)(size_t))
{
    px_json_array(json, key);
    for (size_t i = 0; choices(i); i++) {
        const px_choice *choice = choices(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", choice->name);
        px_json_string(json, "usage", choice->usage);
        px_json_string(json, "help", choice->help);
        px_json_array(json, "settings");
        for (const px_setting *s = choice->settings; s && s->name; s++) {
            px_json_object(json, NULL);
            px_json_string(json, "name", s->name);
            px_json_real(json, "default", s->standard);
            px_json_real(json, "least", s->least);
            px_json_real(json, "most", s->most);
            px_json_string(json, "help", s->help);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

/* Each choice, and its settings with their defaults below it. */
static void list_print_choices(const px_choice *(*choices)(size_t))
{
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; choices(i); i++) {
        cli_table_cell(table, "%s", choices(i)->usage);
        cli_table_cell(table, "%s", choices(i)->help);
        for (const px_setting *s = choices(i)->settings; s && s->name; s++) {
            char number[PX_REAL_TEXT];
            cli_table_cell(table, "  %s=%s", s->name, px_real_text(s->standard, number));
            cli_table_cell(table, "  %s", s->help);
        }
    }
    cli_table_print_free(table, "");
}

static void list_json_ops(px_json *json)
{
    px_json_array(json, "ops");
    for (size_t i = 0; i < px_operator_count(); i++) {
        const px_operator op = px_operator_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", op.name);
        px_json_string(json, "domain", op.domain);
        px_json_int(json, "since", op.since);
        px_json_string(json, "gradient", op.gradient);
        px_json_end(json);
    }
    px_json_end(json);
}

static void list_print_ops(void)
{
    cli_table *table = cli_table_new("lll");
    cli_table_cell(table, "OPERATOR");
    cli_table_cell(table, "SINCE OPSET");
    cli_table_cell(table, "GRADIENT");
    const size_t count = px_operator_count();
    for (size_t i = 0; i < count;) {
        const px_operator op = px_operator_get(i);
        px_text versions = {0};
        px_operator last = op;
        for (; i < count; i++) {
            const px_operator next = px_operator_get(i);
            if (strcmp(next.name, op.name) != 0 || strcmp(next.domain, op.domain) != 0)
                break;
            px_text_format(&versions, "%s%d", versions.length ? ", " : "", next.since);
            last = next;
        }
        cli_table_cell(table, "%s%s%s", op.domain, *op.domain ? "." : "", op.name);
        cli_table_cell(table, "%s", px_text_get(&versions));
        cli_table_cell(table, "%s", last.gradient);
        px_text_done(&versions);
    }
    cli_table_print_free(table, "");
}

static void list_json_archs(px_json *json)
{
    px_json_array(json, "archs");
    for (size_t i = 0; i < px_arch_count(); i++) {
        const px_arch arch = px_arch_get(i);
        int64_t parameters = 0, statistics = 0;
        px_arch_parameters(arch.name, NULL, &parameters, &statistics, NULL);
        px_json_object(json, NULL);
        px_json_string(json, "name", arch.name);
        px_json_string(json, "family", arch.family);
        px_json_int(json, "parameters", parameters);
        px_json_int(json, "statistics", statistics);
        px_json_int(json, "channels", arch.channels);
        px_json_int(json, "height", arch.height);
        px_json_int(json, "width", arch.width);
        px_json_int(json, "classes", arch.classes);
        px_json_string(json, "help", arch.help);
        px_json_end(json);
    }
    px_json_end(json);
}

static void list_print_archs(void)
{
    cli_table *table = cli_table_new("lrlrl");
    cli_table_cell(table, "NETWORK");
    cli_table_cell(table, "PARAMETERS");
    cli_table_cell(table, "INPUT");
    cli_table_cell(table, "CLASSES");
    cli_table_cell(table, "WHAT IT IS");
    for (size_t i = 0; i < px_arch_count(); i++) {
        const px_arch arch = px_arch_get(i);
        char number[CLI_NUMBER_TEXT];
        int64_t parameters = 0;
        px_arch_parameters(arch.name, NULL, &parameters, NULL, NULL);
        cli_table_cell(table, "%s", arch.name);
        cli_table_cell(table, "%s", cli_number(parameters, number));
        cli_table_cell(table, "%dx%dx%d", arch.channels, arch.height, arch.width);
        cli_table_cell(table, "%d", arch.classes);
        cli_table_cell(table, "%s%s%s", strcmp(arch.family, arch.name) ? arch.family : "",
                       strcmp(arch.family, arch.name) ? ": " : "", arch.help);
    }
    cli_table_print_free(table, "");
}

/* What is returned lasts until the next call. */
static const px_choice *list_augmentation(size_t i)
{
    static px_choice choice;
    if (i >= px_augmentation_count())
        return NULL;
    const px_augmentation a = px_augmentation_get(i);
    choice = (px_choice){.name = a.name, .usage = a.usage, .help = a.help};
    return &choice;
}

static const char *recipe_optimizer(const px_repair_recipe *r)
{
    return r->optimizer ? r->optimizer : "the network's own";
}

static void list_json_recipes(px_json *json)
{
    px_json_array(json, "recipes");
    for (size_t i = 0; i < px_repair_recipe_count(); i++) {
        const px_repair_recipe *r = px_repair_recipe_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", r->name);
        px_json_string(json, "help", r->help);
        px_json_string(json, "mode", px_mix_name(r->mix));
        px_json_string(json, "optimizer", r->optimizer);
        px_json_real(json, r->optimizer ? "lr" : "lr_factor", r->lr);
        px_json_string(json, "schedule", r->schedule);
        px_json_int(json, "epochs", r->epochs);
        px_json_int(json, "batch", r->batch);
        px_json_int(json, "train_limit", r->train_limit);
        px_json_int(json, "add_limit", r->add_limit);
        px_json_string(json, "chosen", r->chosen);
        px_json_end(json);
    }
    px_json_end(json);
}

static void list_print_recipes(void)
{
    static const char *const titles[] = {"RECIPE",   "MODE",   "OPTIMIZER", "LR",
                                         "SCHEDULE", "EPOCHS", "BATCH",     "WHAT IT IS"};
    cli_table *table = cli_table_new("lllrlrrl");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_repair_recipe_count(); i++) {
        const px_repair_recipe *r = px_repair_recipe_get(i);
        cli_table_cell(table, "%s", r->name);
        cli_table_cell(table, "%s", px_mix_name(r->mix));
        cli_table_cell(table, "%s", recipe_optimizer(r));
        cli_table_cell(table, r->optimizer ? "%g" : "x %g", r->lr);
        cli_table_cell(table, "%s", r->schedule);
        cli_table_cell(table, "%lld", (long long)r->epochs);
        cli_table_cell(table, "%lld", (long long)r->batch);
        cli_table_cell(table, "%s", r->help);
    }
    cli_table_print_free(table, "");
}

static const struct {
    const char *name, *help;
    const list_row *rows; /* rows, choices, entries or both functions */
    const px_choice *(*choices)(size_t i);
    const list_entries *entries;
    void (*print)(void);
    void (*json)(px_json *json);
    const char *(*id)(size_t i); /* of what has functions; NULL: there are no more */
} lists[] = {
    {.name = "ops",
     .help = "ONNX operators, since which opset, and whether they have a gradient",
     .print = list_print_ops,
     .json = list_json_ops,
     .id = list_id_operator},
    {.name = "layers", .help = "what --layers takes; several are joined by commas", .rows = layers},
    {.name = "taps", .help = "what --tap takes", .rows = taps},
    {.name = "neurons", .help = "what --neurons takes", .rows = neurons},
    {.name = "criteria",
     .help = "what 'cover' measures, with settings and where it comes from",
     .entries = &list_criteria},
    {.name = "presets",
     .help = "the papers' own settings of criteria",
     .print = list_print_presets,
     .json = list_json_presets,
     .id = list_id_preset},
    {.name = "measures",
     .help = "how suspicious neurons are, for localize",
     .print = list_print_measures,
     .json = list_json_measures,
     .id = list_id_measure},
    {.name = "mutations",
     .help =
         "changes that should leave a picture's meaning alone, their parameters, and sets of them",
     .print = list_print_mutations,
     .json = list_json_mutations,
     .id = list_id_mutation},
    {.name = "engines",
     .help = "how 'fuzz' searches, with settings and where it comes from",
     .entries = &list_engines},
    {.name = "policies",
     .help = "published schedules, energies and rules of validity of engine loop",
     .print = list_print_policies,
     .json = list_json_policies,
     .id = list_id_policy},
    {.name = "selectors",
     .help = "what 'select' ranks by, with settings and where it comes from",
     .entries = &list_selectors},
    {.name = "attacks",
     .help = "what 'attack' runs, with settings and where it comes from",
     .entries = &list_attacks},
    {.name = "metrics",
     .help = "what 'assess' measures, which way is better, and where it is defined",
     .print = list_print_metrics,
     .json = list_json_metrics,
     .id = list_id_metric},
    {.name = "gates",
     .help = "what 'check --fail-under' takes, and which way it must lie",
     .print = list_print_gates,
     .json = list_json_gates,
     .id = list_id_gate},
    {.name = "terms",
     .help = "plexor's words, and what the heads of its tables stand for",
     .print = list_print_terms,
     .json = list_json_terms},
    {.name = "studies",
     .help = "papers that 'study' replicates, what of them can be run apart, and their data",
     .print = list_print_studies,
     .json = list_json_studies,
     .id = list_id_study},
    {.name = "archs",
     .help = "networks that plexor makes itself, and their parameters",
     .print = list_print_archs,
     .json = list_json_archs,
     .id = list_id_arch},
    {.name = "optimizers",
     .help = "what moves weights in training, and its settings",
     .choices = px_optimizer_choice},
    {.name = "schedules",
     .help = "how the learning rate goes over a run",
     .choices = px_schedule_choice},
    {.name = "losses", .help = "what training makes smaller", .choices = px_loss_choice},
    {.name = "augmentations",
     .help = "what --augment takes; several are joined by commas",
     .choices = list_augmentation},
    {.name = "recipes",
     .help = "how the papers retrain, for repair",
     .print = list_print_recipes,
     .json = list_json_recipes,
     .id = list_id_recipe},
    {.name = "audio",
     .help = "what --audio takes: settings of the features of recordings, and their defaults",
     .print = list_print_audio,
     .json = list_json_audio,
     .id = list_id_audio},
    {.name = "preprocess",
     .help = "what --preprocess takes: how pixels become a network's input",
     .print = list_print_preprocess,
     .json = list_json_preprocess,
     .id = list_id_preprocess},
    {.name = "data", .help = "what --data takes", .rows = data},
};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

const char *list_name(size_t i)
{
    return i < LIST_COUNT ? lists[i].name : NULL;
}

static const char *list_id(size_t list, size_t i)
{
    if (lists[list].id)
        return lists[list].id(i);
    if (lists[list].choices)
        return lists[list].choices(i) ? lists[list].choices(i)->name : NULL;
    if (lists[list].entries)
        return i < lists[list].entries->count() ? lists[list].entries->get(i).id : NULL;
    return lists[list].rows ? lists[list].rows[i].name : NULL;
}

/* Rows may say what form a word has, FOLDER or noise:CxHxW, and then they are no ids. */
static bool list_is_id(size_t list, const char *id)
{
    return !lists[list].rows || strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

void list_add_ids(const char *list, const char *before, px_text *out)
{
    for (size_t l = 0; l < LIST_COUNT; l++) {
        const char *last = "";
        for (size_t i = 0; strcmp(lists[l].name, list) == 0 && list_id(l, i); i++) {
            const char *id = list_id(l, i);
            if (list_is_id(l, id) && strcmp(id, last) != 0) /* an operator has versions */
                px_text_format(out, "%s%s", before, id);
            last = id;
        }
    }
}

static void list_print(size_t i)
{
    if (lists[i].print) {
        lists[i].print();
        return;
    }
    if (lists[i].choices) {
        list_print_choices(lists[i].choices);
        return;
    }
    if (lists[i].entries) {
        list_print_entries(lists[i].entries);
        return;
    }
    cli_table *table = cli_table_new("ll");
    for (const list_row *row = lists[i].rows; row->name; row++) {
        cli_table_cell(table, "%s", row->name);
        cli_table_cell(table, "%s", row->help);
    }
    cli_table_print_free(table, "");
}

static int list_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    const char *what = NULL;
    bool ids = false;
    const cli_option options[] = {
        CLI_FLAG(0, "ids", &ids, "only what may be given as it is, a line each"),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &what, 0, 1);
    if (stop != CLI_GO)
        return stop;
    const char *names[LIST_COUNT];
    size_t chosen = LIST_COUNT;
    for (size_t i = 0; i < LIST_COUNT; i++) {
        names[i] = lists[i].name;
        if (what && strcmp(what, lists[i].name) == 0)
            chosen = i;
    }
    if (what && chosen == LIST_COUNT) {
        const char *nearest = px_nearest_word(what, names, LIST_COUNT);
        return cli_usage_error(self, "there is no list '%s'%s%s%s; 'plexor list' names them", what,
                               nearest ? ", did you mean '" : "", nearest ? nearest : "",
                               nearest ? "'" : "");
    }
    if (ids && (!what || output.json))
        return cli_usage_error(self, "--ids is for one list, and not with --json");
    if (ids) {
        px_text text = {0};
        list_add_ids(what, "\n", &text);
        if (text.length)
            puts(px_text_get(&text) + 1);
        px_text_done(&text);
        return CLI_DONE;
    }
    if (output.json) {
        px_json json = {0};
        cli_json_open(&json);
        for (size_t i = 0; i < LIST_COUNT; i++) {
            if (what && i != chosen)
                continue;
            if (lists[i].json)
                lists[i].json(&json);
            else if (lists[i].choices)
                list_json_choices(&json, lists[i].name, lists[i].choices);
            else if (lists[i].entries)
                list_json_entries(&json, lists[i].name, lists[i].entries);
            else
                list_json_rows(&json, lists[i].name, lists[i].rows);
        }
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    if (what) {
        list_print(chosen);
        return CLI_DONE;
    }
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; i < LIST_COUNT; i++) {
        cli_table_cell(table, "plexor list %s", lists[i].name);
        cli_table_cell(table, "%s", lists[i].help);
    }
    cli_table_print_free(table, "");
    return CLI_DONE;
}

const cli_command cli_command_list = {
    .name = "list",
    .usage = "[LIST] [--ids | --json]",
    .help = "show what plexor knows",
    .details = "Without LIST it says which lists there are.",
    .examples = "plexor list ops\nplexor list archs\nplexor list data\n",
    .run = list_run,
};
