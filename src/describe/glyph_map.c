/* src/describe/glyph_map.c - strokes: how wide, where they end, meet and close */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/attribute_map.h"

#include "base/memory.h"

#include <string.h>

/* Felzenszwalb and Huttenlocher's decomposition with a plain minimum in the second step: columns
 * first, then each row over all columns. Exact, and quick enough for pictures of glyphs. */
void pxi_ink_distance(const uint8_t *ink, int h, int w, int32_t *scratch, int32_t *out)
{
    const int32_t far = h + w; /* no ground in the column: farther than any pixel */
    for (int x = 0; x < w; x++) {
        int32_t d = far;
        for (int y = 0; y < h; y++) {
            d = ink[y * w + x] ? PX_MIN(d + 1, far) : 0;
            scratch[y * w + x] = d;
        }
        d = far;
        for (int y = h - 1; y >= 0; y--) {
            d = ink[y * w + x] ? PX_MIN(d + 1, far) : 0;
            scratch[y * w + x] = PX_MIN(scratch[y * w + x], d);
        }
    }
    const int32_t none = h * h + w * w;
    for (int y = 0; y < h; y++) {
        const int32_t *row = scratch + y * w;
        for (int x = 0; x < w; x++) {
            int32_t best = ink[y * w + x] ? none : 0;
            for (int u = 0; u < w && best > 0; u++)
                if (row[u] < far)
                    best = PX_MIN(best, (u - x) * (u - x) + row[u] * row[u]);
            out[y * w + x] = best;
        }
    }
}

/* The neighbours P2..P9 of a pixel as Zhang and Suen number them: from the north, clockwise. */
static void neighbours(const uint8_t *plane, int h, int w, int y, int x, uint8_t p[8])
{
    static const int dy[8] = {-1, -1, 0, 1, 1, 1, 0, -1}, dx[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    for (int i = 0; i < 8; i++) {
        const int v = y + dy[i], u = x + dx[i];
        p[i] = v >= 0 && v < h && u >= 0 && u < w && plane[v * w + u];
    }
}

static int neighbour_count(const uint8_t p[8])
{
    int count = 0;
    for (int i = 0; i < 8; i++)
        count += p[i];
    return count;
}

/* Whether a sub-iteration (0 or 1) takes the pixel away. */
static bool skeleton_goes(const uint8_t p[8], int step)
{
    int turns = 0;
    for (int i = 0; i < 8; i++)
        turns += !p[i] && p[(i + 1) % 8];
    const int b = neighbour_count(p);
    const bool north = p[0], east = p[2], south = p[4], west = p[6];
    if (b < 2 || b > 6 || turns != 1)
        return false;
    return step == 0 ? !(north && east && south) && !(east && south && west)
                     : !(north && east && west) && !(north && south && west);
}

void pxi_ink_skeleton(const uint8_t *ink, int h, int w, uint8_t *scratch, uint8_t *out)
{
    const size_t n = (size_t)h * (size_t)w;
    memcpy(out, ink, n);
    for (bool changed = true; changed;) {
        changed = false;
        for (int step = 0; step < 2; step++) {
            memcpy(scratch, out, n); /* all pixels of a sub-iteration are judged at once */
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    uint8_t p[8];
                    if (!scratch[y * w + x])
                        continue;
                    neighbours(scratch, h, w, y, x, p);
                    if (skeleton_goes(p, step)) {
                        out[y * w + x] = 0;
                        changed = true;
                    }
                }
        }
    }
}

void pxi_skeleton_nodes(const uint8_t *skeleton, int h, int w, int least, int most, uint8_t *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint8_t p[8];
            neighbours(skeleton, h, w, y, x, p);
            const int count = neighbour_count(p);
            out[y * w + x] = skeleton[y * w + x] && count >= least && count <= most;
        }
}

void pxi_ink_holes(const uint8_t *ink, int h, int w, int32_t *scratch, uint8_t *out)
{
    const int n = h * w;
    int filled = 0;
    for (int i = 0; i < n; i++)
        out[i] = !ink[i];
    /* Ground is taken away from the frame inwards; each pixel is put down once. */
    for (int i = 0; i < n; i++) {
        const int y = i / w, x = i % w;
        if (out[i] && (y == 0 || y == h - 1 || x == 0 || x == w - 1)) {
            out[i] = 0;
            scratch[filled++] = i;
        }
    }
    while (filled > 0) {
        const int at = scratch[--filled], x = at % w;
        const int next[4] = {at - w, at + w, x > 0 ? at - 1 : -1, x < w - 1 ? at + 1 : -1};
        for (int k = 0; k < 4; k++)
            if (next[k] >= 0 && next[k] < n && out[next[k]]) {
                out[next[k]] = 0;
                scratch[filled++] = next[k];
            }
    }
}

void pxi_ink_dilate(const uint8_t *in, int h, int w, int radius, float *out)
{
    memset(out, 0, (size_t)h * (size_t)w * sizeof *out);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            if (!in[y * w + x])
                continue;
            for (int v = PX_MAX(y - radius, 0); v <= PX_MIN(y + radius, h - 1); v++)
                for (int u = PX_MAX(x - radius, 0); u <= PX_MIN(x + radius, w - 1); u++)
                    out[v * w + u] = 1.0f;
        }
}
