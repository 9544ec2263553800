/* src/localize/rankings.c - rankings compared: overlap and rank correlation */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/suspicious.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>

static int suspect_order(const void *left, const void *right)
{
    const px_suspect *a = *(const px_suspect *const *)left, *b = *(const px_suspect *const *)right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Pointers to the neurons, in the order of layers and units; NULL when out of memory. */
static const px_suspect **suspects_sorted(const px_suspect *items, size_t count)
{
    const px_suspect **sorted = pxi_calloc(PX_MAX(count, 1), sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &items[i];
    if (sorted)
        qsort(sorted, count, sizeof *sorted, suspect_order);
    return sorted;
}

px_status px_suspicious_overlap(const px_suspicious *a, const px_suspicious *b, int c, double *out,
                                px_error *err)
{
    size_t a_count = 0, b_count = 0, both = 0;
    const px_suspect *a_items = px_suspicious_class(a, c, &a_count);
    const px_suspect *b_items = px_suspicious_class(b, c, &b_count);
    const px_suspect **x = suspects_sorted(a_items, a_count),
                     **y = suspects_sorted(b_items, b_count);
    const px_status status = x && y ? PX_OK : pxi_no_memory(err);
    for (size_t i = 0, j = 0; status == PX_OK && i < a_count && j < b_count;) {
        const int order = suspect_order(&x[i], &y[j]);
        both += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    if (status == PX_OK)
        *out = a_count && b_count ? (double)both / (double)PX_MAX(a_count, b_count) : (double)NAN;
    free(x);
    free(y);
    return status;
}

/* rank[neuron]: how many different scores are above its own, with a minus: a larger one is better.
 * Whole numbers in place of scores, so that infinite ones have their place. */
static void rankings_places(const px_spectrum *spectrum, int c, const px_measure *measure,
                            double star, pxi_scored *scored, double *place)
{
    pxi_ranking(spectrum, measure, star, c, scored);
    double above = 0.0;
    for (int64_t i = 0; i < spectrum->counts.width; i++) {
        above += i > 0 && pxi_scored_compare(&scored[i - 1], &scored[i]) != 0;
        place[scored[i].neuron] = -above;
    }
}

px_status px_measures_spearman(const px_spectrum *spectrum, int c, double star, double *matrix,
                               px_error *err)
{
    const size_t width = (size_t)spectrum->counts.width, count = px_measure_count();
    for (size_t i = 0; i < count * count; i++)
        matrix[i] = (double)NAN;
    if (!px_spectrum_ranks(spectrum, c))
        return PX_OK;
    pxi_scored *scored = pxi_calloc(PX_MAX(width, 1), sizeof *scored);
    double *place = pxi_calloc(PX_MAX(width, 1), sizeof *place);
    double *ranks = pxi_calloc(PX_MAX(width, 1), count * sizeof *ranks); /* sorted once each */
    px_status status = scored && place && ranks ? PX_OK : pxi_no_memory(err);
    for (size_t m = 0; m < count && status == PX_OK; m++) {
        rankings_places(spectrum, c, px_measure_get(m), star, scored, place);
        status = px_ranks(place, width, ranks + m * width, NULL, err);
    }
    for (size_t i = 0; i < count && status == PX_OK; i++)
        for (size_t j = i; j < count; j++)
            matrix[i * count + j] = matrix[j * count + i] =
                px_pearson(ranks + i * width, ranks + j * width, width).r;
    free(scored);
    free(place);
    free(ranks);
    return status;
}

typedef struct rankings_sums { /* over classes, [measures][measures] */
    double *overlap, *spearman, *one, *defined, *beside;
    const char **names;
} rankings_sums;

void px_rankings_done(px_rankings *r)
{
    rankings_sums *sums = r->inside;
    for (size_t i = 0; r->lists && i < px_measure_count(); i++)
        px_suspicious_free(r->lists[i]);
    free(r->lists);
    if (sums) {
        free(sums->overlap);
        free(sums->names);
    }
    free(sums);
    *r = (px_rankings){0};
}

/* Adds what list i has in common with the others, and with the list at hand. */
static px_status rankings_overlaps(const px_rankings *r, const px_suspicious *list, size_t i, int c,
                                   px_error *err)
{
    const rankings_sums *sums = r->inside;
    const size_t count = px_measure_count();
    double share = 0.0;
    PX_TRY(px_suspicious_overlap(list, r->lists[i], c, &share, err));
    sums->beside[i] += isnan(share) ? 0.0 : share; /* random ones may be missing in a class */
    for (size_t j = i; j < count; j++) {
        PX_TRY(px_suspicious_overlap(r->lists[i], r->lists[j], c, &share, err));
        sums->overlap[i * count + j] += share;
        if (j != i)
            sums->overlap[j * count + i] += share;
    }
    return PX_OK;
}

static px_status rankings_add(const px_rankings *r, const px_spectrum *spectrum, double star,
                              const px_suspicious *list, int c, px_error *err)
{
    const rankings_sums *sums = r->inside;
    const size_t count = px_measure_count();
    PX_TRY(px_measures_spearman(spectrum, c, star, sums->one, err));
    for (size_t i = 0; i < count * count; i++) {
        sums->spearman[i] += isnan(sums->one[i]) ? 0.0 : sums->one[i];
        sums->defined[i] += !isnan(sums->one[i]);
    }
    for (size_t i = 0; i < count; i++)
        PX_TRY(rankings_overlaps(r, list, i, c, err));
    return PX_OK;
}

/* All in one piece of memory. */
static px_status rankings_init(px_rankings *r, px_error *err)
{
    const size_t count = px_measure_count(), cells = count * count;
    rankings_sums *sums = r->inside = pxi_calloc(1, sizeof *sums);
    r->lists = pxi_calloc(count, sizeof *r->lists);
    double *numbers = pxi_calloc(4 * cells + count, sizeof *numbers);
    const char **names = pxi_calloc(count, sizeof *names);
    if (!sums || !r->lists || !numbers || !names) {
        free(numbers);
        free(names);
        return pxi_no_memory(err);
    }
    for (size_t i = 0; i < count; i++)
        names[i] = px_measure_get(i)->entry.id;
    *sums = (rankings_sums){.overlap = numbers,
                            .spearman = numbers + cells,
                            .one = numbers + 2 * cells,
                            .defined = numbers + 3 * cells,
                            .beside = numbers + 4 * cells,
                            .names = names};
    r->beside = sums->beside;
    r->overlap = (px_matrix){.values = sums->overlap, .rows = count, .columns = count};
    r->spearman = (px_matrix){.values = sums->spearman, .rows = count, .columns = count};
    r->overlap.names = r->spearman.names = names;
    return PX_OK;
}

px_status px_rankings_compare(const px_spectrum *spectrum, const px_rank_options *options,
                              const px_suspicious *list, px_rankings *out, px_error *err)
{
    const size_t count = px_measure_count();
    px_rankings r = {0};
    px_rank_options rank = *options;
    px_status status = rankings_init(&r, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        rank.measure = px_measure_get(i)->entry.id;
        status = px_suspicious_rank(spectrum, &rank, &r.lists[i], err);
    }
    int classes = 0;
    const int end = options->pooled ? PX_POOLED + 1 : px_spectrum_classes(spectrum);
    for (int c = options->pooled ? PX_POOLED : 0; c < end && status == PX_OK; c++)
        if (px_spectrum_ranks(spectrum, c)) {
            classes++;
            status = rankings_add(&r, spectrum, options->star, list, c, err);
        }
    if (status != PX_OK) {
        px_rankings_done(&r);
        return status;
    }
    rankings_sums *sums = r.inside;
    for (size_t i = 0; i < count * count; i++) {
        sums->overlap[i] /= classes;
        sums->spearman[i] =
            sums->defined[i] > 0.0 ? sums->spearman[i] / sums->defined[i] : (double)NAN;
    }
    for (size_t i = 0; i < count; i++)
        sums->beside[i] /= classes;
    *out = r;
    return PX_OK;
}
