/* src/ops/op_types.h - element types in operator code: lists, sets, safe integer arithmetic
 *
 * The lists are for making one kernel per type from one piece of source:
 *
 *     #define ADD_KERNEL(op, dtype, T, tag) static void add_##tag(const T *a, ...) { ... }
 *     PXI_INT_TYPES(ADD_KERNEL, add)
 *
 * Half and bfloat16 never get here (program.h); a bool is a byte, false iff it is 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_OP_TYPES_H
#define PXI_OPS_OP_TYPES_H

#include <internal/op.h>

/* X(op, dtype, C type, tag) */
#define PXI_REAL_TYPES(X, op)       \
    X(op, PX_FLOAT32, px_real, f32) \
    X(op, PX_FLOAT64, double, f64)
#define PXI_SIGNED_TYPES(X, op)   \
    X(op, PX_INT8, int8_t, i8)    \
    X(op, PX_INT16, int16_t, i16) \
    X(op, PX_INT32, int32_t, i32) \
    X(op, PX_INT64, int64_t, i64)
#define PXI_UNSIGNED_TYPES(X, op)   \
    X(op, PX_UINT8, uint8_t, u8)    \
    X(op, PX_UINT16, uint16_t, u16) \
    X(op, PX_UINT32, uint32_t, u32) \
    X(op, PX_UINT64, uint64_t, u64)
#define PXI_INT_TYPES(X, op) PXI_SIGNED_TYPES(X, op) PXI_UNSIGNED_TYPES(X, op)
#define PXI_NUMBER_TYPES(X, op) PXI_REAL_TYPES(X, op) PXI_INT_TYPES(X, op)

/* Sets of types, one bit per px_dtype. */
#define PXI_TYPE_BIT(op, dtype, T, tag) | 1u << (dtype)
#define PXI_TYPES_REAL (0u PXI_REAL_TYPES(PXI_TYPE_BIT, ))
#define PXI_TYPES_SIGNED (0u PXI_SIGNED_TYPES(PXI_TYPE_BIT, ))
#define PXI_TYPES_UNSIGNED (0u PXI_UNSIGNED_TYPES(PXI_TYPE_BIT, ))
#define PXI_TYPES_BOOL (1u << PX_BOOL)
#define PXI_TYPES_NUMBER (PXI_TYPES_REAL | PXI_TYPES_SIGNED | PXI_TYPES_UNSIGNED)
#define PXI_TYPES_ANY (PXI_TYPES_NUMBER | PXI_TYPES_BOOL)
#define PXI_TYPES_NIBBLE (1u << PX_INT4 | 1u << PX_UINT4) /* stored like int8 and uint8 */

static inline bool pxi_type_in(px_dtype dtype, unsigned types)
{
    return (unsigned)dtype < 32 && (types >> dtype & 1u);
}

/* Refuses an input whose type the operator does not take, by name. */
px_status pxi_op_type(const px_op_ctx *ctx, int input, unsigned types, px_error *err);

/* Refuses an input whose type is not that of input 0. */
px_status pxi_op_type_as_first(const px_op_ctx *ctx, int input, px_error *err);

/* Integer arithmetic as two's complement machines do it: it wraps, and x / 0 and x % 0 are 0, as in
 * numpy. A model must not be able to raise SIGFPE or undefined behaviour. */
#define PXI_INT_ADD(T, a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define PXI_INT_SUB(T, a, b) ((T)((uint64_t)(a) - (uint64_t)(b)))
#define PXI_INT_MUL(T, a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define PXI_IS_MINUS_ONE(T, b) ((T)-1 < (T)1 && (b) == (T)-1)
#define PXI_INT_DIV(T, a, b) \
    ((T)((b) == 0 ? (T)0 : PXI_IS_MINUS_ONE(T, b) ? PXI_INT_SUB(T, 0, a) : (T)((a) / (b))))
/* The sign of the dividend, as C's %. */
#define PXI_INT_REM(T, a, b) ((T)((b) == 0 || PXI_IS_MINUS_ONE(T, b) ? (T)0 : (T)((a) % (b))))

/* Limits of an integer type, and a number brought into them: towards zero, the nearest limit when
 * out of range, 0 for NaN. C leaves those cases undefined. */
#define PXI_INT_MAX(T) \
    ((T)((T)-1 < (T)1 ? (T)(((uint64_t)1 << (8 * sizeof(T) - 1)) - 1) : (T)UINT64_MAX))
#define PXI_INT_MIN(T) ((T)((T)-1 < (T)1 ? (T)(-PXI_INT_MAX(T) - 1) : (T)0))
#define PXI_INT_FROM(T, real)                                \
    ((T)((real) <= (double)PXI_INT_MIN(T)   ? PXI_INT_MIN(T) \
         : (real) >= (double)PXI_INT_MAX(T) ? PXI_INT_MAX(T) \
         : (real) == (real)                 ? (T)(real)      \
                                            : (T)0))

#endif
