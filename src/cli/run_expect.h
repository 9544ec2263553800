/* src/cli/run_expect.h - what came out against what another program says should */
#ifndef PLEXOR_CLI_RUN_EXPECT_H
#define PLEXOR_CLI_RUN_EXPECT_H

#include <plexor/field.h>
#include <plexor/tensor.h>

typedef struct run_expect {
    const char *path; /* a .npy file; NULL: nothing is expected */
    double rtol, atol;
    /* what was found */
    double largest;         /* difference; infinity where one side is no number */
    int64_t where;          /* of the largest, in row-major order */
    double got, expected;   /* there */
    int64_t beyond, count;  /* elements beyond the tolerances, of all */
    int64_t same_top, rows; /* rows whose largest element is at the same place; 0: no rows */
} run_expect;

/* PX_E_MISMATCH: the shapes differ. How far values differ is in *expect. */
px_status run_expect_compare(run_expect *expect, const px_tensor *got, px_error *err);
void run_expect_print(const run_expect *expect);
extern const px_field run_expect_fields[];

#endif
