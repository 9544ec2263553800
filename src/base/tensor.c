/* src/base/tensor.c - element types, shapes, tensors that own their memory */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tensor.h>

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *px_dtype_name(px_dtype dtype)
{
    switch (dtype) {
    case PX_NONE:
        return "none";
#define DTYPE_NAME(enumerator, number, name, bytes) \
    case enumerator:                                \
        return name;
        PX_DTYPES(DTYPE_NAME)
#undef DTYPE_NAME
    }
    return "?";
}

size_t px_dtype_size(px_dtype dtype)
{
#ifdef PXI_REAL_DOUBLE /* a test build, see ops/op.h: float32 tensors hold doubles there */
    if (dtype == PX_FLOAT32)
        return sizeof(double);
#endif
    switch (dtype) {
    case PX_NONE:
        return 0;
#define DTYPE_SIZE(enumerator, number, name, bytes) \
    case enumerator:                                \
        return bytes;
        PX_DTYPES(DTYPE_SIZE)
#undef DTYPE_SIZE
    }
    return 0;
}

int64_t px_shape_count(const px_shape *shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    return count;
}

px_status px_shape_check(const px_shape *shape, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    if (shape->rank < 0 || shape->rank > PX_MAX_RANK)
        return px_fail(err, PX_E_UNSUPPORTED, "a tensor of rank %d is not supported; at most %d",
                       shape->rank, PX_MAX_RANK);
    int64_t bytes = 8;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0)
            return px_fail(err, PX_E_INPUT, "the shape %s has a negative extent",
                           px_shape_text(shape, text));
    }
    for (int i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(bytes, shape->dim[i] ? shape->dim[i] : 1, &bytes))
            return px_fail(err, PX_E_INPUT, "the shape %s is too large",
                           px_shape_text(shape, text));
    return PX_OK;
}

bool px_shape_equal(const px_shape *a, const px_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

const char *px_shape_text(const px_shape *shape, char buffer[PX_SHAPE_TEXT])
{
    size_t used = 0;
    buffer[used++] = '[';
    for (int i = 0; i < shape->rank && i < PX_MAX_RANK; i++) {
        if (i)
            buffer[used++] = ',';
        if (shape->dim[i] < 0)
            buffer[used++] = '?';
        else
            used += (size_t)snprintf(buffer + used, PX_SHAPE_TEXT - used, "%lld",
                                     (long long)shape->dim[i]);
    }
    buffer[used++] = ']';
    buffer[used] = '\0';
    return buffer;
}

size_t px_tensor_bytes(const px_tensor *tensor)
{
    return (size_t)px_shape_count(&tensor->shape) * px_dtype_size(tensor->dtype);
}

px_status px_tensor_init(px_tensor *tensor, px_dtype dtype, const px_shape *shape, px_error *err)
{
    PX_TRY(px_shape_check(shape, err));
    px_tensor made = {.dtype = dtype, .shape = *shape};
    const size_t bytes = px_tensor_bytes(&made);
    made.data = pxi_alloc_aligned(bytes);
    if (!made.data) {
        char text[PX_SHAPE_TEXT];
        return pxi_no_memory_for(err, "a tensor %s of %s", px_shape_text(shape, text),
                                 px_dtype_name(dtype));
    }
    memset(made.data, 0, bytes);
    *tensor = made;
    return PX_OK;
}

void px_tensor_done(px_tensor *tensor)
{
    if (!tensor)
        return;
    for (int64_t i = 0; tensor->dtype == PX_SEQUENCE && i < tensor->shape.dim[0]; i++)
        px_tensor_done((px_tensor *)tensor->data + i);
    free(tensor->data);
    *tensor = (px_tensor){0};
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float px_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 0x1fu;
    const uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0) { /* zero or subnormal: mantissa * 2^-24 */
        const float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    if (exponent == 31)
        return float_from_bits(sign | 0x7f800000u | mantissa << 13);
    return float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t px_float_to_half(float value)
{
    const uint32_t bits = bits_from_float(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u); /* NaN */
    if (magnitude >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u); /* rounds to infinity */
    if (magnitude < 0x38800000u) {         /* subnormal: adding 0.5 rounds at 2^-24, to even */
        const uint32_t rounded = bits_from_float(float_from_bits(magnitude) + 0.5f);
        return (uint16_t)(sign | (rounded - 0x3f000000u));
    }
    const uint32_t odd = magnitude >> 13 & 1u;
    return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

float px_bfloat_to_float(uint16_t bfloat)
{
    return float_from_bits((uint32_t)bfloat << 16);
}

uint16_t px_float_to_bfloat(float value)
{
    const uint32_t bits = bits_from_float(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* keep a NaN a NaN */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
