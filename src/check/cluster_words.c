/* src/check/cluster_words.c - what the members of a cluster of failures have in common, in words
 *
 * A cluster is named by its largest kinds of failures, as many as it takes for half of the members
 * but at most three, each with its share; and by how they were made, where that is what most share.
 */
#include "check/cluster_words.h"

#include <plexor/mutate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3, MADE_TEXT = PX_BAND_TEXT };

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
static const char *made_text(const pxi_member *m, bool band, char text[MADE_TEXT])
{
    if (strcmp(m->method, "data") == 0)
        return "inputs of the data";
    if (strcmp(m->method, "attack") == 0)
        return "attacked";
    if (strcmp(m->method, "synthesize") == 0)
        return "synthesized";
    return m->mutation ? px_band_text(m->mutation, band ? m->band : -1, text) : "fuzzed";
}

static void json_kinds(const px_check *c, const pxi_member *members, size_t count,
                       const tally *kinds, size_t kind_count, px_text *title, px_json *out)
{
    double covered = 0.0;
    px_json_array(out, "kinds");
    for (size_t i = 0; i < kind_count && i < SHOWN; i++) {
        const pxi_member *m = &members[kinds[i].member];
        px_json_object(out, NULL);
        px_json_int(out, "label", m->label);
        px_json_int(out, "prediction", m->prediction);
        px_json_int(out, "count", (int64_t)kinds[i].count);
        px_json_real(out, "share", share(&kinds[i], count));
        px_json_end(out);
        if (covered < 0.5)
            px_text_format(title, "%s%s as %s %.0f%%", i ? ", " : "", class_name(c, m->label),
                           class_name(c, m->prediction), 100.0 * share(&kinds[i], count));
        covered += share(&kinds[i], count);
    }
    px_json_end(out);
}

static void json_made(const pxi_member *members, size_t count, tally *scratch, px_text *title,
                      px_json *out)
{
    char text[MADE_TEXT];
    tally mutations[SHOWN], largest = {0};
    const size_t bands = tally_by(members, count, same_band, scratch);
    if (bands)
        largest = scratch[0];
    const size_t used = PX_MIN(tally_by(members, count, same_mutation, scratch), (size_t)SHOWN);
    memcpy(mutations, scratch, used * sizeof *mutations);
    px_json_array(out, "made");
    for (size_t i = 0; i < used; i++) {
        const pxi_member *m = &members[mutations[i].member];
        const bool one_band =
            same_mutation(m, &members[largest.member]) && 2 * largest.count > mutations[i].count;
        const tally *shown = one_band ? &largest : &mutations[i];
        const char *words = made_text(&members[shown->member], one_band, text);
        px_json_object(out, NULL);
        px_json_string(out, "text", words);
        px_json_int(out, "count", (int64_t)shown->count);
        px_json_real(out, "share", share(shown, count));
        px_json_end(out);
        if (i == 0 && share(shown, count) >= 0.3)
            px_text_format(title, "; %s: %.0f%%", words, 100.0 * share(shown, count));
    }
    px_json_end(out);
}

px_status pxi_cluster_words(const px_check *c, const pxi_member *members, size_t count,
                            px_json *out, px_error *err)
{
    px_text title = {0};
    tally *scratch = pxi_calloc(count + 1, sizeof *scratch);
    if (!scratch)
        return pxi_check_nomem(err);
    const size_t kinds = tally_by(members, count, same_kind, scratch);
    json_kinds(c, members, count, scratch, kinds, &title, out);
    json_made(members, count, scratch, &title, out);
    px_json_string(out, "title", px_text_get(&title));
    free(scratch);
    px_text_done(&title);
    return PX_OK;
}
