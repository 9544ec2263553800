/* studies/nss/nss_paper.h - the numbers of the NSS paper
 *
 * D. Huang, Q. Bu, Y. Fu, Y. Qing, B. Xiao and H. Cui, Neuron Sensitivity Guided Test Case
 * Selection. Tables 1, 3 and 6 to 15.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSS_PAPER_H
#define PXI_STUDY_NSS_PAPER_H

#include <stddef.h>

enum {
    NSS_MNIST_L1,
    NSS_MNIST_L5,
    NSS_FASHION_L1,
    NSS_FASHION_R20,
    NSS_SVHN_L5,
    NSS_SVHN_V16,
    NSS_CIFAR_V16,
    NSS_CIFAR_R20,
    NSS_SUBJECTS,
};
/* 5, 10, 15, 20% selected */
enum { NSS_RATES = 4, NSS_METHODS = 12, NSS_SHARES = 5, NSS_LAYERS = 5, NSS_MUTATIONS = 7 };

typedef struct nss_subject {
    const char *title; /* as in Table 7 */
    const char *dataset, *arch;
    const char *zoo;
    double accuracy;   /* Table 3, in per cent */
    long parameters;   /* Table 3, there called neurons */
    long candidates;   /* size of the test set */
    long epochs;       /* at most, until that accuracy */
    double seconds[2]; /* training; a forward pass of all candidates: for estimates */
    /* Layers 1, 2, -2, -1 and the last one of Table 13, and where they are tapped. */
    const char *layers[NSS_LAYERS], *taps[NSS_LAYERS];
} nss_subject;
extern const nss_subject nss_subjects[NSS_SUBJECTS];

typedef struct nss_method {
    const char *title; /* as in Table 7 */
    const char *id;    /* the selector */
} nss_method;
extern const nss_method nss_methods[NSS_METHODS];

extern const int nss_rates[NSS_RATES];
extern const double nss_shares[NSS_SHARES];               /* of sensitive neurons, per cent */
extern const char *const nss_layer_titles[NSS_LAYERS];    /* of Table 13 */
extern const char *const nss_mutation_ids[NSS_MUTATIONS]; /* of Tables 14 and 15 */

extern const double nss_table1[2][2][NSS_RATES];
extern const double nss_table6[NSS_SUBJECTS][2];
extern const double nss_table7[NSS_SUBJECTS][NSS_RATES][NSS_METHODS];
extern const double nss_table8[NSS_SUBJECTS][NSS_METHODS];
extern const double nss_table9[NSS_SUBJECTS][NSS_METHODS];
extern const double nss_table10[NSS_SUBJECTS][NSS_RATES][NSS_METHODS];
extern const double nss_table11[NSS_SUBJECTS][3];
extern const double nss_table12[NSS_SUBJECTS][NSS_SHARES];
extern const double nss_table13[NSS_SUBJECTS][NSS_LAYERS];
extern const double nss_table14[2][NSS_MUTATIONS + 1][NSS_RATES]; /* ResNet-20, VGG-16; last: all */
extern const double nss_table15[2][NSS_MUTATIONS + 1][NSS_RATES];

#endif
