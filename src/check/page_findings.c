/* src/check/page_findings.c - failures on the page
 *
 * The page has those failures that were clustered: as many of every way of making them, over the
 * whole campaign. Where not all of them fit, clusters take turns, so that each keeps some.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include <internal/closeness.h>
#include <internal/field.h>
#include <internal/mutate.h>
#include <internal/store.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pxi_page_finding {
    int64_t id, cluster;
    const char *method;
    int64_t turn;
    px_closeness near;
} chosen;

static int chosen_compare(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Of one way and cluster, the closest first. */
static int chosen_by_closeness(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    const int nearer = px_closeness_compare(&x->near, &y->near);
    const int made = strcmp(x->method, y->method);
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    if (made || nearer)
        return made ? made : nearer;
    return (x->id > y->id) - (x->id < y->id);
}

/* Rows of "points" are method, id, cluster and more; those of the data have no id in the campaign.
 */
static px_status choose_clustered(const pxi_page *p, const px_json_value *points, chosen **out,
                                  size_t *count, px_error *err)
{
    PX_TRY(PX_NEW(*out, points->count + 1, err));
    for (size_t i = 0; i < points->count; i++) {
        const px_json_value *row = points->items[i].items;
        px_campaign_input in;
        if (points->items[i].count < 3 || row[0].kind != PX_JSON_STRING ||
            strcmp(row[0].string, "right") == 0 || strcmp(row[0].string, "data") == 0)
            continue;
        PX_TRY(px_campaign_read(p->campaign, pxi_json_whole(&row[1], 0), &in, NULL, err));
        (*out)[(*count)++] = (chosen){.id = in.id,
                                      .cluster = pxi_json_whole(&row[2], -1),
                                      .method = row[0].string,
                                      .near = in.near};
    }
    qsort(*out, *count, sizeof **out, chosen_by_closeness);
    for (size_t i = 1; i < *count; i++) {
        const chosen *before = &(*out)[i - 1];
        if ((*out)[i].cluster == before->cluster && strcmp((*out)[i].method, before->method) == 0)
            (*out)[i].turn = before->turn + 1;
    }
    qsort(*out, *count, sizeof **out, chosen_compare);
    return PX_OK;
}

static px_status choose_any(const pxi_page *p, chosen **out, size_t *count, px_error *err)
{
    int64_t *ids = NULL, damaged = 0;
    PX_TRY(px_campaign_list(p->campaign, PX_INPUT_FAULT, NULL, &ids, count, &damaged, err));
    const px_status status = PX_NEW(*out, *count + 1, err);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (chosen){.id = ids[i], .turn = (int64_t)i};
    free(ids);
    return status;
}

/* The first ones are those that are dropped last: the page opens with some of every kind. */
px_status pxi_page_findings_open(pxi_page *p, px_error *err)
{
    const px_json_value *points = pxi_json_list(p->c->result[PXI_STAGE_cluster], "points");
    if (!p->campaign)
        return PX_OK;
    PX_TRY(points && !p->c->o.full ? choose_clustered(p, points, &p->chosen, &p->chosen_count, err)
                                   : choose_any(p, &p->chosen, &p->chosen_count, err));
    p->chosen_count = PX_MIN(p->chosen_count, (size_t)p->findings);
    return PX_OK;
}

/* --- one finding ----------------------------------------------------------------------------- */

typedef struct finding_row {
    px_campaign_input in, seed; /* classes that are not known are -1 */
    const char *method, *chain, *mutation;
    int64_t band;
    const char *original_sound, *failing_sound;
    pxi_page_sound sound;
    pxi_page_tile original, failing;
} finding_row;

/* Of mutations, the last one and its strength count in the failure modes. */
static void finding_chain(finding_row *r)
{
    px_json_document *document = NULL;
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false;
    const char *chain = r->in.chain;
    r->chain = r->mutation = NULL;
    if (chain && px_json_parse(chain, strlen(chain), &document, NULL) == PX_OK)
        r->chain = chain;
    px_json_free(document);
    if (px_chain_parse(chain, &links, &count, &replayable, NULL) == PX_OK && count > 0) {
        r->mutation = links[count - 1].mutation->entry.id;
        r->band = px_drawn_band(&links[count - 1]);
    }
    free(links);
}

static px_status finding_read(pxi_page *p, finding_row *r, int64_t id, px_error *err)
{
    PX_TRY(px_campaign_read(p->campaign, id, &r->in, NULL, err));
    const int64_t root = r->in.root;
    PX_TRY(px_campaign_read(p->campaign, root, &r->seed, NULL, err));
    PX_TRY(pxi_page_stored(p, root, &r->original, err));
    PX_TRY(pxi_page_stored(p, id, &r->failing, err));
    PX_TRY(px_campaign_read(p->campaign, id, &r->in, NULL, err)); /* its texts are the last one's */
    r->in.label = pxi_page_class(p, r->in.label);
    r->in.prediction = pxi_page_class(p, r->in.prediction);
    r->seed.prediction = pxi_page_class(p, r->seed.prediction);
    r->method = pxi_finding_method(r->in.chain);
    finding_chain(r);
    PX_TRY(pxi_page_audio(p, &r->in, &r->sound, err));
    r->original_sound = px_text_get(&r->sound.original);
    r->failing_sound = px_text_get(&r->sound.failing);
    return PX_OK;
}

static const void *finding_item(const void *page, size_t i, void *row)
{
    const pxi_page *p = page;
    finding_row *r = row;
    if (i == 0)
        r->sound = (pxi_page_sound){.is = false};
    px_text_done(&r->sound.original);
    px_text_done(&r->sound.failing);
    r->sound.is = false;
    if (i < p->chosen_count &&
        !pxi_page_failed(p, finding_read(p->self, r, p->chosen[i].id, p->err)))
        return r;
    px_text_done(&r->sound.original);
    px_text_done(&r->sound.failing);
    return NULL;
}

/* Left out where it is not finite. */
static px_datum rounded(const void *at, char *text)
{
    const double value = *(const double *)at;
    (void)text;
    return px_datum_real(isfinite(value) ? round(value * 1e5) / 1e5 : (double)NAN);
}

static px_datum name_or_none(const void *at, char *text)
{
    const char *name = *(const char *const *)at;
    (void)text;
    return px_datum_text(*name ? name : NULL);
}

static px_datum is_close(const void *at, char *text)
{
    (void)text;
    return px_datum_bool(px_is_close(at));
}

#define ROUNDED(member, key, help) \
    PX_MADE_OF(REAL, rounded, finding_row, member, key, help, .optional = true)

static const px_field sound_fields[] = {
    PX_FIELD(finding_row, original_sound, "original", "before"),
    PX_FIELD(finding_row, failing_sound, "failing", "as it is"),
    PX_FIELDS_END,
};

static const px_field before_fields[] = {
    PX_INDEX(finding_row, seed.prediction, "prediction", "the network's answer to the original"),
    ROUNDED(seed.confidence, "confidence", "its probability"),
    PX_FIELDS_END,
};

static const px_field finding_fields[] = {
    PX_FIELD(finding_row, in.id, "id", "in the campaign"),
    PX_FIELD(finding_row, method, "method", "synthesize, attack, fuzz"),
    PX_INDEX(finding_row, in.label, "label", "of what it was made from"),
    PX_INDEX(finding_row, in.prediction, "prediction", "the network's answer"),
    ROUNDED(in.confidence, "confidence", "its probability"),
    PX_FIELD(finding_row, in.data_index, "index", "of what it was made from, in the data"),
    PX_MADE_OF(TEXT, name_or_none, finding_row, in.name, "name", "of what it was made from"),
    ROUNDED(in.near.similarity, "similarity", "to its original"),
    ROUNDED(in.near.inside, "inside", "share of the object left in the frame"),
    PX_MADE_OF(BOOL, is_close, finding_row, in.near, "close", "it is close to its original"),
    PX_FIELD(finding_row, in.l0, "l0", "values that differ"),
    ROUNDED(in.l2, "l2", "length of the difference"),
    ROUNDED(in.linf, "linf", "largest difference"),
    /* A list of mutations with their settings, or an object of an attack's or an engine's. */
    PX_READY(finding_row, chain, "chain", "how it was made, as the campaign has it",
             PX_IF(finding_row, chain)),
    PX_FIELD(finding_row, mutation, "mutation", "the last one", .optional = true),
    PX_FIELD(finding_row, band, "band", "of its strength", PX_IF(finding_row, mutation)),
    PX_OBJECT_OF(sound_fields, "audio", "to be heard", PX_IF(finding_row, sound.is)),
    PX_OBJECT_OF(before_fields, "before", "the original"),
    PXI_PAGE_TILE(finding_row, original, "original", "its tile"),
    PXI_PAGE_TILE(finding_row, failing, "failing", "its tile"),
    PX_FIELDS_END,
};

const px_field pxi_page_failure_fields[] = {
    PX_FIELD(pxi_page, faults, "total", "found, not only those that are shown"),
    PX_LIST_MADE(finding_item, finding_fields, "items", "some of every kind first"),
    PX_FIELDS_END,
};
