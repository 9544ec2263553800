/* src/describe/beam.h - words for vectors: greedy, and by beam search with re-ranking
 *
 * Words that may be said are those of the vocabulary, and stop; never start, pad and unknown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_BEAM_H
#define PXI_DESCRIBE_BEAM_H

#include "describe/caption_decoder.h"
#include "describe/caption_language.h"
#include "describe/captioner_internal.h"

typedef struct pxi_hypothesis {
    double score;   /* log p(d|R) so far */
    int32_t *words; /* [steps], the stop at the end once it is finished */
    size_t length;
    bool finished;
    size_t row; /* of its state, while it is not */
} pxi_hypothesis;

typedef struct beam_candidate {
    double score;
    size_t parent;
    int32_t word; /* -1: a finished parent itself */
} beam_candidate;

typedef struct pxi_beam { /* a worker's own */
    const px_captioner *captioner;
    size_t width, steps;
    double lambda;
    pxi_hypothesis *found, *next; /* [width], best first */
    size_t count;                 /* of `found` */
    beam_candidate *heap;         /* [width] */
    float *features;              /* [k][F], standardised */
    float *h[2], *c[2], *scores;  /* [width][H], [width][words] */
    int32_t *last, *words;        /* [width]; all words of the hypotheses */
    pxi_decoder_room decoder;
    pxi_language_room language;
    pxi_block block;
    pxi_sample *samples;
    const pxi_sample **order;
    double *losses, *alone; /* [width] */
    float *memory;
} pxi_beam;

px_status pxi_beam_init(pxi_beam *beam, const px_captioner *captioner,
                        const px_caption_decoding *decoding, px_error *err);
void pxi_beam_done(pxi_beam *beam);

/* Fills `found` for k vectors as they are given. */
px_status pxi_beam_search(pxi_beam *beam, const float *features, px_error *err);
/* log p(d) of all that was found, into `alone`; zeros where lambda is 0. */
px_status pxi_beam_judge(pxi_beam *beam, px_error *err);

/* The index of the largest given - lambda * alone; ties: the lower one. Those that are empty come
 * after all others. */
size_t pxi_rerank(const double *given, const double *alone, const bool *empty, size_t count,
                  double lambda);

/* Search, judge and choose: the index of what to say. */
px_status pxi_beam_choose(pxi_beam *beam, const float *features, size_t *choice, double *score,
                          px_error *err);

/* The likeliest word at each step, for up to PXI_GREEDY_UNITS units at once; `features` are
 * standardised. words is [units][steps], and ends with a stop or at its end. */
enum { PXI_GREEDY_UNITS = 16 };
px_status pxi_greedy(const px_captioner *captioner, const float *features, size_t units,
                     size_t steps, int32_t *words, px_error *err);

#endif
