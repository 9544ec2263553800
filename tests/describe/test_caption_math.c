/* tests/describe/test_caption_math.c - the numbers of LGR C.15: attention, LSTM, BLEU,
 * ranks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "describe/beam.h"
#include "describe/caption_attention.h"
#include "describe/caption_math.h"
#include "describe/lstm_cell.h"
#include "text/vocabulary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 2e-7))
        fail_msg("%s: %.9g instead of %.9g", what, got, want);
}

static void test_attention(void **state)
{
    (void)state;
    const pxi_caption_sizes sizes = {.k = 2, .size = 2, .attention = 2};
    const float a[] = {1, 0, 0, 2}; /* keys too: Wk = I */
    const float v[] = {1, 0.5f}, zero = 0;
    float joint[] = {0.5f, -0.5f, 0, 1}; /* q = Wq h, g = Wg h with h = .5 */
    float tanhs[4], alpha[2], z[2], gated[2];
    const pxi_attention attention = {.sizes = &sizes,
                                     .v = v,
                                     .v_bias = &zero,
                                     .rows = 1,
                                     .features = a,
                                     .keys = a,
                                     .state = joint,
                                     .state_row = 4,
                                     .tanhs = tanhs,
                                     .alpha = alpha,
                                     .z = z};
    pxi_attention_run(&attention, gated, 2);
    near("e_1", (double)(v[0] * tanhs[0] + v[1] * tanhs[1]), 0.67408968);
    near("e_2", (double)(v[0] * tanhs[2] + v[1] * tanhs[3]), 0.91469128);
    near("alpha_1", (double)alpha[0], 0.44013810);
    near("alpha_2", (double)alpha[1], 0.55986190);
    near("z_1", (double)z[0], 0.44013810);
    near("z_2", (double)z[1], 1.11972380);
    near("gate_1", (double)joint[2], 0.5);
    near("gate_2", (double)joint[3], 0.73105858);
    near("gated_1", (double)gated[0], 0.22006905);
    near("gated_2", (double)gated[1], 0.81858369);
}

static void test_regulariser(void **state)
{
    (void)state;
    const float sums[] = {0.7f + 0.4f, 0.3f + 0.6f};
    near("the mean over vectors", pxi_attention_penalty(sums, 2) / 2.0, 0.01);
}

static void test_lstm_cell(void **state)
{
    (void)state;
    const double w_ih[] = {.5, -.5, 1, .25}, w_hh[] = {.1, .2, .3, .4}, b[] = {0, 1, 0, 0};
    float gates[4], c_new, tanh_c, h_new;
    const float c = -0.5f;
    for (int i = 0; i < 4; i++)
        gates[i] = (float)(w_ih[i] * 2.0 + w_hh[i] * 0.5 + b[i]);
    pxi_lstm_cell(1, 1, gates, 4, &c, &c_new, &tanh_c, &h_new);
    near("h", (double)h_new, 0.28653338);
    near("c", (double)c_new, 0.45845192);
}

static void test_rerank(void **state)
{
    (void)state;
    static const double given[] = {-2, -1.5, -1.2}, alone[] = {-6, -2, -.7};
    static const struct {
        double lambda;
        bool empty[3];
        size_t said;
    } cases[] = {
        {0.0, {false}, 2},              /* objects */
        {0.2, {false}, 0},              /* red stripes */
        {1.0, {false}, 0},              /* red stripes */
        {0.0, {false, false, true}, 1}, /* the next one where the best is empty */
        {0.2, {true, false, false}, 2}, /* -1.06 against -1.1 */
        {0.2, {true, true, true}, 0},   /* nothing else is left */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const size_t said = pxi_rerank(given, alone, cases[i].empty, 3, cases[i].lambda);
        if (said != cases[i].said)
            fail_msg("case %zu: hypothesis %zu", i, said);
    }
    static const double same[] = {-1, -1}, none[] = {0, 0};
    assert_int_equal(pxi_rerank(same, none, (const bool[]){false, false}, 2, 0.2), 0);
    near("its score", given[0] - 0.2 * alone[0], -0.8);
}

static void test_word_losses(void **state)
{
    (void)state;
    float scores[] = {1, 2, 3, 90, 0, 0};
    const int32_t targets[] = {0, 0};
    double losses[2] = {0};
    near("log sum exp", pxi_log_sum_exp(scores, 3), 3.4076059644443806);
    pxi_word_losses(2, 3, scores, targets, 0.5, losses);
    near("loss", losses[0], 2.4076059644443806);
    near("its gradient", (double)scores[1], 0.5 * 0.24472847105479767);
    near("at the target", (double)scores[0], -0.5 * (1.0 - 0.09003057317038046));
    /* 1 - p is far below the last bit of p */
    assert_true(scores[3] < 0.0f && scores[3] > -1e-30f);
}

/* --- texts ----------------------------------------------------------------------------------- */

static void test_bleu(void **state)
{
    (void)state;
    static const struct {
        const char *name, *said, *references[3];
        double bleu, precisions[PX_BLEU_ORDERS];
    } cases[] = {
        {"LGR C.15",
         "red stripes on a ball",
         {"red stripes on the ball", "a ball with red stripes"},
         50.0,
         {1.0, 0.75, 1.0 / 3.0, 0.25}},
        {"the same", "Red stripes, on a ball", {"red stripes, on a ball"}, 100.0, {1, 1, 1, 1}},
        {"short and the same", "dark edges", {"dark edges"}, 100.0, {1, 1, NAN, NAN}},
        {"too short", "dark", {"dark edges"}, 36.78794411714423, {1, NAN, NAN, NAN}},
        {"said too often",
         "the the the",
         {"the cat"},
         27.516060407455225,
         {1.0 / 3.0, 0.25, 0.25, NAN}},
        {"nothing", "", {"dark edges"}, 0.0, {NAN, NAN, NAN, NAN}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        size_t count = 0;
        while (count < 3 && cases[i].references[count])
            count++;
        px_bleu bleu = {0};
        px_error err = {0};
        assert_int_equal(px_bleu_add(&bleu, cases[i].said, cases[i].references, count, &err),
                         PX_OK);
        double precisions[PX_BLEU_ORDERS];
        const double value = px_bleu_value(&bleu, precisions);
        if (!(fabs(value - cases[i].bleu) < 1e-9))
            fail_msg("'%s': %.12g instead of %.12g", cases[i].name, value, cases[i].bleu);
        for (int n = 0; n < PX_BLEU_ORDERS; n++)
            if (isnan(cases[i].precisions[n])
                    ? !isnan(precisions[n])
                    : !(fabs(precisions[n] - cases[i].precisions[n]) < 1e-12))
                fail_msg("'%s', order %d: %g", cases[i].name, n + 1, precisions[n]);
    }
    px_bleu bleu = {0};
    px_error err = {0};
    assert_int_equal(px_bleu_add(&bleu, "red", NULL, 0, &err), PX_E_USAGE);
    const char *const broken[] = {"\xff"};
    assert_int_equal(px_bleu_add(&bleu, "red", broken, 1, &err), PX_E_INPUT);
    assert_int_equal(bleu.length, 0);
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words, *again;
    } cases[] = {
        {"Vertical EDGES", "vertical|edges", "vertical edges"},
        {"  eye-like,  3.5 cm (dark)! ", "eye-like|,|3.5|cm|(|dark|)|!",
         "eye-like, 3.5 cm (dark)!"},
        {"\"gr\xc3\xbcn\" ... sky.", "gr\xc3\xbcn|.|.|.|sky|.", "gr\xc3\xbcn... sky."},
        {"", "", ""},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        pxi_tokens tokens = {0};
        assert_int_equal(pxi_tokens_init(cases[i].text, &tokens, &err), PX_OK);
        char joined[200] = "";
        for (size_t w = 0; w < tokens.count; w++) {
            strcat(joined, w ? "|" : "");
            strcat(joined, tokens.at[w]);
        }
        assert_string_equal(joined, cases[i].words);
        pxi_wordlist v = {0};
        assert_int_equal(pxi_wordlist_init(&tokens, 1, &v, &err), PX_OK);
        int32_t words[32];
        for (size_t w = 0; w < tokens.count; w++)
            words[w] = pxi_wordlist_find(&v, tokens.at[w]);
        words[tokens.count] = pxi_wordlist_special(&v, PXI_WORD_STOP);
        words[tokens.count + 1] = 0;
        char *again = pxi_wordlist_text(&v, words, tokens.count + 2);
        assert_string_equal(again, cases[i].again);
        free(again);
        pxi_wordlist_done(&v);
        pxi_tokens_done(&tokens);
    }
}

static void test_vocabulary(void **state)
{
    (void)state;
    static const char *const texts[] = {"red edges", "blue edges", "red spots", "a red edges"};
    pxi_tokens tokens[4] = {{0}};
    px_error err = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pxi_tokens_init(texts[i], &tokens[i], &err), PX_OK);
    pxi_wordlist v = {0};
    assert_int_equal(pxi_wordlist_init(tokens, 4, &v, &err), PX_OK);
    static const char *const order[] = {"edges", "red", "a", "blue", "spots"};
    assert_int_equal(v.count, PX_LEN(order));
    for (int i = 0; i < 5; i++) {
        assert_string_equal(v.words[i], order[i]);
        assert_int_equal(pxi_wordlist_find(&v, order[i]), i);
    }
    assert_int_equal(pxi_wordlist_special(&v, PXI_WORD_START), 5);
    assert_int_equal(pxi_wordlist_special(&v, PXI_WORD_STOP), 6);
    assert_int_equal(pxi_wordlist_special(&v, PXI_WORD_PAD), 7);
    assert_int_equal(pxi_wordlist_find(&v, "green"), 8); /* unknown */
    pxi_wordlist_done(&v);
    for (int i = 0; i < 4; i++)
        pxi_tokens_done(&tokens[i]);

    static const struct {
        const char *bytes;
        px_status status;
    } files[] = {
        {"red\nedges\n,\n", PX_OK},  {"", PX_E_INPUT},           {"red", PX_E_INPUT},
        {"red\n\n", PX_E_INPUT},     {"red\nred\n", PX_E_INPUT}, {"Red\n", PX_E_INPUT},
        {"two words\n", PX_E_INPUT}, {"\xff\n", PX_E_INPUT},
    };
    for (size_t i = 0; i < PX_LEN(files); i++) {
        const px_status status =
            pxi_wordlist_read(files[i].bytes, strlen(files[i].bytes), &v, &err);
        if (status != files[i].status)
            fail_msg("words '%s': status %d", files[i].bytes, (int)status);
        if (status == PX_OK)
            pxi_wordlist_done(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention),   cmocka_unit_test(test_regulariser),
        cmocka_unit_test(test_lstm_cell),   cmocka_unit_test(test_rerank),
        cmocka_unit_test(test_word_losses), cmocka_unit_test(test_bleu),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
