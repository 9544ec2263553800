/* src/describe/milan_read.c - exemplars from the layout of MILANNOTATIONS (LGR C.1)
 *
 * Files come from strangers. Arrays are checked against the size of their files before anything is
 * allocated, and pictures and masks stay on disk until they are asked for; tables may be no larger
 * than the arrays allow.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "describe/mask.h"
#include <plexor/json.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LAYERS_MOST = 4096,
    UNITS_MOST = 1 << 20,
    CELL_MOST = 40, /* characters of a table's cell, with its comma */
};

typedef struct milan_in {
    px_exemplars *e;
    pxi_exemplar_units *layer;
    const char *folder; /* of the layer */
} milan_in;

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat facts;
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &facts) == 0;
}

/* --- arrays ---------------------------------------------------------------------------------- */

/* Opens [units, k, planes, H, W] of bytes; the first array of all settles k, H and W. */
static px_status array_open(milan_in *in, const char *name, int64_t planes, pxi_exemplar_file *out,
                            px_error *err)
{
    px_exemplar_facts *f = &in->e->facts;
    out->path = pxi_exemplar_path(in->folder, name);
    if (!out->path)
        return pxi_no_memory(err);
    PX_TRY(pxi_bytes_open(&out->bytes, out->path, err));
    PX_TRY(pxi_npy_header(&out->bytes, out->path, &out->npy, err));
    const px_shape *s = &out->npy.shape;
    if ((out->npy.dtype != PX_UINT8 && out->npy.dtype != PX_BOOL) || out->npy.fortran ||
        s->rank != 5 || s->dim[2] != planes)
        return px_fail(err, PX_E_INPUT, "'%s': expected uint8 [units,k,%" PRId64 ",H,W] in C order",
                       out->path, planes);
    if (s->dim[0] < 1 || s->dim[0] > UNITS_MOST || s->dim[1] < 1 || s->dim[1] > PX_EXEMPLARS_MOST ||
        s->dim[3] < 1 || s->dim[4] < 1 || s->dim[3] > PXI_MAP_SIDE_MOST ||
        s->dim[4] > PXI_MAP_SIDE_MOST)
        return px_fail(err, PX_E_INPUT,
                       "'%s': 1 to %d units of 1 to %d exemplars with sides up to %d are read",
                       out->path, UNITS_MOST, PX_EXEMPLARS_MOST, PXI_MAP_SIDE_MOST);
    if (f->count == 0) {
        f->count = s->dim[1];
        f->height = (int)s->dim[3];
        f->width = (int)s->dim[4];
    }
    if (in->layer->info.units == 0)
        in->layer->info.units = s->dim[0];
    if (s->dim[0] != in->layer->info.units || s->dim[1] != f->count || s->dim[3] != f->height ||
        s->dim[4] != f->width) {
        char text[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_INPUT,
                       "'%s': %s does not go with the arrays before it (%" PRId64 " units, %" PRId64
                       " exemplars of %d x %d)",
                       out->path, px_shape_text(s, text), in->layer->info.units, f->count,
                       f->height, f->width);
    }
    return PX_OK;
}

/* Reads a whole array of at most `cap` bytes. */
static px_status array_read(const milan_in *in, const char *name, uint64_t cap, px_tensor *out,
                            px_error *err)
{
    char *path = pxi_exemplar_path(in->folder, name);
    pxi_bytes bytes = {0};
    px_status status = path ? pxi_bytes_open(&bytes, path, err) : pxi_no_memory(err);
    PX_THEN_IF(
        status, bytes.size > cap,
        px_fail(err, PX_E_INPUT, "'%s': larger than the limit of %" PRIu64 " bytes", path, cap));
    PX_THEN(status, pxi_npy_tensor(&bytes, path, out, err));
    pxi_bytes_done(&bytes);
    free(path);
    return status;
}

static px_status read_numbers(milan_in *in, px_error *err)
{
    px_exemplar_layer *info = &in->layer->info;
    px_tensor t = {0};
    PX_TRY(array_read(in, "units.npy", 65536 + 8 * (uint64_t)info->units, &t, err));
    const bool fits = t.dtype == PX_INT64 && t.shape.rank == 1 && t.shape.dim[0] == info->units;
    if (fits) {
        in->layer->numbers = t.data;
        info->numbers = t.data;
        return PX_OK;
    }
    px_tensor_done(&t);
    return px_fail(err, PX_E_INPUT, "'%s/units.npy': expected int64 [%" PRId64 "]", in->folder,
                   info->units);
}

static px_status read_maps(milan_in *in, px_tensor *maps, px_error *err)
{
    pxi_exemplar_units *l = in->layer;
    PX_TRY(array_read(in, "maps.npy", (uint64_t)PX_EXEMPLAR_MAPS_MOST, maps, err));
    const px_shape *s = &maps->shape;
    if (maps->dtype != PX_FLOAT32 || s->rank != 4 || s->dim[0] != l->info.units ||
        s->dim[1] != in->e->facts.count || s->dim[2] < 1 || s->dim[3] < 1 ||
        s->dim[2] > PXI_MAP_SIDE_MOST || s->dim[3] > PXI_MAP_SIDE_MOST)
        return px_fail(err, PX_E_INPUT,
                       "'%s/maps.npy': expected float32 [%" PRId64 ",%" PRId64 ",h,w]", in->folder,
                       l->info.units, in->e->facts.count);
    l->info.h = (int)s->dim[2];
    l->info.w = (int)s->dim[3];
    return PX_OK;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Reads rows x columns numbers, parted by commas; `skip` lines come before them. Absent: all NaN.
 */
static px_status read_table(const milan_in *in, const char *name, int64_t columns, int skip,
                            double *out, px_error *err)
{
    const int64_t rows = in->layer->info.units;
    for (int64_t i = 0; i < rows * columns; i++)
        out[i] = NAN;
    if (!exists(in->folder, name))
        return PX_OK;
    char *path = pxi_exemplar_path(in->folder, name), *text = NULL;
    size_t size = 0;
    if (!path)
        return pxi_no_memory(err);
    const size_t cap = 4096 + (size_t)rows * (size_t)columns * CELL_MOST;
    px_status status = pxi_file_read(path, cap, &text, &size, err);
    const char *at = text;
    for (int i = 0; i < skip && status == PX_OK && at; i++)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    for (int64_t i = 0; i < rows * columns && status == PX_OK; i++) {
        char *end = NULL;
        const bool last = (i + 1) % columns == 0;
        out[i] = at ? strtod(at, &end) : NAN;
        while (end && end != at && (*end == ' ' || *end == '\r'))
            end++;
        const bool final = i + 1 == rows * columns;
        if (!end || end == at || (*end != (last ? '\n' : ',') && !(final && !*end))) {
            status = px_fail(err, PX_E_INPUT,
                             "'%s': row %" PRId64 ", column %" PRId64
                             ": expected a number of %" PRId64 " x %" PRId64,
                             path, i / columns + 1, i % columns + 1, rows, columns);
            break;
        }
        at = *end ? end + 1 : end;
    }
    free(text);
    free(path);
    return status;
}

static int64_t whole(double value) /* -1 where it is no index */
{
    return value >= 0.0 && value < 9e15 ? (int64_t)value : -1;
}

static px_status read_tables(milan_in *in, px_error *err)
{
    enum { level_columns = 6 };
    pxi_exemplar_units *l = in->layer;
    const size_t units = (size_t)l->info.units, k = (size_t)in->e->facts.count;
    double *ids = pxi_calloc(units, k * sizeof *ids), *scores = pxi_calloc(units, k * sizeof *ids);
    double *levels = pxi_calloc(units, level_columns * sizeof *levels);
    px_status status = ids && scores && levels ? PX_OK : pxi_no_memory_for(err, "%zu units", units);
    PX_THEN(status, read_table(in, "ids.csv", (int64_t)k, 0, ids, err));
    PX_THEN(status, read_table(in, "activations.csv", (int64_t)k, 0, scores, err));
    PX_THEN(status, read_table(in, "levels.csv", level_columns, 1, levels, err));
    const bool known = exists(in->folder, "ids.csv");
    for (size_t u = 0; u < units && status == PX_OK; u++) {
        px_unit *unit = &l->units[u];
        const double *row = levels + u * level_columns;
        unit->level = row[1];
        unit->least = row[2];
        unit->most = row[3];
        unit->inactive = row[4] > 0.0;
        unit->not_finite = PX_MAX(whole(row[5]), 0);
        for (size_t j = 0; j < k; j++) {
            px_exemplar *e = &l->top[u * k + j];
            e->source = e->index = whole(ids[u * k + j]);
            e->score = scores[u * k + j];
            if (!known || e->source >= 0)
                unit->count = (int64_t)j + 1;
        }
    }
    free(ids);
    free(scores);
    free(levels);
    return status;
}

/* --- a layer --------------------------------------------------------------------------------- */

static px_status read_layer(milan_in *in, px_error *err)
{
    pxi_exemplar_units *l = in->layer;
    px_tensor maps = {0};
    PX_TRY(array_open(in, "images.npy", 3, &l->images, err));
    PX_TRY(array_open(in, "masks.npy", 1, &l->masks, err));
    if (exists(in->folder, "units.npy"))
        PX_TRY(read_numbers(in, err));
    px_status status = PX_OK;
    if (exists(in->folder, "maps.npy") && exists(in->folder, "levels.csv"))
        status = read_maps(in, &maps, err);
    PX_THEN(status, pxi_exemplar_units_init(l, in->e->facts.count, /* with_maps= */ false, err));
    if (status == PX_OK && maps.data) {
        const size_t places = (size_t)l->info.h * (size_t)l->info.w;
        l->maps = maps.data;
        maps = (px_tensor){0};
        for (size_t i = 0; i < (size_t)(l->info.units * in->e->facts.count); i++)
            l->top[i].map = l->maps + i * places;
    }
    px_tensor_done(&maps);
    return status == PX_OK ? read_tables(in, err) : status;
}

static px_status add_layer(px_exemplars *e, const char *root, const char *name, px_error *err)
{
    if (e->layer_count == LAYERS_MOST)
        return px_fail(err, PX_E_INPUT, "'%s': more than %d layers", root, LAYERS_MOST);
    milan_in in = {.e = e, .layer = &e->layers[e->layer_count++]};
    char *folder = pxi_exemplar_folder(name);
    char *path = folder ? pxi_exemplar_path(root, folder) : NULL;
    in.layer->info.name = pxi_arena_strdup(e->arena, name);
    in.folder = path;
    const px_status status =
        path && in.layer->info.name ? read_layer(&in, err) : pxi_no_memory(err);
    free(folder);
    free(path);
    return status;
}

/* --- which layers ---------------------------------------------------------------------------- */

static uint64_t hash_text(const px_json_value *value)
{
    return value && value->kind == PX_JSON_STRING ? strtoull(value->string, NULL, 16) : 0;
}

static bool flag(const px_json_value *value)
{
    return value && value->kind == PX_JSON_BOOL && value->boolean;
}

static double number(const px_json_value *value, double otherwise)
{
    return value && value->kind == PX_JSON_NUMBER ? value->number : otherwise;
}

/* plexor's own: the file at the root names the layers in order. */
static px_status load_own(px_exemplars *e, const char *root, const char *path, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    px_json_document *document = NULL;
    PX_TRY(pxi_file_read(path, 1 << 20, &text, &size, err));
    px_status status = px_json_parse(text, size, &document, err);
    free(text);
    if (status == PX_E_NOMEM)
        return status;
    if (status != PX_OK)
        return px_fail(err, PX_E_INPUT, "'%s': not the JSON that plexor writes", path);
    const px_json_value *top = px_json_root(document);
    const px_json_value *layers =
        top->kind == PX_JSON_OBJECT ? px_json_member(top, "layers") : NULL;
    if (!layers || layers->kind != PX_JSON_ARRAY || layers->count == 0 ||
        number(px_json_member(top, "version"), 0.0) != 1.0)
        status = px_fail(err, PX_E_INPUT, "'%s': no layers, or of another version of plexor", path);
    for (size_t i = 0; status == PX_OK && i < layers->count; i++) {
        if (layers->items[i].kind != PX_JSON_STRING)
            status = px_fail(err, PX_E_INPUT, "'%s': a layer's name is no string", path);
        else
            status = add_layer(e, root, layers->items[i].string, err);
    }
    if (status == PX_OK) {
        e->facts.model_hash = hash_text(px_json_member(top, "model_hash"));
        e->facts.data_hash = hash_text(px_json_member(top, "data_hash"));
        e->facts.inputs = PX_MAX(whole(number(px_json_member(top, "inputs"), 0.0)), 0);
        e->facts.quantile = number(px_json_member(top, "quantile"), NAN);
        e->facts.zero_padded = flag(px_json_member(top, "zero_padded"));
        e->facts.approximate = flag(px_json_member(top, "approximate"));
    }
    px_json_free(document);
    return status;
}

static int is_layer(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Anybody's: every folder with images, by name. */
static px_status load_any(px_exemplars *e, const char *root, px_error *err)
{
    struct dirent **entries = NULL;
    const int count = scandir(root, &entries, is_layer, alphasort);
    if (count < 0)
        return px_fail(err, PX_E_INPUT, "'%s': cannot read this folder: %s", root, strerror(errno));
    px_status status = PX_OK;
    for (int i = 0; i < count; i++) {
        char *path = pxi_exemplar_path(root, entries[i]->d_name);
        if (status == PX_OK && !path)
            status = pxi_no_memory(err);
        if (status == PX_OK && exists(path, "images.npy")) {
            char *name = pxi_exemplar_layer_name(entries[i]->d_name);
            status = name ? add_layer(e, root, name, err) : pxi_no_memory(err);
            free(name);
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    if (status == PX_OK && e->layer_count == 0)
        return px_fail(err, PX_E_INPUT,
                       "'%s': no folder here has an images.npy; expected one per layer", root);
    return status;
}

px_status px_exemplars_load(const char *folder, px_exemplars **out, px_error *err)
{
    px_exemplars *e = pxi_calloc(1, sizeof *e);
    char *path = pxi_exemplar_path(folder, PXI_EXEMPLARS_FILE);
    px_status status = PX_OK;
    if (e) {
        e->arena = pxi_arena_new();
        e->layers = pxi_calloc(LAYERS_MOST, sizeof *e->layers);
        e->loaded = true;
        e->facts.quantile = NAN;
    }
    if (!e || !path || !e->arena || !e->layers)
        status = pxi_no_memory(err);
    else if (exists(folder, PXI_EXEMPLARS_FILE))
        status = load_own(e, folder, path, err);
    else
        status = load_any(e, folder, err);
    free(path);
    return PX_GIVE(status, e, out, px_exemplars_free);
}
