/* src/data/cifar.c - the binary version of CIFAR-10 and CIFAR-100
 *
 * Records of one label byte (CIFAR-100: coarse, then fine; the fine one is used) and 3 x 32 x 32
 * bytes in planes. train is data_batch_1.bin ... (train.bin), test is test_batch.bin (test.bin).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/npy.h"
#include <internal/source.h>

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CIFAR_PIXELS = 3 * 32 * 32, CIFAR_FILES_MAX = 16 };

static const char *const cifar10_names[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};

typedef struct cifar_source {
    pxi_source base;
    pxi_tree *tree;
    size_t file_count;
    struct {
        pxi_bytes bytes;
        char *name;
        int64_t first; /* index of its first record */
    } files[CIFAR_FILES_MAX];
    size_t head; /* label bytes of a record: 1, or 2 for CIFAR-100 */
    uint8_t *labels;
    char **names;
} cifar_source;

static px_status cifar_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const cifar_source *cifar = (const cifar_source *)source;
    size_t f = cifar->file_count - 1;
    while (cifar->files[f].first > index)
        f--;
    const pxi_npy bytes = {.dtype = PX_UINT8, .item = 1};
    const int64_t at = (index - cifar->files[f].first) * (int64_t)(cifar->head + CIFAR_PIXELS);
    return pxi_npy_floats(&cifar->files[f].bytes, &bytes, cifar->files[f].name,
                          at + (int64_t)cifar->head, CIFAR_PIXELS, out, err);
}

static int64_t cifar_label(const pxi_source *source, int64_t index)
{
    return ((const cifar_source *)source)->labels[index];
}

static void cifar_free(pxi_source *source)
{
    cifar_source *cifar = (cifar_source *)source;
    for (size_t i = 0; i < cifar->file_count; i++) {
        pxi_bytes_done(&cifar->files[i].bytes);
        free(cifar->files[i].name);
    }
    for (int i = 0; cifar->names && i < source->class_count; i++)
        free(cifar->names[i]);
    free(cifar->names);
    free(cifar->labels);
    pxi_tree_free(cifar->tree);
    free(cifar);
}

static const pxi_source_type cifar_type = {
    .values = cifar_values,
    .label = cifar_label,
    .free = cifar_free,
};

/* --- which files ----------------------------------------------------------------------------- */

/* "data_batch_3.bin" to "train"; NULL for other files. *head: label bytes of a record. */
static const char *cifar_split(const char *file, size_t *head)
{
    *head = strstr(file, "batch") ? 1 : 2;
    if (strncmp(file, "data_batch_", 11) == 0 && pxi_has_suffix(file, ".bin"))
        return "train";
    if (strcmp(file, "test_batch.bin") == 0 || strcmp(file, "test.bin") == 0)
        return "test";
    return strcmp(file, "train.bin") == 0 ? "train" : NULL;
}

bool pxi_cifar_claims(const pxi_tree *tree, const char *root)
{
    size_t first, end, head;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++)
        if (cifar_split(pxi_tree_entry(tree, i)->path + strlen(root), &head))
            return true;
    return false;
}

static px_status cifar_add(cifar_source *cifar, const pxi_entry *entry, size_t head, px_error *err)
{
    char name[PXI_TREE_TEXT];
    const size_t record = head + CIFAR_PIXELS;
    pxi_tree_text(cifar->tree, entry->path, name);
    if (cifar->file_count == CIFAR_FILES_MAX || (cifar->head && cifar->head != head))
        return px_fail(err, PX_E_INPUT, "'%s': one CIFAR file too many", name);
    pxi_bytes *bytes = &cifar->files[cifar->file_count].bytes;
    PX_TRY(pxi_tree_bytes(cifar->tree, entry, bytes, err));
    const int64_t first = cifar->base.count, count = (int64_t)(bytes->size / record);
    cifar->files[cifar->file_count].first = first;
    PX_TRY(PX_DUP(cifar->files[cifar->file_count++].name, name, err));
    if (bytes->size == 0 || bytes->size % record != 0)
        return px_fail(err, PX_E_INPUT,
                       "'%s': truncated: %llu bytes are not a multiple of a CIFAR-%s record (%zu)",
                       name, (unsigned long long)bytes->size, head == 1 ? "10" : "100", record);
    if (first + count > INT32_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': too many samples", name);
    uint8_t *labels = pxi_realloc(cifar->labels, (size_t)(first + count), 1);
    if (!labels)
        return pxi_no_memory(err);
    cifar->labels = labels;
    cifar->head = head;
    const int classes = head == 1 ? 10 : 100;
    for (int64_t i = 0; i < count; i++) {
        PX_TRY(pxi_bytes_read(bytes, (uint64_t)i * record + head - 1, &labels[first + i], 1, name,
                              err));
        if (labels[first + i] >= classes)
            return px_fail(err, PX_E_INPUT, "'%s': label %d of record %lld is out of range", name,
                           labels[first + i], (long long)i);
    }
    cifar->base.count += count;
    return PX_OK;
}

/* One name per line; ignored where it does not fit. */
static px_status cifar_names(cifar_source *cifar, const char *root, px_error *err)
{
    char path[1280];
    pxi_bytes bytes = {0};
    cifar->base.class_count = cifar->head == 1 ? 10 : 100;
    if (cifar->head == 1) {
        cifar->base.class_names = cifar10_names;
        return PX_OK;
    }
    snprintf(path, sizeof path, "%sfine_label_names.txt", root);
    if (!pxi_tree_has(cifar->tree, path))
        return PX_OK;
    PX_TRY(pxi_tree_bytes_at(cifar->tree, path, &bytes, err));
    px_status status = pxi_bytes_load(&bytes, 1 << 16, path, err);
    if (status != PX_OK)
        goto done;
    if (!(cifar->names = pxi_calloc(100, sizeof *cifar->names))) {
        status = pxi_no_memory(err);
        goto done;
    }
    const char *text = (const char *)pxi_bytes_data(&bytes), *end = text + bytes.size;
    for (int i = 0; i < 100; i++) {
        const char *line = text;
        while (text < end && *text != '\n')
            text++;
        if (!(cifar->names[i] = strndup(line, (size_t)(text - line)))) {
            status = pxi_no_memory(err);
            goto done;
        }
        text += text < end;
    }
    cifar->base.class_names = (const char *const *)cifar->names;
done:
    pxi_bytes_done(&bytes);
    return status;
}

px_status pxi_cifar_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                         px_error *err)
{
    size_t first, end, head;
    const char *have[2];
    size_t have_count = 0;
    px_status status = PX_OK;
    cifar_source *cifar = pxi_calloc(1, sizeof *cifar);
    if (!cifar) {
        pxi_tree_free(tree);
        return pxi_no_memory(err);
    }
    cifar->base.type = &cifar_type;
    cifar->base.is_8bit = true;
    cifar->base.shape = (px_shape){.rank = 3, .dim = {3, 32, 32}};
    cifar->tree = tree;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const char *found = cifar_split(pxi_tree_entry(tree, i)->path + strlen(root), &head);
        if (found && (have_count == 0 || (have_count == 1 && strcmp(have[0], found) != 0)))
            have[have_count++] = found;
    }
    const int chosen = pxi_split_find(have, have_count, split);
    if (chosen < 0)
        status = pxi_split_fail(pxi_tree_name(tree), have, have_count, split, err);
    for (size_t i = first; i < end && status == PX_OK; i++) {
        const pxi_entry *entry = pxi_tree_entry(tree, i);
        const char *found = cifar_split(entry->path + strlen(root), &head);
        if (found && strcmp(found, have[chosen]) == 0)
            status = cifar_add(cifar, entry, head, err);
    }
    PX_THEN(status, cifar_names(cifar, root, err));
    if (status != PX_OK) {
        cifar_free(&cifar->base);
        return status;
    }
    snprintf(cifar->base.kind, sizeof cifar->base.kind, "CIFAR-%s",
             cifar->head == 1 ? "10" : "100");
    *out = &cifar->base;
    return PX_OK;
}
