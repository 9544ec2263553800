/* src/text/encoder_onnx.c - text encoders that are networks
 *
 * Tokens go in as integers, a mask beside them where the network wants one. What comes out is a
 * vector, taken as it is, or a hidden state per token, which is pooled: CLIP at the end of the
 * text (the first position of the highest number), others by the mean over the text's own tokens.
 * A network of open length runs at the length of the text where it has no mask, and at the next
 * multiple of LENGTH_STEP where it has one; passes of some lengths are kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "text/encoder.h"
#include "text/token_inputs.h"
#include "text/tokenizer.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MOST = 8, LENGTH_STEP = 8 };

static const char *const pools[] = {"mean", "eot", "cls", "last"};
typedef enum onnx_pool { POOL_MEAN, POOL_EOT, POOL_CLS, POOL_LAST } onnx_pool;

typedef struct onnx_pass {
    int64_t length;
    pxi_pass *pass;
} onnx_pass;

typedef struct onnx_state {
    px_model *model;
    char *path;
    px_tokenizer *tokenizer;
    px_token_inputs inputs;
    int output;           /* value */
    bool hidden;          /* a state per token */
    onnx_pool pool;       /* where hidden */
    int64_t most;         /* tokens, with special ones */
    int64_t length;       /* that the text at hand is run at */
    int64_t size;         /* of a vector */
    pxi_workers *workers; /* one lane: texts come one by one */
    onnx_pass passes[PASSES_MOST];
    int pass_next; /* to be replaced */
    px_token_ids ids;
    float *raw; /* what the network gives */
    size_t raw_cap;
} onnx_state;

static void onnx_free(void *state)
{
    onnx_state *s = state;
    if (!s)
        return;
    for (int i = 0; i < PASSES_MOST; i++)
        pxi_pass_close(s->passes[i].pass);
    pxi_workers_close(s->workers);
    pxi_tokenizer_free(s->tokenizer);
    px_model_free(s->model);
    free(s->path);
    free(s->ids.id);
    free(s->raw);
    free(s);
}

/* --- passes ---------------------------------------------------------------------------------- */

static px_status onnx_pass_open(onnx_state *s, int64_t length, pxi_pass **out, px_error *err)
{
    px_feed feeds[PXI_TOKEN_INPUTS_MOST];
    const pxi_task task = {.model = s->model,
                           .feeds = feeds,
                           .feed_count = pxi_token_feeds(&s->inputs, length, feeds),
                           .workers = s->workers};
    px_plan_options wants = px_plan_options_default();
    wants.keep = s->output >= 0 ? &s->output : NULL;
    wants.keep_count = s->output >= 0;
    wants.no_outputs = s->output >= 0;
    const px_status status = pxi_pass_open(&task, &wants, &(pxi_visitor){0}, out, err);
    return status == PX_OK ? PX_OK
                           : px_fail_in(err, status, "'%s' at %lld tokens (a lower length may do)",
                                        s->path, (long long)length);
}

static px_status onnx_pass_for(onnx_state *s, int64_t length, pxi_pass **out, px_error *err)
{
    for (int i = 0; i < PASSES_MOST; i++)
        if (s->passes[i].pass && s->passes[i].length == length) {
            *out = s->passes[i].pass;
            return PX_OK;
        }
    onnx_pass *place = &s->passes[s->pass_next];
    PX_TRY(onnx_pass_open(s, length, out, err));
    pxi_pass_close(place->pass);
    *place = (onnx_pass){.length = length, .pass = *out};
    s->pass_next = (s->pass_next + 1) % PASSES_MOST;
    return PX_OK;
}

/* --- one text -------------------------------------------------------------------------------- */

/* The length that the network is run at for so many tokens. */
static int64_t onnx_length(const onnx_state *s, int64_t tokens)
{
    if (s->inputs.length > 0)
        return s->inputs.length;
    if (pxi_tokenizer_kind_of(s->tokenizer) == PXI_TOKENIZER_CLIP)
        return s->most;
    if (!s->inputs.has_mask)
        return tokens;
    return PX_MIN((tokens + LENGTH_STEP - 1) / LENGTH_STEP * LENGTH_STEP, s->most);
}

/* The tokens between the special ones: [*first, *first + own), in s->ids; the rest is dropped. */
static px_status onnx_tokens(onnx_state *s, const char *text, size_t bytes, int64_t *first,
                             int64_t *own, px_text_facts *facts, px_error *err)
{
    const px_specials special = pxi_tokenizer_specials(s->tokenizer);
    px_token_ids *ids = &s->ids;
    ids->count = 0;
    ids->unknown = 0;
    bool fits = special.start < 0 || pxi_ids_add(ids, special.start);
    *first = (int64_t)ids->count;
    if (fits)
        PX_TRY(pxi_tokenizer_encode(s->tokenizer, text, bytes, ids, err));
    const int64_t all = (int64_t)ids->count - *first;
    *own = PX_MIN(all, s->most - *first - (special.end >= 0));
    ids->count = (size_t)(*first + *own);
    fits = fits && (special.end < 0 || pxi_ids_add(ids, special.end));
    if (!fits)
        return pxi_no_memory(err);
    *facts = (px_text_facts){.tokens = *own, .unknown = ids->unknown, .dropped = all - *own};
    return PX_OK;
}

/* The positions whose states are averaged. */
static void onnx_span(const onnx_state *s, int64_t first, int64_t own, int64_t *from, int64_t *to)
{
    int64_t highest = 0;
    *from = first;
    *to = first + own;
    switch (s->pool) {
    case POOL_MEAN:
        return;
    case POOL_EOT:
        for (int64_t i = 1; i < (int64_t)s->ids.count; i++)
            if (s->ids.id[i] > s->ids.id[highest])
                highest = i;
        *from = highest;
        break;
    case POOL_CLS:
        *from = 0;
        break;
    case POOL_LAST:
        *from = first + own - 1;
        break;
    }
    *to = *from + 1;
}

/* The text whose tokens are in s->ids, to s->raw. */
static px_status onnx_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    onnx_state *s = context;
    (void)job;
    const px_shape shape = px_plan_shape(pxi_pass_plan(lane->pass), s->output);
    PX_TRY(pxi_token_fill(&s->inputs, lane->session, s->length, &s->ids, err));
    PX_TRY(px_session_forward(lane->session, err));
    PX_TRY(PX_GROW(s->raw, s->raw_cap, (size_t)px_shape_count(&shape), err));
    return px_session_read(lane->session, s->output, -1, s->raw, err);
}

static px_status onnx_embed(void *state, const char *text, size_t bytes, float *vector,
                            px_text_facts *facts, px_error *err)
{
    onnx_state *s = state;
    int64_t first = 0, own = 0, from = 0, to = 1;
    PX_TRY(onnx_tokens(s, text, bytes, &first, &own, facts, err));
    memset(vector, 0, (size_t)s->size * sizeof *vector);
    if (own == 0)
        return PX_OK;
    s->length = onnx_length(s, (int64_t)s->ids.count);
    pxi_pass *pass = NULL;
    PX_TRY(onnx_pass_for(s, s->length, &pass, err));
    const px_status status = pxi_pass_each(pass, 1, NULL, onnx_job, s, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s' at %lld tokens (a lower length may do)", s->path,
                          (long long)s->length);
    if (s->hidden)
        onnx_span(s, first, own, &from, &to);
    for (int64_t d = 0; d < s->size; d++) {
        double sum = 0.0;
        for (int64_t i = from; i < to; i++)
            sum += (double)s->raw[i * s->size + d];
        vector[d] = (float)(sum / (double)(to - from));
    }
    return PX_OK;
}

/* --- opening --------------------------------------------------------------------------------- */

/* A state per token has rank 3, a vector rank 2; CLIP's kind likes the vector, others the states,
 * since what BERT pools itself was trained for something else. */
static px_status onnx_choose(onnx_state *s, const px_text_encoder_options *o, const px_plan *plan,
                             px_error *err)
{
    const px_graph *graph = px_model_graph(s->model);
    const bool clip = pxi_tokenizer_kind_of(s->tokenizer) == PXI_TOKENIZER_CLIP;
    const bool states = o->pool || !clip;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < graph->output_count; i++) {
            const int value = graph->outputs[i];
            const px_shape shape = px_plan_shape(plan, value);
            if (o->output ? strcmp(o->output, graph->values[value].name) != 0
                          : shape.rank != (states == (pass == 0) ? 3 : 2))
                continue;
            char text[PX_SHAPE_TEXT];
            if ((shape.rank != 2 && shape.rank != 3) || px_plan_dtype(plan, value) != PX_FLOAT32)
                return px_fail(
                    err, PX_E_UNSUPPORTED,
                    "'%s': output '%s' is %s %s; vectors [1, size] or states [1, tokens, "
                    "size] of float32 are expected",
                    s->path, graph->values[value].name, px_dtype_name(px_plan_dtype(plan, value)),
                    px_shape_text(&shape, text));
            s->output = value;
            s->hidden = shape.rank == 3;
            s->size = shape.dim[shape.rank - 1];
            return PX_OK;
        }
    if (o->output)
        return px_fail(err, PX_E_USAGE, "'%s' has no output '%s'; 'plexor info' lists them",
                       s->path, o->output);
    return px_fail(err, PX_E_UNSUPPORTED,
                   "'%s' gives neither a vector [1, size] nor a state per token [1, tokens, size]",
                   s->path);
}

static px_status onnx_choose_pool(onnx_state *s, const px_text_encoder_options *o, px_error *err)
{
    s->pool = pxi_tokenizer_kind_of(s->tokenizer) == PXI_TOKENIZER_CLIP ? POOL_EOT : POOL_MEAN;
    if (!o->pool)
        return PX_OK;
    for (size_t i = 0; i < PX_LEN(pools); i++)
        if (strcmp(o->pool, pools[i]) == 0) {
            s->pool = (onnx_pool)i;
            if (s->hidden)
                return PX_OK;
            return px_fail(err, PX_E_USAGE,
                           "pool '%s': '%s' gives one vector per text, there is nothing to pool",
                           o->pool, s->path);
        }
    return px_fail(err, PX_E_USAGE, "pool '%s': networks have eot, mean, cls and last", o->pool);
}

static px_status onnx_choose_length(onnx_state *s, const px_text_encoder_options *o, px_error *err)
{
    static const int64_t usual[] = {[PXI_TOKENIZER_CLIP] = 77,
                                    [PXI_TOKENIZER_GPT2] = 1024,
                                    [PXI_TOKENIZER_ROBERTA] = 512,
                                    [PXI_TOKENIZER_WORDPIECE] = 512};
    enum { LENGTH_LEAST = 3, LENGTH_MOST = 65536 };
    s->most = s->inputs.length > 0 ? s->inputs.length : usual[pxi_tokenizer_kind_of(s->tokenizer)];
    if (o->length) {
        if (s->inputs.length > 0 && o->length > s->inputs.length)
            return px_fail(err, PX_E_USAGE, "'%s' takes %lld tokens, not %lld", s->path,
                           (long long)s->inputs.length, (long long)o->length);
        s->most = o->length;
    }
    if (s->most < LENGTH_LEAST || s->most > LENGTH_MOST)
        return px_fail(err, PX_E_USAGE, "'%s': a length of %lld tokens; %d to %d are possible",
                       s->path, (long long)s->most, LENGTH_LEAST, LENGTH_MOST);
    return PX_OK;
}

static px_status onnx_open(onnx_state *s, const px_text_encoder_options *o, px_text_encoder *out,
                           px_error *err)
{
    pxi_pass *first = NULL;
    uint64_t files_hash = 0;
    PX_TRY(px_model_load(s->path, &s->model, err));
    PX_TRY(pxi_token_inputs_find(s->model, s->path, &s->inputs, err));
    PX_TRY(pxi_tokenizer_open(o, s->path, &s->tokenizer, &files_hash, err));
    s->inputs.pad = pxi_tokenizer_specials(s->tokenizer).pad;
    s->inputs.first_position = pxi_tokenizer_kind_of(s->tokenizer) == PXI_TOKENIZER_ROBERTA ? 2 : 0;
    PX_TRY(onnx_choose_length(s, o, err));
    s->output = -1;
    PX_TRY(pxi_workers_open(1, &s->workers, err));
    PX_TRY(onnx_pass_open(s, onnx_length(s, PX_MIN(s->most, LENGTH_STEP)), &first, err));
    px_status status = onnx_choose(s, o, pxi_pass_plan(first), err);
    pxi_pass_close(first);
    PX_THEN(status, onnx_choose_pool(s, o, err));
    PX_TRY(status);
    const uint64_t parts[] = {px_model_hash(s->model), files_hash,
                              (uint64_t)s->output,     s->hidden ? (uint64_t)s->pool + 1 : 0,
                              (uint64_t)s->most,       (uint64_t)o->cased};
    out->id = pxi_id_mix(out->id, parts, sizeof parts);
    out->size = (size_t)s->size;
    out->needs_words = true;
    px_text_format(&out->about, "%s: %lld dimensions, %s tokens (%zu), at most %lld, pool %s",
                   s->path, (long long)s->size,
                   pxi_tokenizer_name(pxi_tokenizer_kind_of(s->tokenizer)),
                   pxi_tokenizer_size(s->tokenizer), (long long)s->most,
                   s->hidden ? pools[s->pool] : "of the network");
    return PX_OK;
}

px_status pxi_encoder_onnx(const px_text_encoder_options *options, const char *path,
                           px_text_encoder *out, px_error *err)
{
    onnx_state *s = pxi_calloc(1, sizeof *s);
    if (s)
        s->path = pxi_strdup(path);
    if (!s || !s->path) {
        onnx_free(s);
        return pxi_no_memory(err);
    }
    out->state = s; /* freed with the encoder, whatever happens */
    out->free = onnx_free;
    out->embed = onnx_embed;
    return onnx_open(s, options, out, err);
}
