/* include/internal/captioner.h - from what a neuron's exemplars look like to a phrase
 *
 *     px_caption_data data = {.features = features, .units = 2400, .k = 15, .size = 134,
 *                             .captions = captions, .caption_count = 7200};
 *     px_captioner_options options = px_captioner_options_default();
 *     px_captioner_train(&data, &options, &captioner, &report, &err);
 *     px_captioner_describe(captioner, others, 688, NULL, texts, NULL, &err);  // free each text
 *     px_captioner_save(captioner, "captioner.npz", &err);
 *
 * A unit is k vectors of F numbers, one per exemplar (annotation vectors); what they are made of is
 * the caller's. Two networks are learnt: an LSTM that reads the vectors with attention and tells
 * words, p(d|R), after Xu et al., Show, Attend and Tell, ICML 2015; and an LSTM language model p(d)
 * that knows how common a phrase is. A beam search on the first proposes phrases; said is the one
 * with the largest log p(d|R) - lambda log p(d), which prefers what is special to the unit
 * (Hernandez et al., Natural Language Descriptions of Deep Visual Features, ICLR 2022; Eq 4 of
 * NSGen). Training and phrases are the same bytes for any number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CAPTIONER_H
#define PXI_INTERNAL_CAPTIONER_H

#include <plexor/engine.h>

PX_BEGIN_DECLS

typedef struct px_captioner px_captioner;

typedef struct px_caption {
    size_t unit;
    const char *text; /* UTF-8; the case of A to Z does not matter */
} px_caption;

typedef struct px_caption_data {
    const float *features; /* [units][k][size], as they come: they are standardised here */
    size_t units, k, size;
    const px_caption *captions; /* any number per unit; a unit without one takes no part */
    size_t caption_count;
} px_caption_data;

typedef struct px_caption_decoding { /* how phrases are found */
    int beam;      /* hypotheses that are kept, 1 to PX_CAPTION_MOST_BEAM; 1 and lambda 0: greedy */
    int steps;     /* most words, the end counting as one */
    double lambda; /* weight of the language model; 1 is the equation, 0.2 the published code's */
    int threads;   /* <= 0: one per core */
} px_caption_decoding;

enum { PX_CAPTION_MOST_BEAM = 1024, PX_CAPTION_MOST_STEPS = 64 };

px_caption_decoding px_caption_decoding_default(void); /* 50, 15, 0.2 */

typedef struct px_captioner_options {
    int embedding, hidden, attention; /* numbers per word, LSTM state, attention */
    int epochs;                       /* at most, of either network */
    int batch, language_batch;        /* captions per step */
    double rate, decay;               /* AdamW */
    double dropout;     /* of the state before words, and between the model's layers */
    double regularizer; /* of sum over time of the attention towards 1; 0: none */
    int patience;       /* epochs without gain before training stops: one more than this ends it */
    double held_out; /* share of the units that decides about that; 0: none, all epochs are run */
    double clip;     /* largest norm of a gradient; 0: no clipping */
    uint64_t seed;
    int threads;                  /* <= 0: one per core */
    px_caption_decoding decoding; /* kept with the captioner as its own */
    px_progress_fn progress;      /* counts captions of both networks, over all epochs there may be;
                                     returning false: PX_E_CANCELLED */
    void *progress_context;
} px_captioner_options;

/* The published settings: 128, 512, 512; 100 epochs; 64, 128; 1e-3, 0.01; 0.5; 1; 4; 0.05; no
 * clipping; seed 0. For 60 to 150 words hidden and attention of 256 suffice. */
px_captioner_options px_captioner_options_default(void);

typedef struct px_captioner_report {
    int epochs, best_epoch; /* that were run; whose weights were kept, from 1 */
    double loss;            /* of the last epoch's captions, as trained on */
    double bleu;            /* best, held out, greedy, 0 to 100; NaN: none held out */
    int language_epochs, language_best_epoch; /* of the language model */
    double language_loss;                     /* nats per word; held out if something is */
    size_t units, held_out_units, words;      /* with a caption; of them held out; vocabulary */
    int64_t tokens;                   /* words and ends that both networks were trained on */
    double seconds, language_seconds; /* clock time: of the decoder, of the language model */
} px_captioner_report;

/* Learns both networks. Units, not captions, are held out; words are those of the others. Features
 * are standardised by the mean and deviation of the units that are trained on. `report` may be
 * NULL. PX_E_INPUT for features that are not finite, captions without words or of units that are
 * not there; PX_E_USAGE for options out of range. */
px_status px_captioner_train(const px_caption_data *data, const px_captioner_options *options,
                             px_captioner **out, px_captioner_report *report, px_error *err);
void px_captioner_free(px_captioner *captioner); /* NULL is fine */

/* A phrase for each of `units` times k vectors: texts[i] is the caller's to free; on failure all
 * are NULL. scores[i] (may be NULL) is log p(d|R) - lambda log p(d). `decoding` NULL: the
 * captioner's own. A unit's phrase does not depend on the other units. The text is empty only
 * where every hypothesis was. Threads may share a captioner. */
px_status px_captioner_describe(const px_captioner *captioner, const float *features, size_t units,
                                const px_caption_decoding *decoding, char **texts, double *scores,
                                px_error *err);

size_t px_captioner_k(const px_captioner *captioner);    /* vectors per unit */
size_t px_captioner_size(const px_captioner *captioner); /* numbers per vector */
size_t px_captioner_word_count(const px_captioner *captioner);
const char *px_captioner_word(const px_captioner *captioner, size_t i); /* frequent first */
px_caption_decoding px_captioner_decoding(const px_captioner *captioner);

/* A text of the caller's that goes into the file: what the vectors are made of, say. At most 64
 * KiB. NULL and "" are the same. */
px_status px_captioner_set_note(px_captioner *captioner, const char *note, px_error *err);
const char *px_captioner_note(const px_captioner *captioner);

/* Of words, numbers and note. */
uint64_t px_captioner_id(const px_captioner *captioner);

/* One file, an NPZ that a damaged or hostile copy of is refused: PX_E_INPUT. */
px_status px_captioner_save(const px_captioner *captioner, const char *path, px_error *err);
px_status px_captioner_load(const char *path, px_captioner **out, px_error *err);

/* --- BLEU ----------------------------------------------------------------------------------------
 *
 *     px_bleu bleu = {0};
 *     px_bleu_add(&bleu, said, references, 3, &err);     // once per unit
 *     double percent = px_bleu_value(&bleu, NULL);
 *
 * Papineni, Roukos, Ward, Zhu, ACL 2002: corpus BLEU-4 with the closest reference length. At the
 * i-th order without a match the precision is 1 / (2^i * n-grams); orders that no hypothesis is
 * long enough for take no part.
 */

enum { PX_BLEU_ORDERS = 4 };

typedef struct px_bleu { /* open: sums, {0} is none; two are joined by adding them up */
    int64_t matches[PX_BLEU_ORDERS], total[PX_BLEU_ORDERS];
    int64_t length, reference_length; /* words */
} px_bleu;

/* Texts are cut into words as captions are. */
px_status px_bleu_add(px_bleu *bleu, const char *hypothesis, const char *const *references,
                      size_t count, px_error *err);
/* 0 to 100; 0 for nothing. `precisions` (may be NULL) as they enter, NaN where they do not. */
double px_bleu_value(const px_bleu *bleu, double precisions[PX_BLEU_ORDERS]);

PX_END_DECLS
#endif
