/* src/generate/synthesis_pictures.c - synthesised inputs as pictures (LGR G.4) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/synthesis_pictures.h"

#include "base/memory.h"

#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct triple {
    px_synthesis_row row;
    uint8_t *pixels; /* TRIPLE pictures */
} triple;

static uint8_t byte_of(double share)
{
    return (uint8_t)(share > 0.0 ? share < 1.0 ? floor(share * 255.0 + 0.5) : 255.0 : 0.0);
}

void px_perturbation_bytes(const float *original, const float *changed, size_t count, double range,
                           bool absolute, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const double move = 10.0 * ((double)changed[i] - (double)original[i]) / range;
        out[i] = byte_of(absolute ? fabs(move) : 0.5 + move);
    }
}

pxi_picture_form pxi_picture_form_of(const px_dataset *set, const px_preprocess *pre,
                                     const px_synthesis_options *options, bool absolute)
{
    const px_shape shape = px_dataset_shape(set);
    pxi_picture_form form = {.count = (size_t)px_shape_count(&shape), .absolute = absolute};
    form.low = px_length_levels(pre, options->low);
    form.high = px_length_levels(pre, options->high);
    if (px_dataset_is_8bit(set)) {
        form.low = 0.0;
        form.high = 255.0;
    }
    if (shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3) ||
        shape.dim[1] > PX_SHEET_SIDE_MOST || shape.dim[2] > PX_SHEET_SIDE_MOST)
        return form;
    form.channels = (int)shape.dim[0];
    form.height = (int)shape.dim[1];
    form.width = (int)shape.dim[2];
    return form;
}

/* Planes to pixels. */
static void interleave(const pxi_picture_form *form, const uint8_t *planes, uint8_t *out)
{
    const size_t channels = (size_t)form->channels, places = form->count / channels;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < places; i++)
            out[i * channels + c] = planes[c * places + i];
}

px_status pxi_picture_triple(const pxi_picture_form *form, const px_synthesis_made *made,
                             uint8_t *out, px_error *err)
{
    const size_t count = form->count;
    const double range = form->high - form->low;
    uint8_t *planes = pxi_calloc(count, 1);
    float *changed = pxi_calloc(count, sizeof *changed);
    if (!planes || !changed) {
        free(planes);
        free(changed);
        return pxi_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) /* what is stored */
        changed[i] = made->bytes ? (float)made->bytes[i] : made->exact[i];
    for (int which = TRIPLE_ORIGINAL; which <= TRIPLE_INPUT; which++) {
        const float *values = which == TRIPLE_ORIGINAL ? made->original : changed;
        for (size_t i = 0; i < count; i++)
            planes[i] = byte_of(((double)values[i] - form->low) / range);
        interleave(form, planes, out + (size_t)which * count);
    }
    px_perturbation_bytes(made->original, changed, count, range, form->absolute, planes);
    interleave(form, planes, out + TRIPLE_PERTURBATION * count);
    free(planes);
    free(changed);
    return PX_OK;
}

px_status pxi_triples_add(pxi_triples *triples, const px_synthesis_row *row, const uint8_t *pixels,
                          px_error *err)
{
    const int which = row->stored.predicted == row->label;
    const size_t size = TRIPLE * triples->form.count;
    if (triples->count[which] >= triples->most)
        return PX_OK;
    if (!triples->kept[which]) {
        PX_TRY(PX_NEW(triples->kept[which], triples->most, err));
    }
    triple *kept = &triples->kept[which][triples->count[which]];
    kept->row = *row;
    kept->pixels = pxi_calloc(size, 1);
    if (!kept->pixels)
        return pxi_no_memory(err);
    for (size_t i = 0; i < size; i++)
        kept->pixels[i] = pixels[i];
    triples->count[which]++;
    return PX_OK;
}

static const char *class_text(const px_dataset *set, int64_t c, char buffer[24])
{
    const char *name = c >= 0 ? px_dataset_class_name(set, (int)c) : NULL;
    if (!name)
        snprintf(buffer, 24, "%" PRId64, c);
    return name ? name : buffer;
}

static px_status sheet_add_triple(px_sheet *sheet, const pxi_triples *triples, const triple *t,
                                  px_error *err)
{
    char label[24], predicted[24], captions[TRIPLE][96];
    const px_synthesis_form *form = &t->row.stored;
    snprintf(captions[TRIPLE_ORIGINAL], sizeof captions[0], "%.60s",
             class_text(triples->set, t->row.label, label));
    snprintf(captions[TRIPLE_INPUT], sizeof captions[0], "as %.60s",
             class_text(triples->set, form->predicted, predicted));
    snprintf(captions[TRIPLE_PERTURBATION], sizeof captions[0], "max %.4g\nL2 %.4g", form->linf,
             form->l2);
    for (int i = 0; i < TRIPLE; i++) {
        const px_sheet_item item = {
            .picture = {triples->form.width, triples->form.height, triples->form.channels,
                        t->pixels + (size_t)i * triples->form.count},
            .caption = captions[i],
            .marked = i == TRIPLE_INPUT && form->predicted != t->row.label,
        };
        PX_TRY(px_sheet_add(sheet, &item, err));
    }
    return PX_OK;
}

px_status pxi_triples_save(const pxi_triples *triples, const char *title, const char *path,
                           px_error *err)
{
    enum { TRIPLES_IN_A_ROW = 4 };
    px_sheet *sheet = NULL;
    const px_sheet_options options = {.title = title, .columns = TRIPLE * TRIPLES_IN_A_ROW};
    PX_TRY(px_sheet_new(&options, &sheet, err));
    px_status status = PX_OK;
    int64_t used = 0;
    for (int which = 0; which < 2; which++)
        for (int64_t i = 0; i < triples->count[which] && used < triples->most && status == PX_OK;
             i++, used++)
            status = sheet_add_triple(sheet, triples, &triples->kept[which][i], err);
    PX_THEN(status, px_sheet_save(sheet, path, err));
    px_sheet_free(sheet);
    return status;
}

void pxi_triples_done(pxi_triples *triples)
{
    for (int which = 0; which < 2; which++) {
        for (int64_t i = 0; i < triples->count[which]; i++)
            free(triples->kept[which][i].pixels);
        free(triples->kept[which]);
    }
    *triples = (pxi_triples){0};
}
