/* src/cli/list_mutations.c - the lists of mutations and of sets of them */
#include "cli/list_mutations.h"

#include "cli/cli.h"

#include <plexor/mutate.h>
#include <stdio.h>

static const char *mutation_group(const px_mutation *m)
{
    return m->group == PX_MUTATION_AFFINE ? "affine" : "pixel";
}

static void mutation_param(const px_mutation_param *p, px_text *text)
{
    if (p->choices) {
        px_text_format(text, "%s=", p->name);
        for (size_t i = 0; p->choices[i]; i++)
            px_text_format(text, "%s%s", i ? "|" : "", p->choices[i]);
    } else {
        px_text_format(text, "%s=%.10g..%.10g", p->name, p->least, p->most);
    }
}

static void mutations_print_sets(void)
{
    for (size_t s = 0; s < px_mutation_set_count(); s++) {
        const px_mutation_set *set = px_mutation_set_get(s);
        cli_table *table = cli_table_new("ll");
        printf("\n%s: %s (%s)\n", set->id, set->title, set->source);
        for (size_t i = 0; i < set->entry_count; i++) {
            cli_table_cell(table, "%s", set->entries[i].mutation->id);
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
        for (size_t k = 0; k < m->param_count; k++) {
            px_text_add(&params, k ? " " : "");
            mutation_param(&m->params[k], &params);
        }
        cli_table_cell(table, "%s", m->id);
        cli_table_cell(table, "%s", mutation_group(m));
        cli_table_cell(table, "%s", m->differentiable ? "yes" : "no");
        cli_table_cell(table, "%s", m->title);
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
        px_json_string(json, "name", set->id);
        px_json_string(json, "help", set->title);
        px_json_string(json, "source", set->source);
        if (px_mutation_set_rules(set))
            px_json_int(json, "rules", (int64_t)px_mutation_set_rules(set));
        px_json_object(json, "mutations");
        for (size_t i = 0; i < set->entry_count; i++)
            px_json_string(json, set->entries[i].mutation->id, set->entries[i].range);
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
        px_json_string(json, "name", m->id);
        px_json_string(json, "help", m->title);
        px_json_string(json, "group", mutation_group(m));
        px_json_bool(json, "differentiable", m->differentiable);
        px_json_array(json, "parameters");
        for (size_t k = 0; k < m->param_count; k++) {
            const px_mutation_param *p = &m->params[k];
            px_json_object(json, NULL);
            px_json_string(json, "name", p->name);
            if (p->choices) {
                px_json_array(json, "choices");
                for (size_t v = 0; p->choices[v]; v++)
                    px_json_string(json, NULL, p->choices[v]);
                px_json_end(json);
            } else {
                px_json_real(json, "least", p->least);
                px_json_real(json, "most", p->most);
                px_json_bool(json, "whole", p->integer);
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
