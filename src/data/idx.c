/* src/data/idx.c - IDX files, plain or gzipped (the format of MNIST, Fashion-MNIST, EMNIST)
 *
 * Two zero bytes, an element type, the number of axes, the extents as big-endian 32-bit numbers,
 * then the elements. Pictures are unsigned bytes with three axes (count, rows, columns) or four
 * (with channels first or last). `train-images-idx3-ubyte` is the train split, `t10k-...` the test
 * split; labels are in the file of the same name with `labels-idx1`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/array_source.h"

#include "base/memory.h"

#include <internal/tensor.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint8_t code;
    px_dtype dtype;
    size_t item;
} idx_types[] = {
    {0x08, PX_UINT8, 1}, {0x09, PX_INT8, 1},    {0x0b, PX_INT16, 2},
    {0x0c, PX_INT32, 4}, {0x0d, PX_FLOAT32, 4}, {0x0e, PX_FLOAT64, 8},
};

/* An IDX header says what a .npy header says, so it becomes one. */
static px_status idx_header(const pxi_bytes *bytes, const char *name, pxi_npy *out, px_error *err)
{
    uint8_t head[4 + 4 * PX_MAX_RANK] = {0};
    size_t size = 0;
    PX_TRY(pxi_bytes_peek(bytes, head, sizeof head, &size, name, err));
    pxi_npy npy = {.dtype = PX_NONE};
    for (size_t i = 0; i < PX_LEN(idx_types); i++)
        if (head[2] == idx_types[i].code) {
            npy.dtype = idx_types[i].dtype;
            npy.item = idx_types[i].item;
        }
    if (size < 8 || head[0] != 0 || head[1] != 0 || npy.dtype == PX_NONE || head[3] == 0)
        return px_fail(err, PX_E_INPUT, "'%s': not an IDX file: it begins %02x %02x %02x %02x",
                       name, head[0], head[1], head[2], head[3]);
    if (head[3] > PX_MAX_RANK)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': IDX with %d axes; at most %d", name, head[3],
                       PX_MAX_RANK);
    npy.swapped = npy.item > 1;
    npy.shape.rank = head[3];
    npy.offset = 4 + 4 * (uint64_t)head[3];
    if (size < npy.offset)
        return px_fail(err, PX_E_INPUT, "'%s': truncated in the header", name);
    for (int i = 0; i < npy.shape.rank; i++) {
        const uint8_t *at = head + 4 + 4 * i;
        npy.shape.dim[i] =
            (int64_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
    }
    if (px_shape_check(&npy.shape, err) != PX_OK)
        return px_fail_in(err, PX_E_INPUT, "'%s'", name);
    *out = npy;
    return PX_OK;
}

/* Reads the header, and only then unpacks: no more than it says, and nothing where the packed bytes
 * cannot hold that. */
static px_status idx_unpack(pxi_bytes *bytes, const char *name, pxi_npy *out, px_error *err)
{
    enum { DEFLATE_MOST = 1032 }; /* bytes that come out of one */
    char shape[PX_SHAPE_TEXT];
    pxi_npy npy;
    PX_TRY(idx_header(bytes, name, &npy, err));
    const uint64_t want = (uint64_t)px_shape_count(&npy.shape) * npy.item;
    if (want / DEFLATE_MOST > bytes->size)
        return px_fail(err, PX_E_INPUT,
                       "'%s': truncated: %s of %s needs %llu bytes, more than its %llu can hold",
                       name, px_shape_text(&npy.shape, shape), px_dtype_name(npy.dtype),
                       (unsigned long long)want, (unsigned long long)bytes->size);
    uint8_t first = 0; /* of IDX itself it is 0 */
    PX_TRY(pxi_bytes_read(bytes, 0, &first, 1, name, err));
    if (first != 0 && want > PXI_UNPACK_MAX)
        return px_fail(err, PX_E_INPUT,
                       "'%s': %s of %s needs %llu bytes, and at most %llu are unpacked; unpack it "
                       "into a file",
                       name, px_shape_text(&npy.shape, shape), px_dtype_name(npy.dtype),
                       (unsigned long long)want, (unsigned long long)PXI_UNPACK_MAX);
    if (first != 0)
        PX_TRY(pxi_bytes_gunzip(bytes, npy.offset + want, name, err));
    const uint64_t have = bytes->size - npy.offset;
    if (want != have)
        return px_fail(err, PX_E_INPUT, "'%s': %s: %s of %s needs %llu bytes, there are %llu", name,
                       have < want ? "truncated" : "does not match its header",
                       px_shape_text(&npy.shape, shape), px_dtype_name(npy.dtype),
                       (unsigned long long)want, (unsigned long long)have);
    *out = npy;
    return PX_OK;
}

/* Takes over `tree` and `bytes` in any case. */
static px_status idx_images(pxi_tree *tree, pxi_bytes *bytes, const char *name,
                            pxi_array_source **out, px_error *err)
{
    pxi_npy npy;
    px_status status = idx_unpack(bytes, name, &npy, err);
    if (status == PX_OK &&
        (npy.dtype != PX_UINT8 || (npy.shape.rank != 3 && npy.shape.rank != 4))) {
        char shape[PX_SHAPE_TEXT];
        status = px_fail(err, PX_E_INPUT, "'%s': %s of %s are not pictures", name,
                         px_shape_text(&npy.shape, shape), px_dtype_name(npy.dtype));
    }
    if (status != PX_OK) {
        pxi_bytes_done(bytes);
        pxi_tree_free(tree);
        return status;
    }
    return pxi_array_source_new("IDX", name, tree, bytes, &npy, out, err);
}

px_status pxi_idx_parse(const void *data, size_t size, const char *name, pxi_source **out,
                        px_error *err)
{
    pxi_bytes bytes = pxi_bytes_view(data, size);
    pxi_array_source *source = NULL;
    PX_TRY(idx_images(NULL, &bytes, name, &source, err));
    *out = &source->base;
    return PX_OK;
}

/* --- which files ----------------------------------------------------------------------------- */

bool pxi_idx_is_images(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *images = strstr(slash ? slash : path, "images");
    return images && strstr(images, "idx");
}

/* "a/t10k-images-idx3-ubyte.gz" to "t10k": the word before "images". */
static void idx_split_name(const char *path, char *to, size_t room)
{
    const char *slash = strrchr(path, '/');
    const char *first = slash ? slash + 1 : path, *end = strstr(first, "images");
    while (end > first && strchr("-_.", end[-1]))
        end--;
    for (const char *at = first; at < end; at++)
        if (strchr("-_.", *at))
            first = at + 1;
    const size_t length = PX_MIN((size_t)(end - first), room - 1);
    memcpy(to, first, length);
    to[length] = '\0';
}

/* Turns the path of pictures into that of their labels. */
static bool idx_labels_path(const char *images, char *to, size_t room)
{
    if (strlen(images) >= room)
        return false;
    strcpy(to, images);
    char *slash = strrchr(to, '/');
    char *word = strstr(slash ? slash : to, "images");
    memcpy(word, "labels", 6);
    char *axes = strstr(word, "idx");
    if (axes[3] >= '0' && axes[3] <= '9')
        axes[3] = '1';
    return true;
}

static px_status idx_labels_at(pxi_array_source *source, const char *path, px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    pxi_npy npy;
    pxi_tree_text(source->tree, path, name);
    PX_TRY(pxi_tree_bytes_at(source->tree, path, &bytes, err));
    px_status status = idx_unpack(&bytes, name, &npy, err);
    PX_THEN(status, pxi_array_source_set_labels(source, &bytes, &npy, name, err));
    pxi_bytes_done(&bytes);
    return status;
}

/* Labels may be packed where pictures are not, and the other way round; there may be none. */
static px_status idx_labels(pxi_array_source *source, const char *images, px_error *err)
{
    char path[4096 + 4];
    if (!idx_labels_path(images, path, sizeof path - 4))
        return PX_OK;
    const size_t length = strlen(path);
    if (!pxi_tree_has(source->tree, path)) {
        if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
            path[length - 3] = '\0';
        else
            strcpy(path + length, ".gz");
        if (!pxi_tree_has(source->tree, path))
            return PX_OK;
    }
    return idx_labels_at(source, path, err);
}

px_status pxi_idx_open_file(pxi_tree *tree, const char *path, pxi_source **out, px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    pxi_array_source *source = NULL;
    pxi_tree_text(tree, path, name);
    px_status status = pxi_tree_bytes_at(tree, path, &bytes, err);
    if (status != PX_OK) {
        pxi_tree_free(tree);
        return status;
    }
    PX_TRY(idx_images(tree, &bytes, name, &source, err));
    status = idx_labels(source, path, err);
    if (status != PX_OK) {
        source->base.type->free(&source->base);
        return status;
    }
    *out = &source->base;
    return PX_OK;
}

bool pxi_idx_claims(const pxi_tree *tree, const char *root)
{
    size_t first, end;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const char *path = pxi_tree_entry(tree, i)->path + strlen(root);
        if (!strchr(path, '/') && pxi_idx_is_images(path))
            return true;
    }
    return false;
}

px_status pxi_idx_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                       px_error *err)
{
    enum { IDX_FILES_MAX = 64 };
    const char *paths[IDX_FILES_MAX], *names[IDX_FILES_MAX];
    char texts[IDX_FILES_MAX][32];
    size_t count = 0, first, end;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end && count < IDX_FILES_MAX; i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (strchr(path + strlen(root), '/') || !pxi_idx_is_images(path))
            continue;
        idx_split_name(path, texts[count], sizeof texts[count]);
        paths[count] = path;
        names[count] = texts[count];
        count++;
    }
    int chosen = pxi_split_find(names, count, split);
    if (chosen < 0 && count == 1 && !split && !pxi_split_is_name(names[0]))
        chosen = 0;
    if (chosen < 0) {
        const px_status status = pxi_split_fail(pxi_tree_name(tree), names, count, split, err);
        pxi_tree_free(tree);
        return status;
    }
    return pxi_idx_open_file(tree, paths[chosen], out, err);
}
