/* src/store/near.c - how near faults are to their roots, and what roots and classes are called
 *
 * In tables of their own: campaigns of an older schema lack them, which is not known then, and what
 * is damaged in them does not make an input unreadable.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/closeness.h>
#include <internal/store.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 4096 }; /* bytes of a path */

/* --- with the inputs ------------------------------------------------------------------------- */

static bool near_value(sqlite3_stmt *s, int column, double *out)
{
    const int type = sqlite3_column_type(s, column);
    *out = type == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
    return type == SQLITE_NULL || (*out >= 0.0 && *out <= 1.0);
}

/* The end of a statement that has a row, or none. */
static px_status near_stepped(const px_campaign *campaign, sqlite3_stmt *s, int code, px_error *err)
{
    const px_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? PX_OK : pxi_store_fail(campaign, code, err);
    sqlite3_reset(s);
    return status;
}

/* Closeness and names are a courtesy: of a damaged table they are not known, and what they belong
 * to is. A disk that cannot be read is another matter. */
static px_status near_courtesy(px_status status)
{
    return status == PX_E_NOMEM || status == PX_E_IO ? status : PX_OK;
}

static px_status near_read_closeness(px_campaign *campaign, px_campaign_input *input, px_error *err)
{
    sqlite3_stmt *s;
    px_closeness near;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_CLOSENESS, &s, err));
    sqlite3_bind_int64(s, 1, input->id);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW && near_value(s, 0, &near.similarity) &&
        near_value(s, 1, &near.inside)) {
        input->near = near;
        input->measured = true;
    }
    return near_stepped(campaign, s, code, err);
}

static px_status near_read_name(px_campaign *campaign, const px_campaign_input *input,
                                px_error *err)
{
    sqlite3_stmt *s;
    PX_TRY(pxi_store_statement_get(campaign, PXI_SQL_NAME, &s, err));
    sqlite3_bind_int64(s, 1, input->root ? input->root : input->id);
    const int code = sqlite3_step(s);
    const char *name = code == SQLITE_ROW ? pxi_store_column_text(s, 0, NAME_MOST) : NULL;
    if (name)
        px_text_add(&campaign->name, name);
    PX_TRY(near_stepped(campaign, s, code, err));
    return px_text_failed(&campaign->name) ? pxi_store_nomem(campaign, err) : PX_OK;
}

px_status pxi_store_near_read(px_campaign *campaign, px_campaign_input *input, px_error *err)
{
    px_status status = PX_OK;
    input->near = (px_closeness){(double)NAN, (double)NAN};
    px_text_clear(&campaign->name);
    if (campaign->version >= PXI_STORE_CLOSENESS && input->kind == PX_INPUT_FAULT)
        status = near_read_closeness(campaign, input, err);
    if (campaign->version >= PXI_STORE_CLOSENESS && status == PX_OK)
        status = near_read_name(campaign, input, err);
    input->name = px_text_get(&campaign->name);
    return near_courtesy(status);
}

static px_status near_put(px_campaign *campaign, int64_t id, const px_closeness *near,
                          px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_CLOSENESS, &put, err));
    int bound = sqlite3_bind_int64(put, 1, id);
    bound |= sqlite3_bind_double(put, 2, near->similarity); /* NaN becomes NULL */
    bound |= sqlite3_bind_double(put, 3, near->inside);
    return pxi_store_batch_run(campaign, put, bound, err);
}

px_status pxi_store_near_put(px_campaign *campaign, int64_t id, const px_campaign_input *input,
                             px_error *err)
{
    sqlite3_stmt *put;
    if (input->kind == PX_INPUT_FAULT && input->measured)
        return near_put(campaign, id, &input->near, err);
    if (input->kind != PX_INPUT_SEED || !input->name || !*input->name ||
        strlen(input->name) > NAME_MOST)
        return PX_OK;
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_NAME, &put, err));
    int bound = sqlite3_bind_int64(put, 1, id);
    bound |= sqlite3_bind_text(put, 2, input->name, -1, SQLITE_STATIC);
    return pxi_store_batch_run(campaign, put, bound, err);
}

/* --- measured later -------------------------------------------------------------------------- */

static px_status near_measure(px_campaign *campaign, const px_campaign_input *fault,
                              const void *pixels, void *root_pixels, px_closeness *out,
                              px_error *err)
{
    const px_campaign_identity *identity = &campaign->identity;
    px_campaign_input root;
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false;
    PX_TRY(px_chain_parse(fault->chain, &links, &count, &replayable, err));
    px_status status = px_campaign_read(campaign, fault->root, &root, root_pixels, err);
    PX_THEN(status, px_closeness_measure(links, count, &identity->shape, identity->dtype,
                                         root_pixels, pixels, out, err));
    free(links);
    return status;
}

px_status px_campaign_measure(px_campaign *campaign, int64_t id, px_closeness *out, px_error *err)
{
    px_campaign_input in;
    const size_t bytes = campaign->size * px_dtype_size(campaign->identity.dtype);
    uint8_t *pixels = pxi_alloc_aligned(2 * bytes + 1);
    if (!pixels)
        return pxi_store_nomem(campaign, err);
    px_status status = px_campaign_read(campaign, id, &in, pixels, err);
    if (status == PX_OK && (in.measured || in.kind != PX_INPUT_FAULT))
        *out = in.near;
    else if (status == PX_OK)
        status = near_measure(campaign, &in, pixels, pixels + bytes, out, err);
    free(pixels);
    return status;
}

px_status px_campaign_measure_all(px_campaign *campaign, px_error *err)
{
    px_campaign_input in = {0};
    for (;;) {
        px_closeness near;
        PX_TRY(px_campaign_next(campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, err));
        if (!in.id)
            return PX_OK;
        const int64_t id = in.id;
        if (in.measured)
            continue;
        PX_TRY(px_campaign_measure(campaign, id, &near, err));
        PX_TRY(near_put(campaign, id, &near, err));
    }
}

/* --- in order -------------------------------------------------------------------------------- */

typedef struct near_item {
    int64_t id;
    px_input_kind kind;
    px_closeness near;
} near_item;

static int near_compare(const void *a, const void *b)
{
    const near_item *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    const int nearer = px_closeness_compare(&x->near, &y->near);
    if (nearer && x->kind == PX_INPUT_FAULT)
        return nearer;
    return (x->id > y->id) - (x->id < y->id);
}

/* What is not known is not near enough. */
static bool near_enough(const near_item *item, const px_closeness *least)
{
    if (!least || item->kind != PX_INPUT_FAULT)
        return true;
    return (!(least->similarity > 0.0) || item->near.similarity >= least->similarity) &&
           (!(least->inside > 0.0) || item->near.inside >= least->inside);
}

static px_status near_gather(px_campaign *campaign, unsigned kinds, const px_closeness *least,
                             near_item **items, size_t *used, int64_t *damaged, px_error *err)
{
    px_campaign_input in = {0};
    size_t room = 0;
    for (;;) {
        PX_TRY(px_campaign_next(campaign, in.id, kinds, &in, NULL, damaged, err));
        if (!in.id)
            return PX_OK;
        near_item item = {.id = in.id, .kind = in.kind, .near = in.near};
        if (in.kind == PX_INPUT_FAULT && !in.measured) {
            const px_status status = px_campaign_measure(campaign, item.id, &item.near, err);
            in.id = item.id;
            if ((status == PX_E_INPUT || status == PX_E_USAGE) &&
                damaged) /* itself, its chain or its root */
                item.near = (px_closeness){(double)NAN, (double)NAN};
            else
                PX_TRY(status);
        }
        if (!near_enough(&item, least))
            continue;
        if (pxi_grow(items, &room, *used + 1, sizeof **items) != 0)
            return pxi_store_nomem(campaign, err);
        (*items)[(*used)++] = item;
    }
}

px_status px_campaign_list(px_campaign *campaign, unsigned kinds, const px_closeness *least,
                           int64_t **ids, size_t *count, int64_t *damaged, px_error *err)
{
    near_item *items = NULL;
    size_t used = 0;
    px_status status = near_gather(campaign, kinds, least, &items, &used, damaged, err);
    int64_t *list = status == PX_OK ? pxi_calloc(used + 1, sizeof *list) : NULL;
    PX_THEN_IF(status, !list, pxi_store_nomem(campaign, err));
    if (status == PX_OK) {
        if (used)
            qsort(items, used, sizeof *items, near_compare);
        for (size_t i = 0; i < used; i++)
            list[i] = items[i].id;
        *ids = list;
        *count = used;
    }
    free(items);
    return status;
}

/* --- classes --------------------------------------------------------------------------------- */

void pxi_store_classes_forget(px_campaign *campaign)
{
    for (int64_t i = 0; i < campaign->class_count; i++)
        free(campaign->classes[i]);
    free(campaign->classes);
    campaign->classes = NULL;
    campaign->class_count = -1;
}

px_status px_campaign_put_classes(px_campaign *campaign, const char *const *names, int count,
                                  px_error *err)
{
    sqlite3_stmt *put;
    PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_DROP_CLASSES, &put, err));
    PX_TRY(pxi_store_batch_run(campaign, put, SQLITE_OK, err));
    for (int i = 0; i < count; i++) {
        if (!names[i] || strlen(names[i]) > NAME_MOST)
            continue;
        PX_TRY(pxi_store_batch_statement(campaign, PXI_SQL_PUT_CLASS, &put, err));
        int bound = sqlite3_bind_int(put, 1, i);
        bound |= sqlite3_bind_text(put, 2, names[i], -1, SQLITE_STATIC);
        PX_TRY(pxi_store_batch_run(campaign, put, bound, err));
    }
    pxi_store_classes_forget(campaign);
    return PX_OK;
}

px_status pxi_store_classes_load(px_campaign *campaign, px_error *err)
{
    sqlite3_stmt *s;
    const int64_t most = campaign->identity.classes;
    campaign->class_count = 0;
    if (campaign->version < PXI_STORE_CLOSENESS || most <= 0)
        return PX_OK;
    const px_status ready = pxi_store_statement_get(campaign, PXI_SQL_CLASSES, &s, err);
    if (ready != PX_OK)
        return near_courtesy(ready);
    campaign->classes = pxi_calloc((size_t)most, sizeof *campaign->classes);
    if (!campaign->classes)
        return pxi_store_nomem(campaign, err);
    campaign->class_count = most;
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const int64_t c = sqlite3_column_int64(s, 0);
        const char *name = pxi_store_column_text(s, 1, NAME_MOST);
        if (c >= 0 && c < most && name && !campaign->classes[c] &&
            !(campaign->classes[c] = pxi_strdup(name)))
            code = SQLITE_NOMEM;
        if (code == SQLITE_NOMEM)
            break;
    }
    return near_courtesy(near_stepped(campaign, s, code, err));
}

const char *px_campaign_class_name(px_campaign *campaign, int64_t c)
{
    if (campaign->class_count < 0)
        (void)pxi_store_classes_load(campaign, NULL); /* this process has put them */
    return c >= 0 && c < campaign->class_count ? campaign->classes[c] : NULL;
}
