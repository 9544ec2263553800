/* src/generate/pairs.c - originals and what became of them, written into a campaign
 *
 * A run that can be gone on with keeps the row of every input, in states named after their first
 * one ("rows 00000064"). States, pixels and counts of a batch are committed together, and batches
 * begin at multiples of their size: so a run that was killed and gone on with ends with the same
 * bytes as one that was not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "generate/pair_rows.h"
#include "generate/seed_names.h"

#include <internal/closeness.h>
#include <internal/pairs.h>
#include <internal/preprocess.h>
#include <internal/store.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMIT_EVERY = 256 };

struct px_pairs {
    px_campaign *campaign;
    const px_dataset *set;
    size_t size;                /* values of an input */
    bool rounds;                /* pixels are bytes */
    double unit;                /* of a stored float, in raw values */
    void *pixels, *seed_pixels; /* of one input each, in the campaign's type */
    int64_t put, executions;

    /* Of a run with a plan. */
    int64_t planned, done; /* inputs; planned 0: there is no plan */
    double begun_s, before_s;
    uint8_t *rows; /* of the batch, packed */
    size_t row_bytes;
};

px_status px_pairs_new(px_campaign *campaign, const px_dataset *set, const px_preprocess *pre,
                       px_pairs **out, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const size_t size = px_campaign_size(campaign);
    px_campaign_identity identity;
    if (!px_campaign_identity_get(campaign, &identity))
        return px_fail(err, PX_E_USAGE, "the campaign has no identity yet");
    if (size == 0 || (int64_t)size != px_shape_count(&shape))
        return px_fail(err, PX_E_USAGE, "the campaign's inputs have another size than the data");
    px_pairs *p = NULL;
    PX_TRY(PX_NEW(p, 1, err));
    p->campaign = campaign;
    p->set = set;
    p->size = size;
    p->rounds = identity.dtype == PX_UINT8;
    p->unit = px_dataset_is_8bit(set) ? px_length_levels(pre, 1.0) : 1.0;
    p->pixels = pxi_calloc(size, sizeof(float));
    p->seed_pixels = pxi_calloc(size, sizeof(float));
    if (!p->pixels || !p->seed_pixels) {
        px_pairs_free(p);
        return pxi_no_memory(err);
    }
    const px_status status = pxi_put_classes(campaign, NULL, set, err);
    return PX_GIVE(status, p, out, px_pairs_free);
}

void px_pairs_free(px_pairs *p)
{
    if (!p)
        return;
    free(p->pixels);
    free(p->seed_pixels);
    free(p->rows);
    free(p);
}

/* --- runs with a plan ------------------------------------------------------------------------ */

typedef char rows_name[32];

static const char *rows_at(int64_t first, rows_name name)
{
    snprintf(name, sizeof(rows_name), "rows %08" PRId64, first);
    return name;
}

px_status px_pairs_plan(px_pairs *p, int64_t planned, px_error *err)
{
    const double unknown = -1.0;
    const size_t widest = PX_MAX(pxi_attack_row_bytes(), pxi_synthesis_row_bytes());
    const double before = px_campaign_get_real(p->campaign, PX_CAMPAIGN_INPUTS_PLANNED, unknown);
    if (planned < 1)
        return px_fail(err, PX_E_USAGE, "there are no inputs to take");
    if (before >= 0.0 && before != (double)planned)
        return px_fail(err, PX_E_MISMATCH, "'%s' is of %.0f inputs, not of %" PRId64,
                       px_campaign_folder(p->campaign), before, planned);
    p->rows = pxi_calloc(PX_PAIRS_BATCH, widest);
    if (!p->rows)
        return pxi_no_memory(err);
    p->planned = planned;
    p->done = (int64_t)px_campaign_get_real(p->campaign, PX_CAMPAIGN_INPUTS_DONE, 0.0);
    p->executions = (int64_t)px_campaign_get_real(p->campaign, "executions", 0.0);
    p->before_s = px_campaign_get_real(p->campaign, "seconds", 0.0);
    p->begun_s = px_clock_s();
    if (p->done < 0 || p->done > planned || (p->done < planned && p->done % PX_PAIRS_BATCH != 0))
        return px_fail(err, PX_E_INPUT,
                       "'%s': says that %" PRId64 " of %" PRId64 " inputs are done",
                       px_campaign_folder(p->campaign), p->done, planned);
    if (before >= 0.0)
        return PX_OK;
    PX_TRY(px_campaign_set_int(p->campaign, PX_CAMPAIGN_INPUTS_PLANNED, planned, err));
    PX_TRY(px_campaign_set_int(p->campaign, PX_CAMPAIGN_INPUTS_DONE, 0, err));
    return px_campaign_commit(p->campaign, err);
}

/* Room for the row of the next input; NULL: rows are not kept. */
static uint8_t *plan_row(px_pairs *p, size_t bytes)
{
    p->row_bytes = bytes;
    return p->planned ? p->rows + (size_t)(p->done % PX_PAIRS_BATCH) * bytes : NULL;
}

/* The next input is there, with its row. */
static px_status plan_step(px_pairs *p, px_error *err)
{
    rows_name name;
    if (!p->planned)
        return PX_OK;
    p->done++;
    const int64_t in_batch = p->done % PX_PAIRS_BATCH;
    if (in_batch != 0 && p->done < p->planned)
        return PX_OK;
    const size_t count = in_batch ? (size_t)in_batch : PX_PAIRS_BATCH;
    PX_TRY(px_campaign_put_blob(p->campaign, rows_at(p->done - (int64_t)count, name), p->rows,
                                count * p->row_bytes, err));
    PX_TRY(px_campaign_set_int(p->campaign, PX_CAMPAIGN_INPUTS_DONE, p->done, err));
    PX_TRY(px_campaign_set_int(p->campaign, "executions", p->executions, err));
    PX_TRY(
        px_campaign_set_real(p->campaign, "seconds", p->before_s + px_clock_s() - p->begun_s, err));
    return px_campaign_commit(p->campaign, err);
}

/* The packed rows of all inputs that are done; the caller frees *out. */
static px_status plan_read(const px_pairs *p, size_t row_bytes, uint8_t **out, px_error *err)
{
    uint8_t *all = pxi_calloc((size_t)PX_MAX(p->done, 1), row_bytes);
    px_status status = all ? PX_OK : pxi_no_memory(err);
    for (int64_t first = 0; first < p->done && status == PX_OK; first += PX_PAIRS_BATCH) {
        const size_t want = (size_t)PX_MIN(p->done - first, PX_PAIRS_BATCH) * row_bytes;
        void *bytes = NULL;
        size_t size = 0;
        rows_name name;
        status = px_campaign_get_blob(p->campaign, rows_at(first, name), &bytes, &size, err);
        if (status == PX_OK && (!bytes || size != want))
            status = px_fail(err, PX_E_INPUT, "'%s': '%s' is not readable",
                             px_campaign_folder(p->campaign), name);
        if (status == PX_OK)
            memcpy(all + (size_t)first * row_bytes, bytes, size);
        free(bytes);
    }
    return PX_GIVE(status, all, out, free);
}

px_status px_pairs_attack_rows(const px_pairs *p, px_attack_row **rows, int64_t *count,
                               px_error *err)
{
    const size_t each = pxi_attack_row_bytes();
    uint8_t *bytes = NULL;
    PX_TRY(plan_read(p, each, &bytes, err));
    px_attack_row *out = pxi_calloc((size_t)PX_MAX(p->done, 1), sizeof *out);
    for (int64_t i = 0; out && i < p->done; i++)
        pxi_attack_row_unpack(bytes + (size_t)i * each, &out[i]);
    free(bytes);
    if (!out)
        return pxi_no_memory(err);
    *rows = out;
    *count = p->done;
    return PX_OK;
}

px_status px_pairs_synthesis_rows(const px_pairs *p, px_synthesis_row **rows, int64_t *count,
                                  px_error *err)
{
    const size_t each = pxi_synthesis_row_bytes();
    uint8_t *bytes = NULL;
    PX_TRY(plan_read(p, each, &bytes, err));
    px_synthesis_row *out = pxi_calloc((size_t)PX_MAX(p->done, 1), sizeof *out);
    for (int64_t i = 0; out && i < p->done; i++)
        pxi_synthesis_row_unpack(bytes + (size_t)i * each, &out[i]);
    free(bytes);
    if (!out)
        return pxi_no_memory(err);
    *rows = out;
    *count = p->done;
    return PX_OK;
}

/* --- pairs ----------------------------------------------------------------------------------- */

static void pairs_pixels(const px_pairs *p, void *to, const float *values, const uint8_t *bytes)
{
    for (size_t i = 0; i < p->size; i++) {
        if (p->rounds)
            ((uint8_t *)to)[i] = bytes ? bytes[i] : (uint8_t)values[i];
        else
            ((float *)to)[i] = (float)((double)values[i] / p->unit);
    }
}

px_status px_pairs_put(px_pairs *p, const px_pair *pair, px_error *err)
{
    const bool fault = pair->predicted >= 0 && pair->predicted != pair->label;
    int64_t seed = 0;
    char name[PXI_SEED_NAME];
    px_campaign_identity identity = {0};
    px_campaign_input in = {
        .kind = PX_INPUT_SEED,
        .data_index = px_dataset_index(p->set, pair->input),
        .label = pair->label,
        .prediction = pair->before,
        .confidence = pair->confidence_before,
        .step = p->executions,
        .name = pxi_seed_name(p->set, pair->input, name),
    };
    px_campaign_identity_get(p->campaign, &identity);
    pairs_pixels(p, p->seed_pixels, pair->original, NULL);
    PX_TRY(px_campaign_put(p->campaign, &in, p->seed_pixels, &seed, err));
    in.kind = fault ? PX_INPUT_FAULT : PX_INPUT_KEPT;
    in.parent = in.root = seed;
    in.prediction = pair->predicted;
    in.confidence = pair->confidence;
    in.l0 = pair->l0;
    in.l2 = pair->l2;
    in.linf = pair->linf;
    in.step = p->executions += pair->executions;
    in.chain = pair->chain;
    pairs_pixels(p, p->pixels, pair->exact, pair->bytes);
    in.measured = fault;
    if (fault) /* nothing was moved */
        PX_TRY(px_closeness_measure(NULL, 0, &identity.shape, identity.dtype, p->seed_pixels,
                                    p->pixels, &in.near, err));
    PX_TRY(px_campaign_put(p->campaign, &in, p->pixels, NULL, err));
    const bool due = ++p->put % COMMIT_EVERY == 0 && !p->planned;
    return due ? px_campaign_commit(p->campaign, err) : PX_OK;
}

/* With the chain, which is done with afterwards. */
static px_status put_chained(px_pairs *p, px_pair *pair, px_text *chain, px_error *err)
{
    pair->chain = px_text_get(chain);
    const px_status status =
        px_text_failed(chain) ? pxi_no_memory(err) : px_pairs_put(p, pair, err);
    px_text_done(chain);
    return status;
}

px_status px_pairs_put_attack(px_pairs *p, const px_attack_options *o, const px_attack_made *made,
                              px_error *err)
{
    const px_attack_row *row = made->row;
    const px_attack_form *form = &row->stored;
    uint8_t *kept = plan_row(p, pxi_attack_row_bytes());
    if (kept)
        pxi_attack_row_pack(row, kept);
    if (row->skipped || row->before < 0 || row->before != row->truth)
        return plan_step(p, err);
    char number[PX_REAL_TEXT];
    px_text chain = {0};
    px_text_format(&chain, "{\"method\":\"%s\",\"norm\":\"%s\"", o->method, px_norm_name(o->norm));
    if (o->eps > 0.0)
        px_text_format(&chain, ",\"eps\":%s", px_real_text(o->eps, number));
    if (o->step_size > 0.0)
        px_text_format(&chain, ",\"step_size\":%s", px_real_text(o->step_size, number));
    px_text_format(&chain, ",\"steps\":%" PRId64 ",\"restart\":%" PRId64, row->steps, row->restart);
    if (row->target >= 0)
        px_text_format(&chain, ",\"target\":%" PRId64, row->target);
    px_text_add(&chain, "}");
    px_pair pair = {
        .input = row->input,
        .label = row->truth,
        .before = row->before,
        .predicted = form->predicted,
        .confidence_before = row->confidence_before,
        .confidence = form->confidence,
        .l0 = form->l0,
        .l2 = form->l2,
        .linf = form->linf,
        .executions = row->forwards,
        .original = made->original,
        .exact = made->exact,
        .bytes = made->bytes,
    };
    PX_TRY(put_chained(p, &pair, &chain, err));
    return plan_step(p, err);
}

px_status px_pairs_put_synthesis(px_pairs *p, const px_synthesis_options *o,
                                 const px_synthesis_made *made, double confidence_before,
                                 double confidence, px_error *err)
{
    const px_synthesis_row *row = made->row;
    char step[PX_REAL_TEXT], distance[PX_REAL_TEXT];
    uint8_t *kept = plan_row(p, pxi_synthesis_row_bytes());
    px_text chain = {0};
    if (kept)
        pxi_synthesis_row_pack(row, kept);
    px_pair pair = {
        .input = row->input,
        .label = row->label,
        .before = row->before,
        .predicted = row->stored.predicted,
        .confidence_before = confidence_before,
        .confidence = confidence,
        .l2 = row->stored.l2,
        .linf = row->stored.linf,
        .executions = o->iterations,
        .original = made->original,
        .exact = made->exact,
        .bytes = made->bytes,
    };
    for (size_t i = 0; i < p->size; i++) {
        const float now = made->bytes ? (float)made->bytes[i] : made->exact[i];
        pair.l0 += now != made->original[i];
    }
    px_text_format(&chain,
                   "{\"engine\":\"synthesize\",\"neurons\":%" PRId64
                   ",\"step\":%s,\"distance\":%s,\"iterations\":%" PRId64 "}",
                   row->neurons, px_real_text(o->step, step), px_real_text(o->distance, distance),
                   o->iterations);
    PX_TRY(put_chained(p, &pair, &chain, err));
    return plan_step(p, err);
}

px_status px_pairs_put_neurons(px_pairs *p, const px_suspicious *suspects, int64_t k, px_error *err)
{
    for (size_t i = 0; i < suspects->count; i++) {
        const px_suspect *s = &suspects->items[i];
        if (s->rank <= k)
            PX_TRY(px_campaign_put_neuron(p->campaign, suspects->measure, s->class_index, s->layer,
                                          s->unit, s->score, err));
    }
    return PX_OK;
}

px_status px_pairs_finish(px_pairs *p, const char *command, double seconds, px_error *err)
{
    PX_TRY(px_campaign_set(p->campaign, "command", command, err));
    PX_TRY(px_campaign_set_int(p->campaign, "executions", p->executions, err));
    if (!isnan(seconds))
        PX_TRY(px_campaign_set_real(p->campaign, "seconds", p->before_s + seconds, err));
    return px_campaign_commit(p->campaign, err);
}
