/* src/cli/list_more.c - lists of other shapes: operators, architectures, recipes, gates, ... */
#include "cli/cli.h"
#include "cli/list.h"

#include <internal/arch.h>
#include <internal/audio.h>
#include <internal/check.h>
#include <internal/engine.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <plexor/graph.h>
#include <string.h>

void list_json_ops(px_json *json)
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

void list_print_ops(void)
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

void list_json_archs(px_json *json)
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

void list_print_archs(void)
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

static const char *recipe_optimizer(const px_repair_recipe *r)
{
    return r->optimizer ? r->optimizer : "the network's own";
}

void list_json_recipes(px_json *json)
{
    px_json_array(json, "recipes");
    for (size_t i = 0; i < px_repair_recipe_count(); i++) {
        const px_repair_recipe *r = px_repair_recipe_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", r->entry.id);
        px_json_string(json, "help", r->entry.title);
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

void list_print_recipes(void)
{
    static const char *const titles[] = {"RECIPE",   "MODE",   "OPTIMIZER", "LR",
                                         "SCHEDULE", "EPOCHS", "BATCH",     "WHAT IT IS"};
    cli_table *table = cli_table_new("lllrlrrl");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_repair_recipe_count(); i++) {
        const px_repair_recipe *r = px_repair_recipe_get(i);
        cli_table_cell(table, "%s", r->entry.id);
        cli_table_cell(table, "%s", px_mix_name(r->mix));
        cli_table_cell(table, "%s", recipe_optimizer(r));
        cli_table_cell(table, r->optimizer ? "%g" : "x %g", r->lr);
        cli_table_cell(table, "%s", r->schedule);
        cli_table_cell(table, "%lld", (long long)r->epochs);
        cli_table_cell(table, "%lld", (long long)r->batch);
        cli_table_cell(table, "%s", r->entry.title);
    }
    cli_table_print_free(table, "");
}

void list_print_gates(void)
{
    static const char *const titles[] = {"GATE", "HOLDS AT", "STAGE", "WHAT IT IS"};
    cli_table *table = cli_table_new("llll");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_gate_kind_count(); i++) {
        const px_gate_kind *kind = px_gate_kind_get(i);
        cli_table_cell(table, "%s", kind->name);
        cli_table_cell(table, "%s", kind->most ? "most" : "least");
        cli_table_cell(table, "%s", kind->stage);
        cli_table_cell(table, "%s", kind->help);
    }
    cli_table_print_free(table, "");
}

void list_json_gates(px_json *json)
{
    px_json_array(json, "gates");
    for (size_t i = 0; i < px_gate_kind_count(); i++) {
        const px_gate_kind *kind = px_gate_kind_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", kind->name);
        px_json_string(json, "holds_at", kind->most ? "most" : "least");
        px_json_string(json, "stage", kind->stage);
        px_json_string(json, "help", kind->help);
        px_json_end(json);
    }
    px_json_end(json);
}

void list_print_preprocess(void)
{
    cli_table *table = cli_table_new("lll");
    cli_table_cell(table, "PRESET");
    cli_table_cell(table, "WHAT REACHES THE NETWORK");
    cli_table_cell(table, "USED BY");
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *p = px_preprocess_preset_get(i);
        cli_table_cell(table, "%s%s%s", p->id, p->alias ? ", " : "", p->alias ? p->alias : "");
        cli_table_cell(table, "%s", p->title);
        cli_table_cell(table, "%s", p->used);
    }
    cli_table_print_free(table, "");
}

static void preset_numbers(px_json *json, const char *key, const double *values, int count)
{
    px_json_array(json, key);
    for (int c = 0; c < count; c++)
        px_json_real(json, NULL, values[c]);
    px_json_end(json);
}

void list_json_preprocess(px_json *json)
{
    px_json_array(json, "preprocess");
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *p = px_preprocess_preset_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", p->id);
        px_json_string(json, "alias", p->alias);
        px_json_string(json, "help", p->title);
        px_json_string(json, "used", p->used);
        px_json_real(json, "range", p->range);
        preset_numbers(json, "mean", p->mean, p->channels);
        preset_numbers(json, "std", p->stddev, p->channels);
        px_json_string(json, "channels", p->bgr ? "bgr" : "rgb");
        px_json_end(json);
    }
    px_json_end(json);
}

void list_print_audio(void)
{
    cli_table *table = cli_table_new("ll");
    for (const px_param *p = px_audio_params; p->name; p++) {
        px_text value = {0};
        for (size_t c = 0; p->choices && p->choices[c]; c++)
            px_text_format(&value, "%s%s", c ? "|" : "", p->choices[c]);
        if (!p->choices)
            px_text_format(&value, "%g", p->def);
        cli_table_cell(table, "%s=%s", p->name, px_text_get(&value));
        cli_table_cell(table, "%s", p->help);
        px_text_done(&value);
    }
    cli_table_print_free(table, "");
}

void list_json_audio(px_json *json)
{
    list_json_params(px_audio_params, "audio", json);
}
