/* tests/semantics/test_vector_files.c - GloVe's and fastText's files, good and bad */
#include "base/memory.h"
#include "cmocka_all.h"
#include "semantics/fasttext.h"
#include "semantics/vector_text.h"

#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

/* --- text */

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t most, count, size;
        const char *word; /* to be looked at */
        double first, last;
        bool cut;
    } cases[] = {
        {"plain", "the 1 2 3\ncat -0.5 .25 1e-2\n", 0, 2, 3, "cat", -0.5, 0.01, false},
        {"no line end", "the 1 2 3\ncat 4 5 6", 0, 2, 3, "cat", 4, 6, false},
        {"carriage returns", "the 1 2\r\ncat 3 4\r\n", 0, 2, 2, "cat", 3, 4, false},
        {"header", "2 3\nthe 1 2 3\ncat 4 5 6\n", 0, 2, 3, "the", 1, 3, false},
        {"trailing blanks", "2 2\nthe 1 2 \ncat 3 4 \n", 0, 2, 2, "cat", 3, 4, false},
        {"word with blanks", "the 1 2\n. . . 3 4\nat x@y.z 5 6\n", 0, 3, 2, ". . .", 3, 4, false},
        {"a word that is a number", "7 1 2 3\n8 4 5 6\n", 0, 2, 3, "8", 4, 6, false},
        {"twice the same: the first", "a 1 2\na 3 4\nb 5 6\n", 0, 2, 2, "a", 1, 2, false},
        {"no word", "a 1 2\n 3 4\nb 5 6\n", 0, 2, 2, "b", 5, 6, false},
        {"only some", "a 1 2\nb 3 4\nc 5 6\n", 2, 2, 2, "b", 3, 4, true},
        {"only some of a header's", "3 2\na 1 2\nb 3 4\nc 5 6\n", 2, 2, 2, "b", 3, 4, true},
        {"byte order mark", "\xef\xbb\xbfz 1 2\ny 3 4\n", 0, 2, 2, "z", 1, 2, false},
        {"many digits", "a 0.12345678901234567890123 1\n", 0, 1, 2, "a", 0.12345678901234568, 1,
         false},
        {"large and small", "a 123456789012345678901234 1.5E-30\n", 0, 1, 2, "a",
         123456789012345678901234.0, 1.5e-30, false},
        {"one dimension", "a 1\nb 2\n", 0, 2, 1, "b", 2, 2, false},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_vectors v = {0};
        if (pxi_vectors_parse(cases[i].text, strlen(cases[i].text), "v", cases[i].most, &v, &err) !=
            PX_OK)
            fail_msg("%s: %s", cases[i].name, err.message);
        const int32_t row = pxi_words_find(&v.words, cases[i].word, strlen(cases[i].word));
        if (v.words.count != cases[i].count || v.size != cases[i].size || v.cut != cases[i].cut ||
            row < 0)
            fail_msg("%s: %zu words of %zu numbers, row %d", cases[i].name, v.words.count, v.size,
                     row);
        const float *r = v.rows + (size_t)row * v.size;
        if (r[0] != (float)cases[i].first || r[v.size - 1] != (float)cases[i].last)
            fail_msg("%s: %.9g .. %.9g", cases[i].name, (double)r[0], (double)r[v.size - 1]);
        pxi_vectors_done(&v);
    }
}

static void test_bad_rows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        size_t size; /* 0: strlen */
    } cases[] = {
        {"", "'v' is empty", 0},
        {"\n", "'v' is no text of word vectors", 0},
        {"hello\n", "'v' is no text of word vectors", 0},
        {"5 100000\n", "'v' is no text of word vectors", 0},
        {"1000000 300\na 1\n",
         "'v': the header speaks of 1000000 rows of 300 numbers, but the file "
         "is too short",
         0},
        {"3 2\na 1 2\nb 3 4\nc 5", "'v' line 4: 'c' is not a number", 0},
        {"3 2\na 1 2\nb 3 4        \n", "'v': the header speaks of 3 rows, but there are 2", 0},
        {"a 1 2\nb 3\n", "'v' line 2: 'b' is not a number", 0},
        {"a 1 2\n3\n", "'v' line 2 has fewer than 2 numbers", 0},
        {"a 1 2\nb 3 x\n", "'v' line 2: 'x' is not a number", 0},
        {"a 1 2\nb nan 1\n", "'v' line 2: 'nan' is not a number", 0},
        {"a 1 2\nb 1e999 1\n", "'v' line 2: '1e999' is not a number", 0},
        {"a 1 2\nb 1,5 1\n", "'v' line 2: '1,5' is not a number", 0},
        {"a 1 2\nb\0c 1 1\n", "'v' line 2: a NUL byte", 14},
        {"2 2\n 1 2\n 3 4\n", "'v' has no word vectors", 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_vectors v = {0};
        const size_t size = cases[i].size ? cases[i].size : strlen(cases[i].text);
        const px_status status = pxi_vectors_parse(cases[i].text, size, "v", 0, &v, &err);
        if (status != PX_E_INPUT ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %s", i, status == PX_OK ? "accepted" : err.message);
    }
}

/* --- fastText */

static void test_hashes(void **state)
{
    (void)state;
    assert_true(pxi_fasttext_hash("<ca", 3) == 1066916747u);
    assert_true(pxi_fasttext_hash("cat", 3) == 108289031u);
    assert_true(pxi_fasttext_hash("at>", 3) == 3848351106u);
    /* bytes are sign-extended: plain FNV-1a would give another number */
    assert_true(pxi_fasttext_hash("\xc3\xa9", 2) ==
                (((2166136261u ^ 0xffffffc3u) * 16777619u) ^ 0xffffffa9u) * 16777619u);
}

static void gather(void *context, const char *ngram, size_t length)
{
    px_text_format(context, "%.*s ", (int)length, ngram);
}

static void test_ngrams(void **state)
{
    (void)state;
    static const struct {
        const char *marked;
        uint32_t minn, maxn;
        const char *ngrams;
    } cases[] = {
        {"<cat>", 3, 6, "<ca <cat <cat> cat cat> at> "},
        {"<cat>", 1, 2, "<c c ca a at t t> "},
        {"<\303\251t>", 3, 3, "<\303\251t \303\251t> "},
        {"<\303\251>", 1, 1, "\303\251 "},
        {"<>", 1, 6, "<> "},
        {"<a>", 4, 6, ""},
        {"<cat>", 3, 0, ""},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_text got = {0};
        pxi_fasttext_ngrams(cases[i].marked, strlen(cases[i].marked), cases[i].minn, cases[i].maxn,
                            gather, &got);
        assert_string_equal(px_text_get(&got), cases[i].ngrams);
        px_text_done(&got);
    }
}

/* A model of two words and a label, 5 buckets, 2 dimensions; row r is (r, -r). */
typedef struct bin_options {
    int32_t magic, version, dim, bucket, minn, maxn, model, words, labels;
    int64_t pruned, rows;
    char quantised;
} bin_options;

static const bin_options bin_default = {793712314, 12, 2, 5, 3, 6, 2, 2, 1, -1, 7, 0};

static void put(px_text *out, int64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char byte = (char)(number >> 8 * i & 0xff);
        px_text_add_bytes(out, &byte, 1);
    }
}

static px_text bin_make(const bin_options *o)
{
    px_text out = {0};
    const int32_t args[] = {o->magic, o->version, o->dim,   5,         5,       1,       5,
                            1,        1,          o->model, o->bucket, o->minn, o->maxn, 100};
    for (size_t i = 0; i < PX_LEN(args); i++)
        put(&out, args[i], 4);
    put(&out, 0, 8); /* t = 0.0 */
    put(&out, o->words + o->labels, 4);
    put(&out, o->words, 4);
    put(&out, o->labels, 4);
    put(&out, 1000, 8);
    put(&out, o->pruned, 8);
    static const char *const words[] = {"cat", "</s>", "__label__x"};
    for (int i = 0; i < o->words + o->labels && i < 3; i++) {
        px_text_add_bytes(&out, words[i], strlen(words[i]) + 1);
        put(&out, 100 / (i + 1), 8);
        put(&out, i >= o->words, 1);
    }
    for (int64_t i = 0; i < o->pruned; i++)
        put(&out, i, 8);
    put(&out, o->quantised, 1);
    put(&out, o->rows, 8);
    put(&out, o->dim, 8);
    for (int64_t r = 0; r < o->rows && r < 16; r++)
        for (int d = 0; d < o->dim && d < 16; d++) {
            const float number = d % 2 ? -(float)r : (float)r;
            px_text_add_bytes(&out, (const char *)&number, sizeof number);
        }
    put(&out, 0, 1); /* qout; the output matrix is not looked at */
    return out;
}

static void test_bin(void **state)
{
    (void)state;
    px_error err = {0};
    px_fasttext m = {0};
    px_text bytes = bin_make(&bin_default);
    assert_int_equal(pxi_fasttext_parse(bytes.data, bytes.length, "m", &m, &err), PX_OK);
    assert_int_equal(m.words.count, 2);
    assert_int_equal(m.size, 2);
    assert_int_equal(m.counts[1], 50);
    assert_int_equal(m.tokens, 1000);
    static const struct {
        const char *word;
        int32_t index;
    } cases[] = {{"cat", 0}, {"cap", -1}, {"</s>", 1}, {"a", -1}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double sum[2] = {0}, wanted = 0.0;
        px_text ngrams = {0}, marked = {0};
        const size_t length = strlen(cases[i].word);
        assert_int_equal(pxi_words_find(&m.words, cases[i].word, length), cases[i].index);
        px_text_format(&marked, "<%s>", cases[i].word);
        if (cases[i].index != 1)
            pxi_fasttext_ngrams(marked.data, marked.length, 3, 6, gather, &ngrams);
        int count = cases[i].index >= 0;
        wanted += cases[i].index >= 0 ? cases[i].index : 0;
        char *rest = ngrams.data ? ngrams.data : NULL;
        for (char *g = rest ? strtok(rest, " ") : NULL; g; g = strtok(NULL, " "), count++)
            wanted += 2 + pxi_fasttext_hash(g, strlen(g)) % 5;
        wanted = count ? wanted / count : 0.0;
        pxi_fasttext_add(&m, cases[i].index, cases[i].word, length, 0.5, sum);
        if (fabs(sum[0] - wanted / 2) > 1e-12 || fabs(sum[1] + wanted / 2) > 1e-12)
            fail_msg("'%s': (%g, %g), expected half of %g", cases[i].word, sum[0], sum[1], wanted);
        px_text_done(&ngrams);
        px_text_done(&marked);
    }
    pxi_fasttext_done(&m);
    px_text_done(&bytes);
}

static void test_bad_bins(void **state)
{
    (void)state;
    static const struct {
        bin_options o;
        const char *message;
    } cases[] = {
        {{0, 12, 2, 5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m' is no fastText model"},
        {{793712314, 13, 2, 5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m': version 13 of fastText's format"},
        {{793712314, -1, 2, 5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m': version -1 of fastText's format"},
        {{793712314, 12, 0, 5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m': 0 dimensions"},
        {{793712314, 12, 1 << 30, 5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m': 1073741824 dimensions"},
        {{793712314, 12, 2, -5, 3, 6, 2, 2, 1, -1, 7, 0}, "'m': -5 buckets"},
        {{793712314, 12, 2, 5, 3, 600, 2, 2, 1, -1, 7, 0}, "'m': 5 buckets, n-grams of 3 to 600"},
        {{793712314, 12, 2, 5, 3, 6, 2, 1 << 30, 1, -1, 7, 0},
         "'m': a dictionary of 1073741824 words"},
        {{793712314, 12, 2, 5, 3, 6, 2, -2, 3, -1, 7, 0}, "'m': a dictionary of -2 words"},
        {{793712314, 12, 2, 5, 3, 6, 2, 0, 1, -1, 6, 0}, "'m' has no words"},
        {{793712314, 12, 2, 5, 3, 6, 2, 2, 1, 1, 7, 1}, "'m' is a quantised model (.ftz)"},
        {{793712314, 12, 2, 5, 3, 6, 2, 2, 1, -1, 8, 0}, "'m': a matrix of 8 x 2, expected 7 x 2"},
        {{793712314, 12, 2, 5, 3, 6, 2, 2, 1, -1, INT64_MAX, 0}, "'m': a matrix of"},
        {{793712314, 12, 2, 1000, 3, 6, 2, 2, 1, -1, 1002, 0}, "'m' ends too early"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_fasttext m = {0};
        px_text bytes = bin_make(&cases[i].o);
        const px_status status = pxi_fasttext_parse(bytes.data, bytes.length, "m", &m, &err);
        if (status == PX_OK ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %s", i, status == PX_OK ? "accepted" : err.message);
        px_text_done(&bytes);
    }
}

/* Cut anywhere, or with any byte changed: refused or read, never worse (sanitizers watch). */
static void test_broken_bins(void **state)
{
    (void)state;
    px_text whole = bin_make(&bin_default);
    const size_t needed = whole.length - 1; /* qout is not looked at */
    for (size_t size = 0; size < needed; size++) {
        px_error err = {0};
        px_fasttext m = {0};
        char *copy = malloc(size + 1);
        memcpy(copy, whole.data, size);
        assert_int_not_equal(pxi_fasttext_parse(copy, size, "m", &m, &err), PX_OK);
        free(copy);
    }
    for (size_t at = 0; at < whole.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            px_error err = {0};
            px_fasttext m = {0};
            double sum[1024] = {0};
            whole.data[at] = (char)(whole.data[at] ^ 1 << bit);
            if (pxi_fasttext_parse(whole.data, whole.length, "m", &m, &err) == PX_OK) {
                pxi_fasttext_add(&m, 0, "cat", 3, 1.0, sum);
                pxi_fasttext_add(&m, -1, "dog", 3, 1.0, sum);
                pxi_fasttext_done(&m);
            }
            whole.data[at] = (char)(whole.data[at] ^ 1 << bit);
        }
    px_text_done(&whole);
}

/* Classifiers of version 11 have no n-grams, and a model may have been saved without its buckets.
 */
static void test_no_ngrams(void **state)
{
    (void)state;
    static const bin_options kinds[] = {{793712314, 11, 2, 0, 3, 6, 3, 2, 1, -1, 2, 0},
                                        {793712314, 12, 2, 5, 3, 6, 2, 2, 1, -1, 2, 0}};
    for (size_t i = 0; i < PX_LEN(kinds); i++) {
        px_error err = {0};
        px_fasttext m = {0};
        double sum[2] = {0};
        px_text bytes = bin_make(&kinds[i]);
        if (pxi_fasttext_parse(bytes.data, bytes.length, "m", &m, &err) != PX_OK)
            fail_msg("%s", err.message);
        pxi_fasttext_add(&m, 1, "</s>", 4, 1.0, sum);
        pxi_fasttext_add(&m, -1, "dog", 3, 1.0, sum);
        assert_true(sum[0] == 1.0 && sum[1] == -1.0);
        pxi_fasttext_done(&m);
        px_text_done(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_hashes),      cmocka_unit_test(test_ngrams),
        cmocka_unit_test(test_bin),         cmocka_unit_test(test_bad_bins),
        cmocka_unit_test(test_broken_bins), cmocka_unit_test(test_no_ngrams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
