/* src/text/text_rows.c - texts of a data set as a classifier's rows: token numbers, a mask */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/source.h>

#include "base/file.h"
#include "base/memory.h"
#include "text/token_inputs.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_coder {
    px_tokenizer *tokenizer;
    const px_inputs *inputs;
    pxi_token_role *role; /* per input */
    int64_t pad, first_position;
} text_coder;

static void coder_free(void *own)
{
    text_coder *c = own;
    if (!c)
        return;
    pxi_tokenizer_free(c->tokenizer);
    free(c->role);
    free(c);
}

/* The special tokens around it stay where it is cut off. */
static px_status coder_tokens(const text_coder *c, const char *text, size_t size, px_token_ids *ids,
                              px_error *err)
{
    const px_specials special = pxi_tokenizer_specials(c->tokenizer);
    const size_t most = (size_t)c->inputs->tokens;
    bool fits = special.start < 0 || pxi_ids_add(ids, special.start);
    if (fits)
        PX_TRY(pxi_tokenizer_encode(c->tokenizer, text, size, ids, err));
    ids->count = PX_MIN(ids->count, most - (special.end >= 0));
    fits = fits && (special.end < 0 || pxi_ids_add(ids, special.end));
    return fits ? PX_OK : pxi_no_memory(err);
}

static px_status coder_encode(const void *own, const char *text, size_t size, float *rows,
                              px_error *err)
{
    const text_coder *c = own;
    const int64_t length = c->inputs->tokens;
    px_token_ids ids = {0};
    const px_status status = coder_tokens(c, text, size, &ids, err);
    for (int i = 0; i < c->inputs->count && status == PX_OK; i++)
        for (int64_t t = 0; t < length; t++) {
            const bool real = (size_t)t < ids.count;
            const int64_t number = real ? ids.id[t] : PX_MAX(c->pad, 0);
            rows[i * length + t] =
                (float)pxi_token_value(c->role[i], number, real, t, c->first_position);
        }
    free(ids.id);
    return status;
}

/* --- tokens as words ------------------------------------------------------------------------- */

/* Characters that stand for bytes become these again. */
static void bytes_add(px_text *text, const char *token)
{
    char symbol[256][4];
    int order[256];
    pxi_byte_symbols(symbol, order);
    while (*token) {
        if (strcmp(token, "</w>") == 0) {
            px_text_add(text, " ");
            return;
        }
        int b = 0;
        while (b < 256 && strncmp(token, symbol[b], strlen(symbol[b])) != 0)
            b++;
        if (b == 256)
            return;
        px_text_format(text, "%c", b);
        token += strlen(symbol[b]);
    }
}

static px_status coder_decode(const void *own, const float *rows, char **out, px_error *err)
{
    const text_coder *c = own;
    const px_specials special = pxi_tokenizer_specials(c->tokenizer);
    const bool pieces = pxi_tokenizer_kind_of(c->tokenizer) == PXI_TOKENIZER_WORDPIECE;
    px_text text = {0};
    int part = 0;
    while (c->role[part] != PXI_TOKEN_IDS)
        part++;
    for (int64_t t = 0; t < c->inputs->tokens; t++) {
        const int64_t id = (int64_t)rows[part * c->inputs->tokens + t];
        const char *token = pxi_tokenizer_token(c->tokenizer, id);
        if (id == special.end && special.end >= 0)
            break;
        if (!token || id == special.start || id == special.pad)
            continue;
        if (!pieces)
            bytes_add(&text, token);
        else if (strncmp(token, "##", 2) == 0)
            px_text_add(&text, token + 2);
        else
            px_text_format(&text, "%s%s", text.length ? " " : "", token);
    }
    *out = px_text_failed(&text) ? NULL : px_text_take(&text);
    if (!*out && !px_text_failed(&text))
        *out = pxi_strdup("");
    px_text_done(&text);
    return *out ? PX_OK : pxi_no_memory(err);
}

/* A cased vocabulary has "The" as it stands; of one of lower case that is pieces, or unknown. */
static px_status coder_is_cased(const px_text_encoder_options *options, const char *beside,
                                bool *cased, px_error *err)
{
    px_text_encoder_options as_is = *options;
    px_tokenizer *tokenizer = NULL;
    px_token_ids ids = {0};
    uint64_t hash;
    as_is.cased = true;
    PX_TRY(pxi_tokenizer_open(&as_is, beside, &tokenizer, &hash, err));
    const px_status status = pxi_tokenizer_encode(tokenizer, "The", 3, &ids, err);
    *cased = ids.count == 1 && ids.unknown == 0;
    free(ids.id);
    pxi_tokenizer_free(tokenizer);
    return status;
}

static px_status coder_tokenizer(text_coder *c, px_error *err)
{
    const char *file = c->inputs->tokenizer, *beside = file ? file : c->inputs->model_path;
    px_text_encoder_options options = {0};
    uint64_t hash;
    if (file && pxi_has_suffix(file, ".txt") && !pxi_has_suffix(file, "merges.txt")) {
        options.vocabulary = file;
        options.tokenizer = pxi_tokenizer_name(PXI_TOKENIZER_WORDPIECE);
    } else if (file && pxi_has_suffix(file, "tokenizer.json")) {
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': this form is not read; its vocab.txt (WordPiece), or vocab.json and "
                       "merges.txt (BPE), are: save_pretrained(..., legacy_format=True) writes "
                       "them",
                       file);
    }
    PX_TRY(coder_is_cased(&options, beside, &options.cased, err));
    return pxi_tokenizer_open(&options, beside, &c->tokenizer, &hash, err);
}

px_status pxi_text_coder_open(const px_inputs *inputs, pxi_text_coder *out, px_error *err)
{
    bool has_ids = false;
    text_coder *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    c->inputs = inputs;
    px_status status = PX_NEW(c->role, inputs->count, err);
    for (int i = 0; i < inputs->count && status == PX_OK; i++) {
        c->role[i] = pxi_token_role_of(inputs->part[i].name);
        has_ids |= c->role[i] == PXI_TOKEN_IDS;
    }
    if (status == PX_OK && (!has_ids || !inputs->rows || inputs->tokens < 3))
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "the network takes no texts: it has no input [batch, tokens] of token "
                         "numbers");
    PX_THEN(status, coder_tokenizer(c, err));
    if (status != PX_OK) {
        coder_free(c);
        return status;
    }
    c->pad = pxi_tokenizer_specials(c->tokenizer).pad;
    c->first_position = pxi_tokenizer_kind_of(c->tokenizer) == PXI_TOKENIZER_ROBERTA ? 2 : 0;
    *out = (pxi_text_coder){
        .own = c, .encode = coder_encode, .decode = coder_decode, .free = coder_free};
    return PX_OK;
}
