/* src/text/tokenizer_open.c - the tokeniser of a network, from the files beside it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "text/encoder.h"
#include "text/token_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct token_file {
    char *path, *text;
    size_t size;
} token_file;

static void token_file_done(token_file *f)
{
    free(f->path);
    free(f->text);
}

/* The file that was given, or the first of `names` in the network's folder that is there. */
static px_status token_file_find(token_file *f, const char *given, const char *model_path,
                                 const char *const *names, px_error *err)
{
    const char *slash = strrchr(model_path, '/');
    const int folder = slash ? (int)(slash - model_path) + 1 : 0;
    px_text path = {0};
    if (given) {
        px_text_add(&path, given);
    } else {
        bool there = false;
        for (size_t i = 0; names[i] && !there; i++) {
            px_text_clear(&path);
            px_text_format(&path, "%.*s%s", folder, model_path, names[i]);
            there = !path.failed && access(px_text_get(&path), R_OK) == 0;
        }
        if (!there) {
            const bool failed = path.failed;
            px_text_done(&path);
            return failed ? pxi_no_memory(err) : PX_OK;
        }
    }
    f->path = px_text_take(&path);
    if (!f->path)
        return pxi_no_memory(err);
    return pxi_file_read(f->path, PXI_TOKEN_FILE_BYTES, &f->text, &f->size, err);
}

/* What the files look like. */
static pxi_tokenizer_kind token_guess(const token_file *vocabulary, const token_file *merges)
{
    if (!merges->text)
        return PXI_TOKENIZER_WORDPIECE;
    if (!vocabulary->text || strstr(vocabulary->text, "\"<|startoftext|>\""))
        return PXI_TOKENIZER_CLIP;
    return strstr(vocabulary->text, "\"<s>\"") ? PXI_TOKENIZER_ROBERTA : PXI_TOKENIZER_GPT2;
}

static px_status token_open(const px_text_encoder_options *o, const char *model_path,
                            token_file *vocabulary, token_file *merges, px_tokenizer **out,
                            px_error *err)
{
    static const char *const vocabularies[] = {"vocab.json", "vocab.txt", NULL};
    static const char *const lines[] = {"vocab.txt", NULL}, *const objects[] = {"vocab.json", NULL};
    static const char *const merge_names[] = {"merges.txt", "bpe_simple_vocab_16e6.txt", NULL};
    pxi_tokenizer_kind kind = PXI_TOKENIZER_CLIP;
    if (o->tokenizer && !pxi_tokenizer_find(o->tokenizer, &kind))
        return px_fail(err, PX_E_USAGE,
                       "there is no tokeniser '%s'; there are clip, gpt2, roberta and wordpiece",
                       o->tokenizer);
    const bool pieces = o->tokenizer && kind == PXI_TOKENIZER_WORDPIECE;
    const char *const *vocabulary_names = !o->tokenizer ? vocabularies : pieces ? lines : objects;
    PX_TRY(token_file_find(vocabulary, o->vocabulary, model_path, vocabulary_names, err));
    if (!pieces)
        PX_TRY(token_file_find(merges, o->merges, model_path, merge_names, err));
    if (!o->tokenizer && !vocabulary->text && !merges->text)
        return px_fail(err, PX_E_USAGE,
                       "'%s': no vocab.txt, vocab.json or merges.txt beside it; name the "
                       "tokeniser's files",
                       model_path);
    if (!o->tokenizer)
        kind = token_guess(vocabulary, merges);
    const px_tokenizer_files files = {
        .vocabulary = {vocabulary->text, vocabulary->size, vocabulary->path},
        .merges = {merges->text, merges->size, merges->path},
    };
    return pxi_tokenizer_new(kind, &files, o->cased, out, err);
}

px_status pxi_tokenizer_open(const px_text_encoder_options *options, const char *model_path,
                             px_tokenizer **out, uint64_t *hash, px_error *err)
{
    token_file vocabulary = {0}, merges = {0};
    const px_status status = token_open(options, model_path, &vocabulary, &merges, out, err);
    if (status == PX_OK) {
        *hash = (uint64_t)pxi_tokenizer_kind_of(*out);
        *hash = pxi_id_mix(*hash, vocabulary.text, vocabulary.size);
        *hash = pxi_id_mix(*hash, merges.text, merges.size);
    }
    token_file_done(&vocabulary);
    token_file_done(&merges);
    return status;
}
