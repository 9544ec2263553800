/* src/data/split.c - names of splits */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tree.h>

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const split_synonyms[][2] = {
    {"train", "train"},  {"training", "train"}, {"test", "test"},
    {"testing", "test"}, {"t10k", "test"},      {"val", "val"},
    {"valid", "val"},    {"validation", "val"}, {"dev", "val"},
};

static const char *split_canonical(const char *name)
{
    for (size_t i = 0; i < PX_LEN(split_synonyms); i++)
        if (strcasecmp(name, split_synonyms[i][0]) == 0)
            return split_synonyms[i][1];
    return NULL;
}

bool pxi_split_is_name(const char *name)
{
    return split_canonical(name) != NULL;
}

int pxi_split_find(const char *const *names, size_t count, const char *wanted)
{
    const char *want = wanted ? wanted : "test";
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], want) == 0)
            return (int)i;
    const char *canonical = split_canonical(want);
    for (size_t i = 0; canonical && i < count; i++) {
        const char *other = split_canonical(names[i]);
        if (other && strcmp(other, canonical) == 0)
            return (int)i;
    }
    return -1;
}

px_status pxi_split_fail(const char *name, const char *const *names, size_t count,
                         const char *wanted, px_error *err)
{
    char list[160] = "";
    size_t used = 0;
    if (count == 0)
        return px_fail(err, PX_E_USAGE, "'%s' has no splits; leave out --split %s", name,
                       wanted ? wanted : "");
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return px_fail(err, PX_E_USAGE, "'%s' has no split '%s'; it has %s: choose one with --split",
                   name, wanted ? wanted : "test", list);
}
