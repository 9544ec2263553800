/* src/cli/cmd_list.c - plexor list [WHAT] */
#include "cli/cli.h"
#include "cli/cli_terms.h"
#include "cli/list.h"

#include <assert.h>
#include <internal/arch.h>
#include <internal/audio.h>
#include <internal/check.h>
#include <internal/engine.h>
#include <internal/optimizer.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <internal/text.h>
#include <plexor/mutate.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <string.h>

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

static const list_kind own_lists[] = {
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
enum { LIST_OWN = sizeof own_lists / sizeof own_lists[0], LIST_MAX = LIST_OWN + 1 };

/* One of the program comes `added_at` behind so many of the library. */
static const list_kind *added;
static size_t added_at;

static const list_kind *list_at(size_t i)
{
    if (added && i == added_at)
        return added;
    const size_t own = added && i > added_at ? i - 1 : i;
    return own < LIST_OWN ? &own_lists[own] : NULL;
}

void list_add(const list_kind *kind, const char *before)
{
    assert(!added);
    while (list_name(added_at) && strcmp(list_name(added_at), before) != 0)
        added_at++;
    added = kind;
}

const char *list_name(size_t i)
{
    const list_kind *list = list_at(i);
    return list && list->look ? list->look->registry->plural : list ? list->name : NULL;
}

static const char *list_help(const list_kind *list)
{
    return list->look ? list->look->registry->help : list->help;
}

static const char *list_id(const list_kind *list, size_t i)
{
    if (list->id)
        return list->id(i);
    if (list->choices)
        return list->choices(i) ? list->choices(i)->name : NULL;
    if (list->look)
        return i < px_registry_count(list->look->registry)
                   ? px_registry_at(list->look->registry, i)->id
                   : NULL;
    return list->rows ? list->rows[i].name : NULL;
}

/* Rows may say what form a word has, FOLDER or noise:CxHxW, and then they are no ids. */
static bool list_is_id(const list_kind *list, const char *id)
{
    return !list->rows || strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

void list_add_ids(const char *list, const char *before, px_text *out)
{
    for (size_t l = 0; list_at(l); l++) {
        const char *last = "";
        for (size_t i = 0; strcmp(list_name(l), list) == 0 && list_id(list_at(l), i); i++) {
            const char *id = list_id(list_at(l), i);
            if (list_is_id(list_at(l), id) && strcmp(id, last) != 0) /* an operator has versions */
                px_text_format(out, "%s%s", before, id);
            last = id;
        }
    }
}

static void list_print(const list_kind *list)
{
    if (list->print) {
        list->print();
        return;
    }
    if (list->choices) {
        list_print_choices(list->choices);
        return;
    }
    if (list->look) {
        list_print_registry(list->look);
        return;
    }
    cli_table *table = cli_table_new("ll");
    for (const list_row *row = list->rows; row->name; row++) {
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
    const char *names[LIST_MAX];
    const list_kind *chosen = NULL;
    size_t count = 0;
    for (; list_at(count); count++) {
        names[count] = list_name(count);
        if (what && strcmp(what, names[count]) == 0)
            chosen = list_at(count);
    }
    if (what && !chosen) {
        const char *nearest = px_nearest_word(what, names, count);
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
        for (size_t i = 0; i < count; i++) {
            const list_kind *list = list_at(i);
            if (what && list != chosen)
                continue;
            if (list->json)
                list->json(&json);
            else if (list->choices)
                list_json_choices(&json, list->name, list->choices);
            else if (list->look)
                list_json_registry(list->look, &json);
            else
                list_json_rows(&json, list->name, list->rows);
        }
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    if (what) {
        list_print(chosen);
        return CLI_DONE;
    }
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; i < count; i++) {
        cli_table_cell(table, "plexor list %s", names[i]);
        cli_table_cell(table, "%s", list_help(list_at(i)));
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
