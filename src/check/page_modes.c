/* src/check/page_modes.c - failure modes on the page: which mutations, how strong, break which
 * classes
 *
 * The counts are those of stage fuzz; to each cell come the findings on the page that it counts, so
 * that a click can show them.
 */
#include "check/page_inside.h"

#include <plexor/modes.h>
#include <stdlib.h>
#include <string.h>

typedef struct pxi_page_made {
    int64_t id, label;
    const px_mutation *mutation; /* the last one */
    int band;
} page_made;

px_status pxi_modes_note(pxi_page *p, const px_campaign_input *finding, px_error *err)
{
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false;
    if (px_chain_parse(finding->chain, &links, &count, &replayable, NULL) != PX_OK || count == 0) {
        free(links);
        return PX_OK; /* made by gradients */
    }
    const page_made made = {.id = finding->id,
                            .label = finding->label,
                            .mutation = links[count - 1].mutation,
                            .band = px_drawn_band(&links[count - 1])};
    free(links);
    if (pxi_grow(&p->made, &p->made_room, p->made_count + 1, sizeof *p->made) != 0)
        return pxi_check_nomem(err);
    p->made[p->made_count++] = made;
    return PX_OK;
}

static void counts(pxi_page *p, const px_json_value *from)
{
    static const char *const keys[] = {"tries", "count", "close", "rate"};
    pxi_page_copy(p, from, keys, PX_LEN(keys));
}

static void ids(pxi_page *p, const char *mutation, int64_t band, int64_t label)
{
    px_json_array(&p->json, "ids");
    for (size_t i = 0; i < p->made_count; i++) {
        const page_made *m = &p->made[i];
        if (m->label == label && m->band == band && strcmp(m->mutation->id, mutation) == 0)
            px_json_int(&p->json, NULL, m->id);
    }
    px_json_end(&p->json);
}

void pxi_page_modes(pxi_page *p)
{
    const px_json_value *rows = pxi_json_path(p->c->result[PXI_STAGE_fuzz], "modes");
    if (!rows || rows->kind != PX_JSON_ARRAY || rows->count == 0)
        return;
    px_json_object(&p->json, "modes");
    px_json_string(&p->json, "note",
                   "A try is a mutant that the network judged; it counts for its last mutation. "
                   "Rates of fewer than 20 tries say little.");
    px_json_array(&p->json, "rows");
    for (size_t r = 0; r < rows->count; r++) {
        const px_json_value *row = &rows->items[r], *cells = pxi_json_path(row, "cells");
        const char *mutation = pxi_json_words(row, "mutation");
        const int64_t band = pxi_json_int(row, "band", 0);
        if (!mutation || !cells || cells->kind != PX_JSON_ARRAY)
            continue;
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "mutation", mutation);
        px_json_int(&p->json, "band", band);
        px_json_string(&p->json, "text", pxi_json_words(row, "text"));
        counts(p, row);
        px_json_array(&p->json, "cells");
        for (size_t i = 0; i < cells->count; i++) {
            const int64_t label = pxi_json_int(&cells->items[i], "label", -1);
            px_json_object(&p->json, NULL);
            pxi_page_class(p, "label", label);
            counts(p, &cells->items[i]);
            ids(p, mutation, band, label);
            px_json_end(&p->json);
        }
        px_json_end(&p->json);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    px_json_end(&p->json);
}
