/* bench/peer_cover.c - plexor as a peer of bench/cover
 *
 *     peer_cover DATA.npy TRAIN.npy CRITERIA       serves KIND forward and cover
 *     peer_cover --decode MODEL SPEC SPLIT COUNT OUT.npy
 *                                                  decodes inputs once; SPEC "-": random ones
 *
 * A step is one pass over all inputs, which are decoded and in memory: `forward` puts them through
 * the network, fused as it likes; `cover` also measures the criteria, ranges learned from TRAIN.
 * BATCH is ignored. The `check` values are the criteria's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <internal/pass.h>

#include <internal/rng.h>
#include <omp.h>
#include <plexor/cover.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *data_path, *train_path, *criteria;

typedef struct cover_net {
    px_model *model;
    px_dataset *set;
    px_preprocess pre;
    pxi_pass *pass; /* of `forward` */
    px_profile *profile;
    px_cover *cover; /* NULL: forward */
    int threads;
} cover_net;

static bool cover_ok(px_status status, const px_error *err, char text[PEER_TEXT])
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

/* What was decoded goes in as it is. */
static px_status open_decoded(const px_model *model, const char *path, px_preprocess *pre,
                              px_dataset **out, px_error *err)
{
    const px_data_options options = px_data_options_default();
    PX_TRY(px_preprocess_init(pre, NULL, 0, model_input(model),
                              &(px_preprocess_options){.scale = "1"}, err));
    return px_dataset_open_for(pre, model_input(model), path, &options, out, err);
}

static bool cover_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    (void)worker;
    cover_net *const n = net->state;
    px_error err = {0};
    if (!n->cover)
        return cover_ok(pxi_pass_run(n->pass, &err), &err, text);
    const px_cover_run_options options = px_cover_run_options_default();
    return cover_ok(px_cover_reset(n->cover, &err), &err, text) &&
           cover_ok(px_cover_run(n->cover, n->set, &n->pre, &options, NULL, &err), &err, text);
}

static bool criteria_open(cover_net *n, char text[PEER_TEXT])
{
    px_error err = {0};
    px_cover_options options = px_cover_options_default();
    options.criteria = criteria;
    options.threads = n->threads;
    px_lessons lessons = {0};
    px_dataset *train = NULL;
    px_preprocess pre;
    px_profile_options learn = px_profile_options_default();
    learn.threads = n->threads;
    bool good =
        cover_ok(px_cover_lessons(n->model, NULL, &options, &lessons, &err), &err, text) &&
        cover_ok(open_decoded(n->model, train_path, &pre, &train, &err), &err, text) &&
        cover_ok(px_profile_make(n->model, &lessons, train, &pre, &learn, &n->profile, &err), &err,
                 text);
    options.profile = n->profile;
    good = good && cover_ok(px_cover_new(n->model, NULL, &options, &n->cover, &err), &err, text);
    px_lessons_free(&lessons);
    px_dataset_close(train);
    return good;
}

static void cover_report(const cover_net *n, char text[PEER_TEXT])
{
    for (size_t i = 0; n->cover && i < px_cover_count(n->cover); i++)
        peer_append(text, " %s=%.9g %s_seconds=%.4f", px_cover_criterion(n->cover, i)->entry.id,
                    px_cover_value(n->cover, i).value, px_cover_criterion(n->cover, i)->entry.id,
                    px_cover_seconds(n->cover, i, NULL));
}

static bool cover_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    cover_net *const n = calloc(1, sizeof *n);
    px_error err = {0};
    net->state = n;
    net->workers = 1;
    if (!n || !data_path) {
        peer_append(text, n ? "no data were given" : "out of memory");
        return false;
    }
    n->threads = request->threads;
    const px_plan_options wants = px_plan_options_default();
    if (!cover_ok(px_model_load(request->model, &n->model, &err), &err, text) ||
        !cover_ok(open_decoded(n->model, data_path, &n->pre, &n->set, &err), &err, text))
        return false;
    const pxi_task task = {.model = n->model,
                           .set = n->set,
                           .pre = &n->pre,
                           .count = px_dataset_count(n->set),
                           .threads = n->threads};
    if (!cover_ok(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &n->pass, &err), &err, text))
        return false;
    net->batch = px_dataset_count(n->set);
    if (strcmp(request->kind, "cover") == 0 && !criteria_open(n, text))
        return false;
    if (!cover_step(net, 0, text))
        return false;
    peer_append(text, "version=%s batch=%lld micro=%lld", PLEXOR_VERSION, (long long)net->batch,
                (long long)pxi_pass_batch(n->pass));
    peer_append_kernels(text, pxi_pass_plan(n->pass));
    cover_report(n, text);
    return true;
}

static void cover_close(peer_net *net)
{
    cover_net *const n = net->state;
    if (!n)
        return;
    px_cover_free(n->cover);
    px_profile_free(n->profile);
    pxi_pass_close(n->pass);
    px_dataset_close(n->set);
    px_model_free(n->model);
    free(n);
}

/* --- decoding -------------------------------------------------------------------------------- */

static px_status decode_fill(const px_model *model, const char *spec, const char *split,
                             px_tensor *out, px_error *err)
{
    const int64_t count = out->shape.dim[0], sample = px_shape_count(&out->shape) / count;
    float *to = out->data;
    if (strcmp(spec, "-") == 0) {
        px_random r = px_rng(strlen(split), PX_RNG_BENCH, 0, 0);
        for (int64_t i = 0; i < count * sample; i++)
            to[i] = (float)(2.0 * px_rng_u01(&r) - 1.0);
        return PX_OK;
    }
    px_preprocess pre;
    px_data_options options = px_data_options_default();
    options.split = split;
    options.limit = count;
    px_dataset *set = NULL;
    PX_TRY(px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model),
                              model_input(model),
                              &(px_preprocess_options){.preprocess = "imagenet"}, err));
    PX_TRY(px_dataset_open_for(&pre, model_input(model), spec, &options, &set, err));
    px_status status = px_dataset_count(set) == count
                           ? PX_OK
                           : px_fail(err, PX_E_INPUT, "'%s' has %lld inputs", spec,
                                     (long long)px_dataset_count(set));
    for (int64_t i = 0; status == PX_OK && i < count; i++)
        status = px_dataset_input(set, &pre, i, to + i * sample, err);
    px_dataset_close(set);
    return status;
}

static int decode(const char *model_path, const char *spec, const char *split, const char *count,
                  const char *path)
{
    px_error err = {0};
    px_model *model = NULL;
    px_tensor images = {0};
    px_status status = px_model_load(model_path, &model, &err);
    if (status == PX_OK) {
        px_shape shape = *model_input(model);
        shape.dim[0] = strtoll(count, NULL, 10);
        status = px_tensor_init(&images, PX_FLOAT32, &shape, &err);
    }
    if (status == PX_OK)
        status = decode_fill(model, spec, split, &images, &err);
    if (status == PX_OK)
        status = px_npy_save(path, &images, &err);
    if (status != PX_OK)
        fprintf(stderr, "peer_cover: %s\n", err.message);
    px_tensor_done(&images);
    px_model_free(model);
    return status == PX_OK ? 0 : 3;
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "--decode") == 0)
        return decode(argv[2], argv[3], argv[4], argv[5], argv[6]);
    if (argc != 4) {
        fprintf(stderr, "usage: peer_cover DATA.npy TRAIN.npy CRITERIA\n");
        return 2;
    }
    data_path = argv[1];
    train_path = argv[2];
    criteria = argv[3];
    omp_set_num_threads(1);
    return peer_serve(&(peer){.open = cover_open, .step = cover_step, .close = cover_close});
}
