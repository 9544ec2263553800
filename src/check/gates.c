/* src/check/gates.c - what must hold: thresholds, and the verdict */
#include "check/check_inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const px_gate_kind kinds[] = {
    {"accuracy", "share of inputs that are classified correctly", "eval", "accuracy", false},
    {"worst-class", "the same of the class where it is lowest", "eval", "worst.accuracy", false},
    {"loss", "mean cross-entropy", "eval", "loss", true},
    {"ece", "expected calibration error, 15 bins", "eval", "calibration.ece", true},
    {"nc", "neuron coverage", "cover", "values.nc", false},
    {"kmnc", "k-multisection neuron coverage", "cover", "values.kmnc", false},
    {"nbc", "neuron boundary coverage", "cover", "values.nbc", false},
    {"snac", "strong neuron activation coverage", "cover", "values.snac", false},
    {"tknc", "top-k neuron coverage", "cover", "values.tknc", false},
    {"fdr", "share of failures among the 5% to be labelled first", "select", "fdr", false},
    {"robust", "accuracy under attack", "attack", "robust_accuracy", false},
    {"attack-success", "share of right answers that an attack turns", "attack", "success", true},
    {"faults", "distinct failures that were synthesized, attacked and fuzzed", "assess", "faults",
     true},
    {"close-faults", "those of them that are close to their originals", "assess", "close_faults",
     true},
    {"fault-types", "kinds of failure among them: pairs of label and answer", "assess",
     "fault_types", true},
    {"fuzz-faults", "distinct failures that were fuzzed", "fuzz", "unique_faults", true},
};

size_t px_gate_kind_count(void)
{
    return PX_LEN(kinds);
}

const px_gate_kind *px_gate_kind_get(size_t i)
{
    return i < PX_LEN(kinds) ? &kinds[i] : NULL;
}

const char *px_verdict_name(px_verdict verdict)
{
    static const char *const names[] = {"none", "pass", "fail"};
    return (size_t)verdict < PX_LEN(names) ? names[verdict] : "?";
}

static px_status gate_unknown(const char *text, size_t length, px_error *err)
{
    px_text names = {0};
    for (size_t i = 0; i < PX_LEN(kinds); i++)
        px_text_format(&names, "%s%s", i ? ", " : "", kinds[i].name);
    px_fail(err, PX_E_USAGE, "--fail-under: there is no gate '%.*s'; there are %s",
            (int)PX_MIN(length, (size_t)60), text, px_text_get(&names));
    px_text_done(&names);
    return PX_E_USAGE;
}

/* "NAME=NUMBER"; `text` has `length` bytes. */
static px_status gate_parse(px_check *c, const char *text, size_t length, px_error *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t name = equals ? (size_t)(equals - text) : length;
    const px_gate_kind *kind = NULL;
    char number[64], *end = NULL;
    for (size_t i = 0; i < PX_LEN(kinds); i++)
        if (strlen(kinds[i].name) == name && strncmp(kinds[i].name, text, name) == 0)
            kind = &kinds[i];
    if (!kind)
        return gate_unknown(text, name, err);
    const size_t digits = equals ? length - name - 1 : 0;
    if (digits == 0 || digits >= sizeof number)
        return px_fail(err, PX_E_USAGE, "--fail-under %s: expected %s=NUMBER", kind->name,
                       kind->name);
    memcpy(number, equals + 1, digits);
    number[digits] = '\0';
    errno = 0;
    double value = strtod(number, &end);
    if (*end == '%') {
        value /= 100.0;
        end++;
    }
    if (*end || errno || !isfinite(value))
        return px_fail(err, PX_E_USAGE, "--fail-under %s=%.40s: that is no number", kind->name,
                       number);
    for (size_t i = 0; i < c->gate_count; i++)
        if (c->gates[i].kind == kind)
            return px_fail(err, PX_E_USAGE, "--fail-under: '%s' is there twice", kind->name);
    if (c->gate_count == PXI_GATES_MOST)
        return px_fail(err, PX_E_USAGE, "--fail-under: more than %d gates", PXI_GATES_MOST);
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (strcmp(pxi_stages[i]->public.id, kind->stage) == 0 && !c->wanted[i])
            return px_fail(err, PX_E_USAGE,
                           "--fail-under %s is measured by stage '%s', which --only and --skip "
                           "leave out",
                           kind->name, kind->stage);
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
