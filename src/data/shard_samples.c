/* src/data/shard_samples.c - from the members of shards to samples with labels
 *
 * Labels are kept as the texts that were found, one of each, until all shards were read: only then
 * it shows whether all of them are numbers, or names that are to be numbered in byte order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/shard_samples.h"

#include "base/ascending.h"
#include "base/file.h"
#include "base/memory.h"

#include <ctype.h>
#include <internal/image.h>
#include <internal/source.h>
#include <internal/system.h>
#include <internal/tree.h>
#include <plexor/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASS_TEXT = 256, JSON_MAX = 1 << 20, ANSWER_EVERY = 4096 };

typedef struct sample { /* whose members are being read */
    char key[PXI_INDEX_NAME];
    pxi_index_item picture;
    bool has_picture, has_class; /* has_class: from .cls, which goes before .json */
    char class[CLASS_TEXT];      /* "": none */
} sample;

/* --- members --------------------------------------------------------------------------------- */

/* Where the ending begins: at the first dot of the file's own name. */
static const char *member_ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strchr(name, '.');
    return dot ? dot : name + strlen(name);
}

static bool ending_is_picture(const char *ending)
{
    return strcasecmp(ending, ".jpg") == 0 || strcasecmp(ending, ".jpeg") == 0 ||
           strcasecmp(ending, ".png") == 0;
}

/* A member that counts, without what tar programs put before its path. */
static bool member_counts(const char **path)
{
    if (pxi_tree_skips(path))
        return false;
    while (**path == '/')
        (*path)++;
    return **path != '\0';
}

static px_status class_fail(const char *shard, const char *path, const char *what, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%.200s/%.200s': %s", shard, path, what);
}

static px_status class_of_text(const pxi_bytes *bytes, const char *shard,
                               const pxi_tar_member *member, char to[CLASS_TEXT], px_error *err)
{
    char text[CLASS_TEXT];
    if (member->size >= sizeof text)
        return class_fail(shard, member->path, "too long for the name of a class", err);
    PX_TRY(pxi_bytes_read(bytes, member->place, text, (size_t)member->size, shard, err));
    text[member->size] = '\0';
    size_t from = 0, to_end = (size_t)member->size;
    while (from < to_end && isspace((unsigned char)text[from]))
        from++;
    while (to_end > from && isspace((unsigned char)text[to_end - 1]))
        to_end--;
    if (from == to_end || memchr(text, 0, to_end))
        return class_fail(shard, member->path, "holds no class", err);
    memcpy(to, text + from, to_end - from);
    to[to_end - from] = '\0';
    return PX_OK;
}

/* What has none of the words that stand for a class has no class: captions and addresses. */
static px_status class_of_json(const pxi_bytes *bytes, const char *shard,
                               const pxi_tar_member *member, char to[CLASS_TEXT], px_error *err)
{
    static const char *const words[] = {"label", "class", "cls", "target"};
    px_json_document *document = NULL;
    px_error why = {0};
    char *text = NULL;
    if (member->size > JSON_MAX)
        return class_fail(shard, member->path, "too long", err);
    PX_TRY(PX_NEW(text, member->size + 1, err));
    px_status status = pxi_bytes_read(bytes, member->place, text, (size_t)member->size, shard, err);
    if (status == PX_OK && px_json_parse(text, (size_t)member->size, &document, &why) != PX_OK)
        status = why.status == PX_E_NOMEM ? pxi_no_memory(err)
                                          : class_fail(shard, member->path, why.message, err);
    const px_json_value *root = status == PX_OK ? px_json_root(document) : NULL;
    for (size_t i = 0; i < PX_LEN(words) && root && root->kind == PX_JSON_OBJECT; i++) {
        const px_json_value *value = px_json_member(root, words[i]);
        if (!value || (value->kind != PX_JSON_NUMBER && value->kind != PX_JSON_STRING))
            continue;
        const int length = value->kind == PX_JSON_NUMBER
                               ? snprintf(to, CLASS_TEXT, "%.17g", value->number)
                               : snprintf(to, CLASS_TEXT, "%s", value->string);
        if (length <= 0 || length >= CLASS_TEXT)
            status = class_fail(shard, member->path, "holds no class", err);
        break;
    }
    px_json_free(document);
    free(text);
    return status;
}

/* --- different labels ------------------------------------------------------------------------ */

/* The place in `sorted` where `text` is, or would be. */
static size_t labels_place(const pxi_shard_samples *samples, const char *text, bool *found)
{
    size_t low = 0, high = samples->label_count;
    *found = false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(samples->labels[samples->sorted[middle]], text);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static px_status labels_number(pxi_shard_samples *samples, const char *text, int32_t *out,
                               px_error *err)
{
    bool found;
    char *copy = NULL;
    *out = samples->last;
    if (samples->label_count && strcmp(samples->labels[samples->last], text) == 0)
        return PX_OK;
    const size_t place = labels_place(samples, text, &found), count = samples->label_count;
    if (!found) {
        if (count >= PXI_CLASSES_MAX)
            return px_fail(err, PX_E_INPUT, "more than %d classes, such as '%.100s'",
                           PXI_CLASSES_MAX, text);
        PX_TRY(PX_GROW(samples->labels, samples->label_room, count + 1, err));
        PX_TRY(PX_GROW(samples->sorted, samples->sorted_room, count + 1, err));
        PX_TRY(PX_DUP(copy, text, err));
        memmove(samples->sorted + place + 1, samples->sorted + place,
                (count - place) * sizeof *samples->sorted);
        samples->sorted[place] = (uint32_t)count;
        samples->labels[samples->label_count++] = copy;
    }
    *out = samples->last = (int32_t)samples->sorted[place];
    return PX_OK;
}

/* --- samples --------------------------------------------------------------------------------- */

static px_status sample_end(pxi_shard_samples *samples, sample *s, px_error *err)
{
    int32_t label = -1;
    if (!s->key[0])
        return PX_OK;
    if (!s->has_picture) {
        samples->pictureless++;
        return PX_OK;
    }
    if (s->class[0]) {
        PX_TRY(labels_number(samples, s->class, &label, err));
        samples->labelled++;
    } else if (!samples->unlabelled[0]) {
        snprintf(samples->unlabelled, sizeof samples->unlabelled, "%.120s", s->picture.name);
    }
    return pxi_index_maker_add(samples->maker, &s->picture, label, err);
}

static px_status sample_member(pxi_shard_samples *samples, sample *s, const pxi_bytes *bytes,
                               const char *shard, uint32_t part, const pxi_tar_member *member,
                               px_error *err)
{
    const char *path = member->path, *ending;
    if (!member_counts(&path))
        return PX_OK;
    ending = member_ending(path);
    const size_t length = (size_t)(ending - path);
    if (strlen(path) >= PXI_INDEX_NAME)
        return class_fail(shard, path, "its name is too long", err);
    if (strlen(s->key) != length || strncmp(s->key, path, length) != 0) {
        PX_TRY(sample_end(samples, s, err));
        memset(s, 0, sizeof *s);
        memcpy(s->key, path, length);
    }
    if (ending_is_picture(ending) && !s->has_picture) {
        s->has_picture = true;
        s->picture = (pxi_index_item){.place = member->place, .size = member->size, .part = part};
        strcpy(s->picture.name, path);
    } else if (strcasecmp(ending, ".cls") == 0) {
        PX_TRY(class_of_text(bytes, shard, member, s->class, err));
        s->has_class = true;
    } else if (strcasecmp(ending, ".json") == 0 && !s->has_class) {
        PX_TRY(class_of_json(bytes, shard, member, s->class, err));
    }
    return PX_OK;
}

px_status pxi_shard_samples_read(pxi_shard_samples *samples, const pxi_bytes *bytes,
                                 const char *name, uint32_t part, px_error *err)
{
    pxi_tar_member member;
    sample *s = NULL;
    pxi_tar *tar = NULL;
    px_status status = PX_NEW(s, 1, err);
    PX_THEN(status, PX_NEW(tar, 1, err));
    if (status == PX_OK)
        pxi_tar_begin(tar, bytes, name);
    for (int64_t i = 0; status == PX_OK; i++) {
        PX_THEN(status, pxi_tar_next(tar, &member, err));
        if (status != PX_OK || !member.path)
            break;
        status = i % ANSWER_EVERY == 0 && px_cancelled()
                     ? px_fail(err, PX_E_CANCELLED, "stopped while '%.200s' was read", name)
                     : sample_member(samples, s, bytes, name, part, &member, err);
    }
    PX_THEN(status, sample_end(samples, s, err));
    if (tar)
        pxi_tar_end(tar);
    free(tar);
    free(s);
    return status;
}

static bool label_is_whole(const char *text, long *out)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits])
        return false;
    *out = strtol(text, NULL, 10);
    return *out < PXI_CLASSES_MAX;
}

/* As in manifests: numbers if all are, else names in byte order. */
static px_status samples_classes(pxi_shard_samples *samples, pxi_index_about *about, px_error *err)
{
    const size_t count = samples->label_count;
    int32_t *to = NULL;
    long number = 0, most = -1;
    bool numbers = true;
    PX_TRY(PX_NEW(to, count ? count : 1, err));
    for (size_t i = 0; i < count && numbers; i++) {
        numbers = label_is_whole(samples->labels[i], &number);
        to[i] = (int32_t)number;
        most = PX_MAX(most, number);
    }
    about->class_count = numbers ? (int)most + 1 : (int)count;
    if (!numbers) {
        for (size_t i = 0; i < count; i++)
            to[samples->sorted[i]] = (int32_t)i;
        qsort(samples->labels, count, sizeof *samples->labels, pxi_order_text);
        about->class_names = (const char *const *)samples->labels;
    }
    pxi_index_maker_relabel(samples->maker, to);
    free(to);
    return PX_OK;
}

px_status pxi_shard_samples_label(pxi_shard_samples *samples, pxi_index_about *about, char *remark,
                                  size_t size, px_error *err)
{
    const int64_t count = pxi_index_maker_count(samples->maker);
    if (count == 0)
        return px_fail(err, PX_E_INPUT,
                       "the shards hold no pictures; expected KEY.jpg or KEY.png, and KEY.cls or "
                       "KEY.json, behind each other");
    if (samples->labelled && samples->labelled < count)
        return px_fail(err, PX_E_INPUT,
                       "%lld of %lld samples of the shards have no class, '%s' first, and the "
                       "others have one",
                       (long long)(count - samples->labelled), (long long)count,
                       samples->unlabelled);
    if (samples->pictureless)
        snprintf(remark, size, "%lld samples of the shards have no picture (.jpg, .png)",
                 (long long)samples->pictureless);
    return samples_classes(samples, about, err);
}

void pxi_shard_samples_done(pxi_shard_samples *samples)
{
    for (size_t i = 0; i < samples->label_count; i++)
        free(samples->labels[i]);
    free(samples->labels);
    free(samples->sorted);
    *samples = (pxi_shard_samples){0};
}

px_status pxi_shard_is_samples(const pxi_bytes *bytes, const char *name, bool *out, px_error *err)
{
    enum { LOOKED_AT = 32 };
    char key[PXI_INDEX_NAME] = "";
    bool picture = false, class = false;
    px_error why = {0};
    pxi_tar_member member;
    pxi_tar *tar = NULL;
    PX_TRY(PX_NEW(tar, 1, err));
    pxi_tar_begin(tar, bytes, name);
    *out = false;
    for (int i = 0; i < LOOKED_AT && !*out; i++) {
        if (pxi_tar_next(tar, &member, &why) != PX_OK || !member.path)
            break;
        const char *path = member.path;
        if (!member_counts(&path) || strlen(path) >= sizeof key)
            continue;
        const char *ending = member_ending(path);
        const size_t length = (size_t)(ending - path);
        if (strlen(key) != length || strncmp(key, path, length) != 0) {
            picture = class = false;
            memcpy(key, path, length);
            key[length] = '\0';
        }
        picture = picture || ending_is_picture(ending);
        class = class || strcasecmp(ending, ".cls") == 0 || strcasecmp(ending, ".json") == 0;
        *out = picture && class;
    }
    pxi_tar_end(tar);
    free(tar);
    return why.status == PX_E_NOMEM || why.status == PX_E_IO
               ? px_fail(err, why.status, "%s", why.message)
               : PX_OK;
}
