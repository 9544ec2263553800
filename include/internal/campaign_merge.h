/* include/internal/campaign_merge.h - campaigns of one network and data set as one
 *
 * Seeds that several have are one; inputs come in the order of the campaigns and of their ids.
 * What repeats an input that is there already is left out: kept inputs that are the same picture,
 * and failures that nearly repeat another one of their seed and answer, within a campaign too.
 * Parents are what is left of a lineage: chains lead from the seed, so that those between are not
 * needed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CAMPAIGN_MERGE_H
#define PXI_INTERNAL_CAMPAIGN_MERGE_H

#include <plexor/store.h>

PX_BEGIN_DECLS

typedef struct px_merged {
    int64_t campaigns;
    int64_t from_seeds, from_kept, from_faults; /* in all of them */
    int64_t repeats, twins;                     /* kept inputs and failures that were left out */
    px_campaign_counts counts;                  /* of the result */
} px_merged;

/* `near`: how many levels failures may differ on average to be twins, as fuzz has it (2). `fresh`:
 * in place of the campaign that is there. PX_E_MISMATCH: they are of other networks, data or
 * kinds of pixels. The settings of the result say what it is, so no run goes on with it. */
px_status px_campaigns_merge(const char *const *folders, size_t count, const char *to, double near,
                             bool fresh, px_merged *out, px_error *err);

PX_END_DECLS
#endif
