/* src/cli/replay_labels.h - whether a network still gives stored inputs their stored predictions */
#ifndef PLEXOR_CLI_REPLAY_LABELS_H
#define PLEXOR_CLI_REPLAY_LABELS_H

#include "cli/cli_net.h"

#include <plexor/store.h>

/* Runs the campaign's inputs (`id` 0: all) through the network and calls `differs` for each whose
 * prediction is not the stored one; inputs without a stored one are left out. PX_E_MISMATCH where
 * the campaign was made with another network. */
px_status replay_labels(const cli_command *self, px_campaign *campaign, const px_model *model,
                        const cli_data *data, const cli_workers *workers, int64_t id,
                        void (*differs)(int64_t id, void *context), void *context, px_error *err);

#endif
