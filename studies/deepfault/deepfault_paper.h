/* studies/deepfault/deepfault_paper.h - the numbers of the DeepFault paper
 *
 * H. F. Eniser, S. Gerasimou and A. Sen, DeepFault: Fault Localization for Deep Neural Networks,
 * FASE 2019. Tables 2 to 7 and 10. NaN: the paper has none, or it cannot be read in the copy that
 * these were taken from, all digits of it. Tables 8 and 9, ticks for significant differences,
 * cannot be read at all. L1 and L2 of CIFAR-10 in Table 4 are swapped in print (L1 < L2 is
 * impossible) and are the right way round here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPFAULT_PAPER_H
#define PXI_STUDY_DEEPFAULT_PAPER_H

#include <stddef.h>

enum { DF_MNIST, DF_CIFAR, DF_DATASETS };
enum { DF_NETWORKS = 3, DF_SUBJECTS = DF_DATASETS * DF_NETWORKS, DF_KS = 5 };
enum { DF_TARANTULA, DF_OCHIAI, DF_DSTAR, DF_MEASURES, DF_RANDOM = DF_MEASURES, DF_CHOICES };
enum { DF_L1, DF_L2, DF_LINF, DF_DISTANCES };

typedef struct df_subject {
    const char *title;          /* as in Table 2 */
    const char *dataset, *arch; /* of the cells */
    const char *zoo;
    double accuracy; /* Table 2, in per cent */
    long parameters;
    double held_back; /* of the training set, as the published code does it */
} df_subject;

extern const df_subject df_subjects[DF_SUBJECTS]; /* MNIST_1..3, CIFAR_1..3 */
extern const int df_ks[DF_DATASETS][DF_KS];
extern const double df_table3_loss[DF_SUBJECTS][DF_KS][DF_CHOICES];
extern const double df_table3_accuracy[DF_SUBJECTS][DF_KS][DF_CHOICES];
extern const double df_table4_k[DF_DATASETS][DF_KS][DF_DISTANCES];
extern const double df_table4_measure[DF_DATASETS][DF_CHOICES][DF_DISTANCES];
extern const double df_table5[DF_DATASETS][DF_KS];                       /* per cent */
extern const double df_table6_7[DF_DATASETS][DF_MEASURES][DF_KS][DF_KS]; /* [k][k'] */
extern const double df_table10[DF_DATASETS][DF_MEASURES][DF_KS];         /* seconds; 0.5: "< 1" */

#endif
