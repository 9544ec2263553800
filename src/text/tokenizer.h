/* src/text/tokenizer.h - texts as the token numbers of a language model
 *
 *     px_tokenizer_files files = {.vocabulary = {text, size, "vocab.txt"}};
 *     pxi_tokenizer_new(PXI_TOKENIZER_WORDPIECE, &files, false, &tokenizer, &err);
 *     pxi_tokenizer_encode(tokenizer, text, size, &ids, &err);      // without special tokens
 *     free(ids.id);
 *
 * CLIP and GPT-2: byte-pair encoding (Sennrich, Haddow, Birch, ACL 2016) over bytes written as
 * printable characters. WordPiece: BERT's, greedy from the left. The files are the user's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_TOKENIZER_H
#define PXI_TEXT_TOKENIZER_H

#include "text/word_table.h"

#include <plexor/text.h>

typedef enum pxi_tokenizer_kind {
    PXI_TOKENIZER_CLIP,
    PXI_TOKENIZER_GPT2,
    PXI_TOKENIZER_ROBERTA,
    PXI_TOKENIZER_WORDPIECE,
} pxi_tokenizer_kind;

const char *pxi_tokenizer_name(pxi_tokenizer_kind kind);
bool pxi_tokenizer_find(const char *name, pxi_tokenizer_kind *out);

typedef struct px_bytes { /* a file's content; text NULL: there is none */
    const char *text;
    size_t size;
    const char *name; /* in messages */
} px_bytes;

typedef struct px_tokenizer_files {
    px_bytes vocabulary; /* JSON {"token": id}, or for wordpiece a token per line. Clip makes its
                            own from the merges where there is none */
    px_bytes merges;     /* "left right" per line from the second line on; not of wordpiece */
} px_tokenizer_files;

typedef struct px_tokenizer px_tokenizer;

px_status pxi_tokenizer_new(pxi_tokenizer_kind kind, const px_tokenizer_files *files, bool cased,
                            px_tokenizer **out, px_error *err);
void pxi_tokenizer_free(px_tokenizer *tokenizer);

typedef struct px_specials { /* token numbers; -1: the kind has none */
    int64_t start, end, pad, unknown;
} px_specials;
px_specials pxi_tokenizer_specials(const px_tokenizer *tokenizer);
pxi_tokenizer_kind pxi_tokenizer_kind_of(const px_tokenizer *tokenizer);
size_t pxi_tokenizer_size(const px_tokenizer *tokenizer); /* entries of its vocabulary */

/* As it stands in the vocabulary ("##ing", "Ġthe"); NULL: there is no such number. */
const char *pxi_tokenizer_token(const px_tokenizer *tokenizer, int64_t id);

typedef struct px_token_ids { /* {0} is an empty one */
    int64_t *id;
    size_t count, cap;
    int64_t unknown; /* of them */
} px_token_ids;

/* Adds the text's tokens. Runs of more than 1,024 bytes without a break are broken there. */
px_status pxi_tokenizer_encode(const px_tokenizer *tokenizer, const char *text, size_t size,
                               px_token_ids *ids, px_error *err);

/* --- inside ---------------------------------------------------------------------------------- */

enum {
    PXI_TOKEN_FILE_BYTES = 64 << 20,
    PXI_TOKENS_MOST = 4 << 20, /* of a vocabulary, or merges */
    PXI_PIECE_BYTES = 1024,
};

typedef struct px_vocabulary { /* token <-> number */
    px_word_table words;
    int32_t *ids; /* of word i */
    size_t id_cap;
} px_vocabulary;

px_status pxi_vocabulary_json(const px_bytes *file, px_vocabulary *out, px_error *err);
px_status pxi_vocabulary_lines(const px_bytes *file, px_vocabulary *out, px_error *err);
bool pxi_vocabulary_add(px_vocabulary *vocabulary, const char *word, size_t length, int32_t id);
int32_t pxi_vocabulary_find(const px_vocabulary *vocabulary, const char *word, size_t length);
void pxi_vocabulary_done(px_vocabulary *vocabulary);

typedef struct px_merges { /* ranks of pairs of symbols; symbols are numbered by `symbols` */
    px_word_table symbols;
    uint64_t *keys; /* left << 32 | right, by open addressing; UINT64_MAX: free */
    int32_t *ranks; /* of the key in the same slot */
    size_t slot_count;
    int32_t *joined; /* the symbol that a pair becomes, by rank */
    size_t count, joined_cap;
} px_merges;

/* At most `most` merges (0: all). */
px_status pxi_merges_parse(const px_bytes *file, size_t most, px_merges *out, px_error *err);
int32_t pxi_merges_rank(const px_merges *merges, int32_t left, int32_t right); /* -1: none */
void pxi_merges_done(px_merges *merges);

/* The 256 bytes as printable characters, in UTF-8 with a NUL; and the order in which CLIP numbers
 * them. */
void pxi_byte_symbols(char symbol[256][4], int order[256]);

bool pxi_ids_add(px_token_ids *ids, int64_t id);

/* The text in pieces that BPE works on: CLIP's or GPT-2's expression. `visit` returns false to
 * stop. The text has been cleaned (CLIP: one blank between words, lower case). */
typedef bool (*pxi_piece_fn)(void *context, const char *piece, size_t length);
void pxi_bpe_split(const char *text, size_t size, bool clip, pxi_piece_fn visit, void *context);

/* BERT's cleaning and splitting, and the greedy match. */
bool pxi_wordpiece_encode(const px_vocabulary *vocabulary, bool cased, int64_t unknown,
                          const char *text, size_t size, px_token_ids *ids);

#endif
