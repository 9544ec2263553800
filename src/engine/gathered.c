/* src/engine/gathered.c - convolutions as products whose rows are gathered
 *
 * Pixels with the same taps on the picture are a class: the inner ones have all, those at a border
 * fewer. A result is the sum over its own taps in their order, whatever else is computed, so that a
 * sample does not depend on its batch. One panel of weights after another, in pieces of some taps
 * that stay in the second-level cache, meets all rows of all classes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gathered.h"

#include "base/memory.h"
#include "engine/panel.h"

#include <string.h>

enum {
    MOST_TAPS = 64,
    PIECE = 1024 /* rows of a panel of weights that stay near */
};

/* What oneDNN's kernels keep near themselves is theirs: there they are as fast. */
static const int64_t gathered_weights_least = 1 << 20;

typedef struct gathered_class { /* pixels with the same taps */
    uint64_t taps;              /* bit t: tap t lies on the picture */
    int64_t first, count;       /* rows of one sample, in `a_at` and `c_at` times the group */
} gathered_class;

struct pxi_gathered {
    pxi_conv_shape shape;
    pxi_act act;
    int64_t group, taps, class_count, largest; /* largest: the class with most rows */
    gathered_class *classes;
    int64_t *a_at, *c_at; /* per class, per sample of the group, per pixel */
    int64_t *tap_at;      /* relative to the pixel's place */
    int64_t floats;       /* of `weights` */
    float *weights;       /* packed: (taps, in channels) rows, out channels */
    float *bias;          /* NULL: none */
};

/* The taps of a result pixel that lie on the picture. */
static uint64_t gathered_taps(const pxi_conv_shape *s, int64_t pixel)
{
    const int64_t at[2] = {pixel / s->out[1], pixel % s->out[1]};
    uint64_t taps = 0;
    for (int64_t t = 0; t < s->kernel[0] * s->kernel[1]; t++) {
        const int64_t tap[2] = {t / s->kernel[1], t % s->kernel[1]};
        bool inside = true;
        for (int i = 0; i < 2; i++) {
            const int64_t place = at[i] * s->stride[i] - s->pad_begin[i] + tap[i] * s->dilation[i];
            inside = inside && place >= 0 && place < s->in[i];
        }
        taps |= (uint64_t)inside << t;
    }
    return taps;
}

bool pxi_gathered_takes(const pxi_conv_shape *s)
{
    const int64_t taps = s->kernel[0] * s->kernel[1];
    if (s->group != 1 || taps > MOST_TAPS || !pxi_panel_takes() ||
        s->in_channels * s->out_channels * taps < gathered_weights_least)
        return false;
    for (int64_t p = 0; p < s->out[0] * s->out[1]; p++)
        if (!gathered_taps(s, p))
            return false;
    return true;
}

int64_t pxi_gathered_group(const pxi_gathered *gathered)
{
    return gathered->group;
}

/* Enough rows to make use of weights that were loaded. */
static int64_t gathered_group(const pxi_conv_shape *s)
{
    const int64_t enough = 512;
    return PX_MAX(enough / (s->out[0] * s->out[1]), (int64_t)1);
}

/* The rows of class `c`: all of its pixels in the first sample, in the second, ... */
static void gathered_fill(pxi_gathered *made, gathered_class *c, int64_t first)
{
    const pxi_conv_shape *s = &made->shape;
    const int64_t pixels = s->out[0] * s->out[1];
    int64_t row = first * made->group;
    c->first = first;
    for (int64_t n = 0; n < made->group; n++)
        for (int64_t p = 0; p < pixels; p++) {
            const int64_t y = p / s->out[1], x = p % s->out[1];
            if (gathered_taps(s, p) != c->taps)
                continue;
            c->count += n == 0;
            made->a_at[row] =
                (n * s->in[0] * s->in[1] + (y * s->stride[0] - s->pad_begin[0]) * s->in[1] +
                 x * s->stride[1] - s->pad_begin[1]) *
                s->in_channels;
            made->c_at[row++] = (n * pixels + p) * s->out_channels;
        }
}

static void gathered_classify(pxi_gathered *made)
{
    const pxi_conv_shape *s = &made->shape;
    int64_t rows = 0;
    for (int64_t p = 0; p < s->out[0] * s->out[1]; p++) {
        const uint64_t taps = gathered_taps(s, p);
        bool known = false;
        for (int64_t c = 0; c < made->class_count; c++)
            known = known || made->classes[c].taps == taps;
        if (known)
            continue;
        gathered_class *c = &made->classes[made->class_count++];
        c->taps = taps;
        gathered_fill(made, c, rows);
        rows += c->count;
        if (c->count > made->classes[made->largest].count)
            made->largest = made->class_count - 1;
    }
    for (int64_t t = 0; t < made->taps; t++)
        made->tap_at[t] =
            (t / s->kernel[1] * s->dilation[0] * s->in[1] + t % s->kernel[1] * s->dilation[1]) *
            s->in_channels;
}

pxi_gathered *pxi_gathered_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act)
{
    const int64_t taps = shape->kernel[0] * shape->kernel[1], group = gathered_group(shape);
    const size_t pixels = (size_t)(shape->out[0] * shape->out[1]), rows = (size_t)group * pixels;
    pxi_gathered *made = pxi_arena_alloc(arena, 1, sizeof *made);
    gathered_class *classes = pxi_arena_alloc(arena, pixels, sizeof *classes);
    int64_t *a_at = pxi_arena_alloc(arena, rows, sizeof *a_at);
    int64_t *c_at = pxi_arena_alloc(arena, rows, sizeof *c_at);
    int64_t *tap_at = pxi_arena_alloc(arena, (size_t)taps, sizeof *tap_at);
    const size_t floats = pxi_panel_floats(taps * shape->in_channels, shape->out_channels);
    float *w = pxi_arena_alloc(arena, floats, sizeof *w);
    float *b = bias ? pxi_arena_alloc(arena, (size_t)shape->out_channels, sizeof *b) : NULL;
    if (!made || !classes || !a_at || !c_at || !tap_at || !w || (bias && !b))
        return NULL;
    *made = (pxi_gathered){.shape = *shape,
                           .act = act ? *act : (pxi_act){0},
                           .group = group,
                           .taps = taps,
                           .classes = classes,
                           .a_at = a_at,
                           .c_at = c_at,
                           .tap_at = tap_at,
                           .floats = (int64_t)floats,
                           .weights = w,
                           .bias = b};
    gathered_classify(made);
    pxi_gathered_repack(made, weights, bias);
    return made;
}

/* (out, in, taps) to panels of (taps, in), out. */
void pxi_gathered_repack(pxi_gathered *gathered, const float *weights, const float *bias)
{
    const pxi_conv_shape *s = &gathered->shape;
    const int64_t ic = s->in_channels, oc = s->out_channels, taps = gathered->taps;
    for (int64_t o = 0; o < oc; o++) {
        const pxi_panel_place place = pxi_panel_find(taps * ic, oc, o / 16 * 16);
        float *to = gathered->weights + place.offset + o % 16;
        for (int64_t i = 0; i < ic; i++)
            for (int64_t t = 0; t < taps; t++)
                to[(size_t)(t * ic + i) * place.row] = weights[(o * ic + i) * taps + t];
    }
    if (gathered->bias)
        memcpy(gathered->bias, bias, (size_t)oc * sizeof *bias);
}

/* A piece of a panel: taps from `first` to before `end`, for columns from j on. */
typedef struct gathered_piece {
    int64_t j, columns, first, end;
    const float *packed;
} gathered_piece;

static void gathered_run_class(const pxi_gathered *g, const gathered_class *c,
                               const gathered_piece *piece, int64_t samples, pxi_panel_job *job)
{
    int64_t taps[MOST_TAPS], rows[MOST_TAPS];
    pxi_panel_gather gather = {.a_at = g->a_at + c->first * g->group,
                               .c_at = g->c_at + c->first * g->group,
                               .taps = taps,
                               .rows = rows};
    const uint64_t before = ((uint64_t)1 << piece->first) - 1;
    const uint64_t behind = piece->end < 64 ? ~(uint64_t)0 << piece->end : 0;
    for (int64_t t = piece->first; t < piece->end; t++)
        if (c->taps >> t & 1) {
            taps[gather.tap_count] = g->tap_at[t];
            rows[gather.tap_count++] = t * job->k;
        }
    if (gather.tap_count == 0)
        return;
    pxi_panel_job own = *job;
    const bool starts = !(c->taps & before);
    own.rows = samples * c->count;
    own.gather = &gather;
    own.bias = starts && g->bias ? g->bias + piece->j : NULL;
    own.adds = job->adds || !starts;
    own.act = c->taps & behind ? NULL : &g->act;
    if (c != &g->classes[g->largest])
        own.next = NULL;
    pxi_panel_run(&own);
}

void pxi_gathered_run(const pxi_gathered *g, int64_t samples, const float *source,
                      float *destination, bool adds)
{
    const pxi_conv_shape *s = &g->shape;
    const int64_t oc = s->out_channels, each = PX_MAX(PIECE / s->in_channels, (int64_t)1);
    for (gathered_piece piece = {0}; piece.j < oc; piece.j += piece.columns) {
        const pxi_panel_place place = pxi_panel_find(g->taps * s->in_channels, oc, piece.j);
        piece.columns = PX_MIN((int64_t)place.row, oc - piece.j);
        pxi_panel_job job = {.k = s->in_channels,
                             .n = piece.columns,
                             .a = source,
                             .packed = g->weights + place.offset,
                             .c = destination + piece.j,
                             .adds = adds};
        for (piece.first = 0; piece.first < g->taps; piece.first = piece.end) {
            piece.end = PX_MIN(piece.first + each, g->taps);
            const int64_t at = piece.end * s->in_channels * (int64_t)place.row;
            job.next = job.packed + at; /* the next panel lies behind this one */
            job.next_floats = PX_MIN(each * s->in_channels * (int64_t)place.row,
                                     g->floats - (int64_t)place.offset - at);
            for (int64_t c = 0; c < g->class_count; c++)
                gathered_run_class(g, &g->classes[c], &piece, samples, &job);
        }
    }
}
