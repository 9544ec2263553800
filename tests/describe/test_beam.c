/* tests/describe/test_beam.c - beams beside all phrases there are, and beside a plain search */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "describe/beam.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN = 3, STOP = KNOWN + 1, STEPS = 3, K = 2, F = 4, PHRASES = 1 + 3 + 9 + 27 };

static px_captioner *captioner_make(uint64_t seed)
{
    pxi_wordlist vocabulary = {0};
    px_error err = {0};
    assert_int_equal(pxi_wordlist_read("red\nblue\nedges\n", 15, &vocabulary, &err), PX_OK);
    const pxi_caption_sizes sizes = {.words = KNOWN + PXI_WORD_SPECIALS,
                                     .embedding = 5,
                                     .hidden = 6,
                                     .attention = 4,
                                     .size = F,
                                     .k = K};
    px_captioner *c = NULL;
    assert_int_equal(pxi_captioner_new(&vocabulary, &sizes, &c, &err), PX_OK);
    pxi_net_start(&c->decoder, seed, 0, c->decoder_weights);
    pxi_net_start(&c->language, seed, 64, c->language_weights);
    for (size_t i = 0; i < c->decoder.count; i++) /* further from uniform */
        c->decoder_weights[i] *= 2.0f;
    for (int i = 0; i < F; i++)
        c->standard.scale[i] = 1.0f;
    return c;
}

static void features_make(uint32_t item, float *features)
{
    px_random r = px_rng(3, PX_RNG_TEST, item, 0);
    for (int i = 0; i < K * F; i++)
        features[i] = (float)px_rng_normal(&r);
}

/* log p of a phrase as training sees it, word after given word; of either network. */
static double phrase_score(const px_captioner *c, const float *features, const int32_t *words,
                           size_t length, bool language)
{
    px_error err = {0};
    pxi_block block = {0};
    const pxi_sample sample = {.words = words, .length = length}, *const one = &sample;
    double loss = 0.0, penalty = 0.0;
    assert_int_equal(pxi_block_init(&block, 1, STEPS, &c->sizes, true, &err), PX_OK);
    pxi_block_fill(&block, &one, 1, KNOWN);
    memcpy(block.features, features, K * F * sizeof *features);
    if (language) {
        pxi_language_room room = {0};
        const pxi_language_task task = {
            .net = &c->language, .weights = c->language_weights, .block = &block, .losses = &loss};
        assert_int_equal(pxi_language_room_init(&room, &c->language, 1, STEPS, true, &err), PX_OK);
        assert_int_equal(pxi_language_run(&task, &room, &err), PX_OK);
        pxi_language_room_done(&room);
    } else {
        pxi_decoder_room room = {0};
        const pxi_decoder_task task = {.net = &c->decoder,
                                       .weights = c->decoder_weights,
                                       .block = &block,
                                       .losses = &loss,
                                       .penalties = &penalty};
        assert_int_equal(pxi_decoder_room_init(&room, &c->decoder, 1, STEPS, true, &err), PX_OK);
        assert_int_equal(pxi_decoder_run(&task, &room, &err), PX_OK);
        pxi_decoder_room_done(&room);
    }
    pxi_block_done(&block);
    return -loss;
}

typedef struct phrase {
    int32_t words[STEPS];
    size_t length, parent;
    bool finished;
    double score;
} phrase;

static int by_score(const void *a, const void *b)
{
    const phrase *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return x->words[x->length - 1] - y->words[y->length - 1];
}

/* The rules once more, without states, heaps and rows: every prefix is scored from its beginning.
 */
static size_t plain_search(const px_captioner *c, const float *features, size_t width,
                           phrase found[PHRASES])
{
    size_t count = 1;
    found[0] = (phrase){0};
    for (int t = 0; t < STEPS; t++) {
        phrase all[PHRASES * (KNOWN + 1)];
        size_t n = 0;
        for (size_t p = 0; p < count; p++) {
            if (found[p].finished) {
                all[n] = found[p];
                all[n++].parent = p;
                continue;
            }
            for (int w = 0; w <= KNOWN; w++) {
                phrase *child = &all[n++];
                *child = found[p];
                child->parent = p;
                child->words[child->length++] = w < KNOWN ? w : STOP;
                child->finished = w == KNOWN;
                child->score = phrase_score(c, features, child->words, child->length, false);
            }
        }
        qsort(all, n, sizeof *all, by_score);
        count = PX_MIN(n, width);
        memcpy(found, all, count * sizeof *all);
    }
    return count;
}

static void check_width(uint64_t seed, int width)
{
    px_captioner *c = captioner_make(seed);
    const px_caption_decoding how = {.beam = width, .steps = STEPS, .lambda = 0.2};
    pxi_beam beam = {0};
    px_error err = {0};
    assert_int_equal(pxi_beam_init(&beam, c, &how, &err), PX_OK);
    for (uint32_t item = 0; item < 3; item++) {
        float features[K * F];
        features_make(item, features);
        phrase want[PHRASES];
        const size_t count = plain_search(c, features, (size_t)width, want);
        size_t choice = 0, best = 0;
        double score = 0.0, merit = -HUGE_VAL;
        assert_int_equal(pxi_beam_choose(&beam, features, &choice, &score, &err), PX_OK);
        assert_int_equal(beam.count, count);
        for (size_t i = 0; i < count; i++) {
            const pxi_hypothesis *got = &beam.found[i];
            if (got->length != want[i].length || got->finished != want[i].finished ||
                memcmp(got->words, want[i].words, got->length * sizeof *got->words) != 0 ||
                !(fabs(got->score - want[i].score) < 1e-5))
                fail_msg("seed %d, width %d, unit %u, rank %zu: %g instead of %g", (int)seed, width,
                         item, i, got->score, want[i].score);
            const double alone = phrase_score(c, features, want[i].words, want[i].length, true);
            if (!(fabs(beam.alone[i] - alone) < 1e-5))
                fail_msg("width %d, rank %zu: log p(d) %g, not %g", width, i, beam.alone[i], alone);
            const bool empty = want[i].words[0] == STOP;
            if (!empty && want[i].score - 0.2 * alone > merit) {
                merit = want[i].score - 0.2 * alone;
                best = i;
            }
        }
        if (merit > -HUGE_VAL) {
            assert_int_equal(choice, best);
            assert_true(fabs(score - merit) < 1e-5);
        }
    }
    pxi_beam_done(&beam);
    px_captioner_free(c);
}

static void test_narrow(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int width = 1; width <= 7; width++)
            check_width(seed, width);
}

/* Wide enough for all phrases of the length: then what is found is what there is. */
static void test_exhaustive(void **state)
{
    (void)state;
    check_width(1, PHRASES + 5);
    px_captioner *c = captioner_make(2);
    const px_caption_decoding how = {.beam = PHRASES + 5, .steps = STEPS};
    pxi_beam beam = {0};
    px_error err = {0};
    float features[K * F];
    features_make(9, features);
    assert_int_equal(pxi_beam_init(&beam, c, &how, &err), PX_OK);
    assert_int_equal(pxi_beam_search(&beam, features, &err), PX_OK);
    assert_int_equal(beam.count, PHRASES);
    double best = -HUGE_VAL, sum = 0.0;
    for (int32_t a = 0; a <= KNOWN; a++)
        for (int32_t b = 0; b <= KNOWN; b++)
            for (int32_t d = 0; d <= KNOWN; d++) {
                const int32_t words[STEPS] = {a < KNOWN ? a : STOP, b < KNOWN ? b : STOP,
                                              d < KNOWN ? d : STOP};
                const size_t length = a == KNOWN ? 1 : b == KNOWN ? 2 : 3;
                best = fmax(best, phrase_score(c, features, words, length, false));
            }
    for (size_t i = 0; i < beam.count; i++) {
        sum += exp(beam.found[i].score);
        assert_true(i == 0 || beam.found[i].score <= beam.found[i - 1].score);
    }
    assert_true(fabs(beam.found[0].score - best) < 1e-5);
    assert_true(sum < 1.0); /* start, pad and unknown have their share, and are never said */
    pxi_beam_done(&beam);
    px_captioner_free(c);
}

/* Every word as likely as any other: ranks of parents decide, then numbers of words. */
static void test_ties(void **state)
{
    (void)state;
    px_captioner *c = captioner_make(1);
    memset(c->decoder_weights + c->decoder.tensors[PXI_DECODER_OUT].first, 0,
           (c->decoder.tensors[PXI_DECODER_OUT].count + c->sizes.words) * sizeof(float));
    static const struct {
        int width, steps;
        size_t count;
        struct {
            int32_t words[2];
            size_t length;
        } found[5];
    } cases[] = {
        {1, 2, 1, {{{0, 0}, 2}}},
        {2, 2, 2, {{{0, 0}, 2}, {{0, 1}, 2}}},
        {4, 1, 4, {{{0}, 1}, {{1}, 1}, {{2}, 1}, {{STOP}, 1}}},
        /* what is finished keeps its score, and stands before what goes on */
        {5, 2, 5, {{{STOP}, 1}, {{0, 0}, 2}, {{0, 1}, 2}, {{0, 2}, 2}, {{0, STOP}, 2}}},
    };
    float features[K * F];
    features_make(1, features);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const px_caption_decoding how = {.beam = cases[i].width, .steps = cases[i].steps};
        pxi_beam beam = {0};
        px_error err = {0};
        assert_int_equal(pxi_beam_init(&beam, c, &how, &err), PX_OK);
        assert_int_equal(pxi_beam_search(&beam, features, &err), PX_OK);
        assert_int_equal(beam.count, cases[i].count);
        for (size_t n = 0; n < beam.count; n++)
            if (beam.found[n].length != cases[i].found[n].length ||
                memcmp(beam.found[n].words, cases[i].found[n].words,
                       beam.found[n].length * sizeof(int32_t)) != 0)
                fail_msg("case %zu, rank %zu: words %d %d", i, n, (int)beam.found[n].words[0],
                         beam.found[n].length > 1 ? (int)beam.found[n].words[1] : -1);
        pxi_beam_done(&beam);
    }
    px_captioner_free(c);
}

static void test_greedy_is_a_beam_of_one(void **state)
{
    (void)state;
    enum { UNITS = 5 };
    px_captioner *c = captioner_make(4);
    const px_caption_decoding how = {.beam = 1, .steps = STEPS};
    float features[UNITS * K * F];
    int32_t words[UNITS * STEPS];
    px_error err = {0};
    for (uint32_t u = 0; u < UNITS; u++)
        features_make(u, features + u * K * F);
    assert_int_equal(pxi_greedy(c, features, UNITS, STEPS, words, &err), PX_OK);
    pxi_beam beam = {0};
    assert_int_equal(pxi_beam_init(&beam, c, &how, &err), PX_OK);
    for (size_t u = 0; u < UNITS; u++) {
        assert_int_equal(pxi_beam_search(&beam, features + u * K * F, &err), PX_OK);
        assert_memory_equal(beam.found[0].words, words + u * STEPS,
                            beam.found[0].length * sizeof *words);
    }
    pxi_beam_done(&beam);
    px_captioner_free(c);
}

/* Finite weights may still give infinite sums. */
static void test_overflow(void **state)
{
    (void)state;
    px_captioner *c = captioner_make(1);
    for (size_t i = 0; i < c->decoder.count; i++)
        c->decoder_weights[i] = 3e38f;
    float features[K * F];
    char *text = NULL;
    px_error err = {0};
    features_make(1, features);
    const px_caption_decoding how = {.beam = 3, .steps = STEPS};
    assert_int_equal(px_captioner_describe(c, features, 1, &how, &text, NULL, &err), PX_E_INPUT);
    assert_null(text);
    px_captioner_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow),   cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_ties),     cmocka_unit_test(test_greedy_is_a_beam_of_one),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
