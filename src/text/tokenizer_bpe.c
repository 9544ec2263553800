/* src/text/tokenizer_bpe.c - byte-pair encoding over bytes, as CLIP and GPT-2 have it
 *
 * Radford, Wu, Child, Luan, Amodei, Sutskever, Language Models are Unsupervised Multitask Learners,
 * 2019, section 2.2, and the code of both. What CLIP's Python does before (ftfy, HTML entities) is
 * not done: texts here are plain.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode_class.h"

#include <string.h>

void pxi_byte_symbols(char symbol[256][4], int order[256])
{
    int printable = 0, other = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0; b < 256; b++) {
            const bool plain = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
            if (plain != (pass == 0))
                continue;
            const uint32_t code = (uint32_t)(plain ? b : 256 + other);
            char *s = symbol[b];
            s[pxi_utf8_put(code, s)] = '\0'; /* one byte, or two */
            order[b] = printable + other;
            *(plain ? &printable : &other) += 1;
        }
}

/* --- pieces ---------------------------------------------------------------------------------- */

typedef struct piece_reader {
    const char *p, *end;
    bool clip;
} piece_reader;

typedef enum piece_class {
    PIECE_LETTER,
    PIECE_NUMBER,
    PIECE_SPACE,
    PIECE_OTHER,
    PIECE_END
} piece_class;

static piece_class class_at(const piece_reader *r, const char *p, const char **next)
{
    *next = p;
    if (p >= r->end)
        return PIECE_END;
    const uint32_t code = pxi_utf8_next(next, (size_t)(r->end - *next));
    if (pxi_char_is_space(code))
        return PIECE_SPACE;
    const pxi_char_class class = pxi_char_class_of(code);
    return class == PXI_CHAR_LETTER   ? PIECE_LETTER
           : class == PXI_CHAR_NUMBER ? PIECE_NUMBER
                                      : PIECE_OTHER;
}

/* 's 't 're 've 'm 'll 'd */
static size_t contraction_at(const piece_reader *r, const char *p)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < PX_LEN(endings); i++) {
        const size_t length = strlen(endings[i]);
        if ((size_t)(r->end - p) >= length && memcmp(p, endings[i], length) == 0)
            return length;
    }
    return 0;
}

/* Behind the run of `class` that begins at p; numbers come singly with CLIP. */
static const char *run_end(const piece_reader *r, const char *p, piece_class class)
{
    const char *next;
    const char *start = p;
    while (class_at(r, p, &next) == class && next - start <= PXI_PIECE_BYTES) {
        p = next;
        if (r->clip && class == PIECE_NUMBER)
            break;
    }
    return p;
}

/* Blanks: all of them at the end of the text, else all but the last, which goes with what follows;
 * one that stands alone and cannot go with it is a piece. */
static const char *blanks_end(const piece_reader *r)
{
    const char *next, *last = r->p, *p = r->p;
    size_t count = 0;
    while (class_at(r, p, &next) == PIECE_SPACE && next - r->p <= PXI_PIECE_BYTES) {
        last = p;
        p = next;
        count++;
    }
    return count > 1 && class_at(r, p, &next) != PIECE_END ? last : p;
}

/* The end of the piece at r->p. */
static const char *piece_end(const piece_reader *r)
{
    const char *next;
    const size_t contraction = contraction_at(r, r->p);
    if (contraction)
        return r->p + contraction;
    const piece_class class = class_at(r, r->p, &next);
    if (class != PIECE_SPACE)
        return run_end(r, r->p, class);
    if (!r->clip && *r->p == ' ') { /* the one blank that goes with a word */
        const char *beyond;
        const piece_class then = class_at(r, next, &beyond);
        if (then != PIECE_SPACE && then != PIECE_END)
            return run_end(r, next, then);
    }
    return blanks_end(r);
}

void pxi_bpe_split(const char *text, size_t size, bool clip, pxi_piece_fn visit, void *context)
{
    piece_reader r = {.p = text, .end = text + size, .clip = clip};
    while (r.p < r.end) {
        const char *next, *end;
        if (clip && class_at(&r, r.p, &next) == PIECE_SPACE) {
            r.p = next;
            continue;
        }
        end = piece_end(&r);
        if (!visit(context, r.p, (size_t)(end - r.p)))
            return;
        r.p = end;
    }
}
