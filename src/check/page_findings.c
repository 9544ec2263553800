/* src/check/page_findings.c - failures on the page
 *
 * The page has those failures that were clustered: as many of every way of making them, over the
 * whole campaign. Where not all of them fit, clusters take turns, so that each keeps some.
 */
#include "check/page_inside.h"

#include "base/json_most.h"

#include <internal/closeness.h>
#include <internal/mutate.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/modes.h>
#include <stdlib.h>
#include <string.h>

typedef struct chosen {
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
static px_status choose(const pxi_page *p, chosen **out, size_t *count, px_error *err)
{
    const px_json_value *points = pxi_json_list(p->c->result[PXI_STAGE_cluster], "points");
    PX_TRY(points && !p->c->o.full ? choose_clustered(p, points, out, count, err)
                                   : choose_any(p, out, count, err));
    *count = PX_MIN(*count, (size_t)p->findings);
    return PX_OK;
}

/* --- one finding ----------------------------------------------------------------------------- */

/* How it was made, as the campaign has it: a list of mutations with their settings, or an object
 * of an attack's or an engine's. Of mutations, the last one and its strength count in the failure
 * modes. */
static void chain_json(pxi_page *p, const char *chain)
{
    px_json_document *document = NULL;
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false;
    if (chain && px_json_parse(chain, strlen(chain), &document, NULL) == PX_OK)
        pxi_json_verbatim(&p->json, "chain", chain);
    px_json_free(document);
    if (px_chain_parse(chain, &links, &count, &replayable, NULL) == PX_OK && count > 0) {
        px_json_string(&p->json, "mutation", links[count - 1].mutation->entry.id);
        px_json_int(&p->json, "band", px_drawn_band(&links[count - 1]));
    }
    free(links);
}

static void distance(pxi_page *p, const char *key, double value)
{
    if (isfinite(value))
        px_json_real(&p->json, key, round(value * 1e5) / 1e5);
}

static px_status finding(pxi_page *p, int64_t id, px_error *err)
{
    px_campaign_input in, seed;
    PX_TRY(px_campaign_read(p->campaign, id, &in, NULL, err));
    px_json_object(&p->json, NULL);
    px_json_int(&p->json, "id", in.id);
    px_json_string(&p->json, "method", pxi_finding_method(in.chain));
    pxi_page_class(p, "label", in.label);
    pxi_page_class(p, "prediction", in.prediction);
    distance(p, "confidence", in.confidence);
    px_json_int(&p->json, "index", in.data_index);
    px_json_string(&p->json, "name", *in.name ? in.name : NULL);
    distance(p, "similarity", in.near.similarity);
    distance(p, "inside", in.near.inside);
    px_json_bool(&p->json, "close", px_is_close(&in.near));
    px_json_int(&p->json, "l0", in.l0);
    distance(p, "l2", in.l2);
    distance(p, "linf", in.linf);
    chain_json(p, in.chain);
    PX_TRY(pxi_page_audio(p, &in, err));
    const int64_t root = in.root;
    PX_TRY(px_campaign_read(p->campaign, root, &seed, NULL, err));
    px_json_object(&p->json, "before");
    pxi_page_class(p, "prediction", seed.prediction);
    distance(p, "confidence", seed.confidence);
    px_json_end(&p->json);
    PX_TRY(pxi_page_stored(p, "original", root, err));
    PX_TRY(pxi_page_stored(p, "failing", id, err));
    px_json_end(&p->json);
    return PX_OK;
}

px_status pxi_page_findings(pxi_page *p, px_error *err)
{
    chosen *list = NULL;
    size_t count = 0;
    if (!p->campaign)
        return PX_OK;
    px_status status = choose(p, &list, &count, err);
    px_json_object(&p->json, "failures");
    px_json_int(&p->json, "total", p->faults);
    px_json_array(&p->json, "items");
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = finding(p, list[i].id, err);
    px_json_end(&p->json);
    px_json_end(&p->json);
    free(list);
    return status;
}
