/* studies/nsgen/nsgen_mutants.c - Figure 10 of the NSGen paper: the first mutants that guides keep
 *
 * The paper shows some of the first 20 and says what they look like. Here all 20 of a campaign's
 * first run are on a contact sheet under their seeds, FOLDER/figures/DATASET_ARCH_mutants.png, and
 * how far they are from their seeds is measured: SSIM (windows of 7 x 7, as metric ass has it), L2
 * and L-infinity of values in 0..1.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_study.h"

#include "base/memory.h"
#include "frame/study_claim.h"
#include <internal/ssim.h>

#include <internal/picture.h>
#include <internal/stats.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double UNKNOWN = (double)NAN;

enum { FIRST = 20 }; /* mutants of a guide */

static const char *const guides[] = {"nsgen", "nsgen-label-only", "kmnc", "dsc", "nlc", "random"};
enum { NSGEN, LABEL_ONLY, KMNC, DSC, NLC, RANDOM, GUIDES };

static void mutants_prefix(const px_study *study, size_t subject, size_t guide, char key[CELL_KEY])
{
    const int used = snprintf(key, CELL_KEY, "%s %s mutants %s", fz_subjects[subject].dataset,
                              fz_subjects[subject].arch, guides[guide]);
    if (fz_seeds(study) != FZ_SEEDS)
        snprintf(key + used, (size_t)(CELL_KEY - used), " seeds=%" PRId64, fz_seeds(study));
}

static const study_cell *mutants_cell(const px_study *study, size_t subject, size_t guide)
{
    char key[CELL_KEY];
    mutants_prefix(study, subject, guide, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=1 n=%d", FIRST);
    return pxi_cells_find(study->cells, key);
}

/* --- the plan --------------------------------------------------------------------------------- */

static fz_measure measure_of(const px_study *study)
{
    return study->options.each_s > 0.0 ? FZ_BY_SECONDS : FZ_BY_PICKS;
}

/* The folder of a guide's campaign, which the caller frees; NULL: there is none. */
static px_status find_campaign(const px_study *study, size_t subject, size_t guide, char **out,
                               px_error *err)
{
    char *path =
        fz_campaign_path(study, subject, fz_guide_find(guides[guide]), measure_of(study), 1);
    if (!path)
        return pxi_no_memory(err);
    if (px_campaign_is(path))
        *out = path;
    else
        free(path);
    return PX_OK;
}

/* The campaign is there, or a job before this one makes it. */
static px_status has_campaign(const px_study *study, size_t subject, size_t guide, bool *out,
                              px_error *err)
{
    char *path = NULL;
    PX_TRY(find_campaign(study, subject, guide, &path, err));
    *out = path != NULL;
    free(path);
    for (size_t i = 0; i < study->job_count && !*out; i++) {
        const study_job *job = &study->jobs[i];
        *out = strcmp(job->kind, "cell") == 0 && job->subject == subject &&
               job->a == fz_guide_find(guides[guide]) && job->b == (size_t)measure_of(study) &&
               job->run == 1;
    }
    return PX_OK;
}

px_status ng_mutants_plan(px_study *study, px_error *err)
{
    if (pxi_study_runs(study, "mutants") == 0)
        return PX_OK;
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        const fz_subject *s = &fz_subjects[subject];
        study_job job = {.kind = "mutants", .subject = subject, .run = 1, .network = 1};
        bool wanted = false;
        for (size_t g = 0; g < GUIDES && ng_planned(study, subject) && !wanted; g++)
            if (!mutants_cell(study, subject, g))
                PX_TRY(has_campaign(study, subject, g, &wanted, err));
        if (!wanted)
            continue;
        snprintf(job.label, sizeof job.label, "%s %s: the first %d mutants of guides", s->dataset,
                 s->arch, FIRST);
        snprintf(job.cost, sizeof job.cost, "%s %s mutants", s->dataset, s->arch);
        job.seconds = 3.0;
        PX_TRY(pxi_study_add_job(study, &job, err));
    }
    return PX_OK;
}

/* --- one guide's mutants ---------------------------------------------------------------------- */

typedef struct mutants_work {
    px_study *study;
    const study_job *job;
    px_campaign *campaign;
    px_sheet *sheet;
    size_t rows; /* of the sheet, in pairs */
    size_t size, channels;
    int height, width;
    bool bytes;          /* the campaign's values are 0 to 255; otherwise 0 to 1 */
    void *seed, *mutant; /* values of the campaign's type */
    double *x, *a;       /* the same in levels of 0 to 255 */
    double *scratch;     /* of SSIM */
    uint8_t *shown;      /* [1 + FIRST][2] pictures, channels together: seeds, then mutants */
    char captions[FIRST][32];
    bool fault[FIRST];
    double ssim[FIRST], l2[FIRST], linf[FIRST];
    size_t count;
} mutants_work;

static void work_forget(mutants_work *w)
{
    free(w->seed);
    free(w->mutant);
    free(w->x);
    free(w->a);
    free(w->scratch);
    free(w->shown);
    w->seed = w->mutant = NULL;
    w->x = w->a = w->scratch = NULL;
    w->shown = NULL;
    px_campaign_close(w->campaign);
    w->campaign = NULL;
}

static px_status work_open(mutants_work *w, const char *path, px_error *err)
{
    px_campaign_identity about;
    PX_TRY(px_campaign_open(path, PX_CAMPAIGN_READ, &w->campaign, err));
    w->count = 0;
    w->size = px_campaign_size(w->campaign);
    if (!px_campaign_identity_get(w->campaign, &about))
        return PX_OK; /* nothing is in it yet */
    const int64_t *dim = about.shape.dim;
    if (about.shape.rank != 3 || (dim[0] != 1 && dim[0] != 3) || dim[1] > PX_SHEET_SIDE_MOST ||
        dim[2] > PX_SHEET_SIDE_MOST)
        return px_fail(err, PX_E_MISMATCH, "'%s': its inputs are no pictures", path);
    w->channels = (size_t)dim[0];
    w->height = (int)dim[1];
    w->width = (int)dim[2];
    w->bytes = about.dtype == PX_UINT8;
    w->seed = pxi_calloc(w->size, px_dtype_size(about.dtype));
    w->mutant = pxi_calloc(w->size, px_dtype_size(about.dtype));
    w->x = pxi_calloc(w->size, sizeof *w->x);
    w->a = pxi_calloc(w->size, sizeof *w->a);
    w->scratch = pxi_calloc(pxi_ssim_scratch(w->height, w->width), sizeof *w->scratch);
    w->shown = pxi_calloc(2 * (1 + FIRST), w->size);
    if (!w->seed || !w->mutant || !w->x || !w->a || !w->scratch || !w->shown)
        return pxi_no_memory_for(err, "the mutants of '%s'", path);
    memset(w->shown, 255, 2 * (1 + FIRST) * w->size);
    return PX_OK;
}

static void to_levels(const mutants_work *w, const void *values, double *levels)
{
    for (size_t i = 0; i < w->size; i++)
        levels[i] = w->bytes ? (double)((const uint8_t *)values)[i]
                             : 255.0 * (double)((const float *)values)[i];
}

/* Planes of levels to pixels with their channels together. */
static void to_pixels(const mutants_work *w, const double *levels, uint8_t *pixels)
{
    const size_t plane = w->size / w->channels;
    for (size_t i = 0; i < w->size; i++) {
        const double level = levels[i % w->channels * plane + i / w->channels];
        pixels[i] = (uint8_t)(level >= 255.0 ? 255.0 : level > 0.0 ? level + 0.5 : 0.0);
    }
}

static void work_compare(mutants_work *w)
{
    const size_t plane = w->size / w->channels;
    double similarity = 0.0, squares = 0.0, most = 0.0;
    for (size_t c = 0; c < w->channels; c++)
        similarity += pxi_ssim(w->x + c * plane, w->a + c * plane, NULL, w->height, w->width, 255.0,
                               w->scratch);
    for (size_t i = 0; i < w->size; i++) {
        const double d = (w->a[i] - w->x[i]) / 255.0;
        squares += d * d;
        most = fmax(most, fabs(d));
    }
    w->ssim[w->count] = similarity / (double)w->channels;
    w->l2[w->count] = sqrt(squares);
    w->linf[w->count] = most;
}

static px_status work_read(mutants_work *w, px_error *err)
{
    px_campaign_input in = {.id = 0}, root;
    while (w->count < FIRST && w->size > 0) {
        PX_TRY(px_campaign_next(w->campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, w->mutant,
                                NULL, err));
        if (in.id == 0)
            break;
        PX_TRY(px_campaign_read(w->campaign, in.root, &root, w->seed, err));
        to_levels(w, w->seed, w->x);
        to_levels(w, w->mutant, w->a);
        work_compare(w);
        to_pixels(w, w->x, w->shown + (1 + w->count) * w->size);
        to_pixels(w, w->a, w->shown + (2 + FIRST + w->count) * w->size);
        w->fault[w->count] = in.kind == PX_INPUT_FAULT;
        snprintf(w->captions[w->count], sizeof w->captions[0], "%.2f\n%" PRId64 " as %" PRId64,
                 w->ssim[w->count], in.label, in.prediction);
        w->count++;
    }
    return PX_OK;
}

/* Two rows: what the mutants come from, and the mutants, faults with a frame. */
static px_status work_show(mutants_work *w, size_t guide, px_error *err)
{
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < 1 + FIRST; i++) {
            char title[80];
            const bool there = i > 0 && i - 1 < w->count;
            px_sheet_item item = {.picture = {w->width, w->height, (int)w->channels,
                                              w->shown + (row * (1 + FIRST) + i) * w->size}};
            snprintf(title, sizeof title, "%s\n%s", fz_guides[fz_guide_find(guides[guide])].title,
                     row == 0 ? "seeds" : "mutants");
            if (i == 0)
                item.caption = title;
            else if (there && row == 1)
                item.caption = w->captions[i - 1];
            item.marked = there && row == 1 && w->fault[i - 1];
            PX_TRY(px_sheet_add(w->sheet, &item, err));
        }
    w->rows++;
    return PX_OK;
}

static void put_values(cell_list *list, const double *values, size_t count, const char *name)
{
    pxi_cell_put(list, count ? px_mean(values, count) : UNKNOWN, "%s", name);
    pxi_cell_put(list, count > 1 ? px_standard_deviation(values, count) : UNKNOWN, "%s_sd", name);
}

static px_status work_put(mutants_work *w, size_t guide, double start, px_error *err)
{
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    double faults = 0.0;
    for (size_t i = 0; i < w->count; i++)
        faults += w->fault[i];
    pxi_cell_put(&list, (double)w->count, "count");
    pxi_cell_put(&list, w->count ? faults / (double)w->count : UNKNOWN, "faults");
    put_values(&list, w->ssim, w->count, "ssim");
    put_values(&list, w->l2, w->count, "l2");
    put_values(&list, w->linf, w->count, "linf");
    for (size_t i = 0; i < w->count; i++)
        pxi_cell_put(&list, w->ssim[i], "ssim_%zu", i + 1);
    mutants_prefix(w->study, w->job->subject, guide, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=1 n=%d", FIRST);
    return pxi_study_put(w->study, key, px_clock_s() - start, &list, err);
}

static px_status work_guide(mutants_work *w, size_t guide, px_error *err)
{
    const double start = px_clock_s();
    char *path = NULL;
    px_status status = find_campaign(w->study, w->job->subject, guide, &path, err);
    if (status == PX_OK && path) {
        status = work_open(w, path, err);
        if (status == PX_OK)
            status = work_read(w, err);
        if (status == PX_OK && w->count > 0)
            status = work_show(w, guide, err);
        if (status == PX_OK)
            status = work_put(w, guide, start, err);
        work_forget(w);
    }
    free(path);
    return status;
}

static px_status work_save(const mutants_work *w, px_error *err)
{
    const fz_subject *s = &fz_subjects[w->job->subject];
    px_text path = {0};
    px_text_format(&path, "%s/figures/%s_%s_mutants", w->study->folder, s->dataset, s->arch);
    if (fz_seeds(w->study) != FZ_SEEDS)
        px_text_format(&path, "_%" PRId64, fz_seeds(w->study));
    px_text_add(&path, ".png");
    px_status status = px_text_failed(&path) ? pxi_no_memory(err)
                                             : pxi_study_own(w->study, px_text_get(&path), err);
    if (status == PX_OK)
        status = px_sheet_save(w->sheet, px_text_get(&path), err);
    px_text_done(&path);
    return status;
}

px_status ng_mutants_run(px_study *study, const study_job *job, px_error *err)
{
    const px_study_options *o = &study->options;
    mutants_work w = {.study = study, .job = job};
    char title[160];
    snprintf(title, sizeof title,
             "%s, %s: the first %d mutants under their seeds; SSIM, class and prediction, faults "
             "framed",
             fz_subjects[job->subject].dataset, fz_subjects[job->subject].arch, FIRST);
    px_status status =
        px_sheet_new(&(px_sheet_options){.title = title, .columns = 1 + FIRST}, &w.sheet, err);
    for (size_t g = 0; g < GUIDES && status == PX_OK; g++) {
        status = work_guide(&w, g, err);
        if (status == PX_OK && o->progress && !o->progress(o->context, (int64_t)g + 1, GUIDES))
            status = px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    if (status == PX_OK && w.rows > 0)
        status = work_save(&w, err);
    px_sheet_free(w.sheet);
    return status;
}

/* --- the report ------------------------------------------------------------------------------- */

static study_figure figure_of(const px_study *study, size_t subject, size_t guide, const char *name,
                              double scale)
{
    const study_cell *cell = mutants_cell(study, subject, guide);
    study_figure f = {.paper = UNKNOWN, .mean = UNKNOWN, .sd = UNKNOWN};
    if (!cell)
        return f;
    f.mean = scale * pxi_cell_number(cell, name);
    f.n = 1;
    f.reduced = fz_seeds(study) != FZ_SEEDS || pxi_cell_number(cell, "count") < FIRST;
    return f;
}

static bool was_run(const px_study *study, size_t subject)
{
    for (size_t g = 0; g < GUIDES; g++)
        if (mutants_cell(study, subject, g))
            return true;
    return false;
}

static const char *guide_title(size_t guide)
{
    return fz_guides[fz_guide_find(guides[guide])].title;
}

static size_t ssim_values(const px_study *study, size_t subject, size_t guide, double values[FIRST])
{
    const study_cell *cell = mutants_cell(study, subject, guide);
    size_t count = 0;
    for (size_t i = 0; cell && i < FIRST; i++) {
        char name[CELL_NAME];
        snprintf(name, sizeof name, "ssim_%zu", i + 1);
        if (!isnan(pxi_cell_number(cell, name)))
            values[count++] = pxi_cell_number(cell, name);
    }
    return count;
}

static void table_mutants(const px_study *study, study_document *doc, size_t subject)
{
    static const char *const titles[] = {"mutants",    "SSIM",           "SSIM, sd",  "L2",
                                         "L-infinity", "L-infinity, sd", "faults (%)"};
    static const char *const names[] = {"count", "ssim",    "ssim_sd", "l2",
                                        "linf",  "linf_sd", "faults"};
    char caption[200];
    snprintf(caption, sizeof caption, "%s%s: Figure 10, the first %d mutants and their seeds",
             fz_subjects[subject].title, subject == FZ_RESNET ? " (ours: ResNet-20)" : "", FIRST);
    pxi_doc_table(doc, caption, titles, PX_LEN(titles), 3);
    for (size_t g = 0; g < GUIDES; g++) {
        const study_cell *cell = mutants_cell(study, subject, g);
        pxi_doc_row(doc, cell ? NULL : "no campaign", "%s", guide_title(g));
        if (cell)
            pxi_doc_words(doc, "%.0f", pxi_cell_number(cell, names[0]));
        else
            pxi_doc_words(doc, "–");
        for (size_t i = 1; i < PX_LEN(names); i++)
            pxi_doc_figure(doc, figure_of(study, subject, g, names[i],
                                          strcmp(names[i], "faults") == 0 ? 100.0 : 1.0));
    }
}

/* NULL: out of memory. */
static px_plot *plot_mutants(const px_study *study, size_t subject)
{
    char title[160];
    snprintf(title, sizeof title, "First mutants and their seeds, %s, %s",
             fz_subjects[subject].dataset, fz_subjects[subject].arch);
    const px_plot_options options = {.title = title, .y = {.label = "SSIM"}};
    px_plot *plot = NULL;
    px_status status = px_plot_new(&options, &plot, NULL);
    for (size_t g = 0; g < GUIDES && status == PX_OK; g++) {
        double values[FIRST];
        const size_t count = ssim_values(study, subject, g, values);
        if (count > 0)
            status = px_plot_box(plot, guide_title(g), values, count, NULL);
    }
    if (status == PX_OK)
        return plot;
    px_plot_free(plot);
    return NULL;
}

static void claim_natural(const px_study *study, study_document *doc)
{
    static const size_t others[] = {DSC, NLC};
    study_claim c = {0};
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++)
        for (size_t i = 0; i < PX_LEN(others); i++) {
            double own[FIRST], other[FIRST];
            px_mann_whitney_result test = {.p = UNKNOWN};
            const size_t n = ssim_values(study, subject, NSGEN, own);
            const size_t m = ssim_values(study, subject, others[i], other);
            if (n == 0 || m == 0)
                continue;
            if (px_mann_whitney(own, n, other, m, PX_TWO_SIDED, PX_U_AUTO, &test, NULL) != PX_OK)
                pxi_document_fail(doc);
            const double ours = px_mean(own, n), theirs = px_mean(other, m);
            fz_claim_subject(&c.evidence, subject);
            px_text_format(&c.evidence, "%.3f against %s's %.3f (p = %.3f)", ours,
                           guide_title(others[i]), theirs, test.p);
            c.run++;
            c.held += ours > theirs;
        }
    pxi_claim_end(&c, doc,
                  "mutants that NSGen keeps look more natural than those of DSC and NLC (section "
                  "7.8; read as: the first 20 have a larger mean SSIM with their seeds)");
}

void ng_mutants_report(const px_study *study, study_document *doc)
{
    bool any = false;
    for (size_t subject = 0; subject < FZ_SUBJECTS && !any; subject++)
        any = was_run(study, subject);
    if (!any)
        return;
    pxi_doc_heading(doc, 2, "The first mutants (Figure 10)");
    pxi_doc_paragraph(
        doc,
        "The paper shows some of the first 20 mutants and gives no numbers. Ours: the first %d "
        "outputs of run 1, all of them, beside the seeds that they descend from: SSIM (1: the "
        "same; windows of 7 x 7, mean over channels), distances of values in 0..1, Mann-Whitney p "
        "of the two guides' SSIM. What all guides have in common is the bound on a mutant's "
        "distance from its seed (alpha, beta); a larger SSIM is nearer to the seed, which is not "
        "all that looking natural means. The contact sheets are in the study's folder, "
        "figures/DATASET_ARCH_mutants.png.",
        FIRST);
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        if (!was_run(study, subject))
            continue;
        table_mutants(study, doc, subject);
        pxi_doc_plot(doc, plot_mutants(study, subject), "SSIM of the first mutants and their seeds",
                     "mutants-%s-%s", fz_subjects[subject].dataset, fz_subjects[subject].arch);
    }
    claim_natural(study, doc);
}
