/* src/cover/seen.c - which inputs of which data a state has seen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/seen.h"

#include "base/memory.h"
#include <internal/npz_meta.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pxi_seen_done(pxi_seen *seen)
{
    free(seen->range);
    *seen = (pxi_seen){0};
}

px_status pxi_seen_may_add(const pxi_seen *seen, pxi_seen_range inputs, px_error *err)
{
    for (size_t i = 0; i < seen->count; i++) {
        const pxi_seen_range *s = &seen->range[i];
        if (s->data == inputs.data && s->first < inputs.end && inputs.first < s->end)
            return px_fail(err, PX_E_MISMATCH,
                           "inputs %" PRId64 " to %" PRId64 " of the same data have been seen "
                           "already; they would be counted twice",
                           PX_MAX(s->first, inputs.first), PX_MIN(s->end, inputs.end) - 1);
    }
    return PX_OK;
}

px_status pxi_seen_add(pxi_seen *seen, pxi_seen_range inputs, px_error *err)
{
    if (inputs.first >= inputs.end)
        return PX_OK;
    PX_TRY(pxi_seen_may_add(seen, inputs, err));
    PX_TRY(PX_GROW(seen->range, seen->capacity, seen->count + 1, err));
    size_t at = seen->count;
    while (at > 0 &&
           (seen->range[at - 1].data > inputs.data ||
            (seen->range[at - 1].data == inputs.data && seen->range[at - 1].first > inputs.first)))
        at--;
    memmove(seen->range + at + 1, seen->range + at, (seen->count - at) * sizeof *seen->range);
    seen->range[at] = inputs;
    seen->count++;
    for (size_t i = 1; i < seen->count;) { /* neighbours become one */
        pxi_seen_range *left = &seen->range[i - 1], *right = &seen->range[i];
        if (left->data != right->data || left->end != right->first) {
            i++;
            continue;
        }
        left->end = right->end;
        memmove(right, right + 1, (seen->count - i - 1) * sizeof *right);
        seen->count--;
    }
    return PX_OK;
}

px_status pxi_seen_apart(const pxi_seen *seen, const pxi_seen *other, px_error *err)
{
    for (size_t i = 0; i < other->count; i++)
        PX_TRY(pxi_seen_may_add(seen, other->range[i], err));
    return PX_OK;
}

px_status pxi_seen_join(pxi_seen *seen, const pxi_seen *other, px_error *err)
{
    for (size_t i = 0; i < other->count; i++)
        PX_TRY(pxi_seen_add(seen, other->range[i], err));
    return PX_OK;
}

void pxi_seen_put(const pxi_seen *seen, px_json *json)
{
    px_json_array(json, "data");
    for (size_t i = 0; i < seen->count; i++) {
        px_json_object(json, NULL);
        pxi_meta_put_hash(json, "hash", seen->range[i].data);
        px_json_int(json, "first", seen->range[i].first);
        px_json_int(json, "end", seen->range[i].end);
        px_json_end(json);
    }
    px_json_end(json);
}

px_status pxi_seen_take(pxi_seen *seen, const px_json_value *root, px_error *err)
{
    const px_json_value *data = NULL;
    PX_TRY(pxi_meta_array(root, "data", &data, err));
    for (size_t i = 0; i < data->count; i++) {
        pxi_seen_range range = {0};
        PX_TRY(pxi_meta_hash(&data->items[i], "hash", &range.data, err));
        PX_TRY(pxi_meta_int(&data->items[i], "first", PXI_SEEN_MOST, &range.first, err));
        PX_TRY(pxi_meta_int(&data->items[i], "end", PXI_SEEN_MOST, &range.end, err));
        if (range.first >= range.end)
            return px_fail(err, PX_E_INPUT, "'data' in 'meta' has an empty range");
        PX_TRY(pxi_seen_add(seen, range, err));
    }
    return PX_OK;
}
