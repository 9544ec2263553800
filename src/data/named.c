/* src/data/named.c - labels and splits from the names of files: "PATH::PATTERN"
 *
 * A pattern is a file's name with holes, without or with its ending:
 *
 *     {label}        the class
 *     {split}        the split
 *     {test:0-4,9}   a whole number; in one of the ranges: the split is "test", else "train"
 *     {...}, *       anything, of no further use: {digit}_{label}_{test:0-4}
 *
 * Holes hold as little as they can and no slash. A pattern with slashes is held against as many
 * folders. Every picture or recording must fit; samples go round the classes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "data/manifest.h"
#include "data/picture_source.h"

#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef enum hole { HOLE_ANY, HOLE_LABEL, HOLE_SPLIT, HOLE_TEST, HOLES } hole;

typedef struct names_match {
    span found[HOLES];
    span ranges; /* of HOLE_TEST, in the pattern */
} names_match;

/* The kind of the hole that the pattern is at, and what comes behind it; HOLES: it is none. */
static hole pattern_hole(const char *pattern, span *ranges, const char **behind)
{
    static const char test[] = "test:";
    *ranges = (span){NULL, 0};
    *behind = pattern + 1;
    if (*pattern == '*')
        return HOLE_ANY;
    const char *end = *pattern == '{' ? strchr(pattern, '}') : NULL;
    if (!end)
        return HOLES;
    const span inside = {pattern + 1, (size_t)(end - pattern) - 1};
    *behind = end + 1;
    if (inside.length == 5 && strncmp(inside.at, "label", 5) == 0)
        return HOLE_LABEL;
    if (inside.length == 5 && strncmp(inside.at, "split", 5) == 0)
        return HOLE_SPLIT;
    if (inside.length > strlen(test) && strncmp(inside.at, test, strlen(test)) == 0) {
        *ranges = (span){inside.at + strlen(test), inside.length - strlen(test)};
        return HOLE_TEST;
    }
    return HOLE_ANY;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Depth is bounded by PATTERN_HOLES, steps by `budget`: names are hostile too. */
static bool names_fit(const char *pattern, const char *text, const char *end, names_match *match,
                      int *budget)
{
    const char *behind;
    span ranges;
    for (; *pattern; pattern++, text++) {
        const hole kind = pattern_hole(pattern, &ranges, &behind);
        if (kind != HOLES)
            break;
        if (text == end || *text != *pattern)
            return false;
    }
    if (!*pattern)
        return text == end;
    const hole kind = pattern_hole(pattern, &ranges, &behind);
    for (size_t length = 1; text + length <= end && (*budget)-- > 0; length++) {
        const char last = text[length - 1];
        if (last == '/' || (kind == HOLE_TEST && !is_digit(last)))
            return false;
        match->found[kind] = (span){text, length};
        if (kind == HOLE_TEST)
            match->ranges = ranges;
        if (names_fit(behind, text + length, end, match, budget))
            return true;
    }
    return false;
}

/* --- ranges ---------------------------------------------------------------------------------- */

/* Steps over a whole number below 10^9. */
static bool read_whole(const char **at, const char *end, long *out)
{
    const char *start = *at;
    for (*out = 0; *at < end && is_digit(**at) && *at - start < 9; (*at)++)
        *out = *out * 10 + (**at - '0');
    return *at > start && (*at == end || !is_digit(**at));
}

/* "0-4,9"; false: it is not that. */
static bool ranges_hold(span ranges, long number, bool *inside)
{
    const char *at = ranges.at, *end = at + ranges.length;
    *inside = false;
    for (;; at++) {
        long from, to;
        if (!read_whole(&at, end, &from))
            return false;
        to = from;
        if (at < end && *at == '-') {
            at++;
            if (!read_whole(&at, end, &to))
                return false;
        }
        *inside = *inside || (number >= from && number <= to);
        if (at == end)
            return true;
        if (*at != ',')
            return false;
    }
}

/* --- the pattern itself ---------------------------------------------------------------------- */

enum { PATTERN_MAX = 1024, PATTERN_HOLES = 32, PATTERN_STEPS = 1 << 16 };

static px_status pattern_check(const char *pattern, px_error *err)
{
    int seen[HOLES] = {0}, all = 0;
    const char *behind;
    for (const char *p = pattern; *p; p = behind) {
        span ranges;
        bool inside;
        const hole kind = pattern_hole(p, &ranges, &behind);
        if (kind == HOLES)
            continue;
        seen[kind]++;
        all++;
        if (kind == HOLE_TEST && !ranges_hold(ranges, 0, &inside))
            return px_fail(err, PX_E_USAGE,
                           "pattern '%.100s': '%.*s' is not a list of ranges such as 0-4,9",
                           pattern, (int)PX_MIN(ranges.length, 60), ranges.at);
    }
    if (strlen(pattern) > PATTERN_MAX || all > PATTERN_HOLES)
        return px_fail(err, PX_E_USAGE, "pattern '%.100s...' is too long", pattern);
    if (seen[HOLE_LABEL] != 1 || seen[HOLE_SPLIT] + seen[HOLE_TEST] > 1)
        return px_fail(err, PX_E_USAGE,
                       "pattern '%.100s': expected one {label}, and at most one {split} or "
                       "{test:RANGES}, as in '*_{label}_{test:0-4}'",
                       pattern);
    return PX_OK;
}

/* As many folders of the path as the pattern has. */
static const char *path_tail(const char *path, const char *pattern)
{
    const char *tail = path + strlen(path);
    int slashes = 0;
    for (const char *p = pattern; *p; p++)
        slashes += *p == '/';
    for (; tail > path; tail--)
        if (tail[-1] == '/' && slashes-- == 0)
            break;
    return tail;
}

static px_status named_row(px_arena *arena, const char *tree, const char *path, const char *pattern,
                           pxi_manifest_row *row, px_error *err)
{
    names_match match = {0};
    const char *tail = path_tail(path, pattern), *end = tail + strlen(tail);
    const char *dot = strrchr(tail, '.');
    int steps = PATTERN_STEPS;
    if (!names_fit(pattern, tail, dot, &match, &steps)) {
        steps = PATTERN_STEPS;
        match = (names_match){0};
        if (!names_fit(pattern, tail, end, &match, &steps))
            return px_fail(err, PX_E_INPUT, "'%s/%s' does not fit the pattern '%.100s'", tree, path,
                           pattern);
    }
    const span label = match.found[HOLE_LABEL], split = match.found[HOLE_SPLIT];
    *row = (pxi_manifest_row){.path = path, .split = ""};
    row->label = pxi_arena_strndup(arena, label.at, label.length);
    if (match.ranges.at) {
        long number = 0;
        bool inside = false;
        const char *at = match.found[HOLE_TEST].at;
        if (!read_whole(&at, at + match.found[HOLE_TEST].length, &number))
            return px_fail(err, PX_E_INPUT, "'%s/%s': its number is too long", tree, path);
        (void)ranges_hold(match.ranges, number, &inside);
        row->split = inside ? "test" : "train";
    } else if (split.at) {
        row->split = pxi_arena_strndup(arena, split.at, split.length);
    }
    return row->label && row->split ? PX_OK : pxi_no_memory(err);
}

/* --- rows ------------------------------------------------------------------------------------ */

typedef struct named_key {
    pxi_manifest_row row;
    size_t round; /* among the files of its class and split */
} named_key;

static int key_by_class(const void *a, const void *b)
{
    const pxi_manifest_row *x = &((const named_key *)a)->row, *y = &((const named_key *)b)->row;
    const int split = strcmp(x->split, y->split), label = strcmp(x->label, y->label);
    return split ? split : label ? label : strcmp(x->path, y->path);
}

static int key_by_round(const void *a, const void *b)
{
    const named_key *x = a, *y = b;
    const int split = strcmp(x->row.split, y->row.split);
    if (split || x->round == y->round)
        return split ? split : strcmp(x->row.label, y->row.label);
    return x->round < y->round ? -1 : 1;
}

/* So that any prefix of a split is balanced. */
static void keys_order(named_key *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, key_by_class);
    for (size_t i = 1; i < count; i++)
        if (strcmp(keys[i].row.label, keys[i - 1].row.label) == 0 &&
            strcmp(keys[i].row.split, keys[i - 1].row.split) == 0)
            keys[i].round = keys[i - 1].round + 1;
    qsort(keys, count, sizeof *keys, key_by_round);
}

static px_status named_fill(pxi_picture_source *source, const char *pattern, const char *split,
                            px_error *err)
{
    const pxi_tree *tree = source->tree;
    const size_t files = pxi_tree_count(tree);
    size_t count = 0;
    px_status status = PX_OK;
    named_key *keys = pxi_calloc(files ? files : 1, sizeof *keys);
    pxi_manifest_row *rows = pxi_calloc(files ? files : 1, sizeof *rows);
    if (!keys || !rows)
        status = pxi_no_memory(err);
    for (size_t i = 0; i < files && status == PX_OK; i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (pxi_sample_is_name(path))
            status = named_row(source->arena, pxi_tree_name(tree), path, pattern,
                               &keys[count++].row, err);
    }
    if (status == PX_OK && count == 0)
        status = px_fail(err, PX_E_INPUT, "'%s': holds no PNG, JPEG, WAV or FLAC files",
                         pxi_tree_name(tree));
    if (status == PX_OK) {
        keys_order(keys, count);
        for (size_t i = 0; i < count; i++)
            rows[i] = keys[i].row;
        status = pxi_manifest_fill(source, "", rows, count, split, err);
    }
    free(keys);
    free(rows);
    return status;
}

px_status pxi_named_open(pxi_tree *tree, const char *pattern, const char *split, pxi_source **out,
                         px_error *err)
{
    pxi_picture_source *source = NULL;
    PX_TRY(pxi_picture_source_new("named pictures", tree, &source, err));
    px_status status = pattern_check(pattern, err);
    PX_THEN(status, named_fill(source, pattern, split, err));
    if (status != PX_OK) {
        pxi_source_free(&source->base);
        return status;
    }
    *out = &source->base;
    return PX_OK;
}
