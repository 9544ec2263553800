/* src/cli/run_expect.c - what came out against what another program says should */
#include "cli/run_expect.h"

#include "cli/cli_array.h"

#include <internal/field.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/data.h>
#include <stdio.h>
#include <string.h>

/* Numbers that are none on both sides agree, and so do infinities of the same sign. */
static double expect_difference(double got, double expected)
{
    if (got == expected || (isnan(got) && isnan(expected)))
        return 0.0;
    const double difference = fabs(got - expected);
    return isnan(difference) ? (double)INFINITY : difference;
}

static int64_t row_top(const double *row, int64_t count)
{
    int64_t top = 0;
    for (int64_t i = 1; i < count; i++)
        if (row[i] > row[top])
            top = i;
    return top;
}

static void expect_elements(run_expect *e, const double *got, const double *expected)
{
    for (int64_t i = 0; i < e->count; i++) {
        const double difference = expect_difference(got[i], expected[i]);
        e->beyond += difference > e->atol + e->rtol * fabs(expected[i]);
        if (i == 0 || difference > e->largest) {
            e->largest = difference;
            e->where = i;
            e->got = got[i];
            e->expected = expected[i];
        }
    }
}

/* Both as doubles, which hold every type of networks' outputs but large whole numbers exactly. */
static px_status expect_load(const run_expect *e, const px_tensor *got, px_tensor *mine,
                             px_tensor *theirs, px_error *err)
{
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    PX_TRY(px_npy_load(e->path, theirs, err));
    if (!px_shape_equal(&theirs->shape, &got->shape))
        return px_fail(err, PX_E_MISMATCH, "'%s' has shape %s, but the network's output has %s",
                       e->path, px_shape_text(&theirs->shape, a), px_shape_text(&got->shape, b));
    PX_TRY(cli_array_cast(theirs, PX_FLOAT64, e->path, err));
    PX_TRY(px_tensor_init(mine, got->dtype, &got->shape, err));
    memcpy(mine->data, got->data, px_tensor_bytes(got));
    return cli_array_cast(mine, PX_FLOAT64, e->path, err);
}

px_status run_expect_compare(run_expect *e, const px_tensor *got, px_error *err)
{
    px_tensor mine = {0}, theirs = {0};
    const px_status status = expect_load(e, got, &mine, &theirs, err);
    if (status == PX_OK) {
        e->count = px_shape_count(&got->shape);
        expect_elements(e, mine.data, theirs.data);
        if (got->shape.rank == 2 && got->shape.dim[1] > 1) {
            const int64_t width = got->shape.dim[1];
            e->rows = got->shape.dim[0];
            for (int64_t i = 0; i < e->rows; i++)
                e->same_top += row_top((const double *)mine.data + i * width, width) ==
                               row_top((const double *)theirs.data + i * width, width);
        }
    }
    px_tensor_done(&mine);
    px_tensor_done(&theirs);
    return status;
}

void run_expect_print(const run_expect *e)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s: largest difference %.3g (element %" PRId64 ": %.9g, expected %.9g)", e->path,
              e->largest, e->where, e->got, e->expected);
    if (e->rows)
        cli_print("; the same class on %s of %s rows", cli_number(e->same_top, a),
                  cli_number(e->rows, b));
    if (e->beyond)
        cli_print("; DIFFERS: %s of %s elements are beyond rtol %g, atol %g\n",
                  cli_number(e->beyond, a), cli_number(e->count, b), e->rtol, e->atol);
    else
        cli_print("; agrees within rtol %g, atol %g\n", e->rtol, e->atol);
}

static px_datum agrees_get(const void *of, char *text)
{
    (void)text;
    return px_datum_bool(((const run_expect *)of)->beyond == 0);
}

const px_field run_expect_fields[] = {
    PX_FIELD(run_expect, path, "file", "that has it"),
    PX_MADE(BOOL, agrees_get, "agrees", "within the tolerances"),
    PX_FIELD(run_expect, largest, "largest_difference", "of two elements"),
    PX_FIELD(run_expect, where, "element", "where that is, in row-major order"),
    PX_FIELD(run_expect, beyond, "beyond", "elements beyond the tolerances"),
    PX_FIELD(run_expect, count, "count", "elements"),
    PX_FIELD(run_expect, same_top, "same_class", "rows with the same largest element"),
    PX_FIELD(run_expect, rows, "rows", "0: it is no matrix"),
    PX_FIELD(run_expect, rtol, "rtol", "relative tolerance"),
    PX_FIELD(run_expect, atol, "atol", "absolute tolerance"),
    PX_FIELDS_END,
};
