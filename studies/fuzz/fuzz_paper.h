/* studies/fuzz/fuzz_paper.h - the numbers of the NSGen paper that the study of fuzzing repeats
 *
 * L. Huang, W. Sun, M. Yan, Z. Liu, Y. Lei and D. Lo, Neuron Semantic-Guided Test Generation for
 * Deep Neural Networks Fuzzing (NSGen). Tables 1, 3 and 4. NaN: the paper has none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_FUZZ_PAPER_H
#define PXI_STUDY_FUZZ_PAPER_H

#include <plexor/decision_path.h>
#include <stddef.h>

enum { FZ_CIFAR10, FZ_CIFAR100, FZ_FLOWERS, FZ_IMAGENET, FZ_DATASETS };
enum { FZ_RESNET, FZ_VGG, FZ_MOBILENET, FZ_NETWORKS, FZ_SUBJECTS = FZ_DATASETS * FZ_NETWORKS };
/* In the order of its tables; then what plexor adds; then, for the study of NSGen alone, its
 * controls and ablations, numbers of layers and of classes, and text encoders. */
enum {
    FZ_NSGEN = 12,
    FZ_ROWS,
    FZ_RANDOM = FZ_ROWS,
    FZ_NC_CODE,
    FZ_GUIDES,
    FZ_LABEL_ONLY = FZ_GUIDES,
    FZ_DESCR_ONLY,
    FZ_NO_CNS,
    FZ_NO_NLDG,
    FZ_LAYERS_FIRST, /* layers of one, two ... */
    FZ_LAYERS_LAST = FZ_LAYERS_FIRST + 3,
    FZ_TOP_FIRST, /* two, three, four classes */
    FZ_TOP_LAST = FZ_TOP_FIRST + 2,
    FZ_ENCODER_FIRST,
    FZ_ENCODER_LAST = FZ_ENCODER_FIRST + 6,
    FZ_ALL_GUIDES
};
enum { FZ_FAULTS, FZ_OUTPUTS, FZ_RFT, FZ_COVERAGE, FZ_CLASSES, FZ_OI, FZ_COLUMNS };

typedef struct fz_subject {
    const char *dataset, *arch; /* of the cells */
    const char *model;          /* what --model calls it */
    const char *title;          /* as the paper calls it */
    double accuracy;            /* Table 1, in per cent */
} fz_subject;
extern const fz_subject fz_subjects[FZ_SUBJECTS]; /* data sets, then networks */

typedef struct fz_paths { /* how NSGen compares decision paths */
    px_path_mode mode;
    int layers;          /* the first so many of those there are; 0: all */
    int classes;         /* that are named; 0: one */
    const char *encoder; /* as px_text_encoder_options.spec has it; NULL: the default, or a file */
    const char *pool;
    const char *file; /* --model NAME=SPEC: the encoder is the user's; NULL: it is not */
} fz_paths;

typedef struct fz_guide {
    const char *id, *title;
    const char *criterion, *setting; /* beyond the preset nsgen; NULL: none */
    const fz_paths *paths;           /* it reads decision paths instead; NULL: it does not */
} fz_guide;
extern const fz_guide fz_guides[FZ_ALL_GUIDES];

/* Tables 3 (faults, outputs, RFT, coverage) and 4 (classes, OI). */
extern const double fz_tables[FZ_DATASETS][FZ_NETWORKS][FZ_ROWS][FZ_COLUMNS];

/* Distance of CC, by data set (section 5.3). */
extern const int fz_cc_distance[FZ_DATASETS];

#endif
