/* src/cli/replay_labels.h - what a network says of a campaign's stored inputs */
#ifndef PLEXOR_CLI_REPLAY_LABELS_H
#define PLEXOR_CLI_REPLAY_LABELS_H

#include "cli/cli_net.h"

#include <plexor/store.h>

/* Takes an input with what the network says of it; `label` is the input's, by the network's own
 * numbers. */
typedef px_status (*replay_judged)(void *context, const px_campaign_input *in, int64_t label,
                                   int64_t prediction, px_error *err);

/* Runs the campaign's inputs (`id` 0: all) through the network and hands each to `judged`. */
px_status replay_labels(const cli_command *self, px_campaign *campaign, const px_model *model,
                        const cli_data *data, const cli_workers *workers, int64_t id,
                        replay_judged judged, void *context, px_error *err);

#endif
