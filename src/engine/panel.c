/* src/engine/panel.c - products of matrices of our own: panels of b, tiles of c
 *
 * b is read in panels of up to three vectors of columns. One panel stays in the second-level cache
 * while all rows of a pass it, a tile of up to nine rows (twelve where the panel is narrower, eight
 * where rows are gathered and each needs a register for its place) at a time: 27 sums in registers,
 * each loaded vector of b used for every row, each number of a for every vector. Rows are dealt out
 * evenly, so that there is no slow rest.
 *
 * b that lies in memory as it is, is packed panel by panel on the way, in pieces of k that fit the
 * cache; that costs one pass over b and saves a copy of it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/panel.h"

#include "base/memory.h"
#include "engine/prim.h"

#include <string.h>

enum { LANES = 16, MOST_VECTORS = 3, PIECE = 1536, AHEAD = 40 /* rows of b */, PACKING_ROWS = 6 };

/* Vectors of the panel that begins at vector `at` of `vectors`: threes, without a one at the end.
 */
static int64_t panel_vectors(int64_t at, int64_t vectors)
{
    const int64_t left = vectors - at;
    return left == 4 || left == 2 ? 2 : left < MOST_VECTORS ? left : MOST_VECTORS;
}

size_t pxi_panel_floats(int64_t k, int64_t n)
{
    return (size_t)(k * ((n + LANES - 1) / LANES * LANES));
}

pxi_panel_place pxi_panel_find(int64_t k, int64_t n, int64_t j)
{
    const int64_t vectors = (n + LANES - 1) / LANES, wanted = j / LANES;
    int64_t v = 0;
    while (v + panel_vectors(v, vectors) <= wanted)
        v += panel_vectors(v, vectors);
    return (pxi_panel_place){.offset = (size_t)(v * LANES * k + (wanted - v) * LANES),
                             .row = (size_t)(panel_vectors(v, vectors) * LANES)};
}

size_t pxi_panel_scratch(int64_t k)
{
    return (size_t)(PX_MIN(k, (int64_t)PIECE) * MOST_VECTORS * LANES);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define PANEL_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma")))
#define PANEL_INLINE \
    static inline __attribute__((always_inline, target("avx512f,avx512vl,avx512dq,avx512bw,fma")))
#define PANEL_UNROLL _Pragma("GCC unroll 16")

bool pxi_panel_takes(void)
{
    return pxi_prim_has_avx512();
}

bool pxi_panel_acts(const pxi_act *act)
{
    return (act->kind == PXI_ACT_SILU || act->kind == PXI_ACT_GELU) && pxi_prim_has_avx512();
}

/* Sixteen rows of sixteen become columns. */
PANEL_INLINE void panel_transpose(const float *from, int64_t apart, float *to, int64_t step)
{
    __m512 r[LANES], t[LANES];
    PANEL_UNROLL
    for (int i = 0; i < LANES; i++)
        r[i] = _mm512_loadu_ps(from + i * apart);
    PANEL_UNROLL
    for (int i = 0; i < LANES; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    PANEL_UNROLL
    for (int i = 0; i < LANES; i += 4) {
        r[i] = _mm512_castpd_ps(
            _mm512_unpacklo_pd(_mm512_castps_pd(t[i]), _mm512_castps_pd(t[i + 2])));
        r[i + 1] = _mm512_castpd_ps(
            _mm512_unpackhi_pd(_mm512_castps_pd(t[i]), _mm512_castps_pd(t[i + 2])));
        r[i + 2] = _mm512_castpd_ps(
            _mm512_unpacklo_pd(_mm512_castps_pd(t[i + 1]), _mm512_castps_pd(t[i + 3])));
        r[i + 3] = _mm512_castpd_ps(
            _mm512_unpackhi_pd(_mm512_castps_pd(t[i + 1]), _mm512_castps_pd(t[i + 3])));
    }
    PANEL_UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    PANEL_UNROLL
    for (int i = 0; i < 8; i++) {
        _mm512_storeu_ps(to + i * step, _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88));
        _mm512_storeu_ps(to + (i + 8) * step, _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd));
    }
}

/* `k` rows of the panel of `vectors` that begins at column j of n. */
PANEL_TARGET static void panel_fill(int64_t k, int64_t n, int64_t j, int64_t vectors,
                                    const float *b, int64_t row, int64_t column, float *to)
{
    const int64_t width = vectors * LANES, columns = PX_MIN(width, n - j);
    b += j * column;
    if (column == 1) {
        for (int64_t i = 0; i < k; i++, b += row, to += width)
            for (int64_t v = 0; v < vectors; v++) {
                const int64_t left = columns - v * LANES;
                const __mmask16 mask = left >= LANES ? 0xffff : (__mmask16)((1u << left) - 1);
                _mm512_storeu_ps(to + v * LANES, _mm512_maskz_loadu_ps(mask, b + v * LANES));
            }
        return;
    }
    const int64_t whole = columns / LANES * LANES, down = k / LANES * LANES;
    if (columns < width)
        for (int64_t i = 0; i < k; i++)
            memset(to + i * width + whole, 0, (size_t)(width - whole) * sizeof *to);
    for (int64_t v = 0; v < whole; v += LANES) {
        for (int64_t i = 0; i < down; i += LANES)
            panel_transpose(b + v * column + i, column, to + i * width + v, width);
        for (int64_t i = down; i < k; i++)
            for (int64_t l = 0; l < LANES; l++)
                to[i * width + v + l] = b[(v + l) * column + i];
    }
    for (int64_t l = whole; l < columns; l++)
        for (int64_t i = 0; i < k; i++)
            to[i * width + l] = b[l * column + i];
}

void pxi_panel_pack(int64_t k, int64_t n, const float *b, int64_t row, int64_t column,
                    float *packed)
{
    const int64_t vectors = (n + LANES - 1) / LANES;
    for (int64_t v = 0, count; v < vectors; v += count) {
        count = panel_vectors(v, vectors);
        panel_fill(k, n, v * LANES, count, b, row, column, packed + v * LANES * k);
    }
}

/* What all tiles of a panel have in common. */
typedef struct panel_strip {
    const float *b; /* packed, `vectors` wide; or rows that lie b_row apart, to be packed */
    float *pack_to; /* NULL: they are packed */
    int64_t b_row, k, a_row, c_row;
    const pxi_panel_gather *gather; /* NULL: rows lie a_row and c_row apart */
    const float *bias;              /* of its first column; NULL: zeros */
    bool adds;
    int64_t columns;
    __mmask16 last;        /* columns of the last vector */
    const pxi_act *act;    /* in registers; NULL: none */
    const pxi_act *behind; /* when the tile is complete; NULL: none */
} panel_strip;

PANEL_INLINE __m512 panel_polynomial(__m512 x, const float *c, const int count)
{
    __m512 p = _mm512_set1_ps(c[0]);
    PANEL_UNROLL
    for (int i = 1; i < count; i++)
        p = _mm512_fmadd_ps(p, x, _mm512_set1_ps(c[i]));
    return p;
}

/* As pxi_exp() (vector_math.h), with products and sums fused. */
PANEL_INLINE __m512 panel_exp(__m512 x)
{
    static const float c[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                              4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
    const __m512 in = _mm512_min_ps(_mm512_set1_ps(89.0f),
                                    _mm512_max_ps(_mm512_set1_ps(-104.0f), x)); /* NaN stays */
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(in, _mm512_set1_ps(1.44269504088896341f)),
                                          _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), in);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    const __m512 p = _mm512_fmadd_ps(panel_polynomial(r, c, 6), _mm512_mul_ps(r, r), r);
    return _mm512_scalef_ps(_mm512_add_ps(p, _mm512_set1_ps(1.0f)), n);
}

PANEL_INLINE __m512 panel_silu(__m512 v)
{
    const __m512 e = panel_exp(_mm512_sub_ps(_mm512_setzero_ps(), v));
    return _mm512_div_ps(v, _mm512_add_ps(_mm512_set1_ps(1.0f), e));
}

/* The normal distribution's share below x, (1 + erf(x / sqrt(2))) / 2, by pxi_erf()'s polynomials;
 * in the lower tail without the difference from 1. */
PANEL_INLINE __m512 panel_phi(__m512 v)
{
    static const float near[] = {7.853861353153693e-5f, -8.010193625184903e-4f,
                                 5.188327685732524e-3f, -2.685381193529856e-2f,
                                 1.128358514861418e-1f, -3.761262582423300e-1f,
                                 1.128379165726710e+0f};
    static const float middle[] = {
        2.326819970068386e-2f,  -1.387039388740657e-1f, 3.687424674597105e-1f,
        -5.824733027278666e-1f, 6.210004621745983e-1f,  -4.944515323274145e-1f,
        3.404879937665872e-1f,  -2.741127028184656e-1f, 5.638259427386472e-1f};
    static const float far[] = {-1.047766399936249e+1f, 1.297719955372516e+1f,
                                -7.495518717768503e+0f, 2.921019019210786e+0f,
                                -1.015265279202700e+0f, 4.218463358204948e-1f,
                                -2.820767439740514e-1f, 5.641895067754075e-1f};
    const __m512 one = _mm512_set1_ps(1.0f), half = _mm512_set1_ps(0.5f);
    const __m512 x = _mm512_mul_ps(v, _mm512_set1_ps(0.70710678118654752440f));
    const __m512 size = _mm512_abs_ps(x);
    const __mmask16 beyond = _mm512_cmp_ps_mask(size, one, _CMP_GE_OQ); /* not of NaN */
    const __m512 inside = _mm512_fmadd_ps(_mm512_mul_ps(x, half),
                                          panel_polynomial(_mm512_mul_ps(x, x), near, 7), half);
    if (!beyond)
        return inside;
    const __m512 q =
        _mm512_div_ps(one, _mm512_min_ps(_mm512_max_ps(size, one), _mm512_set1_ps(14.0f)));
    const __m512 w = _mm512_mul_ps(q, q);
    const __mmask16 two = _mm512_cmp_ps_mask(size, _mm512_set1_ps(2.0f), _CMP_LT_OQ);
    const __m512 p =
        _mm512_mask_blend_ps(two, panel_polynomial(w, far, 8), panel_polynomial(w, middle, 9));
    const __m512 e = panel_exp(_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(size, size)));
    const __m512 tail = _mm512_mul_ps(_mm512_mul_ps(half, e), _mm512_mul_ps(q, p));
    const __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    const __m512 outside = _mm512_mask_blend_ps(below, _mm512_sub_ps(one, tail), tail);
    return _mm512_mask_blend_ps(beyond, inside, outside);
}

PANEL_INLINE __m512 panel_act(const pxi_act *act, __m512 v) /* NaN stays: it comes second */
{
    if (act->kind == PXI_ACT_RELU && act->alpha == 0.0f)
        return _mm512_max_ps(_mm512_setzero_ps(), v);
    if (act->kind == PXI_ACT_RELU)
        return _mm512_mask_mul_ps(v, _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ), v,
                                  _mm512_set1_ps(act->alpha));
    if (act->kind == PXI_ACT_CLIP)
        return _mm512_min_ps(_mm512_set1_ps(act->beta),
                             _mm512_max_ps(_mm512_set1_ps(act->alpha), v));
    return v;
}

/* What takes more than a selection is done when a tile is complete, and still near. */
PANEL_TARGET void pxi_panel_act(const pxi_act *act, float *y, int64_t count)
{
    if (act->kind != PXI_ACT_SILU && act->kind != PXI_ACT_GELU) {
        pxi_act_forward(act, y, (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t left = count - i;
        const __mmask16 mask = left >= LANES ? 0xffff : (__mmask16)((1u << left) - 1);
        const __m512 v = _mm512_maskz_loadu_ps(mask, y + i);
        _mm512_mask_storeu_ps(y + i, mask,
                              act->kind == PXI_ACT_SILU ? panel_silu(v)
                                                        : _mm512_mul_ps(v, panel_phi(v)));
    }
}

static void panel_finish(const panel_strip *s, float *c, int64_t at, int64_t rows)
{
    for (int64_t r = at; s->behind && r < at + rows; r++)
        pxi_panel_act(s->behind, c + (s->gather ? s->gather->c_at[r] : r * s->c_row), s->columns);
}

/* sum (rows, vectors) += k numbers of each row, at x[r], times rows of b; all but x, k and b are
 * constants after inlining. */
PANEL_INLINE void panel_multiply(const float *const *x, int64_t k, const float *b, __m512 *sum,
                                 const int rows, const int vectors)
{
    for (int64_t i = 0; i < k; i++, b += vectors * LANES) {
        __m512 row[MOST_VECTORS];
        PANEL_UNROLL
        for (int v = 0; v < vectors; v++)
            row[v] = _mm512_loadu_ps(b + v * LANES);
        PANEL_UNROLL
        for (int r = 0; r < rows; r++) {
            const __m512 value = _mm512_set1_ps(x[r][i]);
            PANEL_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[r * vectors + v] = _mm512_fmadd_ps(value, row[v], sum[r * vectors + v]);
        }
    }
}

/* The same where rows lie a_row apart; with `packs`, b's lie b_row apart and are packed. */
PANEL_INLINE void panel_multiply_rows(const panel_strip *s, const float *x, __m512 *sum,
                                      const int rows, const int vectors, const bool packs)
{
    const float *b = s->b;
    float *pack_to = s->pack_to;
    const int64_t a_row = s->a_row, b_row = packs ? s->b_row : vectors * LANES;
    for (int64_t i = 0; i < s->k; i++, b += b_row, x++) {
        __m512 row[MOST_VECTORS];
        PANEL_UNROLL
        for (int v = 0; v < vectors; v++)
            row[v] = !packs || v < vectors - 1 ? _mm512_loadu_ps(b + v * LANES)
                                               : _mm512_maskz_loadu_ps(s->last, b + v * LANES);
        if (packs) {
            PANEL_UNROLL
            for (int v = 0; v < vectors; v++) {
                _mm512_storeu_ps(pack_to + v * LANES, row[v]);
                _mm_prefetch((const char *)(b + AHEAD * b_row + v * LANES), _MM_HINT_T0);
            }
            pack_to += vectors * LANES;
        }
        PANEL_UNROLL
        for (int r = 0; r < rows; r++) {
            const __m512 value = _mm512_set1_ps(x[r * a_row]);
            PANEL_UNROLL
            for (int v = 0; v < vectors; v++)
                sum[r * vectors + v] = _mm512_fmadd_ps(value, row[v], sum[r * vectors + v]);
        }
    }
}

/* One tile, from row `at` on; `rows` and `vectors` are constants after inlining. */
PANEL_INLINE void panel_tile(const panel_strip *s, const float *a, float *c, int64_t at,
                             const int rows, const int vectors, const bool packs,
                             const bool gathers)
{
    const pxi_panel_gather *g = s->gather;
    float *to[12];
    PANEL_UNROLL
    for (int r = 0; r < rows; r++) {
        to[r] = c + (gathers ? g->c_at[at + r] : (at + r) * s->c_row);
        PANEL_UNROLL
        for (int v = 0; v < vectors; v++) /* what is written is read first */
            _mm_prefetch((const char *)(to[r] + v * LANES), _MM_HINT_T0);
    }
    __m512 sum[27];
    PANEL_UNROLL
    for (int v = 0; v < vectors; v++) {
        const __mmask16 mask = v == vectors - 1 ? s->last : (__mmask16)0xffff;
        const __m512 start =
            s->bias ? _mm512_maskz_loadu_ps(mask, s->bias + v * LANES) : _mm512_setzero_ps();
        PANEL_UNROLL
        for (int r = 0; r < rows; r++)
            sum[r * vectors + v] = start;
    }
    for (int64_t t = 0; gathers && t < g->tap_count; t++) {
        const float *x[8];
        PANEL_UNROLL
        for (int r = 0; r < rows; r++)
            x[r] = a + (g->a_at[at + r] + g->taps[t]); /* each may lie outside */
        panel_multiply(x, s->k, s->b + g->rows[t] * vectors * LANES, sum, rows, vectors);
    }
    if (!gathers)
        panel_multiply_rows(s, a + at * s->a_row, sum, rows, vectors, packs);
    PANEL_UNROLL
    for (int r = 0; r < rows; r++) {
        PANEL_UNROLL
        for (int v = 0; v < vectors; v++) {
            const __mmask16 mask = v == vectors - 1 ? s->last : (__mmask16)0xffff;
            __m512 made = sum[r * vectors + v];
            if (s->adds)
                made = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, to[r] + v * LANES), made);
            if (s->act)
                made = panel_act(s->act, made);
            _mm512_mask_storeu_ps(to[r] + v * LANES, mask, made);
        }
    }
}

#define PANEL_CASE(rows, vectors, gathers)                      \
    case rows:                                                  \
        panel_tile(s, a, c, at, rows, vectors, false, gathers); \
        break;
#define PANEL_TILES(name, vectors, gathers, MORE)                                           \
    PANEL_TARGET static void panel_##name##_##vectors(const panel_strip *s, const float *a, \
                                                      float *c, int64_t at, int64_t rows)   \
    {                                                                                       \
        switch (rows) {                                                                     \
            PANEL_CASE(1, vectors, gathers)                                                 \
            PANEL_CASE(2, vectors, gathers)                                                 \
            PANEL_CASE(3, vectors, gathers)                                                 \
            PANEL_CASE(4, vectors, gathers)                                                 \
            PANEL_CASE(5, vectors, gathers)                                                 \
            PANEL_CASE(6, vectors, gathers)                                                 \
            PANEL_CASE(7, vectors, gathers)                                                 \
            PANEL_CASE(8, vectors, gathers)                                                 \
            MORE(vectors, gathers)                                                          \
        default:                                                                            \
            break;                                                                          \
        }                                                                                   \
    }
#define PANEL_NO_MORE(vectors, gathers)
#define PANEL_ONE_MORE(vectors, gathers) PANEL_CASE(9, vectors, gathers)
#define PANEL_MORE(vectors, gathers) \
    PANEL_CASE(9, vectors, gathers)  \
    PANEL_CASE(10, vectors, gathers) \
    PANEL_CASE(11, vectors, gathers) \
    PANEL_CASE(12, vectors, gathers)
PANEL_TILES(dense, 1, false, PANEL_MORE)
PANEL_TILES(dense, 2, false, PANEL_MORE)
PANEL_TILES(dense, 3, false, PANEL_ONE_MORE)
PANEL_TILES(gather, 1, true, PANEL_NO_MORE)
PANEL_TILES(gather, 2, true, PANEL_NO_MORE)
PANEL_TILES(gather, 3, true, PANEL_NO_MORE)

/* The first rows of all, which pack the panel on their way. */
PANEL_TARGET static void panel_tile_packing(const panel_strip *s, const float *a, float *c,
                                            int64_t rows, int64_t vectors)
{
#define PANEL_PACKING(vectors)                                          \
    case vectors:                                                       \
        if (rows == PACKING_ROWS)                                       \
            panel_tile(s, a, c, 0, PACKING_ROWS, vectors, true, false); \
        else                                                            \
            panel_tile(s, a, c, 0, 1, vectors, true, false);            \
        break;
    switch (vectors) {
        PANEL_PACKING(1)
        PANEL_PACKING(2)
        PANEL_PACKING(3)
    default:
        break;
    }
}

typedef void panel_tile_function(const panel_strip *s, const float *a, float *c, int64_t at,
                                 int64_t rows);

static bool panel_act_follows(const pxi_act *act)
{
    return act->kind != PXI_ACT_RELU && act->kind != PXI_ACT_CLIP;
}

/* The panel that comes next, which is brought nearer a piece at a time while the one before it is
 * multiplied: weights come from far away, and what is read in strides nobody else foresees. */
typedef struct panel_next {
    const float *at;
    int64_t rows, width, step; /* elements of a row, and from a row to the next */
} panel_next;

static void panel_bring(const panel_next *next, int64_t part, int64_t parts)
{
    enum { LINE = 64 / sizeof(float) };
    if (next->rows == 0 || next->width <= 0)
        return;
    const int64_t lines = (next->width + LINE - 1) / LINE;
    const int64_t first = part * next->rows * lines / parts;
    const int64_t end = (part + 1) * next->rows * lines / parts;
    int64_t row = first / lines, line = first % lines;
    for (int64_t i = first; i < end; i++) {
        _mm_prefetch((const char *)(next->at + row * next->step + line * LINE), _MM_HINT_T1);
        if (++line == lines) {
            line = 0;
            row++;
        }
    }
}

/* All rows against one panel. */
static void panel_rows(const panel_strip *s, int64_t vectors, const float *a, float *c,
                       int64_t rows, const panel_next *next)
{
    static panel_tile_function *const tiles[2][MOST_VECTORS + 1] = {
        {NULL, panel_dense_1, panel_dense_2, panel_dense_3},
        {NULL, panel_gather_1, panel_gather_2, panel_gather_3}};
    panel_tile_function *const tile = tiles[s->gather != NULL][vectors];
    panel_strip packed = *s;
    int64_t at = 0;
    if (s->pack_to) {
        at = rows >= PACKING_ROWS ? PACKING_ROWS : 1;
        panel_tile_packing(s, a, c, at, vectors);
        panel_finish(s, c, 0, at);
        packed.b = s->pack_to;
    }
    const int64_t most = s->gather ? 8 : vectors == MOST_VECTORS ? 9 : 12, left = rows - at;
    const int64_t blocks = (left + most - 1) / most, first = at;
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t end = first + (i + 1) * left / blocks;
        panel_bring(next, i, blocks);
        tile(&packed, a, c, at, end - at);
        panel_finish(s, c, at, end - at);
        at = end;
    }
}

/* Rows of c whose k is added up from `first` on. */
static void panel_piece(const pxi_panel_job *job, const pxi_act *act, int64_t first, int64_t k)
{
    const int64_t vectors = (job->n + LANES - 1) / LANES;
    for (int64_t v = 0, count; v < vectors; v += count) {
        count = panel_vectors(v, vectors);
        const int64_t j = v * LANES, rest = job->n - j - (count - 1) * LANES;
        panel_strip strip = {.b = job->packed + j * job->k,
                             .k = k,
                             .a_row = job->a_row,
                             .c_row = job->c_row,
                             .gather = job->gather,
                             .bias = job->bias && first == 0 ? job->bias + j : NULL,
                             .adds = job->adds || first > 0,
                             .last = rest >= LANES ? 0xffff : (__mmask16)((1u << rest) - 1),
                             .columns = PX_MIN(count * LANES, job->n - j),
                             .act = act && !panel_act_follows(act) ? act : NULL,
                             .behind = act && panel_act_follows(act) ? act : NULL};
        const float *b = job->b + first * job->b_row;
        const int64_t after = v + count < vectors ? panel_vectors(v + count, vectors) : 0;
        const int64_t columns = PX_MIN(after * LANES, job->n - j - count * LANES);
        panel_next next = {.at = strip.b + count * LANES * k,
                           .rows = k,
                           .width = after * LANES,
                           .step = after * LANES};
        if (!job->packed && job->b_column == 1)
            next = (panel_next){b + j + count * LANES, k, columns, job->b_row};
        else if (!job->packed)
            next = (panel_next){b + (j + count * LANES) * job->b_column, columns, k, job->b_column};
        if (!after)
            next = (panel_next){job->next, job->next != NULL, job->next_floats, 0};
        if (!job->packed && job->b_column == 1) {
            strip.b = b + j;
            strip.b_row = job->b_row;
            strip.pack_to = job->scratch;
        } else if (!job->packed) {
            panel_fill(k, job->n, j, count, b, job->b_row, job->b_column, job->scratch);
            strip.b = job->scratch;
        }
        panel_rows(&strip, count, job->a + first, job->c + j, job->rows, &next);
    }
}

void pxi_panel_run(const pxi_panel_job *job)
{
    const pxi_act *act = job->act && job->act->kind != PXI_ACT_NONE ? job->act : NULL;
    const int64_t piece = job->packed ? PX_MAX(job->k, (int64_t)1) : PIECE;
    for (int64_t first = 0; first == 0 || first < job->k; first += piece)
        panel_piece(job, first + piece >= job->k ? act : NULL, first,
                    PX_MIN(piece, job->k - first));
}

#else /* no AVX-512 to be had */

bool pxi_panel_takes(void)
{
    return false;
}

bool pxi_panel_acts(const pxi_act *act)
{
    (void)act;
    return false;
}

void pxi_panel_act(const pxi_act *act, float *y, int64_t count)
{
    pxi_act_forward(act, y, (size_t)count);
}

void pxi_panel_pack(int64_t k, int64_t n, const float *b, int64_t row, int64_t column,
                    float *packed)
{
    (void)k, (void)n, (void)b, (void)row, (void)column, (void)packed;
}

void pxi_panel_run(const pxi_panel_job *job)
{
    (void)job;
}

#endif
