/* src/select/guided.h - what coverage-guided selectors share: nac, kmnc, npc
 *
 * While rows come by, the elements that each candidate covers are kept; then they are put into
 * order. A selector brings prepare() and score(), which fills its candidate's row; what it prepares
 * starts with a pxi_guided.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_GUIDED_H
#define PXI_SELECT_GUIDED_H

#include "select/greedy_cover.h"

#include <plexor/select.h>

typedef struct pxi_guided {
    const char *id;
    pxi_cover_rows rows;
    pxi_greedy_options options;
    int64_t useful; /* candidates that cover something new; after arrange() */
} pxi_guided;

/* The last settings of each: a member `guided` of its config. */
typedef struct pxi_guided_config {
    pxi_greedy_method order;
    pxi_greedy_rest rest;
    bool start; /* at random */
} pxi_guided_config;
extern const char *const pxi_guided_orders[], *const pxi_guided_rests[], *const pxi_guided_starts[];
#define PXI_GUIDED_PARAMS(config)                                                        \
    PX_PARAM_CHOICE_AS(                                                                  \
        "order", config, guided.order, 0, pxi_guided_orders,                             \
        "additional: always the input that covers most of what none before it covers "   \
        "(CAM); total: by what each covers on its own (CTM)"),                           \
        PX_PARAM_CHOICE_AS(                                                              \
            "rest", config, guided.rest, 0, pxi_guided_rests,                            \
            "inputs that cover nothing new: by what they cover on their own, at random " \
            "(DeepGini's code), or as if nothing were covered yet"),                     \
        PX_PARAM_CHOICE_AS("start", config, guided.start, 0, pxi_guided_starts,          \
                           "random: begin with any input (code of DeepGini and ATS)")

/* The options from those settings. */
void pxi_guided_init(pxi_guided *guided, const char *id, const pxi_guided_config *config,
                     uint64_t seed);

/* Members of px_selector, by their names. */
size_t pxi_guided_kept(void *prepared, size_t i, void **array);
px_status pxi_guided_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                             px_error *err);
void pxi_guided_remark(const void *prepared, px_text *text);
extern const px_field pxi_guided_fields[];

#endif
