/* src/assess/assess_pairs.c - which original an adversarial input came from */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/assess.h>

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 512 };

px_status px_pair_by_index(const px_dataset *original, const px_dataset *adversarial,
                           int64_t *partners, px_error *err)
{
    const int64_t count = px_dataset_count(adversarial);
    if (px_dataset_count(original) != count)
        return px_fail(err, PX_E_MISMATCH,
                       "there are %" PRId64 " originals and %" PRId64
                       " adversarial inputs, which do not pair up by position; choose the same "
                       "ones with --limit and --offset, give pictures the same names (--pair "
                       "name), or give a campaign, which knows where its inputs come from",
                       px_dataset_count(original), count);
    for (int64_t i = 0; i < count; i++)
        partners[i] = i;
    return PX_OK;
}

/* The path without the ending of a picture file. */
static void stem(const px_dataset *set, int64_t index, char *buffer)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"};
    char name[NAME_MOST];
    const char *text = px_dataset_name(set, index, name, sizeof name);
    size_t length = strlen(text);
    for (size_t i = 0; i < PX_LEN(endings); i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(text + length - ending, endings[i]) == 0) {
            length -= ending;
            break;
        }
    }
    memcpy(buffer, text, length);
    buffer[length] = '\0';
}

static bool is_number(const px_dataset *set)
{
    char name[NAME_MOST];
    stem(set, 0, name);
    return name[strspn(name, "0123456789")] == '\0';
}

bool px_pair_has_names(const px_dataset *original, const px_dataset *adversarial)
{
    return !is_number(original) && !is_number(adversarial);
}

typedef struct named {
    char *name;
    int64_t index;
} named;

static int named_compare(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static px_status names_list(const px_dataset *set, named *list, int64_t count, px_error *err)
{
    char name[NAME_MOST];
    for (int64_t i = 0; i < count; i++) {
        stem(set, i, name);
        list[i] = (named){pxi_strdup(name), i};
        if (!list[i].name)
            return pxi_no_memory_for(err, "%" PRId64 " names", count);
    }
    qsort(list, (size_t)count, sizeof *list, named_compare);
    for (int64_t i = 1; i < count; i++)
        if (strcmp(list[i - 1].name, list[i].name) == 0)
            return px_fail(err, PX_E_MISMATCH,
                           "two originals have the name '%.200s': names do not pair them up",
                           list[i].name);
    return PX_OK;
}

static px_status names_match(const named *list, int64_t count, const px_dataset *adversarial,
                             int64_t *partners, int64_t *left, px_error *err)
{
    const int64_t wanted = px_dataset_count(adversarial);
    char name[NAME_MOST];
    bool *taken = NULL;
    PX_TRY(PX_NEW(taken, count, err));
    px_status status = PX_OK;
    for (int64_t i = 0; i < wanted && status == PX_OK; i++) {
        stem(adversarial, i, name);
        const named key = {name, 0};
        const named *found = bsearch(&key, list, (size_t)count, sizeof *list, named_compare);
        if (!found) {
            status = px_fail(err, PX_E_MISMATCH,
                             "no original has the name of the adversarial input '%.200s'; names "
                             "are paths below the folder without .png or .jpg, or use --pair "
                             "index where both are in the same order",
                             name);
            break;
        }
        partners[i] = found->index;
        taken[found->index] = true;
    }
    int64_t rest = 0;
    for (int64_t i = 0; i < count; i++)
        rest += !taken[i];
    free(taken);
    if (left)
        *left = rest;
    return status;
}

px_status px_pair_by_name(const px_dataset *original, const px_dataset *adversarial,
                          int64_t *partners, int64_t *left, px_error *err)
{
    const int64_t count = px_dataset_count(original);
    named *list = NULL;
    PX_TRY(PX_NEW(list, count, err));
    px_status status = names_list(original, list, count, err);
    PX_THEN(status, names_match(list, count, adversarial, partners, left, err));
    for (int64_t i = 0; i < count; i++)
        free(list[i].name);
    free(list);
    return status;
}
