/* src/store/campaign_pair.c - the inputs of a campaign and what they were made from
 *
 * A campaign knows the root of each of its inputs, and the root's index in the data it was made
 * from: with those data as originals the pair is looked up by that index, and the root's stored
 * pixels must be the original's. Without, its own seeds are the originals.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/preprocess.h>
#include <internal/store.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct place { /* of an original */
    int64_t key, index;
} place;

static int place_compare(const void *a, const void *b)
{
    const int64_t x = ((const place *)a)->key, y = ((const place *)b)->key;
    return (x > y) - (x < y);
}

/* The number that a campaign's data set has for a name. */
static int64_t input_id(const px_dataset *set, int64_t index)
{
    char name[64];
    return strtoll(px_dataset_name(set, index, name, sizeof name), NULL, 10);
}

static place *places_new(const px_dataset *set, bool by_id)
{
    const int64_t count = px_dataset_count(set);
    place *places = calloc((size_t)count, sizeof *places);
    for (int64_t i = 0; places && i < count; i++)
        places[i] = (place){by_id ? input_id(set, i) : px_dataset_index(set, i), i};
    if (places)
        qsort(places, (size_t)count, sizeof *places, place_compare);
    return places;
}

typedef struct pairing {
    px_campaign *campaign;
    const px_dataset *set, *originals;
    const px_preprocess *pre;
    size_t floats;
    bool own;
    bool bytes;
    float *root; /* bytes, where they are stored so */
    float *original;
} pairing;

/* The stored pixels of the root are those of the original. */
static px_status check_root(const pairing *c, const px_campaign_input *in, int64_t partner,
                            px_error *err)
{
    const bool levels = px_dataset_is_8bit(c->originals);
    const double unit = px_length_levels(c->pre, 1.0);
    px_campaign_input root;
    char name[256];
    PX_TRY(px_campaign_read(c->campaign, in->root, &root, c->root, err));
    PX_TRY(px_dataset_pixels(c->originals, partner, c->original, err));
    for (size_t i = 0; i < c->floats; i++) {
        const double stored = c->bytes ? (double)((const uint8_t *)c->root)[i] : (double)c->root[i];
        const double scaled = levels && !c->bytes ? stored * unit : stored;
        if (fabs(scaled - (double)c->original[i]) > (levels && !c->bytes ? 1e-3 : 0.0))
            return px_fail(err, PX_E_MISMATCH,
                           "input %" PRId64 " of the campaign was made from input %" PRId64
                           " of its data, but '%s' in --original has other pixels; give the data "
                           "and --split that it was made from, or leave --original out: the "
                           "campaign has its own originals",
                           in->id, in->data_index,
                           px_dataset_name(c->originals, partner, name, sizeof name));
    }
    return PX_OK;
}

static px_status pair_one(const pairing *c, const place *places, int64_t i, int64_t *partner,
                          px_error *err)
{
    const size_t count = (size_t)px_dataset_count(c->originals);
    px_campaign_input in;
    if (px_cancelled())
        return px_fail(err, PX_E_CANCELLED, "cancelled after %" PRId64 " pairs", i);
    PX_TRY(px_campaign_read(c->campaign, input_id(c->set, i), &in, NULL, err));
    if (in.root == 0)
        return px_fail(err, PX_E_MISMATCH,
                       "input %" PRId64 " of the campaign is a seed, not made from another; choose "
                       "--adversarial-split generated, faults or kept",
                       in.id);
    if (!c->own && in.data_index < 0)
        return px_fail(err, PX_E_MISMATCH,
                       "the campaign does not say which of the data input %" PRId64
                       " was made from; leave --original out: it has its own originals",
                       in.id);
    const place key = {c->own ? in.root : in.data_index, 0};
    const place *found = bsearch(&key, places, count, sizeof *places, place_compare);
    if (!found)
        return px_fail(err, PX_E_MISMATCH,
                       "input %" PRId64 " of the campaign was made from input %" PRId64
                       " of its data, which --original does not have; give the data and --split "
                       "that it was made from, or leave --original out",
                       in.id, in.data_index);
    *partner = found->index;
    return c->own ? PX_OK : check_root(c, &in, found->index, err);
}

static px_status pair_all(pairing *c, int64_t *partners, px_error *err)
{
    const int64_t count = px_dataset_count(c->set);
    px_campaign_identity identity;
    c->bytes = px_campaign_identity_get(c->campaign, &identity) && identity.dtype == PX_UINT8;
    if (px_campaign_size(c->campaign) != c->floats)
        return px_fail(err, PX_E_MISMATCH,
                       "an input of the campaign has %zu values and an original %zu: they do not "
                       "pair up",
                       px_campaign_size(c->campaign), c->floats);
    PX_TRY(PX_NEW(c->root, c->floats, err));
    PX_TRY(PX_NEW(c->original, c->floats, err));
    place *places = places_new(c->originals, c->own);
    px_status status = places ? PX_OK : pxi_no_memory(err);
    for (int64_t i = 0; i < count && status == PX_OK; i++)
        status = pair_one(c, places, i, &partners[i], err);
    free(places);
    return status;
}

px_status px_campaign_pair(const char *folder, const px_dataset *set, const px_dataset *originals,
                           const px_preprocess *pre, bool own, int64_t *partners, px_error *err)
{
    const px_shape shape = px_dataset_shape(originals);
    pairing c = {.set = set,
                 .originals = originals,
                 .pre = pre,
                 .floats = (size_t)px_shape_count(&shape),
                 .own = own};
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &c.campaign, err));
    const px_status status = pair_all(&c, partners, err);
    free(c.root);
    free(c.original);
    px_campaign_close(c.campaign);
    return status;
}
