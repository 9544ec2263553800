/* src/onnx/tensor_pb.c - TensorProto to px_tensor
 *
 * A tensor's bytes are where the message or the mapped file has them; they are copied only where
 * they are misaligned for their type or stored in a wider one (int8 in int32_data).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/memory.h"

#include <internal/tensor.h>
#include <inttypes.h>
#include <string.h>

/* ONNX's numbers of types that plexor has no tensors of. */
static const struct {
    int32_t number;
    const char *name;
} foreign_types[] = {
    {0, "undefined"},   {8, "string"},          {14, "complex64"},
    {15, "complex128"}, {17, "float8e4m3fn"},   {18, "float8e4m3fnuz"},
    {19, "float8e5m2"}, {20, "float8e5m2fnuz"}, {23, "float4e2m1"},
};

bool pxi_onnx_dtype(int32_t number, px_dtype *dtype, const char **foreign)
{
    switch (number) {
#define DTYPE_CASE(enumerator, onnx_number, name, bytes) case onnx_number:
        PX_DTYPES(DTYPE_CASE)
#undef DTYPE_CASE
        *dtype = (px_dtype)number;
        return true;
    default:
        break;
    }
    *dtype = PX_NONE;
    *foreign = "unknown";
    for (size_t i = 0; i < PX_LEN(foreign_types); i++)
        if (foreign_types[i].number == number)
            *foreign = foreign_types[i].name;
    return false;
}

static px_status tensor_shape(const Onnx__TensorProto *proto, px_shape *shape, px_error *err)
{
    if (proto->n_dims > PX_MAX_RANK)
        return px_fail(err, PX_E_UNSUPPORTED, "a tensor of rank %zu is not supported; at most %d",
                       proto->n_dims, PX_MAX_RANK);
    shape->rank = (int)proto->n_dims;
    for (size_t i = 0; i < proto->n_dims; i++)
        shape->dim[i] = proto->dims[i];
    return px_shape_check(shape, err);
}

static px_status tensor_size_fail(const px_tensor *tensor, size_t got, const char *unit,
                                  px_error *err)
{
    char text[PX_SHAPE_TEXT];
    return px_fail(err, PX_E_INPUT, "the shape %s of %s does not fit its data of %zu %s",
                   px_shape_text(&tensor->shape, text), px_dtype_name(tensor->dtype), got, unit);
}

/* Raw bytes, from the message (`writable`) or a mapped file. */
static px_status tensor_from_bytes(px_tensor *tensor, const void *bytes, bool writable,
                                   px_arena *arena, px_error *err)
{
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    const size_t width = px_dtype_size(tensor->dtype);
    bool view = (uintptr_t)bytes % width == 0;
    if (tensor->dtype == PX_BOOL && !writable)
        for (size_t i = 0; i < count && view; i++)
            view = ((const uint8_t *)bytes)[i] <= 1;
    union {
        const void *from;
        void *to;
    } alias = {.from = bytes}; /* constants are read only, whatever px_tensor's pointer says */
    tensor->data = alias.to;
    if (!view) {
        tensor->data = pxi_arena_alloc(arena, count, width);
        if (!tensor->data)
            return pxi_no_memory_for(err, "%zu elements", count);
        memcpy(tensor->data, bytes, count * width);
    }
    if (tensor->dtype == PX_BOOL && (writable || !view)) {
        uint8_t *flags = tensor->data;
        for (size_t i = 0; i < count; i++)
            flags[i] = flags[i] != 0;
    }
    return PX_OK;
}

/* X(type, C type, least, greatest): what int32_data may hold besides int32 itself. */
#define NARROW_TYPES(X)                        \
    X(PX_UINT8, uint8_t, 0, UINT8_MAX)         \
    X(PX_INT8, int8_t, INT8_MIN, INT8_MAX)     \
    X(PX_UINT16, uint16_t, 0, UINT16_MAX)      \
    X(PX_INT16, int16_t, INT16_MIN, INT16_MAX) \
    X(PX_BOOL, uint8_t, 0, 1)                  \
    X(PX_FLOAT16, uint16_t, 0, UINT16_MAX)     \
    X(PX_BFLOAT16, uint16_t, 0, UINT16_MAX)

static px_status tensor_narrow(px_tensor *tensor, const Onnx__TensorProto *proto, size_t count,
                               px_arena *arena, px_error *err)
{
    tensor->data = pxi_arena_alloc(arena, count, px_dtype_size(tensor->dtype));
    if (!tensor->data)
        return pxi_no_memory_for(err, "%zu elements", count);
    int64_t misfit = 0;
    bool fits = true;
    switch (tensor->dtype) {
#define NARROW_CASE(enumerator, type, least, greatest)              \
    case enumerator:                                                \
        for (size_t i = 0; i < count && fits; i++) {                \
            misfit = proto->int32_data[i];                          \
            fits = misfit >= (least) && misfit <= (greatest);       \
            ((type *)tensor->data)[i] = (type)proto->int32_data[i]; \
        }                                                           \
        break;
        NARROW_TYPES(NARROW_CASE)
#undef NARROW_CASE
    case PX_UINT32:
        for (size_t i = 0; i < count && fits; i++) {
            fits = proto->uint64_data[i] <= UINT32_MAX;
            misfit = (int64_t)proto->uint64_data[i];
            ((uint32_t *)tensor->data)[i] = (uint32_t)proto->uint64_data[i];
        }
        break;
    default:
        break;
    }
    if (!fits)
        return px_fail(err, PX_E_INPUT, "the number %" PRId64 " does not fit %s", misfit,
                       px_dtype_name(tensor->dtype));
    return PX_OK;
}

/* From the typed fields: float_data, int32_data ... */
static px_status tensor_from_fields(px_tensor *tensor, const Onnx__TensorProto *proto,
                                    px_arena *arena, px_error *err)
{
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    const void *field = NULL; /* NULL: held in a wider type */
    size_t held;
    switch (tensor->dtype) {
    case PX_FLOAT32:
        held = proto->n_float_data;
        field = proto->float_data;
        break;
    case PX_FLOAT64:
        held = proto->n_double_data;
        field = proto->double_data;
        break;
    case PX_INT64:
        held = proto->n_int64_data;
        field = proto->int64_data;
        break;
    case PX_UINT64:
        held = proto->n_uint64_data;
        field = proto->uint64_data;
        break;
    case PX_UINT32:
        held = proto->n_uint64_data;
        break;
    case PX_INT32:
        held = proto->n_int32_data;
        field = proto->int32_data;
        break;
    default:
        held = proto->n_int32_data;
        break;
    }
    if (held != count)
        return tensor_size_fail(tensor, held, "elements", err);
    if (field)
        return tensor_from_bytes(tensor, field, /* writable= */ true, arena, err);
    return tensor_narrow(tensor, proto, count, arena, err);
}

static bool tensor_is_packed(px_dtype dtype)
{
    return dtype == PX_INT4 || dtype == PX_UINT4;
}

/* Two to a byte, the lower half first; `fields`, where the bytes are in int32_data. */
static px_status tensor_unpack(px_tensor *tensor, const uint8_t *bytes, const int32_t *fields,
                               px_arena *arena, px_error *err)
{
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    uint8_t *wide = pxi_arena_alloc(arena, count, 1);
    if (!wide)
        return pxi_no_memory_for(err, "%zu elements", count);
    for (size_t i = 0; i < count; i++) {
        const unsigned byte = fields ? (unsigned)fields[i / 2] & 0xffu : bytes[i / 2];
        const unsigned half = i % 2 ? byte >> 4 : byte & 15u;
        wide[i] = (uint8_t)(tensor->dtype == PX_INT4 && half > 7 ? half | 0xf0u : half);
    }
    tensor->data = wide;
    return PX_OK;
}

px_status pxi_onnx_tensor(const Onnx__TensorProto *proto, px_arena *arena, pxi_external *external,
                          px_tensor *out, px_error *err)
{
    px_tensor tensor = {0};
    const char *foreign = NULL;
    if (!pxi_onnx_dtype(proto->data_type, &tensor.dtype, &foreign))
        return px_fail(err, PX_E_UNSUPPORTED, "tensors of %s (type %" PRId32 ") are not supported",
                       foreign, proto->data_type);
    if (proto->segment)
        return px_fail(err, PX_E_UNSUPPORTED, "tensors stored in segments are not supported");
    PX_TRY(tensor_shape(proto, &tensor.shape, err));

    /* px_shape_check() made sure that this does not overflow. */
    const bool packed = tensor_is_packed(tensor.dtype);
    const size_t count = (size_t)px_shape_count(&tensor.shape);
    const size_t bytes = packed ? count / 2 + count % 2 : count * px_dtype_size(tensor.dtype);
    const bool is_external = proto->has_data_location &&
                             proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (is_external) {
        const void *data = NULL;
        PX_TRY(pxi_external_find(external, proto, bytes, &data, err));
        PX_TRY(packed ? tensor_unpack(&tensor, data, NULL, arena, err)
                      : tensor_from_bytes(&tensor, data, /* writable= */ false, arena, err));
    } else if (proto->has_raw_data) {
        if (proto->raw_data.len != bytes)
            return tensor_size_fail(&tensor, proto->raw_data.len, "bytes", err);
        uint8_t *data = proto->raw_data.data;
        PX_TRY(packed ? tensor_unpack(&tensor, data, NULL, arena, err)
                      : tensor_from_bytes(&tensor, data, /* writable= */ true, arena, err));
    } else if (packed) {
        if (proto->n_int32_data != bytes)
            return tensor_size_fail(&tensor, proto->n_int32_data, "bytes", err);
        PX_TRY(tensor_unpack(&tensor, NULL, proto->int32_data, arena, err));
    } else {
        PX_TRY(tensor_from_fields(&tensor, proto, arena, err));
    }
    if (!tensor.data) { /* no elements; NULL would say "known by shape only" */
        tensor.data = pxi_arena_alloc(arena, 0, 1);
        if (!tensor.data)
            return pxi_no_memory(err);
    }
    *out = tensor;
    return PX_OK;
}
