/* src/semantics/fasttext.c - fastText's .bin models: word vectors with character n-grams */
#include "semantics/fasttext.h"

#include "base/memory.h"
#include "semantics/encoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    FT_MAGIC = 793712314,
    FT_VERSION = 12,
    FT_NGRAM_MOST = 32, /* characters; nobody has more than a few */
    FT_SUPERVISED = 3,
    FT_WORD_MOST = 4096, /* bytes, with the marks: the rest of a longer word has no n-grams */
};

void pxi_fasttext_done(px_fasttext *model)
{
    pxi_words_done(&model->words);
    free(model->counts);
    *model = (px_fasttext){0};
}

/* --- vectors */

uint32_t pxi_fasttext_hash(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        const uint32_t wide = (uint32_t)(int8_t)bytes[i];
        hash = (hash ^ wide) * 16777619u;
    }
    return hash;
}

static bool ft_continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void pxi_fasttext_ngrams(const char *marked, size_t length, uint32_t minn, uint32_t maxn,
                         pxi_ngram_fn visit, void *context)
{
    for (size_t i = 0; i < length; i++) {
        if (ft_continues(marked[i]))
            continue;
        size_t j = i;
        for (uint32_t n = 1; j < length && n <= maxn; n++) {
            do {
                j++;
            } while (j < length && ft_continues(marked[j]));
            if (n >= minn && !(n == 1 && (i == 0 || j == length)))
                visit(context, marked + i, j - i);
        }
    }
}

typedef struct ft_sum {
    const px_fasttext *model;
    double *sum;
    double share; /* 0: only counts */
    size_t count;
} ft_sum;

static void ft_add_row(ft_sum *s, size_t row)
{
    const char *bytes = s->model->matrix + row * s->model->size * sizeof(float);
    s->count++;
    for (size_t d = 0; d < s->model->size && s->share != 0.0; d++) {
        float number;
        memcpy(&number, bytes + d * sizeof number, sizeof number);
        s->sum[d] += s->share * (double)number;
    }
}

static void ft_add_ngram(void *context, const char *ngram, size_t length)
{
    ft_sum *s = context;
    ft_add_row(s, s->model->words.count + pxi_fasttext_hash(ngram, length) % s->model->bucket);
}

void pxi_fasttext_add(const px_fasttext *model, int32_t index, const char *word, size_t length,
                      double share, double *sum)
{
    char marked[FT_WORD_MOST];
    const bool end_mark = length == 4 && memcmp(word, "</s>", 4) == 0;
    const bool ngrams = model->bucket && model->maxn && !end_mark;
    length = PX_MIN(length, (size_t)FT_WORD_MOST - 2);
    marked[0] = '<';
    memcpy(marked + 1, word, length);
    marked[length + 1] = '>';
    ft_sum s = {.model = model, .sum = sum};
    for (int pass = 0; pass < 2; pass++) { /* the first one counts */
        s.share = pass && s.count ? share / (double)s.count : 0.0;
        if (index >= 0)
            ft_add_row(&s, (size_t)index);
        if (ngrams)
            pxi_fasttext_ngrams(marked, length + 2, model->minn, model->maxn, ft_add_ngram, &s);
    }
}

/* --- the file */

typedef struct ft_reader {
    const char *p, *end, *name;
    bool short_of; /* something was missing */
} ft_reader;

static uint64_t ft_take(ft_reader *r, size_t bytes)
{
    uint64_t number = 0;
    if ((size_t)(r->end - r->p) < bytes) {
        r->short_of = true;
        r->p = r->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)(unsigned char)r->p[i] << 8 * i;
    r->p += bytes;
    return number;
}

static int32_t ft_int(ft_reader *r)
{
    return (int32_t)(uint32_t)ft_take(r, 4);
}

static int64_t ft_long(ft_reader *r)
{
    return (int64_t)ft_take(r, 8);
}

static px_status ft_short(const ft_reader *r, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s' ends too early; is the file whole", r->name);
}

static px_status ft_settings(ft_reader *r, px_fasttext *out, px_error *err)
{
    if (ft_int(r) != FT_MAGIC)
        return px_fail(err, PX_E_INPUT, "'%s' is no fastText model; .vec files are text", r->name);
    const int32_t version = ft_int(r);
    if (version > FT_VERSION || version < 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': version %d of fastText's format; 1 to %d are read", r->name, version,
                       FT_VERSION);
    int32_t args[12]; /* dim ws epoch minCount neg wordNgrams loss model bucket minn maxn rate */
    for (size_t i = 0; i < PX_LEN(args); i++)
        args[i] = ft_int(r);
    ft_take(r, 8); /* the sampling threshold */
    if (r->short_of)
        return ft_short(r, err);
    if (version == 11 && args[7] == FT_SUPERVISED)
        args[10] = 0; /* old classifiers have no n-grams whatever they say */
    if (args[0] < 1 || args[0] > PXI_WORD_SIZE_MOST)
        return px_fail(err, PX_E_INPUT, "'%s': %d dimensions; 1 to %d are read", r->name, args[0],
                       PXI_WORD_SIZE_MOST);
    if (args[8] < 0 || args[9] < 0 || args[10] < 0 || args[10] > FT_NGRAM_MOST)
        return px_fail(err, PX_E_INPUT, "'%s': %d buckets, n-grams of %d to %d characters", r->name,
                       args[8], args[9], args[10]);
    out->size = (size_t)args[0];
    out->bucket = (uint32_t)args[8];
    out->minn = (uint32_t)args[9];
    out->maxn = (uint32_t)args[10];
    return PX_OK;
}

/* One entry of the dictionary. Labels come behind the words and are left out. */
static px_status ft_entry(ft_reader *r, size_t i, size_t words, px_fasttext *out, px_error *err)
{
    const char *word = r->p;
    const char *nul = memchr(word, '\0', (size_t)(r->end - word));
    if (!nul)
        return ft_short(r, err);
    r->p = nul + 1;
    const int64_t count = ft_long(r);
    const uint64_t type = ft_take(r, 1);
    if (r->short_of)
        return ft_short(r, err);
    if (i >= words)
        return PX_OK;
    if (type != 0 || count < 0)
        return px_fail(err, PX_E_INPUT,
                       "'%s': word %zu of the dictionary is of type %d, count %lld", r->name, i,
                       (int)type, (long long)count);
    const int32_t index = pxi_words_add(&out->words, word, (size_t)(nul - word));
    if (index < 0)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", r->name);
    if ((size_t)index != i)
        return px_fail(err, PX_E_INPUT, "'%s': word %zu of the dictionary is there twice", r->name,
                       i);
    out->counts[i] = count;
    return PX_OK;
}

static px_status ft_dictionary(ft_reader *r, px_fasttext *out, px_error *err)
{
    enum { ENTRY_LEAST = 10 }; /* bytes */
    const int32_t size = ft_int(r), words = ft_int(r), labels = ft_int(r);
    out->tokens = ft_long(r);
    const int64_t pruned = ft_long(r);
    if (r->short_of)
        return ft_short(r, err);
    if (words < 0 || labels < 0 || size < 0 || (int64_t)words + labels != size || out->tokens < 0 ||
        (size_t)size > (size_t)(r->end - r->p) / ENTRY_LEAST)
        return px_fail(err, PX_E_INPUT,
                       "'%s': a dictionary of %d words and %d labels, %d in all, in %zu bytes",
                       r->name, words, labels, size, (size_t)(r->end - r->p));
    if (words == 0)
        return px_fail(err, PX_E_INPUT, "'%s' has no words", r->name);
    out->counts = pxi_calloc((size_t)words, sizeof *out->counts);
    if (!out->counts)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", r->name);
    for (int32_t i = 0; i < size; i++)
        PX_TRY(ft_entry(r, (size_t)i, (size_t)words, out, err));
    if (pruned > 0) {
        if ((uint64_t)pruned > (uint64_t)(r->end - r->p) / 8)
            return ft_short(r, err);
        r->p += 8 * pruned;
    }
    return PX_OK;
}

static px_status ft_matrix(ft_reader *r, px_fasttext *out, px_error *err)
{
    const bool quantised = ft_take(r, 1) != 0;
    if (!r->short_of && quantised)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s' is a quantised model (.ftz), whose vectors are not kept in full; use "
                       "the .bin file it was made from",
                       r->name);
    const int64_t rows = ft_long(r), columns = ft_long(r);
    if (r->short_of)
        return ft_short(r, err);
    const uint64_t want = (uint64_t)out->words.count + out->bucket;
    if (columns != (int64_t)out->size || rows < 0 ||
        ((uint64_t)rows != want && (uint64_t)rows != out->words.count))
        return px_fail(err, PX_E_INPUT, "'%s': a matrix of %lld x %lld, expected %llu x %zu",
                       r->name, (long long)rows, (long long)columns, (unsigned long long)want,
                       out->size);
    if ((uint64_t)rows > (uint64_t)(r->end - r->p) / (out->size * sizeof(float)))
        return ft_short(r, err);
    if ((uint64_t)rows != want)
        out->bucket = 0; /* no n-grams were kept */
    out->matrix = r->p;
    return PX_OK;
}

px_status pxi_fasttext_parse(const char *bytes, size_t size, const char *name, px_fasttext *out,
                             px_error *err)
{
    px_fasttext model = {0};
    ft_reader r = {.p = bytes, .end = bytes + size, .name = name};
    px_status status = ft_settings(&r, &model, err);
    if (status == PX_OK)
        status = ft_dictionary(&r, &model, err);
    if (status == PX_OK)
        status = ft_matrix(&r, &model, err);
    if (status != PX_OK) {
        pxi_fasttext_done(&model);
        return status;
    }
    *out = model;
    return PX_OK;
}
