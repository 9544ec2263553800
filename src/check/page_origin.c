/* src/check/page_origin.c - where the page's numbers come from: stages, assumptions, files */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include <internal/check.h>
#include <internal/field.h>
#include <internal/graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- stages ---------------------------------------------------------------------------------- */

typedef struct stage_row {
    const px_check_stage *stage;
    const char *state, *why;
    char command[PX_FIELD_TEXT_MOST];
} stage_row;

const void *pxi_page_stage(const void *page, size_t i, void *row)
{
    const px_check *c = ((const pxi_page *)page)->c;
    stage_row *r = row;
    px_text command = {0};
    if (i == PXI_STAGE_COUNT)
        return NULL;
    if (c->result[i] && pxi_stages[i]->command)
        pxi_stages[i]->command(c, c->result[i], &command);
    r->stage = &pxi_stages[i]->public;
    r->state = px_check_state_name(c->state[i]);
    r->why = c->state[i] == PX_CHECK_LEFT_OUT ? c->why[i] : NULL;
    snprintf(r->command, sizeof r->command, "%s", px_text_get(&command));
    px_text_done(&command);
    return r;
}

static const px_field head_fields[] = {
    PX_FIELD(px_check_stage, entry.id, "id", "of the stage"),
    PX_FIELD(px_check_stage, entry.title, "title", "of its view"),
    PX_FIELD(px_check_stage, help, "help", "what it does"),
    PX_FIELD(px_check_stage, labels, "labels", "it needs them"),
    PX_FIELDS_END,
};

const px_field pxi_page_stage_fields[] = {
    PX_OBJECT_AT(stage_row, stage, head_fields, ""),
    PX_FIELD(stage_row, state, "state", "done, kept, left out or skipped"),
    PX_FIELD(stage_row, why, "why", "it was left out", .optional = true),
    PX_CHARS(stage_row, command, "command", "that does this part alone", .if_size = 1,
             .if_offset = offsetof(stage_row, command)),
    PX_FIELDS_END,
};

/* --- provenance: the record is the check ----------------------------------------------------- */

typedef struct origin_row { /* of one list or another */
    const char *name, *from;
    char value[PX_FIELD_TEXT_MOST];
    uint64_t hash;
    int stage, file; /* whose file comes next */
} origin_row;

static void numbers_text(const float *values, int count, char *text, size_t size)
{
    px_text all = {0};
    for (int i = 0; i < count; i++)
        px_text_format(&all, "%s%.4g", i ? ", " : "", (double)values[i]);
    snprintf(text, size, "%s", px_text_get(&all));
    px_text_done(&all);
}

enum { PIXEL_ROWS = 3 };

static const void *assumption_item(const void *check, size_t i, void *row)
{
    const px_check *c = check;
    const px_preprocess *pre = &c->pre;
    const char *const names[] = {"scale", "mean", "std", "data", "channels", "class scores"};
    const char *const from[] = {pre->scale_from, pre->mean_from, pre->std_from,
                                pre->size_from,  NULL,           c->scores.why};
    const char *const values[] = {NULL,
                                  NULL,
                                  NULL,
                                  px_dataset_describe(c->set),
                                  pre->bgr ? "bgr" : "as stored",
                                  c->scores.probabilities ? "probabilities" : "logits"};
    origin_row *r = row;
    if (px_model_inputs(c->model)) /* they are taken as they are */
        i += PIXEL_ROWS;
    if (i >= PX_LEN(names))
        return NULL;
    r->name = names[i];
    r->from = from[i];
    if (i == 0)
        pxi_fraction_text((double)pre->scale, r->value);
    else if (i < PIXEL_ROWS)
        numbers_text(i == 1 ? pre->mean : pre->stddev, pre->channels, r->value, sizeof r->value);
    else
        snprintf(r->value, sizeof r->value, "%s", values[i]);
    return r;
}

static const px_field assumption_fields[] = {
    PX_FIELD(origin_row, name, "name", "what was assumed"),
    PX_CHARS(origin_row, value, "value", "as what"),
    PX_FIELD(origin_row, from, "from", "who says so"),
    PX_FIELDS_END,
};

static const void *hash_item(const void *check, size_t i, void *row)
{
    const px_check *c = check;
    origin_row *r = row;
    if (i > 1)
        return NULL;
    r->name = i ? "data" : "model";
    r->from = pxi_shown_path(i ? c->data_spec : c->model_path);
    r->hash = i ? px_dataset_hash(c->set) : px_model_hash(c->model);
    return r;
}

static const px_field hash_fields[] = {
    PX_FIELD(origin_row, name, "what", "model or data"),
    PX_FIELD(origin_row, from, "path", "without folders of this machine"),
    PX_HASH(origin_row, hash, "hash", "of its bytes"),
    PX_FIELDS_END,
};

static const void *file_item(const void *check, size_t i, void *row)
{
    const px_check *c = check;
    origin_row *r = row;
    if (i == 0)
        r->stage = r->file = 0;
    for (; r->stage < PXI_STAGE_COUNT; r->stage++, r->file = 0)
        while (r->file < PXI_STAGE_FILES && c->result[r->stage]) {
            const pxi_stage_file *file = &pxi_stages[r->stage]->files[r->file++];
            char *inside = pxi_check_path(c, file->name);
            const bool there = !file->optional || (inside && access(inside, F_OK) == 0);
            free(inside);
            if (!file->what || !there)
                continue;
            r->name = file->what;
            snprintf(r->value, sizeof r->value, "%s/%s", pxi_shown_path(c->folder), file->name);
            return r;
        }
    return NULL;
}

static const px_field file_fields[] = {
    PX_CHARS(origin_row, value, "path", "as others may read it"),
    PX_FIELD(origin_row, name, "what", "it has"),
    PX_FIELDS_END,
};

static px_datum shown_command(const void *check, char *text)
{
    const char *given = ((const px_check *)check)->o.command;
    char *command = pxi_shown_command(given ? given : "plexor check");
    const px_datum said = command ? px_datum_format(text, "%s", command) : px_datum_none();
    free(command);
    return said;
}

/* As text: seeds may be larger than the integers of JavaScript. */
static px_datum seed_text(const void *check, char *text)
{
    return px_datum_format(text, "%" PRIu64, ((const px_check *)check)->o.seed);
}

static px_datum thread_count(const void *check, char *text)
{
    (void)text;
    return px_datum_int(pxi_check_threads(check));
}

const px_field pxi_page_provenance_fields[] = {
    PX_MADE(TEXT, shown_command, "command", "as it was typed"),
    PX_MADE(TEXT, seed_text, "seed", "of all that is random"),
    PX_MADE(INT, thread_count, "threads", "that were used"),
    PX_LIST_MADE(hash_item, hash_fields, "hashes", "of what was examined"),
    PX_LIST_MADE(assumption_item, assumption_fields, "assumptions", "of preprocessing"),
    PX_LIST_MADE(file_item, file_fields, "files", "that the examination left"),
    PX_FIELDS_END,
};
