/* src/doctor/doctor_values.c - what the inputs hold: damage, values that are not finite, their
 * range */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "doctor/doctor_internal.h"

#include <internal/data.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { RANGE_SAMPLE = 200 };

static px_status values_not_finite(px_doctor *d, px_error *err)
{
    char name[200];
    int64_t first = 0;
    if (!d->eval.all.not_finite)
        return PX_OK;
    while (!d->said->not_finite[first])
        first++;
    px_dataset_name(d->o.set, pxi_doctor_index(d, first), name, sizeof name);
    PX_TRY(pxi_doctor_add(
        d, "not-finite", PX_FINDING_ERROR, d->eval.all.not_finite,
        "leave them out or mend them: a network's answer to them means nothing", err,
        "%" PRId64 " of %" PRId64 " inputs %s values that are not finite, '%s'%s",
        d->eval.all.not_finite, d->said->count, d->eval.all.not_finite == 1 ? "has" : "have", name,
        d->eval.all.not_finite == 1 ? "" : " is the first"));
    for (int64_t i = 0, named = 0; i < d->said->count && named < PXI_DOCTOR_NAMES; i++)
        if (d->said->not_finite[i]) {
            px_dataset_name(d->o.set, pxi_doctor_index(d, i), name, sizeof name);
            PX_TRY(pxi_doctor_name(d, name, err));
            named++;
        }
    return PX_OK;
}

/* All of them by name: whoever mends files does it once. */
static px_status values_damaged(px_doctor *d, px_error *err)
{
    size_t count = 0;
    const px_damage *damaged = px_dataset_skipped(d->o.set, &count);
    if (count == 0 || d->o.quick) /* an evaluation has said it when it opened them */
        return PX_OK;
    PX_TRY(pxi_doctor_add(d, "damaged", PX_FINDING_ERROR, (int64_t)count,
                          "mend them, or leave them out with --skip-damaged", err,
                          "%zu of %" PRId64 " inputs cannot be read; the first: %.300s", count,
                          (int64_t)count + px_dataset_count(d->o.set), damaged[0].reason));
    for (size_t i = 0; i < count; i++)
        PX_TRY(pxi_doctor_name(d, damaged[i].name, err));
    return PX_OK;
}

/* Of floats; bytes are between 0 and 255. */
static px_status values_range(px_doctor *d, px_error *err)
{
    const px_shape shape = px_dataset_shape(d->o.set);
    const size_t floats = (size_t)px_shape_count(&shape);
    int64_t n = 0;
    int64_t *indices = pxi_doctor_spread(px_dataset_count(d->o.set), RANGE_SAMPLE, &n);
    float *pixels = pxi_calloc(floats, sizeof *pixels);
    px_status status = indices && pixels ? PX_OK : pxi_no_memory(err);
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int64_t i = 0; status == PX_OK && i < n; i++) {
        status = px_dataset_pixels(d->o.set, indices[i], pixels, err);
        for (size_t k = 0; status == PX_OK && k < floats; k++)
            if (isfinite(pixels[k])) {
                low = fmin(low, (double)pixels[k]);
                high = fmax(high, (double)pixels[k]);
            }
    }
    if (low <= high) {
        d->low = low;
        d->high = high;
    }
    free(indices);
    free(pixels);
    return status;
}

px_status pxi_doctor_values(px_doctor *d, px_error *err)
{
    PX_TRY(values_damaged(d, err));
    PX_TRY(values_not_finite(d, err));
    d->low = 0.0;
    d->high = px_dataset_is_8bit(d->o.set) ? 255.0 : 1.0;
    if (px_dataset_is_8bit(d->o.set) || !pxi_doctor_pictures(d))
        return PX_OK;
    return values_range(d, err);
}
