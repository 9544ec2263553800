/* src/mutate/drawn.c - drawn mutations as text: "shift x=0.1 y=-0.07" */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/param.h>
#include <internal/text.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *px_drawn_text(const px_drawn *drawn, char buffer[PX_DRAWN_TEXT])
{
    const px_mutation *m = drawn->mutation;
    const size_t count = px_params_count(m->entry.params);
    int used = snprintf(buffer, PX_DRAWN_TEXT, "%s", m->entry.id);
    for (size_t i = 0; i < count; i++) {
        const px_param *param = &m->entry.params[i];
        const double value = drawn->values[i];
        char number[PX_REAL_TEXT];
        const size_t room = (size_t)(PX_DRAWN_TEXT - used); /* names are short: it suffices */
        if (param->choices && value == 0.0)
            continue;
        if (param->choices)
            used +=
                snprintf(buffer + used, room, " %s=%s", param->name, param->choices[(size_t)value]);
        else if (value == floor(value) && fabs(value) < 1e15)
            used += snprintf(buffer + used, room, " %s=%.0f", param->name, value);
        else
            used +=
                snprintf(buffer + used, room, " %s=%s", param->name, px_real_text(value, number));
    }
    return buffer;
}

/* --- and back -------------------------------------------------------------------------------- */

typedef struct drawn_word { /* "name=value" */
    char text[128];
    size_t name_length;
    const char *value;
} drawn_word;

/* The next word of *text into a copy of its own; false: there is none, or it is no such thing. */
static bool drawn_next(const char **text, drawn_word *word)
{
    *text += strspn(*text, " \t");
    const size_t length = strcspn(*text, " \t");
    const size_t kept = PX_MIN(length, sizeof word->text - 1);
    memcpy(word->text, *text, kept);
    word->text[kept] = '\0';
    *text += length;
    word->name_length = strcspn(word->text, "=");
    word->value = word->text + word->name_length;
    word->value += *word->value == '=';
    return length > 0;
}

static px_status drawn_param(const px_mutation *m, const drawn_word *word, px_drawn *drawn,
                             unsigned *given, px_error *err)
{
    const size_t count = px_params_count(m->entry.params);
    for (size_t i = 0; i < count; i++) {
        const px_param *param = &m->entry.params[i];
        if (strlen(param->name) != word->name_length ||
            strncmp(param->name, word->text, word->name_length) != 0)
            continue;
        if (*given & 1u << i)
            return px_fail(err, PX_E_USAGE, "%s: '%s' is given twice", m->entry.id, param->name);
        *given |= 1u << i;
        PX_TRY(px_param_value(param, m->entry.id, word->value, &drawn->values[i], err));
        if (drawn->values[i] == 0.0)
            drawn->values[i] = 0.0; /* no -0, whose text would be another */
        return PX_OK;
    }
    px_text names = {0};
    for (size_t i = 0; i < count; i++)
        px_text_format(&names, "%s%s=", i ? ", " : "", m->entry.params[i].name);
    const px_status status =
        px_fail(err, PX_E_USAGE, "%s: '%.60s' is no parameter of it; it has %s", m->entry.id,
                word->text, px_text_get(&names));
    px_text_done(&names);
    return status;
}

px_status px_drawn_parse(const char *text, px_drawn *out, px_error *err)
{
    px_drawn drawn = {0};
    drawn_word word;
    unsigned given = 0;
    if (!drawn_next(&text, &word))
        return px_fail(err, PX_E_USAGE,
                       "a mutation is empty; write it as in \"rotation angle=-17\"");
    PX_TRY(px_mutation_choose(word.text, &drawn.mutation, err));
    const px_mutation *m = drawn.mutation;
    const size_t count = px_params_count(m->entry.params);
    while (drawn_next(&text, &word))
        PX_TRY(drawn_param(m, &word, &drawn, &given, err));
    for (size_t i = 0; i < count; i++)
        if (!m->entry.params[i].choices && !(given & 1u << i))
            return px_fail(err, PX_E_USAGE, "%s needs '%s=' (%s; %.10g to %.10g)", m->entry.id,
                           m->entry.params[i].name, m->entry.params[i].help, m->entry.params[i].min,
                           m->entry.params[i].max);
    *out = drawn;
    return PX_OK;
}
