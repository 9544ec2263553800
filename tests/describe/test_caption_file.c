/* tests/describe/test_caption_file.c - captioners in files: back as they were, or refused */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cmocka_all.h"
#include "describe/caption_corpus.h"

#include <internal/data.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char path[4096], other[4096];

static px_captioner *small(void)
{
    corpus c = corpus_make(8, 2, 8, 2, 0.3);
    px_captioner_options options = corpus_options();
    options.embedding = options.attention = 3;
    options.hidden = 4;
    options.epochs = 2;
    px_captioner *captioner = NULL;
    px_error err = {0};
    if (px_captioner_train(&c.data, &options, &captioner, NULL, &err) != PX_OK)
        fail_msg("training: %s", err.message);
    corpus_done(&c);
    return captioner;
}

static int set_up(void **state)
{
    (void)state;
    const char *folder = getenv("TEST_SCRATCH");
    snprintf(path, sizeof path, "%s/captioner-%d.npz", folder ? folder : ".", (int)getpid());
    snprintf(other, sizeof other, "%s/captioner-%d-other.npz", folder ? folder : ".",
             (int)getpid());
    px_captioner *captioner = small();
    px_error err = {0};
    if (px_captioner_set_note(captioner, "self+pixels \"f\xc3\xbcr\" resnet20", &err) != PX_OK ||
        px_captioner_save(captioner, path, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_captioner_free(captioner);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return 0;
}

static void test_round_trip(void **state)
{
    (void)state;
    px_captioner *made = small(), *read = NULL;
    px_error err = {0};
    assert_int_equal(px_captioner_set_note(made, "self+pixels \"f\xc3\xbcr\" resnet20", &err),
                     PX_OK);
    if (px_captioner_load(path, &read, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_true(px_captioner_id(made) == px_captioner_id(read));
    assert_string_equal(px_captioner_note(read), px_captioner_note(made));
    assert_int_equal(px_captioner_k(read), 2);
    assert_int_equal(px_captioner_size(read), 8);
    assert_int_equal(px_captioner_word_count(read), px_captioner_word_count(made));
    for (size_t i = 0; i < px_captioner_word_count(read); i++)
        assert_string_equal(px_captioner_word(read, i), px_captioner_word(made, i));
    assert_null(px_captioner_word(read, px_captioner_word_count(read)));
    const px_caption_decoding how = px_captioner_decoding(read);
    assert_true(how.beam == 50 && how.steps == 15 && how.lambda == 0.2);

    corpus c = corpus_make(8, 2, 8, 1, 0.3);
    char *texts[2][8];
    double scores[2][8];
    assert_int_equal(px_captioner_describe(made, c.features, 8, NULL, texts[0], scores[0], &err),
                     PX_OK);
    assert_int_equal(px_captioner_describe(read, c.features, 8, NULL, texts[1], scores[1], &err),
                     PX_OK);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(texts[0][i], texts[1][i]);
        assert_true(scores[0][i] == scores[1][i]);
        free(texts[0][i]);
        free(texts[1][i]);
    }
    corpus_done(&c);

    /* the same bytes again */
    char *a = NULL, *b = NULL;
    size_t a_size = 0, b_size = 0;
    assert_int_equal(px_captioner_save(read, other, &err), PX_OK);
    assert_int_equal(pxi_file_read(path, 1 << 20, &a, &a_size, &err), PX_OK);
    assert_int_equal(pxi_file_read(other, 1 << 20, &b, &b_size, &err), PX_OK);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(a);
    free(b);
    px_captioner_free(made);
    px_captioner_free(read);
}

static void test_note(void **state)
{
    (void)state;
    px_captioner *captioner = small();
    px_error err = {0};
    const uint64_t plain = px_captioner_id(captioner);
    assert_string_equal(px_captioner_note(captioner), "");
    assert_int_equal(px_captioner_set_note(captioner, "x", &err), PX_OK);
    assert_true(px_captioner_id(captioner) != plain);
    assert_int_equal(px_captioner_set_note(captioner, NULL, &err), PX_OK);
    assert_true(px_captioner_id(captioner) == plain);
    char *large = calloc(1, (1 << 16) + 2);
    memset(large, 'x', (1 << 16) + 1);
    assert_int_equal(px_captioner_set_note(captioner, large, &err), PX_E_USAGE);
    free(large);
    px_captioner_free(captioner);
}

/* Cut off, and with bytes changed: refused, or read where nothing that counts was hit. */
static void test_damage(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t size = 0;
    px_error err = {0};
    assert_int_equal(pxi_file_read(path, 1 << 20, &bytes, &size, &err), PX_OK);
    size_t refused = 0, tried = 0;
    for (size_t cut = 0; cut < size; cut += 1 + size / 60) {
        px_captioner *captioner = NULL;
        assert_int_equal(pxi_file_write(other, bytes, cut, &err), PX_OK);
        const px_status status = px_captioner_load(other, &captioner, &err);
        if (status != PX_E_INPUT || captioner)
            fail_msg("the first %zu bytes: status %d", cut, (int)status);
    }
    for (size_t at = 0; at < size; at += 1 + size / 400, tried++) {
        px_captioner *captioner = NULL;
        bytes[at] = (char)(bytes[at] ^ 0x41);
        assert_int_equal(pxi_file_write(other, bytes, size, &err), PX_OK);
        bytes[at] = (char)(bytes[at] ^ 0x41);
        const px_status status = px_captioner_load(other, &captioner, &err);
        if (status != PX_OK &&
            ((status != PX_E_INPUT && status != PX_E_UNSUPPORTED) || captioner || !err.message[0]))
            fail_msg("byte %zu: status %d, '%s'", at, (int)status, err.message);
        refused += status != PX_OK;
        px_captioner_free(captioner);
    }
    assert_true(refused > tried / 2);
    free(bytes);
}

/* --- whole files with something wrong in them ------------------------------------------------- */

typedef struct wrong {
    const char *array;     /* that is changed */
    const char *from, *to; /* in the bytes of `meta` and `words`; NULL: the array is left out */
    const px_shape shape;  /* another one, of the first numbers */
    float number;          /* the first number */
    const char *says;
} wrong;

static px_status rewrite(const wrong *w, px_error *err)
{
    px_npz *npz = NULL;
    px_npz_writer *to = NULL;
    px_status status = px_npz_open(path, &npz, err);
    if (status == PX_OK)
        status = px_npz_create(other, &to, err);
    for (size_t i = 0; i < px_npz_count(npz) && status == PX_OK; i++) {
        const char *name = px_npz_name(npz, i);
        px_tensor tensor = *px_npz_get(npz, name);
        if (strcmp(name, w->array) != 0) {
            status = px_npz_add(to, name, &tensor, err);
            continue;
        }
        if (w->from) {
            const size_t size = px_tensor_bytes(&tensor);
            px_text text = {0};
            px_text_add_bytes(&text, tensor.data, size);
            const char *at = strstr(text.data, w->from);
            assert_non_null(at);
            px_text changed = {0};
            px_text_add_bytes(&changed, text.data, (size_t)(at - text.data));
            px_text_add(&changed, w->to);
            px_text_add(&changed, at + strlen(w->from));
            tensor.data = changed.data;
            tensor.shape.dim[0] = (int64_t)changed.length;
            status = px_npz_add(to, name, &tensor, err);
            px_text_done(&text);
            px_text_done(&changed);
        } else if (w->shape.rank) {
            tensor.shape = w->shape;
            status = px_npz_add(to, name, &tensor, err);
        } else if (w->number != 0.0f) {
            ((float *)tensor.data)[0] = w->number;
            status = px_npz_add(to, name, &tensor, err);
        }
    }
    px_npz_close(npz);
    return status == PX_OK ? px_npz_commit(to, err) : status;
}

static void test_wrong_files(void **state)
{
    (void)state;
    static const wrong cases[] = {
        {.array = "meta", .says = "no 'meta'"},
        {.array = "meta", .from = "captioner", .to = "bank", .says = "but a plexor bank"},
        {.array = "meta", .from = "\"version\": 1", .to = "\"version\": 2", .says = "version 2"},
        {.array = "meta", .from = "\"hidden\": 4", .to = "\"hidden\": 0", .says = "'hidden'"},
        {.array = "meta", .from = "\"hidden\": 4", .to = "\"hidden\": 5", .says = "instead of"},
        {.array = "meta", .from = "\"hidden\": 4", .to = "\"hidden\": 65536", .says = "weights"},
        {.array = "meta", .from = "\"k\": 2", .to = "\"k\": 1e18", .says = "'k'"},
        {.array = "meta", .from = "\"size\": 8", .to = "\"size\": -8", .says = "'size'"},
        {.array = "meta", .from = "\"beam\": 50", .to = "\"beam\": 5e3", .says = "'beam'"},
        {.array = "meta", .from = "\"steps\": 15", .to = "\"steps\": 1.5", .says = "'steps'"},
        {.array = "meta", .from = "\"lambda\": 0.2", .to = "\"lambda\": null", .says = "'lambda'"},
        {.array = "meta", .from = "\"note\"", .to = "\"knot\"", .says = "'note'"},
        {.array = "words", .says = "'words'"},
        {.array = "words", .from = "edges\n", .to = "", .says = "words"},
        {.array = "words", .from = "edges\n", .to = "red\n", .says = "twice"},
        {.array = "words", .from = "edges\n", .to = "ed ges\n", .says = "not one word"},
        {.array = "mean", .says = "'mean' is missing"},
        {.array = "scale", .number = INFINITY, .says = "not finite"},
        {.array = "decoder/key", .says = "'decoder/key' is missing"},
        {.array = "decoder/key", .number = NAN, .says = "not finite"},
        {.array = "decoder/query", .shape = {.rank = 2, .dim = {2, 3}}, .says = "[2,3]"},
        {.array = "language/out", .shape = {.rank = 1, .dim = {4}}, .says = "[4]"},
        {.array = "language/state_1", .says = "'language/state_1' is missing"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        if (rewrite(&cases[i], &err) != PX_OK)
            fail_msg("case %zu: %s", i, err.message);
        px_captioner *captioner = NULL;
        const px_status status = px_captioner_load(other, &captioner, &err);
        if (status != PX_E_INPUT || captioner || !strstr(err.message, cases[i].says) ||
            !strstr(err.message, "-other.npz"))
            fail_msg("case %zu (%s): status %d, '%s'", i, cases[i].array, (int)status, err.message);
    }
    px_captioner *captioner = NULL;
    px_error err = {0};
    assert_int_not_equal(px_captioner_load("there/is/none.npz", &captioner, &err), PX_OK);
    assert_null(captioner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_note),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
