/* tests/describe/test_captioner.c - captioners learn, keep their best, and are the same everywhere
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "describe/caption_corpus.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

static px_captioner *train(const corpus *c, const px_captioner_options *options,
                           px_captioner_report *report)
{
    px_captioner *captioner = NULL;
    px_error err = {0};
    if (px_captioner_train(&c->data, options, &captioner, report, &err) != PX_OK)
        fail_msg("training: %s", err.message);
    return captioner;
}

static char **describe(const px_captioner *captioner, const corpus *c,
                       const px_caption_decoding *how, double *scores)
{
    char **texts = calloc(c->data.units, sizeof *texts);
    px_error err = {0};
    if (px_captioner_describe(captioner, c->features, c->data.units, how, texts, scores, &err) !=
        PX_OK)
        fail_msg("describing: %s", err.message);
    return texts;
}

static void texts_done(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

/* Every unit's own caption, once the corpus has been seen often enough. */
static void test_learns_by_heart(void **state)
{
    (void)state;
    corpus c = corpus_make(16, 3, 10, 1, 0.3);
    px_captioner_options options = corpus_options();
    options.epochs = 120;
    options.dropout = 0.0;
    options.batch = 8;
    px_captioner_report report;
    px_captioner *captioner = train(&c, &options, &report);
    assert_int_equal(report.epochs, 120);
    assert_int_equal(report.best_epoch, 120);
    assert_int_equal(report.words, 8);
    assert_int_equal(report.tokens, 2 * 120 * 16 * 3);
    assert_true(isnan(report.bleu));
    assert_int_equal(px_captioner_word_count(captioner), 8);
    static const double lambdas[] = {0.0, 0.2};
    for (size_t l = 0; l < PX_LEN(lambdas); l++) {
        const px_caption_decoding how = {
            .beam = 10, .steps = 6, .lambda = lambdas[l], .threads = 2};
        double scores[16];
        char **texts = describe(captioner, &c, &how, scores);
        for (size_t u = 0; u < c.data.units; u++)
            if (strcmp(texts[u], c.texts[u]) != 0 || !isfinite(scores[u]))
                fail_msg("unit %zu, lambda %g: '%s' instead of '%s'", u, lambdas[l], texts[u],
                         c.texts[u]);
        texts_done(texts, c.data.units);
    }
    px_captioner_free(captioner);
    corpus_done(&c);
}

static void test_any_threads(void **state)
{
    (void)state;
    corpus c = corpus_make(60, 4, 12, 3, 1.0);
    uint64_t id = 0;
    double loss = 0.0, bleu = 0.0;
    char **first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        px_captioner_options options = corpus_options();
        options.epochs = 4;
        options.held_out = 0.2;
        options.clip = 1.0;
        options.threads = threads;
        px_captioner_report report;
        px_captioner *captioner = train(&c, &options, &report);
        px_caption_decoding how = px_captioner_decoding(captioner);
        assert_int_equal(how.threads, 0);
        how.threads = threads;
        char **texts = describe(captioner, &c, &how, NULL);
        if (threads == 1) {
            id = px_captioner_id(captioner);
            loss = report.loss;
            bleu = report.bleu;
            first = texts;
        } else {
            assert_true(id == px_captioner_id(captioner));
            assert_true(loss == report.loss && bleu == report.bleu);
            for (size_t u = 0; u < c.data.units; u++)
                assert_string_equal(texts[u], first[u]);
            texts_done(texts, c.data.units);
        }
        px_captioner_free(captioner);
    }
    texts_done(first, c.data.units);
    corpus_done(&c);
}

/* A phrase does not depend on what else is described. */
static void test_company(void **state)
{
    (void)state;
    corpus c = corpus_make(20, 3, 8, 2, 0.5);
    px_captioner_options options = corpus_options();
    options.epochs = 3;
    px_captioner *captioner = train(&c, &options, NULL);
    double scores[20], alone;
    char **texts = describe(captioner, &c, NULL, scores);
    for (size_t u = 0; u < c.data.units; u += 7) {
        char *text = NULL;
        px_error err = {0};
        assert_int_equal(
            px_captioner_describe(captioner, c.features + u * 3 * 8, 1, NULL, &text, &alone, &err),
            PX_OK);
        assert_string_equal(text, texts[u]);
        assert_true(alone == scores[u]);
        free(text);
    }
    texts_done(texts, c.data.units);
    px_captioner_free(captioner);
    corpus_done(&c);
}

/* What is returned are the weights of the epoch that told the held-out units best. */
static void test_keeps_the_best(void **state)
{
    (void)state;
    enum { UNITS = 80, HELD = 16 };
    corpus c = corpus_make(UNITS, 4, 12, 3, 1.5);
    px_captioner_options options = corpus_options();
    options.held_out = (double)HELD / UNITS;
    options.epochs = 25;
    options.patience = 2;
    options.seed = 5;
    px_captioner_report report;
    px_captioner *captioner = train(&c, &options, &report);
    assert_int_equal(report.units, UNITS);
    assert_int_equal(report.held_out_units, HELD);
    assert_true(report.epochs == options.epochs ||
                report.epochs == report.best_epoch + options.patience + 1);
    assert_true(report.language_epochs == options.epochs ||
                report.language_epochs == report.language_best_epoch + options.patience + 1);
    if (!(report.bleu > 30.0 && report.language_loss < 2.0))
        fail_msg("BLEU %g, language model %g nats", report.bleu, report.language_loss);

    int64_t order[UNITS];
    px_random r = px_rng(options.seed, PX_RNG_SAMPLE, 0, 0);
    px_rng_permutation(&r, order, UNITS);
    const px_caption_decoding greedy = {.beam = 1, .steps = options.decoding.steps, .lambda = 0.0};
    char **texts = describe(captioner, &c, &greedy, NULL);
    px_bleu bleu = {0};
    for (size_t i = 0; i < HELD; i++) {
        const size_t u = (size_t)order[i];
        const char *const references[] = {c.texts[3 * u], c.texts[3 * u + 1], c.texts[3 * u + 2]};
        px_error err = {0};
        assert_int_equal(px_bleu_add(&bleu, texts[u], references, 3, &err), PX_OK);
    }
    assert_true(fabs(px_bleu_value(&bleu, NULL) - report.bleu) < 1e-9);
    texts_done(texts, UNITS);
    px_captioner_free(captioner);
    corpus_done(&c);
}

/* Numbers that never change are left out, whatever they are later. */
static void test_constant_features(void **state)
{
    (void)state;
    corpus c = corpus_make(16, 2, 9, 1, 0.2);
    for (size_t i = 8; i < 16 * 2 * 9; i += 9)
        c.features[i] = 1e6f;
    px_captioner_options options = corpus_options();
    options.epochs = 2;
    px_captioner *captioner = train(&c, &options, NULL);
    char **before = describe(captioner, &c, NULL, NULL);
    for (size_t i = 8; i < 16 * 2 * 9; i += 9)
        c.features[i] = -5e7f;
    char **after = describe(captioner, &c, NULL, NULL);
    for (size_t u = 0; u < 16; u++)
        assert_string_equal(before[u], after[u]);
    texts_done(before, 16);
    texts_done(after, 16);
    px_captioner_free(captioner);
    corpus_done(&c);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void set_hidden(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->hidden = 0;
}
static void set_dropout(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->dropout = 1.0;
}
static void set_rate(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->rate = NAN;
}
static void set_beam(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->decoding.beam = PX_CAPTION_MOST_BEAM + 1;
}
static void set_steps(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->decoding.steps = 0;
}
static void set_held_out(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->held_out = 1.0;
}
static void set_unit(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->captions[3].unit = c->data.units;
}
static void set_text(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->captions[3].text = " \t\"\" ";
}
static void set_bytes(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->captions[3].text = "gr\xfcn";
}
static void set_feature(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->features[5] = INFINITY;
}
static void set_none(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->data.caption_count = 0;
}
static void set_size(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->data.size = 0;
}
static void set_k(px_captioner_options *o, corpus *c)
{
    (void)o;
    c->data.k = (size_t)1 << 20;
}
static bool stop_soon(void *context, int64_t done, int64_t total)
{
    (void)context;
    return done < total / 3;
}
static void set_progress(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->progress = stop_soon;
}
static void set_wild(px_captioner_options *o, corpus *c)
{
    (void)c;
    o->rate = 1e6;
    o->epochs = 50;
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        void (*change)(px_captioner_options *, corpus *);
        px_status status;
        const char *says;
    } cases[] = {
        {set_hidden, PX_E_USAGE, "hidden state"}, {set_dropout, PX_E_USAGE, "dropout"},
        {set_rate, PX_E_USAGE, "rate"},           {set_beam, PX_E_USAGE, "beam"},
        {set_steps, PX_E_USAGE, "steps"},         {set_held_out, PX_E_USAGE, "held out"},
        {set_unit, PX_E_INPUT, "caption 3"},      {set_text, PX_E_INPUT, "has no words"},
        {set_bytes, PX_E_INPUT, "UTF-8"},         {set_feature, PX_E_INPUT, "finite"},
        {set_none, PX_E_INPUT, "0 captions"},     {set_size, PX_E_USAGE, "vectors of 0"},
        {set_k, PX_E_USAGE, "vectors per unit"},  {set_progress, PX_E_CANCELLED, "cancelled"},
        {set_wild, PX_E_INPUT, "diverged"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        corpus c = corpus_make(16, 2, 8, 1, 0.2);
        px_captioner_options options = corpus_options();
        options.epochs = 3;
        cases[i].change(&options, &c);
        px_captioner *captioner = NULL;
        px_error err = {0};
        const px_status status = px_captioner_train(&c.data, &options, &captioner, NULL, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].says) || captioner)
            fail_msg("case %zu: status %d, '%s'", i, (int)status, err.message);
        corpus_done(&c);
    }
}

static void test_describe_refuses(void **state)
{
    (void)state;
    corpus c = corpus_make(16, 2, 8, 1, 0.2);
    px_captioner_options options = corpus_options();
    options.epochs = 1;
    px_captioner *captioner = train(&c, &options, NULL);
    char *texts[16];
    px_error err = {0};
    c.features[3 * 2 * 8 + 9] = NAN;
    assert_int_equal(px_captioner_describe(captioner, c.features, 16, NULL, texts, NULL, &err),
                     PX_E_INPUT);
    assert_non_null(strstr(err.message, "feature 1 of exemplar 1 of unit 3"));
    for (int i = 0; i < 16; i++)
        assert_null(texts[i]);
    px_caption_decoding how = px_caption_decoding_default();
    how.lambda = NAN;
    assert_int_equal(px_captioner_describe(captioner, c.features, 1, &how, texts, NULL, &err),
                     PX_E_USAGE);
    assert_int_equal(px_captioner_describe(captioner, NULL, 0, NULL, texts, NULL, &err), PX_OK);
    px_captioner_free(captioner);
    px_captioner_free(NULL);
    corpus_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_by_heart),   cmocka_unit_test(test_any_threads),
        cmocka_unit_test(test_company),           cmocka_unit_test(test_keeps_the_best),
        cmocka_unit_test(test_constant_features), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_describe_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
