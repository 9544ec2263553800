/* tests/text/test_vector_files.c - GloVe's and fastText's files, good and bad */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "text/vector_text.h"

#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------ */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bad_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
