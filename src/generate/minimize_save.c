/* src/generate/minimize_save.c - chosen inputs of a campaign as a campaign of their own, or a list
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"

#include <internal/minimize.h>
#include <internal/store.h>
#include <inttypes.h>
#include <plexor/field.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_BATCH = 500 }; /* inputs in a transaction */

/* Blobs that inputs need: to be replayed, or measured. */
static const char *const NEEDED_BLOBS[] = {"profile", "styles"};

typedef struct renamed { /* an input of the old campaign that is in the new one */
    int64_t old_id, new_id;
} renamed;

typedef struct save_job {
    px_campaign *from, *to;
    renamed *list; /* ascending: ids are given in the order of the old ones */
    size_t count;
    void *pixels;
} save_job;

static int id_compare(const void *left, const void *right)
{
    const renamed *a = left, *b = right;
    return a->old_id < b->old_id ? -1 : a->old_id > b->old_id;
}

/* The new id; 0: it is not there, or not yet. */
static int64_t new_id_of(const save_job *job, int64_t old_id)
{
    const renamed key = {.old_id = old_id};
    const renamed *found =
        job->count ? bsearch(&key, job->list, job->count, sizeof key, id_compare) : NULL;
    return found ? found->new_id : 0;
}

/* The chosen inputs and their roots, each once, ascending. */
static px_status save_list(save_job *job, const px_minimized *minimized, px_error *err)
{
    PX_TRY(PX_NEW(job->list, 2 * minimized->count + 1, err));
    size_t count = 0;
    for (size_t i = 0; i < minimized->count; i++) {
        px_campaign_input in;
        PX_TRY(px_campaign_read(job->from, minimized->ids[i], &in, NULL, err));
        job->list[count++].old_id = in.id;
        if (in.root)
            job->list[count++].old_id = in.root;
    }
    qsort(job->list, count, sizeof *job->list, id_compare);
    for (size_t i = 0; i < count; i++)
        if (!job->count || job->list[job->count - 1].old_id != job->list[i].old_id)
            job->list[job->count++] = job->list[i];
    return PX_OK;
}

/* The nearest one of its lineage that is in the new campaign: a chain tells the way from the root,
 * so those between are not needed. */
static px_status save_parent(const save_job *job, const px_campaign_input *in, int64_t *parent,
                             px_error *err)
{
    int64_t *lineage = NULL;
    size_t length = 0;
    *parent = 0;
    if (in->kind == PX_INPUT_SEED)
        return PX_OK;
    PX_TRY(px_campaign_lineage(job->from, in->id, &lineage, &length, err));
    for (size_t i = 1; i < length && !*parent; i++)
        *parent = new_id_of(job, lineage[i]);
    free(lineage);
    return PX_OK;
}

static px_status save_input(save_job *job, size_t at, px_error *err)
{
    px_campaign_input in;
    int64_t parent = 0;
    PX_TRY(px_campaign_read(job->from, job->list[at].old_id, &in, NULL, err));
    PX_TRY(save_parent(job, &in, &parent, err));
    PX_TRY(px_campaign_read(job->from, job->list[at].old_id, &in, job->pixels, err));
    in.root = in.root ? new_id_of(job, in.root) : 0;
    in.parent = parent;
    in.twin = in.twin ? new_id_of(job, in.twin) : 0;
    return px_campaign_put(job->to, &in, job->pixels, &job->list[at].new_id, err);
}

static px_status save_blobs(save_job *job, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(NEEDED_BLOBS); i++) {
        void *bytes = NULL;
        size_t size = 0;
        PX_TRY(px_campaign_get_blob(job->from, NEEDED_BLOBS[i], &bytes, &size, err));
        const px_status status =
            bytes ? px_campaign_put_blob(job->to, NEEDED_BLOBS[i], bytes, size, err) : PX_OK;
        free(bytes);
        PX_TRY(status);
    }
    return PX_OK;
}

static px_status save_classes(save_job *job, int count, px_error *err)
{
    const char **names = NULL;
    PX_TRY(PX_NEW(names, (size_t)count + 1, err));
    for (int c = 0; c < count; c++)
        names[c] = px_campaign_class_name(job->from, c);
    const px_status status = px_campaign_put_classes(job->to, names, count, err);
    free(names);
    return status;
}

/* What decided the content is now this too. */
static px_status save_identity(save_job *job, const px_minimized *minimized, px_error *err)
{
    px_campaign_identity identity = {0};
    px_text settings = {0};
    px_campaign_identity_get(job->from, &identity);
    const char *old = identity.settings ? strchr(identity.settings, '{') : NULL;
    const char *rest = old ? old + 1 + strspn(old + 1, " \t\r\n") : "}";
    px_text_format(&settings, "{\"minimized\":{\"from\":%" PRId64 ",\"to\":%zu}%s%s",
                   minimized->from, minimized->count, *rest == '}' ? "" : ",", rest);
    identity.settings = px_text_get(&settings);
    const px_status status = px_text_failed(&settings)
                                 ? pxi_no_memory(err)
                                 : px_campaign_identify(job->to, &identity, err);
    px_text_done(&settings);
    return status;
}

static px_status save_work(save_job *job, const px_minimized *minimized, px_error *err)
{
    px_campaign_identity identity = {0};
    if (!px_campaign_identity_get(job->from, &identity))
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", px_campaign_folder(job->from));
    job->pixels = pxi_calloc(px_campaign_size(job->from), px_dtype_size(identity.dtype));
    if (!job->pixels)
        return pxi_no_memory(err);
    PX_TRY(save_list(job, minimized, err));
    PX_TRY(save_identity(job, minimized, err));
    for (size_t i = 0; i < job->count; i++) {
        PX_TRY(save_input(job, i, err));
        if ((i + 1) % SAVE_BATCH == 0)
            PX_TRY(px_campaign_commit(job->to, err));
    }
    PX_TRY(save_blobs(job, err));
    PX_TRY(save_classes(job, identity.classes, err));
    return px_campaign_commit(job->to, err);
}

px_status px_minimized_campaign(px_campaign *from, const px_minimized *minimized,
                                const char *folder, bool fresh, px_error *err)
{
    save_job job = {.from = from};
    if (px_campaign_is(folder) && !fresh) /* nothing to go on with: it is made in one go */
        return px_fail(err, PX_E_USAGE,
                       "'%s' holds a campaign; --fresh replaces it, or name another folder",
                       folder);
    px_status status =
        px_campaign_open(folder, fresh ? PX_CAMPAIGN_FRESH : PX_CAMPAIGN_CREATE, &job.to, err);
    PX_THEN(status, save_work(&job, minimized, err));
    px_campaign_close(job.to);
    free(job.list);
    free(job.pixels);
    return status;
}

typedef struct csv_line {
    px_campaign_input in;
    const char *kind;
    int64_t root, gain;
} csv_line;

static const px_field csv_columns[] = {
    PX_FIELD(csv_line, in.id, "id", "in the campaign"),
    PX_FIELD(csv_line, kind, "kind", "of input"),
    PX_FIELD(csv_line, in.label, "label", "its class"),
    PX_FIELD(csv_line, in.prediction, "prediction", "of the network"),
    PX_FIELD(csv_line, root, "root", "id of its seed, or its own"),
    PX_FIELD(csv_line, gain, "gain", "elements that it added"),
    PX_FIELDS_END,
};

px_status px_minimized_csv(px_campaign *from, const px_minimized *minimized, const char *path,
                           px_error *err)
{
    px_text text = {0};
    px_status status = PX_OK;
    px_fields_csv(csv_columns, NULL, &text);
    for (size_t i = 0; i < minimized->count && status == PX_OK; i++) {
        csv_line line = {.gain = minimized->gains[i]};
        status = px_campaign_read(from, minimized->ids[i], &line.in, NULL, err);
        line.kind = px_input_kind_name(line.in.kind);
        line.root = line.in.root ? line.in.root : line.in.id;
        if (status == PX_OK)
            px_fields_csv(csv_columns, &line, &text);
    }
    PX_THEN(status, px_text_failed(&text)
                        ? pxi_no_memory(err)
                        : pxi_file_write(path, px_text_get(&text), text.length, err));
    px_text_done(&text);
    return status;
}
