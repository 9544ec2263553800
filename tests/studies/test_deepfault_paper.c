/* tests/studies/test_deepfault_paper.c - the paper's numbers as C has them
 *
 * `--print` writes all of them for deepfault_spec.py, which has the specification's. Without it:
 * what must hold in any case.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "deepfault/deepfault_paper.h"

#include <math.h>
#include <string.h>

static const char *const datasets[DF_DATASETS] = {"MNIST", "CIFAR"};
static const char *const choices[DF_CHOICES] = {"T", "O", "D", "R"};
static const char *const distances[DF_DISTANCES] = {"L1", "L2", "Linf"};

static void print_all(void)
{
    for (int s = 0; s < DF_SUBJECTS; s++) {
        printf("T2|%s|accuracy|%.17g\n", df_subjects[s].title, df_subjects[s].accuracy);
        printf("T2|%s|parameters|%ld\n", df_subjects[s].title, df_subjects[s].parameters);
        for (int k = 0; k < DF_KS; k++)
            for (int c = 0; c < DF_CHOICES; c++) {
                const int size = df_ks[s / DF_NETWORKS][k];
                printf("T3|%s|loss %s %d|%.17g\n", df_subjects[s].title, choices[c], size,
                       df_table3_loss[s][k][c]);
                printf("T3|%s|acc %s %d|%.17g\n", df_subjects[s].title, choices[c], size,
                       df_table3_accuracy[s][k][c]);
            }
    }
    for (int d = 0; d < DF_DATASETS; d++)
        for (int k = 0; k < DF_KS; k++) {
            const int size = df_ks[d][k];
            printf("T5|%s|%d|%.17g\n", datasets[d], size, df_table5[d][k]);
            for (int j = 0; j < DF_DISTANCES; j++) {
                printf("T4.k|%s|%s %d|%.17g\n", datasets[d], distances[j], size,
                       df_table4_k[d][k][j]);
                for (int c = 0; k == 0 && c < DF_CHOICES; c++)
                    printf("T4.measure|%s|%s %s|%.17g\n", datasets[d], distances[j], choices[c],
                           df_table4_measure[d][c][j]);
            }
            for (int c = 0; c < DF_MEASURES; c++) {
                printf("T10|%s|%s %d|%.17g\n", datasets[d], choices[c], size, df_table10[d][c][k]);
                for (int j = 0; j < DF_KS; j++)
                    printf("T6|%s|%s %d %d|%.17g\n", datasets[d], choices[c], size, df_ks[d][j],
                           df_table6_7[d][c][k][j]);
            }
        }
}

/* Only k' >= k is there, and shares and distances are what they can be. */
static void test_sense(void **state)
{
    (void)state;
    for (int d = 0; d < DF_DATASETS; d++) {
        for (int c = 0; c < DF_MEASURES; c++)
            for (int k = 0; k < DF_KS; k++)
                for (int j = 0; j < DF_KS; j++) {
                    const double share = df_table6_7[d][c][k][j];
                    if (j < k ? !isnan(share) : !(share > 0 && share <= 1))
                        fail_msg("%s %s: %d, %d", datasets[d], choices[c], k, j);
                }
        for (int k = 0; k < DF_KS; k++)
            assert_true(df_table4_k[d][k][DF_L1] > df_table4_k[d][k][DF_L2] &&
                        df_table4_k[d][k][DF_L2] > df_table4_k[d][k][DF_LINF]);
    }
    for (int s = 0; s < DF_SUBJECTS; s++)
        for (int k = 0; k < DF_KS; k++)
            for (int c = 0; c < DF_CHOICES; c++)
                if (df_table3_accuracy[s][k][c] > 1 || df_table3_loss[s][k][c] > 16.12)
                    fail_msg("%s, %d, %s", df_subjects[s].title, k, choices[c]);
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
