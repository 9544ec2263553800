/* src/generate/fuzz_twins.c - faults that nearly repeat one another
 *
 * A fault is a twin of an earlier one if both have the same root and the same prediction, and their
 * pictures, reduced to at most 16 x 16 by averaging, differ by at most `near` levels on average. So
 * other noise, a few other pixels or one more level of brightness make twins, another angle does
 * not. What is compared is at most the first TWINS_LOOK faults without a twin of that root and
 * prediction: the cost of a fault does not grow with their number. All of it follows from the rows
 * in the order of their ids.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { TWINS_SIDE = 16, TWINS_VALUES = 768, TWINS_LOOK = 8 };

typedef struct twin_fault {
    int64_t id, count; /* how many repeat it */
    float *small;
} twin_fault;

typedef struct twin_group { /* of a root and a prediction */
    uint64_t key;           /* of both, plus 1; 0: free */
    uint32_t used;
    twin_fault fault[TWINS_LOOK];
} twin_group;

struct pxi_fuzz_twins {
    px_shape shape;
    bool bytes;
    size_t size;
    double scale, near; /* stored values to levels */
    int64_t rows, columns, channels, small;
    float *scratch;
    twin_group *groups; /* open addressing; room is a power of two */
    size_t count, room;
};

px_status pxi_fuzz_twins_new(const pxi_twins_rule *rule, pxi_fuzz_twins **out, px_error *err)
{
    pxi_fuzz_twins *t = NULL;
    PX_TRY(PX_NEW(t, 1, err));
    t->shape = rule->shape;
    t->bytes = rule->bytes;
    t->size = (size_t)px_shape_count(&rule->shape);
    t->near = rule->near;
    t->scale = rule->high > rule->low ? 255.0 / (rule->high - rule->low) : 1.0;
    const bool picture = t->shape.rank == 3 && t->shape.dim[0] * TWINS_SIDE <= TWINS_VALUES;
    t->channels = picture ? t->shape.dim[0] : 1;
    t->rows = picture ? PX_MIN(t->shape.dim[1], TWINS_SIDE) : 1;
    t->columns = picture ? PX_MIN(t->shape.dim[2], TWINS_SIDE)
                         : PX_MIN((int64_t)t->size, (int64_t)TWINS_VALUES);
    t->small = t->channels * t->rows * t->columns;
    t->room = 256;
    t->groups = pxi_calloc(t->room, sizeof *t->groups);
    t->scratch = pxi_calloc((size_t)t->small, sizeof *t->scratch);
    if (!t->groups || !t->scratch) {
        pxi_fuzz_twins_free(t);
        return pxi_no_memory(err);
    }
    *out = t;
    return PX_OK;
}

void pxi_fuzz_twins_free(pxi_fuzz_twins *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->groups && i < t->room; i++)
        for (uint32_t k = 0; k < t->groups[i].used; k++)
            free(t->groups[i].fault[k].small);
    free(t->groups);
    free(t->scratch);
    free(t);
}

/* --- pictures, reduced ----------------------------------------------------------------------- */

static double twin_sum(const pxi_fuzz_twins *t, const void *pixels, int64_t first, int64_t count)
{
    const uint8_t *bytes = pixels;
    const float *reals = pixels;
    double sum = 0.0;
    for (int64_t i = first; i < first + count; i++)
        sum += t->bytes ? (double)bytes[i] : (double)reals[i];
    return sum;
}

/* Means over a grid of whole pixels. */
static void twin_reduce(const pxi_fuzz_twins *t, const void *pixels, float *small)
{
    const bool picture = t->shape.rank == 3 && t->rows * t->columns * t->channels > 0 &&
                         t->channels == t->shape.dim[0];
    const int64_t height = picture ? t->shape.dim[1] : 1;
    const int64_t width = picture ? t->shape.dim[2] : (int64_t)t->size;
    for (int64_t c = 0; c < t->channels; c++)
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t k = 0; k < t->columns; k++) {
                const int64_t top = r * height / t->rows, bottom = (r + 1) * height / t->rows;
                const int64_t left = k * width / t->columns, right = (k + 1) * width / t->columns;
                double sum = 0.0;
                for (int64_t y = top; y < bottom; y++)
                    sum += twin_sum(t, pixels, (c * height + y) * width + left, right - left);
                *small++ = (float)(t->scale * sum / (double)((bottom - top) * (right - left)));
            }
}

static bool twin_near(const pxi_fuzz_twins *t, const float *a, const float *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < t->small; i++)
        sum += fabs((double)a[i] - (double)b[i]);
    return sum <= t->near * (double)t->small;
}

/* --- groups ---------------------------------------------------------------------------------- */

static uint64_t twin_key(size_t seed, int64_t prediction)
{
    return ((uint64_t)seed << 24 | ((uint64_t)(prediction + 1) & 0xffffff)) + 1;
}

/* Its group, or the free place where it would be. */
static twin_group *twin_group_at(twin_group *groups, size_t room, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (groups[at].key && groups[at].key != key)
        at = (at + 1) & (room - 1);
    return &groups[at];
}

static px_status twin_grow(pxi_fuzz_twins *t, px_error *err)
{
    if (t->count < t->room / 2)
        return PX_OK;
    twin_group *groups = NULL;
    PX_TRY(PX_NEW(groups, t->room * 2, err));
    for (size_t i = 0; i < t->room; i++)
        if (t->groups[i].key)
            *twin_group_at(groups, t->room * 2, t->groups[i].key) = t->groups[i];
    free(t->groups);
    t->groups = groups;
    t->room *= 2;
    return PX_OK;
}

int64_t pxi_fuzz_twins_find(const pxi_fuzz_twins *t, const void *pixels, size_t seed,
                            int64_t prediction, int64_t *count)
{
    const twin_group *group = twin_group_at(t->groups, t->room, twin_key(seed, prediction));
    if (group->used == 0)
        return 0;
    twin_reduce(t, pixels, t->scratch);
    for (uint32_t i = 0; i < group->used; i++)
        if (twin_near(t, group->fault[i].small, t->scratch)) {
            if (count)
                *count = group->fault[i].count;
            return group->fault[i].id;
        }
    return 0;
}

px_status pxi_fuzz_twins_add(pxi_fuzz_twins *t, int64_t id, int64_t twin, const void *pixels,
                             size_t seed, int64_t prediction, px_error *err)
{
    const uint64_t key = twin_key(seed, prediction);
    PX_TRY(twin_grow(t, err));
    twin_group *group = twin_group_at(t->groups, t->room, key);
    for (uint32_t i = 0; twin && i < group->used; i++)
        group->fault[i].count += group->fault[i].id == twin;
    if (twin || group->used == TWINS_LOOK)
        return PX_OK;
    float *small = NULL;
    PX_TRY(PX_NEW(small, t->small, err));
    twin_reduce(t, pixels, small);
    t->count += group->key == 0;
    group->key = key;
    group->fault[group->used++] = (twin_fault){.id = id, .small = small};
    return PX_OK;
}
