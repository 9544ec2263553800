/* src/generate/fuzz_modes.c - how often each mutation was tried on each class, and failed
 *
 * Counted where mutants are looked at, one after the other, and committed with them: so the counts
 * are the same for any number of threads and after any interruption.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"

#include <internal/modes.h>
#include <internal/mutate.h>
#include <stdlib.h>

typedef struct mode_cell {
    int64_t tries, faults, close;
    bool changed; /* since the last commit */
} mode_cell;

struct pxi_fuzz_modes {
    const px_mutation_set *set;
    size_t *first; /* of each entry of the set: its first band among all */
    size_t classes;
    mode_cell *cells; /* [bands of all entries][classes] */
};

static mode_cell *modes_cell(const pxi_fuzz_modes *m, size_t entry, int band, int64_t label)
{
    return &m->cells[(m->first[entry] + (size_t)band) * m->classes + (size_t)label];
}

static px_status modes_load(px_fuzz *fuzz, px_error *err)
{
    pxi_fuzz_modes *m = fuzz->modes;
    px_mode *list = NULL;
    size_t count = 0;
    PX_TRY(px_campaign_modes(fuzz->campaign, &list, &count, err));
    for (size_t i = 0; i < count; i++)
        for (size_t e = 0; e < m->set->entry_count; e++)
            if (m->set->entries[e].mutation == list[i].mutation &&
                list[i].label < (int64_t)m->classes)
                *modes_cell(m, e, list[i].band, list[i].label) = (mode_cell){
                    .tries = list[i].tries, .faults = list[i].faults, .close = list[i].close};
    free(list);
    return PX_OK;
}

px_status pxi_fuzz_modes_open(px_fuzz *fuzz, px_error *err)
{
    if (!fuzz->has_mutations)
        return PX_OK;
    const px_mutation_set *set = fuzz->mutations.set;
    pxi_fuzz_modes *m = fuzz->modes = pxi_calloc(1, sizeof *m);
    size_t bands = 0;
    if (m)
        m->first = pxi_calloc(set->entry_count + 1, sizeof *m->first);
    for (size_t e = 0; m && m->first && e < set->entry_count; e++) {
        m->first[e] = bands;
        bands += (size_t)px_mutation_bands(set->entries[e].mutation);
    }
    if (m) {
        m->set = set;
        m->classes = (size_t)fuzz->classes;
        m->cells = pxi_calloc(bands * m->classes, sizeof *m->cells);
    }
    if (!m || !m->first || !m->cells)
        return pxi_no_memory(err);
    return modes_load(fuzz, err);
}

void pxi_fuzz_modes_count(px_fuzz *fuzz, size_t entry, const px_drawn *drawn, int64_t label,
                          bool fault, bool close)
{
    mode_cell *cell = modes_cell(fuzz->modes, entry, px_drawn_band(drawn), label);
    cell->tries++;
    cell->faults += fault;
    cell->close += fault && close;
    cell->changed = true;
}

px_status pxi_fuzz_modes_put(px_fuzz *fuzz, px_error *err)
{
    pxi_fuzz_modes *m = fuzz->modes;
    for (size_t e = 0; m && e < m->set->entry_count; e++) {
        const px_mutation *mutation = m->set->entries[e].mutation;
        for (int band = 0; band < px_mutation_bands(mutation); band++)
            for (int64_t label = 0; label < (int64_t)m->classes; label++) {
                mode_cell *cell = modes_cell(m, e, band, label);
                if (!cell->changed)
                    continue;
                const px_mode mode = {.mutation = mutation,
                                      .band = band,
                                      .label = label,
                                      .tries = cell->tries,
                                      .faults = cell->faults,
                                      .close = cell->close};
                PX_TRY(px_campaign_put_mode(fuzz->campaign, &mode, err));
                cell->changed = false;
            }
    }
    return PX_OK;
}

void pxi_fuzz_modes_close(px_fuzz *fuzz)
{
    if (!fuzz->modes)
        return;
    free(fuzz->modes->first);
    free(fuzz->modes->cells);
    free(fuzz->modes);
}
