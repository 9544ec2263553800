/* src/picture/plot_scale.c - from values to pixels, and the ticks along the way */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/plot_scale.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pxi_value_fits(const px_plot_axis *axis, double value)
{
    return fabs(value) <= PXI_VALUE_MOST && (!axis->log || value >= 1 / PXI_VALUE_MOST);
}

/* Data that are all alike still need an axis with some length. */
static void scale_widen(pxi_scale *scale)
{
    const double middle = scale->least / 2 + scale->most / 2;
    const double room = fabs(middle) * 1e-9;
    if (scale->log) {
        if (scale->most < scale->least * (1 + 1e-9)) {
            scale->least /= 2;
            scale->most *= 2;
        }
    } else if (scale->most - scale->least <= room || !(scale->most - scale->least > 1e-300)) {
        const double half = fabs(middle) > 1e-290 ? fabs(middle) * 0.1 : 0.5;
        scale->least -= half;
        scale->most += half;
    }
}

pxi_scale pxi_scale_fit(const px_plot_axis *axis, double least, double most, bool zero, double air)
{
    pxi_scale scale = {.log = axis->log, .least = least, .most = most};
    if (!(least <= most)) { /* no data */
        scale.least = axis->log ? 1 : 0;
        scale.most = axis->log ? 10 : 1;
    }
    const double first = scale.least, last = scale.most;
    if (zero && !axis->log) {
        scale.least = PX_MIN(scale.least, 0);
        scale.most = PX_MAX(scale.most, 0);
    }
    scale_widen(&scale);
    if (axis->log) {
        const double pad = pow(scale.most / scale.least, air);
        scale.least = PX_MAX(scale.least / pad, 1 / PXI_VALUE_MOST);
        scale.most = PX_MIN(scale.most * pad, 1e304);
        if (zero) /* the foot of a bar: a whole power below the lowest */
            scale.least = PX_MAX(pow(10, floor(log10(first) - 0.05)), 1 / PXI_VALUE_MOST);
    } else {
        const double pad = (scale.most - scale.least) * air;
        /* counts and shares begin at 0, not a little below it */
        scale.least = first >= 0 && scale.least - pad < 0 ? 0 : scale.least - pad;
        scale.most = last <= 0 && first < 0 && scale.most + pad > 0 ? 0 : scale.most + pad;
    }
    if (axis->least < axis->most) {
        scale.least = axis->least;
        scale.most = axis->most;
    }
    return scale;
}

double pxi_scale_share(const pxi_scale *scale, double value)
{
    if (scale->log)
        return (log10(value) - log10(scale->least)) / (log10(scale->most) - log10(scale->least));
    return (value - scale->least) / (scale->most - scale->least);
}

double pxi_scale_at(const pxi_scale *scale, double value)
{
    const double at = scale->from + pxi_scale_share(scale, value) * (scale->to - scale->from);
    return at < -1e6 ? -1e6 : at > 1e6 ? 1e6 : at;
}

/* Puts commas between the thousands of a plain decimal number, unless it and all its neighbours, up
 * to `most`, are short: 2024 is easier to read than 2,024. */
static void label_group(char text[PXI_TICK_TEXT], double most)
{
    const size_t digits = strcspn(text[0] == '-' ? text + 1 : text, ".");
    if (most < 1e4)
        return;
    char grouped[2 * PXI_TICK_TEXT];
    size_t n = 0;
    const char *s = text;
    if (*s == '-')
        grouped[n++] = *s++;
    for (size_t i = 0; i < digits; i++) {
        if (i > 0 && (digits - i) % 3 == 0)
            grouped[n++] = ',';
        grouped[n++] = *s++;
    }
    snprintf(grouped + n, sizeof grouped - n, "%s", s);
    if (strlen(grouped) < PXI_TICK_TEXT)
        strcpy(text, grouped);
}

/* The decimal sign of some locales. */
static void label_point(char *text)
{
    for (; *text; text++)
        if (*text == ',')
            *text = '.';
}

/* 2.50e+08 as 2.5e8. */
static void label_shorten(char text[PXI_TICK_TEXT])
{
    char *e = strchr(text, 'e');
    if (!e)
        return;
    const long exponent = strtol(e + 1, NULL, 10);
    if (memchr(text, '.', (size_t)(e - text))) {
        while (e[-1] == '0')
            e--;
        if (e[-1] == '.')
            e--;
    }
    snprintf(e, PXI_TICK_TEXT - (size_t)(e - text), "e%ld", exponent);
}

/* A value among others that are `step` apart, on an axis up to `most`. */
static void label_make(double value, double step, double most, char text[PXI_TICK_TEXT])
{
    if (fabs(value) < step * 1e-6) {
        strcpy(text, "0");
        return;
    }
    const int tens = (int)floor(log10(step) + 1e-9); /* of the step's first digit */
    if (most >= 1e7 || tens < -5) {
        const int digits = (int)floor(log10(fabs(value)) + 1e-9) - tens;
        snprintf(text, PXI_TICK_TEXT, "%.*e", digits < 0 ? 0 : digits > 15 ? 15 : digits, value);
        label_point(text);
        label_shorten(text);
        return;
    }
    snprintf(text, PXI_TICK_TEXT, "%.*f", tens < 0 ? -tens : 0, value);
    label_point(text);
    label_group(text, most);
}

const char *pxi_value_text(double value, char text[PXI_TICK_TEXT])
{
    const double size = fabs(value);
    if (value == floor(value) && size < 1e7) {
        snprintf(text, PXI_TICK_TEXT, "%.0f", value);
        label_group(text, size);
    } else if (size >= 1e-3 && size < 1e5) {
        snprintf(text, PXI_TICK_TEXT, "%.*f", size >= 10 ? 1 : size >= 1 ? 2 : 3, value);
        label_point(text);
        for (char *end = text + strlen(text) - 1; *end == '0' || *end == '.'; end--) {
            const bool point = *end == '.';
            *end = '\0';
            if (point)
                break;
        }
        label_group(text, size);
    } else {
        snprintf(text, PXI_TICK_TEXT, "%.1e", value);
        label_point(text);
        label_shorten(text);
    }
    return text;
}

static void ticks_add(pxi_ticks *ticks, double value)
{
    ticks->tick[ticks->count].value = value;
    ticks->tick[ticks->count++].label[0] = '\0';
}

static void ticks_linear(const pxi_scale *scale, double target, pxi_ticks *out)
{
    const double raw = (scale->most - scale->least) / fmin(fmax(target, 1), 20);
    const double power = pow(10, floor(log10(raw)));
    const double step = raw <= power * (1 + 1e-9)       ? power
                        : raw <= 2 * power * (1 + 1e-9) ? 2 * power
                        : raw <= 5 * power * (1 + 1e-9) ? 5 * power
                                                        : 10 * power;
    const double slack = 1e-9 * (scale->most - scale->least);
    const double first = ceil((scale->least - slack) / step);
    const double most = fmax(fabs(scale->least), fabs(scale->most));
    out->count = 0;
    for (int i = 0; i < PXI_TICKS_MOST; i++) {
        const double value = (first + i) * step;
        if (!(value <= scale->most + slack))
            break;
        ticks_add(out, value);
        label_make(value, step, most, out->tick[out->count - 1].label);
    }
}

void pxi_ticks_make(const pxi_scale *scale, double target, pxi_ticks *out)
{
    out->count = 0;
    if (!scale->log) {
        ticks_linear(scale, target, out);
        return;
    }
    const double low = log10(scale->least) - 1e-9, high = log10(scale->most) + 1e-9;
    const int first = (int)ceil(low), last = (int)floor(high);
    const int powers = last - first + 1; /* whole powers of ten in range */
    if (high - low < 0.7) {
        ticks_linear(scale, target, out);
        return;
    }
    const int stride = PX_MAX(1, (int)ceil((powers - 1) / fmin(fmax(target, 1), 12)));
    const bool minor = powers <= 4; /* then also 2 to 9 times a power */
    for (int p = first - 1; p <= last && out->count + 9 < PXI_TICKS_MOST; p++) {
        const double power = pow(10, p);
        for (int m = 1; m <= (minor ? 9 : 1); m++) {
            const double value = m * power;
            const bool labelled =
                m == 1 ? (p - first) % stride == 0 : powers <= 2 && (m == 2 || m == 5);
            if (log10(value) < low || log10(value) > high || (m == 1 && !labelled))
                continue;
            ticks_add(out, value);
            if (labelled)
                label_make(value, value, value < 1e6 ? fmin(scale->most, 9e6) : 1e7,
                           out->tick[out->count - 1].label);
        }
    }
}
