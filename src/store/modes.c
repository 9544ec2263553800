/* src/store/modes.c - failure modes: which mutations, how strong, break which classes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/field.h>
#include <internal/modes.h>
#include <internal/mutate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double px_mode_rate(const px_mode *mode)
{
    return mode->tries > 0 ? (double)mode->faults / (double)mode->tries : (double)NAN;
}

const char *px_mode_text(const px_mode *mode, char buffer[PX_BAND_TEXT])
{
    return px_band_text(mode->mutation, mode->band, buffer);
}

px_status px_campaign_put_mode(px_campaign *campaign, const px_mode *mode, px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_MODE, &put, err));
    int bound = sqlite3_bind_text(put, 1, mode->mutation->entry.id, -1, SQLITE_STATIC);
    bound |= sqlite3_bind_int(put, 2, mode->band);
    bound |= sqlite3_bind_int64(put, 3, mode->label);
    bound |= sqlite3_bind_int64(put, 4, mode->tries);
    bound |= sqlite3_bind_int64(put, 5, mode->faults);
    bound |= sqlite3_bind_int64(put, 6, mode->close);
    return pxi_store_batch_run(campaign, put, bound, err);
}

/* False: it cannot be what was written. */
static bool mode_decode(sqlite3_stmt *s, px_mode *out)
{
    const char *id = pxi_store_column_text(s, 0, PXI_STORE_NAME_MOST);
    const int64_t band = sqlite3_column_int64(s, 1);
    *out = (px_mode){.mutation = id ? px_mutation_find(id) : NULL,
                     .label = sqlite3_column_int64(s, 2),
                     .tries = sqlite3_column_int64(s, 3),
                     .faults = sqlite3_column_int64(s, 4),
                     .close = sqlite3_column_int64(s, 5)};
    if (!out->mutation || band < 0 || band >= px_mutation_bands(out->mutation))
        return false;
    out->band = (int)band;
    return out->label >= 0 && out->tries >= 0 && out->faults >= 0 && out->close >= 0 &&
           out->faults <= out->tries && out->close <= out->faults;
}

px_status px_campaign_modes(px_campaign *campaign, px_mode **out, size_t *count, px_error *err)
{
    px_mode *list = NULL;
    size_t used = 0, room = 0;
    sqlite3_stmt *s;
    px_status status = PX_OK;
    int code = SQLITE_DONE;
    if (campaign->version >= PXI_STORE_CLOSENESS) {
        PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_MODES, &s, err));
        while (status == PX_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
            px_mode mode;
            if (!mode_decode(s, &mode))
                status = px_fail(err, PX_E_INPUT,
                                 "'%s': is damaged: how often mutations were tried is not readable",
                                 campaign->file);
            else if (pxi_grow(&list, &room, used + 1, sizeof *list) != 0)
                status = pxi_store_nomem(campaign, err);
            else
                list[used++] = mode;
        }
        PX_THEN_IF(status, code != SQLITE_DONE, pxi_store_fail(campaign, code, err));
        sqlite3_reset(s);
    }
    if (status != PX_OK) {
        free(list);
        return status;
    }
    *out = list;
    *count = used;
    return PX_OK;
}

static int mode_compare(const void *a, const void *b)
{
    const px_mode *x = &((const px_mode_sum *)a)->all, *y = &((const px_mode_sum *)b)->all;
    const bool enough_x = x->tries >= PX_MODE_TRIES, enough_y = y->tries >= PX_MODE_TRIES;
    if (enough_x != enough_y)
        return enough_x ? -1 : 1;
    const double rate_x = px_mode_rate(x), rate_y = px_mode_rate(y);
    if (enough_x && rate_x != rate_y)
        return rate_x > rate_y ? -1 : 1;
    if (x->tries != y->tries)
        return x->tries > y->tries ? -1 : 1;
    const int by_name = strcmp(x->mutation->entry.id, y->mutation->entry.id);
    return by_name ? by_name : x->band - y->band;
}

px_status px_modes_read(px_campaign *campaign, px_modes *out, px_error *err)
{
    px_modes m = {0};
    size_t cells = 0;
    PX_TRY(px_campaign_modes(campaign, &m.cells, &cells, err));
    const px_status status = PX_NEW(m.sums, cells + 1, err);
    for (size_t i = 0; status == PX_OK && i < cells; i++) { /* those of a sum follow each other */
        const px_mode *cell = &m.cells[i];
        px_mode_sum *sum = m.count ? &m.sums[m.count - 1] : NULL;
        if (!sum || sum->all.mutation != cell->mutation || sum->all.band != cell->band) {
            sum = &m.sums[m.count++];
            *sum = (px_mode_sum){.all = {cell->mutation, cell->band, -1, 0, 0, 0}, .cells = cell};
        }
        sum->all.tries += cell->tries;
        sum->all.faults += cell->faults;
        sum->all.close += cell->close;
        sum->cell_count++;
    }
    if (m.count)
        qsort(m.sums, m.count, sizeof *m.sums, mode_compare);
    if (status == PX_OK)
        *out = m;
    else
        free(m.cells);
    return status;
}

void px_modes_done(px_modes *modes)
{
    free(modes->cells);
    free(modes->sums);
    *modes = (px_modes){0};
}

static px_datum mode_words(const void *of, char *text)
{
    return px_datum_text(px_mode_text(of, text));
}

static px_datum mode_share(const void *of, char *text)
{
    (void)text;
    return px_datum_real(px_mode_rate(of));
}

static const px_field rate_fields[] = {
    PX_FIELD(px_mode, tries, "tries", "mutants by it that were judged"),
    PX_FIELD(px_mode, faults, "count", "failures among them"),
    PX_FIELD(px_mode, close, "close", "of these, close to their originals"),
    PX_MADE(REAL, mode_share, "rate", "failures per try", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field cell_fields[] = {
    PX_FIELD(px_mode, label, "label", "of the seed"),
    PX_OBJECT_OF(rate_fields, ""),
    PX_FIELDS_END,
};

static const px_field mutation_fields[] = {
    PX_FIELD(px_mutation, entry.id, "mutation", "the last one of a mutant"),
    PX_FIELDS_END,
};

static const px_field sum_fields[] = {
    PX_OBJECT_AT(px_mode_sum, all.mutation, mutation_fields, ""),
    PX_FIELD(px_mode_sum, all.band, "band", "how strong it is, from 0"),
    PX_MADE_OF(TEXT, mode_words, px_mode_sum, all, "text", "both in words"),
    PX_OBJECT(px_mode_sum, all, rate_fields, ""),
    PX_LIST(px_mode_sum, cells, cell_count, cell_fields, "cells", "of each label"),
    PX_FIELDS_END,
};

const px_field px_modes_fields[] = {
    PX_LIST(px_modes, sums, count, sum_fields, "modes", "which mutations, how strong, break it"),
    PX_FIELDS_END,
};
