/* include/internal/select.h - <plexor/select.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SELECT_H
#define PXI_INTERNAL_SELECT_H

#include <plexor/select.h>

PX_BEGIN_DECLS

/* Rows that are the class scores as the network gives them: logits, or probabilities where it has
 * nothing else (px_scores). Width is the number of classes. */
px_status px_extractor_scores(const px_model *model, px_extractor **out, px_error *err);

/* What a profile must learn for these options: give it to px_profile_make(). `options->profile` is
 * not looked at. Free with px_lessons_free(). */
px_status px_select_lessons(const px_model *model, const px_dataset *candidates,
                            const px_preprocess *pre, const px_select_options *options,
                            px_lessons *out, px_error *err);

const void *px_select_prepared(const px_select *select, size_t i);

px_select_facts px_select_facts_of(const px_select *select, size_t i);

/* Faults, or types of faults, against how much of the ranking is taken, one line per selector,
 * with the ideal order and what chance would find; a chart (.svg) or a table (.csv), by the
 * end of the name. `percent` of the candidates are shown. */
px_status px_select_save_curve(const px_select *select, px_fault_unit unit, double percent,
                               const char *path, px_error *err);

/* The best of a part of the candidates, as a file that `plexor merge` joins. */
typedef struct px_selection px_selection;

typedef struct px_select_share { /* which part of what */
    uint64_t data;               /* px_dataset_hash() of all candidates */
    int64_t first, all;          /* the part's first; how many all parts have */
    int64_t budget;              /* that are to be selected of all */
} px_select_share;
/* PX_E_UNSUPPORTED, naming it, for a selector that does not score each candidate by itself. */
px_status px_select_can_be_part(const px_select *select, px_error *err);
/* After the run, of the first selector. */
px_status px_select_part(const px_select *select, const px_select_share *share, px_selection **out,
                         px_error *err);
/* A selection of all parts as px_select_save() writes it, if the name ends in .csv; else a state.
 */
px_status px_selection_save(const px_selection *selection, const char *path, px_error *err);
px_status px_selection_open(const char *path, px_selection **out, px_error *err);
bool px_selection_is_file(const char *path);
/* PX_E_MISMATCH where they do not belong together, or have candidates in common. */
px_status px_selection_merge(px_selection *selection, const px_selection *other, px_error *err);
int64_t px_selection_count(const px_selection *selection); /* selected so far */
int64_t px_selection_seen(const px_selection *selection);  /* candidates that were ranked */
const char *px_selection_selector(const px_selection *selection);
void px_selection_free(px_selection *selection); /* NULL is fine */

/* What the selector nss found (sel_nss.c). */
typedef struct pxi_nss_facts {
    bool original;                  /* pair=original; else pair=fresh */
    int64_t units;                  /* neurons looked at */
    int64_t sampled;                /* candidates of stage 1 */
    int64_t rejected;               /* of those, left out: neurons that are not finite */
    int64_t count;                  /* sensitive neurons */
    const int64_t *neuron;          /* them, the most sensitive first */
    const double *sum;              /* their summed sensitivity */
    int64_t seeds;                  /* how often stage 1 was repeated; 0 or 1: not */
    double least_kappa, mean_kappa; /* agreement of the sets, over all pairs of repetitions */
} pxi_nss_facts;
/* Of px_select_prepared() of the selector `nss`, after the run. Borrowed from it. */
pxi_nss_facts pxi_nss_facts_of(const void *prepared);

PX_END_DECLS
#endif
