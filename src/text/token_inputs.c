/* src/text/token_inputs.c - the inputs of a text encoder: token numbers, a mask, positions */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/token_inputs.h"

#include "base/memory.h"

#include <string.h>

static bool has_word(const char *name, const char *word)
{
    return strcasestr(name, word) != NULL;
}

pxi_token_role pxi_token_role_of(const char *name)
{
    if (has_word(name, "mask"))
        return PXI_TOKEN_MASK;
    if (has_word(name, "type") || has_word(name, "segment"))
        return PXI_TOKEN_TYPES;
    return has_word(name, "position") ? PXI_TOKEN_POSITIONS : PXI_TOKEN_IDS;
}

int64_t pxi_token_value(pxi_token_role role, int64_t id, bool real, int64_t place,
                        int64_t first_position)
{
    const int64_t numbers[] = {
        [PXI_TOKEN_IDS] = id,
        [PXI_TOKEN_MASK] = real,
        [PXI_TOKEN_TYPES] = 0,
        [PXI_TOKEN_POSITIONS] =
            real || !first_position ? place + first_position : first_position - 1,
    };
    return numbers[role];
}

/* One input: its type and its shape [batch, length]. */
static px_status inputs_check(const px_value *value, const char *name, px_token_inputs *in,
                              px_error *err)
{
    char text[PX_SHAPE_TEXT];
    const bool mask = pxi_token_role_of(value->name) == PXI_TOKEN_MASK;
    const bool fits = value->dtype == PX_INT64 || value->dtype == PX_INT32 ||
                      (mask && (value->dtype == PX_FLOAT32 || value->dtype == PX_BOOL));
    if (!fits || (value->has_shape && value->shape.rank != 2))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': input '%s' is %s %s; a text encoder takes token numbers, int64 or "
                       "int32 [batch, tokens]",
                       name, value->name, px_dtype_name(value->dtype),
                       value->has_shape ? px_shape_text(&value->shape, text) : "");
    if (value->has_shape && value->shape.dim[0] > 0)
        in->batch = value->shape.dim[0];
    if (value->has_shape && value->shape.dim[1] > 0)
        in->length = value->shape.dim[1];
    return PX_OK;
}

px_status pxi_token_inputs_find(const px_model *model, const char *name, px_token_inputs *out,
                                px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_token_inputs in = {.batch = 1};
    bool seen[PXI_TOKEN_INPUTS_MOST] = {false};
    for (int i = 0; i < graph->input_count; i++) {
        const px_value *value = &graph->values[graph->inputs[i]];
        const pxi_token_role role = pxi_token_role_of(value->name);
        PX_TRY(inputs_check(value, name, &in, err));
        if (seen[role])
            return px_fail(err, PX_E_UNSUPPORTED,
                           "'%s': input '%s' cannot be told from another; a text encoder has token "
                           "numbers and perhaps a mask, token types and positions",
                           name, value->name);
        seen[role] = true;
        in.value[in.count] = graph->inputs[i];
        in.dtype[in.count] = value->dtype;
        in.role[in.count++] = role;
    }
    if (!seen[PXI_TOKEN_IDS])
        return px_fail(err, PX_E_UNSUPPORTED, "'%s' has no input for token numbers", name);
    in.has_mask = seen[PXI_TOKEN_MASK];
    *out = in;
    return PX_OK;
}

size_t pxi_token_feeds(const px_token_inputs *in, int64_t length, px_feed *feeds)
{
    for (size_t i = 0; i < in->count; i++)
        feeds[i] =
            (px_feed){.value = in->value[i], .shape = {.rank = 2, .dim = {in->batch, length}}};
    return in->count;
}

static void put_number(void *place, px_dtype dtype, int64_t at, int64_t number)
{
    switch (dtype) {
    case PX_INT64:
        ((int64_t *)place)[at] = number;
        break;
    case PX_INT32:
        ((int32_t *)place)[at] = (int32_t)number;
        break;
    case PX_FLOAT32:
        ((float *)place)[at] = (float)number;
        break;
    default: /* PX_BOOL: nothing else gets in */
        ((uint8_t *)place)[at] = (uint8_t)number;
        break;
    }
}

px_status pxi_token_fill(const px_token_inputs *in, px_session *session, int64_t length,
                         const px_token_ids *ids, px_error *err)
{
    if (ids->count > (size_t)length)
        return px_fail(err, PX_E_INTERNAL, "%zu tokens for a length of %lld", ids->count,
                       (long long)length);
    for (size_t i = 0; i < in->count; i++) {
        void *place = px_session_input(session, i);
        for (int64_t at = 0; at < in->batch * length; at++) { /* every row is the text */
            const int64_t t = at % length;
            const bool real = (size_t)t < ids->count;
            const int64_t id = real ? ids->id[t] : PX_MAX(in->pad, 0);
            put_number(place, in->dtype[i], at,
                       pxi_token_value(in->role[i], id, real, t, in->first_position));
        }
    }
    return PX_OK;
}

/* The room of data sets comes before this one and cannot name it. */
__attribute__((constructor)) static void texts_register(void)
{
    pxi_source_register_texts(pxi_text_coder_open);
}
