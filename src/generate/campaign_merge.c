/* src/generate/campaign_merge.c - campaigns of one network and data set as one */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/campaign_merge.h>

#include "base/memory.h"
#include "generate/fuzz_internal.h"

#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MERGE_BATCH = 500 }; /* inputs in a transaction */

/* Blobs that inputs need: to be replayed, or measured. */
static const char *const NEEDED_BLOBS[] = {"profile", "styles"};

typedef struct merge_seen { /* an input of the result, by what makes others the same */
    uint64_t key;           /* 0: free */
    int64_t id;
} merge_seen;

typedef struct merge {
    px_campaign *to;
    px_campaign_identity identity; /* settings: not kept */
    size_t size;                   /* bytes of an input */
    void *pixels;
    int64_t *ids;     /* of the campaign at work: what became of them; 0: left out */
    int64_t *up;      /* and their parents there */
    merge_seen *seen; /* open addressing; room is a power of two */
    size_t seen_count, seen_room;
    pxi_fuzz_twins *twins;
    double low, high; /* of stored values */
    int64_t put;
    double executions, seconds, unstored, wrong;
    px_merged sum;
} merge;

/* --- what is there already ------------------------------------------------------------------- */

static merge_seen *seen_at(merge_seen *seen, size_t room, uint64_t key)
{
    size_t at = (size_t)(key >> 8) & (room - 1);
    while (seen[at].key && seen[at].key != key)
        at = (at + 1) & (room - 1);
    return &seen[at];
}

static px_status seen_grow(merge *m, px_error *err)
{
    if (m->seen_count < m->seen_room / 2)
        return PX_OK;
    const size_t room = PX_MAX(2 * m->seen_room, (size_t)1024);
    merge_seen *seen = NULL;
    PX_TRY(PX_NEW(seen, room, err));
    for (size_t i = 0; i < m->seen_room; i++)
        if (m->seen[i].key)
            *seen_at(seen, room, m->seen[i].key) = m->seen[i];
    free(m->seen);
    m->seen = seen;
    m->seen_room = room;
    return PX_OK;
}

/* Of seeds: their place in the data, or what they look like where that is not known. Of others: the
 * seed and what they look like. */
static uint64_t input_key(const merge *m, const px_campaign_input *in)
{
    struct {
        int64_t kind, root;
        uint64_t what;
    } parts = {.kind = in->kind, .root = in->root};
    parts.what = in->kind == PX_INPUT_SEED && in->data_index >= 0 ? (uint64_t)in->data_index
                                                                  : XXH3_64bits(m->pixels, m->size);
    const uint64_t key = XXH3_64bits(&parts, sizeof parts);
    return key ? key : 1;
}

/* --- one input ------------------------------------------------------------------------------- */

static px_status input_put(merge *m, const px_campaign_input *in, int64_t *id, px_error *err)
{
    PX_TRY(px_campaign_put(m->to, in, m->pixels, id, err));
    if (++m->put % MERGE_BATCH == 0)
        PX_TRY(px_campaign_commit(m->to, err));
    return PX_OK;
}

/* What is there already; *place (valid until the next call) is where it would be noted. */
static px_status input_seen(merge *m, const px_campaign_input *in, uint64_t *key,
                            merge_seen **place, px_error *err)
{
    PX_TRY(seen_grow(m, err));
    *key = input_key(m, in);
    *place = seen_at(m->seen, m->seen_room, *key);
    return PX_OK;
}

static void input_note(merge *m, uint64_t key, merge_seen *place, int64_t id)
{
    *place = (merge_seen){.key = key, .id = id};
    m->seen_count++;
}

/* A kept input or a seed: once. */
static px_status input_once(merge *m, const px_campaign_input *in, int64_t *id, px_error *err)
{
    uint64_t key;
    merge_seen *place;
    PX_TRY(input_seen(m, in, &key, &place, err));
    if (place->key) {
        *id = place->id;
        m->sum.repeats += in->kind == PX_INPUT_KEPT;
        return PX_OK;
    }
    PX_TRY(input_put(m, in, id, err));
    input_note(m, key, place, *id);
    return PX_OK;
}

/* Of each seed and answer the first few are looked at for twins, so that the same picture may pass
 * there. */
static px_status input_fault(merge *m, px_campaign_input *in, int64_t *id, px_error *err)
{
    const size_t root = (size_t)in->root;
    uint64_t key;
    merge_seen *place;
    *id = 0;
    PX_TRY(input_seen(m, in, &key, &place, err));
    if (place->key || pxi_fuzz_twins_find(m->twins, m->pixels, root, in->prediction, NULL)) {
        m->sum.twins++;
        *id = place->key ? place->id : 0;
        return PX_OK;
    }
    in->twin = 0;
    PX_TRY(input_put(m, in, id, err));
    input_note(m, key, place, *id);
    return pxi_fuzz_twins_add(m->twins, *id, 0, m->pixels, root, in->prediction, err);
}

/* What is left of the lineage: the nearest that is in the result. */
static int64_t input_parent(const merge *m, int64_t parent)
{
    while (parent > 0 && !m->ids[parent])
        parent = m->up[parent];
    return parent > 0 ? m->ids[parent] : 0;
}

static px_status merge_input(merge *m, px_campaign_input *in, int64_t last, const char *folder,
                             px_error *err)
{
    const int64_t id = in->id;
    if (in->root < 0 || in->root > last || in->parent < 0 || in->parent >= id || id > last ||
        (in->kind != PX_INPUT_SEED && !m->ids[in->root]))
        return px_fail(err, PX_E_INPUT, "'%.200s': input %" PRId64 " has no root", folder, id);
    m->up[id] = in->parent;
    in->parent = input_parent(m, in->parent);
    in->root = in->root ? m->ids[in->root] : 0;
    m->sum.from_seeds += in->kind == PX_INPUT_SEED;
    m->sum.from_kept += in->kind == PX_INPUT_KEPT;
    m->sum.from_faults += in->kind == PX_INPUT_FAULT;
    return in->kind == PX_INPUT_FAULT ? input_fault(m, in, &m->ids[id], err)
                                      : input_once(m, in, &m->ids[id], err);
}

/* --- one campaign ---------------------------------------------------------------------------- */

static px_status campaign_fits(merge *m, px_campaign *from, px_error *err)
{
    px_campaign_identity other;
    const char *what = NULL;
    const px_campaign_identity *own = &m->identity;
    if (!px_campaign_identity_get(from, &other))
        return px_fail(err, PX_E_INPUT, "'%.200s': holds nothing yet", px_campaign_folder(from));
    if (other.model_hash != own->model_hash)
        what = "another network";
    else if (other.data_hash != own->data_hash)
        what = "other data";
    else if (other.dtype != own->dtype || !px_shape_equal(&other.shape, &own->shape))
        what = "other pixels";
    return what ? px_fail(err, PX_E_MISMATCH, "'%.200s' has %s than the first campaign",
                          px_campaign_folder(from), what)
                : PX_OK;
}

static px_status merge_campaign(merge *m, px_campaign *from, px_error *err)
{
    px_campaign_input in = {0};
    int64_t last = 0;
    PX_TRY(campaign_fits(m, from, err));
    PX_TRY(px_campaign_last(from, &last, err));
    free(m->ids);
    free(m->up);
    m->ids = m->up = NULL;
    PX_TRY(PX_NEW(m->ids, (size_t)last + 1, err));
    PX_TRY(PX_NEW(m->up, (size_t)last + 1, err));
    for (int64_t after = 0;; after = in.id) {
        PX_TRY(px_campaign_next(from, after, PX_INPUT_ANY, &in, m->pixels, NULL, err));
        if (!in.id)
            break;
        const int64_t id = in.id;
        PX_TRY(merge_input(m, &in, last, px_campaign_folder(from), err));
        in.id = id;
    }
    m->executions += px_campaign_get_real(from, "executions", 0.0);
    m->seconds += px_campaign_get_real(from, "seconds", 0.0);
    m->unstored += px_campaign_get_real(from, "faults_not_stored", 0.0);
    m->wrong = fmax(m->wrong, px_campaign_get_real(from, "seeds_wrong", 0.0));
    return PX_OK;
}

/* What replays and measurements need, of the first that has it. */
static px_status merge_blobs(merge *m, px_campaign *from, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(NEEDED_BLOBS); i++) {
        void *bytes = NULL;
        size_t size = 0;
        PX_TRY(px_campaign_get_blob(m->to, NEEDED_BLOBS[i], &bytes, &size, err));
        const bool there = bytes != NULL;
        free(bytes);
        if (there)
            continue;
        PX_TRY(px_campaign_get_blob(from, NEEDED_BLOBS[i], &bytes, &size, err));
        const px_status status =
            bytes ? px_campaign_put_blob(m->to, NEEDED_BLOBS[i], bytes, size, err) : PX_OK;
        free(bytes);
        PX_TRY(status);
    }
    return PX_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* Of float values: those of the first campaign's seeds. */
static px_status merge_range(merge *m, px_campaign *from, px_error *err)
{
    const float *values = m->pixels;
    px_campaign_input in = {0};
    m->low = 0.0;
    m->high = m->identity.dtype == PX_UINT8 ? 255.0 : 1.0;
    while (m->identity.dtype != PX_UINT8) {
        PX_TRY(px_campaign_next(from, in.id, PX_INPUT_SEED, &in, m->pixels, NULL, err));
        if (!in.id)
            break;
        for (size_t i = 0; i < m->size / sizeof *values; i++) {
            m->low = fmin(m->low, (double)values[i]);
            m->high = fmax(m->high, (double)values[i]);
        }
    }
    return PX_OK;
}

static px_status merge_begin(merge *m, px_campaign *first, double near, px_error *err)
{
    const char **names = NULL;
    if (!px_campaign_identity_get(first, &m->identity))
        return px_fail(err, PX_E_INPUT, "'%.200s': holds nothing yet", px_campaign_folder(first));
    m->size = px_campaign_size(first) * px_dtype_size(m->identity.dtype);
    m->pixels = pxi_alloc_aligned(PX_MAX(m->size, (size_t)1));
    if (!m->pixels)
        return pxi_no_memory(err);
    PX_TRY(merge_range(m, first, err));
    const pxi_twins_rule rule = {.shape = m->identity.shape,
                                 .bytes = m->identity.dtype == PX_UINT8,
                                 .low = m->low,
                                 .high = m->high,
                                 .near = near};
    PX_TRY(pxi_fuzz_twins_new(&rule, &m->twins, err));
    px_campaign_identity identity = m->identity;
    identity.settings = "{\"engine\":\"merge\"}";
    PX_TRY(px_campaign_identify(m->to, &identity, err));
    PX_TRY(PX_NEW(names, (size_t)identity.classes + 1, err));
    for (int c = 0; c < identity.classes; c++)
        names[c] = px_campaign_class_name(first, c);
    const px_status status = px_campaign_put_classes(m->to, names, identity.classes, err);
    free(names);
    return status;
}

static px_status merge_end(merge *m, px_error *err)
{
    PX_TRY(px_campaign_set_int(m->to, "executions", (int64_t)m->executions, err));
    PX_TRY(px_campaign_set_real(m->to, "seconds", m->seconds, err));
    PX_TRY(
        px_campaign_set_int(m->to, "faults_not_stored", (int64_t)m->unstored + m->sum.twins, err));
    PX_TRY(px_campaign_set_int(m->to, "seeds_wrong", (int64_t)m->wrong, err));
    PX_TRY(px_campaign_commit(m->to, err));
    return px_campaign_count(m->to, &m->sum.counts, err);
}

static px_status merge_one(merge *m, const char *folder, bool first, double near, px_error *err)
{
    px_campaign *from = NULL;
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &from, err));
    px_status status = first ? merge_begin(m, from, near, err) : PX_OK;
    PX_THEN(status, merge_campaign(m, from, err));
    PX_THEN(status, merge_blobs(m, from, err));
    px_campaign_close(from);
    m->sum.campaigns++;
    return status;
}

px_status px_campaigns_merge(const char *const *folders, size_t count, const char *to, double near,
                             bool fresh, px_merged *out, px_error *err)
{
    merge m = {.to = NULL};
    for (size_t i = 0; i < count; i++) /* before a folder is made */
        if (!px_campaign_is(folders[i]))
            return px_fail(err, PX_E_INPUT, "'%.200s': is no campaign", folders[i]);
    if (px_campaign_is(to) && !fresh) /* nothing to go on with: it is made in one go */
        return px_fail(err, PX_E_USAGE,
                       "'%.200s' holds a campaign; --fresh replaces it, or name another folder",
                       to);
    px_status status =
        px_campaign_open(to, fresh ? PX_CAMPAIGN_FRESH : PX_CAMPAIGN_CREATE, &m.to, err);
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = merge_one(&m, folders[i], i == 0, near, err);
    PX_THEN(status, merge_end(&m, err));
    if (status == PX_OK)
        *out = m.sum;
    px_campaign_close(m.to);
    pxi_fuzz_twins_free(m.twins);
    free(m.pixels);
    free(m.ids);
    free(m.up);
    free(m.seen);
    return status;
}
