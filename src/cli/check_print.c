/* src/cli/check_print.c - an examination on a terminal: a line or two of every stage */
#include "cli/check_print.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double number(const px_check *check, const char *stage, const char *path)
{
    return px_check_number(check, stage, path);
}

static const char *words(const px_check *check, const char *stage, const char *object,
                         const char *key)
{
    const px_json_value *result = px_check_result(check, stage);
    const px_json_value *found = result ? px_json_member(result, object) : NULL;
    found = found && found->kind == PX_JSON_OBJECT ? px_json_member(found, key) : NULL;
    return found && found->kind == PX_JSON_STRING ? found->string : "?";
}

static void print_eval(const px_check *check)
{
    char count[CLI_NUMBER_TEXT];
    cli_number((int64_t)number(check, "eval", "count"), count);
    if (isnan(number(check, "eval", "accuracy"))) {
        printf("%s inputs without labels, mean confidence %.3f\n", count,
               number(check, "eval", "confidence"));
        return;
    }
    printf("accuracy %.2f%% of %s inputs, loss %.4f, calibration error %.4f",
           100.0 * number(check, "eval", "accuracy"), count, number(check, "eval", "loss"),
           number(check, "eval", "calibration.ece"));
    if (number(check, "eval", "worst.accuracy") >= 0.0)
        printf("; worst class %s (%.2f%%)", words(check, "eval", "worst", "name"),
               100.0 * number(check, "eval", "worst.accuracy"));
    if (number(check, "eval", "label_suspects.total") > 0.0)
        printf("; %s labels may be wrong",
               cli_number((int64_t)number(check, "eval", "label_suspects.total"), count));
    printf("\n");
}

static void print_cover(const px_check *check)
{
    const px_json_value *cover = px_check_result(check, "cover");
    const px_json_value *criteria = px_json_member(cover, "criteria");
    const px_json_value *definition = px_json_member(cover, "definition");
    for (size_t i = 0; criteria && criteria->kind == PX_JSON_ARRAY && i < criteria->count; i++) {
        const px_json_value *id = px_json_member(&criteria->items[i], "id");
        const px_json_value *value = px_json_member(&criteria->items[i], "value");
        if (id && id->kind == PX_JSON_STRING && value && value->kind == PX_JSON_NUMBER)
            printf("%s%s %.4g", i ? ", " : "", id->string, value->number);
    }
    if (definition && definition->kind == PX_JSON_STRING)
        printf(" (%s)", definition->string);
    printf("\n");
}

static void print_select(const px_check *check)
{
    char count[CLI_NUMBER_TEXT];
    printf("%s inputs to label first, by gini",
           cli_number((int64_t)number(check, "select", "budget"), count));
    if (number(check, "select", "fdr") >= 0.0)
        printf(": %.1f%% of them are failures", 100.0 * number(check, "select", "fdr"));
    printf("\n");
}

static void print_localize(const px_check *check)
{
    const px_json_value *list = px_json_member(px_check_result(check, "localize"), "neurons");
    enum { FIRST = 3 };
    printf("most suspicious of %.0f neurons:", number(check, "localize", "neuron_count"));
    int shown = 0;
    for (size_t i = 0; list && list->kind == PX_JSON_ARRAY && i < list->count && shown < FIRST;
         i++) {
        const px_json_value *layer = px_json_member(&list->items[i], "layer");
        const px_json_value *unit = px_json_member(&list->items[i], "index");
        const px_json_value *suspect = px_json_member(&list->items[i], "suspect");
        if (layer && layer->kind == PX_JSON_STRING && unit && unit->kind == PX_JSON_NUMBER &&
            suspect && suspect->kind == PX_JSON_BOOL && suspect->boolean)
            printf("%s %s:%.0f", shown++ ? "," : "", layer->string, unit->number);
    }
    if (shown == 0)
        printf(" none beyond chance");
    if (number(check, "localize", "uninformative") > 0.0)
        printf("; %.0f are (almost) always or never active and say nothing",
               number(check, "localize", "uninformative"));
    printf("\n");
}

static void print_synthesize(const px_check *check)
{
    printf("%.0f of %.0f inputs became wrong by raising suspicious neurons\n",
           number(check, "synthesize", "faults"), number(check, "synthesize", "count"));
}

static void print_attack(const px_check *check)
{
    const double success = number(check, "attack", "success");
    printf("pgd within %.4g: ", number(check, "attack", "eps"));
    if (isnan(success)) {
        printf("no input was right to begin with\n");
        return;
    }
    printf("%.1f%% of right answers turn, accuracy under attack %.1f%%\n", 100.0 * success,
           100.0 * number(check, "attack", "robust_accuracy"));
}

static void print_fuzz(const px_check *check)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const double rejected = number(check, "fuzz", "rejected");
    if (rejected > 0)
        printf("%s too far from their originals; ", cli_number((int64_t)rejected, a));
    const double kinds =
        number(check, "fuzz", "fault_types"); /* of very many classes not counted */
    printf("%s distinct failures", cli_number((int64_t)number(check, "fuzz", "unique_faults"), a));
    if (kinds > 0)
        printf(" of %.0f kinds", kinds);
    printf(" in %s executions\n", cli_number((int64_t)number(check, "fuzz", "executions"), b));
}

static void print_assess(const px_check *check)
{
    char count[CLI_NUMBER_TEXT], close[CLI_NUMBER_TEXT];
    printf("%s failures, %s close to their originals, in %s/campaign\n",
           cli_number((int64_t)number(check, "assess", "faults"), count),
           cli_number((int64_t)number(check, "assess", "close_faults"), close),
           px_check_folder(check));
}

static void print_describe(const px_check *check)
{
    const px_json_value *list = px_json_member(px_check_result(check, "describe"), "neurons");
    printf("%zu suspicious neurons with what excites them\n",
           list && list->kind == PX_JSON_ARRAY ? list->count : 0);
}

static void print_cluster(const px_check *check)
{
    const px_json_value *weak = px_json_member(px_check_result(check, "cluster"), "weak");
    printf("%.0f failures in %.0f clusters%s\n", number(check, "cluster", "failures"),
           number(check, "cluster", "k"),
           weak && weak->kind == PX_JSON_BOOL && weak->boolean ? ", a weak grouping" : "");
}

static void print_profile(const px_check *check)
{
    char count[CLI_NUMBER_TEXT];
    printf("ranges from %s training inputs\n",
           cli_number((int64_t)number(check, "profile", "count"), count));
}

static const struct {
    const char *id;
    void (*print)(const px_check *check);
} lines[] = {
    {"profile", print_profile},   {"eval", print_eval},         {"cover", print_cover},
    {"select", print_select},     {"localize", print_localize}, {"synthesize", print_synthesize},
    {"attack", print_attack},     {"fuzz", print_fuzz},         {"assess", print_assess},
    {"describe", print_describe}, {"cluster", print_cluster},
};

static void print_stage(const px_check *check, size_t i)
{
    const px_check_stage *stage = px_check_stage_get(i);
    const px_check_state state = px_check_state_of(check, i);
    if (state == PX_CHECK_SKIPPED)
        return;
    printf("%-11s", stage->id);
    if (state == PX_CHECK_LEFT_OUT) {
        printf("left out: %s\n", px_check_why(check, i));
        return;
    }
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
        if (strcmp(lines[k].id, stage->id) == 0)
            lines[k].print(check);
}

void check_print(const px_check *check)
{
    const px_verdict verdict = px_check_verdict(check);
    for (size_t i = 0; i < px_check_stage_count(); i++)
        print_stage(check, i);
    for (size_t i = 0; i < px_check_gate_count(check); i++) {
        const px_check_gate g = px_check_gate_get(check, i);
        printf("%-11s%s ", g.held ? "holds" : "FAILS", g.kind->name);
        if (isnan(g.value))
            printf("was not measured");
        else
            printf("%.6g", g.value);
        printf(", must be at %s %g\n", g.kind->most ? "most" : "least", g.threshold);
    }
    printf("%-11s%s\n", "verdict",
           verdict == PX_VERDICT_PASS   ? "pass"
           : verdict == PX_VERDICT_FAIL ? "fail"
                                        : "none: no thresholds were given (--fail-under)");
    printf("%-11s%s\n", "report", px_check_page(check) ? px_check_page(check) : "-");
}
