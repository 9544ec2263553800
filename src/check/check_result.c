/* src/check/check_result.c - reading the results of stages */
#include "check/check_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

static int stage_find(const char *id)
{
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (strcmp(pxi_stages[i]->public.id, id) == 0)
            return i;
    return -1;
}

const px_json_value *px_check_result(const px_check *check, const char *stage)
{
    const int i = stage_find(stage);
    return i < 0 ? NULL : check->result[i];
}

double px_check_number(const px_check *check, const char *stage, const char *path)
{
    return pxi_json_number(px_check_result(check, stage), path);
}

px_check_state px_check_state_of(const px_check *check, size_t stage)
{
    return stage < PXI_STAGE_COUNT ? check->state[stage] : PX_CHECK_SKIPPED;
}

const char *px_check_why(const px_check *check, size_t stage)
{
    return stage < PXI_STAGE_COUNT && check->state[stage] == PX_CHECK_LEFT_OUT ? check->why[stage]
                                                                               : "";
}

double px_check_seconds(const px_check *check, size_t stage)
{
    return stage < PXI_STAGE_COUNT ? check->seconds[stage] : 0.0;
}

const char *px_check_state_name(px_check_state state)
{
    static const char *const names[] = {"waits", "done", "kept", "left out", "skipped"};
    return (size_t)state < PX_LEN(names) ? names[state] : "?";
}

const char *px_check_folder(const px_check *check)
{
    return check->folder;
}

const char *px_check_page(const px_check *check)
{
    return check->page_written ? check->page : NULL;
}

const char *px_check_model_path(const px_check *check)
{
    return check->model_path;
}

const char *px_check_data_spec(const px_check *check)
{
    return check->data_spec;
}

static void json_gates(const px_check *c, px_json *json)
{
    px_json_array(json, "gates");
    for (size_t i = 0; i < c->gate_count; i++) {
        const px_check_gate *g = &c->gates[i];
        px_json_object(json, NULL);
        px_json_string(json, "name", g->kind->name);
        px_json_string(json, "relation", g->kind->most ? "<=" : ">=");
        px_json_real(json, "threshold", g->threshold);
        px_json_real(json, "value", g->value);
        px_json_bool(json, "held", g->held);
        px_json_end(json);
    }
    px_json_end(json);
}

/* The numbers that a reader asks for first, each with what it counts. */
static void json_headline(const px_check *c, px_json *json)
{
    static const struct {
        const char *key, *stage, *path;
    } numbers[] = {
        {"accuracy", "eval", "accuracy"},
        {"loss", "eval", "loss"},
        {"ece", "eval", "calibration.ece"},
        {"worst_class_accuracy", "eval", "worst.accuracy"},
        {"selected", "select", "budget"},
        {"fdr", "select", "fdr"},
        {"synthesized_faults", "synthesize", "faults"},
        {"attack_success", "attack", "success"},
        {"robust_accuracy", "attack", "robust_accuracy"},
        {"attack_faults", "attack", "faults"},
        {"fuzz_faults", "fuzz", "unique_faults"},
        {"fault_types", "assess", "fault_types"},
        {"faults", "assess", "faults"},
        {"close_faults", "assess", "close_faults"},
        {"clusters", "cluster", "k"},
    };
    for (size_t i = 0; i < PX_LEN(numbers); i++)
        if (px_check_result(c, numbers[i].stage))
            px_json_real(json, numbers[i].key,
                         px_check_number(c, numbers[i].stage, numbers[i].path));
    const px_json_value *criteria = pxi_json_path(px_check_result(c, "cover"), "criteria");
    if (criteria && criteria->kind == PX_JSON_ARRAY) {
        px_json_object(json, "coverage");
        for (size_t i = 0; i < criteria->count; i++) {
            const char *id = pxi_json_words(&criteria->items[i], "id");
            if (!id)
                continue;
            px_json_object(json, id);
            px_json_real(json, "value", pxi_json_number(&criteria->items[i], "value"));
            px_json_string(json, "neurons", pxi_json_words(&criteria->items[i], "definition"));
            px_json_end(json);
        }
        px_json_end(json);
    }
}

void px_check_json(const px_check *c, px_json *json)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, px_model_hash(c->model));
    px_json_string(json, "model", c->model_path);
    px_json_string(json, "model_hash", hash);
    snprintf(hash, sizeof hash, "%016" PRIx64, px_dataset_hash(c->set));
    px_json_string(json, "data", px_dataset_describe(c->set));
    px_json_string(json, "data_hash", hash);
    px_json_string(json, "verdict", px_verdict_name(px_check_verdict(c)));
    json_gates(c, json);
    px_json_string(json, "report", px_check_page(c));
    px_json_string(json, "folder", c->folder);
    px_json_int(json, "seed", (int64_t)c->o.seed);
    px_json_int(json, "count", c->count);
    json_headline(c, json);
    px_json_array(json, "stages");
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        px_json_object(json, NULL);
        px_json_string(json, "id", pxi_stages[i]->public.id);
        px_json_string(json, "state", px_check_state_name(c->state[i]));
        if (c->state[i] == PX_CHECK_LEFT_OUT)
            px_json_string(json, "why", c->why[i]);
        if (c->result[i])
            px_json_real(json, "seconds", c->seconds[i]);
        px_json_end(json);
    }
    px_json_end(json);
}
