/* src/cli/minimize_print.c - what `plexor minimize` has to say */
#include "cli/minimize_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FAULTS_LISTED = 40 };

/* --- inputs --------------------------------------------------------------------------------------
 */

void minimize_print_inputs(const px_minimized *few, const px_cover *cover, const char *to)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    printf("%s of %s inputs", cli_number((int64_t)few->count, a), cli_number(few->from, b));
    if (to)
        printf(" in %s", to);
    printf("\n");
    cli_table *table = cli_table_new("lrr");
    cli_table_cell(table, "%s", "");
    cli_table_cell(table, "%s", "before");
    cli_table_cell(table, "%s", "after");
    cli_table_cell(table, "%s", "failures");
    cli_table_cell(table, "%s", cli_number(few->from_faults, a));
    cli_table_cell(table, "%s", cli_number(few->faults, b));
    cli_table_cell(table, "%s", "kinds");
    cli_table_cell(table, "%s", cli_number(few->fault_types, a));
    cli_table_cell(table, "%s", cli_number(few->fault_types_left, b));
    for (size_t i = 0; i < few->criteria; i++) {
        cli_table_cell(table, "%s", px_cover_criterion(cover, i)->id);
        cli_table_cell(table, "%.6g", few->before[i].value);
        cli_table_cell(table, "%.6g", few->after[i].value);
    }
    cli_table_print_free(table, "");
}

void minimize_json_inputs(const px_minimized *few, const px_cover *cover, px_json *json)
{
    px_json_int(json, "from", few->from);
    px_json_int(json, "to", (int64_t)few->count);
    px_json_int(json, "faults_before", few->from_faults);
    px_json_int(json, "faults", few->faults);
    px_json_int(json, "fault_types_before", few->fault_types);
    px_json_int(json, "fault_types", few->fault_types_left);
    px_json_object(json, "criteria");
    for (size_t i = 0; i < few->criteria; i++) {
        px_json_object(json, px_cover_criterion(cover, i)->id);
        px_json_real(json, "before", few->before[i].value);
        px_json_real(json, "after", few->after[i].value);
        px_json_int(json, "covered", few->after[i].covered);
        px_json_int(json, "total", few->after[i].total);
        px_json_string(json, "settings", px_cover_settings_text(cover, i));
        px_json_string(json, "neurons", px_cover_definition(cover, i));
        px_json_end(json);
    }
    px_json_end(json);
    px_json_array(json, "ids");
    for (size_t i = 0; i < few->count; i++)
        px_json_int(json, NULL, few->ids[i]);
    px_json_end(json);
}

/* --- faults --------------------------------------------------------------------------------------
 */

typedef struct fault_means {
    size_t count;
    double links[2], l0[2], l2[2], linf[2]; /* before, after */
    int64_t executions;
} fault_means;

static fault_means faults_mean(const px_shrunk_fault *faults, size_t count)
{
    fault_means m = {0};
    for (size_t i = 0; i < count; i++) {
        const px_shrunk_fault *fault = &faults[i];
        m.executions += fault->executions;
        if (!fault->errs)
            continue;
        m.count++;
        m.links[0] += (double)fault->links_before;
        m.links[1] += (double)fault->links;
        for (int k = 0; k < 2; k++) {
            const px_distance *d = k ? &fault->after : &fault->before;
            m.l0[k] += (double)d->l0;
            m.l2[k] += d->l2;
            m.linf[k] += d->linf;
        }
    }
    for (int k = 0; k < 2 && m.count; k++) {
        m.links[k] /= (double)m.count;
        m.l0[k] /= (double)m.count;
        m.l2[k] /= (double)m.count;
        m.linf[k] /= (double)m.count;
    }
    return m;
}

static void print_pair(cli_table *table, double before, double after)
{
    cli_table_cell(table, "%.4g", before);
    cli_table_cell(table, "%.4g", after);
}

static void print_fault(cli_table *table, const px_shrunk_fault *fault)
{
    cli_table_cell(table, "%" PRId64, fault->id);
    cli_table_cell(table, "%" PRId64, fault->label);
    cli_table_cell(table, "%" PRId64, fault->prediction_before);
    cli_table_cell(table, "%" PRId64, fault->prediction);
    print_pair(table, (double)fault->links_before, (double)fault->links);
    print_pair(table, (double)fault->before.l0, (double)fault->after.l0);
    print_pair(table, fault->before.l2, fault->after.l2);
    print_pair(table, fault->before.linf, fault->after.linf);
}

void minimize_print_faults(const px_shrunk_fault *faults, size_t count, const char *to)
{
    static const char *const heads[] = {"failure", "label", "as", "now", "links", "->",
                                        "values",  "->",    "l2", "->",  "linf",  "->"};
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const fault_means m = faults_mean(faults, count);
    cli_table *table = cli_table_new("rrrrrrrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        cli_table_cell(table, "%s", heads[i]);
    size_t shown = 0;
    for (size_t i = 0; i < count && shown < FAULTS_LISTED; i++)
        if (faults[i].errs) {
            print_fault(table, &faults[i]);
            shown++;
        }
    if (m.count > 1) {
        cli_table_cell(table, "%s", "mean");
        for (int i = 0; i < 3; i++)
            cli_table_cell(table, "%s", "");
        print_pair(table, m.links[0], m.links[1]);
        print_pair(table, m.l0[0], m.l0[1]);
        print_pair(table, m.l2[0], m.l2[1]);
        print_pair(table, m.linf[0], m.linf[1]);
    }
    cli_table_print_free(table, "");
    if (shown < m.count)
        printf("and %zu more\n", m.count - shown);
    if (m.count < count)
        printf("%zu of them were left out: the network does not give the stored answer\n",
               count - m.count);
    printf("%s failure%s, %s executions%s%s\n", cli_number((int64_t)m.count, a),
           m.count == 1 ? "" : "s", cli_number(m.executions, b), to ? ", in " : "", to ? to : "");
}

static void json_distance(px_json *json, const char *key, const px_distance *distance)
{
    px_json_object(json, key);
    px_json_int(json, "l0", distance->l0);
    px_json_real(json, "l2", distance->l2);
    px_json_real(json, "linf", distance->linf);
    px_json_end(json);
}

void minimize_json_faults(const px_shrunk_fault *faults, size_t count, px_json *json)
{
    const fault_means m = faults_mean(faults, count);
    px_json_int(json, "count", (int64_t)m.count);
    px_json_int(json, "left_out", (int64_t)(count - m.count));
    px_json_int(json, "executions", m.executions);
    px_json_array(json, "faults");
    for (size_t i = 0; i < count; i++) {
        const px_shrunk_fault *fault = &faults[i];
        if (!fault->errs)
            continue;
        px_json_object(json, NULL);
        px_json_int(json, "id", fault->id);
        px_json_int(json, "root", fault->root);
        px_json_int(json, "label", fault->label);
        px_json_int(json, "prediction_before", fault->prediction_before);
        px_json_int(json, "prediction", fault->prediction);
        px_json_real(json, "confidence", fault->confidence);
        px_json_int(json, "links_before", (int64_t)fault->links_before);
        px_json_int(json, "links", (int64_t)fault->links);
        px_json_string(json, "chain", fault->chain);
        json_distance(json, "before", &fault->before);
        json_distance(json, "after", &fault->after);
        px_json_int(json, "executions", fault->executions);
        px_json_end(json);
    }
    px_json_end(json);
}
