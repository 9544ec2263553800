/* src/cli/mutate_out.c - mutants as a folder of PNG or WAV files, an NPZ, or a contact sheet */
#include "cli/mutate_out.h"

#include <plexor/folder.h>
#include <plexor/text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mutate_out {
    mutate_request request;
    int channels, height, width;
    bool unit;       /* float data: 0..1 */
    uint8_t *pixels; /* one picture, channels together */
    float *floats;   /* one picture, for float NPZ */
    px_npz_writer *npz;
    px_sheet *sheet;
    px_folder *folder; /* NULL: a file */
    px_text index;     /* of a folder: its CSV */
    int64_t written;
    const px_audio *audio;     /* recordings; NULL: pictures */
    const mutate_sound *sound; /* the one at hand */
    float low, high;           /* features that are black and white: of the original */
};

static bool out_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

bool mutate_out_is_sheet(const char *path)
{
    return out_ends(path, ".png");
}

static size_t out_values(const mutate_out *out)
{
    return (size_t)out->channels * (size_t)out->height * (size_t)out->width;
}

static px_status out_open_npz(mutate_out *out, px_error *err)
{
    const px_shape one = px_dataset_shape(out->request.set);
    const px_shape x = {
        .rank = 4,
        .dim = {out->request.count * out->request.each, one.dim[0], one.dim[1], one.dim[2]}};
    PX_TRY(px_npz_create(out->request.path, &out->npz, err));
    return px_npz_begin(out->npz, "x", out->unit ? PX_FLOAT32 : PX_UINT8, &x, err);
}

static px_status out_open_folder(mutate_out *out, px_error *err)
{
    PX_TRY(px_folder_begin(out->request.path, "mutate", out->request.fresh, &out->folder, err));
    px_text_add(&out->index, "path,label,index,mutation,changed,largest\n");
    return PX_OK;
}

px_status mutate_out_open(const mutate_request *request, mutate_out **to, px_error *err)
{
    const px_shape shape = px_dataset_shape(request->set);
    const bool npz = out_ends(request->path, ".npz");
    if (!npz && shape.dim[0] != 1 && shape.dim[0] != 3)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': PNG files are grey or RGB, the data have %lld channels; use an .npz",
                       request->path, (long long)shape.dim[0]);
    mutate_out *out = calloc(1, sizeof *out);
    if (!out)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    *out = (mutate_out){.request = *request,
                        .channels = (int)shape.dim[0],
                        .height = (int)shape.dim[1],
                        .width = (int)shape.dim[2],
                        .unit = !px_dataset_is_8bit(request->set),
                        .audio = px_dataset_audio(request->set)};
    if (out->audio) { /* shown with time going right and pitch going up */
        out->height = (int)shape.dim[2];
        out->width = (int)shape.dim[1];
    }
    out->pixels = calloc(out_values(out), 1);
    out->floats = calloc(out_values(out), sizeof *out->floats);
    px_status status =
        out->pixels && out->floats ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK && npz)
        status = out_open_npz(out, err);
    else if (status == PX_OK && mutate_out_is_sheet(request->path))
        status = px_sheet_new(&(px_sheet_options){.columns = (int)(request->each + 1)}, &out->sheet,
                              err);
    else if (status == PX_OK)
        status = out_open_folder(out, err);
    if (status != PX_OK) {
        mutate_out_close(out);
        return status;
    }
    *to = out;
    return PX_OK;
}

void mutate_out_close(mutate_out *out)
{
    if (!out)
        return;
    px_npz_abandon(out->npz);
    px_folder_abandon(out->folder);
    px_sheet_free(out->sheet);
    px_text_done(&out->index);
    free(out->pixels);
    free(out->floats);
    free(out);
}

/* --- one picture -------------------------------------------------------------------------------
 */

static void out_together(mutate_out *out, const uint8_t *planes)
{
    const size_t plane = (size_t)out->height * (size_t)out->width;
    for (size_t c = 0; c < (size_t)out->channels; c++)
        for (size_t i = 0; i < plane; i++)
            out->pixels[i * (size_t)out->channels + c] = planes[c * plane + i];
}

const char *mutate_caption(const px_drawn *drawn, char *buffer, size_t size)
{
    const px_mutation *m = drawn->mutation;
    size_t used = (size_t)snprintf(buffer, size, "%s", m->id);
    for (size_t i = 0; i < m->param_count && used < size; i++) {
        const px_mutation_param *p = &m->params[i];
        const double value = drawn->values[i];
        if (strcmp(p->name, "seed") == 0 || (p->choices && value == 0.0 && m->param_count > 1))
            continue;
        const char *gap =
            used == strlen(m->id) ? "\n" : " "; /* parameters on a line of their own */
        if (p->choices)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", gap,
                                     p->choices[(size_t)value]);
        else
            used += (size_t)snprintf(buffer + used, size - used, "%s%s=%.3g", gap, p->name, value);
    }
    return buffer;
}

static px_status out_sheet(mutate_out *out, const uint8_t *planes, const char *caption, bool marked,
                           px_error *err)
{
    out_together(out, planes);
    const px_pixels picture = {out->width, out->height, out->channels, out->pixels};
    return px_sheet_add(out->sheet,
                        &(px_sheet_item){.picture = picture, .caption = caption, .marked = marked},
                        err);
}

px_status mutate_out_original(mutate_out *out, int64_t row, const uint8_t *planes, px_error *err)
{
    if (!out->sheet)
        return PX_OK;
    const px_dataset *set = out->request.set;
    const int64_t label = px_dataset_label(set, row);
    const char *name = px_dataset_class_name(set, (int)label);
    char caption[128], number[24] = "";
    if (label >= 0)
        snprintf(number, sizeof number, "%lld", (long long)label);
    snprintf(caption, sizeof caption, "%lld\n%.60s", (long long)px_dataset_index(set, row),
             name ? name : number);
    return out_sheet(out, planes, caption, true, err);
}

static px_status out_listen(const mutate_out *out, const char *path, px_error *err)
{
    const size_t count = out->sound->count;
    float *samples = calloc(count, sizeof *samples);
    if (!samples)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    px_samples_widen(out->sound->samples, samples, count);
    const px_status status = px_wav_save(path, out->audio->sample_rate, samples, count, err);
    free(samples);
    return status;
}

static px_status out_file(mutate_out *out, const mutate_record *record, const uint8_t *planes,
                          px_error *err)
{
    char path[4096], name[64], text[PX_DRAWN_TEXT];
    snprintf(name, sizeof name, "%07lld-%s.png", (long long)out->written,
             out->request.chain ? "chain" : record->drawn.mutation->id);
    if (snprintf(path, sizeof path, "%s/%s", px_folder_path(out->folder), name) >= (int)sizeof path)
        return px_fail(err, PX_E_USAGE, "'%.100s...': the path is too long", out->request.path);
    out_together(out, planes);
    PX_TRY(px_png_save(path, out->width, out->height, out->channels, out->pixels, err));
    if (out->audio) { /* the recording is what the index names */
        strcpy(name + strlen(name) - 3, "wav");
        strcpy(path + strlen(path) - 3, "wav");
        PX_TRY(out_listen(out, path, err));
    }
    px_text_format(&out->index, "%s,", name);
    if (record->label >= 0)
        px_text_format(&out->index, "%lld", (long long)record->label);
    px_text_format(&out->index, ",%lld,%s,%llu,%d\n", (long long)record->origin,
                   out->request.chain ? out->request.chain : px_drawn_text(&record->drawn, text),
                   (unsigned long long)record->change.l0, record->change.linf);
    return PX_OK;
}

px_status mutate_out_mutant(mutate_out *out, const mutate_record *record, const uint8_t *planes,
                            px_error *err)
{
    char caption[256];
    px_status status;
    if (out->sheet) {
        status = out_sheet(
            out, planes,
            out->request.chain ? "chain" : mutate_caption(&record->drawn, caption, sizeof caption),
            false, err);
    } else if (out->npz && out->audio) {
        status = px_npz_write(out->npz, out->sound->features, out_values(out) * sizeof *out->floats,
                              err);
    } else if (out->npz && out->unit) {
        for (size_t i = 0; i < out_values(out); i++)
            out->floats[i] = (float)planes[i] / 255.0f;
        status = px_npz_write(out->npz, out->floats, out_values(out) * sizeof *out->floats, err);
    } else if (out->npz) {
        status = px_npz_write(out->npz, planes, out_values(out), err);
    } else {
        status = out_file(out, record, planes, err);
    }
    out->written += status == PX_OK;
    return status;
}

/* --- recordings --------------------------------------------------------------------------------
 */

/* Features as a picture: black and white are the lowest and highest of the original. */
static void out_spectrogram(const mutate_out *out, const float *features, uint8_t *planes)
{
    const float range = out->high > out->low ? out->high - out->low : 1.0f;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++) {
            const int bin = out->height - 1 - y; /* low pitches at the bottom */
            const float v = (features[x * out->height + bin] - out->low) / range;
            planes[y * out->width + x] =
                (uint8_t)(v > 0.0f ? (v < 1.0f ? v * 255.0f : 255.0f) : 0.0f);
        }
}

static uint8_t *out_sound(mutate_out *out, const mutate_sound *sound, px_error *err)
{
    uint8_t *planes = calloc(out_values(out), 1);
    if (!planes)
        px_fail(err, PX_E_NOMEM, "out of memory");
    else
        out_spectrogram(out, sound->features, planes);
    out->sound = sound;
    return planes;
}

px_status mutate_out_original_sound(mutate_out *out, int64_t row, const mutate_sound *sound,
                                    px_error *err)
{
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t i = 0; i < out_values(out); i++) {
        out->low = fminf(out->low, sound->features[i]);
        out->high = fmaxf(out->high, sound->features[i]);
    }
    uint8_t *planes = out_sound(out, sound, err);
    const px_status status = planes ? mutate_out_original(out, row, planes, err) : PX_E_NOMEM;
    free(planes);
    return status;
}

px_status mutate_out_mutant_sound(mutate_out *out, const mutate_record *record,
                                  const mutate_sound *sound, px_error *err)
{
    uint8_t *planes = out_sound(out, sound, err);
    const px_status status = planes ? mutate_out_mutant(out, record, planes, err) : PX_E_NOMEM;
    free(planes);
    return status;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static px_status out_column(mutate_out *out, const char *name, const mutate_record *records,
                            int64_t count, bool labels, px_error *err)
{
    const px_shape line = {.rank = 1, .dim = {count}};
    PX_TRY(px_npz_begin(out->npz, name, PX_INT64, &line, err));
    for (int64_t i = 0; i < count; i++)
        PX_TRY(px_npz_write(out->npz, labels ? &records[i].label : &records[i].origin,
                            sizeof(int64_t), err));
    return PX_OK;
}

/* The mutations, one a line, as bytes: arrays have no texts. */
static px_status out_mutations(mutate_out *out, const mutate_record *records, int64_t count,
                               px_error *err)
{
    px_text lines = {0};
    char text[PX_DRAWN_TEXT];
    for (int64_t i = 0; i < count; i++)
        px_text_format(&lines, "%s\n",
                       out->request.chain ? out->request.chain
                                          : px_drawn_text(&records[i].drawn, text));
    px_status status = PX_OK;
    if (px_text_failed(&lines))
        status = px_fail(err, PX_E_NOMEM, "out of memory");
    const px_tensor bytes = {.dtype = PX_UINT8,
                             .shape = {.rank = 1, .dim = {(int64_t)lines.length}},
                             .data = lines.data};
    if (status == PX_OK)
        status = px_npz_add(out->npz, "mutations", &bytes, err);
    px_text_done(&lines);
    return status;
}

static px_status out_finish_folder(mutate_out *out, px_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.csv", px_folder_path(out->folder));
    PX_TRY(px_text_save(&out->index, path, err));
    px_folder *folder = out->folder;
    out->folder = NULL; /* the commit frees it in any case */
    return px_folder_commit(folder, err);
}

px_status mutate_out_finish(mutate_out *out, const mutate_record *records, int64_t count,
                            px_error *err)
{
    if (out->sheet)
        return px_sheet_save(out->sheet, out->request.path, err);
    if (!out->npz)
        return out_finish_folder(out, err);
    if (px_dataset_has_labels(out->request.set))
        PX_TRY(out_column(out, "y", records, count, true, err));
    PX_TRY(out_column(out, "indices", records, count, false, err));
    PX_TRY(out_mutations(out, records, count, err));
    px_npz_writer *npz = out->npz;
    out->npz = NULL;
    return px_npz_commit(npz, err);
}
