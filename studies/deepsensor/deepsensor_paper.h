/* studies/deepsensor/deepsensor_paper.h - the numbers of the DeepSensor paper
 *
 * H. Jin, R. Chen, H. Zheng, J. Chen, Y. Cheng, Y. Yu and X. Liu, Excitement Surfeited
 * Turns to Errors: Deep Learning Testing Framework Based on Excitable Neurons. Tables 1 to 7 and
 * the times of section 7; its figures have no numbers. NaN: the paper has none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPSENSOR_PAPER_H
#define PXI_STUDY_DEEPSENSOR_PAPER_H

#include <stddef.h>

/* The paper's protocol: seeds, iterations, pairs of Figure 1, examples that are retrained with,
 * inputs that are attacked then, examples of Figure 7 and how many of their neurons. */
enum {
    DS_SEEDS = 1000,
    DS_CLIPS = 300, /* of FSDD's test part, in place of so many seeds */
    DS_ITERATIONS = 20,
    DS_PAIRS = 500,
    DS_RETRAIN = 500,
    DS_ATTACKED = 1000,
    DS_OVERLAP = 100,
    DS_TOP = 10
};

enum { DS_LENET1, DS_LENET4, DS_LENET5, DS_RESNET20, DS_VGG16, DS_MOBILENET, DS_RESNET50 };
enum { DS_PICTURES = DS_RESNET50 + 1, DS_RESNET34 = DS_PICTURES, DS_SPEAKER, DS_PAPER_SUBJECTS };
/* plexor's own: speakers of spoken digits in place of VCTK. */
enum { DS_FSDD_RESNET34 = DS_PAPER_SUBJECTS, DS_FSDD_SPEAKER, DS_FSDD_SMALL, DS_SUBJECTS };

typedef struct ds_subject {
    const char *dataset, *arch; /* of the cells */
    const char *model;          /* what --model calls it */
    const char *zoo;            /* architecture that is trained; NULL: has to be given */
    const char *title;
    double parameters, layers, neurons, accuracy; /* Table 1; accuracy in per cent */
} ds_subject;
extern const ds_subject ds_subjects[DS_SUBJECTS];

/* In the order of its tables. */
enum { DS_XPLORE, DS_DLFUZZ, DS_HUNTER, DS_SENSOR, DS_PAPER_METHODS };
extern const char *const ds_paper_methods[DS_PAPER_METHODS];

/* Tables 3 and 6: test errors, and error categories of all seeds (average categories are that by a
 * thousand, in every row). Rows are subjects. */
enum { DS_ERRORS, DS_CATEGORIES, DS_COUNTS };
extern const double ds_table3[DS_PAPER_SUBJECTS][DS_PAPER_METHODS][DS_COUNTS];

/* How a network is trained. */
enum { DS_CLEAN, DS_POLLUTED10, DS_POLLUTED20, DS_POLLUTED30, DS_UNDER, DS_OVER, DS_STATES };
typedef struct ds_state {
    const char *id, *title;
    double pollute;
} ds_state;
extern const ds_state ds_states[DS_STATES];

/* Table 2, and section 6.4 for the last. */
enum { DS_FAULTY_LENET5, DS_FAULTY_VGG16, DS_FAULTY_RESNET50, DS_FAULTY_SPEAKER, DS_FAULTY };
typedef struct ds_faulty {
    size_t subject;
    double patch_min, patch_max; /* NaN: it is not polluted */
    int polluted_class;          /* -1: not known by number */
    const char *polluted_name;
    double epochs, batch, train;
    double accuracy[3]; /* at 10, 20 and 30% */
    double over_epochs, over_batch, over_accuracy;
    double under_epochs, under_batch, under_accuracy;
} ds_faulty;
extern const ds_faulty ds_faulty_ways[DS_FAULTY];

/* Table 4: of 1,000 examples, errors due to polluted data at 10, 20 and 30%; the first three. */
extern const double ds_table4[DS_FAULTY_SPEAKER][3][DS_PAPER_METHODS];
/* Tables 5 and 7: of 1,000 examples, errors of networks that are under-trained, well trained and
 * over-trained. */
enum { DS_ROW_UNDER, DS_ROW_WELL, DS_ROW_OVER, DS_TRAININGS };
extern const double ds_table5[DS_FAULTY][DS_TRAININGS][DS_PAPER_METHODS];

/* Section 7: seconds for 100 examples, of DeepSensor and of its rivals on average; the first three
 * of ds_faulty_ways. */
extern const double ds_seconds[DS_FAULTY_SPEAKER][2];

#endif
