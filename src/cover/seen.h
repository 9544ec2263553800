/* src/cover/seen.h - which inputs of which data a state has seen, so that none counts twice */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_SEEN_H
#define PXI_COVER_SEEN_H

#include <plexor/json.h>
#include <stdint.h>

#define PXI_SEEN_MOST ((int64_t)1 << 50) /* inputs, in files */

typedef struct pxi_seen_range { /* inputs first..end-1 of some data */
    uint64_t data;
    int64_t first, end;
} pxi_seen_range;

typedef struct pxi_seen {  /* {0}: nothing yet */
    pxi_seen_range *range; /* sorted by data and first; neighbours are joined */
    size_t count, capacity;
} pxi_seen;
void pxi_seen_done(pxi_seen *seen);

/* PX_E_MISMATCH if some of the inputs were seen before; the second notes them. */
px_status pxi_seen_may_add(const pxi_seen *seen, pxi_seen_range inputs, px_error *err);
px_status pxi_seen_add(pxi_seen *seen, pxi_seen_range inputs, px_error *err);
/* The same for all that another one has. */
px_status pxi_seen_apart(const pxi_seen *seen, const pxi_seen *other, px_error *err);
px_status pxi_seen_join(pxi_seen *seen, const pxi_seen *other, px_error *err);

/* As `data` in the meta of a state. */
void pxi_seen_put(const pxi_seen *seen, px_json *json);
px_status pxi_seen_take(pxi_seen *seen, const px_json_value *root, px_error *err);

#endif
