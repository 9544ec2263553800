/* src/check/check_result.c - reading the results of stages */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/check.h>
#include <internal/field.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Members by names with points between; a number is the place in a list. */
const px_json_value *pxi_json_path(const px_json_value *from, const char *path)
{
    char part[64];
    while (from && *path) {
        const size_t length = strcspn(path, ".");
        if (length >= sizeof part)
            return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        from = from->kind == PX_JSON_OBJECT ? px_json_member(from, part) : NULL;
        path += length + (path[length] == '.');
    }
    return from;
}

double pxi_json_number(const px_json_value *from, const char *path)
{
    const px_json_value *value = pxi_json_path(from, path);
    return value && value->kind == PX_JSON_NUMBER ? value->number : (double)NAN;
}

int64_t pxi_json_whole(const px_json_value *value, int64_t otherwise)
{
    return value->kind == PX_JSON_NUMBER && fabs(value->number) < 9e15 ? (int64_t)value->number
                                                                       : otherwise;
}

int64_t pxi_json_int(const px_json_value *from, const char *path, int64_t otherwise)
{
    const double number = pxi_json_number(from, path);
    return fabs(number) < 9e15 ? (int64_t)number : otherwise; /* false for NaN */
}

const char *pxi_json_words(const px_json_value *from, const char *path)
{
    const px_json_value *value = pxi_json_path(from, path);
    return value && value->kind == PX_JSON_STRING ? value->string : NULL;
}

const px_json_value *pxi_json_list(const px_json_value *from, const char *path)
{
    const px_json_value *list = pxi_json_path(from, path);
    return list && list->kind == PX_JSON_ARRAY ? list : NULL;
}

size_t pxi_json_count(const px_json_value *from, const char *path)
{
    const px_json_value *list = pxi_json_list(from, path);
    return list ? list->count : 0;
}

bool pxi_json_true(const px_json_value *from, const char *path)
{
    const px_json_value *value = pxi_json_path(from, path);
    return value && value->kind == PX_JSON_BOOL && value->boolean;
}

const px_json_value *px_check_result(const px_check *check, const char *stage)
{
    const int i = pxi_stage_find(stage, strlen(stage));
    return i < 0 ? NULL : check->result[i];
}

double px_check_number(const px_check *check, const char *stage, const char *path)
{
    return pxi_json_number(px_check_result(check, stage), path);
}

void px_check_line(const px_check *check, size_t stage, px_text *out)
{
    if (stage >= PXI_STAGE_COUNT)
        return;
    if (check->state[stage] == PX_CHECK_LEFT_OUT)
        px_text_format(out, "left out: %s", check->why[stage]);
    else if (check->result[stage])
        pxi_stages[stage]->line(check, check->result[stage], out);
}

px_check_state px_check_state_of(const px_check *check, size_t stage)
{
    return stage < PXI_STAGE_COUNT ? check->state[stage] : PX_CHECK_SKIPPED;
}

const char *px_check_state_name(px_check_state state)
{
    static const char *const names[] = {"waits", "done", "kept", "left out", "skipped"};
    return (size_t)state < PX_LEN(names) ? names[state] : "?";
}

const char *px_check_page(const px_check *check)
{
    return check->page_written ? check->page : NULL;
}

/* --- as JSON --------------------------------------------------------------------------------- */

typedef struct headline_row { /* a number that a reader asks for first, by the stage's own key */
    const char *key;
    double value;
} headline_row;

static const void *headline_item(const void *at, size_t i, void *row)
{
    const px_check *c = at;
    for (int s = 0; s < PXI_STAGE_COUNT; s++) {
        const pxi_headline *line = pxi_stages[s]->headlines;
        for (int k = 0; c->result[s] && k < PXI_STAGE_HEADLINES && line[k].key; k++)
            if (i-- == 0) {
                *(headline_row *)row = (headline_row){
                    .key = line[k].key, .value = pxi_json_number(c->result[s], line[k].path)};
                return row;
            }
    }
    return NULL;
}

static const px_field headline_fields[] = {
    PX_FIELD(headline_row, key, "headline", "of a stage"),
    PX_FIELD(headline_row, value, "", "null: has none"),
    PX_FIELDS_END,
};

typedef struct coverage_row { /* a criterion, and what it counts */
    const char *id, *neurons;
    double value;
} coverage_row;

static const void *coverage_item(const void *at, size_t i, void *row)
{
    const px_json_value *criteria =
        pxi_json_list(((const px_check *)at)->result[PXI_STAGE_cover], "criteria");
    if (!criteria || i >= criteria->count)
        return NULL;
    *(coverage_row *)row =
        (coverage_row){.id = pxi_json_words(&criteria->items[i], "id"),
                       .neurons = pxi_json_words(&criteria->items[i], "definition"),
                       .value = pxi_json_number(&criteria->items[i], "value")};
    return row;
}

static const px_field coverage_fields[] = {
    PX_FIELD(coverage_row, id, "id", "of the criterion"),
    PX_FIELD(coverage_row, value, "value", "of the data"),
    PX_FIELD(coverage_row, neurons, "neurons", "what a neuron is to it"),
    PX_FIELDS_END,
};

typedef struct stage_row {
    const char *id, *state, *why;
    bool there; /* it has a result */
    double seconds;
} stage_row;

static const void *stage_item(const void *at, size_t i, void *row)
{
    const px_check *c = at;
    if (i >= PXI_STAGE_COUNT)
        return NULL;
    *(stage_row *)row = (stage_row){.id = pxi_stages[i]->public.entry.id,
                                    .state = px_check_state_name(c->state[i]),
                                    .why = c->state[i] == PX_CHECK_LEFT_OUT ? c->why[i] : NULL,
                                    .there = c->result[i] != NULL,
                                    .seconds = c->seconds[i]};
    return row;
}

static const px_field stage_fields[] = {
    PX_FIELD(stage_row, id, "id", "of the stage"),
    PX_FIELD(stage_row, state, "state", "done, kept, left out or skipped"),
    PX_FIELD(stage_row, why, "why", "it was left out", .optional = true),
    PX_FIELD(stage_row, seconds, "seconds", "that it took", PX_IF(stage_row, there)),
    PX_FIELDS_END,
};

static px_datum check_model_hash(const void *at, char *text)
{
    return px_datum_format(text, "%016" PRIx64, px_model_hash(((const px_check *)at)->model));
}

static px_datum check_data(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_dataset_describe(((const px_check *)at)->set));
}

static px_datum check_data_hash(const void *at, char *text)
{
    return px_datum_format(text, "%016" PRIx64, px_dataset_hash(((const px_check *)at)->set));
}

static px_datum check_verdict(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_verdict_name(px_check_verdict(at)));
}

static px_datum check_page(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_check_page(at));
}

const px_field px_check_fields[] = {
    PX_FIELD(px_check, model_path, "model", "the network"),
    PX_MADE(TEXT, check_model_hash, "model_hash", "of its bytes"),
    PX_MADE(TEXT, check_data, "data", "what was looked at"),
    PX_MADE(TEXT, check_data_hash, "data_hash", "of all inputs"),
    PX_MADE(TEXT, check_verdict, "verdict", "pass, fail, or none without gates"),
    PX_LIST_MADE(pxi_gate_item, pxi_gate_fields, "gates", "what must hold"),
    PX_MADE(TEXT, check_page, "report", "the page"),
    PX_FIELD(px_check, folder, "folder", "where results and findings are"),
    PX_FIELD(px_check, o.seed, "seed", "of all that is random"),
    PX_FIELD(px_check, count, "count", "inputs that were looked at"),
    PX_MAP_MADE(headline_item, headline_fields, "", "numbers of the stages: docs/check.md"),
    PX_MAP_MADE(coverage_item, coverage_fields, "coverage", "by criterion", .optional = true),
    PX_LIST_MADE(stage_item, stage_fields, "stages", "in their order"),
    PX_FIELDS_END,
};
