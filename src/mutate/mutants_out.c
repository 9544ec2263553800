/* src/mutate/mutants_out.c - mutants as a folder of PNG or WAV files, an NPZ, or a contact sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/mutants_out.h"

#include "base/file.h"
#include "base/memory.h"

#include <internal/audio.h>
#include <internal/data.h>
#include <internal/folder.h>
#include <internal/mutate.h>
#include <internal/picture.h>
#include <internal/text.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pxi_mutants_out {
    const px_dataset *set;
    const char *path, *chain;
    int channels, height, width;
    size_t values;   /* of a picture */
    bool unit;       /* float data: 0..1 */
    uint8_t *pixels; /* one picture, channels together */
    uint8_t *planes; /* features of a recording as a picture */
    float *floats;   /* one picture, for float NPZ */
    px_npz_writer *npz;
    px_sheet *sheet;
    px_folder *folder; /* NULL: a file */
    px_text index;     /* of a folder: its CSV */
    int64_t written;
    const px_audio *audio; /* recordings; NULL: pictures */
    float low, high;       /* features that are black and white: of the original */
};

bool px_mutants_is_sheet(const char *path)
{
    return pxi_has_suffix(path, ".png");
}

static px_status out_open_npz(pxi_mutants_out *out, int64_t count, px_error *err)
{
    const px_shape one = px_dataset_shape(out->set);
    const px_shape x = {.rank = 4, .dim = {count, one.dim[0], one.dim[1], one.dim[2]}};
    PX_TRY(px_npz_create(out->path, &out->npz, err));
    return px_npz_begin(out->npz, "x", out->unit ? PX_FLOAT32 : PX_UINT8, &x, err);
}

static px_status out_open_folder(pxi_mutants_out *out, bool fresh, px_error *err)
{
    PX_TRY(px_folder_begin(out->path, "mutate", fresh, &out->folder, err));
    px_text_add(&out->index, "path,label,index,mutation,changed,largest\n");
    return PX_OK;
}

static px_status out_open(pxi_mutants_out *out, const px_mutants_options *o, int64_t each,
                          px_error *err)
{
    const px_shape shape = px_dataset_shape(o->set);
    const bool npz = pxi_has_suffix(o->path, ".npz");
    if (!npz && shape.dim[0] != 1 && shape.dim[0] != 3)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': PNG files are grey or RGB, the data have %lld channels; use an .npz",
                       o->path, (long long)shape.dim[0]);
    out->channels = (int)shape.dim[0];
    out->height = (int)shape.dim[out->audio ? 2 : 1]; /* of a recording pitch goes up, */
    out->width = (int)shape.dim[out->audio ? 1 : 2];  /* and time to the right */
    out->values = (size_t)px_shape_count(&shape);
    out->unit = !px_dataset_is_8bit(o->set);
    PX_TRY(PX_NEW(out->pixels, out->values, err));
    PX_TRY(PX_NEW(out->planes, out->values, err));
    PX_TRY(PX_NEW(out->floats, out->values, err));
    if (npz)
        return out_open_npz(out, px_dataset_count(o->set) * each, err);
    if (px_mutants_is_sheet(o->path))
        return px_sheet_new(&(px_sheet_options){.columns = (int)(each + 1)}, &out->sheet, err);
    return out_open_folder(out, o->fresh, err);
}

px_status pxi_mutants_open(const px_mutants_options *options, int64_t each, const char *chain,
                           pxi_mutants_out **to, px_error *err)
{
    pxi_mutants_out *out = NULL;
    PX_TRY(PX_NEW(out, 1, err));
    out->set = options->set;
    out->path = options->path;
    out->chain = chain;
    out->audio = px_dataset_audio(options->set);
    const px_status status = out_open(out, options, each, err);
    if (status == PX_OK)
        *to = out;
    else
        pxi_mutants_close(out);
    return status;
}

void pxi_mutants_close(pxi_mutants_out *out)
{
    if (!out)
        return;
    px_npz_abandon(out->npz);
    px_folder_abandon(out->folder);
    px_sheet_free(out->sheet);
    px_text_done(&out->index);
    free(out->pixels);
    free(out->planes);
    free(out->floats);
    free(out);
}

/* --- one picture ----------------------------------------------------------------------------- */

static void out_together(pxi_mutants_out *out, const uint8_t *planes)
{
    const size_t plane = (size_t)out->height * (size_t)out->width;
    for (size_t c = 0; c < (size_t)out->channels; c++)
        for (size_t i = 0; i < plane; i++)
            out->pixels[i * (size_t)out->channels + c] = planes[c * plane + i];
}

/* Features as a picture: black and white are the lowest and highest of the original. */
static void out_spectrogram(pxi_mutants_out *out, const float *features)
{
    const float range = out->high > out->low ? out->high - out->low : 1.0f;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++) {
            const int bin = out->height - 1 - y; /* low pitches at the bottom */
            const float v = (features[x * out->height + bin] - out->low) / range;
            out->planes[y * out->width + x] =
                (uint8_t)(v > 0.0f ? (v < 1.0f ? v * 255.0f : 255.0f) : 0.0f);
        }
}

/* What is to be seen of an input. */
static const uint8_t *out_planes(pxi_mutants_out *out, const pxi_mutable *input)
{
    if (!out->audio)
        return input->values;
    out_spectrogram(out, input->features);
    return out->planes;
}

/* "rotation angle=-17.3": three digits, for people. */
static const char *out_caption(const px_drawn *drawn, char *buffer, size_t size)
{
    const px_mutation *m = drawn->mutation;
    size_t used = (size_t)snprintf(buffer, size, "%s", m->entry.id);
    for (size_t i = 0; m->entry.params[i].name && used < size; i++) {
        const px_param *p = &m->entry.params[i];
        const double value = drawn->values[i];
        if (strcmp(p->name, "seed") == 0 || (p->choices && value == 0.0 && m->entry.params[1].name))
            continue;
        const char *gap =
            used == strlen(m->entry.id) ? "\n" : " "; /* parameters on a line of their own */
        if (p->choices)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", gap,
                                     p->choices[(size_t)value]);
        else
            used += (size_t)snprintf(buffer + used, size - used, "%s%s=%.3g", gap, p->name, value);
    }
    return buffer;
}

static px_status out_sheet(pxi_mutants_out *out, const uint8_t *planes, const char *caption,
                           bool marked, px_error *err)
{
    out_together(out, planes);
    const px_pixels picture = {out->width, out->height, out->channels, out->pixels};
    return px_sheet_add(out->sheet,
                        &(px_sheet_item){.picture = picture, .caption = caption, .marked = marked},
                        err);
}

px_status pxi_mutants_original(pxi_mutants_out *out, int64_t row, const pxi_mutable *input,
                               px_error *err)
{
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t i = 0; out->audio && i < out->values; i++) {
        out->low = fminf(out->low, input->features[i]);
        out->high = fmaxf(out->high, input->features[i]);
    }
    if (!out->sheet)
        return PX_OK;
    const int64_t label = px_dataset_label(out->set, row);
    const char *name = px_dataset_class_name(out->set, (int)label);
    char caption[128], number[24] = "";
    if (label >= 0)
        snprintf(number, sizeof number, "%lld", (long long)label);
    snprintf(caption, sizeof caption, "%lld\n%.60s", (long long)px_dataset_index(out->set, row),
             name ? name : number);
    return out_sheet(out, out_planes(out, input), caption, true, err);
}

static px_status out_listen(const pxi_mutants_out *out, const char *path, const pxi_mutable *input,
                            px_error *err)
{
    float *samples = NULL;
    PX_TRY(PX_NEW(samples, input->count, err));
    px_samples_widen(input->values, samples, input->count);
    const px_status status = px_wav_save(path, out->audio->sample_rate, samples, input->count, err);
    free(samples);
    return status;
}

static px_status out_file(pxi_mutants_out *out, const px_mutant *mutant, const pxi_mutable *input,
                          px_error *err)
{
    char path[4096], name[64], text[PX_DRAWN_TEXT];
    snprintf(name, sizeof name, "%07lld-%s.png", (long long)out->written,
             out->chain ? "chain" : mutant->drawn.mutation->entry.id);
    if (snprintf(path, sizeof path, "%s/%s", px_folder_path(out->folder), name) >= (int)sizeof path)
        return px_fail(err, PX_E_USAGE, "'%.100s...': the path is too long", out->path);
    out_together(out, out_planes(out, input));
    PX_TRY(px_png_save(path, out->width, out->height, out->channels, out->pixels, err));
    if (out->audio) { /* the recording is what the index names */
        strcpy(name + strlen(name) - 3, "wav");
        strcpy(path + strlen(path) - 3, "wav");
        PX_TRY(out_listen(out, path, input, err));
    }
    px_text_format(&out->index, "%s,", name);
    if (mutant->label >= 0)
        px_text_format(&out->index, "%lld", (long long)mutant->label);
    px_text_format(&out->index, ",%lld,%s,%llu,%d\n", (long long)mutant->origin,
                   out->chain ? out->chain : px_drawn_text(&mutant->drawn, text),
                   (unsigned long long)mutant->change.l0, mutant->change.linf);
    return PX_OK;
}

static px_status out_row(pxi_mutants_out *out, const pxi_mutable *input, px_error *err)
{
    const uint8_t *planes = input->values;
    if (out->audio)
        return px_npz_write(out->npz, input->features, out->values * sizeof *out->floats, err);
    if (!out->unit)
        return px_npz_write(out->npz, planes, out->values, err);
    for (size_t i = 0; i < out->values; i++)
        out->floats[i] = (float)planes[i] / 255.0f;
    return px_npz_write(out->npz, out->floats, out->values * sizeof *out->floats, err);
}

px_status pxi_mutants_put(pxi_mutants_out *out, const px_mutant *mutant, const pxi_mutable *input,
                          px_error *err)
{
    char text[256];
    const char *caption = out->chain ? "chain" : out_caption(&mutant->drawn, text, sizeof text);
    PX_TRY(out->sheet ? out_sheet(out, out_planes(out, input), caption, false, err)
           : out->npz ? out_row(out, input, err)
                      : out_file(out, mutant, input, err));
    out->written++;
    return PX_OK;
}

/* --- the end --------------------------------------------------------------------------------- */

static px_status out_column(pxi_mutants_out *out, const char *name, const px_mutants *mutants,
                            bool labels, px_error *err)
{
    const px_shape line = {.rank = 1, .dim = {mutants->count}};
    PX_TRY(px_npz_begin(out->npz, name, PX_INT64, &line, err));
    for (int64_t i = 0; i < mutants->count; i++)
        PX_TRY(px_npz_write(out->npz, labels ? &mutants->items[i].label : &mutants->items[i].origin,
                            sizeof(int64_t), err));
    return PX_OK;
}

/* The mutations, one a line, as bytes: arrays have no texts. */
static px_status out_mutations(pxi_mutants_out *out, const px_mutants *mutants, px_error *err)
{
    px_text lines = {0};
    char text[PX_DRAWN_TEXT];
    for (int64_t i = 0; i < mutants->count; i++)
        px_text_format(&lines, "%s\n",
                       out->chain ? out->chain : px_drawn_text(&mutants->items[i].drawn, text));
    px_status status = PX_OK;
    if (px_text_failed(&lines))
        status = pxi_no_memory(err);
    const px_tensor bytes = {.dtype = PX_UINT8,
                             .shape = {.rank = 1, .dim = {(int64_t)lines.length}},
                             .data = lines.data};
    PX_THEN(status, px_npz_add(out->npz, "mutations", &bytes, err));
    px_text_done(&lines);
    return status;
}

static px_status out_finish_folder(pxi_mutants_out *out, px_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.csv", px_folder_path(out->folder));
    PX_TRY(px_text_save(&out->index, path, err));
    px_folder *folder = out->folder;
    out->folder = NULL; /* the commit frees it in any case */
    return px_folder_commit(folder, err);
}

px_status pxi_mutants_finish(pxi_mutants_out *out, const px_mutants *mutants, px_error *err)
{
    if (out->sheet)
        return px_sheet_save(out->sheet, out->path, err);
    if (!out->npz)
        return out_finish_folder(out, err);
    if (px_dataset_has_labels(out->set))
        PX_TRY(out_column(out, "y", mutants, true, err));
    PX_TRY(out_column(out, "indices", mutants, false, err));
    PX_TRY(out_mutations(out, mutants, err));
    px_npz_writer *npz = out->npz;
    out->npz = NULL;
    return px_npz_commit(npz, err);
}
