/* src/select/guided.h - what coverage-guided selectors share: nac, kmnc, npc
 *
 * While rows come by, the elements that each candidate covers are kept; then they are put into
 * order. A selector brings prepare() and score(), which fills its candidate's row; what it prepares
 * starts with a pxi_guided.
 */
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

/* The last settings of each, in this order. */
enum { PXI_GUIDED_ORDER, PXI_GUIDED_REST, PXI_GUIDED_START, PXI_GUIDED_SETTINGS };
extern const char *const pxi_guided_orders[], *const pxi_guided_rests[], *const pxi_guided_starts[];
#define PXI_GUIDED_PARAMS                                                                     \
    {.name = "order",                                                                         \
     .choices = pxi_guided_orders,                                                            \
     .help = "additional: always the input that covers most of what none before it covers "   \
             "(CAM); total: by what each covers on its own (CTM)"},                           \
        {.name = "rest",                                                                      \
         .choices = pxi_guided_rests,                                                         \
         .help = "inputs that cover nothing new: by what they cover on their own, at random " \
                 "(DeepGini's code), or as if nothing were covered yet"},                     \
    {                                                                                         \
        .name = "start", .choices = pxi_guided_starts,                                        \
        .help = "random: begin with any input (code of DeepGini and ATS)"                     \
    }

/* The options from those settings. */
void pxi_guided_init(pxi_guided *guided, const char *id, const double *settings, uint64_t seed);

/* Members of px_selector, by their names. */
px_status pxi_guided_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                             px_error *err);
void pxi_guided_remark(const void *prepared, px_text *text);
void pxi_guided_report(const void *prepared, px_json *json);

#endif
