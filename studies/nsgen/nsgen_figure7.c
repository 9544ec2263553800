/* studies/nsgen/nsgen_figure7.c - Figure 7: similarity of decision paths where mutants fail, or not
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <internal/decision_path.h>
#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;
static const double LEVEL = 0.01; /* of p */
enum { RUNS_MOST = 1000 };

static study_figure pair_figure(const px_study *study, size_t subject, size_t mode,
                                const char *name)
{
    char prefix[CELL_KEY];
    ng_correlation_prefix(subject, mode, prefix);
    return pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, ng_pairs_full(subject));
}

static bool pairs_were_run(const px_study *study, size_t subject)
{
    return pair_figure(study, subject, 0, "pairs").n > 0;
}

double ng_correlation_p(const px_study *study, size_t subject, size_t mode, size_t *runs)
{
    double values[RUNS_MOST], most = UNKNOWN;
    char prefix[CELL_KEY];
    ng_correlation_prefix(subject, mode, prefix);
    *runs = pxi_study_values(study, prefix, "p", values, RUNS_MOST);
    for (size_t i = 0; i < *runs; i++)
        most = fmax(most, values[i]);
    return most;
}

/* Five numbers of which px_plot_box() makes the very box: whiskers end where they are to, and what
 * lies beyond is not shown. */
static px_status plot_box(px_plot *plot, const px_study *study, size_t subject, size_t mode,
                          const char *part, const char *title)
{
    static const char *const names[] = {"low", "lower", "median", "upper", "high"};
    double values[PX_LEN(names)];
    char name[CELL_NAME];
    for (size_t i = 0; i < PX_LEN(names); i++) {
        snprintf(name, sizeof name, "%s_%s", part, names[i]);
        values[i] = pair_figure(study, subject, mode, name).mean;
        if (isnan(values[i]))
            return PX_OK;
    }
    return px_plot_box(plot, title, values, PX_LEN(values), NULL);
}

static px_plot *plot_of(const px_study *study, size_t subject, const char *title)
{
    const px_plot_options options = {
        .title = title,
        .note = "whiskers: the last value within 1.5 boxes; those beyond are not shown",
        .y = {.label = "similarity of decision paths"}};
    px_plot *plot = NULL;
    px_status status = px_plot_new(&options, &plot, NULL);
    for (size_t m = 0; m < NG_MODES && status == PX_OK; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s: right", px_path_mode_name(ng_modes[m]));
        status = plot_box(plot, study, subject, m, "right", name);
        snprintf(name, sizeof name, "%s: wrong", px_path_mode_name(ng_modes[m]));
        if (status == PX_OK)
            status = plot_box(plot, study, subject, m, "wrong", name);
    }
    if (status == PX_OK)
        return plot;
    px_plot_free(plot);
    return NULL;
}

static void report_subject(const px_study *study, study_document *doc, size_t subject)
{
    static const char *const columns[] = {"r",
                                          "largest p",
                                          "mean, right",
                                          "mean, wrong",
                                          "median, right",
                                          "median, wrong",
                                          "P(right above wrong)"};
    static const char *const names[] = {"right_mean", "wrong_mean", "right_median", "wrong_median",
                                        "above"};
    const fz_subject *s = &fz_subjects[subject];
    char caption[200];
    snprintf(caption, sizeof caption,
             "%s%s: similarity of the paths of %.0f images and their mutants, %.0f of which fail",
             s->title, ng_ours(subject), pair_figure(study, subject, 0, "pairs").mean,
             pair_figure(study, subject, 0, "wrong_count").mean);
    pxi_doc_table(doc, caption, columns, PX_LEN(columns), 4);
    for (size_t m = 0; m < NG_MODES; m++) {
        size_t runs;
        const double p = ng_correlation_p(study, subject, m, &runs);
        pxi_doc_row(doc, NULL, "%s (%s)", ng_mode_titles[m], px_path_mode_name(ng_modes[m]));
        pxi_doc_figure(doc, pair_figure(study, subject, m, "r"));
        if (isnan(p))
            pxi_doc_words(doc, "–");
        else
            pxi_doc_words(doc, p > 0.0 && p < 1e-4 ? "%.1e" : "%.4f", p);
        for (size_t i = 0; i < PX_LEN(names); i++)
            pxi_doc_figure(doc, pair_figure(study, subject, m, names[i]));
    }
    snprintf(caption, sizeof caption, "%s%s: similarity of decision paths and failure", s->title,
             ng_ours(subject));
    pxi_doc_plot(doc, plot_of(study, subject, caption), caption, "figure7-%s-%s", s->dataset,
                 s->arch);
}

static void claim_mode(const px_study *study, study_document *doc, size_t mode, const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        size_t runs;
        const double p = ng_correlation_p(study, s, mode, &runs);
        const double r = pair_figure(study, s, mode, "r").mean;
        if (!pairs_were_run(study, s))
            continue;
        fz_claim_subject(&c.evidence, s);
        if (isnan(p))
            px_text_add(&c.evidence, "undefined, since all mutants fail, none does, or all are "
                                     "equally similar");
        else
            px_text_format(&c.evidence, "r = %.3f, p %s %.2g", r, runs > 1 ? "at most" : "=", p);
        c.run++;
        c.held += p < LEVEL && r < 0.0; /* false for NaN */
    }
    pxi_claim_end(&c, doc, text);
}

void ng_correlation_report(const px_study *study, study_document *doc)
{
    bool any = false;
    pxi_doc_heading(doc, 2, "Similarity of decision paths, and failure (section 7.4, Figure 7)");
    pxi_doc_paragraph(
        doc,
        "Test images that the network gets right, of every class as many (100 of each for CIFAR-10 "
        "and CIFAR-100, 10 for the others; with --limit so many in all), each with one mutant that "
        "is valid by alpha 0.2 and beta 0.4. r is the point-biserial correlation of the similarity "
        "of the two decision paths with the mutant being misclassified, p its two-sided p; the "
        "paper's r and p stand in a figure alone. `label-only` cannot be wrong here: an image that "
        "is classified correctly and its mutant have the same class, and so a similarity of 1, "
        "exactly where the mutant does not fail. The words' own part is `descr-only`, which does "
        "not name the class; contributions are to the score of the true class in either case.");
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        if (pairs_were_run(study, s)) {
            report_subject(study, doc, s);
            any = true;
        }
    if (!any)
        pxi_doc_paragraph(doc, "Not run.");
    claim_mode(study, doc, 0,
               "similarity of decision paths and failure correlate, p < 0.01 (class and words, as "
               "the paper has them)");
    claim_mode(study, doc, 2,
               "plexor's own question: so does that of the words alone, which do not name the "
               "class");
}
