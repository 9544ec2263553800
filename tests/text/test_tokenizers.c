/* tests/text/test_tokenizers.c - CLIP's and GPT-2's byte pairs, WordPiece
 *
 * On the small vocabularies of tokens/ against Python (encoder_golden.h); and on the real ones with
 * the ids of the specification where the user has them: CLIP_MERGES names a folder's or OpenAI's
 * own merge file.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cmocka_all.h"
#include "encoder_golden.h"
#include "text/tokenizer.h"
#include "text/unicode_class.h"

#include <stdlib.h>
#include <string.h>

static px_bytes token_file(const char *name)
{
    static char *kept[8];
    static size_t sizes[8];
    static char names[8][64];
    px_error err = {0};
    size_t i = 0;
    while (kept[i] && strcmp(names[i], name) != 0)
        i++;
    if (!kept[i]) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", TOKENS, name);
        snprintf(names[i], sizeof names[i], "%s", name);
        if (pxi_file_read(path, 1 << 20, &kept[i], &sizes[i], &err) != PX_OK)
            fail_msg("%s", err.message);
    }
    return (px_bytes){kept[i], sizes[i], names[i]};
}

static px_tokenizer *open_kind(pxi_tokenizer_kind kind, bool cased)
{
    px_tokenizer_files files = {0};
    px_tokenizer *t = NULL;
    px_error err = {0};
    if (kind == PXI_TOKENIZER_WORDPIECE)
        files.vocabulary = token_file("wordpiece-vocab.txt");
    else
        files.merges =
            token_file(kind == PXI_TOKENIZER_CLIP ? "clip-merges.txt" : "gpt2-merges.txt");
    if (kind == PXI_TOKENIZER_GPT2)
        files.vocabulary = token_file("gpt2-vocab.json");
    if (kind == PXI_TOKENIZER_ROBERTA)
        files.vocabulary = token_file("roberta-vocab.json");
    if (pxi_tokenizer_new(kind, &files, cased, &t, &err) != PX_OK)
        fail_msg("%s: %s", pxi_tokenizer_name(kind), err.message);
    return t;
}

static void check_ids(const px_tokenizer *t, const char *text, const int64_t *wanted, size_t count)
{
    px_token_ids ids = {0};
    px_error err = {0};
    assert_int_equal(pxi_tokenizer_encode(t, text, strlen(text), &ids, &err), PX_OK);
    for (size_t i = 0; i < PX_MIN(ids.count, count); i++)
        if (ids.id[i] != wanted[i])
            fail_msg("%s of '%s': token %zu is %d, expected %d",
                     pxi_tokenizer_name(pxi_tokenizer_kind_of(t)), text, i, (int)ids.id[i],
                     (int)wanted[i]);
    if (ids.count != count)
        fail_msg("%s of '%s': %zu tokens, expected %zu",
                 pxi_tokenizer_name(pxi_tokenizer_kind_of(t)), text, ids.count, count);
    free(ids.id);
}

#define CHECK_ALL(t, table)                    \
    for (size_t i = 0; i < PX_LEN(table); i++) \
    check_ids(t, table[i].text, table[i].id, table[i].count)

static void test_tokens_are_pythons(void **state)
{
    (void)state;
    px_tokenizer *clip = open_kind(PXI_TOKENIZER_CLIP, false);
    CHECK_ALL(clip, golden_clip);
    pxi_tokenizer_free(clip);
    px_tokenizer *gpt2 = open_kind(PXI_TOKENIZER_GPT2, false);
    CHECK_ALL(gpt2, golden_gpt2);
    pxi_tokenizer_free(gpt2);
    px_tokenizer *uncased = open_kind(PXI_TOKENIZER_WORDPIECE, false);
    CHECK_ALL(uncased, golden_wordpiece);
    pxi_tokenizer_free(uncased);
    px_tokenizer *cased = open_kind(PXI_TOKENIZER_WORDPIECE, true);
    CHECK_ALL(cased, golden_wordpiece_cased);
    pxi_tokenizer_free(cased);
}

/* RoBERTa has GPT-2's pieces under numbers of its own. */
static void test_roberta(void **state)
{
    (void)state;
    px_tokenizer *t = open_kind(PXI_TOKENIZER_ROBERTA, false);
    const px_specials special = pxi_tokenizer_specials(t);
    assert_int_equal(special.start, 0);
    assert_int_equal(special.pad, 1);
    assert_int_equal(special.end, 2);
    assert_int_equal(special.unknown, 3);
    for (size_t i = 0; i < PX_LEN(golden_gpt2); i++) {
        int64_t shifted[96];
        for (size_t k = 0; k < golden_gpt2[i].count; k++)
            shifted[k] = golden_gpt2[i].id[k] + 4;
        check_ids(t, golden_gpt2[i].text, shifted, golden_gpt2[i].count);
    }
    pxi_tokenizer_free(t);
}

typedef struct piece_check {
    const char *const *wanted;
    size_t at;
    const char *text;
} piece_check;

static bool check_piece(void *context, const char *piece, size_t length)
{
    piece_check *c = context;
    const char *wanted = c->wanted[c->at];
    if (!wanted || strlen(wanted) != length || memcmp(wanted, piece, length) != 0)
        fail_msg("'%s': piece %zu is '%.*s', expected '%s'", c->text, c->at, (int)length, piece,
                 wanted ? wanted : "no more");
    c->at++;
    return true;
}

static void test_pieces_are_pythons(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(golden_gpt2_pieces); i++) {
        piece_check c = {golden_gpt2_pieces[i] + 1, 0, golden_gpt2_pieces[i][0]};
        pxi_bpe_split(c.text, strlen(c.text), false, check_piece, &c);
        assert_null(c.wanted[c.at]);
    }
}

static void test_byte_symbols(void **state)
{
    (void)state;
    char symbol[256][4];
    int order[256];
    pxi_byte_symbols(symbol, order);
    assert_string_equal(symbol['a'], "a");
    assert_string_equal(symbol[' '], "\xc4\xa0"); /* U+0120 */
    assert_string_equal(symbol['\n'], "\xc4\x8a");
    assert_string_equal(symbol[0xad], "\xc5\x83"); /* the last of the 68 */
    assert_string_equal(symbol[0xff], "\xc3\xbf");
    assert_int_equal(order['!'], 0);
    assert_int_equal(order[0xff], 187);
    assert_int_equal(order[0], 188);
    assert_int_equal(order[0xad], 255);
}

static void test_unaffable(void **state)
{
    (void)state;
    static const char text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n";
    const px_tokenizer_files files = {.vocabulary = {text, sizeof text - 1, "vocab.txt"}};
    px_error err = {0};
    px_tokenizer *t = NULL;
    assert_int_equal(pxi_tokenizer_new(PXI_TOKENIZER_WORDPIECE, &files, false, &t, &err), PX_OK);
    check_ids(t, "unaffable", (const int64_t[]){4, 5, 6}, 3);
    check_ids(t, "UNAFFABLE!", (const int64_t[]){4, 5, 6, 1}, 4);
    check_ids(t, "affable un", (const int64_t[]){1, 4}, 2);
    pxi_tokenizer_free(t);
}

static void test_unknown_is_counted(void **state)
{
    (void)state;
    px_tokenizer *t = open_kind(PXI_TOKENIZER_WORDPIECE, false);
    px_token_ids ids = {0};
    px_error err = {0};
    const char *text = "cat \xd0\x96 dog \xe2\x82\xac"; /* a Cyrillic letter, the euro sign */
    assert_int_equal(pxi_tokenizer_encode(t, text, strlen(text), &ids, &err), PX_OK);
    assert_int_equal(ids.count, 4);
    assert_int_equal(ids.unknown, 2);
    free(ids.id);
    pxi_tokenizer_free(t);
}

/* A run without a break is cut: no text takes long. */
static void test_endless_words(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *text = malloc(LONG + 1);
    memset(text, 'a', LONG);
    text[LONG] = '\0';
    for (int kind = 0; kind < 4; kind++) {
        px_tokenizer *t = open_kind((pxi_tokenizer_kind)kind, false);
        px_token_ids ids = {0};
        px_error err = {0};
        assert_int_equal(pxi_tokenizer_encode(t, text, LONG, &ids, &err), PX_OK);
        assert_true(ids.count > 0);
        free(ids.id);
        pxi_tokenizer_free(t);
    }
    free(text);
}

static void test_lower_and_bare(void **state)
{
    (void)state;
    static const struct {
        uint32_t code, lower;
        int count;
        uint32_t bare[3];
    } cases[] = {
        {'A', 'a', 1, {'A'}},
        {0xC9, 0xE9, 1, {'E'}},
        {0x178, 0xFF, 1, {'Y'}},
        {0x130, 'i', 1, {'I'}},
        {0x416, 0x436, 1, {0x416}},
        {0x1E9E, 0xDF, 1, {0x1E9E}},
        {0x10A0, 0x2D00, 1, {0x10A0}},
        {0x301, 0x301, 0, {0}},
        {0x1F600, 0x1F600, 1, {0x1F600}},
        {0xC0AC, 0xC0AC, 2, {0x1109, 0x1161}},
        {0xB545, 0xB545, 3, {0x1104, 0x1161, 0x11BC}},
        {0x9CB, 0x9CB, 2, {0x9C7, 0x9BE}},
        {0xF900, 0xF900, 1, {0x8C48}},
        {0x10400, 0x10428, 1, {0x10400}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        uint32_t bare[3] = {0};
        if (pxi_char_lower(cases[i].code) != cases[i].lower)
            fail_msg("lower case of U+%04X is U+%04X", cases[i].code,
                     pxi_char_lower(cases[i].code));
        const int count = pxi_char_bare(cases[i].code, bare);
        if (count != cases[i].count ||
            memcmp(bare, cases[i].bare, (size_t)count * sizeof bare[0]) != 0)
            fail_msg("U+%04X without accents: %d, U+%04X", cases[i].code, count, bare[0]);
    }
    assert_int_equal(pxi_char_class_of('x'), PXI_CHAR_LETTER);
    assert_int_equal(pxi_char_class_of(0x10FFFF), PXI_CHAR_OTHER);
    assert_int_equal(pxi_char_class_of(0x2014), PXI_CHAR_PUNCTUATION);
    assert_true(pxi_char_is_space(0x3000) && pxi_char_is_space(0x85) && !pxi_char_is_space(0x200B));
}

/* --- bad files ------------------------------------------------------------------------------- */

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        pxi_tokenizer_kind kind;
        const char *vocabulary, *merges, *message;
    } cases[] = {
        {PXI_TOKENIZER_WORDPIECE, "", NULL, "'v' is no vocabulary: it is empty"},
        {PXI_TOKENIZER_WORDPIECE, "a\nb\n", NULL, "'v' has no token '[CLS]'"},
        {PXI_TOKENIZER_WORDPIECE, NULL, NULL,
         "a wordpiece tokeniser needs its vocabulary (vocab.txt)"},
        {PXI_TOKENIZER_GPT2, "{\"a\": 0}", NULL, "a gpt2 tokeniser needs its merges (merges.txt)"},
        {PXI_TOKENIZER_GPT2, NULL, "#\na b\n",
         "a gpt2 tokeniser needs its vocabulary (vocab.json)"},
        {PXI_TOKENIZER_GPT2, "{\"a\": -1}", "#\na b\n", "'v': token 'a' has no number"},
        {PXI_TOKENIZER_GPT2, "{\"a\": 1.5}", "#\na b\n", "'v': token 'a' has no number"},
        {PXI_TOKENIZER_GPT2, "{\"a\": \"b\"}", "#\na b\n", "'v': token 'a' has no number"},
        {PXI_TOKENIZER_GPT2, "[1, 2]", "#\na b\n", "'v' is no vocabulary: expected"},
        {PXI_TOKENIZER_GPT2, "{\"a\": 1", "#\na b\n", "'v': not JSON"},
        {PXI_TOKENIZER_GPT2, "{\"a\": 1e9}", "#\na b\n", "'v': token 'a' has no number"},
        {PXI_TOKENIZER_ROBERTA, "{\"a\": 1}", "#\na b\n", "'v' has no token '<s>'"},
        {PXI_TOKENIZER_CLIP, NULL, "", "'m' has no merges"},
        {PXI_TOKENIZER_CLIP, NULL, "a b\n", "'m' has no merges"},
        {PXI_TOKENIZER_CLIP, NULL, "#version\nab\n", "'m' line 2: expected two symbols"},
        {PXI_TOKENIZER_CLIP, NULL, "#version\na b\na b c\n", "'m' line 3: expected two symbols"},
        {PXI_TOKENIZER_CLIP, NULL, "#version\na \n", "'m' line 2: expected two symbols"},
        {PXI_TOKENIZER_CLIP, "{\"a\": 1}", "#\na b\n", "'v' has no token '<|startoftext|>'"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_tokenizer *t = NULL;
        const char *v = cases[i].vocabulary, *m = cases[i].merges;
        const px_tokenizer_files files = {.vocabulary = {v, v ? strlen(v) : 0, "v"},
                                          .merges = {m, m ? strlen(m) : 0, "m"}};
        const px_status status = pxi_tokenizer_new(cases[i].kind, &files, false, &t, &err);
        if (status == PX_OK ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %s", i, status == PX_OK ? "accepted" : err.message);
    }
}

/* --- the real ones, where they are ----------------------------------------------------------- */

static void test_clips_own(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        int64_t id[24];
    } cases[] = {
        {"a photo of a cat", 5, {320, 1125, 539, 320, 2368}},
        {"Hello, world!", 4, {3306, 267, 1002, 256}},
        {"a photo of a bulbul with stick, eye, beak, head and stripes",
         16,
         {320, 1125, 539, 320, 2572, 10200, 593, 4987, 267, 3272, 267, 36498, 267, 1375, 537,
          14239}},
    };
    const char *path = getenv("PLEXOR_CLIP_MERGES");
    if (!path) {
        fprintf(stderr, "skipped: PLEXOR_CLIP_MERGES does not name CLIP's merge file\n");
        skip();
    }
    px_error err = {0};
    char *text = NULL;
    size_t size = 0;
    if (pxi_file_read(path, PXI_TOKEN_FILE_BYTES, &text, &size, &err) != PX_OK)
        fail_msg("%s", err.message);
    const px_tokenizer_files files = {.merges = {text, size, path}};
    px_tokenizer *t = NULL;
    if (pxi_tokenizer_new(PXI_TOKENIZER_CLIP, &files, false, &t, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pxi_tokenizer_specials(t).start, 49406);
    assert_int_equal(pxi_tokenizer_specials(t).end, 49407);
    for (size_t i = 0; i < PX_LEN(cases); i++)
        check_ids(t, cases[i].text, cases[i].id, cases[i].count);
    pxi_tokenizer_free(t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_are_pythons), cmocka_unit_test(test_roberta),
        cmocka_unit_test(test_pieces_are_pythons), cmocka_unit_test(test_byte_symbols),
        cmocka_unit_test(test_unaffable),          cmocka_unit_test(test_unknown_is_counted),
        cmocka_unit_test(test_endless_words),      cmocka_unit_test(test_lower_and_bare),
        cmocka_unit_test(test_bad_files),          cmocka_unit_test(test_clips_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
