/* tests/store/store_helpers.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store_helpers.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/store.h>

#include <stdlib.h>
#include <string.h>

px_campaign_identity sample_identity(void)
{
    return (px_campaign_identity){.model_hash = 0x1234,
                                  .data_hash = 0xfedcba9876543210,
                                  .seed = 7,
                                  .dtype = PX_UINT8,
                                  .shape = {.rank = 3, .dim = {CHANNELS, SIDE, SIDE}},
                                  .classes = 10,
                                  .settings = "{\"guide\":\"kmnc\",\"alpha\":0.2}"};
}

static px_status put_seed(px_campaign *campaign, int64_t id, px_error *err)
{
    uint8_t pixels[VALUES];
    px_random random = px_rng(5, PX_RNG_NOISE_INPUT, (uint32_t)id, 0);
    for (int i = 0; i < VALUES; i++)
        pixels[i] = (uint8_t)(px_rng_u32(&random) >> 24);
    const px_campaign_input seed = {.kind = PX_INPUT_SEED,
                                    .data_index = 100 + id,
                                    .label = id % 10,
                                    .prediction = id % 10,
                                    .confidence = 0.5};
    return px_campaign_put(campaign, &seed, pixels, NULL, err);
}

static px_status put_child(px_campaign *campaign, int64_t id, px_error *err)
{
    uint8_t before[VALUES], after[VALUES];
    px_campaign_input in;
    px_mutations from;
    px_drawn links[PX_CHAIN_MOST], *old = NULL;
    size_t count = 0;
    bool replayable;
    const int64_t parent = 1 + id * 7919 % (id - 1);
    PX_TRY(px_mutations_parse(id % 2 ? "nss" : "deephunter:pixel", &from, err));
    PX_TRY(px_campaign_read(campaign, parent, &in, before, err));
    PX_TRY(px_chain_parse(in.chain, &old, &count, &replayable, err));
    if (count)
        memcpy(links, old, count * sizeof *links);
    free(old);
    px_random random = px_rng(7, PX_RNG_MUTATE, (uint32_t)id, PX_MUTATE_FREE);
    links[count] = px_mutation_draw(&from, &random);
    PX_TRY(px_mutation_apply(&links[count], before, after, SIDE, SIDE, CHANNELS, err));
    char *chain = px_chain_text(links, count + 1);
    if (!chain)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const px_change change = pxi_change_between(before, after, VALUES);
    in = (px_campaign_input){.kind = id % 3 ? PX_INPUT_KEPT : PX_INPUT_FAULT,
                             .parent = parent,
                             .root = in.root ? in.root : parent,
                             .data_index = in.data_index,
                             .label = in.label,
                             .prediction = id % 3 ? in.label : id % 7,
                             .confidence = 1.0 / (double)id,
                             .l0 = (int64_t)change.l0,
                             .linf = change.linf / 255.0,
                             .step = id,
                             .chain = chain,
                             .found_s = 1e-3 * (double)id};
    const px_status status = px_campaign_put(campaign, &in, after, NULL, err);
    free(chain);
    return status;
}

px_status grow_campaign(px_campaign *campaign, int64_t count,
                        void (*committed)(int64_t last, void *context), void *context,
                        px_error *err)
{
    const px_campaign_identity identity = sample_identity();
    int64_t last = 0;
    PX_TRY(px_campaign_identify(campaign, &identity, err));
    PX_TRY(px_campaign_last(campaign, &last, err));
    while (last < count) {
        for (int i = 0; i < BATCH && last < count; i++) {
            last++;
            PX_TRY(last <= SEEDS ? put_seed(campaign, last, err) : put_child(campaign, last, err));
        }
        PX_TRY(
            px_campaign_put_coverage(campaign, last, "kmnc", 1.0 - 1.0 / (double)last, 0.5, err));
        PX_TRY(px_campaign_put_blob(campaign, "policy", &last, sizeof last, err));
        PX_TRY(px_campaign_set_int(campaign, "executions", 10 * last, err));
        PX_TRY(px_campaign_set_real(campaign, "seconds", 0.25 * (double)last, err));
        PX_TRY(px_campaign_commit(campaign, err));
        if (committed)
            committed(last, context);
    }
    return PX_OK;
}

px_status make_campaign(const char *folder, int64_t count, px_error *err)
{
    px_campaign *campaign = NULL;
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_CREATE, &campaign, err));
    px_status status = grow_campaign(campaign, count, NULL, NULL, err);
    for (int i = 1; status == PX_OK && i <= 3; i++)
        status = px_campaign_write_stats(campaign,
                                         &(px_campaign_figures){.run_s = 5.0 * i,
                                                                .executions = 1000 * i,
                                                                .executions_per_s = 200,
                                                                .queue = count,
                                                                .unique_faults = i,
                                                                .coverage = 0.1 * i,
                                                                .last_find_s = 2,
                                                                .last_fault_s = 3,
                                                                .banner = "sample"},
                                         err);
    px_campaign_close(campaign);
    return status;
}
