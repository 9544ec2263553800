/* src/cli/cmd_list.c - plexor list [WHAT] */
#include "cli/cli.h"
#include "cli/cli_terms.h"
#include "cli/list.h"

#include <internal/arch.h>
#include <internal/audio.h>
#include <internal/check.h>
#include <internal/engine.h>
#include <internal/optimizer.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <internal/study.h>
#include <internal/text.h>
#include <plexor/mutate.h>
#include <plexor/probe.h>
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
    {"mem:NAME", "what a program that calls px_call() has put into memory under a name"},
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

/* What is returned lasts until the next call. */
static const px_choice *list_augmentation(size_t i)
{
    static _Thread_local px_choice choice;
    if (i >= px_augmentation_count())
        return NULL;
    const px_augmentation a = px_augmentation_get(i);
    choice = (px_choice){.name = a.name, .usage = a.usage, .help = a.help};
    return &choice;
}

/* The i-th id of what is no registry. */
static const char *id_operator(size_t i)
{
    return i < px_operator_count() ? px_operator_get(i).name : NULL;
}

static const char *id_arch(size_t i)
{
    return i < px_arch_count() ? px_arch_get(i).name : NULL;
}

static const char *id_mutation(size_t i)
{
    return i < px_mutation_count() ? px_mutation_get(i)->entry.id : NULL;
}

static const char *id_gate(size_t i)
{
    return i < px_gate_kind_count() ? px_gate_kind_get(i)->name : NULL;
}

static const char *id_study(size_t i)
{
    return i < px_study_count() ? px_study_get(i)->id : NULL;
}

static const char *id_recipe(size_t i)
{
    return i < px_repair_recipe_count() ? px_repair_recipe_get(i)->entry.id : NULL;
}

static const char *id_preprocess(size_t i)
{
    return i < px_preprocess_preset_count() ? px_preprocess_preset_get(i)->id : NULL;
}

static const char *id_audio(size_t i)
{
    return px_audio_params[i].name;
}

static const struct {
    const char *name, *help;
    const list_row *rows; /* rows, choices, a registry or both functions */
    const px_choice *(*choices)(size_t i);
    const list_look *look;
    void (*print)(void);
    void (*json)(px_json *json);
    const char *(*id)(size_t i); /* of what has functions; NULL: there are no more */
} lists[] = {
    {.name = "ops",
     .help = "ONNX operators, since which opset, and whether they have a gradient",
     .print = list_print_ops,
     .json = list_json_ops,
     .id = id_operator},
    {.name = "layers", .help = "what --layers takes; several are joined by commas", .rows = layers},
    {.name = "taps", .help = "what --tap takes", .rows = taps},
    {.name = "neurons", .help = "what --neurons takes", .rows = neurons},
    {.look = &list_criteria},
    {.look = &list_presets},
    {.look = &list_measures},
    {.name = "mutations",
     .help =
         "changes that should leave a picture's meaning alone, their parameters, and sets of them",
     .print = list_print_mutations,
     .json = list_json_mutations,
     .id = id_mutation},
    {.look = &list_engines},
    {.look = &list_policies},
    {.look = &list_selectors},
    {.look = &list_attacks},
    {.look = &list_metrics},
    {.name = "gates",
     .help = "what 'check --fail-under' takes, and which way it must lie",
     .print = list_print_gates,
     .json = list_json_gates,
     .id = id_gate},
    {.name = "terms",
     .help = "plexor's words, and what the heads of its tables stand for",
     .print = list_print_terms,
     .json = list_json_terms},
    {.name = "studies",
     .help = "papers that 'study' replicates, what of them can be run apart, and their data",
     .print = list_print_studies,
     .json = list_json_studies,
     .id = id_study},
    {.name = "archs",
     .help = "networks that plexor makes itself, and their parameters",
     .print = list_print_archs,
     .json = list_json_archs,
     .id = id_arch},
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
     .id = id_recipe},
    {.name = "audio",
     .help = "what --audio takes: settings of the features of recordings, and their defaults",
     .print = list_print_audio,
     .json = list_json_audio,
     .id = id_audio},
    {.name = "preprocess",
     .help = "what --preprocess takes: how pixels become a network's input",
     .print = list_print_preprocess,
     .json = list_json_preprocess,
     .id = id_preprocess},
    {.name = "data", .help = "what --data takes", .rows = data},
};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

const char *list_name(size_t i)
{
    if (i >= LIST_COUNT)
        return NULL;
    return lists[i].look ? lists[i].look->registry->plural : lists[i].name;
}

static const char *list_help(size_t i)
{
    return lists[i].look ? lists[i].look->registry->help : lists[i].help;
}

static const char *list_id(size_t list, size_t i)
{
    if (lists[list].id)
        return lists[list].id(i);
    if (lists[list].choices)
        return lists[list].choices(i) ? lists[list].choices(i)->name : NULL;
    if (lists[list].look)
        return i < lists[list].look->registry->count
                   ? px_registry_at(lists[list].look->registry, i)->id
                   : NULL;
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
        for (size_t i = 0; strcmp(list_name(l), list) == 0 && list_id(l, i); i++) {
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
    if (lists[i].look) {
        list_print_registry(lists[i].look);
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
        names[i] = list_name(i);
        if (what && strcmp(what, names[i]) == 0)
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
            cli_print("%s\n", px_text_get(&text) + 1);
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
            else if (lists[i].look)
                list_json_registry(lists[i].look, &json);
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
        cli_table_cell(table, "plexor list %s", list_name(i));
        cli_table_cell(table, "%s", list_help(i));
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
