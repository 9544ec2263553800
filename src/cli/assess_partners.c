/* src/cli/assess_partners.c - the two sides of an assessment, opened and paired up */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/assess_partners.h"

#include "base/memory.h"

#include <internal/store.h>
#include <stdlib.h>
#include <string.h>

static px_status pair_sets(assess_sides *s, int pair, px_error *err)
{
    const bool named = px_pair_has_names(s->original.set, s->adversarial.set);
    const bool by_name = pair == ASSESS_PAIR_NAME || (pair == ASSESS_PAIR_AUTO && named);
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
    if (campaign || wish->pair == ASSESS_PAIR_NAME)
        original.limit = original.offset = 0; /* looked up, wherever they are */
    if (!original.spec) {
        original.spec = wish->adversarial;
        original.split = "seeds";
    }
    PX_TRY(cli_inputs_open(model, &adversarial, &s->adversarial, err));
    PX_TRY(cli_inputs_open(model, &original, &s->original, err));
    const bool part = original.limit > 0 || original.offset > 0;
    if (!part || wish->pair != ASSESS_PAIR_AUTO ||
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
    const bool campaign = px_campaign_is(wish->adversarial) && wish->pair == ASSESS_PAIR_AUTO;
    const bool own = !wish->data.spec;
    if (own && !campaign)
        return px_fail(err, PX_E_USAGE,
                       "--original is needed: '%.200s' is no campaign, which would know where its "
                       "inputs come from",
                       wish->adversarial);
    PX_TRY(sides_open(model, wish, campaign, s, err));
    PX_TRY(PX_NEW(s->partners, (size_t)s->adversarial.count, err));
    if (campaign)
        s->how = own ? "campaign" : "campaign's data index";
    PX_TRY(campaign ? px_campaign_pair(wish->adversarial, s->adversarial.set, s->original.set,
                                       &s->original.pre, own, s->partners, err)
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
