/* src/train/choice.c - settings as text: reading NAME[:ITEM,...] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/choice.h"

#include <internal/text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice_words { /* a part of the text, not terminated */
    const char *text;
    size_t length;
} choice_words;

#define WORDS(words) (int)((words).length > 100 ? 100 : (words).length), (words).text

static bool choice_is(choice_words words, const char *name)
{
    return strlen(name) == words.length && memcmp(words.text, name, words.length) == 0;
}

/* Cuts `from` at the first `sign`: what is before it is returned, what is after stays. */
static choice_words choice_cut(choice_words *from, char sign, bool *found)
{
    const char *at = from->length ? memchr(from->text, sign, from->length) : NULL;
    *found = at != NULL;
    const choice_words head = {from->text, at ? (size_t)(at - from->text) : from->length};
    const size_t used = head.length + (at ? 1 : 0);
    *from = (choice_words){from->text + used, from->length - used};
    return head;
}

static px_status choice_unknown(const char *what, const px_choice *choice, choice_words key,
                                px_error *err)
{
    px_text known = {0};
    for (const px_setting *s = choice->settings; s && s->name; s++)
        px_text_format(&known, "%s%s", known.length ? ", " : "", s->name);
    px_fail(err, PX_E_USAGE, "%s '%s' has no setting '%.*s'; %s%s", what, choice->entry.id,
            WORDS(key), known.length ? "it has " : "it has none", px_text_get(&known));
    px_text_done(&known);
    return PX_E_USAGE;
}

static px_status choice_number(const char *what, const px_choice *choice, choice_words item,
                               choice_words value, double *out, px_error *err)
{
    char copy[64], *end = copy;
    if (value.length && value.length < sizeof copy && strchr("+-.0123456789", *value.text)) {
        memcpy(copy, value.text, value.length);
        copy[value.length] = '\0';
        *out = strtod(copy, &end);
    }
    if (end == copy || *end != '\0' || !isfinite(*out))
        return px_fail(err, PX_E_USAGE, "'%.*s' in %s '%s' is not a number", WORDS(item), what,
                       choice->entry.id);
    return PX_OK;
}

static px_status choice_range(const char *what, const px_choice *choice, const px_setting *s,
                              choice_words item, double value, px_error *err)
{
    const bool low = s->above ? value <= s->least : value < s->least;
    const bool high = s->below ? value >= s->most : value > s->most;
    const bool broken = s->whole && value != floor(value);
    if (!low && !high && !broken)
        return PX_OK;
    char least[PX_REAL_TEXT], most[PX_REAL_TEXT];
    px_real_text(s->least, least);
    px_real_text(s->most, most);
    if (s->whole && s->least == 0.0 && s->most == 1.0)
        return px_fail(err, PX_E_USAGE, "'%.*s' in %s '%s': %s is 0 or 1", WORDS(item), what,
                       choice->entry.id, s->name);
    return px_fail(err, PX_E_USAGE, "'%.*s' in %s '%s': %s must be %s%s %s and %s %s", WORDS(item),
                   what, choice->entry.id, s->name, s->whole ? "a whole number, " : "",
                   s->above ? "above" : "at least", least, s->below ? "below" : "at most", most);
}

/* Where an item's value goes: a setting, by name or by position. */
static const px_setting *choice_setting(const px_choice *choice, choice_words key, bool named,
                                        int bare)
{
    const px_setting *s = choice->settings;
    if (!named)
        return bare < choice->bare ? &s[bare] : NULL;
    for (; s && s->name; s++)
        if (choice_is(key, s->name))
            return s;
    return NULL;
}

static px_status choice_items(const char *what, const px_choice *choice, choice_words items,
                              pxi_chosen *out, px_error *err)
{
    bool given[PXI_CHOICE_SETTINGS] = {false};
    int bare = 0;
    for (bool more = true; more;) {
        const choice_words item = choice_cut(&items, ',', &more);
        if (item.length == 0)
            return px_fail(err, PX_E_USAGE, "%s '%s' has an empty setting; it is written '%s'",
                           what, choice->entry.id, choice->usage);
        bool named;
        choice_words value = item;
        const choice_words key = choice_cut(&value, '=', &named);
        if (!named)
            value = key;
        double number = 0.0;
        if (!named && choice->list) {
            PX_TRY(choice_number(what, choice, item, value, &number, err));
            if (out->list_count == PXI_CHOICE_LIST)
                return px_fail(err, PX_E_USAGE, "%s '%s' takes at most %d %s", what,
                               choice->entry.id, PXI_CHOICE_LIST, choice->list);
            out->list[out->list_count++] = number;
            continue;
        }
        const px_setting *s = choice_setting(choice, key, named, bare++);
        if (!s)
            return choice_unknown(what, choice, key, err);
        const size_t at = (size_t)(s - choice->settings);
        if (given[at])
            return px_fail(err, PX_E_USAGE, "%s '%s' has '%s' twice", what, choice->entry.id,
                           s->name);
        PX_TRY(choice_number(what, choice, item, value, &number, err));
        PX_TRY(choice_range(what, choice, s, item, number, err));
        given[at] = true;
        out->values[at] = number;
    }
    return PX_OK;
}

px_status pxi_choice_read(const px_registry *choices, const char *spec, size_t length,
                          pxi_chosen *out, px_error *err)
{
    choice_words rest = {spec, length};
    bool has_items;
    const choice_words name = choice_cut(&rest, ':', &has_items);
    pxi_chosen chosen = {.choice = (const void *)px_registry_word(choices, name.text, name.length)};
    if (!chosen.choice)
        return px_registry_unknown(choices, name.text, name.length, err);
    const px_setting *settings = chosen.choice->settings;
    for (size_t i = 0; settings && settings[i].name; i++)
        chosen.values[i] = settings[i].standard;
    if (has_items)
        PX_TRY(choice_items(choices->kind, chosen.choice, rest, &chosen, err));
    *out = chosen;
    return PX_OK;
}

void pxi_choice_write(const px_choice *choice, const double *values, px_text *text)
{
    px_text_add(text, choice->entry.id);
    for (size_t i = 0; choice->settings && choice->settings[i].name; i++) {
        char number[PX_REAL_TEXT];
        px_text_format(text, "%c%s=%s", i ? ',' : ':', choice->settings[i].name,
                       px_real_text(values[i], number));
    }
}
