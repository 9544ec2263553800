/* src/text/vector_text.c - word vectors as text: GloVe's files, fastText's .vec */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/vector_text.h"

#include "base/memory.h"
#include "text/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MOST = 18, EXPONENT_MOST = 400 };

void pxi_vectors_done(px_vectors *vectors)
{
    pxi_words_done(&vectors->words);
    free(vectors->rows);
    *vectors = (px_vectors){0};
}

/* --- fields ---------------------------------------------------------------------------------- */

typedef struct field {
    const char *start, *end;
} field;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The last field of [start, *end), which moves before it; false: there is none. */
static bool field_last(const char *start, const char **end, field *out)
{
    const char *p = *end;
    while (p > start && is_blank(p[-1]))
        p--;
    if (p == start)
        return false;
    out->end = p;
    while (p > start && !is_blank(p[-1]))
        p--;
    out->start = *end = p;
    return true;
}

static const char *digits_read(const char *p, const char *end, uint64_t *number, int *used,
                               int *skipped)
{
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (*used < DIGITS_MOST) {
            *number = *number * 10 + (uint64_t)(*p - '0');
            *used += *number > 0;
        } else {
            ++*skipped;
        }
    }
    return p;
}

static double power_of_ten(int n)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return (size_t)n < PX_LEN(exact) ? exact[n] : pow(10.0, n);
}

/* A decimal number, whatever the locale; the whole field. Good to a unit in the last place of a
 * double, and so almost always the nearest float. */
static bool field_real(const field *f, double *out)
{
    const char *p = f->start;
    uint64_t number = 0;
    int used = 0, skipped = 0, fraction = 0, exponent = 0;
    const bool minus = p < f->end && *p == '-';
    p += p < f->end && (*p == '-' || *p == '+');
    const char *digits = p;
    p = digits_read(p, f->end, &number, &used, &skipped);
    bool any = p > digits;
    exponent = skipped;
    if (p < f->end && *p == '.') {
        const char *point = ++p;
        skipped = 0;
        p = digits_read(p, f->end, &number, &used, &skipped);
        any |= p > point;
        if (p - point > EXPONENT_MOST)
            return false;
        fraction = (int)(p - point) - skipped;
    }
    if (!any || exponent > EXPONENT_MOST)
        return false;
    if (p < f->end && (*p == 'e' || *p == 'E')) {
        p++;
        const bool down = p < f->end && *p == '-';
        p += p < f->end && (*p == '-' || *p == '+');
        const char *start = p;
        int power = 0;
        for (; p < f->end && *p >= '0' && *p <= '9' && power <= EXPONENT_MOST; p++)
            power = power * 10 + (*p - '0');
        if (p == start)
            return false;
        exponent += down ? -power : power;
    }
    exponent -= fraction;
    const double size = exponent < 0 ? (double)number / power_of_ten(-exponent)
                                     : (double)number * power_of_ten(exponent);
    *out = minus ? -size : size;
    return p == f->end && isfinite(*out);
}

static bool field_whole(const field *f, uint64_t *out)
{
    *out = 0;
    for (const char *p = f->start; p < f->end; p++) {
        if (*p < '0' || *p > '9' || *out > UINT64_MAX / 10 - 1)
            return false;
        *out = *out * 10 + (uint64_t)(*p - '0');
    }
    return f->end > f->start;
}

/* --- the file -------------------------------------------------------------------------------- */

typedef struct vector_reader {
    const char *p, *end, *name;
    size_t line; /* of the one at hand, from 1 */
    px_vectors *out;
    size_t row_cap, rows;
    uint64_t promised; /* rows, by the header; 0: none */
} vector_reader;

static const char *reader_line_end(const vector_reader *r)
{
    const char *stop = memchr(r->p, '\n', (size_t)(r->end - r->p));
    return stop ? stop : r->end;
}

/* The first line: a header, or the number of numbers in it. */
static px_status reader_first(vector_reader *r, px_error *err)
{
    const char *stop = reader_line_end(r), *before = stop;
    uint64_t whole[2] = {0};
    double number;
    field f;
    size_t fields = 0, numbers = 0;
    bool still = true;
    while (field_last(r->p, &before, &f)) {
        if (fields < 2 && !field_whole(&f, &whole[fields]))
            whole[fields] = 0;
        still = still && field_real(&f, &number);
        numbers += still;
        fields++;
    }
    if (fields == 2 && whole[0] && whole[1]) {
        r->promised = whole[1];
        r->out->size = whole[0] > PXI_WORD_SIZE_MOST ? 0 : (size_t)whole[0];
        r->p = stop < r->end ? stop + 1 : r->end;
        r->line++;
    } else { /* a word may be a number too, but there is one */
        r->out->size = numbers == fields && numbers ? numbers - 1 : numbers;
    }
    if (r->out->size < 1 || r->out->size > PXI_WORD_SIZE_MOST)
        return px_fail(err, PX_E_INPUT,
                       "'%s' is no text of word vectors: line 1 is neither 'word v1 .. vd' nor "
                       "'rows dimensions', with 1 to %d dimensions (fastText's .bin files are not "
                       "read; its .vec files are)",
                       r->name, PXI_WORD_SIZE_MOST);
    /* a number takes two bytes at least, so a header cannot promise more than there is */
    if (r->promised > (uint64_t)(r->end - r->p) / (2 * r->out->size))
        return px_fail(err, PX_E_INPUT,
                       "'%s': the header speaks of %llu rows of %zu numbers, but the file is too "
                       "short for them",
                       r->name, (unsigned long long)r->promised, r->out->size);
    return PX_OK;
}

static px_status reader_row(vector_reader *r, const char *stop, px_error *err)
{
    px_vectors *v = r->out;
    const char *before = stop;
    if (pxi_grow(&v->rows, &r->row_cap, (v->words.count + 1) * v->size, sizeof *v->rows) != 0)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", r->name);
    float *row = v->rows + v->words.count * v->size;
    for (size_t d = v->size; d-- > 0;) {
        field f = {0};
        double number;
        if (!field_last(r->p, &before, &f))
            return px_fail(err, PX_E_INPUT, "'%s' line %zu has fewer than %zu numbers", r->name,
                           r->line, v->size);
        if (!field_real(&f, &number) || !(fabs(number) < 1e30))
            return px_fail(err, PX_E_INPUT, "'%s' line %zu: '%.*s' is not a number", r->name,
                           r->line, (int)PX_MIN(f.end - f.start, 32), f.start);
        row[d] = (float)number;
    }
    while (before > r->p && is_blank(before[-1]))
        before--;
    const size_t length = (size_t)(before - r->p);
    if (!length)
        return PX_OK;
    if (memchr(r->p, '\0', length))
        return px_fail(err, PX_E_INPUT, "'%s' line %zu: a NUL byte; this is no text", r->name,
                       r->line);
    const int32_t index = pxi_words_add(&v->words, r->p, length);
    if (index < 0)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", r->name);
    return PX_OK; /* a word that was there before leaves the row to the next */
}

static px_status reader_rows(vector_reader *r, size_t most, px_error *err)
{
    while (r->p < r->end) {
        const char *stop = reader_line_end(r);
        const char *before = stop;
        field f;
        if (field_last(r->p, &before, &f)) { /* not a line of blanks */
            if (most && r->rows == most) {
                r->out->cut = true;
                return PX_OK;
            }
            PX_TRY(reader_row(r, stop, err));
            r->rows++;
        }
        r->p = stop < r->end ? stop + 1 : r->end;
        r->line++;
    }
    if (r->promised && r->rows != r->promised)
        return px_fail(err, PX_E_INPUT,
                       "'%s': the header speaks of %llu rows, but there are %zu; is the file whole",
                       r->name, (unsigned long long)r->promised, r->rows);
    return PX_OK;
}

px_status pxi_vectors_parse(const char *text, size_t bytes, const char *name, size_t most,
                            px_vectors *out, px_error *err)
{
    px_vectors vectors = {0};
    vector_reader r = {.p = text, .end = text + bytes, .name = name, .line = 1, .out = &vectors};
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        r.p += 3;
    px_status status =
        bytes ? reader_first(&r, err) : px_fail(err, PX_E_INPUT, "'%s' is empty", name);
    PX_THEN(status, reader_rows(&r, most, err));
    if (status == PX_OK && !vectors.words.count)
        status = px_fail(err, PX_E_INPUT, "'%s' has no word vectors", name);
    if (status != PX_OK) {
        pxi_vectors_done(&vectors);
        return status;
    }
    *out = vectors;
    return PX_OK;
}
