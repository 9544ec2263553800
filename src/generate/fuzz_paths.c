/* src/generate/fuzz_paths.c - NSGen's guide: keep what is decided on another path (LGR C.8, C.9)
 *
 * Algorithm 1: a mutant is kept where the text of its decision path is less similar to that of the
 * entry it was made from than tau. A path needs some 50 rows forward and backward where a look
 * needs one, so that a wave makes no more mutants beforehand than the present turn is likely to
 * need; guides whose texts do not name critical units are spared that. Paths depend on nothing but
 * the pixels: an entry keeps the one it was accepted with, and after --resume it is found once more
 * when it is first needed.
 *
 * The predicted class is part of the text. So that everybody sees what words add to it, each
 * mutant is also judged by the class alone (`label-only`), and the report says how often that
 * would have kept the same ones.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_paths.h"

#include "base/memory.h"

#include <internal/decision_path.h>
#include <internal/fuzz.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const guides[PX_PATH_MODE_COUNT] = {
    [PX_PATH_FULL] = "nsgen",
    [PX_PATH_LABEL_ONLY] = "nsgen-label-only",
    [PX_PATH_DESCR_ONLY] = "nsgen-descr-only",
    [PX_PATH_NO_CNS] = "nsgen-no-cns",
    [PX_PATH_NO_NLDG] = "nsgen-no-nldg",
};

const char *px_fuzz_paths_name(px_path_mode mode)
{
    return guides[mode];
}

px_status px_fuzz_paths_parse(const char *guide, bool *is, px_path_mode *mode, px_error *err)
{
    *is = strncmp(guide, "nsgen", strlen("nsgen")) == 0;
    if (!*is)
        return PX_OK;
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        if (strcmp(guides[m], guide) == 0) {
            *mode = (px_path_mode)m;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "there is no guide '%.60s'; by paths there are %s, %s, %s, %s and %s", guide,
                   guides[0], guides[1], guides[2], guides[3], guides[4]);
}

struct pxi_loop_paths {
    const px_fuzz_paths *guide;
    const px_tau *tau, *label; /* label: of label-only; NULL: unknown */
    /* Rows of one wave: at most a mutant and its parent per item. */
    float *inputs;
    int64_t *labels;
    px_path *found;
    px_path **to; /* where each goes */
    size_t row_count;
    /* Of all mutants that were judged. */
    int64_t judged, kept, kept_by_label, kept_by_both;
    double sum; /* of similarities */
};

px_status pxi_loop_paths_open(pxi_loop *loop, px_error *err)
{
    const px_fuzz *fuzz = loop->fuzz;
    const px_fuzz_paths *guide = fuzz->paths;
    if (!guide)
        return PX_OK;
    pxi_loop_paths *p = loop->paths = pxi_calloc(1, sizeof *p);
    if (!p)
        return pxi_no_memory(err);
    const size_t rows = 2 * loop->room;
    const px_tau *label = &guide->threshold->of[PX_PATH_LABEL_ONLY];
    p->guide = guide;
    p->tau = &guide->threshold->of[guide->mode];
    p->label = label->known ? label : NULL;
    p->inputs = pxi_calloc(rows, (size_t)px_paths_input_size(guide->paths) * sizeof *p->inputs);
    p->labels = pxi_calloc(rows, sizeof *p->labels);
    p->found = pxi_calloc(rows, sizeof *p->found);
    p->to = pxi_calloc(rows, sizeof *p->to);
    return p->inputs && p->labels && p->found && p->to ? PX_OK : pxi_no_memory(err);
}

void pxi_loop_paths_close(pxi_loop *loop)
{
    pxi_loop_paths *p = loop->paths;
    if (!p)
        return;
    for (size_t i = 0; i < loop->count; i++)
        free(loop->entries[i].path);
    free(p->inputs);
    free(p->labels);
    free(p->found);
    free(p->to);
    free(p);
    loop->paths = NULL;
}

bool pxi_loop_paths_dear(const pxi_loop *loop)
{
    return loop->paths && px_path_mode_needs_units(loop->paths->guide->mode);
}

/* --- a wave ---------------------------------------------------------------------------------- */

static px_status paths_ask(pxi_loop *loop, const uint8_t *pixels, size_t root, px_path *to,
                           px_error *err)
{
    pxi_loop_paths *p = loop->paths;
    const size_t row = p->row_count++;
    p->labels[row] = loop->fuzz->seeds[root].label;
    p->to[row] = to;
    return pxi_wave_input(loop, pixels,
                          p->inputs + row * (size_t)px_paths_input_size(p->guide->paths), err);
}

/* The entry that a mutant is compared with. */
static pxi_loop_entry *paths_before(pxi_loop *loop, const pxi_wave_item *item)
{
    const size_t entry = item->wish.entry;
    return &loop->entries[loop->paths->guide->root ? loop->entries[entry].root : entry];
}

static px_status paths_ask_before(pxi_loop *loop, const pxi_wave_item *item, px_error *err)
{
    pxi_loop_entry *before = paths_before(loop, item);
    if (before->path)
        return PX_OK;
    PX_TRY(PX_NEW(before->path, 1, err));
    const uint8_t *pixels = loop->paths->guide->root ? item->parent.origin : item->parent.pixels;
    return paths_ask(loop, pixels, before->root, before->path, err);
}

px_status pxi_loop_paths_wave(pxi_loop *loop, px_error *err)
{
    pxi_loop_paths *p = loop->paths;
    p->row_count = 0;
    for (size_t i = 0; i < loop->fresh_count; i++) {
        pxi_wave_item *item = &loop->items[loop->fresh[i]];
        if (!item->made.valid || item->verdict.prediction < 0)
            continue;
        PX_TRY(paths_ask_before(loop, item, err));
        PX_TRY(paths_ask(loop, loop->pixels + loop->fresh[i] * loop->rule.size,
                         loop->entries[item->wish.entry].root, &item->path, err));
    }
    const int64_t rows = (int64_t)p->row_count;
    if (!px_path_mode_needs_units(p->guide->mode))
        PX_TRY(px_paths_classes(p->guide->paths, p->inputs, p->labels, rows, p->found, err));
    else
        PX_TRY(px_paths_run(p->guide->paths, p->inputs, p->labels, rows, p->found, NULL, err));
    for (size_t r = 0; r < p->row_count; r++)
        *p->to[r] = p->found[r];
    for (size_t i = 0; i < loop->fresh_count; i++) {
        pxi_wave_item *item = &loop->items[loop->fresh[i]];
        if (!item->made.valid || item->verdict.prediction < 0)
            continue;
        const px_path *before = paths_before(loop, item)->path;
        PX_TRY(px_path_judge_similarity(p->guide->judge, p->guide->mode, before, &item->path,
                                        &item->similarity, err));
        if (p->label)
            PX_TRY(px_path_judge_similarity(p->guide->judge, PX_PATH_LABEL_ONLY, before,
                                            &item->path, &item->label_similarity, err));
    }
    return PX_OK;
}

bool pxi_loop_paths_keeps(pxi_loop *loop, const pxi_wave_item *item)
{
    pxi_loop_paths *p = loop->paths;
    const bool keeps = px_tau_keeps(p->tau, item->similarity);
    const bool by_label = p->label && px_tau_keeps(p->label, item->label_similarity);
    p->judged++;
    p->kept += keeps;
    p->kept_by_label += by_label;
    p->kept_by_both += keeps && by_label;
    p->sum += item->similarity;
    return keeps;
}

px_status pxi_loop_paths_push(pxi_loop *loop, const pxi_wave_item *item, px_error *err)
{
    pxi_loop_entry *entry = &loop->entries[loop->count - 1];
    PX_TRY(PX_NEW(entry->path, 1, err));
    *entry->path = item->path;
    return PX_OK;
}

/* --- what rows do not tell, and what is shown ------------------------------------------------ */

void pxi_loop_paths_save(const pxi_loop *loop, px_text *bytes)
{
    const pxi_loop_paths *p = loop->paths;
    pxi_fuzz_save_int(bytes, p->judged);
    pxi_fuzz_save_int(bytes, p->kept);
    pxi_fuzz_save_int(bytes, p->kept_by_label);
    pxi_fuzz_save_int(bytes, p->kept_by_both);
    pxi_fuzz_save_real(bytes, p->sum);
}

bool pxi_loop_paths_load(pxi_loop *loop, pxi_fuzz_bytes *from)
{
    pxi_loop_paths *p = loop->paths;
    return pxi_fuzz_load_int(from, 0, INT64_MAX / 2, &p->judged) &&
           pxi_fuzz_load_int(from, 0, p->judged, &p->kept) &&
           pxi_fuzz_load_int(from, 0, p->judged, &p->kept_by_label) &&
           pxi_fuzz_load_int(from, 0, p->kept, &p->kept_by_both) &&
           pxi_fuzz_load_real(from, &p->sum) && isfinite(p->sum);
}

/* DPD (Eq 5) as Table 3 prints it: accepted mutants over the number of seeds. */
px_coverage pxi_loop_paths_coverage(const pxi_loop *loop)
{
    const pxi_loop_paths *p = loop->paths;
    const double seeds = (double)PX_MAX(loop->fuzz->seed_count, 1);
    return (px_coverage){.value = p ? (double)p->kept / seeds : NAN, .covered = p ? p->kept : 0};
}

static double paths_share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

static void paths_note(px_fuzz_report *report, const char *name, double value, const char *form)
{
    if (report->note_count == PX_FUZZ_NOTES || isnan(value))
        return;
    px_fuzz_note *note = &report->notes[report->note_count++];
    note->name = name;
    snprintf(note->value, sizeof note->value, form, value);
}

void pxi_loop_paths_report(const pxi_loop *loop, px_fuzz_report *report)
{
    const pxi_loop_paths *p = loop->paths;
    const int64_t either = p->label ? p->kept + p->kept_by_label - p->kept_by_both : 0;
    px_fuzz_path_figures *figures = &report->paths;
    *figures = (px_fuzz_path_figures){
        .tau = p->tau->tau,
        .similarity = p->judged ? p->sum / (double)p->judged : (double)NAN,
        .kept = paths_share(p->kept, p->judged),
        .as_label = paths_share(p->kept_by_both, either),
    };
    report->note_count = 0;
    paths_note(report, "tau", figures->tau, "%.4f");
    paths_note(report, "similarity", figures->similarity, "%.4f");
    paths_note(report, "kept of judged", 100.0 * figures->kept, "%.1f%%");
    paths_note(report, "as label-only", 100.0 * figures->as_label, "%.1f%%");
}
