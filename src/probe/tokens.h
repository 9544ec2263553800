/* src/probe/tokens.h - what a transformer has that other networks have not
 *
 *     x ─┬───────────────(+)─┬──────────(+)──► the residual stream: what blocks add to
 *        └ norm ─ attention ─┘└ norm ─ MLP ┘
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_TOKENS_H
#define PXI_PROBE_TOKENS_H

#include "probe/anatomy.h"

typedef enum pxi_token_role {
    PXI_TOKEN_NONE = 0,
    PXI_TOKEN_STREAM, /* the residual stream inside of a block; (tokens, features) */
    PXI_TOKEN_BLOCK,  /* the same at a block's end */
    PXI_TOKEN_NORM,   /* the normalisation before the head */
    PXI_TOKEN_READ,   /* the one token that the head reads */
    PXI_TOKEN_HEADS,  /* what attention's heads give, before they are put together */
} pxi_token_role;

typedef struct pxi_tokens {
    pxi_token_role *role;  /* per value */
    int64_t place, count;  /* the token that the head reads, of so many; place -1: none by itself */
    int64_t rows, columns; /* of patches, as a convolution cut the picture; 0: none did */
} pxi_tokens;

/* `scores`: the value of the class scores; -1: none. Everything lives in `arena`. */
px_status pxi_tokens_find(const pxi_anatomy *anatomy, int scores, px_arena *arena, pxi_tokens *out,
                          px_error *err);

#endif
