/* src/onnx/attribute.c - AttributeProto to px_attr */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "onnx/reader.h"

typedef Onnx__AttributeProto__AttributeType attr_type;
#define ATTR_TYPE(name) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##name

/* Files of IR version 1 do not say which field is in use. */
static attr_type attr_type_of(const Onnx__AttributeProto *proto)
{
    if (proto->has_type && proto->type != ATTR_TYPE(UNDEFINED))
        return proto->type;
    const struct {
        bool used;
        attr_type type;
    } fields[] = {
        {proto->has_f, ATTR_TYPE(FLOAT)},           {proto->has_i, ATTR_TYPE(INT)},
        {proto->has_s, ATTR_TYPE(STRING)},          {proto->t != NULL, ATTR_TYPE(TENSOR)},
        {proto->n_floats > 0, ATTR_TYPE(FLOATS)},   {proto->n_ints > 0, ATTR_TYPE(INTS)},
        {proto->n_strings > 0, ATTR_TYPE(STRINGS)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].used)
            return fields[i].type;
    return ATTR_TYPE(UNDEFINED);
}

static const char *attr_text(const ProtobufCBinaryData *bytes, px_arena *arena)
{
    return pxi_arena_strndup(arena, bytes->len ? (const char *)bytes->data : "", bytes->len);
}

static px_status attr_strings(const Onnx__AttributeProto *proto, px_arena *arena, px_attr *out,
                              px_error *err)
{
    const char **texts = pxi_arena_alloc(arena, proto->n_strings, sizeof *texts);
    bool fine = texts != NULL;
    for (size_t i = 0; i < proto->n_strings && fine; i++) {
        texts[i] = attr_text(&proto->strings[i], arena);
        fine = texts[i] != NULL;
    }
    if (!fine)
        return pxi_no_memory(err);
    out->count = proto->n_strings;
    out->strings = texts;
    return PX_OK;
}

px_status pxi_onnx_attr(const Onnx__AttributeProto *proto, px_arena *arena, pxi_external *external,
                        px_attr *out, px_error *err)
{
    *out = (px_attr){.name = pxi_text(proto->name), .kind = PX_ATTR_OTHER};
    if (!*out->name)
        return px_fail(err, PX_E_INPUT, "an attribute has no name");
    switch (attr_type_of(proto)) {
    case ATTR_TYPE(INT):
        out->kind = PX_ATTR_INT;
        out->i = proto->i;
        return PX_OK;
    case ATTR_TYPE(FLOAT):
        out->kind = PX_ATTR_FLOAT;
        out->f = proto->f;
        return PX_OK;
    case ATTR_TYPE(STRING):
        out->kind = PX_ATTR_STRING;
        out->s = attr_text(&proto->s, arena);
        return out->s ? PX_OK : pxi_no_memory(err);
    case ATTR_TYPE(INTS):
        out->kind = PX_ATTR_INTS;
        out->count = proto->n_ints;
        out->ints = proto->ints;
        return PX_OK;
    case ATTR_TYPE(FLOATS):
        out->kind = PX_ATTR_FLOATS;
        out->count = proto->n_floats;
        out->floats = proto->floats;
        return PX_OK;
    case ATTR_TYPE(STRINGS):
        out->kind = PX_ATTR_STRINGS;
        return attr_strings(proto, arena, out, err);
    case ATTR_TYPE(TENSOR): {
        if (!proto->t)
            return px_fail(err, PX_E_INPUT, "the attribute '%s' has no tensor", out->name);
        const px_status status = pxi_onnx_tensor(proto->t, arena, external, &out->tensor, err);
        if (status == PX_OK)
            out->kind = PX_ATTR_TENSOR;
        else if (status != PX_E_UNSUPPORTED) /* the operator will say that it has no use for it */
            return px_fail_in(err, status, "the attribute '%s'", out->name);
        return PX_OK;
    }
    default:
        return PX_OK;
    }
}
