/* bench/peer_fuzz.c - plexor as a peer of bench/fuzz
 *
 *     peer_fuzz SEEDS.npz FOLDER       serves KIND forward and the policies of engine loop
 *
 * `forward` puts the seeds through the network, which is all it does: decoded, in memory, fused as
 * the engine likes. A policy's step is a stretch of a campaign in FOLDER guided by KMNC (k = 1000),
 * with everything: mutants, network, coverage, database. What counts are executions: mutants that
 * were looked at. BATCH is ignored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <internal/pass.h>

#include <ftw.h>
#include <omp.h>
#include <plexor/fuzz.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_STEP = 1024 }; /* executions */

static const char *seeds_path, *folder_path;

typedef struct fuzz_net {
    px_model *model;
    px_dataset *set;
    px_preprocess pre;
    pxi_pass *pass; /* of `forward` */
    px_profile *profile;
    px_cover *cover;
    px_campaign *campaign;
    px_fuzz *fuzz;
    char folder[1100];
    int64_t done;
    int threads;
} fuzz_net;

static bool fuzz_ok(px_status status, const px_error *err, char text[PEER_TEXT])
{
    if (status == PX_OK)
        return true;
    text[0] = '\0';
    peer_append(text, "%s", err->message);
    return false;
}

static px_status fuzz_stretch(fuzz_net *n, px_error *err)
{
    n->done += FUZZ_STEP;
    const px_fuzz_limits limits = {.executions = n->done};
    return px_fuzz_run(n->fuzz, &limits, err);
}

static bool fuzz_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    (void)worker;
    fuzz_net *const n = net->state;
    px_error err = {0};
    return fuzz_ok(n->fuzz ? fuzz_stretch(n, &err) : pxi_pass_run(n->pass, &err), &err, text);
}

/* Ranges come from the seeds: what they are does not change how fast it is. */
static px_status fuzz_guide(fuzz_net *n, px_error *err)
{
    px_cover_options options = px_cover_options_default();
    px_profile_options make = px_profile_options_default();
    px_lessons lessons = {0};
    options.criteria = "kmnc";
    options.threads = make.threads = n->threads;
    px_status status = px_cover_lessons(n->model, NULL, &options, &lessons, err);
    if (status == PX_OK)
        status = px_profile_make(n->model, &lessons, n->set, &n->pre, &make, &n->profile, err);
    px_lessons_free(&lessons);
    PX_TRY(status);
    options.profile = n->profile;
    return px_cover_new(n->model, NULL, &options, &n->cover, err);
}

static px_status fuzz_campaign(fuzz_net *n, const char *policy, px_error *err)
{
    static int count;
    px_fuzz_options options = px_fuzz_options_default();
    snprintf(n->folder, sizeof n->folder, "%s/%d", folder_path, count++);
    PX_TRY(px_campaign_open(n->folder, PX_CAMPAIGN_CREATE, &n->campaign, err));
    PX_TRY(fuzz_guide(n, err));
    options.campaign = n->campaign;
    options.model = n->model;
    options.set = n->set;
    options.pre = &n->pre;
    options.cover = n->cover;
    options.profile = n->profile;
    options.policy = policy;
    options.seeds = 0;
    options.threads = n->threads;
    return px_fuzz_new(&options, &n->fuzz, err);
}

static px_status fuzz_make(fuzz_net *n, const peer_request *request, px_error *err)
{
    const px_data_options data = px_data_options_default();
    const px_plan_options wants = px_plan_options_default();
    PX_TRY(px_model_load(request->model, &n->model, err));
    const px_graph *graph = px_model_graph(n->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    PX_TRY(px_preprocess_init(&n->pre, px_model_properties(n->model),
                              px_model_property_count(n->model), input,
                              &(px_preprocess_options){.preprocess = "imagenet"}, err));
    PX_TRY(px_dataset_open_for(&n->pre, input, seeds_path, &data, &n->set, err));
    const pxi_task task = {.model = n->model,
                           .set = n->set,
                           .pre = &n->pre,
                           .count = px_dataset_count(n->set),
                           .threads = n->threads};
    PX_TRY(pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &n->pass, err));
    return strcmp(request->kind, "forward") == 0 ? PX_OK : fuzz_campaign(n, request->kind, err);
}

static bool fuzz_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    fuzz_net *const n = calloc(1, sizeof *n);
    px_error err = {0};
    net->state = n;
    net->workers = 1;
    if (!n) {
        peer_append(text, "out of memory");
        return false;
    }
    n->threads = request->threads;
    if (!fuzz_ok(fuzz_make(n, request, &err), &err, text))
        return false;
    net->batch = n->fuzz ? FUZZ_STEP : px_dataset_count(n->set);
    if (!fuzz_step(net, 0, text))
        return false;
    peer_append(text, "version=%s batch=%lld micro=%lld", PLEXOR_VERSION, (long long)net->batch,
                (long long)pxi_pass_batch(n->pass));
    peer_append_kernels(text, pxi_pass_plan(n->pass));
    return true;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void fuzz_close(peer_net *net)
{
    fuzz_net *const n = net->state;
    if (!n)
        return;
    px_fuzz_free(n->fuzz);
    px_cover_free(n->cover);
    px_profile_free(n->profile);
    px_campaign_close(n->campaign);
    if (n->campaign)
        nftw(n->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    pxi_pass_close(n->pass);
    px_dataset_close(n->set);
    px_model_free(n->model);
    free(n);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: peer_fuzz SEEDS.npz FOLDER\n");
        return 2;
    }
    seeds_path = argv[1];
    folder_path = argv[2];
    omp_set_num_threads(1);
    return peer_serve(&(peer){.open = fuzz_open, .step = fuzz_step, .close = fuzz_close});
}
