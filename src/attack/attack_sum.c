/* src/attack/attack_sum.c - what an attack came to, in numbers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_internal.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>

static bool row_right(const px_attack_row *row)
{
    return row->before >= 0 && row->before == row->truth;
}

static const px_attack_form *row_form(const px_attack_row *row, bool stored)
{
    return stored ? &row->stored : &row->exact;
}

static double form_distance(const px_attack_form *form, int which)
{
    return which == 0 ? (double)form->l0 : which == 1 ? form->l2 : form->linf;
}

static px_attack_spread spread(const px_attack *a, bool stored, int which, double *values)
{
    size_t count = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < a->count; i++) {
        const px_attack_row *row = &a->rows[i];
        if (row->skipped || !row_right(row) || !row_form(row, stored)->reached)
            continue;
        values[count] = form_distance(row_form(row, stored), which);
        sum += values[count++];
    }
    if (count == 0)
        return (px_attack_spread){(double)NAN, (double)NAN};
    return (px_attack_spread){sum / (double)count, px_quantile(values, count, 0.5)};
}

static px_attack_outcome outcome(const px_attack *a, const px_attack_summary *sum, bool stored,
                                 double *values)
{
    px_attack_outcome o = {0};
    int64_t anyhow = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const px_attack_row *row = &a->rows[i];
        const px_attack_form *form = row_form(row, stored);
        if (row->skipped)
            continue;
        o.reached += row_right(row) && form->reached;
        anyhow += form->reached;
        o.robust += row_right(row) && form->predicted == row->truth;
    }
    o.success = (double)o.reached / (double)sum->right; /* NaN without any */
    o.success_all = (double)anyhow / (double)sum->count;
    o.robust_accuracy = (double)o.robust / (double)sum->count;
    o.l0 = spread(a, stored, 0, values);
    o.l2 = spread(a, stored, 1, values);
    o.linf = spread(a, stored, 2, values);
    return o;
}

px_status px_attack_sum(const px_attack *a, px_attack_summary *out, px_error *err)
{
    px_attack_summary sum = {.seconds = a->seconds, .emit_seconds = a->emit_seconds};
    double *values = NULL;
    PX_TRY(PX_NEW(values, (size_t)PX_MAX(a->count, 1), err));
    int64_t forwards = 0, backwards = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const px_attack_row *row = &a->rows[i];
        if (row->skipped) {
            sum.skipped++;
            continue;
        }
        sum.count++;
        sum.right += row_right(row);
        sum.unlabelled += row->label < 0;
        forwards += row->forwards;
        backwards += row->backwards;
        sum.flat += row->flat;
        sum.odd_gradients += row->odd_gradients;
        sum.not_finite += row->exact.predicted < 0;
    }
    sum.accuracy = (double)sum.right / (double)sum.count;
    sum.forwards = (double)forwards / (double)sum.count;
    sum.backwards = (double)backwards / (double)sum.count;
    sum.queries = sum.forwards + sum.backwards;
    sum.exact = outcome(a, &sum, false, values);
    sum.stored = outcome(a, &sum, true, values);
    free(values);
    *out = sum;
    return PX_OK;
}
