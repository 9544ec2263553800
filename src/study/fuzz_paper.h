/* src/study/fuzz_paper.h - the numbers of the NSGen paper that the study of fuzzing repeats
 *
 * L. Huang, W. Sun, M. Yan, Z. Liu, Y. Lei and D. Lo, Neuron Semantic-Guided Test Generation for
 * Deep Neural Networks Fuzzing (NSGen). Tables 1, 3 and 4. NaN: the paper has none.
 */
#ifndef PXI_STUDY_FUZZ_PAPER_H
#define PXI_STUDY_FUZZ_PAPER_H

#include <stddef.h>

enum { FZ_CIFAR10, FZ_CIFAR100, FZ_FLOWERS, FZ_IMAGENET, FZ_DATASETS };
enum { FZ_RESNET, FZ_VGG, FZ_MOBILENET, FZ_NETWORKS, FZ_SUBJECTS = FZ_DATASETS * FZ_NETWORKS };
/* In the order of its tables; then what plexor adds. */
enum { FZ_NSGEN = 12, FZ_ROWS, FZ_RANDOM = FZ_ROWS, FZ_NC_CODE, FZ_GUIDES };
enum { FZ_FAULTS, FZ_OUTPUTS, FZ_RFT, FZ_COVERAGE, FZ_CLASSES, FZ_OI, FZ_COLUMNS };

typedef struct fz_subject {
    const char *dataset, *arch; /* of the cells */
    const char *model;          /* what --model calls it */
    const char *title;          /* as the paper calls it */
    double accuracy;            /* Table 1, in per cent */
} fz_subject;
extern const fz_subject fz_subjects[FZ_SUBJECTS]; /* data sets, then networks */

typedef struct fz_guide {
    const char *id, *title;
    const char *criterion, *setting; /* beyond the preset nsgen; NULL: none */
} fz_guide;
extern const fz_guide fz_guides[FZ_GUIDES];

/* Tables 3 (faults, outputs, RFT, coverage) and 4 (classes, OI). */
extern const double fz_tables[FZ_DATASETS][FZ_NETWORKS][FZ_ROWS][FZ_COLUMNS];

/* Distance of CC, by data set (section 5.3). */
extern const int fz_cc_distance[FZ_DATASETS];

#endif
