/* bench/peer_plexor.c - plexor as a peer of bench/engine
 *
 * One plan, one session per thread, each putting its own micro-batches through the network; LAYOUT
 * is ignored. KIND `trace` is forward with every hidden channel neuron read into a trace row, what
 * `plexor trace` does to nowhere. The `ready` line says which kernels were chosen, and how many of
 * them are oneDNN's reference ones, which have no place in a network of ours.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <internal/engine.h>
#include <internal/system.h>
#include <omp.h>
#include <plexor/onnx.h>
#include <plexor/probe.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FORWARD, GRAD, TRACE } kind;

typedef struct plexor_net {
    px_model *model;
    px_probe *probe;
    px_plan *plan;
    px_scores scores;
    kind kind;
    int64_t *labels;
    px_session *sessions[PEER_WORKERS];
    float *traces[PEER_WORKERS];
    px_probe_watch watches[PEER_WORKERS];
} plexor_net;

static bool plexor_ok(px_status status, const px_error *err, char text[PEER_TEXT])
{
    if (status == PX_OK)
        return true;
    text[0] = '\0';
    peer_append(text, "%s", err->message);
    return false;
}

static bool kind_parse(const char *name, kind *out)
{
    static const char *const names[] = {"forward", "grad", "trace"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (kind)i;
            return true;
        }
    return false;
}

static bool plan_open(plexor_net *n, const peer_request *request, char text[PEER_TEXT])
{
    px_error err = {0};
    px_plan_options options = px_plan_options_default();
    options.batch = request->batch;
    options.input_grad = n->kind == GRAD;
    if (!plexor_ok(px_model_load(request->model, &n->model, &err), &err, text) ||
        !plexor_ok(px_model_scores(n->model, &n->scores, &err), &err, text))
        return false;
    if (n->kind == TRACE) {
        const px_probe_options all = px_probe_options_default();
        if (!plexor_ok(px_probe_new(n->model, &all, &n->probe, &err), &err, text))
            return false;
        options.observe = px_probe_values(n->probe, &options.observe_count);
    }
    return plexor_ok(px_plan_new(n->model, &options, &n->plan, &err), &err, text);
}

static bool plexor_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    plexor_net *const n = net->state;
    px_session *const session = n->sessions[worker];
    px_error err = {0};
    bool good = plexor_ok(px_session_forward(session, &err), &err, text);
    if (good && n->kind == GRAD)
        good =
            plexor_ok(px_session_seed_clear(session, &err), &err, text) &&
            plexor_ok(px_session_seed_loss(session, &n->scores, n->labels, net->batch, NULL, &err),
                      &err, text) &&
            plexor_ok(px_session_backward(session, &err), &err, text);
    return good;
}

/* One worker's session, inputs filled, run once. */
static bool worker_open(const peer_net *net, int worker, char text[PEER_TEXT])
{
    plexor_net *const n = net->state;
    px_error err = {0};
    if (!plexor_ok(px_session_new(n->plan, &n->sessions[worker], &err), &err, text))
        return false;
    const px_shape shape = px_plan_feed_shape(n->plan, 0);
    peer_fill(px_session_input(n->sessions[worker], 0), (size_t)px_shape_count(&shape));
    if (n->kind == TRACE) {
        const size_t count = (size_t)(px_probe_neuron_count(n->probe) * net->batch);
        n->traces[worker] = malloc(count * sizeof(float));
        if (!n->traces[worker]) {
            peer_append(text, "out of memory");
            return false;
        }
        n->watches[worker] =
            (px_probe_watch){.probe = n->probe, .samples = net->batch, .trace = n->traces[worker]};
        px_session_observe(n->sessions[worker], px_probe_observer, &n->watches[worker]);
    }
    return plexor_step(net, worker, text);
}

/* Element `index`, in logical order, of the first sample. */
static float view_first(const px_view *view, int64_t index)
{
    int64_t at = 0;
    for (int axis = view->shape.rank - 1; axis > 0; axis--) {
        at += index % view->shape.dim[axis] * view->stride[axis];
        index /= view->shape.dim[axis];
    }
    return view->data[at];
}

/* Class probabilities of the first sample, or values spread over its input gradient. */
static void report_check(const plexor_net *n, char text[PEER_TEXT])
{
    const px_graph *const graph = px_model_graph(n->model);
    const px_view view =
        n->kind == GRAD ? px_session_grad(n->sessions[0], graph->inputs[0])
                        : px_session_view(n->sessions[0], graph->outputs[graph->output_count - 1]);
    float shown[PEER_SLOPES_SHOWN];
    const int64_t most = n->kind == GRAD ? PEER_SLOPES_SHOWN : PEER_CLASSES_SHOWN;
    if (!view.data)
        return;
    const int64_t count = px_shape_count(&view.shape) / view.shape.dim[0];
    for (int64_t i = 0; i < most; i++)
        shown[i] = view_first(&view, i * count / most);
    peer_append_values(text, "check", shown, (size_t)most);
}

static bool plexor_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    plexor_net *const n = calloc(1, sizeof *n);
    net->state = n;
    net->workers = request->threads;
    if (!n || !kind_parse(request->kind, &n->kind)) {
        peer_append(text, "kind '%s' is not known", request->kind);
        return false;
    }
    if (!plan_open(n, request, text))
        return false;
    net->batch = px_plan_batch(n->plan);
    n->labels = malloc((size_t)net->batch * sizeof *n->labels);
    if (!n->labels) {
        peer_append(text, "out of memory");
        return false;
    }
    for (int64_t i = 0; i < net->batch; i++)
        n->labels[i] = peer_label(i, n->scores.classes);
    for (int w = 0; w < net->workers; w++)
        if (!worker_open(net, w, text))
            return false;
    peer_append(text, " version=%s flops=%lld arena=%zu", px_version(),
                (long long)(px_plan_flops(n->plan) / net->batch), px_plan_arena_bytes(n->plan));
    peer_append_kernels(text, n->plan);
    report_check(n, text);
    return true;
}

static void plexor_close(peer_net *net)
{
    plexor_net *const n = net->state;
    if (!n)
        return;
    for (int w = 0; w < net->workers; w++) {
        free(n->traces[w]);
        px_session_free(n->sessions[w]);
    }
    free(n->labels);
    px_plan_free(n->plan);
    px_probe_free(n->probe);
    px_model_free(n->model);
    free(n);
    net->state = NULL;
}

/* OpenMP's thread count belongs to the thread that sets it: every worker sets its own once. */
static bool plexor_timed_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    static _Thread_local bool single;
    if (!single) {
        omp_set_num_threads(1);
        single = true;
    }
    return plexor_step(net, worker, text);
}

int main(void)
{
    static const peer self = {
        .open = plexor_open, .step = plexor_timed_step, .close = plexor_close};
    omp_set_num_threads(1);
    return peer_serve(&self);
}
