/* src/assess/clever.c - options of CLEVER, and what it came to in numbers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/clever_internal.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *px_ball_name(px_ball ball)
{
    static const char *const names[] = {
#define BALL_NAME(enumerator, id, help) [enumerator] = id,
        PX_BALLS(BALL_NAME)
#undef BALL_NAME
    };
    return names[ball];
}

px_clever_options px_clever_options_default(void)
{
    return (px_clever_options){.radius = (double)NAN,
                               .batches = 500,
                               .samples = 1024,
                               .target = PX_CLEVER_ALL,
                               .low = (double)NAN,
                               .high = (double)NAN};
}

void px_clever_free(px_clever *clever)
{
    if (!clever)
        return;
    free(clever->rows);
    free(clever->targets);
    free(clever);
}

int64_t px_clever_count(const px_clever *clever)
{
    return clever->count;
}

const px_clever_row *px_clever_rows(const px_clever *clever)
{
    return clever->rows;
}

const px_clever_target *px_clever_targets(const px_clever *clever)
{
    return clever->targets;
}

const px_clever_options *px_clever_used(const px_clever *clever)
{
    return &clever->options;
}

static void sum_rows(const px_clever *clever, px_clever_summary *s, double *values)
{
    size_t n = 0;
    for (int64_t i = 0; i < clever->count; i++) {
        const px_clever_row *row = &clever->rows[i];
        s->wrong += row->wrong;
        s->skipped += row->skipped;
        s->odd += row->predicted < 0;
        s->unlabelled += row->label < 0;
        s->odd_gradients += row->odd_gradients;
        if (row->wrong || isnan(row->score))
            continue;
        s->capped += row->score >= clever->options.radius;
        values[n++] = row->score;
    }
    s->count = (int64_t)n;
    s->mean = px_mean(values, n);
    s->mean_all = s->mean * (double)n / (double)(s->count + s->wrong);
    if (n == 0)
        s->mean_all = s->wrong > 0 ? 0.0 : (double)NAN;
    s->median = px_quantile(values, n, 0.5);
    s->least = n > 0 ? values[0] : (double)NAN; /* px_quantile() sorted them */
}

static void sum_fits(const px_clever *clever, px_clever_summary *s, double *ks, double *p)
{
    size_t n = 0;
    for (int64_t i = 0; i < clever->target_count; i++) {
        const px_reverse_weibull *fit = &clever->targets[i].fit;
        s->fits++;
        s->constant += fit->note == PX_END_CONSTANT;
        s->open += fit->note == PX_END_OPEN;
        s->poor += fit->note == PX_END_POOR;
        if (isnan(fit->ks))
            continue;
        ks[n] = fit->ks;
        p[n++] = fit->ks_p;
    }
    s->ks_median = px_quantile(ks, n, 0.5);
    s->ks_p_median = px_quantile(p, n, 0.5);
}

px_status px_clever_sum(const px_clever *clever, px_clever_summary *out, px_error *err)
{
    px_clever_summary s = {.points = clever->points, .seconds = clever->seconds};
    const size_t most = (size_t)PX_MAX(PX_MAX(clever->count, clever->target_count), 1);
    double *values = pxi_calloc(most, 2 * sizeof *values);
    if (!values)
        return pxi_no_memory(err);
    sum_rows(clever, &s, values);
    sum_fits(clever, &s, values, values + most);
    free(values);
    *out = s;
    return PX_OK;
}
