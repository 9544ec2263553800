/* tests/studies/test_deepsensor_paper.c - the DeepSensor paper's numbers as C has them
 *
 * `--print` writes all of them for deepsensor_spec.py, which has the specification's. Without it:
 * what must hold in any case.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "deepsensor/deepsensor_paper.h"

#include <math.h>
#include <string.h>

static const char *const subjects[DS_PAPER_SUBJECTS] = {"LeNet-1",   "LeNet-4",   "LeNet-5",
                                                        "ResNet-20", "VGG16",     "MobileNet",
                                                        "ResNet-50", "ResNet-34", "DeepSpeaker"};
static const char *const trainings[DS_TRAININGS] = {"under", "well", "over"};

static void print_faulty(void)
{
    for (int f = 0; f < DS_FAULTY; f++) {
        const ds_faulty *way = &ds_faulty_ways[f];
        const char *name = subjects[way->subject];
        for (int t = 0; t < DS_TRAININGS; t++)
            for (int m = 0; m < DS_PAPER_METHODS; m++)
                printf("T%d|%s %s|%s|%.17g\n", f == DS_FAULTY_SPEAKER ? 7 : 5, name, trainings[t],
                       ds_paper_methods[m], ds_table5[f][t][m]);
        if (f == DS_FAULTY_SPEAKER)
            continue; /* section 6.4, and no table */
        const struct {
            const char *name;
            double value;
        } numbers[] = {{"patch_min", way->patch_min},
                       {"patch_max", way->patch_max},
                       {"epochs", way->epochs},
                       {"batch", way->batch},
                       {"train", way->train},
                       {"acc_a10", way->accuracy[0]},
                       {"acc_a20", way->accuracy[1]},
                       {"acc_a30", way->accuracy[2]},
                       {"over_epochs", way->over_epochs},
                       {"over_batch", way->over_batch},
                       {"over_acc", way->over_accuracy},
                       {"under_epochs", way->under_epochs},
                       {"under_batch", way->under_batch},
                       {"under_acc", way->under_accuracy}};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            printf("T2|%s|%s|%.17g\n", name, numbers[i].name, numbers[i].value);
        for (int a = 0; a < 3; a++)
            for (int m = 0; m < DS_PAPER_METHODS; m++)
                printf("T4|%s %d|%s|%.17g\n", name, 10 * (a + 1), ds_paper_methods[m],
                       ds_table4[f][a][m]);
        printf("time|%s|DeepSensor|%.17g\n", name, ds_seconds[f][0]);
        printf("time|%s|baseline_mean|%.17g\n", name, ds_seconds[f][1]);
    }
}

static void print_all(void)
{
    for (int s = 0; s < DS_PAPER_SUBJECTS; s++) {
        const int table = s < DS_PICTURES ? 3 : 6;
        printf("T1|%s|parameters|%.17g\n", subjects[s], ds_subjects[s].parameters);
        printf("T1|%s|layers|%.17g\n", subjects[s], ds_subjects[s].layers);
        printf("T1|%s|neurons|%.17g\n", subjects[s], ds_subjects[s].neurons);
        printf("T1|%s|accuracy|%.17g\n", subjects[s], ds_subjects[s].accuracy);
        for (int m = 0; m < DS_PAPER_METHODS; m++) {
            const char *method = ds_paper_methods[m];
            printf("T%d|%s %s|test_errors|%.17g\n", table, subjects[s], method,
                   ds_table3[s][m][DS_ERRORS]);
            printf("T%d|%s %s|error_categories|%.17g\n", table, subjects[s], method,
                   ds_table3[s][m][DS_CATEGORIES]);
            printf("T%d|%s %s|average_categories|%.17g\n", table, subjects[s], method,
                   ds_table3[s][m][DS_CATEGORIES] / 1000.0);
        }
    }
    print_faulty();
}

/* Counts fit the protocol, and DeepSensor is first everywhere. */
static void test_sense(void **state)
{
    (void)state;
    for (int s = 0; s < DS_PAPER_SUBJECTS; s++)
        for (int m = 0; m < DS_PAPER_METHODS; m++)
            for (int c = 0; c < DS_COUNTS; c++)
                if (ds_table3[s][m][c] > DS_SEEDS * DS_ITERATIONS ||
                    ds_table3[s][m][c] > ds_table3[s][DS_SENSOR][c])
                    fail_msg("%s %s", subjects[s], ds_paper_methods[m]);
    for (int f = 0; f < DS_FAULTY; f++)
        for (int t = 0; t < DS_TRAININGS; t++)
            for (int m = 0; m < DS_PAPER_METHODS; m++)
                if (ds_table5[f][t][m] > DS_SEEDS ||
                    ds_table5[f][t][m] > ds_table5[f][t][DS_SENSOR])
                    fail_msg("%s %s", trainings[t], ds_paper_methods[m]);
    for (int i = 0; i < DS_STATES; i++)
        assert_true((ds_states[i].pollute > 0.0) == (i >= DS_POLLUTED10 && i <= DS_POLLUTED30));
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
