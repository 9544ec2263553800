/* include/internal/select.h - <plexor/select.h>, and what only plexor itself uses of it */
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
