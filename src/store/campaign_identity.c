/* src/store/campaign_identity.c - what a campaign is about, as rows of `run` */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <internal/store.h>
#include <internal/system.h>
#include <inttypes.h>
#include <plexor/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool px_campaign_identity_get(const px_campaign *campaign, px_campaign_identity *out)
{
    if (campaign->identified)
        *out = campaign->identity;
    return campaign->identified;
}

size_t px_campaign_size(const px_campaign *campaign)
{
    return campaign->size;
}

static px_status identity_damaged(const px_campaign *campaign, const char *key, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s': is damaged: '%s' in its table 'run' is not readable",
                   campaign->file, key);
}

/* --- checking -------------------------------------------------------------------------------- */

static bool identity_shape_good(const px_shape *shape)
{
    int64_t count = 1;
    if (shape->rank < 1 || shape->rank > PX_MAX_RANK)
        return false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 1 || shape->dim[i] > PXI_STORE_VALUES_MOST / count)
            return false;
        count *= shape->dim[i];
    }
    return true;
}

static bool identity_dtype_good(px_dtype dtype)
{
    return dtype == PX_UINT8 || dtype == PX_FLOAT32;
}

static px_status identity_parse_settings(const char *text, px_json_document **out, px_error *err)
{
    const size_t size = strlen(text);
    if (size > PXI_STORE_SETTINGS_MOST)
        return px_fail(err, PX_E_UNSUPPORTED, "settings of %zu bytes are too long", size);
    PX_TRY(px_json_parse(text, size, out, err));
    if (px_json_root(*out)->kind == PX_JSON_OBJECT)
        return PX_OK;
    px_json_free(*out);
    *out = NULL;
    return px_fail(err, PX_E_INPUT, "settings are not a JSON object");
}

/* --- loading --------------------------------------------------------------------------------- */

static bool identity_hex(const char *text, uint64_t *out)
{
    char *end;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *out = strtoull(text, &end, 16);
    return true;
}

static bool identity_decimal(const char *text, uint64_t *out)
{
    const size_t length = strlen(text);
    if (length < 1 || length > 20 || strspn(text, "0123456789") != length)
        return false;
    *out = strtoull(text, NULL, 10); /* too large saturates, which is as wrong as any number */
    return true;
}

/* "[3,32,32]" */
static px_status identity_shape(const char *text, px_shape *out)
{
    px_json_document *document = NULL;
    px_shape shape = {0};
    PX_TRY(px_json_parse(text, strlen(text), &document, NULL));
    const px_json_value *root = px_json_root(document);
    bool good = root->kind == PX_JSON_ARRAY && root->count <= PX_MAX_RANK;
    for (size_t i = 0; good && i < root->count; i++) {
        const double extent = root->items[i].number;
        good = root->items[i].kind == PX_JSON_NUMBER && extent >= 1 && extent <= (1 << 24) &&
               extent == (double)(int64_t)extent;
        if (good)
            shape.dim[shape.rank++] = (int64_t)extent;
    }
    px_json_free(document);
    *out = shape;
    return good && identity_shape_good(&shape) ? PX_OK : PX_E_INPUT;
}

static bool identity_dtype(const char *text, px_dtype *out)
{
    *out = strcmp(text, "uint8") == 0     ? PX_UINT8
           : strcmp(text, "float32") == 0 ? PX_FLOAT32
                                          : PX_NONE;
    return *out != PX_NONE;
}

enum { KEY_MODEL, KEY_DATA, KEY_SEED, KEY_DTYPE, KEY_SHAPE, KEY_CLASSES, KEY_SETTINGS, KEYS };
static const char *const identity_keys[KEYS] = {"model_hash", "data_hash", "seed",    "dtype",
                                                "shape",      "classes",   "settings"};

static bool identity_classes(const char *text, int *out)
{
    uint64_t classes = 0;
    const bool good = identity_decimal(text, &classes) && classes <= 1 << 20;
    *out = good ? (int)classes : 0;
    return good;
}

static px_status identity_settings(const char *text)
{
    px_json_document *document = NULL;
    const px_status status = identity_parse_settings(text, &document, NULL);
    px_json_free(document);
    return status;
}

/* PX_E_NOMEM, or anything else for a text that is not one. */
static px_status identity_read_key(px_campaign_identity *to, int key, const char *text)
{
    bool good = false;
    switch (key) {
    case KEY_MODEL:
        good = identity_hex(text, &to->model_hash);
        break;
    case KEY_DATA:
        good = identity_hex(text, &to->data_hash);
        break;
    case KEY_SEED:
        good = identity_decimal(text, &to->seed);
        break;
    case KEY_DTYPE:
        good = identity_dtype(text, &to->dtype);
        break;
    case KEY_CLASSES:
        good = identity_classes(text, &to->classes);
        break;
    case KEY_SHAPE:
        return identity_shape(text, &to->shape);
    default:
        return identity_settings(text);
    }
    return good ? PX_OK : PX_E_INPUT;
}

px_status pxi_store_identity_load(px_campaign *campaign, px_error *err)
{
    px_campaign_identity identity = {0};
    for (int key = 0; key < KEYS; key++) {
        char *text = NULL;
        PX_TRY(px_campaign_get(campaign, identity_keys[key], &text, err));
        if (!text && key == 0)
            return PX_OK; /* they come all at once: there is none */
        const px_status status = text ? identity_read_key(&identity, key, text) : PX_E_INPUT;
        if (status != PX_OK) {
            free(text);
            return status == PX_E_NOMEM ? pxi_store_nomem(campaign, err)
                                        : identity_damaged(campaign, identity_keys[key], err);
        }
        if (key == KEY_SETTINGS)
            campaign->settings = text;
        else
            free(text);
    }
    identity.settings = campaign->settings;
    campaign->identity = identity;
    campaign->size = (size_t)px_shape_count(&identity.shape);
    campaign->identified = true;
    return PX_OK;
}

/* --- comparing ------------------------------------------------------------------------------- */

static bool json_equal(const px_json_value *a, const px_json_value *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    switch (a->kind) {
    case PX_JSON_BOOL:
        return a->boolean == b->boolean;
    case PX_JSON_NUMBER:
        return a->number == b->number;
    case PX_JSON_STRING:
        return strcmp(a->string, b->string) == 0;
    default:
        break;
    }
    for (size_t i = 0; i < a->count; i++)
        if ((a->kind == PX_JSON_OBJECT && strcmp(a->keys[i], b->keys[i]) != 0) ||
            !json_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* The first key that one has and the other does not, or has otherwise; NULL: none. */
static const char *identity_other_key(const px_json_value *a, const px_json_value *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const px_json_value *other = px_json_member(b, a->keys[i]);
        if (!other || !json_equal(&a->items[i], other))
            return a->keys[i];
    }
    for (size_t i = 0; i < b->count; i++)
        if (!px_json_member(a, b->keys[i]))
            return b->keys[i];
    return NULL;
}

static px_status identity_compare_settings(const px_campaign *campaign, const char *settings,
                                           px_error *err)
{
    px_json_document *mine = NULL, *theirs = NULL;
    px_status status = identity_parse_settings(campaign->settings, &mine, err);
    PX_THEN(status, identity_parse_settings(settings, &theirs, err));
    if (status == PX_OK) {
        const char *key = identity_other_key(px_json_root(mine), px_json_root(theirs));
        if (key)
            status = px_fail(err, PX_E_MISMATCH,
                             "'%s': was made with another '%.64s'; resume it as it was, or start a "
                             "new campaign",
                             campaign->folder, key);
    }
    px_json_free(mine);
    px_json_free(theirs);
    return status;
}

static px_status identity_compare(const px_campaign *campaign, const px_campaign_identity *other,
                                  px_error *err)
{
    const px_campaign_identity *own = &campaign->identity;
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    const char *folder = campaign->folder;
    if (own->model_hash != other->model_hash)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': was made with another model (%016" PRIx64 ", this is %016" PRIx64 ")",
                       folder, own->model_hash, other->model_hash);
    if (own->data_hash != other->data_hash)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': was made with other data (%016" PRIx64 ", these are %016" PRIx64 ")",
                       folder, own->data_hash, other->data_hash);
    if (own->seed != other->seed)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': was made with seed %" PRIu64 ", not %" PRIu64
                       "; resume it with that, or start a new campaign",
                       folder, own->seed, other->seed);
    if (own->dtype != other->dtype || !px_shape_equal(&own->shape, &other->shape))
        return px_fail(err, PX_E_MISMATCH, "'%s': its inputs are %s %s, these are %s %s", folder,
                       px_shape_text(&own->shape, a), px_dtype_name(own->dtype),
                       px_shape_text(&other->shape, b), px_dtype_name(other->dtype));
    if (own->classes != other->classes)
        return px_fail(err, PX_E_MISMATCH, "'%s': its network has %d classes, this one has %d",
                       folder, own->classes, other->classes);
    return identity_compare_settings(campaign, other->settings, err);
}

/* --- the one public verb --------------------------------------------------------------------- */

static px_status identity_write(px_campaign *campaign, const px_campaign_identity *identity,
                                px_error *err)
{
    char texts[KEYS][PX_SHAPE_TEXT], now[32];
    snprintf(texts[KEY_MODEL], sizeof texts[0], "%016" PRIx64, identity->model_hash);
    snprintf(texts[KEY_DATA], sizeof texts[0], "%016" PRIx64, identity->data_hash);
    snprintf(texts[KEY_SEED], sizeof texts[0], "%" PRIu64, identity->seed);
    snprintf(texts[KEY_DTYPE], sizeof texts[0], "%s", px_dtype_name(identity->dtype));
    px_shape_text(&identity->shape, texts[KEY_SHAPE]);
    snprintf(texts[KEY_CLASSES], sizeof texts[0], "%d", identity->classes);
    for (int key = 0; key < KEYS; key++)
        PX_TRY(px_campaign_set(campaign, identity_keys[key],
                               key == KEY_SETTINGS ? identity->settings : texts[key], err));
    snprintf(now, sizeof now, "%lld", (long long)time(NULL));
    PX_TRY(px_campaign_set(campaign, "created_at", now, err));
    PX_TRY(px_campaign_set(campaign, "version", px_version(), err));
    return px_campaign_commit(campaign, err);
}

px_status px_campaign_identify(px_campaign *campaign, const px_campaign_identity *identity,
                               px_error *err)
{
    px_campaign_identity given = *identity;
    px_json_document *document = NULL;
    if (!given.settings)
        given.settings = "{}";
    if (!identity_dtype_good(given.dtype) || !identity_shape_good(&given.shape) ||
        given.classes < 0 || given.classes > 1 << 20)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': a campaign has uint8 or float32 inputs of at most %lld values",
                       campaign->folder, (long long)PXI_STORE_VALUES_MOST);
    PX_TRY(identity_parse_settings(given.settings, &document, err));
    px_json_free(document);
    if (campaign->identified)
        return identity_compare(campaign, &given, err);
    char *settings = pxi_strdup(given.settings);
    if (!settings)
        return pxi_store_nomem(campaign, err);
    px_campaign_rollback(campaign);
    const px_status status = identity_write(campaign, &given, err);
    if (status != PX_OK) {
        free(settings);
        return status;
    }
    given.settings = campaign->settings = settings;
    campaign->identity = given;
    campaign->size = (size_t)px_shape_count(&given.shape);
    campaign->identified = true;
    return PX_OK;
}
