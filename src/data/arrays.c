/* src/data/arrays.c - .npy and .npz files as data sets */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/array_source.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Names that people give to inputs and labels; "%s" is the split. */
static const char *const split_pairs[][2] = {
    {"x_%s", "y_%s"},           {"X_%s", "y_%s"},           {"X_%s", "Y_%s"},
    {"%s_images", "%s_labels"}, {"%s_x", "%s_y"},           {"%s_data", "%s_labels"},
    {"images_%s", "labels_%s"}, {"%s_inputs", "%s_labels"}, {"inputs_%s", "labels_%s"},
};
static const char *const plain_pairs[][2] = {
    {"x", "y"},
    {"X", "y"},
    {"X", "Y"},
    {"images", "labels"},
    {"inputs", "labels"},
    {"data", "labels"},
    {"samples", "labels"},
    {"arr_0", "arr_1"},
};
/* Probabilities of the classes beside the labels. */
static const char *const split_targets[] = {"targets_%s", "%s_targets"};
static const char *const plain_targets[] = {"targets"};
static const char *const split_names[] = {"test", "train", "val", "valid", "validation", "dev"};

typedef struct array_pair {
    char x[128], y[128], targets[128]; /* member paths; "": none */
} array_pair;

/* The member that a format names; "" if it is not there. The one "%s" by hand: formats are data. */
static bool member_in(const pxi_tree *tree, const char *format, const char *split, char to[128])
{
    const char *hole = strstr(format, "%s");
    const int before = hole ? (int)(hole - format) : (int)strlen(format);
    snprintf(to, 128, "%.*s%s%s.npy", before, format, hole ? split : "", hole ? hole + 2 : "");
    if (!pxi_tree_find(tree, to))
        to[0] = '\0';
    return to[0] != '\0';
}

static bool pair_in(const pxi_tree *tree, const char *const pair[2], const char *split,
                    array_pair *out)
{
    const bool of_split = strstr(pair[0], "%s") != NULL;
    const char *const *targets = of_split ? split_targets : plain_targets;
    const size_t count = of_split ? PX_LEN(split_targets) : PX_LEN(plain_targets);
    out->targets[0] = '\0';
    for (size_t i = 0; i < count && !out->targets[0]; i++)
        (void)member_in(tree, targets[i], split, out->targets);
    (void)member_in(tree, pair[1], split, out->y);
    return member_in(tree, pair[0], split, out->x);
}

static bool pair_of_split(const pxi_tree *tree, const char *split, array_pair *out)
{
    for (size_t i = 0; i < PX_LEN(split_pairs); i++)
        if (strlen(split) < 64 && pair_in(tree, split_pairs[i], split, out))
            return true;
    return false;
}

static px_status arrays_choose(const pxi_tree *tree, const char *split, array_pair *out,
                               px_error *err)
{
    const char *have[PX_LEN(split_names) + 1];
    size_t count = 0;
    for (size_t i = 0; i < PX_LEN(split_names); i++)
        if (pair_of_split(tree, split_names[i], out))
            have[count++] = split_names[i];
    if (split && !pxi_split_is_name(split) && pair_of_split(tree, split, out))
        have[count++] = split;
    const int chosen = pxi_split_find(have, count, split);
    if (chosen >= 0) {
        (void)pair_of_split(tree, have[chosen], out);
        return PX_OK;
    }
    if (count || split)
        return pxi_split_fail(pxi_tree_name(tree), have, count, split, err);
    for (size_t i = 0; i < PX_LEN(plain_pairs); i++)
        if (pair_in(tree, plain_pairs[i], "", out))
            return PX_OK;
    if (pxi_tree_count(tree) == 1) { /* no choice to be made */
        snprintf(out->x, sizeof out->x, "%s", pxi_tree_entry(tree, 0)->path);
        out->y[0] = out->targets[0] = '\0';
        return PX_OK;
    }
    return px_fail(err, PX_E_INPUT,
                   "'%s': has no arrays named x and y, images and labels, or x_test and y_test",
                   pxi_tree_name(tree));
}

typedef enum array_role { ARRAY_LABELS, ARRAY_TARGETS, ARRAY_NUMBERS } array_role;

static px_status arrays_add(pxi_array_source *source, const pxi_tree *tree, const char *path,
                            array_role role, int targets, px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    pxi_npy npy;
    pxi_tree_text(tree, path, name);
    if (!path[0])
        return PX_OK;
    PX_TRY(pxi_tree_bytes(tree, pxi_tree_find(tree, path), &bytes, err));
    px_status status = pxi_npy_header(&bytes, name, &npy, err);
    PX_THEN(status, role == ARRAY_LABELS
                        ? pxi_array_source_set_labels(source, &bytes, &npy, name, err)
                    : role == ARRAY_TARGETS
                        ? pxi_array_source_set_targets(source, &bytes, &npy, name, err)
                        : pxi_array_source_set_numbers(source, &bytes, &npy, name, targets, err));
    pxi_bytes_done(&bytes);
    return status;
}

px_status pxi_npz_open_source(const char *name, pxi_bytes *bytes, const char *split, int targets,
                              pxi_source **out, px_error *err)
{
    char text[PXI_TREE_TEXT];
    array_pair pair;
    pxi_tree *tree = NULL;
    pxi_bytes member = {0};
    pxi_npy npy;
    pxi_array_source *source = NULL;
    PX_TRY(pxi_tree_open_zip(name, bytes, &tree, err));
    px_status status = arrays_choose(tree, split, &pair, err);
    PX_THEN(status, pxi_tree_bytes(tree, pxi_tree_find(tree, pair.x), &member, err));
    PX_THEN(status, pxi_npy_header(&member, pxi_tree_text(tree, pair.x, text), &npy, err));
    if (status != PX_OK) {
        pxi_bytes_done(&member);
        pxi_tree_free(tree);
        return status;
    }
    PX_TRY(pxi_array_source_new("NPZ", pxi_tree_text(tree, pair.x, text), tree, &member, &npy,
                                &source, err));
    const array_role role = targets ? ARRAY_NUMBERS : ARRAY_LABELS;
    if ((status = arrays_add(source, tree, pair.y, role, targets, err)) != PX_OK ||
        (!targets &&
         (status = arrays_add(source, tree, pair.targets, ARRAY_TARGETS, 0, err)) != PX_OK)) {
        pxi_source_free(&source->base);
        return status;
    }
    *out = &source->base;
    return PX_OK;
}

px_status pxi_npy_open_source(const char *name, pxi_bytes *bytes, const char *split,
                              pxi_source **out, px_error *err)
{
    pxi_npy npy;
    pxi_array_source *source = NULL;
    px_status status =
        split ? pxi_split_fail(name, NULL, 0, split, err) : pxi_npy_header(bytes, name, &npy, err);
    if (status != PX_OK) {
        pxi_bytes_done(bytes);
        return status;
    }
    PX_TRY(pxi_array_source_new("NPY", name, NULL, bytes, &npy, &source, err));
    *out = &source->base;
    return PX_OK;
}

/* --- in a folder or archive: the one array file there ---------------------------------------- */

static const pxi_entry *arrays_only(const pxi_tree *tree, const char *root)
{
    const pxi_entry *found = NULL;
    size_t first, end;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const pxi_entry *entry = pxi_tree_entry(tree, i);
        if (strchr(entry->path + strlen(root), '/') ||
            (!pxi_has_suffix(entry->path, ".npz") && !pxi_has_suffix(entry->path, ".npy")))
            continue;
        if (found)
            return NULL;
        found = entry;
    }
    return found;
}

bool pxi_arrays_claims(const pxi_tree *tree, const char *root)
{
    return arrays_only(tree, root) != NULL;
}

px_status pxi_arrays_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                          px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    const pxi_entry *entry = arrays_only(tree, root);
    const bool npz = pxi_has_suffix(entry->path, ".npz");
    pxi_tree_text(tree, entry->path, name);
    px_status status = pxi_tree_bytes(tree, entry, &bytes, err);
    PX_THEN(status, pxi_bytes_detach(&bytes, name, err));
    pxi_tree_free(tree);
    if (status != PX_OK) {
        pxi_bytes_done(&bytes);
        return status;
    }
    return npz ? pxi_npz_open_source(name, &bytes, split, /* targets= */ 0, out, err)
               : pxi_npy_open_source(name, &bytes, split, out, err);
}
