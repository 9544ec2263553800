/* src/cli/minimize_print.c - what `plexor minimize` has to say */
#include "cli/minimize_print.h"

#include <inttypes.h>
#include <stdio.h>

enum { FAULTS_LISTED = 40 };

/* --- inputs ---------------------------------------------------------------------------------- */

typedef struct criterion_row {
    const char *id, *settings, *neurons;
    px_coverage before, after;
} criterion_row;

static const void *criterion_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    if (i >= r->few->criteria)
        return NULL;
    *(criterion_row *)place = (criterion_row){
        px_cover_criterion(r->cover, i)->entry.id, px_cover_settings_text(r->cover, i),
        px_cover_definition(r->cover, i), r->few->before[i], r->few->after[i]};
    return place;
}

typedef struct pair_row { /* a line for people: what there was, and what is left */
    const char *name;
    char before[CLI_NUMBER_TEXT], after[CLI_NUMBER_TEXT];
} pair_row;

static const void *pair_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    const px_minimized *few = r->few;
    const int64_t before[] = {few->from_faults, few->fault_types};
    const int64_t after[] = {few->faults, few->fault_types_left};
    static const char *const names[] = {"failures", "kinds"};
    pair_row *row = place;
    criterion_row criterion;
    if (i < 2) {
        row->name = names[i];
        cli_number(before[i], row->before);
        cli_number(after[i], row->after);
        return row;
    }
    if (!criterion_get(of, i - 2, &criterion))
        return NULL;
    row->name = criterion.id;
    snprintf(row->before, sizeof row->before, "%.6g", criterion.before.value);
    snprintf(row->after, sizeof row->after, "%.6g", criterion.after.value);
    return row;
}

static const px_field criterion_fields[] = {
    PX_FIELD(criterion_row, id, "criterion", "its id"),
    PX_FIELD(criterion_row, before.value, "before", "coverage of all inputs"),
    PX_FIELD(criterion_row, after.value, "after", "coverage of those that are left"),
    PX_FIELD(criterion_row, after.covered, "covered", "what was set in motion"),
    PX_FIELD(criterion_row, after.total, "total", "what there is"),
    PX_FIELD(criterion_row, settings, "settings", "as --set takes them"),
    PX_FIELD(criterion_row, neurons, "neurons", "which ones"),
    PX_FIELDS_END,
};

static const px_field few_fields[] = {
    PX_FIELD(px_minimized, from, "from", "inputs that were chosen from"),
    PX_FIELD(px_minimized, count, "to", "inputs that are left"),
    PX_FIELD(px_minimized, from_faults, "faults_before", "failures among all"),
    PX_FIELD(px_minimized, faults, "faults", "failures that are left"),
    PX_FIELD(px_minimized, fault_types, "fault_types_before", "kinds of failures among all"),
    PX_FIELD(px_minimized, fault_types_left, "fault_types", "kinds that are left"),
    PX_FIELDS_END,
};

static const px_field id_fields[] = {
    PX_VALUES(px_minimized, ids, count, "ids", "of the inputs, in the order of being chosen"),
    PX_FIELDS_END,
};

static const px_field pair_fields[] = {
    PX_FIELD(pair_row, name, NULL, NULL, .title = ""),
    PX_CHARS(pair_row, before, NULL, NULL, .title = "before", .align = 'r'),
    PX_CHARS(pair_row, after, NULL, NULL, .title = "after", .align = 'r'),
    PX_FIELDS_END,
};

static const px_field inputs_fields[] = {
    PX_OBJECT_AT(minimize_report, few, few_fields, ""),
    PX_MAP_MADE(criterion_get, criterion_fields, "criteria", "by id"),
    PX_LIST_MADE(pair_get, pair_fields, NULL, NULL, .title = "pairs"),
    PX_OBJECT_AT(minimize_report, few, id_fields, ""),
    PX_FIELDS_END,
};

static void print_inputs(const minimize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s of %s inputs", cli_number((int64_t)r->few->count, a),
              cli_number(r->few->from, b));
    if (r->to)
        cli_print(" in %s", r->to);
    cli_print("\n");
    cli_print_list(inputs_fields, "pairs", r, "", 0);
}

/* --- faults ---------------------------------------------------------------------------------- */

typedef struct fault_row { /* a line for people: a fault, or the means of all */
    char id[24], label[24], as[24], now[24];
    double links[2], l0[2], l2[2], linf[2];
} fault_row;

static const px_shrunk_fault *fault_find(const minimize_report *r, size_t i)
{
    for (size_t k = 0; k < r->fault_count; k++)
        if (r->faults[k].errs && i-- == 0)
            return &r->faults[k];
    return NULL;
}

static const void *fault_get(const void *of, size_t i, void *place)
{
    (void)place;
    return fault_find(of, i);
}

/* The first few, and behind them the means. */
static const void *fault_row_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    const px_shrunk_means *m = &r->means;
    const px_shrunk_fault *f = i < FAULTS_LISTED ? fault_find(r, i) : NULL;
    fault_row *row = place;
    *row = (fault_row){.id = "mean"};
    if (f) {
        snprintf(row->id, sizeof row->id, "%" PRId64, f->id);
        snprintf(row->label, sizeof row->label, "%" PRId64, f->label);
        snprintf(row->as, sizeof row->as, "%" PRId64, f->prediction_before);
        snprintf(row->now, sizeof row->now, "%" PRId64, f->prediction);
    } else if (m->count < 2 || i != (m->count < FAULTS_LISTED ? m->count : FAULTS_LISTED)) {
        return NULL;
    }
    for (int k = 0; k < 2; k++) {
        const px_distance *d = !f ? NULL : k ? &f->after : &f->before;
        row->links[k] = f ? (double)(k ? f->links : f->links_before) : m->links[k];
        row->l0[k] = d ? (double)d->l0 : m->l0[k];
        row->l2[k] = d ? d->l2 : m->l2[k];
        row->linf[k] = d ? d->linf : m->linf[k];
    }
    return row;
}

#define PAIR(member, name)                                                       \
    PX_FIELD(fault_row, member[0], NULL, NULL, .title = name, .format = "%.4g"), \
        PX_FIELD(fault_row, member[1], NULL, NULL, .title = "->", .format = "%.4g")
static const px_field row_fields[] = {
    PX_CHARS(fault_row, id, NULL, NULL, .title = "failure", .align = 'r'),
    PX_CHARS(fault_row, label, NULL, NULL, .title = "label", .align = 'r'),
    PX_CHARS(fault_row, as, NULL, NULL, .title = "as", .align = 'r'),
    PX_CHARS(fault_row, now, NULL, NULL, .title = "now", .align = 'r'),
    PAIR(links, "links"),
    PAIR(l0, "values"),
    PAIR(l2, "l2"),
    PAIR(linf, "linf"),
    PX_FIELDS_END,
};
#undef PAIR

static const px_field distance_fields[] = {
    PX_FIELD(px_distance, l0, "l0", "values that differ"),
    PX_FIELD(px_distance, l2, "l2", "distance"),
    PX_FIELD(px_distance, linf, "linf", "distance"),
    PX_FIELDS_END,
};

static const px_field fault_fields[] = {
    PX_FIELD(px_shrunk_fault, id, "id", "in the campaign"),
    PX_FIELD(px_shrunk_fault, root, "root", "id of its seed"),
    PX_FIELD(px_shrunk_fault, label, "label", "its class"),
    PX_FIELD(px_shrunk_fault, prediction_before, "prediction_before", "of the failure"),
    PX_FIELD(px_shrunk_fault, prediction, "prediction", "of what became of it"),
    PX_FIELD(px_shrunk_fault, confidence, "confidence", "of that"),
    PX_FIELD(px_shrunk_fault, links_before, "links_before", "of its mutation chain"),
    PX_FIELD(px_shrunk_fault, links, "links", "that were needed"),
    PX_FIELD(px_shrunk_fault, chain, "chain", "these; null: it cannot be replayed"),
    PX_OBJECT(px_shrunk_fault, before, distance_fields, "before", "from the seed"),
    PX_OBJECT(px_shrunk_fault, after, distance_fields, "after", "from the seed"),
    PX_FIELD(px_shrunk_fault, executions, "executions", "of the network"),
    PX_FIELDS_END,
};

static const px_field faults_fields[] = {
    PX_FIELD(minimize_report, means.count, "count", "failures"),
    PX_FIELD(minimize_report, left_out, "left_out", "failures that the network does not repeat"),
    PX_FIELD(minimize_report, means.executions, "executions", "of the network"),
    PX_LIST_MADE(fault_get, fault_fields, "faults", "and what became of them"),
    PX_LIST_MADE(fault_row_get, row_fields, NULL, NULL, .title = "rows"),
    PX_FIELDS_END,
};

static void print_faults(const minimize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_shrunk_means *m = &r->means;
    cli_print_list(faults_fields, "rows", r, "", 0);
    if (m->count > FAULTS_LISTED)
        cli_print("and %zu more\n", m->count - FAULTS_LISTED);
    if (r->left_out)
        cli_print("%" PRId64
                  " of them were left out: the network does not give the stored answer\n",
                  r->left_out);
    cli_print("%s failure%s, %s executions%s%s\n", cli_number((int64_t)m->count, a),
              m->count == 1 ? "" : "s", cli_number(m->executions, b), r->to ? ", in " : "",
              r->to ? r->to : "");
}

const px_field minimize_fields[] = {
    PX_OBJECT(minimize_report, origin, cli_origin_fields, ""),
    PX_OBJECT_OF(inputs_fields, "", PX_IF(minimize_report, few)),
    PX_OBJECT_OF(faults_fields, "", PX_IF(minimize_report, faults)),
    PX_FIELDS_END,
};

void minimize_print(const minimize_report *r)
{
    if (r->faults)
        print_faults(r);
    else
        print_inputs(r);
}
