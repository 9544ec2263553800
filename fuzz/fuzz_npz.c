/* fuzz/fuzz_npz.c - .npz and .npy files, read whole and as data sets */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/array_source.h"
#include "data/npz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Touches every byte. */
static unsigned sum(const px_tensor *tensor)
{
    unsigned total = 0;
    for (size_t i = 0; i < px_tensor_bytes(tensor); i++)
        total += ((const uint8_t *)tensor->data)[i];
    return total;
}

static void read_ends(pxi_source *source)
{
    px_error err = {0};
    float *values = malloc((size_t)px_shape_count(&source->shape) * sizeof *values);
    const int64_t ends[2] = {0, source->count - 1};
    for (int i = 0; values && i < 2; i++) {
        if (source->type->values(source, ends[i], values, &err) != PX_OK)
            abort();
        if (source->type->label(source, ends[i]) >= PXI_CLASSES_MAX)
            abort();
    }
    free(values);
    pxi_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_npz *npz = NULL;
    px_tensor tensor = {0};
    pxi_source *source = NULL;
    unsigned total = 0;
    pxi_bytes view = pxi_bytes_view(bytes, size);
    if (pxi_npz_read("fuzz", &view, &npz, NULL) == PX_OK)
        for (size_t i = 0; i < px_npz_count(npz); i++)
            if (px_npz_get(npz, px_npz_name(npz, i)))
                total += sum(px_npz_get(npz, px_npz_name(npz, i)));
    px_npz_close(npz);

    view = pxi_bytes_view(bytes, size);
    if (pxi_npz_open_source("fuzz", &view, NULL, /* targets= */ 0, &source, NULL) == PX_OK)
        read_ends(source);

    view = pxi_bytes_view(bytes, size);
    if (pxi_npy_tensor(&view, "fuzz", &tensor, NULL) == PX_OK)
        total += sum(&tensor);
    px_tensor_done(&tensor);

    view = pxi_bytes_view(bytes, size);
    if (pxi_npy_open_source("fuzz", &view, NULL, &source, NULL) == PX_OK)
        read_ends(source);
    volatile unsigned seen = total; /* keeps the reads */
    (void)seen;
    return 0;
}
