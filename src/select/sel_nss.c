/* src/select/sel_nss.c - NSS: inputs whose neurons react most to a benign mutation
 *
 * CSM B.1. Stage 1 (Algorithm 1) finds the k % of neurons that are most sensitive over a sample of
 * the candidates; stage 2 (Algorithm 2) scores each candidate by how much those react. Two
 * pairings: with a fresh mutant of the candidate, which is all that can be done with a pile of
 * inputs, and with the original that the candidate is a mutant of, which is what the paper's
 * figures come from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/nss.h"
#include "select/selectors.h"

#include "base/memory.h"
#include "base/ascending.h"

#include <internal/fault_curve.h>
#include <internal/mutate.h>
#include <internal/ranks.h>
#include <internal/rng.h>
#include <internal/select.h>
#include <internal/stats.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_AUTO, PAIR_ORIGINAL, PAIR_FRESH };

static const char *const nss_pairs[] = {"auto", "original", "fresh", NULL};
static const char *const nss_mutations[] = {"all",      "shift",      "rotation", "scale", "shear",
                                            "contrast", "brightness", "blur",     NULL};

typedef struct nss_config {
    double k;
    double subset;
    int pair;
    int identify;
    int score;
    int64_t seeds;
} nss_config;

static const px_param nss_params[] = {
    PX_PARAM_REAL(nss_config, k, 10, 1e-6, 100, "percent of the neurons that count as sensitive"),
    PX_PARAM_REAL(nss_config, subset, 10, 1e-6, 100,
                  "percent of the candidates that stage 1 looks at"),
    PX_PARAM_CHOICE(nss_config, pair, 0, nss_pairs,
                    "what a candidate is compared with: the original it was made from, or a "
                    "fresh mutant of itself; auto: the original where there is one"),
    PX_PARAM_CHOICE(nss_config, identify, 0, nss_mutations, "only this mutation in stage 1"),
    PX_PARAM_CHOICE(nss_config, score, 0, nss_mutations,
                    "only this mutation in stage 2; for pair=fresh"),
    PX_PARAM_INT(nss_config, seeds, 0, 0, 100,
                 "repeat stage 1 with that many seeds and tell how far they agree; 0: do not"),
    PX_PARAM_END,
};

typedef struct nss {
    const px_probe *probe;
    double k, subset;
    bool original;
    px_mutations identify, score;
    bool identify_single; /* stage 1 makes mutants of its own also where originals are known */
    int64_t units, count; /* neurons; sensitive ones */
    int64_t *neuron;      /* most sensitive first */
    double *sum;
    int64_t sampled, rejected, seeds;
    double least_kappa, mean_kappa;
} nss;

static void nss_release(void *prepared)
{
    nss *s = prepared;
    if (!s)
        return;
    free(s->neuron);
    free(s->sum);
    free(s);
}

/* "nss", or one of its mutations. */
static px_status nss_mutation(int choice, px_mutations *out, px_error *err)
{
    px_text text = {0};
    px_text_add(&text, "nss");
    if (choice != 0)
        px_text_format(&text, ":%s", nss_mutations[choice]);
    const px_status status = px_text_failed(&text)
                                 ? pxi_no_memory(err)
                                 : px_mutations_parse(px_text_get(&text), out, err);
    px_text_done(&text);
    return status;
}

static px_status nss_check(const px_selector_request *request, px_error *err)
{
    const nss_config *config = request->config;
    if (config->pair == PAIR_ORIGINAL && !request->originals)
        return px_fail(err, PX_E_USAGE,
                       "pair=original compares mutants with their originals, and these candidates "
                       "have none; --mutate nss makes such candidates");
    if (config->pair != PAIR_FRESH && request->originals && config->score != 0)
        return px_fail(err, PX_E_USAGE,
                       "score=%s is for pair=fresh; with pair=original the candidates are the "
                       "mutants (--mutate nss:%s)",
                       nss_mutations[config->score], nss_mutations[config->score]);
    if (!request->extractor->probe)
        return px_fail(err, PX_E_INTERNAL, "has no neurons to look at");
    if (request->count >= (int64_t)UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%" PRId64 " candidates are too many for it",
                       request->count);
    if (request->originals) {
        const px_shape a = px_dataset_shape(request->set);
        const px_shape b = px_dataset_shape(request->originals);
        if (!px_shape_equal(&a, &b))
            return px_fail(err, PX_E_MISMATCH, "the originals have another shape than the mutants");
    }
    return PX_OK;
}

static px_status nss_prepare(const px_selector_request *request, void **out, px_error *err)
{
    PX_TRY(nss_check(request, err));
    const nss_config *config = request->config;
    nss *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->probe = request->extractor->probe;
    s->k = config->k;
    s->subset = config->subset;
    s->original = config->pair != PAIR_FRESH && request->originals;
    s->identify_single = config->identify != 0;
    s->seeds = config->seeds;
    s->units = px_probe_neuron_count(s->probe);
    s->count = px_percent_count(s->k, s->units);
    s->sampled = px_percent_count(s->subset, request->count);
    s->neuron = pxi_calloc((size_t)s->count, sizeof *s->neuron);
    s->sum = pxi_calloc((size_t)s->count, sizeof *s->sum);
    px_status status = s->neuron && s->sum ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, nss_mutation(config->identify, &s->identify, err));
    PX_THEN(status, nss_mutation(config->score, &s->score, err));
    return PX_GIVE(status, s, out, nss_release);
}

/* --- stage 1 --------------------------------------------------------------------------------- */

typedef struct nss_progress { /* over all stages, in pairs */
    const px_selector_job *job;
    int64_t before, total;
} nss_progress;

static bool nss_tick(void *context, int64_t done, int64_t total)
{
    const nss_progress *p = context;
    (void)total;
    return !p->job->progress ||
           p->job->progress(p->job->progress_context, p->before + done, p->total);
}

typedef struct identify_worker {
    pxi_exact *sums;
    double *scratch;
    int64_t rejected;
    bool lost;
} identify_worker;

typedef struct identify {
    int64_t units;
    identify_worker *workers;
} identify;

static px_status identify_visit(void *context, int worker, const pxi_pair *pair, px_error *err)
{
    identify *id = context;
    identify_worker *w = &id->workers[worker];
    if (!w->sums) {
        PX_TRY(PX_NEW(w->sums, id->units, err));
        PX_TRY(PX_NEW(w->scratch, id->units, err));
    }
    if (pair->rejected)
        w->rejected++;
    else
        pxi_nss_add(w->sums, pair->x, pair->y, id->units, w->scratch, &w->lost);
    return PX_OK;
}

/* Candidates that stage 1 looks at: a sample without replacement, in ascending order. */
static px_status identify_sample(int64_t count, int64_t sampled, uint64_t seed, int64_t **out,
                                 px_error *err)
{
    int64_t *index = NULL;
    PX_TRY(PX_NEW(index, count, err));
    px_random random = px_rng(seed, PX_RNG_SELECT, 1, 0);
    px_rng_permutation(&random, index, (uint32_t)count);
    qsort(index, (size_t)sampled, sizeof *index, pxi_order_int64);
    *out = index;
    return PX_OK;
}

typedef struct identify_sum { /* before its sums, where ranks exchange them */
    int64_t rejected, lost;
} identify_sum;

/* Adds what the pairs of other ranks came to. */
static px_status identify_join(pxi_exact *total, size_t units, int64_t *rejected, bool *lost,
                               px_error *err)
{
    const identify_sum own = {*rejected, *lost};
    const size_t bytes = units * sizeof *total;
    size_t *sizes = NULL;
    char *all = NULL;
    px_text mine = {0};
    px_text_add_bytes(&mine, (const char *)&own, sizeof own);
    px_text_add_bytes(&mine, (const char *)total, bytes);
    px_status status = px_text_failed(&mine) ? pxi_no_memory(err) : PX_OK;
    PX_THEN(status, PX_NEW(sizes, pxi_rank_count(), err));
    status = pxi_ranks_swap("the sums of neurons", status, 0, px_text_get(&mine), mine.length, &all,
                            sizes, err);
    pxi_exact *sums = status == PX_OK ? pxi_calloc(units, sizeof *sums) : NULL;
    if (status == PX_OK && !sums)
        status = pxi_no_memory(err);
    for (int r = 0; status == PX_OK && r < pxi_rank_count(); r++) {
        const char *from = all + (size_t)r * mine.length;
        identify_sum other;
        if (r == pxi_rank())
            continue;
        memcpy(&other, from, sizeof other);
        memcpy(sums, from + sizeof other, bytes);
        *rejected += other.rejected;
        *lost |= other.lost != 0;
        pxi_exact_join_all(total, sums, units, lost);
    }
    px_text_done(&mine);
    free(sums);
    free(sizes);
    free(all);
    return status;
}

/* Joins the workers' sums, which are exact, and takes the largest. */
static px_status identify_top(identify *id, int workers, bool divided, int64_t count,
                              int64_t *neuron, double *sum, int64_t *rejected, px_error *err)
{
    const size_t units = (size_t)id->units;
    pxi_exact *total = pxi_calloc(units, sizeof *total);
    double *sums = pxi_calloc(units, sizeof *sums);
    px_status status = total && sums ? PX_OK : pxi_no_memory(err);
    bool lost = false;
    *rejected = 0;
    for (int w = 0; status == PX_OK && w < workers; w++) {
        *rejected += id->workers[w].rejected;
        lost |= id->workers[w].lost;
        if (id->workers[w].sums)
            pxi_exact_join_all(total, id->workers[w].sums, units, &lost);
    }
    if (divided && status == PX_OK)
        status = identify_join(total, units, rejected, &lost, err);
    if (status == PX_OK && lost)
        status = px_fail(err, PX_E_INPUT, "neurons change by more than can be added up");
    if (status == PX_OK) {
        for (size_t i = 0; i < units; i++)
            sums[i] = pxi_exact_value(&total[i]);
        status = pxi_nss_top(sums, id->units, count, neuron, err);
    }
    for (int64_t i = 0; sum && status == PX_OK && i < count; i++)
        sum[i] = sums[neuron[i]];
    free(total);
    free(sums);
    return status;
}

static px_status nss_identify(const nss *s, const px_selector_job *job, uint64_t seed,
                              nss_progress *progress, int64_t *neuron, double *sum,
                              int64_t *rejected, px_error *err)
{
    identify id = {.units = s->units,
                   .workers = pxi_calloc((size_t)job->threads, sizeof *id.workers)};
    int64_t *index = NULL;
    const pxi_left nothing = {0}; /* but sums, which are exchanged in the end */
    const bool divided = pxi_ranks_together();
    px_status status = id.workers ? identify_sample(job->count, s->sampled, seed, &index, err)
                                  : pxi_no_memory(err);
    if (status == PX_OK) {
        const pxi_pair_pass pass = {
            .model = job->model,
            .probe = s->probe,
            .set = job->set,
            .originals = job->originals,
            .pre = job->pre,
            .kind = !s->original         ? PXI_PAIR_FRESH
                    : s->identify_single ? PXI_PAIR_ORIGINAL_FRESH
                                         : PXI_PAIR_ORIGINAL,
            .from = s->identify,
            .seed = seed,
            .iteration = PX_MUTATE_IDENTIFY,
            .index = index,
            .count = s->sampled,
            .batch = job->batch,
            .threads = job->threads,
            .visit = identify_visit,
            .context = &id,
            .left = &nothing,
            .progress = nss_tick,
            .progress_context = progress,
        };
        status = pxi_pair_run(&pass, err);
        progress->before += s->sampled;
    }
    PX_THEN(status, identify_top(&id, job->threads, divided, s->count, neuron, sum, rejected, err));
    for (int w = 0; id.workers && w < job->threads; w++) {
        free(id.workers[w].sums);
        free(id.workers[w].scratch);
    }
    free(id.workers);
    free(index);
    return status;
}

/* Stage 1 again with other seeds: how far do the sets agree? */
static px_status nss_stability(nss *s, const px_selector_job *job, nss_progress *progress,
                               px_error *err)
{
    const size_t seeds = (size_t)s->seeds, units = (size_t)s->units;
    bool *in = pxi_calloc(seeds * units, sizeof *in);
    int64_t *neuron = pxi_calloc((size_t)s->count, sizeof *neuron);
    px_status status = in && neuron ? PX_OK : pxi_no_memory(err);
    for (size_t r = 0; status == PX_OK && r < seeds; r++) {
        int64_t rejected = 0;
        if (r == 0)
            memcpy(neuron, s->neuron, (size_t)s->count * sizeof *neuron);
        else
            status = nss_identify(s, job, job->seed + r, progress, neuron, NULL, &rejected, err);
        for (int64_t i = 0; status == PX_OK && i < s->count; i++)
            in[r * units + (size_t)neuron[i]] = true;
    }
    s->least_kappa = 1.0;
    double sum = 0.0;
    for (size_t a = 0; status == PX_OK && a < seeds; a++)
        for (size_t b = 0; b < a; b++) {
            int64_t overlap = 0;
            for (size_t i = 0; i < units; i++)
                overlap += in[a * units + i] && in[b * units + i];
            const double kappa = px_kappa_sets(s->count, s->count, overlap, s->units);
            s->least_kappa = fmin(s->least_kappa, kappa);
            sum += kappa;
        }
    s->mean_kappa = sum / (double)(seeds * (seeds - 1) / 2);
    free(in);
    free(neuron);
    return status;
}

/* --- stage 2 --------------------------------------------------------------------------------- */

typedef struct nss_scorer {
    const px_selector_job *job;
    int64_t *neuron; /* ascending: read from front to back */
    int64_t count;
    double *scores;
} nss_scorer;

static px_status score_visit(void *context, int worker, const pxi_pair *pair, px_error *err)
{
    (void)worker;
    (void)err;
    const nss_scorer *s = context;
    s->scores[pair->index] =
        pair->rejected ? NAN : pxi_nss_score(pair->x, pair->y, s->neuron, s->count);
    if (s->job->predicted) {
        s->job->predicted[pair->index] = pair->predicted;
        s->job->confidence[pair->index] = pair->confidence;
    }
    return PX_OK;
}

static px_status nss_score(const nss *s, const px_selector_job *job, nss_progress *progress,
                           double *scores, px_error *err)
{
    nss_scorer scorer = {.job = job,
                         .neuron = pxi_calloc((size_t)s->count, sizeof *scorer.neuron),
                         .count = s->count,
                         .scores = scores};
    if (!scorer.neuron)
        return pxi_no_memory(err);
    memcpy(scorer.neuron, s->neuron, (size_t)s->count * sizeof *scorer.neuron);
    qsort(scorer.neuron, (size_t)s->count, sizeof *scorer.neuron, pxi_order_int64);
    const pxi_left left = {.array = {{scores, sizeof *scores},
                                     {job->predicted, sizeof *job->predicted},
                                     {job->confidence, sizeof *job->confidence}}};
    const pxi_pair_pass pass = {
        .model = job->model,
        .probe = s->probe,
        .set = job->set,
        .originals = job->originals,
        .pre = job->pre,
        .kind = s->original ? PXI_PAIR_ORIGINAL : PXI_PAIR_FRESH,
        .from = s->score,
        .seed = job->seed,
        .iteration = PX_MUTATE_SCORE,
        .count = job->count,
        .predict = job->predicted != NULL,
        .batch = job->batch,
        .threads = job->threads,
        .visit = score_visit,
        .context = &scorer,
        .left = &left,
        .progress = nss_tick,
        .progress_context = progress,
    };
    const px_status status = pxi_pair_run(&pass, err);
    progress->before += job->count;
    if (status == PX_OK && job->predicted)
        *job->predicts = true;
    free(scorer.neuron);
    return status;
}

static px_status nss_run(void *prepared, const px_selector_job *job, double *scores, px_error *err)
{
    nss *s = prepared;
    const int64_t again = PX_MAX(s->seeds - 1, 0);
    nss_progress progress = {.job = job, .total = job->count + (1 + again) * s->sampled};
    double start = px_clock_s();
    PX_TRY(nss_identify(s, job, job->seed, &progress, s->neuron, s->sum, &s->rejected, err));
    job->times->learn = px_clock_s() - start;
    start = px_clock_s();
    if (again > 0)
        PX_TRY(nss_stability(s, job, &progress, err));
    job->times->check = px_clock_s() - start;
    start = px_clock_s();
    PX_TRY(nss_score(s, job, &progress, scores, err));
    job->times->pass = px_clock_s() - start;
    return PX_OK;
}

/* --- what it has to say ---------------------------------------------------------------------- */

pxi_nss_facts pxi_nss_facts_of(const void *prepared)
{
    const nss *s = prepared;
    return (pxi_nss_facts){.original = s->original,
                           .units = s->units,
                           .sampled = s->sampled,
                           .rejected = s->rejected,
                           .count = s->count,
                           .neuron = s->neuron,
                           .sum = s->sum,
                           .seeds = s->seeds,
                           .least_kappa = s->least_kappa,
                           .mean_kappa = s->mean_kappa};
}

static const px_layer *nss_layer(const nss *s, int64_t neuron)
{
    size_t l = px_probe_layer_count(s->probe) - 1;
    while (l > 0 && px_probe_layer(s->probe, l)->neuron_offset > neuron)
        l--;
    return px_probe_layer(s->probe, l);
}

static void nss_remark(const void *prepared, px_text *text)
{
    enum { SHOWN = 5 };
    const nss *s = prepared;
    px_text_format(
        text, s->original
                  ? "nss: pair=original: scores say how far each mutant moved the neurons away "
                    "from its original, which a pile of inputs without originals cannot tell\n"
                  : "nss: pair=fresh: candidates are compared with fresh mutants of "
                    "themselves; measured, this pairing was near random: look at gini or "
                    "another one beside it\n");
    px_text_format(text,
                   "nss: %" PRId64 " of %" PRId64 " neurons are sensitive, by %" PRId64
                   " candidates; first of all ",
                   s->count, s->units, s->sampled);
    for (int64_t i = 0; i < PX_MIN(s->count, SHOWN); i++) {
        const px_layer *layer = nss_layer(s, s->neuron[i]);
        px_text_format(text, "%s%s:%" PRId64 " (%.4g)", i ? ", " : "", layer->name,
                       s->neuron[i] - layer->neuron_offset, s->sum[i]);
    }
    px_text_add(text, "\n");
    if (s->rejected)
        px_text_format(text,
                       "nss: %" PRId64 " of those candidates had neurons that are not finite\n",
                       s->rejected);
    if (s->seeds > 1)
        px_text_format(text,
                       "nss: with %" PRId64 " seeds the sensitive neurons agree with Cohen's kappa "
                       "%.3f on average, at least %.3f\n",
                       s->seeds, s->mean_kappa, s->least_kappa);
}

static bool nss_has_stability(const void *prepared)
{
    return ((const nss *)prepared)->seeds > 1;
}

typedef struct sensitive_row {
    const char *layer;
    int64_t index;
    double score;
} sensitive_row;

static const void *sensitive_get(const void *prepared, size_t i, void *row)
{
    const nss *s = prepared;
    if (i >= (size_t)s->count)
        return NULL;
    const px_layer *layer = nss_layer(s, s->neuron[i]);
    *(sensitive_row *)row =
        (sensitive_row){layer->name, s->neuron[i] - layer->neuron_offset, s->sum[i]};
    return row;
}

static const px_field stability_fields[] = {
    PX_FIELD(nss, seeds, "seeds", "of which each chose neurons"),
    PX_FIELD(nss, mean_kappa, "kappa_mean", "Cohen's kappa of two choices, on average"),
    PX_FIELD(nss, least_kappa, "kappa_least", "and the least"),
    PX_FIELDS_END,
};

static const px_field sensitive_fields[] = {
    PX_FIELD(sensitive_row, layer, "layer", "its name"),
    PX_FIELD(sensitive_row, index, "index", "of the neuron in it"),
    PX_FIELD(sensitive_row, score, "score", "how much it reacts"),
    PX_FIELDS_END,
};

static const char *const pair_names[] = {"fresh", "original", NULL};

static const px_field nss_result[] = {
    PX_CHOICE(nss, original, pair_names, "pair", "what a candidate is compared with"),
    PX_FIELD(nss, units, "neurons", "that were looked at"),
    PX_FIELD(nss, sampled, "sampled", "candidates by which sensitive ones were found"),
    PX_OBJECT_OF(stability_fields, "stability", "with several seeds", .when = nss_has_stability),
    PX_LIST_MADE(sensitive_get, sensitive_fields, "sensitive", "neurons, the most sensitive first"),
    PX_FIELDS_END,
};

const px_selector px_selector_nss = {
    .entry = {.id = "nss",
              .title = "neurons that react most to benign mutations",
              .source = "Huang et al., Neuron Sensitivity Guided Test Case Selection, TOSEM 2024",
              .params = nss_params,
              .config_size = sizeof(nss_config)},
    .layers = "last-encoder",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_UNIT,
    .needs = PX_NEEDS_PICTURES,
    .prepare = nss_prepare,
    .release = nss_release,
    .run = nss_run,
    .remark = nss_remark,
    .result = nss_result,
};
