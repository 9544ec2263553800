/* tests/train/train_step.c - a few training steps of a zoo network, for golden/compare_step.py
 *
 *     train_step ARCH BATCH.npz OPTIMIZER LR STEPS MICRO THREADS BEFORE.onnx AFTER.onnx
 *
 * BATCH.npz has x (float32) and y (int64), the batch of every step. Prints the loss before each.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train_job.h"

#include <internal/arch.h>
#include <internal/weights.h>
#include <plexor/data.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ARG_ARCH = 1,
    ARG_BATCH,
    ARG_OPTIMIZER,
    ARG_LR,
    ARG_STEPS,
    ARG_MICRO,
    ARG_THREADS,
    ARG_BEFORE,
    ARG_AFTER,
    ARG_COUNT
};

static px_status check_batch(const px_tensor *x, const px_tensor *y, px_error *err)
{
    if (x && y && x->dtype == PX_FLOAT32 && y->dtype == PX_INT64 && x->shape.rank == 4 &&
        y->shape.rank == 1 && x->shape.dim[0] == y->shape.dim[0])
        return PX_OK;
    return px_fail(err, PX_E_INPUT, "x is not float32 [N,C,H,W] or y is not int64 [N]");
}

static px_status run_steps(char **args, const px_tensor *x, const px_tensor *y,
                           const px_model *model, train_job *job, px_error *err)
{
    PX_TRY(train_job_open(job, model, args[ARG_OPTIMIZER], x->shape.dim[0], atoll(args[ARG_MICRO]),
                          atoi(args[ARG_THREADS]), err));
    const double lr = strtod(args[ARG_LR], NULL);
    for (int step = 0; step < atoi(args[ARG_STEPS]); step++) {
        PX_TRY(train_job_step(job, x->data, y->data, lr, err));
        double loss = 0.0;
        for (int64_t i = 0; i < job->batch; i++)
            loss += job->losses[i] / (double)job->batch;
        printf("%.9g\n", loss);
    }
    return PX_OK;
}

static px_status run(char **args, px_error *err)
{
    px_npz *batch = NULL;
    px_model *model = NULL, *trained = NULL;
    train_job job = {0};
    PX_TRY(px_npz_open(args[ARG_BATCH], &batch, err));
    const px_tensor *x = px_npz_get(batch, "x"), *y = px_npz_get(batch, "y");
    px_status status = check_batch(x, y, err);
    if (status == PX_OK) {
        px_arch_options options = px_arch_options_default();
        options.channels = x->shape.dim[1];
        options.height = x->shape.dim[2];
        options.width = x->shape.dim[3];
        options.seed = 3;
        status = px_arch_build(args[ARG_ARCH], &options, &model, err);
    }
    if (status == PX_OK)
        status = px_model_save(model, args[ARG_BEFORE], err);
    if (status == PX_OK)
        status = run_steps(args, x, y, model, &job, err);
    if (status == PX_OK)
        status = px_weights_freeze(job.weights, NULL, 0, &trained, err);
    if (status == PX_OK)
        status = px_model_save(trained, args[ARG_AFTER], err);
    px_model_free(trained);
    train_job_close(&job);
    px_model_free(model);
    px_npz_close(batch);
    return status;
}

int main(int argc, char **argv)
{
    px_error err = {0};
    if (argc != ARG_COUNT) {
        fprintf(stderr, "usage: train_step ARCH BATCH.npz OPTIMIZER LR STEPS MICRO THREADS "
                        "BEFORE.onnx AFTER.onnx\n");
        return 2;
    }
    if (run(argv, &err) == PX_OK)
        return 0;
    fprintf(stderr, "train_step: %s\n", err.message);
    return 3;
}
