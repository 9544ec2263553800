/* src/cli/assess_partners.c - the two sides of an assessment, opened and paired up
 *
 * A campaign knows the root of each of its inputs, and the root's index in the data it was made
 * from: with those data as originals the pair is looked up by that index, and the root's stored
 * pixels must be the original's. Without, its own seeds are the originals.
 */
#include "cli/assess_partners.h"

#include "base/memory.h"

#include <internal/preprocess.h>
#include <internal/store.h>
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

typedef struct check { /* of roots against originals */
    px_campaign *campaign;
    bool bytes;
    void *root;
    float *original;
} check;

static px_status check_root(const check *c, const assess_sides *s, const px_campaign_input *in,
                            int64_t partner, px_error *err)
{
    const size_t count = s->original.floats;
    const bool levels = px_dataset_is_8bit(s->original.set);
    const double unit = px_length_levels(&s->original.pre, 1.0);
    px_campaign_input root;
    char name[256];
    PX_TRY(px_campaign_read(c->campaign, in->root, &root, c->root, err));
    PX_TRY(px_dataset_pixels(s->original.set, partner, c->original, err));
    for (size_t i = 0; i < count; i++) {
        const double stored =
            c->bytes ? (double)((uint8_t *)c->root)[i] : (double)((float *)c->root)[i];
        const double scaled = levels && !c->bytes ? stored * unit : stored;
        if (fabs(scaled - (double)c->original[i]) > (levels && !c->bytes ? 1e-3 : 0.0))
            return px_fail(err, PX_E_MISMATCH,
                           "input %" PRId64 " of the campaign was made from input %" PRId64
                           " of its data, but '%s' in --original has other pixels; give the data "
                           "and --split that it was made from, or leave --original out: the "
                           "campaign has its own originals",
                           in->id, in->data_index,
                           px_dataset_name(s->original.set, partner, name, sizeof name));
    }
    return PX_OK;
}

static px_status campaign_pair(const check *c, assess_sides *s, const place *places, bool own,
                               int64_t i, px_error *err)
{
    const size_t count = (size_t)px_dataset_count(s->original.set);
    px_campaign_input in;
    PX_TRY(px_campaign_read(c->campaign, input_id(s->adversarial.set, i), &in, NULL, err));
    if (in.root == 0)
        return px_fail(err, PX_E_MISMATCH,
                       "input %" PRId64 " of the campaign is a seed, not made from another; choose "
                       "--adversarial-split generated, faults or kept",
                       in.id);
    if (!own && in.data_index < 0)
        return px_fail(err, PX_E_MISMATCH,
                       "the campaign does not say which of the data input %" PRId64
                       " was made from; leave --original out: it has its own originals",
                       in.id);
    const place key = {own ? in.root : in.data_index, 0};
    const place *found = bsearch(&key, places, count, sizeof *places, place_compare);
    if (!found)
        return px_fail(err, PX_E_MISMATCH,
                       "input %" PRId64 " of the campaign was made from input %" PRId64
                       " of its data, which --original does not have; give the data and --split "
                       "that it was made from, or leave --original out",
                       in.id, in.data_index);
    s->partners[i] = found->index;
    return own ? PX_OK : check_root(c, s, &in, found->index, err);
}

static px_status pair_campaign(assess_sides *s, const char *folder, bool own, px_error *err)
{
    check c = {0};
    px_campaign_identity identity;
    place *places = NULL;
    px_status status = px_campaign_open(folder, PX_CAMPAIGN_READ, &c.campaign, err);
    if (status != PX_OK)
        return status;
    c.bytes = px_campaign_identity_get(c.campaign, &identity) && identity.dtype == PX_UINT8;
    if (px_campaign_size(c.campaign) != s->original.floats) {
        status = px_fail(err, PX_E_MISMATCH,
                         "an input of the campaign has %zu values and an original %zu: they do not "
                         "pair up",
                         px_campaign_size(c.campaign), s->original.floats);
        goto done;
    }
    places = places_new(s->original.set, own);
    c.root = calloc(s->original.floats, sizeof(float));
    c.original = calloc(s->original.floats, sizeof(float));
    if (!places || !c.root || !c.original) {
        status = pxi_no_memory(err);
        goto done;
    }
    s->how = own ? "campaign" : "campaign's data index";
    for (int64_t i = 0; i < s->adversarial.count && status == PX_OK; i++)
        status = campaign_pair(&c, s, places, own, i, err);
done:
    free(places);
    free(c.root);
    free(c.original);
    px_campaign_close(c.campaign);
    return status;
}

static px_status pair_sets(assess_sides *s, const char *pair, px_error *err)
{
    const bool named = px_pair_has_names(s->original.set, s->adversarial.set);
    const bool by_name = strcmp(pair, "name") == 0 || (strcmp(pair, "auto") == 0 && named);
    s->how = by_name ? "name" : "index";
    return by_name
               ? px_pair_by_name(s->original.set, s->adversarial.set, s->partners, &s->left, err)
               : px_pair_by_index(s->original.set, s->adversarial.set, s->partners, err);
}

static px_status sides_open(const px_model *model, const assess_wish *wish, bool campaign,
                            assess_sides *s, px_error *err)
{
    cli_data original = wish->data, adversarial = wish->data;
    adversarial.spec = wish->adversarial;
    adversarial.split = wish->adversarial_split;
    if (campaign && !adversarial.split)
        adversarial.split = "generated";
    if (campaign || strcmp(wish->pair, "name") == 0)
        original.limit = original.offset = 0; /* looked up, wherever they are */
    if (!original.spec) {
        original.spec = wish->adversarial;
        original.split = "seeds";
    }
    PX_TRY(cli_inputs_open(model, &adversarial, &s->adversarial, err));
    PX_TRY(cli_inputs_open(model, &original, &s->original, err));
    const bool part = original.limit > 0 || original.offset > 0;
    if (!part || strcmp(wish->pair, "auto") != 0 ||
        !px_pair_has_names(s->original.set, s->adversarial.set))
        return PX_OK;
    cli_inputs_close(&s->original); /* by name after all: any of them may be wanted */
    s->original = (cli_inputs){0};
    original.limit = original.offset = 0;
    return cli_inputs_open(model, &original, &s->original, err);
}

px_status assess_sides_open(const px_model *model, const assess_wish *wish, assess_sides *s,
                            px_error *err)
{
    const bool campaign = px_campaign_is(wish->adversarial) && strcmp(wish->pair, "auto") == 0;
    const bool own = !wish->data.spec;
    if (own && !campaign)
        return px_fail(err, PX_E_USAGE,
                       "--original is needed: '%.200s' is no campaign, which would know where its "
                       "inputs come from",
                       wish->adversarial);
    PX_TRY(sides_open(model, wish, campaign, s, err));
    PX_TRY(PX_NEW(s->partners, (size_t)s->adversarial.count, err));
    PX_TRY(campaign ? pair_campaign(s, wish->adversarial, own, err)
                    : pair_sets(s, wish->pair, err));
    if (wish->data.limit > 0 || wish->data.offset > 0)
        s->left = 0; /* asked for */
    return PX_OK;
}

void assess_sides_close(assess_sides *s)
{
    cli_inputs_close(&s->original);
    cli_inputs_close(&s->adversarial);
    free(s->partners);
}
