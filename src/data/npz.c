/* src/data/npz.c - .npz files: a .zip of .npy members */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/zip.h"

#include <stdlib.h>
#include <string.h>

typedef struct npz_array {
    char *name;
    px_tensor tensor;
} npz_array;

struct px_npz {
    npz_array *arrays;
    size_t count;
};

static px_status npz_add(px_npz *npz, const pxi_tree *tree, const pxi_entry *entry, px_error *err)
{
    npz_array *array = &npz->arrays[npz->count];
    char text[PXI_TREE_TEXT];
    const size_t length = strlen(entry->path);
    if (!pxi_has_suffix(entry->path, ".npy"))
        return PX_OK;
    pxi_tree_text(tree, entry->path, text);
    array->name = strndup(entry->path, length - 4);
    if (!array->name)
        return pxi_no_memory(err);
    npz->count++; /* from here on px_npz_close() frees it */
    pxi_bytes bytes = {0};
    PX_TRY(pxi_tree_bytes(tree, entry, &bytes, err));
    px_status status = pxi_zip_check(&bytes, entry, text, err);
    PX_THEN(status, pxi_npy_tensor(&bytes, text, &array->tensor, err));
    pxi_bytes_done(&bytes);
    return status;
}

px_status pxi_npz_read(const char *name, pxi_bytes *bytes, px_npz **out, px_error *err)
{
    pxi_tree *tree = NULL;
    px_npz *npz = NULL;
    PX_TRY(pxi_tree_open_zip(name, bytes, &tree, err));
    px_status status = PX_OK;
    uint64_t total = 0;
    const size_t count = pxi_tree_count(tree);
    if (!(npz = pxi_calloc(1, sizeof *npz)) ||
        !(npz->arrays = pxi_calloc(count, sizeof *npz->arrays))) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        const pxi_entry *entry = pxi_tree_entry(tree, i);
        /* Members may overlap in a hostile file: the sum is what counts. */
        if (__builtin_add_overflow(total, entry->size, &total) || total > PXI_NPZ_MAX)
            status = px_fail(err, PX_E_INPUT, "'%s': holds more than %llu bytes", name,
                             (unsigned long long)PXI_NPZ_MAX);
        else
            status = npz_add(npz, tree, entry, err);
    }
    if (status == PX_OK) {
        *out = npz;
        npz = NULL;
    }
done:
    px_npz_close(npz);
    pxi_tree_free(tree);
    return status;
}

px_status px_npz_open(const char *path, px_npz **out, px_error *err)
{
    pxi_bytes bytes = {0};
    PX_TRY(pxi_bytes_open(&bytes, path, err));
    return pxi_npz_read(path, &bytes, out, err);
}

px_status px_npz_open_bytes(const char *name, const void *bytes, size_t size, px_npz **out,
                            px_error *err)
{
    pxi_bytes view = pxi_bytes_view(bytes, size);
    return pxi_npz_read(name, &view, out, err);
}

size_t px_npz_count(const px_npz *npz)
{
    return npz->count;
}

const char *px_npz_name(const px_npz *npz, size_t i)
{
    return i < npz->count ? npz->arrays[i].name : NULL;
}

const px_tensor *px_npz_get(const px_npz *npz, const char *name)
{
    for (size_t i = 0; i < npz->count; i++)
        if (strcmp(npz->arrays[i].name, name) == 0)
            return &npz->arrays[i].tensor;
    return NULL;
}

px_tensor px_npz_move(px_npz *npz, size_t i)
{
    const px_tensor tensor = npz->arrays[i].tensor;
    npz->arrays[i].tensor = (px_tensor){.dtype = tensor.dtype, .shape = {.rank = 1}};
    return tensor;
}

void px_npz_close(px_npz *npz)
{
    if (!npz)
        return;
    for (size_t i = 0; i < npz->count; i++) {
        free(npz->arrays[i].name);
        px_tensor_done(&npz->arrays[i].tensor);
    }
    free(npz->arrays);
    free(npz);
}
