/* src/check/findings.c - campaigns of what was found
 *
 * Each stage that makes inputs has a campaign of its own, which is begun anew (fuzz: gone on with)
 * when the stage is. The faults of all of them are copied into one, with their roots, so that
 * replay, export and assess have one folder to look at. Faults that nearly repeat others stay
 * where they are.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/mutate.h>
#include <internal/preprocess.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define GATHERED "campaign"
enum { GATHER_MOST = 20000 }; /* of one stage */

double pxi_check_deadline(const px_check *c)
{
    return c->stage_started + pxi_stages[c->at_stage]->share * c->o.minutes * 60.0;
}

const char *pxi_finding_method(const char *chain)
{
    if (!chain || *chain != '{')
        return "fuzz";
    return strstr(chain, "\"engine\":\"synthesize\"") ? "synthesize" : "attack";
}

px_campaign_identity pxi_findings_identity(const px_check *c)
{
    return (px_campaign_identity){
        .model_hash = px_model_hash(c->model),
        .data_hash = px_dataset_hash(c->set),
        .seed = c->o.seed,
        .dtype = px_dataset_is_8bit(c->set) ? PX_UINT8 : PX_FLOAT32,
        .shape = px_dataset_shape(c->set),
        .classes = c->scores.classes,
    };
}

static px_status campaign_begin(const px_check *c, const char *name, const char *settings,
                                px_campaign **out, px_error *err)
{
    px_campaign_identity identity = pxi_findings_identity(c);
    PX_TRY(pxi_check_campaign_clear(c, name, err));
    PX_TRY(pxi_check_campaign_open(c, name, /* resume= */ false, out, err));
    identity.settings = settings;
    return px_campaign_identify(*out, &identity, err);
}

px_status pxi_findings_begin(px_check *c, int stage, const char *settings, pxi_findings *out,
                             px_error *err)
{
    *out = (pxi_findings){.campaign = NULL};
    PX_TRY(pxi_check_campaign_clear(c, GATHERED, err)); /* what it had of this stage */
    PX_TRY(campaign_begin(c, pxi_stages[stage]->public.entry.id, settings, &out->campaign, err));
    return px_pairs_new(out->campaign, c->set, &c->pre, &out->pairs, err);
}

px_status pxi_findings_finish(const px_check *c, pxi_findings *f, px_error *err)
{
    return px_pairs_finish(f->pairs, c->o.command ? c->o.command : "plexor check", NAN, err);
}

void pxi_findings_close(pxi_findings *f)
{
    px_pairs_free(f->pairs);
    px_campaign_close(f->campaign);
    *f = (pxi_findings){.campaign = NULL};
}

/* --- all of them together -------------------------------------------------------------------- */

typedef struct gather {
    const px_check *check;
    px_campaign *from, *to;
    int64_t *seeds; /* by id in `from`: id in `to`, 0: not there yet */
    int64_t last;
    void *pixels;
    int64_t executions, left;
    int64_t far; /* from their originals */
} gather;

/* What is not known is not near enough. */
static bool gather_near(const px_check *c, const px_campaign_input *in)
{
    return (!(c->o.min_similarity > 0.0) || in->near.similarity >= c->o.min_similarity) &&
           (!(c->o.min_inside > 0.0) || in->near.inside >= c->o.min_inside);
}

static px_status gather_root(gather *g, int64_t root, int64_t *id, px_error *err)
{
    px_campaign_input in;
    if (root < 1 || root > g->last)
        return px_fail(err, PX_E_INPUT, "'%.200s': a failure without a root",
                       px_campaign_folder(g->from));
    if (!g->seeds[root]) {
        PX_TRY(px_campaign_read(g->from, root, &in, g->pixels, err));
        in.kind = PX_INPUT_SEED;
        in.parent = in.root = 0;
        in.step = 0;
        in.found_s = 0.0;
        PX_TRY(px_campaign_put(g->to, &in, g->pixels, &g->seeds[root], err));
    }
    *id = g->seeds[root];
    return PX_OK;
}

static px_status gather_faults(gather *g, px_error *err)
{
    px_campaign_input in = {.id = 0};
    int64_t count = 0, damaged = 0;
    for (int64_t after = 0;; after = in.id) {
        int64_t root = 0;
        PX_TRY(px_campaign_next(g->from, after, PX_INPUT_FAULT, &in, NULL, &damaged, err));
        if (!in.id)
            return PX_OK;
        if (in.twin)
            continue;
        if (!gather_near(g->check, &in)) {
            g->far++;
            continue;
        }
        if (count == GATHER_MOST) {
            g->left++;
            continue;
        }
        const int64_t id = in.id;
        PX_TRY(gather_root(g, in.root, &root, err)); /* its reading ends the life of in.chain */
        PX_TRY(px_campaign_read(g->from, id, &in, g->pixels, err));
        in.parent = in.root = root;
        in.found_s = 0.0;
        PX_TRY(px_campaign_put(g->to, &in, g->pixels, NULL, err));
        in.id = id;
        count++;
    }
}

static px_status gather_stage(gather *g, int stage, px_error *err)
{
    const px_check *c = g->check;
    px_styles *styles = NULL;
    char *path = pxi_check_path(c, pxi_stages[stage]->public.entry.id);
    px_status status =
        path ? px_campaign_open(path, PX_CAMPAIGN_READ, &g->from, err) : pxi_no_memory(err);
    PX_THEN(status, px_campaign_last(g->from, &g->last, err));
    PX_THEN(status, PX_NEW(g->seeds, (size_t)g->last + 1, err));
    PX_THEN(status, gather_faults(g, err));
    PX_THEN(status, px_campaign_get_styles(g->from, &styles, err));
    PX_THEN_IF(status, styles, px_campaign_put_styles(g->to, styles, err));
    if (status == PX_OK)
        g->executions += (int64_t)px_campaign_get_real(g->from, "executions", 0.0);
    px_styles_free(styles);
    free(g->seeds);
    g->seeds = NULL;
    px_campaign_close(g->from);
    g->from = NULL;
    free(path);
    return status;
}

static const int gathered[] = {PXI_STAGE_synthesize, PXI_STAGE_attack, PXI_STAGE_fuzz};

/* Which results it is made of. */
static uint64_t gather_key(const px_check *c)
{
    uint64_t keys[PX_LEN(gathered)] = {0};
    for (size_t i = 0; i < PX_LEN(gathered); i++)
        if (c->result[gathered[i]])
            keys[i] = c->key[gathered[i]];
    return XXH3_64bits(keys, sizeof keys);
}

static px_datum gather_command(const void *of, char *text)
{
    (void)of, (void)text;
    return px_datum_text("check");
}

static const px_field gather_fields[] = {
    PX_MADE(TEXT, gather_command, "command", "what made it"),
    PX_OBJECT(px_check, pre, px_preprocess_fields, "preprocess", "of the inputs"),
    PX_FIELDS_END,
};

static px_status gather_make(const px_check *c, const char *key, px_error *err)
{
    gather g = {.check = c, .pixels = pxi_calloc(c->floats, sizeof(float))};
    char *settings = NULL;
    px_status status = g.pixels ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, px_fields_text(gather_fields, c, &settings, err));
    PX_THEN(status, campaign_begin(c, GATHERED, settings, &g.to, err));
    for (size_t i = 0; i < PX_LEN(gathered) && status == PX_OK; i++)
        if (c->result[gathered[i]])
            status = gather_stage(&g, gathered[i], err);
    PX_THEN(status,
            px_campaign_put_classes(g.to, (const char *const *)c->names, c->scores.classes, err));
    PX_THEN(status, px_campaign_set_int(g.to, "executions", g.executions, err));
    PX_THEN(status, px_campaign_set_int(g.to, "left", g.left, err));
    PX_THEN(status, px_campaign_set_int(g.to, "faults_rejected", g.far, err));
    PX_THEN(status, px_campaign_set(g.to, "check", key, err));
    PX_THEN(status, px_campaign_commit(g.to, err));
    px_campaign_close(g.to);
    free(settings);
    free(g.pixels);
    return status;
}

/* The campaign as it is, if it is of this key. */
static bool gather_open(const char *path, const char *key, px_campaign **out)
{
    char *had = NULL;
    if (!px_campaign_is(path) || px_campaign_open(path, PX_CAMPAIGN_READ, out, NULL) != PX_OK)
        return false;
    const bool same =
        px_campaign_get(*out, "check", &had, NULL) == PX_OK && had && strcmp(had, key) == 0;
    free(had);
    if (!same) {
        px_campaign_close(*out);
        *out = NULL;
    }
    return same;
}

px_status pxi_findings_gather(px_check *c, px_campaign **out, px_error *err)
{
    char key[32];
    bool any = false;
    px_campaign_counts counts;
    for (size_t i = 0; i < PX_LEN(gathered); i++)
        any = any || c->result[gathered[i]];
    *out = NULL;
    if (!any)
        return PX_OK;
    snprintf(key, sizeof key, "%016" PRIx64, gather_key(c));
    char *path = pxi_check_path(c, GATHERED);
    px_status status = path ? PX_OK : pxi_no_memory(err);
    uint64_t there = path && gather_open(path, key, out);
    status = pxi_ranks_first("what was found", status, 0, &there, err);
    if (!there) {
        px_campaign_close(*out);
        *out = NULL;
    }
    if (status == PX_OK && there && !*out) {
        status = px_campaign_open(path, PX_CAMPAIGN_READ, out, err);
    } else if (status == PX_OK && !there) {
        status = gather_make(c, key, err);
        PX_THEN(status, pxi_ranks_agree("what was found is written", 0, err));
        PX_THEN(status, px_campaign_open(path, PX_CAMPAIGN_READ, out, err));
    }
    free(path);
    PX_THEN(status, px_campaign_count(*out, &counts, err));
    if (status != PX_OK || counts.faults == 0) {
        px_campaign_close(*out);
        *out = NULL;
    }
    return status;
}
