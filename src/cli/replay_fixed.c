/* src/cli/replay_fixed.c - which failures of a campaign another network still has */
#include "cli/replay_fixed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPES_SHOWN = 20 };

static px_status fixed_nomem(px_error *err)
{
    return px_fail(err, PX_E_NOMEM, "out of memory");
}

static replay_type *fixed_type(replay_fixed *fixed, int64_t label, int64_t prediction)
{
    for (size_t i = 0; i < fixed->type_count; i++)
        if (fixed->type[i].label == label && fixed->type[i].prediction == prediction)
            return &fixed->type[i];
    if (fixed->type_count == fixed->type_room) {
        const size_t room = fixed->type_room ? 2 * fixed->type_room : 64;
        replay_type *more = reallocarray(fixed->type, room, sizeof *more);
        if (!more)
            return NULL;
        fixed->type = more;
        fixed->type_room = room;
    }
    fixed->type[fixed->type_count] = (replay_type){.label = label, .prediction = prediction};
    return &fixed->type[fixed->type_count++];
}

px_status replay_fixed_add(replay_fixed *fixed, const px_campaign_input *in, int64_t label,
                           int64_t prediction, px_error *err)
{
    if (in->kind != PX_INPUT_FAULT)
        return PX_OK;
    if (in->label < 0 || label < 0 || in->prediction == in->label) {
        fixed->left_out++;
        return PX_OK;
    }
    replay_type *type = fixed_type(fixed, in->label, in->prediction);
    if (!type)
        return fixed_nomem(err);
    fixed->count++;
    type->count++;
    if (prediction == label)
        return PX_OK;
    if ((fixed->still & (fixed->still - 1)) == 0) { /* room for twice as many */
        int64_t *more = reallocarray(fixed->ids, 2 * (size_t)fixed->still + 1, sizeof *fixed->ids);
        if (!more)
            return fixed_nomem(err);
        fixed->ids = more;
    }
    fixed->ids[fixed->still++] = in->id;
    type->still++;
    return PX_OK;
}

static int compare_types(const void *left, const void *right)
{
    const replay_type *a = left, *b = right;
    const int64_t keys[][2] = {{b->still, a->still},
                               {b->count, a->count},
                               {a->label, b->label},
                               {a->prediction, b->prediction}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

void replay_fixed_sort(replay_fixed *fixed)
{
    if (fixed->type_count)
        qsort(fixed->type, fixed->type_count, sizeof *fixed->type, compare_types);
}

double replay_fixed_share(const replay_fixed *fixed)
{
    return fixed->count ? 1.0 - (double)fixed->still / (double)fixed->count : 1.0;
}

static const char *class_text(px_campaign *campaign, int64_t c, char buffer[CLI_NUMBER_TEXT])
{
    const char *name = px_campaign_class_name(campaign, c);
    if (name)
        return name;
    snprintf(buffer, CLI_NUMBER_TEXT, "%" PRId64, c);
    return buffer;
}

void replay_fixed_print(const replay_fixed *fixed, px_campaign *campaign)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    printf("another network: %s still failing, %s fixed, of %s failures\n",
           cli_number(fixed->still, a), cli_number(fixed->count - fixed->still, b),
           cli_number(fixed->count, c));
    if (fixed->left_out)
        printf("%s failures have no label, or were no wrong class: left out\n",
               cli_number(fixed->left_out, a));
    if (!fixed->type_count)
        return;
    cli_table *table = cli_table_new("llrrr");
    static const char *const titles[] = {"LABEL", "TAKEN FOR", "FAILURES", "STILL", "FIXED"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < fixed->type_count && i < TYPES_SHOWN; i++) {
        const replay_type *type = &fixed->type[i];
        cli_table_cell(table, "%s", class_text(campaign, type->label, a));
        cli_table_cell(table, "%s", class_text(campaign, type->prediction, a));
        cli_table_cell(table, "%s", cli_number(type->count, a));
        cli_table_cell(table, "%s", cli_number(type->still, a));
        cli_table_cell(table, "%s", cli_number(type->count - type->still, a));
    }
    cli_table_print_free(table, "  ");
    if (fixed->type_count > TYPES_SHOWN)
        printf("  and %s more; --json has all of them\n",
               cli_number((int64_t)(fixed->type_count - TYPES_SHOWN), a));
}

void replay_fixed_json(const replay_fixed *fixed, px_campaign *campaign, px_json *json)
{
    char text[CLI_NUMBER_TEXT];
    px_json_object(json, "other_network");
    px_json_int(json, "failures", fixed->count);
    px_json_int(json, "still_failing", fixed->still);
    px_json_int(json, "fixed", fixed->count - fixed->still);
    px_json_real(json, "fixed_share", replay_fixed_share(fixed));
    px_json_int(json, "left_out", fixed->left_out);
    px_json_array(json, "types");
    for (size_t i = 0; i < fixed->type_count; i++) {
        const replay_type *type = &fixed->type[i];
        px_json_object(json, NULL);
        px_json_string(json, "label", class_text(campaign, type->label, text));
        px_json_string(json, "prediction", class_text(campaign, type->prediction, text));
        px_json_int(json, "failures", type->count);
        px_json_int(json, "still_failing", type->still);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_array(json, "ids");
    for (int64_t i = 0; i < fixed->still; i++)
        px_json_int(json, NULL, fixed->ids[i]);
    px_json_end(json);
    px_json_end(json);
}

void replay_fixed_done(replay_fixed *fixed)
{
    free(fixed->ids);
    free(fixed->type);
    *fixed = (replay_fixed){0};
}
