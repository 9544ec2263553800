/* src/check/gates.c - what must hold: thresholds, and the verdict */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <errno.h>
#include <internal/check.h>
#include <internal/field.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const px_entry *gate_entry(size_t i)
{
    for (int s = 0; s < PXI_STAGE_COUNT; s++)
        for (int k = 0; k < PXI_STAGE_GATES && pxi_stages[s]->gates[k].entry.id; k++)
            if (i-- == 0)
                return &pxi_stages[s]->gates[k].entry;
    return NULL;
}

const px_registry pxi_gate_kinds = {.kind = "gate", .plural = "gates", .own = gate_entry};

const char *px_verdict_name(px_verdict verdict)
{
    static const char *const names[] = {"none", "pass", "fail"};
    return (size_t)verdict < PX_LEN(names) ? names[verdict] : "?";
}

/* "NAME=NUMBER"; `text` has `length` bytes. */
static px_status gate_parse(px_check *c, const char *text, size_t length, px_error *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t name = equals ? (size_t)(equals - text) : length;
    const px_gate_kind *kind = (const void *)px_registry_word(&pxi_gate_kinds, text, name);
    char number[64], *end = NULL;
    if (!kind)
        return px_registry_unknown(&pxi_gate_kinds, text, name, err);
    const size_t digits = equals ? length - name - 1 : 0;
    if (digits == 0 || digits >= sizeof number)
        return px_fail(err, PX_E_USAGE, "--fail-under %s: expected %s=NUMBER", kind->entry.id,
                       kind->entry.id);
    memcpy(number, equals + 1, digits);
    number[digits] = '\0';
    errno = 0;
    double value = strtod(number, &end);
    if (*end == '%') {
        value /= 100.0;
        end++;
    }
    if (*end || errno || !isfinite(value))
        return px_fail(err, PX_E_USAGE, "--fail-under %s=%.40s: that is no number", kind->entry.id,
                       number);
    for (size_t i = 0; i < c->gate_count; i++)
        if (c->gates[i].kind == kind)
            return px_fail(err, PX_E_USAGE, "--fail-under: '%s' is there twice", kind->entry.id);
    if (c->gate_count == PXI_GATES_MOST)
        return px_fail(err, PX_E_USAGE, "--fail-under: more than %d gates", PXI_GATES_MOST);
    if (!c->wanted[pxi_stage_find(kind->stage, strlen(kind->stage))])
        return px_fail(err, PX_E_USAGE,
                       "--fail-under %s is measured by stage '%s', which --only and --skip leave "
                       "out",
                       kind->entry.id, kind->stage);
    c->gates[c->gate_count++] = (px_check_gate){kind, value, NAN, false};
    return PX_OK;
}

px_status pxi_gates_parse(px_check *c, px_error *err)
{
    for (const char *p = c->o.gates; p && *p;) {
        const size_t length = strcspn(p, ",");
        PX_TRY(gate_parse(c, p, length, err));
        p += length + (p[length] == ',');
    }
    return PX_OK;
}

void pxi_gates_judge(px_check *c)
{
    for (size_t i = 0; i < c->gate_count; i++) {
        px_check_gate *g = &c->gates[i];
        g->value = px_check_number(c, g->kind->stage, g->kind->path);
        g->held = g->kind->most ? g->value <= g->threshold : g->value >= g->threshold;
    }
}

px_verdict px_check_verdict(const px_check *check)
{
    if (check->gate_count == 0)
        return PX_VERDICT_NONE;
    for (size_t i = 0; i < check->gate_count; i++)
        if (!check->gates[i].held)
            return PX_VERDICT_FAIL;
    return PX_VERDICT_PASS;
}

size_t px_check_gate_count(const px_check *check)
{
    return check->gate_count;
}

px_check_gate px_check_gate_get(const px_check *check, size_t i)
{
    return i < check->gate_count ? check->gates[i] : (px_check_gate){.kind = NULL};
}

static px_datum gate_relation(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_gate_kind *)at)->most ? "<=" : ">=");
}

static const px_field kind_names[] = {
    PX_FIELD(px_gate_kind, entry.id, "name", "of the gate"),
    PX_MADE(TEXT, gate_relation, "relation", "<= or >="),
    PX_FIELDS_END,
};

const px_field pxi_gate_fields[] = {
    PX_OBJECT_AT(px_check_gate, kind, kind_names, "", "the gate"),
    PX_FIELD(px_check_gate, threshold, "threshold", "that must hold"),
    PX_FIELD(px_check_gate, value, "value", "null: was not measured"),
    PX_FIELD(px_check_gate, held, "held", "it holds"),
    PX_FIELDS_END,
};

static const px_field kind_words[] = {
    PX_FIELD(px_gate_kind, entry.title, "title", "what it measures"),
    PX_FIELD(px_gate_kind, unit, "unit", "share, count or real"),
    PX_FIELDS_END,
};

const px_field pxi_gate_page_fields[] = {
    PX_OBJECT_AT(px_check_gate, kind, kind_words, "", "for people"),
    PX_OBJECT_OF(pxi_gate_fields, "", "as in check --json"),
    PX_FIELDS_END,
};

const void *pxi_gate_item(const void *check, size_t i, void *row)
{
    const px_check *c = check;
    (void)row;
    return i < c->gate_count ? &c->gates[i] : NULL;
}
