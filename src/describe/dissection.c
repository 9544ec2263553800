/* src/describe/dissection.c - what was measured about units: labels, classes, and a bank of them
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/dissect_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/bank.h>
#include <stdlib.h>
#include <string.h>

/* --- making one ------------------------------------------------------------------------------ */

/* The class that most exemplars have (ties: the lowest), and their share. */
static void unit_class(const px_concepts *c, const px_dataset *set, const px_unit *unit,
                       px_bank_unit *out)
{
    int64_t best = -1, most = 0;
    for (int64_t i = 0; i < unit->count; i++) {
        const int64_t label = px_dataset_label(set, unit->top[i].index);
        int64_t count = 0;
        for (int64_t j = 0; j < unit->count; j++)
            count += px_dataset_label(set, unit->top[j].index) == label;
        if (label >= 0 && (count > most || (count == most && label < best))) {
            best = label;
            most = count;
        }
    }
    if (best >= 0 && (size_t)best < c->first_drawn - c->first_class) {
        out->class_name = c->terms[c->first_class + (size_t)best].words;
        out->class_share = (double)most / (double)unit->count;
    }
}

static px_status dissection_unit(px_dissection *d, const px_concepts *c, const px_dataset *set,
                                 const px_exemplar_layer *layer, const px_unit *unit, int64_t u,
                                 px_bank_unit *out, px_error *err)
{
    const int64_t inputs = px_dataset_count(set);
    const size_t count = (size_t)PX_MIN(unit->count, PX_BANK_EXEMPLARS_MOST);
    int64_t *exemplars = NULL;
    PX_TRY(PX_ARENA_NEW(exemplars, d->arena, count, err));
    *out = (px_bank_unit){.unit = layer->numbers ? layer->numbers[u] : u,
                          .phrase = "",
                          .inactive = unit->inactive,
                          .level = unit->level,
                          .exemplars = exemplars,
                          .exemplar_count = count};
    for (size_t i = 0; i < count; i++) {
        exemplars[i] = unit->top[i].index;
        if (exemplars[i] < 0 || exemplars[i] >= inputs)
            return px_fail(err, PX_E_MISMATCH,
                           "the exemplars of layer '%.120s' are not of these data", layer->name);
    }
    if (unit->inactive)
        return PX_OK;
    unit_class(c, set, unit, out);
    if (out->class_name) { /* concepts may be gone before the dissection */
        out->class_name = pxi_arena_strdup(d->arena, out->class_name);
        if (!out->class_name)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

static px_status dissection_layers(px_dissection *d, const px_exemplars *e, const px_concepts *c,
                                   const px_dataset *set, px_error *err)
{
    for (size_t l = 0; l < d->layer_count; l++) {
        const px_exemplar_layer *layer = px_exemplars_layer(e, l);
        d->layers[l].name = pxi_arena_strdup(d->arena, layer->name);
        if (!d->layers[l].name)
            return pxi_no_memory(err);
        for (int64_t u = 0; u < layer->units; u++) {
            const px_unit unit = px_exemplars_unit(e, l, u);
            px_bank_unit *to = &d->units[d->layers[l].first + (size_t)u];
            PX_TRY(dissection_unit(d, c, set, layer, &unit, u, to, err));
            to->layer = d->layers[l].name;
        }
    }
    return PX_OK;
}

px_status pxi_dissection_new(const px_exemplars *e, const px_concepts *c, const px_dataset *set,
                             px_dissection **out, px_error *err)
{
    px_dissection *d = NULL;
    PX_TRY(PX_NEW(d, 1, err));
    d->arena = pxi_arena_new();
    d->layer_count = px_exemplars_layer_count(e);
    d->layers = pxi_calloc(d->layer_count + 1, sizeof *d->layers);
    for (size_t l = 0; d->layers && l < d->layer_count; l++) {
        d->layers[l].first = d->unit_count;
        d->layers[l].count = (size_t)px_exemplars_layer(e, l)->units;
        d->unit_count += d->layers[l].count;
    }
    d->map_count = c->count;
    d->units = pxi_calloc(d->unit_count + 1, sizeof *d->units);
    d->iou = pxi_calloc(d->unit_count + 1, d->map_count * sizeof *d->iou);
    d->words = pxi_calloc(d->map_count, sizeof *d->words);
    bool good = d->arena && d->layers && d->units && d->iou && d->words;
    for (size_t m = 0; good && m < d->map_count; m++)
        good = (d->words[m] = pxi_arena_strdup(d->arena, c->maps[m].words)) != NULL;
    const px_status status = good ? dissection_layers(d, e, c, set, err)
                                  : pxi_no_memory_for(err, "dissecting %zu units", d->unit_count);
    return PX_GIVE(status, d, out, px_dissection_free);
}

void px_dissection_free(px_dissection *d)
{
    if (!d)
        return;
    pxi_arena_free(d->arena);
    free(d->layers);
    free(d->units);
    free(d->iou);
    free(d->words);
    free(d);
}

/* Three words with the largest overlap; of words with two maps the better one counts; ties to the
 * word that comes first. */
static void unit_rank(const px_dissection *d, const double *iou, px_bank_unit *u)
{
    u->label_count = 0;
    for (size_t place = 0; place < PX_BANK_LABELS; place++) {
        size_t best = SIZE_MAX;
        for (size_t m = 0; m < d->map_count; m++) {
            bool taken = false;
            for (size_t k = 0; k < place; k++)
                taken = taken || strcmp(u->labels[k].words, d->words[m]) == 0;
            if (!taken && iou[m] > 0.0 && (best == SIZE_MAX || iou[m] > iou[best]))
                best = m;
        }
        if (best == SIZE_MAX)
            return;
        u->labels[u->label_count++] = (px_bank_label){d->words[best], iou[best]};
    }
}

void pxi_dissection_rank(px_dissection *d)
{
    for (size_t u = 0; u < d->unit_count; u++)
        if (!d->units[u].inactive)
            unit_rank(d, d->iou + u * d->map_count, &d->units[u]);
}

/* --- asking it ------------------------------------------------------------------------------- */

double px_dissection_iou(const px_dissection *d, size_t layer, int64_t unit, size_t concept_index)
{
    assert(layer < d->layer_count && concept_index < d->map_count);
    const size_t u = d->layers[layer].first + (size_t)unit;
    return d->units[u].inactive ? 0.0 : d->iou[u * d->map_count + concept_index];
}

px_bank_unit px_dissection_unit(const px_dissection *d, size_t layer, int64_t unit)
{
    assert(layer < d->layer_count && unit >= 0);
    return d->units[d->layers[layer].first + (size_t)unit];
}

/* "vertical edges and cat": the label, the class, or both. */
static void measured_phrase(const px_bank_unit *u, px_text *out)
{
    const char *label = px_bank_label_of(u), *class_name = px_bank_class_of(u);
    px_text_clear(out);
    px_text_format(out, "%s%s%s", label ? label : "", label && class_name ? " and " : "",
                   class_name ? class_name : "");
}

px_status px_dissection_bank(const px_dissection *d, const px_bank_about *about,
                             const char *const *phrases, px_bank **out, px_error *err)
{
    px_bank *bank = NULL;
    px_text measured = {0};
    px_status status = px_bank_new(about, &bank, err);
    for (size_t i = 0; status == PX_OK && i < d->unit_count; i++) {
        px_bank_unit u = d->units[i];
        if (!phrases)
            measured_phrase(&u, &measured);
        if (px_text_failed(&measured))
            status = pxi_no_memory(err);
        u.phrase = u.inactive           ? ""
                   : !phrases           ? px_text_get(&measured)
                   : phrases[i] != NULL ? phrases[i]
                                        : "";
        PX_THEN(status, px_bank_add(bank, &u, err));
    }
    px_text_done(&measured);
    return PX_GIVE(status, bank, out, px_bank_free);
}
