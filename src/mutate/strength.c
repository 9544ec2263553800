/* src/mutate/strength.c - how strongly a mutation was applied, in a few bands
 *
 * Failures are counted by mutation and band: "rotation beyond 40 degrees" says what to mend, single
 * angles do not. Mutations that are a choice have a band for each word.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/mutate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EDGES_MOST = 5 };

typedef struct strength {
    const char *id;
    int param, other; /* other: of two the larger counts; -1: there is one */
    bool either_way;  /* its size counts, not its sign */
    const char *unit; /* "" or with a blank before it */
    double edges[EDGES_MOST];
    int edge_count;
} strength;

static const strength strengths[] = {
    {"rotation", 0, -1, true, " degrees", {10, 20, 30, 40}, 4},
    {"cv-rotation", 0, -1, true, " degrees", {10, 20, 30, 40}, 4},
    {"shear", 0, -1, true, " degrees", {10, 20, 30}, 3},
    {"cv-shear", 0, -1, true, "", {0.2, 0.4}, 2},
    {"shift", 0, 1, true, " of the side", {0.05, 0.1, 0.2}, 3},
    {"cv-translation", 0, 1, true, " pixels", {1, 2, 4}, 3},
    {"scale", 0, -1, false, "", {0.8, 0.9, 1, 1.1}, 4},
    {"cv-scale", 0, -1, false, "", {0.8, 0.9, 1, 1.1}, 4},
    {"contrast", 0, -1, false, "", {0.6, 0.8, 1, 1.2, 1.6}, 5},
    {"cv-contrast", 0, -1, false, "", {0.6, 0.8, 1, 1.2, 1.6}, 5},
    {"brightness", 0, -1, false, "", {0.6, 0.8, 1, 1.2}, 4},
    {"cv-brightness", 0, -1, false, " levels", {-10, 0, 10, 30}, 4},
    {"blur", 0, -1, false, " pixels", {3, 5}, 2},
    {"pixel-change", 0, -1, false, " pixels", {3, 6}, 2},
    {"style", 0, -1, false, "", {0.4, 0.6}, 2},
    {"audio-noise", 0, -1, false, " dB below", {25, 30, 35}, 3},
    {"audio-gain", 0, -1, false, " dB", {-3, 0, 3}, 3},
    {"audio-shift", 0, -1, true, " of the recording", {0.03, 0.06}, 2},
    {"audio-mask", 1, -1, false, " of the recording", {0.03, 0.06}, 2},
};

static const strength *strength_of(const px_mutation *mutation)
{
    for (size_t i = 0; i < PX_LEN(strengths); i++)
        if (strcmp(strengths[i].id, mutation->entry.id) == 0)
            return &strengths[i];
    return NULL;
}

/* The words that the mutation is a choice of; NULL: it is none. */
static const char *const *strength_choices(const px_mutation *mutation)
{
    return mutation->entry.params[0].choices;
}

int px_mutation_bands(const px_mutation *mutation)
{
    const strength *s = strength_of(mutation);
    const char *const *choices = strength_choices(mutation);
    int count = 0;
    if (s)
        return s->edge_count + 1;
    while (choices && choices[count])
        count++;
    return PX_MAX(count, 1);
}

int px_drawn_band(const px_drawn *drawn)
{
    const strength *s = strength_of(drawn->mutation);
    int band = 0;
    if (!s)
        return strength_choices(drawn->mutation) ? (int)drawn->values[0] : 0;
    double value = drawn->values[s->param];
    if (s->other >= 0 && fabs(drawn->values[s->other]) > fabs(value))
        value = drawn->values[s->other];
    value = s->either_way ? fabs(value) : value;
    while (band < s->edge_count && value > s->edges[band] + 1e-9)
        band++;
    return band;
}

const char *px_band_text(const px_mutation *mutation, int band, char buffer[PX_BAND_TEXT])
{
    const strength *s = strength_of(mutation);
    const char *const *choices = strength_choices(mutation);
    /* OpenCV's reading of a mutation is that mutation to whoever reads this. */
    const char *name =
        strncmp(mutation->entry.id, "cv-", 3) == 0 ? mutation->entry.id + 3 : mutation->entry.id;
    if (band < 0 || band >= px_mutation_bands(mutation))
        snprintf(buffer, PX_BAND_TEXT, "%s", name);
    else if (!s && choices)
        snprintf(buffer, PX_BAND_TEXT, "%s %s", name, choices[band]);
    else if (!s)
        snprintf(buffer, PX_BAND_TEXT, "%s", name);
    else if (band == 0)
        snprintf(buffer, PX_BAND_TEXT, "%s up to %g%s", name, s->edges[0], s->unit);
    else if (band == s->edge_count)
        snprintf(buffer, PX_BAND_TEXT, "%s beyond %g%s", name, s->edges[band - 1], s->unit);
    else
        snprintf(buffer, PX_BAND_TEXT, "%s %g to %g%s", name, s->edges[band - 1], s->edges[band],
                 s->unit);
    return buffer;
}
