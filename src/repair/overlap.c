/* src/repair/overlap.c - test inputs that were trained on are no test inputs
 *
 * Failures are often collected on the very data that a network is tested on. Inputs are compared
 * as the network sees them, by a hash of 64 bits, so that it does not matter which file they come
 * from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair/repair_state.h"

#include "base/memory.h"

#include <stdlib.h>
#include <xxhash.h>

static int hash_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static px_status hash_input(const px_judge_set *data, int64_t index, float *input, size_t floats,
                            uint64_t *out, px_error *err)
{
    PX_TRY(px_dataset_input(data->set, data->pre, index, input, err));
    *out = XXH3_64bits(input, floats * sizeof *input);
    return PX_OK;
}

px_status pxi_items_drop_added(pxi_items *test, const px_judge_set *test_data,
                               const pxi_items *added, const px_judge_set *added_data,
                               int64_t *overlap, px_error *err)
{
    const px_shape shape = px_dataset_shape(test_data->set);
    const size_t floats = (size_t)px_shape_count(&shape), count = (size_t)added->count;
    float *input = pxi_calloc(floats, sizeof *input);
    uint64_t *known = pxi_calloc(PX_MAX(count, 1), sizeof *known);
    px_status status = input && known ? PX_OK : pxi_no_memory(err);
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = hash_input(added_data, added->index[i], input, floats, &known[i], err);
    if (status != PX_OK)
        goto done;
    qsort(known, count, sizeof *known, hash_order);
    int64_t kept = 0;
    for (int64_t i = 0; i < test->count; i++) {
        uint64_t hash;
        status = hash_input(test_data, test->index[i], input, floats, &hash, err);
        if (status != PX_OK)
            goto done;
        if (!bsearch(&hash, known, count, sizeof *known, hash_order))
            test->index[kept++] = test->index[i];
    }
    *overlap = test->count - kept;
    test->count = kept;
done:
    free(input);
    free(known);
    return status;
}
