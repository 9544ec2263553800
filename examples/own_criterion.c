/* examples/own_criterion.c - the program plexor with a coverage criterion of one's own
 *
 *     cc $(pkg-config --cflags plexor) own_criterion.c $(pkg-config --libs plexor) -o own_criterion
 *     ./own_criterion cover net.onnx --data digits --criteria nc,peak
 *
 * The largest value of any neuron so far. Each worker has a state; they are merged at the end.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/extend.h>
#include <plexor/plexor.h>
#include <stdio.h>
#include <stdlib.h>

static px_status peak_open(const void *prepared, void **state, px_error *err)
{
    (void)prepared;
    *state = calloc(1, sizeof(double));
    return *state ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

static double peak_gain(const void *state, const px_rows *rows, int64_t i)
{
    double more = 0.0;
    for (int64_t n = i * rows->width; !rows->rejected[i] && n < (i + 1) * rows->width; n++)
        if ((double)rows->values[n] - *(const double *)state > more)
            more = (double)rows->values[n] - *(const double *)state;
    return more;
}

static px_status peak_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err; /* cannot fail */
    for (int64_t i = 0; i < rows->count; i++)
        *(double *)state += peak_gain(state, rows, i);
    return PX_OK;
}

static px_status peak_merge(void *state, const void *other, px_error *err)
{
    (void)err;
    if (*(double *)state < *(const double *)other)
        *(double *)state = *(const double *)other;
    return PX_OK;
}

static px_coverage peak_value(const void *state)
{
    const px_coverage value = {*(const double *)state, 0, 0};
    return value;
}

int main(int argc, char **argv)
{
    static px_criterion peak; /* what is not set stays as plexor has it */
    peak.entry.id = "peak", peak.entry.title = "largest value of a neuron", peak.unit = "values";
    peak.open = peak_open, peak.close = free, peak.observe = peak_observe, peak.gain = peak_gain;
    peak.merge = peak_merge, peak.value = peak_value;
    if (px_criterion_add(&peak, NULL) != PX_OK)
        return 3;
    return px_main(argc, argv);
}
