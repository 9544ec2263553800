/* src/mutate/mutation_sets.c - sets of mutations, parts of them, and drawing */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/additions.h"
#include "base/memory.h"
#include "mutate/style.h"

#include <internal/data.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <plexor/text.h>

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const px_entry *const sets[] = {
#define SET_ROW(id) &pxi_mutation_set_##id.entry,
    PX_MUTATION_SETS(SET_ROW)
#undef SET_ROW
};

static struct px_additions added;

const px_registry px_mutation_sets = {
    .kind = "set of mutations", .plural = "mutations", .added = &added, PX_REGISTRY_POINTERS(sets)};

px_status pxi_mutation_set_add(const px_mutation *mutation, px_error *err)
{
    static struct own {
        px_mutation_set set;
        px_mutation_entry entry;
        char range[PX_MUTATION_PARAMS * 64];
    } owns[PXI_ADDITIONS_MAX];
    static atomic_size_t taken;
    const size_t place = atomic_fetch_add(&taken, 1);
    if (place >= PXI_ADDITIONS_MAX) /* the registry of mutations is as large and was asked first */
        return px_fail(err, PX_E_USAGE, "no more mutations can be added");
    struct own *own = &owns[place];
    size_t used = 0;
    for (const px_param *p = mutation->entry.params; p->name; p++) {
        const char *comma = used ? ", " : "";
        char *end = own->range + used;
        const size_t room = sizeof own->range - used;
        const int length =
            p->choices ? snprintf(end, room, "%s%s", comma, p->name)
                       : snprintf(end, room, "%s%s %.6g to %.6g", comma, p->name, p->min, p->max);
        used += PX_MIN((size_t)PX_MAX(length, 0), room - 1);
    }
    own->entry = (px_mutation_entry){.mutation = mutation, .range = own->range};
    own->set = (px_mutation_set){.entry = {.id = mutation->entry.id,
                                           .title = mutation->entry.title,
                                           .source = mutation->entry.source},
                                 .entries = &own->entry,
                                 .entry_count = 1};
    return pxi_registry_add(&px_mutation_sets, &own->set.entry, err);
}

static px_mutations sets_whole(const px_mutation_set *set)
{
    return (px_mutations){.set = set, .entries = (uint32_t)((UINT64_C(1) << set->entry_count) - 1)};
}

size_t px_mutation_set_rules(const px_mutation_set *set)
{
    const px_mutations whole = sets_whole(set);
    return px_mutations_rules(&whole);
}

static bool sets_has(const px_mutations *from, size_t i)
{
    return from->entries >> i & 1;
}

/* --- text ------------------------------------------------------------------------------------ */

static bool sets_word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* Entries that a word of a part names: by id, group, or kind. */
static uint32_t sets_named(const px_mutation_set *set, const char *word, size_t length)
{
    uint32_t named = 0;
    for (size_t i = 0; i < set->entry_count; i++) {
        const px_mutation *m = set->entries[i].mutation;
        const char *group = m->group == PX_MUTATION_AFFINE ? "affine" : "pixel";
        const char *kind = m->differentiable ? "differentiable" : "non-differentiable";
        /* "rotation" will do for "cv-rotation" where the set has no other */
        const char *plain = strncmp(m->entry.id, "cv-", 3) == 0      ? m->entry.id + 3
                            : strncmp(m->entry.id, "audio-", 6) == 0 ? m->entry.id + 6
                                                                     : m->entry.id;
        if (sets_word_is(word, length, m->entry.id) || sets_word_is(word, length, plain) ||
            sets_word_is(word, length, group) || sets_word_is(word, length, kind))
            named |= UINT32_C(1) << i;
    }
    return named;
}

static px_status sets_no_part(const px_mutation_set *set, const char *word, size_t length,
                              px_error *err)
{
    px_text names = {0};
    for (size_t i = 0; i < set->entry_count; i++)
        px_text_format(&names, "%s%s", i ? ", " : "", set->entries[i].mutation->entry.id);
    const px_status status =
        px_fail(err, PX_E_USAGE,
                "the set '%s' has no '%.*s'; it has %s (and affine, pixel, differentiable, "
                "non-differentiable as groups)",
                set->entry.id, (int)PX_MIN(length, 60), word, px_text_get(&names));
    px_text_done(&names);
    return status;
}

static px_status sets_no_set(const char *text, size_t length, px_error *err)
{
    px_text names = {0};
    for (size_t i = 0; i < px_mutation_set_count(); i++)
        px_text_format(&names, "%s%s", i ? ", " : "", px_mutation_set_get(i)->entry.id);
    const px_status status = px_fail(err, PX_E_USAGE,
                                     "there is no set of mutations '%.*s'; there are %.300s, and "
                                     "parts of them as in nss:rotation,shear",
                                     (int)PX_MIN(length, 60), text, px_text_get(&names));
    px_text_done(&names);
    return status;
}

px_status px_mutations_parse(const char *text, px_mutations *out, px_error *err)
{
    const size_t length = strcspn(text, ":");
    const px_entry *entry = px_registry_word(&px_mutation_sets, text, length);
    if (!entry)
        return sets_no_set(text, length, err);
    const px_mutation_set *set = (const px_mutation_set *)(const void *)entry;
    px_mutations from = sets_whole(set);
    if (text[length] == ':') {
        from.entries = 0;
        for (const char *word = text + length + 1;; word++) {
            const size_t size = strcspn(word, ",");
            const uint32_t named = sets_named(set, word, size);
            if (!named)
                return sets_no_part(set, word, size, err);
            from.entries |= named;
            word += size;
            if (!*word)
                break;
        }
    }
    *out = from;
    return PX_OK;
}

px_status px_mutations_check(const px_mutations *from, const px_dataset *data, px_error *err)
{
    const bool audio = from->set->entries[0].mutation->apply_samples != NULL;
    if (audio == (px_dataset_audio(data) != NULL))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   audio ? "the mutations '%s' are for recordings, the data are none"
                         : "the mutations '%s' are for pictures, the data are recordings; take "
                           "'audio'",
                   from->set->entry.id);
}

/* --- drawing --------------------------------------------------------------------------------- */

size_t px_mutations_rules(const px_mutations *from)
{
    size_t rules = 0;
    for (size_t i = 0; i < from->set->entry_count; i++) {
        if (sets_has(from, i) && from->set->entries[i].rule_count == 0)
            return 0;
        rules += sets_has(from, i) ? from->set->entries[i].rule_count : 0;
    }
    return rules;
}

/* Where the mutation has its seed; the end of its table: nowhere. */
static size_t sets_seed_at(const px_mutation *m)
{
    size_t i = 0;
    while (m->entry.params[i].name && strcmp(m->entry.params[i].name, "seed") != 0)
        i++;
    return i;
}

/* Of a style: which picture. */
static uint32_t sets_style_count(const px_mutations *from)
{
    return from->styles ? (uint32_t)px_styles_count(from->styles) : PX_STYLE_GENERATED;
}

static void sets_style(const px_mutations *from, uint32_t image, px_drawn *drawn)
{
    drawn->values[PXI_STYLE_IMAGE] = image;
    drawn->values[PXI_STYLE_OF] = from->styles != NULL;
    drawn->styles = from->styles;
}

px_drawn px_mutations_rule(const px_mutations *from, size_t i, uint32_t seed)
{
    size_t e = 0;
    for (; e < from->set->entry_count; e++) {
        const size_t count = sets_has(from, e) ? from->set->entries[e].rule_count : 0;
        if (i < count)
            break;
        i -= count;
    }
    assert(e < from->set->entry_count);
    const px_mutation_entry *entry = &from->set->entries[e];
    px_drawn drawn = {.mutation = entry->mutation};
    entry->rule(i, drawn.values);
    const size_t at = sets_seed_at(entry->mutation);
    if (entry->mutation->entry.params[at].name)
        drawn.values[at] = seed;
    if (entry->mutation == &px_mutation_style)
        sets_style(from, seed % sets_style_count(from), &drawn);
    return drawn;
}

static const px_mutation_entry *sets_draw_entry(const px_mutations *from, px_random *random)
{
    uint32_t count = 0;
    for (size_t i = 0; i < from->set->entry_count; i++)
        count += sets_has(from, i);
    assert(count);
    uint32_t place = px_rng_below(random, count);
    size_t i = 0;
    for (;; i++)
        if (sets_has(from, i) && place-- == 0)
            return &from->set->entries[i];
}

/* Uniformly from the ranges of its settings. */
static void sets_draw_values(const px_mutation *m, px_random *random, double *values)
{
    for (size_t i = 0; m->entry.params[i].name; i++) {
        const px_param *p = &m->entry.params[i];
        uint32_t words = 0;
        while (p->choices && p->choices[words])
            words++;
        const double u = px_rng_u01(random);
        if (p->choices)
            values[i] = floor(u * words);
        else if (p->type == PX_TYPE_INT)
            values[i] = PX_MIN(floor(p->min + u * (p->max - p->min + 1.0)), p->max);
        else
            values[i] = p->min + u * (p->max - p->min);
    }
}

px_drawn px_mutation_draw(const px_mutations *from, px_random *random)
{
    px_drawn drawn = {0};
    if (from->set->by_rule) {
        const uint32_t rule = px_rng_below(random, (uint32_t)px_mutations_rules(from));
        drawn = px_mutations_rule(from, rule, 0);
    } else {
        const px_mutation_entry *entry = sets_draw_entry(from, random);
        drawn.mutation = entry->mutation;
        if (entry->rule_count)
            entry->rule(px_rng_below(random, (uint32_t)entry->rule_count), drawn.values);
        else if (entry->draw)
            entry->draw(random, drawn.values);
        else
            sets_draw_values(entry->mutation, random, drawn.values);
    }
    const size_t at = sets_seed_at(drawn.mutation);
    if (drawn.mutation->entry.params[at].name)
        drawn.values[at] = px_rng_u32(random);
    if (drawn.mutation == &px_mutation_style)
        sets_style(from, px_rng_below(random, sets_style_count(from)), &drawn);
    return drawn;
}
