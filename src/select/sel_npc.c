/* src/select/sel_npc.c - inputs whose decision paths differ from those of all before them
 *
 * NPC-guided selection, with the elements of SNPC: Xie et al., NPC, TOSEM 2022; CSM A.9, B.4. How
 * similar an input's path is to each abstract path of its predicted class, layer by layer, in m
 * buckets; inputs of different classes share no elements.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/guided.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/extract_relevance.h"
#include "cover/npc.h"

#include <stdlib.h>

static const char *const npc_compats[] = {"none", "npc-code", NULL};
static const char *const npc_overs[] = {"layers", "path", NULL};

/* The first ones as the criterion snpc has them, so that a profile serves both. */
typedef struct npc_config {
    pxi_npc_config npc; /* first: what the criterion and its learner read */
    pxi_guided_config guided;
} npc_config;

static const px_param npc_params[] = {
    PX_PARAM_REAL(pxi_npc_config, alpha, 0.7, 0, 1,
                  "share of a layer's positive relevance that a path has to carry"),
    PX_PARAM_REAL(pxi_npc_config, beta, 0.6, 0, 1,
                  "share of training paths that a neuron has to be in"),
    PX_PARAM_INT(pxi_npc_config, k, 1, 1, 256, "abstract paths per class"),
    PX_PARAM_CHOICE(pxi_npc_config, compat, 0, npc_compats,
                    "npc-code: count as the authors' program does"),
    PX_PARAM_REAL(pxi_npc_config, lrp, 0.5, 0, 10,
                  "beta of the relevance rule: weight of negative contributions"),
    PX_PARAM_INT(pxi_npc_config, m, 100, 1, PXI_SECTIONS_MOST - 1, "buckets of similarity"),
    PX_PARAM_CHOICE(pxi_npc_config, over, 0, npc_overs,
                    "compare layer by layer, or the path as a whole"),
    PXI_GUIDED_PARAMS(npc_config),
    PX_PARAM_END,
};

typedef struct npc_selector {
    pxi_guided guided;
    pxi_npc *npc;
} npc_selector;

typedef struct npc_worker {
    pxi_npc_scratch scratch;
    int32_t *bucket;
} npc_worker;

static px_status npc_extract(const px_model *model, const px_probe_options *options,
                             const void *config, px_extractor **out, px_error *err)
{
    return pxi_extractor_relevance(model, options, ((const pxi_npc_config *)config)->lrp, out, err);
}

static int64_t npc_bytes(const px_selector_request *request)
{
    const pxi_npc_config *config = request->config;
    const int64_t layers = (int64_t)request->extractor->layer_count;
    return pxi_cover_rows_bytes(request->count, config->over != 0 ? config->k : config->k * layers,
                                /* sections= */ true);
}

static void npc_release(void *prepared)
{
    npc_selector *p = prepared;
    if (!p)
        return;
    pxi_cover_rows_done(&p->guided.rows);
    pxi_npc_free(p->npc);
    free(p);
}

static px_status npc_prepare(const px_selector_request *request, void **out, px_error *err)
{
    const npc_config *config = request->config;
    npc_selector *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    const px_criterion_request criterion = {.model = request->model,
                                            .extractor = request->extractor,
                                            .config = request->config,
                                            .profile = request->profile,
                                            .learned = request->learned,
                                            .classes = request->classes,
                                            .seed = request->seed,
                                            .threads = request->threads};
    pxi_guided_init(&p->guided, "npc", &config->guided, request->seed);
    px_status status = pxi_snpc_new(&criterion, &p->npc, err);
    PX_THEN(status, pxi_cover_rows_sections(
                        &p->guided.rows, "npc", request->count, pxi_snpc_columns(p->npc),
                        (int32_t)pxi_snpc_buckets(p->npc), request->classes, err));
    return PX_GIVE(status, p, out, npc_release);
}

static void npc_close(void *worker)
{
    npc_worker *w = worker;
    if (!w)
        return;
    pxi_npc_scratch_done(&w->scratch);
    free(w->bucket);
    free(w);
}

static px_status npc_open(void *prepared, void **worker, px_error *err)
{
    const npc_selector *p = prepared;
    npc_worker *w = pxi_calloc(1, sizeof *w);
    if (w)
        w->bucket = pxi_calloc((size_t)p->guided.rows.columns, sizeof *w->bucket);
    if (!w || !w->bucket || !pxi_npc_scratch_init(&w->scratch, p->npc)) {
        npc_close(w);
        return pxi_no_memory(err);
    }
    *worker = w;
    return PX_OK;
}

static px_status npc_score(void *prepared, void *worker, const px_rows *rows, double *scores,
                           px_error *err)
{
    (void)err;
    npc_selector *p = prepared;
    npc_worker *w = worker;
    pxi_cover_rows *to = &p->guided.rows;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t index = rows->facts[i].index;
        pxi_snpc_find(p->npc, &w->scratch, rows, i, w->bucket);
        if (to->group)
            to->group[index] = PX_MAX(rows->facts[i].predicted, 0);
        for (int64_t c = 0; c < to->columns; c++)
            to->sections[index * to->columns + c] =
                (uint16_t)(w->bucket[c] < 0 ? to->per : w->bucket[c]);
        scores[i] = (double)pxi_cover_rows_total(to, index);
    }
    return PX_OK;
}

static const px_learner *const npc_learners[] = {&pxi_learner_paths, NULL};

const px_selector px_selector_npc = {
    .entry = {.id = "npc",
              .title = "inputs whose decision paths differ from those before them",
              .source = "Xie et al., NPC, TOSEM 2022",
              .params = npc_params,
              .config_size = sizeof(npc_config)},
    .learners = npc_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .needs = PX_NEEDS_CLASSES,
    .extract = npc_extract,
    .bytes = npc_bytes,
    .prepare = npc_prepare,
    .release = npc_release,
    .open = npc_open,
    .close = npc_close,
    .score = npc_score,
    .kept = pxi_guided_kept,
    .arrange = pxi_guided_arrange,
    .remark = pxi_guided_remark,
    .result = pxi_guided_fields,
};
