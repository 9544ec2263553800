/* src/data/class_map.c - where the classes of data and of a network meet: by name
 *
 * Folders, manifests and archives number their classes in the byte order of the names that happen
 * to be there, networks in the order they were trained with. Where both have names these decide:
 * the same letters, whatever their case and whatever blanks, '-' and '_' are between them. Names of
 * data that are plain numbers are the numbers of classes, unless the network's names are numbers
 * too.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/class_map.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts ----------------------------------------------------------------------------------- */

/* "T-shirt/Top" to "tshirt/top"; `to` has room for the name itself. */
static void name_fold(const char *name, char *to)
{
    char *end = to;
    for (const char *p = name; *p; p++)
        if (!strchr(" \t-_", *p))
            *end++ = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    *end = '\0';
    if (end == to) /* nothing but blanks and lines: itself */
        strcpy(to, name);
}

static bool name_is_number(const char *name)
{
    return *name && strlen(name) < 10 && name[strspn(name, "0123456789")] == '\0';
}

const char *pxi_class_list(const char *const *names, size_t count, char *to, size_t size)
{
    enum { TAIL = 24 }; /* room for " and 1048576 more" */
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]), more = i + 1 < count ? TAIL : 1;
        if (used + length + 2 + more > size) {
            if (i == 0)
                snprintf(to, size, "%.*s...", (int)(size > 8 ? size - 8 : 0), names[0]);
            else
                snprintf(to + used, size - used, " and %zu more", count - i);
            break;
        }
        used += (size_t)snprintf(to + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
    return to;
}

const char *pxi_label_place(const pxi_source *source, const char *spec, int64_t index, char *to,
                            size_t size)
{
    if (!source->type->place || !source->type->place(source, index, to, size))
        snprintf(to, size, "'%.120s'", spec);
    return to;
}

/* --- names of the network, to be found ------------------------------------------------------- */

typedef struct class_key {
    char *folded;
    const char *name;
    int index;
} class_key;

static int key_compare(const void *a, const void *b)
{
    const class_key *x = a, *y = b;
    const int order = strcmp(x->folded, y->folded);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int key_find(const void *a, const void *b)
{
    return strcmp(a, ((const class_key *)b)->folded);
}

static px_status keys_make(char *const *names, int count, class_key **out, char **memory,
                           px_error *err)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    class_key *keys = pxi_calloc((size_t)count, sizeof *keys);
    char *at = *memory = pxi_calloc(bytes, 1);
    if (!keys || !at) {
        free(keys);
        free(at);
        *memory = NULL;
        return pxi_no_memory_for(err, "%d class names", count);
    }
    for (int i = 0; i < count; i++) {
        keys[i] = (class_key){.folded = at, .name = names[i], .index = i};
        name_fold(names[i], at);
        at += strlen(names[i]) + 1;
    }
    qsort(keys, (size_t)count, sizeof *keys, key_compare);
    *out = keys;
    return PX_OK;
}

enum { CLASS_UNKNOWN = -1, CLASS_AMBIGUOUS = -2 };

/* The class of that name: letter by letter if there is one, else folded. Two of them: ambiguous. */
static int keys_lookup(const class_key *keys, int count, const char *name, char *scratch,
                       int other[2])
{
    name_fold(name, scratch);
    const class_key *found = bsearch(scratch, keys, (size_t)count, sizeof *keys, key_find);
    if (!found)
        return CLASS_UNKNOWN;
    while (found > keys && strcmp(found[-1].folded, scratch) == 0)
        found--;
    int exact = 0, folded = 0, best = found->index;
    for (const class_key *key = found; key < keys + count && strcmp(key->folded, scratch) == 0;
         key++, folded++)
        if (strcmp(key->name, name) == 0 && exact++ == 0)
            best = key->index;
    if (exact == 1 || (exact == 0 && folded == 1))
        return best;
    other[0] = found[0].index;
    other[1] = found[1].index;
    return CLASS_AMBIGUOUS;
}

/* --- what does not meet ---------------------------------------------------------------------- */

/* The classes of the source that have samples. */
typedef struct class_uses {
    int64_t *first; /* sample of each class; -1: none */
    const char **names;
    size_t count;
} class_uses;

static px_status uses_make(const pxi_source *source, class_uses *uses, px_error *err)
{
    const int classes = source->class_count;
    PX_TRY(PX_NEW(uses->first, classes, err));
    PX_TRY(PX_NEW(uses->names, classes, err));
    for (int c = 0; c < classes; c++)
        uses->first[c] = -1;
    for (int64_t i = 0; i < source->count && source->type->label; i++) {
        const int64_t label = source->type->label(source, i);
        if (label >= 0 && label < classes && uses->first[label] < 0)
            uses->first[label] = i;
    }
    for (int c = 0; c < classes; c++)
        if (uses->first[c] >= 0)
            uses->names[uses->count++] = source->class_names[c];
    return PX_OK;
}

static void uses_done(class_uses *uses)
{
    free(uses->first);
    free(uses->names);
}

static px_status map_fail(const pxi_class_map *map, const pxi_source *source, const char *spec,
                          const class_uses *uses, int unknown, size_t unknown_count, px_error *err)
{
    char place[256], ours[160], theirs[160], hint[96] = "";
    const char *const *names = (const char *const *)map->names;
    const char *name = source->class_names[unknown];
    pxi_class_list(uses->names, uses->count, theirs, sizeof theirs);
    pxi_class_list(names, (size_t)map->count, ours, sizeof ours);
    if (unknown_count == uses->count && uses->count > 1)
        return px_fail(err, PX_E_MISMATCH,
                       "'%.100s': none of its classes (%s) is one of the network's %d (%s); "
                       "--classes LIST names the network's in its order, --classes none goes by "
                       "the order of the data's",
                       spec, theirs, map->count, ours);
    const char *nearest = px_nearest_word(name, names, (size_t)map->count);
    if (nearest)
        snprintf(hint, sizeof hint, "; did you mean '%.60s'?", nearest);
    pxi_label_place(source, spec, uses->first[unknown], place, sizeof place);
    if (unknown_count == 1)
        return px_fail(err, PX_E_MISMATCH,
                       "%s: class '%.60s' is not one of the network's %d: %s%s (the data have %s)",
                       place, name, map->count, ours, hint, theirs);
    return px_fail(err, PX_E_MISMATCH,
                   "%s: class '%.60s' and %zu more of its %zu classes are not among the network's "
                   "%d: %s%s (the data have %s)",
                   place, name, unknown_count - 1, uses->count, map->count, ours, hint, theirs);
}

/* --- the map --------------------------------------------------------------------------------- */

static bool all_numbers(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!name_is_number(names[i]))
            return false;
    return count > 0;
}

/* Classes of the data that are numbers, not names. */
static px_status map_by_number(pxi_class_map *map, const pxi_source *source, const char *spec,
                               const class_uses *uses, px_error *err)
{
    int beyond = -1;
    map->unknown_count = 0;
    for (int c = 0; c < source->class_count; c++) {
        const char *name = source->class_names[c];
        const long number = name_is_number(name) ? strtol(name, NULL, 10) : -1;
        map->to[c] = number < map->count ? (int32_t)number : -1;
        if (uses->first[c] >= 0 && number >= map->count) {
            beyond = beyond < 0 ? c : beyond;
            map->unknown_count++;
        }
    }
    return beyond < 0 ? PX_OK : map_fail(map, source, spec, uses, beyond, 1, err);
}

/* All of map->to is filled in, also where it fails: -1 is a class that the network lacks. */
static px_status map_by_name(pxi_class_map *map, const pxi_source *source, const char *spec,
                             const class_uses *uses, const class_key *keys, char *scratch,
                             px_error *err)
{
    int unknown = -1, ambiguous = -1, other[2] = {0, 0}, could[2] = {0, 0};
    for (int c = 0; c < source->class_count; c++) {
        const int found = keys_lookup(keys, map->count, source->class_names[c], scratch, other);
        map->to[c] = PX_MAX(found, -1);
        if (uses->first[c] < 0 || found >= 0)
            continue;
        map->unknown_count++;
        if (found == CLASS_UNKNOWN) {
            unknown = unknown < 0 ? c : unknown;
        } else if (ambiguous < 0) {
            ambiguous = c;
            memcpy(could, other, sizeof could);
        }
    }
    if (ambiguous >= 0)
        return px_fail(err, PX_E_MISMATCH,
                       "'%.100s': class '%.60s' could be class %d of the network ('%.60s') or "
                       "class %d ('%.60s'); --classes FILE gives names that differ, "
                       "--classes none goes by the order of the data's classes",
                       spec, source->class_names[ambiguous], could[0], map->names[could[0]],
                       could[1], map->names[could[1]]);
    if (unknown < 0)
        return PX_OK;
    if (all_numbers(uses->names, uses->count) &&
        !all_numbers((const char *const *)map->names, (size_t)map->count))
        return map_by_number(map, source, spec, uses, err);
    return map_fail(map, source, spec, uses, unknown, (size_t)map->unknown_count, err);
}

static px_status map_copy_names(pxi_class_map *map, const px_data_options *options, px_error *err)
{
    map->names = pxi_calloc((size_t)options->class_count, sizeof *map->names);
    for (int i = 0; map->names && i < options->class_count; i++, map->count++)
        if (!(map->names[i] = pxi_strdup(options->class_names[i])))
            break;
    return map->count == options->class_count
               ? PX_OK
               : pxi_no_memory_for(err, "%d class names", options->class_count);
}

/* Fewer classes than the network has are fine, and said. */
static px_status map_absent(pxi_class_map *map, const pxi_source *source, const class_uses *uses,
                            px_error *err)
{
    char list[128];
    size_t count = 0;
    const char **absent = NULL;
    PX_TRY(PX_NEW(absent, map->count, err));
    for (int i = 0; i < map->count; i++)
        absent[i] = map->names[i];
    for (int c = 0; c < source->class_count; c++)
        if (uses->first[c] >= 0 && map->to[c] >= 0)
            absent[map->to[c]] = NULL;
    for (int i = 0; i < map->count; i++)
        if (absent[i])
            absent[count++] = absent[i];
    pxi_class_list(absent, count, list, sizeof list);
    map->absent_count = (int)count;
    if (count > 0 && (int)count < map->count) /* none at all is another sentence */
        snprintf(map->absent, sizeof map->absent,
                 "the data have %d of the network's %d classes; %s%s%s never come%s",
                 map->count - (int)count, map->count, count == 1 ? "'" : "", list,
                 count == 1 ? "'" : "", count == 1 ? "s" : "");
    free(absent);
    return PX_OK;
}

px_status pxi_class_map_make(const pxi_source *source, const char *spec,
                             const px_data_options *options, pxi_class_map *out, px_error *err)
{
    pxi_class_map map = {0};
    class_uses uses = {0};
    class_key *keys = NULL;
    char *memory = NULL, *scratch = NULL;
    size_t longest = 0;
    px_status status = PX_OK;
    if (!options->class_names || options->class_count <= 0) {
        *out = map;
        return PX_OK;
    }
    if ((status = map_copy_names(&map, options, err)) != PX_OK)
        goto done;
    if (!source->class_names || source->class_count <= 0) {
        *out = map;
        return PX_OK;
    }
    for (int c = 0; c < source->class_count; c++)
        longest = PX_MAX(longest, strlen(source->class_names[c]));
    map.to = pxi_calloc((size_t)source->class_count, sizeof *map.to);
    scratch = pxi_calloc(longest + 1, 1);
    if (!map.to || !scratch) {
        status = pxi_no_memory_for(err, "%d classes", source->class_count);
        goto done;
    }
    if ((status = uses_make(source, &uses, err)) != PX_OK ||
        (status = keys_make(map.names, map.count, &keys, &memory, err)) != PX_OK)
        goto done;
    status = map_by_name(&map, source, spec, &uses, keys, scratch,
                         options->any_classes ? &map.unknown : err);
    if ((status != PX_OK && !options->any_classes) ||
        (status = map_absent(&map, source, &uses, err)) != PX_OK)
        goto done;
    *out = map;
    map = (pxi_class_map){0};
done:
    pxi_class_map_done(&map);
    uses_done(&uses);
    free(keys);
    free(memory);
    free(scratch);
    return status;
}

void pxi_class_map_done(pxi_class_map *map)
{
    px_class_names_free(map->names, map->count);
    free(map->to);
    *map = (pxi_class_map){0};
}
