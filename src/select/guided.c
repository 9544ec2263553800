/* src/select/guided.c - what coverage-guided selectors share: nac, kmnc, npc */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/guided.h"

#include "base/memory.h"
#include "select/lazy_greedy.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const pxi_guided_orders[] = {"additional", "total", NULL};
const char *const pxi_guided_rests[] = {"total", "random", "restart", NULL};
const char *const pxi_guided_starts[] = {"best", "random", NULL};

void pxi_guided_init(pxi_guided *guided, const char *id, const pxi_guided_config *config,
                     uint64_t seed)
{
    guided->id = id;
    guided->options = (pxi_greedy_options){
        .method = config->order, .rest = config->rest, .random_start = config->start, .seed = seed};
}

size_t pxi_guided_kept(void *prepared, size_t i, void **array)
{
    const pxi_cover_rows *rows = &((pxi_guided *)prepared)->rows;
    const struct {
        void *base;
        size_t size;
    } all[] = {{rows->bits, (size_t)rows->words * sizeof *rows->bits},
               {rows->sections, (size_t)rows->columns * sizeof *rows->sections},
               {rows->group, sizeof *rows->group}};
    for (size_t k = 0; k < PX_LEN(all); k++)
        if (all[k].base && i-- == 0) {
            *array = all[k].base;
            return all[k].size;
        }
    return 0;
}

px_status pxi_guided_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                             px_error *err)
{
    pxi_guided *g = prepared;
    int64_t *items = pxi_calloc((size_t)count + 1, sizeof *items);
    int64_t *gains = pxi_calloc((size_t)count + 1, sizeof *gains);
    px_status status = items && gains ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK) {
        const int64_t scored = pxi_scored_items(scores, count, items);
        status =
            pxi_greedy_order(&g->rows, items, scored, &g->options, order, gains, &g->useful, err);
        for (int64_t i = 0; i < scored && status == PX_OK; i++)
            scores[order[i]] = (double)gains[i];
        if (status == PX_OK)
            pxi_append_unscored(scores, count, order, scored);
    }
    free(items);
    free(gains);
    return status;
}

void pxi_guided_remark(const void *prepared, px_text *text)
{
    const pxi_guided *g = prepared;
    static const char *const then[] = {"in the order of what they cover on their own",
                                       "in random order", "as if nothing were covered, again"};
    if (g->options.method == PXI_GREEDY_CAM && g->useful < g->rows.count)
        px_text_format(text,
                       "%s: only %" PRId64 " of %" PRId64
                       " inputs cover anything new; the others follow %s\n",
                       g->id, g->useful, g->rows.count, then[g->options.rest]);
}

const px_field pxi_guided_fields[] = {
    PX_FIELD(pxi_guided, useful, "useful", "candidates that cover something new"),
    PX_FIELDS_END,
};
