/* src/data/shards.c - which tar files a data set is made of */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/shards.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/picture_source.h"
#include "data/shard_samples.h"

#include <fcntl.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARDS_MAX ((size_t)1 << 20)

void pxi_shards_done(pxi_shards *shards)
{
    for (size_t i = 0; i < shards->count + shards->watched; i++)
        free(shards->names[i]);
    free(shards->names);
    free(shards->folder);
    free(shards->stem);
    *shards = (pxi_shards){0};
}

static px_status shards_push(pxi_shards *shards, const char *name, size_t length, size_t *count,
                             px_error *err)
{
    const size_t used = shards->count + shards->watched;
    PX_TRY(PX_GROW(shards->names, shards->room, used + 1, err));
    if (!(shards->names[used] = strndup(name, length)))
        return pxi_no_memory(err);
    (*count)++;
    return PX_OK;
}

static px_status shards_add(pxi_shards *shards, const char *name, px_error *err)
{
    if (shards->count >= SHARDS_MAX)
        return px_fail(err, PX_E_INPUT, "more than %zu shards", SHARDS_MAX);
    return shards_push(shards, name, strlen(name), &shards->count, err);
}

/* --- ranges of names ------------------------------------------------------------------------- */

typedef struct brace { /* "{000..099}" */
    const char *at, *behind;
    unsigned long from, to;
    int digits;
} brace;

static bool brace_find(const char *text, brace *out)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        const size_t from = strspn(at + 1, "0123456789");
        const char *dots = at + 1 + from;
        if (from == 0 || from > 9 || strncmp(dots, "..", 2) != 0)
            continue;
        const size_t to = strspn(dots + 2, "0123456789");
        if (to == 0 || to > 9 || dots[2 + to] != '}')
            continue;
        const bool padded = (at[1] == '0' && from > 1) || (dots[2] == '0' && to > 1);
        *out = (brace){.at = at,
                       .behind = dots + 3 + to,
                       .from = strtoul(at + 1, NULL, 10),
                       .to = strtoul(dots + 2, NULL, 10),
                       .digits = padded ? (int)PX_MAX(from, to) : 1};
        return true;
    }
    return false;
}

bool pxi_shards_is_range(const char *spec)
{
    brace found;
    struct stat info;
    return brace_find(spec, &found) && stat(spec, &info) != 0;
}

/* Depth: a range in braces has at least six letters of a name. */
static px_status shards_expand(pxi_shards *shards, const char *pattern, px_error *err)
{
    brace found;
    if (!brace_find(pattern, &found))
        return shards_add(shards, pattern, err);
    if (strlen(pattern) > 4096)
        return px_fail(err, PX_E_USAGE, "'%.100s...': the name is too long", pattern);
    if (found.to < found.from)
        return px_fail(err, PX_E_USAGE, "'%s': the range ends before it begins", pattern);
    px_status status = PX_OK;
    for (unsigned long i = found.from; i <= found.to && status == PX_OK; i++) {
        px_text name = {0};
        px_text_format(&name, "%.*s%0*lu%s", (int)(found.at - pattern), pattern, found.digits, i,
                       found.behind);
        status = px_text_failed(&name) ? pxi_no_memory(err)
                                       : shards_expand(shards, px_text_get(&name), err);
        px_text_done(&name);
    }
    return status;
}

/* Everything up to the last slash before `limit`, and what is behind it. */
static px_status shards_split_path(const char *path, const char *limit, pxi_shards *shards,
                                   const char **tail, px_error *err)
{
    const char *slash = NULL;
    for (const char *p = path; p < limit; p++)
        if (*p == '/')
            slash = p;
    *tail = slash ? slash + 1 : path;
    shards->folder =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    PX_TRY(shards->folder ? PX_OK : pxi_no_memory(err));
    PX_TRY(PX_DUP(shards->stem, *tail, err));
    for (char *p = shards->stem; *p; p++)
        if (*p == '/')
            *p = '_';
    return PX_OK;
}

px_status pxi_shards_of_range(const char *spec, pxi_shards *out, px_error *err)
{
    brace found;
    const char *tail;
    pxi_shards shards = {0};
    if (!brace_find(spec, &found) || !pxi_has_suffix(spec, ".tar"))
        return px_fail(err, PX_E_INPUT,
                       "'%s': a range of names is for tar files that are not compressed, as in "
                       "'shard-{000000..000099}.tar'",
                       spec);
    px_status status = shards_split_path(spec, found.at, &shards, &tail, err);
    PX_THEN(status, shards_expand(&shards, tail, err));
    if (status == PX_OK)
        *out = shards;
    else
        pxi_shards_done(&shards);
    return status;
}

px_status pxi_shards_of_file(const char *path, pxi_shards *out, px_error *err)
{
    pxi_shards shards = {0};
    pxi_bytes bytes = {0};
    const char *tail;
    bool is = false;
    if (!pxi_has_suffix(path, ".tar"))
        return PX_OK;
    PX_TRY(pxi_bytes_open(&bytes, path, err));
    px_status status = pxi_shard_is_samples(&bytes, path, &is, err);
    pxi_bytes_done(&bytes);
    if (status != PX_OK || !is)
        return status;
    status = shards_split_path(path, path + strlen(path), &shards, &tail, err);
    PX_THEN(status, shards_add(&shards, tail, err));
    if (status == PX_OK)
        *out = shards;
    else
        pxi_shards_done(&shards);
    return status;
}

/* --- a folder of them ------------------------------------------------------------------------ */

static bool tree_holds_shards(const pxi_tree *tree)
{
    bool any = false;
    for (size_t i = 0; i < pxi_tree_count(tree); i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        any = any || pxi_has_suffix(path, ".tar");
        if (pxi_tree_is_sample(tree, path))
            return false;
    }
    return any;
}

/* The split that the first folder of a path is named for; its length, or 0. */
static size_t path_split(const char *path, char name[64])
{
    const char *slash = strchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length == 0 || length >= 64)
        return 0;
    memcpy(name, path, length);
    name[length] = '\0';
    return pxi_split_is_name(name) ? length : 0;
}

/* A shard that is put into one of these folders makes the index old. */
static px_status shards_watch(pxi_shards *shards, px_error *err)
{
    PX_TRY(shards_push(shards, "", 0, &shards->watched, err));
    for (size_t i = 0; i < shards->count; i++) {
        const char *name = shards->names[i], *slash = strrchr(name, '/'),
                   *last = shards->names[shards->count + shards->watched - 1];
        const size_t length = slash ? (size_t)(slash - name) : 0;
        if (slash && (strlen(last) != length || strncmp(last, name, length) != 0))
            PX_TRY(shards_push(shards, name, length, &shards->watched, err));
    }
    return PX_OK;
}

px_status pxi_shards_of_tree(const pxi_tree *tree, const char *split, pxi_shards *out,
                             px_error *err)
{
    enum { SPLITS = 8 };
    char texts[SPLITS][64], name[64];
    const char *splits[SPLITS];
    size_t known = 0;
    pxi_shards shards = {0};
    if (!tree_holds_shards(tree))
        return PX_OK;
    for (size_t i = 0; i < pxi_tree_count(tree); i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (pxi_has_suffix(path, ".tar") && path_split(path, name) && known < SPLITS &&
            (known == 0 || strcmp(texts[known - 1], name) != 0)) { /* entries are sorted */
            strcpy(texts[known], name);
            splits[known] = texts[known];
            known++;
        }
    }
    const int chosen = pxi_split_find(splits, known, split);
    if (chosen < 0 && (known || split))
        return pxi_split_fail(pxi_tree_name(tree), splits, known, split, err);
    px_status status = PX_DUP(shards.folder, pxi_tree_name(tree), err);
    PX_THEN(status, PX_DUP(shards.stem, "", err));
    for (size_t i = 0; i < pxi_tree_count(tree) && status == PX_OK; i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (pxi_has_suffix(path, ".tar") &&
            (chosen < 0 || (path_split(path, name) && strcmp(name, splits[chosen]) == 0)))
            status = shards_add(&shards, path, err);
    }
    PX_THEN(status, shards_watch(&shards, err));
    if (status == PX_OK)
        *out = shards;
    else
        pxi_shards_done(&shards);
    return status;
}

/* --- their index ----------------------------------------------------------------------------- */

/* What is known of a part without reading it. */
static px_status part_look(int folder, const char *name, pxi_index_part *out, const char *text,
                           px_error *err)
{
    struct stat info;
    if (fstatat(folder, *name ? name : ".", &info, 0) != 0)
        return pxi_file_fail(err, text, "open");
    *out = (pxi_index_part){.name = name,
                            .size = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0,
                            .changed_s = info.st_mtim.tv_sec,
                            .changed_ns = info.st_mtim.tv_nsec};
    return PX_OK;
}

static px_status shards_read_all(const pxi_shards *shards, int folder, pxi_shard_samples *samples,
                                 pxi_index_part *parts, bool (*progress)(void *, int64_t, int64_t),
                                 void *context, px_error *err)
{
    char text[PXI_TREE_TEXT];
    for (size_t i = 0; i < shards->count + shards->watched; i++) {
        pxi_bytes bytes = {0};
        snprintf(text, sizeof text, "%.250s/%.250s", shards->folder, shards->names[i]);
        PX_TRY(part_look(folder, shards->names[i], &parts[i], text, err));
        if (i >= shards->count)
            continue;
        PX_TRY(pxi_bytes_open_at(&bytes, folder, shards->names[i], text, err));
        const px_status status = pxi_shard_samples_read(samples, &bytes, text, (uint32_t)i, err);
        pxi_bytes_done(&bytes);
        PX_TRY(status);
        if (progress && !progress(context, (int64_t)i + 1, (int64_t)shards->count))
            return px_fail(err, PX_E_CANCELLED, "stopped after %zu of %zu shards", i + 1,
                           shards->count);
    }
    return PX_OK;
}

px_status pxi_shards_index(const pxi_shards *shards, const char *split, FILE *to,
                           bool (*progress)(void *, int64_t, int64_t), void *context, px_error *err)
{
    pxi_index_part *parts = NULL;
    pxi_index_maker *maker = NULL;
    pxi_shard_samples samples = {0};
    pxi_index_about about = {.kind = PXI_INDEX_SHARDS, .split = split ? split : ""};
    char remark[320] = "";
    const int folder = open(shards->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return pxi_file_fail(err, shards->folder, "open");
    px_status status = PX_NEW(parts, shards->count + shards->watched, err);
    PX_THEN(status, pxi_index_maker_new(to, &maker, err));
    samples.maker = maker;
    PX_THEN(status, shards_read_all(shards, folder, &samples, parts, progress, context, err));
    PX_THEN(status, pxi_shard_samples_label(&samples, &about, remark, sizeof remark, err));
    if (status == PX_OK) {
        about.parts = parts;
        about.part_count = shards->count + shards->watched;
        about.remark = remark;
        status = pxi_index_maker_finish(maker, &about, err);
    }
    pxi_shard_samples_done(&samples);
    pxi_index_maker_free(maker);
    free(parts);
    close(folder);
    return status;
}
