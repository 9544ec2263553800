/* fuzz/fuzz_idx.c - IDX files, plain or gzipped: what is accepted can be read, sample by sample */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/source.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pxi_source *source = NULL;
    px_error err = {0};
    if (pxi_idx_parse(bytes, size, "fuzz", &source, &err) != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
        return 0;
    }
    const int64_t count = px_shape_count(&source->shape);
    float *values = malloc((size_t)count * sizeof *values);
    const int64_t ends[2] = {0, source->count - 1};
    for (int i = 0; values && i < 2; i++)
        if (source->type->values(source, ends[i], values, &err) != PX_OK)
            abort();
    free(values);
    pxi_source_free(source);
    return 0;
}
