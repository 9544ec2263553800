/* src/generate/dlfuzz_neurons.c - DLFuzz's strategies of choosing neurons */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/dlfuzz_neurons.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <stdlib.h>

void pxi_dlfuzz_often(const int64_t *times, int64_t count, double *out)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)times[i];
    for (int64_t i = 0; i < count; i++)
        out[i] = sum > 0.0 ? (double)times[i] / sum : 0.0;
}

void pxi_dlfuzz_rare(const int64_t *times, int64_t count, double *out)
{
    int64_t most = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        most = PX_MAX(most, times[i]);
    for (int64_t i = 0; i < count; i++)
        sum += (double)(most - times[i]);
    for (int64_t i = 0; i < count; i++)
        out[i] = sum > 0.0 ? (double)(most - times[i]) / sum : 0.0;
}

px_status pxi_dlfuzz_heavy(const pxi_unit_facts *facts, int64_t **out, int64_t *count,
                           px_error *err)
{
    int64_t *order = pxi_calloc((size_t)facts->count, sizeof *order);
    if (!order || !pxi_unit_facts_by_weight(facts, order)) {
        free(order);
        return pxi_no_memory(err);
    }
    int64_t heavy = 0;
    while (heavy < PX_MAX(facts->count / 10, 1) && facts->weight[order[heavy]] > 0.0)
        heavy++;
    *out = order;
    *count = heavy;
    return PX_OK;
}

/* Draws without replacement by choice->weights, which are used up. */
static size_t choose_weighted(const pxi_dlfuzz_choice *c, int want, float weight, px_random *random,
                              pxi_term *out)
{
    const int64_t units = c->tally->count;
    int64_t left = 0;
    for (int64_t i = 0; i < units; i++)
        left += c->weights[i] > 0.0;
    size_t got = 0;
    for (; left > 0 && (int)got < want; left--) {
        const uint32_t at = px_rng_choose(random, c->weights, (uint32_t)units);
        c->weights[at] = 0.0;
        out[got++] = (pxi_term){at, weight};
    }
    return got;
}

/* The same from the first `count` of choice->places, each as likely as any other. */
static size_t choose_among(const pxi_dlfuzz_choice *c, int64_t count, int want, float weight,
                           px_random *random, pxi_term *out)
{
    size_t got = 0;
    for (; count > 0 && (int)got < want; count--) {
        const uint32_t at = px_rng_below(random, (uint32_t)count);
        out[got++] = (pxi_term){c->places[at], weight};
        c->places[at] = c->places[count - 1];
    }
    return got;
}

static size_t choose_between(const pxi_dlfuzz_choice *c, double low, double high, int want,
                             float weight, px_random *random, pxi_term *out)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->tally->count; i++)
        if ((double)c->values[i] > low && (double)c->values[i] < high)
            c->places[count++] = i;
    return choose_among(c, count, want, weight, random, out);
}

static size_t choose_one(const pxi_dlfuzz_choice *c, int strategy, int want, float weight,
                         px_random *random, pxi_term *out)
{
    const int64_t units = c->tally->count;
    switch (strategy) {
    case PXI_DLFUZZ_OFTEN:
        pxi_dlfuzz_often(c->tally->times, units, c->weights);
        return choose_weighted(c, want, weight, random, out);
    case PXI_DLFUZZ_RARE:
        pxi_dlfuzz_rare(c->tally->times, units, c->weights);
        return choose_weighted(c, want, weight, random, out);
    case PXI_DLFUZZ_WEIGHT:
        for (int64_t i = 0; i < c->heavy_count; i++)
            c->places[i] = c->heavy[i];
        return choose_among(c, c->heavy_count, want, weight, random, out);
    default: {
        const double t = c->threshold;
        const size_t above = choose_between(c, t, t + 0.25, want - want / 2, weight, random, out);
        return above + choose_between(c, t - 0.2, t, want / 2, -weight, random, out + above);
    }
    }
}

size_t pxi_dlfuzz_choose(const pxi_dlfuzz_choice *c, float weight, px_random *random, pxi_term *out)
{
    const int64_t units = c->tally->count;
    int64_t fresh = 0;
    if (c->neurons < 1)
        return 0;
    if (c->tally->covered == 0) {
        *out = (pxi_term){px_rng_below(random, (uint32_t)units), weight};
        return 1;
    }
    if (c->strategies == PXI_DLFUZZ_NONE) {
        for (int64_t i = 0; i < units; i++)
            if (c->tally->times[i] == 0)
                c->places[fresh++] = i;
        for (int64_t i = 0; c->tally->covered == units && i < units; i++)
            c->places[fresh++] = i; /* all have fired: any */
        return choose_among(c, fresh, c->neurons, weight, random, out);
    }
    int parts = 0, part = 0;
    for (int bit = PXI_DLFUZZ_OFTEN; bit <= PXI_DLFUZZ_NEAR; bit *= 2)
        parts += (c->strategies & bit) != 0;
    size_t got = 0;
    for (int bit = PXI_DLFUZZ_OFTEN; bit <= PXI_DLFUZZ_NEAR; bit *= 2) {
        if (!(c->strategies & bit))
            continue;
        const int want = c->neurons / parts + (part++ < c->neurons % parts);
        got += choose_one(c, bit, want, weight, random, out + got);
    }
    return got;
}
