/* src/generate/pairs.c - originals and what became of them, written into a campaign */
#include "base/memory.h"
#include "generate/seed_names.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/pairs.h>
#include <plexor/text.h>
#include <stdlib.h>

enum { COMMIT_EVERY = 256 };

struct px_pairs {
    px_campaign *campaign;
    const px_dataset *set;
    size_t size;                /* values of an input */
    bool rounds;                /* pixels are bytes */
    double unit;                /* of a stored float, in raw values */
    void *pixels, *seed_pixels; /* of one input each, in the campaign's type */
    int64_t put, executions;
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
    px_pairs *p = pxi_calloc(1, sizeof *p);
    if (!p)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    p->campaign = campaign;
    p->set = set;
    p->size = size;
    p->rounds = identity.dtype == PX_UINT8;
    p->unit = px_dataset_is_8bit(set) ? px_length_levels(pre, 1.0) : 1.0;
    p->pixels = pxi_calloc(size, sizeof(float));
    p->seed_pixels = pxi_calloc(size, sizeof(float));
    if (!p->pixels || !p->seed_pixels) {
        px_pairs_free(p);
        return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    const px_status status = pxi_put_classes(campaign, NULL, set, err);
    if (status == PX_OK)
        *out = p;
    else
        px_pairs_free(p);
    return status;
}

void px_pairs_free(px_pairs *p)
{
    if (!p)
        return;
    free(p->pixels);
    free(p->seed_pixels);
    free(p);
}

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
    return ++p->put % COMMIT_EVERY == 0 ? px_campaign_commit(p->campaign, err) : PX_OK;
}

/* With the chain, which is done with afterwards. */
static px_status put_chained(px_pairs *p, px_pair *pair, px_text *chain, px_error *err)
{
    pair->chain = px_text_get(chain);
    const px_status status = px_text_failed(chain) ? px_fail(err, PX_E_NOMEM, "out of memory")
                                                   : px_pairs_put(p, pair, err);
    px_text_done(chain);
    return status;
}

px_status px_pairs_put_attack(px_pairs *p, const px_attack_options *o, const px_attack_made *made,
                              px_error *err)
{
    const px_attack_row *row = made->row;
    const px_attack_form *form = &row->stored;
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
    return put_chained(p, &pair, &chain, err);
}

px_status px_pairs_put_synthesis(px_pairs *p, const px_synthesis_options *o,
                                 const px_synthesis_made *made, double confidence_before,
                                 double confidence, px_error *err)
{
    const px_synthesis_row *row = made->row;
    char step[PX_REAL_TEXT], distance[PX_REAL_TEXT];
    px_text chain = {0};
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
    return put_chained(p, &pair, &chain, err);
}

px_status px_pairs_finish(px_pairs *p, const char *command, double seconds, px_error *err)
{
    PX_TRY(px_campaign_set(p->campaign, "command", command, err));
    PX_TRY(px_campaign_set_int(p->campaign, "executions", p->executions, err));
    if (!isnan(seconds))
        PX_TRY(px_campaign_set_real(p->campaign, "seconds", seconds, err));
    return px_campaign_commit(p->campaign, err);
}
