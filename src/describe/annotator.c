/* src/describe/annotator.c - what an encoder sees inside masks (LGR C.2, Eq 6 to 8)
 *
 * Pairs are sorted by picture, so that each picture goes through the encoder once; behind every
 * stage the masks that use it are brought to the stage's size and pooled. Features are written
 * where their pair is, whoever works on it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/worker_pool.h"
#include "describe/annotation_pool.h"
#include "describe/exemplar_internal.h"
#include "describe/mask.h"
#include "describe/unit_stream.h"
#include <internal/exemplars.h>
#include <internal/image.h>
#include <plexor/onnx.h>
#include <plexor/system.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct desk { /* one worker's own */
    pxi_weights weights;
    float *scratch; /* of the largest map */
} desk;

struct px_annotator {
    const px_dataset *set;
    const px_preprocess *pre;
    px_annotator_options options;
    bool pixels;             /* the last features are pixel statistics */
    px_model *foreign;       /* an encoder of its own */
    px_preprocess own_pre;   /* and how pictures get into it */
    px_shape shape, sample;  /* [C,H,W] of the data, of the encoder's input */
    pxi_unit_stream *stream; /* NULL: pixels alone */
    int64_t *offset;         /* [layers]: of their first feature */
    int64_t size, pixel_offset;
    size_t places; /* of the largest map */
};

px_annotator_options px_annotator_options_default(void)
{
    return (px_annotator_options){.encoder = "self+pixels"};
}

void px_annotator_free(px_annotator *annotator)
{
    if (!annotator)
        return;
    pxi_unit_stream_close(annotator->stream);
    px_model_free(annotator->foreign);
    free(annotator->offset);
    free(annotator);
}

int64_t px_annotator_size(const px_annotator *annotator)
{
    return annotator->size;
}

/* --- opening --------------------------------------------------------------------------------- */

/* An encoder from a file: it says itself how large its pictures are, else as the data are. */
static px_status open_foreign(px_annotator *a, px_error *err)
{
    const px_annotator_options *o = &a->options;
    PX_TRY(px_model_load(o->encoder, &a->foreign, err));
    const px_graph *graph = px_model_graph(a->foreign);
    if (graph->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED, "encoder '%s' has %d inputs; expected one",
                       o->encoder, graph->input_count);
    const px_value *input = &graph->values[graph->inputs[0]];
    const px_preprocess_options how = {.scale = o->scale, .mean = o->mean, .std = o->std};
    PX_TRY(px_preprocess_init(&a->own_pre, px_model_properties(a->foreign),
                              px_model_property_count(a->foreign), &input->shape, &how, err));
    px_preprocess_fit(&a->own_pre, true); /* pictures reach it as bytes */
    const px_preprocess *pre = &a->own_pre;
    a->sample = (px_shape){3, {3, a->shape.dim[1], a->shape.dim[2]}};
    if (pre->picture)
        a->sample.dim[0] = pre->picture;
    if (pre->height && pre->width) {
        a->sample.dim[1] = pre->height;
        a->sample.dim[2] = pre->width;
    }
    return PX_OK;
}

static px_status open_stream(px_annotator *a, const px_model *model, px_error *err)
{
    const pxi_unit_stream_options options = {
        .layers = a->options.taps, .threads = a->options.threads, .batch = a->options.batch};
    PX_TRY(pxi_unit_stream_open_for(a->foreign ? a->foreign : model, &a->sample,
                                    a->foreign ? &a->own_pre : a->pre, px_dataset_count(a->set),
                                    &options, &a->stream, err));
    const size_t layers = pxi_unit_stream_layer_count(a->stream);
    PX_TRY(PX_NEW(a->offset, layers, err));
    for (size_t l = 0; l < layers; l++) {
        const pxi_unit_layer *layer = pxi_unit_stream_layer(a->stream, l);
        a->offset[l] = a->size;
        a->size += layer->units;
        a->places = PX_MAX(a->places, (size_t)layer->h * (size_t)layer->w);
    }
    return PX_OK;
}

static px_status annotator_open(px_annotator *a, const px_model *model, px_error *err)
{
    const char *encoder = a->options.encoder ? a->options.encoder : "self+pixels";
    const bool self = strcmp(encoder, "self") == 0 || strcmp(encoder, "self+pixels") == 0;
    const bool pixels_only = strcmp(encoder, "pixels") == 0;
    a->options.encoder = encoder;
    a->pixels = pixels_only || strcmp(encoder, "self+pixels") == 0;
    a->shape = px_dataset_shape(a->set);
    a->sample = a->shape;
    if (a->shape.rank != 3 || a->shape.dim[1] > PXI_MAP_SIDE_MOST ||
        a->shape.dim[2] > PXI_MAP_SIDE_MOST) {
        char text[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_USAGE, "inputs of %s are no pictures that can be annotated",
                       px_shape_text(&a->shape, text));
    }
    if (!self && !pixels_only)
        PX_TRY(open_foreign(a, err));
    if (!pixels_only)
        PX_TRY(open_stream(a, model, err));
    if (a->pixels) {
        a->pixel_offset = a->size;
        a->size += 2 * a->shape.dim[0] + 2;
        a->places = PX_MAX(a->places, (size_t)(a->shape.dim[1] * a->shape.dim[2]));
    }
    return PX_OK;
}

px_status px_annotator_new(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                           const px_annotator_options *options, px_annotator **out, px_error *err)
{
    px_annotator *a = NULL;
    PX_TRY(PX_NEW(a, 1, err));
    a->set = set;
    a->pre = pre;
    a->options = options ? *options : px_annotator_options_default();
    const px_status status = annotator_open(a, model, err);
    a->options.taps = a->options.mean = a->options.std = a->options.scale = NULL; /* borrowed */
    return PX_GIVE(status, a, out, px_annotator_free);
}

/* --- one picture ----------------------------------------------------------------------------- */

typedef struct annotate { /* a call */
    px_annotator *a;
    const px_annotated_pair *pairs;
    size_t *order; /* pairs, sorted by picture */
    size_t *first; /* [pictures + 1]: in `order` */
    int64_t count; /* pictures */
    float *features;
    desk *desks; /* [slots], of visits */
} annotate;

static px_status desk_init(desk *d, size_t places, px_error *err)
{
    d->weights.at = pxi_calloc(places, sizeof *d->weights.at);
    d->weights.weight = pxi_calloc(places, sizeof *d->weights.weight);
    d->scratch = pxi_calloc(places, sizeof *d->scratch);
    return d->weights.at && d->weights.weight && d->scratch
               ? PX_OK
               : pxi_no_memory_for(err, "masks of %zu places", places);
}

static void desk_done(desk *d)
{
    free(d->weights.at);
    free(d->weights.weight);
    free(d->scratch);
}

/* A picture from outside at another size and number of channels, as planes of levels 0..255. */
static px_status planes_from_bytes(const uint8_t *rgb, int height, int width, const px_shape *to,
                                   float *planes, px_error *err)
{
    pxi_image image = {0};
    PX_TRY(pxi_image_init(&image, width, height, 3, err));
    const size_t plane = (size_t)height * (size_t)width;
    for (size_t i = 0; i < plane; i++)
        for (size_t c = 0; c < 3; c++)
            image.data[3 * i + c] = rgb[c * plane + i];
    px_status status = pxi_image_resize(&image, (int)to->dim[2], (int)to->dim[1], err);
    PX_THEN_IF(status, to->dim[0] == 1, pxi_image_set_channels(&image, 1, err));
    if (status == PX_OK && to->dim[0] != image.channels)
        status = px_fail(err, PX_E_MISMATCH, "pictures do not go into inputs of %lld channels",
                         (long long)to->dim[0]);
    if (status == PX_OK)
        pxi_image_to_planes(&image, planes);
    pxi_image_done(&image);
    return status;
}

/* Raw values in the data set's own shape. */
static px_status picture_raw(const annotate *run, const px_annotated_pair *pair, float *raw,
                             px_error *err)
{
    const px_annotator *a = run->a;
    if (!pair->pixels)
        return px_dataset_pixels(a->set, pair->index, raw, err);
    PX_TRY(planes_from_bytes(pair->pixels, pair->height, pair->width, &a->shape, raw, err));
    for (int64_t i = 0; i < px_shape_count(&a->shape) && !px_dataset_is_8bit(a->set); i++)
        raw[i] /= 255.0f; /* floats are 0 to 1, as far as anybody knows */
    return PX_OK;
}

/* Masked means of the channels, their squares, and of the places. */
static void pixel_features(const px_annotator *a, const desk *d, const float *raw, float *out)
{
    const int64_t channels = a->shape.dim[0], H = a->shape.dim[1], W = a->shape.dim[2];
    const size_t places = (size_t)(H * W);
    const double by = a->options.sum || d->weights.count == 0 ? 1.0 : d->weights.sum;
    for (int64_t f = 0; f < 2 * channels + 2; f++) {
        const float *plane = raw + (size_t)(f % channels) * places;
        double total = 0.0;
        for (size_t i = 0; i < d->weights.count; i++) {
            const int32_t at = d->weights.at[i];
            double value = (double)plane[at] * (double)a->pre->scale;
            if (f >= 2 * channels)
                value = f == 2 * channels ? ((double)(at % W) + 0.5) / (double)W
                                          : ((double)(at / W) + 0.5) / (double)H;
            else if (f >= channels)
                value *= value;
            total += (double)d->weights.weight[i] * value;
        }
        out[f] = (float)(total / by);
    }
}

static px_status pixels_pool(const annotate *run, int64_t at, const float *raw, px_error *err)
{
    const px_annotator *a = run->a;
    desk d = {0};
    px_status status = desk_init(&d, (size_t)(a->shape.dim[1] * a->shape.dim[2]), err);
    for (size_t i = run->first[at]; i < run->first[at + 1] && status == PX_OK; i++) {
        const px_annotated_pair *pair = &run->pairs[run->order[i]];
        float *row = run->features + run->order[i] * (size_t)a->size;
        pxi_weights_set(&d.weights, pair->mask, pair->height, pair->width, (int)a->shape.dim[1],
                        (int)a->shape.dim[2], d.scratch);
        pixel_features(a, &d, raw, row + a->pixel_offset);
    }
    desk_done(&d);
    return status;
}

/* The encoder's input of picture `at`; and its pixel features, while its values are here. */
static px_status picture_fill(void *context, int64_t at, float *input, px_error *err)
{
    const annotate *run = context;
    const px_annotator *a = run->a;
    const px_annotated_pair *pair = &run->pairs[run->order[run->first[at]]];
    if (!a->foreign) {
        PX_TRY(picture_raw(run, pair, input, err));
        if (a->pixels)
            PX_TRY(pixels_pool(run, at, input, err));
        return px_preprocess_apply(a->pre, &a->shape, input, err);
    }
    int height = pair->height, width = pair->width;
    uint8_t *rgb = NULL;
    px_status status = PX_OK;
    if (!pair->pixels) {
        height = (int)a->shape.dim[1];
        width = (int)a->shape.dim[2];
        rgb = pxi_calloc(3 * (size_t)height, (size_t)width);
        status = rgb ? pxi_exemplar_rgb(a->set, pair->index, rgb, err) : pxi_no_memory(err);
    }
    PX_THEN(status,
            planes_from_bytes(rgb ? rgb : pair->pixels, height, width, &a->sample, input, err));
    PX_THEN(status, px_preprocess_apply(&a->own_pre, &a->sample, input, err));
    free(rgb);
    return status;
}

static px_status picture_visit(void *context, const pxi_unit_visit *visit, px_error *err)
{
    const annotate *run = context;
    const px_annotator *a = run->a;
    const pxi_unit_layer *layer = pxi_unit_stream_layer(a->stream, visit->layer);
    desk *d = &run->desks[visit->slot];
    (void)err;
    for (size_t i = run->first[visit->at]; i < run->first[visit->at + 1]; i++) {
        const px_annotated_pair *pair = &run->pairs[run->order[i]];
        float *row = run->features + run->order[i] * (size_t)a->size;
        pxi_weights_set(&d->weights, pair->mask, pair->height, pair->width, layer->h, layer->w,
                        d->scratch);
        pxi_pool_masked(&d->weights, visit->maps, layer->units, (size_t)layer->h * (size_t)layer->w,
                        a->options.sum, row + a->offset[visit->layer]);
    }
    return PX_OK;
}

/* --- a call ---------------------------------------------------------------------------------- */

static int picture_compare(const void *a, const void *b, void *context)
{
    const px_annotated_pair *pairs = context;
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const uintptr_t x = (uintptr_t)pairs[i].pixels, y = (uintptr_t)pairs[j].pixels;
    if (x != y)
        return x < y ? -1 : 1;
    if (!x && pairs[i].index != pairs[j].index)
        return pairs[i].index < pairs[j].index ? -1 : 1;
    return (i > j) - (i < j);
}

static bool same_picture(const px_annotated_pair *a, const px_annotated_pair *b)
{
    return a->pixels == b->pixels && (a->pixels || a->index == b->index);
}

static px_status annotate_sort(annotate *run, size_t count, px_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const px_annotated_pair *p = &run->pairs[i];
        if (!p->mask || p->height < 1 || p->width < 1 || p->height > PXI_MAP_SIDE_MOST ||
            p->width > PXI_MAP_SIDE_MOST ||
            (!p->pixels && (p->index < 0 || p->index >= px_dataset_count(run->a->set))))
            return px_fail(err, PX_E_USAGE,
                           "pair %zu: input %" PRId64 " with a mask of %d x %d is not possible", i,
                           p->index, p->height, p->width);
    }
    PX_TRY(PX_NEW(run->order, count, err));
    PX_TRY(PX_NEW(run->first, count + 1, err));
    for (size_t i = 0; i < count; i++)
        run->order[i] = i;
    qsort_r(run->order, count, sizeof *run->order, picture_compare, (void *)(uintptr_t)run->pairs);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !same_picture(&run->pairs[run->order[i - 1]], &run->pairs[run->order[i]]))
            run->first[run->count++] = i;
    run->first[run->count] = count;
    return PX_OK;
}

static px_status pixels_job(void *context, int worker, int64_t at, px_error *err)
{
    const annotate *run = context;
    (void)worker;
    float *raw = NULL;
    PX_TRY(PX_NEW(raw, (size_t)px_shape_count(&run->a->shape), err));
    px_status status = picture_raw(run, &run->pairs[run->order[run->first[at]]], raw, err);
    PX_THEN(status, pixels_pool(run, at, raw, err));
    free(raw);
    return status;
}

static px_status annotate_pixels(annotate *run, px_error *err)
{
    px_pool *pool = NULL;
    const px_annotator_options *o = &run->a->options;
    PX_TRY(pxi_pool_new(o->threads, &pool, err));
    const px_status status =
        pxi_pool_run(pool, run->count, pixels_job, run, o->progress, o->progress_context, err);
    pxi_pool_free(pool);
    return status;
}

static px_status annotate_encode(annotate *run, px_error *err)
{
    px_annotator *a = run->a;
    const int slots = pxi_unit_stream_slots(a->stream);
    px_status status = PX_OK;
    PX_TRY(PX_NEW(run->desks, slots, err));
    for (int i = 0; i < slots && status == PX_OK; i++)
        status = desk_init(&run->desks[i], a->places, err);
    PX_THEN(status, pxi_unit_stream_feed(a->stream, run->count, picture_fill, picture_visit, run,
                                         a->options.progress, a->options.progress_context, err));
    for (int i = 0; i < slots; i++)
        desk_done(&run->desks[i]);
    free(run->desks);
    return status;
}

px_status px_annotator_run(px_annotator *annotator, const px_annotated_pair *pairs, size_t count,
                           float *features, px_error *err)
{
    annotate run = {.a = annotator, .pairs = pairs, .features = features};
    px_status status = annotate_sort(&run, count, err);
    PX_THEN_IF(status, run.count > 0,
               annotator->stream ? annotate_encode(&run, err) : annotate_pixels(&run, err));
    free(run.order);
    free(run.first);
    return status;
}
