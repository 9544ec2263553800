/* src/cli/list_tables.c - the lists of 'plexor list': of what, and the fields of what they list
 *
 * Where a table for people has other rows or columns than JSON, it is a list of its own: one with a
 * title and no key.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_fields.h"
#include "cli/cli_terms.h"
#include "cli/list_methods.h"

#include <internal/arch.h>
#include <internal/audio.h>
#include <internal/check.h>
#include <internal/engine.h>
#include <internal/feeder.h>
#include <internal/field.h>
#include <internal/optimizer.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <internal/text.h>
#include <plexor/cover.h>
#include <plexor/probe.h>
#include <plexor/select.h>
#include <string.h>
/* --- operators, architectures ---------------------------------------------------------------- */

static const px_field op_fields[] = {
    PX_FIELD(px_operator, name, "name", "of the operator"),
    PX_FIELD(px_operator, domain, "domain", "empty: ONNX's own"),
    PX_FIELD(px_operator, since, "since", "the first opset of this version"),
    PX_FIELD(px_operator, gradient, "gradient", "yes, zero (flat almost everywhere), no"),
    PX_FIELDS_END,
};
static LIST_VALUES(px_operator)

    /* A row for all versions of an operator. */
    static void print_ops(const px_field *list)
{
    cli_table *table = cli_table_new("lll");
    cli_table_cell(table, "OPERATOR");
    cli_table_cell(table, "SINCE OPSET");
    cli_table_cell(table, "GRADIENT");
    (void)list;
    for (size_t i = 0; i < px_operator_count();) {
        const px_operator op = px_operator_get(i);
        px_text versions = {0};
        px_operator last = op;
        for (; i < px_operator_count(); i++) {
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

typedef struct arch_row {
    px_arch arch;
    int64_t parameters, statistics;
} arch_row;

static const void *arch_item(const void *at, size_t i, void *row)
{
    arch_row *r = row;
    (void)at;
    if (!px_arch_get(i))
        return NULL;
    *r = (arch_row){.arch = *px_arch_get(i)};
    px_arch_parameters(r->arch.entry.id, NULL, &r->parameters, &r->statistics, NULL);
    return r;
}

static px_datum arch_input(const void *at, char *text)
{
    const px_arch *a = at;
    return px_datum_format(text, "%dx%dx%d", a->channels, a->height, a->width);
}

static px_datum arch_family(const void *at, char *text)
{
    const px_arch *a = at;
    (void)text;
    return px_datum_text(a->family ? a->family : a->entry.id);
}

static px_datum arch_what(const void *at, char *text)
{
    const px_arch *a = at;
    return px_datum_format(text, "%s%s%s", a->family ? a->family : "", a->family ? ": " : "",
                           a->entry.title);
}

static const px_field arch_fields[] = {
    LIST_ID("NETWORK"),
    PX_MADE(TEXT, arch_family, "family", "the form of such names"),
    PX_FIELD(arch_row, parameters, "parameters", "that are trained", .title = "PARAMETERS",
             .format = ","),
    PX_FIELD(arch_row, statistics, "statistics", "of normalisation, which are not"),
    PX_FIELD(arch_row, arch.channels, "channels", "that it was made for"),
    PX_FIELD(arch_row, arch.height, "height", "that it was made for"),
    PX_FIELD(arch_row, arch.width, "width", "that it was made for"),
    PX_MADE(TEXT, arch_input, NULL, NULL, .title = "INPUT"),
    PX_FIELD(arch_row, arch.classes, "classes", "that it was made for", .title = "CLASSES"),
    PX_FIELD(arch_row, arch.entry.title, "help", "what it is"),
    PX_MADE(TEXT, arch_what, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELDS_END,
};

/* --- repair, gates, preprocessing ------------------------------------------------------------ */

static bool recipe_has_optimizer(const void *recipe)
{
    return ((const px_repair_recipe *)recipe)->optimizer;
}

static bool recipe_lacks_optimizer(const void *recipe)
{
    return !recipe_has_optimizer(recipe);
}

static px_datum recipe_mode(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_mix_name(((const px_repair_recipe *)at)->mix));
}

static px_datum recipe_rate(const void *at, char *text)
{
    const px_repair_recipe *r = at;
    return px_datum_format(text, r->optimizer ? "%g" : "x %g", r->lr);
}

static const px_field recipe_fields[] = {
    LIST_ID("RECIPE"),
    PX_FIELD(px_repair_recipe, entry.title, "help", "what it is"),
    PX_MADE(TEXT, recipe_mode, "mode", "how failures are mixed in", .title = "MODE"),
    PX_FIELD(px_repair_recipe, optimizer, "optimizer", "null: the network's own",
             .title = "OPTIMIZER", .none = "the network's own"),
    PX_FIELD(px_repair_recipe, lr, "lr", "learning rate", .when = recipe_has_optimizer),
    PX_FIELD(px_repair_recipe, lr, "lr_factor", "times the rate that it was trained with",
             .when = recipe_lacks_optimizer),
    PX_MADE(TEXT, recipe_rate, NULL, NULL, .title = "LR", .align = 'r'),
    PX_FIELD(px_repair_recipe, schedule, "schedule", "of the learning rate", .title = "SCHEDULE"),
    PX_FIELD(px_repair_recipe, epochs, "epochs", "at most", .title = "EPOCHS"),
    PX_FIELD(px_repair_recipe, batch, "batch", "inputs a step", .title = "BATCH"),
    PX_FIELD(px_repair_recipe, train_limit, "train_limit", "training inputs at most; 0: all"),
    PX_FIELD(px_repair_recipe, add_limit, "add_limit", "failures at most; 0: all"),
    PX_FIELD(px_repair_recipe, chosen, "chosen", "what the paper leaves open and plexor chose"),
    PX_FIELD(px_repair_recipe, entry.title, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_repair_recipe_get)

    static px_datum gate_side(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_gate_kind *)at)->most ? "most" : "least");
}

static const px_field gate_fields[] = {
    PX_FIELD(px_gate_kind, entry.id, "name", "that --fail-under takes", .title = "GATE"),
    PX_MADE(TEXT, gate_side, "holds_at", "least: from its threshold on; most: up to it",
            .title = "HOLDS AT"),
    PX_FIELD(px_gate_kind, stage, "stage", "that measures it", .title = "STAGE"),
    PX_FIELD(px_gate_kind, entry.title, "help", "what it is", .title = "WHAT IT IS"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_gate_kind_get)

    static px_datum preset_names(const void *at, char *text)
{
    const px_preprocess_preset *p = at;
    return px_datum_format(text, "%s%s%s", p->entry.id, p->alias ? ", " : "",
                           p->alias ? p->alias : "");
}

static px_datum preset_channels(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_preprocess_preset *)at)->bgr ? "bgr" : "rgb");
}

static const px_field preprocess_fields[] = {
    PX_FIELD(px_preprocess_preset, entry.id, "name", "that --preprocess takes"),
    PX_FIELD(px_preprocess_preset, alias, "alias", "another name for it"),
    PX_MADE(TEXT, preset_names, NULL, NULL, .title = "PRESET"),
    PX_FIELD(px_preprocess_preset, entry.title, "help", "what reaches the network",
             .title = "WHAT REACHES THE NETWORK"),
    PX_FIELD(px_preprocess_preset, entry.source, "used", "by whom", .title = "USED BY"),
    PX_FIELD(px_preprocess_preset, range, "range", "what white becomes before mean and std"),
    PX_ARRAY_USED(px_preprocess_preset, mean, channels, "mean", "of each channel, or of all"),
    PX_ARRAY_USED(px_preprocess_preset, stddev, channels, "std", "of each channel, or of all"),
    PX_MADE(TEXT, preset_channels, "channels", "their order: rgb, bgr"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_preprocess_preset_get)

    /* --- recordings -------------------------------------------------------------------------- */

    static const void *audio_item(const void *at, size_t i, void *row)
{
    (void)at;
    (void)row;
    return px_audio_params[i].name ? &px_audio_params[i] : NULL;
}

static void print_audio(const px_field *list)
{
    cli_table *table = cli_table_new("ll");
    (void)list;
    for (const px_param *p = px_audio_params; p->name; p++) {
        px_text value = {0};
        if (p->choices)
            list_add_words(p->choices, "|", &value);
        else
            px_text_format(&value, "%g", p->def);
        cli_table_cell(table, "%s=%s", p->name, px_text_get(&value));
        cli_table_cell(table, "%s", p->help);
        px_text_done(&value);
    }
    cli_table_print_free(table, "");
}

/* --- choices of training --------------------------------------------------------------------- */

static const void *choice_setting(const void *at, size_t i, void *row)
{
    const px_setting *settings = ((const px_choice *)at)->settings;
    (void)row;
    return settings && settings[i].name ? &settings[i] : NULL;
}

static const px_field setting_fields[] = {
    PX_FIELD(px_setting, name, "name", "of the setting"),
    PX_FIELD(px_setting, standard, "default", "where it is not given"),
    PX_FIELD(px_setting, least, "least", "that it takes"),
    PX_FIELD(px_setting, most, "most", "that it takes"),
    PX_FIELD(px_setting, help, "help", "what it is"),
    PX_FIELDS_END,
};

static const px_field choice_fields[] = {
    PX_FIELD(px_choice, entry.id, "name", "of the choice"),
    PX_FIELD(px_choice, usage, "usage", "how it is typed"),
    PX_FIELD(px_choice, entry.title, "help", "what it is"),
    PX_LIST_MADE(choice_setting, setting_fields, "settings", "its own"),
    PX_FIELDS_END,
};

static LIST_ITEMS(px_optimizer_choice_get) static LIST_ITEMS(px_schedule_choice_get) static LIST_ITEMS(
    px_loss_choice_get) static LIST_ITEMS(px_augmentation_get)

    /* Each choice, and its settings with their defaults below it. */
    static void print_choices(const px_field *list)
{
    cli_table *table = cli_table_new("ll");
    const px_choice *choice;
    for (size_t i = 0; (choice = list->item(NULL, i, NULL)); i++) {
        cli_table_cell(table, "%s", choice->usage);
        cli_table_cell(table, "%s", choice->entry.title);
        for (const px_setting *s = choice->settings; s && s->name; s++) {
            char number[PX_REAL_TEXT];
            cli_table_cell(table, "  %s=%s", s->name, px_real_text(s->standard, number));
            cli_table_cell(table, "  %s", s->help);
        }
    }
    cli_table_print_free(table, "");
}

/* --- words ----------------------------------------------------------------------------------- */

typedef struct word_row {
    const char *name, *help;
} word_row;

static const word_row layers[] = {
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
};

static const word_row taps[] = {
#define WORD_ROW(enumerator, id, help) {id, help},
    PX_TAPS(WORD_ROW)};

static const word_row neurons[] = {
    PX_VIEWS(WORD_ROW)
        PX_VIEW_WORDS(WORD_ROW){"deepxplore", "layers, tap and view as DeepXplore counts neurons"},
};

static const word_row data[] = {
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
};

#define WORD_ITEMS(words)                                                \
    static const void *words##_item(const void *at, size_t i, void *row) \
    {                                                                    \
        (void)at;                                                        \
        (void)row;                                                       \
        return i < PX_LEN(words) ? &words[i] : NULL;                     \
    }
WORD_ITEMS(layers)
WORD_ITEMS(taps)
WORD_ITEMS(neurons)
WORD_ITEMS(data)

const px_field list_words[] = {
    PX_FIELD(word_row, name, "name", "that the option takes", .title = ""),
    PX_FIELD(word_row, help, "help", "what it means", .title = ""),
    PX_FIELDS_END,
};

static LIST_ITEMS(cli_term_get) static LIST_ITEMS(cli_head_get)

    static const px_field term_fields[] = {
        PX_FIELD(cli_term, name, "word", "the word", .title = ""),
        PX_FIELD(cli_term, meaning, "", "what it means", .title = ""),
        PX_FIELDS_END,
};

static const px_field term_lists[] = {
    PX_MAP_MADE(cli_term_get_item, term_fields, "terms",
                "plexor's words, and what the heads of its tables stand for"),
    PX_MAP_MADE(cli_head_get_item, term_fields, "heads", "of tables"),
    PX_FIELDS_END,
};

static void print_terms(const px_field *list)
{
    cli_print_list(list->fields, "terms", list, "", 0);
    cli_print("\nheads of tables\n");
    cli_print_list(list->fields, "heads", list, "", 0);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void print_plain(const px_field *list)
{
    const px_field one[] = {*list, PX_FIELDS_END};
    const bool group = list->kind == PX_FIELD_OBJECT;
    cli_print_list(group ? list->fields : one, list_key(list), list, "", 0);
}

static void print_measures(const px_field *list)
{
    print_plain(list);
    cli_print("\naf, as: inputs on which the neuron was active while the network failed, "
              "succeeded; nf, ns: not active\nF = af+nf, P = as+ns, N = F+P; a ratio 0/0 counts "
              "as 0\nbesides: 'random', neurons to compare with, and 'shapley', what neurons have "
              "to do with a change of the loss\n");
}

#define LIST(items, fields, ...) PX_LIST_MADE(items##_item, fields, __VA_ARGS__, .optional = true)
#define LIST_GROUP(lists) PX_OBJECT_OF(lists, "", "lists that are shown together", .optional = true)
const px_field list_tables[] = {
    LIST(px_operator, op_fields, "ops",
         "ONNX operators, since which opset, and whether they have a gradient"),
    LIST(layers, list_words, "layers", "what --layers takes; several are joined by commas"),
    LIST(taps, list_words, "taps", "what --tap takes"),
    LIST(neurons, list_words, "neurons", "what --neurons takes"),
    LIST(px_criterion_get, list_criterion_fields, "criteria",
         "what 'cover' measures, with settings and where it comes from"),
    LIST(px_preset_get, list_preset_fields, "presets", "the papers' own settings of criteria"),
    LIST(px_measure_get, list_measure_fields, "measures",
         "how suspicious neurons are, for localize"),
    LIST_GROUP(list_mutations),
    LIST_GROUP(list_engines),
    LIST(px_fuzz_policy_get, list_policy_fields, "policies",
         "published schedules, energies and rules of validity of engine loop"),
    LIST(px_selector_get, list_selector_fields, "selectors",
         "what 'select' ranks by, with settings and where it comes from"),
    LIST(px_attack_method_get, list_attack_fields, "attacks",
         "what 'attack' runs, with settings and where it comes from"),
    LIST(px_metric_get, list_metric_fields, "metrics",
         "what 'assess' measures, which way is better, and where it is defined"),
    LIST(px_gate_kind_get, gate_fields, "gates",
         "what 'check --fail-under' takes, and which way it must lie"),
    LIST_GROUP(term_lists),
    LIST(arch, arch_fields, "archs", "networks that plexor makes itself, and their parameters"),
    LIST(px_optimizer_choice_get, choice_fields, "optimizers",
         "what moves weights in training, and its settings"),
    LIST(px_schedule_choice_get, choice_fields, "schedules",
         "how the learning rate goes over a run"),
    LIST(px_loss_choice_get, choice_fields, "losses", "what training makes smaller"),
    LIST(px_augmentation_get, choice_fields, "augmentations",
         "what --augment takes; several are joined by commas"),
    LIST(px_repair_recipe_get, recipe_fields, "recipes", "how the papers retrain, for repair"),
    LIST(audio, list_param_fields, "audio",
         "what --audio takes: settings of the features of recordings, and their defaults"),
    LIST(px_preprocess_preset_get, preprocess_fields, "preprocess",
         "what --preprocess takes: how pixels become a network's input"),
    LIST(data, list_words, "data", "what --data takes"),
    PX_FIELDS_END,
};

void list_print_table(const px_field *list)
{
    static const struct {
        const char *key;
        void (*print)(const px_field *list);
    } others[] = {
        {"ops", print_ops},
        {"measures", print_measures},
        {"mutations", list_print_mutations},
        {"terms", print_terms},
        {"optimizers", print_choices},
        {"schedules", print_choices},
        {"losses", print_choices},
        {"augmentations", print_choices},
        {"audio", print_audio},
    };
    for (size_t i = 0; i < PX_LEN(others); i++)
        if (strcmp(others[i].key, list_key(list)) == 0) {
            others[i].print(list);
            return;
        }
    print_plain(list);
}
