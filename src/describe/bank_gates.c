/* src/describe/bank_gates.c - descriptions beside measurements, and beside chance (g2, g3, g4)
 *
 * Chance is what the same captions say when they are dealt out anew among the units that count: 500
 * permutations give its mean and its standard deviation.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/concepts_internal.h"

#include "base/ascending.h"
#include "base/memory.h"

#include <internal/bank.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERMUTATIONS_MOST = 1000000 };

px_gates_options px_gates_options_default(void)
{
    return (px_gates_options){.permutations = 500};
}

typedef struct gate { /* units that count, and what holds between their captions and their facts */
    const px_bank *bank;
    const px_concepts *c;
    const px_gates_options *o;
    size_t *units; /* indices in the bank */
    size_t count;
    bool *mentioned; /* [count][terms] */
    int64_t *order;
    double *chance;  /* [permutations] */
    double *cosine;  /* [count][classes] or NULL: caption i with class k */
    size_t *classes; /* [count]: place of the unit's class among terms, from first_class */
    size_t *labels;  /* [count][PX_BANK_LABELS]: terms; SIZE_MAX: none */
} gate;

/* What caption number `caption` is worth for unit number `unit`. */
typedef double (*gate_fn)(const gate *g, size_t unit, size_t caption);

static double hit_top1(const gate *g, size_t unit, size_t caption)
{
    return g->mentioned[caption * g->c->term_count + g->labels[unit * PX_BANK_LABELS]] ? 1.0 : 0.0;
}

static double hit_top3(const gate *g, size_t unit, size_t caption)
{
    for (size_t k = 0; k < PX_BANK_LABELS; k++) {
        const size_t term = g->labels[unit * PX_BANK_LABELS + k];
        if (term != SIZE_MAX && g->mentioned[caption * g->c->term_count + term])
            return 1.0;
    }
    return 0.0;
}

static double hit_named(const gate *g, size_t unit, size_t caption)
{
    const size_t term = g->c->first_class + g->classes[unit];
    return g->mentioned[caption * g->c->term_count + term] ? 1.0 : 0.0;
}

static double hit_cosine(const gate *g, size_t unit, size_t caption)
{
    const size_t classes = g->c->first_drawn - g->c->first_class;
    return g->cosine[caption * classes + g->classes[unit]];
}

static px_agreement gate_agreement(gate *g, gate_fn hit, uint32_t number)
{
    px_agreement a = {0.0, NAN, NAN};
    for (size_t i = 0; i < g->count; i++)
        a.value += hit(g, i, i) / (double)g->count;
    for (int p = 0; p < g->o->permutations; p++) {
        px_random r = px_rng(g->o->seed, PX_RNG_GATES, number, (uint32_t)p);
        px_rng_permutation(&r, g->order, (uint32_t)g->count);
        g->chance[p] = 0.0;
        for (size_t i = 0; i < g->count; i++)
            g->chance[p] += hit(g, i, (size_t)g->order[i]) / (double)g->count;
    }
    a.chance = px_mean(g->chance, (size_t)g->o->permutations);
    a.sd = px_standard_deviation(g->chance, (size_t)g->o->permutations);
    return a;
}

/* --- which units count ----------------------------------------------------------------------- */

static size_t attribute_term(const px_concepts *c, const char *words)
{
    for (size_t t = 0; t < c->first_position; t++)
        if (strcmp(c->terms[t].words, words) == 0)
            return t;
    return SIZE_MAX;
}

static void gate_done(gate *g)
{
    free(g->units);
    free(g->mentioned);
    free(g->order);
    free(g->chance);
    free(g->cosine);
    free(g->classes);
    free(g->labels);
}

static px_status gate_open(gate *g, px_error *err)
{
    const size_t most = px_bank_count(g->bank) + 1;
    g->units = pxi_calloc(most, sizeof *g->units);
    g->classes = pxi_calloc(most, sizeof *g->classes);
    g->labels = pxi_calloc(most, PX_BANK_LABELS * sizeof *g->labels);
    g->order = pxi_calloc(most, sizeof *g->order);
    g->chance = pxi_calloc((size_t)g->o->permutations, sizeof *g->chance);
    return g->units && g->classes && g->labels && g->order && g->chance
               ? PX_OK
               : pxi_no_memory_for(err, "the gates of %zu units", most - 1);
}

/* Described units with a label that these concepts know. */
static void gate_labelled(gate *g)
{
    for (size_t i = 0; i < px_bank_count(g->bank); i++) {
        const px_bank_unit *u = px_bank_get(g->bank, i);
        const char *label = px_bank_label_of(u);
        if (!px_bank_described(u) || !label || attribute_term(g->c, label) == SIZE_MAX)
            continue;
        for (size_t k = 0; k < PX_BANK_LABELS; k++)
            g->labels[g->count * PX_BANK_LABELS + k] =
                k < u->label_count ? attribute_term(g->c, u->labels[k].words) : SIZE_MAX;
        g->units[g->count++] = i;
    }
}

/* Described units whose exemplars share a class. */
static void gate_selective(gate *g)
{
    for (size_t i = 0; i < px_bank_count(g->bank); i++) {
        const px_bank_unit *u = px_bank_get(g->bank, i);
        const char *name = px_bank_class_of(u);
        const int c = px_bank_described(u) && name ? px_concepts_class(g->c, name) : -1;
        if (c < 0)
            continue;
        g->classes[g->count] = (size_t)c;
        g->units[g->count++] = i;
    }
}

static px_status gate_mentions(gate *g, px_error *err)
{
    g->mentioned = pxi_calloc(g->count + 1, g->c->term_count * sizeof *g->mentioned);
    if (!g->mentioned)
        return pxi_no_memory_for(err, "the captions of %zu units", g->count);
    for (size_t i = 0; i < g->count; i++)
        PX_TRY(px_concepts_mentions(g->c, px_bank_get(g->bank, g->units[i])->phrase,
                                    g->mentioned + i * g->c->term_count, err));
    return PX_OK;
}

/* Of every caption with every class that a unit has. */
static px_status gate_cosines(gate *g, px_error *err)
{
    const size_t classes = g->c->first_drawn - g->c->first_class;
    bool *wanted = pxi_calloc(classes + 1, sizeof *wanted);
    px_status status = PX_OK;
    g->cosine = pxi_calloc(g->count * classes, sizeof *g->cosine);
    if (!wanted || !g->cosine)
        status = pxi_no_memory_for(err, "the captions of %zu units", g->count);
    for (size_t i = 0; status == PX_OK && i < g->count; i++)
        wanted[g->classes[i]] = true;
    for (size_t i = 0; status == PX_OK && i < g->count; i++)
        for (size_t k = 0; status == PX_OK && k < classes; k++) {
            double *to = &g->cosine[i * classes + k];
            if (!wanted[k])
                continue;
            status = g->o->similarity(g->o->context, px_bank_get(g->bank, g->units[i])->phrase,
                                      g->c->terms[g->c->first_class + k].words, to, err);
            if (isnan(*to))
                *to = 0.0; /* a text that the encoder knows nothing of */
        }
    free(wanted);
    return status;
}

/* --- the gates ------------------------------------------------------------------------------- */

static px_status measure_labels(gate *g, px_gates *gates, px_error *err)
{
    PX_TRY(gate_open(g, err));
    gate_labelled(g);
    gates->labelled = (int64_t)g->count;
    if (g->count == 0)
        return PX_OK;
    PX_TRY(gate_mentions(g, err));
    gates->top1 = gate_agreement(g, hit_top1, 1);
    gates->top3 = gate_agreement(g, hit_top3, 1);
    return PX_OK;
}

static px_status measure_classes(gate *g, px_gates *gates, px_error *err)
{
    PX_TRY(gate_open(g, err));
    gate_selective(g);
    gates->selective = (int64_t)g->count;
    if (g->count == 0)
        return PX_OK;
    PX_TRY(gate_mentions(g, err));
    gates->named = gate_agreement(g, hit_named, 2);
    if (!g->o->similarity)
        return PX_OK;
    PX_TRY(gate_cosines(g, err));
    gates->cosine = gate_agreement(g, hit_cosine, 2);
    return PX_OK;
}

static px_status measure_variety(const px_bank *bank, px_gates *gates, px_error *err)
{
    const size_t units = px_bank_count(bank);
    const char **phrases = pxi_calloc(units + 1, sizeof *phrases);
    size_t described = 0, run = 0, longest = 0;
    if (!phrases)
        return pxi_no_memory_for(err, "the gates of %zu units", units);
    gates->units = (int64_t)units;
    gates->inactive = gates->distinct = 0;
    for (size_t i = 0; i < units; i++) {
        const px_bank_unit *u = px_bank_get(bank, i);
        gates->inactive += u->inactive;
        if (px_bank_described(u))
            phrases[described++] = u->phrase;
    }
    qsort(phrases, described, sizeof *phrases, pxi_order_text);
    for (size_t i = 0; i < described; i++) {
        run = i > 0 && strcmp(phrases[i], phrases[i - 1]) == 0 ? run + 1 : 1;
        longest = PX_MAX(longest, run);
        gates->distinct += run == 1;
    }
    gates->most_frequent = described ? (double)longest / (double)described : (double)NAN;
    free(phrases);
    return PX_OK;
}

px_status px_gates_measure(const px_bank *bank, const px_concepts *concepts,
                           const px_gates_options *options, px_gates *gates, px_error *err)
{
    const px_gates_options fallback = px_gates_options_default();
    const px_gates_options *o = options ? options : &fallback;
    if (o->permutations < 2 || o->permutations > PERMUTATIONS_MOST)
        return px_fail(err, PX_E_USAGE, "%d permutations are not possible: 2 to %d are",
                       o->permutations, PERMUTATIONS_MOST);
    px_gates g = px_gates_none();
    g.held_out = gates->held_out;
    g.unseen_pairs = gates->unseen_pairs;
    g.permutations = o->permutations;
    gate labels = {.bank = bank, .c = concepts, .o = o}, classes = labels;
    px_status status = measure_variety(bank, &g, err);
    PX_THEN(status, measure_labels(&labels, &g, err));
    PX_THEN(status, measure_classes(&classes, &g, err));
    gate_done(&labels);
    gate_done(&classes);
    if (status == PX_OK)
        *gates = g;
    return status;
}
