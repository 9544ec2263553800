/* bench/train_job.h - bare training steps on batches in memory, for bench/train and the comparison
 * with PyTorch (tests/train): no data set, no augmentation, no schedule */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_BENCH_TRAIN_JOB_H
#define PLEXOR_BENCH_TRAIN_JOB_H

#include <internal/optimizer.h>
#include <plexor/engine.h>
#include <plexor/weights.h>

typedef struct train_job { /* {0} can be closed */
    px_weights *weights;
    px_plan *plan;
    px_team *team;
    px_optimizer *optimizer;
    px_scores scores;
    px_loss loss;
    size_t input_count;      /* numbers of one sample */
    float **tensors;         /* what the optimiser moves, */
    const float **gradients; /* and by what */
    double *losses;          /* of the last step's samples */
    int64_t batch, steps;
    const float *inputs; /* of the running step */
    const int64_t *labels;
} train_job;

/* Steps of `batch` samples; `micro` 0: the plan's own choice. `model` must outlive the job. */
px_status train_job_open(train_job *job, const px_model *model, const char *optimizer,
                         int64_t batch, int64_t micro, int threads, px_error *err);
void train_job_close(train_job *job);

/* Forward, loss (mean over the batch), backward, one move of the optimiser, running statistics. */
px_status train_job_step(train_job *job, const float *inputs, const int64_t *labels, double lr,
                         px_error *err);

#endif
