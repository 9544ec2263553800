/* src/mutate/closeness.c - how near a changed input still is to its original
 *
 * The original is moved the way the chain's affine links went, in one resampling, and compared in
 * the frame of the changed input. What either does not show is left out: a point that was outside
 * the frame after any link is lost, even if a later one would bring its place back.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/warp.h"
#include <internal/mutation.h>

#include "base/memory.h"
#include "base/ascending.h"
#include <internal/ssim.h>

#include <internal/closeness.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A background is plain if so much of the border is within so many levels of its median. */
static const double PLAIN_SHARE = 0.7, PLAIN_LEVELS = 24.0 / 255.0;
static const double EDGE = 1e-6; /* of a pixel: what rounding puts outside is inside */

typedef struct near_work {
    int height, width;
    size_t plane, channels;
    double range;
    double (*maps)[6]; /* of the links that move, first to last: result to source */
    size_t map_count;
    double *x, *y;   /* all planes of the original, one of the changed input */
    double *moved;   /* one plane */
    uint8_t *seen;   /* of the changed input's frame; what the original shows too */
    double *at;      /* [plane][2]: where in the original it comes from */
    double *weights; /* of the original's pixels, as parts of an object */
    double *scratch;
} near_work;

bool px_is_close(const px_closeness *closeness)
{
    return closeness->similarity >= PX_CLOSE_SIMILARITY && closeness->inside >= PX_CLOSE_INSIDE;
}

/* Unknown ones come last. */
static double near_score(const px_closeness *c)
{
    const double score = c->similarity * c->inside;
    return isnan(score) ? -1.0 : floor(100.0 * score + 0.5);
}

int px_closeness_compare(const px_closeness *a, const px_closeness *b)
{
    const int close = (int)px_is_close(b) - (int)px_is_close(a);
    const double x = near_score(a), y = near_score(b);
    return close ? close : (x < y) - (x > y);
}

static void map_point(const double map[6], double *x, double *y)
{
    const double from_x = *x, from_y = *y;
    *x = map[0] * from_x + map[1] * from_y + map[2];
    *y = map[3] * from_x + map[4] * from_y + map[5];
}

/* `rim`: how far beyond the centres of the outermost pixels is still inside. */
static bool in_frame(const near_work *w, double x, double y, double rim)
{
    return x >= -rim && y >= -rim && x <= w->width - 1 + rim && y <= w->height - 1 + rim;
}

/* --- similarity ------------------------------------------------------------------------------ */

static void near_seen(near_work *w)
{
    size_t i = 0;
    for (int row = 0; row < w->height; row++)
        for (int column = 0; column < w->width; column++, i++) {
            double x = column, y = row;
            bool seen = true;
            for (size_t m = w->map_count; m-- > 0 && seen;) {
                map_point(w->maps[m], &x, &y);
                seen = in_frame(w, x, y, EDGE);
            }
            w->seen[i] = seen;
            w->at[2 * i] = fmin(fmax(x, 0.0), w->width - 1);
            w->at[2 * i + 1] = fmin(fmax(y, 0.0), w->height - 1);
        }
}

/* Bilinear, where it is seen; 0 elsewhere. */
static void near_move(const near_work *w, const double *from, double *to)
{
    const size_t stride = (size_t)w->width;
    for (size_t i = 0; i < w->plane; i++) {
        if (!w->seen[i]) {
            to[i] = 0.0;
            continue;
        }
        const double x = w->at[2 * i], y = w->at[2 * i + 1];
        const size_t left = (size_t)x, top = (size_t)y;
        const double right = x - (double)left, down = y - (double)top;
        const double *a = from + top * stride + left;
        const double *b = a + (left + 1 < stride), *c = a + (y > (double)top ? stride : 0);
        const double *d = c + (b - a);
        const double above = *a + right * (*b - *a), below = *c + right * (*d - *c);
        to[i] = above + down * (below - above);
    }
}

/* --- what is left in the frame ---------------------------------------------------------------- */

/* The outermost pixels of a plane; returns how many. */
static size_t border(const near_work *w, const double *plane, double *out)
{
    const size_t width = (size_t)w->width, height = (size_t)w->height;
    size_t n = 0;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width;
             x += y == 0 || y + 1 == height || x + 1 == width || width == 1 ? 1 : width - 1)
            out[n++] = plane[y * width + x];
    return n;
}

/* How far each pixel is from the border's median, in the channel where it is most; false: the
 * border is not of one colour. The scratch of similarity is long enough for a border. */
static bool near_object(near_work *w)
{
    const double limit = PLAIN_LEVELS * w->range;
    double total = 0.0, *edge = w->scratch;
    size_t n = 0, plain = 0;
    memset(w->weights, 0, w->plane * sizeof *w->weights);
    for (size_t c = 0; c < w->channels; c++) {
        const double *plane = w->x + c * w->plane;
        n = border(w, plane, edge);
        qsort(edge, n, sizeof *edge, pxi_order_double);
        const double median = edge[n / 2];
        for (size_t i = 0; i < w->plane; i++)
            w->weights[i] = fmax(w->weights[i], fabs(plane[i] - median));
    }
    n = border(w, w->weights, edge);
    for (size_t i = 0; i < n; i++)
        plain += edge[i] <= limit;
    for (size_t i = 0; i < w->plane; i++) {
        w->weights[i] = w->weights[i] > limit ? w->weights[i] : 0.0;
        total += w->weights[i];
    }
    return (double)plain >= PLAIN_SHARE * (double)n && total > 0.0;
}

static double near_inside(near_work *w, bool recording)
{
    double left = 0.0, total = 0.0;
    if (w->map_count == 0)
        return 1.0;
    if (recording || !near_object(w)) /* frames of a recording count alike */
        for (size_t i = 0; i < w->plane; i++)
            w->weights[i] = 1.0;
    for (size_t m = 0; m < w->map_count; m++) { /* to where a point goes */
        double forward[6];
        pxi_map_invert(w->maps[m], forward);
        memcpy(w->maps[m], forward, sizeof forward);
    }
    size_t i = 0;
    for (int row = 0; row < w->height; row++)
        for (int column = 0; column < w->width; column++, i++) {
            double x = column, y = row;
            bool in = true;
            total += w->weights[i];
            for (size_t m = 0; m < w->map_count && in && w->weights[i] > 0.0; m++) {
                map_point(w->maps[m], &x, &y);
                in = in_frame(w, x, y, 0.5 + EDGE);
            }
            left += in ? w->weights[i] : 0.0;
        }
    return left / total;
}

/* --- both ------------------------------------------------------------------------------------ */

static void near_values(px_dtype dtype, const void *from, size_t first, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = dtype == PX_UINT8 ? (double)((const uint8_t *)from)[first + i]
                                  : (double)((const float *)from)[first + i];
}

/* L of SSIM's constants: of bytes 255, of values between 0 and 1 that, else what the original
 * spans. */
static double near_range(px_dtype dtype, const double *x, size_t count)
{
    double least = 0.0, most = 1.0;
    if (dtype == PX_UINT8)
        return 255.0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, x[i]);
        most = fmax(most, x[i]);
    }
    return most - least;
}

static px_status near_open(near_work *w, const px_drawn *links, size_t count, px_error *err)
{
    const size_t plane = w->plane, scratch = pxi_ssim_scratch(w->height, w->width);
    const size_t reals = w->channels * plane + 2 * plane + 2 * plane + plane + scratch;
    size_t moves = 0;
    for (size_t i = 0; i < count; i++)
        moves += links[i].mutation->source != NULL;
    w->x = pxi_calloc(reals, sizeof *w->x);
    w->seen = pxi_calloc(plane, 1);
    w->maps = pxi_calloc(moves + 1, sizeof *w->maps);
    if (!w->x || !w->seen || !w->maps)
        return pxi_no_memory_for(err, "a picture of %d x %d", w->width, w->height);
    w->y = w->x + w->channels * plane;
    w->moved = w->y + plane;
    w->at = w->moved + plane;
    w->weights = w->at + 2 * plane;
    w->scratch = w->weights + plane;
    for (size_t i = 0; i < count; i++)
        if (links[i].mutation->source)
            links[i].mutation->source(links[i].values, w->height, w->width,
                                      w->maps[w->map_count++]);
    return PX_OK;
}

px_status px_closeness_measure(const px_drawn *links, size_t count, const px_shape *shape,
                               px_dtype dtype, const void *original, const void *changed,
                               px_closeness *out, px_error *err)
{
    const int64_t *dim = shape->dim;
    *out = (px_closeness){(double)NAN, (double)NAN};
    if (shape->rank != 3 || dim[0] < 1 || dim[1] < 3 || dim[2] < 3 ||
        dim[1] > PX_MUTATION_SIDE_MOST || dim[2] > PX_MUTATION_SIDE_MOST)
        return PX_OK;
    near_work w = {.height = (int)dim[1],
                   .width = (int)dim[2],
                   .channels = (size_t)dim[0],
                   .plane = (size_t)(dim[1] * dim[2])};
    px_status status = near_open(&w, links, count, err);
    if (status == PX_OK) {
        double sum = 0.0;
        near_values(dtype, original, 0, w.channels * w.plane, w.x);
        w.range = near_range(dtype, w.x, w.channels * w.plane);
        if (w.map_count)
            near_seen(&w);
        for (size_t c = 0; c < w.channels; c++) {
            const double *x = w.x + c * w.plane;
            near_values(dtype, changed, c * w.plane, w.plane, w.y);
            if (w.map_count)
                near_move(&w, x, w.moved);
            sum += pxi_ssim(w.map_count ? w.moved : x, w.y, w.map_count ? w.seen : NULL, w.height,
                            w.width, w.range, w.scratch);
        }
        const double mean = sum / (double)w.channels;
        out->similarity = isnan(mean) ? 0.0 : fmin(1.0, fmax(0.0, mean));
        out->inside = near_inside(&w, count && links[0].mutation->apply_samples);
    }
    free(w.x);
    free(w.seen);
    free(w.maps);
    return status;
}
