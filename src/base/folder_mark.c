/* src/base/folder_mark.c - the file that says which things in a folder are plexor's own */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder_mark.h"

#include "base/file.h"
#include "base/mem_names.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <plexor/text.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_BYTES_MOST = 256 << 20, DEPTH_MOST = 16 };
static const char mark_head[] = "plexor folder 1";

void pxi_mark_done(pxi_mark *mark)
{
    for (size_t i = 0; i < mark->count; i++)
        free(mark->names[i]);
    free(mark->names);
    free(mark->command);
    *mark = (pxi_mark){0};
}

px_status pxi_mark_add(pxi_mark *mark, const char *name, px_error *err)
{
    PX_TRY(PX_GROW(mark->names, mark->room, mark->count + 1, err));
    char *copy = NULL;
    PX_TRY(PX_DUP(copy, name, err));
    mark->names[mark->count++] = copy;
    return PX_OK;
}

bool pxi_mark_has(const pxi_mark *mark, const char *name)
{
    for (size_t i = 0; i < mark->count; i++)
        if (strcmp(mark->names[i], name) == 0)
            return true;
    return false;
}

static char *mark_path(const char *folder, const char *name)
{
    px_text path = {0};
    px_text_format(&path, "%s/%s", folder, name);
    return px_text_take(&path);
}

/* --- as text --------------------------------------------------------------------------------- */

/* Whether a name stays in the folder: no empty, "." or ".." part. */
static bool name_is_inside(const char *name)
{
    if (!*name)
        return false;
    for (const char *part = name; *part;) {
        const size_t length = strcspn(part, "/"), dots = strspn(part, ".");
        if (length == 0 || (dots == length && dots <= 2))
            return false;
        part += length + (part[length] == '/');
    }
    return true;
}

/* A line for each name: what would end a line is written as %0A. */
static void name_write(px_text *to, const char *name)
{
    px_text_add(to, "name ");
    for (; *name; name++) {
        if ((unsigned char)*name < ' ' || *name == '%')
            px_text_format(to, "%%%02X", (unsigned char)*name);
        else
            px_text_add_bytes(to, name, 1);
    }
    px_text_add(to, "\n");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void name_read(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        const int high = *from == '%' ? hex_digit(from[1]) : -1;
        const int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static px_status mark_parse(const char *path, char *text, pxi_mark *out, px_error *err)
{
    char *rest = NULL;
    const char *line = strtok_r(text, "\n", &rest);
    if (!line || strcmp(line, mark_head) != 0)
        return px_fail(err, PX_E_INPUT, "'%.200s': is no mark of plexor; remove it", path);
    for (char *at; (at = strtok_r(NULL, "\n", &rest)) != NULL;) {
        if (strncmp(at, "command ", 8) == 0 && !out->command) {
            PX_TRY(PX_DUP(out->command, at + 8, err));
        } else if (strncmp(at, "name ", 5) == 0) {
            name_read(at + 5);
            if (!name_is_inside(at + 5))
                return px_fail(err, PX_E_INPUT, "'%.200s': names '%.100s', which is not in it",
                               path, at + 5);
            PX_TRY(pxi_mark_add(out, at + 5, err));
        }
    }
    return out->command ? PX_OK
                        : px_fail(err, PX_E_INPUT, "'%.200s': does not say whose it is", path);
}

px_status pxi_mark_read(const char *folder, pxi_mark *out, px_error *err)
{
    struct stat info;
    char *path = mark_path(folder, PXI_MARK), *text = NULL;
    size_t size = 0;
    px_status status = PX_OK;
    *out = (pxi_mark){0};
    if (!path)
        return pxi_no_memory(err);
    if (lstat(path, &info) != 0)
        status = errno == ENOENT || errno == ENOTDIR ? PX_OK : pxi_file_fail(err, path, "read");
    else if (!S_ISREG(info.st_mode))
        status = px_fail(err, PX_E_INPUT, "'%.200s': is not a file of plexor's; remove it", path);
    else
        status = pxi_file_read(path, MARK_BYTES_MOST, &text, &size, err);
    PX_THEN_IF(status, text, mark_parse(path, text, out, err));
    if (status != PX_OK)
        pxi_mark_done(out);
    free(text);
    free(path);
    return status;
}

px_status pxi_mark_write(const char *folder, const pxi_mark *mark, px_error *err)
{
    px_text text = {0};
    px_text_format(&text, "%s\ncommand %s\n", mark_head, mark->command);
    for (size_t i = 0; i < mark->count; i++)
        name_write(&text, mark->names[i]);
    char *path = mark_path(folder, PXI_MARK);
    const px_status status = !path || px_text_failed(&text)
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, px_text_get(&text), text.length, err);
    px_text_done(&text);
    free(path);
    return status;
}

/* --- whose a folder is ----------------------------------------------------------------------- */

static px_status look_at_name(const char *folder, const char *name, bool ours, px_error *err)
{
    struct stat info;
    char *path = mark_path(folder, name);
    if (!path)
        return pxi_no_memory(err);
    const size_t length = strlen(path);
    if (path[length - 1] == '/') /* a link to a folder, too, is a link */
        path[length - 1] = '\0';
    px_status status = PX_OK;
    if (lstat(path, &info) != 0)
        status = errno == ENOENT ? PX_OK : pxi_file_fail(err, path, "read");
    else if (S_ISLNK(info.st_mode))
        status = px_fail(err, PX_E_INPUT,
                         "'%.200s': is a symbolic link, and plexor does not write through links in "
                         "its folders; remove it",
                         path);
    else if (!ours)
        status = px_fail(err, PX_E_USAGE,
                         "'%.200s': is there, and this folder was not made by plexor; nothing was "
                         "touched, name another folder with -o",
                         path);
    free(path);
    return status;
}

/* `there` (may be NULL): the mark as it is, for whoever goes on to write one. */
static px_status mark_judge(const char *folder, const char *command, const char *const *names,
                            size_t count, pxi_mark *there, px_error *err)
{
    pxi_mark mark = {0};
    struct stat info;
    PX_TRY(pxi_mem_no_folder(folder, err));
    if (stat(folder, &info) != 0)
        return errno == ENOENT ? PX_OK : pxi_file_fail(err, folder, "open");
    if (!S_ISDIR(info.st_mode))
        return px_fail(err, PX_E_USAGE, "'%.200s' is a file; results go to a folder", folder);
    PX_TRY(pxi_mark_read(folder, &mark, err));
    px_status status = PX_OK;
    if (mark.command && strcmp(mark.command, command) != 0)
        status = px_fail(err, PX_E_USAGE,
                         "'%.200s' holds what 'plexor %.40s' made; name another folder with -o",
                         folder, mark.command);
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = look_at_name(folder, names[i], mark.command != NULL, err);
    if (status == PX_OK && there)
        *there = mark;
    else
        pxi_mark_done(&mark);
    return status;
}

px_status pxi_mark_look(const char *folder, const char *command, const char *const *names,
                        size_t count, px_error *err)
{
    return mark_judge(folder, command, names, count, NULL, err);
}

static px_status mark_claim(const char *folder, const char *command, const char *const *names,
                            size_t count, px_error *err)
{
    pxi_mark mark = {0};
    PX_TRY(mark_judge(folder, command, names, count, &mark, err));
    px_status status = PX_OK;
    bool changed = !mark.command;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = pxi_file_fail(err, folder, "make the folder");
    if (!mark.command && status == PX_OK && !(mark.command = pxi_strdup(command)))
        status = pxi_no_memory(err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        if (pxi_mark_has(&mark, names[i]))
            continue;
        changed = true;
        status = pxi_mark_add(&mark, names[i], err);
    }
    PX_THEN_IF(status, changed, pxi_mark_write(folder, &mark, err));
    pxi_mark_done(&mark);
    return status;
}

/* The first rank alone knows whether there is something to write. */
px_status pxi_mark_claim(const char *folder, const char *command, const char *const *names,
                         size_t count, px_error *err)
{
    if (pxi_ranks_mute())
        return PX_OK;
    const bool apart = pxi_ranks_apart(true);
    const px_status status = mark_claim(folder, command, names, count, err);
    (void)pxi_ranks_apart(apart);
    return status;
}

bool pxi_mark_is_own(const char *path)
{
    static const char *const marks[] = {PXI_MARK, PXI_CAMPAIGN_FILE};
    const char *slash = strrchr(path, '/');
    bool own = false;
    px_text folder = {0};
    px_text_add_bytes(&folder, path, slash ? (size_t)(slash - path) : 0);
    for (size_t i = 0; i < PX_LEN(marks) && !own; i++) {
        struct stat info;
        px_text file = {0};
        px_text_format(&file, "%s%s%s", px_text_get(&folder), slash ? "/" : "", marks[i]);
        own = px_text_failed(&file) || lstat(px_text_get(&file), &info) == 0; /* rather than not */
        px_text_done(&file);
    }
    px_text_done(&folder);
    return own;
}

/* --- removing -------------------------------------------------------------------------------- */

static px_status clear_at(const char *folder, const char *keep, int depth, px_error *err);

/* No link on the way is followed: what a name leads to through one is not in the folder. */
static int open_parent(const char *folder, const char *name, const char **last)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; at >= 0 && (slash = strchr(name, '/')) && slash[1];) {
        char part[NAME_MAX + 1];
        const size_t length = (size_t)(slash - name);
        int next = -1;
        if (length < sizeof part) {
            memcpy(part, name, length);
            part[length] = '\0';
            next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        close(at);
        at = next;
        name = slash + 1;
    }
    *last = name;
    return at;
}

static px_status remove_folder(const char *folder, const char *name, const char *command, int depth,
                               px_error *err)
{
    pxi_mark mark = {0};
    struct stat info;
    char *path = mark_path(folder, name);
    if (!path)
        return pxi_no_memory(err);
    path[strlen(path) - 1] = '\0';
    px_status status = PX_OK;
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        status = pxi_mark_read(path, &mark, err);
        if (status == PX_OK && mark.command && strcmp(mark.command, command) == 0) {
            status = clear_at(path, NULL, depth + 1, err);
            char *own = mark_path(path, PXI_MARK);
            if (!own)
                status = pxi_no_memory(err);
            else if (status == PX_OK && unlink(own) != 0 && errno != ENOENT)
                status = pxi_file_fail(err, own, "remove");
            free(own);
        }
        PX_THEN_IF(status,
                   rmdir(path) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST,
                   pxi_file_fail(err, path, "remove"));
    }
    pxi_mark_done(&mark);
    free(path);
    return status;
}

static px_status remove_file(const char *folder, const char *name, px_error *err)
{
    const char *last = name;
    const int parent = open_parent(folder, name, &last);
    if (parent < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? PX_OK /* a link, or nothing: there is nothing of ours behind it */
                   : pxi_file_fail(err, folder, "open");
    px_status status = PX_OK;
    if (unlinkat(parent, last, 0) != 0 && errno != ENOENT && errno != EISDIR)
        status = pxi_file_fail(err, folder, "remove what is in it");
    close(parent);
    return status;
}

static bool is_folder_name(const char *name)
{
    return name[strlen(name) - 1] == '/';
}

/* Files first, and folders from the last to the first, so that the inner ones come before. */
static px_status clear_at(const char *folder, const char *keep, int depth, px_error *err)
{
    pxi_mark mark = {0};
    if (depth > DEPTH_MOST)
        return px_fail(err, PX_E_INPUT, "'%.200s': folders in folders, more than %d deep", folder,
                       DEPTH_MOST);
    PX_TRY(pxi_mark_read(folder, &mark, err));
    px_status status = PX_OK;
    for (size_t i = 0; i < mark.count && status == PX_OK; i++)
        if (!is_folder_name(mark.names[i]) && !(keep && strcmp(mark.names[i], keep) == 0))
            status = remove_file(folder, mark.names[i], err);
    for (size_t i = mark.count; i-- > 0 && status == PX_OK;)
        if (is_folder_name(mark.names[i]))
            status = remove_folder(folder, mark.names[i], mark.command, depth, err);
    if (mark.command)
        pxi_mark_sweep(folder);
    pxi_mark_done(&mark);
    return status;
}

px_status pxi_mark_clear(const char *folder, const char *keep, px_error *err)
{
    return pxi_ranks_mute() ? PX_OK : clear_at(folder, keep, 0, err);
}

px_status pxi_mark_remove(const char *folder, const char *name, px_error *err)
{
    pxi_mark mark = {0};
    if (pxi_ranks_mute())
        return PX_OK;
    PX_TRY(pxi_mark_read(folder, &mark, err));
    px_status status = PX_OK;
    if (mark.command && pxi_mark_has(&mark, name))
        status = is_folder_name(name) ? remove_folder(folder, name, mark.command, 0, err)
                                      : remove_file(folder, name, err);
    pxi_mark_done(&mark);
    return status;
}

/* --- what killed processes left -------------------------------------------------------------- */

/* "NAME.tmp-PID-N", as pxi_file_create() names it, of a process that is no more. */
static bool is_left_over(const char *name)
{
    const char *tail = NULL;
    for (const char *at = name; (at = strstr(at, ".tmp-")); at++)
        tail = at;
    if (!tail || tail == name || !isdigit((unsigned char)tail[5]))
        return false;
    char *end;
    errno = 0;
    const long pid = strtol(tail + 5, &end, 10);
    if (errno != 0 || *end != '-' || !isdigit((unsigned char)end[1]) ||
        strspn(end + 1, "0123456789") != strlen(end + 1))
        return false;
    return pid > 0 && pid != (long)getpid() && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void pxi_mark_sweep(const char *folder)
{
    DIR *dir = pxi_ranks_mute() ? NULL : opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (is_left_over(entry->d_name))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}
