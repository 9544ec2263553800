/* src/describe/bank.c - phrases for units, and finding them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/bank_internal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <internal/bank.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BANK_PLACES_FIRST = 64 };
#define BANK_UNIT_MOST ((int64_t)1 << 40)

/* --- describers ------------------------------------------------------------------------------ */

static const struct {
    const char *id, *help;
} describers[] = {
#define DESCRIBER_ROW(enumerator, id, help) {id, help},
    PX_DESCRIBERS(DESCRIBER_ROW)
#undef DESCRIBER_ROW
};

const char *px_describer_id(px_describer describer)
{
    return (size_t)describer < PX_LEN(describers) ? describers[describer].id : "?";
}

const char *px_describer_help(px_describer describer)
{
    return (size_t)describer < PX_LEN(describers) ? describers[describer].help : "?";
}

px_status px_describer_parse(const char *text, px_describer *out, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(describers); i++)
        if (strcmp(text, describers[i].id) == 0) {
            *out = (px_describer)i;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE,
                   "there is no describer '%.60s'; there are virtual-units, dissect, milan and "
                   "other",
                   text);
}

/* --- making one ------------------------------------------------------------------------------ */

px_status px_bank_new(const px_bank_about *about, px_bank **out, px_error *err)
{
    px_bank *bank = NULL;
    PX_TRY(PX_NEW(bank, 1, err));
    bank->about = *about;
    bank->arena = pxi_arena_new();
    bank->places = pxi_calloc(BANK_PLACES_FIRST, sizeof *bank->places);
    bank->place_count = BANK_PLACES_FIRST;
    if (bank->arena && about->encoder)
        bank->about.encoder = pxi_arena_strdup(bank->arena, about->encoder);
    if (!bank->arena || !bank->places || (about->encoder && !bank->about.encoder)) {
        px_bank_free(bank);
        return pxi_no_memory(err);
    }
    const px_gates none = px_gates_none();
    px_bank_set_gates(bank, &none);
    *out = bank;
    return PX_OK;
}

void px_bank_free(px_bank *bank)
{
    if (!bank)
        return;
    pxi_arena_free(bank->arena);
    free(bank->units);
    free(bank->places);
    free(bank);
}

void px_bank_set_gates(px_bank *bank, const px_gates *gates)
{
    bank->gates = *gates;
    bank->verdict = px_gates_verdict(gates, bank->about.describer, NULL);
}

/* Where (layer, unit) is in the table, or the free place where it would be. */
static size_t bank_place(const px_bank *bank, const char *layer, int64_t unit)
{
    const size_t mask = bank->place_count - 1;
    size_t at = (size_t)XXH3_64bits_withSeed(layer, strlen(layer), (uint64_t)unit) & mask;
    for (; bank->places[at]; at = (at + 1) & mask) {
        const px_bank_unit *u = &bank->units[bank->places[at] - 1];
        if (u->unit == unit && strcmp(u->layer, layer) == 0)
            break;
    }
    return at;
}

/* Keeps at least half of the places free. */
static int bank_make_room(px_bank *bank)
{
    if (pxi_grow(&bank->units, &bank->capacity, bank->count + 1, sizeof *bank->units) != 0)
        return -1;
    if (2 * (bank->count + 1) <= bank->place_count)
        return 0;
    uint32_t *places = pxi_calloc(2 * bank->place_count, sizeof *places);
    if (!places)
        return -1;
    free(bank->places);
    bank->places = places;
    bank->place_count *= 2;
    for (size_t i = 0; i < bank->count; i++)
        bank->places[bank_place(bank, bank->units[i].layer, bank->units[i].unit)] = (uint32_t)i + 1;
    return 0;
}

/* A text is well-formed, in one line, and of bounded length. */
static bool bank_text_is_good(const char *text, bool may_be_empty)
{
    if (!text)
        return false;
    const size_t size = strnlen(text, PX_BANK_TEXT_MOST + 1);
    if (size > PX_BANK_TEXT_MOST || (size == 0 && !may_be_empty))
        return false;
    for (size_t i = 0; i < size;) {
        const size_t length = pxi_utf8_length(text + i, size - i);
        if (length == 0 || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
        i += length;
    }
    return true;
}

static bool bank_is_share(double value)
{
    return value >= 0.0 && value <= 1.0; /* false for NaN */
}

static px_status bank_check_unit(const px_bank_unit *u, px_error *err)
{
    if (!bank_text_is_good(u->layer, /* may_be_empty= */ false))
        return px_fail(err, PX_E_USAGE, "a unit's layer is no name: 1 to %d bytes in one line",
                       PX_BANK_TEXT_MOST);
    if (u->unit < 0 || u->unit > BANK_UNIT_MOST)
        return px_fail(err, PX_E_USAGE, "layer '%.120s' cannot have a unit %" PRId64, u->layer,
                       u->unit);
    if (!bank_text_is_good(u->phrase, /* may_be_empty= */ true))
        return px_fail(err, PX_E_USAGE,
                       "the phrase of unit %" PRId64 " of layer '%.120s' is not one line of at "
                       "most %d bytes",
                       u->unit, u->layer, PX_BANK_TEXT_MOST);
    bool good = u->label_count <= PX_BANK_LABELS && bank_is_share(u->class_share) &&
                (!u->class_name || bank_text_is_good(u->class_name, /* may_be_empty= */ false)) &&
                u->exemplar_count <= PX_BANK_EXEMPLARS_MOST && !isinf(u->level);
    for (size_t i = 0; good && i < u->label_count; i++)
        good = bank_text_is_good(u->labels[i].words, /* may_be_empty= */ false) &&
               bank_is_share(u->labels[i].iou) &&
               (i == 0 || u->labels[i].iou <= u->labels[i - 1].iou);
    for (size_t i = 0; good && i < u->exemplar_count; i++)
        good = u->exemplars[i] >= 0;
    return good ? PX_OK
                : px_fail(err, PX_E_USAGE,
                          "unit %" PRId64 " of layer '%.120s': labels go from the best to the "
                          "least, shares from 0 to 1, exemplars from 0 on",
                          u->unit, u->layer);
}

px_status px_bank_add(px_bank *bank, const px_bank_unit *unit, px_error *err)
{
    PX_TRY(bank_check_unit(unit, err));
    if (px_bank_find(bank, unit->layer, unit->unit))
        return px_fail(err, PX_E_USAGE, "unit %" PRId64 " of layer '%.120s' is there twice",
                       unit->unit, unit->layer);
    if (bank->count >= PX_BANK_UNITS_MOST)
        return px_fail(err, PX_E_USAGE, "a bank has at most %zu units", PX_BANK_UNITS_MOST);
    px_bank_unit copy = *unit;
    px_arena *arena = bank->arena;
    /* Units come layer by layer: the name is mostly there already. */
    const char *before = bank->count ? bank->units[bank->count - 1].layer : NULL;
    bool good = bank_make_room(bank) == 0;
    copy.layer =
        before && strcmp(before, unit->layer) == 0 ? before : pxi_arena_strdup(arena, unit->layer);
    copy.phrase = pxi_arena_strdup(arena, unit->phrase);
    copy.class_name = unit->class_name ? pxi_arena_strdup(arena, unit->class_name) : NULL;
    good = good && copy.layer && copy.phrase && (copy.class_name || !unit->class_name);
    for (size_t i = 0; i < PX_BANK_LABELS; i++) {
        copy.labels[i] = (px_bank_label){0};
        if (i >= unit->label_count)
            continue;
        copy.labels[i].iou = unit->labels[i].iou;
        copy.labels[i].words = pxi_arena_strdup(arena, unit->labels[i].words);
        good = good && copy.labels[i].words;
    }
    int64_t *exemplars = pxi_arena_alloc(arena, unit->exemplar_count, sizeof *exemplars);
    if (!good || !exemplars)
        return pxi_no_memory_for(err, "a bank of %zu units", bank->count + 1);
    for (size_t i = 0; i < unit->exemplar_count; i++)
        exemplars[i] = unit->exemplars[i];
    copy.exemplars = exemplars;
    bank->units[bank->count] = copy;
    bank->places[bank_place(bank, copy.layer, copy.unit)] = (uint32_t)bank->count + 1;
    bank->count++;
    return PX_OK;
}

/* --- asking it ------------------------------------------------------------------------------- */

size_t px_bank_count(const px_bank *bank)
{
    return bank->count;
}

const px_bank_unit *px_bank_get(const px_bank *bank, size_t i)
{
    return i < bank->count ? &bank->units[i] : NULL;
}

const px_bank_unit *px_bank_find(const px_bank *bank, const char *layer, int64_t unit)
{
    const uint32_t place = bank->places[bank_place(bank, layer, unit)];
    return place ? &bank->units[place - 1] : NULL;
}

bool px_bank_described(const px_bank_unit *unit)
{
    return unit && !unit->inactive && unit->phrase[strspn(unit->phrase, " ")] != '\0';
}

const char *px_bank_shown(const px_bank_unit *unit)
{
    return unit->inactive ? "(inactive)" : px_bank_described(unit) ? unit->phrase : "(no label)";
}

const char *px_bank_label_of(const px_bank_unit *unit)
{
    return unit->label_count && unit->labels[0].iou > PX_BANK_LABEL_LEAST ? unit->labels[0].words
                                                                          : NULL;
}

const char *px_bank_class_of(const px_bank_unit *unit)
{
    return unit->class_name && unit->class_share >= PX_BANK_CLASS_LEAST ? unit->class_name : NULL;
}

const px_bank_about *px_bank_get_about(const px_bank *bank)
{
    return &bank->about;
}

const px_gates *px_bank_gates(const px_bank *bank)
{
    return &bank->gates;
}

px_validation px_bank_verdict(const px_bank *bank)
{
    return bank->verdict;
}

px_status px_bank_check_model(const px_bank *bank, const px_model *model, px_error *err)
{
    const uint64_t hash = px_model_hash(model);
    if (bank->about.model == hash)
        return PX_OK;
    const char *path = px_model_path(model);
    return px_fail(err, PX_E_MISMATCH,
                   "the bank was made for another network (%016" PRIx64 ") than '%.200s' "
                   "(%016" PRIx64 "); make one with 'plexor describe'",
                   bank->about.model, *path ? path : "this one", hash);
}

/* --- identity -------------------------------------------------------------------------------- */

static uint64_t bank_mix(uint64_t id, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, id);
}

static uint64_t bank_mix_text(uint64_t id, const char *text)
{
    return text ? bank_mix(id, text, strlen(text) + 1) : bank_mix(id, "", 0);
}

static uint64_t bank_mix_real(uint64_t id, double value)
{
    const double same = isnan(value) ? (double)NAN : value + 0.0; /* one NaN, one zero */
    return bank_mix(id, &same, sizeof same);
}

uint64_t px_bank_id(const px_bank *bank)
{
    uint64_t id = bank_mix(0, &bank->about.model, sizeof bank->about.model);
    id = bank_mix(id, &bank->about.data, sizeof bank->about.data);
    id = bank_mix_text(id, px_describer_id(bank->about.describer));
    for (size_t i = 0; i < bank->count; i++) {
        const px_bank_unit *u = &bank->units[i];
        id = bank_mix_text(id, u->layer);
        id = bank_mix(id, &u->unit, sizeof u->unit);
        id = bank_mix_text(id, px_bank_shown(u));
        id = bank_mix_real(id, u->level);
        for (size_t k = 0; k < u->label_count; k++)
            id = bank_mix_real(bank_mix_text(id, u->labels[k].words), u->labels[k].iou);
        id = bank_mix_real(bank_mix_text(id, u->class_name), u->class_share);
        id = bank_mix(id, u->exemplars, u->exemplar_count * sizeof *u->exemplars);
    }
    return id;
}
