/* src/check/page_findings.c - failures and their kinds on the page
 *
 * The page has those failures that were clustered: as many of every way of making them, over the
 * whole campaign. Where not all of them fit, clusters take turns, so that each keeps some.
 */
#include "check/page_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS_MOST = 64 };

typedef struct chosen {
    int64_t id;
    int cluster; /* -1: unknown */
    int way;     /* of making it */
    int64_t turn;
    px_closeness near;
} chosen;

static const px_json_value *cluster_points(const px_check *c)
{
    const px_json_value *points = pxi_json_path(c->result[PXI_STAGE_cluster], "points");
    return points && points->kind == PX_JSON_ARRAY ? points : NULL;
}

/* One row of "points": method, id, cluster, ...; false: it is no finding. */
static bool point_read(const px_json_value *row, const char **method, int64_t *id, int *cluster)
{
    if (row->kind != PX_JSON_ARRAY || row->count != 7 || row->items[0].kind != PX_JSON_STRING)
        return false;
    *method = row->items[0].string;
    const int64_t k = pxi_json_whole(&row->items[2], -1);
    *id = pxi_json_whole(&row->items[1], 0);
    *cluster = k >= 0 && k < CLUSTERS_MOST ? (int)k : -1;
    return strcmp(*method, "right") != 0 && strcmp(*method, "data") != 0;
}

static int chosen_compare(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->cluster != y->cluster ? x->cluster - y->cluster : (x->id > y->id) - (x->id < y->id);
}

/* Of one way and cluster, the closest first. */
static int chosen_by_closeness(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    const int nearer = px_closeness_compare(&x->near, &y->near);
    if (x->cluster != y->cluster)
        return x->cluster - y->cluster;
    if (x->way != y->way)
        return x->way - y->way;
    if (nearer)
        return nearer;
    return (x->id > y->id) - (x->id < y->id);
}

static int chosen_by_id(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int chosen_by_turn(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static px_status choose_clustered(const pxi_page *p, chosen **out, size_t *count, px_error *err)
{
    static const char *const ways[] = {"synthesize", "attack", "fuzz"};
    const px_json_value *points = cluster_points(p->c);
    *out = pxi_calloc(points->count + 1, sizeof **out);
    if (!*out)
        return pxi_check_nomem(err);
    for (size_t i = 0; i < points->count; i++) {
        const char *method;
        int64_t id;
        int cluster;
        if (!point_read(&points->items[i], &method, &id, &cluster) || cluster < 0)
            continue;
        for (size_t w = 0; w < PX_LEN(ways); w++)
            if (strcmp(method, ways[w]) == 0) {
                px_campaign_input in;
                PX_TRY(px_campaign_read(p->campaign, id, &in, NULL, err));
                (*out)[(*count)++] =
                    (chosen){.id = id, .cluster = cluster, .way = (int)w, .near = in.near};
            }
    }
    qsort(*out, *count, sizeof **out, chosen_by_closeness);
    for (size_t i = 1; i < *count; i++) {
        const chosen *before = &(*out)[i - 1];
        if ((*out)[i].cluster == before->cluster && (*out)[i].way == before->way)
            (*out)[i].turn = before->turn + 1;
    }
    qsort(*out, *count, sizeof **out, chosen_compare);
    return PX_OK;
}

static px_status choose_any(const pxi_page *p, chosen **out, size_t *count, px_error *err)
{
    int64_t *ids = NULL, damaged = 0;
    PX_TRY(px_campaign_list(p->campaign, PX_INPUT_FAULT, NULL, &ids, count, &damaged, err));
    *out = pxi_calloc(*count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (chosen){.id = ids[i], .cluster = -1, .turn = (int64_t)i};
    free(ids);
    return *out ? PX_OK : pxi_check_nomem(err);
}

/* The first ones are those that are dropped last: the page opens with some of every kind. */
static px_status choose(const pxi_page *p, chosen **out, size_t *count, px_error *err)
{
    const bool clustered = cluster_points(p->c) && !p->c->o.full;
    PX_TRY(clustered ? choose_clustered(p, out, count, err) : choose_any(p, out, count, err));
    *count = PX_MIN(*count, (size_t)p->findings);
    if (!clustered && cluster_points(p->c)) { /* all of them, and some are clustered */
        const px_json_value *points = cluster_points(p->c);
        qsort(*out, *count, sizeof **out, chosen_by_id);
        for (size_t i = 0; i < points->count; i++) {
            const char *method;
            chosen key = {.id = 0};
            if (!point_read(&points->items[i], &method, &key.id, &key.cluster))
                continue;
            chosen *found = bsearch(&key, *out, *count, sizeof **out, chosen_by_id);
            if (found)
                found->cluster = key.cluster;
        }
        qsort(*out, *count, sizeof **out, chosen_by_turn);
    }
    return PX_OK;
}

/* --- one finding --------------------------------------------------------------------------------
 */

/* The links of a chain: "rotation angle=-17.25" is a step with settings. */
static void lineage_links(pxi_page *p, const px_json_value *links)
{
    for (size_t i = 0; i < links->count; i++) {
        const char *text = links->items[i].kind == PX_JSON_STRING ? links->items[i].string : "?";
        char name[64];
        const size_t length = strcspn(text, " ");
        snprintf(name, sizeof name, "%.*s", (int)PX_MIN(length, sizeof name - 1), text);
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "what", name);
        if (text[length])
            px_json_string(&p->json, "settings", text + length + 1);
        px_json_end(&p->json);
    }
}

/* {"method": "pgd", "eps": ...}: one step with all the rest as its settings. */
static void lineage_engine(pxi_page *p, const px_json_value *chain)
{
    px_text settings = {0};
    const char *what = pxi_json_words(chain, "method");
    if (!what)
        what = pxi_json_words(chain, "engine");
    for (size_t i = 0; i < chain->count; i++) {
        const px_json_value *value = &chain->items[i];
        char number[PX_REAL_TEXT];
        if (strcmp(chain->keys[i], "method") == 0 || strcmp(chain->keys[i], "engine") == 0)
            continue;
        px_text_format(&settings, "%s%s=", settings.length ? " " : "", chain->keys[i]);
        if (value->kind == PX_JSON_NUMBER)
            snprintf(number, sizeof number, "%.6g", value->number);
        px_text_add(&settings, value->kind == PX_JSON_NUMBER   ? number
                               : value->kind == PX_JSON_STRING ? value->string
                                                               : "?");
    }
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "what", what ? what : "?");
    px_json_string(&p->json, "settings", px_text_get(&settings));
    px_json_end(&p->json);
    px_text_done(&settings);
}

static void lineage(pxi_page *p, const px_campaign_input *in)
{
    px_json_document *document = NULL;
    const char *chain = in->chain ? in->chain : "";
    px_json_array(&p->json, "lineage");
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "what", "seed");
    px_json_int(&p->json, "id", in->root);
    px_json_end(&p->json);
    if (px_json_parse(chain, strlen(chain), &document, NULL) == PX_OK) {
        const px_json_value *root = px_json_root(document);
        if (root->kind == PX_JSON_ARRAY)
            lineage_links(p, root);
        else if (root->kind == PX_JSON_OBJECT)
            lineage_engine(p, root);
    }
    px_json_end(&p->json);
    px_json_free(document);
}

static void distance(pxi_page *p, const char *key, double value)
{
    if (isfinite(value))
        px_json_real(&p->json, key, round(value * 1e5) / 1e5);
}

static px_status finding(pxi_page *p, const chosen *which, px_error *err)
{
    px_campaign_input in, seed;
    px_text command = {0};
    PX_TRY(px_campaign_read(p->campaign, which->id, &in, NULL, err));
    px_json_object(&p->json, NULL);
    px_json_int(&p->json, "id", in.id);
    px_json_string(&p->json, "method", pxi_finding_method(in.chain));
    pxi_page_class(p, "label", in.label);
    pxi_page_class(p, "prediction", in.prediction);
    distance(p, "confidence", in.confidence);
    px_json_int(&p->json, "index", in.data_index);
    if (*in.name)
        px_json_string(&p->json, "name", in.name);
    distance(p, "similarity", in.near.similarity);
    distance(p, "inside", in.near.inside);
    px_json_bool(&p->json, "close", px_is_close(&in.near));
    PX_TRY(pxi_modes_note(p, &in, err));
    if (which->cluster >= 0)
        px_json_int(&p->json, "cluster", which->cluster);
    if (in.l0 > 0)
        px_json_int(&p->json, "l0", in.l0);
    distance(p, "l2", in.l2);
    distance(p, "linf", in.linf);
    lineage(p, &in);
    PX_TRY(pxi_page_audio(p, &in, err));
    px_text_format(&command, "plexor replay %s/campaign %" PRId64, pxi_shown_path(p->c->folder),
                   in.id);
    px_json_string(&p->json, "command", px_text_get(&command));
    px_text_done(&command);
    const int64_t root = in.root;
    PX_TRY(px_campaign_read(p->campaign, root, &seed, NULL, err));
    px_json_object(&p->json, "before");
    pxi_page_class(p, "prediction", seed.prediction);
    distance(p, "confidence", seed.confidence);
    px_json_end(&p->json);
    PX_TRY(pxi_page_stored(p, "original", root, err));
    PX_TRY(pxi_page_stored(p, "failing", which->id, err));
    px_json_end(&p->json);
    return PX_OK;
}

/* --- ways of making them ------------------------------------------------------------------------
 */

static void methods(pxi_page *p)
{
    static const struct {
        int stage;
        const char *tried, *found;
    } all[] = {
        {PXI_STAGE_synthesize, "count", "faults"},
        {PXI_STAGE_attack, "count", "faults"},
        {PXI_STAGE_fuzz, "executions", "unique_faults"},
    };
    px_json_array(&p->json, "methods");
    for (size_t i = 0; i < PX_LEN(all); i++) {
        const px_json_value *r = p->c->result[all[i].stage];
        px_text settings = {0};
        char eps[PXI_FRACTION_TEXT];
        if (!r)
            continue;
        if (all[i].stage == PXI_STAGE_synthesize)
            px_text_format(&settings, "measure=%s k=%" PRId64 " step=%g distance=%g, %s",
                           pxi_json_words(r, "measure"), pxi_json_int(r, "k", 0),
                           pxi_json_number(r, "step"), pxi_json_number(r, "distance"),
                           pxi_json_words(r, "definition"));
        else if (all[i].stage == PXI_STAGE_attack)
            px_text_format(&settings, "method=%s norm=%s eps=%s steps=%" PRId64,
                           pxi_json_words(r, "method"), pxi_json_words(r, "norm"),
                           pxi_fraction_text(pxi_json_number(r, "eps"), eps),
                           pxi_json_int(r, "steps", 0));
        else
            px_text_format(&settings, "policy=%s guide=%s turns=%" PRId64 ", %s",
                           pxi_json_words(r, "policy"), pxi_json_words(r, "guide"),
                           pxi_json_int(r, "turns", 0), pxi_json_words(r, "definition"));
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "id", pxi_stages[all[i].stage]->public.id);
        px_json_string(&p->json, "title", pxi_stages[all[i].stage]->public.title);
        px_json_string(&p->json, "help", pxi_stages[all[i].stage]->public.help);
        px_json_real(&p->json, "tried", pxi_json_number(r, all[i].tried));
        px_json_real(&p->json, "found", pxi_json_number(r, all[i].found));
        px_json_real(&p->json, "seconds", p->c->seconds[all[i].stage]);
        px_json_string(&p->json, "settings", px_text_get(&settings));
        px_json_end(&p->json);
        px_text_done(&settings);
    }
    px_json_end(&p->json);
}

px_status pxi_page_findings(pxi_page *p, px_error *err)
{
    chosen *list = NULL;
    size_t count = 0;
    if (!p->campaign)
        return PX_OK;
    px_status status = choose(p, &list, &count, err);
    px_json_object(&p->json, "findings");
    px_json_int(&p->json, "total", p->faults);
    px_json_int(&p->json, "close", pxi_json_int(p->c->result[PXI_STAGE_assess], "close_faults", 0));
    px_json_int(&p->json, "rejected", pxi_json_int(p->c->result[PXI_STAGE_assess], "rejected", 0));
    methods(p);
    px_json_array(&p->json, "items");
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = finding(p, &list[i], err);
    px_json_end(&p->json);
    if (px_dataset_audio(p->c->set)) {
        px_text note = {0};
        px_text_format(&note,
                       "%" PRId64 " of %zu failures can be heard. Pictures are spectrograms: time "
                       "to the right, pitch upwards. What attacks and synthesis change are the "
                       "features themselves: of those there is no recording.",
                       p->audio_count, count);
        px_json_array(&p->json, "notes");
        px_json_string(&p->json, NULL, px_text_get(&note));
        px_json_end(&p->json);
        px_text_done(&note);
    }
    if (p->faults > (int64_t)count) {
        px_text command = {0};
        px_text_format(&command, "plexor export %s/campaign -o failures",
                       pxi_shown_path(p->c->folder));
        px_json_object(&p->json, "more");
        px_json_int(&p->json, "count", p->faults - (int64_t)count);
        px_json_string(&p->json, "command", px_text_get(&command));
        px_json_end(&p->json);
        px_text_done(&command);
    }
    px_json_end(&p->json);
    free(list);
    return status;
}

/* --- kinds of failures --------------------------------------------------------------------------
 */

static void cluster_parts(pxi_page *p, const px_json_value *from, const char *key)
{
    static const char *const keys[] = {"label", "prediction", "text", "count", "share"};
    const px_json_value *list = pxi_json_path(from, key);
    px_json_array(&p->json, key);
    for (size_t i = 0; list && list->kind == PX_JSON_ARRAY && i < list->count; i++) {
        px_json_object(&p->json, NULL);
        pxi_page_copy(p, &list->items[i], keys, PX_LEN(keys));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

static void cluster(pxi_page *p, const px_json_value *from)
{
    static const char *const keys[] = {"title"};
    const char *method = pxi_json_words(from, "medoid_method");
    px_json_object(&p->json, NULL);
    px_json_int(&p->json, "id", pxi_json_int(from, "id", 0));
    px_json_int(&p->json, "count", pxi_json_int(from, "count", 0));
    pxi_page_class(p, "label", pxi_json_int(from, "label", -1));
    pxi_page_class(p, "prediction", pxi_json_int(from, "prediction", -1));
    px_json_real(&p->json, "share", pxi_json_number(from, "share"));
    pxi_page_copy(p, from, keys, PX_LEN(keys));
    cluster_parts(p, from, "kinds");
    cluster_parts(p, from, "made");
    if (method && strcmp(method, "data") != 0)
        px_json_int(&p->json, "medoid", pxi_json_int(from, "medoid", 0));
    px_json_end(&p->json);
}

static void cluster_map(pxi_page *p)
{
    const px_json_value *points = cluster_points(p->c);
    px_json_object(&p->json, "map");
    px_json_string(&p->json, "method", "t-SNE");
    px_json_array(&p->json, "points");
    for (size_t i = 0; points && i < points->count; i++) {
        const px_json_value *row = &points->items[i];
        const char *method;
        int64_t id;
        int k;
        const bool found = point_read(row, &method, &id, &k);
        if (row->kind != PX_JSON_ARRAY || row->count != 7 ||
            pxi_json_whole(&row->items[2], -1) < 0 || row->items[5].kind != PX_JSON_NUMBER ||
            row->items[6].kind != PX_JSON_NUMBER)
            continue;
        px_json_array(&p->json, NULL);
        px_json_real(&p->json, NULL, row->items[5].number);
        px_json_real(&p->json, NULL, row->items[6].number);
        px_json_real(&p->json, NULL, row->items[2].number);
        if (found)
            px_json_int(&p->json, NULL, id);
        else
            px_json_null(&p->json, NULL);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    px_json_end(&p->json);
}

void pxi_page_clusters(pxi_page *p)
{
    const px_json_value *result = p->c->result[PXI_STAGE_cluster];
    const px_json_value *list = pxi_json_path(result, "clusters");
    px_text words = {0};
    if (!list || list->kind != PX_JSON_ARRAY)
        return;
    px_json_object(&p->json, "clusters");
    px_text_format(&words, "k-means (k %" PRId64 ", silhouette %.2f) of %s",
                   pxi_json_int(result, "k", 1), pxi_json_number(result, "silhouette"),
                   pxi_json_words(result, "definition"));
    px_json_string(&p->json, "method", px_text_get(&words));
    const px_json_value *weak = pxi_json_path(result, "weak");
    px_json_bool(&p->json, "weak", weak && weak->kind == PX_JSON_BOOL && weak->boolean);
    px_json_array(&p->json, "items");
    for (size_t i = 0; i < list->count; i++)
        cluster(p, &list->items[i]);
    px_json_end(&p->json);
    cluster_map(p);
    px_text_clear(&words);
    px_text_format(&words,
                   "%" PRId64 " failures were clustered: inputs of the data that are wrong, and "
                   "generated ones, at most 200 of each way of making them. Points without a "
                   "picture are of the data.",
                   pxi_json_int(result, "failures", 0));
    px_json_array(&p->json, "notes");
    px_json_string(&p->json, NULL, px_text_get(&words));
    if (weak && weak->kind == PX_JSON_BOOL && weak->boolean)
        px_json_string(&p->json, NULL,
                       "The grouping is weak: failures of one cluster are hardly more alike than "
                       "those of two.");
    px_json_end(&p->json);
    px_json_end(&p->json);
    px_text_done(&words);
}
