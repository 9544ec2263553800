/* src/text/token_inputs.h - the inputs of a text encoder: token numbers, a mask, positions */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_TOKEN_INPUTS_H
#define PXI_TEXT_TOKEN_INPUTS_H

#include "text/tokenizer.h"

#include <internal/source.h>
#include <plexor/engine.h>
#include <plexor/text_encoder.h>

enum { PXI_TOKEN_INPUTS_MOST = 4 };

typedef enum pxi_token_role {
    PXI_TOKEN_IDS,
    PXI_TOKEN_MASK,      /* 1 for the text's tokens, 0 for what fills up */
    PXI_TOKEN_TYPES,     /* zeros */
    PXI_TOKEN_POSITIONS, /* 0, 1, 2 ..; RoBERTa's begin at 2 */
} pxi_token_role;

typedef struct px_token_inputs {
    size_t count;
    int value[PXI_TOKEN_INPUTS_MOST];
    px_dtype dtype[PXI_TOKEN_INPUTS_MOST];
    pxi_token_role role[PXI_TOKEN_INPUTS_MOST];
    bool has_mask;
    int64_t batch, length;  /* as declared; batch at least 1, length <= 0: open */
    int64_t pad;            /* what fills up; below 0: 0 */
    int64_t first_position; /* of the positions */
} px_token_inputs;

pxi_token_role pxi_token_role_of(const char *input); /* by its name */
/* What an input has for token `id` at a place; `real`: it is of the text, and does not fill up. */
int64_t pxi_token_value(pxi_token_role role, int64_t id, bool real, int64_t place,
                        int64_t first_position);
/* Which input is what, by name and type. */
px_status pxi_token_inputs_find(const px_model *model, const char *name, px_token_inputs *out,
                                px_error *err);
size_t pxi_token_feeds(const px_token_inputs *inputs, int64_t length, px_feed *feeds);
px_status pxi_token_fill(const px_token_inputs *inputs, px_session *session, int64_t length,
                         const px_token_ids *ids, px_error *err);

/* A pxi_text_opener (<internal/source.h>). */
px_status pxi_text_coder_open(const px_inputs *inputs, pxi_text_coder *out, px_error *err);

/* The tokeniser that the options name, or that the files beside the network tell: vocab.txt is
 * WordPiece's, merges.txt BPE's. *hash is of the files. */
px_status pxi_tokenizer_open(const px_text_encoder_options *options, const char *model_path,
                             px_tokenizer **out, uint64_t *hash, px_error *err);

#endif
