/* src/generate/synthesis_choose.c - which inputs to synthesise from */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/rng.h>
#include <internal/synthesize.h>

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* Draws from the right inputs of one class, and keeps the drawn ones in the data's order. */
static px_status choose_class(const px_dataset *set, const px_synthesis_choice *choice, int c,
                              int64_t *out, int64_t *used, px_error *err)
{
    const int64_t count = px_dataset_count(set);
    int64_t right = 0;
    for (int64_t i = 0; i < count; i++)
        right += px_dataset_label(set, i) == c && choice->predictions[i] == c;
    if (right == 0)
        return PX_OK;
    int64_t *order = pxi_calloc((size_t)right, sizeof *order);
    bool *drawn = pxi_calloc((size_t)right, sizeof *drawn);
    if (!order || !drawn) {
        free(order);
        free(drawn);
        return pxi_no_memory(err);
    }
    px_random random = px_rng(choice->seed, PX_RNG_SAMPLE, (uint32_t)c, choice->run);
    px_rng_permutation(&random, order, (uint32_t)right);
    for (int64_t i = 0; i < PX_MIN(choice->per_class, right); i++)
        drawn[order[i]] = true;
    for (int64_t i = 0, at = 0; i < count; i++)
        if (px_dataset_label(set, i) == c && choice->predictions[i] == c && drawn[at++])
            out[(*used)++] = i;
    free(order);
    free(drawn);
    return PX_OK;
}

px_status px_synthesis_choose(const px_dataset *set, const px_synthesis_choice *choice,
                              int64_t **out, int64_t *count, px_error *err)
{
    const int64_t all = px_dataset_count(set);
    int64_t used = 0;
    if (all >= UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%" PRId64 " inputs are too many to draw from", all);
    int64_t *chosen = NULL;
    PX_TRY(PX_NEW(chosen, all, err));
    px_status status = PX_OK;
    for (int c = 0; choice->per_class > 0 && c < choice->classes && status == PX_OK; c++)
        if (!choice->wanted || choice->wanted[c])
            status = choose_class(set, choice, c, chosen, &used, err);
    for (int64_t i = 0; choice->per_class <= 0 && i < all; i++) {
        const int64_t label = px_dataset_label(set, i);
        if (choice->limit > 0 && used == choice->limit)
            break;
        if (label >= 0 && label < choice->classes && label == choice->predictions[i] &&
            (!choice->wanted || choice->wanted[label]))
            chosen[used++] = i;
    }
    if (status == PX_OK) {
        *out = chosen;
        *count = choice->limit > 0 ? PX_MIN(used, choice->limit) : used;
    } else {
        free(chosen);
    }
    return status;
}
