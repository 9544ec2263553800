/* bench/peer_train.c - plexor as a peer of bench/train
 *
 *     peer_train                    serves KIND train; LAYOUT `own`, or the micro-batch: micro-8
 *     peer_train ARCH FILE.onnx     writes a network of the zoo, for all peers to train
 *
 * A step is what the optimiser sees: one batch forward and back, spread over the threads, the
 * weights moved and packed again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "train_job.h"

#include <internal/arch.h>
#include <internal/engine.h>
#include <internal/system.h>
#include <omp.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct train_net {
    px_model *model;
    train_job job;
    float *inputs;
    int64_t *labels;
    double lr;
} train_net;

static bool train_fail(const char *message, char text[PEER_TEXT])
{
    text[0] = '\0';
    peer_append(text, "%s", message);
    return false;
}

static bool train_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    (void)worker;
    train_net *const n = net->state;
    px_error err = {0};
    return train_job_step(&n->job, n->inputs, n->labels, n->lr, &err) == PX_OK ||
           train_fail(err.message, text);
}

/* Inputs and labels of the one batch that is trained on. */
static bool train_fill(train_net *n, int64_t batch)
{
    const size_t count = (size_t)batch * n->job.input_count;
    n->inputs = malloc(count * sizeof *n->inputs);
    n->labels = malloc((size_t)batch * sizeof *n->labels);
    if (!n->inputs || !n->labels)
        return false;
    peer_fill(n->inputs, count);
    for (int64_t i = 0; i < batch; i++)
        n->labels[i] = peer_label(i, n->job.scores.classes);
    return true;
}

static bool train_check(const peer_net *net, char text[PEER_TEXT])
{
    train_net *const n = net->state;
    float losses[PEER_TRAIN_CHECKED];
    n->lr = PEER_TRAIN_RATE;
    for (int step = 0; step < PEER_TRAIN_CHECKED; step++) {
        if (!train_step(net, 0, text))
            return false;
        double sum = 0.0;
        for (int64_t i = 0; i < net->batch; i++)
            sum += n->job.losses[i];
        losses[step] = (float)(sum / (double)net->batch);
    }
    n->lr = PEER_TRAIN_REST;
    peer_append(text, " version=%s flops=%lld micro=%lld", px_version(),
                (long long)(px_plan_flops(n->job.plan) / px_plan_batch(n->job.plan)),
                (long long)px_plan_batch(n->job.plan));
    peer_append_kernels(text, n->job.plan);
    peer_append_values(text, "check", losses, PEER_TRAIN_CHECKED);
    return true;
}

static bool train_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    static const char optimizer[] = "sgd:momentum=" PEER_TRAIN_MOMENTUM;
    train_net *const n = calloc(1, sizeof *n);
    net->state = n;
    net->workers = 1; /* the team has the threads */
    net->batch = request->batch;
    if (!n)
        return train_fail("out of memory", text);
    if (strcmp(request->kind, "train") != 0 || request->batch < 1)
        return train_fail("only 'train' with a batch", text);
    int micro = 0;
    if (strcmp(request->layout, "own") != 0 &&
        (sscanf(request->layout, "micro-%d", &micro) != 1 || micro < 1))
        return train_fail("the layout is 'own' or 'micro-N'", text);
    px_error err = {0};
    if (px_model_load(request->model, &n->model, &err) != PX_OK ||
        train_job_open(&n->job, n->model, optimizer, request->batch, micro, request->threads,
                       &err) != PX_OK)
        return train_fail(err.message, text);
    if (!train_fill(n, request->batch))
        return train_fail("out of memory", text);
    return train_check(net, text);
}

static void train_close(peer_net *net)
{
    train_net *const n = net->state;
    if (!n)
        return;
    train_job_close(&n->job);
    px_model_free(n->model);
    free(n->inputs);
    free(n->labels);
    free(n);
    net->state = NULL;
}

static int make(const char *arch, const char *path)
{
    px_model *model = NULL;
    px_error err = {0};
    px_status status = px_arch_build(arch, NULL, &model, &err);
    if (status == PX_OK)
        status = px_model_save(model, path, &err);
    px_model_free(model);
    if (status != PX_OK)
        fprintf(stderr, "peer_train: %s\n", err.message);
    return status == PX_OK ? 0 : 3;
}

int main(int argc, char **argv)
{
    static const peer self = {.open = train_open, .step = train_step, .close = train_close};
    if (argc == 3)
        return make(argv[1], argv[2]);
    omp_set_num_threads(1);
    return peer_serve(&self);
}
