/* src/check/cluster_words.c - what the members of a cluster of failures have in common, in words
 *
 * A cluster is named by its largest kinds of failures, as many as it takes for half of the members
 * but at most three, each with its share; and by how they were made, where that is what most share.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/cluster_words.h"

#include <internal/mutate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    size_t member; /* the first of them */
    size_t count;
} tally;

static bool same_kind(const pxi_member *a, const pxi_member *b)
{
    return a->label == b->label && a->prediction == b->prediction;
}

static bool same_mutation(const pxi_member *a, const pxi_member *b)
{
    return strcmp(a->method, b->method) == 0 && a->mutation == b->mutation;
}

static bool same_band(const pxi_member *a, const pxi_member *b)
{
    return same_mutation(a, b) && a->band == b->band;
}

static int tally_compare(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

/* How many there are of each sort, the largest first; `out` has room for `count`. */
static size_t tally_by(const pxi_member *members, size_t count,
                       bool (*same)(const pxi_member *a, const pxi_member *b), tally *out)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < used && !same(&members[out[at].member], &members[i]))
            at++;
        if (at == used)
            out[used++] = (tally){.member = i};
        out[at].count++;
    }
    qsort(out, used, sizeof *out, tally_compare);
    return used;
}

static const char *class_name(const px_check *c, int64_t label)
{
    return label >= 0 && label < c->scores.classes ? c->names[label] : "?";
}

static double share(const tally *t, size_t count)
{
    return (double)t->count / (double)count;
}

/* Where one band has most of a mutation's members, that band; else the mutation. */
static const char *made_text(const pxi_member *m, bool band, char text[PX_BAND_TEXT])
{
    if (strcmp(m->method, "data") == 0)
        return "inputs of the data";
    if (strcmp(m->method, "attack") == 0)
        return "attacked";
    if (strcmp(m->method, "synthesize") == 0)
        return "synthesized";
    return m->mutation ? px_band_text(m->mutation, band ? m->band : -1, text) : "fuzzed";
}

static void find_kinds(const px_check *c, const pxi_member *members, size_t count,
                       const tally *kinds, size_t kind_count, px_text *title,
                       pxi_cluster_words *out)
{
    double covered = 0.0;
    for (size_t i = 0; i < kind_count && i < PXI_WORDS_SHOWN; i++) {
        const pxi_member *m = &members[kinds[i].member];
        pxi_cluster_part *part = &out->kinds[out->kind_count++];
        part->label = m->label;
        part->prediction = m->prediction;
        part->count = (int64_t)kinds[i].count;
        part->share = share(&kinds[i], count);
        if (covered < 0.5)
            px_text_format(title, "%s%s as %s %.0f%%", i ? ", " : "", class_name(c, m->label),
                           class_name(c, m->prediction), 100.0 * part->share);
        covered += part->share;
    }
}

static void find_made(const pxi_member *members, size_t count, tally *scratch, px_text *title,
                      pxi_cluster_words *out)
{
    char text[PX_BAND_TEXT];
    tally largest = {0};
    const size_t bands = tally_by(members, count, same_band, scratch);
    if (bands)
        largest = scratch[0];
    const size_t used = tally_by(members, count, same_mutation, scratch);
    for (size_t i = 0; i < used && i < PXI_WORDS_SHOWN; i++) {
        const pxi_member *m = &members[scratch[i].member];
        const bool one_band =
            same_mutation(m, &members[largest.member]) && 2 * largest.count > scratch[i].count;
        const tally *shown = one_band ? &largest : &scratch[i];
        pxi_cluster_part *part = &out->made[out->made_count++];
        snprintf(part->text, sizeof part->text, "%s",
                 made_text(&members[shown->member], one_band, text));
        part->count = (int64_t)shown->count;
        part->share = share(shown, count);
        if (i == 0 && part->share >= 0.3)
            px_text_format(title, "; %s: %.0f%%", part->text, 100.0 * part->share);
    }
}

px_status pxi_cluster_words_find(const px_check *c, const pxi_member *members, size_t count,
                                 pxi_cluster_words *out, px_error *err)
{
    px_text title = {0};
    tally *scratch = NULL;
    *out = (pxi_cluster_words){.title = NULL};
    PX_TRY(PX_NEW(scratch, count + 1, err));
    const size_t kinds = tally_by(members, count, same_kind, scratch);
    find_kinds(c, members, count, scratch, kinds, &title, out);
    find_made(members, count, scratch, &title, out);
    free(scratch);
    px_text_add(&title, "");
    out->title = px_text_take(&title);
    return out->title ? PX_OK : pxi_no_memory(err);
}

/* --- as JSON --------------------------------------------------------------------------------- */

static const void *words_kind(const void *at, size_t i, void *row)
{
    const pxi_cluster_words *words = at;
    (void)row;
    return i < words->kind_count ? &words->kinds[i] : NULL;
}

static const void *words_made(const void *at, size_t i, void *row)
{
    const pxi_cluster_words *words = at;
    (void)row;
    return i < words->made_count ? &words->made[i] : NULL;
}

static const px_field kind_fields[] = {
    PX_FIELD(pxi_cluster_part, label, "label", "the true class"),
    PX_FIELD(pxi_cluster_part, prediction, "prediction", "the network's answer"),
    PX_FIELD(pxi_cluster_part, count, "count", "failures of the cluster that have both"),
    PX_FIELD(pxi_cluster_part, share, "share", "of the cluster", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field made_fields[] = {
    PX_CHARS(pxi_cluster_part, text, "text", "how they were made"),
    PX_FIELD(pxi_cluster_part, count, "count", "failures of the cluster that were"),
    PX_FIELD(pxi_cluster_part, share, "share", "of the cluster", .unit = PX_SHARE),
    PX_FIELDS_END,
};

const px_field pxi_cluster_words_fields[] = {
    PX_LIST_MADE(words_kind, kind_fields, "kinds", "the largest kinds of failures in it"),
    PX_LIST_MADE(words_made, made_fields, "made", "the ways in which most were made"),
    PX_FIELD(pxi_cluster_words, title, "title", "what most of them share"),
    PX_FIELDS_END,
};
