/* include/internal/minimize.h - a campaign made small: fewer inputs, and smaller faults
 *
 *     px_minimize_options options = px_minimize_options_default();
 *     options.cover = cover;                             // criteria whose coverage is to stay
 *     px_minimize_inputs(campaign, set, &pre, &options, &few, &err);
 *     px_minimized_campaign(campaign, &few, "few.campaign", false, &err);
 *     px_minimized_done(&few);
 *
 *     px_shrink_options shrink = px_shrink_options_default();
 *     px_shrink_faults(campaign, model, &pre, ids, count, &shrink, faults, &err);
 *     px_shrunk_save(campaign, faults, count, "small", false, &err);
 *
 * docs/minimize.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MINIMIZE_H
#define PXI_INTERNAL_MINIMIZE_H

#include <plexor/cover.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

/* --- fewer inputs -------------------------------------------------------------------------------
 *
 * An input is worth what it covers that no other does. Greedy set cover, exact and lazy: always the
 * input that adds most to all criteria together (elements are counted, fault types are elements
 * too), then those are dropped that became superfluous. The result covers the same elements, which
 * is measured again; it is not always the smallest set there is, which nobody can compute.
 */

typedef struct px_minimize_options {
    px_cover *cover;      /* borrowed; what it has observed is forgotten. NULL: fault types only */
    bool fault_types;     /* one fault at least for each pair (label, prediction) stays */
    int64_t batch;        /* micro-batch; 0: chosen */
    int64_t memory_bytes; /* refuse to hold more rows than this; <= 0: no limit */
    px_progress_fn progress;
    void *progress_context;
} px_minimize_options;
px_minimize_options px_minimize_options_default(void); /* fault types */

typedef struct px_minimized {
    int64_t *ids, *gains; /* in the order of being chosen, and the elements that each added */
    size_t count;
    int64_t from, from_faults, faults;     /* inputs it was chosen from; faults there, and here */
    int64_t fault_types, fault_types_left; /* pairs (label, prediction) there, and here */
    px_coverage *before, *after;           /* per criterion of the cover: equal */
    size_t criteria;
} px_minimized;

/* `set` is the campaign as a data set, its part "generated" or "all". PX_E_UNSUPPORTED, naming it,
 * for criteria that do not count elements or depend on the order of inputs. *out is the caller's on
 * PX_OK. */
px_status px_minimize_inputs(px_campaign *campaign, const px_dataset *set, const px_preprocess *pre,
                             const px_minimize_options *options, px_minimized *out, px_error *err);
void px_minimized_done(px_minimized *minimized);

/* A new campaign with those inputs, in the order of their ids, and the seeds that they come from;
 * its settings say that it was minimized, so no run goes on with it. `fresh`: in place of the
 * campaign that is there. */
px_status px_minimized_campaign(px_campaign *from, const px_minimized *minimized,
                                const char *folder, bool fresh, px_error *err);
/* id,kind,label,prediction,root,gain */
px_status px_minimized_csv(px_campaign *from, const px_minimized *minimized, const char *path,
                           px_error *err);

/* What the cover options that it filled point to. */
typedef struct px_minimize_guide {
    char **settings;
    size_t setting_count, setting_capacity;
    char *neurons;
} px_minimize_guide;

/* Names the criterion that the campaign was guided by, where that counts elements, else nc; its
 * settings and neurons fill what the options leave open. Of another campaign than one of fuzz: nc.
 * *guide is to be closed in any case, after the last use of the options. */
px_status px_minimize_guide_open(px_campaign *campaign, px_cover_options *options,
                                 px_minimize_guide *guide, px_error *err);
void px_minimize_guide_close(px_minimize_guide *guide);

/* --- smaller faults -----------------------------------------------------------------------------
 *
 * From a fault back towards its seed as far as the network still errs: links of the mutation chain
 * that are not needed are dropped; then the whole difference is scaled down; then blocks of pixels,
 * single pixels and single values go back to what the seed has; then what is left is made smaller.
 * All in the stored levels, so the result is what was judged.
 */

typedef struct px_shrink_options {
    bool same_class;         /* the answer must stay the fault's, not only wrong */
    int64_t executions;      /* of the network for one fault, at most */
    int threads;             /* <= 0: one per core; each takes a fault at a time */
    px_progress_fn progress; /* in faults */
    void *progress_context;
} px_shrink_options;
px_shrink_options px_shrink_options_default(void); /* any wrong answer, 20,000 executions */

typedef struct px_distance { /* from the seed, in scaled units: 0..1 for pictures */
    int64_t l0;              /* values that differ */
    double l2, linf;
} px_distance;

typedef struct px_shrunk_fault {
    int64_t id, root, label;
    bool errs; /* false: the network does not give the stored wrong answer; nothing was tried */
    int64_t prediction_before, prediction;
    double confidence;
    size_t links_before, links; /* of the chain; both 0 where it cannot be replayed */
    char *chain;                /* the links that were needed; NULL: as above */
    px_distance before, after;
    int64_t executions;
    uint8_t *pixels; /* as the campaign has them: planes */
} px_shrunk_fault;

/* faults[count] are the caller's on PX_OK, each for px_shrunk_done(). PX_E_USAGE: an id that is no
 * fault; PX_E_MISMATCH: the campaign is of another model; PX_E_UNSUPPORTED: it holds no 8-bit
 * inputs. */
px_status px_shrink_faults(px_campaign *campaign, const px_model *model, const px_preprocess *pre,
                           const int64_t *ids, size_t count, const px_shrink_options *options,
                           px_shrunk_fault *faults, px_error *err);
void px_shrunk_done(px_shrunk_fault *fault);

typedef struct px_shrunk_means { /* over the faults on which the network errs */
    size_t count;
    double links[2], l0[2], l2[2], linf[2]; /* before, after */
    int64_t executions;                     /* a sum, over all of them */
} px_shrunk_means;
px_shrunk_means px_shrunk_sum(const px_shrunk_fault *faults, size_t count);

/* Writes a new folder: inputs.npz (x, y, predictions, ids), index.csv, and for pictures ID.png:
 * seed, fault, what became of it, and ten times the difference of that from the seed. Faults on
 * which the network does not err as stored are left out. `fresh`: in place of what was written
 * there before (<internal/folder.h>). */
px_status px_shrunk_save(px_campaign *campaign, const px_shrunk_fault *faults, size_t count,
                         const char *folder, bool fresh, px_error *err);

PX_END_DECLS
#endif
