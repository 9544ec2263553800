/* tests/describe/caption_corpus.h - units whose captions their vectors tell
 *
 * Vectors have a number per colour and per thing, which is high where the unit has it, and noise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SEMANTICS_CAPTION_CORPUS_H
#define TESTS_SEMANTICS_CAPTION_CORPUS_H

#include <internal/captioner.h>
#include <internal/rng.h>
#include <stdio.h>
#include <stdlib.h>

enum { CORPUS_COLORS = 4, CORPUS_THINGS = 4, CORPUS_PARAPHRASES = 3 };

static const char *const corpus_colors[CORPUS_COLORS] = {"red", "green", "blue", "gray"};
static const char *const corpus_things[CORPUS_THINGS] = {"edges", "spots", "stripes", "rings"};

typedef struct corpus {
    px_caption_data data;
    float *features;
    px_caption *captions;
    char (*texts)[64];
} corpus;

static inline void corpus_done(corpus *c)
{
    free(c->features);
    free(c->captions);
    free(c->texts);
}

/* `per_unit` captions each, paraphrases from the second on; `size` >= 8 numbers per vector. */
static inline corpus corpus_make(size_t units, size_t k, size_t size, size_t per_unit, double noise)
{
    static const char *const forms[CORPUS_PARAPHRASES] = {"%1$s %2$s", "%2$s that are %1$s",
                                                          "a lot of %1$s %2$s"};
    corpus c = {.features = malloc(units * k * size * sizeof *c.features),
                .captions = malloc(units * per_unit * sizeof *c.captions),
                .texts = malloc(units * per_unit * sizeof *c.texts)};
    for (size_t u = 0; u < units; u++) {
        px_random r = px_rng(7, PX_RNG_TEST, (uint32_t)u, 0);
        const size_t color = u % CORPUS_COLORS, thing = u / CORPUS_COLORS % CORPUS_THINGS;
        for (size_t i = 0; i < k * size; i++) {
            const size_t at = i % size;
            const int on = at == color || at == CORPUS_COLORS + thing;
            c.features[u * k * size + i] = (float)(3.0 + on * 2.0 + noise * px_rng_normal(&r));
        }
        for (size_t p = 0; p < per_unit; p++) {
            char *text = c.texts[u * per_unit + p];
            snprintf(text, sizeof c.texts[0], forms[p % CORPUS_PARAPHRASES], corpus_colors[color],
                     corpus_things[thing]);
            c.captions[u * per_unit + p] = (px_caption){u, text};
        }
    }
    c.data = (px_caption_data){.features = c.features,
                               .units = units,
                               .k = k,
                               .size = size,
                               .captions = c.captions,
                               .caption_count = units * per_unit};
    return c;
}

static inline px_captioner_options corpus_options(void)
{
    px_captioner_options o = px_captioner_options_default();
    o.embedding = 8;
    o.hidden = 24;
    o.attention = 16;
    o.epochs = 30;
    o.batch = 32;
    o.language_batch = 64;
    o.rate = 1e-2;
    o.held_out = 0.0;
    o.threads = 1;
    return o;
}

#endif
