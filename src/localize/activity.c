/* src/localize/activity.c - what the counts of a neuron can tell, whatever a measure makes of them
 *
 * Ochiai of a neuron that is always active is sqrt(F/N), which in a network with few failures may
 * be higher than that of most others: without a look at how often neurons are active, a ranking
 * shows saturation as suspicion. And a neuron that is active on three inputs, all of them wrong,
 * has the highest score that there is.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "localize/spectrum.h"

#include <internal/localize.h>
#include <internal/stats.h>

static int64_t hits_inputs(const px_hits *h)
{
    return h->as + h->af + h->ns + h->nf;
}

px_activity px_hits_activity(const px_hits *h)
{
    const double active = (double)(h->as + h->af), inputs = (double)hits_inputs(h);
    if (active > (1.0 - PX_UNINFORMATIVE_SHARE) * inputs)
        return PX_ACTIVE_ALWAYS;
    return active < PX_UNINFORMATIVE_SHARE * inputs || active == 0.0 ? PX_ACTIVE_NEVER
                                                                     : PX_ACTIVE_SOMETIMES;
}

px_activity_counts px_spectrum_activity(const px_spectrum *s, int c)
{
    px_activity_counts counts = {0};
    for (int64_t n = 0; n < s->counts.width; n++) {
        const px_hits hits = px_spectrum_hits(s, c, n);
        const px_activity activity = px_hits_activity(&hits);
        counts.sometimes += activity == PX_ACTIVE_SOMETIMES;
        counts.always += activity == PX_ACTIVE_ALWAYS;
        counts.never += activity == PX_ACTIVE_NEVER;
    }
    return counts;
}

void px_hits_interval(const px_hits *h, double *low, double *high)
{
    px_wilson(h->af, h->af + h->as, low, high);
}

/* The interval is lenient where failures are rare: one of 26 would do where one of 150 fails. */
bool px_hits_suspect(const px_hits *h)
{
    double low = 0.0, high = 1.0;
    px_hits_interval(h, &low, &high);
    return h->af >= PX_SUSPECT_FAILURES && low * (double)hits_inputs(h) > (double)(h->af + h->nf);
}

/* With ten inputs the interval of a share spans up to 0.53, with five 0.65 and with three 0.73:
 * below ten, a score says more about chance than about the neuron. Classes of a few dozen inputs
 * have no such neurons, so that there a tenth is enough; the interval shows what that is worth. */
bool px_hits_ranked(const px_hits *h)
{
    const int64_t tenth = (hits_inputs(h) + 9) / 10;
    return px_hits_activity(h) == PX_ACTIVE_SOMETIMES &&
           h->as + h->af >= PX_MIN((int64_t)PX_RANK_INPUTS, tenth);
}
