/* src/select/sel_random.c - a random order: what every other selector has to beat
 *
 * CSM B.2: a uniform permutation by Fisher-Yates. The score is the share of candidates that come
 * after, so that the order can be read from it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/selectors.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct random_order {
    uint64_t seed;
    int64_t count;
} random_order;

static px_status random_prepare(const px_selector_request *request, void **out, px_error *err)
{
    if (request->count >= (int64_t)UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%" PRId64 " candidates are too many for it",
                       request->count);
    random_order *r = NULL;
    PX_TRY(PX_NEW(r, 1, err));
    *r = (random_order){.seed = request->seed, .count = request->count};
    *out = r;
    return PX_OK;
}

static px_status random_run(void *prepared, const px_selector_job *job, double *scores,
                            px_error *err)
{
    const random_order *r = prepared;
    int64_t *order = NULL;
    PX_TRY(PX_NEW(order, job->count, err));
    px_random rng = px_rng(r->seed, PX_RNG_SELECT, 0, 0);
    px_rng_permutation(&rng, order, (uint32_t)job->count);
    for (int64_t i = 0; i < job->count; i++)
        scores[order[i]] = (double)(job->count - 1 - i) / (double)job->count;
    free(order);
    return PX_OK;
}

const px_selector px_selector_random = {
    .entry = {.id = "random",
              .title = "a random order, by --seed",
              .source = "the baseline of all"},
    .no_rows = true,
    .prepare = random_prepare,
    .release = free,
    .run = random_run,
};
