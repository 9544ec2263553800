/* src/store/modes.c - failure modes: which mutations, how strong, break which classes */
#include "store/store_inside.h"

#include "base/memory.h"

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
        if (status == PX_OK && code != SQLITE_DONE)
            status = pxi_store_fail(campaign, code, err);
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
    const px_mode *x = a, *y = b;
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

size_t px_modes_rank(px_mode *modes, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) { /* labels of one mutation and band follow each other */
        px_mode *last = used ? &modes[used - 1] : NULL;
        if (!last || last->mutation != modes[i].mutation || last->band != modes[i].band) {
            modes[used] = modes[i];
            modes[used++].label = -1;
            continue;
        }
        last->tries += modes[i].tries;
        last->faults += modes[i].faults;
        last->close += modes[i].close;
    }
    if (used)
        qsort(modes, used, sizeof *modes, mode_compare);
    return used;
}

static void mode_json(const px_mode *mode, px_json *json)
{
    px_json_int(json, "tries", mode->tries);
    px_json_int(json, "count", mode->faults);
    px_json_int(json, "close", mode->close);
    px_json_real(json, "rate", px_mode_rate(mode));
}

px_status px_modes_json(const px_mode *modes, size_t count, px_json *json, px_error *err)
{
    char text[PX_BAND_TEXT];
    px_mode *rows = NULL;
    PX_TRY(PX_NEW(rows, count + 1, err));
    for (size_t i = 0; i < count; i++)
        rows[i] = modes[i];
    const size_t row_count = px_modes_rank(rows, count);
    px_json_array(json, "modes");
    for (size_t r = 0; r < row_count; r++) {
        px_json_object(json, NULL);
        px_json_string(json, "mutation", rows[r].mutation->entry.id);
        px_json_int(json, "band", rows[r].band);
        px_json_string(json, "text", px_mode_text(&rows[r], text));
        mode_json(&rows[r], json);
        px_json_array(json, "cells");
        for (size_t i = 0; i < count; i++)
            if (modes[i].mutation == rows[r].mutation && modes[i].band == rows[r].band) {
                px_json_object(json, NULL);
                px_json_int(json, "label", modes[i].label);
                mode_json(&modes[i], json);
                px_json_end(json);
            }
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
    free(rows);
    return PX_OK;
}
