/* bench/peer_select.c - plexor as a peer of bench/select
 *
 *     peer_select DATA.npy                         serves KIND forward, fresh and original
 *     peer_select --decode MODEL SPEC COUNT OUT.npy
 *                                                  decodes pictures once; SPEC "-": random ones
 *
 * A step is one pass over all pictures, which are decoded and in memory: `forward` puts them
 * through the network, fused as it likes; `fresh` and `original` are NSS with either pairing, from
 * nothing to the ranking: sensitive neurons, scores, predictions, order. BATCH is ignored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <internal/pass.h>

#include <internal/fault_curve.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/select.h>
#include <omp.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *data_path;

typedef struct select_net {
    px_model *model;
    px_dataset *set;
    px_mutant_set *mutants; /* NULL: the candidates are the data themselves */
    px_preprocess pre;
    pxi_pass *pass; /* of `forward` */
    bool select;    /* else forward */
    int threads;
    px_select_facts facts; /* of the last selection */
} select_net;

static bool select_ok(px_status status, const px_error *err, char text[PEER_TEXT])
{
    if (status == PX_OK)
        return true;
    text[0] = '\0';
    peer_append(text, "%s", err->message);
    return false;
}

static const px_shape *model_input(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    return &graph->values[graph->inputs[0]].shape;
}

static px_status open_pictures(const px_model *model, const char *spec, const char *split,
                               int64_t limit, px_preprocess *pre, px_dataset **out, px_error *err)
{
    px_data_options options = px_data_options_default();
    options.split = split;
    options.limit = limit;
    PX_TRY(px_preprocess_init(pre, px_model_properties(model), px_model_property_count(model),
                              model_input(model),
                              &(px_preprocess_options){.preprocess = "imagenet"}, err));
    return px_dataset_open_for(pre, model_input(model), spec, &options, out, err);
}

static px_status select_once(select_net *n, px_error *err)
{
    px_select_options options = px_select_options_default();
    options.selectors = "nss";
    options.keep = px_percent_count(5, px_dataset_count(n->set));
    options.originals = n->mutants ? n->set : NULL;
    options.threads = n->threads;
    px_select *select = NULL;
    px_status status = px_select_new(n->model, n->mutants ? px_mutant_set_data(n->mutants) : n->set,
                                     &n->pre, &options, &select, err);
    if (status == PX_OK)
        status = px_select_run(select, NULL, NULL, err);
    if (status == PX_OK)
        n->facts = px_select_facts_of(select, 0);
    px_select_free(select);
    return status;
}

static bool select_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    (void)worker;
    select_net *const n = net->state;
    px_error err = {0};
    return select_ok(n->select ? select_once(n, &err) : pxi_pass_run(n->pass, &err), &err, text);
}

static bool select_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    select_net *const n = calloc(1, sizeof *n);
    px_error err = {0};
    px_mutations from;
    net->state = n;
    net->workers = 1;
    if (!n || !data_path) {
        peer_append(text, n ? "no data were given" : "out of memory");
        return false;
    }
    n->threads = request->threads;
    n->select = strcmp(request->kind, "forward") != 0;
    const px_plan_options wants = px_plan_options_default();
    if (!select_ok(px_model_load(request->model, &n->model, &err), &err, text) ||
        !select_ok(open_pictures(n->model, data_path, NULL, 0, &n->pre, &n->set, &err), &err, text))
        return false;
    const pxi_task task = {.model = n->model,
                           .set = n->set,
                           .pre = &n->pre,
                           .count = px_dataset_count(n->set),
                           .threads = n->threads};
    if (!select_ok(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &n->pass, &err), &err, text))
        return false;
    if (strcmp(request->kind, "original") == 0 &&
        (!select_ok(px_mutations_parse("nss", &from, &err), &err, text) ||
         !select_ok(px_mutant_set_new(n->set, &from, 0, PX_MUTATE_CANDIDATES, &n->mutants, &err),
                    &err, text)))
        return false;
    net->batch = px_dataset_count(n->set);
    if (!select_step(net, 0, text))
        return false;
    const px_select_times *t = &n->facts.times;
    peer_append(text, "version=%s batch=%lld micro=%lld learn=%.4f pass=%.4f rest=%.4f",
                PLEXOR_VERSION, (long long)net->batch, (long long)pxi_pass_batch(n->pass), t->learn,
                t->pass, t->prepare + t->score + t->order);
    peer_append_kernels(text, pxi_pass_plan(n->pass));
    return true;
}

static void select_close(peer_net *net)
{
    select_net *const n = net->state;
    if (!n)
        return;
    px_mutant_set_free(n->mutants);
    pxi_pass_close(n->pass);
    px_dataset_close(n->set);
    px_model_free(n->model);
    free(n);
}

/* --- decoding -------------------------------------------------------------------------------- */

static px_status decode_fill(const px_model *model, const char *spec, px_tensor *out, px_error *err)
{
    const int64_t count = out->shape.dim[0], sample = px_shape_count(&out->shape) / count;
    uint8_t *to = out->data;
    px_random r = px_rng(1, PX_RNG_BENCH, 0, 0);
    for (int64_t i = 0; strcmp(spec, "-") == 0 && i < count * sample; i++)
        to[i] = (uint8_t)(px_rng_u32(&r) >> 24);
    if (strcmp(spec, "-") == 0)
        return PX_OK;
    px_preprocess pre;
    px_dataset *set = NULL;
    float *pixels = calloc((size_t)sample, sizeof *pixels);
    px_status status =
        pixels ? open_pictures(model, spec, "test", count, &pre, &set, err) : PX_E_NOMEM;
    if (status == PX_OK && px_dataset_count(set) != count)
        status = px_fail(err, PX_E_INPUT, "'%s' has only %lld inputs", spec,
                         (long long)px_dataset_count(set));
    for (int64_t i = 0; status == PX_OK && i < count; i++) {
        status = px_dataset_pixels(set, i, pixels, err);
        for (int64_t k = 0; k < sample; k++)
            to[i * sample + k] = (uint8_t)pixels[k];
    }
    px_dataset_close(set);
    free(pixels);
    return status;
}

static int decode(const char *model_path, const char *spec, const char *count, const char *path)
{
    px_error err = {0};
    px_model *model = NULL;
    px_tensor images = {0};
    px_status status = px_model_load(model_path, &model, &err);
    if (status == PX_OK) {
        px_shape shape = *model_input(model);
        shape.dim[0] = strtoll(count, NULL, 10);
        status = px_tensor_init(&images, PX_UINT8, &shape, &err);
    }
    if (status == PX_OK)
        status = decode_fill(model, spec, &images, &err);
    if (status == PX_OK)
        status = px_npy_save(path, &images, &err);
    if (status != PX_OK)
        fprintf(stderr, "peer_select: %s\n", err.message);
    px_tensor_done(&images);
    px_model_free(model);
    return status == PX_OK ? 0 : 3;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--decode") == 0)
        return decode(argv[2], argv[3], argv[4], argv[5]);
    if (argc != 2) {
        fprintf(stderr, "usage: peer_select DATA.npy\n");
        return 2;
    }
    data_path = argv[1];
    omp_set_num_threads(1);
    return peer_serve(&(peer){.open = select_open, .step = select_step, .close = select_close});
}
