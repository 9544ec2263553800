/* src/check/check_folder.c - the folder of an examination: what is in it, and whose it is
 *
 *     .plexor         that it is one, and which of the files are its own
 *     check.json      whose it is: network, data, seed and all else that decides results
 *     STAGE.json      the result of a stage, with the key under which it was made
 *     campaign/       what was found: for replay, export, assess
 *     fuzz/           the fuzzer's own campaign, so that it can go on
 *     report.html
 *
 * A result's key is a hash of the identity, of the stage, and of the keys of the results it read.
 * A result with another key, or whose files are not as it says, is made again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "check/check_internal.h"

#include "base/file.h"
#include "base/folder_mark.h"
#include "base/json_most.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <internal/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    RESULT_MOST = 64 << 20, /* bytes: some hundred for each of 20,000 classes, and room */
    LOCK_TRIES = 20         /* of a tenth of a second */
};

char *pxi_check_path(const px_check *c, const char *name)
{
    px_text path = {0};
    px_text_format(&path, "%s/%s", c->folder, name);
    return px_text_take(&path);
}

/* --- what is the examination's own --------------------------------------------------------------
 *
 * Whoever writes another file into the folder adds its name here, or to its stage's files: what is
 * not named is taken for somebody else's, and stays.
 */

#define CHECK_COMMAND "check"
static const char *const own_names[] = {
#define STAGE_FILE(id) #id ".json",
    PXI_STAGES(STAGE_FILE)
#undef STAGE_FILE
        "lock",
    "check.json",
    "doctor.json",
    "report.html",
    "model.onnx",
};

typedef struct folder_names {
    const char *name[PX_LEN(own_names) + PXI_STAGE_COUNT * PXI_STAGE_FILES];
    size_t count;
} folder_names;

static folder_names folder_names_get(void)
{
    folder_names names = {.count = 0};
    for (size_t i = 0; i < PX_LEN(own_names); i++)
        names.name[names.count++] = own_names[i];
    for (int s = 0; s < PXI_STAGE_COUNT; s++)
        for (int i = 0; i < PXI_STAGE_FILES && pxi_stages[s]->files[i].name; i++)
            names.name[names.count++] = pxi_stages[s]->files[i].name;
    return names;
}

static bool is_folder(const char *name)
{
    return name[strlen(name) - 1] == '/';
}

/* "FOLDER/fuzz" of "fuzz/". */
static char *campaign_path(const px_check *c, const char *name)
{
    char *path = pxi_check_path(c, name);
    if (path && path[strlen(path) - 1] == '/')
        path[strlen(path) - 1] = '\0';
    return path;
}

px_status pxi_check_folder_look(const px_check *c, px_error *err)
{
    size_t count = 0;
    const char *const *names = px_campaign_names(&count);
    const folder_names own = folder_names_get();
    PX_TRY(pxi_mark_look(c->folder, CHECK_COMMAND, own.name, own.count, err));
    px_status status = PX_OK;
    for (size_t i = 0; i < own.count && status == PX_OK; i++) {
        if (!is_folder(own.name[i]))
            continue;
        char *path = campaign_path(c, own.name[i]);
        status = path ? pxi_mark_look(path, CHECK_COMMAND, names, count, err) : pxi_no_memory(err);
        free(path);
    }
    return status;
}

px_status pxi_check_campaign_open(const px_check *c, const char *name, bool resume,
                                  px_campaign **out, px_error *err)
{
    size_t count = 0;
    const char *const *names = px_campaign_names(&count);
    char *path = pxi_check_path(c, name);
    px_status status =
        path ? pxi_mark_claim(path, CHECK_COMMAND, names, count, err) : pxi_no_memory(err);
    PX_THEN(status, px_campaign_open_as(path, resume ? PX_CAMPAIGN_RESUME : PX_CAMPAIGN_CREATE,
                                        CHECK_COMMAND, out, err));
    free(path);
    return status;
}

px_status pxi_check_campaign_clear(const px_check *c, const char *name, px_error *err)
{
    px_text part = {0};
    px_text_format(&part, "%s/", name);
    const px_status status = px_text_failed(&part)
                                 ? pxi_no_memory(err)
                                 : pxi_mark_remove(c->folder, px_text_get(&part), err);
    px_text_done(&part);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status folder_open(px_check *c, px_error *err)
{
    const folder_names own = folder_names_get();
    if (pxi_ranks_mute())
        return PX_OK;
    PX_TRY(pxi_mark_claim(c->folder, CHECK_COMMAND, own.name, own.count, err));
    char *path = pxi_check_path(c, "lock");
    if (!path)
        return pxi_no_memory(err);
    c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    free(path);
    if (c->lock < 0)
        return px_fail(err, pxi_errno_status(errno), "'%.200s': cannot write there: %s", c->folder,
                       strerror(errno));
    bool held = flock(c->lock, LOCK_EX | LOCK_NB) == 0;
    for (int i = 0; i < LOCK_TRIES && !held; i++) { /* a process that was killed may be going yet */
        const struct timespec wait = {.tv_nsec = 100000000};
        nanosleep(&wait, NULL);
        held = flock(c->lock, LOCK_EX | LOCK_NB) == 0;
    }
    if (!held)
        return px_fail(err, PX_E_USAGE,
                       "'%.200s': another plexor check is at work there; wait for it, or give "
                       "another folder",
                       c->folder);
    pxi_mark_sweep(c->folder);
    return c->o.fresh ? pxi_mark_clear(c->folder, "lock", err) : PX_OK;
}

px_status pxi_check_folder_open(px_check *c, px_error *err)
{
    const px_status status = folder_open(c, err);
    return pxi_ranks_together() ? pxi_ranks_meet("the folder of the examination", 0, status, 0, err)
                                : status;
}

/* --- whose it is ----------------------------------------------------------------------------- */

static bool value_equal(const px_json_value *a, const px_json_value *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == PX_JSON_STRING)
        return strcmp(a->string, b->string) == 0;
    if (a->kind == PX_JSON_NUMBER)
        return a->number == b->number;
    if (a->kind == PX_JSON_BOOL)
        return a->boolean == b->boolean;
    for (size_t i = 0; i < a->count; i++)
        if ((a->kind == PX_JSON_OBJECT && strcmp(a->keys[i], b->keys[i]) != 0) ||
            !value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* The first member that two objects do not have in common; NULL: they are the same. */
static const char *first_difference(const px_json_value *a, const px_json_value *b)
{
    if (a->kind != PX_JSON_OBJECT || b->kind != PX_JSON_OBJECT)
        return "everything";
    for (size_t i = 0; i < a->count; i++) {
        const px_json_value *other = px_json_member(b, a->keys[i]);
        if (!other || !value_equal(&a->items[i], other))
            return a->keys[i];
    }
    return a->count == b->count ? NULL : "plexor";
}

static px_status identity_compare(const px_check *c, const char *path, const char *text,
                                  size_t size, px_error *err)
{
    px_json_document *had = NULL, *now = NULL;
    const char *mine = px_json_text(&c->identity);
    px_status status = px_json_parse(text, size, &had, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%.200s'", path);
    status = px_json_parse(mine, strlen(mine), &now, err);
    if (status == PX_OK) {
        const char *key = first_difference(px_json_root(now), px_json_root(had));
        if (key)
            status = px_fail(err, PX_E_MISMATCH,
                             "'%.200s' has an examination with another '%.60s'; --fresh replaces "
                             "it, or give another folder with -o",
                             c->folder, key);
    }
    px_json_free(had);
    px_json_free(now);
    return status;
}

px_status pxi_check_folder_identify(px_check *c, px_error *err)
{
    const char *text = px_json_text(&c->identity);
    char *path = pxi_check_path(c, "check.json"), *bytes = NULL;
    size_t size = 0;
    px_status status = PX_OK;
    if (!text || !path) {
        status = pxi_no_memory(err);
    } else if (access(path, F_OK) == 0) {
        status = pxi_file_read(path, RESULT_MOST, &bytes, &size, err);
        PX_THEN(status, identity_compare(c, path, bytes, size, err));
    } else {
        status = pxi_file_write(path, text, strlen(text), err);
    }
    if (status == PX_OK)
        c->identity_hash = XXH3_64bits(text, strlen(text));
    free(bytes);
    free(path);
    return status;
}

/* --- results --------------------------------------------------------------------------------- */

static px_status file_hash(const char *path, uint64_t *out, px_error *err)
{
    FILE *file = fopen(path, "rb");
    XXH3_state_t *state = XXH3_createState();
    char buffer[1 << 16];
    size_t got;
    px_status status = PX_OK;
    if (!file || !state) {
        status = px_fail(err, file ? PX_E_NOMEM : PX_E_IO, "'%.200s': cannot be read", path);
        goto done;
    }
    XXH3_64bits_reset(state);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        XXH3_64bits_update(state, buffer, got);
    if (ferror(file))
        status = px_fail(err, PX_E_IO, "'%.200s': cannot be read", path);
    *out = XXH3_64bits_digest(state);
done:
    XXH3_freeState(state);
    if (file)
        fclose(file);
    return status;
}

px_status pxi_check_files(const px_check *c, const pxi_stage *stage, px_json *out, px_error *err)
{
    px_status status = PX_OK;
    bool any = false;
    for (int i = 0; i < PXI_STAGE_FILES && stage->files[i].name && status == PX_OK; i++) {
        const pxi_stage_file *file = &stage->files[i];
        if (is_folder(file->name))
            continue;
        char *path = pxi_check_path(c, file->name), text[32];
        uint64_t hash = 0;
        if (path && file->optional && access(path, F_OK) != 0) {
            free(path);
            continue;
        }
        if (!any)
            px_json_object(out, "files");
        any = true;
        status = path ? file_hash(path, &hash, err) : pxi_no_memory(err);
        snprintf(text, sizeof text, "%016" PRIx64, hash);
        px_json_string(out, file->name, text);
        free(path);
    }
    if (any)
        px_json_end(out);
    return status;
}

static bool files_match(const px_check *c, const px_json_value *files)
{
    bool good = true;
    for (size_t i = 0; files && files->kind == PX_JSON_OBJECT && good && i < files->count; i++) {
        char text[32];
        uint64_t hash = 0;
        char *path = strchr(files->keys[i], '/') ? NULL : pxi_check_path(c, files->keys[i]);
        good = path && file_hash(path, &hash, NULL) == PX_OK;
        snprintf(text, sizeof text, "%016" PRIx64, hash);
        good = good && files->items[i].kind == PX_JSON_STRING &&
               strcmp(files->items[i].string, text) == 0;
        free(path);
    }
    return good;
}

static char *result_path(const px_check *c, int stage)
{
    char name[64];
    snprintf(name, sizeof name, "%s.json", pxi_stages[stage]->public.entry.id);
    return pxi_check_path(c, name);
}

static void key_text(const px_check *c, int stage, char out[32])
{
    assert(stage >= 0 && stage < PXI_STAGE_COUNT);
    snprintf(out, 32, "%016" PRIx64, c->key[stage]);
}

/* PX_E_MISMATCH for a result of another key, or whose files are not as it says where they are
 * looked at. */
static px_status result_take(px_check *c, int stage, const char *text, size_t size, bool files,
                             px_error *err)
{
    char key[32];
    px_json_document *document = NULL;
    PX_TRY(pxi_json_parse_most(text, size, RESULT_MOST, &document, err));
    const px_json_value *root = px_json_root(document);
    const char *had = pxi_json_words(root, "key");
    const px_json_value *result = pxi_json_path(root, "result");
    key_text(c, stage, key);
    if (!had || strcmp(had, key) != 0 || !result || result->kind != PX_JSON_OBJECT ||
        (files && !files_match(c, px_json_member(result, "files")))) {
        px_json_free(document);
        return px_fail(err, PX_E_MISMATCH, "the result of '%s' is of something else",
                       pxi_stages[stage]->public.entry.id);
    }
    px_json_free(c->document[stage]);
    c->document[stage] = document;
    c->result[stage] = result;
    c->seconds[stage] = pxi_json_number(root, "seconds");
    return PX_OK;
}

px_status pxi_check_result_text(const px_check *c, int stage, char **out, px_error *err)
{
    char *path = result_path(c, stage);
    size_t size = 0;
    const px_status status =
        path ? pxi_file_read(path, RESULT_MOST, out, &size, err) : pxi_no_memory(err);
    free(path);
    return status;
}

bool pxi_check_recall(px_check *c, int stage)
{
    char *text = NULL;
    const bool good = pxi_check_result_text(c, stage, &text, NULL) == PX_OK &&
                      result_take(c, stage, text, strlen(text), /* files= */ true, NULL) == PX_OK;
    free(text);
    return good;
}

px_status pxi_check_keep(px_check *c, int stage, const char *result, double seconds, px_error *err)
{
    char key[32], number[PX_REAL_TEXT];
    px_text text = {0};
    char *path = result_path(c, stage);
    key_text(c, stage, key);
    px_text_format(&text, "{\n  \"stage\": \"%s\",\n  \"key\": \"%s\",\n  \"seconds\": %s,\n",
                   pxi_stages[stage]->public.entry.id, key, px_real_text(seconds, number));
    px_text_add(&text, "  \"result\": ");
    px_text_add(&text, result);
    px_text_add(&text, "\n}\n");
    px_status status = PX_OK;
    if (!path || px_text_failed(&text))
        status = pxi_no_memory(err);
    PX_THEN(status, pxi_file_write(path, px_text_get(&text), text.length, err));
    PX_THEN(status,
            result_take(c, stage, px_text_get(&text), text.length, /* files= */ false, err));
    if (status == PX_E_INPUT || status == PX_E_MISMATCH)
        status = px_fail_in(err, PX_E_INTERNAL, "the result of '%s' cannot be read back",
                            pxi_stages[stage]->public.entry.id);
    px_text_done(&text);
    free(path);
    return status;
}

void pxi_check_forget(px_check *c, int stage)
{
    char *path = result_path(c, stage);
    if (path && !pxi_ranks_mute())
        unlink(path);
    free(path);
}
