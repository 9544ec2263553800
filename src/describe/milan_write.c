/* src/describe/milan_write.c - exemplars in the layout of MILANNOTATIONS (LGR C.1) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include <internal/folder.h>
#include <internal/system.h>
#include <internal/text.h>
#include <plexor/json.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct milan_out {
    const px_exemplars *e;
    const px_dataset *set;
    const pxi_exemplar_units *layer;
    size_t index;       /* of the layer */
    const char *folder; /* of the layer */
    uint8_t *planes;    /* [3][H][W] */
    bool pictures;      /* exemplars themselves, not just which inputs they are */
} milan_out;

/* --- arrays ---------------------------------------------------------------------------------- */

typedef px_status (*row_fn)(milan_out *out, int64_t unit, int64_t j, FILE *to, px_error *err);

/* An array of [units, k, ...], whose rows come one by one. Missing exemplars are zeros. */
static px_status write_array(milan_out *out, const char *name, px_dtype dtype, px_shape shape,
                             row_fn row, px_error *err)
{
    char *path = pxi_exemplar_path(out->folder, name);
    px_file_writer writer = {0};
    uint8_t header[PXI_NPY_HEADER_MAX];
    px_status status = path ? pxi_file_create(path, &writer, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        const size_t size = pxi_npy_format(dtype, &shape, header);
        fwrite(header, 1, size, writer.stream);
    }
    for (int64_t u = 0; u < shape.dim[0] && status == PX_OK; u++)
        for (int64_t j = 0; j < shape.dim[1] && status == PX_OK; j++)
            status = px_cancelled() ? px_fail(err, PX_E_CANCELLED, "cancelled")
                                    : row(out, u, j, writer.stream, err);
    PX_THEN(status, pxi_file_commit(&writer, err));
    pxi_file_abandon(&writer);
    free(path);
    return status;
}

static px_status image_row(milan_out *out, int64_t unit, int64_t j, FILE *to, px_error *err)
{
    const size_t size = 3 * (size_t)out->e->facts.height * (size_t)out->e->facts.width;
    const px_unit *u = &out->layer->units[unit];
    memset(out->planes, 0, size);
    if (j < u->count)
        PX_TRY(pxi_exemplar_rgb(out->set, u->top[j].index, out->planes, err));
    fwrite(out->planes, 1, size, to);
    return PX_OK;
}

static px_status mask_row(milan_out *out, int64_t unit, int64_t j, FILE *to, px_error *err)
{
    const px_exemplar_facts *f = &out->e->facts;
    const size_t size = (size_t)f->height * (size_t)f->width;
    memset(out->planes, 0, size);
    if (j < out->layer->units[unit].count)
        PX_TRY(
            px_exemplars_mask(out->e, out->index, unit, j, f->height, f->width, out->planes, err));
    fwrite(out->planes, 1, size, to);
    return PX_OK;
}

static px_status map_row(milan_out *out, int64_t unit, int64_t j, FILE *to, px_error *err)
{
    (void)err;
    const size_t places = (size_t)out->layer->info.h * (size_t)out->layer->info.w;
    const size_t at = (size_t)(unit * out->e->facts.count + j);
    fwrite(out->layer->maps + at * places, sizeof(float), places, to);
    return PX_OK;
}

/* --- tables ---------------------------------------------------------------------------------- */

static px_status write_text(const milan_out *out, const char *name, px_text *text, px_error *err)
{
    char *path = pxi_exemplar_path(out->folder, name);
    px_status status = path && !px_text_failed(text) ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, pxi_file_write(path, px_text_get(text), text->length, err));
    free(path);
    px_text_done(text);
    return status;
}

/* units x k, without a header, as numpy.savetxt has it; nothing stands for -1 and NaN. */
static px_status write_tables(const milan_out *out, px_error *err)
{
    px_text ids = {0}, scores = {0}, levels = {0};
    px_text_add(&levels, "unit,level,least,most,inactive,not_finite\n");
    for (int64_t u = 0; u < out->layer->info.units; u++) {
        const px_unit *unit = &out->layer->units[u];
        char real[PX_REAL_TEXT];
        for (int64_t j = 0; j < out->e->facts.count; j++) {
            const bool there = j < unit->count;
            px_text_format(&ids, "%s%" PRId64, j ? "," : "", there ? unit->top[j].source : -1);
            px_text_format(&scores, "%s%s", j ? "," : "",
                           px_real_text(there ? unit->top[j].score : NAN, real));
        }
        px_text_add(&ids, "\n");
        px_text_add(&scores, "\n");
        px_text_format(&levels, "%" PRId64 ",%s", u, px_real_text(unit->level, real));
        px_text_format(&levels, ",%s", px_real_text(unit->least, real));
        px_text_format(&levels, ",%s,%d,%" PRId64 "\n", px_real_text(unit->most, real),
                       unit->inactive, unit->not_finite);
    }
    const px_status first = write_text(out, "ids.csv", &ids, err);
    const px_status second =
        first == PX_OK ? write_text(out, "activations.csv", &scores, err) : first;
    const px_status third = second == PX_OK ? write_text(out, "levels.csv", &levels, err) : second;
    px_text_done(&ids);
    px_text_done(&scores);
    px_text_done(&levels);
    return third;
}

static px_status write_layer(milan_out *out, px_error *err)
{
    const px_exemplar_facts *f = &out->e->facts;
    const px_exemplar_layer *info = &out->layer->info;
    const px_shape images = {5, {info->units, f->count, 3, f->height, f->width}};
    const px_shape masks = {5, {info->units, f->count, 1, f->height, f->width}};
    const px_shape maps = {4, {info->units, f->count, info->h, info->w}};
    PX_TRY(px_folder_make(out->folder, err));
    if (out->pictures) {
        PX_TRY(write_array(out, "images.npy", PX_UINT8, images, image_row, err));
        PX_TRY(write_array(out, "masks.npy", PX_UINT8, masks, mask_row, err));
    }
    PX_TRY(write_array(out, "maps.npy", PX_FLOAT32, maps, map_row, err));
    return write_tables(out, err);
}

static px_status write_facts(const px_exemplars *e, const char *folder, px_error *err)
{
    const px_exemplar_facts *f = &e->facts;
    char hash[24];
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_int(&json, "version", 1);
    snprintf(hash, sizeof hash, "%016" PRIx64, f->model_hash);
    px_json_string(&json, "model_hash", hash);
    snprintf(hash, sizeof hash, "%016" PRIx64, f->data_hash);
    px_json_string(&json, "data_hash", hash);
    px_json_int(&json, "inputs", f->inputs);
    px_json_real(&json, "quantile", f->quantile);
    px_json_bool(&json, "zero_padded", f->zero_padded);
    px_json_bool(&json, "approximate", f->approximate);
    px_json_array(&json, "layers");
    for (size_t i = 0; i < e->layer_count; i++)
        px_json_string(&json, NULL, e->layers[i].info.name);
    px_json_end(&json);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    char *path = pxi_exemplar_path(folder, PXI_EXEMPLARS_FILE);
    const px_status status =
        text && path ? pxi_file_write(path, text, strlen(text), err) : pxi_no_memory(err);
    free(path);
    px_json_done(&json);
    return status;
}

uint64_t px_exemplars_bytes(const px_exemplars *exemplars)
{
    const px_exemplar_facts *f = &exemplars->facts;
    const uint64_t each = 4 * (uint64_t)f->height * (uint64_t)f->width; /* colours and a mask */
    uint64_t bytes = 0;
    for (size_t i = 0; i < exemplars->layer_count; i++)
        bytes += (uint64_t)exemplars->layers[i].info.units * (uint64_t)f->count * each;
    return bytes;
}

px_status px_exemplars_save(const px_exemplars *exemplars, const px_dataset *set, uint64_t most,
                            const char *folder, px_error *err)
{
    const px_exemplar_facts *f = &exemplars->facts;
    if (exemplars->loaded || px_dataset_hash(set) != f->data_hash)
        return px_fail(err, PX_E_USAGE,
                       "exemplars are saved with the data set that they were collected from");
    milan_out out = {.e = exemplars, .set = set, .pictures = px_exemplars_bytes(exemplars) <= most};
    px_status status = px_folder_make(folder, err);
    out.planes = pxi_calloc(3 * (size_t)f->height, (size_t)f->width);
    if (status == PX_OK && !out.planes)
        status = pxi_no_memory(err);
    for (size_t i = 0; i < exemplars->layer_count && status == PX_OK; i++) {
        char *name = pxi_exemplar_folder(exemplars->layers[i].info.name);
        char *path = name ? pxi_exemplar_path(folder, name) : NULL;
        out.layer = &exemplars->layers[i];
        out.index = i;
        out.folder = path;
        status = path ? write_layer(&out, err) : pxi_no_memory(err);
        free(name);
        free(path);
    }
    free(out.planes);
    return status == PX_OK ? write_facts(exemplars, folder, err) : status;
}
