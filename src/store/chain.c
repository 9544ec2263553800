/* src/store/chain.c - how an input came from its seed: written down, read back, done again */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/store.h>
#include <inttypes.h>
#include <plexor/json.h>
#include <stdlib.h>
#include <string.h>

/* Without line breaks, unlike px_json: there is one in every row. What mutations are called needs
 * no escapes. */
char *px_chain_text(const px_drawn *links, size_t count)
{
    px_text text = {0};
    char link[PX_DRAWN_TEXT];
    px_text_add(&text, "[");
    for (size_t i = 0; i < count; i++)
        px_text_format(&text, "%s\"%s\"", i ? "," : "", px_drawn_text(&links[i], link));
    px_text_add(&text, "]");
    return px_text_take(&text);
}

/* All items are strings, of which each must be a mutation; else it is JSON of another kind. */
static bool chain_is_list(const px_json_value *root)
{
    if (root->kind != PX_JSON_ARRAY)
        return false;
    for (size_t i = 0; i < root->count; i++)
        if (root->items[i].kind != PX_JSON_STRING)
            return false;
    return true;
}

static px_status chain_links(const px_json_value *root, px_drawn **links, px_error *err)
{
    if (root->count > PX_CHAIN_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "a chain of %zu links is longer than %d", root->count,
                       PX_CHAIN_MOST);
    px_drawn *list = root->count ? pxi_calloc(root->count, sizeof *list) : NULL;
    if (root->count && !list)
        return pxi_no_memory(err);
    for (size_t i = 0; i < root->count; i++) {
        const px_status status = px_drawn_parse(root->items[i].string, &list[i], err);
        if (status != PX_OK) {
            free(list);
            return px_fail_in(err, status == PX_E_USAGE ? PX_E_INPUT : status, "link %zu", i + 1);
        }
    }
    *links = list;
    return PX_OK;
}

px_status px_chain_parse(const char *text, px_drawn **links, size_t *count, bool *replayable,
                         px_error *err)
{
    px_json_document *document = NULL;
    px_status status = PX_OK;
    if (!text || !*text) {
        *links = NULL;
        *count = 0;
        *replayable = true;
        return PX_OK;
    }
    PX_TRY(px_json_parse(text, strlen(text), &document, err));
    const px_json_value *root = px_json_root(document);
    const bool list = chain_is_list(root);
    px_drawn *made = NULL;
    if (list)
        status = chain_links(root, &made, err);
    if (status == PX_OK) {
        *links = made;
        *count = list ? root->count : 0;
        *replayable = list;
    }
    px_json_free(document);
    return status;
}

/* --- styles ---------------------------------------------------------------------------------- */

#define CHAIN_STYLES "styles" /* the blob */

px_status px_campaign_put_styles(px_campaign *campaign, const px_styles *styles, px_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    PX_TRY(px_styles_save(styles, &bytes, &size, err));
    const px_status status = px_campaign_put_blob(campaign, CHAIN_STYLES, bytes, size, err);
    free(bytes);
    return status;
}

px_status px_campaign_get_styles(px_campaign *campaign, px_styles **out, px_error *err)
{
    void *bytes = NULL;
    size_t size = 0;
    px_styles *styles = NULL;
    PX_TRY(px_campaign_get_blob(campaign, CHAIN_STYLES, &bytes, &size, err));
    const px_status status = bytes ? px_styles_load(bytes, size, &styles, err) : PX_OK;
    free(bytes);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", campaign->folder);
    *out = styles;
    return PX_OK;
}

/* --- replay ---------------------------------------------------------------------------------- */

typedef struct chain_room { /* four pictures; `origin` is the root's */
    uint8_t *stored, *origin, *now, *next;
} chain_room;

/* Of float inputs: what their values were taken to lie between when they were mutated, as the
 * settings say; 0 and 1 where they do not. */
static void chain_range(const px_campaign *campaign, double *low, double *high)
{
    px_json_document *document = NULL;
    *low = 0.0;
    *high = 1.0;
    if (px_json_parse(campaign->settings, strlen(campaign->settings), &document, NULL) != PX_OK)
        return;
    const px_json_value *least = px_json_member(px_json_root(document), "low");
    const px_json_value *most = px_json_member(px_json_root(document), "high");
    if (least && most && least->kind == PX_JSON_NUMBER && most->kind == PX_JSON_NUMBER &&
        least->number < most->number) {
        *low = least->number;
        *high = most->number;
    }
    px_json_free(document);
}

/* From room->origin through all links; what comes out is in room->now. */
static px_status chain_apply(const px_campaign *campaign, const px_drawn *links, size_t count,
                             chain_room *room, px_error *err)
{
    const px_campaign_identity *identity = &campaign->identity;
    const px_shape *shape = &identity->shape;
    if (shape->rank != 3)
        return px_fail(err, PX_E_MISMATCH, "'%s': its inputs are not pictures, but have mutations",
                       campaign->folder);
    double low = 0.0, high = 255.0;
    if (identity->dtype != PX_UINT8)
        chain_range(campaign, &low, &high);
    memcpy(room->now, room->origin, campaign->size * px_dtype_size(identity->dtype));
    for (size_t i = 0; i < count; i++) {
        if (identity->dtype == PX_UINT8)
            PX_TRY(px_mutation_apply_near(&links[i], room->origin, room->now, room->next,
                                          (int)shape->dim[1], (int)shape->dim[2],
                                          (int)shape->dim[0], err));
        else
            PX_TRY(px_mutation_apply_values_near(
                &links[i], shape, low, high, (const float *)(const void *)room->origin,
                (const float *)(const void *)room->now, (float *)(void *)room->next, err));
        uint8_t *swap = room->now;
        room->now = room->next;
        room->next = swap;
    }
    return PX_OK;
}

/* Where a link is a style, the pictures that it may be of are in the campaign. */
static px_status chain_styles(px_campaign *campaign, px_drawn *links, size_t count, px_styles **out,
                              px_error *err)
{
    size_t styled = 0;
    for (size_t i = 0; i < count; i++)
        styled += links[i].mutation->apply_drawn != NULL;
    if (!styled)
        return PX_OK;
    PX_TRY(px_campaign_get_styles(campaign, out, err));
    for (size_t i = 0; i < count; i++)
        links[i].styles = *out;
    return PX_OK;
}

/* Reads the input and its chain; *root is 0 where there is nothing to replay. */
static px_status chain_read(px_campaign *campaign, int64_t id, void *stored, int64_t *root,
                            px_drawn **links, size_t *count, px_error *err)
{
    px_campaign_input in;
    bool replayable = false;
    PX_TRY(px_campaign_read(campaign, id, &in, stored, err));
    *root = 0;
    if (in.kind == PX_INPUT_SEED || !*in.chain)
        return PX_OK;
    const px_status status = px_chain_parse(in.chain, links, count, &replayable, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s': the chain of input %" PRId64, campaign->folder, id);
    /* Mutations of recordings: stored are features, whose recordings are not here. */
    *root = replayable && !(*count && (*links)[0].mutation->apply_samples) ? in.root : 0;
    return PX_OK;
}

px_status px_campaign_replay(px_campaign *campaign, int64_t id, void *pixels, px_replayed *out,
                             px_error *err)
{
    const size_t bytes = campaign->size * px_dtype_size(campaign->identity.dtype);
    px_drawn *links = NULL;
    px_styles *styles = NULL;
    size_t count = 0;
    int64_t root = 0;
    px_campaign_input seed;
    chain_room room = {.stored = pxi_alloc_aligned(bytes),
                       .origin = pxi_alloc_aligned(bytes),
                       .now = pxi_alloc_aligned(bytes),
                       .next = pxi_alloc_aligned(bytes)};
    px_status status = room.stored && room.origin && room.now && room.next
                           ? PX_OK
                           : pxi_store_nomem(campaign, err);
    PX_THEN(status, chain_read(campaign, id, room.stored, &root, &links, &count, err));
    PX_THEN_IF(status, root, chain_styles(campaign, links, count, &styles, err));
    PX_THEN_IF(status, root, px_campaign_read(campaign, root, &seed, room.origin, err));
    PX_THEN_IF(status, root, chain_apply(campaign, links, count, &room, err));
    if (status == PX_OK) {
        const uint8_t *result = root ? room.now : room.stored;
        *out = !root                                     ? PX_REPLAY_STORED
               : memcmp(result, room.stored, bytes) == 0 ? PX_REPLAY_SAME
                                                         : PX_REPLAY_DIFFERS;
        if (pixels)
            memcpy(pixels, result, bytes);
    }
    free(links);
    px_styles_free(styles);
    free(room.stored);
    free(room.origin);
    free(room.now);
    free(room.next);
    return status;
}
