/* studies/frame/list_studies.c - plexor list studies */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/cmd_study.h"
#include "frame/study.h"

void list_print_studies(void)
{
    for (size_t i = 0; i < px_study_count(); i++) {
        const px_study_kind *kind = px_study_get(i);
        cli_print("%s%s: %s\n  %s\n", i ? "\n" : "", kind->id, kind->title, kind->source);
        cli_table *table = cli_table_new("lll");
        cli_table_cell(table, "PART");
        cli_table_cell(table, "RUN");
        cli_table_cell(table, "WHAT IT IS");
        for (size_t p = 0; p < kind->part_count; p++) {
            cli_table_cell(table, "%s", kind->parts[p].id);
            cli_table_cell(table, "%s", kind->parts[p].standard ? "always" : "if named");
            cli_table_cell(table, "%s", kind->parts[p].help);
        }
        cli_table_print_free(table, "  ");
        table = cli_table_new("lll");
        cli_table_cell(table, "DATA");
        cli_table_cell(table, "WHAT IT IS");
        cli_table_cell(table, "WHERE");
        for (size_t d = 0; d < kind->dataset_count; d++) {
            const px_study_dataset *data = &kind->datasets[d];
            cli_table_cell(table, "%s", data->id);
            cli_table_cell(table, "%s", data->title);
            cli_table_cell(table, "%s%s", data->spec ? data->spec : "--data ",
                           data->spec ? "" : data->id);
        }
        cli_table_print_free(table, "  ");
        for (size_t m = 0; kind->models && kind->models[m]; m++)
            cli_print("%s%s", m ? ", " : "  --model ", kind->models[m]);
        if (kind->models)
            cli_print("\n");
        if (kind->piece && kind->piece_seconds > 0.0)
            cli_print("  --each: %lld %s a cell, or %.0f seconds, in the paper\n",
                      (long long)kind->pieces, kind->piece, kind->piece_seconds);
        else if (kind->piece)
            cli_print("  --each: %lld %s a cell in the paper\n", (long long)kind->pieces,
                      kind->piece);
    }
}

static const px_field part_fields[] = {
    PX_FIELD(px_study_part, id, "id", "of the part"),
    PX_FIELD(px_study_part, help, "help", "what it is"),
    PX_FIELD(px_study_part, standard, "standard", "it is run unless parts are named"),
    PX_FIELDS_END,
};

static const px_field dataset_fields[] = {
    PX_FIELD(px_study_dataset, id, "id", "of the data"),
    PX_FIELD(px_study_dataset, title, "title", "what they are"),
    PX_FIELD(px_study_dataset, spec, "spec", "where they are; null: --data says"),
    PX_FIELDS_END,
};

static const void *model_item(const void *at, size_t i, void *row)
{
    const px_study_kind *kind = at;
    (void)row;
    return kind->models && kind->models[i] ? &kind->models[i] : NULL;
}

static const px_field study_fields[] = {
    PX_FIELD(px_study_kind, id, "id", "of the study"),
    PX_FIELD(px_study_kind, title, "title", "what it is"),
    PX_FIELD(px_study_kind, source, "source", "the paper"),
    PX_LIST(px_study_kind, parts, part_count, part_fields, "parts", "that can be run apart"),
    PX_LIST(px_study_kind, datasets, dataset_count, dataset_fields, "data", "that it needs"),
    PX_VALUES_MADE(model_item, const char *, "models", "that --model takes"),
    PX_FIELDS_END,
};

static const void *study_item(const void *at, size_t i, void *row)
{
    (void)at;
    (void)row;
    return i < px_study_count() ? px_study_get(i) : NULL;
}

const px_field list_studies =
    PX_LIST_MADE(study_item, study_fields, "studies",
                 "papers that 'study' replicates, what of them can be run apart, and their data");
