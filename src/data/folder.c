/* src/data/folder.c - class folders of pictures (PNG, JPEG) or recordings (WAV, FLAC)
 *
 *     ROOT/[SPLIT/]CLASS/.../PICTURE.png
 *
 * Classes are numbered in the byte order of their names. Samples go round the classes (first
 * file of each class, second of each, ...), so that any prefix is balanced. Files that lie in
 * ROOT itself, without class folders, make a data set without labels.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/picture_source.h"

#include "base/memory.h"
#include "base/ascending.h"

#include <stdlib.h>
#include <string.h>

typedef struct folder_names { /* sorted and unique */
    const char **names;
    size_t count, capacity;
    px_arena *arena;
} folder_names;

/* The names of the folders right below `root`. `nested`: only those that hold folders in turn. */
static px_status folder_list(const pxi_tree *tree, const char *root, bool nested, folder_names *out,
                             px_error *err)
{
    size_t first, end, last = 0;
    const size_t length = strlen(root);
    if (!out->arena && !(out->arena = pxi_arena_new()))
        return pxi_no_memory(err);
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const char *path = pxi_tree_entry(tree, i)->path + length;
        const char *slash = strchr(path, '/');
        if (!slash || (nested && !strchr(slash + 1, '/')))
            continue;
        const size_t size = (size_t)(slash - path);
        if (out->count && last == size && strncmp(out->names[out->count - 1], path, size) == 0)
            continue; /* entries of one folder follow each other */
        const char *name = pxi_arena_strndup(out->arena, path, size);
        if (!name || pxi_grow(&out->names, &out->capacity, out->count + 1, sizeof *out->names))
            return pxi_no_memory(err);
        out->names[out->count++] = name;
        last = size;
    }
    if (out->count)
        qsort(out->names, out->count, sizeof *out->names, pxi_order_text);
    return PX_OK;
}

static void folder_names_done(folder_names *names)
{
    free(names->names);
    pxi_arena_free(names->arena);
}

/* Steps into the split's folder where there are splits. */
static px_status folder_split(const pxi_tree *tree, const char *root, const char *split, char *to,
                              size_t room, px_error *err)
{
    folder_names names = {0};
    px_status status = folder_list(tree, root, true, &names, err);
    if (status != PX_OK)
        goto done;
    size_t known = 0; /* moved to the front, for the message */
    for (size_t i = 0; i < names.count; i++)
        if (pxi_split_is_name(names.names[i]) || (split && strcmp(split, names.names[i]) == 0)) {
            const char *name = names.names[i];
            names.names[i] = names.names[known];
            names.names[known++] = name;
        }
    const int chosen = pxi_split_find(names.names, known, split);
    if (chosen < 0 && (known || split))
        status = pxi_split_fail(pxi_tree_name(tree), names.names, known, split, err);
    else if (strlen(root) + 2 + (chosen < 0 ? 0 : strlen(names.names[chosen])) > room)
        status = px_fail(err, PX_E_INPUT, "'%s': its path is too long", pxi_tree_name(tree));
    else if (chosen >= 0)
        stpcpy(stpcpy(stpcpy(to, root), names.names[chosen]), "/");
    else
        stpcpy(to, root);
done:
    folder_names_done(&names);
    return status;
}

/* Fills [first, end) of each class and what is left; then goes round. */
static px_status folder_round_robin(pxi_picture_source *source, const char *root,
                                    const folder_names *classes, px_error *err)
{
    typedef struct run {
        size_t at, end;
    } run;
    char folder[2048];
    const pxi_tree *tree = source->tree;
    px_status status = PX_OK;
    run *runs = NULL;
    PX_TRY(PX_NEW(runs, classes->count, err));
    for (size_t c = 0; c < classes->count; c++) {
        if (strlen(root) + strlen(classes->names[c]) + 2 > sizeof folder) {
            status = px_fail(err, PX_E_INPUT, "'%s': its path is too long", pxi_tree_name(tree));
            goto done;
        }
        stpcpy(stpcpy(stpcpy(folder, root), classes->names[c]), "/");
        pxi_tree_range(tree, folder, &runs[c].at, &runs[c].end);
    }
    for (bool more = true; more && status == PX_OK;) {
        more = false;
        for (size_t c = 0; c < classes->count && status == PX_OK; c++) {
            run *r = &runs[c];
            while (r->at < r->end && !pxi_tree_is_sample(tree, pxi_tree_entry(tree, r->at)->path))
                r->at++;
            if (r->at == r->end)
                continue;
            more = true;
            const pxi_picture_item item = {.path = pxi_tree_entry(tree, r->at++)->path,
                                           .label = (int32_t)c};
            status = pxi_picture_source_add(source, item, err);
        }
    }
done:
    free(runs);
    return status;
}

static px_status folder_flat(pxi_picture_source *source, const char *root, px_error *err)
{
    size_t first, end;
    pxi_tree_range(source->tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const char *path = pxi_tree_entry(source->tree, i)->path;
        if (pxi_tree_is_sample(source->tree, path))
            PX_TRY(
                pxi_picture_source_add(source, (pxi_picture_item){.path = path, .label = -1}, err));
    }
    return PX_OK;
}

bool pxi_folder_claims(const pxi_tree *tree, const char *root)
{
    size_t first, end;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++)
        if (pxi_tree_is_sample(tree, pxi_tree_entry(tree, i)->path))
            return true;
    return false;
}

px_status pxi_folder_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                          px_error *err)
{
    char place[1280];
    folder_names classes = {0};
    pxi_picture_source *source = NULL;
    PX_TRY(pxi_picture_source_new("pictures", tree, &source, err));
    px_status status = folder_split(tree, root, split, place, sizeof place, err);
    PX_THEN(status, folder_list(tree, place, false, &classes, err));
    if (status != PX_OK)
        goto done;
    if (classes.count > PXI_CLASSES_MAX)
        status = px_fail(err, PX_E_INPUT, "'%s': %zu class folders are too many",
                         pxi_tree_name(tree), classes.count);
    else if (classes.count == 0)
        status = folder_flat(source, place, err);
    else if ((status = folder_round_robin(source, place, &classes, err)) == PX_OK)
        status = pxi_picture_source_set_classes(source, classes.names, classes.count, err);
    if (status == PX_OK && source->base.count == 0)
        status = px_fail(err, PX_E_INPUT, "'%s/%s': holds no %s files", pxi_tree_name(tree), place,
                         tree->texts ? ".txt" : "PNG, JPEG, WAV or FLAC");
    const pxi_foreign foreign = pxi_tree_foreign(tree, place);
    (void)pxi_foreign_text(&foreign, source->base.remark, sizeof source->base.remark);
    PX_THEN(status, pxi_picture_source_finish(source, err));
done:
    folder_names_done(&classes);
    if (status != PX_OK) {
        pxi_source_free(&source->base);
        return status;
    }
    *out = &source->base;
    return PX_OK;
}
