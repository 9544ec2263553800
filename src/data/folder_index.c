/* src/data/folder_index.c - an index of class folders that were listed */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index.h"

#include "base/ascending.h"
#include "base/memory.h"
#include "data/picture_source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct folder_list {
    px_arena *arena;
    const char **names; /* sorted and unique */
    size_t count, room;
} folder_list;

static px_status folder_list_add(folder_list *list, const char *path, size_t length, px_error *err)
{
    const char *name = pxi_arena_strndup(list->arena, path, length);
    PX_TRY(name ? PX_OK : pxi_no_memory(err));
    PX_TRY(PX_GROW(list->names, list->room, list->count + 1, err));
    list->names[list->count++] = name;
    return PX_OK;
}

/* The folders of all entries, and those above them, the first one "". */
static px_status folder_list_make(const pxi_tree *tree, folder_list *list, px_error *err)
{
    const char *last = NULL;
    size_t last_length = 0;
    PX_TRY((list->arena = pxi_arena_new()) ? PX_OK : pxi_no_memory(err));
    PX_TRY(folder_list_add(list, "", 0, err));
    for (size_t i = 0; i < pxi_tree_count(tree); i++) {
        const char *path = pxi_tree_entry(tree, i)->path, *slash = strrchr(path, '/');
        if (!slash || (last && last_length == (size_t)(slash - path) &&
                       strncmp(last, path, last_length) == 0))
            continue;
        last = path;
        last_length = (size_t)(slash - path);
        for (const char *s = strchr(path, '/'); s && s <= slash; s = strchr(s + 1, '/'))
            PX_TRY(folder_list_add(list, path, (size_t)(s - path), err));
    }
    qsort(list->names, list->count, sizeof *list->names, pxi_order_text);
    size_t used = 1;
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->names[i], list->names[used - 1]) != 0)
            list->names[used++] = list->names[i];
    list->count = used;
    return PX_OK;
}

static px_status folder_parts(const pxi_tree *tree, const folder_list *list,
                              const struct timespec *since, pxi_index_part *parts, px_error *err)
{
    char text[PXI_TREE_TEXT];
    for (size_t i = 0; i < list->count; i++) {
        struct stat info;
        const char *name = list->names[i];
        if (fstatat(tree->folder, *name ? name : ".", &info, 0) != 0 ||
            info.st_mtim.tv_sec > since->tv_sec ||
            (info.st_mtim.tv_sec == since->tv_sec && info.st_mtim.tv_nsec >= since->tv_nsec))
            return px_fail(err, PX_E_INPUT, "'%s': is being changed; index it when that is over",
                           pxi_tree_text(tree, name, text));
        parts[i] = (pxi_index_part){
            .name = name, .changed_s = info.st_mtim.tv_sec, .changed_ns = info.st_mtim.tv_nsec};
    }
    return PX_OK;
}

static px_status folder_items(const pxi_picture_source *pictures, const folder_list *list,
                              pxi_index_maker *maker, px_error *err)
{
    pxi_index_item item = {.place = 0};
    char folder[PATH_MAX];
    for (int64_t i = 0; i < pictures->base.count; i++) {
        const char *path = pictures->items[i].path, *slash = strrchr(path, '/'),
                   *name = slash ? slash + 1 : path, *key = folder;
        const size_t length = slash ? (size_t)(slash - path) : 0;
        if (length >= sizeof folder || strlen(name) >= sizeof item.name)
            return px_fail(err, PX_E_INPUT, "'%.100s...': its path is too long", path);
        memcpy(folder, path, length);
        folder[length] = '\0';
        const char *const *found =
            bsearch(&key, list->names, list->count, sizeof *list->names, pxi_order_text);
        item.part = (uint32_t)(found - list->names);
        item.size = pxi_tree_size(pictures->tree, path);
        strcpy(item.name, name);
        PX_TRY(pxi_index_maker_add(maker, &item, pictures->items[i].label, err));
    }
    return PX_OK;
}

px_status pxi_folder_index(const pxi_source *source, const char *split,
                           const struct timespec *since, FILE *to, px_error *err)
{
    const pxi_picture_source *pictures = pxi_picture_source_of(source);
    if (!pictures || pictures->recordings || pictures->coder.own || pictures->manifest ||
        pictures->tree->folder < 0 || !pictures->tree->listed)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "only class folders of pictures and tar shards are indexed; this is %s",
                       source->kind);
    folder_list list = {0};
    pxi_index_part *parts = NULL;
    pxi_index_maker *maker = NULL;
    px_status status = folder_list_make(pictures->tree, &list, err);
    PX_THEN(status, PX_NEW(parts, list.count, err));
    PX_THEN(status, folder_parts(pictures->tree, &list, since, parts, err));
    PX_THEN(status, pxi_index_maker_new(to, &maker, err));
    PX_THEN(status, folder_items(pictures, &list, maker, err));
    if (status == PX_OK) {
        const pxi_index_about about = {.kind = PXI_INDEX_FOLDERS,
                                       .split = split ? split : "",
                                       .remark = source->remark,
                                       .class_count = source->class_count,
                                       .class_names = source->class_names,
                                       .parts = parts,
                                       .part_count = list.count};
        status = pxi_index_maker_finish(maker, &about, err);
    }
    pxi_index_maker_free(maker);
    free(parts);
    free(list.names);
    pxi_arena_free(list.arena);
    return status;
}
