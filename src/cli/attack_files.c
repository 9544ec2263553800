/* src/cli/attack_files.c - results of an attack as a campaign, and on a contact sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/attack_files.h"

#include "base/memory.h"

#include <internal/preprocess.h>
#include <internal/ranks.h>
#include <internal/synthesize.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHEET_MOST = 48, SHEET_COLUMNS = 12 };

/* --- the campaign ---------------------------------------------------------------------------- */

px_status attack_campaign_begin(attack_files *f, const px_model *model, int classes,
                                const char *settings, int64_t seed, px_error *err)
{
    char *text = NULL;
    PX_TRY(px_pairs_attack_settings(&f->options, settings, f->inputs->count, &f->inputs->pre, &text,
                                    err));
    px_status status = pair_campaign_identify(&f->pairs, f->inputs, f->options.keep_float, model,
                                              classes, text, seed, err);
    free(text);
    PX_THEN(status, px_pairs_plan(f->pairs.pairs, f->inputs->count, err));
    PX_THEN(status, px_pairs_attack_rows(f->pairs.pairs, &f->known, &f->known_count, err));
    /* Ranks that begin at different inputs would put each other's into the wrong places. */
    return status == PX_OK ? pxi_ranks_agree("the inputs that the campaign has",
                                             (uint64_t)f->known_count, err)
                           : status;
}

/* --- the sheet ------------------------------------------------------------------------------- */

px_status attack_sheet_open(attack_files *f, px_error *err)
{
    static const px_sheet_options options = {
        .title = "original, attacked, ten times the difference", .columns = SHEET_COLUMNS};
    const px_shape shape = px_dataset_shape(f->inputs->set);
    if (shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3) ||
        shape.dim[1] > PX_SHEET_SIDE_MOST || shape.dim[2] > PX_SHEET_SIDE_MOST)
        return px_fail(err, PX_E_MISMATCH,
                       "--sheet: these inputs are no pictures of one or three channels");
    f->picture = calloc(4, f->inputs->floats); /* the fourth: planes */
    if (!f->picture)
        return pxi_no_memory(err);
    for (int i = 0; i < 2; i++)
        PX_TRY(px_sheet_new(&options, &f->sheets[i], err));
    return PX_OK;
}

static uint8_t sheet_byte(double share)
{
    return (uint8_t)(share > 0.0 ? share < 1.0 ? share * 255.0 + 0.5 : 255.0 : 0.0);
}

static void sheet_interleave(const px_shape *shape, const uint8_t *planes, uint8_t *out)
{
    const size_t channels = (size_t)shape->dim[0];
    const size_t places = (size_t)(shape->dim[1] * shape->dim[2]);
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < places; i++)
            out[i * channels + c] = planes[c * places + i];
}

static px_status sheet_draw(attack_files *f, const px_attack_made *made, px_error *err)
{
    const px_shape shape = px_dataset_shape(f->inputs->set);
    const size_t count = f->inputs->floats;
    const px_preprocess *pre = &f->inputs->pre;
    const bool levels = px_dataset_is_8bit(f->inputs->set);
    const double low = levels ? 0.0 : px_length_levels(pre, f->options.low);
    const double range = (levels ? 255.0 : px_length_levels(pre, f->options.high)) - low;
    uint8_t *planes = f->picture + 3 * count;
    float *changed = malloc(count * sizeof *changed);
    if (!changed)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) /* what is stored */
        changed[i] = made->bytes ? (float)made->bytes[i] : made->exact[i];
    for (int which = 0; which < 2; which++) {
        const float *values = which ? changed : made->original;
        for (size_t i = 0; i < count; i++)
            planes[i] = sheet_byte(((double)values[i] - low) / range);
        sheet_interleave(&shape, planes, f->picture + (size_t)which * count);
    }
    px_perturbation_bytes(made->original, changed, count, range, /* absolute= */ false, planes);
    sheet_interleave(&shape, planes, f->picture + 2 * count);
    free(changed);
    return PX_OK;
}

static px_status sheet_add(attack_files *f, const px_attack_made *made, px_error *err)
{
    const px_shape shape = px_dataset_shape(f->inputs->set);
    const px_attack_form *form = &made->row->stored;
    const int which = !form->reached;
    char captions[3][96], name[CLI_NUMBER_TEXT];
    if (f->on_sheet[which] == SHEET_MOST)
        return PX_OK;
    f->on_sheet[which]++;
    PX_TRY(sheet_draw(f, made, err));
    snprintf(captions[0], sizeof captions[0], "%.60s",
             cli_class_name(f->classes, (int)made->row->truth, name));
    snprintf(captions[1], sizeof captions[1], "as %.60s",
             form->predicted < 0 ? "?" : cli_class_name(f->classes, (int)form->predicted, name));
    snprintf(captions[2], sizeof captions[2], "max %.4g\nL2 %.4g", form->linf, form->l2);
    for (int i = 0; i < 3; i++) {
        const px_sheet_item item = {
            .picture = {(int)shape.dim[2], (int)shape.dim[1], (int)shape.dim[0],
                        f->picture + (size_t)i * f->inputs->floats},
            .caption = captions[i],
            .marked = i == 1 && form->reached,
        };
        PX_TRY(px_sheet_add(f->sheets[which], &item, err));
    }
    return PX_OK;
}

/* --- both ------------------------------------------------------------------------------------ */

px_status attack_files_add(void *context, const px_attack_made *made, px_error *err)
{
    attack_files *f = context;
    const px_attack_row *row = made->row;
    if (f->pairs.campaign)
        PX_TRY(px_pairs_put_attack(f->pairs.pairs, &f->options, made, err));
    const bool was_right = !row->skipped && row->before >= 0 && row->before == row->truth;
    return f->sheets[1] && was_right ? sheet_add(f, made, err) : PX_OK;
}

px_status attack_files_finish(attack_files *f, const char *sheet, const char *command,
                              double seconds, px_error *err)
{
    if (f->pairs.campaign)
        PX_TRY(px_pairs_finish(f->pairs.pairs, command, seconds, err));
    return sheet ? px_sheet_save(f->sheets[f->on_sheet[0] ? 0 : 1], sheet, err) : PX_OK;
}

void attack_files_close(attack_files *f)
{
    px_sheet_free(f->sheets[0]);
    px_sheet_free(f->sheets[1]);
    pair_campaign_close(&f->pairs);
    free(f->known);
    free(f->picture);
}
