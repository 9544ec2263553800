/* studies/deepsensor/deepsensor_tables.c - the tables of the DeepSensor paper, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_tables.h"
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

/* --- figures ---------------------------------------------------------------------------------- */

study_figure ds_figure(const px_study *study, size_t subject, size_t state, size_t method,
                       const char *name, double scale, double paper)
{
    char prefix[CELL_KEY];
    ds_prefix(study, subject, state, method, prefix);
    study_figure figure = pxi_study_figure(study, prefix, name, scale, paper, DS_SEEDS);
    figure.reduced |= figure.n > 0 && ds_iterations(study) != DS_ITERATIONS;
    return figure;
}

bool ds_was_run(const px_study *study, size_t subject, size_t state, size_t method)
{
    return ds_figure(study, subject, state, method, "errors", 1.0, UNKNOWN).n > 0;
}

static bool was_run_any(const px_study *study, size_t subject, size_t state)
{
    for (size_t m = 0; m < ds_method_count; m++)
        if (ds_was_run(study, subject, state, m))
            return true;
    return false;
}

const char *ds_cost_note(double seconds, char buffer[STUDY_NOTE])
{
    char cost[STUDY_COST];
    snprintf(buffer, STUDY_NOTE, "not run: about %s", pxi_study_cost(seconds, cost));
    return buffer;
}

/* Of a network's training, which no cell keeps; well-trained ones for pictures are given. */
static double network_left(const px_study *study, size_t subject, size_t state)
{
    return state == DS_CLEAN && !ds_is_audio(subject) ? 0.0
                                                      : ds_network_seconds(study, subject, state);
}

/* Of all seeds. */
static double campaign_seconds(size_t subject, size_t method)
{
    return (ds_is_audio(subject) ? DS_CLIPS : DS_SEEDS) * ds_cell_seconds(subject, method);
}

const char *ds_row_note(const px_study *study, size_t subject, size_t state, size_t method,
                        char buffer[STUDY_NOTE])
{
    if (ds_was_run(study, subject, state, method))
        return NULL;
    const char *missing = ds_missing(study, subject, state, buffer);
    return missing ? missing
                   : ds_cost_note(network_left(study, subject, state) +
                                      campaign_seconds(subject, method),
                                  buffer);
}

/* The same of a row that has all of the paper's methods: what those take that were not run. */
static const char *methods_note(const px_study *study, size_t subject, size_t state,
                                char buffer[STUDY_NOTE])
{
    double left = 0.0;
    for (size_t m = 0; m < DS_PAPER_METHODS; m++)
        if (!ds_was_run(study, subject, state, m))
            left += campaign_seconds(subject, m);
    if (left == 0.0)
        return NULL;
    const char *missing = ds_missing(study, subject, state, buffer);
    return missing ? missing : ds_cost_note(network_left(study, subject, state) + left, buffer);
}

double ds_share_scale(const px_study *study, double seeds, ds_share share)
{
    if (share == DS_COUNT)
        return 1.0;
    const double of = share == DS_PER_EXAMPLE ? seeds * (double)ds_iterations(study) / 100.0
                      : share == DS_PER_SEED  ? seeds
                                              : seeds / 100.0;
    return of > 0.0 ? 1.0 / of : 1.0;
}

double ds_scale(const px_study *study, size_t subject, size_t state, size_t method, ds_share share)
{
    return ds_share_scale(
        study, ds_figure(study, subject, state, method, "seeds", 1.0, UNKNOWN).mean, share);
}

/* Rows are methods. */
static void methods_table(const px_study *study, study_document *doc, size_t subject, size_t state,
                          const char *what, const ds_column *columns, size_t count, int digits,
                          unsigned groups)
{
    const char *titles[DS_COLUMNS_MOST];
    char caption[200], buffer[STUDY_NOTE];
    for (size_t c = 0; c < count; c++)
        titles[c] = columns[c].title;
    snprintf(caption, sizeof caption, "%s: %s", ds_subjects[subject].title, what);
    pxi_doc_table(doc, caption, titles, count, digits);
    for (size_t m = 0; m < ds_method_count; m++) {
        if (!(groups & 1u << ds_methods[m].group))
            continue;
        pxi_doc_row(doc, ds_row_note(study, subject, state, m, buffer), "%s", ds_methods[m].title);
        for (size_t c = 0; c < count; c++) {
            const ds_column *col = &columns[c];
            const bool known =
                m < DS_PAPER_METHODS && subject < DS_PAPER_SUBJECTS && col->paper >= 0;
            const double paper =
                known ? ds_table3[subject][m][col->paper] * col->paper_scale : UNKNOWN;
            pxi_doc_figure(doc, ds_figure(study, subject, state, m, col->name,
                                          ds_scale(study, subject, state, m, col->share), paper));
        }
    }
}

enum {
    MAIN_GROUPS = 1u << DS_GROUP_PAPER | 1u << DS_GROUP_CONTROL | 1u << DS_GROUP_DEFAULT |
                  1u << DS_GROUP_SEARCH
};

static const ds_column counts_columns[] = {
    {"test errors", "errors", DS_COUNT, DS_ERRORS, 1.0},
    {"error categories", "categories", DS_COUNT, DS_CATEGORIES, 1.0},
};
static const ds_column rate_columns[] = {
    {"test errors (%)", "errors", DS_PER_EXAMPLE, DS_ERRORS, 100.0 / (DS_SEEDS * DS_ITERATIONS)},
    {"average categories", "categories", DS_PER_SEED, DS_CATEGORIES, 1.0 / DS_SEEDS},
    {"seeds with an error at last (%)", "any", DS_PER_CENT, -1, 0.0},
};
static const ds_column near_columns[] = {
    {"test errors (%)", "near_errors", DS_PER_EXAMPLE, -1, 0.0},
    {"average categories", "near_categories", DS_PER_SEED, -1, 0.0},
    {"seeds with an error at last (%)", "near_any", DS_PER_CENT, -1, 0.0},
};
static const ds_column distance_columns[] = {
    {"L2", "l2", DS_COUNT, -1, 0.0},
    {"L∞", "linf", DS_COUNT, -1, 0.0},
    {"SSIM, what moved undone", "ssim", DS_COUNT, -1, 0.0},
    {"L2 within 0.1", "near_l2", DS_COUNT, -1, 0.0},
    {"L∞ within 0.1", "near_linf", DS_COUNT, -1, 0.0},
};
static const ds_column size_columns[] = {
    {"test errors (%)", "errors", DS_PER_EXAMPLE, -1, 0.0},
    {"noise as large (%)", "noise_errors", DS_PER_EXAMPLE, -1, 0.0},
    {"its changes at other places (%)", "shuffled_errors", DS_PER_EXAMPLE, -1, 0.0},
};
static const ds_column more_columns[] = {
    {"categories of examples alone, per seed", "example_categories", DS_PER_SEED, -1, 0.0},
    {"faults in fresh iterations (%)", "fresh", DS_PER_EXAMPLE, -1, 0.0},
    {"(seed, wrong class) of all faults, per seed", "pairs", DS_PER_SEED, -1, 0.0},
    {"seconds per 100 examples", "seconds_per_100", DS_COUNT, -1, 0.0},
    {"executions per seed", "executions", DS_PER_SEED, -1, 0.0},
};

void ds_table_methods(const px_study *study, study_document *doc, size_t subject, const char *table)
{
    char what[120];
    snprintf(what, sizeof what, "%s, counts", table);
    methods_table(study, doc, subject, DS_CLEAN, what, counts_columns, PX_LEN(counts_columns), 0,
                  MAIN_GROUPS);
    snprintf(what, sizeof what, "%s, rates", table);
    methods_table(study, doc, subject, DS_CLEAN, what, rate_columns, PX_LEN(rate_columns), 3,
                  MAIN_GROUPS);
    if (!was_run_any(study, subject, DS_CLEAN))
        return;
    methods_table(study, doc, subject, DS_CLEAN, "ours, every example cut to L∞ 0.1", near_columns,
                  PX_LEN(near_columns), 3, MAIN_GROUPS);
    methods_table(study, doc, subject, DS_CLEAN, "ours, how large the changes of errors are, means",
                  distance_columns, PX_LEN(distance_columns), 3, MAIN_GROUPS);
    methods_table(study, doc, subject, DS_CLEAN, "ours, what the size of the changes alone does",
                  size_columns, PX_LEN(size_columns), 3, MAIN_GROUPS);
    methods_table(study, doc, subject, DS_CLEAN, "ours, other ways to count, and what it takes",
                  more_columns, PX_LEN(more_columns), 3, MAIN_GROUPS);
}

void ds_table_norms(const px_study *study, study_document *doc, size_t subject)
{
    static const ds_column columns[] = {
        {"test errors (%)", "errors", DS_PER_EXAMPLE, -1, 0.0},
        {"average categories", "categories", DS_PER_SEED, -1, 0.0},
        {"noise as large (%)", "noise_errors", DS_PER_EXAMPLE, -1, 0.0},
        {"L2", "l2", DS_COUNT, -1, 0.0},
        {"L∞", "linf", DS_COUNT, -1, 0.0},
        {"SSIM", "ssim", DS_COUNT, -1, 0.0},
    };
    methods_table(study, doc, subject, DS_CLEAN, "other scales than nats, and its code's objective",
                  columns, PX_LEN(columns), 3, 1u << DS_GROUP_NORM);
    if (ds_was_run(study, subject, DS_CLEAN, ds_method_find("radius-0.1")))
        methods_table(study, doc, subject, DS_CLEAN, "other readings of the method", columns,
                      PX_LEN(columns), 3, 1u << DS_GROUP_TRIED);
}

/* --- faulty training -------------------------------------------------------------------------- */

/* Columns are the methods of the paper; `paper` has a row of them, or is NULL. */
static void faulty_row(const px_study *study, study_document *doc, size_t subject, size_t state,
                       const char *name, ds_share share, const double *paper, double paper_scale)
{
    char buffer[STUDY_NOTE];
    pxi_doc_row(doc, methods_note(study, subject, state, buffer), "%s, %s",
                ds_subjects[subject].title, ds_states[state].title);
    for (size_t m = 0; m < DS_PAPER_METHODS; m++)
        pxi_doc_figure(doc, ds_figure(study, subject, state, m, name,
                                      ds_scale(study, subject, state, m, share),
                                      paper ? paper[m] * paper_scale : UNKNOWN));
}

typedef struct faulty_table {
    const char *caption, *name;
    ds_share share;
    bool paper; /* it has figures of this */
} faulty_table;

void ds_table_polluted(const px_study *study, study_document *doc)
{
    static const faulty_table tables[] = {
        {"Table 4: last examples that are taken for the polluted class (% of seeds), E_pol", "pol",
         DS_PER_CENT, true},
        {"Table 4: ours, last examples that are misclassified (% of seeds), E_any", "any",
         DS_PER_CENT, false},
        {"Table 4: ours, all examples that are misclassified (%)", "errors", DS_PER_EXAMPLE, false},
        {"Table 4: ours, noise as large that is misclassified (%)", "noise_errors", DS_PER_EXAMPLE,
         false},
        {"Table 4: ours, how large the changes of errors are, mean L2", "l2", DS_COUNT, false},
        {"Table 4: ours, their mean L∞", "linf", DS_COUNT, false},
        {"Table 4: ours, their mean SSIM, what moved undone", "ssim", DS_COUNT, false},
        {"Table 4: ours, E_pol, examples cut to L∞ 0.1", "near_pol", DS_PER_CENT, false},
        {"Table 4: ours, E_any, examples cut to L∞ 0.1", "near_any", DS_PER_CENT, false},
    };
    for (size_t t = 0; t < PX_LEN(tables); t++) {
        pxi_doc_table(doc, tables[t].caption, ds_paper_methods, DS_PAPER_METHODS,
                      tables[t].paper ? 1 : 2);
        for (size_t f = 0; f < DS_FAULTY_SPEAKER; f++)
            for (size_t a = 0; a < 3; a++)
                if (tables[t].paper ||
                    was_run_any(study, ds_faulty_ways[f].subject, DS_POLLUTED10 + a))
                    faulty_row(study, doc, ds_faulty_ways[f].subject, DS_POLLUTED10 + a,
                               tables[t].name, tables[t].share,
                               tables[t].paper ? ds_table4[f][a] : NULL, 0.1);
    }
}

void ds_table_trainings(const px_study *study, study_document *doc, bool audio)
{
    static const size_t states[DS_TRAININGS] = {DS_UNDER, DS_CLEAN, DS_OVER};
    static const faulty_table tables[] = {
        {"last examples that are misclassified (% of seeds)", "any", DS_PER_CENT, true},
        {"ours, all examples that are misclassified (%)", "errors", DS_PER_EXAMPLE, false},
        {"ours, noise as large that is misclassified (%)", "noise_errors", DS_PER_EXAMPLE, false},
        {"ours, how large the changes of errors are, mean L2", "l2", DS_COUNT, false},
        {"ours, their mean L∞", "linf", DS_COUNT, false},
        {"ours, their mean SSIM, what moved undone", "ssim", DS_COUNT, false},
        {"ours, examples cut to L∞ 0.1 (% of seeds)", "near_any", DS_PER_CENT, false},
    };
    for (size_t t = 0; t < PX_LEN(tables); t++) {
        char caption[120];
        bool any = tables[t].paper;
        for (size_t s = 0; s < DS_SUBJECTS; s++)
            for (size_t i = 0; i < DS_TRAININGS; i++)
                any |= ds_faulty_of(s) < DS_FAULTY && ds_is_audio(s) == audio &&
                       was_run_any(study, s, states[i]);
        if (!any) /* ours alone, and nothing was run */
            continue;
        snprintf(caption, sizeof caption, "Table %d: %s", audio ? 7 : 5, tables[t].caption);
        pxi_doc_table(doc, caption, ds_paper_methods, DS_PAPER_METHODS, tables[t].paper ? 1 : 2);
        for (size_t s = 0; s < DS_SUBJECTS; s++) {
            const size_t f = ds_faulty_of(s);
            if (f == DS_FAULTY || ds_is_audio(s) != audio)
                continue;
            for (size_t i = 0; i < DS_TRAININGS; i++)
                if (tables[t].paper || was_run_any(study, s, states[i]))
                    faulty_row(study, doc, s, states[i], tables[t].name, tables[t].share,
                               tables[t].paper && s < DS_PAPER_SUBJECTS ? ds_table5[f][i] : NULL,
                               0.1);
        }
    }
}

/* --- RQ5 -------------------------------------------------------------------------------------- */

/* What is left of a row's three networks. */
static const char *parameter_note(const px_study *study, size_t method, char buffer[STUDY_NOTE])
{
    static const size_t states[] = {DS_CLEAN, DS_POLLUTED10, DS_OVER};
    char cost[STUDY_COST];
    double seconds = 0.0;
    size_t left = 0;
    for (size_t i = 0; i < PX_LEN(states); i++)
        if (!ds_was_run(study, DS_LENET5, states[i], method)) {
            seconds += network_left(study, DS_LENET5, states[i]);
            seconds += campaign_seconds(DS_LENET5, method);
            left++;
        }
    if (left == 0)
        return NULL;
    snprintf(buffer, STUDY_NOTE,
             left == PX_LEN(states) ? "not run: about %s" : "what is left: about %s",
             pxi_study_cost(seconds, cost));
    return buffer;
}

static void parameter_row(const px_study *study, study_document *doc, size_t method,
                          const char *label)
{
    static const struct {
        size_t state;
        const char *name;
        ds_share share;
    } columns[] = {{DS_CLEAN, "errors", DS_PER_EXAMPLE}, {DS_CLEAN, "categories", DS_PER_SEED},
                   {DS_CLEAN, "any", DS_PER_CENT},       {DS_CLEAN, "l2", DS_COUNT},
                   {DS_CLEAN, "linf", DS_COUNT},         {DS_CLEAN, "ssim", DS_COUNT},
                   {DS_POLLUTED10, "pol", DS_PER_CENT},  {DS_OVER, "any", DS_PER_CENT}};
    char buffer[STUDY_NOTE];
    pxi_doc_row(doc, parameter_note(study, method, buffer), "%s", label);
    for (size_t c = 0; c < PX_LEN(columns); c++)
        pxi_doc_figure(
            doc, ds_figure(study, DS_LENET5, columns[c].state, method, columns[c].name,
                           ds_scale(study, DS_LENET5, columns[c].state, method, columns[c].share),
                           UNKNOWN));
}

void ds_table_parameters(const px_study *study, study_document *doc)
{
    static const char *const titles[] = {
        "test errors (%)",         "average categories",     "E_any (%)", "L2", "L∞", "SSIM",
        "E_pol, 10% polluted (%)", "E_any, over-trained (%)"};
    static const struct {
        ds_group group;
        const char *caption, *own; /* what the default is in this row of things */
        double value;
    } tables[] = {
        {DS_GROUP_LAMBDA, "LeNet-5: lambda (Figure 10a)", "lambda 0.5", 0.5},
        {DS_GROUP_EPSILON, "LeNet-5: epsilon, the fitness that ends a search (Figure 10b)",
         "epsilon 1", 1.0},
        {DS_GROUP_INIT, "LeNet-5: where particles begin (Figure 11)", "at random", 1.0},
    };
    for (size_t t = 0; t < PX_LEN(tables); t++) {
        bool told = false;
        pxi_doc_table(doc, tables[t].caption, titles, PX_LEN(titles), 2);
        for (size_t m = 0; m < ds_method_count; m++) {
            if (ds_methods[m].group != tables[t].group)
                continue;
            if (!told && ds_methods[m].value > tables[t].value) {
                parameter_row(study, doc, DS_SENSOR, tables[t].own);
                told = true;
            }
            parameter_row(study, doc, m, ds_methods[m].title);
        }
        if (!told)
            parameter_row(study, doc, DS_SENSOR, tables[t].own);
    }
}

/* --- time -------------------------------------------------------------------------- */

void ds_table_times(const px_study *study, study_document *doc)
{
    static const char *const titles[] = {"DeepSensor", "its rivals, mean"};
    char buffer[STUDY_NOTE];
    pxi_doc_table(doc, "section 7: seconds for 100 examples", titles, PX_LEN(titles), 2);
    for (size_t f = 0; f < DS_FAULTY_SPEAKER; f++) {
        const size_t s = ds_faulty_ways[f].subject;
        study_figure mean = {.paper = ds_seconds[f][1], .mean = 0.0, .sd = UNKNOWN};
        pxi_doc_row(doc, ds_row_note(study, s, DS_CLEAN, DS_SENSOR, buffer), "%s",
                    ds_subjects[s].title);
        pxi_doc_figure(doc, ds_figure(study, s, DS_CLEAN, DS_SENSOR, "seconds_per_100", 1.0,
                                      ds_seconds[f][0]));
        for (size_t m = 0; m < DS_SENSOR; m++) {
            const study_figure one =
                ds_figure(study, s, DS_CLEAN, m, "seconds_per_100", 1.0, UNKNOWN);
            mean.mean += one.mean / DS_SENSOR;
            mean.n = one.n;
            mean.reduced |= one.reduced;
        }
        pxi_doc_figure(doc, mean);
    }
}

/* --- networks --------------------------------------------------------------------------------- */

static double network_paper(size_t subject, size_t state)
{
    const size_t f = ds_faulty_of(subject);
    if (state == DS_CLEAN)
        return ds_subjects[subject].accuracy;
    if (f == DS_FAULTY || subject >= DS_PAPER_SUBJECTS)
        return UNKNOWN;
    const ds_faulty *way = &ds_faulty_ways[f];
    return state == DS_UNDER  ? way->under_accuracy
           : state == DS_OVER ? way->over_accuracy
                              : way->accuracy[state - DS_POLLUTED10];
}

void ds_table_networks(const px_study *study, study_document *doc)
{
    static const char *const titles[] = {"accuracy (%)", "in training (%)"};
    pxi_doc_table(doc, "Tables 1 and 2", titles, PX_LEN(titles), 2);
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t state = 0; state < DS_STATES; state++) {
            char arch[DS_ARCH], key[CELL_KEY], buffer[STUDY_NOTE];
            const study_network network = ds_network(s, state, arch);
            pxi_network_key(&network, key);
            const study_cell *cell = pxi_cells_find(study->cells, key);
            const double paper = network_paper(s, state);
            if (!cell && isnan(paper) && state != DS_CLEAN)
                continue;
            const char *missing = cell ? NULL : ds_missing(study, s, state, buffer);
            pxi_doc_row(doc,
                        cell      ? NULL
                        : missing ? missing
                                  : "not run",
                        "%s, %s", ds_subjects[s].title, ds_states[state].title);
            /* the paper's 99.91% is what an over-trained network gets right of its own data */
            const bool training = state == DS_OVER && s < DS_PAPER_SUBJECTS && !ds_is_audio(s);
            const double test = cell ? pxi_cell_number(cell, "accuracy") : UNKNOWN;
            const double train = cell ? pxi_cell_number(cell, "train_accuracy") : UNKNOWN;
            pxi_doc_figure(doc, (study_figure){.paper = training ? UNKNOWN : paper,
                                               .mean = 100.0 * test,
                                               .sd = UNKNOWN,
                                               .n = cell != NULL});
            pxi_doc_figure(doc, (study_figure){.paper = training ? paper : UNKNOWN,
                                               .mean = 100.0 * train,
                                               .sd = UNKNOWN,
                                               .n = cell && !isnan(train)});
        }
}
