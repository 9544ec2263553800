/* include/internal/failures.h - mutants that a network gets wrong, to be trained on
 *
 *     px_failures_options options = px_failures_options_default();   // dh, those that add coverage
 *     options.model = model;
 *     options.parents = (px_feeder_set){.set = train, .pre = &pre};
 *     px_failures_make(&options, &failures, &err);
 *     px_repair_options repair_options = px_repair_options_default();
 *     repair_options.added = px_failures_added(failures);            // with their true labels
 *     ...
 *     px_failures_free(failures);                                    // when the repair is done
 *
 * Yang et al., Revisiting Neuron Coverage Metrics and Quality of Deep Neural Networks, SANER 2022:
 * each input gets one random transformation with one random parameter; no queue, no validity rule.
 * Of the mutants those are kept that the network gets wrong and (unless that is not asked for) that
 * cover what the data set does not: Algorithm 1, line 9. That coverage is NC with the raw variant.
 * Everything depends on the seed and the data, never on threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FAILURES_H
#define PXI_INTERNAL_FAILURES_H

#include <internal/feeder.h>
#include <plexor/engine.h>

PX_BEGIN_DECLS

/* Ids of generators, and the mutations each draws from (px_mutations_parse()): "dh" (DeepHunter's
 * nine), "dh-d" (its differentiable ones), "dh-n" (the others). */
const char *px_generator_mutations(const char *id); /* NULL: there is no such one */

#define PX_KEEPS(X)                                                                  \
    X(PX_KEEP_IMPROVING, "improving", "wrong, and NC of the data set rises with it") \
    X(PX_KEEP_REMAINING, "remaining", "wrong, and it does not: the control arm")     \
    X(PX_KEEP_WRONG, "wrong", "all that are wrong; coverage is not looked at")

typedef enum px_failures_keep {
#define PX_KEEP_ENUM(enumerator, id, help) enumerator,
    PX_KEEPS(PX_KEEP_ENUM)
#undef PX_KEEP_ENUM
} px_failures_keep;
const char *px_failures_keep_name(px_failures_keep keep);

typedef struct px_failures_options { /* what it points to outlives what is made */
    const px_model *model;           /* that has to be wrong, and whose neurons are covered */
    const char *generator;           /* an id of above */
    px_feeder_set parents;           /* labelled pictures; items NULL: all of the set */
    /* The data set D whose coverage is to rise: all these together. NULL: the parents. */
    const px_feeder_set *covered;
    size_t covered_count;
    px_failures_keep keep;
    /* Coverage of a mutant is compared with that of the picture it was made from, and not with D's
     * (the rule of the paper's published code). */
    bool pairwise;
    double threshold;    /* of NC: 0.75 */
    const char *neurons; /* text of the neuron option; NULL: the criterion's own */
    uint64_t seed;
    uint32_t iteration; /* of px_mutant_set_new(): other draws by the same seed */
    int threads;        /* <= 0: one per core */
    px_progress_fn progress;
    void *progress_context;
} px_failures_options;

px_failures_options px_failures_options_default(void);

typedef struct px_failures px_failures;

/* With PX_KEEP_IMPROVING, D grows by what is kept, in the order of the parents, so that two mutants
 * that add the same count once. PX_E_MISMATCH where the inputs are no pictures or have no labels.
 */
px_status px_failures_make(const px_failures_options *options, px_failures **out, px_error *err);
void px_failures_free(px_failures *failures); /* NULL is fine */

/* What was kept, as a set to be trained on: borrowed; a count of 0 means that nothing was. The set
 * has a mutant of every input of parents.set, `items` says which were kept, ascending. */
px_feeder_set px_failures_added(const px_failures *failures);

typedef struct px_failures_counts {
    int64_t mutants;
    int64_t wrong;     /* of them */
    int64_t improving; /* of the wrong ones; -1: coverage was not looked at */
    int64_t kept;
    double coverage_before,
        coverage_after; /* of D, without and with what was kept; NaN: likewise */
} px_failures_counts;
px_failures_counts px_failures_count(const px_failures *failures);

PX_END_DECLS
#endif
