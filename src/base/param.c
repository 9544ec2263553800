/* src/base/param.c - settings by their tables: "k=1000" into the member k, and back */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/param.h>

#include "base/memory.h"

#include <errno.h>
#include <internal/text.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const px_no_yes[] = {"no", "yes", NULL};

size_t px_params_count(const px_param *params)
{
    size_t count = 0;
    while (params && params[count].name)
        count++;
    return count;
}

double px_param_get(const px_param *param, const void *config)
{
    const void *member = (const char *)config + param->offset;
    if (param->type == PX_TYPE_REAL)
        return *(const double *)member;
    if (param->size == sizeof(int64_t))
        return (double)*(const int64_t *)member;
    return param->size == sizeof(int) ? *(const int *)member : *(const bool *)member;
}

void px_param_set(const px_param *param, void *config, double value)
{
    void *member = (char *)config + param->offset;
    if (param->type == PX_TYPE_REAL)
        *(double *)member = value;
    else if (param->size == sizeof(int64_t))
        *(int64_t *)member = (int64_t)value;
    else if (param->size == sizeof(int))
        *(int *)member = (int)value;
    else
        *(bool *)member = value != 0.0;
}

void px_params_default(const px_param *params, void *config)
{
    for (; params && params->name; params++)
        px_param_set(params, config, params->def);
}

static px_status param_choice(const px_param *param, const char *id, const char *text,
                              double *value, px_error *err)
{
    px_text names = {0};
    for (size_t i = 0; param->choices[i]; i++) {
        if (strcmp(param->choices[i], text) == 0) {
            px_text_done(&names);
            *value = (double)i;
            return PX_OK;
        }
        px_text_format(&names, "%s%s", i ? ", " : "", param->choices[i]);
    }
    const px_status status = px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it can be %s", id,
                                     param->name, text, px_text_get(&names));
    px_text_done(&names);
    return status;
}

static px_status param_number(const px_param *param, const char *id, const char *text,
                              double *value, px_error *err)
{
    if (param->none && strcmp(text, "none") == 0) {
        *value = INFINITY;
        return PX_OK;
    }
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    if (end != text && *end == '/' && param->type == PX_TYPE_REAL) { /* 8/255 */
        const char *below = end + 1;
        *value /= strtod(below, &end);
        end = end == below ? (char *)text : end;
    }
    if (end == text || *end != '\0' || isnan(*value) || errno == ERANGE)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': '%.60s' is not a number", id, param->name,
                       text, text);
    if (param->type == PX_TYPE_INT && *value != floor(*value))
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': a whole number is needed", id, param->name,
                       text);
    if (*value < param->min || *value > param->max)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it must be between %g and %g", id,
                       param->name, text, param->min, param->max);
    return PX_OK;
}

px_status px_param_value(const px_param *param, const char *id, const char *text, double *value,
                         px_error *err)
{
    return param->choices ? param_choice(param, id, text, value, err)
                          : param_number(param, id, text, value, err);
}

px_status px_param_read(const px_param *param, const char *id, const char *text, void *config,
                        px_error *err)
{
    double value = 0.0;
    PX_TRY(px_param_value(param, id, text, &value, err));
    if (config)
        px_param_set(param, config, value);
    return PX_OK;
}

char *px_params_text(const px_param *params, const void *config)
{
    px_text text = {0};
    char number[PX_REAL_TEXT];
    px_text_add(&text, "");
    for (const px_param *p = params; p && p->name; p++) {
        const double value = px_param_get(p, config);
        px_text_format(&text, "%s%s=", p == params ? "" : " ", p->name);
        if (p->choices)
            px_text_add(&text, p->choices[(size_t)value]);
        else if (p->none && isinf(value))
            px_text_add(&text, "none");
        else if (p->type == PX_TYPE_INT)
            px_text_format(&text, "%.0f", value);
        else
            px_text_add(&text, px_real_text(value, number));
    }
    return px_text_take(&text);
}
