/* studies/deepfault/deepfault_report.c - the DeepFault paper's tables, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepfault/deepfault_study.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;
enum { RUNS_MOST = 256 };
static const char *const dataset_titles[DF_DATASETS] = {"MNIST", "CIFAR-10"};
/* What the figures of Table 4 are multiplied by: the paper's CIFAR-10 is 0..255. */
static const double dataset_range[DF_DATASETS] = {1.0, 255.0};

/* --- figures ---------------------------------------------------------------------------------- */

study_figure df_one(const px_study *study, size_t subject, int choice, int k, double step,
                    const char *name, double scale, double paper)
{
    char prefix[CELL_KEY];
    df_prefix(subject, choice, k, step, prefix);
    return pxi_study_figure(study, prefix, name, scale, paper, DF_PER_CLASS * DF_CLASSES);
}

bool df_was_run(const px_study *study, size_t subject)
{
    double steps[DF_STEPS];
    df_steps(subject, steps);
    return df_one(study, subject, DF_OCHIAI, df_ks[df_dataset(subject)][0], steps[0], "loss", 1.0,
                  UNKNOWN)
               .n > 0;
}

study_figure df_average(const px_study *study, int dataset, unsigned choices, unsigned ks,
                        double step, const char *name, double scale, double paper)
{
    double sums[RUNS_MOST] = {0.0};
    size_t runs = RUNS_MOST, cells = 0;
    bool reduced = false;
    for (size_t n = 0; n < DF_NETWORKS; n++)
        for (int c = 0; c < DF_CHOICES; c++)
            for (int i = 0; i < DF_KS; i++) {
                const size_t subject = (size_t)dataset * DF_NETWORKS + n;
                char prefix[CELL_KEY];
                double values[RUNS_MOST];
                if (!(choices >> c & 1u) || !(ks >> i & 1u))
                    continue;
                df_prefix(subject, c, df_ks[dataset][i], step, prefix);
                const size_t got = pxi_study_values(study, prefix, name, values, RUNS_MOST);
                if (got == 0)
                    continue;
                for (size_t r = 0; r < got; r++)
                    sums[r] += values[r];
                runs = PX_MIN(runs, got);
                reduced |=
                    df_one(study, subject, c, df_ks[dataset][i], step, name, 1.0, UNKNOWN).reduced;
                cells++;
            }
    study_figure figure = {.paper = paper, .mean = UNKNOWN, .sd = UNKNOWN, .reduced = reduced};
    if (cells == 0)
        return figure;
    for (size_t r = 0; r < runs; r++)
        sums[r] *= scale / (double)cells;
    figure.n = (int64_t)runs;
    figure.mean = px_mean(sums, runs);
    figure.sd = px_standard_deviation(sums, runs);
    return figure;
}

/* Why there are no figures of a subject; NULL: there are. */
static const char *missing(const px_study *study, size_t subject, char buffer[64])
{
    return df_was_run(study, subject)
               ? NULL
               : pxi_study_missing(study, df_subjects[subject].dataset, buffer);
}

/* The same for the networks of a data set together. */
static const char *missing_all(const px_study *study, int dataset, char buffer[64])
{
    for (size_t n = 0; n < DF_NETWORKS; n++)
        if (df_was_run(study, (size_t)dataset * DF_NETWORKS + n))
            return NULL;
    return missing(study, (size_t)dataset * DF_NETWORKS, buffer);
}

static const char *const choice_columns[DF_CHOICES] = {"Tarantula", "Ochiai", "D*", "Random"};

/* --- Table 2 ---------------------------------------------------------------------------------- */

static void report_networks(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"accuracy (%)", "parameters"};
    pxi_doc_heading(doc, 2, "Networks (Table 2)");
    pxi_doc_paragraph(
        doc,
        "A network that lies in the folder's models/ with the paper's accuracy, within half a "
        "point, is used as it is; else one is trained until it has that accuracy on the test set "
        "(MNIST on five sixths of the training set, CIFAR-10 on 80%%). ours: accuracy of what was "
        "used.%s",
        pxi_study_is_jpeg(study, "cifar-10") ? " CIFAR-10 is a copy in JPEG q75 re-encoding." : "");
    pxi_doc_table(doc, "networks", columns, PX_LEN(columns), 2);
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        char key[CELL_KEY], buffer[64];
        const study_network network = df_network(s);
        pxi_network_key(&network, key);
        const study_cell *cell = pxi_cells_find(study->cells, key);
        pxi_doc_row(doc, missing(study, s, buffer), "%s, %s", df_subjects[s].title,
                    df_subjects[s].arch);
        pxi_doc_figure(
            doc, (study_figure){.paper = df_subjects[s].accuracy,
                                .mean = cell ? 100.0 * pxi_cell_number(cell, "accuracy") : UNKNOWN,
                                .sd = UNKNOWN,
                                .n = cell != NULL});
        pxi_doc_words(doc, "%ld", df_subjects[s].parameters);
    }
}

/* --- Table 3: RQ1 ----------------------------------------------------------------------------- */

static void report_table3_of(const px_study *study, study_document *doc, size_t subject,
                             double step)
{
    static const struct {
        const char *name, *caption;
        const double (*paper)[DF_KS][DF_CHOICES];
    } tables[] = {{"loss", "loss", df_table3_loss},
                  {"accuracy", "accuracy", df_table3_accuracy},
                  {"accuracy_8bit", "accuracy, as stored in 8 bits", NULL}};
    const int dataset = df_dataset(subject);
    char buffer[64];
    for (size_t t = 0; t < PX_LEN(tables); t++) {
        char caption[96];
        /* the paper's step belongs to one of the sweep at most */
        const bool paper = tables[t].paper && (dataset == DF_MNIST || step == 10.0);
        snprintf(caption, sizeof caption, "%s, step %g: %s", df_subjects[subject].title, step,
                 tables[t].caption);
        pxi_doc_table(doc, caption, choice_columns, DF_CHOICES, 2);
        for (int i = 0; i < DF_KS; i++) {
            pxi_doc_row(doc, missing(study, subject, buffer), "k = %d", df_ks[dataset][i]);
            for (int c = 0; c < DF_CHOICES; c++)
                pxi_doc_figure(doc,
                               df_one(study, subject, c, df_ks[dataset][i], step, tables[t].name,
                                      1.0, paper ? tables[t].paper[subject][i][c] : UNKNOWN));
        }
    }
}

static void report_table3(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Loss and accuracy on synthesised inputs (Table 3, RQ1)");
    pxi_doc_paragraph(
        doc, "Ten inputs of each class that the network gets right, of classes that it also gets "
             "wrong at times. Losses are cut as Keras cuts them; averages over classes of class "
             "means. The paper's figures for Tarantula, Ochiai and D* look like averages over 30 "
             "inputs (44 of 45 accuracies are thirtieths). All figures are of inputs before "
             "rounding to 8 bits, as in the paper, unless the table says otherwise.");
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        double steps[DF_STEPS];
        const size_t count = df_steps(s, steps);
        if (s == DF_NETWORKS)
            pxi_doc_paragraph(
                doc, "CIFAR-10: the paper's step of 10 and distance of 25.5 are for networks that "
                     "read 0..255. Ours read values that are scaled to 0..1 and normalised, so a "
                     "step has no equal there: steps of 0.1, 1 and 10 with a distance of 0.1 of "
                     "the range are all given, the paper's figures beside step 10.");
        for (size_t i = 0; i < (df_was_run(study, s) ? count : 1); i++)
            report_table3_of(study, doc, s, df_was_run(study, s) ? steps[i] : steps[count - 1]);
    }
}

/* --- Tables 8 and 9: significance ------------------------------------------------------------- */

static void report_tests(const px_study *study, study_document *doc)
{
    static const char *const columns[DF_PAIRS] = {"T-R", "O-R", "D-R", "T-O", "T-D", "O-D"};
    pxi_doc_heading(doc, 2, "Mann-Whitney tests (Tables 8 and 9, RQ1 and RQ2)");
    pxi_doc_paragraph(
        doc, "Two-sided p of the losses of all runs' inputs, then, after the slash, of right and "
             "wrong; * where both are below 0.05, (*) where one is. The paper tests at 95%% and "
             "does not say what a sample is, so ours is an input (one may be drawn in several "
             "runs); its ticks cannot be read in our copy, so there is no "
             "column of them. It says that T-R and O-R differ for all networks and k, D-R for "
             "those of MNIST only.");
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        double steps[DF_STEPS];
        const size_t count = df_steps(s, steps);
        for (size_t i = 0; i < (df_was_run(study, s) ? count : 1); i++) {
            char caption[160], prefix[CELL_KEY], buffer[64];
            const int *ks = df_ks[df_dataset(s)];
            df_tests_prefix(s, ks[0], steps[i], prefix);
            const double floor = pxi_study_figure(study, prefix, "smallest_p", 1, UNKNOWN, 0).mean;
            const double inputs = pxi_study_figure(study, prefix, "inputs", 1, UNKNOWN, 0).mean;
            snprintf(caption, sizeof caption,
                     isnan(floor) ? "%s" : "%s, step %g: %.0f inputs a side, smallest p %.1g",
                     df_subjects[s].title, steps[i], inputs, floor);
            pxi_doc_table(doc, caption, columns, DF_PAIRS, 3);
            for (int k = 0; k < DF_KS; k++) {
                pxi_doc_row(doc, missing(study, s, buffer), "k = %d", ks[k]);
                for (int p = 0; p < DF_PAIRS; p++) {
                    char name[CELL_NAME];
                    df_tests_prefix(s, ks[k], steps[i], prefix);
                    snprintf(name, sizeof name, "p_loss_%s", df_pairs[p].id);
                    const double loss = pxi_study_figure(study, prefix, name, 1, UNKNOWN, 0).mean;
                    snprintf(name, sizeof name, "p_wrong_%s", df_pairs[p].id);
                    const double wrong = pxi_study_figure(study, prefix, name, 1, UNKNOWN, 0).mean;
                    const int low = (loss < 0.05) + (wrong < 0.05);
                    if (isnan(loss))
                        pxi_doc_words(doc, "-");
                    else
                        pxi_doc_words(doc, "%.2g / %.2g%s", loss, wrong,
                                      low == 2   ? " *"
                                      : low == 1 ? " (*)"
                                                 : "");
                }
            }
        }
    }
}

/* --- Figure 3: RQ3 ---------------------------------------------------------------------------- */

static void report_layers(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    pxi_doc_heading(doc, 2, "Suspicious neurons by layer (Figure 3, RQ3)");
    pxi_doc_paragraph(doc, "Of the largest k, over all classes; hidden layers from the input on. "
                           "Convolutions are layers 1 to 4 of the CIFAR-10 networks.");
    for (size_t s = 0; s < DF_SUBJECTS; s++) {
        char caption[80], prefix[CELL_KEY], buffer[64];
        snprintf(caption, sizeof caption, "%s: neurons per layer", df_subjects[s].title);
        pxi_doc_table(doc, caption, columns, PX_LEN(columns), 0);
        for (int c = 0; c < DF_MEASURES; c++) {
            pxi_doc_row(doc, missing(study, s, buffer), "%s", df_choices[c].title);
            df_layers_prefix(s, c, prefix);
            for (size_t l = 0; l < PX_LEN(columns); l++) {
                char name[CELL_NAME];
                snprintf(name, sizeof name, "layer%zu", l + 1);
                pxi_doc_figure(doc, pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, 0));
            }
        }
    }
}

/* --- Table 4: RQ4 ----------------------------------------------------------------------------- */

static void report_table4(const px_study *study, study_document *doc)
{
    static const char *const columns[DF_DISTANCES] = {"L1", "L2", "Linf"};
    static const char *const names[DF_DISTANCES] = {"l1", "l2", "linf"};
    char buffer[64], caption[96];
    pxi_doc_heading(doc, 2, "Distances (Table 4, RQ4)");
    pxi_doc_paragraph(
        doc, "Means over inputs and networks. In the paper's print L1 and L2 of CIFAR-10 are "
             "swapped (L1 < L2 is impossible); they are the right way round here, and ours are in "
             "its units of 0..255, for step 10. A mean Linf of 0.1 says that the distance binds in "
             "nearly every input.");
    for (int d = 0; d < DF_DATASETS; d++) {
        const double step = d == DF_MNIST ? 1.0 : 10.0;
        snprintf(caption, sizeof caption, "%s by k", dataset_titles[d]);
        pxi_doc_table(doc, caption, columns, DF_DISTANCES, 2);
        for (int i = 0; i < DF_KS; i++) {
            pxi_doc_row(doc, missing_all(study, d, buffer), "k = %d", df_ks[d][i]);
            for (int j = 0; j < DF_DISTANCES; j++)
                pxi_doc_figure(doc, df_average(study, d, (1u << DF_MEASURES) - 1, 1u << i, step,
                                               names[j], dataset_range[d], df_table4_k[d][i][j]));
        }
        snprintf(caption, sizeof caption, "%s by measure", dataset_titles[d]);
        pxi_doc_table(doc, caption, columns, DF_DISTANCES, 2);
        for (int c = 0; c < DF_CHOICES; c++) {
            pxi_doc_row(doc, missing_all(study, d, buffer), "%s", df_choices[c].title);
            for (int j = 0; j < DF_DISTANCES; j++)
                pxi_doc_figure(doc, df_average(study, d, 1u << c, (1u << DF_KS) - 1, step, names[j],
                                               dataset_range[d], df_table4_measure[d][c][j]));
        }
    }
}

/* --- Tables 5 to 7: RQ5 ----------------------------------------------------------------------- */

static void report_rose(const px_study *study, study_document *doc)
{
    static const char *const columns[DF_DATASETS][DF_KS] = {{"1", "2", "3", "5", "10"},
                                                            {"10", "20", "30", "40", "50"}};
    char buffer[64], caption[96];
    pxi_doc_heading(doc, 2, "Neurons that rose (Tables 5 to 7, RQ5)");
    pxi_doc_paragraph(doc, "Share of pairs of an input and a raised neuron whose value is higher "
                           "than on the original, at the pre tap; CIFAR-10 with step 10.");
    for (int d = 0; d < DF_DATASETS; d++) {
        const double step = d == DF_MNIST ? 1.0 : 10.0;
        snprintf(caption, sizeof caption, "Table 5, %s: raised neurons that rose (%%), by k",
                 dataset_titles[d]);
        pxi_doc_table(doc, caption, columns[d], DF_KS, 1);
        static const struct {
            const char *title, *name;
            unsigned choices;
        } rows[] = {{"suspicious", "raised", (1u << DF_MEASURES) - 1},
                    {"suspicious, stored in 8 bits", "raised_8bit", (1u << DF_MEASURES) - 1},
                    {"random", "raised", 1u << DF_RANDOM}};
        for (size_t r = 0; r < PX_LEN(rows); r++) {
            pxi_doc_row(doc, missing_all(study, d, buffer), "%s", rows[r].title);
            for (int i = 0; i < DF_KS; i++)
                pxi_doc_figure(doc,
                               df_average(study, d, rows[r].choices, 1u << i, step, rows[r].name,
                                          100.0, r == 0 ? df_table5[d][i] : UNKNOWN));
        }
    }
    for (int d = 0; d < DF_DATASETS; d++)
        for (int c = 0; c < DF_MEASURES; c++) {
            snprintf(caption, sizeof caption,
                     "Table %d, %s: share of the first k' neurons that rose, when k were raised",
                     6 + d, df_choices[c].title);
            pxi_doc_table(doc, caption, columns[d], DF_KS, 2);
            for (int i = 0; i < DF_KS; i++) {
                pxi_doc_row(doc, missing_all(study, d, buffer), "k = %d", df_ks[d][i]);
                for (int j = 0; j < DF_KS; j++) {
                    char name[CELL_NAME];
                    snprintf(name, sizeof name, "rose%d", df_ks[d][j]);
                    if (j < i)
                        pxi_doc_words(doc, "-");
                    else
                        pxi_doc_figure(doc, df_average(study, d, 1u << c, 1u << i,
                                                       d == DF_MNIST ? 1.0 : 10.0, name, 1.0,
                                                       df_table6_7[d][c][i][j]));
                }
            }
        }
}

/* --- Table 10: RQ6 ---------------------------------------------------------------------------- */

static void report_time(const px_study *study, study_document *doc)
{
    static const char *const columns[DF_DATASETS][DF_KS] = {{"1", "2", "3", "5", "10"},
                                                            {"10", "20", "30", "40", "50"}};
    char buffer[64], caption[120];
    pxi_doc_heading(doc, 2, "Time (Table 10, RQ6)");
    pxi_doc_paragraph(
        doc, "Seconds per input (paper), and milliseconds of one worker's time per input (ours), "
             "with the judging of both forms. The paper takes one gradient per neuron, plexor one "
             "backward pass for all of them. Other programs shared the machine.");
    for (int d = 0; d < DF_DATASETS; d++)
        for (int ours = 0; ours < 2; ours++) {
            snprintf(caption, sizeof caption, "%s, %s", dataset_titles[d],
                     ours ? "milliseconds per input, ours"
                          : "seconds per input, the paper (0.5: below 1)");
            pxi_doc_table(doc, caption, columns[d], DF_KS, ours ? 3 : 1);
            for (int c = 0; c < (ours ? DF_CHOICES : DF_MEASURES); c++) {
                pxi_doc_row(doc, ours ? missing_all(study, d, buffer) : NULL, "%s",
                            df_choices[c].title);
                for (int i = 0; i < DF_KS; i++) {
                    const double step = d == DF_MNIST ? 1.0 : 10.0;
                    if (ours)
                        pxi_doc_figure(doc, df_average(study, d, 1u << c, 1u << i, step, "seconds",
                                                       1000.0, UNKNOWN));
                    else
                        pxi_doc_words(doc, "%g", df_table10[d][c][i]);
                }
            }
        }
}

void df_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "DeepFault: fault localization for deep neural networks");
    pxi_doc_paragraph(doc, "H. F. Eniser, S. Gerasimou and A. Sen, *DeepFault: Fault Localization "
                           "for Deep Neural Networks*, FASE 2019. The paper's tables, and what "
                           "plexor finds with the paper's protocol.");
    pxi_doc_paragraph(
        doc,
        "Variants where the paper leaves a choice: a neuron is active above 0 at its activation "
        "(post tap); D* has the exponent 3; ties go to the deeper layer; classes that the network "
        "never gets wrong have no suspicious neurons and no inputs. Random neurons are drawn to "
        "the layers in which the three measures' neurons are, and none of those. Gradients are of "
        "values before the activation (pre tap), as in the published code. Run r draws other "
        "inputs and other random neurons; the suspicious neurons are the same in all runs.");
    pxi_doc_heading(doc, 2, "Claims");
    df_claims(study, doc);
    report_networks(study, doc);
    report_table3(study, doc);
    report_tests(study, doc);
    report_layers(study, doc);
    report_table4(study, doc);
    report_rose(study, doc);
    report_time(study, doc);
}
