/* src/cli/list_mutations.c - the lists of mutations and of sets of them */
#include "cli/cli.h"
#include "cli/list.h"

#include <internal/mutate.h>
#include <stdio.h>

static const char *mutation_group(const px_mutation *m)
{
    return m->group == PX_MUTATION_AFFINE ? "affine" : "pixel";
}

static void mutation_param(const px_param *p, px_text *text)
{
    if (p->choices) {
        px_text_format(text, "%s=", p->name);
        for (size_t i = 0; p->choices[i]; i++)
            px_text_format(text, "%s%s", i ? "|" : "", p->choices[i]);
    } else {
        px_text_format(text, "%s=%.10g..%.10g", p->name, p->min, p->max);
    }
}

static void mutations_print_sets(void)
{
    for (size_t s = 0; s < px_mutation_set_count(); s++) {
        const px_mutation_set *set = px_mutation_set_get(s);
        cli_table *table = cli_table_new("ll");
        cli_print("\n%s: %s (%s)\n", set->entry.id, set->entry.title, set->entry.source);
        for (size_t i = 0; i < set->entry_count; i++) {
            cli_table_cell(table, "%s", set->entries[i].mutation->entry.id);
            cli_table_cell(table, "%s", set->entries[i].range);
        }
        cli_table_print_free(table, "  ");
    }
}

void list_print_mutations(void)
{
    cli_table *table = cli_table_new("lllll");
    static const char *const titles[] = {"MUTATION", "GROUP", "DIFFERENTIABLE", "WHAT IT IS",
                                         "PARAMETERS"};
    for (size_t i = 0; i < 5; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_mutation_count(); i++) {
        const px_mutation *m = px_mutation_get(i);
        px_text params = {0};
        for (const px_param *p = m->entry.params; p->name; p++) {
            px_text_add(&params, p == m->entry.params ? "" : " ");
            mutation_param(p, &params);
        }
        cli_table_cell(table, "%s", m->entry.id);
        cli_table_cell(table, "%s", mutation_group(m));
        cli_table_cell(table, "%s", m->differentiable ? "yes" : "no");
        cli_table_cell(table, "%s", m->entry.title);
        cli_table_cell(table, "%s", px_text_get(&params));
        px_text_done(&params);
    }
    cli_table_print_free(table, "");
    mutations_print_sets();
}

static void mutations_json_sets(px_json *json)
{
    px_json_array(json, "mutation_sets");
    for (size_t s = 0; s < px_mutation_set_count(); s++) {
        const px_mutation_set *set = px_mutation_set_get(s);
        px_json_object(json, NULL);
        px_json_string(json, "name", set->entry.id);
        px_json_string(json, "help", set->entry.title);
        px_json_string(json, "source", set->entry.source);
        if (px_mutation_set_rules(set))
            px_json_int(json, "rules", (int64_t)px_mutation_set_rules(set));
        px_json_object(json, "mutations");
        for (size_t i = 0; i < set->entry_count; i++)
            px_json_string(json, set->entries[i].mutation->entry.id, set->entries[i].range);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

void list_json_mutations(px_json *json)
{
    px_json_array(json, "mutations");
    for (size_t i = 0; i < px_mutation_count(); i++) {
        const px_mutation *m = px_mutation_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", m->entry.id);
        px_json_string(json, "help", m->entry.title);
        px_json_string(json, "group", mutation_group(m));
        px_json_bool(json, "differentiable", m->differentiable);
        px_json_array(json, "parameters");
        for (const px_param *p = m->entry.params; p->name; p++) {
            px_json_object(json, NULL);
            px_json_string(json, "name", p->name);
            if (p->choices) {
                px_json_array(json, "choices");
                for (size_t v = 0; p->choices[v]; v++)
                    px_json_string(json, NULL, p->choices[v]);
                px_json_end(json);
            } else {
                px_json_real(json, "least", p->min);
                px_json_real(json, "most", p->max);
                px_json_bool(json, "whole", p->type == PX_TYPE_INT);
            }
            px_json_string(json, "help", p->help);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
    mutations_json_sets(json);
}
