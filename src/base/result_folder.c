/* src/base/result_folder.c - folders of results that appear whole, and that are plexor's own */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/folder.h>

#include "base/file.h"
#include "base/folder_mark.h"
#include "base/mem_names.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <internal/ranks.h>
#include <internal/system.h>
#include <plexor/text.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_S 0.4
enum { OPEN_FOLDERS = 8, TRIES = 100 };

struct px_folder {
    char *path, *temp; /* the final name, and the name until then */
    char *command;
    bool fresh;
    int lock; /* of the temporary folder: whoever sweeps sees that it is alive */
    px_folder *next;
};

static px_folder *folders; /* that have begun: by the thread that meets other ranks */

bool pxi_folder_is_making(const char *path)
{
    for (const px_folder *f = folders; f; f = f->next)
        if (strncmp(path, f->temp, strlen(f->temp)) == 0 && path[strlen(f->temp)] == '/')
            return true;
    return false;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* --- whether it may be made ------------------------------------------------------------------ */

static px_status folder_is_empty(const char *path, bool *empty, px_error *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return pxi_file_fail(err, path, "open");
    *empty = true;
    for (const struct dirent *entry; *empty && (entry = readdir(dir)) != NULL;)
        *empty = is_dots(entry->d_name);
    closedir(dir);
    return PX_OK;
}

static px_status folder_check_mark(const char *path, const char *command, bool fresh, px_error *err)
{
    pxi_mark mark = {0};
    PX_TRY(pxi_mark_read(path, &mark, err));
    px_status status = PX_OK;
    if (!mark.command)
        status = px_fail(err, PX_E_USAGE,
                         "'%.200s' is there, is not empty and was not made by plexor; name another "
                         "folder, or remove it",
                         path);
    else if (strcmp(mark.command, command) != 0)
        status =
            px_fail(err, PX_E_USAGE, "'%.200s' holds what 'plexor %.40s' made; name another folder",
                    path, mark.command);
    else if (!fresh)
        status = px_fail(err, PX_E_USAGE,
                         "'%.200s' holds what an earlier 'plexor %.40s' made; --fresh replaces it, "
                         "or name another folder",
                         path, command);
    pxi_mark_done(&mark);
    return status;
}

static px_status folder_check(const char *path, const char *command, bool fresh, px_error *err)
{
    struct stat info;
    bool empty = false;
    if (stat(path, &info) != 0)
        return errno == ENOENT ? PX_OK : pxi_file_fail(err, path, "open");
    if (!S_ISDIR(info.st_mode))
        return px_fail(err, PX_E_USAGE, "'%.200s' is a file; name a folder", path);
    PX_TRY(folder_is_empty(path, &empty, err));
    return empty ? PX_OK : folder_check_mark(path, command, fresh, err);
}

/* --- making it ------------------------------------------------------------------------------- */

static _Thread_local double patience_ends; /* nftw() takes no context */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    remove(path); /* what cannot go stays; there is nobody left to tell */
    return px_cancelled() && px_clock_s() > patience_ends;
}

/* Who asked to stop does not wait for 100,000 files: the next run removes the rest. */
static void remove_all(const char *path)
{
    patience_ends = px_clock_s() + PATIENCE_S;
    nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Whether `name` is "BASE.tmp-PID-N". */
static bool is_temp_of(const char *name, const char *base)
{
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".tmp-", 5) != 0)
        return false;
    const char *pid = name + length + 5;
    const size_t digits = strspn(pid, "0123456789");
    const char *serial = pid + digits + 1;
    return digits > 0 && pid[digits] == '-' && isdigit((unsigned char)*serial) &&
           strspn(serial, "0123456789") == strlen(serial);
}

/* Removes what a killed process left of this folder: nobody holds its lock any more. */
static px_status folder_sweep(const char *path, px_error *err)
{
    const char *base = pxi_base_name(path);
    px_text parent = {0};
    px_status status = PX_OK;
    px_text_add_bytes(&parent, path, (size_t)(base - path));
    if (parent.length == 0)
        px_text_add(&parent, "./");
    if (px_text_failed(&parent))
        status = pxi_no_memory(err);
    DIR *dir = status == PX_OK ? opendir(px_text_get(&parent)) : NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (!is_temp_of(entry->d_name, base))
            continue;
        const int fd =
            openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        px_text left = {0};
        px_text_format(&left, "%s%s", px_text_get(&parent), entry->d_name);
        if (px_text_failed(&left))
            status = pxi_no_memory(err);
        else if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_all(px_text_get(&left));
        close(fd);
        px_text_done(&left);
    }
    if (dir)
        closedir(dir);
    px_text_done(&parent);
    return status;
}

static px_status folder_make_temp(px_folder *folder, px_error *err)
{
    static atomic_uint serial;
    for (int i = 0; i < TRIES; i++) {
        px_text name = {0};
        px_text_format(&name, "%s.tmp-%ld-%u", folder->path, (long)getpid(),
                       atomic_fetch_add(&serial, 1));
        char *temp = px_text_take(&name);
        if (!temp)
            return pxi_no_memory(err);
        if (pxi_ranks_mute()) { /* a name is all that it needs */
            folder->temp = temp;
            return PX_OK;
        }
        if (mkdir(temp, 0777) == 0) {
            folder->temp = temp;
            folder->lock = open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (folder->lock < 0)
                return pxi_file_fail(err, folder->path, "make the folder");
            (void)flock(folder->lock, LOCK_EX | LOCK_NB); /* a filesystem may have no locks */
            return PX_OK;
        }
        const int why = errno;
        free(temp);
        errno = why;
        if (why != EEXIST)
            break;
    }
    return pxi_file_fail(err, folder->path, "make the folder");
}

/* Without the slashes behind it: "out/" is "out". A link that the user names is followed. */
static char *folder_name(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    px_text text = {0};
    px_text_add_bytes(&text, path, length);
    char *name = px_text_take(&text);
    struct stat info;
    if (name && lstat(name, &info) == 0 && S_ISLNK(info.st_mode)) {
        char *real = realpath(name, NULL);
        if (real) {
            free(name);
            return real;
        }
    }
    return name;
}

px_status px_folder_begin(const char *path, const char *command, bool fresh, px_folder **out,
                          px_error *err)
{
    if (!*path)
        return px_fail(err, PX_E_USAGE, "the name of the folder to make is empty");
    PX_TRY(pxi_mem_no_folder(path, err));
    if (!pxi_ranks_mute())
        PX_TRY(folder_check(path, command, fresh, err));
    px_folder *folder = NULL;
    PX_TRY(PX_NEW(folder, 1, err));
    folder->lock = -1;
    folder->fresh = fresh;
    folder->path = folder_name(path);
    folder->command = pxi_strdup(command);
    px_status status = folder->path && folder->command ? PX_OK : pxi_no_memory(err);
    if (!pxi_ranks_mute())
        PX_THEN(status, folder_sweep(folder->path, err));
    PX_THEN(status, folder_make_temp(folder, err));
    if (status != PX_OK) {
        px_folder_abandon(folder);
        return status;
    }
    if (pxi_ranks_together()) {
        folder->next = folders;
        folders = folder;
    }
    *out = folder;
    return PX_OK;
}

const char *px_folder_path(const px_folder *folder)
{
    return folder->temp;
}

/* --- its name -------------------------------------------------------------------------------- */

/* Adds all that is below `path` to the mark, under names relative to the folder. */
static px_status list_entries(const char *path, const char *below, pxi_mark *mark, px_error *err)
{
    DIR *dir = opendir(path);
    px_status status = dir ? PX_OK : pxi_file_fail(err, path, "read");
    for (const struct dirent *entry; status == PX_OK && (entry = readdir(dir)) != NULL;) {
        struct stat info;
        px_text inner = {0}, name = {0};
        if (is_dots(entry->d_name))
            continue;
        px_text_format(&inner, "%s/%s", path, entry->d_name);
        const bool is_folder =
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(info.st_mode);
        px_text_format(&name, "%s%s%s", below, entry->d_name, is_folder ? "/" : "");
        status = px_text_failed(&inner) || px_text_failed(&name)
                     ? pxi_no_memory(err)
                     : pxi_mark_add(mark, px_text_get(&name), err);
        PX_THEN_IF(status, is_folder,
                   list_entries(px_text_get(&inner), px_text_get(&name), mark, err));
        px_text_done(&inner);
        px_text_done(&name);
    }
    if (dir)
        closedir(dir);
    return status;
}

static px_status folder_mark(px_folder *folder, px_error *err)
{
    pxi_mark mark = {.command = folder->command};
    px_status status = list_entries(folder->temp, "", &mark, err);
    PX_THEN(status, pxi_mark_write(folder->temp, &mark, err));
    mark.command = NULL; /* the folder's */
    pxi_mark_done(&mark);
    return status;
}

/* Moves what is in `from` into `to`, which has files of somebody else; none is replaced. */
static px_status move_into(const char *from, const char *to, px_error *err)
{
    DIR *dir = opendir(from);
    px_status status = dir ? PX_OK : pxi_file_fail(err, from, "read");
    for (const struct dirent *entry; status == PX_OK && (entry = readdir(dir)) != NULL;) {
        px_text a = {0}, b = {0};
        struct stat new, old;
        if (is_dots(entry->d_name))
            continue;
        px_text_format(&a, "%s/%s", from, entry->d_name);
        px_text_format(&b, "%s/%s", to, entry->d_name);
        if (px_text_failed(&a) || px_text_failed(&b))
            status = pxi_no_memory(err);
        else if (lstat(px_text_get(&a), &new) != 0)
            status = pxi_file_fail(err, px_text_get(&a), "read");
        else if (lstat(px_text_get(&b), &old) != 0)
            status = rename(px_text_get(&a), px_text_get(&b)) == 0
                         ? PX_OK
                         : pxi_file_fail(err, px_text_get(&b), "write");
        else if (S_ISDIR(new.st_mode) && S_ISDIR(old.st_mode))
            status = move_into(px_text_get(&a), px_text_get(&b), err);
        else if (strcmp(entry->d_name, PXI_MARK) != 0)
            status = px_fail(err, PX_E_USAGE,
                             "'%.200s': is in the way and was not made by plexor; remove it, or "
                             "name another folder",
                             px_text_get(&b));
        px_text_done(&a);
        px_text_done(&b);
    }
    if (dir)
        closedir(dir);
    return status;
}

/* Beside somebody's files: the mark comes first, so that all of it is known as plexor's. */
static px_status folder_join(const px_folder *folder, px_error *err)
{
    px_text from = {0}, to = {0};
    px_text_format(&from, "%s/%s", folder->temp, PXI_MARK);
    px_text_format(&to, "%s/%s", folder->path, PXI_MARK);
    px_status status = PX_OK;
    if (px_text_failed(&from) || px_text_failed(&to))
        status = pxi_no_memory(err);
    else if (rename(px_text_get(&from), px_text_get(&to)) != 0)
        status = pxi_file_fail(err, folder->path, "write");
    px_text_done(&from);
    px_text_done(&to);
    return status == PX_OK ? move_into(folder->temp, folder->path, err) : status;
}

static px_status folder_replace(const px_folder *folder, px_error *err)
{
    bool empty = false;
    PX_TRY(pxi_mark_clear(folder->path, NULL, err));
    px_text mark = {0};
    px_text_format(&mark, "%s/%s", folder->path, PXI_MARK);
    DIR *dir = opendir(folder->path);
    int others = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        others += !is_dots(entry->d_name) && strcmp(entry->d_name, PXI_MARK) != 0;
    empty = dir && others == 0;
    if (dir)
        closedir(dir);
    px_status status = px_text_failed(&mark) ? pxi_no_memory(err) : PX_OK;
    PX_THEN_IF(status, empty && unlink(px_text_get(&mark)) != 0 && errno != ENOENT,
               pxi_file_fail(err, folder->path, "replace"));
    px_text_done(&mark);
    if (status != PX_OK)
        return status;
    if (!empty)
        return folder_join(folder, err);
    return rename(folder->temp, folder->path) == 0 ? PX_OK
                                                   : pxi_file_fail(err, folder->path, "write");
}

static px_status folder_name_it(px_folder *folder, px_error *err)
{
    PX_TRY(folder_mark(folder, err));
    if (rename(folder->temp, folder->path) == 0)
        return PX_OK;
    if ((errno != ENOTEMPTY && errno != EEXIST) || !folder->fresh)
        return pxi_file_fail(err, folder->path, "write");
    return folder_replace(folder, err);
}

px_status px_folder_commit(px_folder *folder, px_error *err)
{
    px_status status = pxi_ranks_agree("a folder that is written", 0, err);
    if (status == PX_OK && !pxi_ranks_mute())
        status = folder_name_it(folder, err);
    px_folder_abandon(folder); /* the temporary name, where there still is one, goes too */
    return status;
}

void px_folder_abandon(px_folder *folder)
{
    if (!folder)
        return;
    for (px_folder **at = &folders; *at; at = &(*at)->next)
        if (*at == folder) {
            *at = folder->next;
            break;
        }
    if (folder->temp && !pxi_ranks_mute())
        remove_all(folder->temp);
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->temp);
    free(folder->path);
    free(folder->command);
    free(folder);
}

px_status px_folder_make(const char *path, px_error *err)
{
    struct stat info;
    PX_TRY(pxi_mem_no_folder(path, err));
    if (pxi_ranks_mute() || mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return PX_OK;
    return pxi_file_fail(err, path, "make the folder");
}
