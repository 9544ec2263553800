/* src/data/pixel_rule.c - bounds, rounding and distances of changed pixels */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/pixel_rule.h>

#include "base/memory.h"

#include <internal/preprocess.h>
#include <math.h>
#include <stdlib.h>

/* What float arithmetic may have taken from a whole number of levels. */
static const double HAIR = 1e-6;

/* --- units ----------------------------------------------------------------------------------- */

/* As px_preprocess_apply() has it: 1/255 is a division by 255. 0: no such number. */
static double levels_in_unit(const px_preprocess *pre)
{
    const float whole = roundf(1.0f / pre->scale);
    return fabsf(pre->scale * whole - 1.0f) < 1e-6f ? (double)whole : 0.0;
}

double px_length_levels(const px_preprocess *pre, double length)
{
    const double whole = levels_in_unit(pre);
    return whole > 0.0 ? length * whole : length / (double)pre->scale;
}

px_status px_length_parse(const char *text, const char *option, double low, double high,
                          double *out, px_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);
    bool good = end != text;
    if (good && *end == '/') {
        const char *below = end + 1;
        const double divisor = strtod(below, &end);
        good = end != below && divisor != 0.0;
        value /= good ? divisor : 1.0;
    } else if (good && *end == '%') {
        value *= (high - low) / 100.0;
        end++;
    }
    if (!good || *end || !isfinite(value))
        return px_fail(err, PX_E_USAGE, "%s '%.60s': expected a number such as 0.1, 8/255 or 10%%",
                       option, text);
    *out = value;
    return PX_OK;
}

px_status px_dataset_range(const px_dataset *set, const px_preprocess *pre, double *low,
                           double *high, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const size_t count = (size_t)px_shape_count(&shape);
    double least = INFINITY, most = -INFINITY;
    *low = 0.0;
    *high = px_dataset_is_8bit(set) ? 255.0 / px_length_levels(pre, 1.0) : 1.0;
    if (px_dataset_is_8bit(set))
        return PX_OK;
    float *values = NULL;
    px_status status = PX_NEW(values, PX_MAX(count, 1), err);
    for (int64_t i = 0; i < px_dataset_count(set) && status == PX_OK; i++) {
        status = px_dataset_pixels(set, i, values, err);
        for (size_t k = 0; k < count && status == PX_OK; k++) {
            const double value = (double)values[k];
            if (!isfinite(value))
                continue; /* whoever meets it says so */
            least = fmin(least, value);
            most = fmax(most, value);
        }
    }
    free(values);
    PX_TRY(status);
    const double unit = px_length_levels(pre, 1.0);
    if (least < most && (least < 0.0 || most > unit)) {
        *low = least / unit;
        *high = most / unit;
    }
    return PX_OK;
}

px_status pxi_pixel_range(const px_dataset *set, const px_preprocess *pre, bool rounded,
                          double *low, double *high, px_error *err)
{
    if (!(pre->scale > 0.0f))
        return px_fail(err, PX_E_USAGE, "--scale %g: changing pixels needs a scale above 0",
                       (double)pre->scale);
    if (isnan(*low) != isnan(*high))
        return px_fail(err, PX_E_USAGE, "a range needs both of its ends");
    if (isnan(*low))
        PX_TRY(px_dataset_range(set, pre, low, high, err));
    if (!(*low < *high) || !isfinite(*low) || !isfinite(*high))
        return px_fail(err, PX_E_USAGE, "a range from %g to %g has nothing in it", *low, *high);
    const double least = px_length_levels(pre, *low), most = px_length_levels(pre, *high);
    if (rounded && (least < 0.0 || most > 255.0 + HAIR))
        return px_fail(err, PX_E_USAGE,
                       "a range from %g to %g is %g to %g in pixel levels, and 8-bit data have 0 "
                       "to 255",
                       *low, *high, least, most);
    return PX_OK;
}

/* --- rules ----------------------------------------------------------------------------------- */

void pxi_pixel_rule_init(pxi_pixel_rule *rule, const px_dataset *set, const px_preprocess *pre,
                         const pxi_pixel_bounds *bounds)
{
    const px_shape shape = px_dataset_shape(set);
    pxi_pixel_rule_of(rule, &shape, pre, bounds);
}

void pxi_pixel_rule_of(pxi_pixel_rule *rule, const px_shape *shape, const px_preprocess *pre,
                       const pxi_pixel_bounds *bounds)
{
    *rule = (pxi_pixel_rule){
        .whole = levels_in_unit(pre),
        .scale = (double)pre->scale,
        .count = (size_t)px_shape_count(shape),
        .channels = shape->rank == 3 ? (size_t)shape->dim[0] : 1,
        .bgr = pre->bgr && shape->rank == 3 && shape->dim[0] == 3,
        .channels_last = pre->channels_last,
    };
    rule->plane = rule->count / rule->channels;
    rule->step = pxi_pixel_levels(rule, bounds->step);
    rule->distance = pxi_pixel_levels(rule, bounds->distance);
    rule->low = pxi_pixel_levels(rule, bounds->low);
    rule->high = pxi_pixel_levels(rule, bounds->high);
    for (size_t c = 0; c < PX_PREPROCESS_CHANNELS; c++) {
        const size_t at = pre->channels == 1 ? 0 : PX_MIN(c, (size_t)pre->channels - 1);
        rule->stddev[c] = (double)pre->stddev[at];
    }
}

double pxi_pixel_units(const pxi_pixel_rule *rule, double levels)
{
    return rule->whole > 0.0 ? levels / rule->whole : levels * rule->scale;
}

double pxi_pixel_levels(const pxi_pixel_rule *rule, double units)
{
    return rule->whole > 0.0 ? units * rule->whole : units / rule->scale;
}

double pxi_pixel_channel(const pxi_pixel_rule *rule, size_t c, size_t *first, size_t *stride)
{
    const size_t to = rule->bgr ? 2 - c : c; /* channel of the network's input */
    *first = rule->channels_last ? to : to * rule->plane;
    *stride = rule->channels_last ? rule->channels : 1;
    return rule->stddev[PX_MIN(to, (size_t)PX_PREPROCESS_CHANNELS - 1)];
}

size_t pxi_pixels_outside(const pxi_pixel_rule *rule, const float *pixels)
{
    /* Data in float may have been cut to 0..1 in double, or by a scale in float. */
    const double slack = HAIR * (rule->high - rule->low);
    size_t i = 0;
    while (i < rule->count && (double)pixels[i] >= rule->low - slack &&
           (double)pixels[i] <= rule->high + slack)
        i++;
    return i;
}

float pxi_pixel_keep(const pxi_pixel_rule *rule, float original, double value)
{
    float pixel = (float)value;
    if (fabs((double)pixel - (double)original) > rule->distance || (double)pixel > rule->high ||
        (double)pixel < rule->low)
        pixel = nextafterf(pixel, original);
    return pixel;
}

void pxi_pixels_round(const float *original, const float *pixels, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        const double move = (double)pixels[i] - (double)original[i];
        const double whole = move > 0.0 ? floor(move + HAIR) : ceil(move - HAIR);
        bytes[i] = (uint8_t)((double)original[i] + whole);
    }
}

void pxi_pixels_round_nearest(const float *pixels, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        const double level = floor((double)pixels[i] + 0.5);
        bytes[i] = (uint8_t)(level > 0.0 ? level < 255.0 ? level : 255.0 : 0.0);
    }
}

pxi_pixel_distance pxi_pixels_distance(const pxi_pixel_rule *rule, const float *original,
                                       const float *pixels)
{
    double sum = 0.0, squares = 0.0, most = 0.0;
    int64_t changed = 0;
    for (size_t i = 0; i < rule->count; i++) {
        const double move = fabs((double)pixels[i] - (double)original[i]);
        sum += move;
        squares += move * move;
        most = move > most ? move : most;
        changed += move > 0.0;
    }
    return (pxi_pixel_distance){.l0 = changed,
                                .l1 = pxi_pixel_units(rule, sum),
                                .l2 = pxi_pixel_units(rule, sqrt(squares)),
                                .linf = pxi_pixel_units(rule, most)};
}
