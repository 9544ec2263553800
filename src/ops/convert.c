/* src/ops/convert.c - by way of the widest type of the same kind, a few elements at a time
 *
 * Every integer but uint64 fits int64, every float fits double, so both steps are exact or the one
 * rounding that is asked for; and there are two short loops per type instead of one per pair.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/convert.h"

#include "base/memory.h"

#include <string.h>

#define CONVERT_CHUNK 256

typedef union convert_chunk {
    int64_t i[CONVERT_CHUNK];
    uint64_t u[CONVERT_CHUNK];
    double d[CONVERT_CHUNK];
} convert_chunk;

typedef enum convert_kind { CONVERT_INT, CONVERT_UINT64, CONVERT_REAL } convert_kind;

static convert_kind convert_kind_of(px_dtype dtype)
{
    if (pxi_type_in(dtype, PXI_TYPES_REAL))
        return CONVERT_REAL;
    return dtype == PX_UINT64 ? CONVERT_UINT64 : CONVERT_INT;
}

static void convert_load(convert_chunk *chunk, px_dtype dtype, const void *in, size_t at, size_t n)
{
#define CONVERT_LOAD(member, DTYPE, T, tag)             \
    case DTYPE:                                         \
        for (size_t k = 0; k < n; k++)                  \
            chunk->member[k] = ((const T *)in)[at + k]; \
        break;
    switch (dtype) {
        PXI_REAL_TYPES(CONVERT_LOAD, d)
        PXI_SIGNED_TYPES(CONVERT_LOAD, i)
        CONVERT_LOAD(i, PX_UINT8, uint8_t, )
        CONVERT_LOAD(i, PX_INT4, int8_t, )
        CONVERT_LOAD(i, PX_UINT4, uint8_t, )
        CONVERT_LOAD(i, PX_UINT16, uint16_t, )
        CONVERT_LOAD(i, PX_UINT32, uint32_t, )
        CONVERT_LOAD(u, PX_UINT64, uint64_t, )
    case PX_BOOL: /* a byte of a bool tensor may be anything; true is 1 in every other type */
        for (size_t k = 0; k < n; k++)
            chunk->i[k] = ((const uint8_t *)in)[at + k] != 0;
        break;
    default:
        break;
    }
}

/* A store for each kind; VALUE is in terms of x. */
#define CONVERT_STORE_LOOP(member, T, VALUE)                     \
    for (size_t k = 0; k < n; k++) {                             \
        const __typeof__(chunk->member[0]) x = chunk->member[k]; \
        ((T *)out)[at + k] = (VALUE);                            \
    }
#define CONVERT_STORE_INT(op, DTYPE, T, tag)             \
    case DTYPE:                                          \
        if (kind == CONVERT_REAL)                        \
            CONVERT_STORE_LOOP(d, T, PXI_INT_FROM(T, x)) \
        else /* int64 and uint64 wrap alike */           \
            CONVERT_STORE_LOOP(i, T, (T)x)               \
        break;
#define CONVERT_STORE_REAL(op, DTYPE, T, tag) \
    case DTYPE:                               \
        if (kind == CONVERT_REAL)             \
            CONVERT_STORE_LOOP(d, T, (T)x)    \
        else if (kind == CONVERT_INT)         \
            CONVERT_STORE_LOOP(i, T, (T)x)    \
        else                                  \
            CONVERT_STORE_LOOP(u, T, (T)x)    \
        break;

static void convert_store(const convert_chunk *chunk, convert_kind kind, px_dtype dtype, void *out,
                          size_t at, size_t n)
{
    switch (dtype) {
        PXI_INT_TYPES(CONVERT_STORE_INT, )
        PXI_REAL_TYPES(CONVERT_STORE_REAL, )
    case PX_INT4:
        if (kind == CONVERT_REAL)
            CONVERT_STORE_LOOP(d, int8_t, (int8_t)PX_MAX(-8, PX_MIN(7, PXI_INT_FROM(int8_t, x))))
        else
            CONVERT_STORE_LOOP(i, int8_t, (int8_t)(((x & 15) ^ 8) - 8))
        break;
    case PX_UINT4:
        if (kind == CONVERT_REAL)
            CONVERT_STORE_LOOP(d, uint8_t, (uint8_t)PX_MIN(15, PXI_INT_FROM(uint8_t, x)))
        else
            CONVERT_STORE_LOOP(i, uint8_t, (uint8_t)(x & 15))
        break;
    case PX_BOOL:
        if (kind == CONVERT_REAL)
            CONVERT_STORE_LOOP(d, uint8_t, x != 0)
        else
            CONVERT_STORE_LOOP(i, uint8_t, x != 0)
        break;
    default:
        break;
    }
}

void pxi_convert(px_dtype to, void *out, px_dtype from, const void *in, int64_t count)
{
    if (to == from && to != PX_BOOL) {
        if (out != in)
            memcpy(out, in, (size_t)count * px_dtype_size(to));
        return;
    }
    convert_chunk chunk;
    for (size_t at = 0; at < (size_t)count; at += CONVERT_CHUNK) {
        const size_t left = (size_t)count - at, n = left < CONVERT_CHUNK ? left : CONVERT_CHUNK;
        convert_load(&chunk, from, in, at, n);
        convert_store(&chunk, convert_kind_of(from), to, out, at, n);
    }
}
