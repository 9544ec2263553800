/* src/cli/describe_out.c - what `plexor describe` prints and writes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/describe_out.h"

#include <internal/bank.h>
#include <internal/field.h>
#include <internal/folder.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHEET_UNITS = 32, PATH_MOST = 4096 };

/* --- files ----------------------------------------------------------------------------------- */

static px_status out_path(char path[PATH_MOST], const char *folder, const char *name, px_error *err)
{
    if (snprintf(path, PATH_MOST, "%s/%s", folder, name) >= PATH_MOST)
        return px_fail(err, PX_E_USAGE, "'%s': this path is too long", folder);
    return PX_OK;
}

/* One page of units [first, first + count) of a layer. */
static px_status out_sheet(const describe_report *r, size_t layer, int64_t first, int64_t count,
                           const char *path, px_error *err)
{
    const px_exemplars *e = px_description_exemplars(r->description);
    const px_bank *bank = px_description_bank(r->description);
    const char *name = px_exemplars_layer(e, layer)->name;
    int64_t units[SHEET_UNITS];
    const char *texts[SHEET_UNITS];
    for (int64_t i = 0; i < count; i++) {
        units[i] = first + i;
        texts[i] = px_bank_shown(px_bank_find(bank, name, first + i));
    }
    return px_exemplars_sheet(e, r->inputs->set, layer, units, (size_t)count, texts, path, err);
}

/* Units of every layer whose exemplars, in all sheets together, stay within the bound. */
static int64_t out_sheet_units(const px_exemplars *e)
{
    const uint64_t bytes = px_exemplars_bytes(e);
    int64_t units = 0, most = 0;
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        units += px_exemplars_layer(e, l)->units;
        most = px_exemplars_layer(e, l)->units > most ? px_exemplars_layer(e, l)->units : most;
    }
    if (bytes <= DESCRIBE_MOST_BYTES)
        return most;
    const double share = (double)DESCRIBE_MOST_BYTES / (double)bytes;
    const int64_t layers = (int64_t)px_exemplars_layer_count(e);
    const int64_t each = (int64_t)(share * (double)units) / layers;
    return each > 0 ? each : 1;
}

void describe_note_size(const cli_command *self, const describe_report *report)
{
    const px_exemplars *e = px_description_exemplars(report->description);
    const uint64_t bytes = px_exemplars_bytes(e);
    if (bytes > DESCRIBE_MOST_BYTES)
        cli_note(self,
                 "pictures of all exemplars would take %" PRIu64 " MiB, more than %d: ids.csv says "
                 "which inputs they are, and sheets show the first %" PRId64 " units of a layer",
                 bytes >> 20, DESCRIBE_MOST_BYTES >> 20, out_sheet_units(e));
}

static px_status out_sheets(const describe_report *r, const char *to, px_error *err)
{
    const px_exemplars *e = px_description_exemplars(r->description);
    const int64_t most = out_sheet_units(e);
    char folder[PATH_MOST], path[PATH_MOST], name[64];
    PX_TRY(out_path(folder, to, "sheets", err));
    PX_TRY(px_folder_make(folder, err));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        const int64_t all = px_exemplars_layer(e, l)->units, units = all < most ? all : most;
        for (int64_t first = 0; first < units; first += SHEET_UNITS) {
            const int64_t count = units - first < SHEET_UNITS ? units - first : SHEET_UNITS;
            snprintf(name, sizeof name, "layer-%02zu-units-%04" PRId64 ".png", l, first);
            if (px_cancelled())
                return px_fail(err, PX_E_CANCELLED, "cancelled");
            PX_TRY(out_path(path, folder, name, err));
            PX_TRY(out_sheet(r, l, first, count, path, err));
        }
    }
    return PX_OK;
}

px_status describe_write(const describe_report *report, const char *to, px_error *err)
{
    const px_exemplars *e = px_description_exemplars(report->description);
    char path[PATH_MOST];
    PX_TRY(out_path(path, to, "bank.jsonl", err));
    PX_TRY(px_bank_save(px_description_bank(report->description), path, err));
    PX_TRY(out_path(path, to, "exemplars", err));
    PX_TRY(px_exemplars_save(e, report->inputs->set, DESCRIBE_MOST_BYTES, path, err));
    return out_sheets(report, to, err);
}

void describe_report_fill(describe_report *r, const px_model *model)
{
    r->origin = cli_origin_of(model, r->inputs->set);
    r->bank = px_description_bank(r->description);
    r->exemplars = px_description_exemplars(r->description);
    r->describer_id = px_describer_id(px_bank_get_about(r->bank)->describer);
    r->validation = px_bank_validation(r->bank);
    r->bank_id = px_bank_id(r->bank);
    r->gates = px_bank_gates(r->bank);
    r->facts = px_exemplars_facts(r->exemplars);
    r->training = px_description_facts_get(r->description);
    const px_captioner_report *c = &r->training.report;
    r->training_seconds = r->training.trained ? c->seconds + c->language_seconds : (double)NAN;
}

/* --- what a result is made of ---------------------------------------------------------------- */

static const void *unit_get(const void *of, size_t i, void *place)
{
    const px_bank *bank = ((const describe_report *)of)->bank;
    (void)place;
    return i < px_bank_count(bank) ? px_bank_get(bank, i) : NULL;
}

static px_datum unit_description(const void *of, char *text)
{
    const px_bank_unit *unit = of;
    (void)text;
    return px_datum_text(px_bank_described(unit) ? unit->phrase : NULL);
}

static const px_field label_fields[] = {
    PX_FIELD(px_bank_label, words, "words", "of the attribute"),
    PX_FIELD(px_bank_label, iou, "iou", "how well masks overlap with it", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field unit_fields[] = {
    PX_FIELD(px_bank_unit, layer, "layer", "its name"),
    PX_FIELD(px_bank_unit, unit, "unit", "in the layer"),
    PX_MADE(TEXT, unit_description, "description", "a phrase; null: nothing can be said"),
    PX_FIELD(px_bank_unit, inactive, "inactive", "nothing raises it above its level"),
    PX_FIELD(px_bank_unit, level, "level", "of activation that masks are cut at"),
    PX_LIST_USED(px_bank_unit, labels, label_count, label_fields, "labels",
                 "attributes, best first"),
    PX_FIELD(px_bank_unit, class_name, "class", "that most exemplars have; null: no labels"),
    PX_FIELD(px_bank_unit, class_share, "class_share", "of the exemplars", .unit = PX_SHARE),
    PX_VALUES(px_bank_unit, exemplars, exemplar_count, "exemplars",
              "indices of inputs, strongest first"),
    PX_FIELDS_END,
};

static const px_field training_fields[] = {
    PX_FIELD(describe_report, training.trained, "trained", "in this run"),
    PX_FIELD(describe_report, training.virtual_units, "virtual_units", "that it learnt from"),
    PX_FIELD(describe_report, training.annotated, "annotated", "captions by people"),
    PX_FIELD(describe_report, training.features, "features", "numbers per exemplar"),
    PX_FIELD(describe_report, training.report.words, "words", "that it knows"),
    PX_FIELD(describe_report, training.report.epochs, "epochs", "that were run"),
    PX_FIELD(describe_report, training.report.best_epoch, "best_epoch", "whose weights were kept"),
    PX_FIELD(describe_report, training.report.bleu, "bleu", "of units that were held out"),
    PX_FIELD(describe_report, training_seconds, "seconds", "of training; null: not in this run",
             .unit = "s"),
    PX_FIELDS_END,
};

const px_field describe_fields[] = {
    PX_OBJECT(describe_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(describe_report, inputs, cli_inputs_fields, ""),
    PX_FIELD(describe_report, describer_id, "describer", "where phrases come from"),
    PX_FIELD(describe_report, validation, "validation", "whether they may be believed"),
    PX_HASH(describe_report, bank_id, "bank_id", "of the descriptions"),
    PX_FIELD(describe_report, facts.inputs, "count", "inputs"),
    PX_FIELD(describe_report, facts.count, "exemplars", "per unit"),
    PX_FIELD(describe_report, facts.quantile, "quantile", "of activation that masks are cut at"),
    PX_FIELD(describe_report, facts.approximate, "approximate", "the quantile is"),
    PX_OBJECT_AT(describe_report, gates, px_gates_fields, "gates",
                 "how far phrases may be believed"),
    PX_OBJECT_OF(training_fields, "describer_training", "of the describer",
                 PX_IF(describe_report, training.virtual_units)),
    PX_LIST_MADE(unit_get, unit_fields, "units", "layer after layer"),
    PX_FIELD(describe_report, folder, "output", "folder; null: none"),
    PX_FIELD(describe_report, rated, "rated", "items to rate"),
    PX_FIELD(describe_report, training.seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

/* --- for people ------------------------------------------------------------------------------ */

typedef struct shown_layer { /* the first units of a layer */
    const px_bank *bank;
    const px_exemplar_layer *layer;
    int64_t shown;
} shown_layer;

typedef struct shown_unit {
    int64_t unit;
    const char *phrase, *label, *class_name;
    double iou, class_share;
} shown_unit;

static const void *shown_get(const void *of, size_t i, void *place)
{
    const shown_layer *l = of;
    const px_bank_unit *unit = px_bank_find(l->bank, l->layer->name, (int64_t)i);
    const bool labelled = unit && unit->label_count > 0;
    if ((int64_t)i >= l->shown)
        return NULL;
    *(shown_unit *)place = (shown_unit){
        .unit = (int64_t)i,
        .phrase = px_bank_shown(unit),
        .label = labelled ? unit->labels[0].words : NULL,
        .iou = labelled ? unit->labels[0].iou : (double)NAN,
        .class_name = unit ? unit->class_name : NULL,
        .class_share = unit && unit->class_name ? unit->class_share : (double)NAN,
    };
    return place;
}

static const px_field shown_fields[] = {
    PX_FIELD(shown_unit, unit, NULL, NULL, .title = "UNIT"),
    PX_FIELD(shown_unit, phrase, NULL, NULL, .title = "DESCRIPTION"),
    PX_FIELD(shown_unit, label, NULL, NULL, .title = "MEASURED"),
    PX_FIELD(shown_unit, iou, NULL, NULL, .title = "IOU", .format = "%.3f"),
    PX_FIELD(shown_unit, class_name, NULL, NULL, .title = "CLASS"),
    PX_FIELD(shown_unit, class_share, NULL, NULL, .title = "SHARE", .format = "%.2f"),
    PX_FIELDS_END,
};
static const px_field shown_table[] = {PX_LIST_MADE(shown_get, shown_fields, "units", NULL),
                                       PX_FIELDS_END};

static void print_layer(const describe_report *r, size_t layer)
{
    const px_exemplar_layer *info = px_exemplars_layer(r->exemplars, layer);
    const int64_t shown = r->shown && r->shown < info->units ? r->shown : info->units;
    const shown_layer l = {r->bank, info, shown};
    cli_print("\n%s: %" PRId64 " units, maps of %d x %d\n", info->name, info->units, info->h,
              info->w);
    cli_print_list(shown_table, "units", &l, "  ", 0);
    if (shown < info->units)
        cli_print("  and %" PRId64 " more; --units 0 shows all of them\n", info->units - shown);
}

static void print_training(const describe_report *r)
{
    const px_description_facts f = r->training;
    const px_captioner_report *c = &f.report;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    if (f.virtual_units == 0)
        return;
    cli_print(
        "\ndescriber: %s virtual units, %s words, %d epochs (best %d), BLEU %.1f of units that "
        "training stops by",
        cli_number(f.virtual_units, a), cli_number((int64_t)c->words, b), c->epochs, c->best_epoch,
        c->bleu);
    if (f.annotated)
        cli_print("; %s captions by people", cli_number(f.annotated, a));
    if (f.trained)
        cli_print("; trained in %s", cli_duration(c->seconds + c->language_seconds, a));
    cli_print("%s%s\n", r->describer ? "; kept in " : "", r->describer ? r->describer : "");
}

void describe_print(const void *of)
{
    const describe_report *report = of;
    const px_bank *bank = report->bank;
    const px_exemplar_facts f = report->facts;
    char a[CLI_NUMBER_TEXT];
    px_text text = {0};
    cli_print("%s inputs, %" PRId64 " exemplars per unit, masks above the %g quantile%s%s\n",
              cli_number(f.inputs, a), f.count, f.quantile,
              f.approximate ? " (approximate: by histogram)" : "",
              f.zero_padded ? " (zeros around the maps, as published code has)" : "");
    cli_print("descriptions: %s, %s\n", px_describer_help(px_bank_get_about(bank)->describer),
              report->validation);
    for (size_t l = 0; l < px_exemplars_layer_count(report->exemplars); l++)
        print_layer(report, l);
    print_training(report);
    px_bank_gates_text(bank, &text);
    cli_print("\n%s", px_text_get(&text));
    px_text_done(&text);
    cli_print("\n");
    for (int i = 0; i < PX_BANK_SENTENCES; i++) {
        char *sentence = px_bank_sentence(bank, i);
        if (sentence && *sentence)
            cli_print("%d. %s\n", i + 1, sentence);
        free(sentence);
    }
    if (report->folder)
        cli_print("\n%s: bank.jsonl, exemplars/, sheets/\n", report->folder);
    if (report->rated)
        cli_print("%s items to rate in %s/rate; see HOWTO.txt there\n",
                  cli_number(report->rated, a), report->folder);
}
