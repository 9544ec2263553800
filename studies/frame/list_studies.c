/* studies/frame/list_studies.c - plexor list studies */
#include "frame/cmd_study.h"
#include "frame/study.h"

static void list_print_studies(void)
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

static void list_json_studies(px_json *json)
{
    px_json_array(json, "studies");
    for (size_t i = 0; i < px_study_count(); i++) {
        const px_study_kind *kind = px_study_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "id", kind->id);
        px_json_string(json, "title", kind->title);
        px_json_string(json, "source", kind->source);
        px_json_array(json, "parts");
        for (size_t p = 0; p < kind->part_count; p++) {
            px_json_object(json, NULL);
            px_json_string(json, "id", kind->parts[p].id);
            px_json_string(json, "help", kind->parts[p].help);
            px_json_bool(json, "standard", kind->parts[p].standard);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_array(json, "data");
        for (size_t d = 0; d < kind->dataset_count; d++) {
            px_json_object(json, NULL);
            px_json_string(json, "id", kind->datasets[d].id);
            px_json_string(json, "title", kind->datasets[d].title);
            px_json_string(json, "spec", kind->datasets[d].spec);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_array(json, "models");
        for (size_t m = 0; kind->models && kind->models[m]; m++)
            px_json_string(json, NULL, kind->models[m]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

static const char *id_study(size_t i)
{
    return i < px_study_count() ? px_study_get(i)->id : NULL;
}

const list_kind list_studies = {
    .name = "studies",
    .help = "papers that 'study' replicates, what of them can be run apart, and their data",
    .print = list_print_studies,
    .json = list_json_studies,
    .id = id_study,
};
