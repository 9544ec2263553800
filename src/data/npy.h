/* src/data/npy.h - the .npy format: headers, element types, order */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_NPY_H
#define PXI_DATA_NPY_H

#include <internal/bytes.h>
#include <plexor/tensor.h>

typedef struct pxi_npy { /* what a header says, checked against the size of the file */
    px_dtype dtype;
    size_t item;  /* bytes of an element in the file */
    bool swapped; /* big-endian */
    bool fortran;
    px_shape shape;
    uint64_t offset; /* of the first element */
} pxi_npy;

px_status pxi_npy_header(const pxi_bytes *bytes, const char *name, pxi_npy *out, px_error *err);

/* What deflated .npy data say of themselves, before they are unpacked: PX_E_INPUT where the array
 * and its header are not about the `size` bytes that are promised. */
px_status pxi_npy_check_deflated(const pxi_bytes *packed, uint64_t size, const char *name,
                                 px_error *err);

/* Reads all of it into a new tensor, row-major and in the machine's byte order. */
px_status pxi_npy_tensor(const pxi_bytes *bytes, const char *name, px_tensor *out, px_error *err);

/* Reads `count` elements from element `first` on, as floats; not for Fortran order. */
px_status pxi_npy_floats(const pxi_bytes *bytes, const pxi_npy *npy, const char *name,
                         int64_t first, int64_t count, float *to, px_error *err);

/* Writes a version 1 header (padded to 64 bytes, as numpy does); returns its size. */
#define PXI_NPY_HEADER_MAX 384
size_t pxi_npy_format(px_dtype dtype, const px_shape *shape, uint8_t to[PXI_NPY_HEADER_MAX]);

#endif
