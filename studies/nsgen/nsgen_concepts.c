/* studies/nsgen/nsgen_concepts.c - Figure 2 of the NSGen paper: how many units have the same
 * concept
 *
 * The paper counts what network dissection finds in one layer. Here a unit's concepts are its
 * measured label and the class that its exemplars share, both without any learned part. A cell per
 * layer has them as names of its values ("label fine texture", "class truck"), so that the report
 * needs no bank.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_describers.h"

#include "base/memory.h"
#include "frame/study_claim.h"

#include <internal/bank.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 24,   /* concepts of either kind that a cell keeps */
    SHOWN = 10,  /* that a table's row names */
    GROUPS = 12, /* of the chart */
    WORDS = 40,  /* bytes of a concept's words in a cell */
    LAYERS = PX_PATH_LAYERS_MOST,
};

/* The bank is the study's, whatever the limit. */
static void concepts_key(size_t subject, size_t layer, char key[CELL_KEY])
{
    snprintf(key, CELL_KEY, "%s %s describers concepts-%zu run=1 n=%d",
             fz_subjects[subject].dataset, fz_subjects[subject].arch, layer + 1, NG_PICTURES);
}

px_status ng_concepts_plan(px_study *study, size_t subject, px_error *err)
{
    const fz_subject *s = &fz_subjects[subject];
    char key[CELL_KEY];
    concepts_key(subject, 0, key);
    if (pxi_cells_find(study->cells, key))
        return PX_OK;
    study_job job = {.kind = NG_CONCEPTS_KIND, .subject = subject, .run = 1, .network = 1};
    snprintf(job.label, sizeof job.label, "%s %s: units per concept", s->dataset, s->arch);
    snprintf(job.cost, sizeof job.cost, "%s %s describers concepts", s->dataset, s->arch);
    job.seconds = ng_words_done(study, subject) ? 5.0 : subject == FZ_RESNET ? 80.0 : 570.0;
    return pxi_study_add_job(study, &job, err);
}

/* --- counting --------------------------------------------------------------------------------- */

typedef struct concept {
    const char *words; /* borrowed */
    double units;
}
concept;

typedef struct tally { /* of one kind, in one layer */
    concept *list;
    size_t count, room;
} tally;

static concept *tally_find(const tally *t, const char *words)
{
    for (size_t i = 0; words && i < t->count; i++)
        if (strcmp(t->list[i].words, words) == 0)
            return &t->list[i];
    return NULL;
}

/* `words` NULL: nothing to count. */
static px_status tally_add(tally *t, const char *words, double units, px_error *err)
{
    concept *there = tally_find(t, words);
    if (there)
        there->units += units;
    if (there || !words)
        return PX_OK;
    PX_TRY(PX_GROW(t->list, t->room, t->count + 1, err));
    t->list[t->count++] = (concept){words, units};
    return PX_OK;
}

static int concept_order(const void *a, const void *b)
{
    const concept *x = a, *y = b;
    return x->units != y->units ? (x->units < y->units) - (x->units > y->units)
                                : strcmp(x->words, y->words);
}

static void tally_sort(tally *t)
{
    if (t->count)
        qsort(t->list, t->count, sizeof *t->list, concept_order);
}

static bool is_shared(const tally *t, const char *words)
{
    const concept *there = tally_find(t, words);
    return there && there->units > 1.0;
}

/* A name of at most WORDS bytes, which ends with a whole character. */
static void put_concepts(cell_list *list, const tally *t, const char *kind)
{
    for (size_t i = 0; i < t->count && i < KEPT; i++) {
        const char *words = t->list[i].words;
        size_t length = strnlen(words, WORDS + 1);
        if (length > WORDS)
            for (length = WORDS; length > 0 && ((unsigned char)words[length] & 0xc0) == 0x80;)
                length--;
        pxi_cell_put(list, t->list[i].units, "%s %.*s", kind, (int)length, words);
    }
}

static px_status put_layer(px_study *study, size_t subject, const px_bank *bank, const char *layer,
                           size_t place, double start, px_error *err)
{
    tally labels = {0}, classes = {0};
    double units = 0.0, labelled = 0.0, selective = 0.0, either = 0.0, shared = 0.0;
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_status status = PX_OK;
    for (size_t i = 0; i < px_bank_count(bank) && status == PX_OK; i++) {
        const px_bank_unit *unit = px_bank_get(bank, i);
        if (strcmp(unit->layer, layer) != 0 || unit->inactive)
            continue;
        status = tally_add(&labels, px_bank_label_of(unit), 1.0, err);
        if (status == PX_OK)
            status = tally_add(&classes, px_bank_class_of(unit), 1.0, err);
    }
    for (size_t i = 0; i < px_bank_count(bank) && status == PX_OK; i++) {
        const px_bank_unit *unit = px_bank_get(bank, i);
        if (strcmp(unit->layer, layer) != 0)
            continue;
        const char *label = unit->inactive ? NULL : px_bank_label_of(unit);
        const char *class_name = unit->inactive ? NULL : px_bank_class_of(unit);
        units++;
        labelled += label != NULL;
        selective += class_name != NULL;
        either += label || class_name;
        shared += is_shared(&labels, label) || is_shared(&classes, class_name);
    }
    tally_sort(&labels);
    tally_sort(&classes);
    pxi_cell_put(&list, units, "units");
    pxi_cell_put(&list, labelled, "labelled");
    pxi_cell_put(&list, selective, "selective");
    pxi_cell_put(&list, either, "either");
    pxi_cell_put(&list, shared, "shared");
    pxi_cell_put(&list, (double)labels.count, "labels");
    pxi_cell_put(&list, (double)classes.count, "classes");
    pxi_cell_put(&list, (double)px_bank_get_about(bank)->images, "pictures");
    put_concepts(&list, &(tally){.list = &(concept){layer, (double)place + 1.0}, .count = 1},
                 "layer");
    put_concepts(&list, &labels, "label");
    put_concepts(&list, &classes, "class");
    concepts_key(subject, place, key);
    if (status == PX_OK)
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    free(labels.list);
    free(classes.list);
    return status;
}

px_status ng_concepts_run(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    const char *layers[LAYERS];
    size_t count = 0;
    ng_words words = {0};
    px_status status = ng_words_bank(study, job->subject, &words, err);
    for (size_t i = 0; status == PX_OK && i < px_bank_count(words.bank); i++) {
        const char *layer = px_bank_get(words.bank, i)->layer;
        bool known = count == LAYERS;
        for (size_t l = 0; l < count; l++)
            known |= strcmp(layers[l], layer) == 0;
        if (!known)
            layers[count++] = layer;
    }
    /* The first layer's cell says that the job is done: it is the last to be put. */
    for (size_t l = count; l-- > 0 && status == PX_OK;)
        status = put_layer(study, job->subject, words.bank, layers[l], l, start, err);
    ng_words_close(&words);
    return status;
}

/* --- the report ------------------------------------------------------------------------------- */

/* NULL: there is none. */
static const study_cell *find_layer(const px_study *study, size_t subject, size_t layer)
{
    char key[CELL_KEY];
    concepts_key(subject, layer, key);
    return pxi_cells_find(study->cells, key);
}

/* What stands behind "label ", "class " or "layer "; NULL: the value is none of that kind. */
static const char *words_of(const cell_value *value, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(value->name, kind, length) == 0 && value->name[length] == ' '
               ? value->name + length + 1
               : NULL;
}

static const char *layer_name(const study_cell *cell)
{
    for (size_t i = 0; i < cell->count; i++)
        if (words_of(&cell->values[i], "layer"))
            return words_of(&cell->values[i], "layer");
    return "";
}

static bool collect(tally *t, const study_cell *cell, const char *kind)
{
    for (size_t i = 0; i < cell->count; i++)
        if (tally_add(t, words_of(&cell->values[i], kind), cell->values[i].number, NULL) != PX_OK)
            return false;
    return true;
}

/* "fine texture 5, blue regions 3" */
static void row_concepts(study_document *doc, const study_cell *cell, const char *kind)
{
    tally t = {0};
    px_text words = {0};
    if (!collect(&t, cell, kind))
        pxi_document_fail(doc);
    tally_sort(&t);
    for (size_t i = 0; i < t.count && i < SHOWN; i++)
        px_text_format(&words, "%s%s %.0f", i ? ", " : "", t.list[i].words, t.list[i].units);
    if (px_text_failed(&words))
        pxi_document_fail(doc);
    pxi_doc_words(doc, "%s", words.length ? px_text_get(&words) : "–");
    px_text_done(&words);
    free(t.list);
}

static void row_number(study_document *doc, const study_cell *cell, const char *name)
{
    pxi_doc_words(doc, "%.0f", pxi_cell_number(cell, name));
}

static void table_layers(const px_study *study, study_document *doc, size_t subject)
{
    static const char *const titles[] = {"units",
                                         "with a label",
                                         "class-selective",
                                         "share a concept",
                                         "labels, with their units",
                                         "classes, with their units"};
    char caption[200];
    const double pictures = pxi_cell_number(find_layer(study, subject, 0), "pictures");
    snprintf(caption, sizeof caption, "%s%s: Figure 2, units per concept (%.0f pictures%s)",
             fz_subjects[subject].title, subject == FZ_RESNET ? " (ours: ResNet-20)" : "", pictures,
             pictures < NG_PICTURES ? ", reduced" : "");
    pxi_doc_table(doc, caption, titles, PX_LEN(titles), 0);
    for (size_t l = 0; l < LAYERS; l++) {
        const study_cell *cell = find_layer(study, subject, l);
        if (!cell)
            break;
        pxi_doc_row(doc, NULL, "%s", layer_name(cell));
        row_number(doc, cell, "units");
        row_number(doc, cell, "labelled");
        row_number(doc, cell, "selective");
        row_number(doc, cell, "shared");
        row_concepts(doc, cell, "label");
        row_concepts(doc, cell, "class");
    }
}

/* A bar per layer for the most frequent concepts of all. NULL: out of memory. */
static px_plot *plot_concepts(const px_study *study, size_t subject)
{
    char title[160];
    snprintf(title, sizeof title, "Units per concept, %s, %s", fz_subjects[subject].dataset,
             fz_subjects[subject].arch);
    const px_plot_options options = {
        .title = title, .width = 1100, .height = 480, .y = {.label = "units"}};
    tally all = {0};
    const char *names[GROUPS];
    px_plot *plot = NULL;
    bool good = true;
    for (size_t l = 0; good && l < LAYERS && find_layer(study, subject, l); l++)
        good = collect(&all, find_layer(study, subject, l), "label") &&
               collect(&all, find_layer(study, subject, l), "class");
    tally_sort(&all);
    const size_t groups = PX_MIN(all.count, (size_t)GROUPS);
    for (size_t i = 0; i < groups; i++)
        names[i] = all.list[i].words;
    good = good && px_plot_new(&options, &plot, NULL) == PX_OK &&
           (groups == 0 || px_plot_groups(plot, names, groups, NULL) == PX_OK);
    for (size_t l = 0; good && groups > 0 && l < LAYERS; l++) {
        const study_cell *cell = find_layer(study, subject, l);
        double bars[GROUPS] = {0};
        tally own = {0};
        if (!cell)
            break;
        good = collect(&own, cell, "label") && collect(&own, cell, "class");
        for (size_t i = 0; i < groups; i++)
            bars[i] = tally_find(&own, names[i]) ? tally_find(&own, names[i])->units : 0.0;
        good = good && px_plot_bars(plot, layer_name(cell), bars, NULL, groups, NULL) == PX_OK;
        free(own.list);
    }
    free(all.list);
    if (good)
        return plot;
    px_plot_free(plot);
    return NULL;
}

static void claim_shared(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++)
        for (size_t l = 0; l < LAYERS && find_layer(study, subject, l); l++) {
            const study_cell *cell = find_layer(study, subject, l);
            const double either = pxi_cell_number(cell, "either");
            const double shared = pxi_cell_number(cell, "shared");
            if (!(either > 0.0))
                continue;
            fz_claim_subject(&c.evidence, subject);
            px_text_format(&c.evidence, "layer %zu, %.0f of %.0f", l + 1, shared, either);
            c.run++;
            c.held += shared > 0.5 * either;
        }
    pxi_claim_end(&c, doc,
                  "several units of a layer encode the same concept (Figure 2; read as: more than "
                  "half of the units with a label or a class share it with another)");
}

void ng_concepts_report(const px_study *study, study_document *doc)
{
    bool any = false;
    for (size_t subject = 0; subject < FZ_SUBJECTS && !any; subject++)
        any = find_layer(study, subject, 0) != NULL;
    if (!any)
        return;
    pxi_doc_heading(doc, 2, "Units per concept (Figure 2)");
    pxi_doc_paragraph(
        doc,
        "Labels are the attributes that a unit's masks overlap with most (IoU above %.2f), classes "
        "those that its exemplars share (nine of 15); both are measured, nothing of it is learned. "
        "A unit may have both. The ten most frequent of either kind per layer, all layers of "
        "decision paths. Units without either respond to something that the list of attributes "
        "does not have.",
        PX_BANK_LABEL_LEAST);
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        if (!find_layer(study, subject, 0))
            continue;
        table_layers(study, doc, subject);
        pxi_doc_plot(doc, plot_concepts(study, subject), "units per concept, by layer",
                     "concepts-%s-%s", fz_subjects[subject].dataset, fz_subjects[subject].arch);
    }
    claim_shared(study, doc);
}
