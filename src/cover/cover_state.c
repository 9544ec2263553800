/* src/cover/cover_state.c - covers as files, and their sum
 *
 * An NPZ: `meta` (JSON: format, version, network, profile, which inputs of which data were seen,
 * the criteria with their settings and counts) and the criteria's arrays under "ID/". Nothing in it
 * tells when, where or on how many threads it was made, so equal states are equal bytes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_internal.h"

#include "base/memory.h"
#include <internal/npz_meta.h>

#include <string.h>

#define STATE_FORMAT "plexor coverage state"
enum { STATE_VERSION = 1, STATE_MOST_CRITERIA = 256 };

/* --- writing --------------------------------------------------------------------------------- */

static px_status state_meta(const px_cover *cover, px_npz_writer *to, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "format", STATE_FORMAT);
    px_json_int(&json, "version", STATE_VERSION);
    pxi_meta_put_hash(&json, "model", cover->model_hash);
    if (cover->has_profile)
        pxi_meta_put_hash(&json, "profile", cover->profile_hash);
    pxi_seen_put(&cover->seen, &json);
    px_json_array(&json, "criteria");
    for (size_t i = 0; i < cover->count; i++) {
        const pxi_cover_slot *slot = &cover->slots[i];
        px_json_object(&json, NULL);
        px_json_string(&json, "id", slot->criterion->entry.id);
        px_json_string(&json, "settings", slot->settings_text);
        px_json_string(&json, "neurons", slot->definition);
        pxi_meta_put_hash(&json, "rows", slot->rows_hash);
        px_json_int(&json, "observed", slot->observed);
        px_json_int(&json, "rejected", slot->rejected);
        px_json_end(&json);
    }
    px_json_end(&json);
    px_json_end(&json);
    return pxi_meta_put(to, &json, err);
}

px_status px_cover_save(const px_cover *cover, const char *path, px_error *err)
{
    px_npz_writer *to = NULL;
    for (size_t i = 0; i < cover->count; i++)
        if (!cover->slots[i].criterion->save)
            return px_fail(err, PX_E_UNSUPPORTED, "criterion '%s' keeps no state in files",
                           cover->slots[i].criterion->entry.id);
    PX_TRY(px_npz_create(path, &to, err));
    px_status status = state_meta(cover, to, err);
    for (size_t i = 0; i < cover->count && status == PX_OK; i++) {
        const pxi_cover_slot *slot = &cover->slots[i];
        status = slot->criterion->save(slot->state, to, slot->criterion->entry.id, err);
    }
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

static px_status state_slot(px_cover *cover, const px_json_value *entry, px_error *err)
{
    const char *id = NULL, *settings = NULL, *definition = NULL;
    PX_TRY(pxi_meta_string(entry, "id", &id, err));
    PX_TRY(pxi_meta_string(entry, "settings", &settings, err));
    PX_TRY(pxi_meta_string(entry, "neurons", &definition, err));
    const px_criterion *criterion = px_criterion_find(id);
    if (!criterion || !criterion->load)
        return px_fail(err, PX_E_INPUT, "criterion '%.60s' is not known to this plexor", id);
    for (size_t i = 0; i < cover->count; i++)
        if (cover->slots[i].criterion == criterion)
            return px_fail(err, PX_E_INPUT, "criterion '%s' is there twice", id);
    PX_TRY(PX_GROW(cover->slots, cover->capacity, cover->count + 1, err));
    pxi_cover_slot *slot = &cover->slots[cover->count++];
    *slot = (pxi_cover_slot){.criterion = criterion};
    PX_TRY(PX_DUP(slot->settings_text, settings, err));
    PX_TRY(PX_DUP(slot->definition, definition, err));
    PX_TRY(pxi_meta_hash(entry, "rows", &slot->rows_hash, err));
    PX_TRY(pxi_meta_int(entry, "observed", PXI_SEEN_MOST, &slot->observed, err));
    return pxi_meta_int(entry, "rejected", PXI_SEEN_MOST, &slot->rejected, err);
}

static px_status state_read_meta(px_cover *cover, const px_json_value *root, px_error *err)
{
    const px_json_value *criteria = NULL;
    PX_TRY(pxi_meta_hash(root, "model", &cover->model_hash, err));
    cover->has_profile = px_json_member(root, "profile") != NULL;
    if (cover->has_profile)
        PX_TRY(pxi_meta_hash(root, "profile", &cover->profile_hash, err));
    PX_TRY(pxi_seen_take(&cover->seen, root, err));
    PX_TRY(pxi_meta_array(root, "criteria", &criteria, err));
    if (criteria->count > STATE_MOST_CRITERIA)
        return px_fail(err, PX_E_INPUT, "has %zu criteria; %d are the most", criteria->count,
                       STATE_MOST_CRITERIA);
    for (size_t i = 0; i < criteria->count; i++)
        PX_TRY(state_slot(cover, &criteria->items[i], err));
    return PX_OK;
}

static px_status state_read(px_cover *cover, const px_npz *npz, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    PX_TRY(pxi_meta_take(npz, STATE_FORMAT, STATE_VERSION, &document, &root, err));
    px_status status = state_read_meta(cover, root, err);
    for (size_t i = 0; i < cover->count && status == PX_OK; i++) {
        pxi_cover_slot *slot = &cover->slots[i];
        status = pxi_cover_slot_open(slot, err);
        PX_THEN(status, slot->criterion->load(slot->state, npz, slot->criterion->entry.id, err));
        if (status != PX_OK)
            status = px_fail_in(err, status, "criterion '%s'", slot->criterion->entry.id);
    }
    px_json_free(document);
    return status;
}

px_status pxi_cover_read(const px_npz *npz, px_cover **out, px_error *err)
{
    px_cover *cover = pxi_calloc(1, sizeof *cover);
    const px_status status = cover ? state_read(cover, npz, err) : pxi_no_memory(err);
    return PX_GIVE(status, cover, out, px_cover_free);
}

px_status px_cover_open(const char *path, px_cover **out, px_error *err)
{
    px_npz *npz = NULL;
    PX_TRY(px_npz_open(path, &npz, err));
    const px_status status = pxi_cover_read(npz, out, err);
    px_npz_close(npz);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

/* --- the sum --------------------------------------------------------------------------------- */

static px_status merge_check(const px_cover *a, const px_cover *b, px_error *err)
{
    if (a->model_hash != b->model_hash)
        return px_fail(err, PX_E_MISMATCH, "the states are of different networks");
    if (a->has_profile != b->has_profile || (a->has_profile && a->profile_hash != b->profile_hash))
        return px_fail(err, PX_E_MISMATCH, "the states were made with different profiles");
    for (size_t i = 0; i < PX_MAX(a->count, b->count); i++) {
        const pxi_cover_slot *x = &a->slots[i], *y = &b->slots[i];
        if (i >= a->count || i >= b->count || x->criterion != y->criterion)
            return px_fail(err, PX_E_MISMATCH,
                           "the states do not have the same criteria in the same order");
        if (strcmp(x->settings_text, y->settings_text) != 0)
            return px_fail(err, PX_E_MISMATCH,
                           "criterion '%s' has other settings in one state (%.100s) than in the "
                           "other (%.100s)",
                           x->criterion->entry.id, x->settings_text, y->settings_text);
        if (x->rows_hash != y->rows_hash)
            return px_fail(err, PX_E_MISMATCH,
                           "criterion '%s' looked at other neurons in one state (%.120s) than in "
                           "the other (%.120s)",
                           x->criterion->entry.id, x->definition, y->definition);
    }
    return pxi_seen_apart(&a->seen, &b->seen, err);
}

px_status px_cover_merge(px_cover *cover, const px_cover *other, px_error *err)
{
    PX_TRY(merge_check(cover, other, err));
    for (size_t i = 0; i < cover->count; i++) {
        pxi_cover_slot *slot = &cover->slots[i];
        const px_status status = slot->criterion->merge(slot->state, other->slots[i].state, err);
        if (status != PX_OK)
            return px_fail_in(err, status, "criterion '%s'", slot->criterion->entry.id);
        slot->observed += other->slots[i].observed;
        slot->rejected += other->slots[i].rejected;
        slot->seconds += other->slots[i].seconds;
    }
    return pxi_seen_join(&cover->seen, &other->seen, err);
}
