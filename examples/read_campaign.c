/* examples/read_campaign.c - the failures that a campaign has found
 *
 *     cc $(pkg-config --cflags plexor) read_campaign.c $(pkg-config --libs plexor) -o read_campaign
 *     plexor fuzz net.onnx --data digits -o run.campaign
 *     ./read_campaign run.campaign
 *
 * It may be read while `plexor fuzz` is still at work.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <plexor/plexor.h>
#include <stdio.h>
#include <stdlib.h>

/* The values that differ from the input the failure came from, of all it has. */
static px_status changed(px_campaign *campaign, const px_campaign_input *fault, px_error *err)
{
    const size_t size = px_campaign_size(campaign);
    int64_t id = fault->id, root = fault->root;
    px_campaign_identity identity;
    px_campaign_input input;
    size_t count = 0;
    unsigned char *pixels = (unsigned char *)calloc(2 * size, sizeof(float));
    px_status status = pixels ? px_campaign_read(campaign, id, &input, pixels, err) : PX_E_NOMEM;
    unsigned char *before = pixels + size * sizeof(float);
    if (status == PX_OK)
        status = px_campaign_read(campaign, root, &input, before, err);
    if (status == PX_OK && px_campaign_identity_get(campaign, &identity)) {
        const size_t bytes = px_dtype_size(identity.dtype);
        for (size_t i = 0; i < size * bytes; i++)
            count += pixels[i] != before[i];
        printf("  %zu of %zu bytes differ from input %" PRId64 "\n", count, size * bytes, root);
    }
    free(pixels);
    return status;
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, ""};
    px_campaign *campaign = NULL;
    px_campaign_input fault;
    const char *folder = argc > 1 ? argv[1] : "run.campaign";
    px_status status = px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err);
    for (int64_t id = 0; status == PX_OK; id = fault.id) {
        status = px_campaign_next(campaign, id, PX_INPUT_FAULT, &fault, NULL, NULL, &err);
        if (status != PX_OK || fault.id == 0)
            break;
        printf("failure %" PRId64 ": label %" PRId64 ", the network says %" PRId64 "\n", fault.id,
               fault.label, fault.prediction);
        status = changed(campaign, &fault, &err);
    }
    if (status != PX_OK)
        fprintf(stderr, "read_campaign: %s\n", err.message);
    px_campaign_close(campaign);
    return status != PX_OK;
}
