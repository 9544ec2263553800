/* src/text/glosses.c - attributes of words, and the sentences they make */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/glosses.h"

#include "base/file.h"
#include "base/memory.h"
#include "text/gloss_table.h"
#include "text/unicode_class.h"
#include "text/word_split.h"

#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

enum {
    GLOSS_FILE_BYTES = 1 << 20,
    GLOSS_LINE_WORDS = 64,
    GLOSS_PAIRS_MOST = 50000, /* each gives up to 1 + GLOSS_PARTNERS sentences */
    GLOSS_PARTNERS = 24,
    GLOSS_OBJECT_CAPTIONS = 4,
    GLOSS_CAPTIONS_MOST = 5000,
};

typedef struct gloss_pair {
    int32_t word, attribute;
} gloss_pair;

struct px_glosses {
    px_word_table words, attributes; /* as written, blanks at their ends taken off */
    gloss_pair *pairs;               /* in the order of the lines */
    size_t pair_count, pair_cap;
    int32_t
        *members; /* the words that have attribute 0, in the order of the lines, then of 1 ... */
    size_t *ends; /* per attribute, among the members */
};

void pxi_glosses_free(px_glosses *g)
{
    if (!g)
        return;
    pxi_words_done(&g->words);
    pxi_words_done(&g->attributes);
    free(g->pairs);
    free(g->members);
    free(g->ends);
    free(g);
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct gloss_line {
    const char *name; /* of the file */
    size_t number;
} gloss_line;

/* The next of a list with commas: *p moves behind it; blanks around it do not count. */
static size_t gloss_item(const char **p, const char *end, const char **item)
{
    const char *comma = memchr(*p, ',', (size_t)(end - *p));
    const char *stop = comma ? comma : end;
    const char *start = *p;
    *p = comma ? comma + 1 : end;
    while (start < stop && (*start == ' ' || *start == '\t'))
        start++;
    while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
        stop--;
    *item = start;
    return (size_t)(stop - start);
}

/* The numbers of the list's items in `table`. */
static px_status gloss_items(px_word_table *table, const gloss_line *line, const char *what,
                             const char *p, const char *end, int32_t *out, size_t *count,
                             px_error *err)
{
    *count = 0;
    do {
        const char *item;
        const size_t length = gloss_item(&p, end, &item);
        if (!length)
            return px_fail(err, PX_E_INPUT,
                           "'%s' line %zu: an empty %s; a line reads 'word: attribute, attribute'",
                           line->name, line->number, what);
        if (*count == GLOSS_LINE_WORDS)
            return px_fail(err, PX_E_INPUT, "'%s' line %zu: more than %d %ss; use several lines",
                           line->name, line->number, GLOSS_LINE_WORDS, what);
        out[*count] = pxi_words_add(table, item, length);
        if (out[(*count)++] < 0)
            return pxi_no_memory(err);
    } while (p < end);
    return PX_OK;
}

static px_status gloss_add_line(px_glosses *g, const gloss_line *line, const char *p,
                                const char *end, px_error *err)
{
    int32_t words[GLOSS_LINE_WORDS], attributes[GLOSS_LINE_WORDS];
    size_t word_count = 0, attribute_count = 0;
    const char *remark = memchr(p, '#', (size_t)(end - p));
    if (remark)
        end = remark;
    while (p < end && strchr(" \t\r", *p) && *p)
        p++;
    if (p == end)
        return PX_OK;
    const char *colon = memchr(p, ':', (size_t)(end - p));
    if (!colon)
        return px_fail(err, PX_E_INPUT,
                       "'%s' line %zu: no colon; a line reads 'word: attribute, attribute'",
                       line->name, line->number);
    PX_TRY(gloss_items(&g->words, line, "word", p, colon, words, &word_count, err));
    PX_TRY(gloss_items(&g->attributes, line, "attribute", colon + 1, end, attributes,
                       &attribute_count, err));
    if (g->pair_count + word_count * attribute_count > GLOSS_PAIRS_MOST)
        return px_fail(err, PX_E_INPUT,
                       "'%s' line %zu: more than %d pairs of a word and an attribute", line->name,
                       line->number, GLOSS_PAIRS_MOST);
    PX_TRY(PX_GROW(g->pairs, g->pair_cap, g->pair_count + word_count * attribute_count, err));
    for (size_t w = 0; w < word_count; w++)
        for (size_t a = 0; a < attribute_count; a++)
            g->pairs[g->pair_count++] = (gloss_pair){words[w], attributes[a]};
    return PX_OK;
}

static px_status gloss_add_text(px_glosses *g, const char *text, size_t size, const char *name,
                                px_error *err)
{
    const char *p = text, *end = text + size;
    if (memchr(text, '\0', size))
        return px_fail(err, PX_E_INPUT, "'%s' is not a text of glosses", name);
    const px_status status = pxi_text_check(text, size, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", name);
    for (gloss_line line = {.name = name, .number = 1}; p < end; line.number++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        PX_TRY(gloss_add_line(g, &line, p, stop, err));
        p = stop < end ? stop + 1 : end;
    }
    return PX_OK;
}

/* Sorts the pairs by attribute; a pair that is there twice counts once. */
static px_status gloss_index(px_glosses *g, px_error *err)
{
    const size_t attributes = g->attributes.count;
    size_t *next = pxi_calloc(attributes + 1, sizeof *next);
    g->ends = pxi_calloc(attributes + 1, sizeof *g->ends);
    g->members = pxi_calloc(g->pair_count + 1, sizeof *g->members);
    if (!next || !g->ends || !g->members) {
        free(next);
        return pxi_no_memory(err);
    }
    for (size_t i = 0; i < g->pair_count; i++)
        next[g->pairs[i].attribute + 1]++;
    for (size_t a = 0; a < attributes; a++)
        next[a + 1] += next[a];
    for (size_t a = 0; a < attributes; a++)
        g->ends[a] = next[a];
    for (size_t i = 0; i < g->pair_count; i++) {
        const gloss_pair pair = g->pairs[i];
        size_t *end = &g->ends[pair.attribute];
        bool there = false;
        for (size_t m = next[pair.attribute]; m < *end && !there; m++)
            there = g->members[m] == pair.word;
        if (!there)
            g->members[(*end)++] = pair.word;
    }
    size_t packed = 0;
    for (size_t a = 0; a < attributes; a++) {
        for (size_t m = next[a]; m < g->ends[a]; m++)
            g->members[packed++] = g->members[m];
        g->ends[a] = packed;
    }
    free(next);
    return PX_OK;
}

px_status pxi_glosses_parse(const char *text, size_t size, const char *name, px_glosses **out,
                            px_error *err)
{
    px_glosses *g = NULL;
    PX_TRY(PX_NEW(g, 1, err));
    px_status status = gloss_add_text(g, text, size, name, err);
    PX_THEN(status, gloss_index(g, err));
    return PX_GIVE(status, g, out, pxi_glosses_free);
}

static px_status gloss_load(px_glosses *g, const char *path, px_error *err)
{
    for (size_t i = 0; pxi_gloss_table[i]; i++) {
        const gloss_line line = {"gloss_table.c", i + 1};
        const char *text = pxi_gloss_table[i];
        PX_TRY(gloss_add_line(g, &line, text, text + strlen(text), err));
    }
    if (!path)
        return PX_OK;
    char *text = NULL;
    size_t size = 0;
    PX_TRY(pxi_file_read(path, GLOSS_FILE_BYTES, &text, &size, err));
    const px_status status = gloss_add_text(g, text, size, path, err);
    free(text);
    return status;
}

px_status pxi_glosses_open(const char *path, px_glosses **out, px_error *err)
{
    px_glosses *g = NULL;
    PX_TRY(PX_NEW(g, 1, err));
    px_status status = gloss_load(g, path, err);
    PX_THEN(status, gloss_index(g, err));
    return PX_GIVE(status, g, out, pxi_glosses_free);
}

/* --- sentences ------------------------------------------------------------------------------- */

static const int32_t *gloss_members(const px_glosses *g, size_t attribute, size_t *count)
{
    const size_t start = attribute ? g->ends[attribute - 1] : 0;
    *count = g->ends[attribute] - start;
    return g->members + start;
}

typedef struct gloss_job {
    const px_glosses *glosses;
    px_corpus *corpus;
    unsigned char *takes_part; /* per gloss word */
    px_text text;
} gloss_job;

/* Whether all words of a gloss word ("ankle boot" has two) are among the corpus' own. */
static bool gloss_is_known(const px_corpus *corpus, const char *word, bool *failed)
{
    px_word_reader r = pxi_word_reader(word, strlen(word));
    bool known = true;
    while (known && pxi_word_next(&r))
        known = pxi_words_find(&corpus->words, px_text_get(&r.lower), r.lower.length) >= 0;
    *failed |= r.word.failed || r.lower.failed;
    pxi_word_reader_done(&r);
    return known;
}

static px_status gloss_sentence(gloss_job *job, px_error *err)
{
    if (job->text.failed)
        return pxi_no_memory(err);
    return pxi_corpus_add(job->corpus, px_text_get(&job->text), job->text.length,
                          PXI_SENTENCE_GLOSS, err);
}

static px_status gloss_attribute(gloss_job *job, size_t attribute, px_error *err)
{
    const px_glosses *g = job->glosses;
    const char *name = pxi_words_get(&g->attributes, attribute);
    size_t count;
    const int32_t *members = gloss_members(g, attribute, &count);
    size_t sharing = 0;
    for (size_t i = 0; i < count; i++)
        sharing += job->takes_part[members[i]];
    if (sharing < 2) /* makes nothing alike, and rare words weigh much in PPMI */
        return PX_OK;
    for (size_t i = 0; i < count; i++) {
        const char *word = pxi_words_get(&g->words, (size_t)members[i]);
        if (!job->takes_part[members[i]])
            continue;
        px_text_clear(&job->text);
        px_text_format(&job->text, "%s is %s", word, name);
        PX_TRY(gloss_sentence(job, err));
        for (size_t j = i + 1, partners = 0; j < count && partners < GLOSS_PARTNERS; j++) {
            if (!job->takes_part[members[j]])
                continue;
            px_text_clear(&job->text);
            px_text_format(&job->text, "%s and %s are both %s", word,
                           pxi_words_get(&g->words, (size_t)members[j]), name);
            PX_TRY(gloss_sentence(job, err));
            partners++;
        }
    }
    return PX_OK;
}

px_status pxi_glosses_sentences(const px_glosses *g, bool known_only, px_corpus *corpus,
                                px_error *err)
{
    gloss_job job = {.glosses = g, .corpus = corpus};
    job.takes_part = pxi_calloc(g->words.count + 1, 1);
    bool failed = !job.takes_part;
    for (size_t w = 0; w < g->words.count && !failed; w++)
        job.takes_part[w] =
            !known_only || gloss_is_known(corpus, pxi_words_get(&g->words, w), &failed);
    px_status status = failed ? pxi_no_memory(err) : PX_OK;
    for (size_t a = 0; a < g->attributes.count && status == PX_OK; a++)
        status = gloss_attribute(&job, a, err);
    free(job.takes_part);
    px_text_done(&job.text);
    return status;
}

/* --- stock captions -------------------------------------------------------------------------- */

enum { GLOSS_KINDS = 4 };

typedef struct gloss_kind { /* words with one of some attributes */
    const int32_t *members[GLOSS_KINDS];
    size_t count[GLOSS_KINDS];
} gloss_kind;

/* `names` with blanks between them. */
static gloss_kind gloss_kind_of(const px_glosses *g, const char *names)
{
    gloss_kind kind = {0};
    for (int i = 0; i < GLOSS_KINDS && *names; i++) {
        const size_t length = strcspn(names, " ");
        const int32_t a = pxi_words_find(&g->attributes, names, length);
        if (a >= 0)
            kind.members[i] = gloss_members(g, (size_t)a, &kind.count[i]);
        names += length + (names[length] == ' ');
    }
    return kind;
}

static size_t gloss_size(const gloss_kind *kind)
{
    size_t size = 0;
    for (int i = 0; i < GLOSS_KINDS; i++)
        size += kind->count[i];
    return size;
}

static const char *gloss_name(const px_glosses *g, const gloss_kind *kind, size_t i)
{
    int k = 0;
    for (i %= gloss_size(kind); i >= kind->count[k]; k++)
        i -= kind->count[k];
    return pxi_words_get(&g->words, (size_t)kind->members[k][i]);
}

static void gloss_caption(px_text *out, size_t *count, const char *first, const char *joint,
                          const char *second)
{
    if (*count >= GLOSS_CAPTIONS_MOST)
        return;
    px_text_format(out, "%s%s%s", first, joint, second);
    px_text_add_bytes(out, "", 1);
    ++*count;
}

void pxi_glosses_captions(const px_glosses *g, px_text *out, size_t *count)
{
    const gloss_kind color = gloss_kind_of(g, "color");
    const gloss_kind noun = gloss_kind_of(g, "texture shape area contour");
    const gloss_kind place = gloss_kind_of(g, "position");
    const gloss_kind object = gloss_kind_of(g, "object");
    *count = 0;
    if (!gloss_size(&color) || !gloss_size(&noun) || !gloss_size(&place))
        return;
    for (size_t n = 0; n < gloss_size(&noun) && *count < GLOSS_CAPTIONS_MOST; n++) {
        for (size_t c = 0; c < gloss_size(&color); c++) /* all pairs: none is nearer by chance */
            gloss_caption(out, count, gloss_name(g, &color, c), " ", gloss_name(g, &noun, n));
        for (size_t p = 0; p < gloss_size(&place); p++)
            gloss_caption(out, count, gloss_name(g, &noun, n), " at ", gloss_name(g, &place, p));
    }
    for (size_t o = 0; o < gloss_size(&object) && *count < GLOSS_CAPTIONS_MOST; o++)
        for (uint32_t k = 0; k < GLOSS_OBJECT_CAPTIONS; k++, ++*count) {
            px_random r = px_rng(0, PX_RNG_WORDS, (uint32_t)o, k);
            px_text_format(out, "a photo of a %s with", gloss_name(g, &object, o));
            px_text_format(out, " %s", gloss_name(g, &color, px_rng_u32(&r)));
            px_text_format(out, " %s,", gloss_name(g, &noun, px_rng_u32(&r)));
            px_text_format(out, " %s", gloss_name(g, &noun, px_rng_u32(&r)));
            px_text_format(out, " at %s", gloss_name(g, &place, px_rng_u32(&r)));
            px_text_add_bytes(out, "", 1);
        }
}
