/* fuzz/fuzz_tokens.c - tokenisers' files and texts
 *
 * The first byte chooses the kind. Then come the vocabulary, the merges and a text, with a byte
 * 0xff (which is in no UTF-8) between them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/tokenizer.h"
#include "text/unicode_class.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static px_bytes next_part(const char **p, const char *end, const char *name)
{
    const char *stop = memchr(*p, 0xff, (size_t)(end - *p));
    const px_bytes part = {*p, (size_t)((stop ? stop : end) - *p), name};
    *p = stop ? stop + 1 : end;
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    const pxi_tokenizer_kind kind = (pxi_tokenizer_kind)(bytes[0] & 3);
    const char *p = (const char *)bytes + 1, *end = (const char *)bytes + size;
    px_tokenizer_files files = {.vocabulary = next_part(&p, end, "fuzz")};
    files.merges = next_part(&p, end, "fuzz");
    if (kind == PXI_TOKENIZER_CLIP && files.vocabulary.size == 0)
        files.vocabulary.text = NULL; /* it makes its own */
    const px_bytes text = next_part(&p, end, "fuzz");
    px_tokenizer *t = NULL;
    px_error err = {0};
    if (pxi_tokenizer_new(kind, &files, bytes[0] & 4, &t, &err) != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
        return 0;
    }
    px_token_ids ids = {0};
    if (pxi_text_check(text.text, text.size, &err) == PX_OK) {
        if (pxi_tokenizer_encode(t, text.text, text.size, &ids, &err) != PX_OK)
            abort();
        if (ids.count > 4 * text.size || ids.unknown > (int64_t)ids.count)
            abort();
        for (size_t i = 0; i < ids.count; i++)
            if (ids.id[i] < 0 || ids.id[i] >= PXI_TOKENS_MOST + 1024)
                abort();
    }
    free(ids.id);
    pxi_tokenizer_free(t);
    return 0;
}
