/* fuzz/fuzz_vectors.c - files of word vectors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/vector_text.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *copy = malloc(size + 1); /* of its own size, so that a step beyond is seen */
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, bytes, size);
    char *exact = realloc(copy, size ? size : 1);
    try_text(exact, size);
    free(exact);
    return 0;
}
