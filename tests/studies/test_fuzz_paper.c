/* tests/studies/test_fuzz_paper.c - the paper's numbers as C has them
 *
 * `--print` writes all of them for fuzz_spec.py, which has the specification's. Without it: what
 * must hold in any case.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "nsgen/nsgen_paper.h"

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
    static const char *const rows[NG_COLUMNS] = {"faults", "outputs", "classes", "OI"};
    static const char *const encoders[NG_ENCODERS] = {"BERT",     "Roberta-L", "GPT2",
                                                      "FastText", "GloVe",     "CLIP"};
    static const char *const sets[FZ_DATASETS] = {"CR10", "CR100", "FR102", "IN-1K"};
    for (int d = 0; d < FZ_DATASETS; d++)
        for (int n = 0; n < FZ_NETWORKS; n++)
            for (int c = 0; c < NG_COLUMNS; c++) {
                for (int r = 0; r < FZ_ROWS; r++)
                    printf("T12|%s|%s|%s_%s|%.17g\n", networks[n], fz_guides[r].title, datasets[d],
                           rows[c], ng_outputs[d][n][r][c]);
                for (int e = 0; e < NG_ENCODERS; e++)
                    printf("T5|%s|%s|%s_%s|%.17g\n", encoders[e], sets[d], networks[n], rows[c],
                           ng_encoders[d][n][e][c]);
            }
}

/* What a cell is shown beside. */
static void test_values(void **state)
{
    static const struct {
        size_t subject, guide;
        fz_measure measure;
        const char *name;
        double value;
    } cases[] = {
        {FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, "faults", 8075},
        {FZ_RESNET, FZ_NSGEN, FZ_BY_SECONDS, "coverage", 10},
        {FZ_RESNET, FZ_NSGEN, FZ_BY_OUTPUTS, "faults", 800},
        {FZ_RESNET, FZ_NSGEN, FZ_BY_OUTPUTS, "rft", 0.8},
        {FZ_VGG, FZ_NO_NLDG, FZ_BY_PICKS, "outputs", 9999},
        {FZ_RESNET, FZ_NO_NLDG, FZ_BY_PICKS, "outputs", NAN},
        {FZ_MOBILENET, FZ_TOP_FIRST + 1, FZ_BY_PICKS, "faults", 4189},
        {FZ_MOBILENET, FZ_ENCODER_LAST, FZ_BY_PICKS, "faults", 8671},
        {FZ_MOBILENET, FZ_ENCODER_FIRST, FZ_BY_PICKS, "faults", NAN},
        {FZ_RESNET, FZ_LABEL_ONLY, FZ_BY_PICKS, "faults", NAN},
        {FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, "roots", NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double value =
            ng_paper_value(cases[i].subject, cases[i].guide, cases[i].measure, cases[i].name);
        if (!(value == cases[i].value || (isnan(value) && isnan(cases[i].value))))
            fail_msg("case %zu: %g, expected %g", i, value, cases[i].value);
    }
    for (size_t g = 0; g < FZ_ALL_GUIDES; g++)
        if (!fz_guides[g].id || fz_guide_find(fz_guides[g].id) != g)
            fail_msg("guide %zu", g);
}

/* Shares are faults over outputs, but for the one that LGR H.1 names. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sense), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
