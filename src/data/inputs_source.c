/* src/data/inputs_source.c - samples of several named arrays, as a network of several inputs has
 *
 * Numbers are taken as the network takes them, in rows: pictures among them are in its own layout
 * and scale. Whole numbers must be ones that a float32 holds.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/inputs_source.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/array_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float whole_most = 16777216.0f; /* 2^24: beyond, float32 skips some */

typedef struct named_source {
    pxi_source base;
    const px_inputs *inputs; /* the model's */
    pxi_array_source **part; /* the first one has the labels and owns the tree */
} named_source;

static px_status named_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const named_source *named = (const named_source *)source;
    for (int i = 0; i < named->inputs->count; i++) {
        const pxi_array_source *part = named->part[i];
        const px_dtype dtype = named->inputs->part[i].dtype;
        const bool whole = dtype != PX_FLOAT32 && dtype != PX_FLOAT16 && dtype != PX_FLOAT64;
        PX_TRY(pxi_npy_floats(&part->bytes, &part->npy, part->name, index * part->row, part->row,
                              out, err));
        for (int64_t k = 0; whole && k < part->row; k++)
            if (!(fabsf(out[k]) < whole_most) || out[k] != rintf(out[k]))
                return px_fail(err, PX_E_INPUT,
                               "'%s': %g in sample %lld is not a whole number below 16,777,216, "
                               "which the network's input '%s' takes",
                               part->name, (double)out[k], (long long)index,
                               named->inputs->part[i].name);
        out += part->row;
    }
    return PX_OK;
}

static int64_t named_label(const pxi_source *source, int64_t index)
{
    const pxi_source *first = &((const named_source *)source)->part[0]->base;
    return first->type->label(first, index);
}

static px_status named_target(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_source *first = &((const named_source *)source)->part[0]->base;
    return first->type->target(first, index, out, err);
}

static void named_free(pxi_source *source)
{
    named_source *named = (named_source *)source;
    for (int i = named->part ? named->inputs->count - 1 : -1; i >= 0; i--)
        if (named->part[i])
            pxi_source_free(&named->part[i]->base); /* the first, which owns the tree, at last */
    free(named->part);
    free(named);
}

static const pxi_source_type named_type = {
    .values = named_values,
    .label = named_label,
    .target = named_target,
    .free = named_free,
};

/* --- which arrays ---------------------------------------------------------------------------- */

typedef struct named_split {
    char before[72], after[72]; /* what stands around a name */
} named_split;

static bool member_is(const pxi_tree *tree, const named_split *split, const char *name, char *to)
{
    snprintf(to, PXI_TREE_TEXT, "%s%s%s.npy", split->before, name, split->after);
    return pxi_tree_find(tree, to) != NULL;
}

static bool split_is(const pxi_tree *tree, const char *name, const char *split, named_split *out)
{
    char member[PXI_TREE_TEXT];
    *out = (named_split){{0}, {0}};
    snprintf(out->after, sizeof out->after, "_%.60s", split);
    if (member_is(tree, out, name, member))
        return true;
    *out = (named_split){{0}, {0}};
    snprintf(out->before, sizeof out->before, "%.60s_", split);
    return member_is(tree, out, name, member);
}

/* How the arrays of a split are called, going by the first input's. */
static px_status split_choose(const pxi_tree *tree, const char *name, const char *split,
                              named_split *out, bool *named, px_error *err)
{
    static const char *const names[] = {"test", "train", "val", "valid", "validation", "dev"};
    const char *have[PX_LEN(names) + 1];
    char member[PXI_TREE_TEXT];
    size_t count = 0;
    for (size_t i = 0; i < PX_LEN(names); i++)
        if (split_is(tree, name, names[i], out))
            have[count++] = names[i];
    if (split && !pxi_split_is_name(split) && split_is(tree, name, split, out))
        have[count++] = split;
    const int chosen = pxi_split_find(have, count, split);
    *out = (named_split){{0}, {0}};
    *named = true;
    if (chosen >= 0)
        (void)split_is(tree, name, have[chosen], out);
    else if (count)
        return pxi_split_fail(pxi_tree_name(tree), have, count, split, err);
    else if (!member_is(tree, out, name, member))
        *named = false;
    else if (split)
        return pxi_split_fail(pxi_tree_name(tree), NULL, 0, split, err);
    return PX_OK;
}

static void member_list(const pxi_tree *tree, char *to, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < pxi_tree_count(tree) && used < size; i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        const int length = (int)strlen(path) - (pxi_has_suffix(path, ".npy") ? 4 : 0);
        used += (size_t)snprintf(to + used, size - used, "%s%.*s", i ? ", " : "", length, path);
    }
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status part_open(named_source *named, pxi_tree *tree, const named_split *split, int i,
                           px_error *err)
{
    const px_input_part *part = &named->inputs->part[i];
    char member[PXI_TREE_TEXT], text[PXI_TREE_TEXT], a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    pxi_bytes bytes = {0};
    pxi_npy npy;
    if (!member_is(tree, split, part->name, member)) {
        char list[200];
        member_list(tree, list, sizeof list);
        return px_fail(err, PX_E_INPUT,
                       "'%.120s' has no array '%s%s%s', an input of the network; it has %s",
                       pxi_tree_name(tree), split->before, part->name, split->after, list);
    }
    pxi_tree_text(tree, member, text);
    PX_TRY(pxi_tree_bytes(tree, pxi_tree_find(tree, member), &bytes, err));
    px_status status = pxi_npy_header(&bytes, text, &npy, err);
    if (status != PX_OK) {
        pxi_bytes_done(&bytes);
        return status;
    }
    bool fits = npy.shape.rank == part->shape.rank + 1;
    for (int d = 0; fits && d < part->shape.rank; d++)
        fits = part->shape.dim[d] < 0 || part->shape.dim[d] == npy.shape.dim[d + 1];
    if (fits && i > 0)
        fits = npy.shape.dim[0] == named->base.count &&
               (!named->inputs->rows || npy.shape.dim[1] == named->part[0]->row);
    if (!fits) {
        pxi_bytes_done(&bytes);
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': is %s; the network's input '%s' is %s for each sample%s", text,
                       px_shape_text(&npy.shape, a), part->name, px_shape_text(&part->shape, b),
                       i ? ", as many samples as the other arrays have, all of one length" : "");
    }
    PX_TRY(pxi_array_source_new("NPZ", text, NULL, &bytes, &npy, &named->part[i], err));
    named->base.count = npy.shape.dim[0];
    return PX_OK;
}

static px_status named_labels(named_source *named, const pxi_tree *tree, const named_split *split,
                              int targets, px_error *err)
{
    static const char *const names[] = {"y", "Y", "labels", "label"};
    char member[PXI_TREE_TEXT], text[PXI_TREE_TEXT];
    pxi_bytes bytes = {0};
    pxi_npy npy;
    size_t i = 0;
    while (i < PX_LEN(names) && !member_is(tree, split, names[i], member))
        i++;
    if (i == PX_LEN(names))
        return PX_OK;
    pxi_tree_text(tree, member, text);
    PX_TRY(pxi_tree_bytes(tree, pxi_tree_find(tree, member), &bytes, err));
    px_status status = pxi_npy_header(&bytes, text, &npy, err);
    PX_THEN(status,
            targets ? pxi_array_source_set_numbers(named->part[0], &bytes, &npy, text, targets, err)
                    : pxi_array_source_set_labels(named->part[0], &bytes, &npy, text, err));
    pxi_bytes_done(&bytes);
    return status;
}

static px_status named_open(pxi_tree *tree, const px_inputs *inputs, const named_split *split,
                            int targets, pxi_source **out, px_error *err)
{
    named_source *named = pxi_calloc(1, sizeof *named);
    px_status status = PX_OK;
    if (!named || !(named->part = pxi_calloc((size_t)inputs->count, sizeof(pxi_array_source *)))) {
        free(named);
        pxi_tree_free(tree);
        return pxi_no_memory(err);
    }
    named->base.type = &named_type;
    named->inputs = inputs;
    snprintf(named->base.kind, sizeof named->base.kind, "NPZ of %d inputs", inputs->count);
    for (int i = 0; i < inputs->count && status == PX_OK; i++)
        status = part_open(named, tree, split, i, err);
    PX_THEN(status, named_labels(named, tree, split, targets, err));
    if (named->part[0])
        named->part[0]->tree = tree;
    else
        pxi_tree_free(tree);
    if (status != PX_OK) {
        named_free(&named->base);
        return status;
    }
    const pxi_source *first = &named->part[0]->base;
    named->base.class_count = first->class_count;
    named->base.class_names = first->class_names;
    named->base.target_count = first->target_count;
    memcpy(named->base.remark, first->remark, sizeof first->remark);
    px_shape *shape = &named->base.shape;
    if (inputs->count == 1) {
        *shape = (px_shape){.rank = named->part[0]->npy.shape.rank - 1};
        memcpy(shape->dim, named->part[0]->npy.shape.dim + 1,
               (size_t)shape->rank * sizeof *shape->dim);
    } else if (inputs->rows) {
        *shape = (px_shape){.rank = 2, .dim = {inputs->count, named->part[0]->row}};
    } else {
        shape->rank = 1;
        for (int i = 0; i < inputs->count; i++)
            shape->dim[0] += named->part[i]->row;
    }
    *out = &named->base;
    return PX_OK;
}

static px_status npz_open(const char *path, const char *split, const px_inputs *inputs, int targets,
                          pxi_source **out, px_error *err)
{
    pxi_bytes bytes = {0};
    pxi_tree *tree = NULL;
    named_split around;
    bool named;
    PX_TRY(pxi_bytes_open(&bytes, path, err));
    PX_TRY(pxi_tree_open_zip(path, &bytes, &tree, err));
    const px_status status = split_choose(tree, inputs->part[0].name, split, &around, &named, err);
    if (status == PX_OK && named)
        return named_open(tree, inputs, &around, targets, out, err);
    char list[200];
    member_list(tree, list, sizeof list);
    pxi_tree_free(tree);
    PX_TRY(status);
    px_error why = {0};
    const px_status other = pxi_source_open(path, split, targets, out, &why);
    if (other == PX_E_INPUT)
        return px_fail(err, PX_E_INPUT,
                       "'%.120s' has no array '%s', an input of the network; it has %s", path,
                       inputs->part[0].name, list);
    if (other != PX_OK && err)
        *err = why;
    return other;
}

static px_status parts_open(const char *spec, const char *split, const px_inputs *inputs,
                            int targets, pxi_source **out, px_error *err)
{
    if (pxi_has_suffix(spec, ".npz"))
        return npz_open(spec, split, inputs, targets, out, err);
    if (inputs->rows && pxi_texts_claims(spec))
        return pxi_texts_open(spec, split, inputs, targets, out, err);
    return pxi_source_open(spec, split, targets, out, err);
}

/* --- in an embedding ------------------------------------------------------------------------- */

typedef struct embedded_source {
    pxi_source base;
    pxi_source *inner; /* of the parts */
    const px_inputs *inputs;
    int64_t tokens;
} embedded_source;

static px_status embedded_beside(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_source *inner = ((const embedded_source *)source)->inner;
    return inner->type->values(inner, index, out, err);
}

static px_status embedded_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const embedded_source *e = (const embedded_source *)source;
    const px_tensor *table = e->inputs->table;
    const int64_t words = table->shape.dim[0], width = table->shape.dim[1];
    float *rows = NULL;
    PX_TRY(PX_NEW(rows, e->inputs->count * e->tokens, err));
    px_status status = embedded_beside(source, index, rows, err);
    for (int64_t t = 0; t < e->tokens && status == PX_OK; t++) {
        const float id = rows[e->inputs->ids * e->tokens + t];
        const int64_t at = (int64_t)id < 0 ? (int64_t)id + words : (int64_t)id; /* as Gather */
        if (at < 0 || at >= words)
            status = px_fail(err, PX_E_INPUT,
                             "token %g of sample %lld is outside the network's table of %lld",
                             (double)id, (long long)index, (long long)words);
        else
            memcpy(out + t * width, (const float *)table->data + at * width,
                   (size_t)width * sizeof *out);
    }
    free(rows);
    return status;
}

static int64_t embedded_label(const pxi_source *source, int64_t index)
{
    const pxi_source *inner = ((const embedded_source *)source)->inner;
    return inner->type->label ? inner->type->label(inner, index) : -1;
}

static const char *embedded_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const pxi_source *inner = ((const embedded_source *)source)->inner;
    if (inner->type->name)
        return inner->type->name(inner, index, buffer, size);
    snprintf(buffer, size, "%lld", (long long)index);
    return buffer;
}

static px_status embedded_text(const pxi_source *source, int64_t index, char **out, px_error *err)
{
    const pxi_source *inner = ((const embedded_source *)source)->inner;
    return inner->type->text ? inner->type->text(inner, index, out, err) : PX_OK;
}

static void embedded_free(pxi_source *source)
{
    pxi_source_free(((embedded_source *)source)->inner);
    free(source);
}

static const pxi_source_type embedded_type = {
    .values = embedded_values,
    .beside = embedded_beside,
    .label = embedded_label,
    .name = embedded_name,
    .text = embedded_text,
    .free = embedded_free,
};

px_status pxi_inputs_source_open(const char *spec, const char *split, const px_inputs *inputs,
                                 int targets, pxi_source **out, px_error *err)
{
    pxi_source *inner = NULL;
    PX_TRY(parts_open(spec, split, inputs, targets, &inner, err));
    if (!inputs->table) {
        *out = inner;
        return PX_OK;
    }
    embedded_source *e = inner->type->values ? pxi_calloc(1, sizeof *e) : NULL;
    if (!e) {
        const bool values = inner->type->values != NULL;
        pxi_source_free(inner);
        return values ? pxi_no_memory(err)
                      : px_fail(err, PX_E_MISMATCH, "'%s': its samples are no tokens", spec);
    }
    e->inner = inner;
    e->inputs = inputs;
    e->tokens = inner->shape.dim[inner->shape.rank - 1];
    e->base.type = &embedded_type;
    e->base.count = inner->count;
    e->base.class_count = inner->class_count;
    e->base.class_names = inner->class_names;
    e->base.shape = (px_shape){.rank = 2, .dim = {e->tokens, inputs->table->shape.dim[1]}};
    memcpy(e->base.kind, inner->kind, sizeof e->base.kind);
    memcpy(e->base.remark, inner->remark, sizeof e->base.remark);
    *out = &e->base;
    return PX_OK;
}
