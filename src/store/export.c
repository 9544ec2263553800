/* src/store/export.c - inputs as files that other programs read: PNG, NPZ, CSV, a contact sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"

#include <internal/closeness.h>
#include <internal/data.h>
#include <internal/folder.h>
#include <internal/picture.h>
#include <internal/store.h>
#include <internal/system.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Items; pixels between two of a pair; what small pictures are enlarged to, about. */
enum { SHEET_MOST = 200, SHEET_BETWEEN = 2, SHEET_SIDE = 64 };

typedef struct export_job {
    px_campaign *campaign;
    px_folder *folder;
    px_export_options options;
    const px_campaign_identity *identity;
    px_npz_writer *npz;
    px_sheet *sheet;
    px_text index;
    px_text path; /* of the input at hand, below the folder; "": no picture */
    int64_t *ids, *labels, *predictions, *indices; /* of `count` inputs, all in `numbers` */
    int64_t *numbers;
    int64_t *list; /* ids, in order */
    int64_t count, at, shown;
    uint8_t *planes, *together;
    uint8_t *pair; /* an original and what became of it, side by side */
    bool pictures;
} export_job;

px_export_options px_export_options_default(void)
{
    return (px_export_options){
        .kinds = PX_INPUT_FAULT, .png = true, .npz = true, .csv = true, .sheet = true};
}

static char *export_path(const export_job *job, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", px_folder_path(job->folder), name);
    return px_text_take(&text);
}

static px_status export_mkdir(const export_job *job, const char *name, px_error *err)
{
    char *path = export_path(job, name);
    if (!path)
        return pxi_store_nomem(job->campaign, err);
    const px_status status = px_folder_make(path, err);
    free(path);
    return status;
}

/* --- one input ------------------------------------------------------------------------------- */

/* "faults/3-as-5/17.png", with its folders. */
static px_status export_place(export_job *job, const px_campaign_input *in, px_error *err)
{
    static const char *const folders[] = {
        [PX_INPUT_SEED] = "seeds", [PX_INPUT_KEPT] = "kept", [PX_INPUT_FAULT] = "faults"};
    char label[32] = "unlabelled";
    px_text *path = &job->path;
    if (in->label >= 0)
        snprintf(label, sizeof label, "%" PRId64, in->label);
    px_text_clear(path);
    px_text_add(path, folders[in->kind]);
    PX_TRY(export_mkdir(job, px_text_get(path), err));
    px_text_format(path, "/%s", label);
    if (in->kind == PX_INPUT_FAULT && in->prediction >= 0)
        px_text_format(path, "-as-%" PRId64, in->prediction);
    PX_TRY(export_mkdir(job, px_text_get(path), err));
    px_text_format(path, "/%" PRId64 ".png", in->id);
    return px_text_failed(path) ? pxi_store_nomem(job->campaign, err) : PX_OK;
}

static px_status export_png(export_job *job, const px_campaign_input *in, px_error *err)
{
    const px_shape *shape = &job->identity->shape;
    PX_TRY(export_place(job, in, err));
    char *path = export_path(job, px_text_get(&job->path));
    if (!path)
        return pxi_store_nomem(job->campaign, err);
    const px_status status = px_png_save(path, (int)shape->dim[2], (int)shape->dim[1],
                                         (int)shape->dim[0], job->together, err);
    free(path);
    return status;
}

/* "Pullover as Coat", or numbers where classes have no names. */
static void export_class(const export_job *job, int64_t c, char *out, size_t size)
{
    const char *name = px_campaign_class_name(job->campaign, c);
    if (name)
        snprintf(out, size, "%s", name);
    else if (c >= 0)
        snprintf(out, size, "%" PRId64, c);
    else
        snprintf(out, size, "?");
}

static void export_caption(const export_job *job, const px_campaign_input *in, char *out,
                           size_t size)
{
    char label[64], prediction[64], near[64] = "";
    const char *name = pxi_base_name(in->name);
    export_class(job, in->label, label, sizeof label);
    export_class(job, in->prediction, prediction, sizeof prediction);
    if (in->measured && !isnan(in->near.similarity))
        snprintf(near, sizeof near, "\nsimilar %.2f, inside %.2f", in->near.similarity,
                 in->near.inside);
    snprintf(out, size, "%.28s%s%.28s\n%" PRId64 "%s%.24s%s", label,
             in->kind == PX_INPUT_FAULT ? " as " : ", seen as ", prediction, in->id,
             *name ? "  " : "", name, near);
}

static px_status export_to_sheet(export_job *job, const px_campaign_input *in, px_error *err)
{
    const px_shape *shape = &job->identity->shape;
    const int width = (int)shape->dim[2], height = (int)shape->dim[1];
    const int channels = (int)shape->dim[0], both = 2 * width + SHEET_BETWEEN;
    px_sheet_item item = {.picture = {width, height, channels, job->together}};
    char caption[256];
    export_caption(job, in, caption, sizeof caption);
    item.caption = caption;
    job->shown++;
    px_campaign_input root;
    if (in->kind != PX_INPUT_FAULT)
        return px_sheet_add(job->sheet, &item, err);
    /* The original beside it. */
    const px_status status = px_campaign_read(job->campaign, in->root, &root, job->planes, err);
    if (status == PX_E_INPUT || status == PX_E_USAGE) /* damaged, or gone */
        return px_sheet_add(job->sheet, &item, err);
    PX_TRY(status);
    const size_t line = (size_t)(width * channels), step = (size_t)(both * channels);
    memset(job->pair, 255, step * (size_t)height);
    for (size_t y = 0; y < (size_t)height; y++)
        memcpy(job->pair + y * step + step - line, job->together + y * line, line);
    pxi_store_to_together(shape, 1, job->planes, job->together);
    for (size_t y = 0; y < (size_t)height; y++)
        memcpy(job->pair + y * step, job->together + y * line, line);
    item.picture = (px_pixels){both, height, channels, job->pair};
    return px_sheet_add(job->sheet, &item, err);
}

static void export_real(px_text *to, double value)
{
    char text[PX_REAL_TEXT];
    px_text_format(to, ",%s", isnan(value) ? "" : px_real_text(value, text));
}

static void export_text(px_text *to, const char *text)
{
    px_text_add(to, ",");
    if (text && *text)
        pxi_csv_put(to, text);
}

static void export_int(px_text *to, int64_t value, int64_t none)
{
    if (value == none)
        px_text_add(to, ",");
    else
        px_text_format(to, ",%" PRId64, value);
}

static void export_row(export_job *job, const px_campaign_input *in)
{
    px_text *to = &job->index;
    px_text_format(to, "%s,%" PRId64 ",%s", px_text_get(&job->path), in->id,
                   px_input_kind_name(in->kind));
    export_text(to, in->name);
    export_int(to, in->label, -1);
    export_text(to, px_campaign_class_name(job->campaign, in->label));
    export_int(to, in->prediction, -1);
    export_text(to, px_campaign_class_name(job->campaign, in->prediction));
    export_real(to, in->confidence);
    export_real(to, in->near.similarity);
    export_real(to, in->near.inside);
    px_text_add(to, isnan(in->near.similarity) ? "," : px_is_close(&in->near) ? ",1" : ",0");
    export_int(to, in->parent, 0);
    export_int(to, in->root, 0);
    export_int(to, in->data_index, -1);
    export_int(to, in->l0, -1);
    export_real(to, in->l2);
    export_real(to, in->linf);
    export_int(to, in->step, INT64_MIN);
    export_int(to, in->twin, 0);
    px_text_add(to, ",\"");
    for (const char *p = in->chain; *p; p++)
        px_text_add_bytes(to, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    px_text_add(to, "\"\n");
}

/* Where an older plexor did not measure it. */
static px_status export_measure(const export_job *job, px_campaign_input *in, px_error *err)
{
    const int64_t id = in->id;
    px_closeness near;
    if (in->measured || in->kind != PX_INPUT_FAULT)
        return PX_OK;
    const px_status status = px_campaign_measure(job->campaign, id, &near, err);
    PX_TRY(px_campaign_read(job->campaign, id, in, NULL, err)); /* its texts were of that call */
    if (status == PX_E_INPUT || status == PX_E_USAGE) /* its chain or its root is damaged */
        return PX_OK;
    in->near = near;
    in->measured = status == PX_OK;
    return status;
}

static px_status export_input(export_job *job, px_campaign_input *in, px_error *err)
{
    if (px_cancelled())
        return px_fail(err, PX_E_CANCELLED, "cancelled after %" PRId64 " of %" PRId64 " inputs",
                       job->at, job->count);
    PX_TRY(export_measure(job, in, err));
    px_text_clear(&job->path);
    job->ids[job->at] = in->id;
    job->labels[job->at] = in->label;
    job->predictions[job->at] = in->prediction;
    job->indices[job->at] = in->data_index;
    job->at++;
    if (job->pictures)
        pxi_store_to_together(&job->identity->shape, 1, job->planes, job->together);
    if (job->pictures && job->options.png)
        PX_TRY(export_png(job, in, err));
    if (job->npz)
        PX_TRY(px_npz_write(job->npz, job->planes,
                            job->campaign->size * px_dtype_size(job->identity->dtype), err));
    if (job->options.csv)
        export_row(job, in);
    if (job->sheet && job->shown < SHEET_MOST) /* last: it reads the original into the same room */
        PX_TRY(export_to_sheet(job, in, err));
    return px_text_failed(&job->index) ? pxi_store_nomem(job->campaign, err) : PX_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* Calls for every readable input of the chosen kinds; `write` false: lists and counts only. */
static px_status export_walk(export_job *job, bool write, int64_t *count, int64_t *damaged,
                             px_error *err)
{
    int64_t bad = *damaged, good = 0;
    size_t listed = (size_t)job->count;
    if (!write)
        PX_TRY(px_campaign_list(job->campaign, job->options.kinds, &job->options.least, &job->list,
                                &listed, &bad, err));
    for (size_t i = 0; i < listed; i++) {
        px_campaign_input in;
        const px_status status =
            px_campaign_read(job->campaign, job->list[i], &in, job->planes, err);
        if (status == PX_E_INPUT && !write) {
            bad++;
            continue;
        }
        PX_TRY(status);
        job->list[good++] = in.id;
        if (write)
            PX_TRY(export_input(job, &in, err));
    }
    *count = good;
    *damaged = bad;
    return PX_OK;
}

static px_status export_open(export_job *job, px_error *err)
{
    const px_shape *shape = &job->identity->shape;
    if (job->options.sheet && job->pictures && shape->dim[1] <= PX_SHEET_SIDE_MOST / 8 &&
        shape->dim[2] <= PX_SHEET_SIDE_MOST / 8)
        PX_TRY(px_sheet_new(
            &(px_sheet_options){
                .enlarge = (int)PX_MAX(1, SHEET_SIDE / PX_MAX(shape->dim[1], shape->dim[2]))},
            &job->sheet, err));
    if (job->options.csv)
        px_text_add(&job->index,
                    "path,id,kind,name,label,label_name,prediction,prediction_name,confidence,"
                    "similarity,inside,close,parent,root,data_index,l0,l2,linf,step,twin,chain\n");
    if (!job->options.npz)
        return PX_OK;
    px_shape x = {.rank = shape->rank + 1, .dim = {job->count}};
    if (x.rank > PX_MAX_RANK)
        return px_fail(err, PX_E_UNSUPPORTED, "inputs of rank %d have no place in an NPZ file",
                       shape->rank);
    memcpy(x.dim + 1, shape->dim, (size_t)shape->rank * sizeof *x.dim);
    char *path = export_path(job, "inputs.npz");
    if (!path)
        return pxi_store_nomem(job->campaign, err);
    px_status status = px_npz_create(path, &job->npz, err);
    PX_THEN(status, px_npz_begin(job->npz, "x", job->identity->dtype, &x, err));
    free(path);
    return status;
}

static px_status export_finish(export_job *job, px_error *err)
{
    const struct {
        const char *name;
        int64_t *values;
    } columns[] = {{"y", job->labels},
                   {"predictions", job->predictions},
                   {"ids", job->ids},
                   {"indices", job->indices}};
    for (size_t i = 0; job->npz && i < PX_LEN(columns); i++) {
        const px_tensor column = {.dtype = PX_INT64,
                                  .shape = {.rank = 1, .dim = {job->count}},
                                  .data = columns[i].values};
        PX_TRY(px_npz_add(job->npz, columns[i].name, &column, err));
    }
    if (job->npz) {
        px_npz_writer *npz = job->npz;
        job->npz = NULL;
        PX_TRY(px_npz_commit(npz, err));
    }
    char *csv = export_path(job, "index.csv"), *sheet = export_path(job, "sheet.png");
    px_status status = csv && sheet ? PX_OK : pxi_store_nomem(job->campaign, err);
    PX_THEN_IF(status, job->options.csv,
               pxi_file_write(csv, px_text_get(&job->index), job->index.length, err));
    PX_THEN_IF(status, job->sheet, px_sheet_save(job->sheet, sheet, err));
    free(csv);
    free(sheet);
    return status;
}

/* How many inputs of the chosen kinds there are, by the index, which lies on other pages than they
 * do; -1: it is damaged too. */
static int64_t export_rows(const export_job *job)
{
    px_campaign_counts counts;
    if (px_campaign_count(job->campaign, &counts, NULL) != PX_OK)
        return -1;
    const unsigned kinds = job->options.kinds;
    return (kinds & PX_INPUT_SEED ? counts.seeds : 0) + (kinds & PX_INPUT_KEPT ? counts.kept : 0) +
           (kinds & PX_INPUT_FAULT ? counts.faults : 0);
}

/* Around damage every id is tried, and some of them are of other kinds or of nothing. */
static int64_t export_damaged(const export_job *job, int64_t stepped_over)
{
    const int64_t rows = stepped_over ? export_rows(job) : 0;
    if (!stepped_over || rows < 0)
        return stepped_over ? -1 : 0;
    return PX_MIN(stepped_over, PX_MAX(rows - job->count, 0));
}

static px_status export_all(export_job *job, const char *folder, px_exported *out, px_error *err)
{
    int64_t stepped_over = 0;
    const size_t bytes = job->campaign->size * px_dtype_size(job->identity->dtype);
    int64_t written = 0;
    const int64_t rows =
        job->pictures ? job->identity->shape.dim[0] * job->identity->shape.dim[1] : 0;
    PX_TRY(px_folder_begin(folder, "export", job->options.fresh, &job->folder, err));
    job->pair = pxi_calloc(2 * bytes + (size_t)rows * SHEET_BETWEEN + 1, 1);
    if (!(job->planes = pxi_alloc_aligned(bytes)) || !(job->together = pxi_alloc_aligned(bytes)) ||
        !job->pair)
        return pxi_store_nomem(job->campaign, err);
    PX_TRY(export_walk(job, /* write= */ false, &job->count, &stepped_over, err));
    out->damaged = export_damaged(job, stepped_over);
    if (!job->count)
        return px_fail(err, PX_E_INPUT, "'%s': has no such inputs%s", job->campaign->folder,
                       stepped_over ? " that are readable" : "");
    if (!(job->numbers = pxi_calloc((size_t)job->count * 4, sizeof *job->numbers)))
        return pxi_store_nomem(job->campaign, err);
    job->ids = job->numbers;
    job->labels = job->ids + job->count;
    job->predictions = job->labels + job->count;
    job->indices = job->predictions + job->count;
    PX_TRY(export_open(job, err));
    PX_TRY(export_walk(job, /* write= */ true, &written, &stepped_over, err));
    if (written != job->count)
        return px_fail(err, PX_E_IO, "'%s': changed while it was read", job->campaign->folder);
    out->inputs = written;
    out->pictures = job->pictures;
    PX_TRY(export_finish(job, err));
    px_folder *made = job->folder;
    job->folder = NULL; /* the commit frees it in any case */
    return px_folder_commit(made, err);
}

px_status px_campaign_export(px_campaign *campaign, const char *folder,
                             const px_export_options *options, px_exported *out, px_error *err)
{
    export_job job = {.campaign = campaign, .options = *options};
    px_exported done = {0};
    if (!campaign->identified)
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", campaign->folder);
    job.identity = &campaign->identity;
    const px_shape *shape = &job.identity->shape;
    job.pictures = job.identity->dtype == PX_UINT8 && shape->rank == 3 &&
                   (shape->dim[0] == 1 || shape->dim[0] == 3);
    const px_status status = export_all(&job, folder, &done, err);
    px_npz_abandon(job.npz);
    px_folder_abandon(job.folder);
    px_sheet_free(job.sheet);
    px_text_done(&job.index);
    px_text_done(&job.path);
    free(job.numbers);
    free(job.list);
    free(job.pair);
    free(job.planes);
    free(job.together);
    if (status == PX_OK)
        *out = done;
    return status;
}
