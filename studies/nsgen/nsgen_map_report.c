/* studies/nsgen/nsgen_map_report.c - Figure 8 of the NSGen paper: the map, its numbers, its claim
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_map.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "frame/study_claim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double UNKNOWN = (double)NAN;

/* --- where things are ------------------------------------------------------------------------ */

void ng_map_prefix(const px_study *study, size_t subject, char key[CELL_KEY])
{
    const int used = snprintf(key, CELL_KEY, "%s %s map", fz_subjects[subject].dataset,
                              fz_subjects[subject].arch);
    if (fz_seeds(study) != FZ_SEEDS)
        snprintf(key + used, (size_t)(CELL_KEY - used), " seeds=%" PRId64, fz_seeds(study));
}

char *ng_map_path(const px_study *study, size_t subject, int64_t run)
{
    px_text path = {0};
    px_text_format(&path, "%s/figures/%s_%s_map_%" PRId64, study->folder,
                   fz_subjects[subject].dataset, fz_subjects[subject].arch, run);
    if (fz_seeds(study) != FZ_SEEDS)
        px_text_format(&path, "_%" PRId64, fz_seeds(study));
    px_text_add(&path, ".csv");
    return px_text_take(&path);
}

static const char *guide_title(size_t guide)
{
    return fz_guides[fz_guide_find(ng_map_guides[guide])].title;
}

/* Whether the campaign was shorter than the paper's, or of fewer seeds; or is not over yet. */
static bool campaign_reduced(const px_study *study, size_t subject, size_t guide)
{
    const size_t g = fz_guide_find(ng_map_guides[guide]);
    for (fz_measure m = 0; m < FZ_MEASURES; m++) {
        const study_figure f = fz_figure(study, subject, g, m, "faults", UNKNOWN);
        if (f.n > 0 && !f.reduced)
            return false;
    }
    return true;
}

static study_figure map_figure(const px_study *study, size_t subject, size_t guide,
                               const char *name, double scale)
{
    char key[CELL_KEY], value[CELL_NAME];
    ng_map_prefix(study, subject, key);
    snprintf(value, sizeof value, "%s_%s", name, ng_map_guides[guide]);
    study_figure f = pxi_study_figure(study, key, value, scale, UNKNOWN, NG_MAP_FAULTS);
    f.reduced |= f.n > 0 && campaign_reduced(study, subject, guide);
    return f;
}

static bool was_run(const px_study *study, size_t subject)
{
    return map_figure(study, subject, NG_MAP_NSGEN, "faults", 1.0).n > 0;
}

/* --- the picture ------------------------------------------------------------------------------ */

typedef struct map_shown {
    size_t count, room[4];
    double *x, *y;
    uint16_t *colour, *mark;
} map_shown;

/* Guides, and on top of them NSGen's faults of pairs that no rival has. Colours are places in the
 * palette: NSGen's is its red. */
enum { LAYER_ONLY = NG_MAP_ALL, LAYERS };
static const uint16_t colours[LAYERS] = {1, 0, 2, 3, 9, 18, 19};
static const uint16_t marks[LAYERS] = {[LAYER_ONLY] = 3};

static void shown_done(map_shown *m)
{
    free(m->x);
    free(m->y);
    free(m->colour);
    free(m->mark);
}

static bool read_number(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

static px_status shown_row(map_shown *m, const pxi_csv *csv, size_t layer, px_error *err)
{
    enum { POINTS_MOST = 100000 };
    const size_t i = m->count;
    size_t g = 0;
    double x, y;
    while (g < NG_MAP_ALL && csv->count > 0 && strcmp(ng_map_guides[g], csv->fields[0]) != 0)
        g++;
    if (csv->count != 7 || g == NG_MAP_ALL || !read_number(csv->fields[5], &x) ||
        !read_number(csv->fields[6], &y))
        return pxi_csv_fail(csv, "expected " NG_MAP_HEADER, err);
    if (g == NG_MAP_NSGEN && strcmp(csv->fields[3], "1") == 0)
        g = LAYER_ONLY;
    if (g != layer)
        return PX_OK;
    if (i == POINTS_MOST)
        return pxi_csv_fail(csv, "more points than there can be", err);
    if (pxi_grow(&m->x, &m->room[0], i + 1, sizeof *m->x) != 0 ||
        pxi_grow(&m->y, &m->room[1], i + 1, sizeof *m->y) != 0 ||
        pxi_grow(&m->colour, &m->room[2], i + 1, sizeof *m->colour) != 0 ||
        pxi_grow(&m->mark, &m->room[3], i + 1, sizeof *m->mark) != 0)
        return pxi_no_memory(err);
    m->x[i] = x;
    m->y[i] = y;
    m->colour[i] = colours[g];
    m->mark[i] = marks[g];
    m->count++;
    return PX_OK;
}

static px_status shown_read(map_shown *m, const char *path, size_t layer, px_error *err)
{
    enum { BYTES_MOST = 1 << 26 };
    char *text = NULL;
    size_t size = 0;
    PX_TRY(pxi_file_read(path, BYTES_MOST, &text, &size, err));
    pxi_csv csv = {.at = text, .end = text + size, .name = path, .line = 1};
    px_status status = strlen(text) != size ? pxi_csv_fail(&csv, "a byte of 0", err)
                                            : pxi_csv_row(&csv, err); /* the header */
    while (status == PX_OK && csv.count > 0) {
        status = pxi_csv_row(&csv, err);
        if (status == PX_OK && csv.count > 0)
            status = shown_row(m, &csv, layer, err);
    }
    free(text);
    return status;
}

static px_status plot_make(size_t subject, const char *path, px_plot **out, px_error *err)
{
    enum { SIDE = 760 };
    char title[160];
    map_shown m = {.count = 0};
    px_plot *plot = NULL;
    snprintf(title, sizeof title, "Faults on a UMAP of the last hidden layer, %s, %s",
             fz_subjects[subject].dataset, fz_subjects[subject].arch);
    const px_plot_options options = {.title = title, .width = SIDE, .height = SIDE};
    px_status status = px_plot_new(&options, &plot, err);
    for (size_t i = 0; i < LAYERS && status == PX_OK; i++) {
        const size_t layer = i < NG_MAP_ALL ? NG_MAP_ALL - 1 - i : LAYER_ONLY, before = m.count;
        status = shown_read(&m, path, layer, err);
        if (status == PX_OK && m.count > before)
            status = layer == LAYER_ONLY
                         ? px_plot_key(plot, "NSGen, a pair that no rival has", colours[layer],
                                       marks[layer], err)
                         : px_plot_key(plot, guide_title(layer), colours[layer], -1, err);
    }
    if (status == PX_OK && m.count > 0)
        status = px_plot_map(plot, m.x, m.y, m.colour, m.mark, m.count, err);
    shown_done(&m);
    if (status == PX_OK)
        *out = plot;
    else
        px_plot_free(plot);
    return status;
}

static void plot_faults(const px_study *study, study_document *doc, size_t subject)
{
    px_error err = {0};
    px_plot *plot = NULL;
    struct stat file;
    char *path = ng_map_path(study, subject, 1);
    if (!path) {
        pxi_document_fail(doc);
    } else if (stat(path, &file) == 0) {
        if (plot_make(subject, path, &plot, &err) == PX_OK)
            pxi_doc_plot(doc, plot, "Figure 8: faults of run 1 by the guide that found them",
                         "map-%s-%s", fz_subjects[subject].dataset, fz_subjects[subject].arch);
        else
            pxi_doc_paragraph(doc, "The map cannot be drawn: %s.", err.message);
    }
    free(path);
}

/* --- the numbers ------------------------------------------------------------------------------ */

typedef struct map_column {
    const char *name, *title;
    double scale;
} map_column;

static const map_column type_columns[] = {
    {"faults", "faults", 1.0},          {"pairs", "pairs of classes", 1.0},
    {"only", "that no rival has", 1.0}, {"share", "faults of those (%)", 100.0},
    {"used", "faults drawn", 1.0},      {"drawn", "pairs among them that no rival has", 1.0},
};

static const map_column region_columns[] = {
    {"alone", "alone (%)", 100.0},
    {"chance", "by chance (%)", 100.0},
    {"p", "p", 1.0},
};

static void table_map(const px_study *study, study_document *doc, size_t subject, const char *what,
                      const map_column *columns, size_t count, int digits)
{
    const char *titles[PX_LEN(type_columns)];
    char caption[200];
    for (size_t i = 0; i < count; i++)
        titles[i] = columns[i].title;
    snprintf(caption, sizeof caption, "%s%s: Figure 8, %s", fz_subjects[subject].title,
             subject == FZ_RESNET ? " (ours: ResNet-20)" : "", what);
    pxi_doc_table(doc, caption, titles, count, digits);
    for (size_t g = 0; g < NG_MAP_ALL; g++) {
        const bool there = map_figure(study, subject, g, "faults", 1.0).n > 0;
        pxi_doc_row(doc, there ? NULL : "no campaign", "%s", guide_title(g));
        for (size_t i = 0; i < count; i++)
            pxi_doc_figure(doc, map_figure(study, subject, g, columns[i].name, columns[i].scale));
    }
}

/* --- claims ----------------------------------------------------------------------------------- */

static void claim_types(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const double only = map_figure(study, s, NG_MAP_NSGEN, "only", 1.0).mean;
        const double share = map_figure(study, s, NG_MAP_NSGEN, "share", 100.0).mean;
        if (isnan(only))
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence, "%.1f of %.1f pairs, %.1f%% of its faults", only,
                       map_figure(study, s, NG_MAP_NSGEN, "pairs", 1.0).mean, share);
        c.run++;
        c.held += only > 0.0;
    }
    pxi_claim_end(&c, doc,
                  "NSGen detects error types that KMNC, DSC and NLC ignore (section 7.6, Figure 8; "
                  "read as: pairs of true and predicted class that none of their faults has)");
}

/* NSGen against whatever stands in its place. */
static void claim_more(const px_study *study, study_document *doc, const char *name, double scale,
                       const char *text)
{
    static const size_t others[] = {NG_MAP_RANDOM, NG_MAP_LABEL};
    study_claim c = {0};
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        for (size_t i = 0; i < PX_LEN(others); i++) {
            const double own = map_figure(study, s, NG_MAP_NSGEN, name, scale).mean;
            const double other = map_figure(study, s, others[i], name, scale).mean;
            if (isnan(own) || isnan(other))
                continue;
            fz_claim_subject(&c.evidence, s);
            px_text_format(&c.evidence, "%.1f against %.1f of %s", own, other,
                           guide_title(others[i]));
            c.run++;
            c.held += own > other;
        }
    pxi_claim_end(&c, doc, text);
}

void ng_map_report(const px_study *study, study_document *doc)
{
    bool any = false;
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        any |= was_run(study, s);
    if (!any)
        return;
    pxi_doc_heading(doc, 2, "Faults that only NSGen finds (Figure 8)");
    pxi_doc_paragraph(
        doc,
        "The paper shows faults of NSGen, KMNC, DSC and NLC on a UMAP and points at red dots that "
        "lie apart; it gives no numbers. Ours are of the last hidden layer itself. *Pairs* are "
        "those of true and predicted class among all faults of a campaign. Rivals of NSGen are "
        "KMNC, DSC and NLC, rivals of these the others of the four; the class alone and random "
        "stand in NSGen's place. More faults have more pairs, so the same is counted among faults "
        "drawn at random: at most %d of each guide, and as many of NSGen as of what stands in its "
        "place. *Alone* is a fault whose %d nearest among those drawn of its guide and of its "
        "rivals are all of its guide; by chance: where guides are permuted, with p of %d "
        "permutations. Faults that descend from one seed are near each other whatever guide found "
        "them, which a permutation does not know: compare with random.",
        NG_MAP_FAULTS, NG_MAP_NEAR, NG_MAP_DRAWS);
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        if (!was_run(study, s))
            continue;
        table_map(study, doc, s, "error types that only one guide finds", type_columns,
                  PX_LEN(type_columns), 1);
        table_map(study, doc, s, "faults that have their guide's alone around them", region_columns,
                  PX_LEN(region_columns), 3);
        plot_faults(study, doc, s);
    }
    claim_types(study, doc);
    claim_more(study, doc, "drawn", 1.0,
               "plexor's own question: more such types, of as many faults, than no guide or the "
               "class alone would have in its place");
    claim_more(study, doc, "alone", 100.0,
               "plexor's own question: and more of its faults (%) lie among its own alone");
}
