/* tests/study/test_fuzz_paper.c - the paper's numbers as C has them
 *
 * `--print` writes all of them for fuzz_spec.py, which has the specification's. Without it: what
 * must hold in any case.
 */
#include "cmocka_all.h"

#include "study/fuzz_paper.h"

#include <math.h>
#include <string.h>

static const char *const datasets[FZ_DATASETS] = {"C10", "C100", "F102", "IN"};
static const char *const networks[FZ_NETWORKS] = {"ResNet", "VGG", "MobileNet"};
static const char *const columns[FZ_COLUMNS] = {"faults", "outputs", "RFT", "cov", "classes", "OI"};

static void print_all(void)
{
    for (int d = 0; d < FZ_DATASETS; d++)
        for (int n = 0; n < FZ_NETWORKS; n++)
            for (int r = 0; r < FZ_ROWS; r++)
                for (int c = 0; c < FZ_COLUMNS; c++)
                    printf("T%d|%s|%s|%s_%s|%.17g\n", c < FZ_CLASSES ? 3 : 4, networks[n],
                           fz_guides[r].title, datasets[d], columns[c], fz_tables[d][n][r][c]);
}

/* Shares are faults over outputs, but for the one that H.1 of the specification names. */
static void test_sense(void **state)
{
    (void)state;
    for (int d = 0; d < FZ_DATASETS; d++)
        for (int n = 0; n < FZ_NETWORKS; n++)
            for (int r = 0; r < FZ_ROWS; r++) {
                const double *row = fz_tables[d][n][r];
                const double share = row[FZ_FAULTS] / row[FZ_OUTPUTS];
                const bool known =
                    d == FZ_CIFAR10 && n == FZ_VGG && strcmp(fz_guides[r].id, "cac") == 0;
                if (!isnan(share) && (fabs(share - row[FZ_RFT]) < 1.1e-4) == known)
                    fail_msg("%s %s %s: %g of %g is not %g", datasets[d], networks[n],
                             fz_guides[r].title, row[FZ_FAULTS], row[FZ_OUTPUTS], row[FZ_RFT]);
                if (row[FZ_OI] > 1 || row[FZ_OUTPUTS] > 10000)
                    fail_msg("%s %s %s", datasets[d], networks[n], fz_guides[r].title);
            }
    for (int s = 0; s < FZ_SUBJECTS; s++)
        assert_true(fz_subjects[s].accuracy > 70 && fz_subjects[s].accuracy < 95);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
