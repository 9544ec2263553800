/* src/describe/caption_net.h - the two networks of a captioner: their numbers, and what they eat
 *
 * Why these are not graphs for the engine: attention makes every step's input depend on the state
 * before it, so a graph would be unrolled, one per caption length and another one for beams; each
 * copy of a step would pack the same matrices anew after every move of the weights; word vectors,
 * which Gather reads, are no weights to the engine; and padded steps would have to be computed and
 * masked. Here a block of captions goes through its steps longest first, so that a step has only
 * rows that are still going, and everything that does not depend on the state before (words, keys,
 * scores, all gradients of weights) is one product of the engine's GEMM per block.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_NET_H
#define PXI_DESCRIBE_CAPTION_NET_H

#include <plexor/tensor.h>
#include <stdint.h>

typedef struct pxi_caption_sizes {
    size_t words;     /* with the four special ones */
    size_t embedding; /* D */
    size_t hidden;    /* H */
    size_t attention; /* A */
    size_t size;      /* F: numbers per vector */
    size_t k;         /* vectors per unit */
} pxi_caption_sizes;

/* More than these is neither trained nor read from a file. */
enum { PXI_CAPTION_MOST_SIZE = 1 << 16, PXI_CAPTION_MOST_K = 1 << 12 };
#define PXI_CAPTION_MOST_WEIGHTS ((size_t)1 << 28)

typedef struct pxi_net_tensor {
    const char *name;
    px_shape shape;
    size_t first, count; /* among all numbers of the network */
    double spread;       /* first values are uniform within +-spread; 0: normal */
} pxi_net_tensor;

enum { PXI_NET_TENSORS = 20 };

typedef struct pxi_net { /* how a network's numbers lie, without gaps */
    pxi_caption_sizes sizes;
    pxi_net_tensor tensors[PXI_NET_TENSORS];
    size_t tensor_count, count;
} pxi_net;

/* Numbers of tensors. Matrices are (outputs, inputs) as in PyTorch; gates are in the order input,
 * forget, cell, output. What is named together lies together, so that one product serves all. */
enum {
    PXI_DECODER_EMBEDDING,
    PXI_DECODER_START_H,
    PXI_DECODER_START_C,
    PXI_DECODER_START_H_BIAS,
    PXI_DECODER_START_C_BIAS,
    PXI_DECODER_KEY,
    PXI_DECODER_KEY_BIAS,
    PXI_DECODER_QUERY, /* with GATE and STATE: all that reads the state */
    PXI_DECODER_GATE,
    PXI_DECODER_STATE,
    PXI_DECODER_QUERY_BIAS, /* likewise */
    PXI_DECODER_GATE_BIAS,
    PXI_DECODER_STATE_BIAS,
    PXI_DECODER_SCORE,
    PXI_DECODER_SCORE_BIAS,
    PXI_DECODER_INPUT,
    PXI_DECODER_INPUT_BIAS,
    PXI_DECODER_OUT,
    PXI_DECODER_OUT_BIAS,
};

enum {
    PXI_LANGUAGE_EMBEDDING,
    PXI_LANGUAGE_INPUT, /* of layer 0; layer 1 is PXI_LANGUAGE_LAYER further */
    PXI_LANGUAGE_STATE,
    PXI_LANGUAGE_INPUT_BIAS,
    PXI_LANGUAGE_STATE_BIAS,
    PXI_LANGUAGE_LAYER = 4,
    PXI_LANGUAGE_OUT = 1 + 2 * PXI_LANGUAGE_LAYER,
    PXI_LANGUAGE_OUT_BIAS,
};

/* PX_E_UNSUPPORTED beyond PXI_CAPTION_MOST_WEIGHTS. */
px_status pxi_decoder_net(const pxi_caption_sizes *sizes, pxi_net *net, px_error *err);
px_status pxi_language_net(const pxi_caption_sizes *sizes, pxi_net *net, px_error *err);

/* First weights; `item` is the address of the first tensor among the random numbers. */
void pxi_net_start(const pxi_net *net, uint64_t seed, uint32_t item, float *weights);

/* --- blocks of captions --- */

typedef struct pxi_sample { /* one caption */
    size_t unit;
    const int32_t *words; /* with the stop; what is read is start, then all but the last */
    size_t length;
} pxi_sample;

typedef struct pxi_block {     /* captions that go through the steps together, longest first */
    size_t rows, steps, total; /* total: words of all, N below */
    size_t *active;            /* [steps]: rows that have a step t */
    size_t *offset;            /* [steps]: where the rows of step t begin among N */
    int32_t *inputs, *targets; /* [N] */
    float *mask;               /* [N][H]: factors of dropout */
    bool dropped;              /* `mask` counts */
    float *features;           /* [rows][k][F], of the decoder */
} pxi_block;

/* Room for that many captions and steps; features with `features`. */
px_status pxi_block_init(pxi_block *block, size_t rows, size_t steps,
                         const pxi_caption_sizes *sizes, bool features, px_error *err);
void pxi_block_done(pxi_block *block);

/* Lays out captions that are sorted, longest first; `start` is the first word's number. */
void pxi_block_fill(pxi_block *block, const pxi_sample *const *samples, size_t rows, int32_t start);

/* Sums of the words' losses [N], over the steps of each row. */
void pxi_block_losses(const pxi_block *block, const double *words, double *rows);

typedef struct pxi_standard { /* features less their mean, over their deviation; [F] each */
    float *mean, *scale;
} pxi_standard;

/* Standardises k vectors of one unit. */
void pxi_standardise(const pxi_standard *standard, const pxi_caption_sizes *sizes,
                     const float *features, float *out);

#endif
