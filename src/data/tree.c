/* src/data/tree.c - named files, in a folder or in an archive */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tree.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/zip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the list -------------------------------------------------------------------------------- */

static px_status tree_new(const char *name, pxi_tree **out, px_error *err)
{
    pxi_tree *tree = pxi_calloc(1, sizeof *tree);
    if (tree) {
        tree->folder = -1;
        tree->name = pxi_strdup(name);
        tree->arena = pxi_arena_new();
    }
    if (!tree || !tree->name || !tree->arena) {
        pxi_tree_free(tree);
        return pxi_no_memory(err);
    }
    *out = tree;
    return PX_OK;
}

void pxi_tree_free(pxi_tree *tree)
{
    if (!tree)
        return;
    if (tree->folder >= 0)
        close(tree->folder);
    pxi_bytes_done(&tree->zip);
    free(tree->memory);
    free(tree->entries);
    pxi_arena_free(tree->arena);
    free(tree->name);
    free(tree);
}

px_status pxi_tree_add(pxi_tree *tree, const char *path, uint64_t size, pxi_entry **out,
                       px_error *err)
{
    if (tree->count >= PXI_TREE_ENTRIES_MAX)
        return px_fail(err, PX_E_INPUT, "'%s': more than %zu files", tree->name,
                       PXI_TREE_ENTRIES_MAX);
    char *copy = pxi_arena_strdup(tree->arena, path);
    if (!copy || pxi_grow(&tree->entries, &tree->capacity, tree->count + 1, sizeof(pxi_entry)) != 0)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", tree->name);
    tree->entries[tree->count] = (pxi_entry){.path = copy, .size = size};
    *out = &tree->entries[tree->count++];
    return PX_OK;
}

static int entry_compare(const void *a, const void *b)
{
    return strcmp(((const pxi_entry *)a)->path, ((const pxi_entry *)b)->path);
}

static void tree_sort(pxi_tree *tree)
{
    if (tree->count)
        qsort(tree->entries, tree->count, sizeof *tree->entries, entry_compare);
    tree->listed = true;
}

/* --- folders --------------------------------------------------------------------------------- */

typedef struct tree_walk {
    pxi_tree *tree;
    const char *split;
    char path[4096];
    struct { /* the folders on the way down: a link back to one of them is not followed */
        dev_t device;
        ino_t inode;
    } above[PXI_TREE_DEPTH_MAX + 1];
} tree_walk;

static px_status walk_folder(tree_walk *walk, int fd, size_t length, int depth, px_error *err);

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static px_status walk_names(const tree_walk *walk, int fd, char ***out, size_t *count,
                            px_error *err)
{
    px_status status = PX_OK;
    char **names = NULL;
    size_t used = 0, capacity = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        const int number = errno; /* which close() may change */
        close(fd);
        return px_fail(err, pxi_errno_status(number), "'%s/%s': cannot be listed: %s",
                       walk->tree->name, walk->path, strerror(number));
    }
    for (struct dirent *item; (item = readdir(dir)) != NULL;) {
        if (item->d_name[0] == '.')
            continue;
        char *copy = pxi_strdup(item->d_name);
        if (!copy || pxi_grow(&names, &capacity, used + 1, sizeof *names) != 0) {
            free(copy);
            status = pxi_no_memory(err);
            break;
        }
        names[used++] = copy;
    }
    closedir(dir);
    if (used)
        qsort(names, used, sizeof *names, name_compare);
    *out = names;
    *count = used;
    return status;
}

static px_status walk_entry(tree_walk *walk, int fd, const char *name, size_t length, int depth,
                            px_error *err)
{
    struct stat info;
    const size_t more = strlen(name);
    if (length + more + 2 > sizeof walk->path)
        return px_fail(err, PX_E_INPUT, "'%s/%s': path is too long", walk->tree->name, walk->path);
    if (fstatat(fd, name, &info, 0) != 0)
        return PX_OK; /* a dangling link, or gone by now */
    memcpy(walk->path + length, name, more + 1);
    if (S_ISREG(info.st_mode)) {
        pxi_entry *entry;
        return pxi_tree_add(walk->tree, walk->path, (uint64_t)info.st_size, &entry, err);
    }
    if (!S_ISDIR(info.st_mode))
        return PX_OK;
    if (depth >= PXI_TREE_DEPTH_MAX)
        return px_fail(err, PX_E_INPUT, "'%s/%s': folders are nested more than %d deep",
                       walk->tree->name, walk->path, PXI_TREE_DEPTH_MAX);
    for (int i = 0; i <= depth; i++)
        if (walk->above[i].device == info.st_dev && walk->above[i].inode == info.st_ino)
            return PX_OK;
    const int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (sub < 0)
        return px_fail(err, pxi_errno_status(errno), "'%s/%s': cannot be opened: %s",
                       walk->tree->name, walk->path, strerror(errno));
    walk->path[length + more] = '/';
    walk->path[length + more + 1] = '\0';
    return walk_folder(walk, sub, length + more + 1, depth + 1, err);
}

static bool holds_folders(int fd, const char *name)
{
    struct stat info;
    bool found = false;
    const int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = sub >= 0 ? fdopendir(sub) : NULL;
    if (sub >= 0 && !dir)
        close(sub);
    for (struct dirent *item; dir && !found && (item = readdir(dir)) != NULL;)
        found = item->d_name[0] != '.' && fstatat(sub, item->d_name, &info, 0) == 0 &&
                S_ISDIR(info.st_mode);
    if (dir)
        closedir(dir);
    return found;
}

/* Closes `fd`. */
static px_status walk_folder(tree_walk *walk, int fd, size_t length, int depth, px_error *err)
{
    char **names = NULL;
    size_t count = 0;
    struct stat info = {0};
    const int listing = dup(fd); /* fdopendir() takes its own away */
    px_status status = PX_OK;
    if (fstat(fd, &info) != 0 || listing < 0) {
        status =
            px_fail(err, PX_E_IO, "'%s/%s': %s", walk->tree->name, walk->path, strerror(errno));
        goto done;
    }
    walk->above[depth].device = info.st_dev;
    walk->above[depth].inode = info.st_ino;
    if ((status = walk_names(walk, listing, &names, &count, err)) != PX_OK)
        goto done;
    if (count == 0 && depth > 0) { /* an empty class folder is a class all the same */
        pxi_entry *entry;
        status = pxi_tree_add(walk->tree, walk->path, 0, &entry, err);
    }
    int chosen = depth == 0 ? pxi_split_find((const char *const *)names, count, walk->split) : -1;
    if (chosen >= 0 && !holds_folders(fd, names[chosen]))
        chosen = -1; /* a class that is called "test" */
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        struct stat item;
        if (chosen >= 0 && (int)i != chosen && pxi_split_is_name(names[i]) &&
            fstatat(fd, names[i], &item, 0) == 0 && S_ISDIR(item.st_mode))
            continue;
        status = walk_entry(walk, fd, names[i], length, depth, err);
        walk->path[length] = '\0';
    }
done:
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    close(fd);
    return status;
}

static px_status tree_folder(const char *path, pxi_tree **out, px_error *err)
{
    pxi_tree *tree = NULL;
    PX_TRY(tree_new(path, &tree, err));
    tree->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree->folder < 0) {
        const px_status status = px_fail(err, pxi_errno_status(errno), "'%s': cannot be opened: %s",
                                         path, strerror(errno));
        pxi_tree_free(tree);
        return status;
    }
    *out = tree;
    return PX_OK;
}

px_status pxi_tree_open_unlisted(const char *path, pxi_tree **out, px_error *err)
{
    return tree_folder(path, out, err);
}

px_status pxi_tree_open_folder(const char *path, const char *split, pxi_tree **out, px_error *err)
{
    pxi_tree *tree = NULL;
    PX_TRY(tree_folder(path, &tree, err));
    tree_walk *walk = pxi_calloc(1, sizeof *walk);
    const int fd = dup(tree->folder);
    px_status status = PX_OK;
    if (!walk || fd < 0) {
        status = pxi_no_memory(err);
        if (fd >= 0)
            close(fd);
    } else {
        walk->tree = tree;
        walk->split = split;
        status = walk_folder(walk, fd, 0, 0, err);
    }
    free(walk);
    if (status != PX_OK) {
        pxi_tree_free(tree);
        return status;
    }
    tree_sort(tree);
    *out = tree;
    return PX_OK;
}

/* --- archives -------------------------------------------------------------------------------- */

static const char *const tar_suffixes[] = {".tar",     ".tar.gz", ".tgz",     ".tar.xz", ".txz",
                                           ".tar.bz2", ".tbz2",   ".tar.zst", ".tzst"};

bool pxi_tree_is_archive(const char *path)
{
    if (pxi_has_suffix(path, ".zip"))
        return true;
    for (size_t i = 0; i < PX_LEN(tar_suffixes); i++)
        if (pxi_has_suffix(path, tar_suffixes[i]))
            return true;
    return false;
}

bool pxi_tree_skips(const char **path)
{
    while (strncmp(*path, "./", 2) == 0)
        *path += 2;
    if (**path == '\0' || (*path)[strlen(*path) - 1] == '/' || strncmp(*path, "__MACOSX/", 9) == 0)
        return true;
    for (const char *part = *path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '.')
            return true;
    }
    return false;
}

px_status pxi_tree_open_zip(const char *name, pxi_bytes *zip, pxi_tree **out, px_error *err)
{
    pxi_tree *tree = NULL;
    px_status status = tree_new(name, &tree, err);
    if (status != PX_OK) {
        pxi_bytes_done(zip);
        return status;
    }
    tree->is_zip = true;
    tree->zip = *zip;
    *zip = (pxi_bytes){0};
    status = pxi_zip_list(tree, err);
    if (status != PX_OK) {
        pxi_tree_free(tree);
        return status;
    }
    tree_sort(tree);
    *out = tree;
    return PX_OK;
}

px_status pxi_tree_open_archive(const char *path, pxi_tree **out, px_error *err)
{
    if (pxi_has_suffix(path, ".zip")) {
        pxi_bytes zip = {0};
        PX_TRY(pxi_bytes_open(&zip, path, err));
        return pxi_tree_open_zip(path, &zip, out, err);
    }
    pxi_tree *tree = NULL;
    PX_TRY(tree_new(path, &tree, err));
    const px_status status = pxi_tree_read_tar(tree, path, err);
    if (status != PX_OK) {
        pxi_tree_free(tree);
        return status;
    }
    tree_sort(tree);
    *out = tree;
    return PX_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

const char *pxi_tree_name(const pxi_tree *tree)
{
    return tree->name;
}

size_t pxi_tree_count(const pxi_tree *tree)
{
    return tree->count;
}

const pxi_entry *pxi_tree_entry(const pxi_tree *tree, size_t i)
{
    return &tree->entries[i];
}

const pxi_entry *pxi_tree_find(const pxi_tree *tree, const char *path)
{
    const pxi_entry key = {.path = path};
    if (!tree->count)
        return NULL;
    return bsearch(&key, tree->entries, tree->count, sizeof key, entry_compare);
}

void pxi_tree_range(const pxi_tree *tree, const char *folder, size_t *first, size_t *end)
{
    const size_t length = strlen(folder);
    size_t low = 0, high = tree->count;
    while (low < high) { /* the first entry that is not before `folder` */
        const size_t middle = low + (high - low) / 2;
        if (strncmp(tree->entries[middle].path, folder, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    high = tree->count;
    while (low < high) { /* the first one that is not below it */
        const size_t middle = low + (high - low) / 2;
        if (strncmp(tree->entries[middle].path, folder, length) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low;
}

const char *pxi_tree_text(const pxi_tree *tree, const char *path, char buffer[PXI_TREE_TEXT])
{
    const size_t length = strlen(tree->name);
    const bool slash = length && tree->name[length - 1] == '/';
    if (strcmp(tree->name, ".") == 0) /* of a file beside which others are looked up */
        snprintf(buffer, PXI_TREE_TEXT, "%.500s", path);
    else
        snprintf(buffer, PXI_TREE_TEXT, "%.250s%s%.250s", tree->name, slash ? "" : "/", path);
    return buffer;
}

px_status pxi_tree_bytes(const pxi_tree *tree, const pxi_entry *entry, pxi_bytes *out,
                         px_error *err)
{
    char text[PXI_TREE_TEXT];
    pxi_tree_text(tree, entry->path, text);
    if (tree->folder >= 0)
        return pxi_bytes_open_at(out, tree->folder, entry->path, text, err);
    if (tree->is_zip)
        return pxi_zip_bytes(&tree->zip, entry, text, out, err);
    *out = pxi_bytes_view(tree->memory + entry->place, (size_t)entry->size);
    return PX_OK;
}

px_status pxi_tree_bytes_at(const pxi_tree *tree, const char *path, pxi_bytes *out, px_error *err)
{
    char text[PXI_TREE_TEXT];
    if (tree->folder >= 0)
        return pxi_bytes_open_at(out, tree->folder, path, pxi_tree_text(tree, path, text), err);
    const pxi_entry *entry = pxi_tree_find(tree, path);
    if (!entry)
        return px_fail(err, PX_E_INPUT, "'%s': no such file in the archive",
                       pxi_tree_text(tree, path, text));
    return pxi_tree_bytes(tree, entry, out, err);
}

px_status pxi_tree_load(const pxi_tree *tree, const char *path, uint64_t cap, pxi_bytes *out,
                        px_error *err)
{
    char text[PXI_TREE_TEXT];
    pxi_tree_text(tree, path, text);
    const pxi_entry *entry = tree->folder < 0 ? pxi_tree_find(tree, path) : NULL;
    if (entry)
        PX_TRY(pxi_bytes_check_size(entry->size, cap, text, err));
    PX_TRY(pxi_tree_bytes_at(tree, path, out, err));
    const px_status status = pxi_bytes_load(out, cap, text, err);
    if (status != PX_OK)
        pxi_bytes_done(out);
    return status;
}

bool pxi_tree_has(const pxi_tree *tree, const char *path)
{
    if (tree->folder >= 0)
        return faccessat(tree->folder, path, F_OK, 0) == 0;
    return pxi_tree_find(tree, path) != NULL;
}

uint64_t pxi_tree_size(const pxi_tree *tree, const char *path)
{
    struct stat info;
    const pxi_entry *entry = pxi_tree_find(tree, path);
    if (entry)
        return entry->size;
    if (tree->folder >= 0 && fstatat(tree->folder, path, &info, 0) == 0)
        return (uint64_t)info.st_size;
    return 0;
}
