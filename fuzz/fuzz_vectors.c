/* fuzz/fuzz_vectors.c - files of word vectors: GloVe's text, fastText's .bin
 *
 * A file that begins with fastText's magic number is read as one, and so is any that reads as text.
 */
#include "semantics/fasttext.h"
#include "semantics/vector_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_message(const px_error *err)
{
    if (!strstr(err->message, "'fuzz'"))
        abort();
}

static void try_text(const char *text, size_t size)
{
    px_vectors v = {0};
    px_error err = {0};
    if (pxi_vectors_parse(text, size, "fuzz", 0, &v, &err) != PX_OK) {
        check_message(&err);
        return;
    }
    for (size_t i = 0; i < v.words.count * v.size; i++)
        if (!isfinite(v.rows[i]))
            abort();
    for (size_t i = 0; i < v.words.count; i++) {
        const char *word = pxi_words_get(&v.words, i);
        if (pxi_words_find(&v.words, word, strlen(word)) != (int32_t)i)
            abort();
    }
    pxi_vectors_done(&v);
}

static void try_model(const char *bytes, size_t size)
{
    static const char *const words[] = {"cat", "", "a-very-long-word", "\xc3\xa9t\xc3\xa9", "\x80"};
    px_fasttext m = {0};
    px_error err = {0};
    if (pxi_fasttext_parse(bytes, size, "fuzz", &m, &err) != PX_OK) {
        check_message(&err);
        return;
    }
    double *sum = calloc(m.size, sizeof *sum);
    for (size_t i = 0; sum && i < sizeof words / sizeof words[0]; i++)
        pxi_fasttext_add(&m, i % 2 ? -1 : (int32_t)m.words.count - 1, words[i], strlen(words[i]),
                         1.0, sum);
    free(sum);
    pxi_fasttext_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *copy = malloc(size + 1); /* of its own size, so that a step beyond is seen */
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, bytes, size);
    char *exact = realloc(copy, size ? size : 1);
    try_text(exact, size);
    try_model(exact, size);
    free(exact);
    return 0;
}
