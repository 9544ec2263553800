/* tests/store/store_helpers.h - campaigns whose content follows from nothing but its length */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_STORE_HELPERS_H
#define TESTS_STORE_HELPERS_H

#include <plexor/store.h>

enum { SEEDS = 4, SIDE = 8, CHANNELS = 3, VALUES = SIDE * SIDE * CHANNELS, BATCH = 5 };

px_campaign_identity sample_identity(void);

/* Opens it, makes it ours, and goes on until it has `count` inputs, in batches of BATCH. After each
 * commit `committed` (may be NULL) hears of the last id. Returns the first failure. */
px_status grow_campaign(px_campaign *campaign, int64_t count,
                        void (*committed)(int64_t last, void *context), void *context,
                        px_error *err);
/* All at once: a new campaign of that many inputs, closed again. */
px_status make_campaign(const char *folder, int64_t count, px_error *err);

#endif
