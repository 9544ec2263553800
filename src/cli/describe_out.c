/* src/cli/describe_out.c - what `plexor describe` prints and writes */
#include "cli/describe_out.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/folder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHEET_UNITS = 32, PATH_MOST = 4096 };

/* --- files --------------------------------------------------------------------------------------
 */

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

static px_status out_sheets(const describe_report *r, const char *to, px_error *err)
{
    const px_exemplars *e = px_description_exemplars(r->description);
    char folder[PATH_MOST], path[PATH_MOST], name[64];
    PX_TRY(out_path(folder, to, "sheets", err));
    PX_TRY(px_folder_make(folder, err));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        const int64_t units = px_exemplars_layer(e, l)->units;
        for (int64_t first = 0; first < units; first += SHEET_UNITS) {
            const int64_t count = units - first < SHEET_UNITS ? units - first : SHEET_UNITS;
            snprintf(name, sizeof name, "layer-%02zu-units-%04" PRId64 ".png", l, first);
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
    PX_TRY(px_exemplars_save(e, report->inputs->set, path, err));
    return out_sheets(report, to, err);
}

/* --- for people ---------------------------------------------------------------------------------
 */

static void print_layer(const describe_report *r, size_t layer)
{
    const px_bank *bank = px_description_bank(r->description);
    const px_exemplars *e = px_description_exemplars(r->description);
    const px_exemplar_layer *info = px_exemplars_layer(e, layer);
    static const char *const titles[] = {"UNIT", "DESCRIPTION", "MEASURED",
                                         "IOU",  "CLASS",       "SHARE"};
    cli_table *table = cli_table_new("rllrlr");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    const int64_t shown = r->shown && r->shown < info->units ? r->shown : info->units;
    for (int64_t u = 0; u < shown; u++) {
        const px_bank_unit *unit = px_bank_find(bank, info->name, u);
        const bool labelled = unit && unit->label_count > 0;
        cli_table_cell(table, "%" PRId64, u);
        cli_table_cell(table, "%s", px_bank_shown(unit));
        cli_table_cell(table, "%s", labelled ? unit->labels[0].words : "-");
        if (labelled)
            cli_table_cell(table, "%.3f", unit->labels[0].iou);
        else
            cli_table_cell(table, "-");
        cli_table_cell(table, "%s", unit && unit->class_name ? unit->class_name : "-");
        if (unit && unit->class_name)
            cli_table_cell(table, "%.2f", unit->class_share);
        else
            cli_table_cell(table, "-");
    }
    printf("\n%s: %" PRId64 " units, maps of %d x %d\n", info->name, info->units, info->h, info->w);
    cli_table_print_free(table, "  ");
    if (shown < info->units)
        printf("  and %" PRId64 " more; --units 0 shows all of them\n", info->units - shown);
}

static void print_training(const describe_report *r)
{
    const px_description_facts f = px_description_facts_get(r->description);
    const px_captioner_report *c = &f.report;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    if (f.virtual_units == 0)
        return;
    printf("\ndescriber: %s virtual units, %s words, %d epochs (best %d), BLEU %.1f of units that "
           "training stops by",
           cli_number(f.virtual_units, a), cli_number((int64_t)c->words, b), c->epochs,
           c->best_epoch, c->bleu);
    if (f.annotated)
        printf("; %s captions by people", cli_number(f.annotated, a));
    if (f.trained)
        printf("; trained in %s", cli_duration(c->seconds + c->language_seconds, a));
    printf("%s%s\n", r->describer ? "; kept in " : "", r->describer ? r->describer : "");
}

void describe_print(const describe_report *report)
{
    const px_bank *bank = px_description_bank(report->description);
    const px_exemplars *e = px_description_exemplars(report->description);
    const px_exemplar_facts f = px_exemplars_facts(e);
    char a[CLI_NUMBER_TEXT];
    px_text text = {0};
    printf("%s inputs, %" PRId64 " exemplars per unit, masks above the %g quantile%s%s\n",
           cli_number(f.inputs, a), f.count, f.quantile,
           f.approximate ? " (approximate: by histogram)" : "",
           f.zero_padded ? " (zeros around the maps, as published code has)" : "");
    printf("descriptions: %s, %s\n", px_describer_help(px_bank_get_about(bank)->describer),
           px_bank_validation(bank));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++)
        print_layer(report, l);
    print_training(report);
    px_bank_gates_text(bank, &text);
    printf("\n%s", px_text_get(&text));
    px_text_done(&text);
    printf("\n");
    for (int i = 0; i < PX_BANK_SENTENCES; i++) {
        char *sentence = px_bank_sentence(bank, i);
        if (sentence && *sentence)
            printf("%d. %s\n", i + 1, sentence);
        free(sentence);
    }
    if (report->folder)
        printf("\n%s: bank.jsonl, exemplars/, sheets/\n", report->folder);
    if (report->rated)
        printf("%s items to rate in %s/rate; see HOWTO.txt there\n", cli_number(report->rated, a),
               report->folder);
}

/* --- for programs -------------------------------------------------------------------------------
 */

static void json_units(const px_bank *bank, px_json *json)
{
    px_json_array(json, "units");
    for (size_t i = 0; i < px_bank_count(bank); i++) {
        const px_bank_unit *unit = px_bank_get(bank, i);
        px_json_object(json, NULL);
        px_json_string(json, "layer", unit->layer);
        px_json_int(json, "unit", unit->unit);
        px_json_string(json, "description", px_bank_described(unit) ? unit->phrase : NULL);
        px_json_bool(json, "inactive", unit->inactive);
        px_json_real(json, "level", unit->level);
        px_json_array(json, "labels");
        for (size_t l = 0; l < unit->label_count; l++) {
            px_json_object(json, NULL);
            px_json_string(json, "words", unit->labels[l].words);
            px_json_real(json, "iou", unit->labels[l].iou);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_string(json, "class", unit->class_name);
        px_json_real(json, "class_share", unit->class_share);
        px_json_array(json, "exemplars");
        for (size_t k = 0; k < unit->exemplar_count; k++)
            px_json_int(json, NULL, unit->exemplars[k]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_training(const px_description_facts *f, px_json *json)
{
    px_json_object(json, "describer_training");
    px_json_bool(json, "trained", f->trained);
    px_json_int(json, "virtual_units", f->virtual_units);
    px_json_int(json, "annotated", f->annotated);
    px_json_int(json, "features", f->features);
    px_json_int(json, "words", (int64_t)f->report.words);
    px_json_int(json, "epochs", f->report.epochs);
    px_json_int(json, "best_epoch", f->report.best_epoch);
    px_json_real(json, "bleu", f->report.bleu);
    px_json_real(json, "seconds",
                 f->trained ? f->report.seconds + f->report.language_seconds : NAN);
    px_json_end(json);
}

int describe_json(const describe_report *report, int argc, char **argv)
{
    const px_bank *bank = px_description_bank(report->description);
    const px_description_facts f = px_description_facts_get(report->description);
    const px_exemplar_facts e = px_exemplars_facts(px_description_exemplars(report->description));
    char id[24];
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, report->model, report->inputs->set, argc, argv);
    cli_inputs_json(report->inputs, &json);
    px_json_string(&json, "describer", px_describer_id(px_bank_get_about(bank)->describer));
    px_json_string(&json, "validation", px_bank_validation(bank));
    snprintf(id, sizeof id, "%016" PRIx64, px_bank_id(bank));
    px_json_string(&json, "bank_id", id);
    px_json_int(&json, "count", e.inputs);
    px_json_int(&json, "exemplars", e.count);
    px_json_real(&json, "quantile", e.quantile);
    px_json_bool(&json, "approximate", e.approximate);
    px_gates_json(px_bank_gates(bank), &json);
    if (f.virtual_units)
        json_training(&f, &json);
    json_units(bank, &json);
    px_json_string(&json, "output", report->folder);
    px_json_int(&json, "rated", report->rated);
    px_json_real(&json, "seconds", f.seconds);
    px_json_end(&json);
    return cli_print_json(report->self, &json);
}
