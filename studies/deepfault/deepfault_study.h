/* studies/deepfault/deepfault_study.h - the study of DeepFault, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_DEEPFAULT_STUDY_H
#define PXI_STUDY_DEEPFAULT_STUDY_H

#include "deepfault/deepfault_paper.h"
#include "frame/study_internal.h"

enum { DF_CLASSES = 10, DF_PER_CLASS = 10, DF_STEPS = 3, DF_PAIRS = 6, DF_LAYERS = 16 };

typedef struct df_choice {
    const char *id, *title;
} df_choice;
extern const df_choice df_choices[DF_CHOICES];

typedef struct df_pair { /* what is tested against what: the paper's RQ1 and RQ2 */
    int a, b;
    const char *id, *title;
} df_pair;
extern const df_pair df_pairs[DF_PAIRS];

/* The steps that a subject is run with: one for MNIST, the sweep for CIFAR-10. */
size_t df_steps(size_t subject, double steps[DF_STEPS]);
static inline int df_dataset(size_t subject)
{
    return subject < DF_NETWORKS ? DF_MNIST : DF_CIFAR;
}

study_network df_network(size_t subject);
int64_t df_per_class(const px_study *study); /* inputs */

/* "mnist 5x30 made ochiai k=10 step=1": what the cells of runs begin with. */
void df_prefix(size_t subject, int choice, int k, double step, char key[CELL_KEY]);
/* "mnist 5x30 tests k=10 step=1": tests over the inputs of all runs. */
void df_tests_prefix(size_t subject, int k, double step, char key[CELL_KEY]);
/* "mnist 5x30 layers ochiai": where the neurons of the largest k are. */
void df_layers_prefix(size_t subject, int choice, char key[CELL_KEY]);
/* Appends " run=R n=N". */
void df_key_end(char key[CELL_KEY], int64_t run, int64_t n);

px_status df_run_subject(px_study *study, const study_job *job, px_error *err);
void df_report(const px_study *study, study_document *doc);
void df_claims(const px_study *study, study_document *doc);

/* Mean over runs of the mean over these subjects, choices and ks (bits) of a value. */
study_figure df_average(const px_study *study, int dataset, unsigned choices, unsigned ks,
                        double step, const char *name, double scale, double paper);
study_figure df_one(const px_study *study, size_t subject, int choice, int k, double step,
                    const char *name, double scale, double paper);
bool df_was_run(const px_study *study, size_t subject);

#endif
