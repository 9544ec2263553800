/* include/plexor/tensor.h - a dense array with an element type and a shape
 *
 *     px_tensor x = {0};
 *     px_shape shape = {.rank = 4, .dim = {1, 3, 32, 32}};
 *     if (px_tensor_init(&x, PX_FLOAT32, &shape, &err) == PX_OK) { ...; px_tensor_done(&x); }
 *
 * A px_tensor is an open value: whoever filled in `data` says who owns it. px_tensor_init() and
 * px_tensor_done() are for tensors that own theirs; a *view* of other memory is simply assigned.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TENSOR_H
#define PLEXOR_TENSOR_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

#define PX_MAX_RANK 8

/* X(enumerator, ONNX number, name, bytes per element); ONNX's own numbers. Complex types and the
 * 8-bit floats are not here: a file that uses them is refused by name. Of 4 bits, two to a byte in
 * files, each has a byte of its own. */
#define PX_DTYPES(X)                  \
    X(PX_FLOAT32, 1, "float32", 4)    \
    X(PX_UINT8, 2, "uint8", 1)        \
    X(PX_INT8, 3, "int8", 1)          \
    X(PX_UINT16, 4, "uint16", 2)      \
    X(PX_INT16, 5, "int16", 2)        \
    X(PX_INT32, 6, "int32", 4)        \
    X(PX_INT64, 7, "int64", 8)        \
    X(PX_BOOL, 9, "bool", 1)          \
    X(PX_FLOAT16, 10, "float16", 2)   \
    X(PX_FLOAT64, 11, "float64", 8)   \
    X(PX_UINT32, 12, "uint32", 4)     \
    X(PX_UINT64, 13, "uint64", 8)     \
    X(PX_BFLOAT16, 16, "bfloat16", 2) \
    X(PX_UINT4, 21, "uint4", 1)       \
    X(PX_INT4, 22, "int4", 1)

typedef enum px_dtype {
    PX_NONE = 0, /* no tensor: an optional operator input that was left out */
#define PX_DTYPE_ENUM(enumerator, number, name, bytes) enumerator = number,
    PX_DTYPES(PX_DTYPE_ENUM)
#undef PX_DTYPE_ENUM
} px_dtype;

typedef struct px_shape {
    int rank; /* 0: a scalar */
    int64_t dim[PX_MAX_RANK];
} px_shape;

typedef struct px_tensor {
    px_dtype dtype;
    px_shape shape;
    void *data; /* row-major, no gaps; NULL: known by type and shape only */
} px_tensor;

PX_API const char *px_dtype_name(px_dtype dtype); /* "?" for one that is not in the list */
PX_API size_t px_dtype_size(px_dtype dtype);      /* 0 for one that is not in the list */

/* Number of elements; 1 for a scalar. The shape must have passed px_shape_check(). */
PX_API int64_t px_shape_count(const px_shape *shape);

PX_API bool px_shape_equal(const px_shape *a, const px_shape *b);

/* Writes "[1,3,32,32]" (dimensions < 0 as "?") and returns `buffer`. */
#define PX_SHAPE_TEXT 192
PX_API const char *px_shape_text(const px_shape *shape, char buffer[PX_SHAPE_TEXT]);

PX_API size_t px_tensor_bytes(const px_tensor *tensor);

/* Owns 64-byte aligned zeroed memory of the given type and shape. */
PX_API px_status px_tensor_init(px_tensor *tensor, px_dtype dtype, const px_shape *shape,
                                px_error *err);
PX_API void px_tensor_done(px_tensor *tensor); /* frees data, leaves {0}; NULL is fine */

PX_END_DECLS
#endif
