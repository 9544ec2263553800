/* tests/text/test_word_vectors.c - PPMI, SVD, pooling, glosses: what the default is made of */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "encoder_golden.h"
#include "text/encoder.h"
#include "text/glosses.h"
#include "text/jacobi_svd.h"
#include "text/ppmi.h"
#include "text/unicode_class.h"
#include "text/word_split.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near_to(const char *what, double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g", what, got, wanted);
}

static px_corpus corpus_of(const char *const *sentences, size_t count, pxi_sentence kind)
{
    px_corpus corpus = {0};
    px_error err = {0};
    for (size_t i = 0; i < count; i++)
        if (pxi_corpus_add(&corpus, sentences[i], strlen(sentences[i]), kind, &err) != PX_OK)
            fail_msg("'%s': %s", sentences[i], err.message);
    return corpus;
}

/* All words take part. */
static int32_t *plain_rank(const px_corpus *corpus)
{
    int32_t *rank = calloc(corpus->words.count, sizeof *rank);
    for (size_t i = 0; i < corpus->words.count; i++)
        rank[i] = (int32_t)i;
    return rank;
}

static double *count_pairs(const px_corpus *corpus, size_t window)
{
    int32_t *rank = plain_rank(corpus);
    double *c = calloc(corpus->words.count * corpus->words.count, sizeof *c);
    pxi_cooccur(corpus, rank, corpus->words.count, window, c);
    free(rank);
    return c;
}

static size_t word_at(const px_corpus *corpus, const char *word)
{
    const int32_t index = pxi_words_find(&corpus->words, word, strlen(word));
    if (index < 0)
        fail_msg("no word '%s'", word);
    return (size_t)index;
}

/* --- PPMI ------------------------------------------------------------------------------------ */

static void test_ppmi_by_hand(void **state)
{
    (void)state;
    static const char *const sentences[] = {"red circle", "red square", "blue circle",
                                            "green stripes"};
    static const struct {
        const char *a, *b;
        double ratio;
    } cases[] = {{"blue", "circle", 4},   {"circle", "red", 2}, {"red", "square", 4},
                 {"green", "stripes", 8}, {"red", "blue", 1},   {"red", "stripes", 1}};
    px_error err = {0};
    px_corpus corpus = corpus_of(sentences, PX_LEN(sentences), PXI_SENTENCE_CAPTION);
    const size_t v = corpus.words.count;
    double *c = count_pairs(&corpus, 1), *m = calloc(v * v, sizeof *m);
    assert_int_equal(pxi_ppmi(c, v, 1.0, m, &err), PX_OK);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const size_t a = word_at(&corpus, cases[i].a), b = word_at(&corpus, cases[i].b);
        near_to(cases[i].a, m[a * v + b], log(cases[i].ratio), 1e-14);
        near_to(cases[i].b, m[b * v + a], log(cases[i].ratio), 1e-14);
    }
    free(c);
    free(m);
    pxi_corpus_done(&corpus);
}

static void test_ppmi_svd_is_numpys(void **state)
{
    (void)state;
    px_error err = {0};
    px_corpus corpus = corpus_of(golden_sentences, PX_LEN(golden_sentences), PXI_SENTENCE_CAPTION);
    const size_t v = corpus.words.count;
    assert_int_equal(v, GOLDEN_WORDS);
    for (size_t i = 0; i < v; i++)
        assert_string_equal(pxi_words_get(&corpus.words, i), golden_words[i]);
    double *c = count_pairs(&corpus, 5), *m = calloc(v * v, sizeof *m);
    float *vectors = calloc(v * GOLDEN_SIZE, sizeof *vectors);
    assert_int_equal(pxi_ppmi(c, v, 0.75, m, &err), PX_OK);
    for (size_t j = 0; j < v; j++)
        near_to("ppmi", m[j], golden_ppmi_row[j], 1e-12);
    assert_int_equal(pxi_ppmi_vectors(m, v, GOLDEN_SIZE, vectors, &err), PX_OK);
    for (size_t i = 0; i < v; i++)
        for (size_t d = 0; d < GOLDEN_SIZE; d++)
            near_to(golden_words[i], (double)vectors[i * GOLDEN_SIZE + d], golden_vectors[i][d],
                    2e-7);
    free(c);
    free(m);
    free(vectors);
    pxi_corpus_done(&corpus);
}

/* More dimensions than words: the rest is zeros. */
static void test_more_dimensions_than_words(void **state)
{
    (void)state;
    px_error err = {0};
    double m[] = {0, 2, 2, 0};
    float vectors[2 * 5];
    assert_int_equal(pxi_ppmi_vectors(m, 2, 5, vectors, &err), PX_OK);
    for (size_t i = 0; i < 2; i++) {
        double power = 0.0;
        for (size_t d = 0; d < 5; d++)
            power += (double)vectors[i * 5 + d] * (double)vectors[i * 5 + d];
        near_to("length", power, 1.0, 1e-6);
        for (size_t d = 2; d < 5; d++)
            assert_true(vectors[i * 5 + d] == 0.0f);
    }
}

/* --- singular values ------------------------------------------------------------------------- */

/* A = U diag(s) V^T with U, V of random rotations, by Jacobi; then u_i^T A A^T u_j = s_i^2 [i = j].
 */
static void test_svd_of_random_matrices(void **state)
{
    (void)state;
    static const struct {
        size_t rows, columns, rank;
    } cases[] = {{1, 1, 1}, {7, 7, 7}, {40, 40, 40}, {12, 30, 12}, {30, 12, 12}, {20, 20, 6}};
    px_error err = {0};
    for (size_t t = 0; t < PX_LEN(cases); t++) {
        const size_t n = cases[t].rows, m = cases[t].columns, rank = cases[t].rank;
        double *a = calloc(n * m, sizeof *a), *u = calloc(n * m + n * n, sizeof *u);
        double *values = calloc(m + n, sizeof *values);
        px_random r = px_rng(5, PX_RNG_TEST, (uint32_t)t, 0);
        for (size_t k = 0; k < rank; k++) { /* a sum of `rank` outer products */
            double *x = calloc(n, sizeof *x);
            for (size_t i = 0; i < n; i++)
                x[i] = px_rng_normal(&r);
            for (size_t j = 0; j < m; j++) {
                const double y = px_rng_normal(&r);
                for (size_t i = 0; i < n; i++)
                    a[j * n + i] += x[i] * y;
            }
            free(x);
        }
        assert_int_equal(pxi_jacobi_svd(a, m, n, rank, values, u, &err), PX_OK);
        double power = 0.0, found = 0.0;
        for (size_t i = 0; i < n * m; i++)
            power += a[i] * a[i];
        for (size_t i = 0; i < rank; i++) {
            found += values[i] * values[i];
            assert_true(i == 0 || values[i] <= values[i - 1]);
            size_t largest = 0;
            for (size_t e = 0; e < n; e++)
                if (fabs(u[i * n + e]) > fabs(u[i * n + largest]))
                    largest = e;
            assert_true(u[i * n + largest] > 0.0);
            for (size_t j = 0; j <= i; j++) {
                double dot = 0.0;
                for (size_t k = 0; k < m; k++) {
                    double p = 0.0, q = 0.0;
                    for (size_t e = 0; e < n; e++) {
                        p += u[i * n + e] * a[k * n + e];
                        q += u[j * n + e] * a[k * n + e];
                    }
                    dot += p * q;
                }
                near_to("u A A u", dot / (values[0] * values[0]),
                        i == j ? values[i] * values[i] / (values[0] * values[0]) : 0.0, 1e-11);
            }
        }
        near_to("sum of squares", found / power, 1.0, 1e-12);
        free(a);
        free(u);
        free(values);
    }
}

static void test_svd_of_nothing(void **state)
{
    (void)state;
    px_error err = {0};
    double zeros[6] = {0}, values[3] = {7, 7, 7}, u[9];
    assert_int_equal(pxi_jacobi_svd(zeros, 2, 3, 3, values, u, &err), PX_OK);
    for (int i = 0; i < 3; i++)
        assert_true(values[i] == 0.0 && u[i] == 0.0);
}

/* --- pooling --------------------------------------------------------------------------------- */

typedef struct fake_words {
    const char *const *words;
    const double *vectors, *probability;
    size_t count, size;
} fake_words;

static int32_t fake_find(const void *self, const char *word, size_t length)
{
    const fake_words *f = self;
    for (size_t i = 0; i < f->count; i++)
        if (strlen(f->words[i]) == length && memcmp(f->words[i], word, length) == 0)
            return (int32_t)i;
    return -1;
}

static void fake_add(const void *self, int32_t index, const char *word, size_t length, double share,
                     double *sum)
{
    (void)word;
    (void)length;
    const fake_words *f = self;
    for (size_t d = 0; d < f->size && index >= 0; d++)
        sum[d] += share * f->vectors[(size_t)index * f->size + d];
}

static double fake_probability(const void *self, int32_t index)
{
    const fake_words *f = self;
    return index < 0 || !f->probability ? 0.0 : f->probability[index];
}

static pxi_word_source fake_source(const fake_words *f)
{
    return (pxi_word_source){.self = f,
                             .size = f->size,
                             .find = fake_find,
                             .add = fake_add,
                             .probability = fake_probability};
}

static void test_sif_by_hand(void **state)
{
    (void)state;
    static const char *const words[] = {"a", "red", "cat"};
    static const double vectors[] = {1, 1, 2, 0, 0, 3}, probability[] = {.5, .1, .05};
    const fake_words f = {words, vectors, probability, 3, 2};
    const pxi_word_source source = fake_source(&f);
    static const struct {
        const char *text;
        bool sif;
        double x, y;
        int64_t tokens, unknown;
    } cases[] = {
        {"a red cat", true, .00726600, .02027318, 3, 0},
        {"A, Red... CAT!", true, .00726600, .02027318, 3, 0},
        {"a red cat", false, 1.0, 4.0 / 3, 3, 0},
        {"red-cat", false, 1.0, 1.5, 2, 0},
        {"red-hot", false, 1.0, 0.0, 2, 1},
        {"well-known", false, 0.0, 0.0, 1, 1},
        {"", true, 0.0, 0.0, 0, 0},
        {" ,;- ", true, 0.0, 0.0, 0, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_text_facts facts = {0};
        double sum[2];
        assert_int_equal(pxi_words_pool(&source, cases[i].sif, cases[i].text, strlen(cases[i].text),
                                        sum, &facts, &err),
                         PX_OK);
        near_to(cases[i].text, sum[0], cases[i].x, 5e-9);
        near_to(cases[i].text, sum[1], cases[i].y, 5e-9);
        if (facts.tokens != cases[i].tokens || facts.unknown != cases[i].unknown)
            fail_msg("'%s': %d tokens, %d unknown", cases[i].text, (int)facts.tokens,
                     (int)facts.unknown);
    }
}

/* SIF with p = 0 is the mean, and the length of texts does not turn the direction much: here they
 * are scaled by their lengths, so that sums are compared. */
static void test_direction_is_numpys(void **state)
{
    (void)state;
    px_error err = {0};
    px_corpus corpus = {0};
    px_text text = {0};
    for (size_t i = 0; i < PX_LEN(golden_sentences); i++) {
        px_corpus one = corpus_of(&golden_sentences[i], 1, PXI_SENTENCE_TEXT);
        const size_t n = one.token_count; /* n^2 copies of the mean's square are the sum's */
        for (size_t k = 0; k < n * n; k++)
            assert_int_equal(pxi_corpus_add(&corpus, golden_sentences[i],
                                            strlen(golden_sentences[i]), PXI_SENTENCE_TEXT, &err),
                             PX_OK);
        pxi_corpus_done(&one);
    }
    const fake_words f = {golden_words, &golden_vectors[0][0], NULL, GOLDEN_WORDS, GOLDEN_SIZE};
    const pxi_word_source source = fake_source(&f);
    double direction[GOLDEN_SIZE];
    assert_int_equal(pxi_words_direction(&source, &corpus, direction, &err), PX_OK);
    for (size_t d = 0; d < GOLDEN_SIZE; d++)
        near_to("direction", direction[d], golden_direction[d], 1e-9);
    px_text_done(&text);
    pxi_corpus_done(&corpus);
}

/* --- words and letters ----------------------------------------------------------------------- */

static void test_fnv(void **state)
{
    (void)state;
    assert_true(pxi_fnv1a("", 0) == 0xcbf29ce484222325u);
    assert_true(pxi_fnv1a("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(pxi_fnv1a("foobar", 6) == 0x85944171f73967e8u);
}

static void test_words_of_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"A photo, of (a) CAT.", "a photo of a cat"},
        {"eye-like don't rock'n'roll -x- '' 'quoted'", "eye-like don't rock'n'roll x quoted"},
        {"caf\303\251 \303\234ber 3 \320\241\320\270\320\275",
         "caf\303\251 \303\274ber 3 \321\201\320\270\320\275"},
        {"e\xcc\x81t\xc3\xa9", "e\xcc\x81t\xc3\xa9"},
        {"\xe2\x80\x9cq\xe2\x80\x9d\xe2\x80\x94z", "q z"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_text got = {0};
        px_word_reader r = pxi_word_reader(cases[i].text, strlen(cases[i].text));
        while (pxi_word_next(&r))
            px_text_format(&got, "%s%s", got.length ? " " : "", px_text_get(&r.lower));
        pxi_word_reader_done(&r);
        assert_string_equal(px_text_get(&got), cases[i].words);
        px_text_done(&got);
    }
}

static void test_word_table(void **state)
{
    (void)state;
    px_word_table t = {0};
    char word[16];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            snprintf(word, sizeof word, "w%d", i);
            assert_int_equal(pxi_words_add(&t, word, strlen(word)), i);
        }
    assert_int_equal(t.count, 5000);
    assert_string_equal(pxi_words_get(&t, 4321), "w4321");
    assert_int_equal(pxi_words_find(&t, "w5000", 5), -1);
    assert_int_equal(pxi_words_find(&t, "w432100", 5), 4321);
    pxi_words_done(&t);
    assert_int_equal(pxi_words_find(&t, "w1", 2), -1);
}

/* --- glosses --------------------------------------------------------------------------------- */

static void test_gloss_sentences(void **state)
{
    (void)state;
    static const char text[] = "# colours\n"
                               "red, crimson: warm color, loud\r\n"
                               "\n"
                               "orange : warm color   # and no more\n"
                               "lonely: odd\n"
                               "red: warm color\n";
    static const char *const wanted[] = {"red is warm color",
                                         "red and crimson are both warm color",
                                         "red and orange are both warm color",
                                         "crimson is warm color",
                                         "crimson and orange are both warm color",
                                         "orange is warm color",
                                         "red is loud",
                                         "red and crimson are both loud",
                                         "crimson is loud"};
    px_error err = {0};
    px_glosses *glosses = NULL;
    px_corpus corpus = {0};
    assert_int_equal(pxi_glosses_parse(text, sizeof text - 1, "g", &glosses, &err), PX_OK);
    assert_int_equal(pxi_glosses_sentences(glosses, false, &corpus, &err), PX_OK);
    assert_int_equal(corpus.sentence_count, PX_LEN(wanted));
    assert_int_equal(corpus.counted, 0); /* glosses make no word frequent */
    for (size_t i = 0; i < PX_LEN(wanted); i++) {
        size_t count;
        px_text got = {0};
        const int32_t *words = pxi_corpus_sentence(&corpus, i, &count);
        for (size_t k = 0; k < count; k++)
            px_text_format(&got, "%s%s", k ? " " : "",
                           pxi_words_get(&corpus.words, (size_t)words[k]));
        assert_string_equal(px_text_get(&got), wanted[i]);
        px_text_done(&got);
    }
    pxi_corpus_done(&corpus);
    /* of words that are there already only */
    assert_int_equal(pxi_corpus_add(&corpus, "red orange", 10, PXI_SENTENCE_CAPTION, &err), PX_OK);
    assert_int_equal(pxi_glosses_sentences(glosses, true, &corpus, &err), PX_OK);
    assert_int_equal(corpus.sentence_count, 1 + 3);
    pxi_corpus_done(&corpus);
    pxi_glosses_free(glosses);
}

static void test_bad_glosses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *message;
    } cases[] = {
        {"red warm\n", 0, "'g' line 1: no colon"},
        {"a: b\n: c\n", 0, "'g' line 2: an empty word"},
        {"a: b,, c\n", 0, "'g' line 1: an empty attribute"},
        {"a:\n", 0, "'g' line 1: an empty attribute"},
        {"a: \xff\n", 0, "'g': the text is not UTF-8"},
        {"a: b\0c\n", 7, "'g' is not a text"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_glosses *glosses = NULL;
        const size_t size = cases[i].size ? cases[i].size : strlen(cases[i].text);
        assert_int_equal(pxi_glosses_parse(cases[i].text, size, "g", &glosses, &err), PX_E_INPUT);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("'%s': %s", cases[i].text, err.message);
    }
    px_text many = {0};
    for (int i = 0; i < 3000; i++) /* 64 x 1 pairs each, and then too many */
        px_text_add(&many, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z: k\n");
    px_error err = {0};
    px_glosses *glosses = NULL;
    assert_int_equal(pxi_glosses_parse(many.data, many.length, "g", &glosses, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "more than 50000 pairs"));
    px_text_done(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ppmi_by_hand),
        cmocka_unit_test(test_ppmi_svd_is_numpys),
        cmocka_unit_test(test_more_dimensions_than_words),
        cmocka_unit_test(test_svd_of_random_matrices),
        cmocka_unit_test(test_svd_of_nothing),
        cmocka_unit_test(test_sif_by_hand),
        cmocka_unit_test(test_direction_is_numpys),
        cmocka_unit_test(test_fnv),
        cmocka_unit_test(test_words_of_texts),
        cmocka_unit_test(test_word_table),
        cmocka_unit_test(test_gloss_sentences),
        cmocka_unit_test(test_bad_glosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
