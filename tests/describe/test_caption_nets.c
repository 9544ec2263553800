/* tests/describe/test_caption_nets.c - both networks beside PyTorch's: losses, gradients, steps */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "describe/caption_course.h"
#include "describe/caption_decoder.h"
#include "describe/caption_language.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden_captioner.h"

static const pxi_caption_sizes sizes = {.words = GOLDEN_KNOWN + 4,
                                        .embedding = GOLDEN_D,
                                        .hidden = GOLDEN_H,
                                        .attention = GOLDEN_A,
                                        .size = GOLDEN_F,
                                        .k = GOLDEN_K};
enum { START = GOLDEN_KNOWN, LONGEST = PX_LEN(golden_captions[0].words) };

typedef struct fixture {
    bool language;
    pxi_net net;
    const double *start, *gradients, *moved, *loss;
    float *weights, *features;
    pxi_sample samples[GOLDEN_CAPTIONS];
    const pxi_sample *order[GOLDEN_CAPTIONS]; /* longest first */
} fixture;

static float *floats(const double *from, size_t count)
{
    float *to = calloc(count, sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
    return to;
}

static void fixture_init(fixture *f, bool language) /* it points into itself */
{
    *f = (fixture){.language = language,
                   .start = language ? golden_language_weights : golden_decoder_weights,
                   .gradients = language ? golden_language_gradients : golden_decoder_gradients,
                   .moved = language ? golden_language_moved : golden_decoder_moved,
                   .loss = language ? golden_language_loss : golden_decoder_loss};
    px_error err = {0};
    assert_int_equal((language ? pxi_language_net : pxi_decoder_net)(&sizes, &f->net, &err), PX_OK);
    assert_int_equal(f->net.count,
                     language ? PX_LEN(golden_language_weights) : PX_LEN(golden_decoder_weights));
    f->weights = floats(f->start, f->net.count);
    f->features = floats(golden_features, PX_LEN(golden_features));
    size_t n = 0;
    for (size_t i = 0; i < GOLDEN_CAPTIONS; i++)
        f->samples[i] = (pxi_sample){golden_captions[i].unit, golden_captions[i].words,
                                     golden_captions[i].length};
    for (size_t length = LONGEST; length > 0; length--)
        for (size_t i = 0; i < GOLDEN_CAPTIONS; i++)
            if (f->samples[i].length == length)
                f->order[n++] = &f->samples[i];
    assert_int_equal(n, GOLDEN_CAPTIONS);
}

static void fixture_done(fixture *f)
{
    free(f->weights);
    free(f->features);
}

static pxi_block block_make(const fixture *f)
{
    pxi_block block = {0};
    px_error err = {0};
    const size_t numbers = GOLDEN_K * GOLDEN_F;
    assert_int_equal(pxi_block_init(&block, GOLDEN_CAPTIONS, LONGEST, &sizes, true, &err), PX_OK);
    pxi_block_fill(&block, f->order, GOLDEN_CAPTIONS, START);
    for (size_t r = 0; r < block.rows; r++) {
        memcpy(block.features + r * numbers, f->features + f->order[r]->unit * numbers,
               numbers * sizeof *f->features);
        for (size_t t = 0; t < f->order[r]->length; t++)
            for (size_t i = 0; i < GOLDEN_H; i++)
                block.mask[(block.offset[t] + r) * GOLDEN_H + i] = (float)
                    golden_masks[((size_t)(f->order[r] - f->samples) * LONGEST + t) * GOLDEN_H + i];
    }
    block.dropped = true;
    return block;
}

static void compare(const fixture *f, const char *what, const float *got, const double *want)
{
    for (size_t t = 0; t < f->net.tensor_count; t++) {
        const pxi_net_tensor *tensor = &f->net.tensors[t];
        for (size_t i = 0; i < tensor->count; i++) {
            const double x = (double)got[tensor->first + i], y = want[tensor->first + i];
            if (!(fabs(x - y) <= 1e-6 + 1e-5 * fabs(y)))
                fail_msg("%s, %s of '%s' [%zu]: %.9g, PyTorch has %.9g",
                         f->language ? "language model" : "decoder", what, tensor->name, i, x, y);
        }
    }
}

static void run(const fixture *f, const pxi_block *block, float *gradients, double *losses,
                double *penalties)
{
    px_error err = {0};
    if (f->language) {
        pxi_language_room room = {0};
        const pxi_language_task task = {.net = &f->net,
                                        .weights = f->weights,
                                        .block = block,
                                        .scale = 1.0 / (double)block->total,
                                        .gradients = gradients,
                                        .losses = losses};
        assert_int_equal(
            pxi_language_room_init(&room, &f->net, GOLDEN_CAPTIONS, LONGEST, true, &err), PX_OK);
        assert_int_equal(pxi_language_run(&task, &room, &err), PX_OK);
        pxi_language_room_done(&room);
        return;
    }
    pxi_decoder_room room = {0};
    const pxi_decoder_task task = {.net = &f->net,
                                   .weights = f->weights,
                                   .block = block,
                                   .word_scale = 1.0 / (double)block->total,
                                   .unit_scale = GOLDEN_REGULARIZER / (GOLDEN_CAPTIONS * GOLDEN_K),
                                   .gradients = gradients,
                                   .losses = losses,
                                   .penalties = penalties};
    assert_int_equal(pxi_decoder_room_init(&room, &f->net, GOLDEN_CAPTIONS, LONGEST, true, &err),
                     PX_OK);
    assert_int_equal(pxi_decoder_run(&task, &room, &err), PX_OK);
    pxi_decoder_room_done(&room);
}

static void check_gradients(bool language)
{
    fixture f;
    fixture_init(&f, language);
    pxi_block block = block_make(&f);
    float *gradients = calloc(f.net.count, sizeof *gradients);
    memset(gradients, 0xff, f.net.count * sizeof *gradients); /* NaN: all are written */
    for (int learns = 1; learns >= 0; learns--) {
        double losses[GOLDEN_CAPTIONS], penalties[GOLDEN_CAPTIONS] = {0}, sums[2] = {0};
        run(&f, &block, learns ? gradients : NULL, losses, penalties);
        for (size_t r = 0; r < block.rows; r++) {
            sums[0] += losses[r] / (double)block.total;
            sums[1] += penalties[r] * GOLDEN_REGULARIZER / (GOLDEN_CAPTIONS * GOLDEN_K);
        }
        for (int i = 0; i < 2; i++)
            if (!(fabs(sums[i] - f.loss[i]) < 1e-6))
                fail_msg("loss %d: %.9g, PyTorch has %.9g", i, sums[i], f.loss[i]);
    }
    compare(&f, "gradient", gradients, f.gradients);
    free(gradients);
    pxi_block_done(&block);
    fixture_done(&f);
}

static void test_decoder_gradients(void **state)
{
    (void)state;
    check_gradients(false);
}

static void test_language_gradients(void **state)
{
    (void)state;
    check_gradients(true);
}

/* Steps of AdamW on one batch, by the code that trains, on one worker and on two. */
static void check_steps(bool language)
{
    for (int threads = 1; threads <= 2; threads++) {
        fixture f;
        fixture_init(&f, language);
        px_captioner_options options = px_captioner_options_default();
        options.rate = GOLDEN_RATE;
        options.dropout = 0.0;
        options.regularizer = GOLDEN_REGULARIZER;
        float mean[GOLDEN_F] = {0}, scale[GOLDEN_F];
        for (int i = 0; i < GOLDEN_F; i++)
            scale[i] = 1.0f;
        const pxi_standard standard = {mean, scale};
        px_error err = {0};
        px_pool *pool = NULL;
        pxi_course *course = NULL;
        assert_int_equal(pxi_pool_new(threads, &pool, &err), PX_OK);
        const pxi_course_plan plan = {.net = &f.net,
                                      .language = language,
                                      .weights = f.weights,
                                      .start = START,
                                      .steps = LONGEST,
                                      .samples = f.samples,
                                      .count = GOLDEN_CAPTIONS,
                                      .features = f.features,
                                      .standard = &standard,
                                      .options = &options,
                                      .pool = pool};
        assert_int_equal(pxi_course_new(&plan, &course, &err), PX_OK);
        for (int step = 0; step < GOLDEN_STEPS; step++) {
            pxi_course_sums sums = {0};
            assert_int_equal(pxi_course_step(course, f.order, GOLDEN_CAPTIONS, 0, &sums, &err),
                             PX_OK);
            assert_int_equal(sums.captions, GOLDEN_CAPTIONS);
        }
        /* The softmax does not see the bias of its scores: its gradient is 0, which Adam blows up
         * when it is rounded. */
        if (!language)
            f.weights[f.net.tensors[PXI_DECODER_SCORE_BIAS].first] =
                (float)f.moved[f.net.tensors[PXI_DECODER_SCORE_BIAS].first];
        compare(&f, "weights after AdamW", f.weights, f.moved);
        pxi_course_free(course);
        pxi_pool_free(pool);
        fixture_done(&f);
    }
}

static void test_decoder_steps(void **state)
{
    (void)state;
    check_steps(false);
}

static void test_language_steps(void **state)
{
    (void)state;
    check_steps(true);
}

/* A caption's loss and penalty do not depend on the captions it comes with. */
static void test_company(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    pxi_block all = block_make(&f), one = block_make(&f);
    double losses[2][GOLDEN_CAPTIONS], penalties[2][GOLDEN_CAPTIONS];
    all.dropped = false;
    run(&f, &all, NULL, losses[0], penalties[0]);
    const size_t numbers = GOLDEN_K * GOLDEN_F;
    for (size_t r = 0; r < GOLDEN_CAPTIONS; r++) {
        pxi_block_fill(&one, f.order + r, 1, START);
        memcpy(one.features, all.features + r * numbers, numbers * sizeof(float));
        run(&f, &one, NULL, losses[1], penalties[1]);
        assert_true(fabs(losses[0][r] - losses[1][0]) < 1e-5);
        assert_true(fabs(penalties[0][r] - penalties[1][0]) < 1e-6);
    }
    pxi_block_done(&all);
    pxi_block_done(&one);
    fixture_done(&f);
}

static void test_first_weights(void **state)
{
    (void)state;
    const pxi_caption_sizes wide = {
        .words = 64, .embedding = 64, .hidden = 64, .attention = 100, .size = 25, .k = 3};
    pxi_net net;
    px_error err = {0};
    assert_int_equal(pxi_decoder_net(&wide, &net, &err), PX_OK);
    float *weights = calloc(net.count, sizeof *weights);
    pxi_net_start(&net, 1, 0, weights);
    static const struct {
        int tensor;
        double bound; /* 0: normal */
    } cases[] = {{PXI_DECODER_KEY, 0.2},     {PXI_DECODER_KEY_BIAS, 0.2},
                 {PXI_DECODER_STATE, 0.125}, {PXI_DECODER_INPUT, 0.125},
                 {PXI_DECODER_SCORE, 0.1},   {PXI_DECODER_EMBEDDING, 0}};
    for (size_t c = 0; c < PX_LEN(cases); c++) {
        const pxi_net_tensor *t = &net.tensors[cases[c].tensor];
        double square = 0.0, most = 0.0;
        for (size_t i = 0; i < t->count; i++) {
            const double w = (double)weights[t->first + i];
            square += w * w / (double)t->count;
            most = fmax(most, fabs(w));
        }
        const double bound = cases[c].bound, want = bound > 0.0 ? bound * bound / 3.0 : 1.0;
        if (!(fabs(square / want - 1.0) < 0.3) ||
            (bound > 0.0 && (most > bound || most < bound * 0.9)))
            fail_msg("'%s': mean square %g, largest %g", t->name, square, most);
    }
    free(weights);
    const pxi_caption_sizes huge = {.words = (size_t)1 << 20,
                                    .embedding = 1 << 16,
                                    .hidden = 1 << 16,
                                    .attention = 1 << 16,
                                    .size = 1 << 16,
                                    .k = 1};
    assert_int_equal(pxi_decoder_net(&huge, &net, &err), PX_E_UNSUPPORTED);
    assert_int_equal(pxi_language_net(&huge, &net, &err), PX_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoder_gradients), cmocka_unit_test(test_language_gradients),
        cmocka_unit_test(test_decoder_steps),     cmocka_unit_test(test_language_steps),
        cmocka_unit_test(test_company),           cmocka_unit_test(test_first_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
