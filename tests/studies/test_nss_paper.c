/* tests/studies/test_nss_paper.c - the paper's numbers as C has them
 *
 * `--print` writes all of them for nss_spec.py, which has the specification's. Without it: what
 * must hold in any case, so that a wrong order of rows shows without the specification.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "nss/nss_paper.h"

#include <math.h>
#include <string.h>

static void print(int table, size_t subject, const char *column, const char *row, double value)
{
    printf("%d|%s|%s|%s|%.17g\n", table, nss_subjects[subject].title, column, row, value);
}

static void print_all(void)
{
    static const char *const correlations[] = {"Pearson", "Spearman"};
    static const char *const times[] = {"Test Case Selection", "Sensitive Neuron Identifier",
                                        "Full Result"};
    char rate[16], share[16];
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        print(3, s, "-", "accuracy", nss_subjects[s].accuracy);
        print(3, s, "-", "parameters", (double)nss_subjects[s].parameters);
        for (size_t m = 0; m < NSS_METHODS; m++) {
            for (size_t r = 0; r < NSS_RATES; r++) {
                snprintf(rate, sizeof rate, "%d", nss_rates[r]);
                print(7, s, rate, nss_methods[m].title, nss_table7[s][r][m]);
                print(10, s, rate, nss_methods[m].title, nss_table10[s][r][m]);
            }
            print(8, s, "-", nss_methods[m].title, nss_table8[s][m]);
            print(9, s, "-", nss_methods[m].title, nss_table9[s][m]);
        }
        for (size_t i = 0; i < 2; i++)
            print(6, s, "-", correlations[i], nss_table6[s][i]);
        for (size_t i = 0; i < 3; i++)
            print(11, s, "-", times[i], nss_table11[s][i]);
        for (size_t i = 0; i < NSS_SHARES; i++) {
            snprintf(share, sizeof share, "k%g", nss_shares[i]);
            print(12, s, "-", share, nss_table12[s][i]);
        }
        for (size_t i = 0; i < NSS_LAYERS; i++)
            print(13, s, "-", nss_layer_titles[i], nss_table13[s][i]);
    }
    for (size_t r = 0; r < NSS_RATES; r++) {
        snprintf(rate, sizeof rate, "%d", nss_rates[r]);
        for (size_t n = 0; n < 2; n++)
            for (size_t i = 0; i <= NSS_MUTATIONS; i++) {
                const size_t s = n == 0 ? NSS_CIFAR_R20 : NSS_CIFAR_V16;
                const char *mutation = i < NSS_MUTATIONS ? nss_mutation_ids[i] : "all";
                print(14, s, rate, mutation, nss_table14[n][i][r]);
                print(15, s, rate, mutation, nss_table15[n][i][r]);
            }
        for (size_t s = 0; s <= NSS_MNIST_L5; s++) {
            print(1, s, rate, "Internal Gini", nss_table1[s][0][r]);
            print(1, s, rate, "Random", nss_table1[s][1][r]);
        }
    }
}

/* The random columns of Tables 1 and 7 are one, as are the rows `all` of Tables 14 and 15 and NSS
 * in Table 7, and k = 20% of Table 12 and the layer used in Table 13 (CSM B.1). */
static void test_tables_agree(void **state)
{
    (void)state;
    for (size_t r = 0; r < NSS_RATES; r++) {
        for (size_t s = 0; s <= NSS_MNIST_L5; s++)
            assert_true(nss_table1[s][1][r] == nss_table7[s][r][NSS_METHODS - 1]);
        for (size_t n = 0; n < 2; n++) {
            const size_t s = n == 0 ? NSS_CIFAR_R20 : NSS_CIFAR_V16;
            assert_true(nss_table14[n][NSS_MUTATIONS][r] == nss_table7[s][r][0]);
            assert_true(nss_table15[n][NSS_MUTATIONS][r] == nss_table7[s][r][0]);
        }
    }
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        const bool lenet = strncmp(nss_subjects[s].arch, "lenet", 5) == 0;
        if (fabs(nss_table12[s][3] - nss_table13[s][lenet ? 2 : 3]) > 0.1)
            fail_msg("%s: %g, %g", nss_subjects[s].title, nss_table12[s][3],
                     nss_table13[s][lenet ? 2 : 3]);
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(nss_methods[0].id, "nss");
    assert_string_equal(nss_methods[NSS_METHODS - 1].id, "random");
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        assert_non_null(nss_subjects[s].zoo);
        for (size_t i = 0; i < NSS_LAYERS; i++) {
            assert_non_null(nss_subjects[s].layers[i]);
            assert_non_null(nss_subjects[s].taps[i]);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_agree),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
